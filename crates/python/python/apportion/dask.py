"""Explanations of a Dask frame as another frame, computed partition by partition on the workers.

>>> from apportion import dask as on_dask  # doctest: +SKIP
>>> values = on_dask.explain(frame, model, background, keep=["id"])  # doctest: +SKIP
>>> values.to_parquet("values")  # doctest: +SKIP
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from ._batches import BatchExplainer
from ._errors import UsageError, imported
from ._options import Options, named_options
from ._types import Additive, GameName, Graph, Groups, Layout, Measure, Model, Rounds, Rows, Scale
from ._workers import Work, batch_explainer, on_workers, put_together

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
    """Returns the values of each row of a frame as a frame, computed with `map_partitions`.

    frame: a data frame of Dask. Its features are the columns that the model names, or else all columns that
        are not kept.
    model, background, and all options that are not described here: as in `apportion.Explainer`. The values of
        a row equal those of a single process, to the last bit.
    keep, layout, interactions: as in `apportion.BatchExplainer`, whose `schema` describes the results. Rows
        keep their index; if there are several outputs, the layout "columns" has a row for each output under
        the same index.
    threads: the number of threads of each task (default 1). A worker runs as many tasks at once as it has
        threads.

    Raises UsageError and DataError before anything runs, if the columns or options are invalid. On the
    workers, raises the errors of the call of `apportion.Explainer`.
    """
    options = Options(
        weights=weights, value=value, method=method, budget=budget, until=until, confidence=confidence,
        relative_to=relative_to, error=error, range=range, groups=groups, graph=graph, game=game,
        model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
        rounds=rounds, check=check, kernel=kernel, precision=precision, rows=rows, draws=draws,
        bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
        keep_null_players=keep_null_players, additive=additive)
    explainer = batch_explainer(model, background, keep, layout, interactions, options, threads)
    work, chosen = _chosen(frame, explainer, summed=False)

    def explain_partition(part: Any) -> Any:
        from apportion._workers import of_pandas
        return of_pandas(work, part)

    sample = chosen._meta
    meta = _schema(explainer, sample).empty_table().to_pandas()
    for name in explainer.keep:
        meta[name] = sample[name].iloc[:0].array
    meta.index = sample.index[:0]
    return chosen.map_partitions(explain_partition, meta=meta)


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
    options = Options(
        weights=weights, value=value, method=method, budget=budget, until=until, confidence=confidence,
        relative_to=relative_to, error=error, range=range, groups=groups, graph=graph, game=game,
        model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
        rounds=rounds, check=check, kernel=kernel, precision=precision, rows=rows, draws=draws,
        bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
        keep_null_players=keep_null_players, additive=additive)
    explainer = batch_explainer(model, background, keep, "lists", interactions, options, threads)
    work, chosen = _chosen(frame, explainer, summed=True)
    _schema(explainer, chosen._meta)

    def summarize_partition(part: Any) -> Any:
        import pandas
        import pyarrow

        from apportion._workers import batches_of
        batches = work(batches_of(pyarrow.Table.from_pandas(part, preserve_index=False)))
        parts = [batch.column("summary")[0].as_py() for batch in batches]
        return pandas.DataFrame({"summary": pandas.Series(parts, dtype=object)})

    import pandas

    meta = pandas.DataFrame({"summary": pandas.Series([], dtype=object)})
    return put_together(_computed(chosen.map_partitions(summarize_partition, meta=meta).to_delayed()))


def _computed(parts: Sequence[Any]) -> Iterator[Any]:
    """Yields the summaries in the frames of delayed parts. Only some of the parts are computed at a time, to
    limit memory use.
    """
    import dask

    for start in range(0, len(parts), 64):
        for frame in dask.compute(*parts[start : start + 64]):
            yield from frame["summary"]


def _chosen(frame: Any, explainer: BatchExplainer, summed: bool) -> tuple[Work, Any]:
    """Returns the function that workers run, and a frame with the columns that it uses."""
    imported("dask.dataframe", 'pip install "dask[dataframe]"')
    cloudpickle = imported("cloudpickle", "pip install cloudpickle")
    sample = frame._meta
    if sample.columns.nlevels > 1:
        raise UsageError(f"the columns have {sample.columns.nlevels} levels, expected 1; join the levels "
                         "into one name per column")
    if not all(isinstance(name, str) for name in sample.columns):
        raise UsageError("column names must be strings; rename the columns, e.g. with "
                         "frame.rename(columns=str)")
    return (on_workers(explainer, cloudpickle.dumps, summed), frame[explainer.columns(list(sample.columns))])


def _schema(explainer: BatchExplainer, sample: Any) -> Any:
    import pyarrow

    return explainer.schema(pyarrow.Schema.from_pandas(sample, preserve_index=False))
