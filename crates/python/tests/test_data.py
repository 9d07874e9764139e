"""Rows in every container give the same values, and the error for unusable rows states what is wrong."""
import warnings

import numpy as np
import pytest

import apportion


@pytest.fixture(scope="module")
def explainer(booster):
    return apportion.TreeExplainer(booster)


@pytest.fixture(scope="module")
def plain(numbers):
    xgboost = pytest.importorskip("xgboost")
    return apportion.TreeExplainer(xgboost.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1).fit(*numbers))


def frames(rows):
    yield "categories", rows
    yield "strings", rows.assign(colour=rows["colour"].astype(str))
    yield "objects", rows.assign(colour=rows["colour"].astype(object))
    yield "nullable", rows.convert_dtypes()
    yield "reordered", rows[["new", "rooms", "colour", "size"]].assign(more="x")
    try:
        import pyarrow
    except ImportError:
        return
    yield "arrow types", rows.convert_dtypes(dtype_backend="pyarrow")
    yield "pyarrow", pyarrow.Table.from_pandas(rows)

    class Stream:
        def __arrow_c_stream__(self, schema=None):
            return pyarrow.Table.from_pandas(rows).__arrow_c_stream__(schema)

    yield "stream", Stream()
    try:
        import polars
    except ImportError:
        return
    yield "polars", polars.from_pandas(rows)
    yield "polars categories", polars.from_pandas(
        rows.assign(colour=rows["colour"].astype(str))).with_columns(
            polars.col("colour").cast(polars.Categorical))


def test_frames_of_every_kind_give_the_same(frame, explainer):
    rows, _ = frame
    wanted = explainer(rows).values
    for name, given in frames(rows):
        found = explainer(given)
        assert np.array_equal(found.values, wanted), name
        assert found.feature_names == ["size", "colour", "rooms", "new"], name
        assert found[0, "colour"].display_data is not None


def test_missing_values_of_every_kind_are_missing(frame, explainer):
    pandas = pytest.importorskip("pandas")
    rows, _ = frame
    holed = rows.astype({"colour": object})[:6].copy()
    holed.loc[1, "colour"] = None
    holed.loc[2, "size"] = np.nan
    codes = np.column_stack([holed["size"],
                             pandas.Categorical(holed["colour"], categories=["blue", "green", "red"]).codes,
                             holed["rooms"], holed["new"]])
    codes = codes.astype(float)
    codes[codes[:, 1] < 0, 1] = np.nan
    wanted = explainer(codes).values
    for given in (holed, holed.convert_dtypes()):
        assert np.array_equal(explainer(given).values, wanted)


def test_arrays_of_every_kind_give_the_same(numbers, plain):
    rows = np.round(numbers[0] * 4)
    wanted = plain(rows).values
    kinds = [np.asfortranarray(rows), rows.astype(np.float32), rows.astype(np.int64), rows.astype(object),
             rows.astype(str), rows.tolist(),
             np.repeat(rows, 2, axis=0)[::2], rows.astype(">f8")]
    for given in kinds:
        assert np.array_equal(plain(given).values, wanted)
    assert plain(rows[0]).values.shape == (1, 4)


def test_what_is_masked_is_missing(numbers, plain):
    rows = np.round(numbers[0][:6] * 4)
    mask = np.arange(rows.size).reshape(rows.shape) % 5 == 0
    wanted = plain(np.where(mask, np.nan, rows)).values
    assert not np.array_equal(wanted, plain(rows).values)
    for kind in (float, int, object):
        assert np.array_equal(plain(np.ma.masked_array(rows.astype(kind), mask)).values, wanted)
    assert np.array_equal(plain(np.ma.masked_array(rows)).values, plain(rows).values)


def test_the_data_of_an_explanation_is_its_own(numbers, plain):
    rows = numbers[0].copy()
    found = plain(rows)
    assert not np.shares_memory(found.data, rows)
    rows[:] = 0.0
    assert np.array_equal(found.data, numbers[0])


def test_the_index_is_kept(frame, explainer):
    rows, _ = frame
    named = rows[:3].set_axis(["x", "y", "z"])
    found = explainer(named)
    assert list(found.index) == ["x", "y", "z"] and list(found.to_frame().index) == ["x", "y", "z"]


def test_rows_that_cannot_be_used(frame, explainer, plain):
    rows, _ = frame
    for given, says in [
        (rows.rename(columns={"size": "sise"}), 'rename the column "sise" if it is the feature "size"'),
        (rows[["size"]], "3 of the 4 features of the model are missing from the 1 column"),
        (rows.assign(colour="redd"), 'did you mean "red"'),
        (rows.assign(size="tall"), "which is not a number"),
        (rows.assign(size=[{}] * len(rows)), "objects"),
        (rows.assign(size=1j), "complex"),
        (rows.assign(colour=1j), "complex"),
        (rows[["size", "size", "colour", "rooms", "new"]], 'duplicate column name "size"'),
        (np.zeros((2, 3)), "X: expected 4 feature columns, found 3"),
        (np.zeros((2, 2, 2)), "is a 3-D array"),
        (np.zeros((2, 4), dtype=complex), "complex"),
    ]:
        with pytest.raises(apportion.DataError, match=says):
            explainer(given)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(apportion.DataError, match="times"):
        explainer(rows.assign(size=pandas.Timestamp("2026-01-01")))


def test_no_rows_are_no_explanations(plain):
    assert plain(np.zeros((0, 4))).values.shape == (0, 4)


def test_whole_numbers_beyond_doubles_are_rounded_in_every_library():
    pandas, pyarrow, polars = (pytest.importorskip(name) for name in ("pandas", "pyarrow", "polars"))
    large = np.array([2**61 + 1, -(2**55) - 1])
    explainer = apportion.Explainer(lambda rows: rows[:, 0] / 2**50, np.zeros((1, 1)),
                                    feature_names=["large"])
    wanted = explainer(large[:, None].astype(float)).values
    for given in (pandas.DataFrame({"large": large}), pyarrow.table({"large": large}),
                  polars.DataFrame({"large": large})):
        assert np.array_equal(explainer(given).values, wanted)


def test_words_that_xgboost_cuts_wrongly_are_found_again():
    xgboost = pytest.importorskip("xgboost")
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    categories = ["f\u00e95", "1", "2", "3"]
    frame = pandas.DataFrame({"c": pandas.Categorical(random.choice(categories, 300), categories=categories),
                              "x": random.normal(size=300)})
    booster = xgboost.train({"nthread": 1},
                            xgboost.DMatrix(frame, frame.c.cat.codes * 2.0 + frame.x,
                                            enable_categorical=True), 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", apportion.ModelWarning)
        found = apportion.TreeExplainer(booster)(frame[:20])
    predicted = booster.predict(xgboost.DMatrix(frame[:20], enable_categorical=True), output_margin=True)
    np.testing.assert_allclose(found.values.sum(1) + found.base_values, predicted, rtol=1e-5)


def test_what_is_added_to_rows_alone_is_refused(numbers):
    xgboost = pytest.importorskip("xgboost")
    rows, target = (np.asarray(part, dtype=np.float64) for part in numbers)
    booster = xgboost.train({"nthread": 1}, xgboost.DMatrix(rows, target), 2)
    explainer = apportion.TreeExplainer(booster)
    assert explainer(xgboost.DMatrix(rows)).values.shape == rows.shape
    with pytest.raises(apportion.DataError, match="has a base_margin"):
        explainer(xgboost.DMatrix(rows, base_margin=target))
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostRegressor(iterations=2, verbose=0, thread_count=1,
                                       allow_writing_files=False).fit(rows, target)
    explainer = apportion.TreeExplainer(model)
    assert explainer(catboost.Pool(rows)).values.shape == rows.shape
    with pytest.raises(apportion.DataError, match="with a baseline"):
        explainer(catboost.Pool(rows, baseline=target))


def test_threads_are_none_or_a_few():
    for threads in (-1, 1025):
        with pytest.raises(apportion.UsageError, match="between 0 and 1024"):
            apportion.explain(lambda rows: rows.sum(1), np.ones((2, 3)), np.zeros((1, 3)), threads=threads)
