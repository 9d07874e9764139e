"""The stubs say what the package has."""
import os
import subprocess
import sys

import pytest


def test_stubs_agree_with_the_package(tmp_path):
    pytest.importorskip("mypy")
    said = subprocess.run([sys.executable, "-m", "mypy.stubtest", "--concise", "apportion"], capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, "MYPY_CACHE_DIR": str(tmp_path)})
    assert said.returncode == 0, said.stdout + said.stderr


def test_programs_are_checked_by_the_stubs(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(
        "import apportion\nfound = apportion.explain(print, [[1.0]], [[0.0]], until=0.01)\nlow, high = found[0].intervals(0.9)\n"
        "names: list[tuple[str, str]] = apportion.methods()\nworth: float = apportion.games.glove(1, 2).explain().additivity_gap()\n")
    (tmp_path / "wrong.py").write_text("import apportion\napportion.games.glove('one', 2)\napportion.load(3)\n")
    check = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    right = subprocess.run([*check, "right.py"], capture_output=True, text=True, cwd=tmp_path)
    assert right.returncode == 0, right.stdout
    wrong = subprocess.run([*check, "wrong.py"], capture_output=True, text=True, cwd=tmp_path)
    assert wrong.stdout.count("arg-type") == 2, wrong.stdout
