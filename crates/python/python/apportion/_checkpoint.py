"""The key of a checkpoint: everything that the results of a run depend on."""
from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _cells
from ._options import Asked, accuracy_in_words
from ._tables import Sparse, Tensor
from ._types import AnyArray

if TYPE_CHECKING:
    from ._data import Table
    from ._explainers import Explainer

# The maximum number of rows, mixed from X and the background, whose predictions help to identify a function.
_HYBRIDS = 64
# The maximum number of rows of one call of a function.
_ROWS = 4096
_ENGINE = ("kernel", "precision", "rows")
_DISTRIBUTION = ("draws", "bandwidth", "share", "variant", "fallback")
_ACCURACY = ("confidence", "relative_to", "error", "range")


def key(explainer: Explainer, rows: Table, background: Table | None, game: str) -> dict[str, str]:
    """Returns the parts of the key of a run, by name, as text.

    rows, background: the tables as numbers; the background is None if there is no background.
    game: the name of the game.
    """
    _, asked = explainer._asked_of(rows)
    own = (*_ENGINE, *_DISTRIBUTION, *_ACCURACY, "value", "method", "budget", "until", "seed")
    against = "none" if background is None else f"{_table(background)}, weights {digest(explainer._weights)}"
    return {
        "model": _model(explainer, rows, background),
        "rows": _table(rows),
        "background": against,
        "value": asked["value"],
        "groups": repr(rows.members),
        "graph": repr(explainer._graph),
        "game": game,
        "output": explainer.model_output,
        "additive": _additive(explainer),
        "engine": _chosen(asked, _ENGINE),
        "distribution": _chosen(asked, _DISTRIBUTION),
        "method": asked["method"],
        "budget": asked["budget"],
        "accuracy": accuracy_in_words(asked) or "none",
        "seed": str(asked["seed"]),
        "surrogate": "none" if explainer._surrogate is None
                     else hashlib.sha256(explainer._surrogate).hexdigest(),
        "further options": _chosen(asked, [name for name in sorted(asked) if name not in own]),
    }


def _additive(explainer: Explainer) -> str:
    found = explainer._structure
    return repr(explainer._additive if found is None else (found.methods, found.interactions))


def _chosen(asked: Asked, names: Iterable[str]) -> str:
    given: dict[str, Any] = {**asked}
    return ", ".join(f"{name}={given[name]!r}" for name in names if given[name] is not None)


def _model(explainer: Explainer, rows: Table, background: Table | None) -> str:
    """Returns the digest of an ensemble. For a function, returns its name and the digest of its predictions
    for rows of X, rows of the background, and rows mixed from both.
    """
    if explainer.ensemble is not None:
        return f"trees {explainer.ensemble._core.digest}"
    assert explainer.function is not None and rows.schema is not None
    function = explainer.function.taking(rows.schema)
    absent = rows.values if background is None else background.values
    draws = np.random.default_rng(0)
    count = min(_HYBRIDS, len(rows.values) * len(absent))
    present = draws.random((count, rows.values.shape[1])) < 0.5
    hybrids = np.where(present, rows.values[draws.integers(len(rows.values), size=count)],
                       absent[draws.integers(len(absent), size=count)])
    answers = hashlib.sha256()
    for values in (rows.values, absent, hybrids):
        for start in range(0, len(values), _ROWS):
            _add(answers, function(values[start : start + _ROWS].copy()))
    return f"function {function.name} ({function.about}) {answers.hexdigest()}"


def _table(table: Table) -> str:
    """Returns the digest of the cells of a table as it was passed."""
    found = hashlib.sha256()
    if table.schema is None:
        _add(found, table.values)
        return (f"{found.hexdigest()}, categories "
                f"{hashlib.sha256(repr(sorted(table.categories.items())).encode()).hexdigest()}")
    schema = table.schema
    found.update(repr((schema.template.library, schema.names, len(table.values))).encode())
    if schema.columns is None:
        _add(found, table.values)
        return found.hexdigest()
    template = schema.template
    assert not isinstance(template, (Sparse, Tensor))
    for feature, column in enumerate(schema.columns):
        found.update(repr((str(template.dtype(feature)), column.missing)).encode())
        values = table.values[:, feature]
        if column.cells is None:
            _add(found, values)
            continue
        # Hash the cells and not their codes, which depend on earlier calls.
        codes, places = np.unique(values.astype(np.intp), return_inverse=True)
        cells = template.cells(template.chosen(column.cells, codes))
        identities = (np.frombuffer(b"".join(map(_identity, cells)), dtype="S32") if len(codes)
                      else np.empty(0, dtype="S32"))
        found.update(identities[places].tobytes())
    return found.hexdigest()


def _identity(cell: Any) -> bytes:
    """Returns 32 bytes that differ between cells that a model can distinguish, and that are the same in every
    process if the cell can be pickled.
    """
    kind, *value = _cells.key(cell)
    if value and value[-1] == id(cell) and not isinstance(cell, (int, np.integer)):
        try:
            value = [pickle.dumps(cell, protocol=4)]
        except Exception:  # pickling may raise any exception
            pass
    return hashlib.sha256(repr((f"{kind.__module__}.{kind.__qualname__}", value)).encode()).digest()


def _add(found: Any, array: AnyArray) -> None:
    array = np.ascontiguousarray(array)
    found.update(repr((array.shape, array.dtype.str)).encode())
    found.update(array.tobytes())


def digest(array: AnyArray | None) -> str:
    """Returns the digest of an array; "none" for None."""
    found = hashlib.sha256()
    if array is not None:
        _add(found, np.asarray(array))
    return found.hexdigest() if array is not None else "none"
