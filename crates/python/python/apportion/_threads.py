"""Threads of the engine: one pool for each number of threads and process; where one thread is asked for, one for each thread that asks."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import atexit
import os
import threading

from . import _core

_pools = {}
# Pools of a process before it was forked: their threads are gone, and taking them down would wait for these.
_left_behind = []


def pool(threads=None):
    """The pool of so many threads, by default as `set_threads` or the environment variable `RAYON_NUM_THREADS` says."""
    count = _default if threads is None else _checked(threads)
    if count == 1:
        # Threads that ask for one each work beside each other: so engines of data run their tasks.
        if not hasattr(_own, "pool"):
            _own.pool = _core.Pool(1)
        return _own.pool
    found = _pools.get(count)
    if found is None:
        found = _pools.setdefault(count, _core.Pool(count))
    return found


def engine(work, *arguments):
    """What `work` of the engine gives, which may call functions of Python.

    A thread that nobody waits for is held here when the interpreter ends: the engine must not call what is taken down.
    """
    thread = threading.get_ident()
    with _inside:
        _inside.threads.append(thread)
    try:
        if _inside.ending in (None, thread):
            return work(*arguments)
    finally:
        with _inside:
            _inside.threads.remove(thread)
            _inside.notify_all()
        if _inside.ending not in (None, thread):
            threading.Event().wait()


def set_threads(threads):
    """Sets how many threads explain where a call does not say; 0 for as many as there are cores.

    >>> import apportion
    >>> apportion.set_threads(1)
    >>> apportion.set_threads(0)
    """
    global _default
    _default = _checked(threads)


def _checked(threads):
    if not 0 <= int(threads) <= 1024:
        from ._errors import UsageError

        raise UsageError(f"{threads} threads: give 0 to 1024, 0 for as many as there are cores")
    return int(threads)


class _Inside(threading.Condition):
    """Threads whose work the engine does, and the thread that ends the interpreter."""

    def __init__(self):
        super().__init__()
        self.threads, self.ending = [], None


def _end():
    """Waits until other threads have left the engine: until functions that are being called have come back, so long as they do so soon."""
    _inside.ending = threading.get_ident()
    _core.end()
    with _inside:
        _inside.wait_for(lambda: set(_inside.threads) <= {_inside.ending}, timeout=5)


def _forked():
    global _inside, _own
    _left_behind.append((dict(_pools), _own))
    _pools.clear()
    _inside, _own = _Inside(), threading.local()


_default = 0
_inside, _own = _Inside(), threading.local()
atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
