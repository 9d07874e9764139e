#!/usr/bin/env python3
"""Writes interaction indices computed by shapiq and shap on random games and a tree, for use in a test.

    python3 benches/rivals/indices.py DIR
    APPORTION_INDICES=DIR cargo test -p apportion-values --test values published -- --nocapture

Files are named NAME_index=INDEX_order=ORDER.json, in the format of shapiq's InteractionValues; the one with
index Moebius is the game. The files that shapiq publishes
(tests/shapiq/data/interaction_values/california_housing of github.com/mmschlk/shapiq: 102 of two games, and
one whose game is not given) have the same format: set APPORTION_INDICES to their directory. Files with index
halves-NAME contain a matrix: halves-STII is the result of shap's exact explainer with interactions=True,
halves-k-SII that of its tree explainer.

Needs shapiq 1.8, shap and scikit-learn. shapiq computes FSII and kADD-SHAP by a regression in which ∅ and N
have the weight 1e8 instead of being constraints; the error is up to 5e-8, in its published files 5e-9, and
the tolerance 1e-7.
"""
import itertools
import json
import pathlib
import sys
import warnings

import numpy
import shap
from shapiq import ExactComputer
from sklearn.tree import DecisionTreeRegressor

warnings.simplefilter("ignore")
INDICES = ["SII", "BII", "CHII", "k-SII", "STII", "FBII", "Co-Moebius", "SGV", "BGV", "CHGV", "IGV", "EGV",
           "JointSV"]
# Indices that shapiq computes by a regression with large weights instead of constraints.
BY_WEIGHTS = ["FSII", "kADD-SHAP"]


def write(folder, name, index, order, players, base, data):
    metadata = {"n_players": players, "index": index, "max_order": order, "baseline_value": float(base)}
    told = {",".join(map(str, members)) if members else "Empty": float(value) for members,
            value in data.items()}
    file = folder / f"{name}_index={index}_order={order}.json"
    file.write_text(json.dumps({"metadata": metadata, "data": told}))


def moebius(values, players):
    """Returns the Möbius coefficients of coalition values by mask."""
    coefficients = numpy.array(values, dtype=float)
    for player in range(players):
        blocks = coefficients.reshape(-1, 2, 1 << player)
        blocks[:, 1] -= blocks[:, 0]
    members = lambda mask: tuple(player for player in range(players) if mask >> player & 1)
    return {members(mask): coefficient for mask, coefficient in enumerate(coefficients)}


def random_games(folder):
    worst = 0.0
    for players in range(1, 8):
        random = numpy.random.default_rng(players)
        values = random.normal(size=1 << players)
        game = lambda coalitions: values[coalitions @ (1 << numpy.arange(players))]
        name = f"random_{players}"
        write(folder, name, "Moebius", players, players, values[0], moebius(values, players))
        for index, order in itertools.product(INDICES + BY_WEIGHTS, range(1, players + 1)):
            found = ExactComputer(game, n_players=players)(index, order)
            data = {members: value for members, value in found.dict_values.items() if members}
            base = found.baseline_value if index == "FBII" else values[0]
            write(folder, name, index, order, players, base, data)
            if index == "FSII":
                worst = max(worst, abs(sum(data.values()) - (values[-1] - values[0])))
    print(f"the sum of shapiq's faithful Shapley indices is off by up to {worst:.1e}")


def exact_explainer(folder):
    players = 6
    random = numpy.random.default_rng(1)
    background, row = random.normal(size=(4, players)), random.normal(size=players)
    model = lambda x: x[:, 0] * x[:, 1] * x[:, 2] + numpy.sin(x[:, 3] * x[:, 4]) + x[:, 5] ** 2 * x[:, 0]
    values = [
        model(numpy.where([mask >> player & 1 for player in range(players)], row, background)).mean()
        for mask in range(1 << players)
    ]
    masker = shap.maskers.Independent(background, max_samples=len(background))
    matrix = shap.explainers.Exact(model, masker)(row[None], interactions=True).values[0]
    write(folder, "exact", "Moebius", players, players, values[0], moebius(values, players))
    write(folder, "exact", "halves-STII", 2, players, values[0], dict(numpy.ndenumerate(matrix)))


def tree_explainer(folder):
    players = 5
    random = numpy.random.default_rng(2)
    rows = random.normal(size=(300, players))
    labels = rows[:, 0] * rows[:, 1] + rows[:, 2] * (rows[:, 3] > 0) + rows[:, 4] * rows[:, 0] ** 2
    model = DecisionTreeRegressor(max_depth=6, random_state=0).fit(rows, labels)
    tree, row = model.tree_, rows[7].astype(numpy.float32)

    def worth(mask, node=0):
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            return tree.value[node, 0, 0]
        if mask >> tree.feature[node] & 1:
            return worth(mask, left if row[tree.feature[node]] <= tree.threshold[node] else right)
        cover = tree.weighted_n_node_samples
        return (worth(mask, left) * cover[left] + worth(mask, right) * cover[right]) / cover[node]

    values = [worth(mask) for mask in range(1 << players)]
    matrix = shap.TreeExplainer(model).shap_interaction_values(rows[7:8])[0]
    write(folder, "tree", "Moebius", players, players, values[0], moebius(values, players))
    write(folder, "tree", "halves-k-SII", 2, players, values[0], dict(numpy.ndenumerate(matrix)))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random_games(folder)
    exact_explainer(folder)
    tree_explainer(folder)
    print(len(list(folder.glob("*.json"))), "files in", folder)


if __name__ == "__main__":
    main()
