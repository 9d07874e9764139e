"""Throughput and memory on Sail compared with a single process and with XGBoost's contributions on Sail.

    python benches/engines/sail.py [--rows 5000000] [--workers 2] [--folder FOLDER]

Sail is an engine that implements Spark's protocol. The model has 100 trees of depth 6, explained with the
path-dependent game and with 100 background rows; the data are a Parquet table with 12 columns. The time is
measured from the first row read to the sum of the values of one column, or to the summary of all values,
whose digest is the same for all setups. Each setup runs in a separate process and prints a line of JSON: rows
per second and core, and the peak memory of the process. The setup `pass` only sends rows to Python and back,
so the difference from it is the cost of the explanation. Needs pysail, pyspark-client, pyarrow, pandas,
xgboost, apportion.
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

FEATURES = [f"f{feature}" for feature in range(12)]
WAYS = ("pass", "one process", "one process summary", "sail summary", "sail", "sail xgboost", "sail covers",
        "one process covers")


def made(folder, rows):
    """Creates the table and the model unless they exist; returns their paths."""
    import numpy as np
    import pandas
    import pyarrow
    import pyarrow.parquet
    import xgboost

    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    model, table = folder / "model.json", folder / f"rows-{rows}.parquet"
    if not model.exists():
        data = random.normal(size=(20_000, 12))
        target = data[:, 0] * data[:, 1] + np.sin(3 * data[:, 2]) + data[:, 3:].sum(axis=1)
        booster = xgboost.XGBRegressor(n_estimators=100, max_depth=6,
                                       n_jobs=1).fit(pandas.DataFrame(data, columns=FEATURES), target)
        booster.save_model(model)
        np.save(folder / "background.npy", data[:100])
    if not table.exists():
        with pyarrow.parquet.ParquetWriter(table,
                                           pyarrow.schema([("id", pyarrow.int64()),
                                                           *((name,
                                                              pyarrow.float64())
                                                              for name in FEATURES)])) as writer:
            for start in range(0, rows, 100_000):
                count = min(100_000, rows - start)
                columns = {name: random.normal(size=count) for name in FEATURES}
                writer.write_table(pyarrow.table({"id": np.arange(start, start + count), **columns}),
                                   row_group_size=50_000)
    return model, table


def status(name):
    with open("/proc/self/status") as file:
        return 1024 * int(next(line for line in file if line.startswith(name)).split()[1])


def digest(summary):
    return hashlib.sha256(summary.to_bytes()).hexdigest()[:16]


def once(way, folder, rows, workers):
    import numpy as np
    import pyarrow.compute
    import pyarrow.parquet

    import apportion

    model, table = made(folder, rows)
    background = None if "covers" in way else np.load(folder / "background.npy")
    more = {"game": "path-dependent"} if background is None else {}
    cores = 1
    if way.startswith("one process"):
        started = time.perf_counter()
        batches = pyarrow.parquet.ParquetFile(table, pre_buffer=False).iter_batches(batch_size=8192)
        results = apportion.explain_batches(batches, str(model), background, keep="id", threads=1, **more)
        total = (digest(apportion.Summary.of(results)) if "summary" in way
                 else sum(pyarrow.compute.sum(batch.column("f0")).as_py() for batch in results))
    else:
        os.environ["SAIL_MODE"] = "local-cluster" if workers > 1 else "local"
        os.environ["SAIL_CLUSTER__WORKER_INITIAL_COUNT"] = str(workers)
        os.environ["SAIL_CLUSTER__WORKER_MAX_COUNT"] = str(workers)
        os.environ["SAIL_CLUSTER__WORKER_TASK_SLOTS"] = "1"
        os.environ["RUST_LOG"] = "error"
        from pysail.spark import SparkConnectServer
        from pyspark.sql import SparkSession

        server = SparkConnectServer("127.0.0.1", 0)
        server.start(background=True)
        session = SparkSession.builder.remote(f"sc://localhost:{server.listening_address[1]}").getOrCreate()
        frame, cores = session.read.parquet(str(table)).repartition(workers), workers
        frame.limit(1).collect()
        started = time.perf_counter()
        if way == "sail xgboost":
            payload = model.read_bytes()

            def contributions(batches):
                import numpy
                import pyarrow
                import xgboost

                booster = xgboost.Booster({"nthread": 1})
                booster.load_model(bytearray(payload))
                for batch in batches:
                    found = booster.predict(xgboost.DMatrix(numpy.column_stack([
                        batch.column(name) for name in FEATURES]), feature_names=FEATURES),
                        pred_contribs=True)
                    yield pyarrow.record_batch([batch.column("id"), *found.T.astype(float)],
                                               ["id", *FEATURES, "base"])

            values = frame.mapInArrow(contributions,
                                      "id long, " + ", ".join(f"{name} double" for name in [
                                          *FEATURES, "base"]))
        elif way == "pass":
            values = frame.mapInArrow(lambda batches: batches, frame.schema)
        elif way == "sail summary":
            from apportion import spark

            values, total = None, digest(spark.summarize(frame, str(model), background, keep="id"))
        else:
            from apportion import spark

            values = spark.explain(frame, str(model), background, keep="id", **more)
        if values is not None:
            total = values.selectExpr("sum(f0) AS total").collect()[0]["total"]
    seconds = time.perf_counter() - started
    print(json.dumps({"way": way, "rows": rows, "cores": cores, "seconds": round(seconds, 2),
                      "rows per second and core": round(rows / seconds / cores),
                      "megabytes": round(status("VmHWM") / 2**20), "total": total}), flush=True)
    # Otherwise the session waits for its server, which ends only with this process.
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("target/engines"))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--once", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        return once(asked.once, asked.folder, asked.rows, asked.workers)
    made(asked.folder, asked.rows)
    for way in asked.ways.split(","):
        subprocess.run([sys.executable, __file__, "--once", way, "--rows", str(asked.rows), "--workers",
                        str(asked.workers), "--folder", str(asked.folder)], check=True)


if __name__ == "__main__":
    main()
