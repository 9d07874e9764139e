"""Explanations of a Ray dataset."""
from collections.abc import Sequence
from typing import Any, Literal

from . import Summary

def explain(
    dataset: Any,
    model: Any,
    background: Any | None = None,
    *,
    keep: str | Sequence[str] = (),
    layout: Literal["columns", "lists"] = "columns",
    threads: int = 1,
    batch_size: int = 8192,
    **more: Any,
) -> Any:
    """The values of each row of a dataset, as a dataset."""

def summarize(
    dataset: Any,
    model: Any,
    background: Any | None = None,
    *,
    keep: str | Sequence[str] = (),
    threads: int = 1,
    batch_size: int = 8192,
    **more: Any,
) -> Summary:
    """The summary of the values of all rows."""
