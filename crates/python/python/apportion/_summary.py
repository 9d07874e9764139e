"""Summaries of values that are made in parts and put together: the same bytes in whatever parts, and in whatever order."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import base64
import json
import math

import numpy as np

from . import _checks
from ._core import __version__
from ._errors import DataError, UsageError, imported
from ._names import listed

FORMAT = 1
# Sums are whole numbers of this power of two, below the last bit of any double.
UNIT = 1127
# Bits of the mantissa that tell cells of a histogram apart: a cell is 1/128 of its power of two wide.
CELL_BITS = 7
# Rows that are kept as they are.
KEPT = 1000


class Summary:
    """What is said of many rows together: of each player and output the mean, the mean of absolute values, the spread, extremes, quantiles, densities; and
    a sample of rows for figures.

    Sums are exact and histograms are counts; the sample is of the thousand different rows whose numbers have the least digests. So a summary does
    not depend on how rows were cut, or in which order parts were put together: its bytes are the same. Its size does not grow with the rows: some
    tens of kilobytes for each player.

    >>> import numpy as np, pyarrow, apportion
    >>> table = pyarrow.table({"a": [1.0, -3.0, 5.0], "b": [2.0, 2.0, 2.0]})
    >>> results = list(apportion.explain_batches(table, lambda rows: rows.sum(axis=1), np.zeros((1, 2))))
    >>> summary = apportion.Summary.of(results)
    >>> summary.rows, summary.mean_absolute.tolist(), float(summary.quantile(0.5)[0].round(2))
    (3, [3.0, 2.0], 1.0)
    >>> (summary + summary).rows
    6
    """

    def __init__(self):
        # Of what, and for each output and player: counts, sums, extremes, histogram.
        self._about, self._parts = None, []
        # Digests of the rows of the sample, in order, and the rows: predictions, bases, values, inputs.
        self._digests, self._sample = np.empty(0, np.uint64), None
        self.rows = 0

    @classmethod
    def of(cls, results):
        """The summary of results of `explain_batches`: of record batches, or anything that has a stream of them."""
        from ._batches import record_batches

        summary = cls()
        for batch in record_batches(results):
            summary.add(batch)
        return summary

    def add(self, batch):
        """Adds the rows of a record batch of results."""
        if not hasattr(getattr(batch, "schema", None), "metadata") or not hasattr(batch, "column"):
            raise DataError(f"invalid results {_checks.shown(batch)}; expected a pyarrow.RecordBatch of explain_batches")
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

    def merge(self, other):
        """Adds another summary."""
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
        self._keep(other._digests, other._sample)
        self.rows += other.rows

    def _keep(self, digests, rows):
        """Keeps those of the rows whose digests are among the least."""
        if self._sample is None:
            self._sample = rows[:0]
        if len(self._digests) == KEPT:
            few = digests < self._digests[-1]
            digests, rows = digests[few], rows[few]
        if not len(digests):
            return
        digests, rows = np.concatenate([self._digests, digests]), np.concatenate([self._sample, rows])
        # Rows of one digest are one row, but for chance, where their numbers decide.
        order = np.lexsort((*rows.view(np.uint64).T, digests))
        digests, rows = digests[order], rows[order]
        first = np.r_[True, digests[1:] != digests[:-1]]
        self._digests, self._sample = digests[first][:KEPT], rows[first][:KEPT]

    def explanation(self):
        """The rows of the sample as an `Explanation`, for figures and pages: up to 1000 different rows. Inputs are there where `summarize` made the
        summary, or results have all features as kept columns, in the layout "lists"; and where they are numbers."""
        from ._explanation import Explanation

        about, sample, players = self._known(), self._sample, len(self.players)
        outputs, count = len(self._parts), len(self._sample)
        predictions, base = sample[:, :outputs], sample[:, outputs:2 * outputs]
        values = sample[:, 2 * outputs:(2 + players) * outputs].reshape(count, players, outputs)
        names, inputs = self.players, sample[:, (2 + players) * outputs:]
        if about["interactions"]:
            upper = np.triu_indices(int((math.isqrt(8 * players + 1) - 1) // 2))
            names = [name for name, i, j in zip(names, *upper) if i == j]
            matrices = np.empty((count, len(names), len(names), outputs))
            matrices[:, upper[0], upper[1]] = values
            matrices[:, upper[1], upper[0]] = values
            values = matrices
        if outputs == 1:
            values, predictions, base = values[..., 0], predictions[:, 0], base[:, 0]
        return Explanation._of(values, base, inputs if inputs.shape[1] else None, feature_names=names, output_names=about["outputs"], predictions=predictions,
                           interactions="index" if about["interactions"] else None,
                           about=dict(value=about["value"], game=about["game"], method=about["method"], seed=about["seed"], more={"sample of": f"{self.rows} rows"}))

    def report(self, path=None, *, title=None):
        """A page of the sample, as of `Explanation.report`. Its title says of how many rows it is."""
        title = f"A sample of {len(self._digests)} of {self.rows} rows" if title is None else title
        return self.explanation().report(path, title=title)

    def __add__(self, other):
        both = Summary()
        both.merge(self)
        both.merge(other)
        return both

    def __eq__(self, other):
        return isinstance(other, Summary) and self.to_bytes() == other.to_bytes()

    __hash__ = None

    @property
    def players(self):
        """What those are called who have values."""
        return list(self._known()["features"])

    @property
    def output_names(self):
        """What the outputs are called, where there are several."""
        return self._known()["outputs"]

    @property
    def mean(self):
        """The mean value of each player; with several outputs players × outputs. So are the others."""
        return self._each(lambda numbers: _quotient(numbers.sum, numbers.count))

    @property
    def mean_absolute(self):
        """The mean of the absolute values of each player."""
        return self._each(lambda numbers: _quotient(numbers.absolute, numbers.count))

    @property
    def standard_deviation(self):
        """How far values are spread about their mean: the root of the mean squared distance."""
        def of(numbers):
            # Σx²/n − (Σx)²/n², exactly.
            if numbers.squares == math.inf:
                return math.inf
            scaled = numbers.squares * numbers.count * (1 << UNIT) - numbers.sum * numbers.sum
            return math.sqrt(max(0.0, scaled / ((numbers.count * numbers.count) << (2 * UNIT)))) if numbers.count else math.nan
        return self._each(of)

    @property
    def least(self):
        """The least value of each player."""
        return self._each(lambda numbers: numbers.least)

    @property
    def largest(self):
        """The largest value of each player."""
        return self._each(lambda numbers: numbers.largest)

    def quantile(self, share):
        """The value that so large a share of rows does not exceed, of each player: to 1/256 of itself."""
        share = _checks.number("share", share, expected="a number from 0 to 1")
        if not 0 <= share <= 1:
            raise UsageError(f"invalid share {share:g}: must be between 0 and 1")
        return self._each(lambda numbers: numbers.quantile(share))

    def density(self, player, output=0):
        """The edges of the cells of a player's histogram, two for each, and how many rows are in each: cells × 2 and cells, from the least.

        player, output: names or numbers.
        """
        place = _place("player", player, self.players)
        output = _place("output", output, self.output_names or ["0"])
        cells = sorted(self._parts[output][place].cells.items(), key=lambda cell: _edges(cell[0])[0])
        return np.array([_edges(cell) for cell, _ in cells]).reshape(-1, 2), np.array([count for _, count in cells], dtype=np.int64)

    def table(self):
        """A line for each player and output, as a dictionary: the largest mean of absolute values first."""
        names = self.output_names or [None]
        several = len(self._parts) > 1
        columns = {"mean |value|": self.mean_absolute, "mean": self.mean, "standard deviation": self.standard_deviation, "least": self.least,
                   "5 %": self.quantile(0.05), "median": self.quantile(0.5), "95 %": self.quantile(0.95), "largest": self.largest}
        lines = []
        for output in range(len(self._parts)):
            for place, player in enumerate(self.players):
                line = {"player": player, **({"output": names[output]} if several else {})}
                lines.append({**line, **{name: float(numbers[place, output] if several else numbers[place]) for name, numbers in columns.items()}})
        return sorted(lines, key=lambda line: -line["mean |value|"])

    def to_bytes(self):
        """All that is known, as JSON."""
        parts = [[numbers.told() for numbers in of_output] for of_output in self._parts]
        return json.dumps({"format": FORMAT, "about": self._about, "rows": self.rows, "parts": parts,
                           "sample": [_text(self._digests), _text(self._sample)]}, sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, written):
        """The summary that `to_bytes` wrote."""
        try:
            told = json.loads(written)
            if told["format"] != FORMAT:
                raise DataError(f"a summary of format {told['format']}, and this is apportion {__version__}, which reads {FORMAT}: use the same version")
            summary = cls()
            summary._about, summary.rows = told["about"], int(told["rows"])
            summary._parts = [[_Numbers.of(numbers) for numbers in of_output] for of_output in told["parts"]]
            digests, sample = (base64.b64decode(part, validate=True) for part in told["sample"])
            if digests:
                summary._digests = np.frombuffer(digests, np.uint64)
                summary._sample = np.frombuffer(sample, np.float64).reshape(len(summary._digests), -1)
            return summary
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"these bytes are no summary ({type(error).__name__}: {error}): give what to_bytes wrote") from error

    def __repr__(self):
        return f"Summary({self.rows} rows" + (f", {len(self.players)} players)" if self._about else ")")

    def _known(self):
        if self._about is None:
            raise DataError("the summary is of no rows yet: add results of explain_batches")
        return self._about

    def _agree(self, about):
        if self._about is None:
            self._about = about
        elif self._about != about:
            differ = next(name for name in about if self._about.get(name) != about[name])
            raise DataError(f"parts are of one question: {differ} is {self._about.get(differ)!r} and {about[differ]!r}")

    def _each(self, of):
        self._known()
        found = np.array([[of(numbers) for numbers in of_output] for of_output in self._parts])
        return found[0] if len(found) == 1 else found.T


class _Numbers:
    """Sums, extremes and a histogram of numbers."""

    __slots__ = ("count", "sum", "absolute", "squares", "least", "largest", "cells")

    def __init__(self):
        self.count, self.sum, self.absolute, self.squares = 0, 0, 0, 0
        self.least, self.largest, self.cells = math.inf, -math.inf, {}

    def add(self, numbers):
        if not len(numbers):
            return
        # One zero alone.
        numbers = numbers + 0.0
        self.count += len(numbers)
        self.sum += _sum(numbers)
        self.absolute += _sum(np.abs(numbers))
        with np.errstate(over="ignore", under="ignore"):
            squares = numbers * numbers
        # Beyond the largest double it is not told any more, in whatever part that is.
        self.squares += _sum(squares) if np.isfinite(squares).all() else math.inf
        self.least, self.largest = min(self.least, float(numbers.min())), max(self.largest, float(numbers.max()))
        cells, counts = np.unique(numbers.view(np.int64) >> (52 - CELL_BITS), return_counts=True)
        for cell, count in zip(cells.tolist(), counts.tolist()):
            self.cells[cell] = self.cells.get(cell, 0) + count

    def merge(self, other):
        self.count += other.count
        self.sum += other.sum
        self.absolute += other.absolute
        self.squares += other.squares
        self.least, self.largest = min(self.least, other.least), max(self.largest, other.largest)
        for cell, count in other.cells.items():
            self.cells[cell] = self.cells.get(cell, 0) + count

    def quantile(self, share):
        if not self.count:
            return math.nan
        wanted, seen = max(1, math.ceil(share * self.count)), 0
        if wanted >= self.count:
            return self.largest
        for cell in sorted(self.cells, key=lambda cell: _edges(cell)[0]):
            seen += self.cells[cell]
            if seen >= wanted:
                low, high = _edges(cell)
                # The cells beside zero hold what is next to nothing.
                return min(max(0.0 if low <= 0 <= high else low / 2 + high / 2, self.least), self.largest)
        return self.largest

    def told(self):
        extremes = [None, None] if not self.count else [self.least.hex(), self.largest.hex()]
        return [self.count, hex(self.sum), hex(self.absolute), "inf" if self.squares == math.inf else hex(self.squares), *extremes, sorted(self.cells.items())]

    @classmethod
    def of(cls, told):
        numbers = cls()
        numbers.count = int(told[0])
        numbers.sum, numbers.absolute = int(told[1], 16), int(told[2], 16)
        numbers.squares = math.inf if told[3] == "inf" else int(told[3], 16)
        if numbers.count:
            numbers.least, numbers.largest = float.fromhex(told[4]), float.fromhex(told[5])
        numbers.cells = {int(cell): int(count) for cell, count in told[6]}
        return numbers


def _sum(numbers):
    """The sum of doubles, exactly, in units of 2^-UNIT."""
    mantissas, exponents = np.frexp(numbers)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    order = np.argsort(exponents, kind="stable")
    exponents, whole = exponents[order], whole[order]
    starts = np.flatnonzero(np.r_[True, exponents[1:] != exponents[:-1]])
    # Halves, whose sums fit into 64 bits for any batch.
    high, low = np.add.reduceat(whole >> 27, starts), np.add.reduceat(whole & ((1 << 27) - 1), starts)
    return sum(((int(upper) << 27) + int(lower)) << (int(exponent) - 53 + UNIT) for upper, lower, exponent in zip(high, low, exponents[starts]))


def _place(what, given, names):
    if isinstance(given, str):
        if given in names:
            return names.index(given)
        raise UsageError(f'unknown {what} "{given}"; expected one of: {listed(names)}')
    return _checks.whole(what, given, 0, len(names) - 1)


def _quotient(total, count):
    return total / (count << UNIT) if count else math.nan


def _edges(cell):
    """The least and the largest number of a cell."""
    first = np.array([cell << (52 - CELL_BITS), ((cell + 1) << (52 - CELL_BITS)) - 1], dtype=np.int64).view(np.float64)
    return tuple(sorted(first.tolist()))


def _numbers_of(batch):
    """Values of results, rows × players × outputs; all numbers of each row, for the sample; and what they are of."""
    metadata = batch.schema.metadata or {}
    if b"apportion" not in metadata:
        raise DataError("a summary is of results of explain_batches, whose schema says what they are of: this batch has no such word")
    about = json.loads(metadata[b"apportion"])
    players, outputs, names = len(about["features"]), max(1, len(about["outputs"] or [None])), batch.schema.names
    inputs = []
    if about["layout"] == "columns":
        first = names.index("prediction") + 1
        columns = [np.asarray(batch.column(first + player)) for player in range(players)]
        values = np.stack(columns, axis=1).reshape(-1, outputs, players).transpose(0, 2, 1)
        base, predictions = (np.asarray(batch.column(first - back)).reshape(-1, outputs) for back in (2, 1))
    else:
        def flat(name, depth):
            column = batch.column(about["kept"] + names[about["kept"]:].index(name))
            for _ in range(depth):
                column = column.flatten()
            return np.asarray(column)

        several = outputs > 1
        values = flat("values", 1 + several).reshape(-1, players, outputs)
        base, predictions = (flat(name, several).reshape(-1, outputs) for name in ("base", "prediction"))
        kept = names[: about["kept"]]
        if all(name in kept for name in about["inputs"]) and not about["value"].startswith("quotient"):
            inputs = [_input(batch.column(about["kept"] - 1 - kept[::-1].index(name))) for name in about["inputs"]]
            if any(column is None for column in inputs):
                inputs = []
    if not np.isfinite(values).all():
        raise DataError("values that are no numbers have no summary: look at the rows where they are NaN or infinite")
    rows = np.column_stack([predictions, base, values.reshape(len(values), players * outputs), *inputs]) + 0.0
    wanted = ("value", "interactions", "game", "method", "features", "outputs", "seed")
    return values, rows, {**{name: about[name] for name in wanted}, "inputs": len(inputs)}


def _input(column):
    """An input as numbers; None where it is words."""
    pyarrow = imported("pyarrow", "pip install pyarrow")

    kind = column.type
    if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_boolean(kind)):
        return None
    numbers = column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    return np.where(np.isnan(numbers), np.nan, numbers)


def _digests(rows):
    """A number for each row that depends on all of its numbers: SplitMix64 (Steele, Lea and Flood 2014), column by column."""
    found = np.zeros(len(rows), np.uint64)
    for column in np.ascontiguousarray(rows).view(np.uint64).T:
        found = (found ^ column) + np.uint64(0x9E3779B97F4A7C15)
        found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(31)
    return found


def _text(array):
    return "" if array is None else base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
