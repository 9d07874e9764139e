"""Explanations in the SQL of DataFusion."""
from typing import Any

def register(
    context: Any,
    name: str,
    model: Any,
    background: Any | None = None,
    *,
    threads: int | None = None,
    **more: Any,
) -> None:
    """Gives the SQL of a session context a function of that name."""
