"""Writes results of shap's PartitionExplainer and CoalitionExplainer on a small model.

    python3 benches/rivals/levels_fixture.py > crates/values/tests/fixtures/shap_levels.json

Needs shap 0.47 or later, and for shap 0.51, which converts arrays of one number to numbers, numpy before 2.4.
PartitionExplainer is exact with a sufficient budget: over a binary tree of clusters, its values are Owen
values of nested groups. CoalitionExplainer is exact over any tree of groups. The fixture contains the values
of all coalitions by mask, so that its reader does not need the model; the groups as nested lists of features;
and the values of both explainers.
"""

import json
import sys

import numpy
import shap

FEATURES = 7
# Merges of a dendrogram: two clusters, their distance, the size of the new cluster.
MERGES = [[0, 3, 0.1, 2], [1, 5, 0.2, 2], [7, 6, 0.3, 3], [2, 4, 0.4, 2], [8, 10, 0.6, 4], [9, 11, 0.9, 7]]
TREES = {
    "two levels": {"A": ["f0", "f3"], "B": ["f1", "f2", "f5"], "C": ["f4", "f6"]},
    "three levels": {"A": {"A1": ["f0", "f3"], "A2": ["f1", "f2", "f5"]}, "B": ["f4", "f6"]},
    "four levels": {"A": {"A1": {"A11": ["f6", "f1"], "A12": ["f2", "f0"]}, "A2": ["f3"]}, "B": ["f4", "f5"]},
}


def model(x):
    x = numpy.asarray(x, dtype=float)
    out = x @ numpy.arange(1.0, FEATURES + 1) / 4 + x[:, 0] * x[:, 1] - 2 * x[:, 2] * x[:, 3] * x[:, 4]
    return out + numpy.maximum(x[:, 5], x[:, 6]) * x[:, 1] + numpy.sin(x.sum(1))


def nested(group):
    if isinstance(group, dict):
        return [nested(inner) for inner in group.values()]
    return [int(name[1:]) for name in group]


def merged():
    nodes = list(range(FEATURES))
    for first, second, _, _ in MERGES:
        nodes.append([nodes[first], nodes[second]])
    return nodes[-1]


def main():
    random = numpy.random.default_rng(3)
    background, row = random.normal(size=(5, FEATURES)), random.normal(size=FEATURES)
    values = []
    for mask in range(1 << FEATURES):
        present = [mask >> feature & 1 == 1 for feature in range(FEATURES)]
        values.append(float(model(numpy.where(present, row, background)).mean()))
    cases = []
    masker = shap.maskers.Partition(background, clustering=numpy.array(MERGES))
    explained = shap.PartitionExplainer(model, masker)(row[None], max_evals=100_000, silent=True)
    cases.append({"by": "PartitionExplainer", "groups": merged(), "values": explained.values[0].tolist()})
    names = [f"f{feature}" for feature in range(FEATURES)]
    for tree in TREES.values():
        masker = shap.maskers.Partition(background, clustering=numpy.array(MERGES))
        masker.feature_names = names
        explainer = shap.CoalitionExplainer(model, masker, partition_tree=tree)
        values_of = numpy.asarray(explainer(row[None], silent=True).values[0], dtype=float).ravel()
        cases.append({"by": "CoalitionExplainer", "groups": nested(tree), "values": values_of.tolist()})
    json.dump({"shap": shap.__version__, "values": values, "cases": cases}, sys.stdout)
    print()


main()
