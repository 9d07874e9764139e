"""Summaries of values, computed in parts and merged: the bytes do not depend on the parts or their order."""
from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks, _core
from ._errors import DataError, UsageError, imported
from ._explanation import Explanation
from ._names import listed
from ._record_batches import record_batches
from ._types import AnyArray, Integers, Numbers, Path

if TYPE_CHECKING:
    from ._plots import Page


class Summary:
    """A summary of the values of many rows: for each player and output the mean, the mean absolute value, the
    standard deviation, the extremes, quantiles and the density; and a sample of rows for figures.

    `summarize` computes the summary of rows, `Summary.of` that of results, and `Summary()` is empty.

    Sums are exact and histograms are counts; the sample contains the thousand different rows whose numbers
    have the smallest digests. Therefore, the bytes of a summary do not depend on how rows were split into
    parts, or on the order in which parts were merged. The size of a summary does not grow with the rows: it
    is some tens of kilobytes for each player.

    Properties raise DataError if the summary is empty.

    >>> import numpy as np, pyarrow, apportion
    >>> table = pyarrow.table({"a": [1.0, -3.0, 5.0], "b": [2.0, 2.0, 2.0]})
    >>> results = list(apportion.explain_batches(table, lambda rows: rows.sum(axis=1), np.zeros((1, 2))))
    >>> summary = apportion.Summary.of(results)
    >>> summary.rows, summary.mean_absolute.tolist(), float(summary.quantile(0.5)[0].round(2))
    (3, [3.0, 2.0], 1.0)
    >>> (summary + summary).rows
    6
    """

    def __init__(self) -> None:
        self._core = _core.Summary()

    @classmethod
    def of(cls, results: Any) -> Summary:
        """Returns the summary of results of `explain_batches`.

        results: an iterator of record batches, or anything that exports a stream of them.

        Raises DataError for anything else.
        """
        summary = cls()
        for batch in record_batches(results):
            summary.add(batch)
        return summary

    def add(self, batch: Any) -> None:
        """Adds the rows of a record batch of results; raises DataError for any other batch."""
        if not hasattr(getattr(batch, "schema", None), "metadata") or not hasattr(batch, "column"):
            raise DataError(f"invalid results {_checks.shown(batch)}; "
                            "expected a pyarrow.RecordBatch returned by explain_batches")
        self._core.add(*_numbers_of(batch))

    def merge(self, other: Summary) -> None:
        """Adds the rows of another summary to this one.

        Raises UsageError for an object that is not a summary, and DataError for a summary of a different
        model or different options.
        """
        if not isinstance(other, Summary):
            raise UsageError(f"invalid summary {_checks.shown(other)}; expected an apportion.Summary")
        self._core.merge(other._core)

    def explanation(self) -> Explanation:
        """Returns the sample as an `Explanation` of up to 1000 different rows, for figures and reports.

        The explanation contains the inputs if they are numbers, and if `summarize` computed the summary or
        the results have the layout "lists" and contain all features.
        """
        about, players, outputs = self._known(), len(self.players), len(self.output_names or [""])
        predictions, base, values, inputs = self._core.sample()
        count, names = len(predictions) // outputs, self.players
        predictions, base = predictions.reshape(count, outputs), base.reshape(count, outputs)
        values, inputs = values.reshape(count, players, outputs), inputs.reshape(count, about["inputs"])
        if about["interactions"]:
            upper = np.triu_indices(int((math.isqrt(8 * players + 1) - 1) // 2))
            names = [name for name, i, j in zip(names, *upper) if i == j]
            matrices = np.empty((count, len(names), len(names), outputs))
            matrices[:, upper[0], upper[1]] = values
            matrices[:, upper[1], upper[0]] = values
            values = matrices
        if outputs == 1:
            values, predictions, base = values[..., 0], predictions[:, 0], base[:, 0]
        return Explanation._of(values, base, inputs if inputs.shape[1] else None, feature_names=names,
                               output_names=about["outputs"], predictions=predictions,
                               interactions="index" if about["interactions"] else None,
                               about=dict(value=about["value"], game=about["game"], method=about["method"],
                                          seed=about["seed"], more={"sample of": f"{self.rows} rows"}))

    def report(self, path: Path | None = None, *, title: str | None = None) -> Page:
        """Returns a report of the sample, as `Explanation.report` does.

        path: the path of the file to write (default None: no file is written).
        title: the title (default None: one with the number of rows).
        """
        sample = self.explanation()
        title = f"Sample of {len(sample)} of {self.rows} rows" if title is None else title
        return sample.report(path, title=title)

    def __add__(self, other: Summary) -> Summary:
        both = Summary()
        both.merge(self)
        both.merge(other)
        return both

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and self.to_bytes() == other.to_bytes()

    def __reduce__(self) -> tuple[Callable[[bytes], Summary], tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._core.rows

    @property
    def players(self) -> list[str]:
        """The names of the players."""
        return list(self._known()["features"])

    @property
    def output_names(self) -> list[str] | None:
        """The names of the outputs; None if there is one output."""
        return self._known()["outputs"]

    @property
    def mean(self) -> Numbers:
        """The mean of the values, of shape (n_players,), or (n_players, n_outputs) if there are several
        outputs.
        """
        return self._shaped(self._core.mean())

    @property
    def mean_absolute(self) -> Numbers:
        """The mean of the absolute values, of the same shape as `mean`."""
        return self._shaped(self._core.mean_absolute())

    @property
    def standard_deviation(self) -> Numbers:
        """The sample standard deviation of the values (n - 1 in the denominator), of the same shape as
        `mean`.

        It is computed from exact sums, and is 0 for a single row.
        """
        return self._shaped(self._core.deviation())

    @property
    def least(self) -> Numbers:
        """The minimum of the values, of the same shape as `mean`."""
        return self._shaped(self._core.min())

    @property
    def largest(self) -> Numbers:
        """The maximum of the values, of the same shape as `mean`."""
        return self._shaped(self._core.max())

    def quantile(self, share: float) -> Numbers:
        """Returns a quantile of the values, of the same shape as `mean`, with a relative error of at most
        1/256.

        share: the share of rows that do not exceed the quantile, from 0 to 1.

        Raises UsageError for any other share.
        """
        share = _checks.number("share", share, expected="a number from 0 to 1")
        if not 0 <= share <= 1:
            raise UsageError(f"invalid share {share:g}: must be between 0 and 1")
        return self._shaped(self._core.quantile(share))

    def density(self, player: str | int, output: str | int = 0) -> tuple[Numbers, Integers]:
        """Returns the histogram of the values of a player, with its cells in increasing order: the two edges
        of each cell, of shape (n_cells, 2), and the number of rows in each cell.

        player: the name or number of the player. output: the name or number of the output (default 0).

        Raises UsageError for an unknown player or output.
        """
        place = _place("player", player, self.players)
        output = _place("output", output, self.output_names or ["0"])
        low, high, counts = self._core.density(place, output)
        return np.column_stack([low, high]), counts

    def table(self) -> list[dict[str, Any]]:
        """Returns a dictionary of statistics for each player and output, the largest mean absolute value
        first.
        """
        names = self.output_names or [""]
        several = len(names) > 1
        columns = {"mean |value|": self.mean_absolute, "mean": self.mean,
                   "standard deviation": self.standard_deviation, "least": self.least,
                   "5 %": self.quantile(0.05), "median": self.quantile(0.5), "95 %": self.quantile(0.95),
                   "largest": self.largest}
        lines = []
        for output in range(len(names)):
            for place, player in enumerate(self.players):
                line = {"player": player, **({"output": names[output]} if several else {})}
                lines.append({**line, **{name: float(numbers[place, output] if several else numbers[place])
                                         for name, numbers in columns.items()}})
        return sorted(lines, key=lambda line: -line["mean |value|"])

    def to_bytes(self) -> bytes:
        """Returns the summary as JSON, which `from_bytes` reads."""
        return self._core.to_bytes()

    @classmethod
    def from_bytes(cls, written: bytes) -> Summary:
        """Returns the summary that `to_bytes` wrote, also in an earlier version.

        Raises DataError for any other bytes, and for those of a later version.
        """
        if not isinstance(written, (bytes, bytearray, str)):
            raise DataError(f"invalid summary {_checks.shown(written)}; "
                            "expected bytes that to_bytes returned")
        summary = cls()
        summary._core = _core.Summary.from_bytes(
            written.encode(errors="replace") if isinstance(written, str) else bytes(written))
        return summary

    def __repr__(self) -> str:
        players = f", {len(self.players)} players" if self._core.heading else ""
        return f"Summary({self.rows} rows{players})"

    def _known(self) -> dict[str, Any]:
        heading = self._core.heading
        if heading is None:
            raise DataError("the summary is empty; add results of explain_batches")
        return heading

    def _shaped(self, numbers: Numbers) -> Numbers:
        """Returns numbers for each player and output as an array of the shape of `mean`."""
        outputs = len(self._known()["outputs"] or [""])
        return numbers if outputs == 1 else numbers.reshape(-1, outputs)


def _place(what: str, given: Any, names: list[str]) -> int:
    if isinstance(given, str):
        if given in names:
            return names.index(given)
        raise UsageError(f'unknown {what} "{given}"; expected one of: {listed(names)}')
    return _checks.whole(what, given, 0, len(names) - 1)


def _numbers_of(batch: Any) -> tuple[dict[str, Any], Numbers, Numbers, Numbers, Numbers]:
    """Returns a description of the values of results; and the predictions, base values, values and inputs of
    their rows, row-major.
    """
    metadata = batch.schema.metadata or {}
    if b"apportion" not in metadata:
        raise DataError("invalid results: their schema has no metadata of apportion; "
                        "expected batches returned by explain_batches")
    about = json.loads(metadata[b"apportion"])
    players = len(about["features"])
    outputs = max(1, len(about["outputs"] or [None]))
    names = batch.schema.names
    inputs: list[AnyArray] = []
    if about["layout"] == "columns":
        first = names.index("prediction") + 1
        columns = [np.asarray(batch.column(first + player)) for player in range(players)]
        values = np.stack(columns, axis=1).reshape(-1, outputs, players).transpose(0, 2, 1)
        base, predictions = (np.asarray(batch.column(first - back)).reshape(-1, outputs) for back in (2, 1))
    else:
        def flat(name: str, depth: int) -> AnyArray:
            column = batch.column(about["kept"] + names[about["kept"]:].index(name))
            for _ in range(depth):
                column = column.flatten()
            return np.asarray(column)

        several = outputs > 1
        values = flat("values", 1 + several).reshape(-1, players, outputs)
        base, predictions = (flat(name, several).reshape(-1, outputs) for name in ("base", "prediction"))
        kept = names[: about["kept"]]
        if all(name in kept for name in about["inputs"]) and not about["value"].startswith("quotient"):
            found = [_input(batch.column(about["kept"] - 1 - kept[::-1].index(name)))
                     for name in about["inputs"]]
            known = [column for column in found if column is not None]
            inputs = known if len(known) == len(found) else []
    about["inputs"] = len(inputs)
    table = np.column_stack(inputs) if inputs else np.empty(0)
    return about, _flat(predictions), _flat(base), _flat(values), _flat(table)


def _flat(numbers: AnyArray) -> Numbers:
    return np.ascontiguousarray(numbers, np.float64).ravel()


def _input(column: Any) -> AnyArray | None:
    """Returns a column of inputs as numbers; None if it is not numeric."""
    pyarrow = imported("pyarrow", "pip install pyarrow")

    kind = column.type
    if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
            or pyarrow.types.is_boolean(kind)):
        return None
    numbers = column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    return np.where(np.isnan(numbers), np.nan, numbers)
