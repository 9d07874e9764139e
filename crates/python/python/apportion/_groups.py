"""Groups of features and graphs on them, as they are given: by name or number."""
from . import _core
from ._data import Wanted, table
from ._errors import UsageError
from ._names import place
from ._threads import pool


# Maximum nesting depth of groups, as in the command.
DEEPEST = 120


def groups(X, *, count=None, tree=False, dependence=None, linkage=None, threads=None):
    """Groups of features that depend on each other, found in data: lists of their names (or numbers, where there are none).

    X: rows × features.
    count: how many groups; by default as many as are significant. With tree=True groups within groups.
    dependence: spearman, mutual-information, nearest-neighbours or mic. linkage: average, single or complete.

    >>> import numpy as np, apportion
    >>> row = np.arange(100.0)
    >>> apportion.groups(np.column_stack([row, row * 37 % 101, row**2]))
    [[0, 2], [1]]
    """
    rows = table(X, Wanted())
    found = _core.find_groups(rows.values, pool(threads), count, tree, dependence, linkage)
    return found if rows.names is None else _named(found, rows.names)


def _named(members, names):
    return [_named(member, names) if isinstance(member, list) else names[member] for member in members]


def numbered(given, names, data, threads=None):
    """Groups as lists of numbers, whatever they were given as; `data` gives the rows in which they are found."""
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, str):
        if given == "auto" or given.startswith("auto="):
            what = given.partition("=")[2]
            if what not in ("", "tree") and not what.isdigit():
                raise UsageError(f'groups={given!r}: write "auto=3", "auto" to have the number found, or "auto=tree" for groups within groups')
            return _core.find_groups(data(), pool(threads), int(what) if what.isdigit() else None, what == "tree", None, None)
        if "(" in given:
            raise UsageError(f"groups={given!r}: give groups within groups as lists within lists")
        given = [[name.strip() for name in group.split(",")] for group in given.rstrip(";").split(";")]
    return [_members(group, names) for group in given]


def _members(group, names, depth=0):
    if isinstance(group, (str, int)) or not hasattr(group, "__iter__"):
        return [place("groups", group, names)]
    if depth > DEEPEST:
        raise UsageError(f"invalid groups: nested more than {DEEPEST} deep")
    return [_members(member, names, depth + 1) if not isinstance(member, str) and hasattr(member, "__iter__") else place("groups", member, names)
            for member in group]


def flat(members):
    """The features of a group, those of the groups in it included."""
    return [feature for member in members for feature in (flat(member) if isinstance(member, list) else [member])]


def graph(given, names):
    """A graph as the engine takes it: "line", a grid of so many rows and columns, or edges."""
    if given is None:
        return None
    if given == "line":
        return True
    if isinstance(given, str):
        import re

        grid = re.fullmatch(r"grid=(\d+)x(\d+)(?:,([48]))?", given.strip())
        if grid:
            return int(grid[1]), int(grid[2]), int(grid[3] or 4)
        given = [edge.split(",") for edge in given.rstrip(";").split(";")]
    edges = []
    for edge in given:
        if len(edge) != 2:
            raise UsageError(f'graph: {edge!r} is no edge; write "line", "grid=4x5", or pairs of features')
        edges.append(tuple(place("graph", end.strip() if isinstance(end, str) else end, names) for end in edge))
    return edges
