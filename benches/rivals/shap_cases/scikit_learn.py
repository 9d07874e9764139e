"""Cases of scikit-learn and of libraries built on it."""
import numpy as np
import shap

from shap_cases.bench import DOUBLE, Differs, Refused, apart, case, needs, scikit_learn_to_json
from shap_cases.data import adults, houses, iris, noise, split


@case()
def test_unsupported_model_raises_error(bench):
    class Estimator:
        pass

    try:
        scikit_learn_to_json.document(Estimator())
        raise Differs("a custom estimator was written")
    except scikit_learn_to_json.Refused:
        pass
    (bench.folder / "other.json").write_text('{"learner": {}}')
    try:
        bench.command.predict(bench.folder / "other.json", noise(2))
    except Refused:
        return
    raise Differs("a file that is not a model was read")


@case()
def test_large_background_dataset_warning(bench):
    rows, target = houses(1200)
    from sklearn.tree import DecisionTreeRegressor
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(rows, target)
    bench.holds(model, rows[:20], model.predict(rows[:20]), background=rows, compare=False)
    bench.notes.append("1200 background rows cause no warning")


@case("RandomForestRegressor", "ExtraTreesRegressor", title="test_front_page_sklearn")
def front_page(bench, kind):
    from sklearn import ensemble
    rows, target = houses()
    model = getattr(ensemble, kind)(n_estimators=10, max_depth=8, random_state=0).fit(rows, target)
    bench.holds(model, rows[:60], model.predict(rows[:60]))


@case(1.0, 0.9, title="test_ngboost_models_prediction_equal")
@case(1.0, 0.9, title="test_ngboost_sum_of_shap_values")
def ngboost(bench, share):
    model = needs("ngboost").NGBRegressor(n_estimators=20, col_sample=share, verbose=False, random_state=0)
    rows, target = houses()
    model.fit(rows.to_numpy(), target)
    path = bench.saved(model)
    values, bases, _ = bench.command.explain(path, rows[:40].to_numpy())
    if apart((values.sum(axis=1) + bases)[:, 0], model.predict(rows[:40].to_numpy())) > DOUBLE:
        raise Differs("the first output is not the library's mean")


@case(title="test_pyspark_classifier_decision_tree")
@case(title="test_pyspark_regression_decision_tree")
def spark(bench):
    needs("pyspark.ml")
    raise Refused("models of pyspark are not supported")


@case(title="test_sklearn_random_forest_newsgroups")
@case(title="TestExplainerSklearn::test_sklearn_random_forest_newsgroups")
def bags_of_words(bench):
    from sklearn.ensemble import RandomForestClassifier
    random = np.random.default_rng(0)
    rows = (random.random((300, 4000)) < 0.01).astype(float)
    target = rows[:, :40].sum(axis=1) > 0
    model = RandomForestClassifier(100, random_state=777).fit(rows, target)
    bench.holds(model, rows[80:83], model.predict_proba(rows[80:83]), background=rows[:20])


@case(title="test_sklearn_decision_tree_multiclass")
@case(title="TestExplainerSklearn::test_sklearn_decision_tree_multiclass")
def tree_of_iris(bench):
    from sklearn.tree import DecisionTreeClassifier
    rows, target = iris()
    model = DecisionTreeClassifier(random_state=0).fit(rows, np.minimum(target, 1))
    bench.holds(model, rows, model.predict_proba(rows))


@case(1.0, 0.75, title="test_isolation_forest")
def isolation(bench, share):
    from sklearn.ensemble import IsolationForest
    rows, _ = houses()
    model = IsolationForest(n_estimators=50, max_features=share, random_state=0).fit(rows)
    bench.holds(model, rows[:30])
    scores = bench.command.predict(bench.saved(model), rows[:30], "--output", "probability")[:, 0]
    if apart(-scores, model.score_samples(rows[:30])) > DOUBLE:
        raise Differs("scores differ")


@case(1.0, 0.75, title="test_pyod_isolation_forest")
def pyod(bench, share):
    rows = houses()[0].to_numpy()
    model = needs("pyod.models.iforest").IForest(
        n_estimators=50, max_features=share, random_state=0).fit(rows)
    path = bench.folder / "pyod.json"
    scikit_learn_to_json.save(model.detector_, path)
    scores = bench.command.predict(path, rows[:30], "--output", "probability")[:, 0]
    if apart(-scores, model.detector_.score_samples(rows[:30])) > DOUBLE:
        raise Differs("scores differ")
    bench.holds(model.detector_, rows[:30])


@case("ExtraTreesRegressor", "RandomForestRegressor", title="test_skopt_rf_et")
def skopt(bench, kind):
    model = getattr(needs("skopt.learning"), kind)(n_estimators=20, random_state=0)
    rows = np.random.default_rng(0).uniform(-1e6, 3e6, (100, 2))
    model.fit(rows, rows[:, 0] ** 2 - rows[:, 1] ** 2 + rows[:, 0] * rows[:, 1])
    bench.holds(model, rows[:20], model.predict(rows[:20]), background=rows)


@case()
def test_sum_match_random_forest_classifier(bench):
    from sklearn.ensemble import RandomForestClassifier
    train, test, target, _ = split(*adults())
    model = RandomForestClassifier(10, max_depth=10, random_state=202).fit(train, target)
    bench.holds(model, test, model.predict_proba(test))


@case()
def test_sklearn_random_forest_multiclass(bench):
    from sklearn.ensemble import RandomForestClassifier
    rows, target = iris()
    model = RandomForestClassifier(100, random_state=0).fit(rows, np.minimum(target, 1))
    bench.holds(model, rows, model.predict_proba(rows))


@case("iris", "adult", title="test_sklearn_interaction_values")
def pairs(bench, data):
    from sklearn.ensemble import RandomForestClassifier
    rows, target = iris() if data == "iris" else adults(50)
    model = RandomForestClassifier(10, max_depth=None if data == "iris" else 1, random_state=0).fit(
        rows, target)
    bench.holds(model, rows[:40], model.predict_proba(rows[:40]), interactions=True)


@case("RandomForestRegressor", title="test_multi_target_random_forest_regressor")
@case("ExtraTreesRegressor", title="test_multi_target_extra_trees")
def three_targets(bench, kind):
    from sklearn import datasets, ensemble
    rows, targets = datasets.load_linnerud(return_X_y=True)
    model = getattr(ensemble, kind)(n_estimators=10, max_depth=10, random_state=202).fit(
        rows[:16], targets[:16])
    bench.holds(model, rows[16:], model.predict(rows[16:]))


@case()
def test_sum_match_extra_trees(bench):
    from sklearn.ensemble import ExtraTreesRegressor
    train, test, target, _ = split(*adults())
    model = ExtraTreesRegressor(10, max_depth=10, random_state=202).fit(train, target)
    bench.holds(model, test, model.predict(test))


@case()
def test_gradient_boosting_classifier_invalid_init_estimator(bench):
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    rows, target = adults()
    model = GradientBoostingClassifier(n_estimators=10, init="zero").fit(rows, target)
    bench.holds(model, rows[:20], model.decision_function(rows[:20]), compare=False)
    bench.notes.append('init="zero" is supported, but rejected by shap')
    model = GradientBoostingClassifier(n_estimators=10, init=LogisticRegression()).fit(rows, target)
    try:
        scikit_learn_to_json.document(model)
    except scikit_learn_to_json.Refused:
        return
    raise Differs("a model with an init estimator was written")


@case(("Classifier", 1), title="test_single_row_gradient_boosting_classifier")
@case(("Classifier", 60), title="test_sum_match_gradient_boosting_classifier")
@case(("Regressor", 1), title="test_single_row_gradient_boosting_regressor")
@case(("Regressor", 60), title="test_sum_match_gradient_boosting_regressor")
def boosted(bench, kind, count):
    from sklearn import ensemble
    train, test, target, _ = split(*adults())
    model = getattr(ensemble, f"GradientBoosting{kind}")(
        n_estimators=10, max_depth=10, random_state=202).fit(train, target)
    said = model.decision_function if kind == "Classifier" else model.predict
    bench.holds(model, test[:count], said(test[:count]))
    if count > 1 and kind == "Classifier":
        bench.holds(model, test[:10], said(test[:10]), interactions=True)


@case()
def test_HistGradientBoostingClassifier_proba(bench):
    from sklearn.ensemble import HistGradientBoostingClassifier
    rows, target = adults()
    model = HistGradientBoostingClassifier(max_iter=10, max_depth=6).fit(rows, target)
    # The command explains the probability of the second class, and shap the probabilities of both.
    values, bases, sums = bench.holds(model, rows[:20], model.predict_proba(rows[:20])[:, 1],
                                      background=rows[:10], output="probability", compare=False)
    said = shap.TreeExplainer(model, rows[:10], model_output="predict_proba")(rows[:20])
    said = np.asarray(said.values)[..., -1:]
    if apart(values, said) > DOUBLE:
        bench.judge(apart(values, said), DOUBLE, model, None, rows[:20], rows[:10], "probability", False,
                    values, said)


@case()
def test_HistGradientBoostingClassifier_multidim(bench):
    from sklearn.ensemble import HistGradientBoostingClassifier
    rows, _ = adults(400)
    target = np.random.default_rng(0).integers(0, 3, 400)
    model = HistGradientBoostingClassifier(max_iter=10, max_depth=6).fit(rows, target)
    bench.holds(model, rows[:40], model.decision_function(rows[:40]), background=rows[:10])


@case()
def test_HistGradientBoostingRegressor(bench):
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import HistGradientBoostingRegressor
    rows, target = load_diabetes(return_X_y=True)
    model = HistGradientBoostingRegressor(max_iter=500, max_depth=6).fit(rows, target)
    bench.holds(model, rows[:40], model.predict(rows[:40]))


@case()
def test_feature_perturbation_refactoring(bench):
    from sklearn.ensemble import RandomForestRegressor
    rows, target = houses(100)
    model = RandomForestRegressor(10).fit(rows, target)
    path = bench.saved(model)
    by_default = bench.command.run("explain", path, rows[:5])
    if by_default["game"] != "path-dependent":
        raise Differs(f"the default without a background is the {by_default['game']} game")
    beside = bench.command.run("explain", path, rows[:5], "--background",
                               bench.command.write(rows, "background"))
    if beside["game"] != "marginal":
        raise Differs(f"the default with a background is the {beside['game']} game")
    try:
        bench.command.run("explain", path, rows[:5], "--game", "random")
    except Refused:
        return
    raise Differs("an invalid game was accepted")


@case(True, False)
def test_consistency_approximate(bench, approximate):
    from sklearn.tree import DecisionTreeRegressor
    if approximate:
        raise Refused("approximate=True (differences along the path) is not supported, because it does not "
                      "return Shapley values")
    rows = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    model = DecisionTreeRegressor(max_depth=2, random_state=0).fit(rows, [0, 0, 0, 80])
    values, *_ = bench.holds(model, rows, model.predict(rows))
    if apart(values[..., 0], [[-10, -10], [-30, 10], [10, -30], [30, 30]]) > 1e-12:
        raise Differs("values are not those of the paper")


@case((3, 1), (5, 1), (3, 100), (5, 100))
def test_gh_3948(bench, count, trees):
    from sklearn.ensemble import RandomForestClassifier
    random = np.random.default_rng(0)
    rows = random.integers(0, 2, (count, 90_000)).astype(float)
    model = RandomForestClassifier(trees, random_state=0).fit(rows, np.arange(count) % 2)
    bench.holds(model, rows, model.predict_proba(rows), background=rows)


@case()
def test_tight_sensitivity_extra(bench):
    from sklearn.ensemble import ExtraTreesClassifier
    rows = np.ones((4, 3))
    rows[0, 2] = 0.99999
    model = ExtraTreesClassifier(100, random_state=0).fit(rows, [1, 1, 0, 0])
    bench.holds(model, rows, model.predict_proba(rows), background=rows)


@case()
def test_sklearn_tree_explainer_with_missing_values(bench):
    from sklearn.tree import DecisionTreeClassifier
    rows = np.array([[1], [np.nan], [np.nan], [np.nan], [100.0]])
    model = DecisionTreeClassifier().fit(rows, [1, 0, 0, 0, 0])
    values, *_ = bench.holds(model, rows, model.predict_proba(rows))
    if apart(values[:, 0, 1], [0.8, -0.2, -0.2, -0.2, -0.2]) > 1e-12:
        raise Differs("values are not those expected")


@case()
def test_overflow_tree_path_dependent(bench):
    from sklearn.ensemble import RandomForestClassifier
    random = np.random.default_rng(0)
    rows = random.integers(0, 2, (40, 1_100_000)).astype(np.float32)
    model = RandomForestClassifier(10, max_features=1000, random_state=0).fit(rows, np.arange(40) % 2)
    bench.holds(model, rows[:2], model.predict_proba(rows[:2]), compare=False)


@case(5)
def test_check_consistent_outputs_for_causalml_causal_trees(bench, trees):
    needs("causalml")
    raise Refused("models of causalml are not supported")
