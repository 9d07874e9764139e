"""Explanations of a Dask frame: a frame in, a frame out, partition by partition on the workers.

>>> from apportion import dask as on_dask  # doctest: +SKIP
>>> values = on_dask.explain(frame, model, background, keep=["id"])  # doctest: +SKIP
>>> values.to_parquet("values")  # doctest: +SKIP
"""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
from ._errors import UsageError
from ._workers import batch_explainer, imported, on_workers


def explain(frame, model, background=None, *, keep=(), layout="columns", threads=1, **more):
    """The values of each row of a frame, as a frame: by `map_partitions`, row by row as one process has them, to the last bit.

    frame: a data frame of Dask. Of its columns those that the model knows by name are features, else all that are not kept.
    model, background, and further options: as of `apportion.Explainer`.
    keep, layout: as of `apportion.explain_batches`, whose schema this is. Rows keep their index; where there are several outputs, the layout
        "columns" has a row for each, under the same index.
    threads: of each task. A worker runs as many tasks at once as it has threads itself.
    """
    imported("dask.dataframe", 'pip install "dask[dataframe]"')
    cloudpickle = imported("cloudpickle", "pip install cloudpickle")
    explainer = batch_explainer(model, background, keep, layout, threads, more)
    sample = frame._meta
    if sample.columns.nlevels > 1 or not all(isinstance(name, str) for name in sample.columns):
        raise UsageError("columns are chosen by name, and the frame has others than words: rename them, as by frame.rename(columns=str)")
    needed = explainer.columns(list(sample.columns))
    frame = frame[needed]
    work = on_workers(explainer, cloudpickle.dumps)

    def explain_partition(part):
        from apportion._workers import of_pandas
        return of_pandas(work, part)

    import pyarrow

    result = explainer.schema(pyarrow.Schema.from_pandas(sample[needed], preserve_index=False))
    meta = result.empty_table().to_pandas()
    for name in explainer.keep:
        meta[name] = sample[name].iloc[:0].array
    meta.index = sample.index[:0]
    return frame.map_partitions(explain_partition, meta=meta)
