"""Trees: a scikit-learn model of a table with categories, explained exactly, and the saved results."""
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import apportion

random = np.random.default_rng(0)
table = pd.DataFrame({"area": random.uniform(20, 200, 300),
                      "town": random.choice(["north", "south", "west"], 300),
                      "floor": random.integers(0, 6, 300)})
is_dear = (table["area"] + 60 * (table["town"] == "west") > 140).map({True: "dear", False: "cheap"})
encoder = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
model = make_pipeline(encoder, RandomForestClassifier(30, max_depth=5, random_state=0)).fit(table, is_dear)

explanation = apportion.TreeExplainer(model)(table)
print(explanation)
print(explanation[0, :, "dear"])
assert explanation.additivity_gap() < 1e-9

explanation.save("houses.json.gz")
assert np.array_equal(apportion.load("houses.json.gz").values, explanation.values)
