"""An explainer of batches on the workers of an engine of data: how it gets there, and that it is made once in each process."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import hashlib
import threading

from ._batches import BatchExplainer
from ._core import __version__
from ._errors import Error, ModelError, UsageError, imported

# Those that were made in this process, the last one used last. A worker that serves several models keeps a few.
_MADE = {}
MOST_MADE = 4
# Tasks of one process may be threads of it.
_MAKING = threading.Lock()


def batch_explainer(model, background, keep, layout, threads, more):
    """What workers are sent: an explainer of so many threads each. Nothing is shown while it runs, for nobody looks at a worker."""
    explainer = BatchExplainer(model, background, keep=keep, layout=layout, **more)
    return explainer.with_threads(threads)


def on_workers(explainer, dumps, summed=False):
    """A function of an iterator of record batches, for `dumps` of cloudpickle to write by value.

    The explainer goes as bytes, which are read once in each process. What fails there fails in words of ours: where the package is missing, is another
    version, or cannot read the model. Where results are `summed`, one batch of the bytes of their summary comes of all batches.
    """
    sent, version = dumps(explainer), __version__
    digest = hashlib.sha256(sent).hexdigest()

    def explain_on_worker(batches):
        # Inside another function it is written by value: what is imported must be imported here.
        try:
            from apportion import _workers
        except ImportError as error:
            raise ImportError(f"apportion is not installed on this worker ({error}): install apportion {version} on every one") from error
        explainer = _workers.made(sent, digest, version)
        yield from _workers.summary_of(explainer.with_inputs()(batches)) if summed else explainer(batches)

    return explain_on_worker


def made(sent, digest, version):
    """The explainer that was sent, made once."""
    if version != __version__:
        raise UsageError(f"apportion {version} sent this work, and this worker has {__version__}: install the same on all")
    with _MAKING:
        found = _MADE.pop(digest, None)
        if found is None:
            found = _read(sent)
        _MADE[digest] = found
        while len(_MADE) > MOST_MADE:
            del _MADE[next(iter(_MADE))]
    return found


def _read(sent):
    import pickle

    try:
        return pickle.loads(sent)
    except Error:
        raise
    except Exception as error:
        raise ModelError(f"the model cannot be read on this worker ({type(error).__name__}: {error}): install there what it needs") from error


def batches_of(table):
    """A table of Arrow as record batches: one, unless words fill more than an array of Arrow holds; of no rows one without any."""
    import pyarrow

    return table.combine_chunks().to_batches() or [pyarrow.RecordBatch.from_pylist([], schema=table.schema)]


def of_pandas(work, part):
    """What `work` says of a frame of pandas, as a frame. Kept columns are as they were, and so is the index."""
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


def _kept_count(schema):
    """How many columns of results are kept ones: those before the first of the results' own."""
    import json

    return json.loads(schema.metadata[b"apportion"])["kept"]


def summary_of(results):
    """The summary of results, as a record batch of one row; of no results none."""
    import pyarrow

    from ._summary import Summary

    summary = Summary.of(results)
    if summary.rows:
        yield pyarrow.record_batch({"summary": pyarrow.array([summary.to_bytes()], pyarrow.binary())})


def merging():
    """A function of an iterator of record batches of summaries, which puts them together on a worker."""
    def merge_on_worker(batches):
        from apportion import _workers

        yield from _workers.merged(batches)

    return merge_on_worker


def merged(batches):
    """The summary of the summaries in record batches, as a record batch of one row; of none none."""
    import pyarrow

    summary = put_together(part.as_py() for batch in batches for part in batch.column("summary"))
    if summary.rows:
        yield pyarrow.record_batch({"summary": pyarrow.array([summary.to_bytes()], pyarrow.binary())})


def put_together(written):
    """The summary of parts that workers wrote."""
    from ._summary import Summary

    whole = Summary()
    for part in written:
        whole.merge(Summary.from_bytes(bytes(part)))
    return whole
