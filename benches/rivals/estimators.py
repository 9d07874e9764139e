"""Estimators of any game at equal evaluations: apportion beside shapiq, shap and leverageshap, on the same games and seeds.

    python benches/rivals/estimators.py --out FILE [--data ../shared] [--quick] [--only CLASS] [--section NAME] [--methods NAMES] [--report]

Sections: `values` (Shapley values), `banzhaf`, `pairs` (Shapley interaction indices of all pairs), `overhead` (CPU time where the game is free), `use` (a
callable model of 50 features, until the error is 1 %). Without --section all of them run.

The error of an answer is |found - true|² / |true|². What the tables show is that error over the error of our paired Leverage SHAP on the same game, seed
and budget: the median over games and seeds, and in brackets the 90 % quantile. Our methods draw the same coalitions for the same seed; the rivals draw
their own. Banzhaf values are shown over the error of our Kernel Banzhaf without replacement (which is the stricter of the two), pairs as they are.
Budgets of 2^n and more are left out, for there all of them are exact or could be.

Games: XGBoost models, of the directory --data (or APPORTION_DATA; models/NAME.json and data/NAME.csv; what is missing is left out, and said) and trained
here on data that scikit-learn has, with the mean of the data as the single baseline, or with 50 background rows; networks, support vectors and nearest
neighbours; games of textbooks; games with noise. True values of trees are exact (checked against shap's TreeExplainer in the same run), those of other
games with up to 14 players are by enumeration, those of larger ones by their closed form. An evaluation is counted once for each coalition that is asked
for in a run of an estimator; the answers are kept for the other estimators, and the time in which the game answers is no part of the CPU time shown.

--out keeps one line of JSON for each cell (game, seed, budget, estimator). What is there already is not run again, unless the game, the version of the
rival or the build of apportion is another one: so the rivals run once, and each build of ours runs anew. --report prints what is kept and runs nothing.
`leverageshap` is on no registry: clone https://github.com/rtealwitter/leverageshap, install tabulate, and give its directory by --leverageshap. Needs shap, shapiq, xgboost,
lightgbm, pandas and scikit-learn. All run on one thread.
"""
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import collections
import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import io
import itertools
import json
import math
import pathlib
import resource
import subprocess
import sys
import time
import types
import warnings
import zlib

import numpy as np

import apportion

warnings.simplefilter("ignore")

BUDGETS = (2, 3, 5, 10, 20, 50)
SECTIONS = ("values", "banzhaf", "pairs", "overhead", "use")
REFERENCE = {"values": "leverage-shap", "banzhaf": "kernel-banzhaf-without-replacement"}
OURS = {
    "values": ("auto", "learned-spectrum", "proxy-residual", "odd-shap", "poly-shap", "proxy-shap", "regression-msr", "leverage-shap",
               "leverage-shap-unpaired", "msr-adjusted", "permutation"),
    "banzhaf": ("auto", "learned-spectrum", "proxy-residual", "regression-msr", "kernel-banzhaf", "kernel-banzhaf-without-replacement", "msr-adjusted"),
    "pairs": ("auto", "learned-spectrum"),
}
# A rival is not run at a budget where it would, by its time at a smaller one, need more seconds than this.
PATIENCE = 45.0
# Squared errors below this are of rounding, and all alike.
ROUNDING = 1e-20


# Games

class Game:
    """A game with its true values. It keeps its answers, and counts the coalitions that a run asks for."""

    def __init__(self, name, players, value, truths, about=None):
        self.name, self.players, self.truths, self.about = name, players, truths, about or {}
        self._value, self._kept = value, {}
        self._ours = None
        self.begin()

    def begin(self):
        """Begins a run of an estimator."""
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
            for place, answer in zip(places, np.asarray(self._value(coalitions[places]), dtype=float).tolist(), strict=True):
                self._kept[keys[place]] = answer
        self.asked += len(keys)
        self._seen.update(keys)
        answers = np.fromiter((self._kept[key] for key in keys), float, len(keys))
        self.seconds += time.process_time() - started
        return answers

    def ours(self):
        """The game as apportion takes it."""
        if self._ours is None:
            self._ours = apportion.Game(self, self.players)
        return self._ours

    def truth(self, section):
        """True values, or true interactions of all pairs i < j in order; None where they are not known."""
        return self.truths(section)

    def mark(self):
        """A word that changes with the game."""
        ends = np.array([[False] * self.players, [True] * self.players])
        told = np.concatenate([self(ends), self.truth("values")])
        # Not to the last digit, in which builds may differ; and no zero has a sign.
        rounded = np.round(told / np.abs(told).max(), 6) + 0.0
        return hashlib.sha256(rounded.tobytes()).hexdigest()[:12]


def enumerated(table):
    """True values of the game whose 2^n values these are; bit i of a place is player i."""
    players = len(table).bit_length() - 1
    places = np.arange(len(table))
    sizes = np.bitwise_count(places.astype(np.uint64)).astype(int)

    def differences(members):
        """The contribution of all members together to each coalition of the others, and the sizes of these."""
        others = places[(places & sum(1 << member for member in members)) == 0]
        total = np.zeros(len(others))
        for chosen in itertools.product((0, 1), repeat=len(members)):
            total += (-1) ** (len(members) - sum(chosen)) * table[others | sum(bit << member for bit, member in zip(chosen, members, strict=True))]
        return total, sizes[others]

    def weights(left):
        """Of coalitions of `left` players by size, in the Shapley interaction index."""
        return np.array([1 / ((left + 1) * math.comb(left, size)) for size in range(left + 1)])

    def truth(section):
        if section == "pairs":
            told = (differences(pair) for pair in itertools.combinations(range(players), 2))
            by_size = weights(players - 2)
            return np.array([(by_size[size] * gain).sum() for gain, size in told])
        told = (differences((player,)) for player in range(players))
        by_size = weights(players - 1)
        return np.array([gain.mean() if section == "banzhaf" else (by_size[size] * gain).sum() for gain, size in told])

    return functools.cache(truth)


def small(name, players, value, noise=None):
    """A game of at most 14 players, with its true values by enumeration; `noise` is the share of its spread that is added for good to each value."""
    coalitions = (np.arange(2**players)[:, None] >> np.arange(players) & 1).astype(bool)
    table = np.concatenate([np.asarray(value(part), dtype=float) for part in np.array_split(coalitions, max(1, len(coalitions) // 2048))])
    truths = enumerated(table)
    if noise is not None:
        table = table + noise * table.std() * np.random.default_rng(zlib.crc32(name.encode())).normal(size=len(table))
    powers = 1 << np.arange(players)
    return Game(name, players, lambda asked: table[asked @ powers], truths)


def of_terms(name, players, members, amounts):
    """A sum of unanimity games, with its values in closed form."""
    holds = np.zeros((len(members), players))
    for place, term in enumerate(members):
        holds[place, list(term)] = 1
    sizes = holds.sum(axis=1)

    def truth(section):
        if section == "pairs":
            return np.array([(amounts * holds[:, i] * holds[:, j] / np.maximum(sizes - 1, 1)).sum() for i, j in itertools.combinations(range(players), 2)])
        return (amounts / (sizes if section == "values" else 2 ** (sizes - 1))) @ holds

    return Game(name, players, lambda asked: ((asked @ holds.T) >= sizes - 0.5) @ amounts, functools.cache(truth))


class Trees:
    """An XGBoost model with the rows that it is explained on."""

    def __init__(self, name, booster, rows):
        self.name, self.booster, self.rows = name, booster, np.asarray(rows, dtype=np.float32).astype(float)
        self.ensemble = apportion.Ensemble(booster)

    def game(self, background_rows, seed):
        """The marginal game of one row: its features against the mean of the data, or against so many of its rows."""
        random = np.random.default_rng([seed, background_rows, zlib.crc32(self.name.encode())])
        players = self.rows.shape[1]
        row = self.rows[random.integers(len(self.rows))]
        background = self.rows.mean(axis=0, keepdims=True).astype(np.float32).astype(float)
        if background_rows > 1:
            background = self.rows[random.choice(len(self.rows), min(background_rows, len(self.rows)), replace=False)]

        def value(asked):
            mixed = np.where(asked[:, None, :], row, background[None]).reshape(-1, players)
            # Another pool than that of the estimator, which is busy with the question.
            return self.ensemble.predict(mixed, threads=2).reshape(len(asked), -1).mean(axis=1)

        @functools.cache
        def truth(section):
            if section == "pairs":
                told = apportion.Explainer(self.booster, background, threads=1)(row[None], interactions="index").values[0]
                return told[np.triu_indices(players, 1)]
            asked = "shapley" if section == "values" else "banzhaf"
            return apportion.Explainer(self.booster, background, value=asked, method="tree", threads=1)(row[None]).values[0]

        kind = "" if background_rows == 1 else f", {background_rows} rows"
        return Game(f"{self.name}{kind}", players, value, truth, {"booster": self.booster, "background": background, "row": row})


def agreement(game):
    """The relative difference between our exact values and those of shap's TreeExplainer; None where the game is of no trees."""
    if "booster" not in game.about:
        return None
    import shap

    theirs = shap.TreeExplainer(game.about["booster"], data=game.about["background"], feature_perturbation="interventional")
    found = np.ravel(theirs.shap_values(game.about["row"][None], check_additivity=False))
    true = game.truth("values")
    return float(np.linalg.norm(found - true) / np.linalg.norm(true))


# Classes of games

class Games:
    """Makes the games, from models that are read or trained when first wanted."""

    def __init__(self, data):
        self.data = pathlib.Path(data)
        self.missing = set()

    @functools.cache
    def table(self, name):
        """Features and targets of data of the directory, or None."""
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
        """A model of the directory, or None."""
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
            rows, target = datasets.make_friedman1(2000, n_features=int(name.removeprefix("friedman")), noise=0.5, random_state=0)
            # The published function has five features; the others are given products of threes, that none is without work.
            extra = [(place, place - 1, place - 3) for place in range(5, rows.shape[1])]
            return rows, target + sum(8 * rows[:, i] * rows[:, j] * (rows[:, k] > 0.5) for i, j, k in extra)
        return getattr(datasets, f"load_{name}")(return_X_y=True)

    @functools.cache
    def trained(self, name, depth=4):
        import xgboost

        rows, target = self.of_scikit_learn(name)
        model = xgboost.XGBRegressor(n_estimators=100, max_depth=depth, n_jobs=1, random_state=0).fit(rows, target)
        return Trees(f"{name} trained here", model.get_booster(), rows)

    @functools.cache
    def fitted(self, kind, name):
        """A model that is no tree, of scaled features, and its rows; None where the data is missing."""
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
        model = {"network": lambda: MLPRegressor((64, 64), random_state=0, max_iter=200), "support vectors": lambda: SVR(C=10.0),
                 "neighbours": lambda: KNeighborsRegressor(10)}[kind]()
        return model.fit(rows[:1000] if kind != "network" else rows, target[:1000] if kind != "network" else target), rows

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
        """The games of each class: functions of a seed."""
        given, trained = (lambda name: lambda: self.given(name)), (lambda name: lambda: self.trained(name))
        few = [given("california"), given("pima"), trained("friedman8")]
        middle = [given("diabetes"), given("adult"), trained("wine"), trained("friedman11")]
        more = [given("bank"), given("nhanes"), given("german"), trained("friedman17")]
        many = [given("independent60"), given("correlated60"), given("communities"), given("brca"), trained("digits")]
        return {
            "XGBoost n <= 8": [self.trees(model) for model in few],
            "XGBoost n 10-14": [self.trees(model) for model in middle],
            "XGBoost n 16-20": [self.trees(model) for model in more],
            "XGBoost n = 30": [self.trees(trained("breast_cancer"))],
            "XGBoost n 60-101": [self.trees(model) for model in many],
            "XGBoost n = 241": [self.trees(given("tuandromd"))],
            "XGBoost n <= 20, 50 rows": [self.trees(model, 50) for model in (middle[1], middle[2], *more[:3])],
            "XGBoost n >= 60, 50 rows": [self.trees(model, 50) for model in (many[0], many[1], many[2], many[4])],
            "networks n 10-14": [random_network(10), random_network(14), *(self.of_fitted("network", name) for name in ("diabetes", "adult", "wine"))],
            "support vectors, neighbours": [self.of_fitted(kind, name) for kind in ("support vectors", "neighbours") for name in ("diabetes", "wine", "pima")],
            "max": [maximum(12), maximum(14)],
            "voting": [voting(12), voting(14)],
            "unanimity sums": [unanimity(12), unanimity(30)],
            "airport": [airport(12), airport(30)],
            "noisy": [random_network(14, noise=0.1), unanimity(14, noise=0.1)],
        }


def random_network(players, noise=None):
    def make(seed):
        random = np.random.default_rng(100 + seed)
        first, second = random.normal(size=(players, 24)) / math.sqrt(players) * 1.5, random.normal(size=(24, 24)) / math.sqrt(24) * 1.5
        third, row, shift = random.normal(size=24), random.normal(size=players), random.normal(size=24) * 0.3
        name = f"random network, {players}" + ("" if noise is None else f", noise {noise}")
        return small(name, players, lambda asked: np.maximum(np.maximum((asked * row) @ first + shift, 0) @ second, 0) @ third, noise)
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
        members = [random.choice(players, random.integers(1, min(players, 8) + 1), replace=False) for _ in range(5 * players)]
        plain = of_terms(f"unanimity sum, {players}", players, members, random.normal(size=len(members)))
        return plain if noise is None else small(f"unanimity sum, {players}, noise {noise}", players, plain, noise)
    return make


def airport(players):
    def make(seed):
        costs = np.sort(np.random.default_rng(seed).integers(1, 11, players).astype(float))
        closed = apportion.games.airport(costs)

        def truth(section):
            return {"values": closed.shapley, "banzhaf": closed.banzhaf, "pairs": lambda: None}[section]()

        return Game(f"airport, {players}", players, lambda asked: (asked * costs).max(axis=1), truth)
    return make


# Estimators: functions of a game, a budget and a seed

Found = collections.namedtuple("Found", "values low high chose", defaults=(None, None, None))


def ours(section, method):
    def run(game, budget, seed):
        if section == "pairs":
            told = game.ours().explain(method=method, budget=budget, seed=seed, threads=1, interactions="index")
            values = np.asarray(told.values)
            return Found(values[np.triu_indices(game.players, 1)] if values.ndim == 2 else values, chose=told.method)
        asked = "shapley" if section == "values" else "banzhaf"
        told = game.ours().explain(value=asked, method=method, budget=budget, seed=seed, threads=1)
        low, high = told.intervals(0.95) if told.std_errors is not None else (None, None)
        return Found(told.values, low, high, told.method)
    return run


def can_pairs():
    """Whether this build of apportion estimates interactions of a game."""
    try:
        apportion.Game(lambda asked: asked.sum(axis=1) * 1.0, 3).explain(interactions="index")
    except Exception:
        return False
    return True


def of_shapiq(make, order=1):
    def run(game, budget, seed):
        told = make(game.players, budget, seed).approximate(budget, game)
        kept = {players: told.values[place] for players, place in told.interaction_lookup.items() if len(players) == order}
        return Found(np.array([kept.get(players, 0.0) for players in itertools.combinations(range(game.players), order)]))
    return run


def shap_kernel(game, budget, seed):
    import shap

    np.random.seed(seed)
    explainer = shap.KernelExplainer(game, np.zeros((1, game.players)))
    # It counts neither the empty coalition nor that of all, and keeps ten features unless it is told to keep all.
    return Found(np.ravel(explainer.shap_values(np.ones((1, game.players)), nsamples=budget - 2, l1_reg=0, silent=True)))


def shap_permutation(game, budget, seed):
    import shap

    explainer = shap.PermutationExplainer(game, shap.maskers.Independent(np.zeros((1, game.players))), seed=seed)
    return Found(np.ravel(explainer(np.ones((1, game.players)), max_evals=budget, silent=True).values))


def leverageshap_of(directory):
    """The authors' own Leverage SHAP, from a clone; its sampler is given the seed, which they fix."""
    # The package's own beginning needs a library of plots.
    package = types.ModuleType("leverageshap")
    package.__path__ = [str(pathlib.Path(directory) / "leverageshap")]
    sys.modules["leverageshap"] = package
    importlib.import_module("leverageshap.estimators.leverage_shap")
    module = sys.modules["leverageshap.estimators.leverage_shap"]
    sampler = module.CoalitionSampler

    def run(game, budget, seed):
        module.CoalitionSampler = lambda *given, **named: sampler(*given, **{**named, "random_state": seed})
        ends = game(np.array([[False] * game.players, [True] * game.players]))
        asked = types.SimpleNamespace(value=game, edge_cases=lambda: tuple(ends))
        with contextlib.redirect_stdout(io.StringIO()):
            return Found(module.LeverageSHAP(game.players, asked).shap_values(budget))
    return run


def terms_up_to(players, order):
    return sum(math.comb(players, size) for size in range(order + 1))


def poly(order):
    """PolySHAP of that order where the budget is twice its terms, else with as many terms as that allows."""
    def make(players, budget, seed):
        from shapiq.approximator import PolySHAP

        most = min(terms_up_to(players, order), max(players + 2, budget // 2))
        return PolySHAP(players, max_order=order, max_terms=most, pairing_trick=True, random_state=seed)
    return make


def rivals(section, leverageshap):
    """The rivals by name: the version, and what runs them."""
    import shapiq.approximator as theirs

    version = importlib.metadata.version
    found = {}

    def add(name, make):
        found[f"shapiq {name}"] = (version("shapiq"), of_shapiq(make, 2 if section == "pairs" else 1))

    if section == "values":
        add("LeverageSHAP", lambda n, m, seed: theirs.LeverageSHAP(n, random_state=seed))
        add("OddSHAP", lambda n, m, seed: theirs.OddSHAP(n, random_state=seed))
        add("ProxySHAP", lambda n, m, seed: theirs.ProxySHAP(n, max_order=1, index="SV", random_state=seed))
        add("ProxySHAP adjusted", lambda n, m, seed: theirs.ProxySHAP(n, max_order=1, index="SV", adjustment=True, random_state=seed))
        add("RegressionMSR", lambda n, m, seed: theirs.RegressionMSR(n, "SV", random_state=seed))
        add("RegressionMSR linear", lambda n, m, seed: theirs.RegressionMSR(n, "SV", proxy_model="linear", random_state=seed))
        add("PolySHAP 2", poly(2))
        add("PolySHAP 3", poly(3))
        add("KernelSHAP paired", lambda n, m, seed: theirs.KernelSHAP(n, pairing_trick=True, random_state=seed))
        add("kADDSHAP 2", lambda n, m, seed: theirs.kADDSHAP(n, max_order=2, pairing_trick=True, random_state=seed))
        add("PermutationSamplingSV", lambda n, m, seed: theirs.PermutationSamplingSV(n, random_state=seed))
        found["shap Kernel"] = (version("shap"), shap_kernel)
        found["shap Permutation"] = (version("shap"), shap_permutation)
        if leverageshap:
            try:
                found["leverageshap"] = ("clone", leverageshap_of(leverageshap))
            except Exception as problem:
                print(f"leverageshap is left out: {type(problem).__name__}: {problem}")
    if section == "banzhaf":
        add("RegressionMSR BV", lambda n, m, seed: theirs.RegressionMSR(n, "BV", random_state=seed))
        add("ProxySHAP BV", lambda n, m, seed: theirs.ProxySHAP(n, max_order=1, index="BV", random_state=seed))
        add("ProxySHAP BV adjusted", lambda n, m, seed: theirs.ProxySHAP(n, max_order=1, index="BV", adjustment=True, random_state=seed))
        add("RegressionFBII 1", lambda n, m, seed: theirs.RegressionFBII(n, max_order=1, pairing_trick=True, random_state=seed))
        add("SVARM BV", lambda n, m, seed: theirs.SVARM(n, "BV", random_state=seed))
    if section == "pairs":
        add("ProxySHAP SII", lambda n, m, seed: theirs.ProxySHAP(n, max_order=2, index="SII", random_state=seed))
        add("ProxySHAP SII adjusted", lambda n, m, seed: theirs.ProxySHAP(n, max_order=2, index="SII", adjustment=True, random_state=seed))
        add("KernelSHAPIQ SII", lambda n, m, seed: theirs.KernelSHAPIQ(n, max_order=2, index="SII", pairing_trick=True, random_state=seed))
        add("SVARMIQ SII", lambda n, m, seed: theirs.SVARMIQ(n, max_order=2, index="SII", top_order=True, random_state=seed))
    return found


@functools.cache
def build():
    """A word for this build of apportion."""
    return hashlib.sha256(pathlib.Path(apportion._core.__file__).read_bytes()).hexdigest()[:12]


def estimators(section, methods, leverageshap, is_for_ours_only):
    """All that run in a section, by name: (version, function); ours come first, and the one that the others are compared with before them."""
    known = {name for name, _ in apportion.methods()}
    wanted = list(dict.fromkeys([name for name in [REFERENCE.get(section)] if name] + list(methods or OURS[section])))
    found = {name: (build(), ours(section, name)) for name in wanted if name in known}
    if lacking := [name for name in wanted if name not in known]:
        print(f"{section}: this build of apportion has no {', '.join(lacking)}")
    if section == "pairs" and not can_pairs():
        print("pairs: this build of apportion estimates no interactions of a game")
        found = {}
    return found if is_for_ours_only else found | rivals(section, leverageshap)


# Running

class Cells:
    """What is kept of earlier runs, and what is added: one line of JSON each."""

    def __init__(self, path):
        self.path, self.kept = path, {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                with contextlib.suppress(json.JSONDecodeError):
                    cell = json.loads(line)
                    self.kept[self.key(cell)] = cell

    @staticmethod
    def key(cell):
        return cell["section"], cell["class"], cell["game"], cell["seed"], cell["times"], cell["estimator"]

    def has(self, cell):
        found = self.kept.get(self.key(cell))
        return found is not None and (found["version"], found.get("mark")) == (cell["version"], cell.get("mark"))

    def add(self, cell):
        self.kept[self.key(cell)] = cell
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps(cell) + "\n")

    def of(self, section):
        return [cell for cell in self.kept.values() if cell["section"] == section]


def measured(game, section, run, budget, seed):
    """One run of an estimator: errors, evaluations, CPU time outside the game, and how many of its intervals hold the truth."""
    true = game.truth(section)
    game.ours()
    game.begin()
    started = time.process_time()
    try:
        found = run(game, budget, seed)
        seconds = time.process_time() - started - game.seconds
        values = np.asarray(found.values, dtype=float)
        told = {"error": float(((values - true) ** 2).sum() / (true**2).sum())}
        if not math.isfinite(told["error"]):
            told = {"problem": "the values are not finite"}
        elif found.low is not None:
            slack = 1e-9 * np.linalg.norm(true)
            told |= {"players": len(true), "covered": int(((found.low - slack <= true) & (true <= found.high + slack)).sum())}
        if found.chose:
            told["chose"] = found.chose
    except Exception as problem:
        seconds = time.process_time() - started - game.seconds
        told = {"problem": f"{type(problem).__name__}: {problem}"[:200]}
    return told | {"evaluations": game.evaluations, "asked": game.asked, "cpu": round(seconds, 5)}


def run_games(section, games, runners, cells, seeds, budgets, only, late):
    """Seeds are the outer loop, that a run cut short has all classes."""
    slow = {}
    for seed in seeds:
        for name, makers in games.classes().items():
            if only and only.lower() not in name.lower():
                continue
            for make in makers:
                game = make(seed)
                if game is None or game.truth(section) is None or not (game.truth(section) ** 2).sum() > 0:
                    continue
                mark = game.mark()
                if section == "values" and (seed == 0 or "booster" in game.about):
                    cell = {"section": "truth", "class": name, "game": game.name, "seed": seed, "times": 0, "estimator": "shap TreeExplainer", "mark": mark,
                            "version": importlib.metadata.version("shap")}
                    if "booster" in game.about and not cells.has(cell):
                        cells.add(cell | {"difference": agreement(game)})
                for times, (estimator, (version, run)) in itertools.product(budgets, runners.items()):
                    budget = times * game.players
                    if game.players < 60 and budget >= 2**game.players:
                        continue
                    cell = {"section": section, "class": name, "game": game.name, "seed": seed, "times": times, "estimator": estimator, "mark": mark,
                            "version": version, "players_of_game": game.players, "budget": budget}
                    if cells.has(cell):
                        continue
                    at, took = slow.get((estimator, game.players), (budget, 0.0))
                    if took * (budget / at) ** 2 > PATIENCE:
                        cells.add(cell | {"problem": f"left out: it took {took:.0f} s at a budget of {at}", "slow": True})
                        continue
                    if late():
                        return
                    told = measured(game, section, run, budget, seed)
                    slow[estimator, game.players] = budget, told["cpu"]
                    cells.add(cell | told)
        print(f"{section}: seed {seed} is done", flush=True)


# Overhead

OVERHEAD = ((100, 2_000), (100, 10_000), (300, 3_000), (1_000, 20_000), (10_000, 100_000))


def overhead_once(estimator, players, budget):
    """In a process of its own: CPU time without that of the game, and the memory at its highest."""
    random = np.random.default_rng(5)
    weights, pairs = random.normal(size=players), random.choice(players, (players, 2))
    spent = 0.0

    def value(asked):
        nonlocal spent
        started = time.process_time()
        asked = np.atleast_2d(np.asarray(asked)) > 0.5
        answers = np.concatenate([part @ weights + (part[:, pairs[:, 0]] & part[:, pairs[:, 1]]).sum(axis=1)
                                  for part in np.array_split(asked, max(1, len(asked) // 512))])
        spent += time.process_time() - started
        return answers

    if estimator.startswith("shapiq "):
        run, game = rivals("values", None)[estimator][1], value
        value.players = players
    else:
        run, game = ours("values", estimator), types.SimpleNamespace(players=players, ours=lambda made=apportion.Game(value, players): made)
    spent, started = 0.0, time.process_time()
    found = run(game, budget, 0)
    seconds = time.process_time() - started - spent
    print(json.dumps({"cpu": seconds, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "chose": found.chose}))


def run_overhead(cells, methods, is_quick):
    known = {name for name, _ in apportion.methods()}
    names = [name for name in methods or ("auto", "learned-spectrum", "leverage-shap") if name in known]
    for players, budget in OVERHEAD[:3] if is_quick else OVERHEAD:
        for estimator in [*names, "shapiq OddSHAP"]:
            if estimator.startswith("shapiq") and players > 300:
                continue
            cell = {"section": "overhead", "class": f"({players}, {budget})", "game": "free", "seed": 0, "times": 0, "estimator": estimator,
                    "version": importlib.metadata.version("shapiq") if estimator.startswith("shapiq") else build()}
            if cells.has(cell):
                continue
            try:
                told = subprocess.run([sys.executable, __file__, "--once", estimator, str(players), str(budget)], capture_output=True, text=True, timeout=400)
                cells.add(cell | (json.loads(told.stdout.splitlines()[-1]) if told.returncode == 0 else {"problem": told.stderr.strip().splitlines()[-1][:200]}))
            except subprocess.TimeoutExpired:
                cells.add(cell | {"problem": "more than 400 s"})
    print("overhead is done", flush=True)


# One real use

def run_use(cells, methods, is_quick):
    """A callable model of 50 features: evaluations for an error of 1 %."""
    import shap
    import xgboost

    random = np.random.default_rng(0)
    players, count = 50, 20 if is_quick else 1000
    data = random.normal(size=(4000, players))
    target = data @ (3 / np.arange(1, players + 1)) + data[:, 0] * data[:, 1] * data[:, 2] + np.sin(2 * data[:, 3]) + 1.5 * (data[:, 4] + data[:, 5] > 0.5) * data[:, 6]
    booster = xgboost.XGBRegressor(n_estimators=200, max_depth=4, n_jobs=1, random_state=0).fit(data, target).get_booster()
    rows, background = data[:count].astype(np.float32).astype(float), data[-10:].astype(np.float32).astype(float)
    true = apportion.TreeExplainer(booster, background)(rows).values
    asked = 0

    def model(mixed):
        nonlocal asked
        asked += len(mixed)
        return booster.inplace_predict(np.asarray(mixed, dtype=np.float32)).astype(float)

    def errors(found):
        return np.linalg.norm(found - true[: len(found)], axis=1) / np.linalg.norm(true[: len(found)], axis=1)

    known = {name for name, _ in apportion.methods()}
    for method in [name for name in methods or ("auto", "learned-spectrum", "leverage-shap") if name in known]:
        cell = {"section": "use", "class": f"{count} rows", "game": "50 features", "seed": 0, "times": 0, "estimator": f"{method}, until=0.01", "version": build()}
        if cells.has(cell):
            continue
        asked, started = 0, time.process_time()
        try:
            found = apportion.Explainer(model, background, method=method, until=0.01, threads=1)(rows)
            seen = errors(found.values)
            cells.add(cell | {"evaluations": float(np.mean(found.evaluations)), "model_rows": asked / count, "worst": float(seen.max()),
                              "within": float((seen <= 0.01).mean()), "rows": count, "cpu": (time.process_time() - started) / count})
        except Exception as problem:
            cells.add(cell | {"problem": f"{type(problem).__name__}: {problem}"[:200]})

    kernel = shap.KernelExplainer(model, background)
    permutation = shap.PermutationExplainer(model, shap.maskers.Independent(background), seed=0)
    theirs = {"shap Kernel": lambda row, budget: kernel.shap_values(row, nsamples=budget - 2, l1_reg=0, silent=True),
              "shap Permutation": lambda row, budget: permutation(row, max_evals=budget, silent=True).values}
    few = 5 if is_quick else 20
    for name, run in theirs.items():
        cell = {"section": "use", "class": f"{count} rows", "game": "50 features", "seed": 0, "times": 0, "estimator": name, "version": importlib.metadata.version("shap")}
        if cells.has(cell):
            continue
        needed, started = [], time.process_time()
        for place in range(few):
            np.random.seed(place)
            for times in (5, 10, 20, 50, 100, 200, 500):
                found = np.reshape(run(rows[place : place + 1], times * players), (1, players))
                if np.linalg.norm(found[0] - true[place]) <= 0.01 * np.linalg.norm(true[place]):
                    needed.append(times * players)
                    break
        cells.add(cell | {"evaluations": float(np.mean(needed)) if needed else None, "rows": few, "within": len(needed) / few,
                          "cpu": (time.process_time() - started) / few})
    print("use is done", flush=True)


# What is shown

def ratios(cells, section):
    """For class, budget and estimator: errors over those of the reference on the same game and seed."""
    by_game = collections.defaultdict(dict)
    for cell in cells.of(section):
        if "error" in cell:
            by_game[cell["class"], cell["game"], cell["seed"], cell["times"]][cell["estimator"]] = max(cell["error"], ROUNDING)
    found = collections.defaultdict(list)
    for (name, _, _, times), errors in by_game.items():
        divisor = errors.get(REFERENCE[section]) if section in REFERENCE else 1.0
        for estimator, error in errors.items() if divisor else ():
            found[name, times, estimator].append(error / divisor)
    return found


def is_rival(estimator):
    return estimator.startswith(("shap", "leverageshap"))


def number(value):
    if 0.095 <= value < 100:
        return f"{value:.2f}"
    return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def best_rival(found, name, times):
    """The rival with the least median in half of the games at least; (median, name), or None."""
    most = max((len(each) for (of, at, _), each in found.items() if (of, at) == (name, times)), default=0)
    told = [(float(np.median(each)), estimator) for (of, at, estimator), each in found.items()
            if (of, at) == (name, times) and is_rival(estimator) and len(each) >= most / 2]
    return min(told, default=None)


def show_ratios(cells, section):
    found = ratios(cells, section)
    names = list(dict.fromkeys(name for name, _, _ in found))
    unit = {"values": "squared error over Leverage SHAP's", "banzhaf": "squared error over Kernel Banzhaf's (without replacement)",
            "pairs": "squared error over the sum of squares"}[section]
    print(f"\n## {section}: {unit}; median [90 % quantile]")
    by_estimator = collections.defaultdict(list)
    for cell in cells.of(section):
        by_estimator[cell["class"], cell["estimator"]].append(cell)
    for name in names:
        count = max(len(each) for (of, _, _), each in found.items() if of == name)
        print(f"\n### {name} ({count} games)\n\n| estimator |" + "".join(f" {times}n |" for times in BUDGETS) + " CPU ms at 20n | evaluations used |")
        print("|---|" + "---|" * (len(BUDGETS) + 2))
        for estimator in dict.fromkeys(estimator for of, _, estimator in found if of == name):
            shown = [found.get((name, times, estimator)) for times in BUDGETS]
            told = by_estimator[name, estimator]
            cpu = [cell["cpu"] for cell in told if cell["times"] == 20 and "error" in cell]
            used = [cell["evaluations"] / cell["budget"] for cell in told if "error" in cell]
            print(f"| {estimator} |" + "".join(f" {number(np.median(each))} [{number(np.quantile(each, 0.9))}] |" if each else " |" for each in shown)
                  + (f" {np.median(cpu) * 1e3:.1f} |" if cpu else " |") + f" {min(used):.2f} to {max(used):.2f} |")
        best = [best_rival(found, name, times) for times in BUDGETS]
        print("| best rival |" + "".join(f" {number(each[0])} {each[1].removeprefix('shapiq ')} |" if each else " |" for each in best) + " | |")
    problems = collections.Counter((cell["estimator"], cell["problem"]) for cell in cells.of(section) if "problem" in cell)
    kept = collections.defaultdict(int)
    for (estimator, problem), times in problems.items():
        kept[estimator, problem.split(":")[0] if "left out" in problem else problem[:120]] += times
    for (estimator, problem), times in sorted(kept.items()):
        print(f"- {estimator}, {times} times: {problem}")


def coverage(cells, section="values"):
    """Shares of players whose 95 % interval holds the true value: by estimator, and there by class and by budget, with `all` for the pool."""
    counts = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for cell in cells.of(section):
        if "covered" in cell:
            for name in (cell["class"], f"all at {cell['times']}n", "all"):
                counts[cell["estimator"]][name][0] += cell["covered"]
                counts[cell["estimator"]][name][1] += cell["players"]
    return {estimator: {name: covered / count for name, (covered, count) in told.items()} for estimator, told in counts.items()}


def show_coverage(cells):
    for section in ("values", "banzhaf"):
        told = coverage(cells, section)
        budgets = [f"all at {times}n" for times in BUDGETS]
        names = ["all", *budgets, *dict.fromkeys(name for each in told.values() for name in each if not name.startswith("all"))]
        if told:
            print(f"\n## {section}: coverage of 95 % intervals, percent\n\n| class |" + "".join(f" {estimator} |" for estimator in told) + "\n|---|" + "---|" * len(told))
            for name in (name for name in names if any(name in each for each in told.values())):
                print(f"| {name} |" + "".join(f" {100 * each[name]:.1f} |" if name in each else " |" for each in told.values()))


# The demands: classes by the beginnings of their names, the budget in n, and the largest median
TREES_FEW, TREES_MANY = ("XGBoost n <= 8", "XGBoost n 10-14", "XGBoost n 16-20"), ("XGBoost n 60-101", "XGBoost n = 241")
ROWS_FEW, ROWS_MANY, NETWORKS = ("XGBoost n <= 20, 50 rows",), ("XGBoost n >= 60, 50 rows",), ("networks n 10-14",)
DEMANDS = (
    *(("values", group, 20, most) for group, most in ((TREES_FEW, 0.04), (TREES_MANY, 0.05), (ROWS_FEW, 0.2), (ROWS_MANY, 0.4), (NETWORKS, 0.4))),
    *(("values", group, 10, most) for group, most in ((TREES_FEW, 0.3), (TREES_MANY, 0.12), (ROWS_FEW, 0.4), (ROWS_MANY, 0.4), (NETWORKS, 0.6))),
    *(("values", group, 5, most) for group, most in ((TREES_FEW, 0.7), (TREES_MANY, 0.4), (ROWS_FEW, 0.7), (ROWS_MANY, 0.8), (NETWORKS, 0.8))),
    ("values", ("max",), 20, 0.01), ("values", ("voting",), 20, 0.25),
    ("banzhaf", TREES_FEW + TREES_MANY, 20, 0.1), ("banzhaf", NETWORKS, 20, 0.5),
)
PAIR_DEMANDS = ((TREES_FEW + TREES_MANY, 0.3), (NETWORKS, 0.8))
OVERHEAD_DEMANDS = (("{method}", "(100, 2000)", 0.4, None), ("{method}", "(100, 10000)", 2, None), ("{method}", "(1000, 20000)", 30, None),
                    ("leverage-shap", "(10000, 100000)", 60, 400))


def verdict(is_met, says):
    print(f"- {'met' if is_met else 'MISSED'}: {says}")


def show_verdicts(cells, method):
    """Each demand, and whether `method` meets it; a demand that this run says nothing of is not shown."""
    print(f"\n## Demands, by `{method}`\n")
    found = {section: ratios(cells, section) for section in ("values", "banzhaf", "pairs")}

    def pooled(section, group, times, estimator):
        return [each for name in group for each in found[section].get((name, times, estimator), [])]

    for section, group, times, most in DEMANDS:
        if each := pooled(section, group, times, method):
            verdict(np.median(each) <= most, f"{section}, {' + '.join(group)}, {times}n: {number(np.median(each))}, at most {most}")
    at_two = [cell["error"] for cell in cells.of("values") if (cell["estimator"], cell["times"]) == (method, 2) and cell["class"] in TREES_MANY + ROWS_MANY and "error" in cell]
    if at_two:
        verdict(np.median(at_two) <= 0.3, f"squared error over the square of the norm at 2n, n >= 60: median {number(np.median(at_two))}, at most 0.3")
    for section in ("values", "banzhaf"):
        for (name, times, estimator), each in found[section].items():
            if estimator != method:
                continue
            middle, high, best = np.median(each), np.quantile(each, 0.9), best_rival(found[section], name, times)
            if best and middle > 1.1 * best[0]:
                verdict(False, f"{section}, {name}, {times}n: {number(middle)}, best rival {number(best[0])} ({best[1]}), at most 1.1 of it")
            if section == "values" and (middle > 1.02 or high > 1.3):
                verdict(False, f"values, {name}, {times}n: {number(middle)} [{number(high)}] of Leverage SHAP, at most 1.02 [1.3]")
    for group, most in PAIR_DEMANDS:
        own = pooled("pairs", group, 20, method)
        if own:
            theirs = {}
            for (name, times, estimator), each in found["pairs"].items():
                if name in group and times == 20 and is_rival(estimator):
                    theirs.setdefault(estimator, []).extend(each)
            best = min((float(np.median(each)), estimator) for estimator, each in theirs.items() if len(each) >= len(own) / 2)
            verdict(np.median(own) <= most * best[0], f"pairs, {' + '.join(group)}, 20n: {number(np.median(own) / best[0])} of {best[1]}, at most {most}")
    if told := coverage(cells).get(method):
        verdict(0.94 <= told["all"] <= 0.97, f"coverage pooled {100 * told['all']:.1f} %, 94 to 97")
        lowest = min((share, name) for name, share in told.items() if not name.startswith("all"))
        verdict(lowest[0] >= 0.9, f"coverage of the worst class ({lowest[1]}) {100 * lowest[0]:.1f} %, at least 90")
    seconds = {(cell["estimator"], cell["class"]): cell for cell in cells.of("overhead") if "cpu" in cell}
    for estimator, case, most, memory in OVERHEAD_DEMANDS:
        if cell := seconds.get((estimator.format(method=method), case)):
            is_met = cell["cpu"] <= most and (memory is None or cell["memory"] <= memory)
            verdict(is_met, f"{cell['estimator']} at {case}: {cell['cpu']:.2f} s, {cell['memory']:.0f} MB, at most {most} s" + (f", {memory} MB" if memory else ""))
    if (method, "(300, 3000)") in seconds and ("shapiq OddSHAP", "(300, 3000)") in seconds:
        own, theirs = seconds[method, "(300, 3000)"]["cpu"], seconds["shapiq OddSHAP", "(300, 3000)"]["cpu"]
        verdict(own <= theirs, f"{method} at (300, 3000): {own:.2f} s, shapiq OddSHAP {theirs:.2f} s")


def show(cells, methods):
    truths = [cell for cell in cells.of("truth") if cell.get("difference") is not None]
    if truths:
        worst = max(truths, key=lambda cell: cell["difference"])
        print(f"\nExact values of trees differ from shap's TreeExplainer by at most {worst['difference']:.1e} of their norm ({worst['game']}), {len(truths)} games.")
    for section in ("values", "banzhaf", "pairs"):
        if cells.of(section):
            show_ratios(cells, section)
    show_coverage(cells)
    if cells.of("overhead"):
        print("\n## overhead: a free game, one thread\n\n| (players, budget) | estimator | CPU s | MB at the highest | |\n|---|---|---|---|---|")
        for cell in cells.of("overhead"):
            figures = f"{cell['cpu']:.3f} | {cell['memory']:.0f}" if "cpu" in cell else " | "
            print(f"| {cell['class']} | {cell['estimator']} | {figures} | {cell.get('chose') or cell.get('problem') or ''} |")
    if cells.of("use"):
        print("\n## use: 50 features, 10 background rows, until the error is 1 % of the norm\n\n"
              "| estimator | rows | evaluations for each, mean | rows within 1 % | worst error | CPU s for each row, with the model |\n|---|---|---|---|---|---|")
        for cell in cells.of("use"):
            if "problem" in cell:
                print(f"| {cell['estimator']} | {cell['problem']} | | | | |")
                continue
            calls = "none at 500n" if cell["evaluations"] is None else f"{cell['evaluations']:.0f}"
            print(f"| {cell['estimator']} | {cell['rows']} | {calls} | {cell['within']:.0%} | {cell.get('worst', math.nan):.2%} | {cell['cpu']:.3f} |")
    for method in methods or ("auto", "learned-spectrum"):
        if any(cell["estimator"] == method for cell in cells.of("values")):
            show_verdicts(cells, method)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("APPORTION_DATA", "../shared"), help="directory with models/ and data/")
    parser.add_argument("--out", type=pathlib.Path, help="file of cells, one line of JSON each; it is read, and added to")
    parser.add_argument("--quick", action="store_true", help="one seed, fewer rows and smaller cases: some minutes")
    parser.add_argument("--seeds", type=int, help="how many explicands of each model (10; 1 with --quick)")
    parser.add_argument("--only", help="classes whose name has this in it")
    parser.add_argument("--section", choices=SECTIONS, action="append")
    parser.add_argument("--methods", help="ours, by name, with commas")
    parser.add_argument("--ours-only", action="store_true", help="run no rivals; those that are kept are shown")
    parser.add_argument("--budgets", help="multiples of n, with commas")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop, and show what there is")
    parser.add_argument("--leverageshap", help="directory of a clone of rtealwitter/leverageshap")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--once", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        return overhead_once(asked.once[0], int(asked.once[1]), int(asked.once[2]))
    apportion.set_threads(1)
    cells, games = Cells(asked.out), Games(asked.data)
    methods = asked.methods.split(",") if asked.methods else None
    budgets = [int(each) for each in asked.budgets.split(",")] if asked.budgets else list(BUDGETS)
    seeds = range(asked.seeds or (1 if asked.quick else 10))
    end = time.monotonic() + 60 * asked.minutes
    late = lambda: time.monotonic() > end
    for section in () if asked.report else asked.section or SECTIONS:
        if late():
            break
        if section == "overhead":
            run_overhead(cells, methods, asked.quick)
        elif section == "use":
            run_use(cells, methods, asked.quick)
        else:
            runners = estimators(section, methods, asked.leverageshap, asked.ours_only)
            chosen = budgets if section == "values" else [times for times in budgets if times >= 5]
            run_games(section, games, runners, cells, seeds, chosen, asked.only, late)
    if not asked.leverageshap and not asked.report:
        print("leverageshap is left out: it is on no registry; --leverageshap takes a clone")
    for path in sorted(games.missing):
        print(f"{path} is missing: its games are left out")
    show(cells, methods)


if __name__ == "__main__":
    main()
