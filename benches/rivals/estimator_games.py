"""The games of `estimators.py`: models, textbook games and noise, with their true values."""
import functools
import hashlib
import itertools
import math
import pathlib
import time
import zlib

import numpy as np

import apportion


class Game:
    """A game with its true values. It caches coalition values and counts the evaluations of a run."""

    def __init__(self, name, players, value, truths, about=None):
        self.name, self.players, self.truths, self.about = name, players, truths, about or {}
        self._value, self._kept = value, {}
        self._ours = None
        self.begin()

    def begin(self):
        """Resets the counts before a run of an estimator."""
        self.asked, self.seconds, self._seen = 0, 0.0, set()

    @property
    def evaluations(self):
        return len(self._seen)

    def __call__(self, coalitions):
        started = time.process_time()
        coalitions = np.atleast_2d(np.asarray(coalitions)) > 0.5
        packed = np.packbits(coalitions, axis=1)
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel().tolist()
        missing = list({key: place for place, key in enumerate(keys) if key not in self._kept}.values())
        for start in range(0, len(missing), 2048):
            places = missing[start : start + 2048]
            for place, answer in zip(places,
                                     np.asarray(self._value(coalitions[places]), dtype=float).tolist(),
                                     strict=True):
                self._kept[keys[place]] = answer
        self.asked += len(keys)
        self._seen.update(keys)
        answers = np.fromiter((self._kept[key] for key in keys), float, len(keys))
        self.seconds += time.process_time() - started
        return answers

    def ours(self):
        """Returns the game as an `apportion.Game`."""
        if self._ours is None:
            self._ours = apportion.Game(self, self.players)
        return self._ours

    def truth(self, section):
        """Returns the true values, or the interactions of all pairs i < j in order; None if unknown."""
        return self.truths(section)

    def mark(self):
        """Returns a digest that identifies the game."""
        ends = np.array([[False] * self.players, [True] * self.players])
        told = np.concatenate([self(ends), self.truth("values")])
        # Rounded, since the last digits may differ between builds; adding 0 removes the sign of zeros.
        rounded = np.round(told / np.abs(told).max(), 6) + 0.0
        return hashlib.sha256(rounded.tobytes()).hexdigest()[:12]


def enumerated(table):
    """Returns the true values of a game from its 2^n coalition values; bit i of the index is player i."""
    players = len(table).bit_length() - 1
    places = np.arange(len(table))
    sizes = np.bitwise_count(places.astype(np.uint64)).astype(int)

    def differences(members):
        """Returns the joint contribution of the members to each coalition of the others, and their sizes."""
        others = places[(places & sum(1 << member for member in members)) == 0]
        total = np.zeros(len(others))
        for chosen in itertools.product((0, 1), repeat=len(members)):
            total += (-1) ** (len(members) - sum(chosen)) * table[others | sum(
                bit << member for bit, member in zip(chosen, members, strict=True))]
        return total, sizes[others]

    def weights(left):
        """Returns weights of coalitions of `left` players by size in the Shapley interaction index."""
        return np.array([1 / ((left + 1) * math.comb(left, size)) for size in range(left + 1)])

    def truth(section):
        if section == "pairs":
            told = (differences(pair) for pair in itertools.combinations(range(players), 2))
            by_size = weights(players - 2)
            return np.array([(by_size[size] * gain).sum() for gain, size in told])
        told = (differences((player,)) for player in range(players))
        by_size = weights(players - 1)
        return np.array([gain.mean() if section == "banzhaf" else (by_size[size] * gain).sum() for gain,
                         size in told])

    return functools.cache(truth)


def small(name, players, value, noise=None):
    """Returns a game of at most 14 players with enumerated true values.

    Fixed noise with a standard deviation of `noise` times that of the coalition values is added.
    """
    coalitions = (np.arange(2**players)[:, None] >> np.arange(players) & 1).astype(bool)
    table = np.concatenate([np.asarray(value(part), dtype=float) for part in np.array_split(
        coalitions, max(1, len(coalitions) // 2048))])
    truths = enumerated(table)
    if noise is not None:
        table = table + noise * table.std() * np.random.default_rng(
            zlib.crc32(name.encode())).normal(size=len(table))
    powers = 1 << np.arange(players)
    return Game(name, players, lambda asked: table[asked @ powers], truths)


def of_terms(name, players, members, amounts):
    """Returns a sum of unanimity games, with true values in closed form."""
    holds = np.zeros((len(members), players))
    for place, term in enumerate(members):
        holds[place, list(term)] = 1
    sizes = holds.sum(axis=1)

    def truth(section):
        if section == "pairs":
            return np.array([(amounts * holds[:, i] * holds[:, j] / np.maximum(sizes - 1, 1)).sum() for i,
                             j in itertools.combinations(range(players), 2)])
        return (amounts / (sizes if section == "values" else 2 ** (sizes - 1))) @ holds

    return Game(name, players, lambda asked: ((asked @ holds.T) >= sizes - 0.5) @ amounts,
                functools.cache(truth))


class Trees:
    """An XGBoost model and rows to explain."""

    def __init__(self, name, booster, rows):
        self.name, self.booster, self.rows = name, booster, np.asarray(rows, dtype=np.float32).astype(float)
        self.ensemble = apportion.Ensemble(booster)

    def game(self, background_rows, seed):
        """Returns the marginal game of a random row, with the data's mean or some rows as background."""
        random = np.random.default_rng([seed, background_rows, zlib.crc32(self.name.encode())])
        players = self.rows.shape[1]
        row = self.rows[random.integers(len(self.rows))]
        background = self.rows.mean(axis=0, keepdims=True).astype(np.float32).astype(float)
        if background_rows > 1:
            background = self.rows[random.choice(len(self.rows), min(background_rows, len(self.rows)),
                                                 replace=False)]

        def value(asked):
            mixed = np.where(asked[:, None, :], row, background[None]).reshape(-1, players)
            # A separate thread pool, since that of the estimator is busy.
            return self.ensemble.predict(mixed, threads=2).reshape(len(asked), -1).mean(axis=1)

        @functools.cache
        def truth(section):
            if section == "pairs":
                told = apportion.Explainer(self.booster, background, threads=1)(
                    row[None], interactions="index").values[0]
                return told[np.triu_indices(players, 1)]
            asked = "shapley" if section == "values" else "banzhaf"
            return apportion.Explainer(self.booster, background, value=asked, method="tree",
                                       threads=1)(row[None]).values[0]

        kind = "" if background_rows == 1 else f", {background_rows} rows"
        return Game(f"{self.name}{kind}", players, value, truth,
                    {"booster": self.booster, "background": background, "row": row})


def agreement(game):
    """Returns the relative difference from shap's TreeExplainer; None for games of other models."""
    if "booster" not in game.about:
        return None
    import shap

    theirs = shap.TreeExplainer(game.about["booster"], data=game.about["background"],
                                feature_perturbation="interventional")
    found = np.ravel(theirs.shap_values(game.about["row"][None], check_additivity=False))
    true = game.truth("values")
    return float(np.linalg.norm(found - true) / np.linalg.norm(true))


class Games:
    """Creates the games; reads or trains models on first use."""

    def __init__(self, data):
        self.data = pathlib.Path(data)
        self.missing = set()

    @functools.cache
    def table(self, name):
        """Returns features and targets of a dataset in the directory, or None."""
        import pandas

        found = [self.data / "data" / f"{name}.csv", self.data / "data" / f"{name}.csv.gz"]
        path = next((path for path in found if path.exists()), None)
        if path is None:
            self.missing.add(str(found[0]))
            return None
        frame = pandas.read_csv(path)
        return frame.drop(columns=["target"]).to_numpy(float), frame["target"].to_numpy(float)

    @functools.cache
    def given(self, name):
        """Returns a model in the directory, or None."""
        import xgboost

        path = self.data / "models" / f"{name}_xgb.json"
        table = self.table(name)
        if table is None or not path.exists():
            self.missing.add(str(path))
            return None
        booster = xgboost.Booster(model_file=str(path))
        booster.set_param({"nthread": 1})
        return Trees(name, booster, table[0])

    @functools.cache
    def of_scikit_learn(self, name):
        from sklearn import datasets

        if name.startswith("friedman"):
            rows, target = datasets.make_friedman1(
                2000, n_features=int(name.removeprefix("friedman")), noise=0.5, random_state=0)
            # The published function uses five features; products of three features make the others relevant.
            extra = [(place, place - 1, place - 3) for place in range(5, rows.shape[1])]
            return rows, target + sum(8 * rows[:, i] * rows[:, j] * (rows[:, k] > 0.5) for i, j, k in extra)
        return getattr(datasets, f"load_{name}")(return_X_y=True)

    @functools.cache
    def trained(self, name, depth=4):
        import xgboost

        rows, target = self.of_scikit_learn(name)
        model = xgboost.XGBRegressor(n_estimators=100, max_depth=depth, n_jobs=1, random_state=0).fit(
            rows, target)
        return Trees(f"{name} trained here", model.get_booster(), rows)

    @functools.cache
    def fitted(self, kind, name):
        """Returns a model other than trees on scaled features, and its rows; None if the data are missing."""
        from sklearn.neighbors import KNeighborsRegressor
        from sklearn.neural_network import MLPRegressor
        from sklearn.svm import SVR

        table = self.table(name) if name in ("adult", "pima") else self.of_scikit_learn(name)
        if table is None:
            return None
        rows, target = table
        kept = np.random.default_rng(0).permutation(len(rows))[:3000]
        rows, target = rows[kept], target[kept]
        rows = (rows - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-12)
        target = (target - target.mean()) / target.std()
        model = {"network": lambda: MLPRegressor(hidden_layer_sizes=(64, 64), random_state=0, max_iter=200),
                 "support vectors": lambda: SVR(C=10.0),
                 "neighbours": lambda: KNeighborsRegressor(10)}[kind]()
        return model.fit(rows[:1000] if kind != "network" else rows,
                         target[:1000] if kind != "network" else target), rows

    def trees(self, model, background_rows=1):
        return lambda seed: None if model() is None else model().game(background_rows, seed)

    def of_fitted(self, kind, name):
        def make(seed):
            if self.fitted(kind, name) is None:
                return None
            model, rows = self.fitted(kind, name)
            row = rows[np.random.default_rng([seed, zlib.crc32(name.encode())]).integers(len(rows))]
            return small(f"{kind}, {name}", rows.shape[1], lambda asked: model.predict(asked * row))
        return make

    def classes(self):
        """Returns the games of each class, as functions of a seed."""
        given, trained = (lambda name: lambda: self.given(name)), (lambda name: lambda: self.trained(name))
        few = [given("california"), given("pima"), trained("friedman8")]
        middle = [given("diabetes"), given("adult"), trained("wine"), trained("friedman11")]
        more = [given("bank"), given("nhanes"), given("german"), trained("friedman17")]
        many = [given("independent60"), given("correlated60"), given("communities"), given("brca"),
                trained("digits")]
        return {
            "XGBoost n <= 8": [self.trees(model) for model in few],
            "XGBoost n 10-14": [self.trees(model) for model in middle],
            "XGBoost n 16-20": [self.trees(model) for model in more],
            "XGBoost n = 30": [self.trees(trained("breast_cancer"))],
            "XGBoost n 60-101": [self.trees(model) for model in many],
            "XGBoost n = 241": [self.trees(given("tuandromd"))],
            "XGBoost n <= 20, 50 rows": [self.trees(model, 50) for model in (
                middle[1], middle[2], *more[:3])],
            "XGBoost n >= 60, 50 rows": [self.trees(model, 50) for model in (
                many[0], many[1], many[2], many[4])],
            "networks n 10-14": [random_network(10), random_network(14),
                                 *(self.of_fitted("network", name) for name in (
                                     "diabetes", "adult", "wine"))],
            "support vectors, neighbours": [self.of_fitted(kind, name) for kind in (
                "support vectors", "neighbours") for name in ("diabetes", "wine", "pima")],
            "max": [maximum(12), maximum(14)],
            "voting": [voting(12), voting(14)],
            "unanimity sums": [unanimity(12), unanimity(30)],
            "airport": [airport(12), airport(30)],
            "noisy": [random_network(14, noise=0.1), unanimity(14, noise=0.1)],
        }


def random_network(players, noise=None):
    def make(seed):
        random = np.random.default_rng(100 + seed)
        first, second = random.normal(size=(players, 24)) / math.sqrt(players) * 1.5, random.normal(size=(
            24, 24)) / math.sqrt(24) * 1.5
        third, row, shift = random.normal(size=24), random.normal(size=players), random.normal(size=24) * 0.3
        name = f"random network, {players}" + ("" if noise is None else f", noise {noise}")
        return small(name, players,
                     lambda asked: np.maximum(np.maximum((asked * row) @ first + shift, 0) @ second,
                                              0) @ third, noise)
    return make


def maximum(players):
    def make(seed):
        amounts = np.random.default_rng(seed).random(players)
        return small(f"max, {players}", players, lambda asked: (asked * amounts).max(axis=1))
    return make


def voting(players):
    def make(seed):
        weights = np.random.default_rng(seed).integers(1, 9, players)
        return small(f"voting, {players}", players, lambda asked: (asked @ weights > weights.sum() / 2) * 1.0)
    return make


def unanimity(players, noise=None):
    def make(seed):
        random = np.random.default_rng(1000 + seed)
        members = [random.choice(players, random.integers(1, min(players, 8) + 1),
                                 replace=False) for _ in range(5 * players)]
        plain = of_terms(f"unanimity sum, {players}", players, members, random.normal(size=len(members)))
        return plain if noise is None else small(
            f"unanimity sum, {players}, noise {noise}", players, plain, noise)
    return make


def airport(players):
    def make(seed):
        costs = np.sort(np.random.default_rng(seed).integers(1, 11, players).astype(float))
        closed = apportion.games.airport(costs)

        def truth(section):
            return {"values": closed.shapley, "banzhaf": closed.banzhaf, "pairs": lambda: None}[section]()

        return Game(f"airport, {players}", players, lambda asked: (asked * costs).max(axis=1), truth)
    return make
