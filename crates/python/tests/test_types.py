"""The package passes mypy, and the stub of the engine matches the engine."""
import os
import pathlib
import subprocess
import sys

import pytest

import apportion

pytest.importorskip("mypy")
SETTINGS = pathlib.Path(__file__).parents[1] / "pyproject.toml"


def run(module, *arguments, folder):
    """Runs a module of mypy on the package that the tests import."""
    paths = os.pathsep.join([str(pathlib.Path(apportion.__file__).parents[1]),
                             os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True,
                          cwd=folder, env={**os.environ, "MYPY_CACHE_DIR": str(folder / "cache"),
                                           "PYTHONPATH": paths.rstrip(os.pathsep)})


def test_the_package_passes_mypy(tmp_path):
    said = run("mypy", "--config-file", str(SETTINGS), "-p", "apportion", folder=tmp_path)
    assert said.returncode == 0, said.stdout + said.stderr


def test_only_the_engine_has_a_stub():
    folder = pathlib.Path(apportion.__file__).parent
    assert [path.name for path in folder.glob("**/*.pyi")] == ["_core.pyi"] and (folder / "py.typed").exists()
    assert not [path.name for path in folder.glob("*.py") if "mypy: ignore-errors" in path.read_text()]


def test_the_stub_agrees_with_the_engine(tmp_path):
    said = run("mypy.stubtest", "--concise", "apportion._core", folder=tmp_path)
    assert said.returncode == 0, said.stdout + said.stderr


def test_programs_are_checked(tmp_path):
    (tmp_path / "right.py").write_text("""import apportion
found = apportion.explain(print, [[1.0]], [[0.0]], until=0.01, relative_to="range", groups="auto")
low, high = found[0].intervals(0.9)
names: list[tuple[str, str]] = apportion.methods()
gap: float = apportion.games.glove(1, 2).explain(interactions=True).additivity_gap()
text: apportion.Explanation = apportion.explain_text(print, "a b")
texts: list[apportion.Explanation] = apportion.explain_text(print, ["a b"])
found.plot.scatter(feature="f0", width=300)
found.report(interactions=found).save("page.html")
""")
    (tmp_path / "wrong.py").write_text("""import apportion
apportion.games.glove("one", 2)  # arg-type
apportion.load(3)  # arg-type
apportion.explain(print, [[1.0]], sede=3)  # call-arg
apportion.Explainer(print, relative_to="size")  # arg-type
apportion.TreeExplainer("model.json", keep_null_players="no")  # arg-type
apportion.load("found.json").plot.bar(tops=3)  # call-arg
apportion.summarize([], print, layout="lists")  # call-arg
""")
    right = run("mypy", "--strict", "right.py", folder=tmp_path)
    assert right.returncode == 0, right.stdout
    wrong = run("mypy", "--strict", "wrong.py", folder=tmp_path).stdout
    for number, line in enumerate((tmp_path / "wrong.py").read_text().splitlines(), start=1):
        if "# " in line:
            kind = line.partition("# ")[2]
            assert f"wrong.py:{number}: error:" in wrong and f"[{kind}]" in wrong, (line, wrong)
    assert wrong.count("error:") == 7, wrong
