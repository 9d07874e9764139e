"""The command `apportion` of the package; `python -m apportion explain …` is the same."""
import signal
import sys
from typing import NoReturn

from ._core import run_command


def main() -> NoReturn:
    """Runs the command with the arguments of the process, and exits with its status."""
    # The command handles Ctrl-C itself: it ends at once and keeps finished work.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_command(["apportion", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
