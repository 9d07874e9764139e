"""The explainers of shap for any model, by their own signatures, on the engine of apportion."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import time

import numpy as np

from . import _checks
from ._errors import UsageError
from ._explainers import Explainer as _Explainer

# Rows of a background that shap takes at most, if it is given as rows.
_MAX_ROWS = 100


class _AnyExplainer:
    """What the explainers of any model share: a model that is called, and a masker whose rows are the background."""

    _method = "auto"
    _masker_of_rows = "Independent"

    def __init__(self, model, masker, link=None, linearize_link=True, feature_names=None, seed=0, output_names=None, **more):
        import shap

        if more:
            raise UsageError(f"{', '.join(more)}: {type(self).__name__} takes model, masker, link, linearize_link, feature_names and seed here")
        if link is not None and link is not shap.links.identity:
            raise UsageError("link is not supported; pass a model that returns link(output)")
        rows = masker
        if not isinstance(masker, shap.maskers.Masker):
            array = masker if hasattr(masker, "iloc") or isinstance(masker, np.ndarray) else _checks.array("masker", masker, "rows × features")
            if array.ndim != 2 or not array.shape[0] or not array.shape[1]:
                raise UsageError("expected a masker of rows, such as shap.maskers.Independent(X), or rows × features")
            masker = getattr(shap.maskers, self._masker_of_rows)(array)
        else:
            rows = None
        data = getattr(masker, "data", None)
        if not isinstance(data, np.ndarray) or data.ndim != 2:
            raise UsageError(f"expected a masker of rows, such as shap.maskers.Independent(X), got {type(masker).__name__}")
        self.model, self.masker, self._seed = model, masker, 0 if seed is None else seed
        self.feature_names = None if feature_names is None else _checks.names("feature_names", feature_names)
        self.output_names = None if output_names is None else _checks.names("output_names", output_names)
        self._background, self._rows_have_types = data, False
        if getattr(masker, "output_dataframe", False):
            self._rows_have_types = rows is not None
            self._background = frame_of(masker) if rows is None else rows if len(rows) <= _MAX_ROWS else shap.sample(rows, _MAX_ROWS)
        clustering = getattr(masker, "clustering", None)
        self._structure = {} if clustering is None else dict(value="owen", groups=_groups(np.asarray(clustering), data.shape[1]))
        self._clustering = clustering

    def __call__(self, X, max_evals=None, **more):
        """The `shap.Explanation` of rows."""
        import shap

        started = time.time()
        for name in ("main_effects", "error_bounds", "outputs"):
            if more.pop(name, None):
                raise NotImplementedError(f"{name} is not supported")
        # shap has 1 for values of single features.
        interactions = more.pop("interactions", False)
        if interactions is True or interactions not in (False, None, 1):
            raise NotImplementedError("interactions is not supported; use apportion.Explainer(model, data)(X, interactions=True)")
        for name in ("batch_size", "silent"):
            more.pop(name, None)
        if more:
            raise UsageError(f"{', '.join(more)}: the call takes X and max_evals here")
        background = self._background_for(X)
        found = self._explainer(background, max_evals)(X)
        is_column = found.values.ndim == 2 and callable(self.model) and self._returns_column(background)
        clustering = {} if self._clustering is None else dict(clustering=np.tile(np.asarray(self._clustering), (len(found), 1, 1)))
        if self.output_names is not None:
            clustering["output_names"] = list(self.output_names)
        if hasattr(X, "columns"):
            names = list(X.columns)
        else:
            names = list(self.feature_names) if self.feature_names is not None else [f"Feature {feature}" for feature in range(self._background.shape[1])]
        return shap.Explanation(self._shaped(found.values, is_column), base_values=found.base_values[:, np.newaxis] if is_column else found.base_values,
                                data=X.to_numpy() if hasattr(X, "to_numpy") else X if hasattr(X, "toarray") else np.asarray(X), feature_names=names,
                                compute_time=time.time() - started, **clustering)

    def shap_values(self, X, npermutations=None, **more):
        """The values as an array, from `npermutations` permutations and their reverses of the features; by default from as many as it takes."""
        evaluations = None if npermutations is None else 2 * _checks.whole("npermutations", npermutations, 1) * (self._background.shape[1] + 1)
        return self(X, evaluations, **{name: value for name, value in more.items() if name != "batch_evals"}).values

    def _background_for(self, X):
        """The background, with the types of the columns of X if the masker has lost them."""
        if self._rows_have_types or not hasattr(self._background, "iloc") or not hasattr(X, "iloc"):
            return self._background
        if list(X.columns) != list(self._background.columns):
            return self._background
        typed = self._background.copy()
        for name, dtype in X.dtypes.items():
            typed[name] = _as_type(typed[name], dtype)
        return typed

    def _returns_column(self, background):
        """Whether the model returns rows × 1, as shap then has base values of that shape."""
        answer = self.model(background.iloc[:1] if hasattr(background, "iloc") else background[:1].copy())
        return np.ndim(answer) == 2 and np.shape(answer)[1] == 1

    def _shaped(self, values, is_column):
        return values

    def _explainer(self, background, max_evals):
        names = self.feature_names if not hasattr(background, "columns") else None
        is_auto = max_evals is None or isinstance(max_evals, str) and max_evals == "auto"
        budget = "auto" if is_auto else _checks.whole("max_evals", max_evals, 1)
        return _Explainer(self.model, background, method=self._method, budget=budget, seed=self._seed, feature_names=names, **self._structure)


class ExactExplainer(_AnyExplainer):
    """As `shap.explainers.ExactExplainer`: by enumeration; Owen values where the masker has a clustering."""

    _method = "exact"

    def _explainer(self, background, max_evals):
        return super()._explainer(background, None)


class PermutationExplainer(_AnyExplainer):
    """As `shap.explainers.PermutationExplainer`: from permutations and their reverses; Owen values where the masker has a clustering."""

    @property
    def _method(self):
        # Permutations that keep clusters together are not among the methods.
        return "auto" if self._structure else "permutation"


class PartitionExplainer(_AnyExplainer):
    """As `shap.explainers.PartitionExplainer`: Owen values over the clustering of the masker; of rows that by correlation."""

    _masker_of_rows = "Partition"
    expected_value = None

    def __init__(self, model, masker, **more):
        super().__init__(model, masker, **more)
        if not self._structure:
            raise UsageError("the masker has no clustering; use shap.maskers.Partition(X)")

    def _shaped(self, values, is_column):
        return values[..., np.newaxis] if is_column else values


def rows_of(masker):
    """The rows of a masker of shap; what is none is rows itself."""
    if not type(masker).__module__.startswith("shap.maskers"):
        return masker
    return frame_of(masker) if getattr(masker, "output_dataframe", False) else masker.data


def frame_of(masker):
    """The rows of a masker that was given a data frame, with the types that its cells still show."""
    import pandas

    return pandas.DataFrame(masker.data, columns=masker.feature_names).infer_objects()


def _as_type(column, dtype):
    """A column as another type; unchanged if any cell would become another one."""
    try:
        typed = column.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return column
    missing = column.isna()
    is_same = (typed.isna() == missing).all() and all(one == other for one, other in zip(column[~missing], typed[~missing]))
    return typed if is_same else column


def _groups(clustering, features):
    """The merges of a linkage matrix as groups within groups."""
    nodes = list(range(features))
    for left, right, *_ in clustering:
        nodes.append([nodes[int(left)], nodes[int(right)]])
    top = nodes[-1]
    return [member if isinstance(member, list) else [member] for member in top] if isinstance(top, list) else [[top]]
