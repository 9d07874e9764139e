"""The explainers of shap, by their own signatures, on the engine of apportion.

`import apportion.shap as shap` in the place of `import shap`, or `from apportion.shap import TreeExplainer` in the place of
`from shap import TreeExplainer`, is all that has to be changed: what is not here is that of shap, which is imported when it is asked for.
"""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import time
import warnings

import numpy as np

from . import _checks
from ._errors import Error, ModelError, NotFittedError, UsageError
from ._classes import plain as _plain
from ._explainers import TreeExplainer as _TreeExplainer
from ._models import Ensemble as _Ensemble, ensemble as _ensemble, ensemble_or_none as _ensemble_or_none, family as _family
from ._models import predicts_behind_link as _predicts_behind_link
from ._shap_any import ExactExplainer, PartitionExplainer, PermutationExplainer, rows_of

__all__ = ["ExactExplainer", "Explainer", "PartitionExplainer", "PermutationExplainer", "TreeExplainer", "explainers"]

_DEPRECATED = object()


class TreeExplainer:
    """As `shap.TreeExplainer`, to the letter. `approximate`, which shap has for lack of speed, is refused.

    Values, `expected_value` and `base_values` have the types and shapes that shap has for the library of the model. All rows of `data` are used, while
    some versions of shap take a sample of 100. With model_output="log_loss", `y` and the target of `expected_value` are labels of classes as in training.
    """

    def __init__(self, model, data=None, model_output="raw", feature_perturbation="auto", feature_names=None, approximate=_DEPRECATED,
                 link=None, linearize_link=None):
        if approximate is not _DEPRECATED:
            warnings.warn("approximate is an argument of the call", DeprecationWarning, stacklevel=2)
        if not isinstance(feature_perturbation, str) or feature_perturbation not in ("auto", "interventional", "tree_path_dependent"):
            raise _as_shap("InvalidFeaturePerturbationError", UsageError)(
                f'feature_perturbation must be "auto", "interventional" or "tree_path_dependent", not {_checks.shown(feature_perturbation)}')
        _checks.text("model_output", model_output)
        self.masker, self.feature_names, self.output_names, self.model_output = data, feature_names, None, model_output
        data = rows_of(data)
        if feature_perturbation == "interventional" and data is None:
            warnings.warn("In the future, passing feature_perturbation='interventional' without data will be refused; it is path-dependent now",
                          FutureWarning, stacklevel=2)
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
            raise (NotFittedError(words) if isinstance(error, NotFittedError) else _as_shap("InvalidModelError", ModelError)(words)) from error
        if model_output == "predict" and ensemble.link == "identity":
            model_output = "raw"
        if self.model_output == "raw" and feature_perturbation != "tree_path_dependent" and _predicts_behind_link(model):
            model_output = "probability"
        self._explainer = _TreeExplainer(ensemble, _in_place(data, ensemble), model_output=model_output, feature_perturbation=feature_perturbation,
                                         feature_names=feature_names)
        self._space, self.model = model_output, _Model(ensemble)
        self.data = data.values if _is_pandas(data) else None if data is None else self._explainer._background.values
        # shap leaves path-dependent values to these libraries, and returns what they do.
        self._library = _family(model) if data is None and self._space == "raw" and not isinstance(model, _Ensemble) else None
        self._library = self._library if self._library in ("xgboost", "lightgbm", "catboost") else None
        self._expected, self._form = None, "array" if data is None else "number"
        self.feature_perturbation = "interventional" if self._explainer._game_for(None) == "marginal" else "tree_path_dependent"
        if feature_names is not None:
            self.data_feature_names = list(feature_names)
        elif hasattr(data, "columns"):
            self.data_feature_names = list(data.columns)

    @property
    def expected_value(self):
        """The value without any feature, in the form that it has in shap; of log-losses a function of the target.

        With data a number of NumPy, or an array with one for each output; with model_output="predict_proba" of two classes a list. Without data an
        array, of one output too; xgboost, lightgbm and catboost: after values were computed a number, or a list with one for each output.
        """
        if self._expected is not None:
            return self._expected
        if self._space == "log_loss":
            return self._expected_loss
        base = self._explainer.expected_value
        if self._has_two_classes():
            return [np.float64(1 - base), np.float64(base)]
        if self._form == "array":
            return np.array(base, ndmin=1)
        kind = self._kind()
        if np.ndim(base):
            return [kind(number) for number in base] if self._form == "list" else np.array(base)
        return kind(base)

    @expected_value.setter
    def expected_value(self, value):
        self._expected = value

    def _expected_loss(self, target):
        """The mean loss over the data, if all of its rows had the class `target`, or each its own."""
        background, targets = self._explainer._background.values, _plain(target)
        if len(targets) == 1:
            return self._explainer(background[:1], targets).base_values[0]
        return self._explainer(background, targets).predictions.mean()

    def _kind(self):
        """The type of numbers: xgboost returns single precision."""
        return np.float32 if self._library == "xgboost" else np.float64

    def _settle(self, interactions):
        """The form of the expected value changes with the first values, as it does in shap."""
        several = self._explainer.output_count > 1
        if interactions and several and self._library != "catboost":
            self._form = "list"
        elif self._library == "xgboost" or self._library is not None and not interactions:
            self._form = "list" if several else "number"

    def __call__(self, X, y=None, interactions=False, check_additivity=True, approximate=False):
        """The `shap.Explanation` of rows; of a single row that is given as such, that of a row."""
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
        return shap.Explanation(self._values(found, X), base_values=base, data=data, feature_names=names, compute_time=time.time() - started)

    def shap_values(self, X, y=None, tree_limit=None, approximate=False, check_additivity=True, from_call=False):
        """The values as an array: rows × features, with several outputs × outputs."""
        _refuse(approximate)
        self._check_limit(tree_limit)
        return self._values(self._explained(X, y, False), X)

    def shap_interaction_values(self, X, y=None, tree_limit=None):
        """Interactions as an array: rows × features × features, with several outputs × outputs."""
        self._check_limit(tree_limit)
        values = self._values(self._explained(X, None, True), X)
        return [values[..., output] for output in range(values.shape[-1])] if self._library == "catboost" and values.ndim == 4 else values

    def assert_additivity(self, phi, model_output):
        """Refuses values that do not add up to the model's output, to 1 %."""
        values, wanted = np.stack(phi, axis=-1) if isinstance(phi, list) else np.asarray(phi), np.asarray(model_output)
        sums = values.sum(axis=1) + self.expected_value
        gap = np.abs(sums - wanted)
        if not np.allclose(sums, wanted, atol=1e-2, rtol=1e-2):
            at = np.unravel_index(np.argmax(gap), gap.shape)
            raise _as_shap("ExplainerError", Error)(f"values and base of row {at[0]} add up to {sums[at]:.6g}, and the model's output is {wanted[at]:.6g}")

    def _explained(self, X, y, interactions):
        if self._space == "log_loss" and y is None:
            raise _as_shap("ExplainerError", UsageError)('model_output="log_loss" requires y: the class, or the target, of each row')
        found = self._explainer(_in_place(X, self._explainer.ensemble), y, interactions="remainder" if interactions else False)
        self._settle(interactions)
        return found

    def _has_two_classes(self):
        """Whether the probability of one class was found, where those of two are wanted."""
        return self._is_of_classes and self._space == "probability" and self._explainer.output_count == 1

    def _values(self, found, X):
        values = found.values.astype(self._kind(), copy=False)
        if self._has_two_classes():
            values = np.stack([-values, values], axis=-1)
        return values[0] if _is_single(X) else values

    def _check_limit(self, tree_limit):
        if tree_limit is not None and tree_limit >= 0 and tree_limit != self._explainer.ensemble.tree_count:
            raise UsageError(f"tree_limit={tree_limit}: give rounds={tree_limit} to apportion.TreeExplainer")


class _Model:
    """What of shap's own model of trees is looked at from outside."""

    def __init__(self, ensemble):
        self._ensemble, self.num_outputs, self.tree_limit = ensemble, ensemble.output_count, ensemble.tree_count

    def predict(self, X, y=None, output=None, tree_limit=None):
        """Margins: rows, or rows × outputs."""
        return self._ensemble.predict(_in_place(X, self._ensemble))


def _in_place(X, ensemble):
    """Rows whose columns have none of the model's names are taken in their order, as shap takes all."""
    wanted = ensemble.wanted().names
    if wanted is None or not hasattr(X, "columns") or not hasattr(X, "to_numpy") or ensemble.wanted().coded:
        return X
    given = [str(name) for name in X.columns]
    return X.to_numpy() if len(given) == len(wanted) and not set(given) & set(wanted) else X


def _is_pandas(rows):
    return hasattr(rows, "columns") and hasattr(rows, "iloc")


def _is_single(X):
    """Whether X is a single row that is given as such."""
    return len(shape) == 1 if (shape := getattr(X, "shape", None)) is not None else np.ndim(X) == 1


def _as_shap(name, own):
    """An error that is one of shap's, too."""
    from shap.utils import _exceptions

    return type(name, (own, getattr(_exceptions, name)), {})


def _refuse(approximate):
    if approximate:
        raise NotImplementedError("approximate=True: exact values take less time here; leave it out")


def Explainer(model, masker=None, link=None, algorithm="auto", output_names=None, feature_names=None, linearize_link=True, seed=None, **more):
    """As `shap.Explainer`, which chooses by the model: the explainer of trees where it holds some, else one of those for any model."""
    if algorithm in ("auto", "tree") and _ensemble_or_none(model) is not None:
        return TreeExplainer(model, masker, feature_names=feature_names, link=link, linearize_link=linearize_link, **more)
    chosen = {"exact": ExactExplainer, "permutation": PermutationExplainer, "partition": PartitionExplainer}.get(algorithm)
    rows = rows_of(masker)
    if algorithm == "auto" and callable(model) and np.ndim(rows) == 2:
        most = 32 if getattr(masker, "clustering", None) is not None else 10
        chosen = ExactExplainer if np.shape(rows)[1] <= most else PermutationExplainer
    if chosen is not None:
        return chosen(model, masker, link=link, feature_names=feature_names, output_names=output_names, seed=seed, **more)
    import shap

    return shap.Explainer(model, masker, algorithm=algorithm, feature_names=feature_names, output_names=output_names, linearize_link=linearize_link,
                          seed=seed, **({} if link is None else dict(link=link)), **more)


class _Explainers:
    """The module `shap.explainers`, with the explainers that are here in their places."""

    Tree = TreeExplainer
    TreeExplainer = TreeExplainer
    Exact = ExactExplainer
    ExactExplainer = ExactExplainer
    Permutation = PermutationExplainer
    PermutationExplainer = PermutationExplainer
    Partition = PartitionExplainer
    PartitionExplainer = PartitionExplainer

    def __getattr__(self, name):
        import shap

        return getattr(shap.explainers, name)


explainers = _Explainers()


def __getattr__(name):
    """What is not here is that of shap."""
    if name.startswith("__"):
        raise AttributeError(name)
    import shap

    return getattr(shap, name)
