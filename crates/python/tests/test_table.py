"""The table method."""
import pickle

import numpy as np
import pytest

import apportion

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(80, 10))
BACKGROUND = RANDOM.normal(size=(20, 10))
WEIGHTS = RANDOM.normal(size=(10, 8))


def network(rows):
    # A matrix product would round a row differently, depending on the other rows.
    units = sum(rows[:, at, None] * WEIGHTS[at] for at in range(10))
    return sum(weight * np.tanh(units[:, at] / 2) for at, weight in enumerate(np.arange(-3.5, 4.5)))


def squares(explanation, exact):
    return ((explanation.values - exact.values) ** 2).sum()


def test_a_function_is_explained_from_few_rows():
    calls = []

    def counted(rows):
        calls.append(len(rows))
        return network(rows)

    exact = apportion.Explainer(network, BACKGROUND, method="exact")(ROWS)
    found = apportion.Explainer(counted, BACKGROUND, method="table", budget="2n", check=False)(ROWS)
    assert found.method == "table" and found.std_errors.shape == found.values.shape
    # Each row takes 20 evaluations with 20 background rows, and its own prediction. The background and the
    # start take at most 200 more rows.
    assert sum(calls) < 80 * 401 + 200
    leverage = apportion.Explainer(network, BACKGROUND, method="leverage-shap", budget="5n")(ROWS)
    assert squares(found, exact) < squares(leverage, exact)
    gaps = found.values.sum(axis=1) - (found.predictions - found.base_values)
    assert np.abs(gaps).max() < 1e-9
    lower, upper = found.intervals(0.95)
    assert 0.9 < np.mean((lower <= exact.values) & (exact.values <= upper)) < 0.99


def test_threads_and_checkpoints_change_nothing(tmp_path):
    explainer = apportion.Explainer(network, BACKGROUND, method="table", budget="1n")
    found = explainer(ROWS)
    assert np.array_equal(found.values, explainer(ROWS, threads=3).values)
    path = tmp_path / "run"
    for _ in range(2):
        assert np.array_equal(found.values, explainer(ROWS, checkpoint=path).values)


def test_trees_and_several_outputs():
    sklearn = pytest.importorskip("sklearn.ensemble")
    targets = np.digitize(network(ROWS), [-2, 2])
    model = sklearn.RandomForestClassifier(20, random_state=0).fit(ROWS, targets)
    exact = apportion.Explainer(model, BACKGROUND)(ROWS[:30])
    found = apportion.Explainer(model, BACKGROUND, method="table", budget="3n")(ROWS[:30])
    assert found.values.shape == (30, 10, 3) == exact.values.shape
    assert squares(found, exact) < 0.01 * (exact.values ** 2).sum()


GROUPS = [[0, 1, 2], [3, 4], [5, 6, 7, 8, 9]]


@pytest.mark.parametrize("options", [
    dict(value="banzhaf"), dict(value="beta=4,1"), dict(value="owen", groups=GROUPS),
    dict(value="quotient-banzhaf", groups=[[at] for at in range(8)] + [[8, 9]]),
    dict(weights=np.arange(20.0) + 1)])
def test_other_values_and_weighted_backgrounds(options):
    exact = apportion.Explainer(network, BACKGROUND, method="exact", **options)(ROWS[:30])
    for more in (dict(budget="8n"), dict(until=0.1)):
        found = apportion.Explainer(network, BACKGROUND, method="table", **more, **options)(ROWS[:30])
        assert found.method == "table" and found.values.shape == exact.values.shape
        assert squares(found, exact) < 0.02 * (exact.values ** 2).sum()


def test_what_is_not_supported_is_refused():
    for options, message in [
        (dict(game="gaussian"), "marginal game"),
        (dict(budget="0.001n"), "at least 5"),
        (dict(budget="0.0n"), "invalid budget"),
    ]:
        with pytest.raises(apportion.Error, match=message):
            apportion.Explainer(network, BACKGROUND, method="table", **options)(ROWS[:3])
    with pytest.raises(apportion.UsageError, match="learned first"):
        apportion.BatchExplainer(network, BACKGROUND, method="table")
    with pytest.raises(apportion.UsageError, match='requires method="table"'):
        apportion.Explainer(network, BACKGROUND).learn(ROWS)
    learned = apportion.Explainer(network, BACKGROUND, method="table").learn(ROWS)
    learned.function = apportion.Explainer(lambda rows: network(rows) + 1, BACKGROUND).function
    learned._kept = {}
    with pytest.raises(apportion.UsageError, match="different model"):
        learned(ROWS[:3])
    with pytest.raises(apportion.ModelError):
        apportion.Explainer(lambda rows: np.where(rows[:, 0] > 0, np.nan, 1.0), BACKGROUND,
                            method="table")(ROWS)


def test_a_learned_surrogate_explains_rows_alone_in_batches_and_after_pickling(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    learned = apportion.Explainer(network, BACKGROUND, method="table", budget="1n").learn(ROWS[:40])
    found = learned(ROWS)
    for row in (0, 55):
        assert np.array_equal(learned(ROWS[row : row + 1]).values[0], found.values[row])
    assert np.array_equal(pickle.loads(pickle.dumps(learned))(ROWS).values, found.values)
    for _ in range(2):
        assert np.array_equal(learned(ROWS, checkpoint=tmp_path / "run").values, found.values)
    other = apportion.Explainer(network, BACKGROUND, method="table", budget="1n").learn(ROWS[40:])
    with pytest.raises(apportion.Error, match="surrogate"):
        other(ROWS, checkpoint=tmp_path / "run")
    table = pyarrow.table({str(at): ROWS[:, at] for at in range(10)})
    batches = list(apportion.BatchExplainer(learned, layout="lists")(table.to_batches(max_chunksize=7)))
    values = np.concatenate([np.stack(batch.column("values").to_numpy(zero_copy_only=False))
                             for batch in batches])
    assert np.array_equal(values, found.values)
    exact = apportion.Explainer(network, BACKGROUND, method="exact")(ROWS)
    lower, upper = found.intervals(0.95)
    assert 0.9 < np.mean((lower <= exact.values) & (exact.values <= upper)) < 0.995


WIDE = RANDOM.normal(size=(90, 12))
ABSENT = RANDOM.normal(size=(40, 12))


def wide(rows):
    return network(rows[:, :10]) + rows[:, 10] * rows[:, 11]


def test_auto_explains_each_row_with_one_surrogate(tmp_path):
    calls = []

    def counted(rows):
        calls.append(len(rows))
        return wide(rows)

    explainer = apportion.Explainer(counted, ABSENT, check=False)
    found = explainer(WIDE)
    assert found.method == "table" and found.std_errors.shape == found.values.shape
    # Each row takes 38 evaluations with 40 background rows. Learning the surrogate takes as many as five
    # rows.
    assert abs(sum(calls) - 95 * 38 * 40) < 400
    calls.clear()
    assert np.array_equal(explainer(WIDE[3]).values, found.values[3:4])
    assert sum(calls) < 38 * 40 + 100
    exact = apportion.Explainer(wide, ABSENT, method="exact")(WIDE[:10])
    shap_like = apportion.Explainer(wide, ABSENT, method="permutation", budget="20n")(WIDE[:10])
    assert squares(found[:10], exact) < squares(shap_like, exact)

    explainer = apportion.Explainer(wide, ABSENT)
    assert np.array_equal(pickle.loads(pickle.dumps(explainer))(WIDE).values, found.values)
    assert np.array_equal(explainer(WIDE[5:9], threads=3).values, found.values[5:9])
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({str(at): WIDE[:, at] for at in range(12)})
    batches = apportion.BatchExplainer(wide, ABSENT, layout="lists")(table.to_batches(max_chunksize=31))
    values = [np.stack(batch.column("values").to_numpy(zero_copy_only=False)) for batch in batches]
    assert np.array_equal(np.concatenate(values), found.values)
    path = tmp_path / "run"
    for _ in range(2):
        assert np.array_equal(explainer(WIDE, checkpoint=path).values, found.values)


def test_auto_learns_again_from_a_model_that_has_changed():
    shift = [0.0]
    explainer = apportion.Explainer(lambda rows: wide(rows) * (1 + shift[0]), ABSENT, check=False)
    before = explainer(WIDE[:2])
    shift[0] = 1.0
    fresh = apportion.Explainer(lambda rows: wide(rows) * 2, ABSENT)(WIDE[:2])
    assert np.array_equal(explainer(WIDE[:2]).values, fresh.values)
    shift[0] = 0.0
    assert np.array_equal(explainer(WIDE[:2]).values, before.values)


def test_categories_of_a_frame_are_split_into_sets():
    pandas = pytest.importorskip("pandas")
    words = np.array(list("abcdefghij"))
    effects = dict(zip(words, [3.0, -2.0, 1.5, -3.0, 2.0, -1.0, 2.5, -2.5, 0.5, -1.5]))

    def frame(rows, seed):
        random = np.random.default_rng(seed)
        numbers = pandas.DataFrame({f"x{at}": random.normal(size=rows) for at in range(11)})
        return numbers.assign(word=words[random.integers(10, size=rows)])

    def coded(rows):
        return rows.assign(word=np.searchsorted(words, rows["word"]).astype(float)).to_numpy()

    def of_words(rows):
        one, two, three = (rows[name].to_numpy() for name in ("x1", "x2", "x3"))
        return rows["word"].map(effects).to_numpy() * np.tanh(one + two * three)

    def of_codes(rows):
        return of_words(pandas.DataFrame(rows, columns=[*(f"x{at}" for at in range(11)), "word"])
                        .assign(word=words[rows[:, 11].astype(int)]))

    background, rows = frame(40, 0), frame(15, 1)
    exact = apportion.Explainer(of_codes, coded(background), method="exact")(coded(rows))
    found = apportion.Explainer(of_words, background)(rows)
    as_numbers = apportion.Explainer(of_codes, coded(background))(coded(rows))
    assert found.method == as_numbers.method == "table"
    assert squares(found, exact) < squares(as_numbers, exact)
