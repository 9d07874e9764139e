"""Explainers and games in reference cycles are collected, and unused threads end."""
import copy
import gc
import os
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import apportion

ROWS = np.random.default_rng(0).normal(size=(10, 3))


class Model:
    def __call__(self, rows):
        return rows.sum(axis=1)


class Predictor:
    def predict(self, rows):
        return rows.sum(axis=1)


def model_with_its_explainer():
    model = Model()
    model.explainer = apportion.Explainer(model, ROWS)
    model.explainer(ROWS[:2])
    return model


def predictor_with_its_explainer():
    model = Predictor()
    model.explainer = apportion.Explainer(model, ROWS)
    return model


def estimator_with_its_explainer():
    neighbors = pytest.importorskip("sklearn.neighbors")
    model = neighbors.KNeighborsRegressor().fit(ROWS, ROWS[:, 0])
    model.explainer_ = apportion.Explainer(model, ROWS)
    model.explainer_(ROWS[:2])
    return model


def trees_with_their_explainer():
    tree = pytest.importorskip("sklearn.tree")
    model = tree.DecisionTreeRegressor(max_depth=2).fit(ROWS, ROWS[:, 0])
    model.explainer_ = apportion.Explainer(model, ROWS)
    model.explainer_(ROWS[:2])
    return model


def closure_that_holds_its_explainer():
    held, box = Model(), {}

    def function(rows):
        return held(rows) + 0.0 * len(box)

    box["explainer"] = apportion.Explainer(function, ROWS)
    box["explainer"](ROWS[:2], interactions=True)
    return held


def conditional_game():
    model = Model()
    model.explainer = apportion.Explainer(model, ROWS, game="gaussian")
    model.explainer(ROWS[:2])
    return model


def frames_with_new_words():
    pandas = pytest.importorskip("pandas")

    class OfFrames:
        def __call__(self, rows):
            return rows["word"].map(len).to_numpy(float)

    model = OfFrames()
    model.explainer = apportion.Explainer(
        model, pandas.DataFrame({"word": ["a", "bb"], "number": [1.0, 2.0]}))
    model.explainer(pandas.DataFrame({"word": ["new"], "number": [1.0]}))
    return model


def batch_explainer():
    model = Model()
    model.explainer = apportion.BatchExplainer(model, ROWS)
    return model


def copies():
    model = Model()
    model.explainer = apportion.Explainer(model, ROWS)
    model.copy, model.deep = copy.copy(model.explainer), copy.deepcopy(model.explainer)
    model.copy(ROWS[:2])
    model.deep(ROWS[:2])
    return model


def progress_that_holds_its_explainer():
    model = Model()
    model.progress = lambda done, evaluations: model
    model.explainer = apportion.Explainer(
        model, ROWS, method="permutation", budget=24, progress=model.progress)
    model.explainer(ROWS[:2])
    return model


def game_with_itself():
    class Worth:
        def __call__(self, coalitions):
            return coalitions.sum(axis=1) ** 2

    worth = Worth()
    worth.game = apportion.Game(worth, 4)
    worth.game.explain()
    worth.game.explain(interactions=True)
    return worth


def game_alone():
    # The engine calls a bound method of the game itself.
    return apportion.Game(lambda coalitions: coalitions.sum(axis=1), 3)


def model_that_raised():
    class Failing(Model):
        fails = False

        def __call__(self, rows):
            if self.fails:
                raise KeyError(self)
            return super().__call__(rows)

    model = Failing()
    model.explainer = apportion.Explainer(model, ROWS)
    model.fails = True
    try:
        model.explainer(ROWS[:2])
    except apportion.CallError as error:
        model.error = error
    return model


@pytest.mark.parametrize("make", [
    model_with_its_explainer, predictor_with_its_explainer, estimator_with_its_explainer,
    trees_with_their_explainer, closure_that_holds_its_explainer, conditional_game,
    frames_with_new_words, batch_explainer, copies, progress_that_holds_its_explainer, game_with_itself,
    game_alone, model_that_raised,
], ids=lambda make: make.__name__)
def test_cycles_are_collected(make):
    alive = [weakref.ref(make()) for _ in range(20)]
    gc.collect()
    assert sum(one() is not None for one in alive) == 0


def test_collecting_does_not_take_what_is_in_use():
    """The collector runs while the engine calls a function, both in the function and in another thread."""
    def make():
        model = Model()
        model.explainer = apportion.Explainer(lambda rows: (gc.collect(), model(rows))[1], ROWS)
        return model.explainer

    explainer, ends = make(), threading.Event()

    def collect():
        while not ends.wait(0.002):
            gc.collect()

    # Exclude objects that exist already, so that each collection is fast.
    gc.freeze()
    thread = threading.Thread(target=collect)
    thread.start()
    try:
        for _ in range(4):
            assert np.allclose(explainer(ROWS[:3]).values, ROWS[:3] - ROWS.mean(axis=0))
            assert make()(ROWS[:1]).shape == (1, 3)
    finally:
        ends.set()
        thread.join()
        gc.unfreeze()


def test_a_finalizer_may_explain():
    """Objects in a cycle are still intact when their finalizers run."""
    found = []

    class Last(Model):
        def __del__(self):
            found.append(self.explainer(ROWS[:1]).values)

    model = Last()
    model.explainer = apportion.Explainer(model, ROWS)
    del model
    gc.collect()
    assert len(found) == 1 and np.allclose(found[0], ROWS[:1] - ROWS.mean(axis=0))


def test_an_explainer_that_was_cleared_raises_an_error_of_the_package():
    """A weak reference callback can reach the engine's object after the collector cleared its function."""
    from apportion import _core
    from apportion._options import options
    from apportion._threads import pool

    inner = _core.Explainer.of_function(lambda rows: rows.sum(axis=1), 3, 1, options(), ROWS)
    game = _core.Game.of_function(lambda coalitions: coalitions.sum(axis=1) * 1.0, 3, 1)
    _clear(inner)
    _clear(game)
    with pytest.raises(apportion.UsageError, match="garbage-collected; create a new one"):
        inner.explain(ROWS, pool())
    with pytest.raises(apportion.UsageError, match="garbage-collected"):
        inner.interactions(ROWS, pool(), False)
    with pytest.raises(apportion.UsageError, match="garbage-collected"):
        game.values(np.zeros((1, 3), dtype=bool))
    with pytest.raises(apportion.UsageError, match="garbage-collected"):
        _core.explain_game(game, options(), pool())
    assert inner.with_function(lambda rows: rows.sum(axis=1)).explain(ROWS, pool())[1] is None


def _clear(thing):
    """Calls the slot tp_clear of the type, as the collector does."""
    import ctypes

    ctypes.pythonapi.PyType_GetSlot.restype = ctypes.c_void_p
    ctypes.pythonapi.PyType_GetSlot.argtypes = [ctypes.py_object, ctypes.c_int]
    slot = ctypes.pythonapi.PyType_GetSlot(type(thing), 51)  # Py_tp_clear
    ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(slot)(thing)


# Threads.

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")


def threads_when_quiet(at_most=0):
    """Waits until the number of threads is at most `at_most` or stable, since threads take time to end."""
    counts = []
    for _ in range(300):
        counts.append(len(os.listdir("/proc/self/task")))
        if counts[-1] <= at_most or at_most == 0 and len(counts) > 10 and len(set(counts[-11:])) == 1:
            break
        time.sleep(0.01)
    return counts[-1]


@linux
def test_numbers_of_threads_asked_for_once_do_not_keep_their_pools():
    explainer = apportion.Explainer(Model(), ROWS)
    explainer(ROWS)
    before = threads_when_quiet()
    for threads in range(2, 40):
        explainer(ROWS[:1], threads=threads)
    assert threads_when_quiet(before + 39) <= before + 39
    explainer(ROWS[:1], threads=2)
    assert threads_when_quiet(before + 2) <= before + 2


@linux
def test_short_threads_leave_no_threads():
    explainer = apportion.Explainer(Model(), ROWS)
    explainer(ROWS, threads=1)
    before = threads_when_quiet()
    for _ in range(300):
        thread = threading.Thread(target=explainer, args=(ROWS[:1],), kwargs=dict(threads=1))
        thread.start()
        thread.join()
    assert threads_when_quiet(before) <= before


def test_pools_in_use_are_not_taken_away():
    """Each call uses a different number of threads, and thereby drops the pool that other calls are using."""
    def model(rows):
        time.sleep(0.002)
        return rows.sum(axis=1)

    explainer, wrong = apportion.Explainer(model, ROWS), []

    def work(first):
        for turn in range(20):
            if not np.allclose(explainer(ROWS[:2], threads=2 + (first + turn) % 7).values,
                               ROWS[:2] - ROWS.mean(axis=0)):
                wrong.append(turn)

    workers = [threading.Thread(target=work, args=(first,)) for first in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
