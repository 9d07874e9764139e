"""Explanations and explainers own their data; nothing passed to one call changes the results of another."""
import copy
import decimal
import pickle
import sys
import threading
import types

import numpy as np
import pytest

import apportion

pandas = pytest.importorskip("pandas")


def lengths(rows):
    """A model of frames with a column of strings and one of numbers."""
    return rows["word"].map(len).to_numpy(dtype=float) * 10 + rows["number"].to_numpy(dtype=float)


def summed(rows):
    return rows[:, 0] + 10 * rows[:, 1] * rows[:, 2]


def words_of(*words):
    return pandas.DataFrame({"word": list(words), "number": [float(place) for place in range(len(words))]})


# Inputs.


def _numpy(rows):
    return rows


def _fortran(rows):
    return np.asfortranarray(rows)


def _view(rows):
    return np.concatenate([rows, rows])[: len(rows)]


def _frame(rows):
    return pandas.DataFrame(rows, columns=["a", "b", "c"], copy=False)


def _columns(rows):
    return pandas.DataFrame({name: rows[:, place] for place, name in enumerate("abc")})


def _torch(rows):
    return pytest.importorskip("torch").from_numpy(rows)


def _array_like(rows):
    holder = types.SimpleNamespace()
    holder.rows = rows

    class Holder:
        def __array__(self, dtype=None, copy=None):
            return rows

    return Holder()


@pytest.mark.parametrize("kind", [_numpy, _fortran, _view, _frame, _columns, _torch, _array_like])
@pytest.mark.parametrize("is_tree", [False, True])
def test_data_stay_as_they_were_explained(kind, is_tree):
    from sklearn.tree import DecisionTreeRegressor

    rows = np.random.default_rng(0).normal(size=(12, 3))
    kept = rows.copy()
    given = kind(rows)
    if is_tree:
        model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(kept, kept[:, 0])
    elif kind in (_frame, _columns):
        model = lambda frame: summed(frame.to_numpy())  # noqa: E731
    else:
        model = lambda array: summed(np.asarray(array))  # noqa: E731
    explainer = apportion.Explainer(model, given, weights=np.ones(12))
    before = explainer(given)
    values = before.values.copy()
    if hasattr(given, "iloc"):
        given.iloc[:, :] = 7.0
    elif hasattr(given, "detach"):
        given[:] = 7.0
    elif isinstance(given, np.ndarray):
        given[:] = 7.0
    rows[:] = 7.0
    assert np.array_equal(before.data, kept) and np.array_equal(before.values, values)
    # The explainer and its copies do not change either, because the background is not read again.
    again = kept.copy() if kind not in (_frame, _columns) else pandas.DataFrame(kept, columns=["a", "b", "c"])
    if kind is _torch:
        again = _torch(again)
    for one in (explainer, copy.copy(explainer), copy.deepcopy(explainer),
                pickle.loads(pickle.dumps(explainer)) if is_tree else copy.copy(explainer)):
        assert np.array_equal(one(again).values, values)


def test_options_are_owned():
    background = np.random.default_rng(0).normal(size=(9, 4))
    weights, names, outputs = np.arange(1.0, 10.0), list("abcd"), ["x", "y"]
    groups, graph = [["a", "b"], ["c", ["d"]]], [["a", "b"], ["b", "c"]]
    def model(rows):
        return np.column_stack([rows[:, 0] * rows[:, 1], rows[:, 2] * rows[:, 3]])

    explainer = apportion.Explainer(model, background, weights=weights, feature_names=names,
                                    output_names=outputs, groups=groups, value="owen")
    over = apportion.Explainer(model, background, graph=graph, feature_names=names, value="myerson")
    before, before_over = explainer(background), over(background)
    weights[:], names[:], outputs[:] = 1.0, ["n"] * 4, ["m", "n"]
    groups[0].append("c")
    groups[1][1].append("a")
    graph[0][1] = "d"
    background_then = before.data
    for one in (explainer, copy.copy(explainer), copy.deepcopy(explainer)):
        found = one(background_then)
        assert np.array_equal(found.values, before.values)
        assert (found.feature_names, found.output_names, found.about["groups"]) == (
            list("abcd"), ["x", "y"], [["a", "b"], ["c", ["d"]]])
    assert np.array_equal(copy.copy(over)(background_then).values, before_over.values)


def test_an_explanation_owns_its_names_labels_and_words():
    frame = words_of("a", "bb", "ccc")
    frame.index = pandas.Index(np.array([5, 6, 7]), copy=False)
    explainer = apportion.Explainer(lengths, frame)
    found = explainer(frame)
    found.feature_names[0], found.categories[0][0] = "changed", "changed"
    again = explainer(frame)
    assert again.feature_names == ["word", "number"] and again.categories[0] == [
        "a", "bb", "ccc"] and list(again.index) == [5, 6, 7]
    two = apportion.Explainer(lambda rows: rows[:, :2], np.eye(3), output_names=["x", "y"])
    two(np.eye(3)).output_names.append("z")
    assert two(np.eye(3)).output_names == ["x", "y"]


@pytest.mark.parametrize("change", ["rename", "retype", "name_of_columns", "attributes", "cells"])
def test_a_background_frame_is_owned(change):
    background = words_of("a", "bb", "ccc")
    background.columns.name, background.attrs["note"] = "names", ["old"]
    rows = words_of("dddd", "a")
    rows.columns.name, rows.attrs["note"] = "names", ["old"]
    explainer = apportion.Explainer(lambda given: lengths(given) * (
        len(given.attrs["note"]) + len(given.columns.name)), background)
    wanted = explainer(rows).values
    if change == "rename":
        background.columns = ["x", "y"]
    elif change == "retype":
        background["number"] = background["number"].astype("int8")
    elif change == "name_of_columns":
        background.columns.name = "other names"
    elif change == "attributes":
        background.attrs["note"].append("new")
    else:
        background.iloc[:, 0] = "zzzzzz"
    assert np.array_equal(explainer(rows).values, wanted)


@pytest.mark.parametrize("cell", [[1], {"a": 1}, {1, 2}, bytearray(b"a"), np.array([1]), [[1], [2]]],
                         ids=lambda cell: type(cell).__name__)
def test_containers_in_cells_are_owned(cell):
    def model(rows):
        return np.array([float(len(one)) for one in rows[:, 0]]) + rows[:, 1].astype(float)

    def table(first):
        made = np.empty((2, 2), dtype=object)
        made[:, 0] = [first, copy.deepcopy(first)]
        made[:, 1] = [1.0, 2.0]
        return made

    background, rows = table(cell), table(copy.deepcopy(cell))
    rows[0, 0] = [1, 2, 3]
    explainer = apportion.Explainer(model, background)
    wanted = explainer(copy.deepcopy(rows)).values
    for one in (background[0, 0], background[1, 0]):
        if isinstance(one, dict):
            one["b"] = 2
        elif isinstance(one, set):
            one.add(9)
        elif isinstance(one, (list, bytearray)):
            one.append(1)
        else:
            one.resize(5, refcheck=False)
    assert np.array_equal(explainer(copy.deepcopy(rows)).values, wanted)

    def changing(given):
        answer = model(given)
        for one in given[:, 0]:
            if isinstance(one, list):
                one.append(1)
        return answer

    assert np.array_equal(apportion.Explainer(changing, table([1]))(table([1, 2])).values,
                          apportion.Explainer(model, table([1]))(table([1, 2])).values)


# Cells.

CELLS = [True, 1, 1.0, np.True_, np.int64(1), np.float64(1), "1", b"1", decimal.Decimal(1),
         decimal.Decimal("1.0"), 0.0, -0.0, 0, False, None, float("nan"),
         pandas.NA, pandas.NaT, (1,), [1], [True], [1.0], frozenset({1})]


def _kind(cell):
    """Returns a number that differs for cells that a model can distinguish."""
    return float(int.from_bytes(f"{type(cell).__module__}{type(cell).__name__}{cell!r}".encode(),
                                "big") % 99991)


@pytest.mark.parametrize("as_frame", [False, True])
def test_cells_that_a_model_can_tell_apart_are_different(as_frame):
    column = np.empty(len(CELLS), dtype=object)
    column[:] = CELLS
    if as_frame:
        rows = pandas.DataFrame({"a": pandas.Series(column, dtype=object), "b": np.arange(float(len(CELLS)))})
        explainer = apportion.Explainer(lambda given: np.array([_kind(cell) for cell in given["a"]])
                                        + given["b"].to_numpy(float), rows.iloc[:2])
    else:
        rows = np.column_stack([column, np.arange(float(len(CELLS))).astype(object)])
        explainer = apportion.Explainer(lambda given: np.array([_kind(cell) for cell in given[
            :, 0]]) + given[:, 1].astype(float), rows[:2])
    found = explainer(rows)
    base = np.mean([_kind(cell) for cell in CELLS[:2]])
    assert np.allclose(found.values[:, 0], [_kind(cell) - base for cell in CELLS], atol=1e-9)


def test_mixed_cells_survive_a_file(tmp_path):
    rows = np.array([["a", 1.0], [True, 2.0], [1, 3.0], ["1", 4.0], [None, 5.0], [1.5, 6.0]], dtype=object)
    found = apportion.explain(lambda given: np.array([_kind(cell) for cell in given[:, 0]]), rows, rows)
    found.save(tmp_path / "found.json")
    loaded = apportion.load(tmp_path / "found.json")
    assert [type(cell) for cell in loaded.display_data[:, 0]] == [type(cell) for cell in found.display_data[
        :, 0]]
    assert loaded.display_data[:, 0].tolist() == found.display_data[:, 0].tolist() == [
        "a", True, 1, "1", None, 1.5]


# Unseen categories.


def test_nothing_is_kept_of_words_that_calls_bring():
    explainer = apportion.Explainer(lengths, words_of("a", "bb"))
    wanted = explainer(words_of("ccc", "dddd")).values
    kept = len(pickle.dumps(explainer._schema.columns[0].codes))
    for call in range(200):
        explainer(words_of(*(f"{call}-{word}" for word in range(5))))
    assert len(pickle.dumps(explainer._schema.columns[0].codes)) == kept
    assert np.array_equal(explainer(words_of("ccc", "dddd")).values, wanted)


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "pyarrow"])
def test_threads_that_bring_the_same_new_words_do_not_mix_them_up(library):
    def made(frame):
        if library == "numpy":
            return frame.to_numpy(dtype=object)
        if library == "pandas":
            return frame
        if library == "polars":
            return pytest.importorskip("polars").from_pandas(frame)
        return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)

    def model(rows):
        if library == "numpy":
            return np.array([float(len(word)) for word in rows[:, 0]]) * 10 + rows[:, 1].astype(float)
        if library == "pyarrow":
            rows = rows.to_pandas()
        return np.array([float(len(word)) for word in rows["word"]]) * 10 + np.array(
            rows["number"], dtype=float)

    explainer = apportion.Explainer(model, made(words_of("a", "bb")), threads=1)
    rows = [made(words_of(*("x" * (1 + (seed * 7 + word * 5) % 40) for word in range(6))))
            for seed in range(8)]
    wanted = [explainer(one).values.tobytes() for one in rows]
    wrong, interval = [], sys.getswitchinterval()
    ready = threading.Barrier(8)

    def work(seed):
        sys.setprofile(lambda *event: None)
        ready.wait()
        for turn in range(6):
            place = (seed + turn) % 8
            if explainer(rows[place]).values.tobytes() != wanted[place]:
                wrong.append(place)

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_calls_do_not_depend_on_earlier_ones():
    """Tests missing values, categories, columns that become objects and numbers of steps, in any order."""
    background = pandas.DataFrame({"a": pandas.array([1.0, 2.0, 3.0], dtype="Float64"), "b": ["x", "y", "z"]})

    def model(rows):
        return np.array([-1.0 if cell is pandas.NA else -2.0 if cell != cell else float(cell)
                         for cell in rows["a"]]) + rows["b"].map(len).to_numpy(float)

    tables = [pandas.DataFrame({"a": pandas.array([5.0, None], dtype="Float64"), "b": ["x", "long"]}),
              background.iloc[:2],
              pandas.DataFrame({"a": pandas.array([7.0, 8.0], dtype="Float64"), "b": ["new", "newer"]})]
    wanted = [apportion.Explainer(model, background)(table).values for table in tables]
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0, 1, 2]):
        explainer = apportion.Explainer(model, background)
        for place in order:
            assert np.array_equal(explainer(tables[place]).values, wanted[place])
    steps = [np.random.default_rng(seed).normal(size=(4, length, 2)) for seed, length in enumerate((3, 4, 3))]
    series = apportion.Explainer(lambda rows: rows.reshape(len(rows), -1).sum(axis=1))
    for one in steps:
        assert np.allclose(series(one).values, one.sum(axis=1) - one.sum(axis=1).mean(axis=0))


def test_groups_by_name_are_those_of_each_table():
    """Trees trained on an array have no feature names; each table provides its own."""
    from sklearn.tree import DecisionTreeRegressor

    rows = np.random.default_rng(0).normal(size=(60, 3))
    explainer = apportion.Explainer(DecisionTreeRegressor(max_depth=6, random_state=0).fit(
        rows, rows.prod(axis=1) + rows[:, 1]), groups=[["a", "b"], ["c"]], value="owen")
    one = pandas.DataFrame(rows, columns=["a", "b", "c"])
    other = pandas.DataFrame(rows, columns=["c", "b", "a"])
    fresh = copy.copy(explainer)(other).values
    first = explainer(one).values
    assert not np.array_equal(first, fresh) and np.array_equal(
        explainer(other).values, fresh) and np.array_equal(explainer(one).values, first)


def test_losses_keep_nothing_for_each_target():
    from sklearn.tree import DecisionTreeRegressor

    rows = np.random.default_rng(0).normal(size=(40, 3))
    explainer = apportion.Explainer(DecisionTreeRegressor(max_depth=2).fit(rows, rows[:, 0]), rows,
                                    model_output="log_loss")
    explainer(rows[:2], [0.5, 1.5])
    kept = len(explainer._kept)
    explainer(rows, np.arange(40.0))
    assert len(explainer._kept) == kept


def test_the_first_names_are_those_of_the_background():
    explainer = apportion.Explainer(summed, np.eye(3))
    assert explainer(np.eye(3)).feature_names == ["f0", "f1", "f2"]
    assert explainer(pandas.DataFrame(np.eye(3), columns=list("abc"))).feature_names == ["a", "b", "c"]
    assert explainer(np.eye(3)).feature_names == ["f0", "f1", "f2"]
