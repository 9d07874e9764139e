"""Writes tree models and linear models of scikit-learn (1.2 or later), pipelines included, as JSON
(docs/tree-json.md).

    from apportion.scikit_learn_to_json import save
    save(model, "model.json")

or, for a model in a file that you trust, `python -m apportion.scikit_learn_to_json model.joblib model.json`.
This file does not depend on the rest of the package: to use it alone, copy the file.

A model becomes a sum of trees. If transformers come before the trees, every split is written as a split on a
column of the table. To find these splits, the transformers are called with each category, with each kind of
missing value, and with numbers. Thresholds on numbers are found by bisection over all doubles. The JSON model
therefore takes the same branches as the pipeline, for every row. A linear model becomes a linear leaf, and
trees of one column each for categories, bins and imputed values.
"""
import json
import os
import sys
import warnings
from typing import Any, NamedTuple, NoReturn

import numpy as np
import sklearn
from sklearn.ensemble._iforest import _average_path_length
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array

LINKS = {"IdentityLink": {"name": "identity"}, "LogLink": {"name": "exponential"},
         "LogitLink": {"name": "logistic"}, "HalfLogitLink": {"name": "logistic", "steepness": 2},
         "MultinomialLogit": {"name": "softmax"}}
IDENTITY = {"name": "identity"}
SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Binarizer"}
TREES = {"DecisionTreeRegressor", "DecisionTreeClassifier", "ExtraTreeRegressor", "ExtraTreeClassifier"}
FORESTS = {"RandomForestRegressor", "RandomForestClassifier", "ExtraTreesRegressor", "ExtraTreesClassifier"}
BOOSTING = {"GradientBoostingRegressor", "GradientBoostingClassifier"}
HISTOGRAMS = {"HistGradientBoostingRegressor", "HistGradientBoostingClassifier"}
LINEAR = {"LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "LassoLars", "LassoLarsCV",
          "LassoLarsIC", "Lars", "LarsCV", "ElasticNet", "ElasticNetCV", "MultiTaskLasso", "MultiTaskLassoCV",
          "MultiTaskElasticNet", "MultiTaskElasticNetCV", "OrthogonalMatchingPursuit",
          "OrthogonalMatchingPursuitCV", "BayesianRidge", "ARDRegression", "HuberRegressor",
          "TheilSenRegressor", "QuantileRegressor", "SGDRegressor", "PassiveAggressiveRegressor", "LinearSVR",
          "SVR", "NuSVR", "PoissonRegressor", "GammaRegressor", "TweedieRegressor", "LogisticRegression",
          "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier", "Perceptron",
          "PassiveAggressiveClassifier", "LinearSVC", "SVC", "NuSVC", "LinearDiscriminantAnalysis"}
WRAPPERS = {"RANSACRegressor": "estimator_", "BaseSearchCV": "best_estimator_",
            "GridSearchCV": "best_estimator_", "RandomizedSearchCV": "best_estimator_",
            "HalvingGridSearchCV": "best_estimator_", "HalvingRandomSearchCV": "best_estimator_",
            "FrozenEstimator": "estimator", "TunedThresholdClassifierCV": "estimator_",
            "FixedThresholdClassifier": "estimator_", "pyod.IForest": "detector_"}
SURVIVAL_TREES = {"sksurv.SurvivalTree", "sksurv.ExtraSurvivalTree"}
SURVIVAL_FORESTS = {"sksurv.RandomSurvivalForest", "sksurv.ExtraSurvivalTrees"}
# Methods of survival models that return a function of time for each row, in the order in which leaves store
# them.
AT_TIMES = ["predict_cumulative_hazard_function", "predict_survival_function"]
QUANTILE_FORESTS = {"quantile_forest.RandomForestQuantileRegressor",
                    "quantile_forest.ExtraTreesQuantileRegressor"}
# Classes of imbalanced-learn that differ from these classes of scikit-learn only in how they are fitted.
LIKE = {"imblearn.Pipeline": "Pipeline", "imblearn.BalancedRandomForestClassifier": "RandomForestClassifier",
        "imblearn.BalancedBaggingClassifier": "BaggingClassifier",
        "imblearn.EasyEnsembleClassifier": "BaggingClassifier",
        "imblearn.RUSBoostClassifier": "AdaBoostClassifier"}
REFUSED = {"Stacking": "its last estimator uses the predictions of the others, so it is not a sum of trees; "
           "save its estimators_ one by one", "AdaBoostRegressor": "it is a weighted median of trees, not a "
           "sum; train gradient boosting, a forest or BaggingRegressor",
           "CalibratedClassifierCV": "calibration transforms the output of each classifier separately; save "
           "the classifier inside it, fitted without calibration",
           "Chain": "later members use the predictions of earlier ones; "
           "use MultiOutputRegressor or MultiOutputClassifier",
           "CatBoost": "save it with its own save_model, and explain rows that the steps before it have "
           "transformed", "Quantile": "its default prediction is a quantile of the training targets in the "
           "leaves, not a sum of leaves; set default_quantiles=\"mean\" for the mean",
           "econml": "its predictions are solutions of equations that are averaged over trees, or come from "
           "several models, so they are not sums of leaves"}
ANY_MODEL = "apportion.Explainer(model, X) works for any model that can be called"

# The supported libraries. A class of any other library is treated as its first base class from one of them.
LIBRARIES = {"sklearn", "imblearn", "xgboost", "lightgbm", "ngboost", "sksurv", "quantile_forest", "pyod",
             "econml", "catboost"}
# Attributes that a derived class may define without changing its predictions.
HARMLESS = ("fit", "_fit", "partial_fit", "score", "get_params", "set_params", "get_feature_names_out",
            "get_metadata_routing", "set_", "_more_tags", "_get_tags", "_repr", "_parameter_constraints",
            "_estimator_type", "_required_parameters", "_get_param_names", "_abc_impl", "_sklearn_")
PREDICTIONS = {"predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples",
               "transform"}


class Refused(ValueError):
    """Raised if a model cannot be written as a sum of trees on the columns of its table."""


def refuse(thing: object, why: str) -> NoReturn:
    """Raises Refused with the reason and the remedy."""
    name = thing if isinstance(thing, str) else type(thing).__name__
    raise Refused(f"{name} cannot be explained exactly: {why}; {ANY_MODEL}")


def kind_of(thing: object) -> str:
    """Returns the class of a supported library that determines the predictions of an object: "Pipeline" for
    scikit-learn, "ngboost.NGBRegressor" for other libraries, and "" for an object without such a class. A
    derived class counts as its base class if it does not override predictions or transformations.
    """
    derived_classes, known = [], None
    for base in type(thing).__mro__:
        if base.__module__.partition(".")[0] in LIBRARIES:
            known = base
            break
        derived_classes.append(base)
    if known is None:
        return ""
    library = known.__module__.partition(".")[0]
    name = known.__name__ if library == "sklearn" else f"{library}.{known.__name__}"
    if known.__name__ != "BaseEstimator" and not known.__name__.endswith("Mixin"):
        for base in derived_classes:
            for attribute in vars(base):
                is_special = attribute.startswith("__") and attribute != "__getattribute__"
                is_harmless = attribute.startswith(HARMLESS) and attribute not in PREDICTIONS
                if hasattr(known, attribute) and not is_special and not is_harmless:
                    refuse(thing, f"{base.__module__}.{base.__name__} overrides {attribute} of {name}")
        for attribute in PREDICTIONS & set(getattr(thing, "__dict__", ())):
            if hasattr(known, attribute):
                refuse(thing, f"this object replaces {attribute} of {name}")
    return LIKE.get(name, name)


# The features of trees.


class Feature(NamedTuple):
    """A feature of the trees: a function of one column of the table."""
    column: int
    encoded: bool = False  # whether the feature is a function of the column's category
    raw: bool = True  # whether it is the column itself, except for missing values and their markers
    bins: int = 0  # the number of features that encode the bin of a number together
    bin: int = 0  # the position of this feature among them
    slope: float = 1.0  # for a number that is slope * x + shift; None for anything else
    shift: float = 0.0
    steps: tuple[Any, ...] = ()  # for a step function: its maximum in each step except the last
    flat: bool = False  # whether it only depends on whether the value is missing (or marks a missing value)
    imputed: bool = False  # whether missing values, or their markers, were replaced


class View:
    """The features of a model, and their computation from rows of the table."""

    def __init__(self, table, features=None, steps=()):
        self.table = table
        self.given = features
        self.steps = steps
        self.zeros_missing = False
        self.problem = None

    @property
    def features(self):
        """The features. For a table without steps, they are created on first use."""
        if self.given is None:
            self.given = [Feature(column) for column in range(self.table.count)]
        return self.given

    @property
    def count(self):
        """The number of features."""
        return self.table.count if self.given is None else len(self.given)

    def of(self, transformer):
        """Returns the view of the features after a transformer."""
        return View(self.table, derived(transformer, self.features, self.table),
                    (*self.steps, transformer.transform))

    def after(self, step):
        """Returns the view of the same features after a function that changes some of their values."""
        return View(self.table, self.features, (*self.steps, step))

    def columns(self, chosen):
        """Returns the view of some of the features, which an ensemble chose for a member."""
        if self.count == len(chosen) and all(map(int.__eq__, map(int, chosen), range(len(chosen)))):
            return self
        features = choose("an ensemble whose members use some of the features", self.features, chosen)
        return View(self.table, features, (*self.steps, lambda rows: np.asarray(rows)[:, chosen]))

    def with_zeros_missing(self):
        """Returns the view for a library that treats entries as missing that a sparse matrix does not
        store.
        """
        view = View(self.table, self.given, self.steps)
        view.zeros_missing = True
        return view

    def is_table(self):
        """Returns whether the features are the columns themselves."""
        return self.given is None or all(feature == Feature(feature.column) for feature in self.features)

    def values(self, rows):
        """Returns rows of the table after all transformers; None if one of them rejects a row."""
        try:
            for step in self.steps:
                rows = applied(step, rows)
            values = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=float)
            if self.zeros_missing and hasattr(rows, "tocoo"):
                if not all(feature.encoded for feature in self.features):
                    refuse("XGBoost after a sparse matrix", "it treats zeros as missing values, also in "
                           "numeric features; train with sparse_threshold=0 in the ColumnTransformer, or "
                           "sparse_output=False in the OneHotEncoder")
                held = rows.tocoo()
                values = np.full(values.shape, np.nan)
                values[held.row, held.col] = held.data
        except Refused:
            raise
        except Exception as problem:  # encoders raise any error for unknown categories
            self.problem = problem
            return None
        if values.ndim != 2 or values.shape[1] != self.count:
            refuse("a pipeline", f"its transformers returned an array of shape {values.shape}, "
                   f"expected {self.count} features")
        return values

    def binned(self, values):
        """Returns values in which the features that encode a bin together all contain the index of the
        bin.
        """
        if not any(feature.bins for feature in self.features):
            return values
        binned = values.copy()
        for index, feature in enumerate(self.features):
            if feature.bins:
                binned[:, index] = values[:, index - feature.bin:][:, :feature.bins].argmax(axis=1)
        return binned


def applied(step, rows):
    try:
        return step(rows)
    except TypeError:  # an encoder that was fitted on objects; numbers next to booleans become objects
        if not hasattr(rows, "astype") or hasattr(rows, "tocoo"):
            raise
        return step(rows.astype(object))


def derived(transformer, inputs, table):
    """Returns the features that a transformer creates, in their order; raises Refused for transformers that
    combine columns.
    """
    if isinstance(transformer, str) or transformer is None:
        return [] if transformer == "drop" else inputs
    if isinstance(transformer, SelectorMixin):
        changed = [name for name in ("transform", "_transform", "get_support")
                   if getattr(type(transformer), name, None) is not getattr(SelectorMixin, name, None)]
        if changed:
            refuse(transformer, f"it overrides {changed[0]} of scikit-learn's feature selectors")
        return choose(transformer, inputs, transformer.get_support(indices=True))
    kind = kind_of(transformer)
    if kind == "Pipeline":
        for step in steps_of(transformer):
            inputs = derived(step, inputs, table)
        return inputs
    if kind == "ColumnTransformer":
        indices = transformer._transformer_to_input_indices
        parts = [(step, choose(transformer, inputs, indices[name]))
                 for name, step, _ in transformer.transformers_]
        return [feature for step, part in parts if part for feature in derived(step, part, table)]
    if kind == "FeatureUnion":
        return [feature for _, step in transformer.transformer_list
                for feature in derived(step, inputs, table)]
    if kind == "FunctionTransformer" and (transformer.func is None
                                          or getattr(transformer.func, "func", None) is check_array):
        return inputs
    if kind in SCALERS:
        return [scaled(transformer, kind, number(transformer, feature), feature, place)
                for place, feature in enumerate(inputs)]
    if kind == "MissingIndicator":
        for feature in inputs:
            mark(transformer, feature, table)
        return [inputs[index]._replace(raw=False, slope=0.0, shift=0.0, steps=(), flat=True)
                for index in transformer.features_]
    if kind == "SimpleImputer":
        for feature in inputs:
            mark(transformer, feature, table)
        all_kept = transformer.strategy == "constant" or getattr(transformer, "keep_empty_features", False)
        kept = [feature._replace(imputed=True) for feature, fill in zip(inputs, transformer.statistics_)
                if all_kept or not is_nan(fill)]
        return kept + (derived(transformer.indicator_, inputs, table) if transformer.add_indicator else [])
    if kind in ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder"):
        counts = [1] * len(inputs)
        if kind == "OneHotEncoder":
            counts = transformer._n_features_outs
        elif kind == "TargetEncoder" and transformer.target_type_ == "multiclass":
            counts = [len(transformer.classes_)] * len(inputs)
        encoded = [encode(transformer, feature, known, table)
                   for feature, known in zip(inputs, transformer.categories_)]
        return [feature for feature, count in zip(encoded, counts) for _ in range(count)]
    if kind == "KBinsDiscretizer":
        numbers = [number(transformer, feature) for feature in inputs]
        if transformer.encode == "ordinal":
            return [feature._replace(steps=tuple(range(int(bins) - 1)))
                    for feature, bins in zip(numbers, transformer.n_bins_)]
        return [feature if feature.encoded else feature._replace(bins=int(bins), bin=bin)
                for feature, bins in zip(numbers, transformer.n_bins_) for bin in range(bins)]
    refuse(transformer, f"the transformer {type(transformer).__module__}.{type(transformer).__name__} is not "
           "supported, because its features may depend on several columns; before trees use scikit-learn's "
           "encoders (OneHotEncoder, OrdinalEncoder, TargetEncoder), scalers, SimpleImputer, "
           "KBinsDiscretizer, feature selectors and passthrough")


def steps_of(pipeline):
    """Returns the steps of a pipeline without samplers of imbalanced-learn, which do not affect predictions.
    """
    samples = any(base.__module__.startswith("imblearn.") for base in type(pipeline).__mro__)
    return [step for _, step in pipeline.steps if not (samples and hasattr(step, "fit_resample"))]


def choose(transformer, features, indices):
    """Returns some of the features."""
    if len(indices) < len(features) and any(feature.bins for feature in features):
        refuse(transformer, "it selects from bins that are one-hot encoded; use encode='ordinal'")
    return [features[index] for index in indices]


def number(transformer, feature):
    if feature.bins:
        refuse(transformer, "it comes after bins that are one-hot encoded; use encode='ordinal'")
    return feature._replace(raw=False, slope=None, shift=0.0, steps=())


def scaled(transformer, kind, feature, before, place):
    """Returns the feature with its slope after a scaler, if it was affine and still is."""
    if kind == "Binarizer" and before.slope:
        return feature._replace(steps=(0.0,))
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
        return feature._replace(slope=before.slope * factor,
                                shift=before.shift * factor + transformer.min_[place])
    return feature._replace(slope=before.slope / scale, shift=(before.shift - centre) / scale)


def encode(transformer, feature, known, table):
    if not feature.raw and not feature.encoded and not feature.flat:
        refuse(transformer, "its categories are numbers that another transformer computed; "
               "encode the columns of the table themselves")
    if feature.raw:
        for category in known:
            if not isinstance(category, (str, bool, np.bool_, int, float,
                                         np.number)) and not is_missing(category):
                refuse(transformer, f"its category {category!r} is a {type(category).__name__}; "
                       "expected a string, a number or a boolean")
        table.add(feature.column, known)
    return feature._replace(encoded=feature.raw or feature.encoded, raw=False, slope=None, shift=0.0,
                            steps=())


def mark(transformer, feature, table):
    """Records the value that a step treats as missing in the column of a feature."""
    marker = transformer.missing_values
    if feature.raw:
        table.mark(transformer, feature.column, marker)
    elif isinstance(marker,
                    (int, float,
                     np.number)) and not is_nan(marker) and not feature.encoded and not feature.flat:
        refuse(transformer, f"missing_values={marker!r} comes after a step that changes numbers, so it does "
               "not refer to numbers of the table; move this step to the front")


def is_nan(value):
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def is_missing(value):
    return value is None or type(value).__name__ in ("NAType", "NaTType") or is_nan(value)


# The kinds of missing cells in Python, which a pipeline may treat differently.
KINDS = ("nan", "None", "<NA>")


def kind_of_cell(value):
    """Returns the kind of a missing cell; None for any other cell."""
    if not is_missing(value):
        return None
    return "None" if value is None else "<NA>" if type(value).__name__ == "NAType" else "nan"


def cell_of_kind(kind):
    """Returns a missing cell of this kind; raises ImportError if its library is not installed."""
    if kind == "<NA>":
        import pandas

        return pandas.NA
    return {"nan": np.nan, "None": None}[kind]


# Models as sums of trees.


class Sum:
    """A base plus a sum of trees, each with the view of its features and the width to which it rounds them.
    """

    def __init__(self, base, trees, link=IDENTITY, names=None):
        self.base, self.trees, self.link, self.names = np.asarray(base, dtype=float), trees, link, names

    def among(self, outputs, count, factor=1.0):
        """Returns the sum with its outputs multiplied by a factor, as some of the outputs of a larger
        model.
        """
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
    """Returns the weighted mean of members, each given by the list of its outputs, the number of all outputs,
    and its sum.
    """
    for _, _, member in members:
        if member.link != IDENTITY:
            refuse(model, "it averages outputs after a link function (probabilities of boosting, for "
                   "example), which is not a sum of trees; "
                   "use forests and trees as members, or save the members one by one")
    parts = [part.among(outputs, count, weight)
             for (outputs, count, part), weight in zip(members, np.divide(weights, np.sum(weights)))]
    return Sum(sum(part.base for part in parts), [tree for part in parts for tree in part.trees])


def plain(tree, value, view, scale, **more):
    """Returns a tree of any model except histogram gradient boosting."""
    # Set the values of splits, which are not used, to 0.
    value = value.reshape(tree.node_count, -1) * (tree.children_left[:, None] < 0)
    # Before scikit-learn 1.3 trees do not support missing values.
    default_left = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count, dtype=bool))
    return (dict(left=tree.children_left, right=tree.children_right, feature=tree.feature,
                 threshold=tree.threshold, value=value.ravel(), default_left=default_left,
                 cover=tree.weighted_n_node_samples, scale=scale, view=view, width="single") | more)


def histogram(predictor, output, view):
    """Returns a tree of histogram gradient boosting."""
    nodes, split = predictor.nodes, predictor.nodes["is_leaf"] == 0
    sets = {node: predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
            for node in np.flatnonzero(nodes["is_categorical"] * split)}
    return dict(left=np.where(split, nodes["left"].astype(int), -1),
                right=np.where(split, nodes["right"].astype(int), -1),
                feature=nodes["feature_idx"].astype(int), threshold=nodes["num_threshold"],
                value=nodes["value"] * ~split, default_left=nodes["missing_go_to_left"], cover=nodes["count"],
                output=output, sets=sets, view=view, width="double")


def of_histograms(model, view):
    """Returns the sum of histogram gradient boosting, for which unseen categories are missing values."""
    if getattr(model, "_preprocessor", None) is not None:
        view = view.of(model._preprocessor)
    elif getattr(model, "is_categorical_", None) is not None and np.any(model.is_categorical_):
        # Scikit-learn before 1.4 stores the categories in the bin mapper.
        known = {column: np.asarray(model._bin_mapper.bin_thresholds_[column], dtype=float)
                 for column in np.flatnonzero(model.is_categorical_)}
        features = list(view.features)
        for column, categories in known.items():
            features[column] = encode(model, features[column], categories.tolist(), view.table)

        def unseen_are_missing(rows):
            rows = np.array(rows, dtype=float)
            for column, categories in known.items():
                rows[~np.isin(rows[:, column], categories), column] = np.nan
            return rows
        view = View(view.table, features, (*view.steps, unseen_are_missing))
    return Sum(model._baseline_prediction.ravel() if np.ndim(model._baseline_prediction)
               else [float(model._baseline_prediction)],
               [histogram(tree, output, view) for stage in model._predictors
                for output, tree in enumerate(stage)], LINKS[type(model._loss.link).__name__])


def link_of_boosting(model):
    """Returns the link of gradient boosting. Before scikit-learn 1.4, losses do not store their link."""
    link = getattr(model._loss, "link", None)
    if link is not None:
        return LINKS[type(link).__name__]
    names = {"log_loss": "LogitLink" if model.estimators_.shape[1] == 1 else "MultinomialLogit",
             "deviance": "LogitLink", "exponential": "HalfLogitLink"}
    return LINKS[names.get(model.loss, "IdentityLink")]


def of_boosting(model, view):
    """Returns the sum of gradient boosting that starts from a constant."""
    if model.init not in (None, "zero"):
        refuse(model, f"it starts from the predictions of init={model.init!r}, which is not a sum of trees; "
               "remove init")
    base = np.ravel(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)))
    return Sum(base, [plain(member.tree_, member.tree_.value, view, model.learning_rate, output=output)
                      for stage in model.estimators_ for output, member in enumerate(stage)],
               link_of_boosting(model))


def of_isolation_forest(model, view):
    """Returns the sum of an isolation forest: the margin is the mean path length, and the link converts it to
    the anomaly score.
    """
    most = model._max_samples if hasattr(model, "_max_samples") else model.max_samples_
    link = {"name": "half-power", "unit": float(_average_path_length([most])[0])}
    trees = [plain(tree, depths(tree) - 1 + _average_path_length(tree.n_node_samples), view,
                   1 / len(model.estimators_), feature=np.take(features, tree.feature, mode="clip"))
             for tree, features in zip((member.tree_ for member in model.estimators_),
                                       model.estimators_features_)]
    return Sum([0.0], trees, link)


def depths(tree):
    """Returns for each node of a tree the number of nodes on the path to it, including the node itself."""
    found = np.ones(tree.node_count)
    for node in range(tree.node_count):  # children have higher numbers than their parents
        for child in (tree.children_left[node], tree.children_right[node]):
            if child >= 0:
                found[child] = found[node] + 1
    return found


def of_survival(model, kind, view):
    """Returns the sum of survival trees and forests of scikit-survival: the risk score is the mean over trees
    of the sum of the leaf's cumulative hazards. With a method of AT_TIMES, each time has an output: the mean
    over trees of the value of the leaf's function.
    """
    members = model.estimators_ if kind in SURVIVAL_FORESTS else [model]
    trees, method = [], view.table.method
    for member in members:
        if kind_of(member) not in SURVIVAL_TREES:
            refuse(model, f"its members are {type(member).__name__}; expected survival trees")
        value = member.tree_.value
        if method is not None:
            if member.low_memory:
                refuse(model, f"low_memory=True does not support {method}")
            trees.append(plain(member.tree_, value[..., AT_TIMES.index(method)], view, 1 / len(members)))
            continue
        risk = (value[..., 0].ravel() if member.low_memory
                else value[..., 0][:, member.is_event_time_].sum(axis=1))
        trees.append(plain(member.tree_, risk, view, 1 / len(members)))
    if method is not None:
        return Sum(np.zeros(len(model.unique_times_)), trees,
                   names=[f"{time:g}" for time in model.unique_times_])
    return Sum([0.0], trees)


def of_regression_forest(model, view):
    """Returns the sum of EconML's regression forest: a mean of leaves if all factors of its equations are 1.
    """
    trees = []
    for member in model.estimators_:
        tree = member.tree_
        if not np.all(tree.jac == 1):
            refuse(model, REFUSED["econml"])
        value = tree.value.reshape(tree.node_count, -1) * (tree.children_left[:, None] < 0)
        trees.append(dict(left=tree.children_left, right=tree.children_right, feature=tree.feature,
                          threshold=tree.threshold, value=value.ravel(),
                          default_left=np.zeros(tree.node_count, dtype=bool),
                          cover=tree.weighted_n_node_samples_train, complete=True,
                          scale=1 / len(model.estimators_), view=view, width="double"))
    return Sum(np.zeros(value.shape[1]), trees)


def of_survival_boosting(model, kind, view):
    """Returns the sum of gradient boosting of scikit-survival: the log hazard ratio, or the logarithm of a
    time.
    """
    link = IDENTITY if model.loss == "coxph" else LINKS["LogLink"]
    if kind == "sksurv.ComponentwiseGradientBoostingSurvivalAnalysis":
        coefficients = np.zeros(view.count + 1)
        for member in model.estimators_:
            coefficients[member.component] += model.learning_rate * float(member.coef_)
        return Sum(coefficients[:1], [affine(coefficients[1:], 0, view)], link)
    if model.init not in (None, "zero"):
        refuse(model, f"it starts from the predictions of init={model.init!r}; remove init")
    base = np.ravel(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)))
    # The factors account for trees that were dropped in training.
    factors = getattr(model, "_scale", np.ones(len(model.estimators_)))
    return Sum(base, [plain(member.tree_, member.tree_.value, view, model.learning_rate * float(factor),
                            output=output) for stage, factor in zip(model.estimators_, factors)
                      for output, member in enumerate(stage)], link)


def affine(coefficients, output, view):
    """Returns the term of a linear model: like a tree, but with coefficients of the view's features."""
    return dict(output=output, coefficients=np.asarray(coefficients, dtype=float), view=view, width="double")


def linear(model, kind, view):
    """Returns a linear model as a `Sum`, with one affine term for each output."""
    if kind in ("SVR", "NuSVR", "SVC", "NuSVC") and (model.kernel != "linear"
                                                     or len(getattr(model, "classes_", ())) > 2):
        refuse(model, "it is only linear with a linear kernel and at most two classes; LinearSVC and "
               "LinearSVR support any number of classes")
    coefficients = (model.coef_.toarray() if hasattr(model.coef_, "toarray")
                    else np.asarray(model.coef_, dtype=float))
    coefficients = coefficients.reshape(-1, view.count)
    link, classes = IDENTITY, getattr(model, "multi_class", "")
    if (kind in ("LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis")
            or getattr(model, "loss", "") in ("log_loss", "log")):
        if len(coefficients) == 1:
            link = LINKS["HalfLogitLink" if classes == "multinomial" else "LogitLink"]
        elif kind == "SGDClassifier" or classes == "ovr" or getattr(model, "solver", "") == "liblinear":
            link = None  # each class has a logistic function, and probabilities are divided by their sum
        else:
            link = LINKS["MultinomialLogit"]
    elif hasattr(model, "_base_loss"):
        link = LINKS[type(model._base_loss.link).__name__]
    base = np.broadcast_to(np.ravel(model.intercept_), len(coefficients))
    return Sum(base, [affine(row, output, view) for output, row in enumerate(coefficients)], link)


def values_of(tree, model):
    """Returns the values of leaves for all outputs: the targets of a regressor, or the shares of classes,
    those of the first target first.
    """
    classes = getattr(model, "n_classes_", None)
    if classes is None or type(model).__name__.endswith("Regressor"):
        return tree.value
    counts = classes if isinstance(classes, list) else [classes]
    values = [tree.value[:, target, :count] for target, count in enumerate(counts)]
    # Before scikit-learn 1.3 trees store weights of the classes.
    sums = [value.sum(axis=1, keepdims=True) for value in values]
    values = [value if np.allclose(whole, 1, rtol=0, atol=1e-9) else value / np.where(whole == 0, 1, whole)
              for value, whole in zip(values, sums)]
    return np.concatenate(values, axis=1)


def means_of_leaves(model, members):
    """Returns the mean of the training targets that a quantile forest stores in each leaf. The forest
    averages over the targets of all leaves at once, which is the mean over trees if all leaves store equally
    many.
    """
    if getattr(model, "monotonic_cst", None) is not None:
        refuse(model, "its means are clipped by monotonic_cst")
    targets, values, sizes = np.asarray(model.forest_.y_train), [], set()
    for member, kept in zip(members, np.asarray(model.forest_.y_train_leaves)):
        kept = kept[:member.tree_.node_count]
        found = [np.where(kept[:, output] > 0, targets[output][kept[:, output] - 1], 0.0).sum(axis=1)
                 for output in range(len(targets))]
        counts = [np.maximum((kept[:, output] > 0).sum(axis=1), 1) for output in range(len(targets))]
        leaves = member.tree_.children_left < 0
        sizes |= set(np.ravel([count[leaves] for count in counts]).tolist())
        values.append(np.stack([whole / count for whole, count in zip(found, counts)], axis=1))
    if len(sizes) > 1:
        refuse(model, f"its leaves store {min(sizes)} to {max(sizes)} training rows, and its mean weights "
               "leaves by these numbers, so it is not a sum of leaves; use max_samples_leaf=1")
    return values


def refuses_missing(model):
    """Returns whether a tree model rejects rows with missing values, which depends on the version and on the
    training.
    """
    ask = model.predict if hasattr(model, "predict") else model.score_samples
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ask(np.full((1, model.n_features_in_), np.nan, dtype=np.float32))
        except Exception:
            return True
    return False


def as_sum(model, view):
    """Returns a fitted model as a sum of trees."""
    kind = kind_of(model)
    if kind in HISTOGRAMS:
        return of_histograms(model, view)
    whole = None
    if kind in BOOSTING:
        whole = of_boosting(model, view)
    elif kind == "IsolationForest":
        whole = of_isolation_forest(model, view)
    elif (kind in TREES | FORESTS or kind in QUANTILE_FORESTS
            and model.default_quantiles in (None, "mean", ["mean"])):
        members = [model] if kind in TREES else model.estimators_
        values = [values_of(member.tree_, model) for member in members]
        if kind in QUANTILE_FORESTS:
            values = means_of_leaves(model, members)
        base = np.zeros(values[0][0].size)
        whole = Sum(base, [plain(member.tree_, value, view, 1 / len(members))
                           for member, value in zip(members, values)])
    elif kind in SURVIVAL_TREES | SURVIVAL_FORESTS:
        whole = of_survival(model, kind, view)
    elif kind in ("sksurv.GradientBoostingSurvivalAnalysis",
                  "sksurv.ComponentwiseGradientBoostingSurvivalAnalysis"):
        whole = of_survival_boosting(model, kind, view)
    if whole is not None:
        if any("left" in tree for tree in whole.trees) and refuses_missing(model):
            for tree in whole.trees:
                tree["complete"] = True
        return whole
    if kind in LINEAR:
        return linear(model, kind, view)
    if kind == "econml.RegressionForest":
        return of_regression_forest(model, view)
    if kind == "sksurv.CoxPHSurvivalAnalysis":
        return Sum([0.0], [affine(model.coef_, 0, view)])
    if kind == "sksurv.CoxnetSurvivalAnalysis":
        return Sum([-model.offset_[-1]], [affine(model.coef_[:, -1], 0, view)])
    if kind == "OneVsRestClassifier":
        members = [as_sum(member, view) for member in model.estimators_]
        if any(len(member.base) != 1 for member in members):
            refuse(model, "its members have several outputs; save its estimators_ one by one")
        parts = [member.among([output], len(members)) for output, member in enumerate(members)]
        # Probabilities of several classes are divided by their sum.
        link = (members[0].link if len(members) == 1 or all(member.link == IDENTITY for member in members)
                else None)
        return Sum(sum(part.base for part in parts), [tree for part in parts for tree in part.trees], link)
    if kind.startswith("xgboost.") and hasattr(model, "get_booster"):
        return of_xgboost(model, view)
    if kind.startswith("lightgbm.") and hasattr(model, "booster_"):
        return of_lightgbm(model, view)
    if kind in ("ngboost.NGBRegressor", "ngboost.NGBClassifier"):
        return of_ngboost(model, kind, view)
    if kind == "Pipeline":
        *transformers, last = steps_of(model)
        for step in transformers:
            view = view if step is None or isinstance(step, str) and step == "passthrough" else view.of(step)
        return as_sum(last, view)
    if kind in WRAPPERS:
        return as_sum(getattr(model, WRAPPERS[kind]), view)
    if kind in ("BaggingRegressor", "BaggingClassifier"):
        members = []
        for member, chosen in zip(model.estimators_, model.estimators_features_):
            part = as_sum(member, view.columns(list(chosen)))
            count = len(model.classes_) if kind == "BaggingClassifier" else len(part.base)
            members.append((member.classes_.astype(int) if kind == "BaggingClassifier" else range(count),
                            count, part))
        return mean(model, members, np.ones(len(members)))
    if kind in ("VotingRegressor", "VotingClassifier"):
        if kind == "VotingClassifier" and model.voting != "soft":
            refuse(model, "a majority vote is not a sum; use voting='soft'")
        members = [as_sum(member, view) for member in model.estimators_]
        weights = np.ones(len(members)) if model.weights is None else model._weights_not_none
        return mean(model, [(range(len(member.base)), len(member.base), member) for member in members],
                    weights)
    if kind == "AdaBoostClassifier":
        return votes(model, view)
    if kind in ("MultiOutputRegressor", "MultiOutputClassifier"):
        members = [as_sum(member, view) for member in model.estimators_]
        link, count = members[0].link, sum(len(member.base) for member in members)
        if any(member.link != link for member in members) or link in (None, LINKS["MultinomialLogit"]):
            refuse(model, "its targets have different links, or more than two classes; "
                   "save its estimators_ one by one")
        ends = np.cumsum([len(member.base) for member in members])
        parts = [member.among(range(end - len(member.base), end), count)
                 for member, end in zip(members, ends)]
        return Sum(sum(part.base for part in parts), [tree for part in parts for tree in part.trees], link)
    if kind == "TransformedTargetRegressor":
        return of_transformed_target(model, view)
    refuse_unknown(model, kind)


def refuse_unknown(model, kind, known_reason_only=False):
    """Raises Refused for any other kind of model, with the reason if known."""
    name = (kind if kind.partition(".")[0] in ("econml", "quantile_forest", "catboost")
            else type(model).__name__)
    why = next((why for part, why in REFUSED.items() if part in name or part.lower() in name), None)
    if why is None and known_reason_only:
        return
    refuse(model, why or f"{type(model).__module__}.{type(model).__name__} is not a supported tree or linear "
           "model; expected a linear model, a tree, a forest, gradient boosting, AdaBoostClassifier, an "
           "isolation forest, or bagging, voting, a multi-output model or a pipeline of these")


def of_transformed_target(model, view):
    """Returns the sum of a regressor with a transformed target: with an exponential function, the margins are
    those of the logarithm.
    """
    part = as_sum(model.regressor_, view)
    if part.link == IDENTITY and predicts_behind_link(model):
        return Sum(part.base, part.trees, LINKS["LogLink"])
    if part.link == IDENTITY and len(part.base) == 1:
        if model.transformer is None and model.func is None and model.inverse_func is None:
            return part
        if (model.transformer is not None and kind_of(model.transformer_) in SCALERS - {"Binarizer"}
                and not getattr(model.transformer_, "clip", False)):
            zero, one = model.transformer_.inverse_transform(np.array([[0.0], [1.0]])).ravel()
            scaled_part = part.among([0], 1, one - zero)
            return Sum(scaled_part.base + zero, scaled_part.trees)
    refuse(model, "only inverse_func=np.exp and scaling of a single target are supported; "
           "save its regressor_, which predicts the transformed target")


def predicts_behind_link(model: Any) -> bool:
    """Returns whether predictions are the output after the link function of a transformed target: for a
    TransformedTargetRegressor with inverse_func=np.exp, and for pipelines, searches and multi-output models
    that contain one.
    """
    try:
        kind = kind_of(model)
        if kind == "TransformedTargetRegressor":
            return model.transformer is None and model.inverse_func is np.exp
        if kind == "Pipeline":
            return predicts_behind_link(model.steps[-1][1])
        if kind in WRAPPERS:
            return predicts_behind_link(getattr(model, WRAPPERS[kind]))
        if kind == "MultiOutputRegressor":
            return all(predicts_behind_link(member) for member in model.estimators_)
    except Exception:  # not fitted, or not one of these models
        return False
    return False


def votes(model, view):
    """Returns the sum of AdaBoost: the margin is the decision function, for K > 2 classes divided by K - 1,
    so that its softmax returns the probabilities.
    """
    classes, weights = len(model.classes_), model.estimator_weights_[:len(model.estimators_)]
    if getattr(model, "algorithm", None) == "SAMME.R":
        refuse(model, "algorithm='SAMME.R' adds logarithms of probabilities; use algorithm='SAMME'")
    # Votes against a class count only since scikit-learn 1.3.
    against = 0.0 if sklearn.__version__.startswith(("1.0", "1.1.", "1.2")) else -1.0 / (classes - 1)
    trees = []
    for member, weight in zip(model.estimators_, weights / weights.sum()):
        if kind_of(member) not in TREES:
            refuse(model, f"its members are {type(member).__name__}; only votes of single trees can be "
                   "summed, so use DecisionTreeClassifier")
        class_of = np.searchsorted(model.classes_, member.classes_[member.tree_.value[:, 0].argmax(axis=1)])
        if classes == 2:
            value = np.where(class_of == 1, 1.0 - against, against - 1.0)
        else:
            value = np.where(class_of[:, None] == np.arange(classes), 1.0, against) / (classes - 1)
        trees.append(plain(member.tree_, value, view, weight)
                     | ({"complete": True} if refuses_missing(member) else {}))
    return Sum(np.zeros(1 if classes == 2 else classes), trees,
               LINKS["LogitLink" if classes == 2 else "MultinomialLogit"])


def of_ngboost(model, kind, view):
    """Returns the sum of NGBoost: each parameter of its distribution is an output. If the only parameter is
    the logarithm of the mean, its exponential is the prediction. The first of several classes has the margin
    0.
    """
    parameters = len(model.init_params)
    first = 1 if kind == "ngboost.NGBClassifier" and parameters > 1 else 0
    # The fit may derive a new class from the class of the distribution.
    law = next(base.__name__ for base in model.Dist.__mro__ if base.__module__.startswith("ngboost.distns")
               and "With" not in base.__name__)
    link = IDENTITY
    if kind == "ngboost.NGBClassifier":
        link = LINKS["MultinomialLogit" if first else "LogitLink"]
    elif law in ("Poisson", "Exponential"):
        link = LINKS["LogLink"]
    elif parameters == 1 and law not in ("NormalFixedVar",):
        refuse(model,
               f"its distribution {law} is not supported, because predictions may not follow from its "
               "parameter")
    trees = []
    for members, scale, chosen in zip(model.base_models, model.scalings, model.col_idxs):
        features = view if chosen is None else view.columns(list(chosen))
        for output, member in enumerate(members):
            if kind_of(member) not in TREES:
                refuse(model, f"its members are {type(member).__name__}; expected trees")
            trees.append(plain(member.tree_, member.tree_.value, features, -model.learning_rate * scale,
                               output=output + first))
    return Sum(np.append(np.zeros(first), np.ravel(model.init_params)), trees, link)


# Boosting models of other libraries after transformers or in an ensemble. On their own, such models are read
# from their files.


def of_xgboost(model, view):
    """Returns the sum of XGBoost, added in double precision. After early stopping, it includes the rounds up
    to the best one, like the model's own predictions.
    """
    if not is_missing(model.get_params().get("missing", np.nan)):
        refuse(model,
               f"it treats {model.get_params()['missing']!r} as missing; replace it with NaN in the table")
    booster = model.get_booster()
    if getattr(model, "early_stopping_rounds", None):
        booster = booster[:model.best_iteration + 1]
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    objective, gradient_booster = learner["objective"]["name"], learner["gradient_booster"]
    held = gradient_booster.get("gbtree", gradient_booster).get("model", {})
    # The weights of trees in dart: the first key up to XGBoost 3.3, the second one in later versions.
    weights = gradient_booster.get("weight_drop") or held.get("weight_drop")
    links = {"binary:logistic": "LogitLink", "reg:logistic": "LogitLink",
             "multi:softprob": "MultinomialLogit", "multi:softmax": "MultinomialLogit",
             "count:poisson": "LogLink", "reg:gamma": "LogLink", "reg:tweedie": "LogLink",
             "reg:squarederror": "IdentityLink", "reg:absoluteerror": "IdentityLink",
             "reg:pseudohubererror": "IdentityLink", "rank:ndcg": "IdentityLink",
             "rank:pairwise": "IdentityLink"}
    if objective not in links or "trees" not in held:
        refuse(model, f"its booster or its objective {objective!r} is not supported here; save it with its "
               "own save_model, and explain transformed rows")
    link, parameters = links[objective], learner["learner_model_param"]
    base = np.array(parameters["base_score"].strip("[]").split(","), dtype=np.float32).astype(float)
    base = {"LogitLink": lambda p: np.log(p / (1 - p)), "LogLink": np.log}.get(link, lambda p: p)(base)
    base = base * np.ones(max(len(base), int(parameters["num_class"]), int(parameters.get("num_target", 1))))
    view, trees = view.with_zeros_missing(), []
    for place, (tree, output) in enumerate(zip(held["trees"], held["tree_info"])):
        left, numbers = np.array(tree["left_children"]), np.array(tree["split_conditions"], dtype=np.float32)
        if any(tree.get("split_type", ())) or int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
            refuse(model, "it splits on categories, or has vectors in its leaves; remove enable_categorical, "
                   "and encode columns before it")
        # x < t is equivalent to x <= t' for the next smaller 32-bit float t'.
        below = np.nextafter(numbers, np.float32(-np.inf)).astype(float)
        trees.append(dict(left=left, right=np.array(tree["right_children"]),
                          feature=np.array(tree["split_indices"]), threshold=below,
                          value=numbers.astype(float) * (left < 0),
                          default_left=np.array(tree["default_left"], dtype=bool),
                          cover=np.array(tree["sum_hessian"], dtype=float), output=output,
                          scale=float(weights[place]) if weights else 1.0, view=view, width="single"))
    return Sum(base, trees, LINKS[link])


def of_lightgbm(model, view):
    """Returns the sum of LightGBM's raw scores. After early stopping, it includes the rounds up to the best
    one, like the model's own predictions.
    """
    dump = model.booster_.dump_model()
    objective, outputs = dump["objective"].split(), dump["num_tree_per_iteration"]
    parameters = dict(word.split(":") for word in objective if ":" in word)
    links = {"regression": IDENTITY, "regression_l1": IDENTITY, "huber": IDENTITY, "fair": IDENTITY,
             "quantile": IDENTITY, "lambdarank": IDENTITY, "poisson": LINKS["LogLink"],
             "gamma": LINKS["LogLink"], "tweedie": LINKS["LogLink"], "multiclass": LINKS["MultinomialLogit"],
             "binary": LINKS["LogitLink"] | {"steepness": float(parameters.get("sigmoid", 1))}}
    if objective[0] not in links or "sqrt" in objective:
        refuse(model, f"its objective {dump['objective']!r} is not supported here; save it with its own "
               "booster_.save_model, and explain transformed rows")
    trees = []
    for place, tree in enumerate(dump["tree_info"]):
        nodes = [tree["tree_structure"]]
        for node in nodes:  # the list grows: children come after their parents
            nodes += [node[side] for side in ("left_child", "right_child") if side in node]
        numbered = {id(node): number for number, node in enumerate(nodes)}
        splits = ["left_child" in node for node in nodes]
        for node in nodes:
            if node.get("decision_type",
                        "<=") != "<=" or node.get("missing_type") == "Zero" or "leaf_const" in node:
                refuse(model, "it splits on categories, treats zeros as missing values, or has linear "
                       "leaves; remove these options, and encode columns before it")
        left, right = ([numbered[id(node[side])] if split else -1 for node, split in zip(nodes, splits)]
                       for side in ("left_child", "right_child"))
        counts = [node["internal_count" if split else "leaf_count"] if len(nodes) > 1 else 1
                  for node, split in zip(nodes, splits)]
        # If a split has no type of missing values, NaN counts as zero.
        default_left = [split and (node["default_left"] if node["missing_type"] == "NaN"
                                   else 0.0 <= node["threshold"]) for node, split in zip(nodes, splits)]
        trees.append(dict(left=np.array(left), right=np.array(right),
                          feature=np.array([node.get("split_feature", 0) for node in nodes]),
                          threshold=np.array([node.get("threshold", 0.0) for node in nodes], dtype=float),
                          value=np.array([0.0 if split else node["leaf_value"]
                                          for node, split in zip(nodes, splits)]),
                          default_left=np.array(default_left), cover=np.array(counts, dtype=float),
                          output=place % outputs,
                          scale=outputs / len(dump["tree_info"]) if dump.get("average_output") else 1.0,
                          view=view, width="double"))
    return Sum(np.zeros(outputs), trees, links[objective[0]])


# Splits on columns of the table.


def count_of(model):
    """Returns the number of columns of a model; None if it is not known."""
    counts = (getattr(model, name, None) for name in ("n_features_in_", "n_features", "n_features_"))
    return next((int(count) for count in counts if isinstance(count, (int, np.integer))), None)


class Table:
    """The columns of the table, and rows that probe the values of some columns."""

    def __init__(self, model, method=None):
        self.count, self.method = count_of(model), method
        self.names = list(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None
        # For each column: the categories of encoders, the numbers and the strings that mark missing values,
        # and the kinds of missing cells that steps distinguish. Then the columns of objects, even if the
        # objects are numbers, and for each column a key that is equal for columns with the same encoders.
        self.categories = {}
        self.numbers_apart = {}
        self.words_apart = {}
        self.kinds = {}
        self.objects = set()
        self.signatures = {}

    def add(self, column, known):
        """Adds the categories that an encoder knows for a column."""
        categories = self.categories.setdefault(column, [])
        met = set(categories)
        categories += [category for category in list(known) if not is_missing(category)
                       and category not in met]
        kinds = sorted({kind_of_cell(category) for category in list(known)[-3:]} - {None}, key=KINDS.index)
        self.kinds.setdefault(column, []).extend(kinds)
        if (getattr(known, "dtype", None) == object
                and not all(isinstance(category, str) for category in categories)):
            self.objects.add(column)
        self.signatures[column] = (*self.signatures.get(column, ()), tuple(kinds),
                                   str(getattr(known, "dtype", "")))

    def mark(self, transformer, column, marker):
        """Adds a value that a step treats as missing in a column."""
        kind = kind_of_cell(marker)
        self.signatures[column] = (*self.signatures.get(column, ()), id(transformer))
        if kind is not None:
            self.kinds.setdefault(column, []).append(kind)
            if kind == "None":
                self.objects.add(column)
        elif isinstance(marker, str):
            self.words_apart.setdefault(column, []).append(marker)
        elif isinstance(marker, (bool, np.bool_, int, float, np.number)):
            self.numbers_apart.setdefault(column, set()).add(float(marker))
        else:
            refuse(transformer, f"missing_values={marker!r} is a {type(marker).__name__}; "
                   "expected a number, a string, None, NaN or pandas.NA")

    def settle(self, views):
        """Chooses the categories and codes, once all encoders and all views of models are known."""
        if all(view.given is None for view in views):
            self.used = range(self.count)
        else:
            self.used = {feature.column for view in views for feature in view.features}
        self.numbers_apart = {column: sorted(markers) for column, markers in self.numbers_apart.items()}
        # Strings have codes in the file; numbers do not.
        as_numbers = ({feature.column for view in views for feature in view.features if not feature.encoded
                       and not feature.flat} if self.objects else ())
        has_words = [column for column, known in self.categories.items()
                     if any(isinstance(value, str) for value in known) or column in self.objects
                     and column not in as_numbers]
        self.words = {column: self.categories[column] for column in has_words}
        self.special = {}
        used_as_value = ({feature.column for view in views for feature in view.features if not feature.flat}
                         if self.words_apart else ())
        for column, words in self.words_apart.items():
            if column not in self.words and column not in used_as_value:
                self.words[column] = self.categories.setdefault(column, [])  # indicators accept any string
            if column in self.words:
                self.words[column] += [word for word in dict.fromkeys(words)
                                       if word not in self.words[column]]
            else:
                self.special[column] = list(dict.fromkeys(words))
                self.objects.add(column)
        for column, markers in self.numbers_apart.items():
            if column in self.categories:
                self.categories[column] += [marker for marker in markers
                                            if marker not in self.categories[column]]
        self.rest = {}
        for column in {*self.categories, *self.kinds, *self.numbers_apart}:
            markers = self.numbers_apart.get(column, ())
            ordinary = [known for known in self.categories.get(column, ()) if isinstance(known, str)
                        or known not in markers]
            missing = [cell_of_kind(kind) for kind in self.kinds.get(column, ())[:1]
                       if column in self.categories]
            numbers = ([] if self.categories.get(column)
                       else [value for value in (0.0, 1.0, 2.0, 3.0) if value not in markers])
            self.rest[column] = [*ordinary, *self.categories.get(column, ()), *missing, *numbers, 0.5][0]

    def leave_out(self, column, refused):
        """Removes markers that a model rejects from the categories of a column; raises Refused if it rejects
        other categories.
        """
        markers = {*self.words_apart.get(column, ()), *self.numbers_apart.get(column, ())}
        if not markers.issuperset(refused):
            refuse("a pipeline", f"it rejects {refused[:3]} in {self.name(column)}, but one of its encoders "
                   "accepts them; if encoders of a column differ, set handle_unknown")
        for known in (self.categories.get(column), self.words.get(column)):
            if known is not None:
                known[:] = [value for value in known if value not in refused]

    def name(self, column):
        return f"column {column}" if self.names is None else f"the column {self.names[column]!r}"

    def is_object(self, column, values):
        return (column in self.objects or any(isinstance(value, str) or value is None
                                              or type(value).__name__ == "NAType" for value in values))

    def rows(self, tried):
        """Returns rows with the probed values of some columns, and with a known value in all others."""
        count = max(map(len, tried.values()))
        numbers, objects = np.zeros((count, self.count)), {}
        for column in {*tried, *self.rest}:
            given, rest = tried.get(column, ()), self.rest.get(column, 0.0)
            if (isinstance(given, np.ndarray) and given.dtype.kind == "f"
                    and not self.is_object(column, (rest,))):
                numbers[:len(given), column], numbers[len(given):, column] = given, rest
                continue
            values = [*given, *[rest] * (count - len(given))]
            if self.is_object(column, values):
                objects[column] = np.empty(count, dtype=object)
                objects[column][:] = values
            elif self.names is not None and all(isinstance(value, (bool, np.bool_)) for value in values):
                objects[column] = np.array(values, dtype=bool)
            else:
                numbers[:, column] = values
        if self.names is None:
            if not any(values.dtype == object for values in objects.values()):
                return numbers
            mixed = numbers.astype(object)
            for column, values in objects.items():
                mixed[:, column] = values
            return mixed
        import pandas

        if not objects:
            return pandas.DataFrame(numbers, columns=self.names)
        return pandas.DataFrame({name: objects.get(column, numbers[:, column])
                                 for column, name in enumerate(self.names)})

    def unknown(self, column):
        """Returns a value that is not one of the categories of a column."""
        known = self.words.get(column, self.categories.get(column, ()))
        if column not in self.words:
            return float(max(map(float, known), default=0.0)) + 1.0
        return beyond("no category", known)


def beyond(word, known):
    """Returns a string that begins with `word` and is not one of the known ones."""
    while word in known:
        word += "_"
    return word


def ask(view, table, tried):
    """Returns for each probed column its features for all probed values, or None if these are rejected.
    Columns are probed together if possible, because they are independent.
    """
    found = {}

    def attempt(columns):
        values = view.values(table.rows({column: tried[column] for column in columns}))
        if values is not None:
            found.update({column: values[:len(tried[column]), view.own[column]] for column in columns})
        return values is not None

    def narrow(columns):
        if attempt(columns):
            return
        first, rest = columns[0], columns[1:]
        if rest and attempt([first]):
            halves(rest)
            return
        found[first] = None
        if len(rest) > 64 and table.signatures.get(first):
            # These columns have the same encoders and kinds of categories, so they reject the same values.
            found.update(dict.fromkeys(rest))
        else:
            halves(rest)

    def halves(columns):
        middle = len(columns) // 2
        for part in (columns[:middle], columns[middle:]):
            if part:
                narrow(part)

    if not attempt(list(tried)):
        together = {}
        for column in tried:
            together.setdefault(table.signatures.get(column), []).append(column)
        for columns in together.values():
            narrow(columns)
    return found


class Learnt:
    """The features of a view for each category of a column, for an unknown one, for markers and for missing
    cells; None if these are rejected.

    is_complete: whether the model rejects missing features.
    """

    def __init__(self, view, table, is_complete):
        self.view, self.table, self.is_complete = view, table, is_complete
        view.own, self.place = {}, {}
        for index, feature in enumerate(view.features):
            own = view.own.setdefault(feature.column, [])
            self.place[index] = len(own)
            own.append(index)
        self.columns = list(view.own)
        self.missing = {}
        self.special = {}
        apart = {*table.kinds, *table.words, *table.objects, *table.numbers_apart}
        tell_apart = [column for column in self.columns if column in apart]
        for kind in KINDS:
            asked = self.columns if kind == "nan" else tell_apart
            try:
                cells = np.array([np.nan]) if kind == "nan" else [cell_of_kind(kind)]
            except ImportError:
                continue
            if asked:
                answers = ask(view, table, dict.fromkeys(asked, cells))
                self.special.update({(column, kind): self._accepted(values)
                                     for column, values in answers.items()})
        for column, words in table.special.items():
            for word in words if column in view.own else ():
                answer = ask(view, table, {column: [word]})[column]
                self.special[column, ("word", word)] = self._accepted(answer)

    def _accepted(self, values):
        """Returns the features of a single cell; None if the steps or the model reject it."""
        return None if values is None or self.is_complete and np.isnan(values[0]).any() else values[0]

    def learn_categories(self):
        """Computes the features of categories, once the categories of all columns are known."""
        view, table = self.view, self.table
        coded = [column for column in self.columns if column in table.words
                 or any(view.features[index].encoded for index in view.own[column])]
        tried = {column: [value for value in table.words.get(column, table.categories.get(column, ()))
                          if value not in table.texts.get(column, {}).values()] for column in coded}
        large = [column for column in coded if len(tried[column]) * len(view.own[column]) > 200_000_000]
        if large:
            refuse("a pipeline", f"{table.name(large[0])} has {len(tried[large[0]])} categories; set "
                   "max_categories in the encoder, or use OrdinalEncoder or TargetEncoder")
        self.known, self.unknown, self.apart, self.ordinary = {}, {}, {}, {}
        for columns in batches(tried, len(view.features)):
            answers = ask(view, table, {column: tried[column] for column in columns})
            for column in columns:
                if tried[column] and (answers[column] is None or self.is_complete
                                      and np.isnan(answers[column]).any()):
                    # Remove rejected values: markers that are replaced by a category that an encoder does not
                    # know.
                    taken = [value for value in tried[column]
                             if self._accepted(ask(view, table, {column: [value]})[column]) is not None]
                    if len(taken) < len(tried[column]):
                        table.leave_out(column, [value for value in tried[column] if value not in taken])
                        return self.learn_categories()
                if answers[column] is None and tried[column]:
                    refuse("a pipeline", f"it rejects categories of {table.name(column)} that one of its "
                           f"encoders accepts ({view.problem}); "
                           "if encoders of a column differ, set handle_unknown")
                extra = [self.special[column, kind] for kind in table.texts.get(column, ())]
                own = answers[column] if tried[column] else np.zeros((0, len(view.own[column])))
                self.known[column] = np.vstack([own, *extra]) if extra else own
        if coded:
            answers = ask(view, table, {column: [table.unknown(column)] for column in coded})
            self.unknown = {column: self._accepted(values) for column, values in answers.items()}
        markers = {column: np.array(table.numbers_apart[column]) for column in self.columns
                   if column in table.numbers_apart and column not in table.words}
        if markers:
            self.apart = ask(view, table, markers)
            for column, values in self.apart.items():
                if values is None:
                    refuse("a pipeline", f"it rejects {markers[column].tolist()} in {table.name(column)}, "
                           f"which one of its steps treats as missing ({view.problem})")
        flat = [column for column in self.columns
                if any(view.features[index].flat for index in view.own[column])]
        if flat:
            self.ordinary = {column: values[0] for column,
                             values in ask(view, table,
                                           {column: [table.rest.get(column, 0.0)]
                                            for column in flat}).items()}
        self.missing = {column: self.special[column, table.natural.get(column, "nan")]
                        for column in self.columns}

    def of_missing(self, index):
        """Returns a feature of a missing value; None if that is rejected."""
        column = self.view.features[index].column
        values = self.missing[column]
        return None if values is None else values[self.place[index]]

    def of_known(self, index):
        """Returns a feature for each category of its column, in the order of the codes."""
        return self.known[self.view.features[index].column][:, self.place[index]]

    def of_unknown(self, index):
        values = self.unknown[self.view.features[index].column]
        return None if values is None else values[self.place[index]]

    def of_apart(self, index):
        """Returns a feature for each marker of missing values in its column."""
        values = self.apart.get(self.view.features[index].column)
        return np.array([]) if values is None else values[:, self.place[index]]


def batches(tried, width):
    """Yields groups of columns that are small enough to be probed together."""
    group, most = [], 0
    for column in tried:
        rows = max(most, len(tried[column]))
        if group and rows * width > 20_000_000:
            yield group
            group, most = [], 0
        group.append(column)
        most = max(most, len(tried[column]))
    if group:
        yield group


def tell_cells_apart(table, views, lessons):
    """Chooses for each column the kind of missing cell that is a missing value in the file. Kinds that the
    pipeline treats differently become categories.

    table.natural contains that kind for each column; table.texts for each column the texts of the categories
    of other kinds; table.cells what each kind becomes: None for a missing value, False if the model rejects
    it, or such a text.
    """
    table.natural, table.texts, table.cells = {}, {}, {}
    of_numbers = ({feature.column for view in views for feature in view.features if not feature.encoded
                   and not feature.flat} if lessons else ())

    def way(column, kind):
        answers = [lesson.special[column, kind] for lesson in lessons if (column, kind) in lesson.special]
        return None if not answers or any(answer is None for answer in answers) else np.concatenate(answers)

    for column in table.words:
        # Strings and numbers must match categories exactly.
        table.cells[column] = {**dict.fromkeys(KINDS), "exact": True}

    for column in {column for lesson in lessons for column, kind in lesson.special if kind != "nan"}:
        words = [("word", word) for word in table.special.get(column, ())]
        ways = {kind: way(column, kind) for kind in (*KINDS, *words)}
        liked = [*words, *table.kinds.get(column, ()), *KINDS]
        natural = next((kind for kind in liked if ways[kind] is not None), "nan")
        cells, texts = {}, {}
        for kind, taken in ways.items():
            if kind == natural:
                cells[kind] = None
            elif taken is None:
                cells[kind] = False
            elif np.array_equal(taken, ways[natural], equal_nan=True):
                cells[kind] = None
            else:
                alike = [other for other in texts if np.array_equal(ways[other], taken, equal_nan=True)]
                if alike:
                    cells[kind] = texts[alike[0]]
                elif column in of_numbers:
                    cells[kind] = False
                else:
                    texts[kind] = cells[kind] = beyond(kind if isinstance(kind, str) else kind[1],
                                                       [*table.categories.get(column, ()), *texts.values()])
        table.natural[column] = natural
        if texts:
            table.texts[column] = texts
            table.words[column] = [*table.words.get(column, table.categories.get(column, ())),
                                   *texts.values()]
        if not any(isinstance(known, str) for known in table.categories.get(column, ())):
            cells["numbers"] = column in table.words
        if column in table.words:
            cells["exact"] = True
        if any(way is not None for kind, way in cells.items() if kind != "numbers") or cells.get("numbers"):
            table.cells[column] = cells


KEY_OF_INFINITY = np.array(np.inf).view(np.int64)[()]


def double(keys):
    """Returns doubles by their position among all doubles: key 0 is zero, 1 the smallest positive number, and
    so on.
    """
    return np.where(keys < 0, -np.abs(keys).view(np.float64), np.abs(keys).view(np.float64))


# The maximum number of thresholds for which each call of the pipeline tries many numbers per threshold.
MANY_THRESHOLDS = 500


def keys_between(low, high, bits):
    """Returns increasing keys above `low` and below `high`, of shape (len(low), 2^bits - 1). If there are
    fewer keys, the last one is repeated; if there are none, all are `low`.
    """
    step = np.maximum((high >> bits) - (low >> bits), 1)
    keys, key = [], low
    for _ in range(2**bits - 1):
        key = np.minimum(key + step, high - 1)
        keys.append(key)
    return np.column_stack(keys)


def boundaries(view, width, table, wanted):
    """Returns for each pair of a feature and a threshold the largest double of its column whose feature is at
    most the threshold, ignoring numbers that mark missing values.
    """
    pairs = {}
    for index, threshold in sorted(wanted):
        pairs.setdefault(view.features[index].column, []).append((index, threshold))
    index = {column: np.array([index for index, _ in listed]) for column, listed in pairs.items()}
    threshold = {column: np.array([threshold for _, threshold in listed]) for column, listed in pairs.items()}
    low = {column: np.full(len(listed), -KEY_OF_INFINITY) for column, listed in pairs.items()}
    high = {column: np.full(len(listed), KEY_OF_INFINITY) for column, listed in pairs.items()}
    # The fixed cost of a call of the pipeline equals the cost of hundreds of rows. If there are few
    # thresholds, each call therefore tries many numbers per threshold.
    bits = 4 if sum(map(len, pairs.values())) <= MANY_THRESHOLDS else 1
    while any((high[column] - 1 > low[column]).any() for column in pairs):
        between = {column: keys_between(low[column], high[column], bits) for column in pairs}
        # If both ends have met, all keys are the lower end, which may be infinite. They are not used.
        tried = {column: np.where(np.abs(keys) < KEY_OF_INFINITY, double(keys), 0.0).ravel()
                 for column, keys in between.items()}
        values = view.values(table.rows({column: beside(numbers, table.numbers_apart.get(column, ()))
                                         for column, numbers in tried.items()}))
        if values is None:
            refuse("a pipeline", "a column is used as a number and as categories, and its encoder rejects "
                   f"other numbers ({view.problem}); set handle_unknown='ignore'")
        values = rounded(view.binned(values), width)
        for column, keys in between.items():
            of_pair = np.repeat(index[column], keys.shape[1])
            found = values[np.arange(keys.size), of_pair].reshape(keys.shape)
            at_most = np.logical_and.accumulate(found <= threshold[column][:, None], axis=1).sum(axis=1)
            ends = np.column_stack([low[column], keys, high[column]])
            rows, met = np.arange(len(keys)), high[column] - 1 <= low[column]
            low[column], high[column] = (np.where(met, low[column], ends[rows, at_most]),
                                         np.where(met, high[column], ends[rows, at_most + 1]))
    return {pair: bound for column, listed in pairs.items()
            for pair, bound in zip(listed, double(low[column]))}


def beside(numbers, markers):
    """Returns numbers, or the next lower ones that do not mark missing values, because the features of
    markers do not depend on their size.
    """
    while len(markers) and np.isin(numbers, markers).any():
        numbers = np.where(np.isin(numbers, markers), np.nextafter(numbers, -np.inf), numbers)
    return numbers


def rounded(values, width):
    return np.float32(values).astype(float) if width == "single" else values


def left_of(tree, node, values, width):
    """Returns whether a split sends each value of its feature left; missing values follow the default."""
    values = np.asarray(values)
    missing, known = np.isnan(values), np.where(np.isnan(values), 0.0, values)
    if node in tree.get("sets", {}):
        codes = known.astype(np.uint32)
        left = tree["sets"][node][codes // 32] >> codes % 32 & 1 == 1
    else:
        left = rounded(known, width) <= tree["threshold"][node]
    return np.where(missing, bool(tree["default_left"][node]), left)


def fold(view, width, trees, table, learnt):
    """Replaces the splits of trees with the same view by splits on the columns of the table, in place.

    Returns the columns whose unknown categories are rejected, and those whose missing values are rejected.
    """
    features, wanted = view.features, set()
    splits = [np.flatnonzero(np.asarray(tree["left"]) >= 0) for tree in trees]
    coded = [feature.encoded or feature.column in table.words for feature in features]
    for tree, nodes in zip(trees, splits):
        for index, threshold in zip(tree["feature"][nodes].tolist(), tree["threshold"][nodes].tolist()):
            if features[index].flat or coded[index]:
                continue
            if features[index].bins:
                wanted |= {(index, features[index].bin - 1.0), (index, float(features[index].bin))}
            else:
                wanted.add((index, threshold))
    bounds = boundaries(view, width, table, wanted)
    for tree, nodes in zip(trees, splits):
        rules = []
        threshold = np.zeros(len(tree["left"]))
        default_left = np.array(tree["default_left"], dtype=bool)
        for node, index, compared in zip(nodes.tolist(), tree["feature"][nodes].tolist(),
                                         tree["threshold"][nodes].tolist()):
            feature = features[index]
            missing = learnt.of_missing(index)
            if missing is not None and not np.isnan(missing):
                default_left[node] = left_of(tree, node, missing, width)
            if coded[index]:
                left, unknown = left_of(tree, node, learnt.of_known(index), width), learnt.of_unknown(index)
                others = (left.sum() * 2 > len(left) if unknown is None
                          else bool(left_of(tree, node, unknown, width)))
                listed = np.flatnonzero(left != others)
                if feature.column in table.words:
                    rules.append(dict(node=node, categories=listed, side="right" if others else "left"))
                else:
                    numbers = [float(table.categories[feature.column][code]) for code in listed]
                    rules.append(dict(node=node, numbers=numbers, side="right" if others else "left"))
                continue
            markers = np.array(table.numbers_apart.get(feature.column, ()))
            if feature.flat:
                threshold[node] = (np.inf if left_of(tree, node,
                                                     learnt.ordinary[feature.column][learnt.place[index]],
                                                     width) else -np.inf)
                regular = np.full(len(markers), threshold[node] > 0)
            elif feature.bins:
                inside, outside = left_of(tree, node, [1.0, 0.0], width)
                if inside != outside:
                    ends = [np.nextafter(bounds[index, feature.bin - 1.0], np.inf),
                            bounds[index, float(feature.bin)]]
                    rules.append(dict(node=node, between=ends, side="left" if inside else "right"))
                    regular = ((ends[0] <= markers) & (markers <= ends[1])) == inside
                else:
                    threshold[node] = np.inf if inside else -np.inf
                    regular = np.full(len(markers), bool(inside))
            else:
                threshold[node] = bounds[index, compared]
                regular = markers <= threshold[node]
            if len(markers):
                others = markers[left_of(tree, node, learnt.of_apart(index), width) != regular]
                if len(others) and feature.bins:
                    refuse("KBinsDiscretizer", f"it comes after missing_values={others[0]:g}, which is not "
                           "an ordinary number; use encode='ordinal'")
                if len(others):
                    rules.append({"node": node, "except": others.tolist()})
        columns = np.array([feature.column for feature in features])
        tree.update(feature=np.take(columns, tree["feature"], mode="clip"), threshold=threshold,
                    default_left=default_left, rules=rules, width="double")
    refusing = {column for column, unknown in learnt.unknown.items() if column in table.words
                and unknown is None}
    return refusing, {column for column, missing in learnt.missing.items() if missing is None}


# Linear models on columns of the table.


def on_table(tree):
    """Returns a linear model of the columns themselves as one linear leaf."""
    coefficients = tree["coefficients"] * tree.get("scale", 1.0)
    features = (np.arange(len(coefficients)) if tree["view"].given is None
                else np.array([feature.column for feature in tree["view"].features]))
    return one_leaf(tree["output"], 0.0, features, coefficients)


def one_leaf(output, constant, columns, coefficients):
    """Returns a tree of one linear leaf."""
    chosen = np.flatnonzero(coefficients)
    columns, coefficients = np.asarray(columns)[chosen], np.asarray(coefficients)[chosen]
    if len(np.unique(columns)) < len(columns):  # several features of one column
        columns, places = np.unique(columns, return_inverse=True)
        coefficients = np.bincount(places, weights=coefficients)
    return dict(left=[-1], right=[-1], feature=np.array([0]), threshold=[0.0], value=[0.0],
                default_left=[False], output=output, width="double",
                linear=[dict(node=0, constant=float(constant), features=columns, coefficients=coefficients)])


def on_columns(tree, table, learnt, refusing, wanted):
    """Yields the trees whose sum is a linear model of features: one linear leaf for all columns that cannot
    be missing, and a tree for each other column. Columns whose unknown categories are rejected are added to
    `refusing`, those that cannot be missing to `wanted`.
    """
    view, coefficients = tree["view"], tree["coefficients"] * tree.get("scale", 1.0)
    parts = {}
    for index, feature in enumerate(view.features):
        coded = feature.encoded or feature.column in table.words
        kind = ("encoded" if coded else "affine" if feature.slope is not None or feature.flat else "steps"
                if feature.steps or feature.bins else None)
        if kind is None:
            refuse("a linear model", f"the numbers that its steps compute from {table.name(feature.column)} "
                   "are neither linear nor a step function; remove steps that clip them or scale bins")
        parts.setdefault((feature.column, kind), []).append(index)
    columns, slopes, constant = [], [], 0.0
    for (column, kind), indices in parts.items():
        weights, places = coefficients[indices], [learnt.place[index] for index in indices]
        missing = learnt.missing[column]
        missing = None if missing is None else float(weights @ missing[places])
        if missing is None or np.isnan(missing):
            wanted.add(column)
            missing = None
        slope = shift = 0.0
        if kind == "affine":
            for weight, index in zip(weights.tolist(), indices):
                feature = view.features[index]
                # A flat feature is constant, except for missing values.
                slope += 0.0 if feature.flat else weight * feature.slope
                shift += weight * (learnt.ordinary[column][learnt.place[index]] if feature.flat
                                   else feature.shift)
            apart = learnt.apart.get(column) if column in table.numbers_apart else None
            if apart is None and missing is None:
                columns.append(column)
                slopes.append(slope)
                constant += shift
                continue
        node, more = Nodes(), {}
        missing = 0.0 if missing is None else missing
        markers = table.numbers_apart.get(column, ()) if column in learnt.apart else ()
        of_markers = learnt.apart[column][:, places] @ weights if len(markers) else ()
        if kind == "affine":
            node.marked(markers, of_markers, lambda: node.leaf(missing))
            # The leaf of ordinary numbers is the last node.
            more = dict(linear=[dict(node=len(node.left) - 1, constant=float(shift), features=[column],
                                     coefficients=[float(slope)])])
        elif kind == "encoded":
            unknown = learnt.unknown[column]
            if unknown is None and column in table.words:
                refusing.add(column)
            unknown = 0.0 if unknown is None else float(weights @ unknown[places])
            node.categories(learnt.known[column][:, places] @ weights, unknown, missing, table, column)
        else:
            node.apart(missing, lambda: node.marked(
                markers, of_markers, lambda: node.steps(view, table, column, indices, weights)))
        yield node.tree(column, tree["output"]) | more
    if columns:
        yield one_leaf(tree["output"], constant, columns, slopes)


class Nodes:
    """The nodes of a tree on one column."""

    def __init__(self):
        self.left = []
        self.right = []
        self.threshold = []
        self.value = []
        self.default_left = []
        self.rules = []

    def leaf(self, value):
        for numbers, number in ((self.left, -1), (self.right, -1), (self.threshold, 0.0), (self.value, value),
                                (self.default_left, False)):
            numbers.append(number)
        return len(self.left) - 1

    def split(self, below, above, threshold=0.0, default_left=False, rule=None):
        """Adds a split, and then the nodes of `below` and `above`. Returns the index of the split."""
        node = self.leaf(0.0)
        self.threshold[node], self.default_left[node] = threshold, default_left
        if rule is not None:
            self.rules.append(dict(node=node, side="left") | rule)
        self.left[node] = below()
        self.right[node] = above()
        return node

    def apart(self, missing, others):
        """Adds a leaf for missing values, and the nodes of `others` for all other values."""
        return self.split(lambda: self.leaf(missing), others, threshold=-np.inf, default_left=True)

    def marked(self, markers, values, others):
        """Adds a leaf for each number that marks missing values, and then the nodes of `others`."""
        if not len(markers):
            return others()
        return self.split(lambda: self.leaf(values[0]), lambda: self.marked(markers[1:], values[1:], others),
                          rule=dict(numbers=[markers[0]]))

    def categories(self, values, unknown, missing, table, column):
        """Adds leaves for categories with equal values, one for unknown and one for missing categories."""
        def among(codes):
            if column in table.words:
                return dict(categories=[int(code) for code in codes])
            return dict(numbers=[float(table.categories[column][code]) for code in codes])

        def known(codes):
            if np.all(values[codes] == values[codes[0]]):
                return self.leaf(values[codes[0]])
            half = len(codes) // 2
            return self.split(lambda: known(codes[:half]), lambda: known(codes[half:]),
                              rule=among(codes[:half]))

        codes = np.argsort(values, kind="stable")

        def all_but_missing():
            if not len(codes):
                return self.leaf(unknown)
            return self.split(lambda: known(codes), lambda: self.leaf(unknown), rule=among(codes))
        return self.apart(missing, all_but_missing)

    def steps(self, view, table, column, indices, weights):
        """Adds a leaf for each interval in which all step functions of a number are constant."""
        pairs = set()
        for index in indices:
            feature = view.features[index]
            pairs |= {(index, float(step)) for step in (range(feature.bins - 1) if feature.bins
                                                        else feature.steps)}
        bounds = np.unique(list(boundaries(view, "double", table, pairs).values())) if pairs else np.array([])
        # These are the last doubles of the intervals, and one double beyond all of them.
        ends = np.append(bounds, np.nextafter(bounds[-1], np.inf) if len(bounds) else 0.0)
        ends = beside(ends, table.numbers_apart.get(column, ()))
        values = view.values(table.rows({column: ends}))[:, indices] @ weights

        def between(first, last):
            if first == last:
                return self.leaf(values[first])
            middle = (first + last) // 2
            return self.split(lambda: between(first, middle), lambda: between(middle + 1, last),
                              threshold=bounds[middle])
        return between(0, len(bounds))

    def tree(self, column, output):
        return (dict(left=self.left, right=self.right, feature=np.full(len(self.left), column),
                     threshold=self.threshold, value=self.value, default_left=self.default_left,
                     output=output, width="double") | (dict(rules=self.rules) if self.rules else {}))


def document(model: Any) -> dict[str, Any]:
    """Returns a fitted model as a document of docs/tree-json.md: dictionaries, lists, arrays and numbers.

    model: a model of scikit-learn.

    Raises Refused if the model cannot be written as a sum of trees, for any reason.
    """
    return document_and_cells(model)[0]


def document_and_cells(
    model: Any, method: str | None = None
) -> tuple[dict[str, Any], dict[int, dict[Any, Any]]]:
    """Returns the document for `predict`, or for a method of AT_TIMES, and the conversion of the three kinds
    of missing cells in Python ("nan", "None", "<NA>") for columns in which they differ.

    The conversion is a dictionary for each such column, by its index in the document: None for a missing
    value, False if the model rejects the kind, or the text of a category of the document. Keys ("word", text)
    are strings that a step treats as missing in a column of numbers. Raises the errors of `document`.
    """
    try:
        return written(model, method)
    except Refused:
        raise
    except Exception as problem:
        kind = f"{type(model).__module__}.{type(model).__qualname__}"
        raise Refused(f"{kind} cannot be explained exactly: reading it failed with {type(problem).__name__}: "
                      f"{problem}; {ANY_MODEL}") from problem


def written(model, method=None):
    if count_of(model) is None:
        refuse_unknown(model, kind_of(model), known_reason_only=True)
        refuse(model, "it is not fitted (a search requires refit=True), "
               "or its number of columns (n_features_in_) is missing")
    table = Table(model, method)
    whole = as_sum(model, View(table))
    if method is not None and whole.names is None:
        refuse(model, f"its {method} is not a sum of leaves")
    if not np.isfinite(whole.base).all():
        refuse(model, "it starts from a number that is not finite")
    views = {id(tree["view"]): tree["view"] for tree in whole.trees}
    table.settle(views.values())
    categories, refusing, wanted = [], set(), set()
    models = [tree for tree in whole.trees if "coefficients" in tree]
    whole.trees = [tree for tree in whole.trees if "coefficients" not in tree]
    are_plain = (all(view.is_table() for view in views.values())
                 and len({tree["width"] for tree in whole.trees + models}) <= 1)
    are_plain = are_plain and not table.categories
    table.cells = {}
    if are_plain:
        for tree in whole.trees:
            columns = np.array([feature.column for feature in tree["view"].features])
            tree["feature"] = np.take(columns, tree["feature"], mode="clip")
        terms = [on_table(tree) for tree in models]
        if models or any(tree.get("complete") for tree in whole.trees):
            wanted = set(table.used)
    else:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            needing = ({id(tree["view"]) for tree in models}
                       | {id(tree["view"]) for tree in whole.trees if tree.get("complete")})
            learnt = {place: Learnt(view, table, place in needing) for place, view in views.items()}
            tell_cells_apart(table, views.values(), list(learnt.values()))
            for lesson in learnt.values():
                lesson.learn_categories()
            terms = [term for tree in models
                     for term in on_columns(tree, table, learnt[id(tree["view"])], refusing, wanted)]
            groups = {}
            for tree in whole.trees:
                groups.setdefault((id(tree["view"]), tree["width"]), []).append(tree)
            for (place, width), trees in groups.items():
                of_words, of_missing = fold(trees[0]["view"], width, trees, table, learnt[place])
                refusing |= of_words
                wanted |= of_missing
        # If columns have names, rows need not contain columns that are not used.
        kept = np.array(sorted(table.used) if table.names is not None else range(table.count))
        for tree in whole.trees + terms:
            tree["feature"] = np.searchsorted(kept, tree["feature"])
            for leaf in tree.get("linear", ()):
                leaf["features"] = np.searchsorted(kept, leaf["features"])
        wanted = {int(np.searchsorted(kept, column)) for column in wanted}
        categories = [dict(feature=int(np.searchsorted(kept, column)), values=known,
                           unknown="refused" if column in refusing else "no category")
                      for column, known in sorted(table.words.items()) if column in table.used]
        table.cells = {int(np.searchsorted(kept, column)): cells for column, cells in table.cells.items()
                       if column in table.used}
        table.count = len(kept)
        table.names = None if table.names is None else [table.names[column] for column in kept]
    whole.trees += terms
    names = {"feature_names": [str(name) for name in table.names]} if table.names is not None else {}
    words = {"categories": categories} if categories else {}
    outputs, labels = {}, classes_of(model) if whole.names is None else whole.names
    if labels is not None and len(labels) == len(whole.base):
        outputs = {"output_names": labels}
    elif labels is not None and len(labels) == 2 and len(whole.base) == 1:
        outputs = {"class_names": labels}
    refused = {"refuses_missing": sorted(int(column) for column in wanted)} if wanted else {}
    link = {"link": whole.link} if whole.link is not None else {}
    trees = [{key: value for key, value in tree.items() if key not in ("view", "width", "sets", "complete")}
             for tree in whole.trees]
    if not all(np.isfinite(tree["value"]).all() for tree in trees):
        refuse(model, "it has leaf values that are not finite")
    return dict(format="apportion-trees", version=1, width=whole.trees[0]["width"] if trees else "double",
                features=table.count, base_margins=whole.base, **link, operator="<=", trees=trees, **names,
                **words, **refused, **outputs,
                source=dict(library="scikit-learn", version=sklearn.__version__,
                            model=described(model))), table.cells


def classes_of(model: Any) -> list[str] | None:
    """Returns the classes of a classifier of one target as strings, which name its outputs."""
    classes = getattr(model, "classes_", None)
    return None if classes is None or isinstance(classes, list) else [str(label) for label in classes]


def described(model: Any) -> str:
    """Returns the class names of a model and of its inner model: Pipeline of RandomForestRegressor."""
    inner = (model.steps[-1][1] if hasattr(model, "steps")
             else getattr(model, WRAPPERS.get(kind_of(model), ""), None))
    return type(model).__name__ + (f" of {described(inner)}" if inner is not None else "")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Writes a fitted model to a file.

    model: a model of scikit-learn. path: the path of the file.

    Raises Refused, which is a ValueError, if the model cannot be written as a sum of trees.
    """
    with open(path, "w") as file:
        file.write(as_json(document(model)))


def as_json(document: dict[str, Any]) -> str:
    """Returns a document as JSON text."""
    return json.dumps(document, default=lambda array: array.tolist())


def main() -> None:
    import joblib

    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        save(joblib.load(sys.argv[1]), sys.argv[2])
    except Refused as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
