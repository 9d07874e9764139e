"""Synthetic data like those of shap's tests."""
import numpy as np
import pandas as pd


def houses(count=300, seed=0):
    """Returns eight numeric columns and a price, like the California housing data."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({
        "MedInc": random.lognormal(1.2, 0.5, count), "HouseAge": random.integers(1, 53, count).astype(float),
        "AveRooms": random.normal(5, 1, count), "AveBedrms": random.normal(1.1, 0.1, count),
        "Population": random.lognormal(7, 0.8, count),
        "AveOccup": random.lognormal(1, 0.3, count), "Latitude": random.uniform(32, 42, count),
        "Longitude": random.uniform(-124, -114, count)})
    price = 0.4 * rows["MedInc"] + 0.02 * rows["HouseAge"] + 0.1 * (
        rows["Latitude"] - 36) * (rows["Longitude"] > -119) - 0.2 * rows["AveOccup"]
    return rows, (price + random.normal(0, 0.3, count)).to_numpy()


def adults(count=300, seed=0):
    """Returns census columns with encoded categories, and whether the income is high."""
    random = np.random.default_rng(seed)
    kinds = {"Workclass": 9, "Marital Status": 7, "Occupation": 15, "Relationship": 6, "Race": 5, "Sex": 2,
             "Country": 42}
    rows = pd.DataFrame({"Age": random.integers(17, 90, count).astype(np.float32),
                         "Education-Num": random.integers(1, 17, count).astype(np.float32),
                         **{name: random.integers(0, many, count) for name, many in kinds.items()},
                         "Capital Gain": np.where(random.random(count) < 0.1, random.lognormal(8, 1, count),
                                                  0).astype(np.float32),
                         "Capital Loss": np.where(random.random(count) < 0.05, 1500, 0).astype(np.float32),
                         "Hours per week": random.integers(10, 80, count).astype(np.float32)})
    score = (0.04 * rows["Age"] + 0.3 * rows["Education-Num"] + 0.5 * rows["Sex"]
             + rows["Capital Gain"] / 5000 + 0.03 * rows["Hours per week"])
    return rows, (score + random.normal(0, 1, count) > score.median()).to_numpy()


def noise(count=100, columns=5, seed=0):
    return np.random.default_rng(seed).normal(size=(count, columns))


def split(rows, target):
    """Splits off the last fifth as test data."""
    cut = len(rows) * 4 // 5
    return rows[:cut], rows[cut:], target[:cut], target[cut:]


def iris(classes=3):
    from sklearn.datasets import load_iris
    rows, target = load_iris(return_X_y=True)
    return (rows, target) if classes == 3 else (rows[:100], target[:100])
