"""The explainers of shap, by their own signatures, on the engine of apportion.

`import apportion.shap as shap` in the place of `import shap`, or `from apportion.shap import TreeExplainer` in the place of
`from shap import TreeExplainer`, is all that has to be changed: what is not here is that of shap, which is imported when it is asked for.
"""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import time
import warnings

import numpy as np

from ._errors import UsageError
from ._explainers import TreeExplainer as _TreeExplainer
from ._models import ensemble_or_none as _ensemble_or_none
from ._shap_any import ExactExplainer, PartitionExplainer, PermutationExplainer

__all__ = ["ExactExplainer", "Explainer", "PartitionExplainer", "PermutationExplainer", "TreeExplainer", "explainers"]

_DEPRECATED = object()


class TreeExplainer:
    """As `shap.TreeExplainer`, to the letter. `approximate`, which shap has for lack of speed, is refused."""

    def __init__(self, model, data=None, model_output="raw", feature_perturbation="auto", feature_names=None, approximate=_DEPRECATED,
                 link=None, linearize_link=None):
        if approximate is not _DEPRECATED:
            warnings.warn("approximate is an argument of the call", DeprecationWarning, stacklevel=2)
        if feature_perturbation == "interventional" and data is None:
            warnings.warn('feature_perturbation="interventional" without data is path-dependent', FutureWarning, stacklevel=2)
            feature_perturbation = "tree_path_dependent"
        if model_output in ("predict_proba", "predict") and data is not None:
            model_output = "probability"
        elif model_output in ("margin", "predict_log_odds"):
            model_output = "raw"
        self._explainer = _TreeExplainer(model, data, model_output=model_output, feature_perturbation=feature_perturbation,
                                         feature_names=feature_names)
        self.model_output = model_output
        self.data = None if self._explainer._background is None else self._explainer._background.values
        self.feature_perturbation = "interventional" if self._explainer._game_for(None) == "marginal" else "tree_path_dependent"
        if feature_names is not None:
            self.data_feature_names = list(feature_names)
        elif hasattr(data, "columns"):
            self.data_feature_names = list(data.columns)

    @property
    def expected_value(self):
        """The value without any feature: a number, or an array with one for each output; of log-losses a function of the target."""
        if self.model_output == "log_loss":
            background = self._explainer._background.values
            return lambda target: self._explainer(background[:1], np.array([target])).base_values[0]
        return self._explainer.expected_value

    def __call__(self, X, y=None, interactions=False, check_additivity=True, approximate=False):
        """The `shap.Explanation` of rows."""
        import shap

        started = time.time()
        _refuse(approximate)
        found = self._explainer(X, y, interactions="remainder" if interactions else False)
        names = list(X.columns) if hasattr(X, "columns") else getattr(self, "data_feature_names", None)
        data = X.to_numpy() if hasattr(X, "to_numpy") else X
        return shap.Explanation(found.values, base_values=found.base_values, data=data, feature_names=names, compute_time=time.time() - started)

    def shap_values(self, X, y=None, tree_limit=None, approximate=False, check_additivity=True, from_call=False):
        """The values as an array: rows × features, with several outputs × outputs."""
        _refuse(approximate)
        explainer = self._limited(tree_limit)
        return explainer(X, y).values

    def shap_interaction_values(self, X, y=None, tree_limit=None):
        """Interactions as an array: rows × features × features, with several outputs × outputs."""
        return self._limited(tree_limit)(X, interactions="remainder").values

    def _limited(self, tree_limit):
        if tree_limit is not None and tree_limit >= 0 and tree_limit != self._explainer.ensemble.tree_count:
            raise UsageError(f"tree_limit={tree_limit}: give rounds={tree_limit} to apportion.TreeExplainer")
        return self._explainer


def _refuse(approximate):
    if approximate:
        raise NotImplementedError("approximate=True: exact values take less time here; leave it out")


def Explainer(model, masker=None, *, algorithm="auto", feature_names=None, **more):
    """As `shap.Explainer`, which chooses by the model: the explainer of trees where it holds some, else one of those for any model."""
    if algorithm in ("auto", "tree") and _ensemble_or_none(model) is not None:
        data = getattr(masker, "data", masker)
        return TreeExplainer(model, data, feature_names=feature_names, **more)
    chosen = {"exact": ExactExplainer, "permutation": PermutationExplainer, "partition": PartitionExplainer}.get(algorithm)
    rows = masker if hasattr(masker, "columns") else getattr(masker, "data", masker)
    if algorithm == "auto" and callable(model) and np.ndim(rows) == 2:
        few = np.shape(rows)[1] <= 10
        chosen = PartitionExplainer if getattr(masker, "clustering", None) is not None else ExactExplainer if few else PermutationExplainer
    if chosen is not None:
        return chosen(model, masker, feature_names=feature_names, **more)
    import shap

    return shap.Explainer(model, masker, algorithm=algorithm, feature_names=feature_names, **more)


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
