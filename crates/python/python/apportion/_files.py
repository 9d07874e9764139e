"""Files that appear whole or not at all."""
import os


def write_whole(path, content, *, to_disk=False):
    """Writes a file under a temporary name and renames it, so that none is left half written; with `to_disk` when it is on the disk."""
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            if to_disk:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
