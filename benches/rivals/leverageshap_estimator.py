"""The authors' Leverage SHAP (https://github.com/rtealwitter/leverageshap), as a program of the laboratory.

    cargo xtask measure frontier --estimator-program \\
        'leverageshap=python3 benches/rivals/leverageshap_estimator.py CLONE'

CLONE is the directory of a clone, since the package is not in a registry. Needs tabulate.
"""
from estimator_program import run

import importlib
import pathlib
import sys
import types

import numpy as np


def library():
    """Returns the module and its sampler, without the package's `__init__`, which imports a plotting library.
    """
    package = types.ModuleType("leverageshap")
    package.__path__ = [str(pathlib.Path(sys.argv[1]) / "leverageshap")]
    sys.modules["leverageshap"] = package
    module = importlib.import_module("leverageshap.estimators.leverage_shap")
    return module, module.CoalitionSampler


def estimate(game):
    module, sampler = LIBRARY
    # Use the seed of the task instead of the package's fixed seed.
    module.CoalitionSampler = lambda *given, **named: sampler(*given, **{**named, "random_state": game.seed})
    ends = tuple(game(np.array([[False] * game.players, [True] * game.players])))
    asked = types.SimpleNamespace(value=game, edge_cases=lambda: ends)
    return module.LeverageSHAP(game.players, asked).shap_values(game.budget)


if __name__ == "__main__":
    LIBRARY = library()
    run(estimate)
