"""Files that appear whole or not at all."""
import os


def write_whole(path, content):
    """Writes a file under a temporary name and renames it, so that none is left half written."""
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
