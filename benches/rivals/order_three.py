#!/usr/bin/env python3
"""Times and compares interaction indices of order 3 computed by Apportion and shapiq on the same trees.

    cargo build --release -p apportion-benches --bin tree_explainer
    python3 benches/rivals/order_three.py [--binary target/release/tree_explainer] [--rows 20]
                                          [--background 50] [--order 3]

The interpreter needs xgboost, numpy and shapiq (1.8). All runs use one thread; times are CPU microseconds per
row without loading. The times of shapiq, and one column of ours, are for single rows; our other column is the
time per row for 1000 rows at once, including their share of the work that is done once.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy
import xgboost
from shapiq.tree import TreeExplainer

warnings.simplefilter("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "target" / "release" / "tree_explainer")
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--background", type=int, default=50)
    parser.add_argument("--order", type=int, default=3)
    return parser.parse_args()


def model(features, trees, depth):
    random = numpy.random.default_rng(0)
    rows = random.normal(size=(3000, features)).astype(numpy.float32)
    labels = rows[:, 0] * rows[:, 1] * rows[:, 2] + numpy.sin(rows[:, 3]) * rows[
        :, 4] + 0.1 * random.normal(size=len(rows))
    fitted = xgboost.XGBRegressor(n_estimators=trees, max_depth=depth, learning_rate=0.1, n_jobs=1,
                                  base_score=0.0)
    return fitted.fit(rows, labels), rows


def ours(options, folder, index, background):
    told = ["--indices", index, "--order",
            str(options.order)] + (["--background", str(folder / "background.npy")] if background else [])
    files = [str(folder / "model.json"), str(folder / "rows.npy"), "shapley", "1", "2",
             str(folder / "out.txt")]
    said = subprocess.run([options.binary, *files, *told], check=True, capture_output=True, text=True).stdout
    lines = (folder / "out.txt").read_text().splitlines()
    values = {tuple(map(int, members.split(","))): float(value) for members, value in map(str.split, lines)}
    return json.loads(said), values


def theirs(options, fitted, rows, index, background):
    mode = {"mode": "interventional",
            "reference_dataset": background} if background is not None else {"mode": "pathdependent"}
    explainer = TreeExplainer(fitted, max_order=options.order, index=index, **mode)
    first = explainer.explain(rows[0])
    start = time.process_time()
    for row in rows[: options.rows]:
        explainer.explain(row)
    return (time.process_time() - start) / options.rows * 1e6, first


def main():
    options = parse_arguments()
    print("game, index, features, trees, depth: us per row of shapiq, ours (1000 rows), ours (one row), "
          "largest difference in the first row")
    for features, trees, depth in [(10, 100, 4), (20, 100, 6), (60, 300, 6)]:
        fitted, rows = model(features, trees, depth)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            fitted.get_booster().save_model(folder / "model.json")
            numpy.save(folder / "rows.npy", rows[:1000])
            numpy.save(folder / "background.npy", rows[1000 : 1000 + options.background])
            for game, index in [("path-dependent", "k-SII"), ("marginal", "SII"), ("marginal", "STII")]:
                background = rows[1000 : 1000 + options.background] if game == "marginal" else None
                said, values = ours(options, folder, index, background is not None)
                try:
                    peer, first = theirs(options, fitted, rows, index, background)
                    found = {members: value for members, value in first.dict_values.items() if members}
                    gap = max(abs(values.get(members, 0.0) - found.get(members, 0.0)) for members in {
                        *values, *found})
                except (ValueError, NotImplementedError) as refused:
                    peer, gap = float("nan"), float("nan")
                    print(refused)
                print(
                    f"{game}, {index}, {features}, {trees}, {depth}: {peer:.0f}, "
                    f"{said['cpu_us_per_row']:.0f}, {said['one_row_us']:.0f}, {gap:.1e}"
                    f" ({said['coalitions']} coalitions)",
                    flush=True,
                )


if __name__ == "__main__":
    main()
