"""The choice of the output of a model that is called, by the same rules for every model.

1. The method that `model_output` names.
2. Else the margin before the link function: the raw score of boosting libraries, `decision_function` of
   classifiers and outlier detectors, the logarithm of the predictions of a regressor with a log link.
3. Else probabilities (`predict_proba`), or the distances of a clusterer (`transform`).
4. Else the result of `predict`. If it consists of labels, each label is an output, 1 if it is predicted and
   else 0, so that labels are never read as numbers.

Models with a transformed target are explained in the unit of `predict`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import ModelError, UsageError
from ._models import family
from ._threads import pool
from ._types import AnyArray, Model, Numbers, Rows

if TYPE_CHECKING:
    from ._models import Ensemble


class Output:
    """One way to call a model.

    call: the function from rows to numbers.
    about: a description of the numbers.
    names: the names of the outputs, or None.
    note: a note about the choice, or None.
    warns: whether the note is a warning, too, because the explained output differs from the result of
        `predict`.
    """

    def __init__(self, call: Callable[[Rows], Any], about: str, names: list[str] | None = None,
                 note: str | None = None, warns: bool = True) -> None:
        self.call, self.about, self.names, self.note, self.warns = call, about, names, note, warns


def outputs(model: Model, method: str | None = None) -> list[Output]:
    """Returns the outputs of a model by preference; the first that works is explained.

    method: the method of the model that is explained, by name.
    """
    if isinstance(model, type):
        raise ModelError(f"{model.__module__}.{model.__qualname__} is a class; pass a fitted instance of it")
    names = _class_names(model)
    if method is not None:
        if not callable(getattr(model, method, None)):
            raise UsageError(f'unknown model_output {method!r}; expected "raw", "probability", "log_loss" or '
                             "the name of a method of the model")
        return [at_times(model, method) or _method(model, method, names if method != "predict" else None)]
    library = family(model)
    if library == "torch":
        return [Output(_torch(model), "output of the module")]
    if library in ("keras", "tensorflow") and hasattr(model, "predict"):
        return [Output(lambda rows: model.predict(rows, verbose=0), "predict")]
    found = [*_margins(model, names), *_by_methods(model, names)]
    if found:
        return found
    if callable(model):
        owner, name = getattr(model, "__self__", None), getattr(model, "__name__", "")
        if owner is not None and name in ("predict_proba", "decision_function", "predict",
                                          "predict_log_proba"):
            return [Output(model, name, _class_names(owner) if name != "predict" else None)]
        return [Output(model, "output of the function")]
    raise ModelError(f"{type(model).__module__}.{type(model).__qualname__} is not callable and has no "
                     "predict method; pass a function of rows")


def _method(model: Model, method: str, names: list[str] | None = None, note: str | None = None,
            warns: bool = True) -> Output:
    return Output(getattr(model, method), method, names, note, warns)


def at_times(model: Model, method: str) -> Output | None:
    """Returns the output of a method that returns functions of time, at the training times; None for other
    methods.
    """
    times = next((getattr(_last(model), name) for name in ("unique_times_", "event_times_")
                  if getattr(_last(model), name, None) is not None), None)
    if method not in ("predict_cumulative_hazard_function", "predict_survival_function") or times is None:
        return None
    call = getattr(model, method, None)
    if not callable(call):
        return None
    return Output(lambda rows: call(rows, return_array=True), f"{method} at times",
                  [f"{time:g}" for time in times])


def compare_at_times(output: Output, ensemble: Ensemble, given: Rows, values: Numbers, what: str,
                     threads: int | None) -> None:
    """Raises ModelError if the predictions of the trees as read differ from those of the model at some time,
    on up to 20 rows.
    """
    rows = given.iloc[:20] if hasattr(given, "iloc") else given[:20]
    try:
        own = np.asarray(output.call(rows), dtype=np.float64)
    except Exception:  # the model rejects these rows as they were passed
        return
    ours = ensemble._core.predict(np.ascontiguousarray(values[: len(own)]), False,
                                  pool(threads)).reshape(own.shape)
    differs = np.abs(own - ours) > 1e-9 * (1 + np.abs(own).max(initial=0.0))
    if differs.any():
        row, time = np.argwhere(differs)[0]
        names = output.names or range(own.shape[1])
        raise ModelError(f"the trees read from the model do not reproduce its predictions: row {row} of "
                         f"{what}: {output.about} returns {own[row, time]:.9g} at {names[time]}, the trees "
                         f"return {ours[row, time]:.9g}; "
                         "please report this, or pass check=False to explain the trees anyway")


def _class_names(model: Model) -> list[str] | None:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    if isinstance(classes, (list, tuple)) and classes and np.ndim(classes[0]):
        return [f"{target}: {label}" for target, labels in enumerate(classes) for label in labels]
    return [str(label) for label in np.ravel(np.asarray(classes, dtype=object))]


def _last(model: Model) -> Model:
    """Returns the object that makes the predictions: the last step of a pipeline, the best estimator of a
    search.
    """
    for _ in range(9):
        if getattr(model, "best_estimator_", None) is not None:
            model = model.best_estimator_
        elif getattr(model, "steps", None) and isinstance(model.steps, list):
            model = model.steps[-1][1]
        else:
            break
    return model


def _margins(model: Model, names: list[str] | None) -> Iterator[Output]:
    """Yields the ways to call a model for its margins."""
    last = _last(model)
    library = family(last)
    of_library: dict[str | None, tuple[str, object]] = {
        "xgboost": ("output_margin", True), "lightgbm": ("raw_score", True),
        "catboost": ("prediction_type", "RawFormulaVal")}
    option = of_library.get(library)
    if option is not None and callable(getattr(model, "predict", None)):
        name, value = option
        yield Output(lambda rows: model.predict(rows, **{name: value}), f"margin: predict({name}={value!r})",
                     names)
        return
    if _kind(model) == "outlier_detector" or _detects_outliers(model):
        if callable(getattr(model, "decision_function", None)):
            yield _method(model, "decision_function", note='decision_function is explained, since predict '
                          'returns outlier labels; model_output="…" selects another method')
            return
        if callable(getattr(model, "score_samples", None)):
            yield _method(model, "score_samples", note='score_samples is explained, since predict returns '
                          'labels; model_output="…" selects another method')
            return
    if (callable(getattr(model, "decision_function", None))
            and (names is not None or not hasattr(model, "predict"))):
        note = None
        if callable(getattr(model, "predict_proba", None)):
            note = 'decision_function is explained; model_output="predict_proba" explains probabilities'
        yield _method(model, "decision_function", names, note, warns=False)
    link = type(getattr(getattr(last, "_base_loss", None) or getattr(last, "_loss", None), "link",
                        None)).__name__
    if link == "LogLink" and names is None and callable(getattr(model, "predict", None)):
        yield Output(lambda rows: np.log(model.predict(rows)), "margin: log of predict", note='the logarithm '
                     'of predict is explained, which is the margin of this model; '
                     'model_output="predict" explains predict itself')


def _by_methods(model: Model, names: list[str] | None) -> Iterator[Output]:
    """Yields the outputs of a model for probabilities, distances or predictions."""
    if callable(getattr(model, "predict_proba", None)):
        yield _method(model, "predict_proba", names)
    is_clusterer = _kind(model) == "clusterer"
    if is_clusterer and callable(getattr(model, "transform", None)):
        yield Output(model.transform, "transform: distance to each cluster", note='the distances to the '
                     'clusters (transform) are explained, since predict returns labels; '
                     'model_output="…" selects another method')
    if callable(getattr(model, "predict", None)):
        labels = getattr(model, "classes_", None)
        if labels is None and is_clusterer:
            labels = np.unique(getattr(model, "labels_", model.predict))
        if labels is not None and not isinstance(labels, list) and np.ndim(labels) == 1:
            yield Output(_indicators(model, np.asarray(labels)), "predict: 1 for the predicted label, else 0",
                         [str(label) for label in labels], note="predict returns labels, and the model has "
                         "no scores, so each label is an output: 1 if it is predicted, 0 if not")
        else:
            yield _method(model, "predict")


def _indicators(model: Model, labels: AnyArray) -> Callable[[Rows], AnyArray]:
    def call(rows: Rows) -> AnyArray:
        predicted = np.asarray(model.predict(rows))
        if predicted.ndim > 1 and predicted.shape[1:] == (1,):
            predicted = predicted[:, 0]
        return (predicted[:, None] == labels[None, :]).astype(np.float64)

    return call


def _kind(model: Model) -> str | None:
    """Returns the kind of estimator that a model is for scikit-learn."""
    kind = getattr(model, "_estimator_type", None)
    if kind is None and callable(getattr(model, "__sklearn_tags__", None)):
        try:
            kind = model.__sklearn_tags__().estimator_type
        except Exception:  # an estimator of another version of scikit-learn
            kind = None
    return kind


def _detects_outliers(model: Model) -> bool:
    """Returns whether a model is an outlier detector of PyOD, which has labels and no classes."""
    return (any(base.__module__.partition(".")[0] == "pyod" for base in type(model).__mro__)
            and hasattr(model, "decision_function"))


def _torch(module: Any) -> Callable[[Rows], Any]:
    def call(rows: Rows) -> Any:
        import torch

        parameter = next(module.parameters(), None)
        kind = {} if parameter is None else dict(dtype=parameter.dtype, device=parameter.device)
        was_training = module.training
        module.eval()
        try:
            with torch.no_grad():
                return module(torch.as_tensor(rows if isinstance(rows, torch.Tensor)
                                              else np.asarray(rows)).to(**kind))
        finally:
            module.train(was_training)

    return call
