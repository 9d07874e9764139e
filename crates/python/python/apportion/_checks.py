"""Checks of arguments, which may be objects of any type."""
import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, overload

import numpy as np

from ._errors import DataError, UsageError
from ._names import nearest
from ._types import AnyArray, Numbers

_Choice = TypeVar("_Choice", bound=str)

# The maximum number of characters of a value that a message quotes.
_MAX_LETTERS = 60
# The maximum difference of two results for the same input, relative to the largest result: libraries may sum
# in 32 bits, in any order.
_ROUNDING = 1e-6


def shown(given: Any) -> str:
    """Returns a short description of any value, for messages."""
    if isinstance(given, (str, bool, type(None))):
        text = repr(given)
    elif isinstance(given, np.generic):
        text = str(given)
    elif (np.ndim(given) if isinstance(given, np.ndarray)
          else callable(getattr(type(given), "__array__", None)) and hasattr(given, "shape")):
        return f"of type {type(given).__name__} and shape {tuple(given.shape)}"
    else:
        try:
            text = " ".join(repr(given).split())
        except Exception:  # any object may fail to print itself
            return f"of type {type(given).__name__}"
    return text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]}…"


def is_repeated(first: Numbers, again: Numbers) -> bool:
    """Returns whether two arrays of results for the same input are equal up to rounding. NaN equals NaN.
    """
    if first.shape != again.shape:
        return False
    largest = np.max(np.abs(first), axis=0, initial=0.0, where=np.isfinite(first))
    return bool(np.isclose(first, again, rtol=0.0, atol=1e-9 + _ROUNDING * largest, equal_nan=True).all())


def counted(count: int, noun: str) -> str:
    """Returns a number with its noun, for messages."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def out_of_range(what: str, given: Any, size: int) -> str:
    """Returns the message for a position that is not one of `size` positions."""
    if size == 0:
        return f"{what} {given} is out of range: the explanation has 0 {what}s"
    if size == 1:
        return f"{what} {given} is out of range; the only {what} is {what} 0"
    return f"{what} {given} is out of range; expected 0 to {size - 1}, or -{size} to -1 from the end"


@overload
def number(name: str, given: Any, *, optional: Literal[False] = False,
           expected: str = "a number") -> float: ...
@overload
def number(name: str, given: Any, *, optional: bool, expected: str = "a number") -> float | None: ...
def number(name: str, given: Any, *, optional: bool = False, expected: str = "a number") -> float | None:
    """Returns a number as a float. If `optional`, None is accepted, too."""
    if given is None and optional:
        return None
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given[()]
    is_number = isinstance(given, (numbers.Real, np.integer, np.floating))
    if is_number and not isinstance(given, (bool, np.bool_)) or type(given).__name__ == "Decimal":
        try:
            found = float(given)
        except (OverflowError, ValueError, TypeError):
            found = math.nan
        if found == found:
            return found
    raise UsageError(f"invalid {name} {shown(given)}; expected {expected}")


@overload
def whole(name: str, given: Any, least: int = 0, most: int = 2**63 - 1, *,
          optional: Literal[False] = False) -> int:
    ...
@overload
def whole(name: str, given: Any, least: int = 0, most: int = 2**63 - 1, *, optional: bool) -> int | None: ...
def whole(name: str, given: Any, least: int = 0, most: int = 2**63 - 1, *,
          optional: bool = False) -> int | None:
    """Returns an integer within bounds. If `optional`, None is accepted, too."""
    if given is None and optional:
        return None
    try:
        found = None if isinstance(given, (bool, np.bool_)) else operator.index(given)
    except TypeError:
        found = None
    if found is None:
        bound = "" if least < -(2**31) else f" ≥ {least}"
        raise UsageError(f"invalid {name} {shown(given)}; expected an integer{bound}")
    if not least <= found <= most:
        bound = f"at least {least}" if found < least else f"at most {most}"
        raise UsageError(f"invalid {name} {shown(given)}: must be {bound}")
    return found


def choice(name: str, given: object, known: Sequence[_Choice]) -> _Choice:
    """Returns the chosen string; raises UsageError if it is not one of `known`."""
    for one in known:
        if isinstance(given, str) and given == one:
            return one
    meant = nearest(given, known) if isinstance(given, str) else None
    hint = f"; did you mean {meant!r}?" if meant is not None else f"; expected one of: {', '.join(known)}"
    raise UsageError(f"unknown {name} {shown(given)}{hint}")


@overload
def text(name: str, given: Any, *, optional: Literal[False] = False) -> str: ...
@overload
def text(name: str, given: Any, *, optional: bool) -> str | None: ...
def text(name: str, given: Any, *, optional: bool = False) -> str | None:
    """Returns a string. If `optional`, None is accepted, too."""
    if given is None and optional:
        return None
    if not isinstance(given, str):
        raise UsageError(f"invalid {name} {shown(given)}; expected a string")
    return str(given)


def flag(name: str, given: Any) -> bool:
    """Returns `given`, a boolean or 0 or 1, as a boolean."""
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    if isinstance(given, (int, np.integer)) and given in (0, 1):
        return bool(given)
    raise UsageError(f"invalid {name} {shown(given)}; expected True or False")


def array(name: str, given: Any, expected: str) -> AnyArray:
    """Returns an object as an array of NumPy; the message of the error states what is `expected`."""
    try:
        return np.asarray(given)
    except Exception as error:  # conversion to an array may raise any exception
        raise DataError(f"{name} cannot be read as an array ({type(error).__name__}: {error}); "
                        f"expected {expected}") from error


def names(name: str, given: Any, count: int | None = None, of: str = "feature") -> list[str]:
    """Returns names as a list of strings. Unless `count` is None, there must be `count` names. `of` is the
    word for what each name belongs to, for the message of the error.
    """
    found = None
    if not isinstance(given, (str, bytes, dict)) and not (isinstance(given, np.ndarray) and given.ndim != 1):
        try:
            found = [str(one) for one in given]
        except Exception:  # any object may fail while it is iterated or printed
            pass
    if found is None:
        raise UsageError(f"invalid {name} {shown(given)}; expected a list of names")
    if count is not None and len(found) != count:
        raise UsageError(f'{name} has {counted(len(found), "name")}, expected {count} (one for each {of})')
    return found


def path(name: str, given: Any) -> str:
    """Returns a path as a string."""
    import os

    try:
        found = os.fspath(given)
    except TypeError:
        found = None
    if found is None or not found:
        raise UsageError(f"invalid {name} {shown(given)}; expected the path of a file")
    found = os.fsdecode(found)
    if "\0" in found:
        raise UsageError(f"invalid {name} {shown(given)}: a path cannot contain a null character")
    return found
