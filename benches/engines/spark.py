"""Apache Spark with two executors: the same bytes as in one process, even if an executor is killed.

    python benches/engines/spark.py [--rows 400000]

Needs a JVM, pyspark, pyarrow, pandas, xgboost and apportion in one environment. Runs Spark in local-cluster
mode, with a master and two executors in separate processes. One executor gets SIGKILL while rows are
explained, and Spark reruns its tasks. Compares attributions for trees, summaries, and certificates for a
function; prints each comparison, and exits with an error if bytes differ.
"""
import argparse
import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet

import apportion
from apportion import spark

FEATURES = [f"f{feature}" for feature in range(12)]


def bent(rows):
    return np.tanh(rows @ np.linspace(-1, 1, 12)) + rows[:, 0] * rows[:, 1]


def digest(frame):
    """Returns a digest of all bytes of a frame, with rows sorted by ID."""
    frame = frame.sort_values("id").reset_index(drop=True)
    whole = hashlib.sha256()
    for name in frame.columns:
        column = frame[name].to_numpy()
        whole.update(column.tobytes() if column.dtype.kind in "fi" else repr(column.tolist()).encode())
    return whole.hexdigest()[:16]


def executors():
    """Returns the process IDs of the executors."""
    listed = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True,
                            check=False).stdout
    return [int(line) for line in listed.split()]


def kill_one(after):
    time.sleep(after)
    found = executors()
    os.kill(found[0], signal.SIGKILL)
    print(f"killed executor {found[0]} of {len(found)} after {after} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400_000)
    rows = parser.parse_args().rows
    from pyspark.sql import SparkSession
    import xgboost

    os.environ["PYSPARK_PYTHON"] = sys.executable
    random = np.random.default_rng(0)
    table = pandas.DataFrame(random.normal(size=(rows, 12)), columns=FEATURES)
    table.insert(0, "id", np.arange(rows))
    few = table[:20_000]
    known = xgboost.DMatrix(few[FEATURES], few.f0 * few.f1 + np.sin(3 * few.f2))
    model = xgboost.train({"max_depth": 6, "nthread": 1}, known, 100)
    background = few[FEATURES].to_numpy()[:100]
    arrow = pyarrow.Table.from_pandas(table, preserve_index=False)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.parquet"
        pyarrow.parquet.write_table(arrow, path, row_group_size=rows // 16)
        session = (SparkSession.builder.master("local-cluster[2,1,1024]")
                   .config("spark.sql.files.maxPartitionBytes", str(path.stat().st_size // 16))
                   .config("spark.executor.memory", "1g").config(
                       "spark.ui.enabled", "false").config("spark.ui.showConsoleProgress",
                                                           "false").config("spark.task.maxFailures", "8")
                   .config("spark.sql.shuffle.partitions", "8").getOrCreate())
        session.sparkContext.setLogLevel("ERROR")
        frame = session.read.parquet(str(path))
        wanted = pyarrow.Table.from_batches(list(apportion.explain_batches(
            arrow, model, background, keep="id"))).to_pandas()
        summary = apportion.Summary.of(apportion.explain_batches(arrow, model, background, keep="id"))
        problems = []

        def compare(what, found, expected, started):
            same = found == expected
            print(f"{what}: {'the same bytes' if same else 'DIFFERENT BYTES'} as one process ({expected}), "
                  f"{time.perf_counter() - started:.1f} s", flush=True)
            if not same:
                problems.append(what)

        started = time.perf_counter()
        compare("trees", digest(spark.explain(frame, model, background, keep="id").toPandas()),
                digest(wanted), started)
        threading.Thread(target=kill_one, args=(2.0,), daemon=True).start()
        started = time.perf_counter()
        compare("trees, an executor killed",
                digest(spark.explain(frame.repartition(40), model, background, keep="id").toPandas()),
                digest(wanted), started)
        threading.Thread(target=kill_one, args=(2.0,), daemon=True).start()
        started = time.perf_counter()
        found = spark.summarize(frame.repartition(40), model, background, keep="id")
        compare("summary, an executor killed", hashlib.sha256(found.to_bytes()).hexdigest()[:16],
                hashlib.sha256(summary.to_bytes()).hexdigest()[:16], started)
        asked = dict(keep="id", method="leverage-shap", until=0.05, feature_names=FEATURES)
        some = table[:2000]
        own = pyarrow.Table.from_batches(list(apportion.explain_batches(pyarrow.Table.from_pandas(
            some, preserve_index=False), bent, background[:5], **asked))).to_pandas()
        threading.Thread(target=kill_one, args=(2.0,), daemon=True).start()
        started = time.perf_counter()
        got = spark.explain(session.createDataFrame(some).repartition(16), bent, background[:5],
                            **asked).toPandas()
        compare(f"a function with tolerance 5%, an executor killed: {dict(got.stopped_by.value_counts())}",
                digest(got), digest(own), started)
        stream = session.readStream.schema(frame.schema).parquet(folder)
        started = time.perf_counter()
        query = (spark.explain(stream, model, background, keep="id").writeStream
                 .format("memory").queryName("streamed").trigger(availableNow=True).start())
        query.awaitTermination()
        compare("trees of a stream", digest(session.table("streamed").toPandas()), digest(wanted), started)
        session.stop()
    sys.exit(f"other bytes: {problems}" if problems else 0)


if __name__ == "__main__":
    main()
