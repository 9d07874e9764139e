"""Shapley values by enumerating all coalitions, of games evaluated by the libraries themselves."""
import itertools
import math

import numpy as np


def by_coalitions(players, value):
    """Returns Shapley values, computed from the definition."""
    of = {mask: value(np.array(mask)) for mask in itertools.product([False, True], repeat=players)}
    values = np.zeros(players)
    for mask, without in of.items():
        size = sum(mask)
        for player in (player for player in range(players) if not mask[player]):
            joined = mask[:player] + (True,) + mask[player + 1:]
            values[player] += (of[joined] - without) / (players * math.comb(players - 1, size))
    return values


def expected(trees, x, mask):
    """Returns the path-dependent expectation of the trees given the masked features, from shap's arrays."""
    def below(tree, node):
        left, right = trees.children_left[tree, node], trees.children_right[tree, node]
        if left < 0:
            return trees.values[tree, node, 0]
        feature = trees.features[tree, node]
        if mask[feature]:
            if np.isnan(x[feature]):
                return below(tree, trees.children_default[tree, node])
            return below(tree, left if x[feature] <= trees.thresholds[tree, node] else right)
        weights = trees.node_sample_weight[tree, [left, right]]
        return (below(tree, left) * weights[0] + below(tree, right) * weights[1]) / weights.sum()

    return sum(below(tree, 0) for tree in range(trees.values.shape[0]))


def outputs(model, rows, output):
    """Returns the outputs of a model, before or after its link function."""
    library, is_raw = type(model).__module__.split(".")[0], output == "raw"
    if library == "xgboost":
        import xgboost
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        said = booster.predict(xgboost.DMatrix(rows, feature_names=booster.feature_names),
                               output_margin=is_raw)
    elif library == "lightgbm":
        said = model.predict(rows, raw_score=is_raw)
    elif library == "catboost":
        said = model.predict(rows, prediction_type="RawFormulaVal" if is_raw else "Probability")
    elif is_raw and hasattr(model, "decision_function"):
        said = model.decision_function(rows)
    else:
        said = (model.predict_proba if hasattr(model, "predict_proba") else model.predict)(rows)
        if said.ndim == 2 and hasattr(model, "decision_function"):
            said = said[:, 1:]
    return np.asarray(said, dtype=float).reshape(len(rows), -1)
