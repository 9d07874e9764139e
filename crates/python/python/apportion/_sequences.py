"""Players of sequences, whose rows have steps × features."""
from collections.abc import Sequence
from typing import Any, TypeAlias

from ._errors import UsageError

# The names of all cells, the groups that are players, and the solution concept.
Players: TypeAlias = tuple[list[str], Any, str]

_QUOTIENTS = {"shapley": "quotient-shapley", "banzhaf": "quotient-banzhaf"}


def players_of_sequences(shape: tuple[int, ...], names: Sequence[str] | None, groups: Any,
                         value: str) -> Players:
    """Returns the names of all cells, the groups that are players, and the solution concept.

    shape: the number of steps and the number of features of a row.
    groups: "features" (the default) for one player for each feature over all steps, "steps" for one for each
        step, "cells" for one for each feature at each step, or groups of cells by names such as `f0[3]`.
    """
    steps, features = shape
    if names is not None and len(names) == steps * features:
        cells, of_features = list(names), [f"f{feature}" for feature in range(features)]
    elif names is None or len(names) == features:
        of_features = list(names) if names is not None else [f"f{feature}" for feature in range(features)]
        cells = [f"{name}[{step}]" for step in range(steps) for name in of_features]
    else:
        raise UsageError(f"feature_names has {len(names)} names, expected {features} (one for each feature) "
                         f"or {steps * features} (one for each step and feature)")
    if groups == "cells":
        return cells, None, value
    if groups in (None, "features"):
        groups = {name: list(range(feature, steps * features, features))
                  for feature, name in enumerate(of_features)}
    elif groups == "steps":
        groups = {f"step {step}": list(range(step * features, (step + 1) * features))
                  for step in range(steps)}
    else:
        return cells, groups, value
    return cells, groups, _QUOTIENTS.get(value, value)
