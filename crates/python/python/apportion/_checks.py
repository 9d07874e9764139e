"""Checks of arguments: what was given, what is expected, and what to do."""
# mypy: ignore-errors
# Arguments may be of any type.
import math
import numbers
import operator

import numpy as np

from ._errors import DataError, UsageError
from ._names import nearest

# Letters of a value that a message quotes.
_MAX_LETTERS = 60


def shown(given):
    """Returns a value as messages quote it: short, whatever it is."""
    if isinstance(given, (str, bool, type(None))):
        text = repr(given)
    elif isinstance(given, np.generic):
        text = str(given)
    elif np.ndim(given) if isinstance(given, np.ndarray) else callable(getattr(type(given), "__array__", None)) and hasattr(given, "shape"):
        return f"of type {type(given).__name__} and shape {tuple(given.shape)}"
    else:
        try:
            text = " ".join(repr(given).split())
        except Exception:  # any object may fail to print itself
            return f"of type {type(given).__name__}"
    return text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]}…"


def number(name, given, *, optional=False, expected="a number"):
    """Returns a number as a float."""
    if given is None and optional:
        return None
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given[()]
    if isinstance(given, (numbers.Real, np.integer, np.floating)) and not isinstance(given, (bool, np.bool_)) or type(given).__name__ == "Decimal":
        try:
            found = float(given)
        except (OverflowError, ValueError, TypeError):
            found = math.nan
        if found == found:
            return found
    raise UsageError(f"invalid {name} {shown(given)}; expected {expected}")


def whole(name, given, least=0, most=2**63 - 1, *, optional=False):
    """Returns an integer within bounds."""
    if given is None and optional:
        return None
    try:
        found = None if isinstance(given, (bool, np.bool_)) else operator.index(given)
    except TypeError:
        found = None
    if found is None:
        raise UsageError(f"invalid {name} {shown(given)}; expected an integer ≥ {least}")
    if not least <= found <= most:
        raise UsageError(f"invalid {name} {shown(given)}: must be at least {least}" if found < least else f"invalid {name} {shown(given)}: must be at most {most}")
    return found


def choice(name, given, known):
    """Returns one of some texts."""
    if isinstance(given, str) and given in known:
        return str(given)
    meant = nearest(given, known) if isinstance(given, str) else None
    hint = f"; did you mean {meant!r}?" if meant is not None else f"; expected one of: {', '.join(known)}"
    raise UsageError(f"unknown {name} {shown(given)}{hint}")


def text(name, given, *, optional=False):
    """Returns a text."""
    if given is None and optional:
        return None
    if not isinstance(given, str):
        raise UsageError(f"invalid {name} {shown(given)}; expected a string")
    return str(given)


def flag(name, given):
    """Returns a boolean."""
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    if isinstance(given, (int, np.integer)) and given in (0, 1):
        return bool(given)
    raise UsageError(f"invalid {name} {shown(given)}; expected True or False")


def array(name, given, expected):
    """Returns what NumPy makes of an object; `expected` says what is expected if it makes nothing of it."""
    try:
        return np.asarray(given)
    except Exception as error:  # whatever an object raises that is made an array
        raise DataError(f"{name} cannot be read as an array ({type(error).__name__}: {error}); expected {expected}") from error


def names(name, given, count=None, of="feature"):
    """Returns names as a list of texts."""
    if isinstance(given, (str, bytes, dict)) or np.ndim(given) != 1 if isinstance(given, np.ndarray) else isinstance(given, (str, bytes, dict)):
        found = None
    else:
        try:
            found = [str(one) for one in given]
        except Exception:  # any object may fail while it is iterated or printed
            found = None
    if found is None:
        raise UsageError(f"invalid {name} {shown(given)}; expected a list of names")
    if count is not None and len(found) != count:
        raise UsageError(f"{name} has {len(found)} names, expected {count} (one for each {of})")
    return found


def path(name, given):
    """Returns a path as text."""
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
