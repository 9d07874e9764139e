"""Explanations in DataFusion SQL, as a function of columns.

>>> from apportion import datafusion as in_sql  # doctest: +SKIP
>>> in_sql.register(context, "explain_risk", model, background)  # doctest: +SKIP
>>> context.sql("SELECT id, explain_risk(age, bmi, bp)['values']['bmi'] FROM patients")  # doctest: +SKIP
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy.typing as npt

from ._batches import BatchExplainer
from ._errors import UsageError, imported
from ._options import named_options
from ._types import Additive, GameName, Graph, Groups, Model, Rounds, Rows


@named_options
def register(
    context: Any,
    name: str,
    model: Model,
    background: Rows | None = None,
    *,
    threads: int | None = None,
    weights: npt.ArrayLike | None = None,
    value: str = "shapley",
    method: str = "auto",
    budget: int | str = "auto",
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
) -> None:
    """Registers an SQL function that explains rows.

    context: a `datafusion.SessionContext`.
    name: the name of the function. Its arguments are the features in the order of the model; for each row it
        returns a struct of `base`, `prediction` and `values`, with a field for each player. All numbers are
        lists if the model has several outputs.
    model, background, and all options that are not described here: as in `apportion.Explainer`. A model that
        does not name its features requires `feature_names`, or a background with one column per feature.
    threads: the number of threads of each call (default None: as `apportion.set_threads` specifies).

    Raises UsageError if the number of features is not known, and the errors of `apportion.Explainer`.
    """
    import pyarrow

    fusion = imported("datafusion", "pip install datafusion")

    def made(feature_names: Sequence[str] | None) -> BatchExplainer:
        explainer = BatchExplainer(
            model, background, layout="lists",
            weights=weights, value=value, method=method, budget=budget, groups=groups, graph=graph, game=game,
            model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
            rounds=rounds, check=check, kernel=kernel, precision=precision, rows=rows, draws=draws,
            bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
            keep_null_players=keep_null_players, additive=additive)
        return explainer.with_threads(threads)

    explainer = made(feature_names)
    inner = explainer.explainer
    names = inner._names or inner._wanted.names
    if names is None:
        known = None if inner._background is None else inner._background.values.shape[1]
        count = inner._wanted.count or known
        if count is None:
            raise UsageError("the number of features is unknown; pass feature_names or a background")
        names = [f"f{feature}" for feature in range(count)]
        explainer = made(names)
        inner = explainer.explainer
    # Features whose categories are stored in the model are strings.
    kinds = [pyarrow.string() if feature in inner._wanted.coded else pyarrow.float64()
             for feature in range(len(names))]
    given = pyarrow.schema(list(zip(names, kinds)))
    players, outputs, *_ = explainer._prepare(given)
    explainer.schema(given)
    number = pyarrow.list_(pyarrow.float64()) if outputs > 1 else pyarrow.float64()
    result = pyarrow.struct([("base", number), ("prediction", number),
                             ("values", pyarrow.struct([(str(player), number) for player in players]))])

    def explain(*columns: Any) -> Any:
        batch = pyarrow.RecordBatch.from_arrays(list(columns), schema=given)
        found = pyarrow.Table.from_batches(list(explainer([batch]))).combine_chunks()
        base, prediction, values = (found.column(name).combine_chunks()
                                    for name in ("base", "prediction", "values"))
        leaves = values.flatten()
        each = [leaves.take(pyarrow.array(range(place, len(leaves), len(players)), pyarrow.int64()))
                for place in range(len(players))]
        of_players = pyarrow.StructArray.from_arrays(each, fields=list(result.field("values").type))
        return pyarrow.StructArray.from_arrays([base, prediction, of_players], fields=list(result))

    context.register_udf(fusion.udf(explain, kinds, result, "immutable", name))
