"""Cases of LightGBM and of libraries built on it."""
import numpy as np
import pandas as pd

from shap_cases.bench import DOUBLE, Differs, apart, case, needs
from shap_cases.data import adults, houses, iris, noise, split


def lightgbm_class(kind="LGBMRegressor", **more):
    return getattr(needs("lightgbm"), kind)(**({"n_estimators": 20, "verbose": -1, "n_jobs": 1} | more))


def raw(model, rows):
    return model.predict(rows, raw_score=True)


@case(("regression", 100), title="test_lightgbm")
@case(("mean_squared_error", 100), title="test_lightgbm_mse_regressor")
@case(("regression", 1000), title="TestExplainerLightGBM::test_lightgbm")
def lightgbm_regression(bench, objective, rounds):
    rows, target = houses(500)
    rows["Age group"] = (rows["HouseAge"] // 10).astype(int)
    model = lightgbm_class(objective=objective, n_estimators=rounds).fit(
        rows, target, categorical_feature=[8])
    bench.holds(model, rows[:60].to_numpy(), raw(model, rows[:60]), to_shap=rows[:60])


@case("binary", title="test_lightgbm_nonsklearn_api_binary")
@case("regression", title="test_lightgbm_nonsklearn_api_regressor")
def lightgbm_stopped(bench, objective):
    lightgbm = needs("lightgbm")
    rows, target = adults(400)
    train, test, wanted, held_out = split(rows, target.astype(float))
    data = lightgbm.Dataset(train, wanted)
    model = lightgbm.train({"objective": objective, "verbosity": -1, "early_stopping_round": 20,
                            "num_threads": 1}, data, 800,
                           valid_sets=[lightgbm.Dataset(test, held_out, reference=data)])
    bench.holds(model, test.to_numpy(dtype=float), raw(model, test), to_shap=test)


@case()
def test_gpboost(bench):
    gpboost = needs("gpboost")
    rows, target = houses(500)
    model = gpboost.train({"objective": "regression_l2", "learning_rate": 0.1, "verbose": -1},
                          gpboost.Dataset(rows, target), 10)
    path = bench.folder / "gpboost.txt"
    model.save_model(str(path))
    predictions = bench.command.predict(path, rows[:40])
    if apart(predictions[:, 0], model.predict(rows[:40], pred_latent=True)) > DOUBLE:
        raise Differs("predictions differ")
    values, *_ = bench.command.explain(path, rows[:40])
    if apart(values[..., 0], model.predict(rows[:40], pred_contrib=True)[:, :-1]) > DOUBLE:
        raise Differs("values differ from the library's own")


@case("stump", "constant", title="TestSingleTree::test_singletree_lightgbm_basic")
def lightgbm_small(bench, kind):
    rows = noise()
    model = lightgbm_class(n_estimators=1, num_leaves=2).fit(
        rows, rows[:, 1] if kind == "stump" else np.ones(100))
    bench.holds(model, rows[:5], raw(model, rows[:5]))


@case("regression", title="TestExplainerLightGBM::test_lightgbm_constant_prediction")
@case("multiclass", title="TestExplainerLightGBM::test_lightgbm_constant_multiclass")
def lightgbm_constant(bench, objective):
    rows, _ = iris()
    if objective == "regression":
        model = lightgbm_class(n_estimators=50).fit(rows, np.full(150, 2.5))
    else:
        model = lightgbm_class("LGBMClassifier", n_estimators=50, num_classes=3,
                               objective="multiclass").fit(rows, np.ones(150, int))
    bench.holds(model, rows[:5], raw(model, rows[:5]))


@case(title="TestExplainerLightGBM::test_lightgbm_binary")
def lightgbm_binary(bench):
    rows, target = adults(500)
    model = lightgbm_class("LGBMClassifier", n_estimators=300).fit(rows, target)
    bench.holds(model, rows[:40].to_numpy(dtype=float), raw(model, rows[:40]), to_shap=rows[:40])


@case(title="TestExplainerLightGBM::test_lightgbm_multiclass")
def lightgbm_multiclass(bench):
    rows, target = iris()
    model = lightgbm_class("LGBMClassifier").fit(rows, target)
    bench.holds(model, rows, raw(model, rows))


@case(title="TestExplainerLightGBM::test_lightgbm_interaction")
def lightgbm_interaction(bench):
    rows, target = houses(50)
    model = lightgbm_class(min_child_samples=3).fit(rows, target)
    bench.holds(model, rows, raw(model, rows), interactions=True)
    bench.holds(model, rows[:1], raw(model, rows[:1]), interactions=True)


@case(title="TestExplainerLightGBM::test_lightgbm_call_explanation")
def lightgbm_words(bench):
    rows, target = adults(300)
    rows["categ"] = pd.Categorical(["M", "F"] * 150)
    model = lightgbm_class("LGBMClassifier", n_estimators=7).fit(rows, target)
    bench.holds(model, rows[:40], raw(model, rows[:40]))


@case(title="TestExplainerLightGBM::test_lightgbm_categorical_split")
def lightgbm_categories(bench):
    rows, target = houses(1000)
    rows["HouseAgeGroup"] = np.digitize(rows["HouseAge"], [17, 27, 37])
    model = lightgbm_class(n_estimators=100, max_cat_to_onehot=1).fit(rows, target, categorical_feature=[8])
    bench.holds(model, rows[:10].to_numpy(), raw(model, rows[:10]), to_shap=rows[:10])
    bench.holds(model, rows[:10].to_numpy(), raw(model, rows[:10]), to_shap=rows[:10], interactions=True,
                compare=False)


@case()
def test_lightgbm_interactions(bench):
    from sklearn.datasets import load_digits
    rows, target = load_digits(return_X_y=True)
    model = lightgbm_class("LGBMClassifier", n_estimators=10, max_depth=3).fit(rows, target)
    bench.holds(model, rows[:5], raw(model, rows[:5]))
    bench.holds(model, rows[:5], raw(model, rows[:5]), interactions=True)


@case("Regressor", title="test_tree_explainer_with_lightgbm_regressor")
@case("Classifier", title="test_tree_explainer_with_lightgbm_classifier")
def lightgbm_ordinary(bench, kind):
    rows = noise(120)
    target = rows[:, 0] + rows[:, 1] ** 2
    model = lightgbm_class(f"LGBM{kind}", max_depth=3).fit(
        rows, target > 1 if kind == "Classifier" else target)
    bench.holds(model, rows[:10], raw(model, rows[:10]))


@case()
def test_path_dependent_small_background(bench):
    rows, target = iris()
    model = lightgbm_class("LGBMClassifier", n_estimators=10, num_leaves=8).fit(rows, target)
    path = bench.saved(model)
    values, bases, sums = bench.command.explain(path, rows[:5], background=rows[:20])
    if apart(values.sum(axis=1) + bases, sums) > 1e-9:
        raise Differs("base value plus values differ from the prediction")
    if apart(bases[0], raw(model, rows[:20]).mean(axis=0)) > 1e-3:
        raise Differs("the base value is not the mean over the background, so cover was not computed from it")
