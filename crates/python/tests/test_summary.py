"""Summaries of values: exact sums and counts, the same bytes for any split and order."""
import copy
import fractions
import gzip
import importlib.util
import itertools
import json
import math
import pathlib
import pickle

import numpy as np
import pytest

import apportion

pyarrow = pytest.importorskip("pyarrow")
NAMES = ["a", "b", "c"]
FIXTURES = pathlib.Path(__file__).parents[2] / "results/tests/fixtures"


def results_of(rows, model=lambda rows: rows[:, 0] * 1e-3 + rows[:, 1] * 1e9 + rows[:, 2] * rows[:, 0],
               layout="columns", **more):
    table = pyarrow.table({name: rows[:, place] for place, name in enumerate(NAMES)})
    batches = table.to_batches(max_chunksize=37) or [pyarrow.RecordBatch.from_pylist([], schema=table.schema)]
    return list(apportion.explain_batches(batches, model, np.zeros((1, 3)), layout=layout, **more))


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(2)
    # Use values of all magnitudes, so that sums of doubles depend on their order.
    return random.normal(size=(500, 3)) * 10.0 ** random.integers(-12, 12, (500, 3))


def values_of(results):
    return np.column_stack([np.concatenate([np.asarray(batch.column(name)) for batch in results])
                            for name in NAMES])


def test_numbers_are_those_of_their_definitions(rows):
    results = results_of(rows)
    values, summary = values_of(results), apportion.Summary.of(results)
    assert summary.rows == 500 and summary.players == NAMES and summary.output_names is None
    for player in range(3):
        exact = [fractions.Fraction(value) for value in values[:, player]]
        assert summary.mean[player] == float(sum(exact) / 500)
        assert summary.mean_absolute[player] == float(sum(map(abs, exact)) / 500)
    assert np.allclose(summary.standard_deviation, values.std(axis=0, ddof=1), rtol=1e-9)
    assert (np.array_equal(summary.least, values.min(axis=0))
            and np.array_equal(summary.largest, values.max(axis=0)))
    for share in (0.0, 0.01, 0.3, 0.5, 0.77, 1.0):
        wanted = np.sort(values, axis=0)[max(1, math.ceil(share * 500)) - 1]
        assert np.all(np.abs(summary.quantile(share) - wanted) <= np.abs(wanted) / 200)
    edges, counts = summary.density("b")
    assert counts.sum() == 500 and np.all(edges[:, 0] <= edges[:, 1]) and np.all(np.diff(edges[:, 0]) > 0)
    for (low, high), count in zip(edges, counts):
        assert ((values[:, 1] >= low) & (values[:, 1] <= high)).sum() == count
    table = summary.table()
    assert [line["player"] for line in table] == [NAMES[place]
                                                  for place in np.argsort(-summary.mean_absolute)]
    assert table[0]["mean |value|"] == summary.mean_absolute.max()


def exact_deviation(numbers):
    """Returns the sample standard deviation, computed with fractions and rounded once."""
    exact = [fractions.Fraction(number) for number in numbers]
    mean = sum(exact) / len(exact)
    variance = sum((number - mean) ** 2 for number in exact) / max(1, len(exact) - 1)
    # An integer square root with this many bits is exact to the last bit of a double.
    shift = 2**14
    return float(fractions.Fraction(math.isqrt(int(variance * 4**shift)), 2**shift))


@pytest.mark.parametrize("shift", [0.0, 1e8, -1e8, 1e15])
@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_deviations_are_exact_about_a_large_mean(shift, scale):
    random = np.random.default_rng(5)
    rows = (random.normal(size=(300, 3)) + shift) * scale
    results = results_of(rows, lambda rows: rows[:, 0] - rows[:, 1])
    values = values_of(results)
    assert shift == 0 or abs(values[:, 0].mean()) > 0.9 * abs(shift) * values[:, 0].std()
    wanted = [exact_deviation(values[:, player]) for player in range(3)]
    whole = apportion.Summary.of(results)
    assert whole.standard_deviation.tolist() == wanted and wanted[0] > 0.0
    cuts = [results[start : start + 2] for start in range(0, len(results), 2)]
    for order in (range(len(cuts)), reversed(range(len(cuts))), random.permutation(len(cuts))):
        merged = apportion.Summary()
        for place in order:
            merged.merge(apportion.Summary.from_bytes(apportion.Summary.of(cuts[place]).to_bytes()))
        assert merged.standard_deviation.tolist() == wanted and merged.to_bytes() == whole.to_bytes()


def test_the_deviation_of_few_rows():
    def deviations(numbers):
        rows = np.array([[number, 1.0, 0.0] for number in numbers])
        return apportion.Summary.of(results_of(rows, lambda rows: rows[:, 0])).standard_deviation.tolist()

    assert deviations([3.0]) == [0.0, 0.0, 0.0]
    assert deviations([3.0, 5.0]) == [math.sqrt(2), 0.0, 0.0]
    assert deviations([1.7e308, -1.7e308]) == [math.inf, 0.0, 0.0]
    assert deviations([5e-324, 1.5e-323]) == [5e-324, 0.0, 0.0]


def test_summaries_of_the_first_format_are_read(rows):
    """The first format stores sums of rounded squares, in units of 2^-1127."""
    results = results_of(np.clip(rows, -1e3, 1e3))
    values, summary = values_of(results), apportion.Summary.of(results)
    document = json.loads(summary.to_bytes())
    assert document["format"] == 2
    document["format"] = 1
    for player, numbers in enumerate(document["parts"][0]):
        numbers[3] = hex(sum(int(fractions.Fraction(value * value) * 2**1127) for value in values[:, player]))
    before = apportion.Summary.from_bytes(json.dumps(document).encode())
    assert np.allclose(before.standard_deviation, values.std(axis=0, ddof=1), rtol=1e-6)
    assert (before.mean.tolist() == summary.mean.tolist()
            and before.quantile(0.3).tolist() == summary.quantile(0.3).tolist())
    both = before + summary
    assert both.rows == 1000 and json.loads(both.to_bytes())["format"] == 2
    assert np.allclose(both.standard_deviation, np.concatenate([values, values]).std(axis=0, ddof=1),
                       rtol=1e-6)
    assert apportion.Summary.from_bytes(both.to_bytes()) == both
    document["parts"][0][0][3] = "inf"
    beyond = apportion.Summary.from_bytes(json.dumps(document).encode())
    assert beyond.standard_deviation[0] == math.inf and (beyond + summary).standard_deviation[0] == math.inf
    assert apportion.Summary.from_bytes(beyond.to_bytes()) == beyond


def test_bytes_are_those_of_earlier_versions():
    spec = importlib.util.spec_from_file_location("summaries", FIXTURES / "summaries.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = json.loads(gzip.decompress((FIXTURES / "summaries.json.gz").read_bytes()))
    assert apportion.Summary().to_bytes().decode() == written["empty"]
    for name, case in module.CASES.items():
        summary = apportion.Summary.of(module.batch(*case))
        assert summary.to_bytes().decode() == written[name]
        assert apportion.Summary.from_bytes(written[name]) == summary
        assert len(summary.explanation()) <= min(summary.rows, 1000)


def test_summaries_are_copied_and_pickled(rows):
    summary = apportion.Summary.of(results_of(rows))
    for other in (copy.copy(summary), copy.deepcopy(summary), pickle.loads(pickle.dumps(summary))):
        assert other == summary
        other.merge(summary)
        assert other.rows == 2 * summary.rows == 1000
    other.merge(other)
    assert other.rows == 2000 and other.mean.tolist() == summary.mean.tolist()
    assert pickle.loads(pickle.dumps(apportion.Summary())) == apportion.Summary()


def test_parts_in_any_order_have_the_same_bytes(rows):
    results = results_of(rows)
    wanted = apportion.Summary.of(results).to_bytes()
    random = np.random.default_rng(0)
    for size in (1, 3, 7):
        parts = [apportion.Summary.of(results[start:start + size]) for start in range(0, len(results), size)]
        parts = [apportion.Summary.from_bytes(parts[place].to_bytes())
                 for place in random.permutation(len(parts))]
        while len(parts) > 1:
            parts.append(parts.pop(0) + parts.pop(random.integers(len(parts))))
        assert parts[0].to_bytes() == wanted
    one_by_one = apportion.Summary()
    for batch in itertools.chain.from_iterable(results_of(rows[start:start + 1]) for start in range(500)):
        one_by_one.add(batch)
    assert one_by_one == apportion.Summary.of(results) and one_by_one.to_bytes() == wanted
    assert apportion.Summary.of(results_of(rows, layout="lists")) == one_by_one


def test_the_sample_is_of_the_same_rows_however_they_are_cut(rows, tmp_path):
    rows = np.concatenate([rows, rows * 2, rows * 3, np.repeat(rows[:1], 300, axis=0)])
    table = pyarrow.table({name: rows[:, place] for place, name in enumerate(NAMES)})

    def model(rows):
        return np.tanh(rows[:, 0]) + rows[:, 2]

    wanted = apportion.summarize(table, model, np.zeros((1, 3)))
    for size in (23, 400):
        parts = [apportion.summarize(table.slice(start, size), model, np.zeros((1, 3)))
                 for start in range(0, len(table), size)]
        parts = [apportion.Summary.from_bytes(part.to_bytes()) for part in reversed(parts)]
        assert sum(parts[1:], parts[0]).to_bytes() == wanted.to_bytes()
    sample = wanted.explanation()
    assert sample.shape == (1000, 3) and len({row.tobytes() for row in sample.data}) == 1000
    known = {row.tobytes() for row in rows + 0.0}
    assert all(row.tobytes() in known for row in sample.data)
    plain = apportion.explain(model, sample.data, np.zeros((1, 3)))
    assert (np.array_equal(sample.values, plain.values)
            and np.array_equal(sample.predictions, plain.predictions))
    page = tmp_path / "page.html"
    wanted.report(page)
    assert "Sample of 1000 of 1800 rows" in page.read_text()
    pairs = apportion.summarize(table, model, np.zeros((1, 3)), interactions=True).explanation()
    again = apportion.Explainer(model, np.zeros((1, 3)))(pairs.data, interactions=True)
    assert pairs.shape == (1000, 3, 3) and np.allclose(pairs.values, again.values)
    words = table.append_column("w", pyarrow.array(["x"] * 1800))
    without = apportion.Summary.of(apportion.explain_batches(words, model, np.zeros((1, 3)), keep="w",
                                                             layout="lists"))
    assert without.explanation().data is None and without.mean.tolist() == wanted.mean.tolist()


def test_several_outputs_have_theirs_each(rows):
    def model(rows):
        return np.column_stack([rows[:, 0], 2 * rows[:, 1], rows.sum(axis=1)])

    for layout in ("columns", "lists"):
        summary = apportion.Summary.of(results_of(np.clip(rows, -1, 1), model, layout,
                                                  output_names=["x", "y", "z"]))
        plain = apportion.explain(model, np.clip(rows, -1, 1), np.zeros((1, 3))).values
        assert summary.mean_absolute.shape == (3, 3) and summary.output_names == ["x", "y", "z"]
        assert np.allclose(summary.mean_absolute, np.abs(plain).mean(axis=0), atol=1e-15)
        sample = summary.explanation()
        assert sample.shape[1:] == (3, 3)
        assert set(sample.predictions[:, 1]) == set(model(np.clip(rows, -1, 1))[:, 1])
        lines = {(line["player"], line["output"]) for line in summary.table()}
        assert lines == set(itertools.product(NAMES, "xyz"))


def test_extremes_of_doubles_and_zeros():
    tiny, huge = 5e-324, 1e308
    summary = apportion.Summary.of(results_of(np.array([[tiny, 0.0, -0.0], [-huge, 0.0, 0.0]]),
                                              lambda rows: rows[:, 0], seed=0))
    assert summary.least[0] == -huge and summary.quantile(1.0)[0] == tiny and summary.mean[1] == 0
    assert summary.mean_absolute[0] == huge / 2
    assert apportion.Summary.from_bytes(summary.to_bytes()) == summary


def test_what_is_none_is_refused(rows):
    results = results_of(rows[:5])
    none = apportion.Summary.of(results_of(rows[:0]))
    assert none.rows == 0 and apportion.Summary.from_bytes(none.to_bytes()).to_bytes() == none.to_bytes()
    assert (none + apportion.Summary.of(results)).to_bytes() == apportion.Summary.of(results).to_bytes()
    with pytest.raises(apportion.DataError, match="the summary is empty"):
        apportion.Summary().mean
    with pytest.raises(apportion.DataError, match="no metadata of apportion"):
        apportion.Summary.of([pyarrow.record_batch({"a": [1.0]})])
    with pytest.raises(apportion.DataError,
                       match="with different options .seed: 0 and 1.; compute both"):
        apportion.Summary.of(results) + apportion.Summary.of(results_of(rows[:5], seed=1))
    for written in (b"", b"{}", b"[1]", b'{"format":1}', b'{"format":2}', b'{"format":3}', b'{"format":0}',
                    apportion.Summary.of(results).to_bytes()[:-9]):
        with pytest.raises(apportion.DataError, match="invalid summary|unsupported summary format [03]"):
            apportion.Summary.from_bytes(written)
    with pytest.raises(apportion.UsageError, match="invalid share 1.5"):
        apportion.Summary.of(results).quantile(1.5)
    assert apportion.Summary() + apportion.Summary.of(results) == apportion.Summary.of(results)
    assert repr(apportion.Summary.of(results)) == "Summary(5 rows, 3 players)"
