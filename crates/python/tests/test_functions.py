"""Callable models, and their possible errors."""
import pickle

import numpy as np
import pytest

import apportion


def product(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


def test_values_are_those_of_enumeration(numbers, enumerated):
    rows, _ = numbers
    background, row = rows[:5], rows[60]

    def worth(mask):
        mixed = background.copy()
        present = [player for player in range(4) if mask >> player & 1]
        mixed[:, present] = row[present]
        return product(mixed).mean()

    wanted = enumerated(worth, 4)
    assert np.abs(apportion.Explainer(product, background)(row).values[0] - wanted).max() < 1e-12
    for method in ("leverage-shap", "permutation", "kernel-shap"):
        found = apportion.Explainer(product, background, method=method, budget=16,
                                    keep_null_players=True)(row)
        assert found.additivity_gap() < 1e-9 and found.evaluations[0] <= 16


def test_weights_of_the_background_count(numbers):
    rows, _ = numbers
    weighted = apportion.explain(product, rows[:3], rows[:3], weights=[2, 1, 1])
    repeated = apportion.explain(product, rows[:3], rows[[0, 0, 1, 2]])
    assert np.abs(weighted.values - repeated.values).max() < 1e-12
    for none in (["a", "b", "c"], [1j, 1, 1]):
        with pytest.raises(apportion.DataError, match="not an array of numbers"):
            apportion.explain(product, rows[:3], rows[:3], weights=none)
    with pytest.raises(apportion.ModelError, match="complex"):
        apportion.explain(lambda given: product(given) + 0j, rows[:3], rows[:3])


def test_other_values_and_games(numbers):
    rows, _ = numbers
    for more in (dict(value="banzhaf"), dict(value="beta=4,1"), dict(value="owen", groups="0,1;2,3"),
                 dict(value="c-shapley=1", graph="line"),
                 dict(value="myerson", graph=[(0, 1), (1, 2), (2, 3)]),
                 dict(value="l-shapley=1", graph="grid=2x2"), dict(value="owen", groups="auto"),
                 dict(game="gaussian", draws=20), dict(game="empirical"), dict(game="copula", draws=20),
                 dict(game="frequency", fallback="nearest")):
        found = apportion.explain(product, rows[:2], rows[:40], **more)
        assert np.isfinite(found.values).all(), more


def test_a_function_of_data_frames_gets_its_columns(frame):
    pytest.importorskip("pandas")
    rows, _ = frame
    rows = rows.assign(word=np.where(rows["new"], "yes", "no"))
    kinds = []

    def model(given):
        kinds.append(dict(given.dtypes) == dict(rows.dtypes))
        return given["size"] + 2 * (given["colour"] == "red") + (given["word"] == "yes")

    found = apportion.explain(model, rows[:4], rows[:10])
    assert all(kinds) and found.additivity_gap() < 1e-12
    assert np.abs(found.values[:, 2]).max() < 1e-12


def test_estimators_are_asked_for_probabilities(numbers):
    pytest.importorskip("sklearn")
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    rows, targets = numbers
    model = KNeighborsClassifier().fit(rows, np.where(targets > 0, "up", "down"))
    found = apportion.explain(model, rows[:3], rows[:8])
    assert found.output_names == ["down", "up"] and np.abs(found.values.sum(axis=2)).max() < 1e-12
    model = KNeighborsRegressor().fit(rows, targets)
    assert np.allclose(apportion.explain(model, rows[:3], rows[:8]).predictions, model.predict(rows[:3]))


def test_the_exception_of_a_function_comes_through(numbers):
    rows, _ = numbers
    calls = []

    def model(given):
        calls.append(len(given))
        if len(calls) > 2:
            raise LookupError("no such thing")
        return given[:, 0]

    with pytest.raises(LookupError, match="no such thing") as caught:
        apportion.explain(model, rows)
    assert any(entry.name == "model" for entry in caught.traceback)
    assert isinstance(caught.value, apportion.CallError) and type(caught.value.__cause__) is LookupError
    sent = pickle.loads(pickle.dumps(caught.value))
    assert type(sent) is apportion.CallError and "no such thing" in str(sent)


@pytest.mark.parametrize(("model", "says"), [
    (lambda rows: rows[:3, 0], "shape"),
    (lambda rows: np.zeros((len(rows), 2, 2)), "shape"),
    (lambda rows: rows[:, 0] * np.nan, "nan"),
    (lambda rows: ["red"] * len(rows), "not an array of numbers"),
    (lambda rows: np.random.default_rng().random(len(rows)), "not deterministic"),
])
def test_answers_that_are_no_predictions(numbers, model, says):
    with pytest.raises(apportion.ModelError, match=says):
        apportion.explain(model, numbers[0])


def test_an_answer_that_changes_its_shape(numbers):
    def model(rows):
        model.calls += 1
        return rows[:, 0] if model.calls < 3 else rows[:, :2]

    model.calls = 0
    with pytest.raises(apportion.ModelError, match="expected 1 output "):
        apportion.explain(model, numbers[0])


@pytest.mark.parametrize(("more", "says"), [
    (dict(value="shaply"), "expected one of"), (dict(method="treeshap"), "expected one of"),
    (dict(method="tree"), "tree ensemble"),
    (dict(budget="n10"), "invalid budget"), (dict(method="leverage-shap", budget=1), "at least"),
    (dict(value="owen"), "requires groups"),
    (dict(value="owen", groups=[[0], [9]]), "unknown feature 9 in groups"),
    (dict(value="owen", groups=[[0, 1]]), "exactly one group"), (dict(game="other"), "expected one of"),
    (dict(until=-1), "for until: must be positive"), (dict(until=0.1, relative_to="x"), "expected one of"),
    (dict(seed=-1), "seed"), (dict(kernel="walk"), "kernel, precision and rows require"),
    (dict(model_output="probability"), "tree ensemble"), (dict(game="path-dependent"), "tree ensemble"),
])
def test_requests_that_make_no_sense(numbers, more, says):
    with pytest.raises(apportion.UsageError, match=says):
        apportion.explain(product, numbers[0][:5], **more)


def test_a_single_row_needs_a_background(numbers):
    with pytest.raises(apportion.DataError, match="single row"):
        apportion.explain(product, numbers[0][:1])


def test_the_same_seed_gives_the_same_on_any_number_of_threads(numbers):
    wide = np.tile(numbers[0], 5)
    found = [apportion.explain(lambda rows: np.sin(rows).prod(axis=1) + rows[:, 0], wide[:2], wide[:5],
                               method="leverage-shap", budget=200, seed=3,
                               threads=threads).values for threads in (1, 2)]
    assert np.array_equal(*found)


def test_progress_is_told_and_may_stop(numbers):
    import time

    rows = np.tile(numbers[0], 5)
    told = []

    def slow(given):
        time.sleep(0.02)
        return given.sum(axis=1) * given[:, 0]

    apportion.explain(slow, rows[:3], rows[:2], method="leverage-shap", budget=60, progress=lambda done,
                      evaluations: told.append(done))
    assert told[-1] == 3

    def stop(done, evaluations):
        if done >= 1:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as caught:
        apportion.explain(slow, np.tile(rows, (20, 1)), rows[:2], method="leverage-shap", budget=60,
                          progress=stop)
    assert len(caught.value.explanation) >= 1


def test_warnings_of_accuracy(numbers):
    rows = np.tile(numbers[0], 8)
    with pytest.warns(apportion.AccuracyWarning, match="tolerance"):
        apportion.explain(lambda given: np.sin(given).sum(axis=1) + np.prod(given[:, :6], axis=1), rows[:1],
                          rows[1:3], method="permutation",
                          until=1e-7, budget=200)


def test_networks_of_keras_are_asked(numbers, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    keras = pytest.importorskip("keras")
    rows, _ = numbers
    network = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(5, activation="tanh"),
                                keras.layers.Dense(2)])
    found = apportion.Explainer(network, rows[:10])(rows[:5])
    assert found.shape == (5, 4, 2) and found.additivity_gap() < 1e-6
    assert np.allclose(found.predictions, network.predict(rows[:5], verbose=0), atol=1e-5)


def test_modules_of_torch_are_asked_without_training(numbers):
    torch = pytest.importorskip("torch")
    rows, _ = numbers
    network = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Dropout(0.9), torch.nn.Tanh(),
                                  torch.nn.Linear(5, 1))
    network.train()
    found = apportion.Explainer(network, rows[:10])(rows[:5])
    assert network.training and found.additivity_gap() < 1e-5 and found.shape == (5, 4)
    with torch.no_grad():
        wanted = network.eval()(torch.as_tensor(rows[:5], dtype=torch.float32)).numpy().ravel()
    assert np.allclose(found.predictions, wanted, atol=1e-5)


def test_models_and_options_that_are_slips(numbers, frame):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    rows, targets = numbers
    with pytest.raises(apportion.UsageError, match="kernel") as caught:
        apportion.Explainer(twice, rows, kernl="tables")
    assert isinstance(caught.value, TypeError)
    with pytest.raises(apportion.ModelError, match="class"):
        apportion.explain(LogisticRegression, rows)
    with pytest.raises(apportion.UsageError, match="index"):
        apportion.explain(twice, rows[:2], rows[:5], interactions="remainder")


def twice(given):
    return 2.0 * np.asarray(given)[:, 0]


def test_names_of_outputs_and_groups_are_kept(numbers):
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(numbers[0], columns=["a", "b", "c", "d"])
    found = apportion.explain(lambda given: pandas.DataFrame({"first": given.a, "sum": given.a + given.b}),
                              rows[:3], rows[:9])
    assert found.output_names == ["first", "sum"] and np.isclose(
        found[0, "b", "sum"].values, rows.b[0] - rows.b[:9].mean())
    assert apportion.explain(lambda given: pandas.DataFrame({"first": given.a, "sum": given.a + given.b}),
                             rows[:9]).output_names == ["first", "sum"]
    groups = apportion.explain(lambda given: given.a * given.c, rows[:3], rows[:9], value="quotient-shapley",
                               groups={"one": ["a", "b"], "two": ["c", "d"]})
    assert groups.feature_names == ["one", "two"]


def test_a_function_that_writes_into_its_rows_changes_no_others(numbers):
    rows = numbers[0].copy()

    def careless(given):
        answer = given[:, 0] + given[:, 1]
        given[:] = 7.0
        return answer

    found = apportion.explain(careless, rows[:4], rows[:20])
    assert np.array_equal(rows, numbers[0]) and np.allclose(
        found.values[:, 0], rows[:4, 0] - rows[:20, 0].mean())


def test_models_with_texts_are_called_as_functions_of_frames():
    catboost = pytest.importorskip("catboost")
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    rows = pandas.DataFrame({"text": random.choice(
        ["good and cheap", "bad", "cheap but bad", "very good"], 60), "size": random.normal(size=60)})
    targets = rows.text.str.contains("good") + rows["size"]
    model = catboost.CatBoostRegressor(iterations=5, depth=2, verbose=0, text_features=["text"],
                                       allow_writing_files=False).fit(rows, targets)
    explainer = apportion.Explainer(model, rows[:20])
    found = explainer(rows[20:24])
    assert np.allclose(found.predictions,
                       model.predict(rows[20:24])) and any("not exact" in note for note in found.notes)


def test_functions_have_interactions_exact_where_the_budget_covers_all_coalitions_and_estimated_beyond():
    def model(x):
        return x[:, 0] * x[:, 1] + 2.0 * x[:, 2] * x[:, 3] * x[:, 4] + x.sum(axis=1)

    explicand, background = np.ones((2, 14)), np.zeros((1, 14))
    wanted = np.zeros((14, 14))
    wanted[0, 1] = wanted[1, 0] = 1.0
    for i, j in ((2, 3), (2, 4), (3, 4)):
        wanted[i, j] = wanted[j, i] = 1.0
    np.fill_diagonal(wanted, [1.5, 1.5] + [1.0 + 2.0 / 3.0] * 3 + [1.0] * 9)
    exact = apportion.explain(model, explicand, background, interactions=True, budget=2**14)
    assert exact.std_errors is None and np.allclose(exact.values, wanted, atol=1e-12)
    told = apportion.explain(model, explicand, background, interactions=True, budget="20n")
    assert told.values.shape == told.std_errors.shape == (2, 14, 14)
    assert np.abs(told.values - wanted).max() < 0.05
    alone = apportion.explain(model, explicand, background, budget="20n", method="learned-spectrum")
    assert np.array_equal(np.diagonal(told.values, axis1=1, axis2=2), alone.values)
