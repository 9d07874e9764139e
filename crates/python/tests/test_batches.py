"""Explanations of record batches: the same bytes for any split of a table, and errors before anything runs.
"""
import json
import pickle

import numpy as np
import pytest

import apportion

pyarrow = pytest.importorskip("pyarrow")


def additive(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


def table_of(rows, **more):
    columns = {f"f{feature}": rows[:, feature] for feature in range(rows.shape[1])}
    return pyarrow.table({"id": np.arange(len(rows)), **columns, **more})


def cut(table, sizes):
    """Yields record batches whose sizes cycle through `sizes`."""
    start, place = 0, 0
    while start < len(table):
        yield from table.slice(start, sizes[place % len(sizes)]).combine_chunks().to_batches()
        start, place = start + sizes[place % len(sizes)], place + 1


def whole(batches):
    return pyarrow.Table.from_batches(list(batches)).combine_chunks()


@pytest.fixture(scope="module")
def table(numbers):
    return table_of(np.tile(numbers[0], (10, 1)) + np.linspace(0, 1, 1200)[:, None])


@pytest.fixture(scope="module")
def trees(numbers):
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBRegressor(n_estimators=40, max_depth=5, n_jobs=1).fit(*numbers)


NAMES = ["f0", "f1", "f2", "f3"]


@pytest.mark.parametrize("asked", [
    {"background": 1}, {"background": 30}, {"background": 120}, {"game": "path-dependent"},
    {"background": 20, "value": "banzhaf"},
    {"background": 20, "value": "owen", "groups": [[0, 1], [2, 3]]},
    {"background": 5, "model_output": "raw", "precision": "f32"},
])
def test_trees_have_the_same_bytes_however_a_table_is_cut(asked, trees, numbers, table):
    rows, asked = numbers[0], dict(asked)
    background = rows[: asked.pop("background")] if "background" in asked else None
    explainer = apportion.BatchExplainer(trees, background, keep="id", feature_names=NAMES, **asked)
    wanted = whole(explainer(table))
    for sizes in [[7], [1, 2, 500], [1000], [1199]]:
        assert whole(explainer(cut(table.slice(0, 300) if sizes == [7] else table,
                                   sizes))).equals(wanted.slice(0, 300) if sizes == [7] else wanted), sizes
    sent = pickle.loads(pickle.dumps(explainer))
    assert whole(sent(cut(table, [400]))).equals(wanted)
    plain = apportion.explain(trees, np.column_stack([table[name] for name in NAMES]), background,
                              feature_names=NAMES, **asked)
    assert np.allclose(np.column_stack([wanted[name] for name in NAMES]), plain.values,
                       atol=1e-6 if "precision" in asked else 1e-12)


@pytest.mark.parametrize("asked", [
    {"method": "leverage-shap", "budget": 10}, {"method": "permutation", "budget": "4n"},
    {"until": 0.01, "method": "leverage-shap"}, {"value": "banzhaf"},
])
def test_estimates_have_the_same_bytes_however_a_table_is_cut(asked, numbers, table):
    explainer = apportion.BatchExplainer(additive, numbers[0][:4], keep=["id"], layout="lists", seed=3,
                                         feature_names=NAMES, **asked)
    table = table.slice(0, 60)
    wanted = whole(explainer(table))
    for sizes in [[1], [7], [13, 2]]:
        assert whole(explainer(cut(table, sizes))).equals(wanted), sizes
    found = apportion.explain(additive, np.column_stack([table[name] for name in NAMES]), numbers[0][:4],
                              seed=3, **asked)
    assert np.array_equal(np.array(wanted["values"].to_pylist()), found.values)
    errors = np.zeros((60, 4)) if found.std_errors is None else found.std_errors
    if "std_errors" in wanted.column_names:  # auto knows beforehand that values are exact
        assert np.array_equal(np.array(wanted["std_errors"].to_pylist(), dtype=float), errors, equal_nan=True)
    if "until" in asked:
        assert wanted["stopped_by"].to_pylist() == [
            certificate["stopped_by"] for certificate in found.certificates]


def test_the_schema_is_known_before_a_row_is_explained(numbers, table):
    pytest.importorskip("xgboost")
    from xgboost import XGBClassifier

    rows = numbers[0]
    model = XGBClassifier(n_estimators=4, max_depth=2, n_jobs=1).fit(rows, np.arange(120) % 3)
    for layout in ("columns", "lists"):
        explainer = apportion.BatchExplainer(model, rows[:3], keep=["id"], layout=layout, feature_names=NAMES,
                                             output_names=["a", "b", "c"])
        schema = explainer.schema(table.schema)
        found = whole(explainer(table.slice(0, 5)))
        assert found.schema.equals(schema, check_metadata=True)
        assert whole(explainer(table.slice(0,
                                           0).to_batches() or [pyarrow.RecordBatch.from_pylist(
                                               [], schema=table.schema)])).schema.equals(schema)
        about = json.loads(schema.metadata[b"apportion"])
        assert (about["schema"], about["layout"], about["features"], about["outputs"]) == (
            1, layout, NAMES, ["a", "b", "c"])
        plain = apportion.explain(model, np.column_stack([table.slice(0, 5)[name] for name in NAMES]),
                                  rows[:3])
        if layout == "columns":
            assert found["output"].to_pylist() == [
                "a", "b", "c"] * 5 and found["id"].to_pylist() == list(np.repeat(range(5), 3))
            got = np.column_stack([found[name] for name in NAMES]).reshape(5, 3, 4).transpose(0, 2, 1)
        else:
            got = np.array(found["values"].to_pylist())
            assert np.allclose(np.array(found["base"].to_pylist()) + got.sum(axis=1),
                               np.array(found["prediction"].to_pylist()), atol=1e-6)
        assert np.allclose(got, plain.values, atol=1e-12)


def test_a_large_batch_comes_in_parts(monkeypatch, trees, numbers, table):
    monkeypatch.setattr("apportion._batches.MOST_ROWS", 500)
    results = list(apportion.explain_batches(
        table.combine_chunks(), trees, numbers[0][:9], feature_names=NAMES, keep="id"))
    assert [result.num_rows for result in results] == [500, 500, 200]
    assert np.concatenate([result["id"] for result in results]).tolist() == list(range(1200))


def test_an_explainer_that_is_given_stays_as_it_was(trees, numbers, table):
    explainer = apportion.Explainer(trees, numbers[0][:9], feature_names=NAMES)
    before = dict(explainer._asked)
    list(apportion.explain_batches(table, explainer, keep="id"))
    assert explainer._asked == before
    of_function = apportion.Explainer(lambda rows: rows.sum(axis=1), numbers[0][:9])
    list(apportion.explain_batches(table.slice(0, 5), of_function, keep="id"))
    assert of_function._names is None
    with pytest.raises(apportion.UsageError, match="cannot be combined with an Explainer"):
        apportion.explain_batches(table, explainer, value="banzhaf")


def test_nulls_are_missing_values_and_columns_are_found_by_name(trees, numbers, table):
    part = table.slice(0, 50)
    holed = part.set_column(2, "f1",
                            pyarrow.array([None if row % 3 else 0.5 for row in range(50)], pyarrow.float32()))
    rows = np.column_stack([holed["f0"], holed["f1"].to_numpy().astype(float), holed["f2"], holed["f3"]])
    wanted = apportion.explain(trees, rows, numbers[0][:9], feature_names=NAMES)
    found = whole(apportion.explain_batches(
        holed.select(["f3", "id", "f0", "f2", "f1"]), trees, numbers[0][:9], keep="id", feature_names=NAMES))
    assert np.allclose(np.column_stack([found[name] for name in NAMES]), wanted.values, atol=1e-12)
    words = pyarrow.table({"a": [1.0], "b": [2.0], "c": [3.0],
                           "d": [None]}).cast(pyarrow.schema([(name, pyarrow.float64()) for name in "abcd"]))
    assert whole(apportion.explain_batches(
        words, lambda rows: np.nan_to_num(rows).sum(axis=1),
        numbers[0][:2])).column_names[2:6] == list("abcd")


def test_what_does_not_fit_is_said_before_anything_runs(trees, numbers, table):
    rows = numbers[0][:9]

    def of(table, model=trees, background=rows, **asked):
        if model is trees:
            asked.setdefault("feature_names", NAMES)
        return apportion.BatchExplainer(model, background, **asked).schema(table.schema)

    for table_, asked, words in [
        (table.drop_columns("f3"), {"keep": "id"}, 'X: expected 4 feature columns, found 3 '),
        (table, {"keep": ["id", "no"]}, 'unknown column "no" in keep; columns of the batches: "id", "f0"'),
        (table, {"keep": ["id", "id"]}, "duplicate column in keep"),
        (table, {"layout": "rows"}, "unknown layout 'rows'; expected one of: columns, lists"),
        (table, {"keep": ["f0"]},
         'duplicate column "f0" in the results; rename the kept column, or use layout="lists"'),
        (table, {"model": additive, "keep": []}, "X: expected 4 feature columns, found 5 .*keep"),
        (table, {"model": additive, "background": None}, "requires a background"),
        (table.set_column(1, "f0", pyarrow.array([[1.0]] * 1200)), {}, 'column "f0" of X contains list'),
        (table, {"model_output": "log_loss"}, "not supported for batches, which have no y"),
        (table, {"kernel_": 3}, "unknown option 'kernel_'"),
    ]:
        with pytest.raises(apportion.Error, match=words):
            of(table_, **asked)
    with pytest.raises(apportion.DataError,
                       match="invalid batch of type builtins.int; expected a pyarrow.RecordBatch"):
        list(apportion.explain_batches([3], trees, rows))
    with pytest.raises(apportion.UsageError, match="kernel, precision and rows"):
        apportion.BatchExplainer(additive, rows, rows=3)


def test_a_plan_says_what_a_table_takes(trees, numbers, table):
    explainer = apportion.BatchExplainer(trees, numbers[0][:9], keep="id", feature_names=NAMES)
    plan = explainer.plan(table, 10**6)
    result = whole(explainer(table))
    assert plan["method"] == "tree" and plan["evaluations"] == 0
    assert plan["bytes"] == pytest.approx(10**6 * result.nbytes / len(table), rel=0.01)
    assert 0 < plan["seconds"] < 10_000 and plan["bytes_sent"] == pytest.approx(
        len(pickle.dumps(explainer)), rel=0.2)
    plan = apportion.BatchExplainer(additive, numbers[0][:9], keep="id", feature_names=NAMES,
                                    method="leverage-shap", budget=10).plan(table, 500)
    assert (plan["method"], plan["evaluations_per_row"], plan["evaluations"],
            plan["bytes_sent"]) == ("leverage-shap", 10, 5000, plan["bytes_sent"])
    asked = []

    def slow(rows):
        asked.append(len(rows))
        import time

        time.sleep(0.05)
        return additive(rows)

    apportion.BatchExplainer(slow, numbers[0][:1], keep="id", feature_names=NAMES).plan(
        table, 10**9, seconds=0.2)
    assert len(asked) < 60
    with pytest.raises(apportion.DataError, match="the sample has no rows"):
        explainer.plan(table.slice(0, 0), 10)


@pytest.mark.parametrize("asked", [{"background": 1}, {"background": 30}, {"game": "path-dependent"}])
def test_interactions_of_trees_have_the_same_bytes_however_a_table_is_cut(asked, trees, numbers, table):
    asked = dict(asked)
    background = numbers[0][: asked.pop("background")] if "background" in asked else None
    explainer = apportion.BatchExplainer(trees, background, keep="id", feature_names=NAMES, interactions=True,
                                         **asked)
    part = table.slice(0, 300)
    wanted = whole(explainer(part))
    assert wanted.column_names[3:8] == ["f0", "f0 × f1", "f0 × f2", "f0 × f3", "f1"]
    for sizes in [[7], [1, 2, 50], [299]]:
        assert whole(explainer(cut(part, sizes))).equals(wanted), sizes
    plain = apportion.Explainer(trees, background, feature_names=NAMES,
                                **asked)(np.column_stack([part[name] for name in NAMES]),
                                         interactions="index").values
    for place, (i, j) in enumerate(zip(*np.triu_indices(4))):
        assert np.allclose(wanted.column(3 + place), plain[:, i, j], atol=1e-12)
    summary = apportion.Summary.of(explainer(part))
    assert np.allclose(summary.mean_absolute[1],
                       np.abs(plain[:, 0, 1]).mean()) and summary.players[1] == "f0 × f1"
    with pytest.raises(apportion.DataError, match="cannot merge summaries with different options"):
        summary + apportion.Summary.of(apportion.explain_batches(
            part, trees, background, keep="id", feature_names=NAMES, **asked))


def test_interactions_of_functions_have_errors_where_they_are_estimates(numbers, table):
    players = 8
    rows = np.random.default_rng(1).normal(size=(6, players))
    given = pyarrow.table({f"x{place}": rows[:, place] for place in range(players)})

    def model(rows):
        return rows[:, 0] * rows[:, 1] + np.tanh(rows.sum(axis=1))

    exact = None
    for budget, is_estimate in ((256, False), (120, True)):
        explainer = apportion.BatchExplainer(model, np.zeros((1, players)), interactions=True, layout="lists",
                                             budget=budget)
        found = whole(explainer(given))
        assert ("std_errors" in found.column_names) == is_estimate
        assert whole(explainer(cut(given, [1]))).equals(found)
        values = np.array(found["values"].to_pylist())
        assert values.shape == (6, players * (players + 1) // 2)
        exact = values if exact is None else exact
        assert np.linalg.norm(values - exact) < 0.5 * np.linalg.norm(exact)
    with pytest.raises(apportion.UsageError, match="until cannot be combined with interactions"):
        apportion.BatchExplainer(model, np.zeros((1, players)), interactions=True, until=0.1)
    with pytest.raises(apportion.UsageError,
                       match="unknown form of interactions 'remainder'; expected one of: index"):
        apportion.BatchExplainer(model, np.zeros((1, players)), interactions="remainder")
    with pytest.raises(
            apportion.DataError,
            match="invalid batches of type builtins.int; expected an iterator of pyarrow.RecordBatch"):
        list(apportion.explain_batches(3, model, np.zeros((1, players))))


def test_words_come_in_all_forms_of_arrow(booster, frame):
    rows = frame[0]
    wanted = apportion.explain(booster, rows, rows[:20]).values
    given = pyarrow.Table.from_pandas(rows, preserve_index=False)
    words = given.set_column(1, "colour", given["colour"].cast(pyarrow.string()))
    tables = [given, words, words.set_column(1, "colour", words["colour"].cast(pyarrow.large_string()))]
    # Each part has separate categories.
    parts = (rows[start:start + 9] for start in range(0, len(rows), 9))
    tables.append([pyarrow.RecordBatch.from_pandas(
        part.assign(colour=part.colour.astype(str).astype("category")), preserve_index=False)
        for part in parts])
    polars = pytest.importorskip("polars")
    tables += [polars.from_arrow(words),
               polars.from_arrow(words).with_columns(polars.col("colour").cast(polars.Categorical)), rows]
    for table in tables:
        found = whole(apportion.explain_batches(table, booster, rows[:20]))
        assert np.allclose(np.column_stack([found[name] for name in rows.columns]), wanted,
                           atol=1e-12), type(table)
    assert apportion.summarize(words, booster, rows[:20]).explanation().data is None
    with pytest.raises(apportion.DataError, match="unknown category 'pink' in column"):
        list(apportion.explain_batches(words.set_column(1, "colour", pyarrow.array(["pink"] * len(rows))),
                                       booster, rows[:20]))


def test_without_pyarrow_it_is_said_how_to_get_it(monkeypatch, numbers):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(apportion.UsageError, match="pyarrow is not installed: pip install pyarrow"):
        list(apportion.explain_batches([], additive, numbers[0][:2]))
