"""Models that are called as functions: callables, estimators, modules of torch and keras."""
from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks, _tables
from ._data import real_numbers
from ._errors import CallError, Error, ModelError, of_call
from ._outputs import Output, outputs
from ._types import Model, Numbers

if TYPE_CHECKING:
    from ._schema import Schema
    from ._tables import LibraryTable

# The maximum number of rows of one call of a check.
_ROWS = 4096
# The relative tolerances for predictions of the same rows in different calls, in 64 and in 32 bits.
_TOLERANCE = 1e-6
_TOLERANCE_OF_SINGLE = 1e-4


class Function:
    """A model as a function of an array of shape (n_rows, n_features). It returns the predictions as a flat
    array, row by row.

    The model is called with tables of the library of the background, with the same columns, types and cells
    (`schema`).
    """

    def __init__(self, model: Model, method: str | None = None) -> None:
        self.ways = outputs(model, method)
        self.name = getattr(model, "__name__", None) or type(model).__name__
        self.schema: Schema | None = None
        self.outputs: int | None = None
        # Whether the function is called with arrays, regardless of the table that was passed.
        self.takes_arrays = False
        self.way, self.output_names, self.about = self.ways[0], self.ways[0].names, self.ways[0].about
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def taking(self, schema: Schema) -> Function:
        """Returns the same model, called with tables of this schema."""
        other = copy.copy(self)
        other.schema = schema.as_arrays() if self.takes_arrays else schema
        return other

    def settle(self, rows: Numbers) -> None:
        """Calls the model with some rows to choose the output that is explained.

        Raises ModelError if a second call returns a different result.
        """
        try:
            first = self._first_answer(rows)
        except CallError as error:
            library = None if self.schema is None else self.schema.template.library
            arrays = None if self.schema is None else self.schema.as_arrays()
            if library not in ("polars", "pyarrow") or arrays is None:
                raise
            self.schema, self.takes_arrays = arrays, True
            try:
                first = self._first_answer(rows)
            except Error:
                raise error from error.__cause__
            self._note(f"{self.name} is called with NumPy arrays, because it fails with {library} tables")
        again = self._answer(rows.copy())
        if not _checks.is_repeated(first, again):
            raise ModelError(f"{self.name} is not deterministic: it returned different predictions for the "
                             "same rows; fix its seed, or set it to evaluation mode")
        self.outputs = 1 if first.ndim == 1 else first.shape[1]
        if self.output_names is not None and len(self.output_names) != self.outputs:
            self.output_names = None
        self._check(first, rows)

    def _first_answer(self, rows: Numbers) -> Numbers:
        failed: Error | None = None
        for way in self.ways:
            try:
                self.way, self.output_names, self.about = way, way.names, way.about
                answer = self._answer(rows.copy())
            except Error as error:
                failed = failed or error
                continue
            self.notes = [way.note] if way.note is not None else []
            self.warnings = list(self.notes) if way.warns else []
            if failed is not None:
                self._note(f"{way.about} is explained, because {failed}")
            return answer
        self.way = self.ways[0]
        assert failed is not None
        raise failed

    def _note(self, note: str) -> None:
        self.notes, self.warnings = [*self.notes, note], [*self.warnings, note]

    def check(self, table: LibraryTable, values: Numbers, what: str) -> None:
        """Raises ModelError if the model's predictions for the rows as passed on to it differ from those for
        the original rows.
        """
        if not table.as_given or self.takes_arrays:
            return
        schema = self.schema
        assert schema is not None
        places = schema.places(table, what)
        is_own = type(table) is type(schema.template)
        for start in range(0, table.length, _ROWS):
            part = values[start : start + _ROWS]
            passed = self._answer(part.copy())
            try:
                rows = _tables.copied(table.select(places), start, start + _ROWS)
                given = self._numbers(self.way.call(rows), len(part))
            except Exception as error:  # anything that a model may raise
                if is_own and all(table.dtype(place) == schema.template.dtype(feature)
                                  for feature, place in enumerate(places)):
                    raise of_call(self.name, error).with_traceback(error.__traceback__) from error
                # The model only accepts the converted rows, so there is nothing to compare.
                return
            if given.shape != passed.shape:
                return
            self._compare(table, start, given, passed, what)

    def _compare(self, table: LibraryTable, start: int, given: Numbers, passed: Numbers, what: str) -> None:
        scale = np.maximum(np.abs(given), np.abs(passed)).max(axis=0, initial=0.0)
        single = bool(_float_types(table))
        differs = np.abs(given - passed) > 1e-9 + (_TOLERANCE_OF_SINGLE if single else _TOLERANCE) * scale
        differs |= np.isnan(given) != np.isnan(passed)
        if not differs.any():
            return
        rows = np.flatnonzero(differs.reshape(len(given), -1).any(axis=1))
        shown = "; ".join(f"row {start + row}: {_shown(given[row])} as given, "
                          f"{_shown(passed[row])} as passed on" for row in rows[:3])
        raise ModelError(f"the predictions of {self.name} for {what} as given differ from those for the rows "
                         f"that apportion passes on ({len(rows)} of {len(given)} rows; {shown}); pass X and "
                         "the background with the same types as in training, "
                         "or check=False to explain the rows as passed on")

    def __call__(self, rows: Numbers) -> Numbers:
        answer = self._answer(rows)
        if (1 if answer.ndim == 1 else answer.shape[1]) != self.outputs:
            raise ModelError(f"{self.name} returned an array of shape {answer.shape} for "
                             f'{_checks.counted(len(rows), "row")}, expected '
                             f'{_checks.counted(self.outputs or 1, "output")} as in earlier calls')
        self._check(answer, rows)
        return answer.ravel()

    def _answer(self, rows: Numbers) -> Numbers:
        """Returns the predictions for rows, which the model may change in place."""
        given = self.schema.table(rows) if self.schema is not None else rows
        try:
            answer = self.way.call(given)
        except Error:
            raise
        except Exception as error:
            raise of_call(self.name, error).with_traceback(error.__traceback__) from error
        return self._numbers(answer, len(rows))

    def _numbers(self, answer: Any, count: int) -> Numbers:
        if isinstance(answer, (list, tuple)) and len(answer) and all(np.ndim(part) == 2 for part in answer):
            # The result is a list with one array for each target.
            answer = np.concatenate([np.asarray(part) for part in answer], axis=1)
        if hasattr(answer, "detach"):
            answer = answer.detach().cpu().numpy()
        if hasattr(answer, "to_pylist") and hasattr(answer, "type"):
            answer = np.asarray(answer.to_pylist())
        if hasattr(answer, "toarray"):
            answer = answer.toarray()
        if self.output_names is None and hasattr(answer, "columns") and len(answer.columns) > 1:
            self.output_names = [str(name) for name in answer.columns]
        try:
            answer = real_numbers(answer)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{self.name} returned something that is not an array of numbers: {error}; "
                             "for classes pass predict_proba") from error
        if answer.ndim == 2 and answer.shape[1] == 1:
            answer = answer[:, 0]
        if answer.ndim not in (1, 2) or len(answer) != count:
            raise ModelError(f"{self.name} returned an array of shape {answer.shape} for "
                             f'{_checks.counted(count, "row")}, '
                             "expected (n_rows,) or (n_rows, n_outputs)")
        return np.ascontiguousarray(answer)

    def _check(self, answer: Numbers, rows: Numbers) -> None:
        if not np.isfinite(answer).all():
            row = int(np.argmin(np.isfinite(answer.reshape(len(rows), -1)).all(axis=1)))
            value = answer.reshape(len(rows), -1)[row]
            raise ModelError(f"{self.name} returned {value[~np.isfinite(value)][0]} for the row "
                             f"{self._row(np.asarray(rows)[row])}; values must be finite, so check the "
                             "model for this row")

    def _row(self, row: Numbers) -> list[Any]:
        """Returns a row as messages show it."""
        if self.schema is None:
            return row.tolist()
        values, categories = self.schema.shown(row[None].astype(np.float64))
        cells = [categories[feature][int(cell)] if feature in categories and cell == cell else cell
                 for feature, cell in enumerate(values[0].tolist())]
        return cells


def _float_types(table: LibraryTable) -> list[str]:
    """Returns the types of the floats in a table that have fewer than 64 bits."""
    kinds = {str(table.dtype(place)).removeprefix("torch.").lower() for place in range(table.width)}
    return [kind for kind in kinds if kind in ("float16", "float32")]


def _shown(numbers: Any) -> str:
    return (f"{float(numbers):.9g}" if np.ndim(numbers) == 0
            else str([float(f"{number:.9g}") for number in numbers[:6]]))
