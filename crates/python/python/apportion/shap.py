"""The explainers of shap, with the signatures of shap and the engine of apportion.

Replacing `import shap` with `import apportion.shap as shap`, or `from shap import TreeExplainer` with `from
apportion.shap import TreeExplainer`, is the only change that a program requires: all other names are those of
shap, which is imported when they are used.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _checks
from ._classes import plain as _plain
from ._errors import Error, ModelError, NotFittedError, UsageError, warn as _warn
from ._explainers import TreeExplainer as _TreeExplainer
from ._explanation import Explanation as _Explanation
from ._models import (
    Ensemble as _Ensemble, ensemble as _ensemble, ensemble_or_none as _ensemble_or_none, family as _family,
    predicts_behind_link as _predicts_behind_link,
)
from ._options import named_options as _named_options
from ._shap_any import ExactExplainer, PartitionExplainer, PermutationExplainer, rows_of
from ._types import Model as _AnyModel, Numbers as _Numbers, Rows as _Rows

__all__ = ["ExactExplainer", "Explainer", "PartitionExplainer", "PermutationExplainer", "TreeExplainer",
           "explainers"]

_DEPRECATED: Any = object()


class TreeExplainer:
    """Explains tree ensembles exactly, with the arguments and results of `shap.TreeExplainer`.

    model: an object of xgboost, lightgbm, catboost or scikit-learn, a path, or the bytes of a model file.
    data: the background (default None: the path-dependent game). All of its rows are used, while some
        versions of shap use a sample of 100.
    model_output: "raw" (the default), "probability", "log_loss" or the name of a method, as in shap. For
        "log_loss" y and the target of `expected_value` are labels of classes as in training.
    feature_perturbation: "auto" (the default), "interventional" or "tree_path_dependent".
    feature_names: the names of the features (default None: those of the model or of the data frame).
    approximate: deprecated, as in shap; approximations are rejected.
    link, linearize_link: ignored, as in shap.

    Values, `expected_value` and `base_values` have the types and shapes of shap for the library of the model.
    Errors are instances of the classes of shap and of this package.
    """

    def __init__(
        self,
        model: _AnyModel,
        data: Any = None,
        model_output: str = "raw",
        feature_perturbation: str = "auto",
        feature_names: Sequence[str] | None = None,
        approximate: Any = _DEPRECATED,
        link: Any = None,
        linearize_link: Any = None,
    ) -> None:
        if approximate is not _DEPRECATED:
            _warn("approximate is an argument of the call", DeprecationWarning)
        known = ("auto", "interventional", "tree_path_dependent")
        if not isinstance(feature_perturbation, str) or feature_perturbation not in known:
            raise _as_shap("InvalidFeaturePerturbationError", UsageError)(
                'feature_perturbation must be "auto", "interventional" or "tree_path_dependent", got '
                f'{_checks.shown(feature_perturbation)}')
        _checks.text("model_output", model_output)
        self.masker = data
        self.feature_names = feature_names
        self.output_names = None
        self.model_output = model_output
        data = rows_of(data)
        if feature_perturbation == "interventional" and data is None:
            _warn("In the future, passing feature_perturbation='interventional' without data will be "
                  "refused; the path-dependent game is used now", FutureWarning)
            feature_perturbation = "tree_path_dependent"
        self._is_of_classes = model_output == "predict_proba"
        if model_output in ("predict_proba", "predict") and data is not None:
            model_output = "probability"
        elif model_output in ("margin", "predict_log_odds"):
            model_output = "raw"
        try:
            ensemble = _ensemble(model)
        except ModelError as error:
            words = f"Model type not yet supported by TreeExplainer: {error}"
            raise (NotFittedError(words) if isinstance(error, NotFittedError)
                   else _as_shap("InvalidModelError", ModelError)(words)) from error
        if model_output == "predict" and ensemble.link == "identity":
            model_output = "raw"
        if (self.model_output == "raw" and feature_perturbation != "tree_path_dependent"
                and _predicts_behind_link(model)):
            model_output = "probability"
        perturbation: Any = feature_perturbation
        self._explainer = _TreeExplainer(ensemble, _in_place(data, ensemble), model_output=model_output,
                                         feature_perturbation=perturbation, feature_names=feature_names)
        self._space, self.model = model_output, _Model(ensemble)
        background = self._explainer._background
        self.data = data.values if _is_pandas(data) else None if background is None else background.values
        # shap lets these libraries compute path-dependent values, and returns their results.
        self._library = (_family(model) if data is None and self._space == "raw"
                         and not isinstance(model, _Ensemble) else None)
        self._library = self._library if self._library in ("xgboost", "lightgbm", "catboost") else None
        self._expected: Any = None
        self._form = "array" if data is None else "number"
        self.feature_perturbation = ("interventional" if self._explainer._game_for(None) == "marginal"
                                     else "tree_path_dependent")
        if feature_names is not None:
            self.data_feature_names = list(feature_names)
        elif hasattr(data, "columns"):
            self.data_feature_names = list(data.columns)

    @property
    def expected_value(self) -> Any:
        """The base value in the form that it has in shap; for model_output="log_loss" a function of the
        target.

        With data it is a number of NumPy, or an array with one for each output, or a list for two classes
        with model_output="predict_proba". Without data it is an array, also for one output; for xgboost,
        lightgbm and catboost it becomes a number, or a list with one for each output, once values were
        computed.
        """
        if self._expected is not None:
            return self._expected
        if self._space == "log_loss":
            return self._expected_loss
        base: Any = self._explainer.expected_value
        if self._has_two_classes():
            return [np.float64(1 - base), np.float64(base)]
        if self._form == "array":
            return np.array(base, ndmin=1)
        kind = self._kind()
        if np.ndim(base):
            return [kind(number) for number in base] if self._form == "list" else np.array(base)
        return kind(base)

    @expected_value.setter
    def expected_value(self, value: Any) -> None:
        self._expected = value

    def _expected_loss(self, target: Any) -> Any:
        """Returns the mean loss over the data. `target` is the class of all rows, or a list with the class of
        each row.
        """
        background, targets = self._explainer._background, _plain(target)
        assert background is not None
        if len(targets) == 1:
            return self._explainer(background.values[:1], targets).base_values[0]
        return self._explainer(background.values, targets).predictions.mean()

    def _kind(self) -> type[np.float32] | type[np.float64]:
        """Returns the type of numbers: xgboost returns single precision."""
        return np.float32 if self._library == "xgboost" else np.float64

    def _settle(self, interactions: bool) -> None:
        """Changes the form of the expected value when values are first computed, as shap does."""
        several = self._explainer.output_count > 1
        if interactions and several and self._library != "catboost":
            self._form = "list"
        elif self._library == "xgboost" or self._library is not None and not interactions:
            self._form = "list" if several else "number"

    def __call__(self, X: _Rows, y: npt.ArrayLike | None = None, interactions: bool = False,
                 check_additivity: bool = True, approximate: bool = False) -> Any:
        """Explains rows: returns a `shap.Explanation`, of one row if X is a single row.

        X: the rows. y: their classes or targets, for model_output="log_loss" (default None).
        interactions: whether interactions of all pairs are computed (default False).
        check_additivity: ignored, since values are exact. approximate: approximations are refused.

        Raises the errors of `apportion.TreeExplainer`, and NotImplementedError for approximations.
        """
        import shap

        started = time.time()
        _refuse(approximate)
        found = self._explained(X, y, interactions)
        names = list(X.columns) if hasattr(X, "columns") else getattr(self, "data_feature_names", None)
        base = found.base_values.astype(self._kind(), copy=False)
        if self._has_two_classes():
            base = np.stack([1 - base, base], axis=-1)
        base = base[0] if _is_single(X) else base
        kind = f"{type(X).__module__}.{type(X).__name__}"
        if hasattr(X, "to_numpy") and hasattr(X, "columns"):
            data = X.to_numpy()
        elif kind == "xgboost.core.DMatrix":
            data = X.get_data()
        else:
            data = found.data if isinstance(X, (list, tuple)) else X
        return shap.Explanation(self._values(found, X), base_values=base, data=data, feature_names=names,
                                compute_time=time.time() - started)

    def shap_values(self, X: _Rows, y: npt.ArrayLike | None = None, tree_limit: int | None = None,
                    approximate: bool = False, check_additivity: bool = True, from_call: bool = False) -> Any:
        """Returns the values as an array of shape (n_rows, n_features), or (n_rows, n_features, n_outputs).

        tree_limit: refused unless it is the number of trees (default None). check_additivity, from_call:
            ignored.
        X, y, approximate and the errors: as in the call.
        """
        _refuse(approximate)
        self._check_limit(tree_limit)
        return self._values(self._explained(X, y, False), X)

    def shap_interaction_values(self, X: _Rows, y: npt.ArrayLike | None = None,
                                tree_limit: int | None = None) -> Any:
        """Returns interactions as an array of shape (n_rows, n_features, n_features), with n_outputs at the
        end for several outputs. As in shap, returns a list of arrays for catboost models with several
        outputs.

        The arguments and errors are those of `shap_values`; y is ignored.
        """
        self._check_limit(tree_limit)
        values = self._values(self._explained(X, None, True), X)
        return ([values[..., output] for output in range(values.shape[-1])] if self._library == "catboost"
                and values.ndim == 4 else values)

    def assert_additivity(self, phi: Any, model_output: npt.ArrayLike) -> None:
        """Raises an error unless values and base value add up to the output of the model, to 1%.

        phi: values as `shap_values` returns them. model_output: the output for each row.
        """
        values = np.stack(phi, axis=-1) if isinstance(phi, list) else np.asarray(phi)
        wanted = np.asarray(model_output)
        sums = values.sum(axis=1) + self.expected_value
        gap = np.abs(sums - wanted)
        if not np.allclose(sums, wanted, atol=1e-2, rtol=1e-2):
            at = np.unravel_index(np.argmax(gap), gap.shape)
            raise _as_shap("ExplainerError", Error)(f"values and base value of row {at[0]} sum to "
                                                    f"{sums[at]:.6g}, but the model's output is "
                                                    f"{wanted[at]:.6g}")

    def _explained(self, X: _Rows, y: npt.ArrayLike | None, interactions: bool) -> _Explanation:
        if self._space == "log_loss" and y is None:
            raise _as_shap("ExplainerError", UsageError)('model_output="log_loss" requires y, '
                                                         'the class or the target of each row')
        found = self._explainer(_in_place(X, self._explainer.ensemble), y,
                                interactions="remainder" if interactions else False)
        self._settle(interactions)
        return found

    def _has_two_classes(self) -> bool:
        """Returns whether the probability of one class was computed, but the probabilities of two classes are
        expected.
        """
        return self._is_of_classes and self._space == "probability" and self._explainer.output_count == 1

    def _values(self, found: _Explanation, X: _Rows) -> Any:
        values = found.values.astype(self._kind(), copy=False)
        if self._has_two_classes():
            values = np.stack([-values, values], axis=-1)
        return values[0] if _is_single(X) else values

    def _check_limit(self, tree_limit: int | None) -> None:
        if tree_limit is not None and tree_limit >= 0 and tree_limit != self._explainer.ensemble.tree_count:
            raise UsageError(f"tree_limit={tree_limit} is not supported; "
                             f"pass rounds={tree_limit} to apportion.TreeExplainer")


class _Model:
    """The part of shap's model of trees that other code uses."""

    def __init__(self, ensemble: _Ensemble) -> None:
        self._ensemble = ensemble
        self.num_outputs = ensemble.output_count
        self.tree_limit = ensemble.tree_count

    def predict(self, X: _Rows, y: Any = None, output: Any = None, tree_limit: Any = None) -> _Numbers:
        """Returns the margins, of shape (n_rows,) or (n_rows, n_outputs)."""
        return self._ensemble.predict(_in_place(X, self._ensemble))


def _in_place(X: _Rows, ensemble: _Ensemble) -> _Rows:
    """Returns rows as an array if none of their columns has a name of the model. Such columns are used by
    position, as shap uses all columns.
    """
    wanted = ensemble.wanted().names
    if wanted is None or not hasattr(X, "columns") or not hasattr(X, "to_numpy") or ensemble.wanted().coded:
        return X
    given = [str(name) for name in X.columns]
    return X.to_numpy() if len(given) == len(wanted) and not set(given) & set(wanted) else X


def _is_pandas(rows: _Rows) -> bool:
    return hasattr(rows, "columns") and hasattr(rows, "iloc")


def _is_single(X: _Rows) -> bool:
    """Returns whether X is a single row without an axis of rows."""
    return len(shape) == 1 if (shape := getattr(X, "shape", None)) is not None else np.ndim(X) == 1


def _as_shap(name: str, own: type[Error]) -> Any:
    """Returns an error class that is a subclass of one of shap's, too."""
    from shap.utils import _exceptions

    return type(name, (own, getattr(_exceptions, name)), {})


def _refuse(approximate: bool) -> None:
    if approximate:
        raise NotImplementedError("approximate=True is not supported; omit it to compute exact values")


@_named_options
def Explainer(
    model: _AnyModel,
    masker: Any = None,
    link: Any = None,
    algorithm: str = "auto",
    output_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    linearize_link: bool = True,
    seed: int | None = None,
    *,
    model_output: str = "raw",
    feature_perturbation: str = "auto",
) -> Any:
    """Returns an explainer for a model, as `shap.Explainer` does: a `TreeExplainer` for models that are read
    as trees, otherwise an explainer for any model.

    model, masker, link, algorithm, output_names, feature_names, linearize_link, seed: as in shap. The
        algorithms "auto" (the default), "tree", "exact", "permutation" and "partition" are those of this
        module; others are those of shap.
    model_output, feature_perturbation: as in `TreeExplainer`, for trees.

    Raises the errors of the explainer.
    """
    if algorithm in ("auto", "tree") and _ensemble_or_none(model) is not None:
        return TreeExplainer(model, masker, model_output, feature_perturbation, feature_names, link=link,
                             linearize_link=linearize_link)
    explainers: dict[str, Callable[..., Any]] = {
        "exact": ExactExplainer, "permutation": PermutationExplainer, "partition": PartitionExplainer}
    chosen = explainers.get(algorithm)
    rows = rows_of(masker)
    if algorithm == "auto" and callable(model) and np.ndim(rows) == 2:
        most = 32 if getattr(masker, "clustering", None) is not None else 10
        chosen = ExactExplainer if np.shape(rows)[1] <= most else PermutationExplainer
    if chosen is not None:
        return chosen(model, masker, link=link, feature_names=feature_names, output_names=output_names,
                      seed=seed)
    import shap

    of_link = {} if link is None else dict(link=link)
    return shap.Explainer(model, masker, algorithm=algorithm, feature_names=feature_names,
                          output_names=output_names, linearize_link=linearize_link, seed=seed, **of_link)


class _Explainers:
    """The module `shap.explainers`, with the explainers of this module instead of those of shap."""

    Tree = TreeExplainer
    TreeExplainer = TreeExplainer
    Exact = ExactExplainer
    ExactExplainer = ExactExplainer
    Permutation = PermutationExplainer
    PermutationExplainer = PermutationExplainer
    Partition = PartitionExplainer
    PartitionExplainer = PartitionExplainer

    def __getattr__(self, name: str) -> Any:
        import shap

        return getattr(shap.explainers, name)


explainers = _Explainers()


def __getattr__(name: str) -> Any:
    """Returns the object of this name from shap."""
    if name.startswith("__"):
        raise AttributeError(name)
    import shap

    return getattr(shap, name)
