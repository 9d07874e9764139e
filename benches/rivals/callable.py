"""Explains a callable model to an error of 1%: calls, time and true error of apportion, shap and shapiq.

    python benches/rivals/callable.py [--rows 5] [--players 20]

The model is a function of 20 features with a three-way interaction and a threshold, explained with 50
background rows. True values come from enumerating all coalitions. Errors are relative to the norm of the
values; the table shows the largest over the rows. Since the other libraries have no tolerance, they run with
budgets of 2n, 5n, 10n, 20n, 50n, 100n, 200n and 500n, and the table shows the first budget whose largest
error is at most 1%. Users cannot find this budget, since they do not know the true values. KernelExplainer
runs with l1_reg=0, since it keeps only ten features by default. Needs shap and shapiq.
"""
import argparse
import time
import warnings

import numpy as np

import apportion

warnings.simplefilter("ignore")


class Counted:
    """A model that counts its calls and the rows that it predicts."""

    def __init__(self):
        self.rows = self.calls = 0

    def __call__(self, rows):
        rows = np.asarray(rows)
        self.rows, self.calls = self.rows + len(rows), self.calls + 1
        return np.sin(rows).sum(axis=1) + rows[:, 0] * rows[:, 1] * rows[
            :, 2] + np.where(rows[:, 3] + rows[:, 4] > 0.5, 1.5, 0.0) * rows[:, 5]


def truth(row, background, players):
    """Returns Shapley values by enumeration: features of a common term together, the others separately."""
    values = np.zeros(players)
    for part in ([0, 1, 2, 3, 4, 5], *([feature] for feature in range(6, players))):
        def worth(mask):
            mixed = background.copy()
            for bit, feature in enumerate(part):
                if mask >> bit & 1:
                    mixed[:, feature] = row[feature]
            others = [feature for feature in range(players) if feature not in part]
            mixed[:, others] = 0.0
            return Counted()(mixed).mean()

        game = apportion.Game.table([worth(mask) for mask in range(2 ** len(part))])
        values[part] = game.explain(method="exact").values
    return values


def error(found, wanted):
    return max(np.linalg.norm(found - wanted, axis=1) / np.linalg.norm(wanted, axis=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5)
    parser.add_argument("--players", type=int, default=20)
    asked = parser.parse_args()
    random = np.random.default_rng(0)
    n = asked.players
    background, rows = random.normal(size=(50, n)), random.normal(size=(asked.rows, n))
    wanted = np.array([truth(row, background, n) for row in rows])
    print(f"{asked.rows} rows, {n} features, 50 background rows; evaluations and time per row")

    def shown(name, evaluations, model, seconds, found):
        print(f"{name:<44} {evaluations:>6} evaluations {model.rows // asked.rows:>8} rows of the model "
              f"{seconds / asked.rows * 1e3:8.1f} ms"
              f"   largest error {error(found, wanted):.2%}")

    model = Counted()
    started = time.perf_counter()
    found = apportion.Explainer(model, background, until=0.01, threads=1)(rows)
    shown("apportion until=0.01, certified", int(np.mean(found.evaluations)), model,
          time.perf_counter() - started, found.values)

    import shap
    import shapiq

    def ours(method):
        def run(model, budget):
            return apportion.Explainer(model, background, method=method, budget=budget,
                                       threads=1)(rows).values
        return run

    def kernel(model, budget):
        return shap.KernelExplainer(model, background).shap_values(
            rows, nsamples=budget, l1_reg=0, silent=True)

    def of_shapiq(name):
        def run(model, budget):
            found = []
            for row in rows:
                def worth(coalitions):
                    coalitions = np.atleast_2d(coalitions)
                    mixed = np.where(coalitions[:, None, :], row, background[None]).reshape(-1, n)
                    return model(mixed).reshape(len(coalitions), -1).mean(axis=1)

                values = getattr(shapiq.approximator, name)(n=n, random_state=0).approximate(budget, worth)
                found.append([values[(player,)] for player in range(n)])
            return np.array(found)
        return run

    rivals = {"apportion leverage-shap": ours("leverage-shap"), "shap.KernelExplainer": kernel,
              "shapiq.KernelSHAP": of_shapiq("KernelSHAP"),
              "shapiq LeverageSHAP": of_shapiq("LeverageSHAP"),
              "shapiq PermutationSamplingSV": of_shapiq("PermutationSamplingSV")}
    for name, run in rivals.items():
        for times in (2, 5, 10, 20, 50, 100, 200, 500):
            model = Counted()
            started = time.perf_counter()
            try:
                found = run(model, times * n)
            except Exception as problem:
                print(f"{name} at {times}n: {type(problem).__name__}: {problem}")
                continue
            seconds = time.perf_counter() - started
            if error(found, wanted) <= 0.01 or times == 500:
                shown(f"{name} at {times}n", times * n, model, seconds, found)
                break


if __name__ == "__main__":
    main()
