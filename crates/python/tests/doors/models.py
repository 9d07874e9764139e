"""Models whose predictions identify their input: one leaf per interval or category of `cell`, and one leaf
for missing values.

    python models.py

writes them in LightGBM's text format.
"""
import json
import pathlib

# Thresholds of `cell`: they separate 2^53 from its neighbours and the numbers in the tables from each other.
CUTS = [
    -1.7e308, -1e300, -(2**53 + 2), -(2**53), -(2**53 - 1), -1000, -12, -1.5, -1, -0.5, -1e-300, 0, 1e-300,
    0.05, 0.0999999999999999, 0.1, 0.25, 0.3, 0.5, 0.9, 1,
    1.25, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 12, 16, 50, 100, 127, 255, 1000, 1234, 1500, 3600, 20000, 20500, 2**31,
    1e12, 1e15, 2**53 - 1, 2**53, 2**53 + 2, 2**60, 2**63,
    2**64, 1e30, 1.7e308,
]


def tree(feature, thresholds, kinds, values):
    """Returns a tree as a chain of nodes: each sends the values that match to its leaf and all others to the
    next node.
    """
    nodes = range(len(thresholds))
    right = [node + 1 for node in nodes][:-1] + [-len(thresholds) - 1]
    categories = [node for node in nodes if kinds[node] & 1]
    lines = [
        f"num_leaves={len(values)}", f"num_cat={len(categories)}",
        f"split_feature={' '.join([str(feature)] * len(thresholds))}",
        f"split_gain={' '.join(['1'] * len(thresholds))}",
        "threshold=" + " ".join(
            repr(float(number)) if not kinds[0] & 1 else str(number) for number in thresholds),
        f"decision_type={' '.join(map(str, kinds))}",
        f"left_child={' '.join(str(-node - 1) for node in nodes)}",
        f"right_child={' '.join(map(str, right))}",
        f"leaf_value={' '.join(map(repr, values))}", f"leaf_count={' '.join(['1'] * len(values))}",
        f"internal_value={' '.join(['0'] * len(thresholds))}",
        f"internal_count={' '.join(str(len(values) - node) for node in nodes)}",
    ]
    if categories:
        lines += [f"cat_boundaries={' '.join(map(str, range(len(categories) + 1)))}",
                  f"cat_threshold={' '.join(str(1 << code) for code in categories)}"]
    return [*lines, "is_linear=0", "shrinkage=1"]


def model(names, trees, categories=None):
    cell = ":".join(map(str, range(len(categories)))) if categories else "[-1:1]"
    blocks = ["\n".join([f"Tree={number}", *lines]) + "\n\n\n" for number, lines in enumerate(trees)]
    head = ["tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0",
            f"max_feature_idx={len(names) - 1}", "objective=regression",
            f"feature_names={' '.join(names)}", f"feature_infos={cell} [-1:1]",
            f"tree_sizes={' '.join(str(len(block)) for block in blocks)}"]
    return ("\n".join(head) + "\n\n" + "".join(blocks) + "end of trees\n\nparameters:\nend of parameters\n\n"
            + f"pandas_categorical:{json.dumps(categories and [categories])}\n")


def of_numbers(names):
    # Missing values go left at the first threshold, as −∞ does; a separate tree distinguishes the two.
    cell = tree(0, CUTS, [10] + [8] * (len(CUTS) - 1), [float(leaf) for leaf in range(len(CUTS) + 1)])
    return model(names, [cell, tree(0, CUTS[:1], [8], [-0.5, 0.0]), tree(1, [1.0], [8], [0.0, 100.0])])


def of_categories(categories):
    codes = range(len(categories))
    cell = tree(0, [*codes], [1] * len(categories), [*(float(code + 1) for code in codes), 0.0])
    return model(["cell", "other"], [cell, tree(1, [1.0], [8], [0.0, 100.0])], categories)


MODELS = {
    "numbers": of_numbers(["cell", "other"]), "names": of_numbers(["a_cell", "other"]),
    "numbered": of_numbers(["Column_0", "Column_1"]),
    "words": of_categories(["a", "b", "c"]), "odd words": of_categories(["NA", "", "None", "a b", "True"]),
    "whole": of_categories([1, 2, 3]), "booleans": of_categories([False, True]),
}

if __name__ == "__main__":
    for name, text in MODELS.items():
        (pathlib.Path(__file__).parent / f"{name.replace(' ', '_')}.txt").write_text(text)
