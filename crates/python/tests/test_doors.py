"""The same table gives the same predictions through every interface: as a file for the command, and as a
table of each Python library.

`doors/tables.json` contains the tables with the expected predictions; `doors/models.py` makes the models,
whose predictions identify the cells that reached them. The tests of the DataFusion functions expect the same
predictions.
"""
import csv
import dataclasses
import datetime
import decimal
import json
import pathlib

import numpy as np
import pytest

import apportion
from apportion._core import option_names, run_command
from apportion._options import Options

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

HERE = pathlib.Path(__file__).parent / "doors"
TABLES = json.loads((HERE / "tables.json").read_text())
EPOCH = datetime.datetime(1970, 1, 1)
ARROW = {
    "float64": pyarrow.float64(), "float32": pyarrow.float32(), "int64": pyarrow.int64(),
    "uint64": pyarrow.uint64(), "uint8": pyarrow.uint8(),
    "bool": pyarrow.bool_(), "string": pyarrow.string(),
    "category": pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), "decimal": pyarrow.decimal128(10, 2),
    "date": pyarrow.date32(), "datetime": pyarrow.timestamp("us"), "duration": pyarrow.duration("us"),
}
POLARS = {
    "float64": polars.Float64, "float32": polars.Float32, "int64": polars.Int64, "uint64": polars.UInt64,
    "uint8": polars.UInt8, "bool": polars.Boolean,
    "string": polars.String, "category": polars.Categorical, "decimal": polars.Decimal(10, 2),
    "date": polars.Date, "datetime": polars.Datetime("us"),
    "duration": polars.Duration("us"),
}


class Cannot(Exception):
    """Raised if a library cannot store a table."""


def cell(kind, given):
    """Returns a cell as a Python object."""
    if given is None:
        return None
    if kind.startswith("float"):
        return float(np.float32(given)) if kind == "float32" else float(given)
    of = {"decimal": decimal.Decimal, "date": lambda days: EPOCH.date() + datetime.timedelta(days=days),
          "datetime": lambda moment: EPOCH + datetime.timedelta(microseconds=moment),
          "duration": lambda length: datetime.timedelta(microseconds=length)}
    return of.get(kind, lambda same: same)(given)


def columns(table):
    return [(name, kind, [cell(kind, given) for given in cells]) for name, kind, cells in table["columns"]]


def names_once(table):
    names = [name for name, _, _ in table["columns"]]
    if len(set(names)) < len(names):
        raise Cannot
    return names


def as_arrow(table):
    made = columns(table)
    arrays = [pyarrow.array(cells, ARROW[kind],
                            from_pandas=False) if kind != "category" else pyarrow.array(
                                cells, pyarrow.string()).dictionary_encode() for _, kind, cells in made]
    return pyarrow.Table.from_arrays(arrays, names=[name for name, _, _ in made])


def as_pandas(table):
    series = []
    for name, kind, cells in columns(table):
        if kind == "category":
            made = pandas.Series(pandas.Categorical(cells, categories=list(dict.fromkeys(cells))))
        elif kind in ("string", "decimal", "date"):
            made = pandas.Series(cells, dtype=object)
        elif kind == "datetime":
            made = pandas.Series(cells, dtype="datetime64[us]")
        elif kind == "duration":
            made = pandas.Series(cells, dtype="timedelta64[us]")
        elif None in cells and kind != "float64":
            made = pandas.Series(cells, dtype={"int64": "Int64", "bool": "boolean"}[kind])
        else:
            made = pandas.Series([np.nan if given is None else given for given in cells], dtype=kind)
        series.append(made.rename(name))
    return pandas.concat(series, axis=1)


def as_pandas_of_arrow(table):
    names_once(table)
    return as_arrow(table).to_pandas(types_mapper=pandas.ArrowDtype)


def as_polars(table):
    names_once(table)
    return polars.DataFrame([polars.Series(name, cells, dtype=POLARS[kind], strict=False) for name, kind,
                             cells in columns(table)])


def as_numpy(table):
    """Returns a table as an array. Arrays have no column names; arrays of doubles contain category codes, as
    the model's library expects.
    """
    kinds = {kind for _, kind, _ in table["columns"]}
    if "names" in table["kind"] or kinds & {"decimal", "date", "datetime", "duration", "category"}:
        raise Cannot
    if kinds == {"float64"} and "categories" in table["kind"]:
        raise Cannot
    made = columns(table)
    if any(kind in ("string", "bool", "int64", "uint64") or None in cells for _, kind, cells in made):
        found = np.empty((len(made[0][2]), len(made)), dtype=object)
        for place, (_, _, cells) in enumerate(made):
            found[:, place] = cells
        return found
    return np.array([cells for _, _, cells in made], dtype=np.float64).T


def of_command(write):
    def answer(table, model, folder):
        path = write(table, folder)
        out = folder / "found.json"
        out.unlink(missing_ok=True)
        status = run_command(["apportion", "explain", "--model", str(model), "--rows", str(path), "--format",
                              "json", "--out", str(out)])
        if status:
            return "refused"
        return [row["prediction"] for row in json.loads(out.read_text())["explanations"]]
    return answer


def of_python(make):
    def answer(table, model, _):
        try:
            return [float(number) for number in apportion.TreeExplainer(str(model))(make(table)).predictions]
        except apportion.Error:
            return "refused"
    return answer


def as_csv(table, folder):
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([name for name, _, _ in table["columns"]])
        writer.writerows(zip(*(["" if given is None else str(given) for given in cells] for _, _,
                               cells in columns(table))))
    return path


def as_parquet(table, folder):
    path = folder / "rows.parquet"
    parquet.write_table(as_arrow(table), path)
    return path


def as_arrow_file(table, folder):
    path = folder / "rows.arrow"
    feather.write_feather(as_arrow(table), str(path), compression="uncompressed")
    return path


def as_npy(table, folder):
    found = as_numpy(table)
    if found.dtype == object:
        kinds = {kind for _, kind, _ in table["columns"]}
        if kinds - {"float64", "int64", "uint64", "bool"} or len(kinds) > 1 and kinds != {"float64"}:
            raise Cannot
        found = np.where(np.equal(found, None), np.nan, found).astype(float)
    np.save(folder / "rows.npy", found)
    return folder / "rows.npy"


DOORS = {
    "csv": of_command(as_csv), "parquet": of_command(as_parquet), "arrow": of_command(as_arrow_file),
    "npy": of_command(as_npy),
    "numpy": of_python(as_numpy), "pandas": of_python(as_pandas),
    "pandas of pyarrow": of_python(as_pandas_of_arrow), "polars": of_python(as_polars),
    "pyarrow": of_python(as_arrow),
}


def answers(table, folder):
    """Returns the result of each interface that can store the table."""
    found = {}
    for door, answer in DOORS.items():
        try:
            found[door] = answer(table, HERE / f"{table['model'].replace(' ', '_')}.txt", folder)
        except Cannot:
            pass
    return found


@pytest.mark.parametrize("table", TABLES, ids=[table["name"] for table in TABLES])
def test_every_door_gives_the_same_answer(table, tmp_path):
    found = answers(table, tmp_path)
    assert found == dict.fromkeys(found, table["answer"])


def test_cells_that_no_number_holds_are_refused_by_name():
    explainer = apportion.TreeExplainer(str(HERE / "numbers.txt"))
    exact = explainer(pandas.DataFrame({"cell": pandas.Series([2**200, 1], dtype=object),
                                        "other": [0.5, 0.5]}))
    assert exact.predictions.tolist() == [52.0, 20.0]
    for cell, says in [(2**200 + 1, "cannot represent exactly"), (10**400, "cannot represent exactly"),
                       ("\ud800", "neither a number nor a string")]:
        with pytest.raises(apportion.DataError, match=says):
            explainer(pandas.DataFrame({"cell": pandas.Series([cell, 1], dtype=object), "other": [0.5, 0.5]}))


def test_options_of_the_library_are_those_of_the_package():
    """The command has the same test; both compare their options with the names in the Rust library."""
    of_library = {{"output": "model_output"}.get(name, name.replace("-", "_")) for name in option_names()}
    of_package = {field.name for field in dataclasses.fields(Options)}
    assert of_library <= of_package
    assert of_package - of_library == {"weights", "feature_names", "output_names", "rounds", "threads",
                                       "progress", "check", "additive"}
