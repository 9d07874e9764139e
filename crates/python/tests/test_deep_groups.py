"""Deeply nested and cyclic groups: typed errors, no recursion."""

import numpy as np
import pytest

import apportion

X = np.arange(12.0).reshape(3, 4)


def nested(depth, kind):
    group = kind([0, 1])
    for _ in range(depth):
        group = kind([group])
    return [group, [2], [3]]


def cyclic():
    group = [0, 1]
    group.append(group)
    return [group, [2], [3]]


@pytest.mark.parametrize("groups",
                         [nested(121, list), nested(2000, list), nested(2000, tuple), nested(100_000, list),
                          cyclic(),
                                    {"deep": nested(2000, list)[0], "c": [2], "d": [3]}])
def test_groups_that_are_nested_too_deep_are_refused(groups):
    with pytest.raises(apportion.UsageError, match="nested too deeply; expected at most 120 levels"):
        apportion.explain(lambda rows: rows.sum(axis=1), X, background=X, groups=groups, value="owen")


def test_groups_as_deep_as_in_the_command_are_explained():
    deep = apportion.explain(lambda rows: rows.prod(axis=1), X[1:], background=X[:1],
                             groups=nested(100, list), value="owen")
    flat = apportion.explain(lambda rows: rows.prod(axis=1), X[1:], background=X[:1],
                             groups=[[0, 1], [2], [3]], value="owen")
    np.testing.assert_allclose(deep.values, flat.values)


@pytest.mark.parametrize("budget", [1, 2, 15, "1n", "3n"])
def test_a_budget_below_all_coalitions_is_refused_by_the_method_exact(budget):
    with pytest.raises(apportion.UsageError,
                       match=r"requires a budget of at least 2\^4 = 16 evaluations for 4 players"):
        apportion.explain(lambda rows: rows.sum(axis=1), X, background=X, method="exact", budget=budget)


@pytest.mark.parametrize("budget", [16, 17, "4n", "auto"])
def test_a_budget_of_all_coalitions_is_taken(budget):
    apportion.explain(lambda rows: rows.sum(axis=1), X, background=X, method="exact", budget=budget)
