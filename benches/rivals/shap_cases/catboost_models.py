"""Cases of CatBoost."""
import numpy as np
import pandas as pd

from shap_cases.bench import case, needs
from shap_cases.data import adults, houses


def catboost_class(kind="CatBoostRegressor", **more):
    return getattr(needs("catboost"),
                   kind)(**({"iterations": 20, "verbose": False, "allow_writing_files": False,
                             "thread_count": 1,
                                                "random_seed": 12} | more))


def formula(model, rows):
    return model.predict(rows, prediction_type="RawFormulaVal")


@case("words", "numbers")
def test_catboost(bench, kind):
    if kind == "words":
        rows, target = houses(500)
        rows["IsOld"] = (rows["HouseAge"] > 30).astype(str)
        model = catboost_class(iterations=30, learning_rate=0.1, cat_features=["IsOld"]).fit(rows, target)
    else:
        from sklearn.datasets import load_breast_cancer
        rows, target = load_breast_cancer(return_X_y=True)
        model = catboost_class("CatBoostClassifier", iterations=10, learning_rate=0.5).fit(rows, target)
    bench.holds(model, rows[:40], formula(model, rows[:40]))


@case()
def test_catboost_categorical(bench):
    rows, target = houses(500)
    rows["IsOld"] = (rows["HouseAge"] > 30).astype(str)
    model = catboost_class(iterations=100, cat_features=["IsOld"]).fit(rows, target)
    bench.holds(model, rows[:40], formula(model, rows[:40]))


@case("Classifier", title="test_catboost_interactions")
@case("Regressor", title="test_catboost_regression_interactions")
def catboost_interactions(bench, kind):
    rows, target = adults(50) if kind == "Classifier" else houses(50)
    model = catboost_class(f"CatBoost{kind}", depth=1, iterations=10).fit(rows, target)
    bench.holds(model, rows, formula(model, rows))
    bench.holds(model, rows, formula(model, rows), interactions=True)


@case()
def test_catboost_column_names_with_special_characters(bench):
    random = np.random.default_rng(42)
    rows = pd.DataFrame({"x5=ROMÁNIA": random.integers(0, 2, 10)})
    model = catboost_class("CatBoostClassifier", iterations=3, depth=1).fit(rows, [0, 1] * 5)
    bench.holds(model, rows, model.predict_proba(rows)[:, 1], background=rows, output="probability")
