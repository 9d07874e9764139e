"""Threads, forks, interrupts, the end of the interpreter, and what importing takes."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import apportion

RUN = """
import numpy as np, apportion
rows = np.random.default_rng(0).normal(size=(30, 30))
"""


def test_several_threads_explain_at_once(numbers):
    rows, _ = numbers
    found, wanted = {}, apportion.explain(lambda given: given[:, 0] * given[:, 1], rows, rows[:5]).values

    def work(number):
        own = threading.get_ident()

        def model(given):
            assert threading.get_ident() == own  # a function is called on the thread that asks
            return given[:, 0] * given[:, 1]

        found[number] = apportion.explain(model, rows, rows[:5]).values

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 4 and all(np.array_equal(values, wanted) for values in found.values())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_explains(numbers):
    rows, _ = numbers
    wanted = apportion.explain(lambda given: given.prod(axis=1), rows).values
    child = os.fork()
    if not child:
        found = apportion.explain(lambda given: given.prod(axis=1), rows).values
        os._exit(0 if np.array_equal(found, wanted) else 1)
    end = time.time() + 20
    while time.time() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the forked process hangs")


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("model", ["lambda given: given.prod(axis=1)", "apportion.Game(lambda c: c.sum(axis=1)**1.5, 24)", "oracle"])
def test_ctrl_c_is_heard(model):
    if model.startswith("apportion.Game"):
        work = f"{model}.explain(method='exact', budget=2**24)"
    elif model == "oracle":
        pytest.importorskip("xgboost")
        work = ("(lambda x: apportion.TreeExplainer(__import__('xgboost').XGBRegressor(n_estimators=300, max_depth=8, n_jobs=1).fit(x[:2000], "
                "x[:2000].prod(axis=1)), x[:50], threads=1))(np.random.default_rng(0).normal(size=(200000, 8)))")
        work = f"explainer = {work}\n    print('ready', flush=True)\n    explainer(np.random.default_rng(0).normal(size=(400000, 8)))"
    else:
        work = f"apportion.explain({model}, rows, rows, method='permutation', budget=10**6)"
    ready = "" if model == "oracle" else "print('ready', flush=True)\n    "
    code = RUN + f"""
import time
try:
    {ready}{work}
except KeyboardInterrupt as error:
    print("heard", time.time(), hasattr(error, "explanation"), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    words = process.communicate(timeout=30)[0].split()
    assert words[0] == "heard" and float(words[1]) - sent < 0.5, words


def test_the_interpreter_ends_and_the_package_is_imported_again():
    code = RUN + """
import importlib, sys, threading
explainer = apportion.Explainer(lambda given: given[:, 0], rows[:2])
explainer(rows)
importlib.reload(apportion)
threading.Thread(target=lambda: explainer(rows), daemon=True).start()
print("done")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert ended.returncode == 0 and ended.stdout == "done\n", ended.stderr


def test_nothing_large_is_imported():
    code = "import sys, apportion; print(sorted({'pandas', 'polars', 'pyarrow', 'shap', 'sklearn', 'xgboost', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
