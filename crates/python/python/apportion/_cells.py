"""Cells of tables: their comparison, missing cells, and their display."""
import copy
import datetime
import decimal
import fractions
import hashlib
import uuid
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ._types import Places

# The keys of the distinct cells, the first row that contains each of them, and for each row the position of
# its cell among the distinct cells.
Distinct: TypeAlias = tuple[list[Any], Places, Places]

# 64-bit floats represent all integers up to this size exactly.
MAX_EXACT = 2**53
# Types of the standard library whose values are equal if their printed forms are equal.
_VALUES = (datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone,
           decimal.Decimal, fractions.Fraction, uuid.UUID)
# Types of pandas whose values are equal if their printed forms are equal. Tables are excluded, because long
# ones are not printed completely.
_VALUES_OF_PANDAS = ("Timestamp", "Timedelta", "Period", "Interval")
_SINGLE_NAMES = ("NAType", "NaTType")
_SIMPLE = (str, int, bool, float, complex, bytes, type(None))
_CONTAINERS = (list, tuple, dict, set, frozenset, bytearray, np.ndarray)


def is_missing(cell: Any) -> bool:
    """Returns whether a cell is a missing value: None, NaN, `pandas.NA` or `NaT`."""
    if cell is None:
        return True
    if isinstance(cell, (float, np.floating)):
        return bool(cell != cell)
    if isinstance(cell, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(cell))
    return type(cell).__name__ in _SINGLE_NAMES


def key(cell: Any, kept: bool = True) -> tuple[Any, ...]:
    """Returns a key that is equal for two cells if and only if a model cannot distinguish them: the type and
    the value, or the object itself.

    kept: whether the table stores this object. A temporary object cannot be identified later.
    """
    kind = type(cell)
    if kind in (str, int, bool, bytes, type(None)):
        return kind, cell
    if kind is float:
        return kind, "nan" if cell != cell else cell.hex()
    if isinstance(cell, np.generic) and kind.__module__ == "numpy" and not cell.dtype.hasobject:
        return kind, str(cell.dtype), "nan" if is_missing(cell) else cell.tobytes()
    if kind.__name__ in _SINGLE_NAMES:
        return (kind,)
    if _is_value(cell):
        return kind, repr(cell)
    if kind in _CONTAINERS and is_plain(cell):
        return kind, _content(cell)
    return kind, id(cell) if kept else object()


def _is_value(cell: Any) -> bool:
    kind = type(cell)
    if (kind in _VALUES or kind.__name__ in _VALUES_OF_PANDAS
            and kind.__module__.partition(".")[0] == "pandas"):
        zone = getattr(cell, "tzinfo", None)
        # Different time zones of other libraries may have the same printed form.
        return (zone is None or type(zone) is datetime.timezone
                or type(zone).__module__.partition(".")[0] in ("zoneinfo", "pytz", "dateutil"))
    return False


def is_plain(cell: Any) -> bool:
    """Returns whether a cell is a value, or a container of the standard library or an array that only
    consists of such cells, at any depth.
    """
    kind = type(cell)
    if kind is np.ndarray:
        return not cell.dtype.hasobject
    if kind is dict:
        return all(is_plain(part) for pair in cell.items() for part in pair)
    if kind in _CONTAINERS:
        return all(map(is_plain, cell))
    return kind in _SIMPLE or _is_value(cell)


def _content(cell: Any) -> tuple[Any, ...]:
    """Returns the content of a plain cell as a key, which differs between cells that a model can
    distinguish.
    """
    kind = type(cell)
    if kind is np.ndarray:
        content = cell.tobytes()
        return (kind, cell.dtype.str, cell.shape, cell.flags.f_contiguous,
                content if len(content) <= 64 else hashlib.sha256(content).digest())
    if kind is dict:
        return kind, tuple((_content(name), _content(part)) for name, part in cell.items())
    if kind in (set, frozenset):
        return kind, frozenset(map(_content, cell))
    if kind in _CONTAINERS:
        return kind, tuple(map(_content, cell)) if kind is not bytearray else bytes(cell)
    return kind, repr(cell)


def owned(cells: Any) -> Any:
    """Returns an array of cells whose containers are not shared: plain ones are copied, objects of other
    classes are kept by reference.
    """
    if not isinstance(cells, np.ndarray) or not any_mutable(cells):
        return cells
    made = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells.tolist()):
        made[place] = copy.deepcopy(cell) if type(cell) in _CONTAINERS and is_plain(cell) else cell
    return made


def any_mutable(cells: Any) -> bool:
    """Returns whether any cell of an array is a container, whose content can change."""
    return (isinstance(cells, np.ndarray) and cells.dtype == object
            and any(type(cell) in _CONTAINERS for cell in cells.tolist()))


def same(one: Any, other: Any) -> bool:
    """Returns whether two cells are equal, or both missing."""
    if is_missing(one) or is_missing(other):
        return is_missing(one) and is_missing(other)
    try:
        return bool(one == other)
    except (TypeError, ValueError):
        return one is other


def distinct(cells: Sequence[Any], kept: bool = False) -> Distinct:
    """Returns the keys of the distinct cells, the row of the first cell of each, and the position of each
    row's cell among them.
    """
    places: dict[Any, int] = {}
    first: list[int] = []
    codes = np.empty(len(cells), dtype=np.intp)
    for row, cell in enumerate(cells):
        code = places.setdefault(key(cell, kept), len(places))
        if code == len(first):
            first.append(row)
        codes[row] = code
    return list(places), np.array(first, dtype=np.intp), codes


def shown(cell: Any) -> str | float | bool | None:
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
