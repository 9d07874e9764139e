"""Summaries of values, computed in parts and merged: the bytes do not depend on the parts or their order."""
from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _checks
from ._core import __version__
from ._errors import DataError, UsageError, imported
from ._names import listed
from ._types import AnyArray, Integers, Numbers, Path

if TYPE_CHECKING:
    from ._explanation import Explanation
    from ._plots import Page

# Format 1 has sums of squares that were rounded to doubles, in the unit of the other sums.
FORMAT = 2
# Sums are integers in units of 2^-UNIT, below the last bit of any double; sums of squares are in units of its
# square.
UNIT = 1127
# Bits of the mantissa that distinguish cells of a histogram: a cell is 1/128 of its power of two wide.
CELL_BITS = 7
# The maximum number of rows that are stored as a sample.
KEPT = 1000
# Splits the 53 bits of a double into two halves (Veltkamp).
_SPLITTER = float(2**27 + 1)


class Summary:
    """A summary of the values of many rows: for each player and output the mean, the mean absolute value, the
    standard deviation, the extremes, quantiles and the density; and a sample of rows for figures.

    `summarize` computes the summary of rows, `Summary.of` that of results, and `Summary()` is empty.

    Sums are exact and histograms are counts; the sample contains the thousand different rows whose numbers
    have the smallest digests. So the bytes of a summary do not depend on how rows were split into parts, or
    on the order in which parts were merged. Its size does not grow with the rows: some tens of kilobytes for
    each player.

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
        # The description of the values, and for each output and player: counts, sums, extremes, histogram.
        self._about: dict[str, Any] | None = None
        self._parts: list[list[_Numbers]] = []
        # Digests of the rows of the sample, in order, and the rows: predictions, bases, values, inputs.
        self._digests: npt.NDArray[np.uint64] = np.empty(0, np.uint64)
        self._sample: Numbers | None = None
        self.rows = 0

    @classmethod
    def of(cls, results: Any) -> Summary:
        """Returns the summary of results of `explain_batches`.

        results: an iterator of record batches, or anything that exports a stream of them.

        Raises DataError for anything else.
        """
        from ._batches import record_batches

        summary = cls()
        for batch in record_batches(results):
            summary.add(batch)
        return summary

    def add(self, batch: Any) -> None:
        """Adds the rows of a record batch of results; raises DataError for any other batch."""
        if not hasattr(getattr(batch, "schema", None), "metadata") or not hasattr(batch, "column"):
            raise DataError(f"invalid results {_checks.shown(batch)}; "
                            "expected a pyarrow.RecordBatch of explain_batches")
        values, rows, about = _numbers_of(batch)
        self._agree(about)
        outputs = max(1, len(about["outputs"] or [None]))
        self._keep(_digests(rows), rows)
        if not self._parts:
            self._parts = [[_Numbers() for _ in about["features"]] for _ in range(outputs)]
        for output, of_output in enumerate(self._parts):
            for player, numbers in enumerate(of_output):
                numbers.add(values[:, player, output])
        self.rows += len(values)

    def merge(self, other: Summary) -> None:
        """Adds the rows of another summary to this one.

        Raises UsageError for an object that is not a summary, and DataError for a summary of a different
        model or different options.
        """
        if not isinstance(other, Summary):
            raise UsageError(f"invalid summary {_checks.shown(other)}; expected an apportion.Summary")
        if other._about is None:
            return
        self._agree(other._about)
        if not self._parts:
            self._parts = [[_Numbers() for _ in of_output] for of_output in other._parts]
        for mine, others in zip(self._parts, other._parts):
            for numbers, more in zip(mine, others):
                numbers.merge(more)
        if other._sample is not None:
            self._keep(other._digests, other._sample)
        self.rows += other.rows

    def _keep(self, digests: npt.NDArray[np.uint64], rows: Numbers) -> None:
        """Stores the rows whose digests are among the smallest."""
        before = rows[:0] if self._sample is None else self._sample
        self._sample = before
        if len(self._digests) == KEPT:
            few = digests < self._digests[-1]
            digests, rows = digests[few], rows[few]
        if not len(digests):
            return
        digests, rows = np.concatenate([self._digests, digests]), np.concatenate([before, rows])
        # Rows with the same digest are the same row, except by chance. Then their numbers determine the
        # order.
        order = np.lexsort((*rows.view(np.uint64).T, digests))
        digests, rows = digests[order], rows[order]
        first = np.r_[True, digests[1:] != digests[:-1]]
        self._digests, self._sample = digests[first][:KEPT], rows[first][:KEPT]

    def explanation(self) -> Explanation:
        """Returns the sample as an `Explanation` of up to 1000 different rows, for figures and reports.

        It contains the inputs if they are numbers, and if `summarize` computed the summary or the results are
        lists that contain all features.
        """
        from ._explanation import Explanation

        about, sample, players = self._known(), self._sample, len(self.players)
        assert sample is not None
        outputs, count = len(self._parts), len(sample)
        predictions, base = sample[:, :outputs], sample[:, outputs:2 * outputs]
        values: AnyArray = sample[:, 2 * outputs:(2 + players) * outputs].reshape(count, players, outputs)
        names, inputs = self.players, sample[:, (2 + players) * outputs:]
        if about["interactions"]:
            upper = np.triu_indices(int((math.isqrt(8 * players + 1) - 1) // 2))
            names = [name for name, i, j in zip(names, *upper) if i == j]
            matrices: AnyArray = np.empty((count, len(names), len(names), outputs))
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

        path: the path of a file that it is written to (default None: it is not written).
        title: the title (default None: it states the number of rows).
        """
        title = f"Sample of {len(self._digests)} of {self.rows} rows" if title is None else title
        return self.explanation().report(path, title=title)

    def __add__(self, other: Summary) -> Summary:
        both = Summary()
        both.merge(self)
        both.merge(other)
        return both

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and self.to_bytes() == other.to_bytes()

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
        return self._each(_Numbers.mean)

    @property
    def mean_absolute(self) -> Numbers:
        """The mean of the absolute values, of the same shape as `mean`."""
        return self._each(_Numbers.mean_absolute)

    @property
    def standard_deviation(self) -> Numbers:
        """The sample standard deviation of the values (n - 1 in the denominator), of the same shape as
        `mean`.

        It is computed from exact sums, and is 0 for a single row.
        """
        return self._each(_Numbers.deviation)

    @property
    def least(self) -> Numbers:
        """The minimum of the values, of the same shape as `mean`."""
        return self._each(lambda numbers: numbers.least)

    @property
    def largest(self) -> Numbers:
        """The maximum of the values, of the same shape as `mean`."""
        return self._each(lambda numbers: numbers.largest)

    def quantile(self, share: float) -> Numbers:
        """Returns a quantile of the values, of the same shape as `mean`, with a relative error of at most
        1/256.

        share: the share of rows that do not exceed it, from 0 to 1.

        Raises UsageError for any other share.
        """
        share = _checks.number("share", share, expected="a number from 0 to 1")
        if not 0 <= share <= 1:
            raise UsageError(f"invalid share {share:g}: must be between 0 and 1")
        return self._each(lambda numbers: numbers.quantile(share))

    def density(self, player: str | int, output: str | int = 0) -> tuple[Numbers, Integers]:
        """Returns the histogram of the values of a player: the two edges of each cell, of shape (n_cells, 2),
        and the number of rows in each cell, in increasing order.

        player: the name or number of the player. output: the name or number of the output (default 0).

        Raises UsageError for an unknown player or output.
        """
        place = _place("player", player, self.players)
        output = _place("output", output, self.output_names or ["0"])
        cells = sorted(self._parts[output][place].cells.items(), key=lambda cell: _edges(cell[0])[0])
        edges = np.array([_edges(cell) for cell, _ in cells]).reshape(-1, 2)
        return edges, np.array([count for _, count in cells], dtype=np.int64)

    def table(self) -> list[dict[str, Any]]:
        """Returns a dictionary of statistics for each player and output, the largest mean absolute value
        first.
        """
        names = self.output_names or [""]
        several = len(self._parts) > 1
        columns = {"mean |value|": self.mean_absolute, "mean": self.mean,
                   "standard deviation": self.standard_deviation, "least": self.least,
                   "5 %": self.quantile(0.05), "median": self.quantile(0.5), "95 %": self.quantile(0.95),
                   "largest": self.largest}
        lines = []
        for output in range(len(self._parts)):
            for place, player in enumerate(self.players):
                line = {"player": player, **({"output": names[output]} if several else {})}
                lines.append({**line, **{name: float(numbers[place, output] if several else numbers[place])
                                         for name, numbers in columns.items()}})
        return sorted(lines, key=lambda line: -line["mean |value|"])

    def to_bytes(self) -> bytes:
        """Returns the summary as JSON, which `from_bytes` reads."""
        parts = [[numbers.told() for numbers in of_output] for of_output in self._parts]
        return json.dumps({"format": FORMAT, "about": self._about, "rows": self.rows, "parts": parts,
                           "sample": [_text(self._digests), _text(self._sample)]}, sort_keys=True,
                          separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, written: bytes) -> Summary:
        """Returns the summary that `to_bytes` wrote, also in an earlier version.

        Raises DataError for any other bytes, and for those of a later version.
        """
        try:
            told = json.loads(written)
            if told["format"] not in range(1, FORMAT + 1):
                raise DataError(f"unsupported summary format {told['format']}: apportion {__version__} reads "
                                f"formats 1 to {FORMAT}; use the version that wrote it")
            summary = cls()
            summary._about, summary.rows = told["about"], int(told["rows"])
            # Since format 2, squares are in units of 2^(-2 UNIT).
            of_squares = UNIT if told["format"] == 1 else 0
            summary._parts = [[_Numbers.of(numbers, of_squares) for numbers in of_output]
                              for of_output in told["parts"]]
            digests, sample = (base64.b64decode(part, validate=True) for part in told["sample"])
            if digests:
                summary._digests = np.frombuffer(digests, np.uint64)
                summary._sample = np.frombuffer(sample, np.float64).reshape(len(summary._digests), -1)
            return summary
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"invalid summary ({type(error).__name__}: {error}); "
                            "expected bytes that to_bytes returned") from error

    def __repr__(self) -> str:
        return f"Summary({self.rows} rows" + (f", {len(self.players)} players)" if self._about else ")")

    def _known(self) -> dict[str, Any]:
        if self._about is None:
            raise DataError("the summary is empty; add results of explain_batches")
        return self._about

    def _agree(self, about: dict[str, Any]) -> None:
        if self._about is None:
            self._about = about
        elif self._about != about:
            differ = next(name for name in about if self._about.get(name) != about[name])
            raise DataError(f"cannot merge summaries with different options: {differ} is "
                            f"{self._about.get(differ)!r} in one and {about[differ]!r} in the other")

    def _each(self, of: Callable[[_Numbers], float]) -> Numbers:
        self._known()
        found = np.array([[of(numbers) for numbers in of_output] for of_output in self._parts])
        return found[0] if len(found) == 1 else found.T


class _Numbers:
    """Sums, extremes and a histogram of numbers."""

    __slots__ = ("count", "sum", "absolute", "squares", "least", "largest", "cells")

    def __init__(self) -> None:
        self.count, self.sum, self.absolute = 0, 0, 0
        # None in a summary of format 1 whose squares exceed the largest double.
        self.squares: int | None = 0
        self.least, self.largest = math.inf, -math.inf
        self.cells: dict[int, int] = {}

    def add(self, numbers: Numbers) -> None:
        if not len(numbers):
            return
        # Negative zeros become positive ones.
        numbers = numbers + 0.0
        self.count += len(numbers)
        self.sum += _sum(numbers)
        self.absolute += _sum(np.abs(numbers))
        self.squares = None if self.squares is None else self.squares + _sum_of_squares(numbers)
        self.least = min(self.least, float(numbers.min()))
        self.largest = max(self.largest, float(numbers.max()))
        cells, counts = np.unique(numbers.view(np.int64) >> (52 - CELL_BITS), return_counts=True)
        for cell, count in zip(cells.tolist(), counts.tolist()):
            self.cells[cell] = self.cells.get(cell, 0) + count

    def merge(self, other: _Numbers) -> None:
        self.count += other.count
        self.sum += other.sum
        self.absolute += other.absolute
        self.squares = None if self.squares is None or other.squares is None else self.squares + other.squares
        self.least, self.largest = min(self.least, other.least), max(self.largest, other.largest)
        for cell, count in other.cells.items():
            self.cells[cell] = self.cells.get(cell, 0) + count

    def mean(self) -> float:
        return _quotient(self.sum, self.count)

    def mean_absolute(self) -> float:
        return _quotient(self.absolute, self.count)

    def deviation(self) -> float:
        """Returns the sample standard deviation, with a single rounding."""
        if self.squares is None or not self.count:
            return math.inf if self.count else math.nan
        # n Σx² − (Σx)² and n (n − 1), whose quotient is the variance in units of 2^(-2 UNIT).
        above = max(0, self.count * self.squares - self.sum * self.sum)
        below = self.count * max(1, self.count - 1)
        # The root has at least 64 bits.
        shift = max(0, 128 + below.bit_length() - above.bit_length() + 1) // 2
        root = math.isqrt((above << (2 * shift)) // below)
        try:
            return root / (1 << (shift + UNIT))
        except OverflowError:
            return math.inf

    def quantile(self, share: float) -> float:
        if not self.count:
            return math.nan
        wanted, seen = max(1, math.ceil(share * self.count)), 0
        if wanted >= self.count:
            return self.largest
        for cell in sorted(self.cells, key=lambda cell: _edges(cell)[0]):
            seen += self.cells[cell]
            if seen >= wanted:
                low, high = _edges(cell)
                # The cells next to zero count as zero.
                return min(max(0.0 if low <= 0 <= high else low / 2 + high / 2, self.least), self.largest)
        return self.largest

    def told(self) -> list[Any]:
        """Returns the numbers as they are written."""
        extremes = [self.least.hex(), self.largest.hex()] if self.count else [None, None]
        squares = "inf" if self.squares is None else hex(self.squares)
        return [self.count, hex(self.sum), hex(self.absolute), squares, *extremes, sorted(self.cells.items())]

    @classmethod
    def of(cls, told: list[Any], of_squares: int) -> _Numbers:
        """Returns numbers as `told` returned them, with squares in units of 2^(of_squares - 2 UNIT)."""
        numbers = cls()
        numbers.count = int(told[0])
        numbers.sum, numbers.absolute = int(told[1], 16), int(told[2], 16)
        numbers.squares = None if told[3] == "inf" else int(told[3], 16) << of_squares
        if numbers.count:
            numbers.least, numbers.largest = float.fromhex(told[4]), float.fromhex(told[5])
        numbers.cells = {int(cell): int(count) for cell, count in told[6]}
        return numbers


def _sum(numbers: Numbers) -> int:
    """Returns the sum of doubles, exactly, in units of 2^-UNIT."""
    return _scaled_sum(numbers, 0, UNIT)


def _sum_of_squares(numbers: Numbers) -> int:
    """Returns the sum of the squares of doubles, exactly, in units of 2^(-2 UNIT)."""
    mantissas, exponents = np.frexp(numbers)
    # The square of a mantissa is `square + rest`, exactly: a two-product (Dekker 1971). Mantissas neither
    # overflow nor underflow.
    split = _SPLITTER * mantissas
    high = split - (split - mantissas)
    low = mantissas - high
    square = mantissas * mantissas
    rest = low * low - ((square - high * high) - 2.0 * high * low)
    twice = 2 * exponents.astype(np.int64)
    return _scaled_sum(square, twice, 2 * UNIT) + _scaled_sum(rest, twice, 2 * UNIT)


def _scaled_sum(numbers: Numbers, scales: Integers | int, unit: int) -> int:
    """Returns the sum of doubles times powers of two, exactly, in units of 2^-unit."""
    mantissas, exponents = np.frexp(numbers)
    # Zeros have no bits that a scale could move below the unit.
    exponents = np.where(mantissas == 0.0, 0, exponents + np.asarray(scales, dtype=np.int64))
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    order = np.argsort(exponents, kind="stable")
    exponents, whole = exponents[order], whole[order]
    starts = np.flatnonzero(np.r_[True, exponents[1:] != exponents[:-1]])
    # Sum both halves separately, so that the sums fit into 64 bits for any batch.
    high, low = np.add.reduceat(whole >> 27, starts), np.add.reduceat(whole & ((1 << 27) - 1), starts)
    sums = zip(high.tolist(), low.tolist(), exponents[starts].tolist())
    return sum(((upper << 27) + lower) << (exponent - 53 + unit) for upper, lower, exponent in sums)


def _place(what: str, given: Any, names: list[str]) -> int:
    if isinstance(given, str):
        if given in names:
            return names.index(given)
        raise UsageError(f'unknown {what} "{given}"; expected one of: {listed(names)}')
    return _checks.whole(what, given, 0, len(names) - 1)


def _quotient(total: int, count: int) -> float:
    return total / (count << UNIT) if count else math.nan


def _edges(cell: int) -> tuple[float, float]:
    """Returns the smallest and the largest number of a cell."""
    bits = [cell << (52 - CELL_BITS), ((cell + 1) << (52 - CELL_BITS)) - 1]
    low, high = sorted(np.array(bits, dtype=np.int64).view(np.float64).tolist())
    return low, high


def _numbers_of(batch: Any) -> tuple[Numbers, Numbers, dict[str, Any]]:
    """Returns the values of results, of shape (n_rows, n_players, n_outputs); all numbers of each row, for
    the sample; and a description of the values.
    """
    metadata = batch.schema.metadata or {}
    if b"apportion" not in metadata:
        raise DataError("invalid results: their schema has no metadata of apportion; "
                        "expected batches of explain_batches")
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
    if not np.isfinite(values).all():
        raise DataError("cannot summarize values that are NaN or infinite; check the rows that have them")
    rows = np.column_stack([predictions, base, values.reshape(len(values), players * outputs), *inputs]) + 0.0
    wanted = ("value", "interactions", "game", "method", "features", "outputs", "seed")
    return values, rows, {**{name: about[name] for name in wanted}, "inputs": len(inputs)}


def _input(column: Any) -> AnyArray | None:
    """Returns a column of inputs as numbers; None if it is not numeric."""
    pyarrow = imported("pyarrow", "pip install pyarrow")

    kind = column.type
    if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
            or pyarrow.types.is_boolean(kind)):
        return None
    numbers = column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    return np.where(np.isnan(numbers), np.nan, numbers)


def _digests(rows: Numbers) -> npt.NDArray[np.uint64]:
    """Returns a digest of the numbers of each row: SplitMix64 (Steele, Lea and Flood 2014), column by column.
    """
    found = np.zeros(len(rows), np.uint64)
    for column in np.ascontiguousarray(rows).view(np.uint64).T:
        found = (found ^ column) + np.uint64(0x9E3779B97F4A7C15)
        found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(31)
    return found


def _text(array: AnyArray | None) -> str:
    return "" if array is None else base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
