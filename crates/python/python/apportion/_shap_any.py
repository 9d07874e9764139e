"""The explainers of shap for any model, by their own signatures, on the engine of apportion."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import time

import numpy as np

from ._errors import UsageError
from ._explainers import Explainer as _Explainer


class _AnyExplainer:
    """What the explainers of any model share: a model that is called, and a masker whose rows are the background."""

    _method = "auto"

    def __init__(self, model, masker, link=None, linearize_link=True, feature_names=None, seed=0, **more):
        import shap

        if more:
            raise UsageError(f"{', '.join(more)}: {type(self).__name__} takes model, masker, link, linearize_link, feature_names and seed here")
        if link is not None and link is not shap.links.identity:
            raise UsageError("link: values are those of what the model returns; give a model that returns link(output)")
        if not isinstance(masker, shap.maskers.Masker):
            if np.ndim(masker) != 2:
                raise UsageError("a masker of rows of numbers is wanted, such as shap.maskers.Independent(X), or rows themselves")
            masker = shap.maskers.Independent(masker)
        data = getattr(masker, "data", None)
        if not isinstance(data, np.ndarray) or data.ndim != 2:
            raise UsageError(f"a masker of rows of numbers is wanted, such as shap.maskers.Independent(X), and no {type(masker).__name__}")
        self.model, self.masker, self._seed = model, masker, 0 if seed is None else seed
        names = feature_names if feature_names is not None else getattr(masker, "feature_names", None)
        self.feature_names = None if names is None else list(names)
        if getattr(masker, "output_dataframe", False):
            import pandas

            data = pandas.DataFrame(data, columns=masker.feature_names)
        self._background = data
        clustering = getattr(masker, "clustering", None)
        self._structure = {} if clustering is None else dict(value="owen", groups=_groups(np.asarray(clustering), data.shape[1]))
        self._clustering = clustering

    def __call__(self, X, max_evals=None, **more):
        """The `shap.Explanation` of rows."""
        import shap

        started = time.time()
        for name in ("main_effects", "error_bounds", "outputs", "interactions"):
            if more.pop(name, None):
                raise NotImplementedError(f"{name}: not computed here; leave it out")
        for name in ("batch_size", "silent"):
            more.pop(name, None)
        if more:
            raise UsageError(f"{', '.join(more)}: the call takes X and max_evals here")
        found = self._explainer(max_evals)(X)
        clustering = {} if self._clustering is None else dict(clustering=np.tile(np.asarray(self._clustering), (len(found), 1, 1)))
        return shap.Explanation(found.values, base_values=found.base_values, data=X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X),
                                feature_names=self.feature_names or list(found.feature_names), compute_time=time.time() - started, **clustering)

    def shap_values(self, X, max_evals=None):
        """The values as an array."""
        return self(X, max_evals).values

    def _explainer(self, max_evals):
        names = self.feature_names if not hasattr(self._background, "columns") else None
        return _Explainer(self.model, self._background, method=self._method, budget="auto" if max_evals in (None, "auto") else int(max_evals),
                          seed=self._seed, feature_names=names, **self._structure)


class ExactExplainer(_AnyExplainer):
    """As `shap.explainers.ExactExplainer`: by enumeration; Owen values where the masker has a clustering."""

    _method = "exact"

    def _explainer(self, max_evals):
        return super()._explainer(None)


class PermutationExplainer(_AnyExplainer):
    """As `shap.explainers.PermutationExplainer`: from permutations and their reverses; Owen values where the masker has a clustering."""

    @property
    def _method(self):
        # Permutations that keep clusters together are not among the methods.
        return "auto" if self._structure else "permutation"


class PartitionExplainer(_AnyExplainer):
    """As `shap.explainers.PartitionExplainer`: Owen values over the clustering of the masker."""

    def __init__(self, model, masker, **more):
        super().__init__(model, masker, **more)
        if not self._structure:
            raise UsageError("the masker has no clustering: give shap.maskers.Partition(X)")


def rows_of(masker):
    """The rows of a masker of shap; what is none is rows itself."""
    return masker.data if type(masker).__module__.startswith("shap.maskers") else masker


def _groups(clustering, features):
    """The merges of a linkage matrix as groups within groups."""
    nodes = list(range(features))
    for left, right, *_ in clustering:
        nodes.append([nodes[int(left)], nodes[int(right)]])
    top = nodes[-1]
    return [member if isinstance(member, list) else [member] for member in top] if isinstance(top, list) else [[top]]
