"""Explanations of a Dask frame."""
from collections.abc import Sequence
from typing import Any, Literal

from . import Summary

def explain(
    frame: Any,
    model: Any,
    background: Any | None = None,
    *,
    keep: str | Sequence[str] = (),
    layout: Literal["columns", "lists"] = "columns",
    threads: int = 1,
    **more: Any,
) -> Any:
    """The values of each row of a frame, as a frame."""

def summarize(
    frame: Any,
    model: Any,
    background: Any | None = None,
    *,
    keep: str | Sequence[str] = (),
    threads: int = 1,
    **more: Any,
) -> Summary:
    """The summary of the values of all rows."""
