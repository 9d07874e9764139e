"""Tables of `estimators.py`: errors relative to the reference, coverage, overhead, and targets."""
import collections
import math

import numpy as np

from estimator_runs import REFERENCE, is_rival

# Multiples of the number of players.
BUDGETS = (2, 3, 5, 10, 20, 50)
# Relative errors below 1e-8 count as rounding: on additive games, all regressions are exact.
ROUNDING = 1e-16


def ratios(cells, section):
    """Returns errors over those of the reference for the same game and seed, by class, budget, estimator."""
    by_game = collections.defaultdict(dict)
    for cell in cells.of(section):
        if "error" in cell:
            by_game[cell["class"], cell["game"], cell["seed"],
                    cell["times"]][cell["estimator"]] = max(cell["error"], ROUNDING)
    found = collections.defaultdict(list)
    for (name, _, _, times), errors in by_game.items():
        divisor = errors.get(REFERENCE[section]) if section in REFERENCE else 1.0
        for estimator, error in errors.items() if divisor else ():
            found[name, times, estimator].append(error / divisor)
    return found


def number(value):
    if 0.095 <= value < 100:
        return f"{value:.2f}"
    return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def best_rival(found, name, times):
    """Returns (median, name) of the best other library on at least half of the games, or None."""
    most = max((len(each) for (of, at, _), each in found.items() if (of, at) == (name, times)), default=0)
    told = [(float(np.median(each)), estimator) for (of, at, estimator), each in found.items()
            if (of, at) == (name, times) and is_rival(estimator) and len(each) >= most / 2]
    return min(told, default=None)


def over_rivals(cells, section, group, times, method):
    """Returns (median, name) of the ratios of the method's error to that of each other library.

    Only libraries that run on at least half of the games count.
    """
    by_game = collections.defaultdict(dict)
    for cell in cells.of(section):
        if cell["class"] in group and cell["times"] == times and "error" in cell:
            by_game[cell["class"], cell["game"], cell["seed"]][cell["estimator"]] = max(
                cell["error"], ROUNDING)
    games = [errors for errors in by_game.values() if method in errors]
    told = []
    for rival in {estimator for errors in games for estimator in errors if is_rival(estimator)}:
        both = [errors[method] / errors[rival] for errors in games if rival in errors]
        if len(both) >= len(games) / 2:
            told.append((float(np.median(both)), rival))
    return told


def show_ratios(cells, section):
    found = ratios(cells, section)
    names = list(dict.fromkeys(name for name, _, _ in found))
    unit = {"values": "squared error relative to Leverage SHAP",
            "banzhaf": "squared error relative to Kernel Banzhaf (without replacement)",
            "pairs": "squared error relative to the sum of squares"}[section]
    print(f"\n## {section}: {unit}; median [90% quantile]")
    by_estimator = collections.defaultdict(list)
    for cell in cells.of(section):
        by_estimator[cell["class"], cell["estimator"]].append(cell)
    for name in names:
        count = max(len(each) for (of, _, _), each in found.items() if of == name)
        print(f"\n### {name} ({count} games)\n\n| estimator |" + "".join(f" {times}n |" for times in BUDGETS)
              + " CPU ms at 20n | evaluations used |")
        print("|---|" + "---|" * (len(BUDGETS) + 2))
        for estimator in dict.fromkeys(estimator for of, _, estimator in found if of == name):
            shown = [found.get((name, times, estimator)) for times in BUDGETS]
            told = by_estimator[name, estimator]
            cpu = [cell["cpu"] for cell in told if cell["times"] == 20 and "error" in cell]
            used = [cell["evaluations"] / cell["budget"] for cell in told if "error" in cell]
            print(f"| {estimator} |"
                  + "".join(f" {number(np.median(each))} [{number(np.quantile(each, 0.9))}] |" if each
                            else " |" for each in shown)
                  + (f" {np.median(cpu) * 1e3:.1f} |" if cpu else " |")
                  + f" {min(used):.2f} to {max(used):.2f} |")
        best = [best_rival(found, name, times) for times in BUDGETS]
        print("| best rival |"
              + "".join(f" {number(each[0])} {each[1].removeprefix('shapiq ')} |" if each else " |"
                        for each in best) + " | |")
    problems = collections.Counter((cell["estimator"],
                                    cell["problem"]) for cell in cells.of(section) if "problem" in cell)
    kept = collections.defaultdict(int)
    for (estimator, problem), times in problems.items():
        kept[estimator, problem.split(":")[0] if "left out" in problem else problem[:120]] += times
    for (estimator, problem), times in sorted(kept.items()):
        print(f"- {estimator}, {times} times: {problem}")


def coverage(cells, section="values"):
    """Returns the coverage of 95% intervals by estimator and class or budget, with `all` for the pool."""
    counts = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for cell in cells.of(section):
        if cell.get("intervals"):
            for name in (cell["class"], f"all at {cell['times']}n", "all"):
                counts[cell["estimator"]][name][0] += cell["covered"]
                counts[cell["estimator"]][name][1] += cell["intervals"]
    return {estimator: {name: covered / count for name, (covered, count) in told.items()} for estimator,
            told in counts.items()}


def show_coverage(cells):
    for section in ("values", "banzhaf"):
        told = coverage(cells, section)
        budgets = [f"all at {times}n" for times in BUDGETS]
        names = ["all", *budgets,
                 *dict.fromkeys(name for each in told.values() for name in each
                                if not name.startswith("all"))]
        if told:
            print(f"\n## {section}: coverage of 95% intervals, in percent\n")
            print("| class |" + "".join(f" {estimator} |" for estimator in told) + "\n|---|"
                  + "---|" * len(told))
            for name in (name for name in names if any(name in each for each in told.values())):
                print(f"| {name} |"
                      + "".join(f" {100 * each[name]:.1f} |" if name in each else " |"
                                for each in told.values()))


# Targets: section, classes, budget as a multiple of n, maximum median.
TREES_FEW, TREES_MANY = ("XGBoost n <= 8", "XGBoost n 10-14", "XGBoost n 16-20"), (
    "XGBoost n 60-101", "XGBoost n = 241")
ROWS_FEW, ROWS_MANY, NETWORKS = ("XGBoost n <= 20, 50 rows",), (
    "XGBoost n >= 60, 50 rows",), ("networks n 10-14",)
DEMANDS = (
    *(("values", group, 20, most) for group,
      most in ((TREES_FEW, 0.04), (TREES_MANY, 0.05), (ROWS_FEW, 0.2), (ROWS_MANY, 0.4), (NETWORKS, 0.4))),
    *(("values", group, 10, most) for group,
      most in ((TREES_FEW, 0.3), (TREES_MANY, 0.12), (ROWS_FEW, 0.4), (ROWS_MANY, 0.4), (NETWORKS, 0.6))),
    *(("values", group, 5, most) for group,
      most in ((TREES_FEW, 0.7), (TREES_MANY, 0.4), (ROWS_FEW, 0.7), (ROWS_MANY, 0.8), (NETWORKS, 0.8))),
    ("values", ("max",), 20, 0.01), ("values", ("voting",), 20, 0.25),
    ("banzhaf", TREES_FEW + TREES_MANY, 20, 0.1), ("banzhaf", NETWORKS, 20, 0.5),
)
PAIR_DEMANDS = ((TREES_FEW + TREES_MANY, 0.3), (NETWORKS, 0.8))
OVERHEAD_DEMANDS = (("{method}", "(100, 2000)", 0.4, None), ("{method}", "(100, 10000)", 2, None),
                    ("{method}", "(1000, 20000)", 30, None),
                    ("leverage-shap", "(10000, 100000)", 60, 400))


def verdict(is_met, says):
    print(f"- {'met' if is_met else 'MISSED'}: {says}")


def verdicts(missed, says):
    """Prints the verdict on one target for many cells, with those that miss it."""
    verdict(not missed, says + (f", {len(missed)} miss it:" if missed else ""))
    for each in missed:
        print(f"  - {each}")


def show_verdicts(cells, method):
    """Prints whether `method` meets each target that this run measured."""
    print(f"\n## Demands, by `{method}`\n")
    found = {section: ratios(cells, section) for section in ("values", "banzhaf", "pairs")}

    def pooled(section, group, times, estimator):
        return [each for name in group for each in found[section].get((name, times, estimator), [])]

    for section, group, times, most in DEMANDS:
        if each := pooled(section, group, times, method):
            there = " + ".join(name for name in group if found[section].get((name, times, method)))
            verdict(np.median(each) <= most,
                    f"{section}, {there}, {times}n: {number(np.median(each))}, at most {most}")
    at_two = [cell["error"] for cell in cells.of("values")
              if (cell["estimator"], cell["times"]) == (
                  method, 2) and cell["class"] in TREES_MANY + ROWS_MANY and "error" in cell]
    if at_two:
        verdict(np.median(at_two) <= 0.3,
                "squared error relative to the squared norm at 2n, n >= 60: "
                f"median {number(np.median(at_two))}, at most 0.3")
    for section in ("values", "banzhaf"):
        own = {(name, times): each for (name, times, estimator),
               each in found[section].items() if estimator == method}
        behind, worse, beside = [], [], 0
        for (name, times), each in own.items():
            middle, high, best = np.median(each), np.quantile(each, 0.9), best_rival(
                found[section], name, times)
            beside += best is not None
            if best and middle > 1.1 * best[0]:
                behind.append(f"{name}, {times}n: {number(middle)}, best rival {number(best[0])} ({best[1]})")
            if middle > 1.02 or high > 1.3:
                worse.append(f"{name}, {times}n: {number(middle)} [{number(high)}]")
        if beside:
            verdicts(behind,
                     f"{section}, at most 1.1 times the best rival, {beside} cells of class and budget")
        if own and section == "values":
            verdicts(worse,
                     "values, at most 1.02 times [90% quantile 1.3 times] Leverage SHAP, "
                     f"{len(own)} cells of class and budget")
    for group, most in PAIR_DEMANDS:
        beside = over_rivals(cells, "pairs", group, 20, method)
        if beside:
            ratio, rival = max(beside)
            verdict(ratio <= most,
                    f"pairs, {' + '.join(group)}, 20n: {number(ratio)} times {rival}, at most {most}")
    if told := coverage(cells).get(method):
        verdict(0.94 <= told["all"] <= 0.97, f"pooled coverage {100 * told['all']:.1f}%, required 94% to 97%")
        lowest = min((share, name) for name, share in told.items() if not name.startswith("all"))
        verdict(lowest[0] >= 0.9,
                f"coverage of the worst class ({lowest[1]}) {100 * lowest[0]:.1f}%, at least 90%")
    seconds = {(cell["estimator"], cell["class"]): cell for cell in cells.of("overhead") if "cpu" in cell}
    for estimator, case, most, memory in OVERHEAD_DEMANDS:
        if cell := seconds.get((estimator.format(method=method), case)):
            is_met = cell["cpu"] <= most and (memory is None or (cell["memory"] or 0) <= memory)
            limits = f"{most} s" + (f", {memory} MB" if memory else "")
            verdict(is_met,
                    f"{cell['estimator']} at {case}: {cell['cpu']:.2f} s, "
                    f"{cell['memory'] or math.nan:.0f} MB, at most {limits}")
    if (method, "(300, 3000)") in seconds and ("shapiq OddSHAP", "(300, 3000)") in seconds:
        own, theirs = seconds[method, "(300, 3000)"]["cpu"], seconds["shapiq OddSHAP", "(300, 3000)"]["cpu"]
        verdict(own <= theirs, f"{method} at (300, 3000): {own:.2f} s, shapiq OddSHAP {theirs:.2f} s")


def show(cells, methods):
    truths = [cell for cell in cells.of("truth") if cell.get("difference") is not None]
    if truths:
        worst = max(truths, key=lambda cell: cell["difference"])
        print("\nExact values of trees differ from shap's TreeExplainer by at most "
              f"{worst['difference']:.1e} of their norm ({worst['game']}), {len(truths)} games.")
    for section in ("values", "banzhaf", "pairs"):
        if cells.of(section):
            show_ratios(cells, section)
    show_coverage(cells)
    if cells.of("overhead"):
        print("\n## overhead: a game of negligible cost, one thread\n\n"
              "| (players, budget) | estimator | CPU s | peak MB | |\n|---|---|---|---|---|")
        for cell in cells.of("overhead"):
            figures = f"{cell['cpu']:.3f} | {cell['memory'] or math.nan:.0f}" if "cpu" in cell else " | "
            print(f"| {cell['class']} | {cell['estimator']} | {figures} "
                  f"| {cell.get('chose') or cell.get('problem') or ''} |")
    if cells.of("use"):
        print("\n## use: 50 features, 10 background rows, until the error is 1% of the norm\n\n"
              "| estimator | rows | mean evaluations per row | rows within 1% | largest error "
              "| CPU s per row, with the model |\n|---|---|---|---|---|---|")
        for cell in cells.of("use"):
            if "problem" in cell:
                print(f"| {cell['estimator']} | {cell['problem']} | | | | |")
                continue
            calls = "none at 500n" if cell["evaluations"] is None else f"{cell['evaluations']:.0f}"
            worst = f"{cell['worst']:.2%}" if "worst" in cell else ""
            print(f"| {cell['estimator']} | {cell['rows']} | {calls} | {cell['within']:.0%} | {worst} "
                  f"| {cell['cpu']:.3f} |")
    for method in methods or ("auto", "learned-spectrum"):
        if any(cell["estimator"] == method for cell in cells.of("values")):
            show_verdicts(cells, method)
