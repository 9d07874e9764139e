"""Results of the command, of every kind and in every format, read by every reader: `apportion.load`, pandas,
pyarrow, NumPy, figures and reports; and the files that Python saves.
"""
import io
import json

import numpy as np
import pytest

import apportion
from apportion._core import run_command

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

NAMES = ["age", "income", "size", "city"]
KINDS = {
    "values": [],
    "estimates": ["--method", "permutation", "--budget", "9"],
    "until": ["--method", "permutation", "--until", "0.2", "--budget", "4000"],
    "banzhaf": ["--value", "banzhaf"],
    "groups": ["--value", "quotient-shapley", "--groups", "{groups}"],
    "pairs": ["--interactions"],
    "remainder": ["--interactions=remainder"],
    "indices": ["--interactions=shapley", "--order", "2"],
    "top": ["--top", "2"],
    "summary": ["--summary"],
}
WHOLE = ["values", "estimates", "until", "banzhaf", "groups", "pairs", "remainder"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    rows = np.random.default_rng(0).normal(size=(12, 4)).round(3)
    lines = ([",".join(["name", *NAMES])] + [",".join([f"row {place}", *map(str, row)])
                                             for place, row in enumerate(rows)])
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")

    (folder / "groups.json").write_text(json.dumps([["age", "income"], ["size", "city"]]))
    return folder


@pytest.fixture(scope="module")
def model(folder):
    lightgbm = pytest.importorskip("lightgbm")
    table = pandas.read_csv(folder / "rows.csv").drop(columns="name").to_numpy()
    rows = np.concatenate([table] * 10) + np.random.default_rng(1).normal(size=(120, 4)) * 0.3
    classes = (rows[:, 0] * rows[:, 1] > 0).astype(int) + (rows[:, 2] + rows[:, 3] > 0.5)
    path = {}
    for name, target, objective in (("one", rows[:, 0] * rows[:, 1] + rows[:, 3], "regression"),
                                    ("three", classes, "multiclass")):
        options = dict(objective=objective, num_leaves=6, min_data_in_leaf=4, verbose=-1, seed=0,
                       num_threads=1)
        options.update(num_class=3) if objective == "multiclass" else None
        data = lightgbm.Dataset(rows, target, feature_name=NAMES, free_raw_data=False)
        lightgbm.train(options, data, 4).save_model(folder / f"{name}.txt")
        path[name] = folder / f"{name}.txt"
    return path


def explained(folder, model, kind, form):
    """Writes results of one kind in one format; returns the path."""
    out = folder / f"{model.stem}-{kind}.{form}"
    options = [option.format(groups=folder / "groups.json") for option in KINDS[kind]]
    # Arrays store numbers only.
    names = ["--ignore" if form in ("npy", "npz") else "--id", "name"]
    status = run_command(["apportion", "explain", "--model", str(model), "--rows", str(folder / "rows.csv"),
                          *names, "--game", "marginal", "--format", form, "--out", str(out), *options])
    assert status == 0
    return out


@pytest.fixture(scope="module", params=["one", "three"])
def made(request, folder, model):
    return folder, model[request.param]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_has_the_numbers_of_json(made, kind):
    folder, model = made
    document = json.loads(explained(folder, model, kind, "json").read_text())
    lines = [json.loads(line) for line in explained(folder, model, kind, "jsonl").read_text().splitlines()]
    rows = document.pop("summary" if kind == "summary" else "explanations")
    assert lines == [document, *rows]
    tables = {form: explained(folder, model, kind, form) for form in ("csv", "parquet", "arrow", "feather")}
    stream = pyarrow.ipc.open_stream(io.BytesIO(tables["arrow"].read_bytes()))
    frames = {"csv": pandas.read_csv(tables["csv"], float_precision="round_trip"),
              "parquet": parquet.read_table(tables["parquet"]).to_pandas(),
              "arrow": stream.read_all().to_pandas(),
              "feather": feather.read_table(tables["feather"]).to_pandas()}
    for form, frame in frames.items():
        assert list(frame.columns) == list(frames["csv"].columns), form
        for name in frame.columns:
            if frame[name].dtype.kind in "fiu":
                assert np.array_equal(frame[name].to_numpy(float), frames["csv"][name].to_numpy(float),
                                      equal_nan=True), (form, name)
            else:
                own, other = map(str, frame[name]), map(str, frames["csv"][name])
                assert list(own) == list(other), (form, name)
    for form, metadata in (("parquet", parquet.read_metadata(tables["parquet"]).metadata),
                           ("feather", pyarrow.ipc.open_file(tables["feather"]).schema.metadata)):
        assert json.loads(metadata[b"apportion"]) == document, form
    if kind in WHOLE:
        values = np.array([row["values"] for row in rows])
        assert np.array_equal(np.load(explained(folder, model, kind, "npy")), values)
        archive = np.load(explained(folder, model, kind, "npz"))
        assert np.array_equal(archive["values"], values) and json.loads(str(archive["about"][0])) == document
        assert np.array_equal(archive["base_values"], [row["base"] for row in rows])
        assert list(archive["feature_names"]) == document["features"]


@pytest.mark.parametrize("kind", WHOLE)
def test_python_reads_and_writes_what_the_command_does(made, kind):
    folder, model = made
    for form in ("json", "jsonl"):
        path = explained(folder, model, kind, form)
        loaded = apportion.load(path)
        document = json.loads(explained(folder, model, kind, "json").read_text())
        rows = document["explanations"]
        assert np.array_equal(loaded.values, [row["values"] for row in rows])
        assert loaded.index == [row["id"] for row in rows] and loaded.feature_names == document["features"]
        saved = folder / "saved.json"
        loaded.save(saved)
        again = json.loads(saved.read_text())
        assert again["explanations"] == rows
        assert {name: again[name] for name in document} == document
    frame = loaded.to_frame()
    table = pandas.read_csv(explained(folder, model, kind, "csv"), float_precision="round_trip")
    shared = [name for name in frame.columns if name in table.columns]
    assert set(loaded._player_names()) <= set(shared)
    for name in shared:
        written = table[name].tolist()
        cells = frame[name].tolist() if frame[name].dtype == object else frame[name].to_numpy().tolist()
        assert cells == written or list(map(str, frame[name])) == list(map(str, written)), name


@pytest.mark.parametrize("kind", WHOLE)
def test_figures_and_reports_read_what_either_writes(made, kind):
    folder, model = made
    path, saved = explained(folder, model, kind, "json"), folder / "saved.json"
    apportion.load(path).save(saved)
    pages = []
    for results in (path, saved, explained(folder, model, kind, "jsonl")):
        out = folder / "page.html"
        assert run_command(["apportion", "report", "--in", str(results), "--out", str(out)]) == 0
        pages.append(out.read_text().replace(results.name, "results"))
        figure = folder / "figure.csv"
        assert run_command(["apportion", "plot", "bar", "--in", str(results), "--out", str(figure)]) == 0
        assert len(figure.read_text().splitlines()) > 2
    assert len(set(pages)) == 1


@pytest.mark.parametrize("kind", ["top", "summary", "indices"])
def test_results_without_all_values_are_refused(made, kind, capfd):
    folder, model = made
    path = explained(folder, model, kind, "json")
    said = "a summary over all rows" if kind == "summary" else "does not contain all values of each row"
    for form in ("json", "jsonl"):
        with pytest.raises(apportion.DataError, match=said):
            apportion.load(explained(folder, model, kind, form))
    capfd.readouterr()
    assert run_command(["apportion", "report", "--in", str(path), "--out", str(folder / "none.html")]) == 1
    assert not (folder / "none.html").exists()
    assert capfd.readouterr().err.startswith("error: ")
