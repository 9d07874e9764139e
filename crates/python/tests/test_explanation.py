"""Explanations can be sliced, pickled, saved and loaded."""
import copy
import json
import pickle

import numpy as np
import pytest

import apportion


@pytest.fixture(scope="module")
def several(numbers):
    rows, _ = numbers
    names = ["a", "b", "c", "d"]
    return apportion.explain(lambda rows: np.column_stack([
        rows[:, 0] * rows[:, 1], rows.sum(axis=1), rows[:, 2]]), rows[:6], rows[:10],
                             feature_names=names, output_names=["x", "y", "z"])


@pytest.fixture(scope="module")
def estimated(numbers):
    rows, _ = numbers
    wide = np.tile(rows, 4)
    return apportion.explain(lambda rows: np.sin(rows).sum(axis=1) + rows[:, 0] * rows[:, 5] * rows[:, 6],
                             wide[:3], wide[3:8],
                             method="leverage-shap", until=0.1)


def same(one, other):
    for name in ("values", "base_values", "predictions", "data", "std_errors", "evaluations"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None), name
        assert first is None or np.array_equal(
            np.asarray(first, dtype=float), np.asarray(second, dtype=float), equal_nan=True), name
    assert list(one.feature_names) == list(other.feature_names) and one.certificates == other.certificates
    assert (one.value, one.game, one.method, one.output_names) == (
        other.value, other.game, other.method, other.output_names)


def test_slices_by_position_name_class_and_mask(several):
    values = several.values
    mask = several.data[:, 0] > 0
    for key, wanted in [
        (2, values[2]), (slice(1, 3), values[1:3]), (mask, values[mask]), ([4, 0], values[[4, 0]]),
        ((slice(None), "b"), values[:, 1]), ((slice(None), ["d", "a"]), values[:, [3, 0]]),
        ((slice(None), slice(None), "y"), values[:, :, 1]),
        ((Ellipsis, "z"), values[..., 2]), ((1, "c", "x"), values[1, 2, 0]),
        ((mask, ["a", "b"], [0, 1]), values[mask][:, [0, 1]][:, :, [0, 1]]),
    ]:
        part = several[key]
        assert np.array_equal(part.values, wanted), key
        assert np.ndim(part.base_values) == ("row" in part._axes) + ("output" in part._axes), key
    row = several[2]
    assert np.array_equal(row.data, several.data[2]) and np.array_equal(
        row.base_values, several.base_values[2])
    column = several[:, "b"]
    assert np.array_equal(column.data, several.data[:, 1]) and column.feature_names == "b"
    assert several[..., "y"][3]["d"].values == values[3, 3, 1]
    for key in ["q", (slice(None), "e"), (0, 0, "w"), [True, False]]:
        with pytest.raises((apportion.UsageError, IndexError)):
            several[key]
    with pytest.raises(IndexError):
        several[99]


def test_pickles_and_copies(several, estimated):
    for explanation in (several, estimated, several[1], several[:, "a"]):
        for other in (pickle.loads(pickle.dumps(explanation)), copy.deepcopy(explanation)):
            assert np.array_equal(other.values, explanation.values) and other.about == explanation.about


@pytest.mark.parametrize("name", ["results.json", "results.json.gz"])
def test_what_is_saved_opens(several, estimated, tmp_path, name):
    for explanation in (several, estimated, several[..., "y"], several[[3, 1]]):
        path = tmp_path / name
        explanation.save(path)
        same(explanation, apportion.load(path))
        assert [file.name for file in tmp_path.iterdir()] == [name]
    part = several[[3, 1]]
    part.save(tmp_path / name)
    assert apportion.load(tmp_path / name).row_numbers.tolist() == [3, 1]


@pytest.mark.parametrize("name", ["results.csv", "results.csv.gz", "results.NPZ", "page.html"])
def test_a_file_is_what_its_ending_says(several, tmp_path, name):
    with pytest.raises(apportion.UsageError, match=r"saved as JSON.*to_frame\(\)"):
        several.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_words_and_interactions_are_saved(frame, booster, tmp_path):
    rows, _ = frame
    explainer, path = apportion.TreeExplainer(booster), tmp_path / "results.json"
    found = explainer(rows[:5])
    found.save(path)
    document = json.loads(path.read_text())
    assert path.read_bytes().startswith(b'{"value":"shapley","game":"path-dependent"')
    assert document["explanations"][0]["input"][1] == rows["colour"].iloc[0]
    assert (apportion.load(path).display_data[:, 1] == found.display_data[:, 1]).all()
    pairs = explainer(rows[:5], interactions="remainder")
    pairs.save(path)
    opened = apportion.load(path)
    assert opened.interactions == "remainder" and np.array_equal(opened.values, pairs.values)
    assert (opened.display_data[:, 1] == pairs.display_data[:, 1]).all()
    assert np.abs(pairs.values.sum(axis=2) - found.values).max() < 1e-9


def test_results_of_the_command_open(tmp_path):
    line = ('{"value":"shapley","game":"marginal","method":"leverage-shap","budget":40,"seed":0,'
            '"background_rows":3,"features":["a","b"],'
            '"explanations":[{"row":3,"id":"x","base":1.5,"prediction":4.0,"values":[2.0,0.5],'
            '"std_errors":[0.1,0.1],"input":[null,"red"],'
            '"evaluations":40}]}\n')
    path = tmp_path / "command.json"
    path.write_text(line)
    found = apportion.load(path)
    assert (found.values.tolist() == [[2.0, 0.5]] and found.display_data[0].tolist()[1] == "red"
            and list(found.index) == ["x"])
    found.save(path)
    assert json.loads(path.read_text()) == json.loads(line)
    lines = json.loads(line)
    (row,) = lines.pop("explanations")
    path.write_text(json.dumps(lines) + "\n" + json.dumps(row) + "\n")
    assert apportion.load(path).values.tolist() == [[2.0, 0.5]]
    for damaged in ("", "{}", line[:100]):
        path.write_text(damaged)
        with pytest.raises(apportion.DataError):
            apportion.load(path)


def test_intervals_and_certificates(estimated, several):
    low, high = estimated.intervals(0.95)
    wider = estimated.intervals(0.99)
    assert (wider[0] <= low).all() and (low <= estimated.values).all() and (estimated.values <= high).all()
    assert np.array_equal(estimated[1].intervals()[0], low[1])
    assert (estimated[0].certificate["confidence"] == 0.95
            and estimated[0].certificate["stopped_by"] == "tolerance")
    assert np.array_equal(several.intervals()[0], several.values)
    with pytest.raises(apportion.UsageError):
        estimated.intervals(1.5)


def test_frames_and_arrow(several, estimated):
    pytest.importorskip("pandas")
    frame = several.to_frame()
    assert list(frame.columns) == ["row", "output", "base", "prediction", "a", "b", "c",
                                   "d"] and len(frame) == 18
    assert np.allclose(frame.iloc[:, 4:].sum(axis=1) + frame["base"], frame["prediction"])
    assert "std error of f3" in estimated.to_frame()
    assert len(several[0].to_frame()) == 3
    if pytest.importorskip("polars"):
        assert several.to_frame("polars").shape == (18, 8)
    if pytest.importorskip("pyarrow"):
        assert several.to_arrow().num_rows == 18


def test_what_people_see(several, estimated):
    for explanation in (several, several[0], several[0, :, "x"], estimated[0], several[:, "a"],
                        several[0, 0, 0]):
        assert "shapley" in repr(explanation) and "shapley" in explanation._repr_html_()
    assert "<script>" not in apportion.explain(
        lambda rows: rows[:, 0], np.eye(2), feature_names=["<script>", "b"])._repr_html_()


def test_damaged_files_are_refused_and_nothing_else_is_raised(tmp_path):
    """Loads files with changed bytes, or with parts removed or replaced."""
    import json
    import random

    pytest.importorskip("polars")
    rows = np.random.default_rng(0).normal(size=(5, 12))
    made = apportion.Explainer(lambda given: np.column_stack([given[:, 0] * given[:, 1], given[:, 2]]), rows,
                               method="leverage-shap", budget="3n")
    path, again = tmp_path / "found.json", tmp_path / "again.json"
    whole = made(rows[:2])
    whole.save(path)
    assert all(np.array_equal(one, other) for one,
               other in zip(whole.intervals(), apportion.load(path).intervals()))
    text = path.read_bytes()
    draw = random.Random(1)
    junk = [None, 3, -1, "x", [], {}, [1], [[1]], True, 1e400, {"a": 1}, ["a", "b"], [None], "é", [[["x"]]]]

    def damage(part):
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        if not keys:
            return
        key = draw.choice(keys)
        if isinstance(part[key], (dict, list)) and draw.random() < 0.6:
            damage(part[key])
        elif draw.random() < 0.3:
            del part[key]
        else:
            part[key] = draw.choice(junk)

    refused = 0
    for case in range(400):
        if case % 3:
            document = json.loads(text)
            damage(document)
            content = json.dumps(document).encode()
        else:
            letters = bytearray(text)
            for _ in range(draw.randrange(1, 4)):
                letters[draw.randrange(len(letters))] = draw.randrange(256)
            content = bytes(letters[: draw.choice([len(letters), draw.randrange(len(letters))])])
        path.write_bytes(content)
        try:
            found = apportion.load(path)
            (found._repr_html_(), repr(found), [repr(row) for row in found], found.intervals(),
             found.certificates, found.to_frame("polars"))
            found.save(again)
        except apportion.Error:
            refused += 1
    assert 100 < refused < 390
