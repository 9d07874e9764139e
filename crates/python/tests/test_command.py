"""The command that is installed with the package."""
import json
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import apportion

COMMAND = [sys.executable, "-m", "apportion"]


def test_the_command_explains_what_python_saved_and_python_opens_it(tmp_path, numbers):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    model = xgboost.XGBRegressor(n_estimators=4, max_depth=2, n_jobs=1).fit(rows, targets)
    model.save_model(tmp_path / "model.json")
    np.savetxt(tmp_path / "rows.csv", rows[:6], delimiter=",", header="f0,f1,f2,f3", comments="")
    told = subprocess.run([*COMMAND, "explain", "--model", "model.json", "--rows", "rows.csv", "--format",
                           "json", "--out", "found.json"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert np.array_equal(apportion.load(tmp_path / "found.json").values,
                          apportion.TreeExplainer(model)(rows[:6]).values)
    apportion.TreeExplainer(model)(rows[:6]).save(tmp_path / "own.json")
    told = subprocess.run([*COMMAND, "inspect", "own.json"], cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 0 and "6" in told.stdout, told.stderr


def test_statuses_and_pipes():
    assert subprocess.run([*COMMAND, "--version"], capture_output=True,
                          text=True).stdout.startswith(f"apportion {apportion.__version__}")
    wrong = subprocess.run([*COMMAND, "no-such-command"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "no-such-command" in wrong.stderr and "Traceback" not in wrong.stderr
    missing = subprocess.run([*COMMAND, "predict", "--model", "no.json", "--rows", "no.csv"],
                             capture_output=True, text=True)
    assert missing.returncode == 1 and "no.json" in missing.stderr
    installed = shutil.which("apportion", path=str(sys.prefix) + "/bin")
    if installed is not None:
        assert subprocess.run([installed, "methods"], capture_output=True, text=True).stdout.count("\n") > 20


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_the_command(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    process = subprocess.Popen([*COMMAND, "explain", "--predict", "sh -c 'touch begun; exec sleep 60'",
                                "--rows", "rows.csv", "--background", "rows.csv"], cwd=tmp_path,
                               stderr=subprocess.PIPE, text=True)
    # The prediction program starts once the command is running.
    for _ in range(600):
        if (tmp_path / "begun").exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0 and "Traceback" not in process.stderr.read()
