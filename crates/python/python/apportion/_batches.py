"""Explanations of Arrow record batches one after the other, as run by the workers of data engines."""
from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _checks
from ._core import __version__
from ._data import Table
from ._errors import DataError, UsageError, imported
from ._explainers import Explainer, players_of
from ._names import listed
from ._options import Options, named_options
from ._record_batches import record_batches
from ._summary import Summary
from ._threads import pool
from ._types import (
    Additive, GameName, Graph, Groups, Layout, Measure, Model, Numbers, Progress, Rounds, Rows, Scale,
)

# The version of the schema of results.
SCHEMA = 1
LAYOUTS: tuple[Layout, ...] = ("columns", "lists")
# The tree algorithm is chosen for this number of rows, regardless of the size of batches, so that values are
# the same to the last bit however a table is split.
ROWS = 4096
# The maximum number of rows of a result; larger batches have several results.
MOST_ROWS = 1 << 16


class BatchExplainer:
    """Explains Arrow record batches with an `Explainer`, in a fixed layout of results. A `BatchExplainer` can
    be pickled, so that data engines can send it to their workers.

    model: a model as in `Explainer`, or an `Explainer`, which already has its background and options.
    background: as in `Explainer`, and the same for all batches.
    keep: the name of a column of the batches that is copied to the results, or a list of names (default:
        none).
    layout: "columns" (the default) for a column for each player, or "lists" for one list of values for each
        row; `schema` describes both.
    interactions: whether the results are the interaction indices of all pairs (default False): a column `a ×
        b` for each pair, in addition to those of single players, `a`.

    All other options are those of `Explainer`. Raises UsageError for invalid options, and the errors of
    `Explainer`.

    >>> import numpy as np, pyarrow, apportion
    >>> explainer = apportion.BatchExplainer(lambda rows: rows[:, 0] * rows[:, 1], np.zeros((1, 2)),
    ...                                      feature_names=["a", "b"], keep=["id"])
    >>> batch = pyarrow.record_batch({"id": [7, 8], "a": [1.0, 2.0], "b": [3.0, 4.0]})
    >>> [result.to_pydict() for result in explainer([batch])]
    [{'id': [7, 8], 'base': [0.0, 0.0], 'prediction': [3.0, 8.0], 'a': [1.5, 4.0], 'b': [1.5, 4.0]}]
    """

    explainer: Explainer
    layout: Layout
    interactions: bool
    keep: list[str]

    @named_options
    def __init__(
        self,
        model: Model,
        background: Rows | None = None,
        *,
        keep: str | Sequence[str] = (),
        layout: Layout = "columns",
        interactions: bool | Literal["index"] = False,
        weights: npt.ArrayLike | None = None,
        value: str = "shapley",
        method: str = "auto",
        budget: int | str = "auto",
        until: float | None = None,
        confidence: float = 0.95,
        relative_to: Scale = "norm",
        error: Measure = "euclidean",
        range: float | None = None,
        groups: Groups = None,
        graph: Graph = None,
        game: GameName | None = None,
        model_output: str = "raw",
        seed: int = 0,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        rounds: Rounds = None,
        threads: int | None = None,
        progress: Progress = False,
        check: bool = True,
        kernel: str | None = None,
        precision: Literal["f64", "f32"] | None = None,
        rows: int | None = None,
        draws: int | None = None,
        bandwidth: float | str | None = None,
        share: float | None = None,
        variant: Literal["paper", "shapr"] | None = None,
        fallback: Literal["refuse", "marginal", "nearest"] | None = None,
        keep_null_players: bool = False,
        additive: Additive = None,
    ) -> None:
        layout = _checks.choice("layout", layout, LAYOUTS)
        options = Options(
            weights=weights, value=value, method=method, budget=budget, until=until, confidence=confidence,
            relative_to=relative_to, error=error, range=range, groups=groups, graph=graph, game=game,
            model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
            rounds=rounds, threads=threads, progress=progress, check=check, kernel=kernel,
            precision=precision, rows=rows, draws=draws, bandwidth=bandwidth, share=share, variant=variant,
            fallback=fallback, keep_null_players=keep_null_players, additive=additive)
        if isinstance(model, Explainer):
            if background is not None or options.given():
                raise UsageError("background and options cannot be combined with an Explainer, "
                                 "which contains its own; remove them, or pass the model")
            explainer = model
        else:
            explainer = Explainer(model, background, **options.by_name())
        if explainer.model_output == "log_loss":
            raise UsageError('model_output="log_loss" is not supported for batches, which have no y; '
                             'explain a function that returns the loss')
        if explainer._asked["method"] == "table" and explainer._surrogate is None:
            raise UsageError('method="table" explains all rows of a table together, so batches require a '
                             'surrogate that is learned first: pass the explainer returned by '
                             'Explainer.learn, or use another method')
        if explainer._game_for(None) != "path-dependent" and explainer._background is None:
            raise UsageError("explaining batches requires a background, which all batches share")
        if not isinstance(interactions, bool):
            interactions = _checks.choice("form of interactions", interactions, ("index",)) == "index"
        if interactions and explainer._asked["until"] is not None:
            raise UsageError("until cannot be combined with interactions; "
                             "remove until, and check the standard errors of the interactions")
        # Do not change an explainer that was passed.
        explainer = copy.copy(explainer)
        if explainer.ensemble is not None and explainer._asked["rows"] is None:
            explainer._asked = {**explainer._asked, "rows": ROWS}
        self.explainer = explainer
        self.layout = layout
        self.interactions = bool(interactions)
        self._has_inputs = False
        self.keep = [keep] if isinstance(keep, str) else _checks.names("keep", keep)
        if len(set(self.keep)) != len(self.keep):
            raise UsageError(f"duplicate column in keep: {listed(self.keep)}; list each column once")
        self._prepared: tuple[list[str], tuple[list[str], int, str, bool]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": None}

    def with_threads(self, threads: int | None) -> BatchExplainer:
        """Returns a copy of the explainer with this number of threads (None: as `set_threads` specifies)."""
        other = copy.copy(self)
        other.explainer = copy.copy(self.explainer)
        other.explainer.threads, other.explainer.progress = threads, False
        return other

    def with_inputs(self) -> BatchExplainer:
        """Returns a copy of the explainer with the layout "lists" and results that also contain the features,
        as summaries require.
        """
        other = copy.copy(self)
        other.layout, other._has_inputs = "lists", True
        return other

    def _kept(self, given: Sequence[str]) -> list[str]:
        """Returns the columns of batches that are copied to the results."""
        return [*self.keep, *(self._columns(given) if self._has_inputs else [])]

    def columns(self, given: Sequence[str]) -> list[str]:
        """Returns the names of the columns that are used: the kept columns and the features.

        given: the names of the columns of the batches.

        Raises DataError if a column of `keep` is missing.
        """
        given = _checks.names("columns", given)
        lacking = [name for name in self.keep if name not in given]
        if lacking:
            columns = "column" if len(lacking) == 1 else "columns"
            raise DataError(f"unknown {columns} {listed(lacking)} in keep; "
                            f"columns of the batches: {listed(given)}")
        features = self._columns(given)
        return [*self.keep, *(name for name in features if name not in self.keep)]

    def schema(self, given: Any) -> Any:
        """Returns the `pyarrow.Schema` of the results, without explaining any row.

        given: the schema of the batches.

        The columns of `keep` come first. With the layout "columns" there is a line for each row and output,
        with `output` if there are several, `base`, `prediction`, and a column for each player. With "lists"
        there is a line for each row, with `base` and `prediction`, which are lists if there are several
        outputs, and `values`, a list with the value of each player, which is a list itself if there are
        several outputs. If values are estimates, their standard errors follow (`std error of PLAYER`, or
        `std_errors`; 0 for an exact row, null if they are not known), and `evaluations`. With `until`,
        `stopped_by` follows: "tolerance" if the accuracy is certified. The metadata contain the version of
        the schema and the request, as JSON under the key `apportion`.

        Raises DataError if the columns do not match the features of the model, or if two columns of the
        results would have the same name.
        """
        pyarrow = imported("pyarrow", "pip install pyarrow")

        if not isinstance(given, pyarrow.Schema):
            raise UsageError(f"invalid schema {_checks.shown(given)}; expected a pyarrow.Schema")
        explainer = self.explainer
        self.columns(given.names)
        # An empty table is enough to check the columns.
        columns = self._columns(given.names)
        try:
            explainer._table(given.empty_table().select(columns))
        except DataError as error:
            features = explainer._wanted.count or (explainer._background.values.shape[1]
                                                   if explainer._background is not None else len(columns))
            said, remedy, _ = str(error).partition("; pass one column for each feature")
            if len(columns) <= features or not remedy:
                raise
            raise DataError(f"{said}; list the columns that are not features in keep") from error
        players, outputs, method, is_estimate = self._prepare(given)
        number, fields = pyarrow.float64(), [given.field(name) for name in self._kept(given.names)]
        if self.layout == "columns":
            if outputs > 1:
                fields.append(pyarrow.field("output", pyarrow.string()))
            fields += [pyarrow.field(name, number) for name in ("base", "prediction", *players)]
            if is_estimate:
                fields += [pyarrow.field(f"std error of {name}", number) for name in players]
        else:
            per_row = pyarrow.list_(number) if outputs > 1 else number
            fields += [pyarrow.field("base", per_row), pyarrow.field("prediction", per_row),
                       pyarrow.field("values", pyarrow.list_(per_row))]
            if is_estimate:
                fields.append(pyarrow.field("std_errors", pyarrow.list_(per_row)))
        if is_estimate:
            fields.append(pyarrow.field("evaluations", pyarrow.int64()))
        asked = explainer._asked
        if asked["until"] is not None:
            fields.append(pyarrow.field("stopped_by", pyarrow.string()))
        names = [field.name for field in fields]
        double = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if double is not None and not self._has_inputs:
            raise DataError(f'duplicate column "{double}" in the results; '
                            'rename the kept column, or use layout="lists"')
        about = dict(version=__version__, schema=SCHEMA, layout=self.layout,
                     kept=len(self._kept(given.names)), value=asked["value"], interactions=self.interactions,
                     game=explainer._game_for(None), method=method, seed=asked["seed"],
                     features=list(players), inputs=columns, outputs=explainer.output_names)
        return pyarrow.schema(fields, {"apportion": json.dumps(about, ensure_ascii=False)})

    def __call__(self, batches: Any) -> Iterator[Any]:
        """Explains batches one at a time: returns an iterator of record batches with the values.

        batches: as in `explain_batches`. A batch of more than 65,536 rows has several results.

        Raises DataError for batches that do not match the model.
        """
        schema = None
        for batch in record_batches(batches):
            if schema is None or batch.schema != given:
                schema, given = self.schema(batch.schema), batch.schema
            for start in range(0, max(batch.num_rows, 1), MOST_ROWS):
                yield self._explained(batch.slice(start, MOST_ROWS), schema)

    def plan(self, sample: Any, rows: int, seconds: float = 2.0) -> dict[str, Any]:
        """Estimates the cost of explaining many rows, measured on a sample with one thread.

        sample: a record batch or a table with some of the rows. rows: the number of rows to plan for.
        seconds: the maximum time of the measurement (default 2).

        Returns a dictionary: "method"; "evaluations_per_row" and "evaluations", 0 for trees; "seconds" of one
        core; "bytes" of results in memory; "bytes_sent" to a worker; and "memory", the bytes by which the
        memory of a worker grows for batches of the size of the sample. An entry is None if it is not known.
        Raises DataError for a sample without rows, and UsageError for invalid numbers.

        >>> import numpy as np, pyarrow, apportion
        >>> table = pyarrow.table({"a": [1.0, 2.0], "b": [3.0, 4.0]})
        >>> explainer = apportion.BatchExplainer(lambda rows: rows.sum(axis=1), np.zeros((1, 2)))
        >>> plan = explainer.plan(table, 10**9)
        >>> plan["method"], plan["evaluations"], plan["bytes"]
        ('exact', 4000000000, 32000000000)
        """
        import pickle
        import time

        rows, seconds = _checks.whole("rows", rows), _checks.number("seconds", seconds)
        if seconds <= 0:
            raise UsageError(f"invalid seconds {seconds:g}: must be positive")
        batch = next((batch for batch in record_batches(sample) if batch.num_rows), None)
        if batch is None:
            raise DataError("the sample has no rows; a plan requires at least one")
        alone = self.with_threads(1)
        schema = alone.schema(batch.schema)
        _, _, method, _ = alone._prepare(batch.schema)
        batch = batch.slice(0, MOST_ROWS)
        # Exclude the one-time work of the first call from the measurement.
        list(alone([batch.slice(0, 1)]))
        started, done, size = time.perf_counter(), 0, 1
        before = _peak(reset=True)
        while done < batch.num_rows and time.perf_counter() - started < seconds / 2:
            part = batch.slice(done, size)
            result = alone._explained(part, schema)
            done, size = done + part.num_rows, 4 * size
        if done >= batch.num_rows:
            # Measure a whole batch in one call, as workers do.
            started, done = time.perf_counter(), batch.num_rows
            result = alone._explained(batch, schema)
        spent, after = time.perf_counter() - started, _peak()
        row = alone.explainer._table(batch.slice(0, 1).select(alone._columns(batch.schema.names)))
        is_free = method in ("tree", "kernel-machine")
        each = 0 if is_free else alone.explainer._prepare(row).plan(row.values, pool(1))[2]
        try:
            sent = len(pickle.dumps(self))
        except Exception:  # functions of a program require cloudpickle, which may be missing here
            sent = None
        return {"method": method, "evaluations_per_row": each,
                "evaluations": None if each is None else each * rows, "seconds": spent / done * rows,
                "bytes": result.nbytes * rows // result.num_rows, "bytes_sent": sent,
                "memory": None if before is None or after is None else after - before}

    def _prepare(self, given: Any) -> tuple[list[str], int, str, bool]:
        """Returns the names of the players, the number of outputs, the method, and whether values are
        estimates, for batches with these columns.
        """
        explainer = self.explainer
        columns = self._columns(given.names)
        if self._prepared is None or self._prepared[0] != columns:
            known = explainer._names or explainer._wanted.names
            if known is None:
                known = explainer._names = list(columns)
            names = list(known)
            features = (explainer._background.values.shape[1] if explainer._background is not None
                        else explainer._wanted.count or len(names))
            row = Table(np.zeros((1, features)), names)
            core = explainer._prepare(row)
            method = core.plan(np.zeros((1, features)), pool(explainer.threads))[0]
            players = players_of(names, explainer._groups, explainer._asked["value"], row.members)
            if self.interactions:
                players = [players[i] if i == j else f"{players[i]} × {players[j]}"
                           for i, j in zip(*np.triu_indices(len(players)))]
            self._prepared = columns, (players, explainer.output_count, method,
                                       method not in ("tree", "kernel-machine", "additive", "exact"))
        return self._prepared[1]

    def _columns(self, names: Sequence[str]) -> list[str]:
        """Returns the feature columns: the columns that the model names. If it has no names, or if the
        batches lack some of these columns, returns all columns that are not kept.
        """
        known = self.explainer._names or self.explainer._wanted.names
        if known is not None and all(name in names for name in known):
            return list(known)
        return [name for name in names if name not in self.keep]

    def _explained(self, batch: Any, schema: Any) -> Any:
        pyarrow = imported("pyarrow", "pip install pyarrow")

        explainer = self.explainer
        players, outputs, _, is_estimate = self._prepare(batch.schema)
        kept = [batch.column(name) for name in self._kept(batch.schema.names)]
        if not batch.num_rows:
            return pyarrow.RecordBatch.from_arrays([pyarrow.array([], field.type) for field in schema],
                                                   schema=schema)
        explanation = explainer(batch.select(self._columns(batch.schema.names)),
                                interactions=self.interactions)
        rows = batch.num_rows
        values = explanation.values
        base = explanation.base_values
        predictions = explanation.predictions
        errors = explanation.std_errors if is_estimate else None
        if is_estimate and errors is None:
            # The values of all these rows are exact.
            errors = np.zeros(values.shape)
        if self.interactions:
            # Take each pair of players once.
            first, second = np.triu_indices(values.shape[1])
            values, errors = values[:, first, second], None if errors is None else errors[:, first, second]
        values = values.reshape(rows, len(players), outputs)
        errors = None if errors is None else errors.reshape(rows, len(players), outputs)
        each = outputs if self.layout == "columns" else 1
        if each > 1:
            places = np.repeat(np.arange(rows), each)
            kept = [column.take(pyarrow.array(places)) for column in kept]
        arrays = kept
        if self.layout == "columns":
            if outputs > 1:
                names = explainer.output_names or [str(output) for output in range(outputs)]
                arrays.append(pyarrow.array(list(names) * rows, pyarrow.string()))
            arrays += [_numbers(np.broadcast_to(base, predictions.shape).ravel()),
                       _numbers(predictions.ravel())]
            arrays += [_numbers(values[:, player].ravel()) for player in range(len(players))]
            if errors is not None:
                arrays += [_numbers(errors[:, player].ravel(), True) for player in range(len(players))]
        else:
            def per_row(numbers: Numbers) -> Any:
                return (_numbers(numbers.ravel()) if outputs == 1
                        else _lists(_numbers(numbers.ravel()), outputs, rows))

            def per_player(numbers: Numbers, holed: bool = False) -> Any:
                leaves = _numbers(numbers.ravel(), holed)
                return _lists(leaves if outputs == 1 else _lists(leaves, outputs, rows * len(players)),
                              len(players), rows)

            arrays += [per_row(np.broadcast_to(base, predictions.shape)), per_row(predictions),
                       per_player(values)]
            if errors is not None:
                arrays.append(per_player(errors, True))
        if is_estimate:
            evaluations = explanation.evaluations
            arrays.append(pyarrow.array(np.repeat(np.broadcast_to(evaluations, rows), each), pyarrow.int64())
                          if evaluations is not None else pyarrow.nulls(rows * each, pyarrow.int64()))
        if explainer._asked["until"] is not None:
            certificates = explanation.certificates or [None] * rows
            stopped = [None if found is None else found["stopped_by"] for found in certificates]
            arrays.append(pyarrow.array([found for found in stopped for _ in range(each)], pyarrow.string()))
        return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


@named_options
def explain_batches(
    batches: Any,
    model: Model,
    background: Rows | None = None,
    *,
    keep: str | Sequence[str] = (),
    layout: Layout = "columns",
    interactions: bool | Literal["index"] = False,
    weights: npt.ArrayLike | None = None,
    value: str = "shapley",
    method: str = "auto",
    budget: int | str = "auto",
    until: float | None = None,
    confidence: float = 0.95,
    relative_to: Scale = "norm",
    error: Measure = "euclidean",
    range: float | None = None,
    groups: Groups = None,
    graph: Graph = None,
    game: GameName | None = None,
    model_output: str = "raw",
    seed: int = 0,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    rounds: Rounds = None,
    threads: int | None = None,
    progress: Progress = False,
    check: bool = True,
    kernel: str | None = None,
    precision: Literal["f64", "f32"] | None = None,
    rows: int | None = None,
    draws: int | None = None,
    bandwidth: float | str | None = None,
    share: float | None = None,
    variant: Literal["paper", "shapr"] | None = None,
    fallback: Literal["refuse", "marginal", "nearest"] | None = None,
    keep_null_players: bool = False,
    additive: Additive = None,
) -> Iterator[Any]:
    """Explains Arrow record batches one after the other, with one in memory at a time.

    batches: an iterator of `pyarrow.RecordBatch`, or anything that exports a stream of them: a reader, a
        table.
    model, background, keep, layout, interactions, and all other options: as in `BatchExplainer`.

    Returns an iterator of record batches with the values. Raises the errors of `BatchExplainer`, and
    DataError for batches that do not match the model.

    >>> import numpy as np, pyarrow, apportion
    >>> table = pyarrow.table({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    >>> background = np.zeros((1, 2))
    >>> found = apportion.explain_batches(table, lambda rows: rows.sum(axis=1), background, layout="lists")
    >>> for line in pyarrow.Table.from_batches(found).to_pylist():
    ...     line
    {'base': 0.0, 'prediction': 4.0, 'values': [1.0, 3.0]}
    {'base': 0.0, 'prediction': 6.0, 'values': [2.0, 4.0]}
    """
    explainer = BatchExplainer(
        model, background, keep=keep, layout=layout, interactions=interactions,
        weights=weights, value=value, method=method, budget=budget, until=until, confidence=confidence,
        relative_to=relative_to, error=error, range=range, groups=groups, graph=graph, game=game,
        model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
        rounds=rounds, threads=threads, progress=progress, check=check, kernel=kernel, precision=precision,
        rows=rows, draws=draws, bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
        keep_null_players=keep_null_players, additive=additive)
    return explainer(batches)


@named_options
def summarize(
    batches: Any,
    model: Model,
    background: Rows | None = None,
    *,
    keep: str | Sequence[str] = (),
    interactions: bool | Literal["index"] = False,
    weights: npt.ArrayLike | None = None,
    value: str = "shapley",
    method: str = "auto",
    budget: int | str = "auto",
    until: float | None = None,
    confidence: float = 0.95,
    relative_to: Scale = "norm",
    error: Measure = "euclidean",
    range: float | None = None,
    groups: Groups = None,
    graph: Graph = None,
    game: GameName | None = None,
    model_output: str = "raw",
    seed: int = 0,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    rounds: Rounds = None,
    threads: int | None = None,
    progress: Progress = False,
    check: bool = True,
    kernel: str | None = None,
    precision: Literal["f64", "f32"] | None = None,
    rows: int | None = None,
    draws: int | None = None,
    bandwidth: float | str | None = None,
    share: float | None = None,
    variant: Literal["paper", "shapr"] | None = None,
    fallback: Literal["refuse", "marginal", "nearest"] | None = None,
    keep_null_players: bool = False,
    additive: Additive = None,
) -> Summary:
    """Returns the `Summary` of the values of all rows of record batches, with one in memory at a time.

    keep: the names of columns that are not features (default: none).
    batches, all other arguments, and the errors: as in `explain_batches`.

    >>> import numpy as np, pyarrow, apportion
    >>> table = pyarrow.table({"a": [1.0, -3.0, 5.0], "b": [2.0, 2.0, 2.0]})
    >>> apportion.summarize(table, lambda rows: rows.sum(axis=1), np.zeros((1, 2))).mean.tolist()
    [1.0, 2.0]
    """
    explainer = BatchExplainer(
        model, background, keep=keep, interactions=interactions,
        weights=weights, value=value, method=method, budget=budget, until=until, confidence=confidence,
        relative_to=relative_to, error=error, range=range, groups=groups, graph=graph, game=game,
        model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
        rounds=rounds, threads=threads, progress=progress, check=check, kernel=kernel, precision=precision,
        rows=rows, draws=draws, bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
        keep_null_players=keep_null_players, additive=additive)
    return Summary.of(explainer.with_inputs()(batches))


def _numbers(numbers: Numbers, holed: bool = False) -> Any:
    """Returns an Arrow array that shares the numbers; if `holed`, with nulls for NaN."""
    pyarrow = imported("pyarrow", "pip install pyarrow")

    return pyarrow.array(np.ascontiguousarray(numbers), pyarrow.float64(), from_pandas=holed)


def _lists(leaves: Any, length: int, count: int) -> Any:
    """Returns `count` lists of `length` leaves each."""
    pyarrow = imported("pyarrow", "pip install pyarrow")

    return pyarrow.ListArray.from_arrays(pyarrow.array(np.arange(count + 1, dtype=np.int32) * length,
                                                       pyarrow.int32()), leaves)


def _peak(reset: bool = False) -> int | None:
    """Returns the peak memory of this process since the last reset, in bytes; None if the system does not
    report it.
    """
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        with open("/proc/self/status") as file:
            line = next(line for line in file if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    except (OSError, StopIteration, ValueError):
        return None
