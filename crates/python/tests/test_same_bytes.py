"""The same call gives the same bytes under any load, on any number of threads, also with the command."""
import json
import subprocess
import sys

import numpy as np
import pytest

import apportion

_CALLS = 30
_THREADS = (1, 2, 3, 7)
_FEATURES = 10


def _forest(trees, depth):
    rng = np.random.default_rng(3)
    splits, count = 2**depth - 1, 2 ** (depth + 1) - 1
    nodes = np.arange(count)
    left, right = np.where(nodes < splits, 2 * nodes + 1, -1).tolist(), np.where(
        nodes < splits, 2 * nodes + 2, -1).tolist()
    return json.dumps(dict(format="apportion-trees", version=1, width="double", features=_FEATURES,
                           base_margins=[0.0], operator="<=", trees=[
        dict(left=left, right=right, feature=rng.integers(0, _FEATURES, count).tolist(),
             threshold=rng.normal(size=count).tolist(),
             value=rng.normal(size=count).tolist()) for _ in range(trees)])).encode()


@pytest.fixture
def load():
    """Processes that keep the processors busy intermittently."""
    program = ("import os, time\nparent = os.getppid()\nwhile os.getppid() == parent:\n"
               "    end = time.perf_counter() + 0.05\n    while time.perf_counter() < end: pass\n"
               "    time.sleep(0.02)\n")
    processes = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    yield
    for process in processes:
        process.kill()
        process.wait()


def test_trees_have_the_bytes_of_the_command_under_load(load, tmp_path):
    # Blocks of rows that take a tenth of a second would split these rows, and would use other kernels.
    model, rng = _forest(150, 8), np.random.default_rng(5)
    X, background = rng.normal(size=(5000, _FEATURES)), rng.normal(size=(1000, _FEATURES))
    explainer = apportion.TreeExplainer(model, background)
    results = {explainer(X, threads=count).values.tobytes() for count in _THREADS}
    (tmp_path / "model.json").write_bytes(model)
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "background.npy", background)
    for count in (1, 3):
        out = tmp_path / f"values{count}.npy"
        subprocess.run([sys.executable, "-m", "apportion", "explain", "--model", tmp_path / "model.json",
                        "--rows", tmp_path / "rows.npy", "--background",
                        tmp_path / "background.npy", "--threads", str(count), "--format", "npy", "--out",
                        out], check=True)
        results.add(np.ascontiguousarray(np.load(out)).tobytes())
    assert len(results) == 1


def test_many_calls_have_one_result_under_load(load):
    rng = np.random.default_rng(5)
    X, background = rng.normal(size=(1500, _FEATURES)), rng.normal(size=(200, _FEATURES))
    explainer = apportion.TreeExplainer(_forest(60, 7), background)
    results = {explainer(X, threads=count).values.tobytes() for count in (_THREADS * _CALLS)[:_CALLS]}
    assert len(results) == 1


def _estimates():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6, 30))
    function = lambda rows: np.tanh(rows[:, ::2] * rows[:, 1::2]).sum(axis=1)  # noqa: E731
    for method in ("leverage-shap", "learned-spectrum", "permutation", "auto"):
        yield method, apportion.Explainer(function, X, method=method, budget=600, seed=4), X, {}
    yield "interactions of a function", apportion.Explainer(
        function, X, budget=600, seed=4), X[:2], {"interactions": True}
    trees = apportion.TreeExplainer(_forest(20, 5), X[:, :_FEATURES])
    yield "interactions of trees", trees, np.tile(X[:, :_FEATURES], (30, 1)), {"interactions": True}


@pytest.mark.parametrize("case", _estimates(), ids=lambda case: case[0])
def test_estimates_and_interactions_have_one_result_under_load(load, case):
    _, explainer, X, how = case
    results = {explainer(X, threads=count, **how).values.tobytes() for count in (*_THREADS, 3)}
    assert len(results) == 1
