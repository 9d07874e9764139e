"""Any model: a function of rows, explained until the error is at most 1% of the norm of the values."""
import numpy as np

import apportion

random = np.random.default_rng(0)
background, rows = random.normal(size=(50, 20)), random.normal(size=(3, 20))


def model(rows):
    return np.sin(rows).sum(axis=1) + rows[:, 0] * rows[:, 1] * rows[:, 2]


explanation = apportion.Explainer(model, background, until=0.01)(rows)
low, high = explanation.intervals(0.95)
print(explanation[0])
print(f"{explanation.evaluations.tolist()} evaluations; x0 of the first row is between {low[0, 0]:.3f} and {high[0, 0]:.3f}")
print(explanation[0].certificate["says"])
assert explanation[0].certificate["stopped_by"] == "tolerance"
