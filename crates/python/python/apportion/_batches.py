"""Explanations of record batches of Arrow, one after the other: what an engine of data runs on its workers."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import copy
import json

import numpy as np

from . import _checks
from ._core import __version__
from ._data import Table, arrow_table
from ._errors import DataError, UsageError, imported
from ._explainers import Explainer, players_of
from ._names import listed
from ._threads import pool

# The version of the schema of results.
SCHEMA = 1
LAYOUTS = ("columns", "lists")
# How trees are computed is chosen for so many rows, whatever batches have: so values are the same to the last bit however a table is cut.
ROWS = 4096
# A batch of more rows gives several results.
MOST_ROWS = 1 << 16


class BatchExplainer:
    """Explains record batches: an `Explainer` and how its results are laid out. Pickled, it is what an engine sends to its workers.

    >>> import numpy as np, pyarrow, apportion
    >>> explainer = apportion.BatchExplainer(lambda rows: rows[:, 0] * rows[:, 1], np.zeros((1, 2)), feature_names=["a", "b"], keep=["id"])
    >>> batch = pyarrow.record_batch({"id": [7, 8], "a": [1.0, 2.0], "b": [3.0, 4.0]})
    >>> [result.to_pydict() for result in explainer([batch])]
    [{'id': [7, 8], 'base': [0.0, 0.0], 'prediction': [3.0, 8.0], 'a': [1.5, 4.0], 'b': [1.5, 4.0]}]
    """

    def __init__(self, model, background=None, *, keep=(), layout="columns", interactions=False, **more):
        _checks.choice("layout", layout, LAYOUTS)
        if isinstance(model, Explainer):
            if background is not None or more:
                raise UsageError("an Explainer has its background and options already; leave them out")
            explainer = model
        else:
            explainer = Explainer(model, background, **more)
        if explainer.model_output == "log_loss":
            raise UsageError('model_output="log_loss" explains rows with y, which batches do not have; explain a function that returns the loss')
        if explainer._game_for(None) != "path-dependent" and explainer._background is None:
            raise UsageError("batches are explained against one background, the same for all of them: give one")
        if not isinstance(interactions, bool):
            interactions = _checks.choice("form of interactions", interactions, ("index",)) == "index"
        if interactions and explainer._asked["until"] is not None:
            raise UsageError("until is an accuracy of values, and pairs have none here: leave it out, and look at their standard errors")
        # One that is given stays as it is.
        explainer = copy.copy(explainer)
        if explainer.ensemble is not None and "rows" not in explainer._asked:
            explainer._asked = {**explainer._asked, "rows": ROWS}
        self.explainer, self.layout, self.interactions, self._has_inputs = explainer, layout, bool(interactions), False
        self.keep = [keep] if isinstance(keep, str) else _checks.names("keep", keep)
        if len(set(self.keep)) != len(self.keep):
            raise UsageError(f"keep names a column twice: {listed(self.keep)}")
        self._prepared = None

    def __getstate__(self):
        return {**self.__dict__, "_prepared": None}

    def with_threads(self, threads):
        """The same with so many threads."""
        other = copy.copy(self)
        other.explainer = copy.copy(self.explainer)
        other.explainer.threads, other.explainer.progress = threads, False
        return other

    def with_inputs(self):
        """The same with lists, whose results have the features as they were given, too: what summaries take their sample from."""
        other = copy.copy(self)
        other.layout, other._has_inputs = "lists", True
        return other

    def _kept(self, given):
        """The columns of batches that results have, too."""
        return [*self.keep, *(self._columns(given) if self._has_inputs else [])]

    def columns(self, given):
        """Those of the columns `given` that are looked at: the kept ones, and the features."""
        given = _checks.names("columns", given)
        lacking = [name for name in self.keep if name not in given]
        if lacking:
            raise DataError(f"keep names {listed(lacking)}, and the batches have {listed(given)}")
        features = self._columns(given)
        return [*self.keep, *(name for name in features if name not in self.keep)]

    def schema(self, given):
        """The schema of the results of batches with the schema `given`, known before any row is explained.

        The kept columns come first. With the layout "columns" there is a line for each row and output: `output` where there are several, `base`,
        `prediction`, and a column for each player. With "lists" there is a line for each row: `base` and `prediction`, which are lists where there are
        several outputs, and `values`, a list by players, of lists by outputs. Where values are estimates their standard errors follow (`std error of PLAYER`, or
        `std_errors`), 0 where a row is exact and null where they are not known, and `evaluations`. Where an accuracy was asked for, `stopped_by`
        follows: "tolerance" where it is certified. The metadata have under `apportion` the version of the schema and what was asked, as JSON.

        Raises DataError where columns are not those that the model wants, or the results would have two of one name.
        """
        pyarrow = imported("pyarrow", "pip install pyarrow")

        if not isinstance(given, pyarrow.Schema):
            raise UsageError(f"invalid schema {_checks.shown(given)}; expected a pyarrow.Schema")
        explainer = self.explainer
        self.columns(given.names)
        # Whether columns are those that the model knows is seen without a row.
        columns = self._columns(given.names)
        try:
            explainer._table(given.empty_table().select(columns))
        except DataError as error:
            features = explainer._wanted.count or (explainer._background.values.shape[1] if explainer._background is not None else len(columns))
            if len(columns) <= features:
                raise
            raise DataError(f"{error}; name in keep the columns that are no features") from error
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
            fields += [pyarrow.field("base", per_row), pyarrow.field("prediction", per_row), pyarrow.field("values", pyarrow.list_(per_row))]
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
            raise DataError(f'the results would have two columns "{double}"; rename the one that is kept, or give layout="lists"')
        about = dict(version=__version__, schema=SCHEMA, layout=self.layout, kept=len(self._kept(given.names)), value=asked["value"],
                     interactions=self.interactions, game=explainer._game_for(None), method=method, seed=asked["seed"], features=list(players),
                     inputs=columns, outputs=explainer.output_names)
        return pyarrow.schema(fields, {"apportion": json.dumps(about, ensure_ascii=False)})

    def __call__(self, batches):
        """The results of each batch, an iterator of record batches: of one of more than 65 536 rows, several. Memory is that of one batch."""
        schema = None
        for batch in record_batches(batches):
            if schema is None or batch.schema != given:
                schema, given = self.schema(batch.schema), batch.schema
            for start in range(0, max(batch.num_rows, 1), MOST_ROWS):
                yield self._explained(batch.slice(start, MOST_ROWS), schema)

    def plan(self, sample, rows, seconds=2.0):
        """What the explanation of so many rows takes, as measured on those of a sample, a record batch or a table, by one thread.

        A dictionary: the method; evaluations for each row and in all, 0 where the model is looked into; seconds of one core; bytes of results in memory; the
        bytes that a worker is sent, and those that its memory grows by for batches of the size of the sample (None where the system does not say).
        At most so many seconds are spent on it.

        >>> import numpy as np, pyarrow, apportion
        >>> table = pyarrow.table({"a": [1.0, 2.0], "b": [3.0, 4.0]})
        >>> plan = apportion.BatchExplainer(lambda rows: rows.sum(axis=1), np.zeros((1, 2))).plan(table, 10**9)
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
            raise DataError("a plan is measured on rows, and the sample has none: give some")
        alone = self.with_threads(1)
        schema = alone.schema(batch.schema)
        _, _, method, _ = alone._prepare(batch.schema)
        batch = batch.slice(0, MOST_ROWS)
        # The first call prepares what later ones have.
        list(alone([batch.slice(0, 1)]))
        started, done, size = time.perf_counter(), 0, 1
        before = _peak(reset=True)
        while done < batch.num_rows and time.perf_counter() - started < seconds / 2:
            part = batch.slice(done, size)
            result = alone._explained(part, schema)
            done, size = done + part.num_rows, 4 * size
        if done >= batch.num_rows:
            # Rows of a whole batch together, as workers have them.
            started, done = time.perf_counter(), batch.num_rows
            result = alone._explained(batch, schema)
        spent, after = time.perf_counter() - started, _peak()
        row = alone.explainer._table(batch.slice(0, 1).select(alone._columns(batch.schema.names)))
        each = 0 if method == "tree" else alone.explainer._prepare(row).plan(row.values, pool(1))[2]
        try:
            sent = len(pickle.dumps(self))
        except Exception:  # functions of a program go by cloudpickle, which is not at hand here
            sent = None
        return {"method": method, "evaluations_per_row": each, "evaluations": None if each is None else each * rows, "seconds": spent / done * rows,
                "bytes": result.nbytes * rows // result.num_rows, "bytes_sent": sent, "memory": None if before is None or after is None else after - before}

    def _prepare(self, given):
        """Names of players, number of outputs, the method, and whether it estimates: of batches with such columns."""
        explainer = self.explainer
        columns = self._columns(given.names)
        if self._prepared is None or self._prepared[0] != columns:
            names = explainer._names or explainer._wanted.names
            if names is None:
                names = columns
                explainer._names = list(columns)
            features = explainer._background.values.shape[1] if explainer._background is not None else explainer._wanted.count
            row = Table(np.zeros((1, features)), names)
            core = explainer._prepare(row)
            method = core.plan(np.zeros((1, features)), pool(explainer.threads))[0]
            players = players_of(names, explainer._groups, explainer._asked["value"], row.members)
            if self.interactions:
                players = [players[i] if i == j else f"{players[i]} × {players[j]}" for i, j in zip(*np.triu_indices(len(players)))]
            self._prepared = columns, (players, explainer.output_count, method, method not in ("tree", "exact"))
        return self._prepared[1]

    def _columns(self, names):
        """The columns that are features: those that the model names, else all that are not kept."""
        known = self.explainer._names or self.explainer._wanted.names
        if known is not None and all(name in names for name in known):
            return list(known)
        return [name for name in names if name not in self.keep]

    def _explained(self, batch, schema):
        pyarrow = imported("pyarrow", "pip install pyarrow")

        explainer = self.explainer
        players, outputs, _, is_estimate = self._prepare(batch.schema)
        kept = [batch.column(name) for name in self._kept(batch.schema.names)]
        if not batch.num_rows:
            return pyarrow.RecordBatch.from_arrays([pyarrow.array([], field.type) for field in schema], schema=schema)
        explanation = explainer(batch.select(self._columns(batch.schema.names)), interactions=self.interactions)
        rows, values, base, predictions = batch.num_rows, explanation.values, explanation.base_values, explanation.predictions
        errors = explanation.std_errors if is_estimate else None
        if is_estimate and errors is None:
            # All of these rows are exact.
            errors = np.zeros(values.shape)
        if self.interactions:
            # Of each pair once.
            upper = np.triu_indices(values.shape[1])
            values, errors = (None if array is None else array[:, upper[0], upper[1]] for array in (values, errors))
        values, errors = (None if array is None else array.reshape(rows, len(players), outputs) for array in (values, errors))
        each = outputs if self.layout == "columns" else 1
        if each > 1:
            places = np.repeat(np.arange(rows), each)
            kept = [column.take(pyarrow.array(places)) for column in kept]
        arrays = kept
        if self.layout == "columns":
            if outputs > 1:
                names = explainer.output_names or [str(output) for output in range(outputs)]
                arrays.append(pyarrow.array(list(names) * rows, pyarrow.string()))
            arrays += [_numbers(np.broadcast_to(base, predictions.shape).ravel()), _numbers(predictions.ravel())]
            arrays += [_numbers(values[:, player].ravel()) for player in range(len(players))]
            if is_estimate:
                arrays += [_numbers(errors[:, player].ravel(), True) for player in range(len(players))]
        else:
            def per_row(numbers):
                return _numbers(numbers.ravel()) if outputs == 1 else _lists(_numbers(numbers.ravel()), outputs, rows)

            def per_player(numbers, holed=False):
                leaves = _numbers(numbers.ravel(), holed)
                return _lists(leaves if outputs == 1 else _lists(leaves, outputs, rows * len(players)), len(players), rows)

            arrays += [per_row(np.broadcast_to(base, predictions.shape)), per_row(predictions), per_player(values)]
            if is_estimate:
                arrays.append(per_player(errors, True))
        if is_estimate:
            evaluations = explanation.evaluations
            arrays.append(pyarrow.array(np.repeat(np.broadcast_to(evaluations, rows), each), pyarrow.int64()) if evaluations is not None
                          else pyarrow.nulls(rows * each, pyarrow.int64()))
        if explainer._asked["until"] is not None:
            stopped = [None if found is None else found["stopped_by"] for found in explanation.certificates or [None] * rows]
            arrays.append(pyarrow.array([found for found in stopped for _ in range(each)], pyarrow.string()))
        return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def explain_batches(batches, model, background=None, *, keep=(), layout="columns", interactions=False, **more):
    """Explains record batches of Arrow one after the other: an iterator of record batches, of the memory of one.

    batches: an iterator of `pyarrow.RecordBatch`, or anything that has a stream of them: a reader, a table.
    model, background, and further options: as of `apportion.Explainer`, or such an explainer.
    keep: columns of the batches that results have, too, such as an id.
    layout: "columns", a column for each player, or "lists", one list of values for each row. `BatchExplainer.schema` describes both.
    interactions: True for the interaction indices of all pairs, `a × b`, among those of single players, `a`, in the place of values.

    >>> import numpy as np, pyarrow, apportion
    >>> table = pyarrow.table({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    >>> found = apportion.explain_batches(table, lambda rows: rows.sum(axis=1), np.zeros((1, 2)), layout="lists")
    >>> pyarrow.Table.from_batches(found).to_pylist()
    [{'base': 0.0, 'prediction': 4.0, 'values': [1.0, 3.0]}, {'base': 0.0, 'prediction': 6.0, 'values': [2.0, 4.0]}]
    """
    return BatchExplainer(model, background, keep=keep, layout=layout, interactions=interactions, **more)(batches)


def summarize(batches, model, background=None, *, keep=(), interactions=False, **more):
    """The `Summary` of the values of all rows of record batches, in the memory of one.

    `keep` names columns that are no features; all else is as of `explain_batches`.

    >>> import numpy as np, pyarrow, apportion
    >>> table = pyarrow.table({"a": [1.0, -3.0, 5.0], "b": [2.0, 2.0, 2.0]})
    >>> apportion.summarize(table, lambda rows: rows.sum(axis=1), np.zeros((1, 2))).mean.tolist()
    [1.0, 2.0]
    """
    from ._summary import Summary

    return Summary.of(BatchExplainer(model, background, keep=keep, interactions=interactions, **more).with_inputs()(batches))


def record_batches(batches):
    """Record batches of anything that has them."""
    pyarrow = imported("pyarrow", "pip install pyarrow")

    if isinstance(batches, pyarrow.RecordBatch):
        batches = [batches]
    elif isinstance(batches, pyarrow.Table):
        batches = batches.to_batches()
    elif not isinstance(batches, pyarrow.RecordBatchReader) and hasattr(batches, "__arrow_c_stream__"):
        batches = arrow_table(batches, "batches").to_batches() if not hasattr(batches, "__next__") else pyarrow.RecordBatchReader.from_stream(batches)
    kind = f"{type(batches).__module__}.{type(batches).__qualname__}"
    if not hasattr(type(batches), "__iter__") or isinstance(batches, (str, bytes, dict, np.ndarray)):
        raise DataError(f"invalid batches of type {kind}; expected an iterator of pyarrow.RecordBatch, a reader or a table")
    try:
        batches = iter(batches)
    except Exception as error:  # whatever an object raises that cannot be iterated
        raise DataError(f"invalid batches of type {kind} ({error}); expected an iterator of pyarrow.RecordBatch, a reader or a table") from error
    for batch in batches:
        if not isinstance(batch, pyarrow.RecordBatch):
            try:
                batch = pyarrow.record_batch(batch)
            except Exception as error:  # whatever the other library raises
                raise DataError(f"invalid batch of type {type(batch).__module__}.{type(batch).__qualname__}; expected a pyarrow.RecordBatch") from error
        yield batch


def _numbers(numbers, holed=False):
    """An array of Arrow of the same numbers, not copied; with nulls for NaN where it is `holed`."""
    pyarrow = imported("pyarrow", "pip install pyarrow")

    return pyarrow.array(np.ascontiguousarray(numbers), pyarrow.float64(), from_pandas=holed)


def _lists(leaves, length, count):
    """`count` lists of `length` leaves each."""
    pyarrow = imported("pyarrow", "pip install pyarrow")

    return pyarrow.ListArray.from_arrays(pyarrow.array(np.arange(count + 1, dtype=np.int32) * length, pyarrow.int32()), leaves)


def _peak(reset=False):
    """The most memory that this process had, since it was reset, in bytes; None where the system does not say."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        with open("/proc/self/status") as file:
            line = next(line for line in file if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    except (OSError, StopIteration, ValueError):
        return None
