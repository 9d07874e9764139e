"""Estimators of shap, as a program of the laboratory.

    cargo xtask measure frontier --estimator-program \\
        'shap Kernel=python3 benches/rivals/shap_estimator.py kernel'

The argument is `kernel` or `permutation`. Needs shap.
"""
from estimator_program import run

import sys

import numpy as np
import shap


def kernel(game):
    np.random.seed(game.seed)
    explainer = shap.KernelExplainer(game, np.zeros((1, game.players)))
    # KernelExplainer counts neither the empty nor the grand coalition, and keeps only ten features without
    # l1_reg=0.
    return explainer.shap_values(np.ones((1, game.players)), nsamples=game.budget - 2, l1_reg=0, silent=True)


def permutation(game):
    explainer = shap.PermutationExplainer(
        game, shap.maskers.Independent(np.zeros((1, game.players))), seed=game.seed)
    return explainer(np.ones((1, game.players)), max_evals=game.budget, silent=True).values


if __name__ == "__main__":
    run({"kernel": kernel, "permutation": permutation}[sys.argv[1]])
