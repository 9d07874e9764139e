"""Conversion of rows in memory for the engine: a C-contiguous array of 64-bit floats, NaN for missing values.

Arrays of this kind are not copied. Columns of frames are chosen by the names of the model's features and
converted one by one; strings and categories become the codes that the model's splits compare. No frame is
converted to objects.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from . import _checks, _core
from ._cells import MAX_EXACT
from ._column_names import names_as
from ._errors import DataError
from ._names import listed, nearest
from ._types import AnyArray, Booleans, Module, Numbers, Rows

if TYPE_CHECKING:
    from ._missing import Cells
    from ._schema import Schema
    from ._sequences import Players
    from ._tables import LibraryTable


class Table:
    """Rows as numbers, with their names and labels.

    values: an array of shape (n_rows, n_features), with codes for categories.
    names: the names of the features, or None.
    index: the labels of the rows, or None.
    categories: the categories of features in the order of their codes, by feature.
    is_own: whether no other object refers to the array of values.
    given, schema, background: for functions, the table as it was passed, its conversion to numbers, and the
        background converted in the same way, if it differs from that of the explainer.
    players: for sequences, the names of all cells, the groups and the solution concept; else None.
    members: the groups that were found for these rows, as indices of features.
    """

    __slots__ = ("values", "names", "index", "categories", "is_own", "given", "schema", "background",
                 "players", "members")

    def __init__(self, values: Numbers, names: Sequence[str] | None = None, index: Any = None,
                 categories: dict[int, list[Any]] | None = None, is_own: bool = False) -> None:
        self.values = values
        self.names = names
        self.index = index
        self.categories = categories or {}
        self.is_own = is_own
        self.given: LibraryTable | None = None
        self.schema: Schema | None = None
        self.background: Table | None = None
        self.players: Players | None = None
        self.members: list[Any] | None = None

    def owned(self) -> Table:
        """Returns the table itself, with values, labels and categories that are independent of the caller's
        objects.
        """
        if not self.is_own:
            self.values, self.is_own = self.values.copy(), True
        if self.index is not None:
            self.index = self.index.copy(deep=True)
        self.categories = {feature: list(words) for feature, words in self.categories.items()}
        return self


class Wanted:
    """The requirements of a model for rows: the names and number of its features, the codes of their
    categories, the library that spelled the names, the number that represents a missing value in addition to
    NaN, and whether entries that a sparse matrix does not store are missing (otherwise they are 0).
    """

    def __init__(self, names: Sequence[str] | None = None, count: int | None = None,
                 coder: _core.Ensemble | None = None, library: str | None = None,
                 missing: float | None = None, sparse_is_missing: bool = False,
                 cells: Mapping[int, Cells] | None = None, lists: list[Any] | None = None) -> None:
        self.names, self.count, self.coder, self.library = names, count, coder, library
        self.missing = missing
        self.sparse_is_missing = sparse_is_missing
        self.cells = cells or {}
        self.lists = lists
        self.list_of: dict[int, Any] = {}
        # For scikit-learn, a numeric category in a frame is passed as the number itself; for other libraries,
        # as its code.
        self.numbers_are_categories = cells is not None
        self.coded = frozenset(coder.features_with_words) if coder is not None else frozenset()
        self.names_differ = names is not None and len(set(names)) == len(names)
        self._categories: dict[int, list[Any] | None] = {}

    def categories(self, feature: int) -> list[Any] | None:
        """Returns the categories of a feature in the order of their codes; None if it has no categories, or
        only their hashes are known.
        """
        if feature not in self.coded:
            return None
        if feature not in self._categories and self.coder is not None:
            self._categories[feature] = self.coder.categories(feature) or None
        return self._categories[feature]

    def name(self, feature: int) -> str:
        return self.names[feature] if self.names is not None else f"{feature}"


def table(rows: Rows, wanted: Wanted, what: str = "X") -> Table:
    """Returns rows of any kind as a `Table` with the features that the model expects."""
    found = _table(rows, wanted, what)
    if wanted.missing is not None:
        # XGBoost compares in single precision.
        is_missing = found.values.astype(np.float32) == np.float32(wanted.missing)
        if is_missing.any():
            found.values, found.is_own = np.where(is_missing, np.nan, found.values), True
    return found


def real_numbers(given: Any) -> Numbers:
    """Returns an array of 64-bit floats, NaN for masked entries.

    Raises TypeError for complex numbers; NumPy would discard their imaginary parts.
    """
    if np.iscomplexobj(given):
        raise TypeError("expected real numbers, got complex numbers")
    if np.ma.isMaskedArray(given):
        masked: Any = given
        given = masked.astype(np.float64).filled(np.nan)
    return np.ascontiguousarray(given, dtype=np.float64)


def filled(masked: Any) -> AnyArray:
    """Returns a masked array as an array with NaN in masked cells."""
    return masked.astype(masked.dtype if masked.dtype.kind == "f" else object).filled(np.nan)


def _table(rows: Rows, wanted: Wanted, what: str) -> Table:
    if np.ma.isMaskedArray(rows):
        rows = filled(rows)
    if isinstance(rows, np.ndarray):
        return _of_array(rows, wanted, what)
    pandas, polars, pyarrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None:
        if isinstance(rows, pandas.DataFrame):
            return _of_columns(_Pandas(rows, pandas), wanted, what)
        if isinstance(rows, pandas.Series):
            return _of_columns(_Pandas(rows.to_frame().T.infer_objects(), pandas), wanted, what)
    if polars is not None and isinstance(rows, (polars.DataFrame, polars.LazyFrame)):
        frame = rows.collect() if isinstance(rows, polars.LazyFrame) else rows
        return _of_columns(_Polars(frame, polars), wanted, what)
    if pyarrow is not None and isinstance(rows, (pyarrow.Table, pyarrow.RecordBatch)):
        return _of_columns(_Arrow(pyarrow.table(rows) if isinstance(rows, pyarrow.Table)
                                  else pyarrow.Table.from_batches([rows])), wanted, what)
    if hasattr(rows, "__arrow_c_stream__"):
        return _of_columns(_Arrow(arrow_table(rows, what)), wanted, what)
    kind = f"{type(rows).__module__}.{type(rows).__name__}"
    if kind.startswith("scipy.sparse"):
        return _of_array(_of_sparse(rows, np.nan) if wanted.sparse_is_missing
                         else np.asarray(rows.todense(), dtype=np.float64), wanted, what)
    if kind == "catboost.core.Pool":
        if np.size(rows.get_baseline()):
            raise DataError(f"{what} is a Pool with a baseline, which is added to each prediction and is not "
                            "part of the model; pass the rows without it, and add it to base_values")
        from ._pool import cells

        return _of_array(cells(rows, wanted, what), wanted, what)
    if kind == "xgboost.core.DMatrix":
        return _of_array(of_matrix(rows, what), wanted, what)
    if hasattr(rows, "detach") and hasattr(rows, "cpu"):
        rows = rows.detach().cpu().numpy()
    array = _checks.array(what, rows, "a data frame or an array of shape (n_rows, n_features)")
    return _of_array(array, wanted, what)


def of_matrix(rows: Any, what: str) -> Numbers:
    """Returns the rows of a DMatrix of xgboost, with NaN for entries that it does not store."""
    if np.size(rows.get_base_margin()):
        raise DataError(f"{what} has a base_margin, which is added to each prediction and is not part of the "
                        "model; pass the rows without it, and add it to base_values")
    return _of_sparse(rows.get_data(), np.nan)


def _of_sparse(matrix: Any, rest: float) -> Numbers:
    """Returns a sparse matrix as a dense array, with `rest` for entries that it does not store."""
    values = np.full(matrix.shape, rest)
    held = matrix.tocoo()
    values[held.row, held.col] = held.data
    return values


def arrow_table(rows: Rows, what: str) -> Any:
    """Converts an object that exports an Arrow stream to a table."""
    try:
        import pyarrow
    except ImportError:
        raise DataError(f"{what} is an Arrow stream; install pyarrow, or pass a NumPy array") from None

    try:
        return pyarrow.table(rows)
    except Exception as error:  # other libraries may raise any exception
        raise DataError(f"{what} is a {type(rows).__name__} that is not a table ({error}); expected a data "
                        "frame or an array of shape (n_rows, n_features)") from error


def _of_array(array: AnyArray, wanted: Wanted, what: str) -> Table:
    if array.ndim == 0:
        raise DataError(f"{what} is {_checks.shown(array.item() if array.dtype != object else array[()])}; "
                        "expected a data frame or an array of shape (n_rows, n_features)")
    if array.ndim == 1:
        array = array[np.newaxis, :]
    if array.ndim != 2:
        raise DataError(f"{what} is a {array.ndim}-D array; expected an array of shape (n_rows, n_features)")
    check_count(array.shape[1], wanted, what)
    kind = array.dtype.kind
    if kind in "fiub":
        values = np.require(array, dtype=np.float64, requirements=("C", "A"))
        if kind in "iu" and _is_large(values):
            for feature in range(array.shape[1]):
                _check_exact(values[:, feature], array[:, feature],
                             Coder(wanted, feature, what, wanted.names, {}))
        for feature, cells in wanted.cells.items():
            coder = Coder(wanted, feature, what, wanted.names, {})
            if cells.of_numbers or not coder.is_coded:
                values = values.copy() if np.may_share_memory(values, array) else values
                values[:, feature] = coder.numbers(values[:, feature])
        return Table(values, wanted.names, is_own=not np.may_share_memory(values, array))
    if kind in "OSUT":
        return _of_columns(_Objects(array, wanted.names), wanted, what)
    raise DataError(f"{what} is an array of {array.dtype}; expected numbers")


def check_count(given: int, wanted: Wanted, what: str) -> None:
    if wanted.count is not None and given != wanted.count:
        raise DataError(f'{what}: expected {_checks.counted(wanted.count, "feature column")}, found {given}; '
                        "pass one column for each feature")
    if given == 0:
        raise DataError(f"{what} has no columns; expected at least one")


def _of_columns(frame: _Frame, wanted: Wanted, what: str) -> Table:
    """Returns the columns of a frame that are the features."""
    places: Sequence[int]
    if frame.named and frame.names == wanted.names and wanted.names_differ:
        places = range(len(frame.names))
    else:
        places = chosen(frame.names, wanted, what) if frame.named else range(len(frame.names))
        check_count(len(places), wanted, what)
    names = [str(frame.names[place]) for place in places] if frame.named else wanted.names
    whole = frame.whole(places) if not wanted.coded and not wanted.cells else None
    # Columns with large integers are checked one by one for rounding.
    if whole is not None and not _is_large(whole):
        return Table(whole, names, frame.index, is_own=frame.is_own(whole))
    values = np.empty((frame.length, len(places)))
    categories: dict[int, list[Any]] = {}
    lists = frame.lists(places, wanted.lists) if wanted.lists else {}
    # Rows in containers of other libraries get the categories of the previous frame.
    wanted.list_of = lists = lists or wanted.list_of
    for feature, place in enumerate(places):
        coder = Coder(wanted, feature, what, names, categories)
        coder.list = lists.get(feature)
        values[:, feature] = frame.column(place, coder)
    return Table(values, names, frame.index, categories, is_own=True)


def chosen(names: Sequence[Any], wanted: Wanted, what: str) -> list[int]:
    """Returns the positions of the features among columns with these names."""
    return _core.choose_columns(names_as(wanted.library, names), wanted.names, wanted.count, what)


class Coder:
    """Converts one column to numbers."""

    def __init__(self, wanted: Wanted, feature: int, what: str, names: Sequence[str] | None,
                 categories: dict[int, list[Any]]) -> None:
        self.wanted, self.feature, self.what = wanted, feature, what
        self.name = names[feature] if names is not None else str(feature)
        self.is_coded = feature in wanted.coded
        self.table_categories = categories
        self.cells = wanted.cells.get(feature)
        self.list: list[Any] | None = None

    def numbers(self, values: Any) -> Numbers:
        """Returns a column of numbers or booleans as numbers or codes, NaN for missing values."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        codes = values
        if self.is_coded:
            distinct, places = np.unique(values, return_inverse=True)
            codes = self._codes(distinct, distinct)[places]
        return codes if self.cells is None else self.cells.numbers(values, codes, self)

    def codes(self, texts: Sequence[str | None]) -> Numbers:
        """Returns the codes of string categories."""
        return self._codes(texts, texts)

    def words(self, distinct: Iterable[Any], places: Any, missing: Booleans | None = None,
              null: str | None = "nan") -> Numbers:
        """Returns a column of strings as numbers, from its distinct values and the position of each row's
        value among them, which is negative for missing values.
        """
        distinct = list(distinct)
        if self.cells is not None:
            distinct, places = self.cells.words(distinct, places, null, self)
        texts = [None if _is_missing(word) else word for word in distinct]
        if self.list is not None and not self.is_coded:
            places_of = {category: float(code) for code, category in enumerate(self.list)}
            self.table_categories[self.feature] = list(self.list)
            return np.append([places_of.get(text, np.nan) for text in texts], np.nan)[np.asarray(places)]
        for text in texts:
            is_known = (isinstance(text, (str, int, float, np.number, np.bool_, type(None)))
                        or type(text).__name__ == "Decimal")
            if not is_known or isinstance(text, complex):
                self.refuse(f"objects ({type(text).__name__})")
        if self.cells is None:
            codes = self._of_cells(texts)
        elif self.is_coded:
            if all(text is None or isinstance(text, str) for text in texts):
                codes = self._codes(texts, distinct)
            elif not any(isinstance(text, str) for text in texts):
                numbers = np.array([np.nan if text is None else float(text) for text in texts],
                                   dtype=np.float64)
                codes = self._codes(numbers, distinct)
            else:
                codes = np.array([self._codes([text] if text is None or isinstance(text, str)
                                              else np.array([float(text)]), [text])[0] for text in texts])
        else:
            codes = np.array([self._number(text) for text in texts], dtype=np.float64)
        places = np.asarray(places)
        found = np.append(codes, np.nan)[places]
        if missing is not None:
            found[missing] = np.nan
        return found

    def booleans(self, values: Numbers) -> Numbers:
        """Returns a column of booleans as numbers or codes. The booleans are passed as numbers,
        NaN for missing values.
        """
        if not self.is_coded or self.cells is not None:
            return self.numbers(values)
        return self.words((False, True), np.where(np.isnan(values), -1, values).astype(np.intp))

    def _of_cells(self, cells: Iterable[Any]) -> Numbers:
        """Returns cells of any kind as numbers or codes, by the rules for cells of files."""
        if self.is_coded:
            listed_words = self.wanted.categories(self.feature)
            if listed_words is not None:
                self.table_categories[self.feature] = listed_words
        cells = [self._plain(cell) for cell in cells]
        try:
            return _core.numbers_of_cells(cells, self.wanted.coder if self.is_coded else None, self.feature)
        except IndexError as problem:
            place, kind = problem.args
        except (TypeError, ValueError) as problem:  # strings that are not Unicode
            raise DataError(f'column "{self.name}" of {self.what} has a cell that is neither a number nor a '
                            f'string: {problem}') from problem
        if kind == "category":
            self._refuse_category(cells[place])
        if kind == "inexact":
            self.refuse_inexact(cells[place])
        raise self._not_a_number(cells[place])

    def _plain(self, cell: Any) -> Any:
        """Returns a cell as the engine expects it. Decimals become floats. Integers of at least 2^126 in
        absolute value become floats, too; raises DataError if the conversion is not exact.
        """
        if type(cell).__name__ == "Decimal":
            return float(cell)
        if isinstance(cell, int) and abs(cell) >= 2**126:
            try:
                is_exact = int(float(cell)) == cell
            except OverflowError:
                is_exact = False
            if not is_exact:
                self.refuse_inexact(_checks.shown(cell))
            return float(cell)
        return cell

    def refuse_inexact(self, number: object) -> NoReturn:
        raise DataError(f'column "{self.name}" of {self.what} contains {number}, an integer that float64 '
                        'cannot represent exactly; convert the column to float64, as in training, '
                        'or drop it if it only identifies the rows')

    def _codes(self, distinct: Any, shown: Any) -> Numbers:
        coder, feature = self.wanted.coder, self.feature
        listed_words = self.wanted.categories(feature)
        if listed_words is not None:
            self.table_categories[feature] = listed_words
        try:
            assert coder is not None
            codes = (coder.codes_of_numbers(feature, distinct) if isinstance(distinct, np.ndarray)
                     else coder.codes_of_texts(feature, distinct))
        except IndexError as place:
            self._refuse_category(shown[place.args[0]])
        assert codes is not None
        return codes

    def _refuse_category(self, word: object) -> NoReturn:
        known = [str(word) for word in self.wanted.categories(self.feature) or ()]
        meant = nearest(word, known)
        there = (f'did you mean "{meant}"?' if meant is not None
                 else f"categories seen in training: {listed(known)}")
        raise DataError(f'unknown category {str(word)!r} in column "{self.name}" of {self.what}; {there}')

    def _number(self, text: Any) -> float:
        if text is None:
            return np.nan
        if isinstance(text, str):
            stripped = text.strip()
            if stripped.lower() in ("true", "false"):
                return float(stripped.lower() == "true")
            try:
                return float(stripped)
            except ValueError:
                pass
        else:
            try:
                return float(text)
            except (TypeError, ValueError):
                pass
        raise self._not_a_number(text)

    def _not_a_number(self, text: object) -> DataError:
        return DataError(f'column "{self.name}" of {self.what} contains {text!r}, which is not a number, and '
                         'the model has no categories for this column; use the number or code used '
                         'in training, or a missing value')

    def refuse(self, kind: str) -> NoReturn:
        raise DataError(f'column "{self.name}" of {self.what} contains {kind}; '
                        'expected numbers or categories as in training')


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    kind = type(value).__name__
    return kind in ("NAType", "NaTType") or isinstance(value, (float, np.floating)) and value != value


def _is_large(values: Numbers) -> bool:
    """Returns whether any of the numbers may be an integer that was rounded."""
    if values.size == 0:
        return False
    largest = max(values.max(), -values.min())
    return bool(largest >= MAX_EXACT) or bool(largest != largest and (np.abs(values) >= MAX_EXACT).any())


def _check_exact(values: Numbers, whole: Any, coder: Coder) -> None:
    """Raises DataError for a column of integers that are not all represented exactly by `values`."""
    for row in np.flatnonzero(np.abs(values) >= MAX_EXACT).tolist():
        if int(values[row]) != int(whole[row]):
            coder.refuse_inexact(int(whole[row]))


class _Objects:
    """An array of objects or strings, column by column."""

    named = False
    index: Any = None

    def __init__(self, array: AnyArray, names: Sequence[str] | None) -> None:
        self.array, self.length = array, len(array)
        self.names: Sequence[Any] = names or range(array.shape[1])

    def lists(self, places: Sequence[int], lists: list[Any]) -> dict[int, Any]:
        return {}

    def whole(self, places: Sequence[int]) -> Numbers | None:
        return None

    def is_own(self, values: Numbers) -> bool:
        return True

    def column(self, place: int, coder: Coder) -> Numbers:
        return _of_objects(self.array[:, place], coder)


def _of_objects(values: Any, coder: Coder) -> Numbers:
    """Returns a column of objects as numbers. Distinct objects are found with a dictionary, without
    conversion.
    """
    distinct: dict[Any, int] = {}
    places = np.empty(len(values), dtype=np.intp)
    if coder.cells is not None:
        values = coder.cells.objects(values, coder)
    try:
        for row, value in enumerate(values):
            places[row] = (-1 if _is_missing(value)
                           else distinct.setdefault((type(value), value), len(distinct)))
    except TypeError:
        coder.refuse(f"objects ({type(value).__name__})")
    return coder.words([value for _, value in distinct], places, null=None)


class _Pandas:
    """A data frame of pandas."""

    named = True

    def __init__(self, frame: Any, pandas: Module) -> None:
        self.frame, self.pandas, self.length = frame, pandas, len(frame)
        self.names = list(frame.columns)
        default = (isinstance(frame.index, pandas.RangeIndex) and frame.index.start == 0
                   and frame.index.step == 1)
        self.index = None if default else frame.index

    def whole(self, places: Sequence[int]) -> Numbers | None:
        """Returns all columns at once if they have NumPy's numeric types, else None."""
        # `frame.dtypes` creates a series, which takes longer than all other work for a single row.
        own = getattr(getattr(self.frame, "_mgr", None), "get_dtypes", None)
        if not all(isinstance(dtype, np.dtype) and dtype.kind in "fiub"
                   for dtype in (self.frame.dtypes if own is None else own())):
            return None
        frame = self.frame
        if len(places) != len(self.names) or not all(map(int.__eq__, places, range(len(places)))):
            frame = frame.iloc[:, places]
        self.given = frame.to_numpy(dtype=np.float64)
        return np.require(self.given, requirements=("C", "A"))

    def is_own(self, values: Numbers) -> bool:
        return not np.may_share_memory(values, self.given)

    def lists(self, places: Sequence[int], lists: list[Any]) -> dict[int, Any]:
        """Returns the training categories of each categorical feature. LightGBM matches them by position. The
        result is empty if the model has more or fewer categorical features than the frame.
        """
        dtypes = self.frame.dtypes.tolist()
        features = [feature for feature, place in enumerate(places)
                    if isinstance(dtypes[place], self.pandas.CategoricalDtype)]
        return dict(zip(features, lists)) if len(features) == len(lists) else {}

    def column(self, place: int, coder: Coder) -> Numbers:
        column = self.frame.iloc[:, place]
        dtype = column.dtype
        if isinstance(dtype, self.pandas.CategoricalDtype):
            codes = column.cat.codes.to_numpy()
            if coder.list is not None and not coder.is_coded:
                # Like LightGBM, use the training codes, and NaN for other categories.
                codes = column.cat.set_categories(coder.list).cat.codes.to_numpy()
                coder.table_categories[coder.feature] = list(coder.list)
                return np.where(codes < 0, np.nan, codes.astype(np.float64))
            if (not coder.is_coded and coder.feature in _categorical(coder)
                    and not coder.wanted.numbers_are_categories):
                return np.where(codes < 0, np.nan, codes.astype(np.float64))
            return coder.words(_as_stored(column.cat.categories, coder), codes)
        if isinstance(dtype, np.dtype) and dtype.kind in "fiub":
            values = column.to_numpy(dtype=np.float64)
            if dtype.kind in "iu":
                _check_exact(values, column.to_numpy(), coder)
            return coder.booleans(values) if dtype.kind == "b" else coder.numbers(values)
        if isinstance(dtype, np.dtype) and dtype.kind == "O":
            return _of_objects(column.to_numpy(), coder)
        if getattr(dtype, "_is_numeric", False) or getattr(dtype, "kind", "O") in "fiub":
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            if getattr(dtype, "kind", "O") in "iu":
                _check_exact(values, column.array, coder)
            return coder.booleans(values) if getattr(dtype, "kind", "O") == "b" else coder.numbers(values)
        if getattr(dtype, "kind", "O") in "mM":
            coder.refuse(f"times ({dtype})")
        places, distinct = self.pandas.factorize(column)
        return coder.words(list(distinct), places,
                           null="<NA>" if getattr(dtype, "na_value", None) is self.pandas.NA else "nan")


def _as_stored(categories: Any, coder: Coder) -> Any:
    """Returns the categories of a pandas frame as the model stores them.

    XGBoost before 3.4 cuts the bytes of all categories by their lengths in characters, so that categories
    after a character beyond ASCII are stored incorrectly. Truncating the categories of the frame in the same
    way makes them equal again.
    """
    words = list(categories)
    if not coder.is_coded or not all(isinstance(word, str) for word in words) or all(map(str.isascii, words)):
        return categories
    listed_words = set(coder.wanted.categories(coder.feature) or ())
    stored, ends = "".join(words).encode(), np.cumsum([0, *map(len, words)])
    cut = [stored[start:end].decode(errors="replace") for start, end in zip(ends, ends[1:])]
    return cut if listed_words.issuperset(cut) and not listed_words.issuperset(words) else categories


def _categorical(coder: Coder) -> Sequence[int]:
    return coder.wanted.coder.categorical_features if coder.wanted.coder is not None else ()


class _Polars:
    """A data frame of polars."""

    named = True
    index = None

    def __init__(self, frame: Any, polars: Module) -> None:
        self.frame, self.polars, self.names, self.length = frame, polars, list(frame.columns), frame.height

    def lists(self, places: Sequence[int], lists: list[Any]) -> dict[int, Any]:
        return {}

    def whole(self, places: Sequence[int]) -> Numbers | None:
        if not all(dtype.is_numeric() or dtype == self.polars.Boolean for dtype in self.frame.dtypes):
            return None
        chosen = self.frame.select([self.names[place] for place in places])
        return np.require(chosen.cast(self.polars.Float64).fill_null(float("nan")).to_numpy(order="c"),
                          requirements=("C", "A"))

    def is_own(self, values: Numbers) -> bool:
        # A column may be passed on without a copy.
        return bool(values.flags.owndata)

    def column(self, place: int, coder: Coder) -> Numbers:
        column, polars = self.frame.get_column(self.names[place]), self.polars
        if column.dtype.is_numeric() or column.dtype == polars.Boolean:
            values = column.cast(polars.Float64).fill_null(float("nan")).to_numpy()
            if column.dtype.is_integer():
                _check_exact(values, column, coder)
            return coder.booleans(values) if column.dtype == polars.Boolean else coder.numbers(values)
        if column.dtype in (polars.String, polars.Categorical, polars.Enum, polars.Null):
            texts = column.cast(polars.String)
            distinct = texts.unique(maintain_order=True).drop_nulls()
            places = {word: place for place, word in enumerate(distinct.to_list())}
            return coder.words(distinct.to_list(),
                               np.array([places.get(word, -1) for word in texts.to_list()], dtype=np.intp),
                               null="null")
        coder.refuse(str(column.dtype))


class _Arrow:
    """A table of Arrow."""

    named = True
    index = None

    def __init__(self, frame: Any) -> None:
        self.frame, self.names, self.length = frame, list(frame.column_names), frame.num_rows

    def lists(self, places: Sequence[int], lists: list[Any]) -> dict[int, Any]:
        return {}

    def whole(self, places: Sequence[int]) -> Numbers | None:
        return None

    def is_own(self, values: Numbers) -> bool:
        return True

    def column(self, place: int, coder: Coder) -> Numbers:
        import pyarrow
        import pyarrow.compute

        column = self.frame.column(place)
        kind = column.type
        if (pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)
                or pyarrow.types.is_boolean(kind) or pyarrow.types.is_decimal(kind)):
            numbers = (column.cast(pyarrow.float64(), safe=False) if not pyarrow.types.is_boolean(kind)
                       else column.cast(pyarrow.uint8()).cast(pyarrow.float64()))
            values = pyarrow.compute.fill_null(numbers, float("nan")).to_numpy()
            if pyarrow.types.is_integer(kind):
                _check_exact(values, _Scalars(column), coder)
            return coder.booleans(values) if pyarrow.types.is_boolean(kind) else coder.numbers(values)
        if (pyarrow.types.is_null(kind) or pyarrow.types.is_dictionary(kind)
                and pyarrow.types.is_null(kind.value_type)):
            return np.full(self.length, np.nan)
        if pyarrow.types.is_dictionary(kind) or "string" in str(kind):
            column, kind = _without_views(column)
            coded = column if pyarrow.types.is_dictionary(kind) else column.dictionary_encode()
            coded = coded.unify_dictionaries().combine_chunks()
            if isinstance(coded, pyarrow.ChunkedArray):
                coded = coded.chunk(0) if coded.num_chunks else pyarrow.array([], kind).dictionary_encode()
            places = pyarrow.compute.fill_null(coded.indices.cast(pyarrow.int64()),
                                               -1).to_numpy(zero_copy_only=False)
            return coder.words(coded.dictionary.to_pylist(), places, null="null")
        coder.refuse(str(kind))


class _Scalars:
    """A column of Arrow whose cells are read as Python numbers."""

    def __init__(self, column: Any) -> None:
        self.column = column

    def __getitem__(self, row: int) -> Any:
        return self.column[row].as_py()


# A table whose columns are read one by one.
_Frame: TypeAlias = _Objects | _Pandas | _Polars | _Arrow


def _without_views(column: Any) -> tuple[Any, Any]:
    """Returns a column of strings and its type, without views, which polars exports and Arrow cannot combine.
    """
    import pyarrow

    def plain(words: Any) -> Any:
        return words.cast(pyarrow.string()) if "view" in str(words.type) else words

    if pyarrow.types.is_dictionary(column.type):
        chunks = [pyarrow.DictionaryArray.from_arrays(chunk.indices, plain(chunk.dictionary))
                  for chunk in column.chunks]
        column = pyarrow.chunked_array(chunks
                                       or [plain(pyarrow.array([],
                                                               column.type.value_type)).dictionary_encode()])
    else:
        column = plain(column)
    return column, column.type


def weights(given: Any, rows: int, what: str = "weights") -> Numbers:
    """Returns numbers, one for each row, as an array."""
    try:
        found = np.require(real_numbers(given).ravel(), requirements=("C", "A"))
    except Exception as error:  # conversion to an array may raise any exception
        raise DataError(f"{what} is not an array of numbers ({error}); "
                        "expected one number per row") from error
    if len(found) != rows:
        raise DataError(f'{what} has {_checks.counted(len(found), "number")}, expected {rows} '
                        "(one for each row)")
    return found
