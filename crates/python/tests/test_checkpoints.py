"""Checkpoints resume the run that wrote them, and no other."""
import copy
import datetime
import hashlib
import json
import re
import threading
import time

import numpy as np
import pytest

import apportion

pd = pytest.importorskip("pandas")
xgboost = pytest.importorskip("xgboost")


def trees(**changes):
    """Returns the bytes of a tree on two features whose second leaf only the background reaches."""
    tree = {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "threshold": [1.5, 0, 0],
            "value": [0, 10, 20], "cover": [10, 4, 6]}
    model = {"format": "apportion-trees", "version": 1, "width": "double", "features": 2,
             "base_margins": [0.5], "operator": "<=", "trees": [tree]}
    for name, value in changes.items():
        (tree if name in tree else model)[name] = value
    return json.dumps(model).encode()


def linear(rows, slope=1.0):
    return slope * np.asarray(rows, dtype=float)[:, 0] + np.asarray(rows, dtype=float)[:, 1]


def product(rows):
    return np.prod(rows, axis=1)


def of_words(worth):
    return lambda frame: (frame["city"].astype(object).map(worth).astype(float).to_numpy()
                          + frame["age"].to_numpy())


ROWS = np.random.default_rng(3).normal(size=(6, 2))
WIDE = np.random.default_rng(4).normal(size=(4, 3))
FRAME = pd.DataFrame({"city": list("abcabc"), "age": np.arange(6.0)})
WORTH = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 70.0}
DEFAULT = dict(model=linear, background=ROWS[:4], X=ROWS)


def frame(**columns):
    return FRAME.assign(**columns)


# A run, and others that each differ from it in one argument.
RUNS = {
    "trees by their covers": (dict(model=trees(), X=ROWS), [
        dict(model=trees(cover=[10, 5, 5])),
        dict(model=trees(value=[0, 10, 21])),
        dict(model=trees(threshold=[1.25, 0, 0])),
        dict(model=trees(base_margins=[0.75])),
        dict(background=ROWS),
    ]),
    "a leaf that only the background reaches": (dict(
        model=trees(), X=np.zeros((3, 2)), background=np.full((2, 2), 9.0)), [
        dict(model=trees(value=[0, 10, 200])),
        dict(background=np.full((3, 2), 9.0)),
        dict(weights=[1.0, 3.0]),
    ]),
    "a function": (DEFAULT, [
        dict(model=lambda rows: linear(rows, 1.5)),
        dict(model=lambda rows: np.where(np.asarray(rows)[:, 0] > ROWS[:4, 0].max() - 1e-9, 100.0,
                                         linear(rows))),
        dict(X=ROWS[::-1]), dict(X=ROWS[:5]), dict(X=ROWS + 1e-12),
        dict(background=ROWS[1:5]), dict(background=ROWS[:3]), dict(weights=[1, 1, 1, 2]),
        dict(value="banzhaf"), dict(method="permutation"), dict(budget=64), dict(seed=1), dict(until=0.1),
        dict(keep_null_players=True),
        dict(value="owen", groups=[[0], [1]]), dict(game="gaussian"), dict(game="empirical"),
    ]),
    "groups": (dict(DEFAULT, value="owen", groups=[[0, 1]]), [dict(groups=[[0], [1]])]),
    "a graph": (dict(model=product, X=WIDE, background=WIDE[:2], value="myerson", graph="line"),
                [dict(graph=[(0, 1), (0, 2)])]),
    "a conditional game": (dict(DEFAULT, game="gaussian", draws=50), [dict(draws=60), dict(game="copula")]),
    "an accuracy": (dict(DEFAULT, until=0.5, method="permutation"),
                    [dict(until=0.25), dict(confidence=0.9), dict(relative_to="nothing")]),
    "words": (dict(model=of_words(WORTH), X=FRAME, background=FRAME[:2]), [
        dict(background=frame(city=list("adcabc"))[:2]),
        dict(X=frame(city=list("abcabd"))),
        dict(model=of_words({**WORTH, "b": 2.5})),
        dict(X=frame(age=np.arange(1.0, 7.0))),
    ]),
}
CASES = [(name, place) for name, (_, others) in RUNS.items() for place in range(len(others))]


def explain(run, checkpoint):
    run = dict(run)
    model, X, background = run.pop("model"), run.pop("X"), run.pop("background", None)
    return apportion.Explainer(model, background, **run)(X, checkpoint=checkpoint)


@pytest.mark.parametrize("name, place", CASES)
def test_another_run_is_refused_whatever_is_different(name, place, tmp_path):
    run, others = RUNS[name]
    found = explain(run, tmp_path / "run")
    before = (tmp_path / "run").read_bytes()
    with pytest.raises(apportion.UsageError, match="belongs to a different run"):
        explain({**run, **others[place]}, tmp_path / "run")
    assert (tmp_path / "run").read_bytes() == before
    again = explain(copy.deepcopy(run) if name != "words" else run, tmp_path / "run")
    assert (again.values.tobytes() == found.values.tobytes()
            and again.base_values.tobytes() == found.base_values.tobytes())


CELLS = [("b", "d"), (1, True), (1, 1.0), (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
         (None, "None"), (2**60, 2**60 + 1), ((1, 2), (1, 3)),
         (b"x", "x"), (float("nan"), None)]


@pytest.mark.parametrize("one, other", CELLS, ids=repr)
def test_cells_are_compared_and_not_their_codes(one, other, tmp_path):
    def background(cell):
        column = pd.Series([cell, "z", cell, "z"], dtype=object)
        return pd.DataFrame({"cell": column, "age": [1.0, 2.0, 3.0, 4.0]})

    def model(rows):
        return rows["age"].to_numpy() * 2.0

    X = pd.DataFrame({"cell": pd.Series(["z", "z"], dtype=object), "age": [5.0, 6.0]})
    apportion.Explainer(model, background(one))(X, checkpoint=tmp_path / "run")
    with pytest.raises(apportion.UsageError, match=r"a different run \(background: "):
        apportion.Explainer(model, background(other))(X, checkpoint=tmp_path / "run")


def test_the_numbers_of_cells_do_not_matter(tmp_path):
    background = pd.DataFrame({"city": list("ab"), "age": [1.0, 2.0]})
    apportion.Explainer(of_words(WORTH), background)(FRAME, checkpoint=tmp_path / "run")
    explainer = apportion.Explainer(of_words(WORTH), background)
    explainer(frame(city=list("dcbadc")))
    explainer(FRAME, checkpoint=tmp_path / "run")


def test_a_model_that_was_trained_again_alike_resumes(tmp_path):
    rows, targets = ROWS.repeat(20, axis=0), np.arange(120.0) % 7
    first, again = (xgboost.XGBRegressor(n_estimators=5, n_jobs=1).fit(rows, targets) for _ in range(2))
    apportion.Explainer(first, ROWS)(ROWS, checkpoint=tmp_path / "run")
    apportion.Explainer(again, ROWS)(ROWS, checkpoint=tmp_path / "run")
    other = xgboost.XGBRegressor(n_estimators=6, n_jobs=1).fit(rows, targets)
    with pytest.raises(apportion.UsageError, match=r"a different run \(model: "):
        apportion.Explainer(other, ROWS)(ROWS, checkpoint=tmp_path / "run")


def test_a_second_run_is_refused_while_the_first_lives(tmp_path):
    path, begun, end = tmp_path / "run", threading.Event(), threading.Event()

    def model(rows):
        if path.exists() and threading.current_thread() is first:
            begun.set()
            end.wait(60)
        return linear(rows)

    def run():
        return apportion.Explainer(model, ROWS[:4])(ROWS, checkpoint=path)

    first = threading.Thread(target=run)
    first.start()
    assert begun.wait(60)
    for _ in range(3):
        with pytest.raises(apportion.UsageError, match="in use by another run"):
            run()
    end.set()
    first.join()
    assert np.array_equal(run().values, apportion.Explainer(linear, ROWS[:4])(ROWS).values)


def test_values_are_on_the_exception_if_the_last_write_fails(tmp_path):
    path = tmp_path / "sub" / "run"
    path.parent.mkdir()

    def model(rows):
        if path.exists():
            path.unlink()
            path.parent.rmdir()
        return linear(rows)

    with pytest.raises(OSError, match="cannot write") as caught:
        apportion.Explainer(model, ROWS[:4])(ROWS, checkpoint=path)
    found = caught.value.explanation
    assert np.array_equal(found.values, apportion.Explainer(linear, ROWS[:4])(ROWS).values)


@pytest.mark.parametrize("background", [None, ROWS])
def test_trees_in_blocks_have_the_values_of_one_run(background, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 6))
    model = xgboost.XGBRegressor(n_estimators=30, max_depth=5, n_jobs=1).fit(
        rows, rows[:, 0] * rows[:, 1] + rows[:, 2])
    explainer = apportion.Explainer(model, None if background is None else rows[:50])
    whole = explainer(rows, checkpoint=tmp_path / "whole")
    assert np.allclose(whole.values, explainer(rows).values, rtol=0,
                       atol=1e-12) and whole.std_errors is None and whole.evaluations is None
    assert np.allclose(whole.base_values, explainer.expected_value)
    # Create the checkpoint of a run that was stopped before the rows in `left` were finished.
    stored = json.loads((tmp_path / "whole").read_text(), parse_float="\0{}\0".format)
    for left in ([0], [5, 17, 2999], range(0, 3000, 2)):
        part = {**stored, "finished": {row: found for row,
                                       found in stored["finished"].items() if int(row) not in left},
                                       "digest": ""}
        (tmp_path / "part").write_text(with_digest(part))
        resumed = apportion.Explainer(model, None if background is None else rows[:50])(
            rows, checkpoint=tmp_path / "part")
        assert resumed.values.tobytes() == whole.values.tobytes()


def with_digest(stored):
    """Returns a checkpoint as JSON with its digest; keeps the digits of numbers unchanged."""
    def text():
        return re.sub(r'"\\u0000(.*?)\\u0000"', r"\1", json.dumps(stored, separators=(",", ":")))

    stored["digest"] = hashlib.sha256(text().encode()).hexdigest()
    return text()


def test_a_run_resumes_within_a_row(tmp_path):
    calls = []

    def model(rows):
        calls.append(len(rows))
        if stops:
            # The state of a row is saved every two seconds.
            time.sleep(0.001 * len(rows))
            if sum(calls) > 3000:
                raise KeyboardInterrupt
        return np.sin(rows).prod(axis=1) + rows[:, 0]

    rows = np.random.default_rng(1).normal(size=(1, 14))
    asked = dict(method="permutation", until=1e-3, budget=6000, seed=3)
    stops = False
    wanted = apportion.Explainer(model, np.zeros((1, 14)), **asked)(rows)
    all_rows = sum(calls)
    calls.clear()
    stops = True
    with pytest.raises(KeyboardInterrupt):
        apportion.Explainer(model, np.zeros((1, 14)), **asked)(rows, checkpoint=tmp_path / "run")
    calls.clear()
    stops = False
    found = apportion.Explainer(model, np.zeros((1, 14)), **asked)(rows, checkpoint=tmp_path / "run")
    assert found.values.tobytes() == wanted.values.tobytes() and sum(calls) < all_rows
