"""Groups of features: groups found in data, Owen values, quotient values of groups, and nested groups."""
import numpy as np
import pandas as pd

import apportion

random = np.random.default_rng(0)
height, income = random.normal(size=(2, 400))
table = pd.DataFrame({"height": height, "arm": height + 0.2 * random.normal(size=400), "income": income,
                      "rent": income + 0.3 * random.normal(size=400),
                      "shoe": height + 0.4 * random.normal(size=400)})
groups = apportion.groups(table)
print(groups)
assert groups == [["height", "arm", "shoe"], ["income", "rent"]]


def model(table):
    return table["height"] * table["income"] + table["shoe"]


owen = apportion.explain(model, table[:5], table[:50], value="owen", groups=groups)
of_groups = apportion.explain(model, table[:5], table[:50], value="quotient-shapley", groups=groups)
levels = apportion.explain(model, table[:5], table[:50], value="owen", groups="auto=tree")
print(owen, of_groups, levels, sep="\n")
assert np.allclose(owen.values[:, [0, 1, 4]].sum(axis=1), of_groups.values[:, 0])
