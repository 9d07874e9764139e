"""Files that are written completely or not at all."""
import os

from . import _core
from ._types import Path


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file under a temporary name and renames it.

    Links are followed, and the mode and the owner of a replaced file are preserved. Devices, pipes and
    `/dev/fd/N` are written to directly.
    """
    mode = _core.write_file(os.fspath(path), content)
    if mode is not None:
        with open(path, mode) as file:
            file.write(content)
