"""Exact values of additive models, recognized or declared, equal enumeration of the model as a function."""
import pickle
import warnings

import numpy as np
import pandas
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, QuantileTransformer, StandardScaler

import apportion

FEATURES = 6
PAIRS = FEATURES * (FEATURES - 1) // 2


def rows(count, seed=0):
    numbers = np.random.default_rng(seed).normal(size=(count, FEATURES))
    return numbers * [1, 2, 0.5, 1, 3, 1] + [0, 5, 0, -2, 1, 1]


X = rows(120)
Y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2] - 0.3 * X[:, 3] * X[:, 4]
TWO = np.where(Y > np.median(Y), "high", "low")
THREE = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
COUNTS = np.floor(3 * np.abs(X))
EXPLAINED, EXPLAINED_COUNTS = rows(4, seed=1), np.floor(3 * np.abs(rows(4, seed=1)))


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", apportion.ModelWarning)
        yield


def enumerated(call, explained, background, **options):
    return apportion.Explainer(lambda rows: call(rows), background, method="exact", **options)(explained)


def assert_near(got, expected, tolerance=1e-12):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def assert_exact(model, method, background, explained, evaluations, **options):
    """Asserts that a recognized model has the values of enumeration, from the given number of evaluations."""
    found = apportion.Explainer(model, background, **options)(explained)
    of_function = {name: option for name, option in options.items() if name != "model_output"}
    expected = enumerated(getattr(model, method), explained, background, **of_function)
    assert found.method == "additive" and expected.method in ("exact", "on-graph")
    assert set(np.ravel(found.evaluations)) == {evaluations}
    scale = np.abs(np.asarray(expected.predictions)).max()
    for got, wanted in ((found.values, expected.values), (found.base_values, expected.base_values),
                        (found.predictions, getattr(model, method)(explained))):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * scale)
    return found


@pytest.mark.parametrize("model", [GaussianNB(), BernoulliNB(binarize=0.5), MultinomialNB(), ComplementNB(),
                                   ComplementNB(norm=True), CategoricalNB(min_categories=99)], ids=str)
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_joint_log_likelihoods_of_naive_bayes(model, labels):
    model = model.fit(COUNTS, labels)
    found = assert_exact(model, "predict_joint_log_proba", COUNTS[:9], EXPLAINED_COUNTS, FEATURES + 2,
                         model_output="predict_joint_log_proba")
    assert found.values.shape == (4, FEATURES, len(set(labels)))


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_quadratic_discriminant_analysis(labels):
    model = QuadraticDiscriminantAnalysis().fit(X, labels)
    found = assert_exact(model, "decision_function", X[:12], EXPLAINED, 2 + FEATURES + PAIRS)
    assert found.output == "decision_function"
    scaled = make_pipeline(StandardScaler(), MinMaxScaler(), "passthrough",
                           QuantileTransformer(n_quantiles=20), QuadraticDiscriminantAnalysis())
    scaled.fit(X, labels)
    assert_exact(scaled, "decision_function", X[:12], EXPLAINED, 2 + FEATURES + PAIRS)


def test_linear_discriminant_analysis():
    model = LinearDiscriminantAnalysis().fit(X, THREE)
    assert_exact(model, "decision_function", X[:12], EXPLAINED, 2 + FEATURES,
                 model_output="decision_function")
    # Without the name of the method, it is read as a linear model.
    assert apportion.Explainer(model, X[:12])(EXPLAINED).method == "tree"


@pytest.mark.parametrize("options", [
    dict(value="banzhaf"), dict(value="beta=4,1"), dict(value="owen", groups=[[0, 1], [2, 3, 4, 5]]),
    dict(value="two-step", groups=[[0, 1], [2, 3, 4, 5]]),
    dict(value="owen", groups=[[[0, 1], 2], [3, 4], [5]]),
    dict(value="quotient-shapley", groups=[[0, 1], [2, 3], [4, 5]]), dict(weights=np.arange(12.0)),
    dict(value="c-shapley=1", graph="line"), dict(value="myerson", graph="line"),
], ids=str)
def test_all_values(options):
    model = QuadraticDiscriminantAnalysis().fit(X, TWO)
    assert_exact(model, "decision_function", X[:12], EXPLAINED, 2 + FEATURES + PAIRS, **options)


def test_many_features_take_one_evaluation_for_each_pair():
    count = 30
    draws = np.random.default_rng(5)
    wide = draws.normal(size=(400, count)) * draws.uniform(0.5, 2, size=count)
    model = QuadraticDiscriminantAnalysis().fit(wide, wide[:, 0] * wide[:, 1] > 0)
    explainer = apportion.Explainer(model, wide[:40])
    found = explainer(wide[200:202])
    evaluations = 2 + count + count * (count - 1) // 2
    assert explainer.plan(wide[200:202])["most"] == evaluations == 467
    assert found.method == "additive" and set(found.evaluations) == {evaluations}
    # The Shapley values of a quadratic function g: the mean over background rows b of half the sums of the
    # effects g(x_i, b) − g(b) and g(x) − g(b_i, x).
    x, g = wide[200], model.decision_function
    expected = np.zeros(count)
    for feature in range(count):
        alone, without = wide[:40].copy(), np.tile(x, (40, 1))
        alone[:, feature], without[:, feature] = x[feature], wide[:40, feature]
        expected[feature] = (g(alone) - g(wide[:40]) + g(x[None]) - g(without)).mean() / 2
    np.testing.assert_allclose(found.values[0], expected, rtol=0, atol=1e-11 * np.abs(g(wide)).max())


def test_interactions_are_exact():
    model = QuadraticDiscriminantAnalysis().fit(X, TWO)
    found = apportion.Explainer(model, X[:12])(EXPLAINED, interactions=True)
    expected = enumerated(model.decision_function, EXPLAINED, X[:12]).values
    assert_near(np.diagonal(found.values, axis1=1, axis2=2), expected)
    as_function = apportion.Explainer(lambda rows: model.decision_function(rows), X[:12])
    assert_near(found.values, as_function(EXPLAINED, interactions=True).values)


def test_probabilities_and_other_methods_are_not_additive():
    model = GaussianNB().fit(X, TWO)
    for method in ("predict_proba", "predict_log_proba"):
        assert apportion.Explainer(model, X[:12], model_output=method)(EXPLAINED).method == "exact"
    default = apportion.Explainer(model, X[:12])(EXPLAINED)
    assert (default.method, default.output) == ("exact", "predict_proba")
    quadratic = QuadraticDiscriminantAnalysis().fit(X, TWO)
    for options in (dict(method="exact"), dict(method="leverage-shap"), dict(game="gaussian", draws=20),
                    dict(additive=False), dict(budget=2 + FEATURES + PAIRS - 1)):
        found = apportion.Explainer(quadratic, X[:12], **options)(EXPLAINED)
        expected = apportion.Explainer(lambda rows: quadratic.decision_function(rows), X[:12],
                                       **{**options, "additive": None})(EXPLAINED)
        assert found.method == expected.method != "additive"
        np.testing.assert_array_equal(found.values, expected.values)
    assert apportion.Explainer(quadratic, X[:12], until=0.01)(EXPLAINED).certificates is not None


class Curved(QuadraticDiscriminantAnalysis):
    def decision_function(self, X):
        return np.tanh(super().decision_function(X))


def test_models_that_are_not_additive_are_called(monkeypatch):
    regularized = QuadraticDiscriminantAnalysis(reg_param=0.1)
    for model in (Curved(), make_pipeline(PolynomialFeatures(2), regularized)):
        model.fit(X, TWO)
        found = apportion.Explainer(model, X[:12])(EXPLAINED)
        assert found.method == "exact"
        assert_near(found.values, enumerated(model.decision_function, EXPLAINED, X[:12]).values)
    # Another version of a class may predict differently.
    model = QuadraticDiscriminantAnalysis().fit(X, TWO)
    monkeypatch.setattr(QuadraticDiscriminantAnalysis, "decision_function",
                        lambda self, X: np.asarray(X)[:, :3].prod(axis=1))
    assert apportion.Explainer(model, X[:12])(EXPLAINED).method == "exact"


def function(rows):
    rows = np.asarray(rows)
    return np.exp(rows).sum(axis=1) + rows[:, 0] * rows[:, 3] + rows[:, 4] * rows[:, 5] ** 2


def test_declared_functions():
    frame, explained = (pandas.DataFrame(numbers, columns=list("abcdef")) for numbers in (X, EXPLAINED))
    expected = enumerated(function, EXPLAINED, X[:40]).values
    for declared in ([("a", "d"), ("f", "e")], [(3, 0), [4, np.int64(5)]],
                     [("a", 3), ("e", "f"), ("b",), ()]):
        found = apportion.Explainer(function, frame[:40], additive=declared)(explained)
        assert found.method == "additive" and set(found.evaluations) == {2 + FEATURES + 2}
        assert_near(found.values, expected)
        assert_near(apportion.explain(function, explained, frame[:40], additive=declared).values, expected)
    single = apportion.Explainer(lambda rows: np.cos(rows).sum(axis=1), X[:40], additive=True)(EXPLAINED)
    assert set(single.evaluations) == {2 + FEATURES}
    assert_near(single.values, np.cos(EXPLAINED) - np.cos(X[:40]).mean(axis=0))


def test_log_odds_of_naive_bayes():
    model = GaussianNB().fit(X, TWO)

    def log_odds(rows):
        return np.diff(model.predict_joint_log_proba(rows))[:, 0]

    found = apportion.Explainer(log_odds, X[:40], additive=True)(EXPLAINED)
    assert_near(found.values, enumerated(log_odds, EXPLAINED, X[:40]).values)


def test_false_declarations_are_refused():
    for declared in (True, [], [(0, 3)], [(4, 5), (0, 1)]):
        with pytest.raises(apportion.ModelError, match="not a sum of the declared terms"):
            apportion.Explainer(function, X[:12], additive=declared)(EXPLAINED)
    model = GaussianNB().fit(X, TWO)
    with pytest.raises(apportion.ModelError, match="not a sum of the declared terms"):
        apportion.Explainer(model, X[:12], additive=True)(EXPLAINED)
    # The interactions cancel each other in all rows with weights, but not in the last row of the background.
    equal, background = EXPLAINED.copy(), X[:12].copy()
    equal[:, 2], background[:11, 2] = equal[:, 1], background[:11, 1]
    options = dict(weights=[1] * 11 + [0], additive=True)
    with pytest.raises(apportion.ModelError, match="not a sum of the declared terms"):
        apportion.Explainer(lambda rows: rows[:, 0] * (rows[:, 1] - rows[:, 2]), background, **options)(equal)
    with pytest.raises(apportion.UsageError, match="only the marginal game"):
        apportion.Explainer(function, X, game="gaussian", draws=10, additive=True)(EXPLAINED)
    with pytest.raises(apportion.UsageError, match="additive requires a model that is called"):
        apportion.Explainer(LinearDiscriminantAnalysis().fit(X, TWO), X[:12], additive=True)
    with pytest.raises(apportion.UsageError, match="declared additive"):
        apportion.Explainer(function, X[:12], method="additive")(EXPLAINED)
    for wrong in ("age,sex", 3, {"a": 1}, ["ab"], [3]):
        with pytest.raises(apportion.UsageError, match="additive"):
            apportion.Explainer(function, X[:12], additive=wrong)
    with pytest.raises(apportion.UsageError, match="unknown feature 6 in additive"):
        apportion.Explainer(function, X[:12], additive=[(0, 6)])(EXPLAINED)


def test_tables_without_a_background_batches_pickling_and_checkpoints(tmp_path):
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = QuadraticDiscriminantAnalysis().fit(frame, TWO)
    assert apportion.explain(model, frame[:30]).method == "additive"
    explainer = apportion.Explainer(function, frame[:12], additive=[("a", "d"), ("e", "f")])
    found = explainer(frame[20:30])
    again = pickle.loads(pickle.dumps(explainer))
    for other in (explainer(frame[20:30], threads=1), explainer(frame[20:30], threads=3),
                  again(frame[20:30])):
        assert (other.method, other.values.tobytes()) == ("additive", found.values.tobytes())
    assert explainer(frame[27:28]).values.tobytes() == found.values[7:8].tobytes()
    path = tmp_path / "run.checkpoint"
    for _ in range(2):
        kept = explainer(frame[20:30], checkpoint=path)
        assert (kept.method, kept.values.tobytes()) == ("additive", found.values.tobytes())
    with pytest.raises(apportion.UsageError):
        apportion.Explainer(function, frame[:12])(frame[20:30], checkpoint=path)
    pyarrow = pytest.importorskip("pyarrow")
    batches = apportion.BatchExplainer(explainer, layout="lists")
    told = pyarrow.Table.from_batches(list(batches(pyarrow.Table.from_pandas(frame[20:30]).to_batches())))
    assert "std_errors" not in told.column_names
    np.testing.assert_array_equal(np.array(told["values"].to_pylist()), found.values)


def test_explainable_boosting_machines():
    glassbox = pytest.importorskip("interpret.glassbox")
    options = dict(interactions=3, outer_bags=2, n_jobs=1, max_rounds=100, random_state=0)
    regressor = glassbox.ExplainableBoostingRegressor(**options).fit(X, Y)
    pairs = sum(len(members) == 2 for members in regressor.term_features_)
    assert pairs > 0
    assert_exact(regressor, "predict", X[:12], EXPLAINED, 2 + FEATURES + pairs)
    for labels in (TWO, THREE):
        classifier = glassbox.ExplainableBoostingClassifier(**options).fit(X, labels)
        pairs = sum(len(members) == 2 for members in classifier.term_features_)
        assert_exact(classifier, "decision_function", X[:12], EXPLAINED, 2 + FEATURES + pairs)
        probable = apportion.Explainer(classifier, X[:12], model_output="predict_proba")(EXPLAINED)
        assert probable.method == "exact"
    logarithmic = glassbox.ExplainableBoostingRegressor(objective="poisson_deviance", **options)
    logarithmic.fit(X, np.exp(np.clip(Y, -2, 2)))
    assert apportion.Explainer(logarithmic, X[:12])(EXPLAINED).method == "exact"
    # The columns of a data frame may have another order than in training; one of them contains strings.
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(a=np.where(X[:, 0] > 0, "right", "left"))
    regressor = glassbox.ExplainableBoostingRegressor(**options).fit(frame, Y)
    pairs = sum(len(members) == 2 for members in regressor.term_features_)
    shuffled = frame[list("fbdeac")]
    found = apportion.Explainer(regressor, shuffled[:12])(shuffled[40:44])
    expected = apportion.Explainer(lambda rows: regressor.predict(rows), shuffled[:12], method="exact")
    assert (found.method, found.feature_names) == ("additive", list("fbdeac"))
    assert found.evaluations.max() <= 2 + FEATURES + pairs
    assert_near(found.values, expected(shuffled[40:44]).values)


def test_generalized_additive_models():
    pygam = pytest.importorskip("pygam")
    terms = pygam.s(0) + pygam.l(1) + pygam.te(1, 2) + pygam.s(3, by=4)
    linear = pygam.LinearGAM(terms).fit(X, Y)
    assert_exact(linear, "predict", X[:12], EXPLAINED, 2 + FEATURES + 2)
    logistic = pygam.LogisticGAM(pygam.s(0) + pygam.s(1) + pygam.te(2, 3)).fit(X, Y > 0)
    assert_exact(logistic, "_linear_predictor", X[:12], EXPLAINED, 2 + FEATURES + 1,
                 model_output="_linear_predictor")
    assert apportion.Explainer(logistic, X[:12])(EXPLAINED).method == "exact"
