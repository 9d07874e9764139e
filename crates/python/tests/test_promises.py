"""Guarantees of both the command and the Python package: no partial files, checkpoints that resume only their
own run, the same bytes on any number of threads, constant memory, prompt interrupts, and errors before the
work starts. Each test runs both on the same table, in separate processes.

`APPORTION_KILLS=20 pytest tests/test_promises.py` kills each kind of run 20 times.
"""
import functools
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals, links and descriptors")
KILLS = int(os.environ.get("APPORTION_KILLS", 2))

# A prediction program: the command sends it rows on standard input, Python imports it. It records its calls.
PROGRAM = """
import math, os, sys, time
SLOPE = 2.0
def predict(row):
    if os.environ.get("APPORTION_TEST_CALLS"):
        open(os.environ["APPORTION_TEST_CALLS"], "a").write("called\\n")
    time.sleep(float(os.environ.get("APPORTION_TEST_PAUSE", 0)))
    return SLOPE * row[0] * row[1] + math.sin(row[2]) + sum(row)
if __name__ == "__main__":
    sys.stdin.readline()
    while line := sys.stdin.readline():
        for _ in range(int(line)):
            print(repr(predict([float(cell) for cell in sys.stdin.readline().split(",")])))
        print(flush=True)
"""
# Runs the Python package with the options of a test.
SCRIPT = """
import json, sys
import numpy as np
options = json.loads(sys.argv[1])
import apportion
def table(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
rows, background = table(options["rows"]), options.get("background")
background = None if background is None else table(background)
if "program" in options:
    import importlib.util
    spec = importlib.util.spec_from_file_location("program", options["program"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = lambda rows: np.array([module.predict(row) for row in rows.tolist()])
else:
    model = options["model"]
more = {name: options[name] for name in ("value", "method", "budget", "seed", "game", "until")
        if name in options}
explainer = apportion.Explainer(model, background, threads=options.get("threads", 1), check=False, **more)
print("ready", flush=True)
found = explainer(rows, checkpoint=options.get("checkpoint"))
found.save(options["out"])
"""


# Makes several runs of either interface in one process.
AGAIN = """
import json, sys
from apportion import _core
for arguments in json.loads(sys.argv[1]):
    if arguments[0] == "apportion":
        if _core.run_command(arguments):
            sys.exit(1)
    else:
        sys.argv[1] = arguments[1]
        exec(arguments[0], {})
"""
THREADS = [1, 2, 3, 7, 1, 1]


def command(options):
    arguments = ["explain", "--rows", options["rows"], "--out", options["out"], "--threads",
                 str(options.get("threads", 1))]
    if "program" in options:
        arguments += ["--predict", f"{sys.executable} {options['program']}"]
    else:
        arguments += ["--model", options["model"]]
    for name in ("background", "value", "method", "budget", "seed", "game", "until"):
        if name in options:
            arguments += [f"--{name}", str(options[name])]
    if "checkpoint" in options:
        arguments += ["--checkpoint", options["checkpoint"], "--checkpoint-every", "0"]
        if os.path.exists(options["checkpoint"]):
            arguments += ["--resume", options["checkpoint"]]
    return [sys.executable, "-m", "apportion", *arguments]


def python(options):
    return [sys.executable, "-c", SCRIPT, json.dumps(options)]


DOORS = {"command": command, "python": python}
both = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)


@pytest.fixture
def place(tmp_path):
    """A directory with rows, a background, a program, and a model of trees."""
    rng = np.random.default_rng(8)
    for name, count in (("rows", 12), ("background", 20), ("many", 2000)):
        np.savetxt(tmp_path / f"{name}.csv", rng.normal(size=(count, 8)), delimiter=",",
                   header=",".join("abcdefgh"), comments="")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "trees.json").write_bytes(forest(rng, 60, 6))
    (tmp_path / "out").mkdir()
    return tmp_path


def forest(rng, count, depth):
    """Returns a model of full trees with random splits."""
    def tree():
        inner = 2**depth - 1
        nodes = 2 * inner + 1
        split = np.arange(nodes) < inner
        cover = np.zeros(nodes)
        cover[inner:] = rng.integers(1, 50, size=nodes - inner)
        for node in range(inner - 1, -1, -1):
            cover[node] = cover[2 * node + 1] + cover[2 * node + 2]
        return {"left": np.where(split, 2 * np.arange(nodes) + 1, -1).tolist(),
                "right": np.where(split, 2 * np.arange(nodes) + 2, -1).tolist(),
                "feature": np.where(split, rng.integers(8, size=nodes), 0).tolist(),
                "threshold": np.where(split, rng.normal(size=nodes), 0).tolist(),
                "value": np.where(split, 0, rng.normal(size=nodes)).tolist(), "cover": cover.tolist()}

    return json.dumps({"format": "apportion-trees", "version": 1, "width": "double", "features": 8,
                       "feature_names": list("abcdefgh"), "base_margins": [0.5],
                       "operator": "<=", "trees": [tree() for _ in range(count)]}).encode()


def run(door, options, **more):
    return subprocess.run(door(options), capture_output=True, text=True, timeout=300, **more)


def of_trees(place, **more):
    return {"model": str(place / "trees.json"), "rows": str(place / "rows.csv"),
            "background": str(place / "background.csv"), "out": str(place / "out" / "o.json"), **more}


def of_program(place, **more):
    program = {"program": str(place / "program.py"), "rows": str(place / "rows.csv"),
               "background": str(place / "background.csv")}
    return {**program, "out": str(place / "out" / "o.json"), "method": "permutation", "budget": 60, **more}


def kill_at_random(process, took, rng):
    time.sleep(1.05 * took * rng.random())
    process.kill()
    process.wait()


# No partial files.


@both
def test_a_killed_run_leaves_the_file_as_it_was_or_whole_and_the_next_clears_up(door, place):
    options, rng = of_trees(place, rows=str(place / "many.csv")), np.random.default_rng(0)
    started = time.monotonic()
    assert run(door, options).returncode == 0
    took, out = time.monotonic() - started, pathlib.Path(options["out"])
    whole = out.read_bytes()
    for kill in range(KILLS):
        before = b"before" if kill % 2 == 0 else None
        out.write_bytes(before) if before else out.unlink()
        kill_at_random(subprocess.Popen(door(options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
                       took, rng)
        assert (out.read_bytes() if out.exists() else None) in (before, whole)
        assert run(door, options).returncode == 0
        assert out.read_bytes() == whole and [entry.name for entry in out.parent.iterdir()] == ["o.json"]


@both
def test_links_modes_and_descriptors_are_kept(door, place):
    options = of_trees(place)
    assert run(door, options).returncode == 0
    whole = pathlib.Path(options["out"]).read_bytes()
    target, link = place / "target.json", place / "out" / "link.json"
    target.write_text("before")
    target.chmod(0o600)
    link.symlink_to(target)
    assert run(door, {**options, "out": str(link)}).returncode == 0
    assert link.is_symlink() and target.read_bytes() == whole and target.stat().st_mode & 0o777 == 0o600
    fifo = place / "out" / "fifo"
    os.mkfifo(fifo)
    process = subprocess.Popen(door({**options, "out": str(fifo)}), stdout=subprocess.DEVNULL)
    assert fifo.read_bytes() == whole and process.wait(60) == 0 and fifo.is_fifo()
    with open(place / "descriptor", "wb") as file:
        file.write(b"first ")
        file.flush()
        process = subprocess.Popen(door({**options, "out": f"/dev/fd/{file.fileno()}"}),
                                   pass_fds=[file.fileno()], stdout=subprocess.DEVNULL)
        assert process.wait(60) == 0
    assert (place / "descriptor").read_bytes() == b"first " + whole


# Checkpoints.


def another_model(place):
    model = json.loads((place / "trees.json").read_bytes())
    cover = model["trees"][0]["cover"]
    # Changes only the cover of two leaves, and thus no prediction.
    cover[-1], cover[-2] = cover[-1] + 1, cover[-2] - 1
    (place / "trees.json").write_text(json.dumps(model))


def another_background(place):
    text = (place / "background.csv").read_text().splitlines()
    (place / "background.csv").write_text("\n".join([*text[:-1], text[-2]]) + "\n")


def another_row(place):
    text = (place / "rows.csv").read_text().splitlines()
    (place / "rows.csv").write_text("\n".join([*text[:-1], text[1]]) + "\n")


def another_program(place):
    (place / "program.py").write_text(PROGRAM.replace("SLOPE = 2.0", "SLOPE = 2.5"))


CHANGES = {
    "covers": (of_trees, another_model, {}),
    "background": (of_program, another_background, {}),
    "rows": (of_program, another_row, {}),
    "program": (of_program, another_program, {}),
    "seed": (of_program, None, {"seed": 1}),
    "value": (functools.partial(of_program, method="monte-carlo"), None, {"value": "banzhaf"}),
    "budget": (of_program, None, {"budget": 80}),
    "method": (of_program, None, {"method": "leverage-shap"}),
    "game": (of_trees, None, {"game": "path-dependent"}),
}


@both
@pytest.mark.parametrize("change", CHANGES)
def test_a_checkpoint_of_another_run_is_refused(door, change, place):
    task, edit, options = CHANGES[change]
    given = task(place, checkpoint=str(place / "run"))
    first = run(door, given)
    assert first.returncode == 0, first.stderr
    before, out = (place / "run").read_bytes(), pathlib.Path(given["out"])
    out.unlink()
    if edit is not None:
        edit(place)
    refused = run(door, {**given, **options})
    assert refused.returncode != 0 and "belongs to a different run" in refused.stderr, refused.stderr
    assert (place / "run").read_bytes() == before and not out.exists()


@both
def test_a_program_that_changed_without_its_file_is_refused(door, place):
    (place / "constants.py").write_text("SLOPE = 2.0")
    (place / "program.py").write_text(PROGRAM.replace(
        "SLOPE = 2.0", f"sys.path.insert(0, {str(place)!r}); from constants import SLOPE"))
    given = of_program(place, checkpoint=str(place / "run"))
    assert run(door, given).returncode == 0
    (place / "constants.py").write_text("SLOPE = 2.5 # ")
    refused = run(door, given)
    assert refused.returncode != 0 and "belongs to a different" in refused.stderr, refused.stderr


@both
def test_runs_that_are_killed_again_and_again_go_on_to_the_same_bytes(door, place):
    options = of_program(place, checkpoint=str(place / "run"))
    environment = {**os.environ, "APPORTION_TEST_PAUSE": "0.0002"}
    whole = run(door, {**options, "out": str(place / "whole.json"), "checkpoint": str(place / "other")})
    assert whole.returncode == 0, whole.stderr
    rng = np.random.default_rng(1)
    for _ in range(KILLS):
        kill_at_random(subprocess.Popen(door(options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=environment), 2, rng)
    last = run(door, options)
    assert last.returncode == 0, last.stderr
    assert pathlib.Path(options["out"]).read_bytes() == (place / "whole.json").read_bytes()


@both
def test_a_checkpoint_that_another_process_uses_is_refused(door, place):
    options = of_program(place, checkpoint=str(place / "run"))
    slow = subprocess.Popen(door(options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            env={**os.environ, "APPORTION_TEST_PAUSE": "0.02"})
    try:
        while not (place / "run").exists() and slow.poll() is None:
            time.sleep(0.02)
        second = run(door, {**options, "out": str(place / "second.json")})
        assert (slow.poll() is None and second.returncode != 0
                and "is in use by another run" in second.stderr), second.stderr
    finally:
        slow.kill()
        slow.wait()


# Identical bytes.


@both
@pytest.mark.parametrize("task, more", [(of_trees, {}), (of_trees, {"method": "leverage-shap"})],
                         ids=["trees", "sampled"])
def test_the_bytes_are_the_same_on_any_number_of_threads_under_load(door, task, more, place):
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        rows = str(place / ("many.csv" if "method" not in more else "rows.csv"))
        runs = [task(place, rows=rows, **more, threads=threads,
                     out=str(place / "out" / f"{run}.json")) for run, threads in enumerate(THREADS)]
        done = subprocess.run([sys.executable, "-c", AGAIN,
                               json.dumps([door(options)[2:] for options in runs])], capture_output=True,
                               text=True)
        assert done.returncode == 0, done.stderr
        assert len({pathlib.Path(options["out"]).read_bytes()
                    for options in runs}) == 1 and len(runs) == len(THREADS)
    finally:
        for process in load:
            process.kill()
            process.wait()


# Memory.


@both
def test_memory_does_not_grow_with_what_was_explained_before(door, place):
    """Compares the memory of a run with that of a run on an eighth of its rows. Only the results themselves
    are kept.
    """
    def peak(count):
        text = (place / "many.csv").read_text().splitlines()
        (place / "some.csv").write_text("\n".join(text[: count + 1]) + "\n")
        process = subprocess.Popen(door(of_trees(place, rows=str(place / "some.csv"))),
                                   stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        return usage.ru_maxrss * 1024

    rows, values = 1750, 8
    # The bound covers rows, values and inputs, as numbers and as text, some of them twice.
    assert peak(2000) - peak(250) < rows * values * 400 + 2**23


# Interrupts.


@both
@pytest.mark.parametrize("checkpoint", [False, True])
def test_an_interrupt_ends_a_run_and_keeps_what_it_has(door, checkpoint, place):
    more = {"checkpoint": str(place / "run")} if checkpoint else {}
    process = subprocess.Popen(door(of_program(place, budget=250, **more)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "APPORTION_TEST_PAUSE": "0.01",
                                    "APPORTION_TEST_CALLS": str(place / "calls")})
    while not (place / "calls").exists() or checkpoint and not (place / "run").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0 and not os.path.exists(place / "out" / "o.json"), errors
    assert not checkpoint or json.loads((place / "run").read_text())["request"]
    assert "KeyboardInterrupt" in errors or door is command


# Refusals.


@both
@pytest.mark.parametrize("name", ["missing/run", "directory", "x" * 300, "loop", "file/run"])
def test_what_cannot_be_written_is_refused_before_any_work(door, name, place):
    (place / "directory").mkdir()
    (place / "file").write_text("")
    (place / "loop").symlink_to(place / "loop")
    for option in ("checkpoint", "out") if door is command else ("checkpoint",):
        options = of_program(place, **{option: str(place / name)})
        environment = {**os.environ, "APPORTION_TEST_CALLS": str(place / "calls")}
        refused = run(door, options, env=environment)
        assert refused.returncode != 0 and refused.stderr.count("Traceback") <= 1, refused.stderr
        assert refused.stderr.strip().splitlines()[-1].count(name[:20]), refused.stderr
        calls = (place / "calls").read_text().count("called") if (place / "calls").exists() else 0
        # In Python, the explainer determines its output with two calls of eight rows when it is created.
        assert calls <= (0 if door is command else 16)
        (place / "calls").unlink(missing_ok=True)


def test_a_limit_of_file_sizes_leaves_no_part_of_a_file(place):
    """Both interfaces report the error and leave no file."""
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    for door in DOORS.values():
        failed = subprocess.run(door(of_trees(place, rows=str(place / "many.csv"))), capture_output=True,
                                text=True, preexec_fn=limited)
        assert failed.returncode not in (0,
                                         -signal.SIGXFSZ) and "File too large" in failed.stderr, failed.stderr
        assert list((place / "out").iterdir()) == []


def test_standard_output_that_is_closed_is_an_error(place):
    options = of_trees(place)
    arguments = [argument for argument in command(options) if argument not in ("--out", options["out"])]
    closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *arguments], capture_output=True, text=True)
    assert closed.returncode == 1 and "standard output is closed" in closed.stderr, closed.stderr
