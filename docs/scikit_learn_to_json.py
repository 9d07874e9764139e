"""Writes tree models and linear models of scikit-learn (1.4 or later), pipelines included, as JSON (docs/tree-json.md).

    from scikit_learn_to_json import save
    save(model, "model.json")

or, of a model in a file that you trust, `python scikit_learn_to_json.py model.joblib model.json`.

A model becomes a sum of trees. Where transformers come before the trees, every split is written as a split on the column of the table:
the transformers themselves are asked what they make of each category, of a missing value and of numbers, and the threshold on a number is
found by bisection over all doubles. So the JSON decides as the pipeline does, whatever the row. A linear model becomes a tree for each
column, of one leaf, which is linear, or with a leaf for each category or bin.
"""
# mypy: ignore-errors
import json
import sys
import warnings
from dataclasses import dataclass, replace

import numpy as np
import sklearn
from sklearn.ensemble._iforest import _average_path_length
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array

LINKS = {"IdentityLink": {"name": "identity"}, "LogLink": {"name": "exponential"}, "LogitLink": {"name": "logistic"},
         "HalfLogitLink": {"name": "logistic", "steepness": 2}, "MultinomialLogit": {"name": "softmax"}}
IDENTITY = {"name": "identity"}
SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Binarizer"}
TREES = {"DecisionTreeRegressor", "DecisionTreeClassifier", "ExtraTreeRegressor", "ExtraTreeClassifier"}
FORESTS = {"RandomForestRegressor", "RandomForestClassifier", "ExtraTreesRegressor", "ExtraTreesClassifier"}
LINEAR = {"LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "LassoLars", "LassoLarsCV", "LassoLarsIC", "Lars", "LarsCV", "ElasticNet", "ElasticNetCV",
          "MultiTaskLasso", "MultiTaskLassoCV", "MultiTaskElasticNet", "MultiTaskElasticNetCV", "OrthogonalMatchingPursuit",
          "OrthogonalMatchingPursuitCV", "BayesianRidge", "ARDRegression", "HuberRegressor", "TheilSenRegressor", "QuantileRegressor", "SGDRegressor",
          "PassiveAggressiveRegressor", "LinearSVR", "SVR", "NuSVR", "PoissonRegressor", "GammaRegressor", "TweedieRegressor", "LogisticRegression",
          "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier", "Perceptron", "PassiveAggressiveClassifier", "LinearSVC",
          "SVC", "NuSVC", "LinearDiscriminantAnalysis"}
WRAPPERS = {"RANSACRegressor": "estimator_", "GridSearchCV": "best_estimator_", "RandomizedSearchCV": "best_estimator_", "HalvingGridSearchCV": "best_estimator_",
            "HalvingRandomSearchCV": "best_estimator_", "FrozenEstimator": "estimator", "TunedThresholdClassifierCV": "estimator_",
            "FixedThresholdClassifier": "estimator_", "IForest": "detector_"}
REFUSED = {
    "Stacking": "its last estimator looks at the predictions of the others, so it is no sum of trees; save its estimators_ one by one",
    "AdaBoostRegressor": "it is a weighted median of trees, and no sum; train gradient boosting, a forest or BaggingRegressor",
    "CalibratedClassifierCV": "calibration bends each classifier by itself; save the classifier that it was given, fitted by itself",
    "Chain": "later members look at what earlier ones predict; use MultiOutputRegressor or MultiOutputClassifier",
    "CatBoost": "save it by its own save_model, and explain rows that the steps before it have transformed",
}


class Refused(ValueError):
    """The model cannot be written as a sum of trees on the columns of its table."""


def refuse(thing, why):
    raise Refused(f"{thing if isinstance(thing, str) else type(thing).__name__}: {why}")


# What the features are that trees look at.


@dataclass(frozen=True)
class Feature:
    """A feature of the trees: a function of one column of the table."""
    column: int
    encoded: bool = False  # whether it is a function of the column's category
    raw: bool = True  # whether it is the column itself, or but for missing values
    bins: int = 0  # how many features say together which bin a number is in
    bin: int = 0  # which of them this is
    slope: float = 1.0  # of a number that is slope * x + shift; None where it is anything else
    shift: float = 0.0
    steps: tuple = ()  # of a number that is a step function: what it is at most in each step but the last


class View:
    """The features that a model sees, and how rows of the table become them."""

    def __init__(self, table, features, steps=()):
        self.table, self.features, self.steps, self.zeros_missing = table, features, steps, False

    def of(self, transformer):
        """The features behind a transformer."""
        return View(self.table, derived(transformer, self.features, self.table), (*self.steps, transformer.transform))

    def columns(self, chosen):
        """Some of the features, as ensembles choose them for a member."""
        features = choose("an ensemble of some features each", self.features, chosen)
        return View(self.table, features, (*self.steps, lambda rows: np.asarray(rows)[:, chosen]))

    def with_zeros_missing(self):
        """The same for a library that takes what a sparse matrix does not hold for missing."""
        view = View(self.table, self.features, self.steps)
        view.zeros_missing = True
        return view

    def is_table(self):
        """Whether features are the columns themselves."""
        return all(feature == Feature(feature.column) for feature in self.features)

    def values(self, rows):
        """What the transformers make of rows of the table; None where they refuse them."""
        try:
            for step in self.steps:
                rows = applied(step, rows)
            values = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=float)
            if self.zeros_missing and hasattr(rows, "tocoo"):
                if not all(feature.encoded for feature in self.features):
                    refuse("XGBoost behind a sparse matrix", "it takes zeros for missing, those of numbers, too; train with sparse_threshold=0 in "
                           "the ColumnTransformer, or sparse_output=False in the OneHotEncoder")
                held = rows.tocoo()
                values = np.full(values.shape, np.nan)
                values[held.row, held.col] = held.data
        except Refused:
            raise
        except (ValueError, TypeError) as problem:
            self.problem = problem
            return None
        if values.shape[1] != len(self.features):
            refuse("the transformers", f"they make {values.shape[1]} features, where {len(self.features)} were expected")
        return values

    def binned(self, values):
        """Values with the number of the bin in each of the features that say it together."""
        binned = values.copy()
        for index, feature in enumerate(self.features):
            if feature.bins:
                binned[:, index] = values[:, index - feature.bin:][:, :feature.bins].argmax(axis=1)
        return binned


def applied(step, rows):
    try:
        return step(rows)
    except TypeError:  # an encoder that was fitted on objects, as numbers become beside booleans
        return step(rows.astype(object))


def derived(transformer, inputs, table):
    """The features that a transformer makes, in their order; refuses transformers that mix columns."""
    kind = type(transformer).__name__
    if isinstance(transformer, str) or transformer is None:
        return [] if transformer == "drop" else inputs
    if kind == "Pipeline":
        for _, step in transformer.steps:
            inputs = derived(step, inputs, table)
        return inputs
    if kind == "ColumnTransformer":
        indices = transformer._transformer_to_input_indices
        parts = [(step, choose(transformer, inputs, indices[name])) for name, step, _ in transformer.transformers_]
        return [feature for step, part in parts if part for feature in derived(step, part, table)]
    if kind == "FeatureUnion":
        return [feature for _, step in transformer.transformer_list for feature in derived(step, inputs, table)]
    if kind == "FunctionTransformer" and (transformer.func is None or getattr(transformer.func, "func", None) is check_array):
        return inputs
    if isinstance(transformer, SelectorMixin):
        return choose(transformer, inputs, transformer.get_support(indices=True))
    if kind in SCALERS:
        return [scaled(transformer, number(transformer, feature), feature, place) for place, feature in enumerate(inputs)]
    if kind == "MissingIndicator":
        missing_is_nan(transformer)
        return [replace(inputs[index], slope=0.0, shift=0.0) for index in transformer.features_]
    if kind == "SimpleImputer":
        missing_is_nan(transformer)
        all_kept = transformer.strategy == "constant" or transformer.keep_empty_features
        kept = [feature for feature, fill in zip(inputs, transformer.statistics_) if all_kept or not is_missing(fill)]
        return kept + (derived(transformer.indicator_, inputs, table) if transformer.add_indicator else [])
    if kind in ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder"):
        counts = [1] * len(inputs)
        if kind == "OneHotEncoder":
            counts = transformer._n_features_outs
        elif kind == "TargetEncoder" and transformer.target_type_ == "multiclass":
            counts = [len(transformer.classes_)] * len(inputs)
        encoded = [encode(transformer, feature, list(known), table) for feature, known in zip(inputs, transformer.categories_)]
        return [feature for feature, count in zip(encoded, counts) for _ in range(count)]
    if kind == "KBinsDiscretizer":
        numbers = [number(transformer, feature) for feature in inputs]
        if transformer.encode == "ordinal":
            return [replace(feature, steps=tuple(range(int(bins) - 1))) for feature, bins in zip(numbers, transformer.n_bins_)]
        return [feature if feature.encoded else replace(feature, bins=int(bins), bin=bin)
                for feature, bins in zip(numbers, transformer.n_bins_) for bin in range(bins)]
    refuse(transformer, "it is not known to keep columns apart, so its features belong to no one column; encoders (OneHotEncoder, OrdinalEncoder, "
           "TargetEncoder), scalers, SimpleImputer, KBinsDiscretizer, selections of columns and passthrough can come before trees. Apply it to "
           "the rows yourself, and save the steps after it")


def choose(transformer, features, indices):
    """Some of the features."""
    if len(indices) < len(features) and any(feature.bins for feature in features):
        refuse(transformer, "it chooses among bins that are one-hot encoded; use encode='ordinal'")
    return [features[index] for index in indices]


def number(transformer, feature):
    if feature.bins:
        refuse(transformer, "it comes after bins that are one-hot encoded; use encode='ordinal'")
    return replace(feature, raw=False, slope=None, shift=0.0, steps=())


def scaled(transformer, feature, before, place):
    """The feature with the slope that a scaler leaves it, where it is affine and was before."""
    kind = type(transformer).__name__
    if kind == "Binarizer" and before.slope:
        return replace(feature, steps=(0.0,))
    if before.slope is None or getattr(transformer, "clip", False) or kind == "Binarizer":
        return feature
    centre, scale = 0.0, 1.0
    if kind == "StandardScaler":
        centre = transformer.mean_[place] if transformer.with_mean else 0.0
        scale = transformer.scale_[place] if transformer.with_std else 1.0
    elif kind == "RobustScaler":
        centre = transformer.center_[place] if transformer.with_centering else 0.0
        scale = transformer.scale_[place] if transformer.with_scaling else 1.0
    elif kind == "MaxAbsScaler":
        scale = transformer.scale_[place]
    elif kind == "MinMaxScaler":
        factor = transformer.scale_[place]
        return replace(feature, slope=before.slope * factor, shift=before.shift * factor + transformer.min_[place])
    return replace(feature, slope=before.slope / scale, shift=(before.shift - centre) / scale)


def encode(transformer, feature, known, table):
    if not feature.raw and not feature.encoded:
        refuse(transformer, "its categories are numbers that another transformer made; encode the columns as they are in the table")
    if feature.raw:
        for category in known:
            if not isinstance(category, (str, bool, np.bool_, int, float, np.number)) and not is_missing(category):
                refuse(transformer, f"the category {category!r} is a {type(category).__name__}, where words, numbers and booleans are known")
        table.add(feature.column, known)
    return replace(feature, encoded=True, raw=False)


def is_missing(value):
    return value is None or type(value).__name__ == "NAType" or isinstance(value, (float, np.floating)) and np.isnan(value)


def missing_is_nan(transformer):
    if not is_missing(transformer.missing_values):
        refuse(transformer, f"it takes {transformer.missing_values!r} for missing; replace that by NaN in the table and leave missing_values out")


# Models as sums of trees.


class Sum:
    """base + the sum of trees, each with the view of its features and the width to which it rounds them."""

    def __init__(self, base, trees, link=IDENTITY):
        self.base, self.trees, self.link = np.asarray(base, dtype=float), trees, link

    def among(self, outputs, count, factor=1.0):
        """Its outputs times a factor, as some of the outputs of a larger model."""
        base = np.zeros(count)
        base[outputs] = self.base * factor
        trees = []
        for tree in self.trees:
            tree = tree | {"scale": tree.get("scale", 1.0) * factor}
            if "output" in tree or len(outputs) == 1:
                tree["output"] = int(outputs[tree.get("output", 0)])
            elif list(outputs) != list(range(count)):
                values = np.zeros((len(tree["left"]), count))
                values[:, outputs] = np.reshape(tree["value"], (-1, len(outputs)))
                tree["value"] = values.ravel()
            trees.append(tree)
        return Sum(base, trees, self.link)


def mean(model, members, weights):
    """The weighted mean of the outputs of members: each with a list of those that it has, of so many."""
    for _, _, member in members:
        if member.link != IDENTITY:
            refuse(model, "it takes the mean of outputs behind a link (probabilities of boosting, for example), which is no sum of trees; "
                   "forests and trees can be its members, or save the members one by one")
    parts = [part.among(outputs, count, weight) for (outputs, count, part), weight in zip(members, np.divide(weights, np.sum(weights)))]
    return Sum(sum(part.base for part in parts), [tree for part in parts for tree in part.trees])


def plain(tree, value, view, scale, **more):
    """A tree of anything but histogram gradient boosting."""
    value = value.reshape(tree.node_count, -1) * (tree.children_left[:, None] < 0)  # what splits would say is not needed
    return dict(left=tree.children_left, right=tree.children_right, feature=tree.feature, threshold=tree.threshold, value=value.ravel(),
                default_left=tree.missing_go_to_left, cover=tree.weighted_n_node_samples, scale=scale, view=view, width="single") | more


def histogram(predictor, output, view):
    """A tree of histogram gradient boosting."""
    nodes, split = predictor.nodes, predictor.nodes["is_leaf"] == 0
    sets = {node: predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]] for node in np.flatnonzero(nodes["is_categorical"] * split)}
    return dict(left=np.where(split, nodes["left"].astype(int), -1), right=np.where(split, nodes["right"].astype(int), -1),
                feature=nodes["feature_idx"].astype(int), threshold=nodes["num_threshold"], value=nodes["value"] * ~split,
                default_left=nodes["missing_go_to_left"], cover=nodes["count"], output=output, sets=sets, view=view, width="double")


def linear(model, view):
    """A linear model: for each output something like a tree, which has coefficients of the view's features."""
    kind = type(model).__name__
    if kind in ("SVR", "NuSVR", "SVC", "NuSVC") and (model.kernel != "linear" or len(getattr(model, "classes_", ())) > 2):
        refuse(model, "only a linear kernel, of two classes at most, makes a linear model; LinearSVC and LinearSVR do for any number")
    coefficients = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.asarray(model.coef_, dtype=float)
    coefficients = coefficients.reshape(-1, len(view.features))
    link, classes = IDENTITY, getattr(model, "multi_class", "")
    if kind in ("LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis") or getattr(model, "loss", "") in ("log_loss", "log"):
        if len(coefficients) == 1:
            link = LINKS["HalfLogitLink" if classes == "multinomial" else "LogitLink"]
        elif kind == "SGDClassifier" or classes == "ovr" or getattr(model, "solver", "") == "liblinear":
            link = None  # each class by itself, divided by their sum
        else:
            link = LINKS["MultinomialLogit"]
    elif hasattr(model, "_base_loss"):
        link = LINKS[type(model._base_loss.link).__name__]
    base = np.broadcast_to(np.ravel(model.intercept_), len(coefficients))
    trees = [dict(left=np.array([-1]), right=np.array([-1]), feature=np.array([0]), threshold=np.zeros(1), value=np.zeros(1),
                  default_left=np.array([False]), output=output, coefficients=row, view=view, width="double")
             for output, row in enumerate(coefficients)]
    return Sum(base, trees, link)


def values_of(tree, model):
    """What leaves say of all outputs: targets of a regressor, or shares of the classes, those of the first target first."""
    if isinstance(model.n_classes_ if hasattr(model, "n_classes_") else 1, list):
        return np.concatenate([tree.value[:, target, :count] for target, count in enumerate(model.n_classes_)], axis=1)
    return tree.value


def as_sum(model, view):
    """A fitted model as a sum of trees."""
    kind = type(model).__name__
    if hasattr(model, "_predictors"):  # HistGradientBoosting
        link = LINKS[type(model._loss.link).__name__]
        view = view if getattr(model, "_preprocessor", None) is None else view.of(model._preprocessor)
        return Sum(model._baseline_prediction.ravel(),
                   [histogram(tree, output, view) for stage in model._predictors for output, tree in enumerate(stage)], link)
    if kind in ("GradientBoostingRegressor", "GradientBoostingClassifier"):
        if model.init not in (None, "zero"):
            refuse(model, f"it starts from {model.init!r}, which is no sum of trees; leave init out")
        base = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)).ravel()
        return Sum(base, [plain(member.tree_, member.tree_.value, view, model.learning_rate, output=output)
                          for stage in model.estimators_ for output, member in enumerate(stage)], LINKS[type(model._loss.link).__name__])
    if kind == "IsolationForest":  # the margin is the mean path length, and the link makes it the anomaly score
        link = {"name": "half-power", "unit": float(_average_path_length([model._max_samples])[0])}
        trees = [plain(tree, tree.compute_node_depths() - 1 + _average_path_length(tree.n_node_samples), view, 1 / len(model.estimators_),
                       feature=np.take(features, tree.feature, mode="clip"))
                 for tree, features in zip((member.tree_ for member in model.estimators_), model.estimators_features_)]
        return Sum([0.0], trees, link)
    if kind in TREES | FORESTS:
        members = model.estimators_ if kind in FORESTS else [model]
        values = [values_of(member.tree_, model) for member in members]
        base = np.zeros(values[0][0].size)
        return Sum(base, [plain(member.tree_, value, view, 1 / len(members)) for member, value in zip(members, values)])
    if kind in LINEAR:
        return linear(model, view)
    if kind == "OneVsRestClassifier":
        members = [as_sum(member, view) for member in model.estimators_]
        if any(len(member.base) != 1 for member in members):
            refuse(model, "its members have several outputs; save its estimators_ one by one")
        parts = [member.among([output], len(members)) for output, member in enumerate(members)]
        # Probabilities of several classes are divided by their sum.
        link = members[0].link if len(members) == 1 or all(member.link == IDENTITY for member in members) else None
        return Sum(sum(part.base for part in parts), [tree for part in parts for tree in part.trees], link)
    if kind.startswith("XGB") and hasattr(model, "get_booster"):
        return of_xgboost(model, view)
    if kind.startswith("LGBM") and hasattr(model, "booster_"):
        return of_lightgbm(model, view)
    if kind == "NGBRegressor":  # of NGBoost; one output for each parameter of the law, the first of which is the mean of a normal one
        trees = []
        for members, scale, chosen in zip(model.base_models, model.scalings, model.col_idxs):
            features = view if chosen is None else view.columns(list(chosen))
            for output, member in enumerate(members):
                if type(member).__name__ not in TREES:
                    refuse(model, f"its members are {type(member).__name__}, where trees are wanted")
                trees.append(plain(member.tree_, member.tree_.value, features, -model.learning_rate * scale, output=output))
        return Sum(model.init_params, trees)
    if kind == "Pipeline":
        for _, step in model.steps[:-1]:
            view = view if step is None or step == "passthrough" else view.of(step)
        return as_sum(model.steps[-1][1], view)
    if kind in WRAPPERS:
        return as_sum(getattr(model, WRAPPERS[kind]), view)
    if kind in ("BaggingRegressor", "BaggingClassifier"):
        members = []
        for member, chosen in zip(model.estimators_, model.estimators_features_):
            part = as_sum(member, view.columns(list(chosen)))
            count = len(model.classes_) if kind == "BaggingClassifier" else len(part.base)
            members.append((member.classes_.astype(int) if kind == "BaggingClassifier" else range(count), count, part))
        return mean(model, members, np.ones(len(members)))
    if kind in ("VotingRegressor", "VotingClassifier"):
        if kind == "VotingClassifier" and model.voting != "soft":
            refuse(model, "a majority of votes is no sum; use voting='soft'")
        members = [as_sum(member, view) for member in model.estimators_]
        weights = np.ones(len(members)) if model.weights is None else model._weights_not_none
        return mean(model, [(range(len(member.base)), len(member.base), member) for member in members], weights)
    if kind == "AdaBoostClassifier":
        return votes(model, view)
    if kind in ("MultiOutputRegressor", "MultiOutputClassifier"):
        members = [as_sum(member, view) for member in model.estimators_]
        link, count = members[0].link, sum(len(member.base) for member in members)
        if any(member.link != link for member in members) or link in (None, LINKS["MultinomialLogit"]):
            refuse(model, "its targets have different links, or three classes each; save its estimators_ one by one")
        ends = np.cumsum([len(member.base) for member in members])
        parts = [member.among(range(end - len(member.base), end), count) for member, end in zip(members, ends)]
        return Sum(sum(part.base for part in parts), [tree for part in parts for tree in part.trees], link)
    if kind == "TransformedTargetRegressor":
        part = as_sum(model.regressor_, view)
        if model.inverse_func is not np.exp or part.link != IDENTITY:
            refuse(model, "only inverse_func=np.exp has a link here; save its regressor_, whose predictions are those of the transformed target")
        return Sum(part.base, part.trees, LINKS["LogLink"])
    why = next((why for name, why in REFUSED.items() if name in kind), None)
    refuse(model, why or "it is no model of trees and no linear model that is known here; linear models, trees, forests, gradient boosting, AdaBoostClassifier, isolation forests, and "
           "bagging, voting, multi-output models and pipelines of these are")


def votes(model, view):
    """AdaBoost: the margin is the decision function of two classes, and of K classes that divided by K - 1: its softmax gives probabilities."""
    classes, weights = len(model.classes_), model.estimator_weights_[:len(model.estimators_)]
    if getattr(model, "algorithm", None) == "SAMME.R":
        refuse(model, "SAMME.R adds logarithms of probabilities; use algorithm='SAMME'")
    trees = []
    for member, weight in zip(model.estimators_, weights / weights.sum()):
        if type(member).__name__ not in TREES:
            refuse(model, f"its members are {type(member).__name__}, and only votes of single trees add up; use DecisionTreeClassifier")
        class_of = np.searchsorted(model.classes_, member.classes_[member.tree_.value[:, 0].argmax(axis=1)])
        if classes == 2:
            value = np.where(class_of == 1, 2.0, -2.0)
        else:
            value = np.where(class_of[:, None] == np.arange(classes), 1.0, -1.0 / (classes - 1)) / (classes - 1)
        trees.append(plain(member.tree_, value, view, weight))
    return Sum(np.zeros(1 if classes == 2 else classes), trees, LINKS["LogitLink" if classes == 2 else "MultinomialLogit"])


# Boosting of other libraries, behind transformers or in an ensemble; by themselves their own files are read.


def of_xgboost(model, view):
    """The margins of XGBoost, added in doubles; after early stopping those of the best round, as the model itself predicts."""
    if not is_missing(model.get_params().get("missing", np.nan)):
        refuse(model, f"it takes {model.get_params()['missing']!r} for missing; replace that by NaN in the table")
    booster = model.get_booster()
    if getattr(model, "early_stopping_rounds", None):
        booster = booster[:model.best_iteration + 1]
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    objective, gradient_booster = learner["objective"]["name"], learner["gradient_booster"]
    held = gradient_booster.get("gbtree", gradient_booster).get("model", {})
    weights = gradient_booster.get("weight_drop") or held.get("weight_drop")  # of dart, up to 3.3 and later
    links = {"binary:logistic": "LogitLink", "reg:logistic": "LogitLink", "multi:softprob": "MultinomialLogit", "multi:softmax": "MultinomialLogit",
             "count:poisson": "LogLink", "reg:gamma": "LogLink", "reg:tweedie": "LogLink", "reg:squarederror": "IdentityLink",
             "reg:absoluteerror": "IdentityLink", "reg:pseudohubererror": "IdentityLink", "rank:ndcg": "IdentityLink", "rank:pairwise": "IdentityLink"}
    if objective not in links or "trees" not in held:
        refuse(model, f"its booster or its objective {objective!r} is not known here; save it by its own save_model, and explain transformed rows")
    link, parameters = links[objective], learner["learner_model_param"]
    base = np.array(parameters["base_score"].strip("[]").split(","), dtype=np.float32).astype(float)
    base = {"LogitLink": lambda p: np.log(p / (1 - p)), "LogLink": np.log}.get(link, lambda p: p)(base)
    base = base * np.ones(max(len(base), int(parameters["num_class"]), int(parameters.get("num_target", 1))))
    view, trees = view.with_zeros_missing(), []
    for place, (tree, output) in enumerate(zip(held["trees"], held["tree_info"])):
        left, numbers = np.array(tree["left_children"]), np.array(tree["split_conditions"], dtype=np.float32)
        if any(tree.get("split_type", ())) or int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
            refuse(model, "it has splits on categories or vectors in its leaves; leave enable_categorical out, and encode columns before it")
        below = np.nextafter(numbers, np.float32(-np.inf)).astype(float)  # x < t, as x <= t' of the next smaller number of 32 bits
        trees.append(dict(left=left, right=np.array(tree["right_children"]), feature=np.array(tree["split_indices"]), threshold=below,
                          value=numbers.astype(float) * (left < 0), default_left=np.array(tree["default_left"], dtype=bool),
                          cover=np.array(tree["sum_hessian"], dtype=float), output=output, scale=float(weights[place]) if weights else 1.0,
                          view=view, width="single"))
    return Sum(base, trees, LINKS[link])


def of_lightgbm(model, view):
    """The raw scores of LightGBM; after early stopping those of the best round, as the model itself predicts."""
    dump = model.booster_.dump_model()
    objective, outputs = dump["objective"].split(), dump["num_tree_per_iteration"]
    links = {"regression": IDENTITY, "regression_l1": IDENTITY, "huber": IDENTITY, "fair": IDENTITY, "quantile": IDENTITY, "lambdarank": IDENTITY,
             "poisson": LINKS["LogLink"], "gamma": LINKS["LogLink"], "tweedie": LINKS["LogLink"], "multiclass": LINKS["MultinomialLogit"],
             "binary": LINKS["LogitLink"] | {"steepness": float(dict(word.split(":") for word in objective if ":" in word).get("sigmoid", 1))}}
    if objective[0] not in links or "sqrt" in objective:
        refuse(model, f"its objective {dump['objective']!r} is not known here; save it by its own booster_.save_model, and explain transformed rows")
    trees = []
    for place, tree in enumerate(dump["tree_info"]):
        nodes = [tree["tree_structure"]]
        for node in nodes:  # which grows: children come after their parents
            nodes += [node[side] for side in ("left_child", "right_child") if side in node]
        numbered, splits = {id(node): number for number, node in enumerate(nodes)}, ["left_child" in node for node in nodes]
        for node in nodes:
            if node.get("decision_type", "<=") != "<=" or node.get("missing_type") == "Zero" or "leaf_const" in node:
                refuse(model, "it has splits on categories, zeros that are missing, or linear leaves; leave these options out, and encode columns before it")
        left, right = ([numbered[id(node[side])] if split else -1 for node, split in zip(nodes, splits)] for side in ("left_child", "right_child"))
        counts = [node["internal_count" if split else "leaf_count"] if len(nodes) > 1 else 1 for node, split in zip(nodes, splits)]
        # Without a kind of missing value NaN counts as zero.
        default_left = [split and (node["default_left"] if node["missing_type"] == "NaN" else 0.0 <= node["threshold"])
                        for node, split in zip(nodes, splits)]
        trees.append(dict(left=np.array(left), right=np.array(right), feature=np.array([node.get("split_feature", 0) for node in nodes]),
                          threshold=np.array([node.get("threshold", 0.0) for node in nodes], dtype=float),
                          value=np.array([0.0 if split else node["leaf_value"] for node, split in zip(nodes, splits)]),
                          default_left=np.array(default_left), cover=np.array(counts, dtype=float), output=place % outputs,
                          scale=outputs / len(dump["tree_info"]) if dump.get("average_output") else 1.0, view=view, width="double"))
    return Sum(np.zeros(outputs), trees, links[objective[0]])


# Splits on columns of the table.


class Table:
    """The columns of the table, and rows that try something in one or several of them."""

    def __init__(self, model):
        self.count = model.n_features_in_ if hasattr(model, "n_features_in_") else model.n_features
        self.names = list(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None
        self.categories, self.missing = {}, {}

    def add(self, column, known):
        """An encoder knows these categories of a column."""
        categories = self.categories.setdefault(column, [])
        met = set(categories)
        categories += [category for category in known if not is_missing(category) and category not in met]
        if any(category is None for category in known):
            self.missing[column] = None  # what a missing word is in this table; NaN in all others

    def settle(self, views):
        """All encoders, and all views of models, are known."""
        self.used = {feature.column for view in views for feature in view.features}
        # Words have codes in the file; numbers stay as they are.
        self.words = {column: known for column, known in self.categories.items() if any(isinstance(value, str) for value in known)}
        self.rest = [next(iter(self.categories.get(column, ())), 0.0) for column in range(self.count)]

    def name(self, column):
        return f"column {column}" if self.names is None else f"the column {self.names[column]!r}"

    def rows(self, tried):
        """Rows that hold the tried values of some columns, and in all others something that is known."""
        count = max(map(len, tried.values()))
        columns = []
        for column in range(self.count):
            values = list(tried.get(column, ()))
            values += [self.rest[column]] * (count - len(values))
            words = any(isinstance(value, str) or value is None for value in [*values[:1], self.rest[column]])
            columns.append(np.array(values, dtype=object if words else None))
        if self.names is not None:
            import pandas
            return pandas.DataFrame(dict(zip(self.names, columns)))
        kinds = object if any(column.dtype == object for column in columns) else float
        return np.stack([column.astype(kinds) for column in columns], axis=1)

    def unknown(self, column):
        """Something that is none of the categories of a column."""
        known = self.categories[column]
        if column not in self.words:
            return float(max(map(float, known), default=0.0)) + 1.0
        word = "no category"
        while word in known:
            word += "_"
        return word


KEY_OF_INFINITY = np.array(np.inf).view(np.int64)[()]


def double(keys):
    """Doubles by their place among all of them: key 0 is zero, 1 the least positive number, and so on."""
    return np.where(keys < 0, -np.abs(keys).view(np.float64), np.abs(keys).view(np.float64))


def boundaries(view, width, table, wanted):
    """For each pair of a feature and a threshold the largest double of its column whose feature is at most the threshold."""
    pairs = {}
    for index, threshold in sorted(wanted):
        pairs.setdefault(view.features[index].column, []).append((index, threshold))
    index = {column: np.array([index for index, _ in listed]) for column, listed in pairs.items()}
    threshold = {column: np.array([threshold for _, threshold in listed]) for column, listed in pairs.items()}
    low = {column: np.full(len(listed), -KEY_OF_INFINITY) for column, listed in pairs.items()}
    high = {column: np.full(len(listed), KEY_OF_INFINITY) for column, listed in pairs.items()}
    while any((high[column] - 1 > low[column]).any() for column in pairs):
        middle = {column: (low[column] >> 1) + (high[column] >> 1) + (low[column] & high[column] & 1) for column in pairs}
        # Where both ends have met the middle is the lower one, which may be infinite, and is not asked for.
        values = view.values(table.rows({column: np.where(np.abs(keys) < KEY_OF_INFINITY, double(keys), 0.0) for column, keys in middle.items()}))
        if values is None:
            refuse("the pipeline", f"a column is used as a number and as categories, and it refuses numbers that are none ({view.problem}); set "
                   "handle_unknown='ignore'")
        values = rounded(view.binned(values), width)
        for column, keys in middle.items():
            met = high[column] - 1 <= low[column]
            at_most = values[np.arange(len(keys)), index[column]] <= threshold[column]
            low[column] = np.where(~met & at_most, keys, low[column])
            high[column] = np.where(~met & ~at_most, keys, high[column])
    return {pair: bound for column, listed in pairs.items() for pair, bound in zip(listed, double(low[column]))}


def rounded(values, width):
    return np.float32(values).astype(float) if width == "single" else values


def left_of(tree, node, values, width):
    """Which values of its feature, none of them missing, a split sends left; a missing one goes by the default."""
    values = np.asarray(values)
    missing, known = np.isnan(values), np.where(np.isnan(values), 0.0, values)
    if node in tree.get("sets", {}):
        codes = known.astype(np.uint32)
        left = tree["sets"][node][codes // 32] >> codes % 32 & 1 == 1
    else:
        left = rounded(known, width) <= tree["threshold"][node]
    return np.where(missing, bool(tree["default_left"][node]), left)


def fold(view, width, trees, table):
    """Writes the splits of trees with one view as splits on the columns of the table, in place; the columns whose unknown words are refused."""
    features, wanted = view.features, set()
    learnt = {column: Learnt(view, table, column) for column in {feature.column for feature in features}}
    splits = [np.flatnonzero(np.asarray(tree["left"]) >= 0) for tree in trees]
    for tree, nodes in zip(trees, splits):
        for index, threshold in zip(tree["feature"][nodes].tolist(), tree["threshold"][nodes].tolist()):
            if features[index].bins:
                wanted |= {(index, features[index].bin - 1.0), (index, float(features[index].bin))}
            elif not features[index].encoded:
                wanted.add((index, threshold))
    bounds = boundaries(view, width, table, wanted)
    for tree, nodes in zip(trees, splits):
        rules, threshold, default_left = [], np.zeros(len(tree["left"])), np.array(tree["default_left"], dtype=bool)
        for node, index, compared in zip(nodes.tolist(), tree["feature"][nodes].tolist(), tree["threshold"][nodes].tolist()):
            feature, column = features[index], learnt[features[index].column]
            if column.missing is not None and not np.isnan(column.missing[index]):
                default_left[node] = left_of(tree, node, column.missing[index], width)
            if feature.bins:
                inside, outside = left_of(tree, node, [1.0, 0.0], width)
                if inside != outside:
                    ends = [np.nextafter(bounds[index, feature.bin - 1.0], np.inf), bounds[index, float(feature.bin)]]
                    rules.append(dict(node=node, between=ends, side="left" if inside else "right"))
                else:
                    threshold[node] = np.inf if inside else -np.inf
            elif not feature.encoded:
                threshold[node] = bounds[index, compared]
            else:
                left = left_of(tree, node, column.known[:, index], width)
                others = left.sum() * 2 > len(left) if column.unknown is None else bool(left_of(tree, node, column.unknown[index], width))
                listed = np.flatnonzero(left != others)
                if feature.column in table.words:
                    rules.append(dict(node=node, categories=listed, side="right" if others else "left"))
                else:
                    numbers = [float(table.categories[feature.column][code]) for code in listed]
                    rules.append(dict(node=node, numbers=numbers, side="right" if others else "left"))
        columns = np.array([feature.column for feature in features])
        tree.update(feature=np.take(columns, tree["feature"], mode="clip"), threshold=threshold, default_left=default_left, rules=rules,
                    width="double")
    return {column for column in table.words if column in learnt and learnt[column].unknown is None}


# Linear models on columns of the table.


def on_columns(tree, table, learnt, refusing, wanted):
    """The trees, one for each column, that a linear model of features is the sum of. Columns whose unknown words are refused are added to
    `refusing`, those that may not be missing to `wanted`."""
    view, coefficients = tree["view"], tree["coefficients"] * tree.get("scale", 1.0)
    parts = {}
    for index, feature in enumerate(view.features):
        kind = "encoded" if feature.encoded else "affine" if feature.slope is not None else "steps" if feature.steps or feature.bins else None
        if kind is None:
            refuse("a linear model", f"what the steps before it make of {table.name(feature.column)} is neither linear nor in steps; leave out "
                   "what clips it, or scales its steps")
        parts.setdefault((feature.column, kind), []).append(index)
    for (column, kind), indices in parts.items():
        if (id(view), column) not in learnt:
            learnt[id(view), column] = Learnt(view, table, column)
        known, weights = learnt[id(view), column], coefficients[indices]
        missing = None if known.missing is None else float(weights @ known.missing[indices])
        if missing is None or np.isnan(missing):
            wanted.add(column)
            missing = 0.0
        node = Nodes()
        if kind == "affine":
            slopes = weights @ [view.features[index].slope for index in indices]
            shifts = weights @ [view.features[index].shift for index in indices]
            leaf, more = node.leaf(missing), dict(linear=[dict(node=0, constant=shifts, features=[column], coefficients=[slopes])])
        elif kind == "encoded":
            if known.unknown is None and column in table.words:
                refusing.add(column)
            unknown = 0.0 if known.unknown is None else float(weights @ known.unknown[indices])
            leaf, more = node.categories(known.known[:, indices] @ weights, unknown, missing, table, column), {}
        else:
            leaf, more = node.steps(view, table, column, indices, weights, missing), {}
        yield node.tree(column, tree["output"]) | more


class Nodes:
    """The nodes of a tree on one column."""

    def __init__(self):
        self.left, self.right, self.threshold, self.value, self.default_left, self.rules = [], [], [], [], [], []

    def leaf(self, value):
        for numbers, number in ((self.left, -1), (self.right, -1), (self.threshold, 0.0), (self.value, value), (self.default_left, False)):
            numbers.append(number)
        return len(self.left) - 1

    def split(self, below, above, threshold=0.0, default_left=False, rule=None):
        """A split, after which `below` and `above` make their own nodes."""
        node = self.leaf(0.0)
        self.threshold[node], self.default_left[node] = threshold, default_left
        if rule is not None:
            self.rules.append(dict(node=node, side="left") | rule)
        self.left[node] = below()
        self.right[node] = above()
        return node

    def apart(self, missing, others):
        """A leaf for missing values beside all others."""
        return self.split(lambda: self.leaf(missing), others, threshold=-np.inf, default_left=True)

    def categories(self, values, unknown, missing, table, column):
        """A leaf for each category, one for unknown ones, and one for missing ones."""
        def among(codes):
            if column in table.words:
                return dict(categories=[int(code) for code in codes])
            return dict(numbers=[float(table.categories[column][code]) for code in codes])

        def known(codes):
            if np.all(values[codes] == values[codes[0]]):
                return self.leaf(values[codes[0]])
            half = len(codes) // 2
            return self.split(lambda: known(codes[:half]), lambda: known(codes[half:]), rule=among(codes[:half]))

        codes = np.argsort(values, kind="stable")

        def all_but_missing():
            if not len(codes):
                return self.leaf(unknown)
            return self.split(lambda: known(codes), lambda: self.leaf(unknown), rule=among(codes))
        return self.apart(missing, all_but_missing)

    def steps(self, view, table, column, indices, weights, missing):
        """A leaf for each interval in which step functions of a number do not change."""
        pairs = set()
        for index in indices:
            feature = view.features[index]
            pairs |= {(index, float(step)) for step in (range(feature.bins - 1) if feature.bins else feature.steps)}
        bounds = np.unique(list(boundaries(view, "double", table, pairs).values())) if pairs else np.array([])
        # The last double of each interval, and one beyond them all.
        ends = np.append(bounds, np.nextafter(bounds[-1], np.inf) if len(bounds) else 0.0)
        values = view.values(table.rows({column: ends}))[:, indices] @ weights

        def between(first, last):
            if first == last:
                return self.leaf(values[first])
            middle = (first + last) // 2
            return self.split(lambda: between(first, middle), lambda: between(middle + 1, last), threshold=bounds[middle])
        return self.apart(missing, lambda: between(0, len(bounds)))

    def tree(self, column, output):
        return dict(left=self.left, right=self.right, feature=np.full(len(self.left), column), threshold=self.threshold, value=self.value,
                    default_left=self.default_left, output=output, width="double") | (dict(rules=self.rules) if self.rules else {})


class Learnt:
    """What features are of each category of a column, of a missing value and of an unknown category; None where these are refused."""

    def __init__(self, view, table, column):
        def ask(*values):
            return view.values(table.rows({column: values}))

        self.missing = ask(table.missing.get(column, np.nan))
        self.missing = None if self.missing is None else self.missing[0]
        self.known, self.unknown = None, None
        if any(feature.column == column and feature.encoded for feature in view.features):
            self.known = ask(*table.categories[column])
            if self.known is None:
                refuse("the pipeline", f"it refuses categories of {table.name(column)} that an encoder of it knows ({view.problem}); where "
                       "encoders of a column differ, set handle_unknown")
            unknown = ask(table.unknown(column))
            self.unknown = None if unknown is None else unknown[0]


def document(model):
    """The model as a document of docs/tree-json.md: dictionaries, lists, arrays and numbers."""
    if not hasattr(model, "n_features_in_") and not hasattr(model, "n_features"):
        refuse(model, "it is not fitted (a search needs refit=True), or says no number of columns (n_features_in_)")
    table = Table(model)
    whole = as_sum(model, View(table, [Feature(column) for column in range(table.count)]))
    views = {id(tree["view"]): tree["view"] for tree in whole.trees}
    table.settle(views.values())
    categories, refusing, wanted, learnt = [], set(), set(), {}
    models = [tree for tree in whole.trees if "coefficients" in tree]
    whole.trees = [tree for tree in whole.trees if "coefficients" not in tree]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        terms = [term for tree in models for term in on_columns(tree, table, learnt, refusing, wanted)]
    if all(view.is_table() for view in views.values()) and len({tree["width"] for tree in whole.trees + terms}) == 1:
        for tree in whole.trees:
            columns = np.array([feature.column for feature in tree["view"].features])
            tree["feature"] = np.take(columns, tree["feature"], mode="clip")
    else:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            groups = {}
            for tree in whole.trees:
                groups.setdefault((id(tree["view"]), tree["width"]), []).append(tree)
            for (_, width), trees in groups.items():
                refusing |= fold(trees[0]["view"], width, trees, table)
        # Columns that no feature comes from need not be in the rows, if names say which these are.
        kept = np.array(sorted(table.used) if table.names is not None else range(table.count))
        for tree in whole.trees + terms:
            tree["feature"] = np.searchsorted(kept, tree["feature"])
            for leaf in tree.get("linear", ()):
                leaf["features"] = np.searchsorted(kept, leaf["features"])
        wanted = {int(np.searchsorted(kept, column)) for column in wanted}
        categories = [dict(feature=int(np.searchsorted(kept, column)), values=known, unknown="refused" if column in refusing else "no category")
                      for column, known in sorted(table.words.items()) if column in table.used]
        table.count, table.names = len(kept), None if table.names is None else [table.names[column] for column in kept]
    whole.trees += terms
    names = {"feature_names": table.names} if table.names is not None else {}
    words = {"categories": categories} if categories else {}
    outputs, labels = {}, classes_of(model)
    if labels is not None and len(labels) == len(whole.base):
        outputs = {"output_names": labels}
    elif labels is not None and len(labels) == 2 and len(whole.base) == 1:
        outputs = {"class_names": labels}
    refused = {"refuses_missing": sorted(wanted)} if wanted else {}
    link = {"link": whole.link} if whole.link is not None else {}
    trees = [{key: value for key, value in tree.items() if key not in ("view", "width", "sets")} for tree in whole.trees]
    return dict(format="apportion-trees", version=1, width=whole.trees[0]["width"] if trees else "double", features=table.count,
                base_margins=whole.base, **link, operator="<=", trees=trees, **names, **words, **refused, **outputs,
                source=dict(library="scikit-learn", version=sklearn.__version__, model=described(model)))


def classes_of(model):
    """The classes of a classifier of one target as text, which are called as its outputs are."""
    classes = getattr(model, "classes_", None)
    return None if classes is None or isinstance(classes, list) else [str(label) for label in classes]


def described(model):
    """The classes of a model and of what it is made of: Pipeline of RandomForestRegressor."""
    inner = model.steps[-1][1] if hasattr(model, "steps") else getattr(model, WRAPPERS.get(type(model).__name__, ""), None)
    return type(model).__name__ + (f" of {described(inner)}" if inner is not None else "")


def save(model, path):
    """Writes a fitted model; raises Refused, a ValueError, where it cannot be written."""
    content = json.dumps(document(model), default=lambda array: array.tolist())
    with open(path, "w") as file:
        file.write(content)


def main():
    import joblib

    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        save(joblib.load(sys.argv[1]), sys.argv[2])
    except Refused as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
