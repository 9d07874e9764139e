"""Files that appear whole or not at all."""
import os

from . import _core


def write_whole(path, content):
    """Writes a file under a temporary name and renames it. Links are followed, the mode and the owner of a file that is replaced are kept; devices,
    pipes and `/dev/fd/N` are written to."""
    mode = _core.write_file(os.fspath(path), content)
    if mode is not None:
        with open(path, mode) as file:
            file.write(content)
