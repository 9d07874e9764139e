"""The timings in docs/coming_from_shap.md: trees explained by shap and by apportion, one thread, medians."""
import statistics
import time

import numpy as np
import pandas as pd
import shap
import xgboost

import apportion


def median(work, times):
    def timed():
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    return statistics.median(timed() for _ in range(times))


random = np.random.default_rng(0)
rows = pd.DataFrame(random.normal(size=(3000, 20)), columns=[f"x{feature}" for feature in range(20)])
targets = rows["x0"] * rows["x1"] + rows["x2"] + 3 * np.sin(rows["x3"]) + random.normal(size=3000)
model = xgboost.XGBRegressor(n_estimators=500, max_depth=6, learning_rate=0.05, n_jobs=1).fit(rows, targets)
explained, background = rows[:1000], rows[:100]

own, other = apportion.TreeExplainer(model, threads=1), shap.TreeExplainer(model)
ours, theirs = median(lambda: own(explained), 5), median(lambda: other(explained), 3)
print(f"path-dependent, 1000 rows: shap {theirs:.3f} s, apportion {ours:.4f} s: {theirs / ours:.0f} times")

own, other = apportion.TreeExplainer(model, background, threads=1), shap.TreeExplainer(model, background)
ours = median(lambda: own(explained), 5)
theirs = 10 * median(lambda: other.shap_values(explained[:100], check_additivity=False), 1)
print(f"100 background rows, 1000 rows: shap {theirs:.3f} s, apportion {ours:.4f} s: "
      f"{theirs / ours:.0f} times")

row = np.ascontiguousarray(explained[:1].to_numpy())
own = apportion.TreeExplainer(model, threads=1)
engine, pool = own._prepare(own._table(row)), apportion._threads.pool(1)
alone = median(lambda: engine.explain(row, pool, None), 300)
print(f"one row: engine {1e6 * alone:.0f} µs, array in {1e6 * median(lambda: own(row), 300):.0f} µs, "
      f"data frame in {1e6 * median(lambda: own(explained[:1]), 300):.0f} µs")
