"""Small models and rows that several tests use."""
import os
import signal

# Set this before other libraries are imported: their threads spin while they wait, and make everything else
# several times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def ctrl_c():
    """Makes Ctrl-C raise KeyboardInterrupt, also in processes that a test starts.

    Shells start background jobs with SIGINT ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def numbers():
    """Rows of four features and targets, with an interaction."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(120, 4))
    return rows, rows[:, 0] * rows[:, 1] + rows[:, 2]


@pytest.fixture(scope="session")
def frame():
    """A data frame of numbers, categories, whole numbers and booleans, and targets."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(1)
    count = 150
    rows = pandas.DataFrame({
        "size": random.normal(size=count),
        "colour": pandas.Categorical(random.choice(["red", "green", "blue"], count)),
        "rooms": random.integers(0, 5, count), "new": random.random(count) > 0.5,
    })
    return rows, (rows["size"] + 2 * (rows["colour"] == "red") + rows["new"]).to_numpy(dtype=float)


@pytest.fixture(scope="session")
def booster(frame):
    """An XGBoost model with categories."""
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBRegressor(n_estimators=15, max_depth=3, enable_categorical=True, n_jobs=1).fit(*frame)


@pytest.fixture(scope="session")
def enumerated():
    """A function that enumerates the Shapley values of a set function of bit masks."""
    from math import factorial

    def values(worth, players):
        found = np.zeros(players)
        for player in range(players):
            for mask in range(2**players):
                if not mask >> player & 1:
                    size = mask.bit_count()
                    weight = factorial(size) * factorial(players - size - 1) / factorial(players)
                    found[player] += weight * (worth(mask | 1 << player) - worth(mask))
        return found

    return values
