"""Explanations of frames in Apache Spark and engines with its protocol, as frames, without collecting rows.

>>> from apportion import spark  # doctest: +SKIP
>>> values = spark.explain(frame, model, background, keep=["id"])  # doctest: +SKIP
>>> values.write.parquet("values")  # doctest: +SKIP
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from ._batches import BatchExplainer
from ._errors import imported
from ._options import Options, named_options
from ._types import Additive, GameName, Graph, Groups, Layout, Measure, Model, Module, Rounds, Rows, Scale
from ._workers import batch_explainer, merging, on_workers, put_together

if TYPE_CHECKING:
    from ._summary import Summary


@named_options
def explain(
    frame: Any,
    model: Model,
    background: Rows | None = None,
    *,
    keep: str | Sequence[str] = (),
    layout: Layout = "columns",
    interactions: bool | Literal["index"] = False,
    threads: int = 1,
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
) -> Any:
    """Returns the values of each row of a frame, also of a stream, as a frame, computed with `mapInArrow`.

    frame: a data frame of PySpark. Its features are the columns that the model names, or else all columns
        that are not kept.
    model, background, and all options that are not described here: as in `apportion.Explainer`. The values of
        a row equal those of a single process, to the last bit.
    keep, layout, interactions: as in `apportion.BatchExplainer`, whose `schema` describes the results.
    threads: the number of threads of each task (default 1). A task has one core unless `spark.task.cpus`
        specifies more.

    The explainer is part of the function that is sent to workers, and is created once in each Python process.

    Raises UsageError and DataError before anything runs, if the columns or options are invalid. On the
    workers, raises the errors of the call of `apportion.Explainer`.
    """
    cloudpickle, types, StructType = _of_spark()
    options = Options(
        weights=weights, value=value, method=method, budget=budget, until=until, confidence=confidence,
        relative_to=relative_to, error=error, range=range, groups=groups, graph=graph, game=game,
        model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
        rounds=rounds, check=check, kernel=kernel, precision=precision, rows=rows, draws=draws,
        bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
        keep_null_players=keep_null_players, additive=additive)
    explainer = batch_explainer(model, background, keep, layout, interactions, options, threads)
    frame = _chosen(frame, explainer)
    given = frame.schema
    result = explainer.schema(types.to_arrow_schema(given))
    kept = {field.name: field for field in given.fields}
    own = zip(result.names, types.from_arrow_schema(result).fields)
    fields = [kept[name] if place < len(explainer.keep) else field for place, (name, field) in enumerate(own)]
    return frame.mapInArrow(on_workers(explainer, cloudpickle.dumps), StructType(fields))


@named_options
def summarize(
    frame: Any,
    model: Model,
    background: Rows | None = None,
    *,
    keep: str | Sequence[str] = (),
    interactions: bool | Literal["index"] = False,
    threads: int = 1,
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
    """Returns the `apportion.Summary` of the values of all rows of a frame.

    The workers that hold the rows compute parts of the summary, which are merged here. The bytes of the
    summary do not depend on the parts. The values are not stored.

    keep: the names of columns that are not features (default: none).
    All other arguments and the errors: as in `explain`.
    """
    cloudpickle, types, _ = _of_spark()
    options = Options(
        weights=weights, value=value, method=method, budget=budget, until=until, confidence=confidence,
        relative_to=relative_to, error=error, range=range, groups=groups, graph=graph, game=game,
        model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
        rounds=rounds, check=check, kernel=kernel, precision=precision, rows=rows, draws=draws,
        bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
        keep_null_players=keep_null_players, additive=additive)
    explainer = batch_explainer(model, background, keep, "lists", interactions, options, threads)
    frame = _chosen(frame, explainer)
    explainer.schema(types.to_arrow_schema(frame.schema))
    parts = frame.mapInArrow(on_workers(explainer, cloudpickle.dumps, summed=True), "summary binary")
    # One worker merges the summaries of all partitions, so that few bytes are sent here.
    whole = parts.repartition(1).mapInArrow(merging(), "summary binary").collect()
    return put_together(part["summary"] for part in whole)


def _of_spark() -> tuple[Module, Module, Any]:
    imported("pyspark", "pip install pyspark, or pyspark-client for a remote Spark server")
    names = ("pyspark.cloudpickle", "pyspark.sql.pandas.types", "pyspark.sql.types")
    cloudpickle, types, of_sql = (imported(name, "pip install pyspark") for name in names)
    return cloudpickle, types, of_sql.StructType


def _chosen(frame: Any, explainer: BatchExplainer) -> Any:
    """Returns a frame with the columns that an explainer uses."""
    needed = explainer.columns(frame.columns)
    if len(needed) == len(frame.columns):
        return frame
    return frame.select(*(f"`{name.replace('`', '``')}`" for name in needed))
