"""A batch explainer on the workers of a data engine, created once in each process."""
from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from ._batches import BatchExplainer
from ._core import __version__
from ._errors import Error, ModelError, UsageError
from ._options import Options
from ._summary import Summary
from ._types import Layout, Model, Rows

# The work of a worker, from record batches to record batches.
Work: TypeAlias = Callable[[Iterable[Any]], Iterator[Any]]

# The explainers of this process, the most recently used one last, and their maximum number, for workers that
# serve several models.
_MADE: dict[str, BatchExplainer] = {}
MOST_MADE = 4
# Tasks may be threads of one process.
_MAKING = threading.Lock()


def batch_explainer(model: Model, background: Rows | None, keep: str | Sequence[str], layout: Layout,
                    interactions: bool | Literal["index"], options: Options, threads: int) -> BatchExplainer:
    """Returns the explainer that is sent to workers, with a number of threads for each of their tasks.

    It shows no progress, because the output of workers is not visible.
    """
    explainer = BatchExplainer(model, background, keep=keep, layout=layout, interactions=interactions,
                               **options.by_name())
    return explainer.with_threads(threads)


def on_workers(explainer: BatchExplainer, dumps: Callable[[Any], bytes], summed: bool = False) -> Work:
    """Returns the function that workers run on an iterator of record batches.

    dumps: cloudpickle's function that pickles the explainer by value.
    summed: whether the result is one batch with the bytes of the summary of all values (default False).

    The explainer is sent as bytes, which are unpickled once in each process. The errors state whether the
    package is missing on the worker, has a different version there, or cannot read the model.
    """
    sent, version = dumps(explainer), __version__
    digest = hashlib.sha256(sent).hexdigest()

    def explain_on_worker(batches: Iterable[Any]) -> Iterator[Any]:
        # A nested function is pickled by value, so it imports the module that it uses.
        try:
            from apportion import _workers
        except ImportError as error:
            raise ImportError(f"apportion is not installed on this worker ({error}); "
                              f"install apportion {version} on every worker") from error
        explainer = _workers.made(sent, digest, version)
        yield from _workers.summary_of(explainer.with_inputs()(batches)) if summed else explainer(batches)

    return explain_on_worker


def made(sent: bytes, digest: str, version: str) -> BatchExplainer:
    """Returns the explainer that was sent; it is unpickled once."""
    if version != __version__:
        raise UsageError(f"this worker has apportion {__version__}, but the task was sent by apportion "
                         f"{version}; install the same version everywhere")
    with _MAKING:
        found = _MADE.pop(digest, None)
        if found is None:
            found = _read(sent)
        _MADE[digest] = found
        while len(_MADE) > MOST_MADE:
            del _MADE[next(iter(_MADE))]
    return found


def _read(sent: bytes) -> BatchExplainer:
    import pickle

    try:
        explainer: BatchExplainer = pickle.loads(sent)
        return explainer
    except Error:
        raise
    except Exception as error:
        raise ModelError(f"cannot read the model on this worker ({type(error).__name__}: {error}); "
                         "install the libraries that it requires there") from error


def batches_of(table: Any) -> list[Any]:
    """Returns the record batches of an Arrow table: one, unless its strings exceed the size of an Arrow
    array.
    """
    import pyarrow

    return table.combine_chunks().to_batches() or [pyarrow.RecordBatch.from_pylist([], schema=table.schema)]


def of_pandas(work: Work, part: Any) -> Any:
    """Returns the results of `work` for a pandas frame, as a frame with the same index and kept columns."""
    import pyarrow

    given = batches_of(pyarrow.Table.from_pandas(part, preserve_index=False))
    found = pyarrow.Table.from_batches(list(work(given)))
    frame = found.to_pandas()
    each = len(frame) // len(part) if len(part) else 1
    kept = [name for name in part.columns if name in frame.columns[: _kept_count(found.schema)]]
    index = part.index
    if each > 1:
        index = index.repeat(each)
    for name in kept:
        column = part[name].array
        frame[name] = column if each == 1 else column.repeat(each)
    frame.index = index
    return frame


def _kept_count(schema: Any) -> int:
    """Returns the number of columns of results that were kept; they are the first ones."""
    import json

    return int(json.loads(schema.metadata[b"apportion"])["kept"])


def summary_of(results: Iterable[Any]) -> Iterator[Any]:
    """Yields the summary of results as a record batch with one row, or nothing if there are no rows."""
    import pyarrow

    summary = Summary.of(results)
    if summary.rows:
        yield pyarrow.record_batch({"summary": pyarrow.array([summary.to_bytes()], pyarrow.binary())})


def merging() -> Work:
    """Returns the function that merges the summaries in an iterator of record batches on a worker."""
    def merge_on_worker(batches: Iterable[Any]) -> Iterator[Any]:
        from apportion import _workers

        yield from _workers.merged(batches)

    return merge_on_worker


def merged(batches: Iterable[Any]) -> Iterator[Any]:
    """Yields the merged summaries of record batches as one batch with one row, or nothing if there are no
    rows.
    """
    import pyarrow

    summary = put_together(part.as_py() for batch in batches for part in batch.column("summary"))
    if summary.rows:
        yield pyarrow.record_batch({"summary": pyarrow.array([summary.to_bytes()], pyarrow.binary())})


def put_together(written: Iterable[Any]) -> Summary:
    """Returns the merged summary of the bytes that workers wrote."""
    whole = Summary()
    for part in written:
        whole.merge(Summary.from_bytes(bytes(part)))
    return whole
