"""Data engines: the same bytes as in one process for any partitions, also after a worker was killed, and with
the error messages of the package.
"""
import os
import signal
import time

import numpy as np
import pytest

import apportion

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
NAMES = [f"f{feature}" for feature in range(6)]


def bent(rows):
    return np.tanh(rows @ np.arange(1.0, 7.0)) + rows[:, 0] * rows[:, 1]


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(5)
    frame = pandas.DataFrame(random.normal(size=(3000, 6)), columns=NAMES)
    frame.insert(0, "id", np.arange(3000))
    frame["word"] = np.where(frame.f0 > 0, "up", "down")
    return frame


@pytest.fixture(scope="module")
def trees(rows):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(n_estimators=30, max_depth=4, n_jobs=1)
    return model.fit(rows[NAMES], rows.f0 * rows.f1 + rows.f2)


@pytest.fixture(scope="module")
def background(rows):
    return rows[NAMES].to_numpy()[:40]


def here(frame, *asked, **more):
    """Explains in this process."""
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    return pyarrow.Table.from_batches(list(apportion.explain_batches(table, *asked, **more))).to_pandas()


def summary_here(frame, *asked, **more):
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    return apportion.summarize(table, *asked, **more)


def same(found, wanted):
    found = found.sort_values("id", kind="stable").reset_index(drop=True)
    assert list(found.columns) == list(wanted.columns)
    for name in wanted.columns:
        left, right = found[name].to_numpy(), wanted[name].to_numpy()
        if left.dtype.kind == "f":
            assert left.tobytes() == right.tobytes(), name
        else:
            assert left.tolist() == right.tolist(), name


@pytest.fixture(scope="module")
def sail():
    """A server for the Spark Connect protocol in this process."""
    sail = pytest.importorskip("pysail.spark")
    sql = pytest.importorskip("pyspark.sql")
    server = sail.SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    session = sql.SparkSession.builder.remote(f"sc://localhost:{server.listening_address[1]}").getOrCreate()
    yield session
    session.stop()
    server.stop()


def test_spark_has_the_bytes_of_one_process(sail, rows, trees, background):
    from apportion import spark

    wanted = here(rows, trees, background, keep=["id", "word"])
    for parts in (1, 2, 5):
        found = spark.explain(sail.createDataFrame(rows).repartition(parts), trees, background,
                              keep=["id", "word"])
        assert [field.name for field in found.schema.fields][:4] == ["id", "word", "base", "prediction"]
        same(found.toPandas(), wanted)
        summary = spark.summarize(sail.createDataFrame(rows).repartition(parts), trees, background,
                                  keep=["id", "word"])
        assert summary.to_bytes() == summary_here(rows, trees, background, keep=["id", "word"]).to_bytes()
    asked = dict(keep="id", until=0.1, method="leverage-shap", feature_names=NAMES)
    few = rows.drop(columns="word")[:60]
    found = spark.explain(sail.createDataFrame(few).repartition(3), bent, background[:2], **asked).toPandas()
    assert set(found.stopped_by) == {"tolerance"}
    same(found, here(few, bent, background[:2], **asked))
    lists = spark.explain(sail.createDataFrame(few), trees, background, keep="id", layout="lists").collect()
    assert len(lists[0]["values"]) == 6


def test_spark_says_what_is_wrong_once(sail, rows, trees, background):
    from apportion import spark

    frame = sail.createDataFrame(rows[:50]).repartition(2)
    with pytest.raises(apportion.DataError, match='1 of the . features of the model is missing .*"f3"'):
        spark.explain(frame.drop("f3"), trees, background, keep="id")
    with pytest.raises(apportion.DataError, match='unknown column "no" in keep'):
        spark.explain(frame, trees, background, keep="no")
    with pytest.raises(Exception, match="contains 'up'|contains 'down'") as said:
        spark.explain(frame.drop("f3").withColumnRenamed("word", "f3"), trees, background,
                      keep="id").toPandas()
    assert str(said.value).count("DataError: ") == 1


def test_what_a_worker_lacks_is_said_in_our_words(monkeypatch):
    cloudpickle = pytest.importorskip("cloudpickle")
    from apportion import _workers

    explainer = apportion.BatchExplainer(bent, np.zeros((1, 6)))
    work = _workers.on_workers(explainer, cloudpickle.dumps)
    sent = cloudpickle.dumps(work)
    assert len(sent) < 20_000
    assert list(cloudpickle.loads(sent)(iter(()))) == []
    with pytest.raises(apportion.UsageError, match="but the task was sent by apportion 0.0.0"):
        _workers.made(b"", "", "0.0.0")
    says = "cannot read the model on this worker .ModuleNotFoundError.*install the libraries"
    with pytest.raises(apportion.ModelError, match=says):
        _workers.made(b"cnot_there_at_all\nModel\n.", "other", apportion.__version__)
    import sys

    monkeypatch.setitem(sys.modules, "apportion", None)
    with pytest.raises(ImportError, match="not installed on this worker .*install apportion 0"):
        list(work(iter(())))


def test_no_row_of_a_table_in_several_arrays_is_lost():
    from apportion import _workers

    table = pyarrow.table({"a": [1.0, 2.0, 3.0]})
    assert [batch.num_rows for batch in _workers.batches_of(table)] == [3]
    assert [batch.num_rows for batch in _workers.batches_of(table.slice(0, 0))] == [0]

    class Large:
        # Imitate a table whose strings do not fit into one array.
        schema = table.schema

        def combine_chunks(self):
            return pyarrow.concat_tables([table.slice(0, 2), table.slice(2)])

    assert sum(batch.num_rows for batch in _workers.batches_of(Large())) == 3


def test_a_process_makes_an_explainer_once():
    cloudpickle = pytest.importorskip("cloudpickle")
    from apportion import _workers

    sent = cloudpickle.dumps(apportion.BatchExplainer(bent, np.zeros((1, 6))))
    first = _workers.made(sent, "one", apportion.__version__)
    assert _workers.made(sent, "one", apportion.__version__) is first
    for other in range(_workers.MOST_MADE):
        _workers.made(sent, f"other {other}", apportion.__version__)
    assert _workers.made(sent, "one", apportion.__version__) is not first


def test_dask_has_the_bytes_of_one_process_also_after_a_worker_is_killed(rows, trees, background):
    frames = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    from apportion import dask

    wanted = here(rows, trees, background, keep=["id", "word"])
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        for parts in (1, 4):
            indexed = rows.set_index((rows.id * 2).rename("key"))
            found = dask.explain(frames.from_pandas(indexed, npartitions=parts), trees, background,
                                 keep=["id", "word"])
            computed = found.compute()
            assert list(found.dtypes) == list(computed.dtypes)
            assert computed.index.tolist() == [2 * number for number in range(3000)]
            same(computed, wanted)
            summary = dask.summarize(frames.from_pandas(rows, npartitions=parts), trees, background,
                                     keep=["id", "word"])
            assert summary == summary_here(rows, trees, background, keep=["id", "word"])
        # Some partitions have no rows.
        last = frames.from_pandas(rows, npartitions=4)
        last = last[last.id > 2900]
        same(dask.explain(last, trees, background, keep=["id", "word"]).compute(),
             here(rows[rows.id > 2900], trees, background, keep=["id", "word"]))
        assert dask.summarize(last, trees, background, keep=["id", "word"]).rows == 99
        few = rows.drop(columns="word")[:60]
        asked = dict(keep="id", method="leverage-shap", budget=30, feature_names=NAMES)
        future = client.compute(dask.explain(frames.from_pandas(few, npartitions=6), slow, background[:2],
                                             **asked))
        asked_of, end = {}, time.monotonic() + 60
        while not any(asked_of.values()) and time.monotonic() < end:
            asked_of = client.run(lambda: os.environ.get("APPORTION_ASKED"))
        victim = next(client.run(os.getpid, workers=[worker])[worker] for worker, asks in asked_of.items()
                      if asks)
        os.kill(victim, signal.SIGKILL)
        same(future.result(timeout=100), here(few, bent, background[:2], **asked))


def slow(rows):
    """Same as `bent`, but slower; records in an environment variable that it was called."""
    os.environ["APPORTION_ASKED"] = "yes"
    time.sleep(0.02)
    return bent(rows)


def test_ray_has_the_bytes_of_one_process(rows, trees, background):
    # Ray takes half a minute to start, so the test extra does not install it: pip install "ray[data]".
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    from apportion import ray as on_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        wanted = here(rows, trees, background, keep=["id", "word"])
        for parts in (1, 5):
            dataset = ray.data.from_pandas(rows).repartition(parts)
            same(on_ray.explain(dataset, trees, background, keep=["id", "word"], batch_size=700).to_pandas(),
                 wanted)
        summary = on_ray.summarize(dataset, trees, background, keep=["id", "word"])
        assert summary == summary_here(rows, trees, background, keep=["id", "word"])
        with pytest.raises(apportion.DataError, match='1 of the . features of the model is missing .*"f3"'):
            on_ray.explain(ray.data.from_pandas(rows.drop(columns="f3")), trees, background, keep="id")
    finally:
        ray.shutdown()


def test_sql_of_datafusion_has_the_bytes_of_one_process(rows, trees, background, booster, frame):
    fusion = pytest.importorskip("datafusion")
    from apportion import datafusion

    for partitions, size in ((1, 8192), (3, 100)):
        settings = fusion.SessionConfig().with_target_partitions(partitions).with_batch_size(size)
        context = fusion.SessionContext(settings)
        table = pyarrow.Table.from_pandas(rows, preserve_index=False)
        context.register_record_batches("t", [table.to_batches(max_chunksize=700)])
        datafusion.register(context, "explain_row", trees, background)
        names = ", ".join(NAMES)
        told = context.sql(f"SELECT id, explain_row({names}) AS e FROM t ORDER BY id").to_arrow_table()
        values = told["e"].combine_chunks()
        values = values if isinstance(values, pyarrow.StructArray) else values.chunk(0)
        wanted = here(rows, trees, background, keep=["id", "word"])
        for name in ("base", "prediction"):
            assert np.asarray(values.field(name)).tobytes() == wanted[name].to_numpy().tobytes()
        for name in NAMES:
            found = np.asarray(values.field("values").field(name))
            assert found.tobytes() == wanted[name].to_numpy().tobytes()
        mean = context.sql(f"SELECT avg(abs(explain_row({names})['values']['f1'])) AS m FROM t").to_pydict()
        assert mean["m"][0] > 0
        with pytest.raises(Exception, match="explain_row"):
            context.sql("SELECT explain_row(f0) FROM t").collect()
    # Test categories, a model with several outputs, and a function.
    given, target = frame
    numbered = given.assign(colour=given.colour.astype(str), row=range(len(given)))
    context.register_record_batches("words",
                                    [pyarrow.Table.from_pandas(numbered, preserve_index=False).to_batches()])
    datafusion.register(context, "of_words", booster, given[:20])
    found = context.sql("SELECT of_words(size, colour, rooms, CAST(new AS DOUBLE))['values']['colour'] AS c "
                        "FROM words ORDER BY row").to_pydict()["c"]
    assert np.allclose(found, apportion.explain(booster, given, given[:20]).values[:, 1])
    datafusion.register(context, "of_function",
                        lambda numbers: np.column_stack([numbers[:, 0], 2 * numbers[:, 1]]), np.zeros((1, 2)))
    query = "SELECT of_function(rooms, size)['values']['f1'][2] - 2 * size AS d FROM words"
    found = context.sql(query).to_pydict()["d"]
    assert np.allclose(found, 0, atol=1e-12)
    with pytest.raises(apportion.UsageError, match="unknown option 'until' of register"):
        datafusion.register(context, "f", trees, background, until=0.1)
