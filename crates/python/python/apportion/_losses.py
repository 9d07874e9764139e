"""Explanations of the loss of each row."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._classes import Classes
from ._data import weights as checked_numbers
from ._errors import UsageError
from ._explanation import Explanation
from ._options import options
from ._threads import engine, generation, pool
from ._types import AnyArray

if TYPE_CHECKING:
    from ._data import Table
    from ._explainers import Explainer


def losses(explainer: Explainer, rows: Table, y: Any, threads: int | None) -> Explanation:
    """Explains the loss of each row: −ln p of its class, or the squared error of a regression.

    Rows with the same target share a model. Class labels are those of the training.
    """
    if y is None:
        raise UsageError('model_output="log_loss" requires y, the class or the target of each row')
    if explainer._background is None:
        raise UsageError('model_output="log_loss" requires a background')
    ensemble, count = explainer._trees, len(rows.values)
    targets: AnyArray
    if ensemble.link in ("logistic", "softmax"):
        targets = Classes.of_ensemble(ensemble).places(y, count)
    elif ensemble.classes is not None or ensemble.class_names is not None:
        raise UsageError('model_output="log_loss" requires a classifier with a logistic or softmax link; '
                         'explain a function that returns the loss, such as lambda rows: '
                         '-numpy.log(model.predict_proba(rows)[:, k])')
    else:
        targets = checked_numbers(y, count, "y")
    features, outputs = rows.values.shape[1], explainer.output_count
    values, base, predictions = np.empty((count, features)), np.empty(count), np.empty(count)
    workers = pool(explainer.threads if threads is None else threads)
    # The losses of all classes of a softmax are outputs of one model.
    for target in np.unique(targets) if outputs == 1 else targets[:1]:
        chosen = np.flatnonzero(targets == target) if outputs == 1 else np.arange(count)
        told, stopped = engine(_core_of(explainer, float(target)).explain,
                               np.ascontiguousarray(rows.values[chosen]), workers, None)
        if stopped is not None:
            raise stopped
        lines = np.arange(len(chosen))
        output = targets if outputs > 1 else np.zeros(len(chosen), dtype=np.intp)
        values[chosen] = told["values"].reshape(len(chosen), features, outputs)[lines, :, output]
        bases = np.broadcast_to(told["base"].reshape(-1, outputs), (len(chosen), outputs))
        base[chosen] = bases[lines, output]
        predictions[chosen] = told["predictions"].reshape(-1, outputs)[lines, output]
    more = {"output": "log-loss", "background_rows": len(explainer._background.values)}
    about = dict(value=explainer._asked["value"], game="marginal", method="tree",
                 seed=explainer._asked["seed"], more=more)
    return Explanation._of(values, base, rows.values, feature_names=explainer._names_of(rows),
                           predictions=predictions, index=rows.index, categories=rows.categories, about=about)


def _core_of(explainer: Explainer, target: float) -> _core.Explainer:
    """Returns the engine of one target, or of all classes if there are several outputs."""
    key = ("loss", target if explainer.output_count == 1 else None)
    found = explainer._kept.get(key)
    if found is None or found[0] != generation():
        asked = options(explainer._asked, game="marginal", linked=True)
        trees, background = explainer._trees._core.with_loss(target), explainer._background
        assert background is not None
        found = generation(), _core.Explainer.of_trees(trees, asked, background.values, explainer._weights)
        if explainer.output_count > 1 or explainer._trees.link in ("logistic", "softmax"):
            # Cache models of classes only: a regression may have any number of targets.
            explainer._kept[key] = found
    return found[1]
