"""Explanations on Apache Spark, and on engines that speak its protocol: frames in, frames out, and nothing is collected.

>>> from apportion import spark  # doctest: +SKIP
>>> values = spark.explain(frame, model, background, keep=["id"])  # doctest: +SKIP
>>> values.write.parquet("values")  # doctest: +SKIP
"""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
from ._workers import batch_explainer, imported, on_workers


def explain(frame, model, background=None, *, keep=(), layout="columns", threads=1, **more):
    """The values of each row of a frame, also of a stream, as a frame: by `mapInArrow`, row by row as one process has them, to the last bit.

    frame: a data frame of PySpark. Of its columns those that the model knows by name are features, else all that are not kept.
    model, background, and further options: as of `apportion.Explainer`.
    keep, layout: as of `apportion.explain_batches`, whose schema this is.
    threads: of each task. A task has one core unless `spark.task.cpus` says otherwise.

    The explainer is part of the function that is sent, and is made once in each process of Python: a worker that is used again has it.
    """
    imported("pyspark", "pip install pyspark, or pyspark-client for an engine elsewhere")
    cloudpickle = imported("pyspark.cloudpickle", "pip install pyspark")
    types = imported("pyspark.sql.pandas.types", "pip install pyspark")
    StructType = imported("pyspark.sql.types", "pip install pyspark").StructType
    explainer = batch_explainer(model, background, keep, layout, threads, more)
    needed = explainer.columns(frame.columns)
    if len(needed) < len(frame.columns):
        frame = frame.select(*(f"`{name.replace('`', '``')}`" for name in needed))
    given = frame.schema
    result = explainer.schema(types.to_arrow_schema(given))
    kept = {field.name: field for field in given.fields}
    fields = [kept[name] if place < len(explainer.keep) else field
              for place, (name, field) in enumerate(zip(result.names, types.from_arrow_schema(result).fields))]
    return frame.mapInArrow(on_workers(explainer, cloudpickle.dumps), StructType(fields))
