"""Trees of each library agree with the library's own values and with enumeration."""
import gzip

import numpy as np
import pytest

import apportion


def test_xgboost_agrees_with_its_own_contributions(frame, booster):
    xgboost = pytest.importorskip("xgboost")
    rows, _ = frame
    matrix = xgboost.DMatrix(rows, enable_categorical=True)
    explainer = apportion.TreeExplainer(booster)
    own = booster.get_booster().predict(matrix, pred_contribs=True)
    found = explainer(rows)
    assert np.abs(found.values - own[:, :-1]).max() < 1e-5
    assert np.isclose(explainer.expected_value, own[0, -1], atol=1e-5)
    pairs = booster.get_booster().predict(matrix, pred_interactions=True)
    assert np.abs(explainer.shap_interaction_values(rows) - pairs[:, :-1, :-1]).max() < 1e-4
    assert apportion.TreeExplainer(booster.get_booster())(rows).values.tolist() == found.values.tolist()


def test_xgboost_uses_the_rounds_up_to_the_best(numbers):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    noise = np.random.default_rng(3).normal(size=len(rows))
    model = xgboost.XGBRegressor(n_estimators=40, early_stopping_rounds=2, n_jobs=1)
    model.fit(rows, targets, eval_set=[(rows, noise)], verbose=False)
    found = apportion.TreeExplainer(model)(rows)
    assert np.abs(found.predictions - model.predict(rows)).max() < 1e-5
    assert apportion.Ensemble(model).rounds[1] == model.best_iteration + 1
    assert apportion.Ensemble(model, rounds=1).rounds[:2] == (0, 1)


@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_lightgbm_agrees_with_its_own_contributions(numbers, kind):
    lightgbm = pytest.importorskip("lightgbm")
    rows, targets = numbers
    options = dict(n_estimators=8, verbose=-1, n_jobs=1)
    if kind == "regression":
        model = lightgbm.LGBMRegressor(**options).fit(rows, targets)
        own = model.predict(rows, pred_contrib=True)[:, :-1]
    else:
        model = lightgbm.LGBMClassifier(**options).fit(rows, np.digitize(targets, [-0.5, 0.5]))
        own = np.moveaxis(model.predict(rows, pred_contrib=True).reshape(len(rows), 3, 5)[:, :, :-1], 1, 2)
    found = apportion.TreeExplainer(model)(rows)
    assert np.abs(found.values - own).max() < 1e-9
    assert found.output_names == (None if kind == "regression" else ["0", "1", "2"])


def test_catboost_with_words(frame):
    catboost = pytest.importorskip("catboost")
    rows, targets = frame
    model = catboost.CatBoostRegressor(iterations=10, depth=3, verbose=0, cat_features=["colour"],
                                       thread_count=1, allow_writing_files=False).fit(rows, targets)
    found = apportion.TreeExplainer(model, rows[:20])(rows)
    assert np.abs(found.predictions - model.predict(rows)).max() < 1e-9 and found.additivity_gap() < 1e-9


def test_scikit_learn_models_and_pipelines(frame, numbers):
    pytest.importorskip("sklearn")
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import (
        GradientBoostingRegressor,
        HistGradientBoostingRegressor,
        IsolationForest,
        RandomForestRegressor,
    )
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeRegressor

    rows, targets = numbers
    for model in [DecisionTreeRegressor(max_depth=3), RandomForestRegressor(5),
                  GradientBoostingRegressor(n_estimators=5),
                  HistGradientBoostingRegressor(max_iter=5), Ridge()]:
        model.fit(rows, targets)
        found = apportion.TreeExplainer(model, rows[:10])(rows)
        assert np.abs(found.predictions
                      - model.predict(rows)).max() < 1e-9 and found.additivity_gap() < 1e-9, model
    assert apportion.TreeExplainer(IsolationForest(n_estimators=5).fit(rows))(rows).additivity_gap() < 1e-9
    words, targets = frame
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(encoder, RandomForestRegressor(5)).fit(words, targets)
    found = apportion.TreeExplainer(model)(words)
    assert np.abs(found.predictions - model.predict(words)).max() < 1e-9
    assert found[0].display_data[1] == words["colour"].iloc[0]


def test_values_are_those_of_enumeration(numbers, enumerated):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    model = xgboost.XGBRegressor(n_estimators=6, max_depth=3, n_jobs=1).fit(rows, targets)
    background, row = rows[:7], rows[50]
    ensemble = apportion.Ensemble(model)

    def worth(mask):
        mixed = background.copy()
        present = [player for player in range(4) if mask >> player & 1]
        mixed[:, present] = row[present]
        return ensemble.predict(mixed).mean()

    found = apportion.TreeExplainer(model, background)(row)
    assert np.abs(found.values[0] - enumerated(worth, 4)).max() < 1e-12
    asked = apportion.explain(model, row, background, method="exact")
    assert np.abs(found.values - asked.values).max() < 1e-12


def test_probabilities_and_losses(numbers):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    classes = (targets > 0).astype(int)
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1).fit(rows, classes)
    found = apportion.TreeExplainer(model, rows[:20], model_output="probability")(rows)
    assert np.abs(found.values.sum(axis=1) + found.base_values - model.predict_proba(rows)[:, 1]).max() < 1e-6
    losses = apportion.TreeExplainer(model, rows[:20], model_output="log_loss")(rows, classes)
    given = model.predict_proba(rows)[np.arange(len(rows)), classes]
    assert np.abs(losses.values.sum(axis=1) + losses.base_values + np.log(given)).max() < 1e-5


def test_values_over_groups(numbers):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    model = xgboost.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1).fit(rows, targets)
    groups = {"one": [0, 1], "two": [2, 3]}
    owen = apportion.explain(model, rows[:5], rows[:20], value="owen", groups=groups)
    quotient = apportion.explain(model, rows[:5], rows[:20], value="quotient-shapley", groups=groups)
    assert quotient.feature_names == ["one", "two"] and quotient.input_names == ["f0", "f1", "f2", "f3"]
    assert np.abs(owen.values[:, :2].sum(axis=1) - quotient.values[:, 0]).max() < 1e-12
    nested = apportion.explain(model, rows[:5], rows[:20], value="owen", groups=[[[0, 1], 2], [3]])
    assert nested.additivity_gap() < 1e-12
    sampled = apportion.explain(model, rows[:5], rows[:20], method="leverage-shap", budget="3n")
    assert sampled.std_errors is not None and sampled.additivity_gap() < 1e-9


def test_files_bytes_and_paths(booster, frame, tmp_path):
    rows, _ = frame
    wanted = apportion.TreeExplainer(booster)(rows).values
    path = tmp_path / "model.ubj"
    booster.save_model(path)
    packed = gzip.compress(path.read_bytes())
    for model in (path, str(path), path.read_bytes(), packed):
        assert np.array_equal(apportion.TreeExplainer(model)(rows).values, wanted)


def test_models_that_cannot_be_used():
    sklearn = pytest.importorskip("sklearn.ensemble")
    with pytest.raises(apportion.NotFittedError, match="not fitted"):
        apportion.TreeExplainer(sklearn.RandomForestRegressor())
    for model in (object(), b"{}", b"", "no_such_file.json", lambda rows: rows[:, 0]):
        with pytest.raises(apportion.ModelError):
            apportion.TreeExplainer(model)
    with pytest.raises(ValueError):
        apportion.TreeExplainer(b"tree")


def test_trees_in_onnx_are_read_from_bytes():
    import pathlib

    fixtures = pathlib.Path(__file__).parents[2] / "models" / "tests" / "fixtures" / "onnx"
    if not fixtures.exists():
        pytest.skip("the fixtures are not beside the tests")
    content = (fixtures / "tree_ensemble.onnx").read_bytes()
    ensemble = apportion.Ensemble(content)
    rows = np.random.default_rng(2).normal(size=(20, ensemble.feature_count))
    found = apportion.TreeExplainer(content, rows[:5])(rows)
    assert found.additivity_gap() < 1e-9 and np.allclose(found.predictions, ensemble.predict(rows))

    class Proto:
        def SerializeToString(self):
            return content

    assert np.array_equal(apportion.TreeExplainer(Proto(), rows[:5])(rows).values, found.values)
    assert np.array_equal(apportion.TreeExplainer(fixtures / "tree_ensemble.onnx", rows[:5])(rows).values,
                          found.values)
