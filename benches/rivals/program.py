#!/usr/bin/env python3
"""Measures the overhead of prediction programs (`--predict`) relative to the time of their model.

    python3 benches/rivals/program.py BINARY [--rows 1000] [--model forest,boosting,perceptron,linear]
                                      [--format csv,arrow] [--threads T]

BINARY is the `apportion` command. The interpreter needs numpy, pandas, pyarrow and scikit-learn. Models of 12
features are explained by leverage-shap with 10n evaluations per row and 50 background rows, through the
servers of docs/predict_program.md, which here measure their time in `model.predict`. Each line of the table
shows the rows predicted; the seconds of the model, of the start of the server until its first batch, and of
the whole run; and the overhead: the time of the run without the start and the model, relative to the time of
the model. The last column is the overhead in CPU time of both processes, which depends less on other load on
the machine.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor

FEATURES, BACKGROUND = 12, 50
MODELS = {
    "forest": RandomForestRegressor(100, max_depth=10, random_state=0),
    "boosting": HistGradientBoostingRegressor(max_iter=200, random_state=0),
    "perceptron": MLPRegressor(hidden_layer_sizes=(100, 100), max_iter=30, random_state=0),
    "linear": LinearRegression(),
}

MEASURED = """
import atexit, json, time
START = time.time()
class Timed:
    def __init__(self, model):
        self.model, self.seconds, self.processor, self.rows, self.first = model, 0.0, 0.0, 0, None
        atexit.register(self.tell)
    def predict(self, table):
        if self.first is None:
            self.first = time.time()
        begun, processor = time.perf_counter(), time.process_time()
        outputs = self.model.predict(table)
        self.seconds += time.perf_counter() - begun
        self.processor += time.process_time() - processor
        self.rows += len(table)
        return outputs
    def tell(self):
        told = {"model": self.seconds, "model_processor": self.processor, "rows": self.rows,
                "first": self.first}
        json.dump(told, open("told.json", "w"))
"""


def server(page, heading):
    """Returns the server in the documentation, extended to measure its model."""
    code = page.split(f"\n## {heading}\n")[1].split("```python\n")[1].split("\n```")[0]
    return MEASURED + code.replace('joblib.load("model.joblib")', 'Timed(joblib.load("model.joblib"))')


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("binary")
    arguments.add_argument("--rows", type=int, default=1000)
    arguments.add_argument("--model", default=",".join(MODELS))
    arguments.add_argument("--format", default="csv,arrow")
    arguments.add_argument("--threads", default="0")
    options = arguments.parse_args()
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/predict_program.md").read_text()
    random = np.random.default_rng(0)
    names = [f"x{feature}" for feature in range(FEATURES)]
    table = pd.DataFrame(random.normal(size=(max(options.rows, 5000), FEATURES)), columns=names)
    target = table["x0"] * table["x1"] + np.sin(3 * table["x2"]) + table[names[3:]].sum(axis=1)
    print(f"{'model':>10} {'format':>6} {'rows':>9} {'model s':>8} {'start s':>8} {'run s':>8} "
          f"{'overhead':>9} {'CPU overhead':>13}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        table[: options.rows].to_csv(folder / "rows.csv", index=False)
        table[-BACKGROUND:].to_csv(folder / "background.csv", index=False)
        (folder / "csv.py").unlink(missing_ok=True)
        for name in options.model.split(","):
            joblib.dump(MODELS[name].fit(table, target), folder / "model.joblib")
            results = set()
            for form in options.format.split(","):
                (folder / "server.py").write_text(server(
                    page, "Python, CSV" if form == "csv" else "Python, Arrow"))
                command = [
                    options.binary, "explain", "--predict", f"exec {sys.executable} -W ignore server.py",
                    "--predict-format", form,
                    "--rows", "rows.csv", "--background", "background.csv", "--method", "leverage-shap",
                    "--budget", "10n",
                    "--threads", options.threads, "--format", "csv", "--out", f"{form}.csv",
                ]
                begun, processor = time.time(), seconds_of_children()
                subprocess.run(command, cwd=folder, check=True, stderr=subprocess.DEVNULL)
                run, processor = time.time() - begun, seconds_of_children() - processor
                told = json.loads((folder / "told.json").read_text())
                start, model = told["first"] - begun, told["model"]
                overhead = (run - start - model) / model
                # Subtract the start from the CPU time, too: the server is busy throughout the start.
                beside = (processor - start - told["model_processor"]) / told["model_processor"]
                print(f"{name:>10} {form:>6} {told['rows']:>9} {model:8.1f} {start:8.1f} {run:8.1f} "
                      f"{overhead:9.1%} {beside:13.1%}", flush=True)
                results.add((folder / f"{form}.csv").read_bytes())
            if len(results) > 1:
                print(f"{name}: the results of the two formats are not bitwise identical")


if __name__ == "__main__":
    main()
