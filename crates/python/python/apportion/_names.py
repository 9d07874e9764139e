"""Names in messages: the one that was probably meant, and lists of names."""
import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

_Name = TypeVar("_Name")


def nearest(given: object, names: Iterable[_Name]) -> _Name | None:
    """Returns the name that `given` is probably a misspelling of; None if no name is similar."""
    import difflib

    lowered = {str(name).lower(): name for name in names}
    found = difflib.get_close_matches(str(given).lower(), lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def listed(names: Iterable[object], most: int = 8) -> str:
    """Returns names on one line: the first ones, and the number of omitted ones."""
    quoted = [f'"{name}"' for name in names]
    more = len(quoted) - most
    return ", ".join(quoted) if more <= 0 else ", ".join(quoted[:most]) + f" and {more} more"


def place(what: str, name: Any, names: Sequence[str]) -> int:
    """Returns the position of a name, or of a number, among names.

    what: the option for the message of the UsageError, if the name is unknown.
    """
    from . import _checks
    from ._errors import UsageError

    if isinstance(name, str) and name in names:
        return names.index(name)
    try:
        digits = isinstance(name, str) and name.strip().isascii() and name.strip().isdigit()
        number = -1 if isinstance(name, bool) else int(name[:30]) if digits else operator.index(name)
    except TypeError:
        number = -1
    if 0 <= number < len(names):
        return number
    meant = nearest(name, names) if isinstance(name, str) else None
    hint = (f'did you mean "{meant}"?' if meant is not None
            else f"available features: {listed(names)} "
            f'(or {"index 0" if len(names) == 1 else f"indices 0–{len(names) - 1}"})')
    raise UsageError(f"unknown feature {_checks.shown(name)} in {what}; {hint}")
