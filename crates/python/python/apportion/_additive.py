"""Additive models: sums of functions of single features and of a few sets of features (interactions). Their
values are exact after few evaluations.

A model is declared additive with the option `additive`, or recognized by its class: naive Bayes and
discriminant analysis of scikit-learn, explainable boosting machines of interpret, and generalized additive
models of pygam. A recognized model whose predictions are not such a sum is called like any other function.
"""
from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks, _core
from ._errors import Error, UsageError
from ._names import place
from ._options import options
from ._threads import engine
from ._types import Additive, Model, Numbers

if TYPE_CHECKING:
    from ._functions import Function

# The classes of naive Bayes classifiers of scikit-learn.
_NAIVE_BAYES = ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB")
# The transformers of scikit-learn that transform each column separately and keep the order of the columns.
_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PowerTransformer",
            "QuantileTransformer")
# The maximum number of rows of the background whose predictions are compared with the sum of the terms.
_ROWS = 5


class Structure:
    """The interactions of a recognized model.

    methods: the methods of the model whose results are sums of terms.
    interactions: for each term of several features, the numbers of these features.
    names: the names of all features, if the model stores them.
    """

    def __init__(self, methods: Sequence[str], interactions: list[list[int]],
                 names: list[str] | None = None) -> None:
        self.methods, self.interactions, self.names = methods, interactions, names

    def numbered(self, names: Sequence[str]) -> list[list[int]] | None:
        """Returns the interactions as numbers of the columns of a table, given the names of its columns. The
        table may have another order. Returns None if it lacks columns.
        """
        if self.names is None or not set(self.names) <= set(names):
            features = {feature for members in self.interactions for feature in members}
            return self.interactions if max(features, default=-1) < len(names) else None
        places = [list(names).index(name) for name in self.names]
        return [[places[feature] for feature in members] for members in self.interactions]


def owned(given: Additive) -> bool | list[list[Any]] | None:
    """Returns a copy of the option `additive`. Raises UsageError if it has the wrong type."""
    if given is None or isinstance(given, (bool, np.bool_)):
        return None if given is None else bool(given)
    if isinstance(given, (str, bytes, dict)) or not hasattr(type(given), "__iter__"):
        raise UsageError(f"invalid value {_checks.shown(given)} for additive; expected True, False, or a "
                         'list of interactions, e.g. [("age", "sex")]')
    found = []
    for members in given:
        if isinstance(members, (str, bytes, dict)) or not hasattr(type(members), "__iter__"):
            raise UsageError(f"invalid interaction {_checks.shown(members)} in additive; expected features, "
                             'e.g. ("age", "sex")')
        found.append(list(members))
    return found


def declared(given: bool | list[list[Any]] | None, names: Sequence[str]) -> list[list[int]] | None:
    """Returns the declared interactions with numbers of features; None without a declaration."""
    if given is None or given is False:
        return None
    if given is True:
        return []
    return [[place("additive", member, names) for member in members] for members in given]


def structure(model: Model) -> Structure | None:
    """Returns the interactions of a model of a known class; None for any other model."""
    try:
        return _read(model)
    except Exception:  # a version of a library may lack an attribute, but its models can still be called
        return None


def check(function: Function, interactions: list[list[int]], rows: Numbers, workers: _core.Pool) -> None:
    """Raises ModelError if the predictions of a function for some of these rows are not sums of the terms.
    Several rows are compared, because the effects of undeclared interactions may cancel each other in one.
    """
    assert function.outputs is not None
    places = np.unique(np.linspace(0, len(rows) - 1, min(_ROWS + 1, len(rows))).astype(int))
    if len(places) == 1:
        return
    chosen = np.ascontiguousarray(rows[places])
    asked = options()
    asked["method"] = "additive"
    core = _core.Explainer.of_function(function, rows.shape[1], function.outputs, asked, chosen[:1],
                                       additive=interactions)
    _, stopped = engine(core.explain, np.ascontiguousarray(chosen[1:]), workers, None)
    if stopped is not None:
        raise stopped


def holds(function: Function, interactions: list[list[int]], rows: Numbers, workers: _core.Pool) -> bool:
    """Returns whether the predictions of a function for some of these rows are sums of the terms."""
    try:
        check(function, interactions, rows, workers)
    except Error:
        return False
    return True


def _read(model: Model) -> Structure | None:
    kind, library = type(model).__name__, type(model).__module__.partition(".")[0]
    if library == "interpret":
        return _of_boosting_machine(model, kind)
    if library == "pygam":
        return _of_gam(model)
    if library != "sklearn":
        return None
    if kind == "Pipeline":
        *steps, last = [step for _, step in model.steps if step is not None and step != "passthrough"]
        found = _read(last)
        if found is None or not all(_is_scaler(step) for step in steps):
            return None
        names = getattr(model, "feature_names_in_", None) if steps else found.names
        return Structure(found.methods, found.interactions, None if names is None else list(names))
    if kind in _NAIVE_BAYES:
        return Structure(["predict_joint_log_proba"], [], _names(model))
    if kind == "LinearDiscriminantAnalysis":
        return Structure(["decision_function"], [], _names(model))
    if kind == "QuadraticDiscriminantAnalysis":
        pairs = [list(pair) for pair in combinations(range(model.n_features_in_), 2)]
        return Structure(["decision_function"], pairs, _names(model))
    return None


def _is_scaler(step: Any) -> bool:
    return type(step).__module__.partition(".")[0] == "sklearn" and type(step).__name__ in _SCALERS


def _names(model: Model) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _of_boosting_machine(model: Model, kind: str) -> Structure | None:
    if kind not in ("ExplainableBoostingClassifier", "ExplainableBoostingRegressor"):
        return None
    methods = ["decision_function"] if kind == "ExplainableBoostingClassifier" else []
    if kind == "ExplainableBoostingRegressor" and model.link_ == "identity":
        methods = ["predict"]
    interactions = [[int(feature) for feature in members] for members in model.term_features_
                    if len(members) > 1]
    return Structure(methods, interactions, _names(model))


def _of_gam(model: Model) -> Structure:
    interactions = []
    for term in model.terms:
        if term.isintercept:
            continue
        members = {int(feature) for feature in np.ravel(term.feature)}
        # A term of a tensor product has a list of its own terms.
        for part in [term, *getattr(term, "_terms", [])]:
            by = getattr(part, "by", None)
            members |= set() if by is None else {int(feature) for feature in np.ravel(by)}
        if len(members) > 1:
            interactions.append(sorted(members))
    is_identity = type(model.link).__name__ == "IdentityLink"
    return Structure(["_linear_predictor", *(["predict"] if is_identity else [])], interactions)
