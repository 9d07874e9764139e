"""Threads of the engine: one pool for each number of threads and process."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import os

from . import _core

_pools = {}
# Pools of a process before it was forked: their threads are gone, and taking them down would wait for these.
_left_behind = []


def pool(threads=None):
    """The pool of so many threads, by default as `set_threads` or the environment variable `RAYON_NUM_THREADS` says."""
    count = _default if threads is None else threads
    found = _pools.get(count)
    if found is None:
        found = _pools.setdefault(count, _core.Pool(count))
    return found


def set_threads(threads):
    """Sets how many threads explain where a call does not say; 0 for as many as there are cores.

    >>> import apportion
    >>> apportion.set_threads(1)
    >>> apportion.set_threads(0)
    """
    global _default
    if not 0 <= int(threads) <= 1024:
        from ._errors import UsageError

        raise UsageError(f"{threads} threads: give 0 to 1024, 0 for as many as there are cores")
    _default = int(threads)


def _forked():
    _left_behind.append(dict(_pools))
    _pools.clear()


_default = 0
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
