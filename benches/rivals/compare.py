#!/usr/bin/env python3
"""Times Apportion and other Python libraries in one run, on the same model file and rows, and prints ratios.

    python3 benches/rivals/compare.py [--data DIR] [--venv DIR] [--sections trees,overhead] [--repeat 5]
                                      [--out FILE.json]

Creates a virtual environment (shap, xgboost, numpy, pandas) in target/rivals-venv unless --venv names one,
and builds the release binaries. DIR contains data/*.csv and models/*.json (default: ../shared if it exists);
without it, the data in xtask/lab/data are used.

All runs use one thread. Times are CPU seconds, excluding the loading of models and files: the minimum over
the repetitions, each of which runs all tools in turn.

Sections:
  trees      interventional Shapley values of a tree ensemble: shap.TreeExplainer against
             `apportion explain --method tree`. shap samples 100 rows of a background array, so an explicit
             masker makes it use all rows.
  overhead   cost of the estimators on a game of negligible cost: shap.KernelExplainer (l1_reg off) and a
             plain numpy implementation of Leverage SHAP (dense rows, numpy.linalg.lstsq) against the
             `overhead` program.
"""
import argparse
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ["shap==0.51.0", "xgboost==3.2.0", "numpy", "pandas"]
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[variable] = "1"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "target" / "rivals-venv")
    parser.add_argument("--sections", default="trees,overhead")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--background", type=int, default=100)
    parser.add_argument("--out", type=pathlib.Path)
    return parser.parse_args()


def enter_environment(venv):
    """Creates the environment unless it exists, and restarts this script in it."""
    python = venv / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() == venv.resolve():
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    os.execv(python, [str(python), *sys.argv])


def build():
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "-p", "apportion-cli", "-p", "apportion-benches"],
        cwd=ROOT, check=True
    )
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return (target if target.is_absolute() else ROOT / target) / "release"


def cpu_seconds(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def report(section, name, unit, times, ours):
    """Prints one comparison and returns it."""
    best, our_best = min(times), min(ours)
    print(f"{section:9} {name:44} {best * unit[0]:12.3f} {unit[1]:10} ours {our_best * unit[0]:12.4f}   "
          f"ratio {best / our_best:8.1f}")
    sys.stdout.flush()
    return dict(section=section, name=name, rival_cpu_s=times, ours_cpu_s=ours, ratio=best / our_best)


# ---------------------------------------------------------------------------------------------- trees


def tree_cases(data, rows, background):
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    if (data / "models").is_dir():
        names = ["california", "diabetes", "communities"]
        find = lambda name: (data / "models" / f"{name}_xgb.json", data / "data" / f"{name}.csv")
    else:
        names = ["diabetes"]
        find = lambda name: (ROOT / "xtask" / "lab" / "data" / f"{name}_xgb.json.gz",
                             ROOT / "xtask" / "lab" / "data" / f"{name}.csv.gz")
    for name in names:
        model, table = find(name)
        features = pd.read_csv(table).drop(columns=["target"]).to_numpy(np.float64)
        yield name, model, features[rng.choice(
            len(features), min(rows, len(features)), replace=False)], "mean", features.mean(0)[None]
        yield (
            name,
            model,
            features[rng.choice(len(features), min(rows, len(features)), replace=False)],
            str(background),
            features[rng.choice(len(features), min(background, len(features)), replace=False)],
        )


def trees(arguments, binaries):
    import numpy as np
    import shap
    import xgboost

    results = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, model, rows, label, background in tree_cases(
            arguments.data, arguments.rows, arguments.background):
            plain = folder / "model.json"
            with (gzip.open if model.suffix == ".gz" else open)(model, "rb") as source, open(
                plain, "wb") as sink:
                shutil.copyfileobj(source, sink)
            np.save(folder / "rows.npy", rows)
            np.save(folder / "background.npy", background)
            booster = xgboost.Booster()
            booster.load_model(plain)
            masker = shap.maskers.Independent(background, max_samples=len(background))
            command = [binaries / "apportion", "explain", "--model", plain, "--rows", folder / "rows.npy",
                       "--background",
                       folder / "background.npy", "--method", "tree", "--threads", "1", "--timings",
                       "--format", "npy",
                       "--out", folder / "ours.npy"]
            theirs, ours = [], []
            for _ in range(arguments.repeat):
                explainer = shap.TreeExplainer(booster, masker, feature_perturbation="interventional")
                seconds, values = cpu_seconds(lambda: explainer.shap_values(rows, check_additivity=False))
                theirs.append(seconds)
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                ours.append(json.loads(done.stderr.strip().splitlines()[-1])["explain_s"])
            mine = np.load(folder / "ours.npy").reshape(values.shape)
            # shap does not convert rows to float32, so a row at a threshold may take the other branch.
            gap = np.median(np.abs(mine - values))
            result = report("trees", f"{name} {len(rows)} rows x {label} background",
                            (1e6 / len(rows), "us/row"), theirs, ours)
            results.append(dict(result, median_difference=float(gap)))
    return results


# ------------------------------------------------------------------------------------------- overhead


def numpy_leverage_shap(players, budget, rng):
    """Returns values by a plain numpy implementation: pairs, equally likely sizes, dense rows, lstsq."""
    import numpy as np

    pairs = (budget - 2) // 2
    sizes = 1 + np.arange(pairs) * (players // 2) // pairs
    rows = np.zeros((2 * pairs, players))
    for pair, size in enumerate(sizes):
        rows[2 * pair, rng.choice(players, size, replace=False)] = 1
    rows[1::2] = 1 - rows[::2]
    weights = np.repeat(1.0 / (sizes * (players - sizes)), 2)
    values, total = rows.sum(1), float(players)
    centred = rows - rows.mean(1, keepdims=True)
    targets = values - rows.sum(1) * total / players
    scale = np.sqrt(weights)
    return np.linalg.lstsq(scale[:, None] * centred, scale * targets, rcond=None)[0] + total / players


def overhead(arguments, binaries):
    import numpy as np
    import shap

    results = []
    for players, budget in [(100, 1_000), (100, 10_000), (1000, 10_000)]:
        repeat = arguments.repeat if players * budget < 5_000_000 else min(arguments.repeat, 2)
        ours = {}
        for method in ("leverage-shap", "optimized-kernel-shap"):
            done = subprocess.run([binaries / "overhead", method, str(players), str(budget)], check=True,
                                  capture_output=True, text=True)
            ours[method] = [json.loads(done.stdout)["cpu_s"]]
        kernel, plain = [], []
        for seed in range(repeat):
            np.random.seed(seed)
            explainer = shap.KernelExplainer(lambda z: z.sum(1), np.zeros((1, players)))
            seconds, _ = cpu_seconds(
                lambda: explainer.shap_values(np.ones((1, players)), nsamples=budget - 2, l1_reg=0,
                                              silent=True)
            )
            kernel.append(seconds)
            seconds, _ = cpu_seconds(lambda: numpy_leverage_shap(
                players, budget, np.random.default_rng(seed)))
            plain.append(seconds)
        label = f"n={players} m={budget}"
        results.append(report("overhead", f"shap KernelExplainer, {label}", (1e3, "ms"), kernel,
                              ours["optimized-kernel-shap"]))
        results.append(report("overhead", f"shap KernelExplainer / Leverage SHAP, {label}", (1e3, "ms"),
                              kernel, ours["leverage-shap"]))
        results.append(report("overhead", f"numpy Leverage SHAP, {label}", (1e3, "ms"), plain,
                              ours["leverage-shap"]))
    return results


def main():
    arguments = parse_arguments()
    enter_environment(arguments.venv)
    binaries = build()
    results = []
    for section in arguments.sections.split(","):
        results += {"trees": trees, "overhead": overhead}[section](arguments, binaries)
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
