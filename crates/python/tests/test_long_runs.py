"""Long runs: neither the memory of a process nor its number of threads grows with the number of calls.

`APPORTION_CALLS=100000 pytest -s crates/python/tests/test_long_runs.py` makes this many calls of each kind;
`-k` selects kinds.
"""
import copy
import ctypes
import gc
import os
import pickle
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import apportion

pytestmark = [pytest.mark.skipif(not sys.platform.startswith("linux"),
                                 reason="memory and threads are read from /proc"),
              pytest.mark.filterwarnings("ignore")]

CALLS = int(os.environ.get("APPORTION_CALLS", 2000))
# Memory that a call may leave behind in each of several windows: a leak grows in all of them, noise in some.
BYTES_PER_CALL, WINDOWS = 1024, 3

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(30, 4))
TREE = b"""{"format": "apportion-trees", "version": 1, "width": "double", "features": 4,
    "base_margins": [0.5], "operator": "<=", "trees": [{
    "left": [1, 3, -1, -1, -1], "right": [2, 4, -1, -1, -1],
    "feature": [0, 1, 0, 0, 0], "threshold": [0.5, 0, 0, 0, 0],
    "value": [0, 0, 1, 2, 3], "cover": [30, 20, 10, 12, 8]}]}"""


def product(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


def _trees():
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0).fit(
        ROWS, (ROWS[:, 0] > 0).astype(int))


def exact_trees():
    marginal, covers = apportion.Explainer(_trees(), ROWS), apportion.Explainer(_trees())
    return lambda call: (marginal if call % 2 else covers)(ROWS[call % 20 : call % 20 + 2])


def interactions_of_trees():
    explainer = apportion.Explainer(_trees(), ROWS)
    return lambda call: explainer(ROWS[:2], interactions="remainder" if call % 2 else True)


def losses():
    from sklearn.tree import DecisionTreeRegressor

    explainer = apportion.Explainer(DecisionTreeRegressor(max_depth=3).fit(ROWS, ROWS[:, 0]), ROWS[:8],
                                    model_output="log_loss")
    return lambda call: explainer(ROWS[:1], [float(call)])


def functions_of_arrays():
    explainer = apportion.Explainer(product, ROWS[:5])
    return lambda call: explainer(ROWS[call % 20 : call % 20 + 2])


def functions_of_frames():
    pandas = pytest.importorskip("pandas")
    background = pandas.DataFrame({"word": ["a", "bb"], "number": [1.0, 2.0]})
    explainer = apportion.Explainer(lambda rows: rows["word"].map(len).to_numpy(float)
                                    + rows["number"].to_numpy(float), background)
    return lambda call: explainer(pandas.DataFrame({"word": [f"new word {call}"], "number": [float(call)]}))


def objects_of_each_call():
    class Thing:
        size = 3.0

    def model(rows):
        return np.array([getattr(cell, "size", 1.0) for cell in rows[:, 0]]) * rows[:, 1].astype(float)

    explainer = apportion.Explainer(model, np.array([[Thing(), 1.0], [Thing(), 2.0]], dtype=object))
    return lambda call: explainer(np.array([[Thing(), float(call)]], dtype=object))


def without_a_background():
    explainer = apportion.Explainer(product)
    return lambda call: explainer(ROWS[:4] + call)


def conditional_games():
    explainers = [apportion.Explainer(product, ROWS, game=game) for game in (
        "gaussian", "copula", "empirical")]
    return lambda call: explainers[call % 3](ROWS[:1])


def interactions_of_functions():
    explainer = apportion.Explainer(product, ROWS[:4])
    return lambda call: explainer(ROWS[:1], interactions=True)


def accuracy():
    explainer = apportion.Explainer(product, ROWS[:4], method="permutation", until=0.5)
    return lambda call: explainer(ROWS[:1])


def new_explainers():
    def make(call):
        class Model:
            def __call__(self, rows):
                return rows.sum(axis=1)

        model = Model()
        model.explainer = apportion.Explainer(model, ROWS[:3])
        return model.explainer(ROWS[:1])

    return make


def new_ensembles():
    return lambda call: apportion.Explainer(TREE, ROWS[:3] if call % 2 else None)(ROWS[:1])


def games():
    def play(call):
        game = apportion.Game(lambda coalitions: coalitions.sum(axis=1) ** 2.0, 4)
        return game.explain(interactions=call % 2 == 0), apportion.games.glove(
            1, 2).explain(), apportion.Game.table(np.arange(8.0)).explain()

    return play


def door_of_shap():
    pytest.importorskip("shap")
    import apportion.shap

    explainer = apportion.shap.TreeExplainer(_trees(), ROWS[:5])
    return lambda call: (explainer.shap_values(ROWS[:1]), explainer.expected_value)


def batches():
    pyarrow = pytest.importorskip("pyarrow")
    explainer = apportion.BatchExplainer(product, ROWS[:3], feature_names=list("abcd"))
    batch = pyarrow.record_batch({name: ROWS[:2, place] for place, name in enumerate("abcd")})
    return lambda call: list(explainer([batch]))


def files():
    folder = f"/dev/shm/apportion-{os.getpid()}" if os.path.isdir("/dev/shm") else "."
    found = apportion.explain(product, ROWS[:2], ROWS[:3])

    def both(call):
        found.save(f"{folder}.json")
        apportion.load(f"{folder}.json")
        os.unlink(f"{folder}.json")

    return both


def figures():
    found = apportion.explain(product, ROWS[:3], ROWS[:3], feature_names=list("abcd"))

    def draw(call):
        figure = found.plot.figure(("bar", "waterfall", "beeswarm")[call % 3],
                                   row=0 if call % 3 == 1 else None)
        return figure.svg, figure._inner.csv(), figure._inner.png(0.5) if call % 20 == 0 else None

    return draw


def slices_and_tables():
    found = apportion.explain(product, ROWS[:3], ROWS[:3], feature_names=list("abcd"))
    return lambda call: (found[call % 3, "b"], found[::2], found.intervals(), found._columns(), repr(found),
                         found._repr_html_())


def errors_of_the_function():
    def model(rows):
        if model.fails:
            raise KeyError("of the function")
        return product(rows)

    model.fails = False
    explainer = apportion.Explainer(model, ROWS[:4])

    def fail(call):
        model.fails = True
        with pytest.raises(apportion.CallError):
            explainer(ROWS[:1])

    return fail


def errors_of_requests():
    explainer = apportion.Explainer(product, ROWS[:4])

    def fail(call):
        for wrong in (lambda: explainer(ROWS[:, :2]), lambda: apportion.Explainer(product, ROWS, groups=5),
                      lambda: apportion.Explainer(product, ROWS, seed=-1),
                      lambda: apportion.Ensemble(b"not a model")):
            with pytest.raises(apportion.Error):
                wrong()

    return fail


def interrupted_progress():
    def slow(rows):
        time.sleep(0.06)
        return product(rows)

    explainer = apportion.Explainer(product, ROWS[:4], method="permutation", budget=40)

    class Stop(Exception):
        pass

    def stop(*done):
        raise Stop

    def interrupted(call):
        with pytest.raises(Stop):
            explainer(ROWS[:2], progress=stop)

    return interrupted


def pickles_and_copies():
    explainer = apportion.Explainer(_trees(), ROWS[:5])
    function = apportion.Explainer(product, ROWS[:5])

    def roundtrip(call):
        pickle.loads(pickle.dumps(explainer))(ROWS[:1])
        copy.copy(function)(ROWS[:1])
        copy.deepcopy(function)(ROWS[:1])

    return roundtrip


def other_numbers_of_threads():
    explainer = apportion.Explainer(product, ROWS[:4])
    return lambda call: explainer(ROWS[:1], threads=1 + call % 9)


def short_threads():
    explainer = apportion.Explainer(product, ROWS[:4])

    def work(call):
        thread = threading.Thread(target=lambda: explainer(ROWS[:1], threads=1))
        thread.start()
        thread.join()

    return work


def inside_its_own_function():
    inner = apportion.Explainer(product, ROWS[:3])
    outer = apportion.Explainer(lambda rows: inner(rows).values[:, 0], ROWS[:2], check=False)
    return lambda call: outer(ROWS[:1])


# Calls of each kind as a share of CALLS; slower kinds have fewer.
KINDS = {exact_trees: 1, interactions_of_trees: 1, losses: 1, functions_of_arrays: 1,
         functions_of_frames: 0.3, objects_of_each_call: 0.5,
         without_a_background: 0.3, conditional_games: 0.2, interactions_of_functions: 0.5, accuracy: 0.5,
         new_explainers: 0.5, new_ensembles: 0.5, games: 0.15,
         door_of_shap: 0.25, batches: 0.2, files: 0.5, figures: 0.15, slices_and_tables: 0.3,
         errors_of_the_function: 0.5, errors_of_requests: 0.5,
         interrupted_progress: 0.02, pickles_and_copies: 0.2, other_numbers_of_threads: 0.5,
         short_threads: 0.3, inside_its_own_function: 0.1}


def _memory():
    """Returns the resident bytes of the process after releasing free memory."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except AttributeError:  # a C library without malloc_trim
        pass
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _threads(at_most=0):
    """Waits until the number of threads is at most `at_most` or stable, since threads take time to end."""
    counts = []
    for _ in range(200):
        counts.append(len(os.listdir("/proc/self/task")))
        if counts[-1] <= at_most or len(counts) > 5 and len(set(counts[-6:])) == 1:
            break
        time.sleep(0.01)
    return counts[-1]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_calls_leave_nothing_behind(kind):
    call = kind()
    count = max(WINDOWS, int(CALLS * (KINDS[kind] if CALLS <= 2000 else 1)) // WINDOWS)
    warnings.simplefilter("ignore")
    # The first calls create the default pool and one of a different size.
    for number in range(max(20, count // 4)):
        call(number)
    before, threads = _memory(), _threads()
    first, growth, started = before, [], time.monotonic()
    for window in range(WINDOWS):
        for number in range(count):
            call(window * count + number)
        after = _memory()
        growth.append(after - before)
        before = after
    left = _threads(threads + 9)
    if CALLS > 2000:
        print(f"\n{kind.__name__}: {WINDOWS * count} calls, {time.monotonic() - started:.0f} s, "
              f"memory {first / 1e6:.1f} to {after / 1e6:.1f} MB "
              f"({(after - first) / (WINDOWS * count):.0f} bytes per call), threads {threads} to {left}")
    assert min(growth) < BYTES_PER_CALL * count, growth
    assert left <= threads + 9, f"{threads} threads became {left}"
