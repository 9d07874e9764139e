"""Models from memory: what holds trees becomes an `Ensemble`, everything else a function of rows.

A library is recognised by the module that a model's class comes from; none is imported here.
"""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import os
import warnings

import numpy as np

from . import _core
from ._data import Wanted, table
from ._errors import ModelError, ModelWarning, NotFittedError, UsageError
from ._missing import Content
from ._threads import pool


class Ensemble:
    """A tree ensemble, or a linear model: read from a file, from bytes, or taken from the memory of its library.

    model: an object of xgboost, lightgbm, catboost or scikit-learn, a path, or the bytes of a model file.
    rounds: which rounds of boosting are used: None for those up to the best one, "all", a number, or a pair (first, one after the last).

    >>> import apportion
    >>> tree = b'''{"format": "apportion-trees", "version": 1, "width": "double", "features": 1, "base_margins": [0.5], "operator": "<=",
    ...     "trees": [{"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "threshold": [1.5, 0, 0], "value": [0, 10, 20]}]}'''
    >>> apportion.Ensemble(tree).predict([[1.5], [1.6]])
    array([10.5, 20.5])
    """

    def __init__(self, model, *, rounds=None):
        content, self.classes = _content(model)
        if content is None:
            raise ModelError(f"{_kind(model)} holds no trees that are known here: give a model of xgboost, lightgbm, catboost or scikit-learn, "
                             "a path or the bytes of a model file")
        self._core, self.missing = _core.Ensemble.from_bytes(content, _rounds(rounds)), _missing(model)
        self._made_of = content, _rounds(rounds)
        for note in self._core.notes:
            warnings.warn(note, ModelWarning, stacklevel=3)

    @classmethod
    def _of(cls, content, rounds=None, classes=None, missing=None):
        ensemble = cls.__new__(cls)
        ensemble._core, ensemble._made_of = _core.Ensemble.from_bytes(content, rounds), (content, rounds)
        ensemble.classes, ensemble.missing = classes, missing
        return ensemble

    def __reduce__(self):
        return Ensemble._of, (*self._made_of, self.classes, self.missing)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._core, name)

    @property
    def output_names(self):
        """Names of the outputs, where there are several and they are known."""
        names = self._core.output_names
        if names is None and self.classes is not None and len(self.classes) == self.output_count:
            names = [str(label) for label in self.classes]
        return names

    @property
    def has_covers(self):
        """Whether the path-dependent game can be played, which needs the covers of the training."""
        return self._core.lacks_covers is None

    def wanted(self):
        """What the model wants of rows."""
        core = self._core
        return Wanted(core.feature_names, core.feature_count, core, rewritten=core.origin[0].startswith("LightGBM"), missing=self.missing,
                      sparse_is_missing=core.origin[0].startswith("XGBoost"), cells=getattr(self._made_of[0], "cells", None))

    def predict(self, X, *, output="raw", threads=None):
        """Margins, or with output="probability" what is behind the link: rows, or rows × outputs where there are several."""
        rows = table(X, self.wanted()).values
        predicted = self._core.predict(rows, output != "raw", pool(threads))
        return predicted if self.output_count == 1 else predicted.reshape(len(rows), -1)

    def __repr__(self):
        format, version, _, objective = self.origin
        about = ", ".join(word for word in (f"{format} {version}".strip(), objective) if word)
        return f"Ensemble({self.tree_count} trees, {self.feature_count} features, {self.output_count} outputs; {about})"


def _rounds(rounds):
    if rounds is None:
        return None
    if rounds == "all":
        return True
    try:
        start, end = (0, rounds) if isinstance(rounds, (int, np.integer)) else rounds
        return int(start), int(end)
    except (TypeError, ValueError):
        raise UsageError(f'rounds={rounds!r}: give "all", a number of rounds, or a pair of the first and the one after the last') from None


def _kind(model):
    return f"{type(model).__module__}.{type(model).__qualname__}"


def family(model):
    """The library that a model comes from."""
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if library in ("xgboost", "lightgbm", "catboost", "torch", "keras", "tensorflow"):
            return library
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if library in ("sklearn", "imblearn", "pyod"):
            return "sklearn"
    return None


def _content(model):
    """The bytes of a model file, and the classes of a classifier; None where the model holds no trees."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model), None
    if isinstance(model, (str, os.PathLike)):
        try:
            with open(model, "rb") as file:
                return file.read(), None
        except OSError as error:
            raise ModelError(f"cannot read the model {os.fspath(model)}: {error.strerror}") from error
    if callable(getattr(model, "SerializeToString", None)):
        return model.SerializeToString(), None
    library = family(model)
    take = {"xgboost": _of_xgboost, "lightgbm": _of_lightgbm, "catboost": _of_catboost, "sklearn": _of_sklearn}.get(library)
    return (None, None) if take is None else take(model)


def _of_xgboost(model):
    booster = model
    if hasattr(model, "get_booster"):
        try:
            booster = model.get_booster()
        except Exception as error:
            raise NotFittedError(f"{_kind(model)} is not fitted; call fit first") from error
    classes = getattr(model, "classes_", None) if hasattr(model, "n_classes_") else None
    return bytes(booster.save_raw("ubj")), classes


def _missing(model):
    """The number that stands for a missing value beside NaN: wrappers of xgboost can be told one."""
    missing = getattr(model, "missing", None) if family(model) == "xgboost" else None
    return None if missing is None or missing != missing else float(missing)


def _of_lightgbm(model):
    booster = model
    if hasattr(model, "booster_") or not hasattr(model, "model_to_string"):
        try:
            booster = model.booster_
        except Exception as error:
            raise NotFittedError(f"{_kind(model)} is not fitted; call fit first") from error
    text = booster.model_to_string(num_iteration=booster.best_iteration if booster.best_iteration > 0 else None)
    return text.encode(), getattr(model, "classes_", None)


def _of_catboost(model):
    if not model.is_fitted():
        raise NotFittedError(f"{_kind(model)} is not fitted; call fit first")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.cbm")
        model.save_model(path, format="cbm")
        with open(path, "rb") as file:
            content = file.read()
    classes = getattr(model, "classes_", None)
    return content, classes if classes is not None and len(classes) else None


def _of_sklearn(model):
    try:
        from . import scikit_learn_to_json as converter
    except Exception as problem:  # a release of scikit-learn that the converter does not fit
        raise Unknown(f"models of this release of scikit-learn cannot be read ({problem}); apportion.Explainer(model, X) works for any model") from problem
    try:
        _check_fitted(model)
    except NotFittedError:
        raise
    except Exception as problem:
        raise Unknown(f"{_kind(model)} cannot be explained exactly: {problem}; apportion.Explainer(model, X) works for any model") from problem
    try:
        document, cells = converter.document_and_cells(model)
        content = converter.as_json(document).encode()
    except converter.Refused as problem:
        raise Unknown(str(problem)) from problem
    # A list has the classes of several targets.
    classes = getattr(model, "classes_", None)
    return Content.of(content, cells), None if isinstance(classes, list) else classes


class Unknown(ModelError):
    """A model of scikit-learn that is no sum of trees."""


def _check_fitted(model):
    from sklearn.exceptions import NotFittedError as Unfitted
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except Unfitted as error:
        raise NotFittedError(f"{_kind(model)} is not fitted; call fit first") from error
    except TypeError:
        return  # no estimator, which is for others to judge


def ensemble_or_none(model, rounds=None):
    """The model as an ensemble, where it holds trees or is linear; else None."""
    if isinstance(model, Ensemble):
        return model
    try:
        content, _ = known = _content(model)
    except Unknown:
        return None
    return None if content is None else _ensemble(known, rounds, _missing(model))


def _ensemble(known, rounds, missing):
    content, classes = known
    ensemble = Ensemble._of(content, _rounds(rounds), classes, missing)
    for note in ensemble.notes:
        warnings.warn(note, ModelWarning, stacklevel=4)
    return ensemble


def ensemble(model, rounds=None):
    """The model as an ensemble; refuses any other."""
    if isinstance(model, Ensemble):
        return model
    known = _content(model)
    if known[0] is None:
        raise ModelError(f"{_kind(model)} holds no trees that are known here; apportion.Explainer explains any model that can be called")
    return _ensemble(known, rounds, _missing(model))
