"""One explainer in several threads, inside its own function, and in processes forked while it runs."""
import copy
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pytest

import apportion

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(60, 5))


def product(rows):
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2]) * rows[:, 3]


def both(rows):
    return np.column_stack([product(rows), rows.sum(axis=1)])


def frame_of(rows):
    import pandas

    return pandas.DataFrame({"word": [f"w{abs(int(1e6 * row[0])) % 97}" for row in rows],
                             "number": rows[:, 1]})


def lengths(rows):
    return np.array([float(sum(map(ord, word))) for word in rows["word"]]) + rows["number"].to_numpy(float)


def trees(**more):
    from sklearn.ensemble import RandomForestRegressor

    return apportion.Explainer(RandomForestRegressor(n_estimators=10, max_depth=4, random_state=0).fit(
        ROWS, product(ROWS)), **more)


def _losses():
    from sklearn.linear_model import LogisticRegression

    explainer = apportion.Explainer(LogisticRegression().fit(ROWS, ROWS[:, 0] > 0), ROWS[:10],
                                    model_output="log_loss")
    return lambda rows: explainer(rows, rows[:, 0] > 0)


# For each kind, a function that returns either an explainer or a function that explains rows.
KINDS = {
    "trees": lambda: trees(background=ROWS[:20]), "covers": trees,
    "arrays": lambda: apportion.Explainer(product, ROWS[:6]),
    "outputs": lambda: apportion.Explainer(both, ROWS[:6]),
    "estimates": lambda: apportion.Explainer(product, ROWS[:6], method="permutation", budget=40),
    "no_background": lambda: apportion.Explainer(product),
    "found_groups": lambda: apportion.Explainer(product, groups="auto=2", value="quotient-shapley"),
    "gaussian": lambda: apportion.Explainer(product, ROWS, game="gaussian"), "losses": _losses,
    "frames": lambda: (lambda explainer: lambda rows: explainer(frame_of(rows)))(apportion.Explainer(
        lengths, frame_of(ROWS[:6]))),
    "interactions": lambda: (lambda explainer: lambda rows: explainer(
        rows, interactions=True))(apportion.Explainer(product, ROWS[:6])),
}


def told(found):
    """Returns the contents of an explanation as bytes."""
    return pickle.dumps([np.asarray(found.values).tobytes(), np.asarray(found.base_values).tobytes(),
                         np.asarray(found.data).tobytes(), found.feature_names,
                         found.categories, None if found.std_errors is None else found.std_errors.tobytes(),
                         found.about.get("groups")])


def in_threads(count, work):
    """Runs `work(number)` in threads that start together; reraises the first exception."""
    ready, raised = threading.Barrier(count), []

    def run(number):
        try:
            ready.wait()
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_first", [True, False], ids=["first calls", "later calls"])
def test_threads_get_what_one_thread_gets(kind, is_first):
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    explainer, inputs = KINDS[kind](), [ROWS[6 * place : 6 * place + 12] for place in range(8)]
    wanted = [told(explainer(rows)) for rows in inputs]
    if is_first:
        # Use a new explainer, so that all threads start before anything is prepared.
        explainer = KINDS[kind]()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        def work(number):
            for turn in range(4):
                place = (number + turn) % 8
                assert told(explainer(inputs[place])) == wanted[place]

        in_threads(8, work)
    finally:
        sys.setswitchinterval(interval)


def test_one_thread_pool_for_each_number_of_threads():
    explainer = apportion.Explainer(product, ROWS[:6])
    wanted = told(explainer(ROWS[:3]))

    def work(number):
        for turn in range(8):
            assert told(explainer(ROWS[:3], threads=(number + turn) % 5)) == wanted

    in_threads(6, work)


def test_copies_are_made_while_the_explainer_works():
    explainer = trees(background=ROWS[:20])
    function = apportion.Explainer(product, ROWS[:6])
    wanted = told(explainer(ROWS[:3])), told(function(ROWS[:3]))

    def work(number):
        for turn in range(6):
            one, other = explainer, function
            if number % 4 == 1:
                one, other = pickle.loads(pickle.dumps(explainer)), pickle.loads(pickle.dumps(function))
            elif number % 4 == 2:
                one, other = copy.copy(explainer), copy.copy(function)
            elif number % 4 == 3:
                one, other = copy.deepcopy(explainer), copy.deepcopy(function)
            assert (told(one(ROWS[:3])), told(other(ROWS[:3]))) == wanted

    in_threads(8, work)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_explainer_inside_its_own_function(threads):
    """Explains with the same explainer to a depth of two, also while other threads do the same."""
    depth = threading.local()

    def model(rows):
        level = getattr(depth, "level", 0)
        if level < 2 and len(rows) and getattr(model, "explainer", None) is not None:
            depth.level = level + 1
            try:
                inner = model.explainer(rows[:1]).values
            finally:
                depth.level = level
            return product(rows) + 0.0 * inner.sum()
        return product(rows)

    plain = told(apportion.Explainer(product, ROWS[:3])(ROWS[:2]))
    model.explainer = None
    explainer = apportion.Explainer(model, ROWS[:3], threads=threads, method="permutation", budget=12)
    plain = told(apportion.Explainer(product, ROWS[:3], method="permutation", budget=12)(ROWS[:2]))
    model.explainer = explainer
    assert told(explainer(ROWS[:2])) == plain
    in_threads(3, lambda number: told(explainer(ROWS[:2])) == plain or pytest.fail("other values"))


def test_an_error_in_one_thread_is_not_that_of_another():
    def model(rows):
        if threading.current_thread().name.startswith("fails"):
            raise KeyError(threading.current_thread().name)
        return product(rows)

    explainer = apportion.Explainer(model, ROWS[:6])
    wanted = told(explainer(ROWS[:2]))

    def work(number):
        if number % 2:
            threading.current_thread().name = f"fails {number}"
        for _ in range(10):
            if number % 2:
                with pytest.raises(KeyError, match=f"fails {number}'"):
                    explainer(ROWS[:2])
            else:
                assert told(explainer(ROWS[:2])) == wanted

    in_threads(6, work)


# Forks.

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")


def in_child(work, seconds=60):
    """Returns whether `work` returns true in a forked process; ends a process that hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


@forks
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["trees", "covers", "arrays", "frames", "losses", "estimates"])
def test_a_process_that_is_forked_while_threads_explain(kind):
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    explainer, ends = KINDS[kind](), threading.Event()
    wanted = told(explainer(ROWS[:3]))

    def work():
        place = 0
        while not ends.is_set():
            place = (place + 1) % 40
            explainer(ROWS[place : place + 4])

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(8):
            time.sleep(0.01)
            assert in_child(lambda: told(explainer(ROWS[:3])) == wanted and told(explainer(ROWS[:3]))
                            == wanted)
        assert told(explainer(ROWS[:3])) == wanted
    finally:
        ends.set()
        for worker in workers:
            worker.join()


@forks
def test_a_function_that_forks():
    """Tests a function that forks, as models with worker processes do."""
    def model(rows):
        assert in_child(lambda: np.allclose(apportion.Explainer(
            product, ROWS[:3])(ROWS[:2]).values.sum(axis=1), product(ROWS[:2]) - product(ROWS[:3]).mean()))
        return product(rows)

    found = apportion.explain(model, ROWS[:2], ROWS[:3])
    assert told(found) == told(apportion.explain(product, ROWS[:2], ROWS[:3]))


@forks
@pytest.mark.filterwarnings("ignore")
def test_pools_of_processes_that_are_forked():
    explainer = trees(background=ROWS[:20])
    wanted = explainer(ROWS[:3]).values
    with multiprocessing.get_context("fork").Pool(2) as workers:
        assert all(np.array_equal(values, wanted) for values in workers.map(
            explainer.shap_values, [ROWS[:3]] * 6, chunksize=1))


@forks
def test_a_fork_of_a_fork():
    explainer = apportion.Explainer(product, ROWS[:6])
    wanted = told(explainer(ROWS[:3], threads=3))
    assert in_child(lambda: told(explainer(
        ROWS[:3], threads=3)) == wanted and in_child(lambda: told(explainer(ROWS[:3], threads=3)) == wanted))
