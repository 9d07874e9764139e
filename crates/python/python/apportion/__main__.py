"""The command `apportion`, as the package brings it: `python -m apportion explain …` is the same."""
import signal
import sys

from ._core import run_command


def main():
    """Runs the command with the arguments of the process, and ends as it does."""
    # The command has its own way to end at once, and to keep what is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_command(["apportion", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
