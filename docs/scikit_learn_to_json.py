"""Writes tree models of scikit-learn (1.3 or later) as JSON (docs/tree-json.md): scikit_learn_to_json.save(model, "model.json")."""
import json
import numpy as np
import sklearn
from sklearn.ensemble._iforest import _average_path_length

LINKS = {"IdentityLink": {"name": "identity"}, "LogLink": {"name": "exponential"}, "LogitLink": {"name": "logistic"},
         "HalfLogitLink": {"name": "logistic", "steepness": 2}, "MultinomialLogit": {"name": "softmax"}}


def plain(tree, value, scale, **more):  # a tree of anything but HistGradientBoosting
    value = value.reshape(tree.node_count, -1) * (tree.children_left[:, None] < 0)  # what splits would say is not needed
    return dict(left=tree.children_left, right=tree.children_right, feature=tree.feature, threshold=tree.threshold, value=value.ravel(),
                default_left=tree.missing_go_to_left, cover=tree.weighted_n_node_samples, scale=scale) | more


def histogram(predictor, output, model):  # a tree of HistGradientBoosting
    nodes, split, rules = predictor.nodes, predictor.nodes["is_leaf"] == 0, []
    categorical = np.zeros(model.n_features_in_, bool) if model.is_categorical_ is None else model.is_categorical_
    order = np.argsort(~categorical, kind="stable")  # categorical features come first within the model
    for node in np.flatnonzero(nodes["is_categorical"]):
        categories = np.float64(model._preprocessor.named_transformers_["encoder"].categories_[nodes["feature_idx"][node]])
        code, missing_left = np.arange(len(categories)), nodes["missing_go_to_left"][node]
        left = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]][code // 32] >> code % 32 & 1
        listed = (left != missing_left) & ~np.isnan(categories)  # unknown categories go where missing values go
        rules.append(dict(node=node, numbers=categories[listed], side="right" if missing_left else "left"))
    return dict(left=np.where(split, nodes["left"].astype(int), -1), right=np.where(split, nodes["right"].astype(int), -1),
                feature=order[nodes["feature_idx"]], threshold=nodes["num_threshold"], value=nodes["value"] * ~split,
                default_left=nodes["missing_go_to_left"], cover=nodes["count"], output=output, rules=rules)


def save(model, path):
    kind, base, link, members = type(model).__name__, [0.0], {"name": "identity"}, getattr(model, "estimators_", [model])
    if hasattr(model, "_predictors"):  # HistGradientBoosting
        base, link = model._baseline_prediction.ravel(), LINKS[type(model._loss.link).__name__]
        trees = [histogram(tree, output, model) for stage in model._predictors for output, tree in enumerate(stage)]
    elif kind.startswith("GradientBoosting"):
        assert model.init in (None, "zero"), "init must be constant"
        base, link = model._raw_predict_init(np.zeros((1, model.n_features_in_))).ravel(), LINKS[type(model._loss.link).__name__]
        trees = [plain(member.tree_, member.tree_.value, model.learning_rate, output=output)
                 for stage in members for output, member in enumerate(stage)]
    elif kind == "IsolationForest":  # the margin is the mean path length, and the link makes it the anomaly score
        link = {"name": "half-power", "unit": float(_average_path_length([model._max_samples])[0])}
        trees = [plain(tree, tree.compute_node_depths() - 1 + _average_path_length(tree.n_node_samples), 1 / len(members),
                       feature=np.take(features, tree.feature, mode="clip"))
                 for tree, features in zip((member.tree_ for member in members), model.estimators_features_)]
    else:  # a tree, or the mean of a forest; of a classifier the shares of the classes
        assert model.n_outputs_ == 1, "one target is wanted"
        base = np.zeros(members[0].tree_.value.shape[2])
        trees = [plain(member.tree_, member.tree_.value, 1 / len(members)) for member in members]
    names = {"feature_names": model.feature_names_in_} if hasattr(model, "feature_names_in_") else {}
    document = dict(format="apportion-trees", version=1, width="double" if hasattr(model, "_predictors") else "single",
                    features=model.n_features_in_, base_margins=base, link=link, operator="<=", trees=trees, **names,
                    source=dict(library="scikit-learn", version=sklearn.__version__, model=kind))
    with open(path, "w") as file:
        file.write(json.dumps(document, default=lambda array: array.tolist()))
