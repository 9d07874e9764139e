"""Groups of features and graphs of features, by name or number."""
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _checks, _core
from ._data import Wanted, table
from ._errors import UsageError
from ._names import listed, place
from ._threads import pool
from ._types import Numbers, Rows

# Maximum nesting depth of groups, as in the command.
_MAX_DEPTH = 120
_GROUPS = ('expected lists of features, a dictionary of such lists, '
           'or a string such as "age,sex;bmi" or "auto"')
_GRAPH = 'expected "line", "grid=4x5", or pairs of features such as [("age", "sex")]'


def groups(X: Rows, *, count: int | None = None, tree: bool = False, dependence: str | None = None,
           linkage: str | None = None, threads: int | None = None) -> list[Any]:
    """Returns groups of features that depend on each other in data.

    X: a data frame or an array of shape (n_rows, n_features).
    count: the number of groups (default None: the groups with significant dependence).
    tree: whether groups are nested: the whole dendrogram as nested groups (default False).
    dependence: the measure of dependence: "spearman" (the default), "mutual-information",
        "nearest-neighbours" or "mic".
    linkage: how clusters are merged: "average" (the default), "single" or "complete".
    threads: the number of threads; by default as `set_threads` specifies.

    Returns a list of groups, each a list of the names of its features, or of their numbers if X has no names.
    Raises DataError for rows that cannot be used, and UsageError for invalid options.

    >>> import numpy as np, apportion
    >>> row = np.arange(100.0)
    >>> apportion.groups(np.column_stack([row, row * 37 % 101, row**2]))
    [[0, 2], [1]]
    """
    count, tree = _checks.whole("count", count, 1, optional=True), _checks.flag("tree", tree)
    dependence = _checks.text("dependence", dependence, optional=True)
    linkage = _checks.text("linkage", linkage, optional=True)
    rows = table(X, Wanted())
    found = _core.find_groups(rows.values, pool(threads), count, tree, dependence, linkage)
    return found if rows.names is None else named(found, rows.names)


def named(members: list[Any], names: Sequence[str]) -> list[Any]:
    """Replaces the indices of features in groups with their names."""
    return _mapped(members, lambda member: names[member], 0)


def owned(given: Any) -> str | dict[str, Any] | list[Any] | None:
    """Returns a copy of groups, made of strings, numbers, lists and dictionaries."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, dict):
        return {str(name): _owned_group(members) for name, members in given.items()}
    return [_owned_group(group) for group in _listed(given)]


def _owned_group(group: Any) -> list[Any]:
    if isinstance(group, (str, int, np.integer)):
        return [_owned_member(group, 0)]
    return [_owned_member(member, 1) for member in _listed(group)]


def _owned_member(member: Any, depth: int) -> Any:
    if isinstance(member, str):
        return str(member)
    if depth > _MAX_DEPTH:
        raise UsageError(f"groups are nested too deeply; expected at most {_MAX_DEPTH} levels")
    if not isinstance(member, (bool, np.bool_)):
        try:
            return operator.index(member)
        except TypeError:
            pass
    made = []
    try:
        # A loop needs only one stack frame for each level.
        for inner in _listed(member):
            made.append(_owned_member(inner, depth + 1))
    except RecursionError:
        raise UsageError(f"groups are nested too deeply; expected at most {_MAX_DEPTH} levels") from None
    return made


def _listed(given: Any) -> list[Any]:
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, (bytes, bytearray, dict)) or not hasattr(type(given), "__iter__"):
        raise UsageError(f"invalid groups {_checks.shown(given)}; {_GROUPS}")
    try:
        return list(given)
    except UsageError:
        raise
    except Exception as error:  # iterators may raise any exception
        raise UsageError(f"invalid groups {_checks.shown(given)} ({type(error).__name__}: {error}); "
                         f"{_GROUPS}") from error


def numbered(given: Any, names: Sequence[str], data: Callable[[], Numbers] | None,
             threads: int | None = None) -> list[Any]:
    """Returns groups of any form as lists of numbers; `data` returns the rows in which "auto" finds them."""
    given = owned(given)
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, str):
        if given == "auto" or given.startswith("auto="):
            what = given.partition("=")[2]
            if what not in ("", "tree") and not (what.isascii() and what.isdigit()):
                raise UsageError(f'invalid number of groups "{what}"; '
                                 'use auto=K (e.g. auto=3), auto, or auto=tree')
            if data is None:
                raise UsageError(f"groups={given!r} requires data to find groups in; "
                                 "pass lists of players instead")
            count = _checks.whole("number of groups", int(what), 1) if what.isdigit() else None
            return _core.find_groups(data(), pool(threads), count, what == "tree", None, None)
        if "(" in given:
            raise UsageError(f"groups={given!r}: nested groups are not supported in a string; "
                             "pass nested lists")
        given = [[name.strip() for name in group.split(",")] for group in given.rstrip(";").split(";")]
    members = [_mapped(group, lambda member: place("groups", member, names), 0) for group in given]
    _check_members(members, names)
    return members


def _check_members(members: list[Any], names: Sequence[str]) -> None:
    """Raises UsageError if the groups contain a feature twice or not at all."""
    counts = [0] * len(names)
    for feature in flat(members):
        counts[feature] += 1
    twice = next((name for name, count in zip(names, counts, strict=True) if count > 1), None)
    if twice is not None:
        raise UsageError(f'groups: feature "{twice}" is listed more than once; '
                         "list each feature in exactly one group")
    missing = [name for name, count in zip(names, counts, strict=True) if count == 0]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise UsageError(f"groups: {len(missing)} of {len(names)} features {verb} missing: "
                         f"{listed(missing)}; list each feature in exactly one group")


def _mapped(members: list[Any], of: Callable[[Any], Any], depth: int) -> list[Any]:
    if depth > _MAX_DEPTH:
        raise UsageError(f"groups are nested too deeply; expected at most {_MAX_DEPTH} levels")
    return [_mapped(member, of, depth + 1) if isinstance(member, list) else of(member) for member in members]


def flat(members: list[Any]) -> list[Any]:
    """Returns the features of a group, including those of nested groups."""
    found, left = [], list(reversed(members))
    while left:
        member = left.pop()
        if isinstance(member, list):
            left.extend(reversed(member))
        else:
            found.append(member)
    return found


def owned_graph(given: Any) -> str | list[Any] | None:
    """Returns a copy of a graph, as a string or a list of pairs."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, np.ndarray):
        if given.ndim != 2 or given.shape[1] != 2:
            raise UsageError(f"invalid graph {_checks.shown(given)}; expected an array of shape (n_edges, 2) "
                             "with the two features of each edge")
        given = given.tolist()
    if isinstance(given, (bytes, bytearray, dict)) or not hasattr(type(given), "__iter__"):
        raise UsageError(f"invalid graph {_checks.shown(given)}; {_GRAPH}")
    try:
        given = list(given)
    except Exception as error:  # iterators may raise any exception
        raise UsageError(f"invalid graph {_checks.shown(given)} ({type(error).__name__}: {error}); "
                         f"{_GRAPH}") from error
    edges = []
    for edge in given:
        ends = edge.split(",") if isinstance(edge, str) else edge
        if isinstance(ends, (bytes, bytearray, dict)) or not hasattr(type(ends), "__iter__"):
            raise UsageError(f"invalid edge {_checks.shown(edge)} in graph; "
                             "expected two features, e.g. (\"age\", \"sex\")")
        ends = [end.item() if isinstance(end, np.generic) else end for end in ends]
        if len(ends) != 2:
            raise UsageError(f"invalid edge {_checks.shown(edge)} in graph; "
                             "expected two features, e.g. (\"age\", \"sex\")")
        edges.append(tuple(ends))
    return edges


def graph(given: Any, names: Sequence[str]) -> bool | tuple[int, int, int] | list[tuple[int, ...]] | None:
    """Returns a graph as the engine expects it: True for "line", the rows, columns and neighbours of a grid,
    or a list of edges.
    """
    given = owned_graph(given)
    if given is None:
        return None
    if isinstance(given, str):
        if given.strip() == "line":
            return True
        grid = re.fullmatch(r"grid=(\d+)x(\d+)(?:,([48]))?", given.strip(), re.ASCII)
        if grid:
            rows, columns = int(grid[1][:30]), int(grid[2][:30])
            if rows * columns != len(names):
                raise UsageError(f'invalid graph "{given.strip()}": the grid must have one cell for each '
                                 f"feature (cells: {rows * columns}, features: {len(names)})")
            return rows, columns, int(grid[3] or 4)
        given = owned_graph(given.rstrip(";").split(";"))
    return [tuple(place("graph", end.strip() if isinstance(end, str) else end, names) for end in edge)
            for edge in given]
