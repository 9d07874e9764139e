"""Runs shap's tests of its explainers on apportion.shap, with only the import changed.

    python benches/rivals/shap_suite.py TESTS [--data FOLDER] [--california ROWS.csv] [--files test_tree.py …]
                                        [-- PYTEST OPTIONS]

TESTS is the directory `tests` of a checkout of shap, which stays unchanged: its files are copied to a
temporary directory, in which `import shap` becomes `import apportion.shap as shap`. The tests download data;
without a network, FOLDER provides the files of shap's `data` directory (adult.data), and ROWS.csv the
California housing data with a header and the column `target`. Ranking data are synthetic.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

OFFLINE = '''
"""Data without a network connection."""
import pathlib, shutil
import numpy as np, pandas as pd, scipy.sparse
import sklearn.datasets, shap

def _california(data_home=None, **_):
    table = pd.read_csv(CALIFORNIA)
    target = table.pop("target").to_numpy()
    return sklearn.utils.Bunch(data=table.to_numpy(), feature_names=list(table.columns), target=target)

if CALIFORNIA:
    sklearn.datasets.fetch_california_housing = _california
if DATA:
    folder = pathlib.Path(shap.datasets.__file__).parent / "cached_data"
    folder.mkdir(exist_ok=True)
    for file in pathlib.Path(DATA).iterdir():
        if file.is_file() and not (folder / file.name).exists():
            shutil.copy(file, folder)

def _rank():
    random = np.random.default_rng(0)
    def rows(queries):
        x = scipy.sparse.csr_matrix(
            random.random((queries * 10, 300)) * (random.random((queries * 10, 300)) < 0.3))
        return x, random.integers(0, 4, queries * 10).astype(float), np.full(queries, 10.0)
    (x, y, q), (x_test, y_test, q_test) = rows(200), rows(50)
    return x, y, x_test, y_test, q, q_test

shap.datasets.rank = _rank
'''


def main():
    ours, pytest_options = sys.argv[1:], []
    if "--" in ours:
        at = ours.index("--")
        ours, pytest_options = ours[:at], ours[at + 1 :]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--california", type=pathlib.Path)
    parser.add_argument("--files", nargs="+", default=["test_tree.py"])
    parser.add_argument("--unchanged", action="store_true", help="run the tests with shap itself")
    asked = parser.parse_args(ours)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder) / "tests"
        shutil.copytree(asked.tests, folder)
        if not asked.unchanged:
            for name in asked.files:
                file = folder / "explainers" / name
                file.write_text(re.sub(r"^import shap$", "import apportion.shap as shap", file.read_text(),
                                       flags=re.M))
        known = (f"CALIFORNIA = {str(asked.california.resolve()) if asked.california else None!r}\n"
                 f"DATA = {str(asked.data.resolve()) if asked.data else None!r}\n")
        (folder / "offline.py").write_text(known + OFFLINE)
        files = [str(folder / "explainers" / name) for name in asked.files]
        environment = dict(PYTHONPATH=str(folder), MPLBACKEND="Agg")
        import os

        return subprocess.call([sys.executable, "-m", "pytest", "-p", "offline", "-q", "-W", "ignore", *files,
                                *pytest_options], cwd=folder,
                               env={**os.environ, **environment})


if __name__ == "__main__":
    sys.exit(main())
