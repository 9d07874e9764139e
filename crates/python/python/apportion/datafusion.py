"""Explanations in the SQL of DataFusion: a function over columns.

>>> from apportion import datafusion as in_sql  # doctest: +SKIP
>>> in_sql.register(context, "explain_risk", model, background)  # doctest: +SKIP
>>> context.sql("SELECT id, explain_risk(age, bmi, bp)['values']['bmi'] FROM patients")  # doctest: +SKIP
"""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
from ._batches import BatchExplainer
from ._errors import UsageError, imported


def register(context, name, model, background=None, *, threads=None, **more):
    """Gives the SQL of a session context a function of that name: of the features in the order of the model, and for each row a struct of `base`,
    `prediction` and `values`, which has a field for each player; of several outputs lists.

    context: a `datafusion.SessionContext`.
    model, background, and further options: as of `apportion.Explainer`. Models that do not name their features want `feature_names`, or a background, by which
        they are counted.
    threads: of each call; by default all share those of the process.
    """
    import pyarrow

    fusion = imported("datafusion", "pip install datafusion")
    if more.get("keep"):
        raise UsageError("keep: a query selects what it wants beside the function; leave it out")
    if more.get("until") is not None or more.get("interactions"):
        raise UsageError("until and interactions are of explain_batches; the function gives values alone: leave them out")
    explainer = BatchExplainer(model, background, layout="lists", **more).with_threads(threads)
    inner = explainer.explainer
    names = inner._names or inner._wanted.names
    if names is None:
        count = inner._wanted.count or (None if inner._background is None else inner._background.values.shape[1])
        if count is None:
            raise UsageError("how many columns the function has is not known: give feature_names, or a background")
        names = [f"f{feature}" for feature in range(count)]
        explainer = BatchExplainer(model, background, layout="lists", feature_names=names, **more).with_threads(threads)
        inner = explainer.explainer
    # Words come where the model knows the categories of a feature.
    kinds = [pyarrow.string() if feature in inner._wanted.coded else pyarrow.float64() for feature in range(len(names))]
    given = pyarrow.schema(list(zip(names, kinds)))
    players, outputs, *_ = explainer._prepare(given)
    explainer.schema(given)
    number = pyarrow.list_(pyarrow.float64()) if outputs > 1 else pyarrow.float64()
    result = pyarrow.struct([("base", number), ("prediction", number), ("values", pyarrow.struct([(str(player), number) for player in players]))])

    def explain(*columns):
        found = pyarrow.Table.from_batches(list(explainer([pyarrow.RecordBatch.from_arrays(list(columns), schema=given)]))).combine_chunks()
        base, prediction, values = (found.column(name).combine_chunks() for name in ("base", "prediction", "values"))
        leaves = values.flatten()
        each = [leaves.take(pyarrow.array(range(place, len(leaves), len(players)), pyarrow.int64())) for place in range(len(players))]
        of_players = pyarrow.StructArray.from_arrays(each, fields=list(result.field("values").type))
        return pyarrow.StructArray.from_arrays([base, prediction, of_players], fields=list(result))

    context.register_udf(fusion.udf(explain, kinds, result, "immutable", name))
