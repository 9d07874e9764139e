"""Class labels, and their indices in a model."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import DataError
from ._names import listed
from ._types import Places

if TYPE_CHECKING:
    from ._models import Ensemble


class Classes:
    """The classes of a model.

    labels: an array with the labels in the order of the outputs, like `classes_` of an estimator; None if the
        model only numbers its classes.
    count: the number of classes.
    are_texts: whether the labels come from a file, which stores all of them as strings.
    """

    def __init__(self, labels: Any, count: int, are_texts: bool = False) -> None:
        self.labels, self.count = None if labels is None else plain(labels), count
        self._texts: dict[str, list[int]] = {}
        self._numbers: dict[Any, list[int]] = {}
        if self.labels is None:
            return
        self._exact = {_key(label): place for place, label in enumerate(self.labels)}
        for place, label in enumerate(self.labels):
            self._texts.setdefault(str(label), []).append(place)
            number = _number(label)
            if number is not None:
                self._numbers.setdefault(number, []).append(place)
        # A number that could also be a label is never read as the position of a class.
        self._takes_places = are_texts and not self._numbers

    @classmethod
    def of_ensemble(cls, ensemble: Ensemble) -> Classes:
        """Returns the classes of an ensemble: the labels of its estimator, else the names in its file, else
        numbers.
        """
        count = max(ensemble.output_count, 2)
        for labels, are_texts in ((ensemble.classes, False), (ensemble.class_names, True)):
            if labels is not None and (len(labels) == count or ensemble.output_count == 1
                                       and len(labels) == 1):
                return cls(labels, count, are_texts)
        return cls(None, count)

    def places(self, given: Any, rows: int, what: str = "y") -> Places:
        """Returns the position of each label among the classes, an array of shape (n_rows,).

        Raises DataError for unknown labels, and if the number of labels differs from the number of rows.
        """
        labels = plain(given)
        if len(labels) != rows:
            raise DataError(f"wrong number of labels of {what}: {len(labels)}, expected {rows} (one per row)")
        found = np.empty(rows, dtype=np.intp)
        known: dict[Any, int | None] = {}
        for row, label in enumerate(labels):
            try:
                key = _key(label)
                place = known.get(key)
                if place is None:
                    place = known[key] = self._place(label, key)
            except TypeError:  # not hashable
                place = None
            if place is None:
                raise DataError(self._unknown(label, row, what))
            found[row] = place
        return found

    def _place(self, label: Any, key: Any) -> int | None:
        if _is_missing(label):
            return None
        number = _number(label) if not isinstance(label, str) else None
        if self.labels is None:
            return (int(number) if number is not None and number == int(number) and 0 <= number < self.count
                    else None)
        if key in self._exact:
            return self._exact[key]
        # A boolean matches 0 or 1 only if all classes are 0, 1 or booleans.
        if isinstance(label, bool) and not {_number(other) for other in self.labels} <= {0, 1}:
            number = None
        places = None if number is None else self._numbers.get(number)
        places = places or self._texts.get(str(label))
        if places is not None:
            return places[0] if len(places) == 1 else None
        if (self._takes_places and number is not None and not isinstance(label, bool)
                and number == int(number) and 0 <= number < self.count):
            return int(number)
        return None

    def _unknown(self, label: Any, row: int, what: str) -> str:
        given = f"missing label in row {row} of {what}" if _is_missing(label) else None
        if self.labels is None:
            given = given or f"invalid label {label!r} in row {row} of {what}"
            return (f"{given}: the model stores no labels, so {what} must contain the numbers 0 to "
                    f"{self.count - 1} of the classes; "
                    "encode the labels as in training, or pass the fitted estimator, which has classes_")
        known = (listed(self.labels) if all(isinstance(known, str) for known in self.labels)
                 else _shown(self.labels))
        given = given or f"unknown label {label!r} in row {row} of {what}"
        return f"{given}; classes of the model: {known}"


def plain(given: Any) -> list[Any]:
    """Returns labels of any kind (arrays, columns of data frames, lists, a single one) as a list of Python
    objects.
    """
    if isinstance(given, (str, bytes, bool, int, float, np.generic)) or given is None:
        return [_scalar(given)]
    polars, pyarrow = (sys.modules.get(name) for name in ("polars", "pyarrow"))
    if polars is not None and isinstance(given, (polars.DataFrame, polars.LazyFrame)):
        given = given.collect() if isinstance(given, polars.LazyFrame) else given
        given = _only([given.get_column(name) for name in given.columns])
    if pyarrow is not None and isinstance(given, (pyarrow.Table, pyarrow.RecordBatch)):
        given = _only(given.columns)
    if hasattr(given, "to_pylist"):  # an Arrow array
        return [_scalar(label) for label in given.to_pylist()]
    if hasattr(given, "detach") and hasattr(given, "cpu"):
        given = given.detach().cpu().numpy()
    if isinstance(given, (list, tuple)):
        labels = [_scalar(label[0] if isinstance(label, (list, tuple)) and len(label) == 1 else label)
                  for label in given]
        if any(isinstance(label, np.ndarray) for label in labels):
            return plain(np.asarray(given))
        return labels
    if hasattr(given, "dtype") and hasattr(given.dtype, "categories") and hasattr(given, "astype"):
        given = np.asarray(given.astype(object))  # categories of pandas; codes are not labels
    if hasattr(given, "to_list") and not hasattr(given, "columns"):
        return [_scalar(label) for label in given.to_list()]
    array = np.asarray(given)
    if np.ma.isMaskedArray(given):
        masked: Any = np.ma.asarray(given).astype(object)
        array = masked.filled(None)
    if array.ndim == 2 and array.shape[1] == 1 or array.ndim == 0:
        array = array.ravel()
    if array.ndim != 1:
        raise DataError(f"expected labels in one dimension, got an array of shape {array.shape}")
    return [_scalar(label) for label in array.tolist()]


def _only(columns: Sequence[Any]) -> Any:
    if len(columns) != 1:
        raise DataError(f"expected labels in one column, got {len(columns)} columns")
    return columns[0]


def _scalar(label: Any) -> Any:
    if isinstance(label, np.str_):
        return str(label)
    return label.item() if isinstance(label, np.generic) and not isinstance(label, np.void) else label


def _key(label: Any) -> Any:
    """Returns the key that distinguishes labels: 1 and 1.0 are equal, True and 1 are not."""
    return (bool, label) if isinstance(label, bool) else label


def _number(label: Any) -> Any:
    """Returns the number that a label is, or that it represents as a string; None for other labels."""
    if isinstance(label, bool):
        return int(label)
    if isinstance(label, (int, float)) or type(label).__name__ == "Decimal":
        return None if label != label or label in (float("inf"), float("-inf")) else label
    if isinstance(label, str):
        if label in ("False", "True"):
            return int(label == "True")
        try:
            number = float(label)
        except ValueError:
            return None
        if number != number or number in (float("inf"), float("-inf")):
            return None
        try:
            return int(label)
        except ValueError:
            return number
    return None


def _is_missing(label: Any) -> bool:
    return (label is None or type(label).__name__ in ("NAType", "NaTType")
            or isinstance(label, float) and label != label)


def _shown(labels: Sequence[Any], most: int = 8) -> str:
    more = len(labels) - most
    shown = ", ".join(repr(label) for label in labels[:most])
    return shown if more <= 0 else f"{shown} and {more} more"
