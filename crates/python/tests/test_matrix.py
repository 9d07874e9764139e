"""Models receive the cells that were passed: tables of every library with cells of every kind, for functions,
pipelines and trees.
"""
import datetime
import decimal
import zlib

import numpy as np
import pytest

import apportion

pandas = pytest.importorskip("pandas")
try:
    import polars
except ImportError:
    polars = None
try:
    import pyarrow
except ImportError:
    pyarrow = None

HOUR = datetime.timedelta(hours=1)
LARGE = 2**60 + 1
KINDS = {
    "floats": [1.5, -0.0, 1e300, 2.25],
    "floats and NaN": [1.5, np.nan, 2.5, np.nan],
    "integers": [1, 2, 3, 2],
    "integers beyond 2^53": [LARGE, LARGE + 1, 5, LARGE],
    "unsigned beyond 2^63": [2**64 - 1, 2**64 - 2, 0, 1],
    "booleans": [True, False, True, True],
    "booleans and None": [True, None, False, True],
    "strings": ["a", "b", "", "a"],
    "strings and None": ["a", None, "c", None],
    "strings and NaN": ["a", np.nan, "c", "b"],
    "dates": [datetime.date(2026, 1, 1), datetime.date(2026, 2, 1), None, datetime.date(1, 1, 1)],
    "times": [datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, 0, 0, 0, 1), None,
              datetime.datetime(1999, 1, 1)],
    "durations": [HOUR, 2 * HOUR, None, HOUR / 3600],
    "decimals": [decimal.Decimal("0.10"), decimal.Decimal("0.3"), None, decimal.Decimal("7.00")],
    "integers and None": [1, None, 3, 4],
    "large integers and None": [LARGE, None, LARGE + 1, 4],
}


def pandas_series(kind, cells):
    yield "inferred", pandas.Series(cells)
    yield "objects", pandas.Series(cells, dtype=object)
    if "string" in kind:
        yield "string", pandas.Series(cells, dtype="string")
        yield "categories", pandas.Series(pandas.Categorical(cells, categories=["c", "b", "a", ""]))
        yield "ordered", pandas.Series(pandas.Categorical(
            cells, categories=["c", "b", "a", ""], ordered=True))
    if "integers" in kind:
        yield "Int64", pandas.Series(cells, dtype="Int64")
    if "unsigned" in kind:
        yield "uint64", pandas.Series(np.array(cells, dtype=np.uint64))
        yield "UInt64", pandas.Series(cells, dtype="UInt64")
    if "booleans" in kind:
        yield "boolean", pandas.Series(cells, dtype="boolean")
    if kind == "floats":
        yield "float32", pandas.Series([1.5, -0.0, 0.1, 3.0], dtype=np.float32)
        yield "NaN and NA", pandas.Series(pandas.arrays.FloatingArray(
            np.array([1.0, np.nan, 2.0, 3.0]), np.array([False, False, True, False])))
        yield "categories of numbers", pandas.Series(pandas.Categorical(
            [3, 1, None, 3], categories=[3, 2, 1]))
        yield "intervals", pandas.Series(pandas.interval_range(0, 4))
        yield "periods", pandas.Series(pandas.period_range("2026-01", periods=4, freq="M"))
        yield "lists", pandas.Series([[1], [1, 2], [], None])
        yield "any objects", pandas.Series([object(), len, KINDS, (1, "x")], dtype=object)
        yield "mixed", pandas.Series([1, True, 1.0, "1"], dtype=object)
        yield "missing of all kinds", pandas.Series([None, np.nan, pandas.NA, pandas.NaT], dtype=object)
        yield "complex", pandas.Series([1j, 2 + 0j, 3.0, 1j])
        yield "sparse", pandas.Series(pandas.arrays.SparseArray([0.0, 1.0, 0.0, 2.0]))
    if kind == "times":
        yield "zone", pandas.to_datetime(pandas.Series(cells)).dt.tz_localize("Europe/Rome")
    if "decimals" not in kind:
        yield "arrow", made(lambda: pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.array(
            cells, from_pandas=True))))


def made(make):
    """Returns a library's table of these cells; None if it cannot store them or is not installed."""
    try:
        return make()
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None


def tables(kind, cells):
    """Yields tables with this column and one of floats, from every library that can hold them."""
    other = [0.5, 1.0, 2.0, 4.0]
    for name, series in pandas_series(kind, cells):
        if series is None:
            continue
        frame = pandas.DataFrame({"cell": series, "other": other})
        frame.columns.name, frame.index.name = "features", "row"
        yield f"pandas {name}", frame
    objects = np.empty((4, 2), dtype=object)
    objects[:, 0], objects[:, 1] = cells, other
    yield "numpy objects", objects
    plain = np.array([cells, cells]).T
    if plain.dtype.kind != "O":
        yield f"numpy {plain.dtype}", plain
    if np.array(cells).dtype.kind not in "fiub":
        # Lists that contain only numbers are treated as arrays.
        yield "lists", [[cell, number] for cell, number in zip(cells, other)]
    if kind == "times":
        yield "numpy datetime64", np.array([cells, cells], dtype="datetime64[us]").T
        yield "numpy datetime64[ns]", np.array([[1, 2], [3, 4], [5, 6], [-7, 8]], dtype="datetime64[ns]")
    if polars is not None:
        frame = made(lambda: polars.DataFrame({"cell": cells, "other": other}, strict=False))
        yield "polars", frame
        yield "polars, lazy", made(lambda: frame.lazy())
        if "string" in kind and "NaN" not in kind:
            yield "polars categories", frame.with_columns(polars.col("cell").cast(polars.Categorical))
            yield "polars enum", frame.with_columns(polars.col("cell").cast(polars.Enum(["c", "b", "a", ""])))
        if kind == "floats":
            yield "polars NaN and null", polars.DataFrame({
                "cell": [1.0, float("nan"), None, 2.0], "other": other})
            yield "polars lists", polars.DataFrame({"cell": [[1], [1, 2], [], None], "other": other})
            yield "polars float32", frame.with_columns(polars.col("other").cast(polars.Float32))
    if pyarrow is not None:
        table = made(lambda: pyarrow.table({"cell": pyarrow.array(cells, from_pandas="NaN" not in kind),
                                            "other": other}))
        yield "pyarrow", table
        yield "pyarrow batch", made(lambda: table.to_batches()[0])
        if kind == "strings":
            yield "pyarrow dictionary", pyarrow.table({
                "cell": pyarrow.array(cells).dictionary_encode(), "other": other})
            yield "pyarrow chunks", pyarrow.concat_tables([table.slice(0, 1), table.slice(1)])
        if kind == "floats":
            yield "pyarrow NaN and null", pyarrow.table({
                "cell": [1.0, float("nan"), None, 2.0], "other": other})
            yield "pyarrow structs", pyarrow.table({
                "cell": [{"a": 1}, {"a": None}, None, {"a": 2}], "other": other})


MEMBERS = [pytest.param(table, id=f"{kind}: {name}") for kind, cells in KINDS.items() for name,
           table in tables(kind, cells)
           if table is not None]


def rows_of(table):
    """Returns the cells of a table (row by row, as objects), and the types and names of its columns."""
    if isinstance(table, pandas.DataFrame):
        columns = [list(table[name].array) for name in table.columns]
        return list(zip(*columns)), [str(dtype) for dtype in table.dtypes], (
            list(table.columns), table.columns.name, table.index.name)
    if isinstance(table, (list, np.ndarray)):
        array = table if isinstance(table, np.ndarray) else None
        return [tuple(row) for row in table], [str(array.dtype.kind)] if array is not None else [], None
    if hasattr(table, "collect"):
        rows, types, names = rows_of(table.collect())
        return rows, types, ("lazy", names)
    if hasattr(table, "to_pylist"):
        return [tuple(row.values()) for row in table.to_pylist()], [
            str(field.type) for field in table.schema], table.schema.names
    return table.rows(), [str(dtype) for dtype in table.dtypes], table.columns


def number_of(cell):
    """Returns a number that differs for cells that a model can distinguish."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    return zlib.crc32(f"{type(cell).__name__} {cell!r}".encode()) / 2**32


def joined(background, x, row, other, mask):
    """Returns the cells of a coalition: row `row` of x if a player is in the mask, else the background's."""
    return tuple(x[row][place] if mask >> place & 1 else background[other][place] for place in range(2))


@pytest.mark.parametrize("table", MEMBERS)
def test_functions_see_the_cells_that_they_were_given(table, enumerated):
    given, types, names = rows_of(table)
    cells = {(place, number_of(cell)) for row in given for place, cell in enumerate(row)}
    seen = []

    def model(rows):
        found, kinds, columns = rows_of(rows)
        seen.append((kinds == types or not types, columns == names,
                     {(place, number_of(cell)) for row in found for place, cell in enumerate(row)} <= cells))
        return np.array([number_of(row[0]) * (1 + number_of(row[1])) for row in found])

    explanation = apportion.Explainer(model, table)(table)
    assert set(seen) == {(True, True, True)}
    assert np.allclose(explanation.predictions,
                       [number_of(row[0]) * (1 + number_of(row[1])) for row in given])
    for row in range(4):
        def worth(mask):
            mixed = [joined(given, given, row, other, mask) for other in range(4)]
            return np.mean([number_of(cells[0]) * (1 + number_of(cells[1])) for cells in mixed])

        assert np.abs(explanation.values[row] - enumerated(worth, 2)).max() < 1e-12


@pytest.mark.parametrize("table",
                         [member for member in MEMBERS if "pandas" in member.id
                          or "polars" in member.id][::3])
def test_further_rows_may_have_cells_that_the_background_lacks(table):
    if hasattr(table, "iloc"):
        first, rest = table.iloc[:1], table.iloc[1:]
    else:
        first, rest = table.head(1), table.tail(3)
    given, _, _ = rows_of(table)

    def model(rows):
        return np.array([number_of(row[0]) * (1 + number_of(row[1])) for row in rows_of(rows)[0]])

    explanation = apportion.Explainer(model, first)(rest)
    assert np.allclose(explanation.predictions,
                       [number_of(row[0]) * (1 + number_of(row[1])) for row in given[1:]])
    assert explanation.additivity_gap() < 1e-12


# Pipelines, as functions and as exact sums of trees, and trees.

COUNT = 60


def frames():
    random = np.random.default_rng(4)
    words = random.choice(["a", "b", "c"], COUNT)
    numbers, whole = random.normal(size=COUNT), random.integers(0, 5, COUNT)
    holed = words.astype(object)
    holed[::7] = None
    target = numbers + 2.0 * (words == "a") + whole * (numbers > 0) + 3.0 * (np.arange(COUNT) % 7 == 0)
    base = dict(number=numbers, whole=whole)
    yield "strings", pandas.DataFrame({"word": words.astype(object), **base}), target
    yield "strings and None", pandas.DataFrame({"word": pandas.Series(holed, dtype=object), **base}), target
    yield "strings and NaN", pandas.DataFrame({"word": pandas.Series(np.where(
        pandas.isna(holed), np.nan, holed), dtype=object), **base}), target
    yield "string dtype", pandas.DataFrame({
        "word": pandas.Series(list(words), dtype="string"), **base}), target
    yield "booleans", pandas.DataFrame({"word": words == "a", **base}), target
    yield "NaN in numbers", pandas.DataFrame({
        "word": words.astype(object), "number": np.where(np.arange(COUNT) % 5, numbers, np.nan),
        "whole": whole}), target
    yield "float32", pandas.DataFrame({"word": words.astype(object), "number": numbers.astype(np.float32),
                                       "whole": whole.astype(np.int8)}), target


FRAMES = [pytest.param(frame, target, id=name) for name, frame, target in frames()]


@pytest.mark.parametrize("frame, target", FRAMES)
@pytest.mark.parametrize("kind", ["asked", "exact linear", "exact trees", "boosted"])
def test_pipelines_are_explained_as_they_predict(frame, target, kind, enumerated):
    pytest.importorskip("sklearn")
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeRegressor

    # Use the missing value of this column, because the imputer recognizes only one kind.
    word = frame["word"]
    marker = next((cell for cell in word if cell is None or cell is pandas.NA or cell != cell), np.nan)
    if str(word.dtype) == "string" or word.dtype == bool:
        frame = frame.assign(word=word.astype(object))
    words = make_pipeline(SimpleImputer(missing_values=marker, strategy="constant", fill_value="?"),
                          OneHotEncoder(handle_unknown="ignore"))
    if frame["word"].map(lambda cell: isinstance(cell, bool)).all():
        words = OneHotEncoder(handle_unknown="ignore")
    steps = make_column_transformer((words, ["word"]), (SimpleImputer(), ["number"]), remainder="passthrough",
                                    sparse_threshold=0)
    last = {"asked": KNeighborsRegressor(3), "exact linear": Ridge(),
            "exact trees": DecisionTreeRegressor(max_depth=5, random_state=0),
            "boosted": HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=3)}[kind]
    model = make_pipeline(steps, last).fit(frame, target)
    background, rows = frame[:7], frame[20:29]
    explainer = apportion.Explainer(model, background)
    found = explainer(rows)
    assert np.allclose(found.predictions, model.predict(rows), atol=1e-9)
    row = rows.iloc[[0]]

    def worth(mask):
        mixed = background.copy()
        for place, name in enumerate(frame.columns):
            if mask >> place & 1:
                mixed[name] = pandas.Series([row[name].iloc[0]] * len(mixed), index=mixed.index,
                                            dtype=frame[name].dtype)
        return model.predict(mixed).mean()

    assert np.abs(found.values[0] - enumerated(worth, 3)).max() < 1e-9
    asked = apportion.Explainer(model.predict, background)(rows)
    assert np.abs(asked.values - found.values).max() < 1e-9


def tree_frame():
    random = np.random.default_rng(5)
    words = random.choice(["a", "b", "c"], COUNT)
    frame = pandas.DataFrame({
        "float": random.normal(size=COUNT),
        "holed": np.where(random.random(COUNT) < 0.3, np.nan, random.normal(size=COUNT)),
        "whole": random.integers(0, 5, COUNT), "large": 2**10 * random.integers(2**44, 2**50, COUNT),
        "bool": random.random(COUNT) > 0.5,
        "word": pandas.Categorical(words),
        "ordered": pandas.Categorical(words[::-1], categories=["c", "a", "b"], ordered=True),
    })
    target = frame["float"] + frame["holed"].fillna(3.0) + (words == "a") + 2.0 * (
        words[::-1] == "c") * frame["bool"] + frame["whole"] + frame["large"] / 2**60
    return frame, target.to_numpy(dtype=float)


def same_rows(frame):
    """Yields the rows of a frame in every library and in other types."""
    yield "pandas", frame
    words = {name: frame[name].astype(str).astype(object) for name in ("word", "ordered")}
    yield "objects", frame.assign(**words).astype(object)
    yield "nullable", frame.assign(**words).convert_dtypes()
    yield "array of objects", frame.astype(object).to_numpy()
    yield "lists", frame.astype(object).to_numpy().tolist()
    columns = {name: [None if cell != cell else cell for cell in frame[name].astype(object).tolist()]
               for name in frame}
    if polars is not None:
        yield "polars", polars.DataFrame(columns)
        yield "polars, lazy", polars.DataFrame(columns).lazy()
        yield "polars categories", polars.DataFrame(columns).with_columns(
            polars.col("word").cast(polars.Categorical))
    if pyarrow is not None:
        yield "pyarrow", pyarrow.table(columns)
        yield "pyarrow batch", pyarrow.table(columns).to_batches()[0]
        yield "pyarrow of pandas", pyarrow.Table.from_pandas(frame)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_trees_of_every_kind_of_rows_are_those_of_the_training(library, enumerated):
    own = pytest.importorskip(library)
    frame, target = tree_frame()
    model = {"xgboost": lambda: own.XGBRegressor(
        n_estimators=8, max_depth=4, n_jobs=1, enable_categorical=True, tree_method="hist"),
             "lightgbm": lambda: own.LGBMRegressor(
                 n_estimators=8, n_jobs=1, verbose=-1, min_child_samples=3)}[library]().fit(frame, target)
    if apportion.Ensemble(model).features_with_words == [] and library == "xgboost":
        pytest.skip("this xgboost does not store the words of its categories")
    background, rows = frame[:9], frame[20:30]
    wanted = apportion.TreeExplainer(model, background)(rows)
    assert np.allclose(wanted.predictions, model.predict(rows), rtol=1e-5, atol=1e-5)
    row = rows.iloc[[0]]

    def worth(mask):
        mixed = background.copy()
        for place, name in enumerate(frame.columns):
            if mask >> place & 1:
                mixed[name] = pandas.Series([row[name].iloc[0]] * len(mixed), index=mixed.index,
                                            dtype=frame[name].dtype)
        return model.predict(mixed).mean()

    assert np.abs(wanted.values[0] - enumerated(worth, len(frame.columns))).max() < 1e-4
    for (name, given), (_, behind) in zip(same_rows(rows), same_rows(background)):
        explainers = [apportion.TreeExplainer(model, background)]
        if library == "lightgbm" and name != "pandas":
            # Only a training frame shows which columns have ordered categories; the file does not.
            with pytest.raises(apportion.DataError, match="no categories for this column"):
                apportion.TreeExplainer(model, behind)
        else:
            explainers.append(apportion.TreeExplainer(model, behind))
        for found in (explainer(given) for explainer in explainers):
            assert np.array_equal(found.values, wanted.values), name


@pytest.mark.parametrize("kind", ["exact", "asked"])
def test_pipelines_take_rows_of_every_library(kind):
    pytest.importorskip("sklearn")
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import Ridge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame, target = tree_frame()
    frame = frame[["float", "whole", "bool", "word"]].astype({"word": object})
    steps = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["word"]),
                                    remainder="passthrough", sparse_threshold=0)
    model = make_pipeline(steps, Ridge() if kind == "exact" else KNeighborsRegressor(3)).fit(frame, target)
    background, rows = frame[:9], frame[20:30]
    explainer = apportion.Explainer(model, background)
    assert (explainer.ensemble is not None) == (kind == "exact")
    wanted = explainer(rows)
    assert np.allclose(wanted.predictions, model.predict(rows))
    columns = rows.to_dict("list")
    others = [rows.astype(object), rows.convert_dtypes(),
              rows[["word", "bool", "whole", "float"]].assign(more=1), rows.astype(object).to_numpy()]
    others += [] if polars is None else [polars.DataFrame(columns), polars.DataFrame(columns).lazy()]
    others += [] if pyarrow is None else [pyarrow.table(columns), pyarrow.table(columns).to_batches()[0]]
    for given in others:
        assert np.allclose(explainer(given).values, wanted.values, atol=1e-12), type(given)
