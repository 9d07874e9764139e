#!/usr/bin/env python3
"""Times path-dependent values of tree ensembles: Apportion, XGBoost's pred_contribs and shapiq.

    python3 benches/rivals/trees.py --workdir DIR [--binary target/release/tree_explainer] [--models a,b]
                                    [--rounds 3] [--out FILE.json]

DIR contains MODEL.json (XGBoost) and DATA.X.npy (rows), where DATA is MODEL up to the first underscore; and
optionally truth_MODEL.npz with `pd_sv` and `pd_bz`, the enumerated values of the first rows. The interpreter
needs xgboost (3.3 or later for its newest algorithm), numpy and, for the columns of shapiq, shapiq (1.8) with
scikit-learn; missing libraries are skipped and named.

Runs use one thread; times are CPU seconds excluding loading: the minimum over the rounds, each of which runs
all tools in turn. Runs with two threads are measured in wall-clock time, which is meaningful only on an idle
machine.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import xgboost

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = "cal_xgb100_4,cal_xgb500_6,cal_xgb1000_8,wide_xgb500_6"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workdir", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "target" / "release" / "tree_explainer")
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path)
    return parser.parse_args()


def cpu_us_per_row(work, rows, least_seconds=0.3):
    """Returns the minimum CPU time per row over runs of `least_seconds` in total, and the result."""
    times = []
    while sum(times) < least_seconds:
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times) * 1e6 / rows, result


def ours(binary, model, rows, value, threads, out="-"):
    command = [binary, model, rows, value, str(threads), "7"] + ([out] if out != "-" else [])
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def shapiq_explainers(model):
    """Returns functions from a row to its feature attributions by name of the value, and the version."""
    try:
        import shapiq
    except ImportError as missing:
        print(f"shapiq is skipped: {missing}", file=sys.stderr)
        return {}, None
    regressor = xgboost.XGBRegressor()
    regressor.load_model(model)

    def explainer(index):
        outer = shapiq.TreeExplainer(regressor, index=index, max_order=1, backend="shapiq",
                                     mode="pathdependent")
        outer._init_explainers()
        return outer._pathdependent_explainer.explain

    return {"shapley": explainer("SV"), "banzhaf": explainer("BV")}, shapiq.__version__


def by_rows(explain, rows):
    values = np.zeros(rows.shape)
    for row, into in zip(rows, values):
        for players, value in explain(row).interactions.items():
            if len(players) == 1:
                into[players[0]] = value
    return values


def compare(arguments, name):
    model = arguments.workdir / f"{name}.json"
    row_file = arguments.workdir / f"{name.split('_')[0]}.X.npy"
    rows = np.load(row_file)
    booster = xgboost.Booster(model_file=model)
    booster.set_param({"nthread": 1})
    matrix = xgboost.DMatrix(rows, nthread=1)
    explainers, shapiq_version = shapiq_explainers(model)
    # Use fewer rows for shapiq, whose time per row does not depend on the number of rows.
    some = rows[:100]
    times = {}

    def note(key, microseconds):
        times.setdefault(key, []).append(microseconds)

    with tempfile.TemporaryDirectory() as folder:
        result = dict(model=name, rows=len(rows), xgboost=xgboost.__version__, shapiq=shapiq_version)
        for _ in range(arguments.rounds):
            for value in ("shapley", "banzhaf"):
                out = pathlib.Path(folder) / f"{value}.npy"
                mine = ours(arguments.binary, model, row_file, value, 1, out)
                note(f"{value} ours", mine["cpu_us_per_row"])
                note(f"{value} ours, one row", mine["one_row_us"])
                note(f"{value} ours, two threads, wall",
                     ours(arguments.binary, model, row_file, value, 2)["wall_us_per_row"])
                note(f"{value} ours, one thread, wall", mine["wall_us_per_row"])
                note("prediction ours", mine["predict_cpu_us_per_row"])
                note("tree explainer ours, ms", mine["build_ms"])
                result[f"{value} peak MiB"] = mine["peak_mib"]
                result["loaded MiB"] = mine["peak_mib_loaded"]
                values = np.load(out)
                if value == "shapley":
                    result["additivity"] = mine["additivity"]
                    microseconds, theirs = cpu_us_per_row(
                        lambda: booster.predict(matrix, pred_contribs=True), len(rows))
                    note("shapley xgboost", microseconds)
                    result["difference from xgboost"] = float(np.abs(theirs[:, :-1] - values).max())
                    one = xgboost.DMatrix(rows[:1], nthread=1)
                    note("shapley xgboost, one row",
                         cpu_us_per_row(lambda: booster.predict(one, pred_contribs=True), 1)[0])
                    note("prediction xgboost",
                         cpu_us_per_row(lambda: booster.inplace_predict(rows, predict_type="margin"),
                                        len(rows))[0])
                if value in explainers:
                    microseconds, theirs = cpu_us_per_row(lambda: by_rows(explainers[value], some), len(some))
                    note(f"{value} shapiq", microseconds)
                    result[f"{value} difference from shapiq"] = float(np.abs(
                        theirs - values[: len(some)]).max())
                truth = arguments.workdir / f"truth_{name}.npz"
                if truth.exists():
                    wanted = np.load(truth)["pd_sv" if value == "shapley" else "pd_bz"]
                    result[f"{value} error"] = float(np.abs(values[: len(wanted)] - wanted).max())
    result.update({key: min(list) for key, list in times.items()})
    return result


def main():
    arguments = parse_arguments()
    if not arguments.binary.exists():
        command = ["cargo", "build", "--release", "--quiet", "-p", "apportion-benches", "--bin",
                   "tree_explainer"]
        subprocess.run(command, cwd=ROOT, check=True)
    results = []
    for name in arguments.models.split(","):
        result = compare(arguments, name)
        results.append(result)
        print(name)
        for key, number in result.items():
            print(f"    {key:38} {number:.4g}" if isinstance(number, float) else f"    {key:38} {number}")
        for value, rival in [("shapley", "xgboost"), ("shapley", "shapiq"), ("banzhaf", "shapiq")]:
            if f"{value} {rival}" in result:
                print(f"    {value}: {rival} takes "
                      f"{result[f'{value} {rival}'] / result[f'{value} ours']:.1f} times as long")
        print(f"    shapley: {result['shapley ours'] / result['prediction ours']:.1f} times our prediction, "
              f"{result['shapley ours'] / result['prediction xgboost']:.1f} times xgboost's")
        sys.stdout.flush()
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
