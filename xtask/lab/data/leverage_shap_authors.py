"""Packs the runs used for the figures of the Leverage SHAP paper into leverage_shap_authors.csv.gz.

Usage: python leverage_shap_authors.py REPOSITORY, where REPOSITORY is a clone of
https://github.com/rtealwitter/leverageshap at commit 0de0a80. Needs only the standard library.
"""

import ast
import gzip
import io
import pathlib
import sys

RUNS = 100


def short(number):
    """Formats a number with five significant digits, e.g. `5.4786e-3`."""
    mantissa, exponent = f"{number:.4e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def rows(path):
    """Returns the rows of one file: all runs of one estimator in one setting."""
    dataset, estimator = path.stem.rsplit("_", 1)
    settings = {}
    for line in path.read_text().splitlines():
        run = ast.literal_eval(line)
        key = (run["n"], run["sample_size"], run["noise"], run.get("alpha", ""))
        settings.setdefault(key, []).append(run)
    for (players, size, noise, alpha), runs in settings.items():
        assert len(runs) == RUNS, (path, size, noise, alpha)
        key = [dataset, players, estimator, size, noise, alpha]
        yield key + ["error"] + [short(run["shap_error"]) for run in runs]
        if "weighted_error" in runs[0]:
            yield key + ["excess"] + [short(run["weighted_error"] - 1) for run in runs]
        # The norm is stored once per dataset, whose runs explain the same rows for all estimators and
        # settings.
        if estimator == "Kernel SHAP" and noise == 0 and size == 5 * players:
            yield key + ["squared norm"] + [short(run["shap_norm_sq"]) for run in runs]


text = io.StringIO()
text.write(",".join(["dataset", "n", "estimator", "m", "sigma", "alpha",
                     "quantity"] + [f"run{run}" for run in range(RUNS)]) + "\n")
for path in sorted((pathlib.Path(sys.argv[1]) / "output").glob("*.csv")):
    for row in rows(path):
        text.write(",".join('"' + str(cell) + '"' if "," in str(cell) else str(cell) for cell in row) + "\n")
target = pathlib.Path(__file__).with_name("leverage_shap_authors.csv.gz")
target.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
