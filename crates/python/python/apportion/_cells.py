"""Cells of tables: which of them are the same, which are missing, and how they are shown."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import datetime
import decimal
import fractions
import uuid

import numpy as np

# Integers up to this size are 64-bit floats without rounding.
MAX_EXACT = 2**53
# Types whose equal values print alike and can be exchanged for each other.
_VALUES = (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal, fractions.Fraction, uuid.UUID)
_SINGLE_NAMES = ("NAType", "NaTType")


def is_missing(cell):
    """Returns whether a cell is one of the values that stand for a missing one: None, NaN, `pandas.NA`, `NaT`."""
    if cell is None:
        return True
    if isinstance(cell, (float, np.floating)):
        return bool(cell != cell)
    if isinstance(cell, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(cell))
    return type(cell).__name__ in _SINGLE_NAMES


def key(cell, kept=True):
    """Returns what two cells share exactly if a model cannot tell them apart: their type and their value, or the object itself.

    kept: whether the table holds this object; one that was only made to be looked at is known by nothing.
    """
    kind = type(cell)
    if kind in (str, int, bool, bytes, type(None)):
        return kind, cell
    if kind is float:
        return kind, "nan" if cell != cell else cell.hex()
    if isinstance(cell, np.generic):
        return kind, str(cell.dtype), "nan" if is_missing(cell) else cell.tobytes()
    if kind.__name__ in _SINGLE_NAMES:
        return (kind,)
    if isinstance(cell, _VALUES) or kind.__module__.partition(".")[0] == "pandas":
        return kind, repr(cell)
    if kind in (list, tuple, dict) and _is_plain(cell):
        return kind, repr(cell)
    return kind, id(cell) if kept else object()


def _is_plain(cell):
    """Returns whether nested lists and dictionaries hold nothing but values that print exactly."""
    if isinstance(cell, dict):
        return all(_is_plain(part) for pair in cell.items() for part in pair)
    if isinstance(cell, (list, tuple)):
        return all(map(_is_plain, cell))
    return type(cell) in (str, int, bool, float, bytes, type(None)) or isinstance(cell, _VALUES)


def same(one, other):
    """Returns whether two cells are equal, or both missing."""
    if is_missing(one) or is_missing(other):
        return is_missing(one) and is_missing(other)
    try:
        return bool(one == other)
    except (TypeError, ValueError):
        return one is other


def distinct(cells, kept=False):
    """Returns the keys of the distinct cells, the row of the first cell of each, and the place of each row's cell among them."""
    places, first = {}, []
    codes = np.empty(len(cells), dtype=np.intp)
    for row, cell in enumerate(cells):
        code = places.setdefault(key(cell, kept), len(places))
        if code == len(first):
            first.append(row)
        codes[row] = code
    return list(places), np.array(first, dtype=np.intp), codes


def shown(cell):
    """Returns a cell as results and figures show it: a number or text; None if it is missing."""
    if is_missing(cell):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return bool(cell)
    if isinstance(cell, (str, int, float)):
        return cell
    if isinstance(cell, (np.integer, np.floating)):
        return cell.item()
    if isinstance(cell, bytes):
        return cell.decode(errors="replace")
    return str(cell)
