"""Threads of the engine: one pool for each number of threads and process; where one thread is asked for, one for each thread that asks."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import atexit
import operator
import os
import threading

import numpy as np

from . import _checks, _core
from ._errors import UsageError

# Pools by their numbers of threads, the last one used last. Besides the default one only the last is kept: idle pools hold their threads.
_MAX_OTHERS = 1
_MAX_THREADS = 1024
# Pools of a process before it was forked: their threads are gone, and taking them down would wait for these.
_left_behind = []


def pool(threads=None):
    """Returns the pool with this number of threads, by default as `set_threads` or the environment variable `RAYON_NUM_THREADS` specifies.

    One that is dropped here ends its threads when the last call that uses it returns.
    """
    count = _default if threads is None else checked(threads)
    if count == 1:
        # Threads that ask for one each work beside each other: so engines of data run their tasks. It ends with its thread.
        if not hasattr(_own, "pool"):
            _own.pool = _core.Pool(1)
        return _own.pool
    with _changing:
        found = _pools.pop(count, None)
        if found is None:
            found = _core.Pool(count)
        _pools[count] = found
        others = [other for other in _pools if other != _default]
        for other in others[: max(0, len(others) - _MAX_OTHERS)]:
            _pools.pop(other, None)
    return found


def generation():
    """Returns a number that changes when the process is forked while another thread is in the engine.

    What is kept for the next call may be locked by that thread, which the new process does not have, and is made again.
    """
    return _generation


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
    _default = checked(threads)


def checked(threads):
    """Returns a number of threads; raises UsageError for anything else."""
    try:
        count = operator.index(threads)
    except TypeError:
        count = -1
    if not 0 <= count <= _MAX_THREADS or isinstance(threads, (bool, np.bool_)):
        raise UsageError(f"threads must be between 0 and {_MAX_THREADS} (0 = all cores), got {_checks.shown(threads)}")
    return count


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
    global _inside, _own, _pools, _changing, _generation
    if set(_inside.threads) - {threading.get_ident()}:
        _generation += 1
    _left_behind.append((_pools, _own))
    _pools, _changing = {}, threading.RLock()
    _inside, _own = _Inside(), threading.local()


_default, _generation = 0, 0
# A handler of a signal, or a finalizer, may explain while this thread is in here.
_pools, _changing = {}, threading.RLock()
_inside, _own = _Inside(), threading.local()
atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
