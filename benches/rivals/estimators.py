"""Compares estimators of apportion, shapiq, shap and leverageshap on the same games, seeds and budgets.

    python benches/rivals/estimators.py --out FILE [--data ../shared] [--quick] [--only CLASS]
                                        [--section NAME] [--methods NAMES] [--report]

Sections: `values` (Shapley values), `banzhaf`, `pairs` (Shapley interaction indices of all pairs), `overhead`
(CPU time on a game of negligible cost), `use` (a callable model of 50 features, explained to an error of 1%).
Without --section, all of them run.

The error of an estimate is |estimate - true|² / |true|². The tables show the ratio of this error to that of
our paired Leverage SHAP on the same game, seed and budget: the median over games and seeds, with the 90%
quantile in brackets. Our methods draw the same coalitions for the same seed; other libraries draw separately.
Errors of Banzhaf values are relative to our Kernel Banzhaf without replacement (the stricter reference);
those of pairs are shown unchanged. Budgets of 2^n and more are skipped, since every estimator is or could be
exact there.

Games: XGBoost models from the directory --data (or APPORTION_DATA; models/NAME.json and data/NAME.csv;
missing ones are skipped and named) and models trained here on datasets of scikit-learn, with the column means
as the baseline or with 50 background rows; neural networks, support vectors and nearest neighbours; textbook
games; games with noise. True values are exact for trees (checked with shap's TreeExplainer in the same run),
enumerated for other games with up to 14 players, and in closed form for larger ones. A run counts each
coalition once; coalition values are cached for the other estimators, and the CPU time excludes the evaluation
of the game.

--out stores one line of JSON for each cell (game, seed, budget, estimator). Stored cells are not repeated
unless the game, the version of the library or the build of apportion changes: other libraries run once, and
each build of apportion runs again. --report prints the stored cells without running anything. `leverageshap`
is not in a package registry: clone https://github.com/rtealwitter/leverageshap, install tabulate, and pass
the directory with --leverageshap. Needs shap, shapiq, xgboost, lightgbm, pandas and scikit-learn. All runs
use one thread.
"""
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import contextlib
import importlib.metadata
import itertools
import json
import math
import pathlib
import subprocess
import sys
import time
import types
import warnings

import numpy as np

import apportion
from estimator_games import Games, agreement
from estimator_runs import build, estimators, is_rival, ours, rivals
from estimator_tables import BUDGETS, show

warnings.simplefilter("ignore")

SECTIONS = ("values", "banzhaf", "pairs", "overhead", "use")
# Maximum number of seconds for a run, as predicted from its time at a smaller budget.
PATIENCE = 30.0


class Cells:
    """The cells of this and earlier runs, stored as lines of JSON."""

    def __init__(self, path):
        self.path, self.kept = path, {}
        if path and path.exists():
            written = path.read_text()
            if written and not written.endswith("\n"):
                # A run was killed while it wrote a line.
                with path.open("a") as file:
                    file.write("\n")
            for line in written.splitlines():
                with contextlib.suppress(json.JSONDecodeError):
                    cell = json.loads(line)
                    self.kept[self.key(cell)] = cell

    @staticmethod
    def key(cell):
        return cell["section"], cell["class"], cell["game"], cell["seed"], cell["times"], cell["estimator"]

    def has(self, cell):
        found = self.kept.get(self.key(cell))
        return found is not None and (found["version"], found.get("mark")) == (
            cell["version"], cell.get("mark"))

    def add(self, cell):
        self.kept[self.key(cell)] = cell
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps(cell) + "\n")

    def of(self, section):
        return [cell for cell in self.kept.values() if cell["section"] == section]

    def drop_other_builds(self):
        """Ignores our cells from other builds of apportion in this run; they stay in the file."""
        others = {key for key,
                  cell in self.kept.items() if cell["section"] != "truth" and not is_rival(cell["estimator"])
                  and cell["version"] != build()}
        self.kept = {key: cell for key, cell in self.kept.items() if key not in others}
        if others:
            print(f"{len(others)} cells of other builds of apportion are omitted")


def measured(game, section, run, budget, seed):
    """Runs an estimator; returns its error, evaluations, CPU time outside the game, and interval coverage."""
    true = game.truth(section)
    game.ours()
    game.begin()
    started = time.process_time()
    try:
        found = run(game, budget, seed)
        seconds = time.process_time() - started - game.seconds
        values = np.asarray(found.values, dtype=float)
        told = {"error": float(((values - true) ** 2).sum() / (true**2).sum())}
        if not math.isfinite(told["error"]):
            told = {"problem": "the values are not finite"}
        elif found.low is not None:
            slack = 1e-9 * np.linalg.norm(true)
            # Intervals of values with an unknown error have infinite ends and do not count.
            stated = np.isfinite(found.low) & np.isfinite(found.high)
            held = (found.low - slack <= true) & (true <= found.high + slack)
            told |= {"players": len(true), "intervals": int(stated.sum()),
                     "covered": int((held & stated).sum())}
        if found.chose:
            told["chose"] = found.chose
    except Exception as problem:
        seconds = time.process_time() - started - game.seconds
        told = {"problem": f"{type(problem).__name__}: {problem}"[:200]}
    return told | {"evaluations": game.evaluations, "asked": game.asked, "cpu": round(seconds, 5)}


def run_games(section, games, runners, cells, seeds, budgets, only, late):
    """Runs all estimators on all games, seed by seed, so that a truncated run covers all classes."""
    slow = {}
    for seed in seeds:
        for name, makers in games.classes().items():
            if only and only.lower() not in name.lower():
                continue
            for make in makers:
                game = make(seed)
                if game is None or game.truth(section) is None or not (game.truth(section) ** 2).sum() > 0:
                    continue
                mark = game.mark()
                if section == "values" and (seed == 0 or "booster" in game.about):
                    cell = {"section": "truth", "class": name, "game": game.name, "seed": seed, "times": 0,
                            "estimator": "shap TreeExplainer", "mark": mark,
                            "version": importlib.metadata.version("shap")}
                    if "booster" in game.about and not cells.has(cell):
                        cells.add(cell | {"difference": agreement(game)})
                for times, (estimator, (version, run, most)) in itertools.product(budgets, runners.items()):
                    budget = times * game.players
                    if game.players > most or budget >= 2**game.players:
                        continue
                    cell = {"section": section, "class": name, "game": game.name, "seed": seed,
                            "times": times, "estimator": estimator, "mark": mark,
                            "version": version, "players_of_game": game.players, "budget": budget}
                    if cells.has(cell):
                        continue
                    at, took = slow.get((estimator, game.players), (budget, 0.0))
                    if took * (budget / at) ** 2 > PATIENCE:
                        cells.add(cell | {"problem": f"left out: it took {took:.0f} s at a budget of {at}",
                                          "slow": True})
                        continue
                    if late():
                        return
                    told = measured(game, section, run, budget, seed)
                    slow[estimator, game.players] = budget, told["cpu"]
                    cells.add(cell | told)
        print(f"{section}: seed {seed} is done", flush=True)


# Overhead

OVERHEAD = ((100, 2_000), (100, 10_000), (300, 3_000), (1_000, 20_000), (10_000, 100_000))


def overhead_once(estimator, players, budget):
    """Prints the CPU time outside the game and the peak memory of this process."""
    random = np.random.default_rng(5)
    weights, pairs = random.normal(size=players), random.choice(players, (players, 2))
    spent = 0.0

    def value(asked):
        nonlocal spent
        started = time.process_time()
        asked = np.atleast_2d(np.asarray(asked))
        # Avoids a copy of the coalitions, which take a gigabyte for the largest number of players and budget.
        asked = asked if asked.dtype == bool else asked > 0.5
        answers = np.concatenate([part @ weights + (part[:, pairs[:, 0]] & part[:, pairs[:, 1]]).sum(axis=1)
                                  for part in np.array_split(asked, max(1, len(asked) * players // 500_000))])
        spent += time.process_time() - started
        return answers

    if estimator.startswith("shapiq "):
        run, game = rivals("values", None)[estimator][1], value
        value.players = players
    else:
        run, game = ours("values", estimator), types.SimpleNamespace(
            players=players, ours=lambda made=apportion.Game(value, players): made)
    spent, started = 0.0, time.process_time()
    found = run(game, budget, 0)
    seconds = time.process_time() - started - spent
    # getrusage reports the peak memory of the parent if that is higher.
    status = pathlib.Path("/proc/self/status")
    high = next((line for line in status.read_text().splitlines() if line.startswith("VmHWM")),
                None) if status.exists() else None
    print(json.dumps({"cpu": seconds, "memory": None if high is None else int(high.split()[1]) / 1024,
                      "chose": found.chose}))


def run_overhead(cells, methods, is_quick):
    known = {name for name, _ in apportion.methods()}
    names = [name for name in methods or ("auto", "learned-spectrum", "leverage-shap") if name in known]
    for players, budget in OVERHEAD[:3] if is_quick else OVERHEAD:
        for estimator in [*names, "shapiq OddSHAP"]:
            # The learned spectrum stores several numbers per player and pair: 20 GB for the largest setting.
            if (estimator.startswith("shapiq") and players > 300
                    or estimator == "learned-spectrum" and players > 1000):
                continue
            cell = {"section": "overhead", "class": f"({players}, {budget})", "game": "free", "seed": 0,
                    "times": 0, "estimator": estimator,
                    "version": importlib.metadata.version("shapiq") if estimator.startswith("shapiq")
                    else build()}
            if cells.has(cell):
                continue
            try:
                told = subprocess.run([sys.executable, __file__, "--once", estimator, str(players),
                                       str(budget)], capture_output=True, text=True, timeout=400)
                said = told.stderr.strip().splitlines() or [f"exit status {told.returncode}"]
                cells.add(cell | (json.loads(told.stdout.splitlines()[-1]) if told.returncode == 0
                                  else {"problem": said[-1][:200]}))
            except subprocess.TimeoutExpired:
                cells.add(cell | {"problem": "more than 400 s"})
    print("overhead is done", flush=True)


# A practical use

def run_use(cells, methods, is_quick):
    """Measures the evaluations for an error of 1% on a callable model of 50 features."""
    import shap
    import xgboost

    random = np.random.default_rng(0)
    players, count = 50, 20 if is_quick else 1000
    data = random.normal(size=(4000, players))
    target = data @ (3 / np.arange(1, players + 1)) + data[:, 0] * data[:, 1] * data[
        :, 2] + np.sin(2 * data[:, 3])
    target += 1.5 * (data[:, 4] + data[:, 5] > 0.5) * data[:, 6]
    booster = xgboost.XGBRegressor(n_estimators=200, max_depth=4, n_jobs=1, random_state=0).fit(
        data, target).get_booster()
    rows, background = data[:count].astype(np.float32).astype(float), data[
        -10:].astype(np.float32).astype(float)
    true = apportion.TreeExplainer(booster, background)(rows).values
    asked = 0

    def model(mixed):
        nonlocal asked
        asked += len(mixed)
        return booster.inplace_predict(np.asarray(mixed, dtype=np.float32)).astype(float)

    def errors(found):
        return np.linalg.norm(found - true[: len(found)], axis=1) / np.linalg.norm(true[: len(found)], axis=1)

    known = {name for name, _ in apportion.methods()}
    for method in [name for name in methods or (
        "auto", "learned-spectrum", "leverage-shap") if name in known]:
        cell = {"section": "use", "class": f"{count} rows", "game": "50 features", "seed": 0, "times": 0,
                "estimator": f"{method}, until=0.01", "version": build()}
        if cells.has(cell):
            continue
        asked, started = 0, time.process_time()
        try:
            found = apportion.Explainer(model, background, method=method, until=0.01, threads=1)(rows)
            seen = errors(found.values)
            cells.add(cell | {"evaluations": float(np.mean(found.evaluations)), "model_rows": asked / count,
                              "worst": float(seen.max()),
                              "within": float((seen <= 0.01).mean()), "rows": count,
                              "cpu": (time.process_time() - started) / count})
        except Exception as problem:
            cells.add(cell | {"problem": f"{type(problem).__name__}: {problem}"[:200]})

    kernel = shap.KernelExplainer(model, background)
    permutation = shap.PermutationExplainer(model, shap.maskers.Independent(background), seed=0)
    theirs = {"shap Kernel": lambda row,
              budget: kernel.shap_values(row, nsamples=budget - 2, l1_reg=0, silent=True),
              "shap Permutation": lambda row, budget: permutation(row, max_evals=budget, silent=True).values}
    few = 5 if is_quick else 20
    for name, run in theirs.items():
        cell = {"section": "use", "class": f"{count} rows", "game": "50 features", "seed": 0, "times": 0,
                "estimator": name,
                "version": importlib.metadata.version("shap")}
        if cells.has(cell):
            continue
        needed, started = [], time.process_time()
        for place in range(few):
            np.random.seed(place)
            # Users do not know the true error; this finds the first of these budgets with which it is small
            # enough.
            for times in (5, 10, 20, 50, 100, 200, 500):
                found = np.reshape(run(rows[place : place + 1], times * players), (1, players))
                if np.linalg.norm(found[0] - true[place]) <= 0.01 * np.linalg.norm(true[place]):
                    needed.append(times * players)
                    break
        cells.add(cell | {"evaluations": float(np.mean(needed)) if needed else None, "rows": few,
                          "within": len(needed) / few,
                          "cpu": (time.process_time() - started) / few})
    print("use is done", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("APPORTION_DATA", "../shared"),
                        help="directory with models/ and data/")
    parser.add_argument("--out", type=pathlib.Path,
                        help="file of cells, one line of JSON each; new cells are appended")
    parser.add_argument("--quick", action="store_true",
                        help="one seed, fewer rows and smaller cases; takes a few minutes")
    parser.add_argument("--seeds", type=int, help="number of rows per model (default: 10, or 1 with --quick)")
    parser.add_argument("--only", help="run only classes whose name contains this text")
    parser.add_argument("--section", choices=SECTIONS, action="append")
    parser.add_argument("--methods", help="methods of apportion, separated by commas")
    parser.add_argument("--ours-only", action="store_true",
                        help="do not run rivals, but show their stored cells")
    parser.add_argument("--budgets", help="multiples of n, separated by commas")
    parser.add_argument("--minutes", type=float, default=math.inf,
                        help="stop after this time and show the results so far")
    parser.add_argument("--leverageshap", help="directory of a clone of rtealwitter/leverageshap")
    parser.add_argument("--report", action="store_true",
                        help="print the stored cells without running anything")
    parser.add_argument("--once", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        return overhead_once(asked.once[0], int(asked.once[1]), int(asked.once[2]))
    apportion.set_threads(1)
    cells, games = Cells(asked.out), Games(asked.data)
    classes = list(games.classes())
    if asked.only and not any(asked.only.lower() in name.lower() for name in classes):
        parser.error(f"no class name contains {asked.only!r}; available classes: {', '.join(classes)}")
    methods = asked.methods.split(",") if asked.methods else None
    budgets = [int(each) for each in asked.budgets.split(",")] if asked.budgets else list(BUDGETS)
    seeds = range(asked.seeds or (1 if asked.quick else 10))
    end = time.monotonic() + 60 * asked.minutes

    def late():
        return time.monotonic() > end

    for section in () if asked.report else asked.section or SECTIONS:
        if late():
            break
        if section == "overhead":
            run_overhead(cells, methods, asked.quick)
        elif section == "use":
            run_use(cells, methods, asked.quick)
        else:
            runners = estimators(section, methods, asked.leverageshap, asked.ours_only)
            chosen = budgets if section == "values" else [times for times in budgets if times >= 5]
            run_games(section, games, runners, cells, seeds, chosen, asked.only, late)
    if not asked.leverageshap and not asked.report:
        print("leverageshap is skipped because it is not in any registry; pass a clone with --leverageshap")
    for path in sorted(games.missing):
        print(f"{path} is missing; its games are skipped")
    if not asked.report:
        cells.drop_other_builds()
    show(cells, methods)


if __name__ == "__main__":
    main()
