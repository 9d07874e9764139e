"""Explanations of a Dask frame: a frame in, a frame out, partition by partition on the workers.

>>> from apportion import dask as on_dask  # doctest: +SKIP
>>> values = on_dask.explain(frame, model, background, keep=["id"])  # doctest: +SKIP
>>> values.to_parquet("values")  # doctest: +SKIP
"""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
from ._errors import UsageError, imported
from ._workers import batch_explainer, on_workers, put_together


def explain(frame, model, background=None, *, keep=(), layout="columns", threads=1, **more):
    """The values of each row of a frame, as a frame: by `map_partitions`, row by row as one process has them, to the last bit.

    frame: a data frame of Dask. Of its columns those that the model knows by name are features, else all that are not kept.
    model, background, and further options: as of `apportion.Explainer`.
    keep, layout: as of `apportion.explain_batches`, whose schema this is. Rows keep their index; where there are several outputs, the layout
        "columns" has a row for each, under the same index.
    threads: of each task. A worker runs as many tasks at once as it has threads itself.
    """
    explainer, work, frame = _chosen(frame, (model, background, keep, layout, threads, more), summed=False)

    def explain_partition(part):
        from apportion._workers import of_pandas
        return of_pandas(work, part)

    sample = frame._meta
    meta = _schema(explainer, sample).empty_table().to_pandas()
    for name in explainer.keep:
        meta[name] = sample[name].iloc[:0].array
    meta.index = sample.index[:0]
    return frame.map_partitions(explain_partition, meta=meta)


def summarize(frame, model, background=None, *, keep=(), threads=1, **more):
    """The `apportion.Summary` of the values of all rows of a frame: made in parts where the rows are, and put together here. Its bytes do not depend on the
    parts. Values are not kept. `keep` names columns that are no features, and all else is as of `explain`."""
    explainer, work, frame = _chosen(frame, (model, background, keep, "lists", threads, more), summed=True)
    _schema(explainer, frame._meta)

    def summarize_partition(part):
        import pandas
        import pyarrow

        from apportion._workers import batches_of
        parts = [batch.column("summary")[0].as_py() for batch in work(batches_of(pyarrow.Table.from_pandas(part, preserve_index=False)))]
        return pandas.DataFrame({"summary": pandas.Series(parts, dtype=object)})

    import dask
    import pandas

    parts = frame.map_partitions(summarize_partition, meta=pandas.DataFrame({"summary": pandas.Series([], dtype=object)})).to_delayed()
    # As many at once as there is memory for.
    some = (dask.compute(*parts[start:start + 64]) for start in range(0, len(parts), 64))
    return put_together(part for found in some for frame in found for part in frame["summary"])


def _chosen(frame, asked, summed):
    """The explainer, its work, and the frame of the columns that it looks at."""
    imported("dask.dataframe", 'pip install "dask[dataframe]"')
    cloudpickle = imported("cloudpickle", "pip install cloudpickle")
    explainer = batch_explainer(*asked)
    sample = frame._meta
    if sample.columns.nlevels > 1 or not all(isinstance(name, str) for name in sample.columns):
        raise UsageError("columns are chosen by name, and the frame has others than words: rename them, as by frame.rename(columns=str)")
    return explainer, on_workers(explainer, cloudpickle.dumps, summed), frame[explainer.columns(list(sample.columns))]


def _schema(explainer, sample):
    import pyarrow

    return explainer.schema(pyarrow.Schema.from_pandas(sample, preserve_index=False))
