"""Conversion of tables to numbers for the engine, and of numbers to tables with the original cells for
functions.
"""
from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _cells, _tables
from ._data import Table, Wanted, check_count, chosen
from ._errors import DataError
from ._names import listed, nearest
from ._tables import ColumnTable, LibraryTable, Sparse, Tensor
from ._types import Numbers, Rows


class Grown(Exception):
    """Raised if a table has cells that the schema cannot represent. A new schema must then be made from both
    tables.
    """


class Schema:
    """The columns of the tables that a function expects.

    Columns whose cells 64-bit floats represent exactly are stored as numbers. For any other column the schema
    stores each distinct cell unchanged, including missing ones, and the code k represents cell k.

    A schema is immutable: rows with new cells get a separate schema, with these cells after the others.
    Threads can therefore share a schema, and the schema of an explainer does not grow with the rows that it
    explains.

    names: the names of the features, or None for arrays without names.
    """

    def __init__(self, table: LibraryTable, names: Sequence[str] | None = None) -> None:
        self.template, self.width = table.template(), table.width
        self.names = table.names if table.names is not None else names
        self.columns: list[_Column] | None = None

    @classmethod
    def of(cls, tables: Sequence[LibraryTable], names: Sequence[str] | None = None,
           what: str = "X") -> tuple[Schema, list[Table]]:
        """Returns the schema of the first table, extended by the cells of the others, and all tables as
        numbers, each as a `Table` with this schema.
        """
        first = tables[0]
        first.check(what)
        is_of_steps = len(first.shape or ()) > 1
        check_count(first.width, Wanted(count=None if names is None or first.names is not None or is_of_steps
                                        else len(names)), what)
        if first.names is not None:
            chosen(first.names, Wanted(), what)
        made = cls(first, names)
        places = [made.places(table, what) for table in tables]
        if first.is_uniform():
            whole = [table.whole(at) for table, at in zip(tables, places)]
            known = [values for values in whole if values is not None]
            if len(known) == len(tables):
                return made, [made._numbers(values, table, at)
                              for values, table, at in zip(known, tables, places)]
        if isinstance(first, (Sparse, Tensor)):
            raise DataError(f"{what} has columns that are not numeric, "
                            f"but the background is a numeric matrix ({first.library}); "
                            "pass background and X with the same types")
        made.columns = [_Column.of([(table, at[feature]) for table, at in zip(tables, places)],
                                   made.column_name(feature, what)) for feature in range(made.width)]
        found = []
        for table in tables:
            rows = made.encoded(table, what)
            found.append(rows)
            made = rows.schema or made
        for rows in found:
            rows.schema = made
        return made, found

    def column_name(self, feature: int, what: str) -> str:
        return f'column "{self.names[feature] if self.names is not None else feature}" of {what}'

    def places(self, table: LibraryTable, what: str) -> list[int]:
        """Returns the positions of the features among the columns of a table."""
        table.check(what)
        shape = self.template.shape
        if shape is not None and len(shape) > 1 and table.shape != shape:
            raise DataError(f"{what} has rows of shape {table.shape}, expected {shape} as in the background")
        wanted = Wanted(self.names, count=self.width)
        if table.names is not None:
            return chosen(table.names, wanted, what)
        check_count(table.width, wanted, what)
        return list(range(self.width))

    def encoded(self, table: LibraryTable, what: str = "X") -> Table:
        """Returns the rows of a table as numbers, in a `Table` with the schema of their cells: this one, or
        one with additional cells.

        Raises Grown if a column must be stored differently.
        """
        at = self.places(table, what)
        if self.columns is None:
            whole = table.whole(at)
            if whole is None:
                raise Grown
            return self._numbers(whole, table, at)
        values, columns = np.empty((table.length, self.width)), list(self.columns)
        for feature, column in enumerate(self.columns):
            name = self.column_name(feature, what)
            columns[feature], values[:, feature] = column.encoded(table, at[feature], name)
        schema = self
        if any(one is not other for one, other in zip(columns, self.columns)):
            schema = copy.copy(self)
            schema.columns = columns
        return schema._numbers(values, table, at)

    def _numbers(self, values: Numbers, table: LibraryTable, at: Sequence[int]) -> Table:
        names = (self.names if self.names is not None else None if table.names is None
                 else [table.names[place] for place in at])
        rows = Table(values, names, table.index, is_own=True)
        rows.schema = self
        return rows

    def table(self, values: Numbers) -> Rows:
        """Returns rows of numbers as a table of the original library, with its columns, types and cells."""
        values = np.ascontiguousarray(values)
        if self.columns is None or not self.categorical():
            made = self.template.of_numbers(values)
            if made is not None:
                return made
        assert self.columns is not None and not isinstance(self.template, (Sparse, Tensor))
        arrays = [column.decoded(np.ascontiguousarray(values[:, place]))
                  for place, column in enumerate(self.columns)]
        return self.template.table(arrays, len(values))

    def as_arrays(self) -> Schema | None:
        """Returns the schema for NumPy arrays, for functions that do not support such tables; None if some
        columns are not numeric.
        """
        if self.categorical():
            return None
        return Schema(_tables.Array(np.empty((0, self.width))), self.names)

    def categorical(self) -> list[int]:
        """Returns the columns that are not numeric."""
        return ([] if self.columns is None else [feature for feature, column in enumerate(self.columns)
                                                 if column.cells is not None])

    def described(self, features: Iterable[int]) -> str:
        """Returns the names of columns with their types, for messages."""
        return ", ".join(f'"{self.names[feature] if self.names is not None else feature}" '
                         f'({self.template.dtype(feature)})' for feature in features)

    def shown(self, values: Numbers) -> tuple[Numbers, dict[int, list[Any]]]:
        """Returns rows of numbers as results show them: numbers, or codes of categories; and the categories
        by feature.
        """
        features = self.categorical()
        categories: dict[int, list[Any]] = {}
        if self.columns is None or not features:
            return values, categories
        values = values.copy()
        for feature in features:
            values[:, feature], words = self.columns[feature].shown(values[:, feature])
            if words is not None:
                categories[feature] = words
        return values, categories


class _Column:
    """An immutable column: numbers, or the distinct cells that its codes represent.

    cells: an array of the library with the cells in the order of their codes; None for numbers.
    codes: the code of each cell by its key.
    missing: the kind of missing value that NaN represents in numbers; None if no value is missing.
    """

    def __init__(self, template: ColumnTable, place: int) -> None:
        self.template, self.place = template, place
        self.codes: dict[Any, int] = {}
        self.cells: Any = None
        self.missing: str | None = None
        # Whether a function could change some of the cells in place.
        self.is_mutable = False

    @classmethod
    def of(cls, sources: Sequence[tuple[LibraryTable, int]], name: str) -> _Column:
        (first, place), *others = sources
        assert not isinstance(first, (Sparse, Tensor))
        made = cls(first.template(), place)
        held = [first.numbers(place), *(made._numbers(table, at, name) for table, at in others)]
        known = [numbers for numbers in held if numbers is not None]
        kinds: set[str] = set().union(*(of_table for _, of_table in known))
        if len(known) == len(held) and len(kinds) < 2:
            made.missing = next(iter(kinds), None)
            return made
        made.cells = first.chosen(first.array(place), np.arange(0))
        if getattr(first.dtype(place), "name", "") == "category":
            # Assign codes to all categories now, in their order.
            categories = made.template.converted(place, list(first.dtype(place).categories))
            made, _ = made._with(made.template.distinct(categories)[0], categories)
        return made

    def _numbers(self, table: LibraryTable, at: int, name: str) -> tuple[Numbers, set[str]] | None:
        """Returns a column of another table as numbers, and the kinds of its missing values; None if its
        cells are not numbers.
        """
        if isinstance(table, (Sparse, Tensor)):
            values = table.whole([at])[:, 0]
            return values, {_tables.NAN} if np.isnan(values).any() else set()
        numbers = table.numbers(at)
        if numbers is None:
            numbers = _numbers_of_cells(table, at)
        if numbers is None:
            return None
        values, kinds = numbers
        if kinds and not self.template.has_null(self.place):
            kinds = {_tables.NAN}
        elif kinds and type(table) is not type(self.template):
            kinds = {self.missing or _tables.NULL}
        return values, kinds

    def encoded(self, table: LibraryTable, at: int, name: str) -> tuple[_Column, Numbers]:
        """Returns this column, extended by the cells of a column of another table, and these cells as
        numbers.
        """
        if self.cells is None:
            numbers = self._numbers(table, at, name)
            if numbers is None:
                assert not isinstance(table, (Sparse, Tensor))
                if type(table) is type(self.template) and table.dtype(at) == self.template.dtype(self.place):
                    raise Grown
                raise DataError(f"{name} contains {_odd_cell(table, at)!r}, which the background's type "
                                f"{self.template.dtype(self.place)} cannot represent; pass background and X "
                                "with the same types")
            values, kinds = numbers
            if len(kinds) > 1 or kinds and self.missing not in (None, *kinds):
                raise Grown
            if not kinds or self.missing is not None:
                return self, values
            made = copy.copy(self)
            made.missing, = kinds
            return made, values
        if isinstance(table, (Sparse, Tensor)):
            table, at = _tables.Array(table.whole([at])), 0
        keys, first, codes = table.distinct(table.array(at))
        piece = table.chosen(table.array(at), first)
        if type(table) is not type(self.template) or table.dtype(at) != self.template.dtype(self.place):
            cells = table.cells(piece)
            if table.library in ("polars", "pyarrow") and table.library != self.template.library:
                # A null becomes the missing cell of this column, if the column has exactly one such cell.
                own = [cell for cell in self.template.cells(self.cells) if _cells.is_missing(cell)]
                cells = [own[0] if cell is None and len(own) == 1 else cell for cell in cells]
            piece = self._converted(cells, name)
            keys, _, places = self.template.distinct(piece)
            keys = [keys[place] for place in places]
        made, found = self._with(keys, piece)
        return made, found[codes] if len(found) else np.empty(len(codes))

    def _with(self, keys: Sequence[Any], cells: Any) -> tuple[_Column, Numbers]:
        """Returns a column with these cells, and their codes. It is this column, or another one with
        additional codes for new cells.
        """
        new: dict[Any, int] = {}
        added: list[int] = []
        before = len(self.codes)
        for place, key in enumerate(keys):
            if key not in self.codes and key not in new:
                new[key] = before + len(added)
                added.append(place)
        made = self
        if new:
            made = copy.copy(self)
            made.codes = {**self.codes, **new}
            cells = _cells.owned(cells if len(added) == len(keys)
                                 else self.template.chosen(cells, np.array(added)))
            made.cells = self.template.joined([self.cells, cells]) if before else cells
            made.is_mutable = self.is_mutable or _cells.any_mutable(cells)
        return made, np.array([made.codes[key] for key in keys], dtype=np.float64)

    def _converted(self, cells: Sequence[Any], name: str) -> Any:
        """Converts cells of another type to the type of this column."""
        dtype = self.template.dtype(self.place)
        known = [str(word) for word in getattr(dtype, "categories", ())]
        try:
            made = self.template.converted(self.place, cells)
            kept = self.template.cells(made)
        except Exception as error:  # each library has its own exceptions
            raise DataError(f"{name} cannot be stored as the background's type {dtype} ({error}); "
                            "pass background and X with the same types") from error
        for cell, back in zip(cells, kept):
            if not _cells.same(cell, back):
                if not known:
                    raise DataError(f"{name} contains {cell!r}, which the background's type {dtype} cannot "
                                    "represent; pass background and X with the same types")
                meant = nearest(str(cell), known)
                hint = (f'did you mean "{meant}"?' if meant is not None
                        else f"categories of the background: {listed(known)}")
                raise DataError(f"unknown category {cell!r} in {name}; {hint}")
        return made

    def decoded(self, values: Numbers) -> Any:
        if self.cells is None:
            return self.template.column(self.place, values, self.missing)
        made = self.template.chosen(self.cells, values.astype(np.intp))
        return _cells.owned(made) if self.is_mutable else made

    def shown(self, values: Numbers) -> tuple[Numbers, list[Any] | None]:
        """Returns codes as results show them, and the categories; if all cells are numbers, these numbers and
        None.
        """
        words = [_cells.shown(cell) for cell in self.template.cells(self.cells)]
        codes = values.astype(np.intp)
        if (not any(isinstance(word, str) for word in words)
                and getattr(self.template.dtype(self.place), "name", "") != "category"):
            return np.array([np.nan if word is None else float(word) for word in words])[codes], None
        places = np.full(len(words), np.nan)
        kept: dict[tuple[type, Any], int] = {}
        for code, word in enumerate(words):
            if word is not None:
                places[code] = kept.setdefault((type(word), word), len(kept))
        return places[codes], [word for _, word in kept]


def _numbers_of_cells(table: ColumnTable, at: int) -> tuple[Numbers, set[str]] | None:
    """Returns a column of objects as numbers, with the kinds of its missing values; None if 64-bit floats
    cannot represent one of the other cells exactly.
    """
    array = table.array(at)
    _, first, codes = table.distinct(array)
    found, kinds = np.empty(len(first)), set()
    for place, cell in enumerate(table.cells(table.chosen(array, first))):
        if _cells.is_missing(cell):
            found[place], kinds = np.nan, {_tables.NAN}
        elif _is_exact(cell):
            found[place] = float(cell)
        else:
            return None
    return found[codes] if len(found) else np.empty(len(codes)), kinds


def _is_exact(cell: Any) -> bool:
    return isinstance(cell, (bool, int, float, np.integer, np.floating, np.bool_)) and float(cell) == cell


def _odd_cell(table: ColumnTable, at: int) -> Any:
    """Returns the first cell of a column that 64-bit floats cannot represent."""
    return next((cell for cell in table.cells(table.array(at)) if not _cells.is_missing(cell)
                 and not _is_exact(cell)), None)
