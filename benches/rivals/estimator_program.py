"""The protocol of estimator programs (docs/laboratory.md), for the adapters of other libraries.

An adapter estimates the values of one game after another, until its input ends. Coalitions that the library
requests repeatedly are evaluated and counted once, so that all libraries spend the same number of distinct
evaluations. Each process uses one thread, since the laboratory runs as many processes as there are cores:
import this module before the library.
"""
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import contextlib
import json
import sys
import warnings

import numpy as np


class Refused(Exception):
    """The library does not support the number of players or the budget."""


class Game:
    """The game of a task: a function of coalitions (rows of zeros and ones) that returns their values."""

    def __init__(self, players, budget, seed):
        self.players, self.budget, self.seed = players, budget, seed
        self._known, self._output = {}, sys.stdout

    def __call__(self, coalitions):
        rows = np.atleast_2d(np.asarray(coalitions)) > 0.5
        keys = ["".join("01"[member] for member in row) for row in rows.astype(int).tolist()]
        missing = [key for key in dict.fromkeys(keys) if key not in self._known]
        if missing:
            self.write({"coalitions": missing})
            values = json.loads(sys.stdin.readline())["values"]
            self._known.update(zip(missing, values, strict=True))
        return np.array([self._known[key] for key in keys])

    def write(self, message):
        print(json.dumps(message), file=self._output, flush=True)


def run(estimate):
    """Calls `estimate` with the game of each task, and writes the result: one number for each player."""
    warnings.simplefilter("ignore")
    for task in sys.stdin:
        game = Game(**json.loads(task))
        # Libraries print to standard output, which must contain nothing but the protocol.
        with contextlib.redirect_stdout(sys.stderr):
            try:
                values = np.asarray(estimate(game), dtype=float).ravel()
            except Refused as reason:
                game.write({"refused": str(reason)})
            else:
                game.write({"estimate": values.tolist()})
