"""Random data frames: each is explained, with values that sum to the prediction minus the base value, or the
error states what is wrong with it.
"""
import datetime
import decimal
import os
import warnings

import numpy as np
import pytest

import apportion

hypothesis = pytest.importorskip("hypothesis")
pandas = pytest.importorskip("pandas")
from hypothesis import strategies as one_of  # noqa: E402

# Number of cases; set as in APPORTION_CASES=10000 pytest crates/python/tests/test_frames.py
CASES = int(os.environ.get("APPORTION_CASES", 300))
CALM = hypothesis.settings(max_examples=CASES, deadline=None, derandomize=CASES == 300,
                           suppress_health_check=list(hypothesis.HealthCheck))

KINDS = {
    "f64": lambda r, n: r.normal(size=n) * 10,
    "f32": lambda r, n: r.normal(size=n).astype(np.float32),
    "f16": lambda r, n: r.normal(size=n).astype(np.float16),
    "huge": lambda r, n: r.choice([1e308, -1e308, 5e-324, 0.0, -0.0], n),
    "i64": lambda r, n: r.integers(-3, 9, n),
    "u8": lambda r, n: r.integers(0, 9, n).astype(np.uint8),
    "beyond 2^53": lambda r, n: r.integers(2**60, 2**62, n),
    "bool": lambda r, n: r.random(n) > 0.5,
    "words": lambda r, n: r.choice(["x", "y", "z"], n),
    "categories": lambda r, n: pandas.Categorical(r.choice(["x", "y", "z", "w"], n)),
    "ordered": lambda r, n: pandas.Categorical(
        r.choice(["x", "y"], n), categories=["y", "x", "z"], ordered=True),
    "categories of numbers": lambda r, n: pandas.Categorical(r.choice([1, 2, 3], n)),
    "nullable numbers": lambda r, n: pandas.array(list(r.choice([1, 2, None], n)), dtype="Int64"),
    "nullable words": lambda r, n: pandas.array(list(r.choice(["x", None], n)), dtype="string"),
    "nullable booleans": lambda r, n: pandas.array(list(r.choice([True, False, None], n)), dtype="boolean"),
    "times": lambda r, n: pandas.to_datetime(r.integers(0, 10**18, n)),
    "lengths of time": lambda r, n: pandas.to_timedelta(r.integers(0, 10**15, n)),
    "times with zones": lambda r, n: pandas.to_datetime(r.integers(0, 10**18, n)).tz_localize("UTC"),
    "dates": lambda r, n: np.array([datetime.date(2020, 1, 1)] * n + [None], dtype=object)[:n],
    "dictionaries": lambda r, n: np.array([{} for _ in range(n)] + [None], dtype=object)[:n],
    "mixed": lambda r, n: np.array(list(r.choice(np.array([1, "x", None, 2.5], dtype=object), n)) + [None],
                                   dtype=object)[:n],
    "decimals": lambda r, n: np.array([decimal.Decimal(int(x)) for x in r.integers(0, 9, n)] + [None],
                                      dtype=object)[:n],
    "infinite": lambda r, n: r.choice([np.inf, -np.inf, 1.0], n),
    "with holes": lambda r, n: r.choice([np.nan, 1.0, 2.0], n),
    "complex": lambda r, n: r.normal(size=n) + 1j,
    "sparse": lambda r, n: pandas.arrays.SparseArray(r.choice([0.0, 1.0], n)),
    "periods": lambda r, n: pandas.period_range("2020-01", periods=n, freq="M"),
    "bytes": lambda r, n: np.array([b"x"] * n + [None], dtype=object)[:n],
}
try:
    import pyarrow

    KINDS["f64 of Arrow"] = lambda r, n: pandas.array(r.normal(size=n), dtype="float64[pyarrow]")
    KINDS["words of Arrow"] = lambda r, n: pandas.array(
        list(r.choice(["x", "y"], n)), dtype="string[pyarrow]")
    KINDS["dictionaries of Arrow"] = lambda r, n: pandas.Series(
        pyarrow.array(list(r.choice(["x", "y"],
                                    n))).dictionary_encode().to_pandas()).array if n else r.normal(size=n)
except ImportError:
    pyarrow = None

NAMES = ["size", "colour", "rooms", "new", "Size", "size ", "other", 1, None, ("a", "b"), "=cmd()", "<b>",
         "名"]


@pytest.fixture(scope="module")
def models(frame, booster):
    lightgbm = pytest.importorskip("lightgbm")
    rows, targets = frame
    other = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1, min_child_samples=3).fit(
        rows, targets)
    return [apportion.TreeExplainer(booster), apportion.TreeExplainer(other),
            apportion.TreeExplainer(booster, rows[:10])]


def column(draw, count):
    return KINDS[draw(one_of.sampled_from(sorted(KINDS)))](np.random.default_rng(draw(one_of.integers(
        0, 999))), count)


def in_form(form, frame):
    """Converts the rows to another library if that can store them."""
    try:
        if form == "polars":
            return pytest.importorskip("polars").from_pandas(frame)
        if form == "arrow" and pyarrow is not None:
            return pyarrow.Table.from_pandas(frame)
    except Exception:
        return frame
    return {"backwards": frame[::-1], "objects": frame.astype(object), "array": frame.to_numpy()}.get(
        form, frame)


FORMS = one_of.sampled_from(["pandas", "pandas", "backwards", "objects", "array", "polars", "arrow"])


@CALM
@hypothesis.given(data=one_of.data())
def test_trees_explain_any_frame_or_say_why_not(data, frame, models):
    draw, (rows, _) = data.draw, frame
    count = draw(one_of.integers(0, 5))
    columns = {}
    for name in (draw(one_of.permutations(list(rows.columns)))
                 if draw(one_of.booleans()) or draw(one_of.booleans()) else []):
        columns[name] = rows[name].array[:count] if draw(one_of.integers(0, 3)) else column(draw, count)
    for _ in range(draw(one_of.integers(0, 1 if columns else 4))):
        columns[draw(one_of.sampled_from(NAMES))] = column(draw, count)
    given = in_form(draw(FORMS), pandas.DataFrame(columns))
    try:
        found = draw(one_of.sampled_from(models))(given)
    except apportion.InternalError:
        raise
    except apportion.Error as error:
        assert len(str(error)) > 10
        return
    assert len(found) == count and found.additivity_gap() <= 1e-6


def told(cell):
    """Returns a number for any cell, the same for equivalent cells."""
    if cell is None or cell is pandas.NA or cell is pandas.NaT or cell != cell:
        return 0.5
    if isinstance(cell, (bool, np.bool_, int, float, np.number, decimal.Decimal)):
        return float(np.tanh(float(cell) / 10))
    return sum(map(ord, str(cell))) % 7 / 7


@CALM
@hypothesis.given(data=one_of.data())
def test_functions_of_frames_explain_any_frame_or_say_why_not(data):
    draw = data.draw
    count = draw(one_of.integers(1, 4))
    names = draw(one_of.lists(one_of.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    rows = pandas.DataFrame({name: column(draw, count) for name in names})

    def model(given):
        return np.array([np.prod([1 + told(cell) for cell in row]) for row in given.itertuples(
            index=False, name=None)])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = apportion.Explainer(model, rows)(rows)
        except apportion.InternalError:
            raise
        except apportion.Error as error:
            assert len(str(error)) > 10
            return
    assert found.additivity_gap() <= 1e-9
    assert np.allclose(found.predictions, model(rows), rtol=1e-12)
