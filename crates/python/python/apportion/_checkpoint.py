"""Runs that survive the process: what is known of the rows that are done, in a file."""
import hashlib
import io
import json
import os
import time
import zipfile

import numpy as np

from . import _core
from ._errors import DataError, UsageError
from ._files import write_whole
from ._threads import engine

# Of each row one number, or as many as it has values or outputs.
_ARRAYS = ("rows", "values", "base", "predictions", "std_errors", "evaluations", "draws", "degrees_of_freedom")
# Seconds between two times that the file is written, and about that long a piece of work takes.
_EVERY = 2.0


class Checkpoint:
    """The rows of one request that are done. A file of another request is refused."""

    def __init__(self, path, request):
        self.path = os.fspath(path)
        self.request = hashlib.sha256(json.dumps([_core.__version__, request], sort_keys=True, default=str).encode()).hexdigest()
        self.parts, self._written = [], time.monotonic()
        folder = os.path.dirname(self.path) or "."
        if not os.access(folder, os.W_OK):
            raise UsageError(f"checkpoint: {self.path} cannot be written, as {folder} is no folder that can be written to; name a file elsewhere")
        if os.path.exists(self.path):
            self._read()

    def _read(self):
        try:
            with np.load(self.path, allow_pickle=False) as file:
                about = json.loads(bytes(file["about"]))
                part = {name: file[name] for name in file.files if name != "about"}
                request = about.pop("request")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, EOFError) as error:
            raise DataError(f"{self.path} is no checkpoint, or a damaged one ({error}); remove it to begin anew") from error
        if request != self.request:
            raise UsageError(f"{self.path} is the checkpoint of another run: of other rows, another model, other options or another version; "
                             "remove it to begin anew, or name another file")
        self.parts.append({**about, **part})

    def rest(self, count):
        """The numbers of the rows that are not done."""
        left = np.ones(count, dtype=bool)
        for part in self.parts:
            left[part["rows"]] = False
        return np.flatnonzero(left)

    def add(self, told, rows, at_once):
        """Keeps what was found of `rows`; writes it now, or when it is time."""
        told = dict(told)
        done = told.get("rows")
        if done is None:
            done = np.arange(len(rows))
            told["base"] = np.tile(told["base"], len(rows))
        if not len(done):
            return
        told["rows"] = rows[done]
        self.parts.append(told)
        if at_once or time.monotonic() - self._written > _EVERY:
            self.write()

    def write(self):
        """Writes the file, whole or not at all."""
        whole = self.joined()
        self.parts = [whole]
        about = {name: whole[name] for name in whole if name not in _ARRAYS}
        content = io.BytesIO()
        arrays = {name: whole[name] for name in _ARRAYS if whole.get(name) is not None}
        np.savez(content, about=np.frombuffer(json.dumps({**about, "request": self.request}).encode(), dtype=np.uint8), **arrays)
        write_whole(self.path, content.getvalue(), to_disk=True)
        self._written = time.monotonic()

    def joined(self):
        """All that is done, in the order of the rows."""
        parts = self.parts
        numbers = np.concatenate([part["rows"] for part in parts])
        order = np.argsort(numbers, kind="stable")
        whole = {"method": parts[0].get("method", ""), "same_as": parts[0].get("same_as"), "rows": numbers[order]}
        whole["warnings"] = list(dict.fromkeys(warning for part in parts for warning in part.get("warnings", ())))
        whole["certificates"] = [certificate for part in parts for certificate in part.get("certificates") or [None] * len(part["rows"])]
        whole["certificates"] = [whole["certificates"][place] for place in order]
        for name in _ARRAYS[1:]:
            if all(part.get(name) is None for part in parts):
                whole[name] = None
                continue
            each = [part[name] if part.get(name) is not None else np.zeros_like(part["values"]) for part in parts]
            each = [array.reshape(len(part["rows"]), -1) for array, part in zip(each, parts)]
            whole[name] = np.concatenate(each)[order].ravel()
        return whole


def run(core, rows, threads, watcher, checkpoint):
    """Explains the rows that are not done, piece by piece, and tells of all that are: as `core.explain`."""
    rest, size = checkpoint.rest(len(rows)), 1
    before = len(rows) - len(rest)
    while len(rest):
        piece, rest = rest[:size], rest[size:]
        watch = None if watcher is None else lambda done, evaluations, before=before: watcher(before + done, evaluations)
        started = time.monotonic()
        told, stopped = engine(core.explain, np.ascontiguousarray(rows[piece]), threads, watch)
        checkpoint.add(told, piece, stopped is not None or not len(rest))
        if stopped is not None:
            return (checkpoint.joined() if checkpoint.parts else told), stopped
        before += len(piece)
        if time.monotonic() - started < _EVERY / 2:
            size *= 2
    return checkpoint.joined(), None


def digest(*arrays):
    """What tells arrays apart."""
    told = hashlib.sha256()
    for array in arrays:
        told.update(b"none" if array is None else str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return told.hexdigest()
