"""Models in memory: tree ensembles and linear models become an `Ensemble`, all others a function of rows.

A library is recognised by the module of the model's class; no library is imported here.
"""
from __future__ import annotations

import operator
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from . import _checks, _core
from ._data import Wanted, table
from ._errors import Error, ModelError, ModelWarning, NotFittedError, UsageError, warn
from ._missing import Content
from ._threads import pool
from ._types import Model, Numbers, Rounds, Rows

_Trees: TypeAlias = _core.Ensemble
# Rounds in the form that the engine expects: those up to the best one of the file (None), all (True), or a
# range.
_CoreRounds: TypeAlias = tuple[int, int] | bool | None
# The first round that is used, the round after the last one, the number of rounds, and the number of rounds
# up to the best one.
_UsedRounds: TypeAlias = tuple[int, int, int, int | None]
_Part: TypeAlias = tuple[bytes, _CoreRounds]
# A note, and whether it is a warning.
_Note: TypeAlias = tuple[str, bool]


class Ensemble:
    """A tree ensemble or a linear model, read from a file, from bytes or from an object in memory.

    model: an object of xgboost, lightgbm, catboost or scikit-learn, a path, or the bytes of a model file. A
        list of models, or the `CVBooster` of lightgbm, is read as the mean of their raw predictions
        (margins).
    rounds: the boosting rounds that are used: None (the default) for those that the `predict` of this object
        uses (for a file those up to the best one), "all", a number, or a pair of the first round and the one
        after the last.

    Raises ModelError for a model that is not read as trees, NotFittedError for one that is not fitted, and
    UsageError for invalid rounds. Issues a ModelWarning for anything that users should know about the model.

    >>> import apportion
    >>> tree = b'''{"format": "apportion-trees", "version": 1, "width": "double", "features": 1,
    ...     "base_margins": [0.5], "operator": "<=", "trees": [{"left": [1, -1, -1], "right": [2, -1, -1],
    ...     "feature": [0, 0, 0], "threshold": [1.5, 0, 0], "value": [0, 10, 20]}]}'''
    >>> apportion.Ensemble(tree).predict([[1.5], [1.6]])
    array([10.5, 20.5])
    """

    classes: Any
    missing: float | None
    _core: _Trees
    _made_of: Sequence[_Part]
    _notes: list[str]
    _warned: list[str]
    _member_rounds: list[_UsedRounds]
    _source: Callable[[], Any] | None
    _chosen: bool
    _lists: list[Any] | None

    def __init__(self, model: Model, *, rounds: Rounds = None) -> None:
        self.__dict__.update(ensemble(model, rounds).__dict__)

    @classmethod
    def _of(cls, parts: Sequence[_Part], classes: Any = None, missing: float | None = None,
            notes: Iterable[str] = (), lists: list[Any] | None = None) -> Ensemble:
        """Returns the mean of several ensembles, each given as bytes and the rounds that are used."""
        ensemble = cls.__new__(cls)
        members = [_core.Ensemble.from_bytes(content, rounds) for content, rounds in parts]
        ensemble._core = members[0] if len(members) == 1 else _core.Ensemble.mean_of(members)
        ensemble._made_of = parts
        ensemble.classes = classes
        ensemble.missing = missing
        ensemble._notes = list(notes)
        ensemble._member_rounds = [member.rounds for member in members]
        ensemble._source, ensemble._chosen, ensemble._lists = None, False, lists
        return ensemble

    def __reduce__(self) -> tuple[Any, ...]:
        return Ensemble._of, (self._made_of, self.classes, self.missing, self._notes, self._lists)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._core, name)

    @property
    def notes(self) -> list[str]:
        """Notes for users about the model, as sentences: what its file lacks, which rounds are used."""
        return [*self._core.notes, *self._notes]

    def _member(self, place: int) -> Ensemble:
        """Returns the ensemble of one model, if a list of models was read."""
        one = Ensemble._of(self._made_of[place : place + 1], self.classes, self.missing, lists=self._lists)
        one._chosen = self._chosen
        return one

    def _of_rounds(self, rounds: Rounds) -> Ensemble:
        """Returns the same models with other rounds."""
        rounds = _rounds(rounds)
        other = Ensemble._of([(content, rounds) for content, _ in self._made_of], self.classes, self.missing,
                             lists=self._lists)
        other._source, other._chosen = self._source, True
        return other

    @property
    def source(self) -> Any:
        """The object in memory from which the ensemble was read; None for files, after pickling, or if the
        object no longer exists.
        """
        return None if self._source is None else self._source()

    @property
    def output_names(self) -> list[str] | None:
        """The names of the outputs; None if they are not known."""
        names = self._core.output_names
        if names is None and self.classes is not None and len(self.classes) == self.output_count:
            names = [str(label) for label in self.classes]
        return names

    @property
    def has_covers(self) -> bool:
        """Whether the trees store the cover of the training, which the path-dependent game requires."""
        return self._core.lacks_covers is None

    def wanted(self) -> Wanted:
        """Returns the model's requirements for rows."""
        core = self._core
        library = core.origin[0].partition(" ")[0]
        return Wanted(core.feature_names, core.feature_count, core, library=library, missing=self.missing,
                      sparse_is_missing=library == "XGBoost",
                      cells=getattr(self._made_of[0][0], "cells", None), lists=self._lists)

    def predict(self, X: Rows, *, output: Literal["raw", "probability"] = "raw",
                threads: int | None = None) -> Numbers:
        """Returns the predictions for rows, of shape (n_rows,), or (n_rows, n_outputs) for several outputs.

        X: the rows, a data frame or an array of shape (n_rows, n_features).
        output: "raw" (the default) for margins, "probability" for outputs after the link function.
        threads: the number of threads (default None: as `set_threads` specifies).

        Raises DataError for rows that do not match the model, and UsageError for an unknown output.
        """
        output = _checks.choice("output", output, ("raw", "probability"))
        rows = table(X, self.wanted()).values
        predicted = self._core.predict(rows, output != "raw", pool(threads))
        return predicted if self.output_count == 1 else predicted.reshape(len(rows), self.output_count)

    def __repr__(self) -> str:
        format, version, _, objective = self.origin
        about = ", ".join(word for word in (f"{format} {version}".strip(), objective) if word)
        return (f"Ensemble({self.tree_count} trees, {self.feature_count} features, "
                f"{self.output_count} outputs; {about})")


def _rounds(rounds: Any) -> _CoreRounds:
    if rounds is None:
        return None
    if isinstance(rounds, str) and rounds == "all":
        return True
    try:
        start, end = ((0, rounds) if isinstance(rounds, (int, np.integer)) and not isinstance(rounds, bool)
                      else rounds)
        start, end = operator.index(start), operator.index(end)
        if 0 <= start <= end < 2**63:
            return start, end
    except Exception:  # unpacking may raise any exception
        pass
    raise UsageError(f'invalid rounds {_checks.shown(rounds)}; expected "all", a number of rounds, or a pair '
                     '(first, last + 1)')


def _kind(model: Model) -> str:
    return f"{type(model).__module__}.{type(model).__qualname__}"


def family(model: Model) -> str | None:
    """Returns the library that a model comes from."""
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if library in ("xgboost", "lightgbm", "catboost", "torch", "keras", "tensorflow"):
            return library
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if library in ("sklearn", "imblearn", "pyod"):
            return "sklearn"
    return None


class Unknown(ModelError):
    """Raised for a model whose predictions cannot be read as a sum of trees. The message is the reason."""


class _Reading:
    """The bytes of a model file, and the properties that only the object in memory has.

    rounds: the rounds that its `predict` uses, in the form of the core: None for the rounds up to the best
        one of the file, True for all, or a range.
    missing: the number that represents a missing value, in addition to NaN.
    is_object: whether the model was an object that can predict, rather than a file.
    note: a function from the rounds of the core to a note and whether it is a warning, or None.
    lists: for LightGBM the categories of each categorical column of the training frame, in the order of the
        columns.
    """

    def __init__(self, content: bytes, classes: Any = None, rounds: _CoreRounds = None,
                 missing: float | None = None, is_object: bool = True,
                 note: Callable[[_UsedRounds], _Note | None] | None = None,
                 lists: list[Any] | None = None) -> None:
        self.content = content
        self.classes = classes
        self.rounds = rounds
        self.missing = missing
        self.is_object = is_object
        self.lists = lists
        self.note = note or (lambda rounds: None)


def _read(model: Model) -> _Reading | None:
    """Reads one model; returns None if its kind is not supported. Raises Unknown with the reason if it cannot
    be read exactly.
    """
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _Reading(bytes(model), is_object=False, note=_best_of_a_file)
    if isinstance(model, (str, os.PathLike)):
        try:
            with open(model, "rb") as file:
                return _Reading(file.read(), is_object=False, note=_best_of_a_file)
        except (OSError, ValueError) as error:
            raise ModelError(f"cannot read the model {_checks.shown(os.fspath(model))}: "
                             f"{getattr(error, 'strerror', None) or error}") from error
    library, kind = family(model), type(model)
    take = {"xgboost": _of_xgboost, "lightgbm": _of_lightgbm, "catboost": _of_catboost}.get(library or "")
    try:
        if take is not None:
            return take(model)
        if callable(getattr(kind, "SerializeToString", None)):
            return _Reading(model.SerializeToString(), is_object=False)
        if library == "sklearn":
            return _Reading(*_of_sklearn(model), rounds=True)
    except (ModelError, UsageError):
        raise
    except Exception as error:
        # A version of a library may lack what is used here, but the object can still be called.
        raise Unknown(f"{_kind(model)} could not be read as trees ({type(error).__name__}: "
                      f"{error})") from error
    return None


def _used(rounds: _UsedRounds) -> str:
    start, end, count, _ = rounds
    return f"rounds {start}..{end} of {count}"


def _best_of_a_file(rounds: _UsedRounds) -> _Note | None:
    start, end, count, best = rounds
    if (start, end) == (0, count):
        return None
    return (f"using {_used(rounds)}, up to the best one (best_iteration), because the file does not store "
            "which ones predict uses; pass rounds=\"all\" to use all", True)


def _of_xgboost(model: Model) -> _Reading | None:
    booster = model
    if callable(getattr(model, "get_booster", None)):
        try:
            booster = model.get_booster()
        except Exception as error:
            raise NotFittedError(f"{_kind(model)} is not fitted; call fit first") from error
    if not callable(getattr(booster, "save_raw", None)):
        return None
    classes = getattr(model, "classes_", None) if hasattr(model, "n_classes_") else None
    rounds = True if booster is model else _rounds_of_wrapper(model)

    def note(used: _UsedRounds) -> _Note | None:
        start, end, count, best = used
        if end < count:
            return (f"using {_used(used)}, up to the best one (best_iteration), as "
                    f"{type(model).__name__}.predict does; pass rounds=\"all\" to use all", True)
        if best is not None and best < count:
            return (f"using all {count} rounds, as {type(model).__name__}.predict does; the best one "
                    f"(best_iteration) is {best - 1}, and rounds={best} uses only those up to it", True)
        return None

    return _Reading(bytes(booster.save_raw("ubj")), classes, rounds, _missing(model), note=note)


def _rounds_of_wrapper(model: Model) -> Literal[True] | None:
    """Returns the rounds that the `predict` of a wrapper of xgboost uses, by its own rule."""
    own = getattr(model, "_get_iteration_range", None)
    if own is None:
        return True if getattr(model, "booster", None) == "gblinear" else None
    return None if own(None)[1] else True


def _missing(model: Model) -> float | None:
    """Returns the number that represents a missing value in addition to NaN, an option of the wrappers of
    xgboost.
    """
    missing = getattr(model, "missing", None)
    return None if missing is None or missing != missing else float(missing)


def _of_lightgbm(model: Model) -> _Reading | None:
    booster = model
    if not hasattr(type(model), "model_to_string"):
        if not hasattr(type(model), "booster_"):
            return None
        try:
            booster = model.booster_
        except Exception as error:
            raise NotFittedError(f"{_kind(model)} is not fitted; call fit first") from error
    options = model.get_params() if callable(getattr(model, "get_params", None)) else {}
    if options.get("pred_early_stop"):
        raise Unknown(f"{_kind(model)} does not sum all its trees for every row (pred_early_stop)")
    best, count = booster.best_iteration, booster.current_iteration()
    used = min(best, count) if best is not None and best > 0 else count

    def note(rounds: _UsedRounds) -> _Note | None:
        if rounds[1] < rounds[2]:
            return (f"using {_used(rounds)}, up to the best one (best_iteration), as "
                    f"{type(model).__name__}.predict does; pass rounds=\"all\" to use all", False)
        return None

    text = booster.model_to_string(num_iteration=-1)
    return _Reading(text.encode(), getattr(model, "classes_", None), True if used == count else (0, used),
                    note=note, lists=getattr(booster, "pandas_categorical", None))


def _of_catboost(model: Model) -> _Reading | None:
    if not callable(getattr(model, "is_fitted", None)) or not callable(getattr(model, "save_model", None)):
        return None
    if not model.is_fitted():
        raise NotFittedError(f"{_kind(model)} is not fitted; call fit first")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.cbm")
        model.save_model(path, format="cbm")
        with open(path, "rb") as file:
            content = file.read()
    classes = getattr(model, "classes_", None)
    best = getattr(model, "best_iteration_", None)

    def note(rounds: _UsedRounds) -> _Note | None:
        count = rounds[2]
        if best is not None and best + 1 < count:
            return (f"using all {count} rounds, as {type(model).__name__}.predict does; the best one "
                    f"(best_iteration_) is {best}, and rounds={best + 1} uses only those up to it", False)
        return None

    return _Reading(content, classes if classes is not None and len(classes) else None, True, note=note)


def _of_sklearn(model: Model, method: str | None = None) -> tuple[Content, Any]:
    try:
        from . import scikit_learn_to_json as converter
    except Exception as problem:  # the converter does not support this release of scikit-learn
        raise Unknown(f"models of this version of scikit-learn cannot be read ({problem}); "
                      "apportion.Explainer(model, X) works for any model that can be called") from problem
    try:
        _check_fitted(model)
    except NotFittedError:
        raise
    except Exception as problem:
        raise Unknown(f"{_kind(model)} cannot be explained exactly: {problem}; "
                      "apportion.Explainer(model, X) works for any model that can be called") from problem
    try:
        document, cells = converter.document_and_cells(model, method)
        content = converter.as_json(document).encode()
    except converter.Refused as problem:
        raise Unknown(str(problem)) from problem
    # A list contains the classes of several targets.
    classes = getattr(model, "classes_", None)
    return Content.of(content, cells), None if isinstance(classes, list) else classes


def _check_fitted(model: Model) -> None:
    from sklearn.exceptions import NotFittedError as Unfitted
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except Unfitted as error:
        raise NotFittedError(f"{_kind(model)} is not fitted; call fit first") from error
    except TypeError:
        return  # not an estimator, which is reported elsewhere


def members(model: Model) -> list[Model] | None:
    """Returns the models of a list of models, whose mean is explained; None for a single model."""
    if (isinstance(model, (list, tuple)) or isinstance(model, np.ndarray) and model.dtype == object
            and model.ndim == 1):
        return list(model)
    library = family(model)
    # A CVBooster returns an attribute for every name.
    own = getattr(model, "__dict__", {})
    if library == "lightgbm" and isinstance(own.get("boosters"), list):
        return own["boosters"]
    if library == "xgboost" and isinstance(own.get("cvfolds"), (list, tuple)):
        return [fold.bst for fold in own["cvfolds"]]
    return None


def _read_as_ensemble(model: Model, rounds: Rounds) -> Ensemble:
    """Returns the model as an ensemble. Raises Unknown if it is not read exactly, with None instead of a
    message if its kind is not supported.
    """
    requested, several = _rounds(rounds), members(model)
    if several is None:
        reading = _read(model)
        if reading is None:
            raise Unknown(None)
        readings = [reading]
    else:
        readings = [_read_member(member, place) for place, member in enumerate(several)]
        _check_alike(several, readings)
    first = readings[0]
    parts = [(reading.content, reading.rounds if requested is None else requested) for reading in readings]
    try:
        ensemble = Ensemble._of(parts, first.classes, first.missing, lists=first.lists)
    except UsageError:
        raise
    except Error as error:
        if several is None and first.is_object:
            raise Unknown(str(error)) from error
        raise
    ensemble._chosen = requested is not None
    try:
        ensemble._source = weakref.ref(model) if several is not None or first.is_object else None
    except TypeError:
        # Lists and some C objects do not support weak references. A list of models keeps only its models
        # alive.
        ensemble._source = lambda: model
    ensemble._warned = []
    if requested is None:
        for place, (reading, used) in enumerate(zip(readings, ensemble._member_rounds)):
            note = reading.note(used)
            if note is None:
                continue
            text = note[0] if several is None else f"model {place} of the list: {note[0]}"
            ensemble._notes.append(text)
            if note[1]:
                ensemble._warned.append(text)
    if len(parts) > 1:
        unlinked = ("; no link function is applied, "
                    "as the mean of probabilities is not the probability of the mean margin")
        ensemble._notes.append("the output is the mean of the raw predictions (margins) "
                               f"of {len(parts)} models" + ("" if ensemble.link is not None else unlinked))
    return ensemble


def _read_member(model: Model, place: int) -> _Reading:
    try:
        reading = _read(model)
    except Unknown as problem:
        raise ModelError(f"model {place} of the list: {problem}; explain the models one by one and average "
                         "their values, or pass a function that returns the mean of their "
                         "predictions") from problem
    if reading is None:
        raise ModelError(f"model {place} of the list is not a tree or linear model: {_kind(model)}; expected "
                         "models of xgboost, lightgbm, catboost or scikit-learn. For other models pass a "
                         "function that returns the mean of their predictions")
    return reading


def _check_alike(models: Sequence[Model], readings: Sequence[_Reading]) -> None:
    if not readings:
        raise ModelError("the list of models is empty; expected at least one model")
    first = readings[0]
    for place, reading in enumerate(readings[1:], 1):
        labels = [None if one.classes is None else list(one.classes) for one in (reading, first)]
        pairs = [("missing=", reading.missing, first.missing), ("the classes", *labels),
                 ("the categories", reading.lists, first.lists),
                 ("the missing cells", _missing_cells(reading), _missing_cells(first)),
                 ("the library", family(models[place]), family(models[0]))]
        for what, found, expected in pairs:
            if found != expected:
                raise ModelError(f"model {place} of the list has {what} {found}, expected {expected} as for "
                                 "model 0; explain the models one by one and average their values")


def _missing_cells(reading: _Reading) -> dict[int, Any] | None:
    cells = getattr(reading.content, "cells", None)
    return None if cells is None else {feature: column.kinds for feature, column in cells.items()}


def predicts_behind_link(model: Model) -> bool:
    """Returns whether `predict` returns the output after the link function, because the model was trained on
    a transformed target and `predict` inverts the transformation.
    """
    if family(model) != "sklearn":
        return False
    from . import scikit_learn_to_json as converter

    return converter.predicts_behind_link(model)


def _warn(ensemble: Ensemble) -> None:
    for note in [*ensemble._core.notes, *ensemble._warned]:
        warn(note, ModelWarning)


def ensemble_or_reason(model: Model, rounds: Rounds = None) -> tuple[Ensemble | None, str | None]:
    """Returns the model as an ensemble, and None. If its predictions are not read exactly, returns None and
    the reason; for models of other kinds, the reason is None.

    Raises NotFittedError for models that are not fitted, UsageError for invalid rounds, and ModelError for
    invalid files and lists, which cannot be called instead.
    """
    if isinstance(model, Ensemble):
        return model if rounds is None else model._of_rounds(rounds), None
    try:
        found = _read_as_ensemble(model, rounds)
    except Unknown as problem:
        return None, None if problem.args == (None,) else str(problem)
    _warn(found)
    return found, None


def ensemble_of_method(model: Model, method: str) -> tuple[Ensemble | None, str | None]:
    """Returns the outputs of a survival model at its times as an ensemble, and None. If they are not read
    exactly, returns None and the reason.
    """
    try:
        return Ensemble._of([(_of_sklearn(model, method)[0], True)]), None
    except Unknown as problem:
        return None, str(problem)


def ensemble_or_none(model: Model, rounds: Rounds = None) -> Ensemble | None:
    """Returns the model as an ensemble; None if it is not a tree or linear model."""
    return ensemble_or_reason(model, rounds)[0]


def ensemble(model: Model, rounds: Rounds = None) -> Ensemble:
    """Returns the model as an ensemble; raises ModelError for any other model."""
    found, reason = ensemble_or_reason(model, rounds)
    if found is not None:
        return found
    problem = (reason or f"{_kind(model)} is not a tree or linear model of xgboost, lightgbm, "
               "catboost or scikit-learn, nor the path of a file that contains one")
    remedy = ("" if "apportion.Explainer" in problem
              else "; apportion.Explainer(model, X) explains any model that can be called")
    raise ModelError(f"{problem}{remedy}")
