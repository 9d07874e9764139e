"""The estimators of `estimators.py`, ours and others: functions of a game, a budget and a seed."""
import collections
import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import io
import itertools
import math
import pathlib
import sys
import types

import numpy as np

import apportion

# The reference, to which the errors of all other methods are relative.
REFERENCE = {"values": "leverage-shap", "banzhaf": "kernel-banzhaf-without-replacement"}
OURS = {
    "values": ("auto", "learned-spectrum", "proxy-residual", "odd-shap", "poly-shap", "proxy-shap",
               "regression-msr", "leverage-shap",
               "leverage-shap-unpaired", "msr-adjusted", "permutation"),
    "banzhaf": ("auto", "learned-spectrum", "proxy-residual", "regression-msr", "kernel-banzhaf",
                "kernel-banzhaf-without-replacement", "msr-adjusted"),
    "pairs": ("auto", "learned-spectrum"),
}

Found = collections.namedtuple("Found", "values low high chose", defaults=(None, None, None))


def ours(section, method):
    def run(game, budget, seed):
        if section == "pairs":
            told = game.ours().explain(method=method, budget=budget, seed=seed, threads=1,
                                       interactions="index")
            values = np.asarray(told.values)
            return Found(values[np.triu_indices(game.players, 1)] if values.ndim == 2 else values,
                         chose=told.method)
        asked = "shapley" if section == "values" else "banzhaf"
        told = game.ours().explain(value=asked, method=method, budget=budget, seed=seed, threads=1)
        low, high = told.intervals(0.95) if told.std_errors is not None else (None, None)
        return Found(told.values, low, high, told.method)
    return run


def can_pairs():
    """Returns whether this build of apportion estimates interactions of a game."""
    try:
        apportion.Game(lambda asked: asked.sum(axis=1) * 1.0, 3).explain(interactions="index")
    except Exception:
        return False
    return True


def of_shapiq(make, order=1):
    def run(game, budget, seed):
        told = make(game.players, budget, seed).approximate(budget, game)
        kept = {players: told.values[place] for players,
                place in told.interaction_lookup.items() if len(players) == order}
        return Found(np.array([kept.get(players,
                                        0.0) for players in itertools.combinations(
                                            range(game.players), order)]))
    return run


def shap_kernel(game, budget, seed):
    import shap

    np.random.seed(seed)
    explainer = shap.KernelExplainer(game, np.zeros((1, game.players)))
    # KernelExplainer counts neither the empty nor the grand coalition, and keeps only ten features without
    # l1_reg=0.
    return Found(np.ravel(explainer.shap_values(
        np.ones((1, game.players)), nsamples=budget - 2, l1_reg=0, silent=True)))


def shap_permutation(game, budget, seed):
    import shap

    explainer = shap.PermutationExplainer(
        game, shap.maskers.Independent(np.zeros((1, game.players))), seed=seed)
    return Found(np.ravel(explainer(np.ones((1, game.players)), max_evals=budget, silent=True).values))


def leverageshap_of(directory):
    """Returns the authors' Leverage SHAP from a clone, with our seed instead of their fixed one."""
    # Bypasses the package's `__init__`, which imports a plotting library.
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


def is_rival(estimator):
    return estimator.startswith(("shap", "leverageshap"))


def terms_up_to(players, order):
    return sum(math.comb(players, size) for size in range(order + 1))


def poly(order):
    """Returns PolySHAP of this order, with at most half as many terms as the budget and at most 600."""
    def make(players, budget, seed):
        from shapiq.approximator import PolySHAP

        most = min(terms_up_to(players, order), max(players + 2, min(budget // 2, 600)))
        return PolySHAP(players, max_order=order, max_terms=most, pairing_trick=True, random_state=seed)
    return make


def rivals(section, leverageshap):
    """Returns the other estimators by name: version, function, maximum number of players."""
    import shapiq.approximator as theirs

    version = importlib.metadata.version
    found = {}

    def add(name, make, most=math.inf):
        found[f"shapiq {name}"] = (version("shapiq"), of_shapiq(make, 2 if section == "pairs" else 1), most)

    if section == "values":
        add("LeverageSHAP", lambda n, m, seed: theirs.LeverageSHAP(n, random_state=seed))
        add("OddSHAP", lambda n, m, seed: theirs.OddSHAP(n, random_state=seed))
        add("ProxySHAP", lambda n, m, seed: theirs.ProxySHAP(n, max_order=1, index="SV", random_state=seed))
        add("ProxySHAP adjusted", lambda n, m,
            seed: theirs.ProxySHAP(n, max_order=1, index="SV", adjustment=True, random_state=seed))
        add("RegressionMSR", lambda n, m, seed: theirs.RegressionMSR(n, "SV", random_state=seed))
        add("RegressionMSR linear", lambda n, m,
            seed: theirs.RegressionMSR(n, "SV", proxy_model="linear", random_state=seed))
        add("PolySHAP 2", poly(2))
        add("PolySHAP 3", poly(3), most=20)
        add("KernelSHAP paired", lambda n, m,
            seed: theirs.KernelSHAP(n, pairing_trick=True, random_state=seed))
        add("kADDSHAP 2", lambda n, m,
            seed: theirs.kADDSHAP(n, max_order=2, pairing_trick=True, random_state=seed), most=20)
        add("PermutationSamplingSV", lambda n, m, seed: theirs.PermutationSamplingSV(n, random_state=seed))
        found["shap Kernel"] = (version("shap"), shap_kernel, math.inf)
        found["shap Permutation"] = (version("shap"), shap_permutation, math.inf)
        if leverageshap:
            try:
                found["leverageshap"] = ("clone", leverageshap_of(leverageshap), math.inf)
            except Exception as problem:
                print(f"leverageshap is skipped: {type(problem).__name__}: {problem}")
    if section == "banzhaf":
        add("RegressionMSR BV", lambda n, m, seed: theirs.RegressionMSR(n, "BV", random_state=seed))
        add("ProxySHAP BV", lambda n, m,
            seed: theirs.ProxySHAP(n, max_order=1, index="BV", random_state=seed))
        add("ProxySHAP BV adjusted", lambda n, m,
            seed: theirs.ProxySHAP(n, max_order=1, index="BV", adjustment=True, random_state=seed))
        add("RegressionFBII 1", lambda n, m,
            seed: theirs.RegressionFBII(n, max_order=1, pairing_trick=True, random_state=seed))
        add("SVARM BV", lambda n, m, seed: theirs.SVARM(n, "BV", random_state=seed))
    if section == "pairs":
        add("ProxySHAP SII", lambda n, m,
            seed: theirs.ProxySHAP(n, max_order=2, index="SII", random_state=seed))
        add("ProxySHAP SII adjusted", lambda n, m,
            seed: theirs.ProxySHAP(n, max_order=2, index="SII", adjustment=True, random_state=seed))
        add("KernelSHAPIQ SII", lambda n, m,
            seed: theirs.KernelSHAPIQ(n, max_order=2, index="SII", pairing_trick=True, random_state=seed),
            most=30)
        add("SVARMIQ SII", lambda n, m,
            seed: theirs.SVARMIQ(n, max_order=2, index="SII", top_order=True, random_state=seed), most=30)
    return found


@functools.cache
def build():
    """Returns a digest of this build of apportion."""
    return hashlib.sha256(pathlib.Path(apportion._core.__file__).read_bytes()).hexdigest()[:12]


def estimators(section, methods, leverageshap, is_for_ours_only):
    """Returns the estimators of a section by name: (version, function, maximum number of players).

    The reference method is first, then our other methods.
    """
    known = {name for name, _ in apportion.methods()}
    wanted = list(dict.fromkeys([name for name in [REFERENCE.get(section)] if name]
                                + list(methods or OURS[section])))
    found = {name: (build(), ours(section, name), math.inf) for name in wanted if name in known}
    if lacking := [name for name in wanted if name not in known]:
        print(f"{section}: this build of apportion lacks {', '.join(lacking)}")
    if section == "pairs" and not can_pairs():
        print("pairs: this build of apportion cannot estimate interactions of a game")
        found = {}
    return found if is_for_ours_only else found | rivals(section, leverageshap)
