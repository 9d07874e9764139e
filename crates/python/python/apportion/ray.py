"""Explanations of a Ray dataset as another dataset, computed block by block on the workers.

>>> from apportion import ray as on_ray  # doctest: +SKIP
>>> values = on_ray.explain(dataset, model, background, keep=["id"])  # doctest: +SKIP
>>> values.write_parquet("values")  # doctest: +SKIP
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from ._batches import BatchExplainer
from ._errors import imported
from ._options import Options, named_options
from ._types import Additive, GameName, Graph, Groups, Layout, Measure, Model, Rounds, Rows, Scale
from ._workers import batch_explainer, on_workers, put_together

if TYPE_CHECKING:
    from ._summary import Summary


@named_options
def explain(
    dataset: Any,
    model: Model,
    background: Rows | None = None,
    *,
    keep: str | Sequence[str] = (),
    layout: Layout = "columns",
    interactions: bool | Literal["index"] = False,
    threads: int = 1,
    batch_size: int = 8192,
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
    """Returns the values of each row of a dataset as a dataset, computed with `map_batches`.

    dataset: a `ray.data.Dataset`. Its features are the columns that the model names, or else all columns that
        are not kept.
    model, background, and all options that are not described here: as in `apportion.Explainer`. The values of
        a row equal those of a single process, to the last bit.
    keep, layout, interactions: as in `apportion.BatchExplainer`, whose `schema` describes the results.
    threads: the number of threads of each task (default 1), which requests as many CPUs from Ray.
    batch_size: the number of rows that are explained together (default 8192).

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
    return _mapped(dataset, explainer, batch_size, summed=False)


@named_options
def summarize(
    dataset: Any,
    model: Model,
    background: Rows | None = None,
    *,
    keep: str | Sequence[str] = (),
    interactions: bool | Literal["index"] = False,
    threads: int = 1,
    batch_size: int = 8192,
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
    """Returns the `apportion.Summary` of the values of all rows of a dataset.

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
    parts = _mapped(dataset, explainer, batch_size, summed=True)
    return put_together(part["summary"] for part in parts.iter_rows())


def _mapped(dataset: Any, explainer: BatchExplainer, batch_size: int, summed: bool) -> Any:
    imported("ray.data", 'pip install "ray[data]"')
    cloudpickle = imported("ray.cloudpickle", 'pip install "ray[data]"')
    given = dataset.schema()
    if given is not None:
        # Invalid columns are reported before anything runs.
        explainer.schema(_of_arrow(given))
    work = on_workers(explainer, cloudpickle.dumps, summed)

    def explain_block(table: Any) -> Any:
        import pyarrow

        from apportion._workers import batches_of
        # A block without rows has no summary.
        found = list(work(batches_of(table)))
        if not found:
            return pyarrow.table({"summary": pyarrow.array([], pyarrow.binary())})
        return pyarrow.Table.from_batches(found)

    return dataset.map_batches(explain_block, batch_format="pyarrow", batch_size=batch_size,
                               num_cpus=explainer.explainer.threads)


def _of_arrow(schema: Any) -> Any:
    """Converts a schema of Ray to a schema of Arrow."""
    import pyarrow

    base = getattr(schema, "base_schema", schema)
    if isinstance(base, pyarrow.Schema):
        return base
    return pyarrow.schema([(name, kind if isinstance(kind, pyarrow.DataType)
                            else pyarrow.from_numpy_dtype(kind))
                           for name, kind in zip(schema.names, schema.types)])
