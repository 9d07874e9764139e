"""Comparison of the trees read from a model with the model's own predictions, on some of the explained rows.

The model is called with its own methods on the rows as they were passed, so that it handles names, types,
categories and missing values itself. If it rejects the rows, nothing is compared.
"""
from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from ._data import chosen, filled
from ._errors import Error, ModelError
from ._models import Ensemble, family, members
from ._threads import pool
from ._types import Model, Numbers, Places, Rows

# A call of a model: the label, the function, and whether its result is compared after the link function.
_Call: TypeAlias = tuple[str, Callable[[Rows], Any], bool]

# The maximum number of rows that are compared. They are spread evenly over the rows that were passed.
ROWS = 20
# Tolerated rounding errors, relative to the terms of a sum: for libraries that add 32-bit floats, and for all
# others.
SINGLE, DOUBLE = 1e-5, 1e-9


def check(model: Model, ensemble: Ensemble, given: Rows, values: Numbers, what: str = "X", *,
          linked: bool = False, threads: int | None = None) -> int:
    """Raises ModelError if the predictions of a model differ from those of the ensemble that was read from
    it.

    model: the object, or a list of objects whose mean the ensemble is; None for the object that the ensemble
        was read from, if it still exists.
    given: the rows as the user passed them.
    values: the same rows as the engine expects them, of shape (n_rows, n_features).
    what: the name of the rows in messages.
    linked: whether outputs are explained after the link function.

    Returns the number of rows that were compared: 0 if there is nothing to compare with, as for files, or if
    the model rejects the rows.
    """
    model = ensemble.source if model is None else model
    if model is None or not len(values):
        return 0
    several = members(model)
    if several is not None:
        # Compare each model by itself: no method of a model returns the mean of the margins.
        return max(_check(member, ensemble._member(place), given, values, what, False, threads,
                          f"model {place} of the list: ") for place, member in enumerate(several))
    return _check(model, ensemble, given, values, what, linked, threads, "")


def _check(model: Model, ensemble: Ensemble, given: Rows, values: Numbers, what: str, linked: bool,
           threads: int | None, whose: str) -> int:
    places = np.unique(np.linspace(0, len(values) - 1, min(ROWS, len(values))).astype(int))
    values = np.ascontiguousarray(values[places])
    try:
        ours = _Ours(ensemble, values, threads)
    except Error:
        # Rows that the engine rejects are reported when they are explained.
        return 0
    first = None
    for rows in _containers(model, ensemble, given, places, values):
        for candidate in _candidates(model, ensemble, rows, linked):
            if not ours.is_comparable(candidate):
                continue
            wrong, own, read = ours.faults(candidate, _computes_in_single(model, rows))
            if not len(wrong):
                return len(places)
            first = first or (candidate, wrong, own, read)
        if first is not None:
            break
    if first is None:
        return 0
    candidate, wrong, own, read = first
    rows = "; ".join(f"row {places[row]} of {what}: {candidate.label} returns {_text(own[row])}, "
                     f"the trees return {_text(read[row])}" for row in wrong[:3])
    more = f" (rows that differ: {len(wrong)} of {len(places)})" if len(wrong) > 3 else ""
    raise ModelError(f"{whose}the trees read from the model do not reproduce its predictions: {rows}{more}; "
                     "please report this, or pass check=False to explain the trees anyway")


def _candidates(model: Model, ensemble: Ensemble, rows: Rows, linked: bool) -> Iterator[Prediction]:
    yield from own_predictions(model, ensemble, rows, linked)
    if _is_single(rows) and family(model) == "sklearn":
        # For 32-bit rows, the steps of a pipeline before the trees compute in 32 bits. If only this rounding
        # moves a value across a threshold, the trees were read correctly, so also compare 64-bit rows.
        yield from own_predictions(model, ensemble, _doubled(rows), linked)


class Prediction:
    """Predictions of the model itself, of shape (n_rows, n_outputs).

    label: the call of the model.
    is_linked: whether the predictions are compared with the outputs after the link function.
    """

    __slots__ = ("label", "numbers", "is_linked")

    def __init__(self, label: str, numbers: Numbers, is_linked: bool = False) -> None:
        self.label, self.numbers, self.is_linked = label, numbers, is_linked


class _Ours:
    """Predictions of the ensemble, and the tolerance for rounding errors."""

    def __init__(self, ensemble: Ensemble, values: Numbers, threads: int | None) -> None:
        core, self.link = ensemble._core, ensemble.link
        shape = len(values), ensemble.output_count
        self.margins = core.predict(values, False, pool(threads)).reshape(shape)
        self.scales = core.margin_scales(values).reshape(shape)
        self.outputs = (self.margins if self.link is None
                        else core.predict(values, True, pool(threads)).reshape(shape))
        self.is_single = core.origin[0].startswith("XGBoost")

    def is_comparable(self, prediction: Prediction) -> bool:
        return (prediction.numbers.shape == self.margins.shape
                and (not prediction.is_linked or self.link is not None))

    def faults(self, prediction: Prediction, is_single: bool) -> tuple[Places, Numbers, Numbers]:
        """Returns the rows whose predictions differ, and the predictions of the model and of the ensemble."""
        own, read = prediction.numbers, self.outputs if prediction.is_linked else self.margins
        tolerance = SINGLE if is_single or self.is_single else DOUBLE
        with np.errstate(all="ignore"):
            if not prediction.is_linked or self.link == "identity":
                room = tolerance * self.scales
            elif self.link in ("logistic", "softmax", "half-power", "sorted"):
                room = tolerance * (1 + self.scales)
            elif self.link == "step":
                room = np.where(np.abs(self.margins) <= tolerance * self.scales, np.inf, 0)
            else:
                room = tolerance * (1 + self.scales) * np.maximum(np.abs(own), np.abs(read))
            differ = ~((np.abs(own - read) <= room + 1e-300) | (own == read)
                       | (np.isnan(own) & np.isnan(read)))
        return np.flatnonzero(differ.any(axis=1)), own, read


def _text(numbers: Numbers) -> str:
    texts = [f"{number:.9g}" for number in numbers[:4]]
    return texts[0] if len(numbers) == 1 else f"[{', '.join(texts)}{', …' if len(numbers) > 4 else ''}]"


# The methods of each library.


def own_predictions(model: Model, ensemble: Ensemble, rows: Rows,
                    linked: bool = False) -> Iterator[Prediction]:
    """Yields predictions of the model itself, at least one of which must agree with the ensemble;
    nothing if the model rejects the rows."""
    of_library = {"xgboost": _xgboost, "lightgbm": _lightgbm, "catboost": _catboost}
    calls = of_library.get(family(model) or "", _scikit_learn)(model, ensemble, linked)
    for label, call, is_linked in calls:
        if linked and not is_linked:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = _forms(call(rows), _count(rows))
        except Exception:
            # Libraries may raise any exception for rows of a kind that they do not support.
            continue
        for numbers in found:
            yield Prediction(label, numbers, is_linked)


def _count(rows: Rows) -> int:
    """Returns the number of rows of a container."""
    return rows.num_row() if callable(getattr(rows, "num_row", None)) else rows.shape[0]


def _forms(answer: Any, count: int) -> list[Numbers]:
    """Returns the arrays of shape (rows, outputs) that a result may represent. If the result has two columns,
    such as the probabilities of two classes, a second array contains only the last column. A list of arrays
    is concatenated.
    """
    if isinstance(answer, (list, tuple)):
        arrays = [np.asarray(one, dtype=np.float64).reshape(count, -1) for one in answer]
        forms = [np.concatenate(arrays, axis=1)]
        if all(one.shape[1] == 2 for one in arrays):
            forms.append(np.concatenate([one[:, 1:] for one in arrays], axis=1))
        return forms
    numbers = np.asarray(answer, dtype=np.float64).reshape(count, -1)
    return [numbers, numbers[:, 1:]] if numbers.shape[1] == 2 else [numbers]


def _named(model: Model, call: str) -> str:
    return f"{type(model).__name__}.{call}"


def _is_overridden(model: Model, method: str, library: str) -> bool:
    """Returns whether a class outside the library overrides a method of the library."""
    owner = next((base for base in type(model).__mro__ if method in vars(base)), None)
    return owner is not None and owner.__module__.partition(".")[0] != library


def _overrides(model: Model, library: str, is_classifier: bool) -> list[_Call]:
    """Returns the calls of methods that a user's class overrides, whose results may differ from the
    library's.
    """
    methods = ["predict_proba"] if is_classifier else ["predict"]
    return [(_named(model, method), getattr(model, method), True) for method in methods
            if _is_overridden(model, method, library)]


def _xgboost(model: Model, ensemble: Ensemble, linked: bool) -> list[_Call]:
    start, end, _, _ = ensemble._member_rounds[0]
    within = dict(iteration_range=(start, end)) if ensemble._chosen else {}
    if not callable(getattr(model, "get_booster", None)):
        calls = [(_named(model, "predict(output_margin=True)"),
                  lambda rows: model.predict(_matrix(model, rows), output_margin=True, **_checked(rows),
                                             **within), False)]
        # Some objectives, such as multi:softmax, return the index of a class, which differs in shape from the
        # outputs.
        if linked:
            calls.append((_named(model, "predict"),
                          lambda rows: model.predict(_matrix(model, rows), **_checked(rows), **within), True))
        return calls
    own = [] if within else _overrides(model, "xgboost", hasattr(model, "n_classes_"))
    calls = (own or [(_named(model, "predict(output_margin=True)"),
                      lambda rows: model.predict(rows, output_margin=True, **within), False)])
    if linked and not own:
        method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
        calls.append((_named(model, method), lambda rows: getattr(model, method)(rows, **within), True))
    return calls


def _checked(rows: Rows) -> dict[str, bool]:
    return {"validate_features": not isinstance(rows, np.ndarray)}


def _matrix(booster: Any, rows: Rows) -> Any:
    import xgboost

    if isinstance(rows, xgboost.DMatrix):
        return rows
    # Arrays contain the codes that the columns of a frame are converted to.
    types = (dict(feature_types=booster.feature_types) if isinstance(rows, np.ndarray)
             and booster.feature_types else {})
    return xgboost.DMatrix(rows, enable_categorical=True, nthread=1, **types)


def _lightgbm(model: Model, ensemble: Ensemble, linked: bool) -> list[_Call]:
    start, end, _, _ = ensemble._member_rounds[0]
    within = dict(start_iteration=start, num_iteration=end - start) if ensemble._chosen else {}
    # The raw score of a random forest is a sum in LightGBM, not a mean.
    share = 1 / max(end - start, 1) if ensemble._core.origin[2] == "rf" else 1
    is_wrapper = not hasattr(type(model), "model_to_string")
    own = [] if within or not is_wrapper else _overrides(model, "lightgbm", hasattr(model, "predict_proba"))
    calls = own or [(_named(model, "predict(raw_score=True)"),
                     lambda rows: np.asarray(model.predict(rows, raw_score=True, **within)) * share, False)]
    if linked and not own:
        method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
        calls.append((_named(model, method), lambda rows: getattr(model, method)(rows, **within), True))
    return calls


def _catboost(model: Model, ensemble: Ensemble, linked: bool) -> list[_Call]:
    start, end, _, _ = ensemble._member_rounds[0]
    within = dict(ntree_start=start, ntree_end=end) if ensemble._chosen else {}
    own = [] if within else _overrides(model, "catboost", hasattr(model, "predict_proba"))
    # Only predictions that begin with the first tree include the bias.
    bias = np.asarray(model.get_scale_and_bias()[1]) if start else 0
    if own:
        return own
    takes_kind = _takes(model, "predict", "prediction_type")

    def call(kind: str | None, more: Any, is_linked: bool) -> _Call:
        options = {} if kind is None else {"prediction_type": kind}
        label = "predict" if kind is None else f'predict(prediction_type="{kind}")'
        return (_named(model, label),
                lambda rows: model.predict(rows, thread_count=1, **options, **within) + more, is_linked)

    calls = [call("RawFormulaVal" if takes_kind else None, bias, False)]
    if linked and not start:
        kinds = {"logistic": "Probability", "softmax": "Probability", "exponential": "Exponent"}
        calls.append(call(kinds.get(ensemble.link) if takes_kind else None, 0, True))
    return calls


def _scikit_learn(model: Model, ensemble: Ensemble, linked: bool) -> list[_Call]:
    """Returns the calls of a model of scikit-learn, or of a similar library, that the trees may reproduce."""
    if hasattr(model, "detector_"):
        # Detectors of pyod shift the scores of their inner model.
        return _scikit_learn(model.detector_, ensemble, linked)
    calls = []

    def add(method: str, is_linked: bool, label: str | None = None,
            shape: Callable[[Any], Any] = lambda answer: answer, **options: Any) -> None:
        function = getattr(model, method, None)
        if callable(function):
            calls.append((_named(model, label or method),
                          lambda rows: shape(function(rows, **options)), is_linked))

    both = (False, True)
    if hasattr(model, "score_samples"):
        for is_linked in both:
            add("score_samples", is_linked, "score_samples (with its sign changed)", np.negative)
            add("score_samples", is_linked)
            add("decision_function", is_linked)
    elif getattr(model, "classes_", None) is not None:
        for is_linked in both:
            add("decision_function", is_linked)
        add("predict_proba", True)
    else:
        if _takes(model, "predict", "quantiles"):
            add("predict", False, 'predict(quantiles="mean")', quantiles="mean")
        for is_linked in (True, False):
            add("predict", is_linked)
        for method in ("predict_cumulative_hazard_function", "predict_survival_function"):
            for is_linked in both:
                add(method, is_linked, return_array=True)
        for is_linked in both:
            add("pred_param", is_linked)
            add("effect", is_linked)
            add("decision_function", is_linked)
    return calls


def _takes(model: Model, method: str, option: str) -> bool:
    try:
        return option in inspect.signature(getattr(model, method)).parameters
    except (AttributeError, TypeError, ValueError):
        return False


# The rows in the containers that a model may accept.


def _containers(model: Model, ensemble: Ensemble, given: Rows, places: Places,
                values: Numbers) -> Iterator[Rows]:
    """Yields some of the rows: first as they were passed, with the feature columns, then as a pandas frame,
    then as the engine read them.
    """
    ways: tuple[Callable[[], Rows], ...] = (
        lambda: _selected(model, ensemble, given, places),
        lambda: _as_pandas(_selected(model, ensemble, given, places)),
        lambda: _as_read(ensemble, values))
    for way in ways:
        try:
            rows = way()
        except Exception:
            # A container of a different library may lack a method. Later containers require fewer methods.
            continue
        if rows is not None:
            yield rows


def _computes_in_single(model: Model, rows: Rows) -> bool:
    """Returns whether a model may round rows or intermediate results to 32 bits."""
    # LightGBM before version 4 rounds frames with columns of several types to 32 bits.
    return _is_single(rows) or family(model) == "lightgbm" and hasattr(rows, "dtypes")


def _is_single(rows: Rows) -> bool:
    """Returns whether rows contain floats of 32 bits or less."""
    dtypes = [rows.dtype] if hasattr(rows, "dtype") else list(getattr(rows, "dtypes", ()))
    others = ("Float32", "float[pyarrow]", "halffloat[pyarrow]")
    return any(isinstance(dtype, np.dtype) and dtype.kind == "f" and dtype.itemsize < 8
               or str(dtype) in others for dtype in dtypes)


def _doubled(rows: Rows) -> Rows:
    """Returns the rows with 64-bit floats."""
    if not hasattr(rows, "columns"):
        return rows.astype(np.float64)
    return rows.astype({name: np.float64 for name, dtype in rows.dtypes.items()
                        if isinstance(dtype, np.dtype) and dtype.kind == "f"})


def _selected(model: Model, ensemble: Ensemble, given: Rows, places: Places) -> Rows:
    if isinstance(given, np.ma.MaskedArray):
        given = filled(given)
    if isinstance(given, np.ndarray):
        return given.reshape(1, -1) if given.ndim == 1 else given[places]
    pandas, polars, pyarrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(given, pandas.Series):
        given = given.to_frame().T.infer_objects()
    if pandas is not None and isinstance(given, pandas.DataFrame):
        rows, columns = given.iloc[places], _columns(model, ensemble, list(given.columns))
        return rows if columns is None else rows.iloc[:, columns]
    if polars is not None and isinstance(given, polars.LazyFrame):
        given = given.collect()
    if polars is not None and isinstance(given, polars.DataFrame):
        rows, columns = given[places.tolist()], _columns(model, ensemble, given.columns)
        return rows if columns is None else rows.select([given.columns[place] for place in columns])
    if pyarrow is not None and (isinstance(given, (pyarrow.Table, pyarrow.RecordBatch))
                                or hasattr(given, "__arrow_c_stream__")):
        rows = (pyarrow.table(given) if not isinstance(given, pyarrow.RecordBatch)
                else pyarrow.Table.from_batches([given]))
        columns = _columns(model, ensemble, rows.column_names)
        rows = rows.take(pyarrow.array(places))
        return rows if columns is None else rows.select(columns)
    kind = f"{type(given).__module__}.{type(given).__name__}"
    if kind.startswith("scipy.sparse"):
        return given.tocsr()[places]
    if kind in ("catboost.core.Pool", "xgboost.core.DMatrix"):
        return given.slice(places.tolist())
    if hasattr(given, "detach") and hasattr(given, "cpu"):
        given = given.detach().cpu().numpy()
    array = np.asarray(given)
    return array.reshape(1, -1) if array.ndim == 1 else array[places]


def _columns(model: Model, ensemble: Ensemble, labels: Sequence[Any]) -> list[int] | None:
    """Returns the positions of the training columns; None for all columns in their order."""
    if family(model) in ("xgboost", "lightgbm", "catboost"):
        return chosen(labels, ensemble.wanted(), "X")
    # A model of scikit-learn may also require columns that its trees do not use.
    try:
        names = list(model.feature_names_in_)
    except AttributeError:
        return None
    place_of = {label: place for place, label in enumerate(labels)}
    return [place_of[name] for name in names] if all(name in place_of for name in names) else None


def _as_pandas(rows: Rows) -> Rows:
    return rows.to_pandas() if rows is not None and hasattr(rows, "to_pandas") else None


def _as_read(ensemble: Ensemble, values: Numbers) -> Rows:
    """Returns the rows of the engine as an array, or as a frame if the model has names. In a frame, codes
    become categories again; returns None if this is not possible.
    """
    wanted = ensemble.wanted()
    if wanted.names is None and not wanted.coded:
        return values
    import pandas

    columns = []
    for feature in range(values.shape[1]):
        column: Any = values[:, feature]
        categories: list[Any] | None = wanted.categories(feature)
        if feature in wanted.coded:
            known = column[~np.isnan(column)]
            if not np.array_equal(known, np.floor(known)) or (known < 0).any():
                # The code is the hash of a category, or the code of an unknown category.
                return None
            if ensemble.origin[0].startswith("CatBoost"):
                column = pandas.Series([str(int(code)) if code == code else "nan" for code in column],
                                       dtype=object)
            else:
                # Files store integers as floats, and some libraries distinguish the types.
                known_ones = categories or []
                if all(isinstance(category, float) and category.is_integer() for category in known_ones):
                    known_ones = [int(category) for category in known_ones]
                column = pandas.Categorical.from_codes(np.where(np.isnan(column), -1, column).astype(int),
                                                       categories=known_ones)
        columns.append(pandas.Series(column))
    frame = pandas.concat(columns, axis=1)
    frame.columns = wanted.names if wanted.names is not None else range(values.shape[1])
    return frame
