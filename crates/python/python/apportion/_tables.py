"""Tables of each library, column by column: as numbers if they are exact, else as arrays of the library.

Each library has a class with the same methods:

- `names`, `width`, `length`: the names of the columns (None for arrays), and the numbers of columns and rows.
- `select(places)`: some columns as a table of the library, like the table that was passed.
- `template()`: the table without rows, which shares neither memory nor mutable objects with the table.
- `whole(places)`: some columns as new 64-bit floats, if these represent all cells exactly; else None.
- `numbers(place)`: a column as such floats, NaN for missing values, and the kinds of its missing values; else
  None.
- `array(place)`: a column as an array of the library; `chosen(array, rows)`: some of its cells;
  `joined(arrays)`: several arrays in one.
- `distinct(array)`: the keys of the distinct cells, the first row of each, and the position of each row's
  cell among them.
- `cells(array)`: the cells as objects; `converted(place, cells)`: objects as an array with the type of a
  column.
- `column(place, values, missing)`: numbers as an array with the type of a column.
- `table(arrays, length)`: arrays, one for each column, as a table; `of_numbers(values)`: the same for all
  columns at once, else None.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from . import _cells, _checks
from ._data import arrow_table, filled, of_matrix
from ._cells import Distinct
from ._errors import DataError
from ._types import AnyArray, Numbers, Places, Rows

# The kinds of missing values in a column of numbers: NaN and the library's own.
NAN, NULL = "nan", "null"


def of(rows: Rows, what: str) -> LibraryTable:
    """Returns rows of any kind as a table of their library."""
    pandas, polars, pyarrow, torch = (sys.modules.get(name)
                                      for name in ("pandas", "polars", "pyarrow", "torch"))
    if pandas is not None:
        if isinstance(rows, pandas.DataFrame):
            return Pandas(rows)
        if isinstance(rows, pandas.Series):
            return Pandas(rows.to_frame().T.infer_objects(), as_given=False)
    if polars is not None and isinstance(rows, (polars.DataFrame, polars.LazyFrame)):
        return Polars(rows)
    if pyarrow is not None and isinstance(rows, (pyarrow.Table, pyarrow.RecordBatch)):
        return Arrow(rows)
    if hasattr(rows, "__arrow_c_stream__"):
        return Arrow(arrow_table(rows, what), as_given=False)
    if type(rows).__module__.startswith("scipy.sparse"):
        return Sparse(rows)
    if torch is not None and isinstance(rows, torch.Tensor):
        return Tensor(rows)
    return Array(_array(rows, what), as_given=isinstance(rows, np.ndarray) or isinstance(rows, (list, tuple)),
                 what=what)


def _array(rows: Rows, what: str) -> AnyArray:
    """Returns rows as an array without changing any cell."""
    if np.ma.isMaskedArray(rows):
        return filled(rows)
    if isinstance(rows, np.ndarray):
        return rows
    if isinstance(rows, (list, tuple)):
        try:
            array = np.asarray(rows)
        except ValueError as error:
            raise DataError(f"{what} has rows of different lengths; "
                            "expected a 2-D array of shape (n_rows, n_features)") from error
        # NumPy converts numbers next to strings to strings, and rounds large integers next to floats.
        if array.dtype.kind in "fUS" and array.ndim >= 1:
            objects = np.empty(array.shape, dtype=object)
            objects[...] = rows
            if any(type(cell) is not type(back)
                   and not (isinstance(cell, (int, float, np.number)) and cell == back)
                   for cell, back in zip(objects.ravel().tolist(), array.ravel().tolist())
                   if not _cells.is_missing(cell)):
                return objects
        return array
    kind = f"{type(rows).__module__}.{type(rows).__name__}"
    if kind == "xgboost.core.DMatrix":
        return of_matrix(rows, what)
    if kind == "catboost.core.Pool":
        if np.size(rows.get_baseline()):
            raise DataError(f"{what} is a Pool with a baseline, which is added to each prediction and is not "
                            "part of the model; pass the rows without it, and add it to base_values")
        try:
            return np.asarray(rows.get_features(), dtype=np.float64)
        except Exception as error:  # an exception of catboost, which is not imported here
            raise DataError(f"{what} is a Pool with categorical or text features, whose values catboost "
                            "does not return; pass the data frame that the Pool was built from") from error
    if hasattr(rows, "detach") and hasattr(rows, "cpu"):
        return rows.detach().cpu().numpy()
    return _checks.array(what, rows, "a data frame or an array of shape (n_rows, n_features)")


def _new_numbers(given: AnyArray) -> Numbers:
    """Returns numbers as a new C-contiguous array of 64-bit floats, with one copy."""
    values = np.require(given, dtype=np.float64, requirements=("C", "A"))
    return values.copy() if np.may_share_memory(values, given) else values


def _exact(values: Numbers, given: AnyArray) -> Numbers | None:
    """Returns 64-bit floats if they represent all integers of a column exactly, else None."""
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8 and given.size:
        if int(given.max()) > _cells.MAX_EXACT or int(given.min()) < -_cells.MAX_EXACT:
            return None
    return values


def _narrowed(values: Numbers, dtype: Any) -> AnyArray:
    """Returns values in a NumPy type if it represents each value exactly, otherwise as 64-bit floats."""
    if dtype == np.float64:
        return values
    with np.errstate(all="ignore"):
        narrow = values.astype(dtype)
        back = narrow.astype(np.float64)
    is_same = (back == values if dtype.kind in "iub" else (back == values)
               | (np.isnan(back) & np.isnan(values)))
    return narrow if bool(np.all(is_same)) else values


class Array:
    """An array of NumPy. If rows have several axes, each entry of a row is a column."""

    library = "numpy"
    index = None

    def __init__(self, array: AnyArray, as_given: bool = True, what: str = "X") -> None:
        if array.ndim == 0:
            raise DataError(f"{what} is {_checks.shown(array[()])}; "
                            "expected a data frame or an array of shape (n_rows, n_features)")
        self.as_given = as_given
        self.fields = array.dtype.names
        if array.ndim == 1 and not self.fields:
            array = array[np.newaxis, :]
        self.rows, self.length, self.shape = array, len(array), array.shape[1:]
        self.names = list(self.fields) if self.fields else None
        self.width = len(self.fields) if self.fields else int(np.prod(self.shape))
        self.labels = None if self.names is None else list(self.names)

    def check(self, what: str) -> None:
        """Raises DataError if the array has too many dimensions."""
        if self.fields is None and self.rows.ndim > 3:
            raise DataError(f"{what} is a {self.rows.ndim}-D array; expected an array of shape (n_rows, "
                            "n_features) or (n_rows, n_steps, n_features)")

    def template(self) -> Array:
        """Returns the array without rows, as a schema stores it."""
        return Array(self.rows[:0].copy())

    def as_row(self) -> Array:
        """Returns the whole array as a single row."""
        return Array(self.rows[np.newaxis], self.as_given)

    def select(self, places: Sequence[int]) -> AnyArray:
        if self.fields is not None:
            return self.rows[[self.fields[place] for place in places]]
        if list(places) == list(range(self.width)):
            return self.rows
        return self.rows[:, list(places)]

    def array(self, place: int) -> AnyArray:
        return (self.rows[self.fields[place]] if self.fields
                else self.rows.reshape(self.length, self.width)[:, place])

    def dtype(self, place: int) -> Any:
        return self.rows.dtype[self.fields[place]] if self.fields else self.rows.dtype

    def has_null(self, place: int) -> bool:
        return False

    def is_uniform(self) -> bool:
        """Returns whether all columns have the same numeric type, so that they can be converted at once."""
        return not self.fields and self.rows.dtype.kind in "fiub" and self.rows.dtype.itemsize <= 8

    def whole(self, places: Sequence[int]) -> Numbers | None:
        if not self.is_uniform():
            return None
        values = self.rows.reshape(self.length, self.width)
        values = values if list(places) == list(range(self.width)) else values[:, list(places)]
        return _exact(_new_numbers(values), self.rows)

    def numbers(self, place: int) -> tuple[Numbers, set[str]] | None:
        column = self.array(place)
        if column.dtype.kind not in "fiub" or column.dtype.itemsize > 8:
            return None
        values = _exact(column.astype(np.float64), column)
        return (None if values is None else (values,
                                             {NAN} if column.dtype.kind == "f" and np.isnan(values).any()
                                             else set()))

    @staticmethod
    def distinct(array: AnyArray) -> Distinct:
        return _distinct_of_array(array)

    @staticmethod
    def chosen(array: AnyArray, rows: Places) -> AnyArray:
        return array[rows]

    @staticmethod
    def cells(array: AnyArray) -> list[Any]:
        return list(array)

    @staticmethod
    def joined(arrays: Sequence[AnyArray]) -> AnyArray:
        return np.concatenate(arrays)

    def converted(self, place: int, cells: Sequence[Any]) -> AnyArray:
        return _array_of(cells, self.dtype(place))

    def column(self, place: int, values: Numbers, missing: str | None) -> AnyArray:
        return _narrowed(values, self.dtype(place))

    def table(self, columns: Sequence[AnyArray], length: int) -> AnyArray:
        if self.fields:
            types = [(field, column.dtype) for field, column in zip(self.fields, columns)]
            made = np.empty(length, dtype=types)
            for field, column in zip(self.fields, columns):
                made[field] = column
            return made
        kinds = {column.dtype for column in columns}
        made = np.empty((length, len(columns)), dtype=kinds.pop() if len(kinds) == 1 else _common(kinds))
        for place, column in enumerate(columns):
            made[:, place] = column
        return made.reshape(length, *self.shape) if len(self.shape) > 1 else made

    def of_numbers(self, values: Numbers) -> AnyArray | None:
        if not self.is_uniform():
            return None
        made = _narrowed(values, self.rows.dtype)
        return made.reshape(len(values), *self.shape) if len(self.shape) > 1 else made


def _common(kinds: Iterable[Any]) -> np.dtype[Any]:
    try:
        return np.result_type(*kinds)
    except TypeError:
        return np.dtype(object)


def _array_of(cells: Sequence[Any], dtype: np.dtype[Any]) -> AnyArray:
    if dtype.kind == "O":
        made = np.empty(len(cells), dtype=object)
        made[:] = cells
        return made
    # Do not truncate strings to the length of those in the column.
    return np.array(cells, dtype=dtype.type if dtype.kind in "US" else dtype)


def _distinct_of_array(column: AnyArray) -> Distinct:
    if column.dtype.kind == "O":
        return _cells.distinct(column.tolist(), kept=True)
    if column.dtype.kind == "V":
        return _cells.distinct([cell.item() for cell in column])
    _, first, codes = np.unique(column, return_index=True, return_inverse=True)
    return [_cells.key(cell) for cell in column[first]], first, codes.reshape(-1)


class Pandas:
    """A data frame of pandas."""

    library = "pandas"
    shape = None

    def __init__(self, frame: Any, as_given: bool = True) -> None:
        self.frame, self.as_given, self.length = frame, as_given, len(frame)
        self.labels, self.width = list(frame.columns), frame.shape[1]
        self.names, self.dtypes = [str(label) for label in self.labels], list(frame.dtypes)

    @property
    def index(self) -> Any:
        """The labels of the rows; None if they are 0, 1, …."""
        import pandas

        index = self.frame.index
        return (None if isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1
                else index)

    def check(self, what: str) -> None:
        pass

    def template(self) -> Pandas:
        empty = self.frame.iloc[:0].copy()
        # Labels can share the memory of an array, and their name can be set.
        empty.columns = self.frame.columns.copy(deep=True)
        return Pandas(empty)

    def select(self, places: Sequence[int]) -> Any:
        return self.frame if list(places) == list(range(self.width)) else self.frame.iloc[:, list(places)]

    def array(self, place: int) -> Any:
        return _stored(self.frame.iloc[:, place])

    def dtype(self, place: int) -> Any:
        return self.dtypes[place]

    def has_null(self, place: int) -> bool:
        return not isinstance(self.dtypes[place], np.dtype)

    def is_uniform(self) -> bool:
        return (all(dtype == np.float64 for dtype in self.dtypes if isinstance(dtype, np.dtype))
                and all(isinstance(dtype, np.dtype) for dtype in self.dtypes))

    def whole(self, places: Sequence[int]) -> Numbers | None:
        if not all(isinstance(self.dtypes[place], np.dtype) and self.dtypes[place].kind in "fiub"
                   for place in places):
            return None
        large = [place for place in places if self.dtypes[place].kind in "iu"
                 and self.dtypes[place].itemsize == 8]
        if any(self.numbers(place) is None for place in large):
            return None
        return _new_numbers(self.select(places).to_numpy(dtype=np.float64))

    def numbers(self, place: int) -> tuple[Numbers, set[str]] | None:
        dtype = self.dtype(place)
        column = self.frame.iloc[:, place]
        if isinstance(dtype, np.dtype):
            if dtype.kind not in "fiub" or dtype.itemsize > 8:
                return None
            given = column.to_numpy()
            values = _exact(given.astype(np.float64), given)
            return (None if values is None else (values,
                                                 {NAN} if dtype.kind == "f" and np.isnan(values).any()
                                                 else set()))
        if not (getattr(dtype, "_is_numeric", False)
                or getattr(dtype, "_is_boolean", False)) or getattr(dtype, "kind", "O") not in "fiub":
            return None
        if getattr(dtype, "kind", "O") in "iu" and len(column) and not column.isna().all():
            if int(column.max()) > _cells.MAX_EXACT or int(column.min()) < -_cells.MAX_EXACT:
                return None
        if type(dtype).__name__ == "SparseDtype":
            values = np.asarray(column.array, dtype=np.float64)
            return values, {NAN} if np.isnan(values).any() else set()
        holes = np.asarray(column.isna())
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        kinds = {NAN} if np.isnan(values[~holes]).any() else set()
        if holes.any():
            kinds.add(NULL)
            # For pyarrow floats, pandas treats both NaN and null as missing.
            if type(dtype).__name__ == "ArrowDtype" and dtype.kind == "f":
                import pyarrow.compute

                nulls = np.asarray(pyarrow.compute.is_null(column.array.__arrow_array__()))
                kinds = ({NULL} if nulls.any() else set()) | ({NAN} if (holes & ~nulls).any() else set())
        return values, kinds

    @staticmethod
    def distinct(array: Any) -> Distinct:
        import pandas

        dtype = array.dtype
        if isinstance(array, np.ndarray):
            return _distinct_of_array(array)
        if isinstance(dtype, pandas.CategoricalDtype):
            # Identify categories by their position, because they may be any objects.
            _, first, codes = np.unique(array.codes, return_index=True, return_inverse=True)
            return [("category", int(code)) for code in array.codes[first]], first, codes.reshape(-1)
        if getattr(dtype, "kind", "O") == "f":  # NaN and NA are different
            return _cells.distinct(list(array))
        try:
            codes, _ = pandas.factorize(array)
        except (TypeError, ValueError, NotImplementedError):
            return _cells.distinct(list(array))
        _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
        return [_cells.key(cell, kept=False) for cell in array.take(first)], first, codes.reshape(-1)

    @staticmethod
    def chosen(array: Any, rows: Places) -> Any:
        return array.take(rows)

    @staticmethod
    def cells(array: Any) -> list[Any]:
        return list(array)

    @staticmethod
    def joined(arrays: Sequence[Any]) -> Any:
        import pandas

        return _stored(pandas.concat([pandas.Series(array, dtype=array.dtype) for array in arrays],
                                     ignore_index=True))

    def converted(self, place: int, cells: Sequence[Any]) -> Any:
        import pandas

        dtype = self.dtype(place)
        if isinstance(dtype, np.dtype) and dtype.kind == "O":
            return _array_of(cells, dtype)
        return _stored(pandas.Series(cells, dtype=dtype))

    def column(self, place: int, values: Numbers, missing: str | None) -> Any:
        import pandas

        dtype = self.dtype(place)
        if isinstance(dtype, np.dtype):
            return _narrowed(values, dtype)
        if type(dtype).__name__ == "SparseDtype":
            return pandas.arrays.SparseArray(_narrowed(values, dtype.subtype), dtype=dtype)
        holes = np.isnan(values)
        if missing == NAN:
            holes[:] = False
        kind = getattr(dtype, "kind", "f")
        if kind in "iub" and not np.all(values[~holes] == np.rint(values[~holes])):
            dtype = pandas.Float64Dtype() if type(dtype).__name__ != "ArrowDtype" else _arrow_type("float64")
            kind = "f"
        if type(dtype).__name__ == "ArrowDtype":
            import pyarrow

            return pandas.array(pyarrow.array(values, mask=holes).cast(dtype.pyarrow_dtype), dtype=dtype)
        filled = np.where(holes, 0.0, values)
        if kind == "b":
            return pandas.arrays.BooleanArray(filled.astype(bool), holes)
        array = pandas.arrays.FloatingArray if kind == "f" else pandas.arrays.IntegerArray
        return array(filled.astype(dtype.numpy_dtype), holes)

    def table(self, columns: Sequence[Any], length: int) -> Any:
        import pandas

        index, made = self._index(length), {}
        for place, column in enumerate(columns):
            # Pass the type: pandas 3 infers a string type for objects that are all strings.
            made[place] = (pandas.Series(column, index=index, dtype=object) if column.dtype == object
                           else column)
        return self._named(pandas.DataFrame(made, index=index))

    def of_numbers(self, values: Numbers) -> Any:
        import pandas

        return (self._named(pandas.DataFrame(values, index=self._index(len(values)), copy=False))
                if self.is_uniform() else None)

    def _index(self, length: int) -> Any:
        import pandas

        return pandas.RangeIndex(length, name=self.frame.index.name)

    def _named(self, made: Any) -> Any:
        made.columns = self.frame.columns
        made = made.__finalize__(self.frame)
        own = type(self.frame)
        return made if own is type(made) else own(made)


def _stored(column: Any) -> Any:
    """Returns the array of a pandas column: a pandas array for times and pandas types, otherwise a NumPy
    array.
    """
    return (column.to_numpy() if isinstance(column.dtype, np.dtype) and column.dtype.kind not in "mM"
            else column.array)


def _arrow_type(name: str) -> Any:
    import pandas
    import pyarrow

    return pandas.ArrowDtype(getattr(pyarrow, name)())


class Polars:
    """A data frame of polars, lazy or not."""

    library = "polars"
    index = shape = None

    def __init__(self, frame: Any, as_given: bool = True) -> None:
        import polars

        self.is_lazy = isinstance(frame, polars.LazyFrame)
        self.frame = frame.collect() if self.is_lazy else frame
        self.as_given, self.length, self.width = as_given, self.frame.height, self.frame.width
        self.labels = self.names = list(self.frame.columns)

    def check(self, what: str) -> None:
        pass

    def template(self) -> Polars:
        made = Polars(self.frame.head(0))
        made.is_lazy = self.is_lazy
        return made

    def select(self, places: Sequence[int]) -> Any:
        chosen = self.frame.select([self.names[place] for place in places])
        return chosen.lazy() if self.is_lazy else chosen

    def dtype(self, place: int) -> Any:
        return self.frame.dtypes[place]

    def array(self, place: int) -> Any:
        return self.frame.to_series(place)

    def has_null(self, place: int) -> bool:
        return True

    def is_uniform(self) -> bool:
        return False

    def whole(self, places: Sequence[int]) -> Numbers | None:
        return None

    def numbers(self, place: int) -> tuple[Numbers, set[str]] | None:
        import polars

        column = self.frame.to_series(place)
        dtype = column.dtype
        if dtype.is_float():
            values = column.fill_null(float("nan")).cast(polars.Float64).to_numpy()
            kinds = ({NULL} if column.null_count() else set()) | ({NAN} if column.is_nan().any() else set())
            return np.array(values), kinds
        if not (dtype.is_integer() or dtype == polars.Boolean):
            return None
        if dtype.is_integer() and column.len() > column.null_count():
            if int(column.max()) > _cells.MAX_EXACT or int(column.min()) < -_cells.MAX_EXACT:
                return None
        values = column.cast(polars.Float64).fill_null(float("nan")).to_numpy()
        return np.array(values), {NULL} if column.null_count() else set()

    @staticmethod
    def distinct(column: Any) -> Distinct:
        import polars

        if column.dtype in (polars.Categorical, polars.Enum):
            column = column.cast(polars.String)
        elif column.dtype.is_temporal():
            column = column.to_physical()
        return _cells.distinct(column.to_list())

    @staticmethod
    def chosen(column: Any, rows: Places) -> Any:
        import polars

        return column.gather(polars.Series(np.asarray(rows, dtype=np.uint32)))

    @staticmethod
    def cells(column: Any) -> list[Any]:
        return column.to_list()

    @staticmethod
    def joined(columns: Sequence[Any]) -> Any:
        import polars

        return polars.concat(columns)

    def converted(self, place: int, cells: Sequence[Any]) -> Any:
        import polars

        return polars.Series(self.names[place], cells, dtype=self.dtype(place), strict=True)

    def column(self, place: int, values: Numbers, missing: str | None) -> Any:
        import polars

        dtype = self.dtype(place)
        made = polars.Series(self.names[place], values)
        if missing != NAN:
            made = made.fill_nan(None)
        if dtype == polars.Float64:
            return made
        known = values[~np.isnan(values)]
        if dtype.is_float():
            exact = dtype != polars.Float32 or np.array_equal(known.astype(np.float32), known)
            return made.cast(dtype) if exact else made
        if missing == NAN or not np.all(known == np.rint(known)):
            return made
        return made.cast(polars.Int64).cast(dtype)

    def table(self, columns: Sequence[Any], length: int) -> Any:
        import polars

        made = polars.DataFrame([column.rename(name) for column, name in zip(columns, self.names)])
        return made.lazy() if self.is_lazy else made

    def of_numbers(self, values: Numbers) -> Any:
        return None


class Arrow:
    """A table or a record batch of Arrow."""

    library = "pyarrow"
    index = shape = None

    def __init__(self, rows: Any, as_given: bool = True) -> None:
        import pyarrow

        self.is_batch = isinstance(rows, pyarrow.RecordBatch)
        self.frame = pyarrow.Table.from_batches([rows]) if self.is_batch else rows
        self.as_given, self.length, self.width = as_given, self.frame.num_rows, self.frame.num_columns
        self.labels = self.names = list(self.frame.column_names)

    def check(self, what: str) -> None:
        pass

    def template(self) -> Arrow:
        made = Arrow(self.frame.slice(0, 0))
        made.is_batch = self.is_batch
        return made

    def select(self, places: Sequence[int]) -> Any:
        return self._as_given(self.frame.select(list(places)))

    def _as_given(self, made: Any) -> Any:
        import pyarrow

        if not self.is_batch:
            return made
        made = made.combine_chunks()
        batches = made.to_batches()
        return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], schema=made.schema)

    def dtype(self, place: int) -> Any:
        return self.frame.schema.field(place).type

    def array(self, place: int) -> Any:
        return self.frame.column(place)

    def has_null(self, place: int) -> bool:
        return True

    def is_uniform(self) -> bool:
        return False

    def whole(self, places: Sequence[int]) -> Numbers | None:
        return None

    def numbers(self, place: int) -> tuple[Numbers, set[str]] | None:
        import pyarrow
        import pyarrow.compute as compute

        column, kind = self.frame.column(place), self.dtype(place)
        types = pyarrow.types
        if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)):
            return None
        if types.is_integer(kind) and len(column) > column.null_count:
            ends = compute.min_max(column)
            if ends["max"].as_py() > _cells.MAX_EXACT or ends["min"].as_py() < -_cells.MAX_EXACT:
                return None
        kinds = {NULL} if column.null_count else set()
        if types.is_boolean(kind):
            column = column.cast(pyarrow.uint8())
        column = column.cast(pyarrow.float64())
        if types.is_floating(kind) and compute.any(compute.is_nan(column)).as_py():
            kinds.add(NAN)
        return np.array(compute.fill_null(column, float("nan")).to_numpy()), kinds

    @staticmethod
    def distinct(column: Any) -> Distinct:
        import pyarrow

        kind, types = column.type, pyarrow.types
        for width, is_kind in ((pyarrow.int32(), (types.is_date32, types.is_time32)),
                               (pyarrow.int64(),
                                (types.is_timestamp, types.is_date64, types.is_time64, types.is_duration))):
            if any(of_kind(kind) for of_kind in is_kind):
                column = column.cast(width)
        return _cells.distinct(column.to_pylist())

    @staticmethod
    def chosen(column: Any, rows: Places) -> Any:
        import pyarrow

        return column.take(pyarrow.array(np.asarray(rows, dtype=np.int64)))

    @staticmethod
    def cells(column: Any) -> list[Any]:
        return column.to_pylist()

    @staticmethod
    def joined(columns: Sequence[Any]) -> Any:
        import pyarrow

        made = pyarrow.chunked_array([chunk for column in columns for chunk in column.chunks],
                                     type=columns[0].type)
        if pyarrow.types.is_dictionary(made.type):
            made = made.unify_dictionaries()
        return pyarrow.chunked_array([made.combine_chunks()] if made.num_chunks > 1 else made.chunks,
                                     type=made.type)

    def converted(self, place: int, cells: Sequence[Any]) -> Any:
        import pyarrow

        kind = self.dtype(place)
        if pyarrow.types.is_dictionary(kind):
            return pyarrow.chunked_array([pyarrow.array(cells,
                                                        kind.value_type).dictionary_encode().cast(kind)])
        return pyarrow.chunked_array([pyarrow.array(cells, kind)])

    def column(self, place: int, values: Numbers, missing: str | None) -> Any:
        import pyarrow

        kind = self.dtype(place)
        holes = np.isnan(values) if missing != NAN else np.zeros(len(values), dtype=bool)
        made = pyarrow.array(values, mask=holes)
        known = values[~holes]
        if pyarrow.types.is_float64(kind):
            return made
        if pyarrow.types.is_floating(kind):
            narrow = kind.to_pandas_dtype()
            with np.errstate(all="ignore"):
                back = known.astype(narrow).astype(np.float64)
            exact = np.array_equal(back, known, equal_nan=True)
            return pyarrow.array(values.astype(narrow), mask=holes) if exact else made
        if not np.all(known == np.rint(known)):
            return made
        if pyarrow.types.is_boolean(kind):
            return pyarrow.array(np.where(holes, 0.0, values).astype(bool), mask=holes)
        return made.cast(kind)

    def table(self, columns: Sequence[Any], length: int) -> Any:
        import pyarrow

        fields = [pyarrow.field(name, column.type, metadata=field.metadata)
                  for name, column, field in zip(self.names, columns, self.frame.schema)]
        schema = pyarrow.schema(fields, metadata=self.frame.schema.metadata)
        return self._as_given(pyarrow.table(list(columns), schema=schema))

    def of_numbers(self, values: Numbers) -> Any:
        return None


class Sparse:
    """A sparse matrix of scipy. Entries that are not stored are zero."""

    library = "scipy.sparse"
    index = names = labels = shape = None

    def __init__(self, matrix: Any, as_given: bool = True) -> None:
        self.matrix, self.as_given = matrix, as_given
        self.length, self.width = matrix.shape

    def check(self, what: str) -> None:
        if self.matrix.dtype.kind not in "fiub":
            raise DataError(f"{what} is a sparse matrix of {self.matrix.dtype}; expected real numbers")

    def template(self) -> Sparse:
        return Sparse(type(self.matrix)((0, self.width), dtype=self.matrix.dtype))

    def select(self, places: Sequence[int]) -> Any:
        return (self.matrix if list(places) == list(range(self.width))
                else self.matrix.tocsc()[:, list(places)].asformat(self.matrix.format))

    def dtype(self, place: int) -> Any:
        return self.matrix.dtype

    def is_uniform(self) -> bool:
        return True

    def whole(self, places: Sequence[int]) -> Numbers:
        values = (self.matrix.toarray() if list(places) == list(range(self.width))
                  else self.matrix.tocsc()[:, list(places)].toarray())
        return np.require(values, dtype=np.float64, requirements=("C", "A"))

    def of_numbers(self, values: Numbers) -> Any:
        return type(self.matrix)(_narrowed(values, self.matrix.dtype))


class Tensor:
    """A tensor of torch, on its device."""

    library = "torch"
    index = names = labels = None

    def __init__(self, tensor: Any, as_given: bool = True) -> None:
        tensor = tensor.detach()
        self.tensor, self.as_given = tensor[None] if tensor.ndim == 1 else tensor, as_given
        self.length, self.shape = len(self.tensor), tuple(self.tensor.shape[1:])
        self.width = int(np.prod(self.shape))

    def check(self, what: str) -> None:
        if self.tensor.ndim > 3:
            raise DataError(f"{what} is a {self.tensor.ndim}-D tensor; expected a tensor of shape (n_rows, "
                            "n_features) or (n_rows, n_steps, n_features)")
        if self.tensor.is_complex():
            raise DataError(f"{what} is a tensor of complex numbers; expected real numbers")

    def template(self) -> Tensor:
        return Tensor(self.tensor[:0].clone())

    def as_row(self) -> Tensor:
        """Returns the whole tensor as a single row."""
        return Tensor(self.tensor[None], self.as_given)

    def select(self, places: Sequence[int]) -> Any:
        return self.tensor if list(places) == list(range(self.width)) else self.tensor[:, list(places)]

    def dtype(self, place: int) -> Any:
        return self.tensor.dtype

    def is_uniform(self) -> bool:
        return True

    def whole(self, places: Sequence[int]) -> Numbers:
        import torch

        numbers = self.tensor.cpu()
        if (self.tensor.dtype == torch.int64 and numbers.numel()
                and int(numbers.abs().max()) > _cells.MAX_EXACT):
            raise DataError("the tensor contains integers beyond ±2^53; "
                            "expected numbers that 64-bit floats represent exactly")
        values = numbers.to(torch.float64).numpy().reshape(self.length, self.width)
        return _new_numbers(values if list(places) == list(range(self.width)) else values[:, list(places)])

    def of_numbers(self, values: Numbers) -> Any:
        import torch

        made = torch.from_numpy(values)
        narrow = made.to(self.tensor.dtype)
        back = narrow.to(torch.float64)
        if bool(torch.all((back == made) | (torch.isnan(back) & torch.isnan(made)))):
            made = narrow
        return made.reshape(len(values), *self.shape).to(self.tensor.device)


def copied(rows: Rows, start: int, stop: int) -> Rows:
    """Returns a copy of some rows of a table of any library, because a model may change its argument."""
    if hasattr(rows, "iloc"):
        return rows.iloc[start:stop].copy()
    if type(rows).__module__.startswith("polars"):
        return rows.slice(start, stop - start)
    if hasattr(rows, "to_pylist"):
        return rows.slice(start, stop - start)
    if hasattr(rows, "tocsr"):
        return (rows if start == 0 and stop >= rows.shape[0]
                else rows.tocsr()[start:stop].asformat(rows.format))
    if hasattr(rows, "clone"):
        return rows[start:stop].clone()
    return rows[start:stop].copy()


# Tables whose columns have separate types, and all tables.
ColumnTable: TypeAlias = Array | Pandas | Polars | Arrow
LibraryTable: TypeAlias = ColumnTable | Sparse | Tensor
