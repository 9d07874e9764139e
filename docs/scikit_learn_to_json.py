"""Writes tree models of scikit-learn as JSON (docs/tree-json.md): scikit_learn_to_json.save(model, "model.json").

DecisionTree*, ExtraTree*, RandomForest*, ExtraTrees*, GradientBoosting*, HistGradientBoosting*, IsolationForest; one target."""
import json
import numpy as np
import sklearn
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble._iforest import _average_path_length

LINKS = {"IdentityLink": {"name": "identity"}, "LogLink": {"name": "exponential"}, "LogitLink": {"name": "logistic"},
         "HalfLogitLink": {"name": "logistic", "steepness": 2}, "MultinomialLogit": {"name": "softmax"}}


def plain(tree, value, scale, features=None, **more):  # a tree of anything but HistGradientBoosting
    feature = tree.feature if features is None else np.asarray(features)[tree.feature]
    lists = dict(left=tree.children_left, right=tree.children_right, feature=feature, threshold=tree.threshold,
                 value=value.ravel(), default_left=tree.missing_go_to_left, cover=tree.weighted_n_node_samples)
    return {key: np.asarray(list_).tolist() for key, list_ in lists.items()} | dict(scale=scale, **more)


def histogram(predictor, output, model):  # a tree of HistGradientBoosting
    nodes, leaf, rules = predictor.nodes, predictor.nodes["is_leaf"] == 1, []
    order = np.arange(model.n_features_in_)  # categorical features come first within the model
    if model.is_categorical_ is not None:
        order = np.r_[np.flatnonzero(model.is_categorical_), np.flatnonzero(~model.is_categorical_)]
    for node in np.flatnonzero(nodes["is_categorical"]):
        categories = model._preprocessor.named_transformers_["encoder"].categories_[nodes["feature_idx"][node]]
        bits = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        left = [bool(bits[code // 32] >> (code % 32) & 1) for code in range(len(categories))]
        side = "right" if nodes["missing_go_to_left"][node] else "left"  # unknown categories go where missing values go
        members = [float(c) for c, l in zip(categories, left) if l == (side == "left") and c == c]
        rules.append(dict(node=int(node), numbers=members, side=side))
    lists = dict(left=np.where(leaf, -1, nodes["left"].astype(int)), right=np.where(leaf, -1, nodes["right"].astype(int)),
                 feature=order[nodes["feature_idx"]], threshold=nodes["num_threshold"], value=nodes["value"],
                 default_left=nodes["missing_go_to_left"], cover=nodes["count"])
    return {key: list_.tolist() for key, list_ in lists.items()} | dict(output=output, rules=rules)


def save(model, path):
    kind, base, link = type(model).__name__, [0.0], {"name": "identity"}
    if kind.startswith("HistGradientBoosting"):
        base, link = model._baseline_prediction.ravel().tolist(), LINKS[type(model._loss.link).__name__]
        trees = [histogram(tree, k, model) for stage in model._predictors for k, tree in enumerate(stage)]
    elif kind.startswith("GradientBoosting"):
        assert model.init_ == "zero" or isinstance(model.init_, (DummyClassifier, DummyRegressor)), "init must be constant"
        base = model._raw_predict_init(np.zeros((1, model.n_features_in_))).ravel().tolist()
        link = LINKS[type(model._loss.link).__name__]
        trees = [plain(tree.tree_, tree.tree_.value, model.learning_rate, output=k)
                 for stage in model.estimators_ for k, tree in enumerate(stage)]
    elif kind == "IsolationForest":  # the margin is the mean path length, and the link makes it the anomaly score
        link = {"name": "half-power", "unit": float(_average_path_length([model._max_samples])[0])}
        depths = [tree.tree_.compute_node_depths() - 1 + _average_path_length(tree.tree_.n_node_samples) for tree in model.estimators_]
        trees = [plain(tree.tree_, depth, 1 / len(depths), features, output=0)
                 for tree, depth, features in zip(model.estimators_, depths, model.estimators_features_)]
    else:  # of a classifier, the shares of the classes
        assert model.n_outputs_ == 1, "one target is wanted"
        base = [0.0] * (len(model.classes_) if hasattr(model, "classes_") else 1)
        members = getattr(model, "estimators_", [model])
        share = lambda tree: tree.value / tree.value.sum(axis=2, keepdims=True) if len(base) > 1 else tree.value
        trees = [plain(tree.tree_, share(tree.tree_), 1 / len(members)) for tree in members]
    document = dict(format="apportion-trees", version=1, width="double" if kind.startswith("Hist") else "single",
                    features=model.n_features_in_, base_margins=base, link=link, operator="<=", trees=trees,
                    source=dict(library="scikit-learn", version=sklearn.__version__, model=kind))
    if hasattr(model, "feature_names_in_"):
        document["feature_names"] = list(model.feature_names_in_)
    with open(path, "w") as file:
        json.dump(document, file)
