"""Compares the default explanations of a table by apportion, shap and shapiq, for models called as functions.

    python benches/rivals/defaults.py [--rows 200] [--measured 6] [--background 100] [--features 12,30,101]
                                      [--models neighbours,forest,network] [--seed 0]

The comparison reports the CPU time, the number of predicted rows and the error. The tables are Adult (12
features) and Communities (101), which the repository contains, and the breast cancer data of scikit-learn
(30). apportion explains all rows in one call, including the surrogate that it learns; shap.Explainer and
shapiq.TabularExplainer explain the measured rows. All use the same background rows and one thread. shapiq has
no default budget: it takes 20n + 1 evaluations. The error is the mean of `(a - t)·(a - u) / ‖t‖²` over the
measured rows, with the estimate a and two independent estimates t and u from many evaluations, whose own
errors cancel; for forests and 12 features, both are exact. Needs shap, shapiq and scikit-learn.
"""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse
import pathlib
import time
import warnings

import numpy as np

import apportion

warnings.simplefilter("ignore")
DATA = pathlib.Path(__file__).parents[2] / "xtask" / "lab" / "data"


class Counted:
    """A function that counts the rows that it predicts, and their time."""

    def __init__(self, function):
        self.function, self.rows, self.seconds = function, 0, 0.0

    def called(self, rows):
        started = time.process_time()
        found = self.function(rows)
        self.rows, self.seconds = self.rows + len(rows), self.seconds + time.process_time() - started
        return found


def table(features):
    """Returns the rows and the targets of a table with this number of features."""
    if features == 30:
        from sklearn.datasets import load_breast_cancer
        loaded = load_breast_cancer()
        return loaded.data, loaded.target.astype(float)
    name = {12: "adult", 101: "communities"}[features]
    data = np.genfromtxt(DATA / f"{name}.csv.gz", delimiter=",", skip_header=1)
    return data[:, :-1], data[:, -1]


def fitted(kind, rows, targets):
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    chosen = np.random.default_rng(0).permutation(len(rows))[:3000]
    if kind == "neighbours":
        model = make_pipeline(StandardScaler(), KNeighborsRegressor(15))
    elif kind == "forest":
        model = RandomForestRegressor(100, min_samples_leaf=3, random_state=0)
    else:
        network = MLPRegressor(hidden_layer_sizes=(64, 32), max_iter=300, random_state=0)
        model = make_pipeline(StandardScaler(), network)
    return model.fit(rows[chosen], (targets[chosen] - targets.mean()) / targets.std())


def truths(model, kind, background, rows):
    """Returns two estimates of the values with independent errors."""
    features = rows.shape[1]
    if kind == "forest":
        exact = apportion.Explainer(model, background)(rows).values
        return exact, exact
    if features <= 12:
        exact = apportion.Explainer(model.predict, background, method="exact")(rows).values
        return exact, exact
    return tuple(apportion.Explainer(model.predict, background, method="table", budget="20n",
                                     seed=seed)(rows).values for seed in (1001, 1002))


def by_apportion(predict, background, rows, seed):
    return apportion.Explainer(predict, background, seed=seed, threads=1)(rows).values


def by_shap(predict, background, rows, seed):
    import shap
    masker = shap.maskers.Independent(background, max_samples=len(background))
    return shap.Explainer(predict, masker, seed=seed)(rows, silent=True).values


def by_shapiq(predict, background, rows, seed):
    import shapiq
    explainer = shapiq.TabularExplainer(predict, background, index="SV", max_order=1, random_state=seed,
                                        sample_size=len(background))
    budget = 20 * rows.shape[1] + 1
    return np.array([explainer.explain(row, budget=budget).get_n_order_values(1) for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--measured", type=int, default=6)
    parser.add_argument("--background", type=int, default=100)
    parser.add_argument("--features", default="12,30,101")
    parser.add_argument("--models", default="neighbours,forest,network")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    print(f"{chosen.rows} rows, {chosen.background} background rows; per row:")
    print("features  model       library    rows of the model   CPU ms   (model ms)   error")
    for features in map(int, chosen.features.split(",")):
        data, targets = table(features)
        order = np.random.default_rng(chosen.seed + 1).permutation(len(data))
        background = data[order[:chosen.background]]
        rows = data[order[chosen.background:chosen.background + chosen.rows]]
        measured = rows[:chosen.measured]
        for kind in chosen.models.split(","):
            model = fitted(kind, data, targets)
            one, other = truths(model, kind, background, measured)
            for library, explain, explained in [("apportion", by_apportion, rows),
                                                ("shap", by_shap, measured),
                                                ("shapiq", by_shapiq, measured)]:
                counted = Counted(model.predict)
                explain(model.predict, background, measured[:1], chosen.seed)
                started = time.process_time()
                found = explain(counted.called, background, explained, chosen.seed)[:len(measured)]
                spent = time.process_time() - started
                error = np.mean(((found - one) * (found - other)).sum(1) / (one ** 2).sum(1))
                count = len(explained)
                print(f"{features:8}  {kind:10}  {library:9} {counted.rows / count:19.0f} "
                      f"{1e3 * spent / count:8.1f} {1e3 * counted.seconds / count:12.1f}   {error:.1e}",
                      flush=True)


if __name__ == "__main__":
    main()
