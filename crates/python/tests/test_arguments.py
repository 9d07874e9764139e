"""Arguments of wrong types and shapes: accepted or rejected with an error, never an internal one."""
import datetime
import decimal
import json
import os
import warnings

import numpy as np
import pytest

import apportion

pytestmark = pytest.mark.filterwarnings("ignore")
ROWS = np.random.default_rng(0).normal(size=(6, 3))


def linear(rows):
    return rows[:, 0] * 2 + rows[:, 1]


def both(rows):
    return rows[:, :2]


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


class NotAnArray:
    def __array__(self, *more, **other):
        raise RuntimeError("no array")


class NotIterable:
    def __iter__(self):
        raise RuntimeError("no iterator")

    def __len__(self):
        return 3


def _nested(depth, start=0):
    made = [start]
    for _ in range(depth):
        made = [made]
    return made


def _deeper():
    made = [0]
    for _ in range(2000):
        made = [made, 1]
    return made


def values():
    """Returns new values of all kinds on each call, since iterators can be used only once."""
    pandas, pyarrow, polars, sparse = (pytest.importorskip(name) for name in (
        "pandas", "pyarrow", "polars", "scipy.sparse"))
    return {
        "None": None, "5": 5, "-1": -1, "2.5": 2.5, "nan": float("nan"), "inf": float("inf"), "10^30": 10**30,
        "True": True, "empty text": "", "text": "abc",
        "names": "a,b", "null": "\0", "bytes": b"bytes", "list": [], "ragged": [[0, 1], [2]],
        "lists": [["x"], ["y"]], "dict": {"a": [0, 1], "b": [2]}, "set": {0},
        "object": object(), "unprintable": Unprintable(), "not an array": NotAnArray(),
        "not iterable": NotIterable(), "scalar array": np.array(3),
        "vector": np.array([0, 1, 2]), "matrix": np.zeros((3, 3)), "cube": np.zeros((2, 2, 2)),
        "four axes": np.zeros((2, 2, 2, 2)), "no rows": np.zeros((0, 3)),
        "no columns": np.zeros((3, 0)), "texts": np.array(["a", "b"]), "complex": np.array([1j, 2]),
        "objects": np.array([[None, "a", object()]], dtype=object),
        "times": np.array(["2020-01-01"], dtype="M8[D]"),
        "fields": np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        "frame": pandas.DataFrame({"a": [1.0], "b": ["x"]}), "series": pandas.Series([1, 2, 3]),
        "no frame": pandas.DataFrame(), "function": lambda *more: 1,
        "class": int, "module": os, "decimal": decimal.Decimal(1), "date": datetime.date(2020, 1, 1),
        "deep": _nested(3000), "deeper": _deeper(),
        "iterator": iter([1, 2]), "slice": slice(0, 2), "ellipsis": ..., "memory": memoryview(b"abc"),
        "sparse": sparse.csr_matrix(ROWS),
        "polars": polars.DataFrame({"a": [1.0, 2.0]}), "polars series": polars.Series([1, 2]),
        "arrow": pyarrow.table({"a": [1.0]}),
    }


def faults(*calls, allowed=()):
    """Returns the exceptions that calls raise for each value, except errors of the package."""
    found = []
    for call in calls:
        for name, value in values().items():
            try:
                call(value)
            except apportion.InternalError as error:
                found.append((name, repr(error)))
            except apportion.Error as error:
                assert str(error), name
            except allowed:
                pass
            except BaseException as error:
                found.append((name, f"{type(error).__name__}: {str(error)[:80]}"))
    return found


@pytest.fixture(scope="module")
def tree():
    return pytest.importorskip("sklearn.tree").DecisionTreeClassifier(max_depth=2).fit(
        ROWS, (ROWS[:, 0] > 0).astype(int))


OPTIONS = ["weights", "value", "method", "budget", "until", "groups", "graph", "game", "model_output", "seed",
           "feature_names", "output_names", "rounds", "threads", "check",
           "confidence", "relative_to", "error", "range", "kernel", "precision", "rows", "draws", "bandwidth",
           "share", "variant", "fallback", "keep_null_players"]


@pytest.mark.parametrize("option", OPTIONS)
def test_options(tree, option):
    assert not faults(lambda value: apportion.Explainer(linear, ROWS, **{option: value})(ROWS),
                      lambda value: apportion.Explainer(tree, **{option: value})(ROWS),
                      lambda value: apportion.Explainer(both, ROWS, **{option: value})(ROWS))


@pytest.mark.parametrize(("option", "more"), [
    ("groups", dict(value="owen")), ("groups", dict(value="quotient-shapley")),
    ("groups", dict(value="two-step")), ("graph", dict(value="myerson")),
    ("graph", dict(value="c-shapley=1")), ("confidence", dict(until=0.5)), ("relative_to", dict(until=0.5)),
    ("range", dict(until=0.5)), ("error", dict(until=0.5)),
    ("bandwidth", dict(game="empirical")), ("fallback", dict(game="frequency")),
    ("draws", dict(game="gaussian"))])
def test_options_with_others(option, more):
    assert not faults(lambda value: apportion.Explainer(linear, ROWS, **more, **{option: value})(ROWS))


def test_models_and_rows(tree):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    explainer, exact, of_frames = apportion.Explainer(
        linear, ROWS), apportion.Explainer(tree), apportion.Explainer(
            lambda rows: rows["a"].to_numpy(float), frame)
    assert not faults(
        lambda value: apportion.Explainer(value, ROWS)(ROWS),
        lambda value: apportion.Explainer(linear, value)(ROWS),
        lambda value: apportion.Explainer(tree, value)(ROWS),
        explainer, exact, of_frames, apportion.Explainer(linear), explainer.plan, explainer.shap_values,
        exact.shap_interaction_values,
        lambda value: apportion.explain(linear, value),
        lambda value: apportion.TreeExplainer(tree, value)(ROWS), apportion.Ensemble,
        lambda value: apportion.Ensemble(tree, rounds=value), apportion.Ensemble(tree).predict,
        lambda value: apportion.Ensemble(tree).predict(ROWS, output=value))


def test_calls(tree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    explainer, loss = apportion.Explainer(linear, ROWS), apportion.Explainer(
        tree, ROWS, model_output="log_loss")
    assert not faults(
        lambda value: explainer(ROWS, interactions=value), lambda value: explainer(ROWS, threads=value),
        lambda value: loss(ROWS, value),
        lambda value: explainer(ROWS, checkpoint=value),
        lambda value: callable(value) or explainer(ROWS, progress=value), apportion.set_threads,
        lambda value: apportion.TreeExplainer(tree, feature_perturbation=value),
        lambda value: apportion.TreeExplainer(tree, model_output=value))
    apportion.set_threads(0)


def test_games():
    game, games = apportion.Game(lambda coalitions: coalitions.sum(axis=1), 3), apportion.games
    assert not faults(
        lambda value: apportion.Game(value, 3),
        lambda value: apportion.Game(lambda coalitions: coalitions.sum(axis=1), value),
        lambda value: apportion.Game(lambda coalitions: value, 3), game, apportion.Game.table([0, 1, 2, 3]),
        apportion.Game.table,
        *[lambda value, option=option: game.explain(**{option: value}) for option in (
            "value", "groups", "graph", "interactions", "threads", "method", "budget", "until", "seed",
            "kernel")],
        lambda value: games.glove(value, 1), lambda value: games.weighted_voting(value, [1]),
        lambda value: games.weighted_voting(1, value), games.airport, games.additive,
        lambda value: games.unanimity(value, [([0], 1.0)]), lambda value: games.unanimity(2, value),
        lambda value: games.unanimity(2, [value]),
        lambda value: games.unanimity(2, [(value, 1.0)]),
        lambda value: games.unanimity(2, [([0], 1.0)], value))


def test_groups_of_data():
    assert not faults(apportion.groups,
                      *[lambda value, option=option: apportion.groups(ROWS, **{option: value})
                                          for option in ("count", "tree", "dependence", "linkage",
                                                         "threads")])


@pytest.mark.parametrize(("more", "says"), [
    (dict(groups=5), "invalid groups 5; expected lists of features"),
    (dict(groups={"a": 2.5}), "invalid groups 2.5"), (dict(groups=_deeper()), "at most 120 levels"),
    (dict(groups=[[0], [True]]), "invalid groups True"), (dict(groups=[[0.5]]), "invalid groups 0.5"),
    (dict(groups=b"a"), "invalid groups b'a'"),
    (dict(graph=np.zeros((3, 3))),
     "invalid graph of type ndarray and shape \\(3, 3\\); expected an array of shape \\(n_edges, 2\\)"),
     (dict(graph=5), "invalid graph 5"),
    (dict(graph=["ab"]), "invalid edge 'ab' in graph; expected two features"),
    (dict(graph=[(0, 1, 2)]), "invalid edge \\(0, 1, 2\\)"), (dict(graph=[5]), "invalid edge 5"),
    (dict(graph="grid=2x5"), "one cell for each feature .cells: 10, features: 3."),
    (dict(until="small"), "invalid tolerance for until 'small'; expected a number"),
    (dict(feature_names="abc"), "invalid feature_names 'abc'; expected a list of names"),
    (dict(seed=1.5), "invalid seed 1.5"), (dict(threads="two"), "got 'two'"),
    (dict(value=5), "invalid value 5; expected a string"), (dict(kernel=3), "invalid kernel 3"),
    (dict(check="no"), "invalid check 'no'; expected True or False"),
    (dict(progress=5), "invalid progress 5"), (dict(model_output=5), "invalid model_output 5"),
    (dict(game=["gaussian"]), "unknown game \\['gaussian'\\]; expected one of")])
def test_what_messages_say(more, says):
    with pytest.raises(apportion.UsageError, match=says):
        apportion.Explainer(linear, ROWS, **more)(ROWS)


def test_graphs_are_taken_as_arrays():
    wanted = apportion.explain(linear, ROWS, ROWS, value="myerson", graph=[(0, 1), (1, 2)]).values
    for graph in (np.array([[0, 1], [1, 2]]), np.array([[0, 1], [1, 2]], dtype=np.uint8), [[0, 1], [1, 2]],
                  "0,1;1,2", "line", "grid=1x3", ["0,1", "1,2"], {(0, 1), (1, 2)}):
        assert np.array_equal(apportion.explain(linear, ROWS, ROWS, value="myerson", graph=graph).values,
                              wanted)


# Explanations.


def use(found, folder):
    """Calls every method and property of an explanation."""
    for call in (lambda: repr(found), found._repr_html_, lambda: found.save(folder / "found.json"),
                 found.to_frame, found.report, lambda: found.plot.figure("bar").svg,
                 lambda: found.plot.figure("waterfall", row=0).svg, found.importance, found.additivity_gap,
                 found.intervals, lambda: found.display_data,
                 lambda: found.certificates, lambda: found[0], lambda: found[:, 0], lambda: len(found),
                 lambda: (found.output, found.notes)):
        try:
            call()
        except apportion.InternalError:
            raise
        except apportion.Error:
            pass


PARTS = ["values", "base_values", "data", "predictions", "std_errors", "evaluations", "degrees_of_freedom",
         "draws", "index", "row_numbers", "categories", "interactions",
         "about", "feature_names", "input_names", "output_names"]


@pytest.mark.parametrize("part", [*PARTS, "certificates"])
def test_explanations_of_arrays_that_do_not_fit(part, tmp_path):
    parts = dict(values=np.zeros((4, 3)), base_values=np.zeros(4), data=np.zeros((4, 3)),
                 predictions=np.zeros(4), feature_names=["a", "b", "c"])
    assert not faults(lambda value: use(apportion.Explanation(**{**parts, part: value}), tmp_path))


@pytest.mark.parametrize("part", PARTS)
def test_parts_that_are_changed(part, tmp_path):
    found = apportion.explain(linear, ROWS, method="permutation", budget=12, feature_names=["a", "b", "c"])

    def change(value):
        kept = getattr(found, part)
        try:
            setattr(found, part, value)
            use(found, tmp_path)
        finally:
            setattr(found, part, kept)

    assert not faults(change)
    # Changes in place are not visible to a comparison of objects.
    if isinstance(getattr(found, part), np.ndarray) and part != "data":
        getattr(found, part).shape = (1, -1)
        with pytest.raises(apportion.DataError, match="expected"):
            found.save(tmp_path / "found.json")
    elif part == "feature_names":
        found.feature_names.append("d")
        with pytest.raises(apportion.DataError, match="feature_names has 4 names, expected 3"):
            found.to_frame()


def test_explanations_own_their_arrays():
    values, base, names = np.zeros((4, 3)), np.zeros(4), ["a", "b", "c"]
    found = apportion.Explanation(values, base, feature_names=names, predictions=1.0)
    values[:], base[:] = 7.0, 7.0
    names.append("d")
    assert not found.values.any() and not found.base_values.any() and found.feature_names == [
        "a", "b", "c"] and found.predictions.tolist() == [1.0] * 4


def test_parts_of_explanations():
    found = apportion.explain(both, ROWS, ROWS, feature_names=["a", "b", "c"])
    exact = (IndexError,)
    assert not faults(lambda value: found[value], lambda value: found[:, value],
                      lambda value: found[:, :, value], found.intervals, found.to_frame)
    with pytest.raises(exact) as raised:
        found[99]
    assert isinstance(raised.value, apportion.UsageError) and len(list(found)) == 6


def test_figures_and_reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = apportion.explain(both, ROWS, ROWS, feature_names=["a", "b", "c"])
    figure = found.plot.figure("bar")
    assert not faults(
        lambda value: found.plot.figure(value),
        *[lambda value, option=option: found.plot.figure("scatter", **{"feature": "a", option: value})
                                                  for option in ("row", "output", "feature", "partner", "top",
                                                                 "where", "width", "seed")],
        *[lambda value, option=option: found.report(**{option: value}) for option in (
            "interactions", "title", "seed")], found.save, figure.save,
        lambda value: figure.save("a.png", scale=value if not isinstance(value, int) else 1.0),
        lambda value: found.plot.bar(ax=value) if value is not None else None)
    assert not faults(apportion.load, allowed=(OSError,))


@pytest.mark.parametrize("of", ["values", "interactions", "words", "estimates", "groups"])
def test_damaged_files(of, tmp_path):
    pandas = pytest.importorskip("pandas")
    if of == "words":
        frame = pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}, index=["r1", "r2"])
        found = apportion.explain(lambda rows: rows["a"].to_numpy(float) + rows["b"].map(len).to_numpy(float),
                                  frame)
    else:
        more = dict(interactions=dict(interactions=True), estimates=dict(until=0.5, method="permutation"),
                    groups=dict(value="quotient-shapley", groups=[[0, 1], [2]]))
        found = apportion.explain(linear, ROWS[:2], ROWS, **more.get(of, {}))
    path = tmp_path / "found.json"
    found.save(path)
    text = path.read_text()

    def places(part, at=()):
        yield at
        for key in part if isinstance(part, dict) else range(min(1, len(part))) if isinstance(
            part, list) else ():
            yield from places(part[key], (*at, key))

    for at in [at for at in places(json.loads(text)) if at]:
        for value in (None, 5, -1, 2.5, float("inf"), True, "", "x", [], [1], [[1]], {}, 10**40, "removed"):
            document = json.loads(text)
            part = document
            for key in at[:-1]:
                part = part[key]
            if value == "removed":
                del part[at[-1]]
            else:
                part[at[-1]] = value
            path.write_text(json.dumps(document))
            try:
                loaded = apportion.load(path)
            except apportion.DataError:
                continue
            use(loaded, tmp_path)
    for length in range(0, len(text), max(1, len(text) // 40)):
        path.write_text(text[:length])
        with pytest.raises(apportion.DataError):
            apportion.load(path)
    for content in (b"\x1f\x8b", b"\x1f\x8b\x08\x00broken", b"\xff\xfe\x00", b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(apportion.DataError):
            apportion.load(path)


def test_a_value_that_is_not_text_in_a_file(tmp_path):
    path = tmp_path / "found.json"
    apportion.explain(linear, ROWS, ROWS).save(path)
    path.write_text(path.read_text().replace('"value":"shapley"', '"value":5'))
    with pytest.raises(apportion.DataError, match="invalid value 5; expected a string"):
        apportion.load(path)


# Media, batches and summaries.


def test_media():
    def images(given):
        return np.asarray(given).reshape(len(given), -1).sum(axis=1)

    def texts(given):
        return np.array([float(len(one)) for one in given])

    assert not faults(
        lambda value: apportion.explain_text(value, "a b"),
        lambda value: apportion.explain_text(texts, value),
        lambda value: apportion.explain_image(value, np.zeros((4, 4))),
        lambda value: apportion.explain_image(images, value, segments="1x1"),
        *[lambda value, option=option: apportion.explain_text(
            texts, "a b", **{option: value}) for option in ("value", "graph", "groups", "budget")],
        *[lambda value, option=option: apportion.explain_image(
            images, np.zeros((4, 4)), **{"segments": "2x2", option: value})
          for option in ("segments", "reference", "value", "graph", "groups", "batch")])
    assert not faults(lambda value: None if callable(value) else apportion.explain_text(
        texts, "a b", split=value))


def test_batches_and_summaries():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": [1.0, 2.0], "b": [1.0, 3.0], "c": [0.0, 1.0]})
    explainer = apportion.BatchExplainer(linear, ROWS)
    summary = apportion.summarize(table, linear, ROWS)
    assert not faults(
        lambda value: list(apportion.explain_batches(value, linear, ROWS)),
        lambda value: list(apportion.explain_batches(table, value, ROWS)),
        *[lambda value, option=option: list(apportion.BatchExplainer(
            linear, ROWS, **{option: value})(table)) for option in ("keep", "layout", "interactions")],
        explainer.schema, explainer.columns, lambda value: explainer.plan(value, 5),
        lambda value: explainer.plan(table, value), lambda value: explainer.plan(table, 5, value),
        apportion.Summary.from_bytes, summary.quantile, summary.density,
        lambda value: summary.density(0, value), summary.merge, summary.add)


def test_unknown_options_are_named():
    for call in (lambda: apportion.Explainer(linear, ROWS, kernels=1),
                 lambda: apportion.Game(lambda coalitions: coalitions.sum(axis=1), 2).explain(metod="exact"),
                 lambda: apportion.explain(linear, ROWS, ROWS).plot.bar(tops=3),
                 lambda: apportion.explain(linear, ROWS, ROWS, sede=3)):
        with warnings.catch_warnings(), pytest.raises(
            apportion.UsageError, match="unknown option '.*'.*did you mean"):
            call()


@pytest.mark.parametrize(("options", "message"), [
    ({"confidence": 0.9}, "confidence requires until"),
    ({"relative_to": "range"}, "relative_to requires until"),
    ({"error": "every-player"}, "error requires until"),
    ({"range": 2.0}, "range requires until"),
    ({"draws": 10}, "draws requires game gaussian, copula or empirical, not marginal"),
    ({"bandwidth": 0.1}, "bandwidth requires game empirical, not marginal"),
    ({"share": 0.5}, "share requires game empirical, not marginal"),
    ({"variant": "shapr"}, "variant requires game empirical, not marginal"),
    ({"fallback": "nearest"}, "fallback requires game frequency, not marginal"),
])
def test_options_without_effect_are_refused(options, message, tree):
    for model in (lambda rows: rows.sum(axis=1), tree):
        with pytest.raises(apportion.UsageError, match=message):
            apportion.explain(model, ROWS, ROWS, **options)
