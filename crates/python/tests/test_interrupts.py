"""Ctrl-C ends the engine's work at any point, and the same call gives the same bytes after an interrupt."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import apportion

# Maximum time in seconds. Each call would take many times as long, but the limit is generous, because test
# machines are busy.
_PATIENCE = 60
_BEGUN = 0.3

_SETUP = """
import json, time
import numpy as np, apportion
rng = np.random.default_rng(0)

def game(players):
    terms = [(sorted(int(i) for i in rng.choice(players, 3, replace=False)), float(rng.normal()))
             for _ in range(300)]
    return apportion.games.unanimity(players, terms)

def forest(trees, depth, features):
    splits, count = 2**depth - 1, 2 ** (depth + 1) - 1
    nodes = np.arange(count)
    left, right = (np.where(nodes < splits, 2 * nodes + 1, -1).tolist(),
                   np.where(nodes < splits, 2 * nodes + 2, -1).tolist())
    cover = (2.0 ** (depth - np.floor(np.log2(nodes + 1)))).tolist()
    return json.dumps(dict(format="apportion-trees", version=1, width="double", features=features,
                           base_margins=[0.0], operator="<=", trees=[
        dict(left=left, right=right, feature=rng.integers(0, features, count).tolist(),
             threshold=rng.normal(size=count).tolist(),
             value=rng.normal(size=count).tolist(), cover=cover) for _ in range(trees)])).encode()

def function(rows):
    return np.tanh(rows).sum(axis=1)
"""

_WORK = {
    "auto": ("players = game(1000)", "players.explain(threads=2)"),
    "learned spectrum of many players": ("players = game(1500)",
                                         "players.explain(method='learned-spectrum', budget=20000, "
                                         "threads=2)"),
    "kernel shap": ("players = game(2000)", "players.explain(method='kernel-shap', budget=60000, threads=1)"),
    "interactions of a game": ("players = game(300)",
                               "players.explain(interactions=True, budget=20000, threads=2)"),
    "all coalitions": ("players = apportion.Game(lambda coalitions: coalitions.sum(axis=1) ** 2.0, 24)",
                       "players.explain(method='exact', threads=2)"),
    "interactions of a function": ("X = rng.normal(size=(500, 60)); "
                                   "explainer = apportion.Explainer(function, X[:20], budget=8000)",
                                   "explainer(X, interactions=True, threads=2)"),
    "trees": ("X = rng.normal(size=(200000, 20)); "
              "explainer = apportion.TreeExplainer(forest(150, 9, 20), X[:500])",
              "explainer(X, threads=1)"),
    "interactions of trees": ("X = rng.normal(size=(20000, 40)); "
                              "explainer = apportion.TreeExplainer(forest(60, 9, 40), X[:300])",
                              "explainer(X, interactions=True, threads=2)"),
    "groups": ("X = rng.normal(size=(4000, 600)); "
               "explainer = apportion.Explainer(function, X, groups='auto', value='owen', check=False)",
               "explainer(X[:2])"),
    "a distribution": ("X = rng.normal(size=(20000, 1500))",
              "apportion.Explainer(function, X, game='copula', check=False)(X[:2])"),
}


@pytest.mark.parametrize("name", _WORK)
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_the_work(name):
    setup, work = _WORK[name]
    program = (f"{_SETUP}\n{setup}\nprint('begun', flush=True)\ntry:\n    {work}\n    print('done')\n"
               "except KeyboardInterrupt:\n    print('interrupted')\n")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline().strip() == "begun"
            time.sleep(_BEGUN)
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=_PATIENCE)[0].strip() == "interrupted"
        finally:
            process.kill()


def _interrupted(work, after=0.2):
    """Repeats work until it is interrupted."""
    # An exception in a garbage collector callback of another library would be lost.
    gc.disable()
    timer = threading.Timer(after, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            end = time.monotonic() + _PATIENCE
            while time.monotonic() < end:
                work()
    finally:
        timer.cancel()
        gc.enable()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("threads", [1, 3])
def test_what_was_interrupted_gives_the_same_bytes_when_asked_again(threads):
    space = {}
    exec(_SETUP, space)
    rng, forest, game = space["rng"], space["forest"], space["game"]
    X = rng.normal(size=(30000, 20))
    model, players = forest(80, 8, 20), game(60)
    fresh = apportion.TreeExplainer(model, X[:500], threads=threads)
    wanted = fresh(X[:300]).values.tobytes()
    explainer = apportion.TreeExplainer(model, X[:500], threads=threads)
    # These times interrupt the compilation of the background and the explanation of rows.
    for after in (0.01, 0.1, 0.3):
        _interrupted(lambda: explainer(X), after)
        assert explainer(X[:300]).values.tobytes() == wanted
    wanted = players.explain(budget=3000, threads=threads).values.tobytes()
    _interrupted(lambda: players.explain(budget=3000, threads=threads))
    assert players.explain(budget=3000, threads=threads).values.tobytes() == wanted


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_rows_that_are_done_are_kept_with_the_interrupt():
    X = np.random.default_rng(0).normal(size=(3000, 40))
    explainer = apportion.Explainer(lambda rows: np.tanh(rows).sum(axis=1), X[:50], method="leverage-shap",
                                    budget=2000)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        explainer(X)
    done = caught.value.explanation
    assert 0 < len(done) < 3000
    assert done.values.tobytes() == explainer(X[: len(done)]).values.tobytes()
