"""Explanations on Apache Spark, and on engines that speak its protocol: frames in, frames out, and nothing is collected.

>>> from apportion import spark  # doctest: +SKIP
>>> values = spark.explain(frame, model, background, keep=["id"])  # doctest: +SKIP
>>> values.write.parquet("values")  # doctest: +SKIP
"""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
from ._errors import imported
from ._workers import batch_explainer, merging, on_workers, put_together


def explain(frame, model, background=None, *, keep=(), layout="columns", threads=1, **more):
    """The values of each row of a frame, also of a stream, as a frame: by `mapInArrow`, row by row as one process has them, to the last bit.

    frame: a data frame of PySpark. Of its columns those that the model knows by name are features, else all that are not kept.
    model, background, and further options: as of `apportion.Explainer`.
    keep, layout: as of `apportion.explain_batches`, whose schema this is.
    threads: of each task. A task has one core unless `spark.task.cpus` says otherwise.

    The explainer is part of the function that is sent, and is made once in each process of Python: a worker that is used again has it.
    """
    cloudpickle, types, StructType = _of_spark()
    explainer, frame = _chosen(frame, model, background, keep, layout, threads, more)
    given = frame.schema
    result = explainer.schema(types.to_arrow_schema(given))
    kept = {field.name: field for field in given.fields}
    fields = [kept[name] if place < len(explainer.keep) else field
              for place, (name, field) in enumerate(zip(result.names, types.from_arrow_schema(result).fields))]
    return frame.mapInArrow(on_workers(explainer, cloudpickle.dumps), StructType(fields))


def summarize(frame, model, background=None, *, keep=(), threads=1, **more):
    """The `apportion.Summary` of the values of all rows of a frame: made in parts where the rows are, and put together here. Its bytes do not depend on the
    parts. Values are not kept. `keep` names columns that are no features, and all else is as of `explain`."""
    cloudpickle, types, _ = _of_spark()
    explainer, frame = _chosen(frame, model, background, keep, "lists", threads, more)
    explainer.schema(types.to_arrow_schema(frame.schema))
    parts = frame.mapInArrow(on_workers(explainer, cloudpickle.dumps, summed=True), "summary binary")
    # Of many partitions one worker makes one, so that few bytes come here.
    whole = parts.repartition(1).mapInArrow(merging(), "summary binary").collect()
    return put_together(part["summary"] for part in whole)


def _of_spark():
    imported("pyspark", "pip install pyspark, or pyspark-client for an engine elsewhere")
    names = ("pyspark.cloudpickle", "pyspark.sql.pandas.types", "pyspark.sql.types")
    cloudpickle, types, of_sql = (imported(name, "pip install pyspark") for name in names)
    return cloudpickle, types, of_sql.StructType


def _chosen(frame, model, background, keep, layout, threads, more):
    """The explainer, and the frame of the columns that it looks at."""
    explainer = batch_explainer(model, background, keep, layout, threads, more)
    needed = explainer.columns(frame.columns)
    if len(needed) < len(frame.columns):
        frame = frame.select(*(f"`{name.replace('`', '``')}`" for name in needed))
    return explainer, frame
