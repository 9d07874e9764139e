"""Explanations of a Ray dataset: a dataset in, a dataset out, block by block on the workers.

>>> from apportion import ray as on_ray  # doctest: +SKIP
>>> values = on_ray.explain(dataset, model, background, keep=["id"])  # doctest: +SKIP
>>> values.write_parquet("values")  # doctest: +SKIP
"""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
from ._errors import imported
from ._workers import batch_explainer, on_workers, put_together


def explain(dataset, model, background=None, *, keep=(), layout="columns", threads=1, batch_size=8192, **more):
    """The values of each row of a dataset, as a dataset: by `map_batches`, row by row as one process has them, to the last bit.

    dataset: a `ray.data.Dataset`. Of its columns those that the model knows by name are features, else all that are not kept.
    model, background, and further options: as of `apportion.Explainer`.
    keep, layout: as of `apportion.explain_batches`, whose schema this is.
    threads: of each task, which asks Ray for so many CPUs.
    batch_size: rows that are explained together.
    """
    return _mapped(dataset, (model, background, keep, layout, threads, more), batch_size, summed=False)


def summarize(dataset, model, background=None, *, keep=(), threads=1, batch_size=8192, **more):
    """The `apportion.Summary` of the values of all rows of a dataset: made in parts where the rows are, and put together here. Its bytes do not depend on
    the parts. Values are not kept. `keep` names columns that are no features, and all else is as of `explain`."""
    parts = _mapped(dataset, (model, background, keep, "lists", threads, more), batch_size, summed=True)
    return put_together(part["summary"] for part in parts.iter_rows())


def _mapped(dataset, asked, batch_size, summed):
    imported("ray.data", 'pip install "ray[data]"')
    cloudpickle = imported("ray.cloudpickle", 'pip install "ray[data]"')
    explainer = batch_explainer(*asked)
    given = dataset.schema()
    if given is not None:
        # What does not fit is said before anything runs.
        explainer.schema(_of_arrow(given))
    work = on_workers(explainer, cloudpickle.dumps, summed)

    def explain_block(table):
        import pyarrow

        from apportion._workers import batches_of
        # A block of no rows has no summary.
        found = list(work(batches_of(table)))
        return pyarrow.Table.from_batches(found) if found else pyarrow.table({"summary": pyarrow.array([], pyarrow.binary())})

    return dataset.map_batches(explain_block, batch_format="pyarrow", batch_size=batch_size, num_cpus=explainer.explainer.threads)


def _of_arrow(schema):
    """The schema of Arrow that one of Ray stands for."""
    import pyarrow

    base = getattr(schema, "base_schema", schema)
    if isinstance(base, pyarrow.Schema):
        return base
    return pyarrow.schema([(name, kind if isinstance(kind, pyarrow.DataType) else pyarrow.from_numpy_dtype(kind)) for name, kind in zip(schema.names, schema.types)])
