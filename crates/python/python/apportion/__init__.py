"""Apportion explains predictions with feature attributions.

It computes Shapley, Banzhaf, Owen and related values: exactly for tree ensembles and linear models, and for
any model as estimates with their standard errors.

>>> import numpy as np, apportion
>>> background = np.zeros((1, 3))
>>> explainer = apportion.Explainer(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], background)
>>> explanation = explainer(np.array([[2.0, 3.0, 4.0]]))
>>> explanation.values.round(12).tolist()
[[3.0, 3.0, 4.0]]
"""
from . import games
from ._batches import BatchExplainer, explain_batches, summarize
from ._core import __version__, methods
from ._errors import (
    AccuracyWarning,
    CallError,
    DataError,
    Error,
    InternalError,
    ModelError,
    ModelWarning,
    NotFittedError,
    UsageError,
)
from ._explainers import Explainer, TreeExplainer, explain
from ._explanation import Explanation, load
from ._groups import groups
from ._media import explain_image, explain_text
from ._models import Ensemble
from ._summary import Summary
from ._threads import set_threads
from .games import Game

__all__ = [
    "AccuracyWarning",
    "BatchExplainer",
    "CallError",
    "DataError",
    "Ensemble",
    "Error",
    "Explainer",
    "Explanation",
    "Game",
    "InternalError",
    "ModelError",
    "ModelWarning",
    "NotFittedError",
    "Summary",
    "TreeExplainer",
    "UsageError",
    "__version__",
    "explain",
    "explain_batches",
    "explain_image",
    "explain_text",
    "games",
    "groups",
    "load",
    "methods",
    "set_threads",
    "summarize",
]
