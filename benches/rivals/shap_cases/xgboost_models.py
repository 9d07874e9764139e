"""Cases of XGBoost."""
import numpy as np
import shap

from shap_cases.bench import SINGLE, Differs, apart, case, needs
from shap_cases.data import adults, houses, iris, noise, split
from shap_cases.enumeration import by_coalitions, expected


def xgboost_of(rows, target, rounds=10, **parameters):
    xgboost = needs("xgboost")
    return xgboost.train({"nthread": 1, "verbosity": 0} | parameters, xgboost.DMatrix(rows, label=target),
                         rounds)


def xgboost_margins(model, rows):
    xgboost = needs("xgboost")
    return model.predict(xgboost.DMatrix(rows), output_margin=True)


def weighted(count=1000, seed=0, binary=False):
    """Returns seven normal columns with very different weights, and a numeric or binary target."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(count, 7))
    target = rows @ [-2, 1, 3, 5, 2, 20, -5]
    if binary:
        target = target - target.min()
        target = random.binomial(1, target / target.max())
    return rows, target


@case()
def test_front_page_xgboost(bench):
    rows, target = houses(500)
    model = xgboost_of(rows, target, 100, learning_rate=0.01)
    bench.holds(model, rows[:60], xgboost_margins(model, rows[:60]))


@case()
def test_xgboost_predictions(bench):
    rows, target = houses(10)
    model = xgboost_of(rows, target, learning_rate=0.01)
    bench.holds(model, rows, xgboost_margins(model, rows))


@case("tree_path_dependent", title="test_provided_background_tree_path_dependent")
def covers_of_background(bench, game):
    rows, target = adults(100)
    model = xgboost_of(rows, target, max_depth=2, eta=0.05, objective="binary:logistic")
    path = bench.saved(model)
    values, bases, sums = bench.command.explain(path, rows, background=rows)
    explainer = shap.TreeExplainer(model, rows, feature_perturbation="tree_path_dependent")
    if apart(sums[:, 0], xgboost_margins(model, rows)) > SINGLE or abs(bases[0, 0] - sums.mean()) > SINGLE:
        raise Differs("the base is not the mean over the background: covers are not taken from it")
    if apart(values[..., 0], explainer.shap_values(rows)) > SINGLE:
        raise Differs("values differ from shap's")


@case()
def test_provided_background_independent(bench):
    rows, target = iris(2)
    train, test, wanted, _ = split(rows[::-1], target[::-1])
    model = xgboost_of(train, wanted, 100, max_depth=4, eta=0.1, objective="binary:logistic")
    _, bases, sums = bench.holds(model, test, xgboost_margins(model, test), background=test)
    if abs(bases[0, 0] - sums.mean()) > 1e-9:
        raise Differs("the base is not the mean over the background")


@case("reg:logistic", "binary:logistic")
def test_provided_background_independent_prob_output(bench, objective):
    xgboost = needs("xgboost")
    rows, target = iris(2)
    test = rows[::4]
    model = xgboost_of(rows, target, 100, max_depth=4, eta=0.1, objective=objective)
    bench.holds(model, test, model.predict(xgboost.DMatrix(test)), background=test, output="probability")


@case()
def test_single_tree_compare_with_kernel_shap(bench):
    rows, target = weighted(100)
    model = xgboost_of(rows, target, 1, eta=1, max_depth=6, base_score=0, **{"lambda": 0})
    values, *_ = bench.holds(model, rows[:5], xgboost_margins(model, rows[:5]), background=rows)
    said = shap.KernelExplainer(lambda asked: xgboost_margins(model, asked), rows).shap_values(
        rows[:5], nsamples=150, silent=True)
    if apart(values[..., 0], said) > SINGLE:
        raise Differs("values differ from those of Kernel SHAP")


@case()
def test_several_trees(bench):
    rows, target = weighted()
    model = xgboost_of(rows, target, 20, eta=1, max_depth=6, base_score=0, **{"lambda": 0})
    bench.holds(model, rows[:5], xgboost_margins(model, rows[:5]), background=rows)


@case("raw", "probability")
def test_single_tree_nonlinear_transformations(bench, output):
    xgboost = needs("xgboost")
    rows, target = weighted(100, binary=True)
    model = xgboost_of(rows, target, 1, eta=1, max_depth=6, base_score=target.mean(),
                       objective="binary:logistic", **{"lambda": 0})
    said = model.predict(xgboost.DMatrix(rows[:5]), output_margin=output == "raw")
    bench.holds(model, rows[:5], said, background=rows, output=output)


def xgboost_class(kind, **more):
    return getattr(needs("xgboost"), kind)(**({"n_jobs": 1, "n_estimators": 20} | more))


@case("XGBRegressor", "XGBRFRegressor", title="TestExplainerXGBoost::test_xgboost_regression")
def xgboost_regression(bench, kind):
    rows, target = houses(500)
    model = xgboost_class(kind).fit(rows, target)
    bench.holds(model, rows[:60], model.predict(rows[:60]))


@case("XGBClassifier", "XGBRFClassifier", title="TestExplainerXGBoost::test_xgboost_dmatrix_propagation")
def sentinel(bench, kind):
    rows, target = adults(100)
    rows = rows.astype(float)
    holes = np.random.default_rng(42)
    rows.loc[holes.random(100) < 0.3, rows.columns[holes.random(12) < 0.5]] = 1e-8
    model = xgboost_class(kind, missing=1e-8).fit(rows, target)
    bench.holds(model, rows, model.predict(rows, output_margin=True), options=["--missing=1e-8"])


@case("XGBRegressor", "XGBRFRegressor", title="TestExplainerXGBoost::test_xgboost_direct")
def xgboost_direct(bench, kind):
    rows = noise(100, 4)
    model = xgboost_class(kind).fit(rows, noise(100, 1, 3)[:, 0])
    values, *_ = bench.holds(model, rows[:3], model.predict(rows[:3]))
    trees = shap.TreeExplainer(model).model
    wanted = by_coalitions(4, lambda mask: expected(trees, np.float32(rows[0]), mask))
    if apart(values[0, :, 0], wanted) > SINGLE:
        raise Differs("values differ from all coalitions")


@case("gbtree", "forest", "parallel", title="TestExplainerXGBoost::test_xgboost_multiclass")
def xgboost_classes(bench, kind):
    xgboost = needs("xgboost")
    rows, target = iris()
    model = xgboost_class("XGBRFClassifier" if kind == "forest" else "XGBClassifier", max_depth=4,
                          n_estimators=4,
                          **({"num_parallel_tree": 3} if kind == "parallel" else {})).fit(rows, target)
    said = model.predict(rows, output_margin=True)
    values, *_ = bench.holds(model, rows, said, compare=kind == "gbtree")
    own = model.get_booster().predict(xgboost.DMatrix(rows), pred_contribs=True)[..., :-1].transpose(0, 2, 1)
    if apart(values, own) > SINGLE:
        raise Differs("values differ from XGBoost's own")
    bench.holds(model, rows, said, interactions=True, compare=kind == "gbtree")


@case(title="TestExplainerXGBoost::test_xgboost_ranking")
def xgboost_ranking(bench):
    rows, target = houses()
    model = xgboost_class("XGBRanker", objective="rank:pairwise", n_estimators=4, max_depth=5)
    model.fit(rows, np.digitize(target, np.quantile(target, [0.3, 0.6, 0.9])), group=[30] * 10)
    bench.holds(model, rows[:60], model.predict(rows[:60]))


@case(title="TestExplainerXGBoost::test_xgboost_mixed_types")
def xgboost_mixed(bench):
    rows, target = houses(500)
    rows["HouseAge"] = rows["HouseAge"].astype(np.int64)
    rows["IsOld"] = rows["HouseAge"] > 30
    model = xgboost_of(rows, target, 300, learning_rate=0.01)
    bench.holds(model, rows[:40], xgboost_margins(model, rows[:40]))


@case("raw", title="TestExplainerXGBoost::test_xgboost_classifier_independent_margin")
@case("probability", title="TestExplainerXGBoost::test_xgboost_classifier_independent_probability")
def xgboost_independent(bench, output):
    rows, target = weighted(binary=True)
    model = xgboost_class("XGBClassifier", n_estimators=10, max_depth=5, tree_method="exact").fit(
        rows, target)
    said = model.predict(rows[:20],
                         output_margin=True) if output == "raw" else model.predict_proba(rows[:20])[:, 1]
    bench.holds(model, rows[:20], said, background=rows, output=output)


@case(title="TestExplainerXGBoost::test_explanation_data_not_dmatrix")
def rows_of_a_matrix(bench):
    rows, target = weighted(100)
    model = xgboost_of(rows, target, 1, eta=1, max_depth=6, base_score=0, **{"lambda": 0})
    bench.holds(model, rows, xgboost_margins(model, rows))


@case("booster", "regressor", "multiclass", "multiclass forest", "multiclass forest, early stop",
      "binary forest", "ranker",
      title="TestExplainerXGBoost::test_tree_limit")
def tree_limit(bench, kind):
    xgboost = needs("xgboost")
    rows, target = iris(2 if kind == "binary forest" else 3) if kind not in (
        "booster", "regressor") else houses(500)
    rows = np.asarray(rows)
    order = np.random.default_rng(3).permutation(len(rows))
    train, test = order[: len(rows) * 3 // 4], order[len(rows) * 3 // 4:]
    rounds = None
    if kind == "booster":
        data = [xgboost.DMatrix(rows[part], label=target[part]) for part in (train, test)]
        model = xgboost.train({"learning_rate": 0.3, "verbosity": 0}, data[0], 60,
                              evals=[(data[1], "held_out")], early_stopping_rounds=3,
                              verbose_eval=False)
        rounds = model.best_iteration + 1
        bench.notes.append("the command stops at the best round, like the library's scikit-learn interface; "
                           "shap uses all rounds of a Booster")
    elif kind == "ranker":
        model = xgboost.XGBRanker(n_estimators=5, num_parallel_tree=3).fit(
            rows[train], target[train], qid=np.arange(len(train)) // 56)
    elif kind == "regressor":
        model = xgboost.XGBRegressor(n_estimators=10).fit(rows, target)
    elif "stop" in kind:
        model = xgboost.XGBClassifier(n_estimators=100, num_parallel_tree=3, early_stopping_rounds=1)
        model.fit(rows[train], target[train], eval_set=[(rows[test], target[test])], verbose=False)
        rounds = model.best_iteration + 1
    else:
        model = xgboost.XGBClassifier(n_estimators=10,
                                      num_parallel_tree=3 if "forest" in kind else 1).fit(rows, target)
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    data, within = xgboost.DMatrix(rows[:20]), (0, rounds or 0)
    outputs = booster.predict(data, output_margin=True, iteration_range=within)
    values, *_ = bench.holds(model, rows[:20], outputs, compare=False)
    own = booster.predict(data, pred_contribs=True, iteration_range=within)
    own = own[..., :-1][:, :, None] if own.ndim == 2 else own[..., :-1].transpose(0, 2, 1)
    if apart(values, own) > SINGLE:
        raise Differs("values differ from XGBoost's own at the same rounds")


@case()
def test_xgboost_tweedie_regression(bench):
    rows = noise()
    model = xgboost_class("XGBRegressor", objective="reg:tweedie").fit(
        rows, np.random.default_rng(0).exponential(size=100))
    bench.holds(model, rows, np.log(model.predict(rows)))


@case()
def test_xgboost_dart_regression(bench):
    rows = np.random.default_rng(0).random((10, 5))
    model = xgboost_class("XGBRegressor", booster="dart").fit(rows, [0] * 5 + [1] * 5)
    bench.holds(model, rows, model.predict(rows))


@case("Regressor", title="test_tree_explainer_with_xgboost_basic")
@case("Classifier", title="test_tree_explainer_with_xgboost_classifier")
def xgboost_small(bench, kind):
    rows = noise()
    target = rows[:, 0] + 2 * rows[:, 1]
    model = xgboost_class(f"XGB{kind}", max_depth=3).fit(rows, target > 0 if kind == "Classifier" else target)
    bench.holds(model, rows[:10], model.predict(rows[:10], output_margin=True))
