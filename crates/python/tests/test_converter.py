"""Converted scikit-learn models predict the same as the originals, or the conversion is refused."""
import itertools
import json
import warnings

import numpy as np
import pytest

import apportion

sklearn = pytest.importorskip("sklearn")
pandas = pytest.importorskip("pandas")

from sklearn.compose import TransformedTargetRegressor, make_column_transformer  # noqa: E402
from sklearn.ensemble import (AdaBoostClassifier, BaggingRegressor, ExtraTreesRegressor,
                              GradientBoostingClassifier,  # noqa: E402
                              GradientBoostingRegressor, HistGradientBoostingRegressor,
                              RandomForestClassifier, RandomForestRegressor, VotingRegressor)
from sklearn.feature_selection import SelectKBest, f_regression  # noqa: E402
from sklearn.impute import MissingIndicator, SimpleImputer  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline, make_union  # noqa: E402
from sklearn.preprocessing import (  # noqa: E402
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: E402

from apportion import scikit_learn_to_json as converter  # noqa: E402

COUNT = 60
RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.normal(size=COUNT)


def objects(values):
    """Returns a column of objects that repeats some values."""
    column = np.empty(COUNT, dtype=object)
    column[:] = [value for value, _ in zip(itertools.cycle(values), range(COUNT))]
    return pandas.Series(column, dtype=object)


def targets(column):
    """Returns targets that depend on the kind of each cell."""
    kinds = [0.0 if value is None else 9.0 if value is pandas.NA else 4.0 if value != value
             else {"A": 7.0}.get(value, 2.0) for value in column]
    return np.array(kinds) + NUMBERS + np.arange(COUNT) % 3


def sigmoid(margins):
    return 1 / (1 + np.exp(-margins))


def agrees(model, rows, told, behind=lambda margins: margins):
    """Asserts that the explanation has the same predictions as the model."""
    found = apportion.TreeExplainer(model, rows[:12])(rows)
    assert np.allclose(behind(found.predictions), told, rtol=1e-9, atol=1e-9), type(model).__name__
    assert found.additivity_gap() < 1e-9


def agrees_by_row(model, frame, rows):
    """Asserts that each row has the model's prediction, or is rejected if the model rejects it. Returns the
    number of rejected rows.
    """
    explainer, refused = apportion.TreeExplainer(model, frame[:12]), 0
    try:
        told = model.predict(rows)
    except (ValueError, TypeError):
        pass  # some rows are rejected
    else:
        assert np.allclose(explainer(rows).predictions, told, rtol=1e-9, atol=1e-9)
        return refused
    for place in range(len(rows)):
        row = rows.iloc[place:place + 1]
        try:
            told = model.predict(row)
        except (ValueError, TypeError):
            refused += 1
            with pytest.raises((apportion.DataError, apportion.ModelError)):
                explainer(row)
            continue
        assert np.allclose(explainer(row).predictions, told, rtol=1e-9, atol=1e-9), repr(row.iloc[0, 0])
    return refused


def pipeline(step, last):
    return make_pipeline(make_column_transformer((step, ["c"]), remainder="passthrough", sparse_threshold=0),
                         last)


CELLS = ["A", "B", "unknown", "None", "nan", "<NA>", "?", "", None, np.nan, pandas.NA]
COLUMNS = {
    "None": ["A", "B", "C", None], "NaN": ["A", "B", "C", np.nan], "NA": ["A", "B", "C", pandas.NA],
    "None and NaN": ["A", "B", None, np.nan],
    "all": ["A", "B", None, np.nan, pandas.NA], "a word": ["A", "B", "?"], "nothing": ["A", "", "B"],
    "words of missing": ["A", "None", "nan", None, np.nan],
    "booleans": [True, False, None], "mixed": ["A", 1, 2.5, None],
}
ENCODERS = {
    "one-hot": lambda: OneHotEncoder(handle_unknown="ignore"),
    "one-hot that refuses": lambda: OneHotEncoder(),
    "infrequent": lambda: OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=16),
    "ordinal": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-5,
                                      encoded_missing_value=-2),
    "ordinal with NaN": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
}
MARKERS = [None, np.nan, pandas.NA, "?", "", "nan", -1]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_each_encoder_has_its_own_way_with_missing_cells(column, encoder):
    frame = pandas.DataFrame({"c": objects(COLUMNS[column]), "x": NUMBERS})
    rows = pandas.DataFrame({"c": pandas.Series(CELLS + [True, 1, 2.5, "1", " A"], dtype=object), "x": 0.3})
    tried = 0
    for last in (DecisionTreeRegressor(max_depth=5, random_state=0), Ridge()):
        model = pipeline(ENCODERS[encoder](), last)
        try:
            model.fit(frame, targets(frame.c))
        except (TypeError, ValueError):
            continue  # scikit-learn refuses such columns
        agrees_by_row(model, frame, rows)
        tried += 1
    assert tried or column in ("NA", "all", "mixed", "booleans", "None and NaN", "words of missing", "None",
                               "NaN")


@pytest.mark.parametrize("marker", MARKERS, ids=map(repr, MARKERS))
@pytest.mark.parametrize("column", COLUMNS)
def test_each_imputer_has_its_own_marker(column, marker):
    frame = pandas.DataFrame({"c": objects(COLUMNS[column]), "x": NUMBERS})
    rows = pandas.DataFrame({"c": pandas.Series(CELLS, dtype=object), "x": 0.3})
    steps = [
        make_pipeline(SimpleImputer(missing_values=marker, strategy="constant", fill_value="?"),
                      OneHotEncoder(handle_unknown="ignore")),
        make_pipeline(SimpleImputer(missing_values=marker, strategy="constant", fill_value="A"),
                      OrdinalEncoder()),
        make_union(make_pipeline(SimpleImputer(missing_values=marker, strategy="most_frequent"),
                                 OneHotEncoder(handle_unknown="ignore")),
                   MissingIndicator(missing_values=marker, features="all")),
    ]
    for step, last in itertools.product(steps, (DecisionTreeRegressor(max_depth=5, random_state=0), Ridge())):
        model = pipeline(step, last)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(frame, targets(frame.c))
            except (TypeError, ValueError):
                continue  # scikit-learn refuses such columns
            agrees_by_row(model, frame, rows)


def test_none_before_an_encoder_is_what_its_imputer_makes_of_it():
    frame = pandas.DataFrame({"deck": pandas.Series(["A", "B", None] * 10, dtype=object),
                              "fare": np.arange(30.0)})
    answers = frame.deck.map({"A": 5.0, "B": 1.0}).fillna(9.0)
    imputer = SimpleImputer(missing_values=None, strategy="constant", fill_value="?")
    for last in (DecisionTreeRegressor(), Ridge()):
        model = make_pipeline(make_column_transformer((make_pipeline(
            imputer, OneHotEncoder(handle_unknown="ignore")), ["deck"])), last)
        model.fit(frame, answers)
        agrees(model, frame, model.predict(frame))
        refused = frame[:3].assign(deck=pandas.Series(["A", np.nan, "B"], dtype=object))
        with pytest.raises(ValueError):
            model.predict(refused)
        with pytest.raises(apportion.DataError,
                           match='invalid value NaN in column "deck" of X: the model rejects it'):
            apportion.TreeExplainer(model, frame)(refused)


NUMBER_MARKERS = [-1, 0, np.int64(-999), np.nan, -1000.0, 2.5]


@pytest.mark.parametrize("marker", NUMBER_MARKERS, ids=map(repr, NUMBER_MARKERS))
@pytest.mark.parametrize("then", ["nothing", "scaler", "bins", "one-hot", "indicator"])
def test_markers_that_are_numbers(marker, then):
    values = [0.0, 1.0, 2.5, -1.0, 4.0, -999.0, -1000.0, np.nan if marker != marker else 7.0]
    frame = pandas.DataFrame({"c": objects(values).astype(float), "x": NUMBERS})
    answers = np.where(frame.c == marker, 8.0, frame.c.fillna(3.0) / 300) + NUMBERS
    tried = [0.0, -0.0, 1.0, 3.5, -1.0, np.nextafter(-1, 0), np.nextafter(-1, -2), -999.0, -1000.0, -2000.0,
             2.5, 50.0, np.nan]
    rows = pandas.DataFrame({"c": tried, "x": 0.3})
    for fill in ("mean", "constant"):
        imputer = SimpleImputer(missing_values=marker, strategy=fill, add_indicator=then == "indicator",
                                **({"fill_value": 3.5} if fill == "constant" else {}))
        others = {"scaler": [StandardScaler()],
                  "bins": [KBinsDiscretizer(3, encode="ordinal", strategy="uniform")],
                  "one-hot": [OneHotEncoder(handle_unknown="ignore")]}.get(then, [])
        for last in (DecisionTreeRegressor(max_depth=6, random_state=0), Ridge(),
                     GradientBoostingRegressor(n_estimators=4)):
            model = pipeline(make_pipeline(imputer, *others), last).fit(frame, answers)
            agrees_by_row(model, frame, rows)


def test_a_word_may_be_a_marker_in_a_column_of_numbers():
    frame = pandas.DataFrame({"c": objects([1.0, 2.0, "?", 4.0, 5.5]), "x": NUMBERS})
    answers = np.array([8.0 if value == "?" else value for value in frame.c]) + NUMBERS
    rows = pandas.DataFrame({"c": pandas.Series([1.0, 3, "?", 5.5, np.nan, "!"], dtype=object), "x": 0.3})
    for last in (DecisionTreeRegressor(max_depth=5), Ridge()):
        model = pipeline(make_pipeline(SimpleImputer(missing_values="?", strategy="most_frequent"),
                                       StandardScaler()), last).fit(frame, answers)
        assert agrees_by_row(model, frame, rows) >= 2


def test_an_imputer_alone_before_trees_is_not_passed_over():
    rows = np.random.default_rng(1).normal(size=(200, 3))
    answers = rows[:, 0] * rows[:, 1]
    rows[np.random.default_rng(2).random(rows.shape) < 0.2] = np.nan
    for last in (RandomForestRegressor(4), ExtraTreesRegressor(4), GradientBoostingRegressor(n_estimators=4),
                 HistGradientBoostingRegressor(max_iter=4), Ridge()):
        model = make_pipeline(SimpleImputer(), last).fit(rows, answers)
        agrees(model, rows, model.predict(rows))


def test_values_with_missing_cells_are_those_of_enumeration(enumerated):
    frame = pandas.DataFrame({"c": objects(["A", "B", None, np.nan]),
                              "m": np.resize([0.0, -1.0, 2.0, 5.0, -1.0], COUNT), "x": NUMBERS})
    steps = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["c"]),
                                    (SimpleImputer(missing_values=-1), ["m"]), remainder="passthrough",
                                    sparse_threshold=0)
    model = make_pipeline(steps,
                          GradientBoostingRegressor(n_estimators=8, max_depth=4, random_state=0)).fit(
                              frame, targets(frame.c) + 3 * (frame.m == -1))
    background = frame[:9]
    explainer = apportion.TreeExplainer(model, background)
    for place in (2, 3, 11, 16):
        row = frame.iloc[place:place + 1]

        def worth(mask):
            mixed = background.copy()
            for player, name in enumerate(frame.columns):
                if mask >> player & 1:
                    mixed[name] = np.resize(row[name].to_numpy(), len(mixed))
            return model.predict(mixed).mean()

        assert np.abs(explainer(row).values[0] - enumerated(worth, 3)).max() < 1e-10


@pytest.mark.parametrize("kind",
                         ["category", "categories of numbers", "string", "Int64", "boolean", "ordered"])
def test_kinds_of_columns(kind):
    words, numbers = ["A", "B", None, "C"], [10, 20, None, 30]
    column = {"category": lambda: pandas.Categorical(objects(words)),
              "categories of numbers": lambda: pandas.Categorical(objects(numbers)),
              "string": lambda: objects(words).astype("string"),
              "Int64": lambda: objects(numbers).astype("Int64"),
              "boolean": lambda: objects([True, False, None]).astype("boolean"),
              "ordered": lambda: pandas.Categorical(
                  objects(words), categories=["C", "A", "B"], ordered=True)}[kind]()
    frame = pandas.DataFrame({"c": column, "x": NUMBERS})
    answers = np.where(frame.c.isna(), 5.0, np.arange(COUNT) % 4) + NUMBERS
    tried = 0
    for step in (OneHotEncoder(handle_unknown="ignore"), OrdinalEncoder(),
                 SimpleImputer(strategy="most_frequent"),
                 make_pipeline(SimpleImputer(missing_values=pandas.NA, strategy="most_frequent"),
                               OneHotEncoder())):
        for last in (DecisionTreeRegressor(max_depth=5),
                     HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=3), Ridge()):
            model = pipeline(step, last)
            try:
                told = model.fit(frame, answers).predict(frame)
            except (TypeError, ValueError):
                continue  # scikit-learn refuses such columns
            agrees(model, frame, told)
            tried += 1
    assert tried


def test_tables_of_polars_and_arrow_have_none_for_a_missing_word():
    polars, pyarrow = pytest.importorskip("polars", "1.21"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"c": objects(["A", "B", None]), "x": NUMBERS})
    for step in (OneHotEncoder(),
                 make_pipeline(SimpleImputer(missing_values=None, strategy="constant", fill_value="B"),
                               OneHotEncoder())):
        model = pipeline(step, DecisionTreeRegressor(max_depth=4)).fit(frame, targets(frame.c))
        explainer, told = apportion.TreeExplainer(model, frame[:9]), model.predict(frame)
        for rows in (polars.DataFrame({"c": frame.c.tolist(), "x": NUMBERS}),
                     pyarrow.table({"c": frame.c.tolist(), "x": NUMBERS})):
            assert np.abs(explainer(rows).predictions - told).max() < 1e-9


def test_explainers_with_missing_cells_can_be_pickled():
    import pickle

    frame = pandas.DataFrame({"c": objects(["A", "B", None, np.nan]), "x": NUMBERS})
    model = pipeline(OneHotEncoder(), DecisionTreeRegressor(max_depth=5)).fit(frame, targets(frame.c))
    explainer = pickle.loads(pickle.dumps(apportion.TreeExplainer(model, frame[:9])))
    assert np.abs(explainer(frame).predictions - model.predict(frame)).max() < 1e-9


# Classes are identified by the library that determines their predictions.


class Plain(RandomForestRegressor):
    """A subclass that leaves predictions unchanged."""

    def fit(self, rows, answers):
        return super().fit(rows, np.asarray(answers) * 2)

    def extra(self):
        return 1


class Doubled(RandomForestRegressor):
    def predict(self, rows):
        return 2 * super().predict(rows)


class Hidden(LinearRegression):
    def _decision_function(self, rows):
        return 3 * super()._decision_function(rows)


class Shifted(StandardScaler):
    def transform(self, rows, copy=None):
        return super().transform(rows) + 1


class StandardImpostor:
    """A class that only shares its name with one of scikit-learn."""

    def fit(self, rows, answers=None):
        self.n_features_in_ = rows.shape[1]
        return self

    def transform(self, rows):
        return np.asarray(rows)[:, ::-1] ** 2

    def fit_transform(self, rows, answers=None):
        return self.fit(rows).transform(rows)

    def get_params(self, deep=True):
        return {}


StandardImpostor.__name__ = "StandardScaler"


class Broken(RandomForestRegressor):
    @property
    def estimators_(self):
        raise KeyError("lost")

    @estimators_.setter
    def estimators_(self, members):
        pass


def test_a_class_of_ones_own_is_the_one_it_derives_from_if_it_changes_no_prediction(numbers):
    rows, answers = numbers
    model = Plain(4, random_state=0).fit(rows, answers)
    agrees(model, rows, model.predict(rows))
    searched = GridSearchCV(Plain(3, random_state=0), {"max_depth": [2, 3]}, cv=2).fit(rows, answers)
    agrees(searched, rows, searched.predict(rows))


def refused_models(rows, answers):
    forest = RandomForestRegressor(3).fit(rows, answers)
    forest.predict = lambda rows: np.zeros(len(rows))
    yield forest, "this object replaces predict"
    yield Doubled(3).fit(rows, answers), "overrides predict"
    yield Hidden().fit(rows, answers), "overrides _decision_function"
    yield make_pipeline(Shifted(), Ridge()).fit(rows, answers), "overrides transform"
    yield Pipeline([("s", StandardImpostor()), ("t", DecisionTreeRegressor())]).fit(
        rows, answers), "its features may depend on several columns"
    yield BaggingRegressor(Doubled(2), n_estimators=2).fit(rows, answers), "overrides predict"


def test_classes_that_predict_otherwise_are_refused_and_explained_as_functions(numbers):
    rows, answers = numbers
    for model, why in refused_models(rows, answers):
        with pytest.raises(apportion.ModelError, match=why) as caught:
            apportion.TreeExplainer(model, rows[:10])
        assert "apportion.Explainer(model, X) works for any model" in str(caught.value)
        found = apportion.Explainer(model, rows[:10])(rows[:3])
        assert np.abs(found.predictions - model.predict(rows[:3])).max() < 1e-9, why


def test_any_failure_is_a_refusal(numbers):
    rows, answers = numbers
    model = Broken(2)
    with pytest.raises(converter.Refused, match="KeyError|estimators_"):
        model.n_features_in_ = 4
        converter.document(model)
    tree = DecisionTreeRegressor().fit(rows, answers)
    del tree.tree_
    with pytest.raises(converter.Refused, match="tree_"):
        converter.document(tree)
    forest = RandomForestRegressor(2).fit(rows, answers)
    forest.estimators_[1] = object()
    with pytest.raises(converter.Refused):
        converter.document(forest)
    grown = GradientBoostingRegressor(n_estimators=2).fit(rows, answers)
    del grown._loss
    with pytest.raises(converter.Refused, match="_loss"):
        converter.document(grown)
    scaled = make_pipeline(StandardScaler(), Ridge()).fit(rows, answers)
    del scaled[0].scale_
    with pytest.raises(converter.Refused):
        converter.document(scaled)
    with pytest.raises(converter.Refused, match="not fitted"):
        converter.document(GridSearchCV(Ridge(), {"alpha": [1]}))


def test_encoders_of_another_library_are_not_taken_for_those_of_scikit_learn():
    encoders = pytest.importorskip("category_encoders")
    frame = pandas.DataFrame({"c": objects(["x", "y", "z"]), "a": NUMBERS})
    for encoder in (encoders.OrdinalEncoder(), encoders.OneHotEncoder(), encoders.TargetEncoder()):
        model = make_pipeline(encoder, LinearRegression()).fit(frame, targets(frame.c))
        with pytest.raises(apportion.ModelError, match="category_encoders"):
            apportion.TreeExplainer(model, frame[:10])
        found = apportion.Explainer(model, frame[:10])(frame[:4])
        assert np.abs(found.predictions - model.predict(frame[:4])).max() < 1e-9


def test_samplers_do_nothing_when_a_pipeline_predicts(numbers):
    ensemble, samplers = (pytest.importorskip("imblearn.ensemble"),
                          pytest.importorskip("imblearn.over_sampling"))
    from imblearn.pipeline import make_pipeline as with_samplers

    rows, answers = numbers
    classes = (answers > 0.5).astype(int)
    for last in (LogisticRegression(), GradientBoostingClassifier(n_estimators=4)):
        model = with_samplers(StandardScaler(), samplers.RandomOverSampler(random_state=0), last).fit(
            rows, classes)
        agrees(model, rows, model.predict_proba(rows)[:, 1], sigmoid)
    for model in (ensemble.BalancedRandomForestClassifier(4),
                  ensemble.BalancedBaggingClassifier(n_estimators=3)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows, classes)
        agrees(model, rows, model.predict_proba(rows))
    boosted = ensemble.RUSBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3)
    if "algorithm" in boosted.get_params():
        boosted.set_params(algorithm="SAMME")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        boosted.fit(rows, classes)
    agrees(boosted, rows, boosted.decision_function(rows))
    with pytest.raises(apportion.ModelError, match="after a link function"):
        apportion.TreeExplainer(ensemble.EasyEnsembleClassifier(n_estimators=2).fit(rows, classes), rows[:10])


# Models of other libraries.


def test_ngboost():
    ngboost = pytest.importorskip("ngboost")
    from ngboost import distns

    rows = np.random.default_rng(3).normal(size=(100, 3))
    for law, answers in ((distns.Poisson, np.floor(np.exp(rows[:, 0])).astype(int)),
                         (distns.Exponential, np.exp(rows[:, 0]))):
        model = ngboost.NGBRegressor(Dist=law, n_estimators=4, verbose=False).fit(rows, answers)
        agrees(model, rows, model.predict(rows), np.exp)
    model = ngboost.NGBRegressor(n_estimators=4, col_sample=0.7, verbose=False).fit(rows, rows[:, 0])
    agrees(model, rows, model.pred_param(rows))
    model = ngboost.NGBClassifier(n_estimators=4, verbose=False).fit(rows, (rows[:, 0] > 0).astype(int))
    agrees(model, rows, model.predict_proba(rows)[:, 1], sigmoid)
    model = ngboost.NGBClassifier(Dist=distns.k_categorical(3), n_estimators=4, verbose=False).fit(
        rows, np.digitize(rows[:, 0], [-0.4, 0.4]))
    agrees(model, rows, model.predict_proba(rows),
           lambda margins: np.exp(margins) / np.exp(margins).sum(axis=1, keepdims=True))


def test_survival():
    ensemble = pytest.importorskip("sksurv.ensemble")
    from sksurv import linear_model, tree
    from sksurv.util import Surv

    random = np.random.default_rng(4)
    rows = random.normal(size=(120, 4))
    times = Surv.from_arrays(random.random(120) < 0.7, 2 + np.exp(rows[:, 0] / 3) + random.random(120))
    for model in (ensemble.RandomSurvivalForest(4), ensemble.RandomSurvivalForest(4, low_memory=True),
                  ensemble.ExtraSurvivalTrees(3), tree.SurvivalTree(max_depth=3),
                  ensemble.GradientBoostingSurvivalAnalysis(n_estimators=5),
                  ensemble.GradientBoostingSurvivalAnalysis(n_estimators=5, dropout_rate=0.3),
                  ensemble.ComponentwiseGradientBoostingSurvivalAnalysis(n_estimators=20),
                  linear_model.CoxPHSurvivalAnalysis(),
                  linear_model.CoxnetSurvivalAnalysis(),
                  make_pipeline(StandardScaler(), ensemble.RandomSurvivalForest(3))):
        model.fit(rows, times)
        agrees(model, rows, model.predict(rows))
    for kind in (ensemble.GradientBoostingSurvivalAnalysis,
                 ensemble.ComponentwiseGradientBoostingSurvivalAnalysis):
        model = kind(loss="ipcwls", n_estimators=5).fit(rows, times)
        agrees(model, rows, model.predict(rows), np.exp)
    with pytest.raises(apportion.ModelError, match="apportion.Explainer"):
        apportion.TreeExplainer(linear_model.IPCRidge().fit(rows, times), rows[:10])


def test_quantile_forests_only_if_they_predict_a_mean(numbers):
    forests = pytest.importorskip("quantile_forest")
    rows, answers = numbers
    for kind in (forests.RandomForestQuantileRegressor, forests.ExtraTreesQuantileRegressor):
        for quantiles in ("mean", None):
            model = kind(4, default_quantiles=quantiles, min_samples_leaf=3).fit(rows, answers)
            agrees(model, rows, model.predict(rows))
        for quantiles in (0.5, [0.1, 0.9]):
            model = kind(4, default_quantiles=quantiles).fit(rows, answers)
            with pytest.raises(apportion.ModelError, match="its default prediction is a quantile"):
                apportion.TreeExplainer(model, rows[:10])
            found = apportion.Explainer(model, rows[:10])(rows[:3])
            assert np.abs(found.predictions - model.predict(rows[:3])).max() < 1e-9
        model = kind(4, default_quantiles="mean", min_samples_leaf=5, max_samples_leaf=None).fit(
            rows, answers)
        with pytest.raises(apportion.ModelError, match="training rows"):
            apportion.TreeExplainer(model, rows[:10])


def test_forests_of_econml(numbers):
    forests = pytest.importorskip("econml.grf")
    rows, answers = numbers
    model = forests.RegressionForest(n_estimators=8).fit(rows, answers)
    agrees(model, rows, model.predict(rows).ravel())
    with pytest.raises(apportion.ModelError, match="solutions of equations"):
        apportion.TreeExplainer(forests.CausalForest(n_estimators=8).fit(
            rows, (answers > 0).astype(float), answers), rows[:10])


def test_classes_before_and_after_releases(numbers):
    rows, answers = numbers
    classes = np.array(["low", "high"])[(answers > 0).astype(int)]
    model = RandomForestClassifier(4, class_weight="balanced").fit(rows, classes)
    agrees(model, rows, model.predict_proba(rows))
    model = DecisionTreeClassifier(max_depth=3).fit(rows, np.digitize(answers, [-0.5, 0.5]))
    agrees(model, rows, model.predict_proba(rows))
    model = GradientBoostingClassifier(n_estimators=3, loss="exponential").fit(rows, classes)
    agrees(model, rows, model.predict_proba(rows)[:, 1], lambda margins: sigmoid(2 * margins))
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3)
    if "algorithm" in model.get_params():
        model.set_params(algorithm="SAMME")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, classes)
    agrees(model, rows, model.predict_proba(rows)[:, 1], sigmoid)
    codes = np.column_stack([rows[:, 0], np.arange(len(rows)) % 5])
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=3, categorical_features=[1]).fit(
        codes, answers + (codes[:, 1] == 3))
    codes[:6, 1], codes[6:9, 1] = [5, 6, 7, 8, 9, 10], np.nan
    agrees(model, codes, model.predict(codes))


def test_missing_values_are_refused_where_the_model_refuses_them(numbers):
    rows, answers = numbers
    holes = rows[:2].copy()
    holes[1, 2] = np.nan
    for model in (GradientBoostingRegressor(n_estimators=2), RandomForestRegressor(2),
                  DecisionTreeRegressor(), HistGradientBoostingRegressor(max_iter=2), Ridge(),
                  make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=2))):
        explainer = apportion.TreeExplainer(model.fit(rows, answers), rows[:5])
        try:
            told = model.predict(holes)
        except ValueError:
            with pytest.raises(apportion.DataError):
                explainer(holes)
        else:
            assert np.abs(explainer(holes).predictions - told).max() < 1e-9


# Targets that were transformed.


def test_transformed_targets(numbers):
    rows, answers = numbers
    model = TransformedTargetRegressor(RandomForestRegressor(3), func=np.log, inverse_func=np.exp).fit(
        rows, np.exp(answers))
    agrees(model, rows, model.predict(rows))
    assert apportion.Ensemble(model).link == "exponential"
    within = make_pipeline(StandardScaler(),
                           TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp)).fit(
                               rows, np.exp(answers))
    searched = GridSearchCV(TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp),
                            {"regressor__alpha": [1, 2]}, cv=2).fit(rows, np.exp(answers))
    for behind in (model, within, searched):
        assert converter.predicts_behind_link(behind)
    others = [TransformedTargetRegressor(Ridge(), func=np.log1p, inverse_func=np.expm1).fit(
        rows, np.exp(answers)), Ridge().fit(rows, answers),
              TransformedTargetRegressor(Ridge(), transformer=StandardScaler()).fit(rows, answers),
              TransformedTargetRegressor(Ridge()).fit(rows, answers), object()]
    assert not any(map(converter.predicts_behind_link, others))
    with pytest.raises(converter.Refused, match="inverse_func=np.exp"):
        converter.document(others[0])
    for scaled in others[2:4]:
        agrees(scaled, rows, scaled.predict(rows))


# Linear models.


@pytest.mark.parametrize("steps",
                         [(), (StandardScaler(),), (SimpleImputer(),), (SelectKBest(f_regression, k=30),)],
                         ids=repr)
def test_linear_models_of_many_features_are_one_leaf(steps):
    rows = np.random.default_rng(5).normal(size=(80, 60))
    model = make_pipeline(*steps, Ridge()).fit(rows, rows[:, 0])
    agrees(model, rows, model.predict(rows))
    trees = converter.document(model)["trees"]
    assert len(trees) == (60 if steps and isinstance(steps[0], SimpleImputer) else 1)
    classes = make_pipeline(*steps, LogisticRegression()).fit(rows, np.digitize(rows[:, 0], [-0.5, 0.5]))
    agrees(classes, rows, classes.decision_function(rows))


def test_a_linear_model_of_many_sparse_columns_is_read():
    sparse = pytest.importorskip("scipy.sparse")
    rows = sparse.random(50, 20_000, density=0.002, random_state=0, format="csr")
    model = Ridge(solver="lsqr").fit(rows, np.arange(50.0))
    document = converter.document(model)
    assert len(document["trees"]) == 1 and len(document["refuses_missing"]) == 20_000
    found = apportion.Explainer(model, rows[:10])(rows[:2])
    assert np.abs(found.predictions - model.predict(rows[:2])).max() < 1e-9 and found.additivity_gap() < 1e-9


def test_linear_models_and_trees_may_vote(numbers):
    rows, answers = numbers
    model = VotingRegressor([("line", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3)),
                             ("both", make_pipeline(StandardScaler(), Ridge()))])
    agrees(model.fit(rows, answers), rows, model.predict(rows))


def test_the_file_alone_says_the_same(numbers, tmp_path):
    rows, answers = numbers
    marked = np.where(rows > 1, -1.0, rows)
    model = make_pipeline(SimpleImputer(missing_values=-1), StandardScaler(),
                          RandomForestRegressor(4, random_state=0)).fit(marked, answers)
    converter.save(model, tmp_path / "model.json")
    assert any("except" in rule for tree in json.loads((tmp_path / "model.json").read_text())["trees"]
               for rule in tree["rules"])
    assert np.abs(apportion.Ensemble(tmp_path / "model.json").predict(marked)
                  - model.predict(marked)).max() < 1e-9
    # The nodes are those of the original trees, so their cover stays valid.
    assert apportion.TreeExplainer(tmp_path / "model.json")(marked).additivity_gap() < 1e-9
