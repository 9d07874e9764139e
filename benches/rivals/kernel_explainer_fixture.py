#!/usr/bin/env python3
"""Records shap's KernelExplainer on fixed games, for the test of Optimized Kernel SHAP.

Each case contains the subsets drawn (in order, with repetitions), and the resulting rows, weights and values.
Usage: kernel_explainer_fixture.py OUT.json   (needs: shap numpy)
"""
import json
import sys

import numpy as np
import shap


def game(z):
    """A game of order three with a large constant term."""
    z = np.atleast_2d(z)
    n = z.shape[1]
    i = np.arange(n)
    value = 5.0 + z @ (0.5 + 0.25 * i)
    value += 2.0 * z[:, 0] * z[:, 1 % n] - 1.5 * z[:, 1 % n] * z[:, 2 % n] * z[:, 3 % n]
    return value + 0.125 * (z.sum(1) % 3)


def case(players, nsamples, seed):
    explainer = shap.KernelExplainer(game, np.zeros((1, players)))
    draws = []
    shuffle = np.random.permutation

    def record(n):
        order = shuffle(n)
        draws.append(np.asarray(order))
        return order

    sizes = []
    choice = np.random.choice

    def record_choice(*args, **kwargs):
        drawn = choice(*args, **kwargs)
        sizes.append(np.atleast_1d(drawn))
        return drawn

    np.random.seed(seed)
    np.random.permutation, np.random.choice = record, record_choice
    try:
        phi = explainer.shap_values(np.ones((1, players)), nsamples=nsamples, l1_reg=0, silent=True)
    finally:
        np.random.permutation, np.random.choice = shuffle, choice
    rows = explainer.nsamplesAdded
    masks = explainer.maskMatrix[:rows]
    return dict(
        players=players,
        nsamples=nsamples,
        draws=[order.tolist() for order in draws],
        draw_size_indices=sizes[0].tolist() if sizes else [],
        rows=["".join(str(int(bit)) for bit in row) for row in masks],
        weights=explainer.kernelWeights[:rows].tolist(),
        values=np.ravel(phi).tolist(),
    )


if __name__ == "__main__":
    cases = [case(*c) for c in [(5, 20, 0), (6, 30, 1), (8, 60, 2), (9, 61, 3), (12, 100, 4), (20, 150, 5)]]
    with open(sys.argv[1], "w") as out:
        json.dump(dict(shap=shap.__version__, numpy=np.__version__, cases=cases), out, separators=(",", ":"))
    for c in cases:
        print(c["players"], c["nsamples"], len(c["draws"]), len(c["draw_size_indices"]), len(c["rows"]))
