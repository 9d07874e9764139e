"""The apportion command as a function of a model file and a table, for comparisons with libraries."""
import json
import pathlib
import subprocess

import numpy as np


class Refused(Exception):
    """Raised if the command fails; the message is its error."""


class Command:
    """Runs the command `binary` on files in `directory`."""

    def __init__(self, binary, directory, rows_as="csv"):
        self.binary, self.directory, self.rows_as = str(binary), pathlib.Path(directory), rows_as

    def write(self, rows, name):
        """Writes a table or a matrix to a file; returns its path."""
        if not hasattr(rows, "columns"):
            path = self.directory / f"{name}.npy"
            np.save(path, np.asarray(rows, dtype=float))
        elif self.rows_as == "parquet":
            path = self.directory / f"{name}.parquet"
            rows.to_parquet(path, index=False)
        else:
            path = self.directory / f"{name}.csv"
            rows.to_csv(path, index=False)
        return path

    def run(self, verb, model, rows, *options):
        arguments = [self.binary, verb, "--model", str(model), "--rows", str(self.write(rows, "rows")),
                     "--threads", "1", *map(str, options)]
        done = subprocess.run(arguments, capture_output=True, text=True)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise Refused(next((line for line in lines if line.startswith("error")),
                               lines[-1]).removeprefix("error: "))
        return json.loads(done.stdout)

    def predict(self, model, rows, *options):
        """Returns predictions: rows × outputs."""
        found = self.run("predict", model, rows, *options)["predictions"]
        return np.array([entry["prediction"] for entry in found], dtype=float).reshape(len(found), -1)

    def explain(self, model, rows, *options, game="path-dependent", background=None):
        """Returns values, base values and predictions.

        Values have the shape rows × features × outputs, with --interactions
        rows × features × features × outputs.
        """
        data = [] if background is None else ["--background", self.write(background, "background")]
        found = self.run("explain", model, rows, "--game", game, *data, *options)["explanations"]
        values = np.array([entry["values"] for entry in found], dtype=float)
        predictions = np.array([entry["prediction"] for entry in found], dtype=float).reshape(len(found), -1)
        bases = np.array([entry["base"] for entry in found], dtype=float).reshape(len(found), -1)
        return values[..., None] if bases.shape[1] == 1 else values, bases, predictions


def table(lines, header):
    """Returns a Markdown table with a header and rows."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows)
