"""The explainers of shap for any model, with the signatures of shap and the engine of apportion."""
from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _checks
from ._errors import UsageError
from ._explainers import Explainer as _Explainer
from ._explanation import Explanation as _Explanation
from ._options import named_options
from ._types import AnyArray, Model, Rows

# The maximum number of rows of the background that shap uses if rows are passed instead of a masker.
_MAX_ROWS = 100


class _AnyExplainer:
    """Base class of the explainers of any model: a model that is called, and a masker whose rows are the
    background.
    """

    _masker_of_rows = "Independent"

    @named_options
    def __init__(
        self,
        model: Model,
        masker: Any,
        link: Any = None,
        linearize_link: bool = True,
        feature_names: Sequence[str] | None = None,
        seed: int | None = 0,
        output_names: Sequence[str] | None = None,
    ) -> None:
        """Creates the explainer.

        model: a function of rows.
        masker: a masker of rows of shap, such as `shap.maskers.Independent(X)`, or the rows of the
            background.
        link, linearize_link: as in shap; only the identity is supported (the default).
        feature_names, output_names: the names of features and outputs (default None).
        seed: the seed of all draws (default 0).

        Raises UsageError for any other masker or link.
        """
        import shap

        if link is not None and link is not shap.links.identity:
            raise UsageError("link is not supported; pass a model that returns link(output)")
        rows = masker
        if not isinstance(masker, shap.maskers.Masker):
            array = (masker if hasattr(masker, "iloc") or isinstance(masker, np.ndarray)
                     else _checks.array("masker", masker, "an array of shape (n_rows, n_features)"))
            if array.ndim != 2 or not array.shape[0] or not array.shape[1]:
                raise UsageError("expected a masker of rows, such as shap.maskers.Independent(X), "
                                 "or an array of shape (n_rows, n_features)")
            masker = getattr(shap.maskers, self._masker_of_rows)(array)
        else:
            rows = None
        data = getattr(masker, "data", None)
        if not isinstance(data, np.ndarray) or data.ndim != 2:
            raise UsageError("expected a masker of rows, such as shap.maskers.Independent(X), "
                             f"got {type(masker).__name__}")
        self.model, self.masker, self._seed = model, masker, 0 if seed is None else seed
        self.feature_names = None if feature_names is None else _checks.names("feature_names", feature_names)
        self.output_names = None if output_names is None else _checks.names("output_names", output_names)
        self._background: Any = data
        self._rows_have_types = False
        if getattr(masker, "output_dataframe", False):
            self._rows_have_types = rows is not None
            self._background = (frame_of(masker) if rows is None else rows if len(rows) <= _MAX_ROWS
                                else shap.sample(rows, _MAX_ROWS))
        clustering = getattr(masker, "clustering", None)
        self._structure: dict[str, Any] = {}
        if clustering is not None:
            groups = _groups(np.asarray(clustering), data.shape[1])
            self._structure = dict(value="owen", groups=groups)
        self._clustering = clustering

    @property
    def _method(self) -> str:
        return "auto"

    @named_options
    def __call__(
        self,
        X: Rows,
        max_evals: int | str | None = None,
        *,
        main_effects: bool = False,
        error_bounds: bool = False,
        batch_size: int | str = "auto",
        outputs: Any = None,
        interactions: bool | int | None = 1,
        silent: bool = False,
    ) -> Any:
        """Explains rows: returns a `shap.Explanation`.

        X: the rows.
        max_evals: the maximum number of evaluations for each row (default None: as `apportion.Explainer`
            chooses).
        batch_size, silent: ignored.
        main_effects, error_bounds, outputs, interactions: as in shap; only the defaults are supported.

        Raises NotImplementedError for arguments that are not supported, and the errors of
        `apportion.Explainer`.
        """
        import shap

        started = time.time()
        for name, given in (("main_effects", main_effects), ("error_bounds", error_bounds),
                            ("outputs", outputs is not None)):
            if given:
                raise NotImplementedError(f"{name} is not supported; omit it")
        # In shap, interactions=1 requests the values of single features.
        if interactions is True or interactions not in (False, None, 1):
            raise NotImplementedError("interactions is not supported; "
                                      "use apportion.Explainer(model, data)(X, interactions=True)")
        background = self._background_for(X)
        found = self._explainer(background, max_evals)(X)
        is_column = found.values.ndim == 2 and callable(self.model) and self._returns_column(background)
        more: dict[str, Any] = {}
        if self._clustering is not None:
            more["clustering"] = np.tile(np.asarray(self._clustering), (len(found), 1, 1))
        if self.output_names is not None:
            more["output_names"] = list(self.output_names)
        if hasattr(X, "columns"):
            names = list(X.columns)
        else:
            names = (list(self.feature_names) if self.feature_names is not None
                     else [f"Feature {feature}" for feature in range(self._background.shape[1])])
        base = found.base_values[:, np.newaxis] if is_column else found.base_values
        data = X.to_numpy() if hasattr(X, "to_numpy") else X if hasattr(X, "toarray") else np.asarray(X)
        return shap.Explanation(self._shaped(found.values, is_column), base_values=base, data=data,
                                feature_names=names, compute_time=time.time() - started, **more)

    @named_options
    def shap_values(
        self,
        X: Rows,
        npermutations: int | None = None,
        main_effects: bool = False,
        error_bounds: bool = False,
        batch_evals: bool = True,
        silent: bool = False,
    ) -> AnyArray:
        """Returns the values of rows as an array.

        npermutations: the number of permutations of the features that are used together with their reverses
            (default None: as `apportion.Explainer` chooses).
        batch_evals, silent: ignored. X, main_effects, error_bounds and the errors: as in the call.
        """
        evaluations = None
        if npermutations is not None:
            evaluations = 2 * _checks.whole("npermutations", npermutations,
                                            1) * (self._background.shape[1] + 1)
        found = self(X, evaluations, main_effects=main_effects, error_bounds=error_bounds)
        values: AnyArray = found.values
        return values

    def _background_for(self, X: Rows) -> Any:
        """Returns the background, with the types of the columns of X if the masker lost them."""
        if self._rows_have_types or not hasattr(self._background, "iloc") or not hasattr(X, "iloc"):
            return self._background
        if list(X.columns) != list(self._background.columns):
            return self._background
        typed = self._background.copy()
        for name, dtype in X.dtypes.items():
            typed[name] = _as_type(typed[name], dtype)
        return typed

    def _returns_column(self, background: Rows) -> bool:
        """Returns whether the model returns an array of shape (n_rows, 1). If so, shap's base values have
        this shape, too.
        """
        answer = self.model(background.iloc[:1] if hasattr(background, "iloc") else background[:1].copy())
        return np.ndim(answer) == 2 and np.shape(answer)[1] == 1

    def _shaped(self, values: AnyArray, is_column: bool) -> AnyArray:
        return values

    def _explainer(self, background: Rows, max_evals: int | str | None) -> _Explainer:
        names = self.feature_names if not hasattr(background, "columns") else None
        is_auto = max_evals is None or isinstance(max_evals, str) and max_evals == "auto"
        budget = "auto" if is_auto else _checks.whole("max_evals", max_evals, 1)
        return _Explainer(self.model, background, method=self._method, budget=budget, seed=self._seed,
                          feature_names=names, **self._structure)


class ExactExplainer(_AnyExplainer):
    """Explains rows by enumeration, like `shap.explainers.ExactExplainer`. It computes Owen values if the
    masker has a clustering.
    """

    @property
    def _method(self) -> str:
        return "exact"

    def _explainer(self, background: Rows, max_evals: int | str | None) -> _Explainer:
        return super()._explainer(background, None)


class PermutationExplainer(_AnyExplainer):
    """Explains rows by permutations and their reverses, like `shap.explainers.PermutationExplainer`. It
    computes Owen values if the masker has a clustering.
    """

    @property
    def _method(self) -> str:
        # No method samples permutations that keep clusters together.
        return "auto" if self._structure else "permutation"


class PartitionExplainer(_AnyExplainer):
    """Computes Owen values for the clustering of the masker, like `shap.explainers.PartitionExplainer`. If
    rows are passed, their features are clustered by correlation.
    """

    _masker_of_rows = "Partition"
    expected_value = None

    @named_options
    def __init__(
        self,
        model: Model,
        masker: Any,
        *,
        output_names: Sequence[str] | None = None,
        link: Any = None,
        linearize_link: bool = True,
        feature_names: Sequence[str] | None = None,
        seed: int | None = 0,
    ) -> None:
        """Creates the explainer. The arguments and errors are the same as for the other explainers."""
        super().__init__(model, masker, link, linearize_link, feature_names, seed, output_names)
        if not self._structure:
            raise UsageError("the masker has no clustering; use shap.maskers.Partition(X)")

    def _shaped(self, values: AnyArray, is_column: bool) -> AnyArray:
        return values[..., np.newaxis] if is_column else values


def rows_of(masker: Any) -> Any:
    """Returns the rows of a masker of shap; any other object unchanged."""
    if not type(masker).__module__.startswith("shap.maskers"):
        return masker
    return frame_of(masker) if getattr(masker, "output_dataframe", False) else masker.data


def frame_of(masker: Any) -> Any:
    """Returns the rows of a masker that was created from a data frame, with types inferred from the cells."""
    import pandas

    return pandas.DataFrame(masker.data, columns=masker.feature_names).infer_objects()


def _as_type(column: Any, dtype: Any) -> Any:
    """Converts a column to another type; returns it unchanged if that would change any cell."""
    try:
        typed = column.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return column
    missing = column.isna()
    is_same = ((typed.isna() == missing).all()
               and all(one == other for one, other in zip(column[~missing], typed[~missing])))
    return typed if is_same else column


def _groups(clustering: AnyArray, features: int) -> list[Any]:
    """Returns the merges of a linkage matrix as nested groups."""
    nodes: list[Any] = list(range(features))
    for left, right, *_ in clustering:
        nodes.append([nodes[int(left)], nodes[int(right)]])
    top = nodes[-1]
    return ([member if isinstance(member, list) else [member] for member in top] if isinstance(top, list)
            else [[top]])
