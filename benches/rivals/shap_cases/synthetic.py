"""Cases of scikit-learn on Gaussian columns: shapes and types of rows, forests, options."""
import numpy as np
import pandas as pd

from shap_cases.bench import Differs, Refused, apart, case
from shap_cases.data import noise


def single_tree(kind="classifier", columns=4, rows=None, **more):
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    rows = noise(100, columns) if rows is None else rows
    first = np.asarray(rows)
    target = first[:, 0] + first[:, 1]
    if kind == "classifier":
        return DecisionTreeClassifier(**({"max_depth": 3, "random_state": 0} | more)).fit(
            rows, target > 0), rows
    return DecisionTreeRegressor(**({"max_depth": 4, "random_state": 0} | more)).fit(rows, target * 2), rows


@case(title="test_tree_explainer_with_single_tree")
@case(title="test_tree_explainer_feature_perturbation_tree_path_dependent")
@case(title="test_tree_explainer_output_as_explanation_object")
def classifier(bench):
    model, rows = single_tree()
    bench.holds(model, rows[:10], model.predict_proba(rows[:10]))


@case(title="test_tree_explainer_with_decision_tree_regressor")
@case(title="test_tree_explainer_check_additivity")
@case(title="test_tree_explainer_with_check_additivity_false")
def regressor(bench):
    model, rows = single_tree("regressor")
    bench.holds(model, rows[:10], model.predict(rows[:10]))


@case()
def test_tree_explainer_with_dataframe(bench):
    model, rows = single_tree(rows=pd.DataFrame(noise(100, 3), columns=["a", "b", "c"]))
    shuffled = rows[["c", "a", "b"]]
    bench.holds(model, shuffled[:10], model.predict_proba(rows[:10]), to_shap=rows[:10])


@case(100, 50, title="test_tree_explainer_feature_perturbation_interventional")
@case(50, title="test_tree_explainer_with_background_data")
def interventional(bench, count):
    model, rows = single_tree()
    bench.holds(model, rows[50:60], model.predict_proba(rows[50:60]), background=rows[:count])


@case((10, 4, 2), title="test_tree_explainer_random_forest_binary_classification")
@case((10, 3, 3), title="test_tree_explainer_random_forest_multiclass")
@case((10, 4, 2), title="test_tree_explainer_random_forest_regressor")
def forests(bench, trees, depth, classes):
    from sklearn.ensemble import RandomForestClassifier
    rows = noise(150)
    target = np.digitize(rows[:, 0] + rows[:, 1], [0] if classes == 2 else [-0.5, 0.5])
    model = RandomForestClassifier(trees, max_depth=depth, random_state=0).fit(rows, target)
    bench.holds(model, rows[:10], model.predict_proba(rows[:10]))


@case("Regressor", title="test_tree_explainer_gradient_boosting_regressor")
@case("Classifier", title="test_tree_explainer_gradient_boosting_classifier")
def small_boosting(bench, kind):
    from sklearn import ensemble
    rows = noise(120)
    target = rows[:, 0] ** 2 + rows[:, 1]
    model = getattr(ensemble, f"GradientBoosting{kind}")(n_estimators=20, random_state=0).fit(
        rows, target > 1 if kind == "Classifier" else target)
    bench.holds(model, rows[:10],
                (model.decision_function if kind == "Classifier" else model.predict)(rows[:10]))


@case(title="test_tree_explainer_single_sample")
@case("Series", title="test_tree_explainer_with_pandas_series")
def one_row(bench, kind="row"):
    model, rows = single_tree("classifier" if kind == "row" else "regressor",
                              rows=pd.DataFrame(noise(100, 4), columns=list("abcd")))
    said = model.predict_proba if kind == "row" else model.predict
    bench.holds(model, rows.iloc[[0]], said(rows.iloc[[0]]))


@case()
def test_tree_explainer_expected_value(bench):
    model, rows = single_tree("regressor")
    _, bases, _ = bench.holds(model, rows[:10], model.predict(rows[:10]))
    if apart(bases[0], [model.predict(rows).mean()]) > 1e-9:
        raise Differs("the base value is not the mean over the training rows")


@case()
def test_tree_explainer_with_interactions(bench):
    model, rows = single_tree("regressor", max_depth=5)
    bench.holds(model, rows[:10], model.predict(rows[:10]), interactions=True)


@case()
def test_tree_explainer_model_output_parameter(bench):
    model, rows = single_tree()
    bench.holds(model, rows[:5], model.predict_proba(rows[:5]))
    bench.holds(model, rows[:5], model.predict_proba(rows[:5]), background=rows[:40], output="probability")


@case()
def test_tree_explainer_different_dtypes(bench):
    model, rows = single_tree(rows=noise(60, 3).astype(np.float32))
    bench.holds(model, rows[:5], model.predict_proba(rows[:5]))


@case()
def test_tree_explainer_with_sparse_data(bench):
    rows = noise(80)
    rows[rows < 0.5] = 0
    model, _ = single_tree(rows=rows, max_depth=4)
    bench.holds(model, rows[:10], model.predict_proba(rows[:10]))


@case()
def test_tree_explainer_with_approximate(bench):
    raise Refused("approximate=True (differences along the path) is not supported, because it does not "
                  "return Shapley values")


@case()
def test_tree_explainer_with_tree_limit(bench):
    from sklearn.ensemble import GradientBoostingRegressor
    rows = noise()
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(rows, rows[:, 0] + rows[:, 1])
    after = list(model.staged_predict(rows[:5]))[9]
    bench.holds(model, rows[:5], after, options=["--trees", "10"], compare=False)


@case()
def test_tree_explainer_multiclass(bench):
    from sklearn.tree import DecisionTreeClassifier
    rows = noise(150)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(
        rows, np.digitize(rows[:, 0], [-0.5, 0.5]))
    bench.holds(model, rows[:10], model.predict_proba(rows[:10]))


@case()
def test_nullable_pandas_dtype(bench):
    rows = pd.DataFrame({"x1": pd.array([1.0, 2, 3, 4, 5] * 20, dtype="Float64"),
                         "x2": pd.array([10, 20, 30, 40, 50] * 20, dtype="Int64")})
    from sklearn.tree import DecisionTreeClassifier
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, [0, 1, 0, 1, 0] * 20)
    asked = rows.iloc[:5].copy()
    asked.iloc[2, 0] = asked.iloc[3, 1] = pd.NA
    bench.holds(model, asked, compare=False)
    bench.holds(model, rows[:5], model.predict_proba(rows[:5]), to_shap=rows[:5].astype(float))
