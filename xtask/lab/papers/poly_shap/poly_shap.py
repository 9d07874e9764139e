"""k-PolySHAP (Fumagalli, Witter and Musco, ICLR 2026) as an estimator of the laboratory, in plain Python.

    python3 poly_shap.py DEGREE [paired]

Fits a polynomial, whose terms are the products of up to DEGREE players, to the sampled coalitions by least
squares with the kernel's weights. It is exact on the empty and the grand coalition, and its Shapley values
are the estimate. Degree 1 is Kernel SHAP. Coalitions are drawn by leverage scores (all sizes are equally
likely) until the budget of distinct coalitions is spent. With `paired`, each coalition is drawn together with
its complement. Repeated draws increase the weight of a coalition.
"""

import itertools
import json
import math
import random
import sys


def say(message):
    print(json.dumps(message), flush=True)


def sample(players, budget, is_paired, generator):
    """Returns the number of draws of each coalition (a bit mask), with at most budget - 2 distinct ones, and
    whether all coalitions are enumerated, which a sufficient budget allows.
    """
    full = (1 << players) - 1
    if budget >= 1 << players:
        return {mask: 1.0 for mask in range(1, full)}, True
    drawn = {}
    while True:
        members = generator.sample(range(players), generator.randrange(1, players))
        mask = sum(1 << player for player in members)
        both = [mask, full ^ mask] if is_paired else [mask]
        if len(drawn) + sum(one not in drawn for one in both) > budget - 2:
            return drawn, False
        for one in both:
            drawn[one] = drawn.get(one, 0.0) + 1.0


def solve(matrix, right_sides):
    """Solves a symmetric positive definite system by Cholesky factorization; returns None if it is singular.
    """
    size, factor = len(matrix), []
    for i in range(size):
        row = []
        for j in range(i + 1):
            rest = matrix[i][j] - sum(map(float.__mul__, row, factor[j] if j < i else row))
            if i == j and rest <= 1e-10 * matrix[i][i]:
                return None
            row.append(math.sqrt(rest) if i == j else rest / factor[j][j])
        factor.append(row)
    solutions = []
    for right in right_sides:
        forward = []
        for i in range(size):
            forward.append((right[i] - sum(map(float.__mul__, factor[i], forward))) / factor[i][i])
        back = [0.0] * size
        for i in reversed(range(size)):
            back[i] = (forward[i] - sum(factor[j][i] * back[j] for j in range(i + 1, size))) / factor[i][i]
        solutions.append(back)
    return solutions


def main(degree, is_paired):
    task = json.loads(sys.stdin.readline())
    players, budget = task["players"], task["budget"]
    terms = [set for size in range(1, degree + 1) for set in itertools.combinations(range(players), size)]
    drawn, is_all = sample(players, budget, is_paired, random.Random(task["seed"]))
    if len(drawn) < len(terms):
        return say({"refused": f"{len(terms)} products need as many coalitions, and there are {len(drawn)}"})
    masks = sorted(drawn)
    say({"coalitions": [format(mask, f"0{players}b")[::-1] for mask in [0, (1 << players) - 1, *masks]]})
    empty, grand, *values = json.loads(sys.stdin.readline())["values"]

    # The weight of a coalition is the kernel's weight divided by the probability of the draw. All coalitions
    # of one size share a weight, so that sums of weights reduce to counting bits.
    def weight(size):
        return 1.0 / (size * (players - size) * (math.comb(players, size) if is_all else 1))

    weights = [drawn[mask] * weight(mask.bit_count()) for mask in masks]
    groups = {}
    for place, one in enumerate(weights):
        groups[one] = groups.get(one, 0) | 1 << place
    contains = [sum(1 << place for place,
                    mask in enumerate(masks) if mask >> player & 1) for player in range(players)]
    columns = []
    for term in terms:
        column = (1 << len(masks)) - 1
        for player in term:
            column &= contains[player]
        columns.append(column)
    parts = [[(one, column & rows) for one, rows in groups.items()] for column in columns]
    gram = [
        [sum(one * (rows & columns[j]).bit_count() for one, rows in parts[i]) for j in range(i + 1)]
        for i in range(len(terms))
    ]
    fitted = [0.0] * len(terms)
    for place, value in enumerate(values):
        for i, column in enumerate(columns):
            if column >> place & 1:
                fitted[i] += weights[place] * (value - empty)
    solved = solve(gram, [fitted, [1.0] * len(terms)])
    if solved is None:
        return say({"refused": "the coalitions that were drawn do not tell all products apart"})
    free, shift = solved
    multiplier = (grand - empty - sum(free)) / sum(shift)
    estimate = [0.0] * players
    for term, one, step in zip(terms, free, shift):
        for player in term:
            estimate[player] += (one + multiplier * step) / len(term)
    say({"estimate": estimate})


main(int(sys.argv[1]), "paired" in sys.argv[2:])
