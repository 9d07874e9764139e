"""Thread pools of the engine. Calls with the same number of threads share a pool, except that each calling
thread has its own pool of one thread.
"""
import atexit
import operator
import os
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from . import _checks, _core
from ._errors import UsageError

_P = ParamSpec("_P")
_R = TypeVar("_R")

# The maximum number of pools that are kept in addition to the default pool, because idle pools occupy their
# threads.
_MAX_OTHERS = 1
_MAX_THREADS = 1024
# Pools of the parent process of a fork. Their threads do not exist here, and dropping a pool would wait for
# its threads.
_left_behind: list[tuple[dict[int, _core.Pool], threading.local]] = []


def pool(threads: int | None = None) -> _core.Pool:
    """Returns the pool with this number of threads, by default as `set_threads` or the environment variable
    `RAYON_NUM_THREADS` specifies.

    A pool that is dropped here ends its threads when the last call that uses it returns.
    """
    count = _default if threads is None else checked(threads)
    if count == 1:
        # Tasks of data engines are concurrent threads that each use a pool of one thread. The pool ends with
        # the calling thread.
        if not hasattr(_own, "pool"):
            _own.pool = _core.Pool(1)
        alone: _core.Pool = _own.pool
        return alone
    with _changing:
        found = _pools.pop(count, None)
        if found is None:
            found = _core.Pool(count)
        _pools[count] = found
        others = [other for other in _pools if other != _default]
        for other in others[: max(0, len(others) - _MAX_OTHERS)]:
            _pools.pop(other, None)
    return found


def generation() -> int:
    """Returns a number that changes when the process is forked while another thread is in the engine.

    Cached objects may be locked by that thread, which does not exist in the new process, so they are created
    again.
    """
    return _generation


def engine(work: Callable[_P, _R], *arguments: _P.args, **options: _P.kwargs) -> _R:
    """Returns the result of `work` of the engine, which may call Python functions.

    A daemon thread waits here forever when the interpreter shuts down, because the engine must not call
    objects that no longer exist.
    """
    thread = threading.get_ident()
    with _inside:
        _inside.threads.append(thread)
    try:
        if _inside.ending in (None, thread):
            return work(*arguments, **options)
    finally:
        with _inside:
            _inside.threads.remove(thread)
            _inside.notify_all()
        if _inside.ending not in (None, thread):
            threading.Event().wait()
    raise AssertionError("a thread that waits for the end of the process continued")


def set_threads(threads: int) -> None:
    """Sets the number of threads for calls without the option `threads`.

    threads: an integer from 0 to 1024; 0 (the default) for one thread per core.

    Raises UsageError for anything else.

    >>> import apportion
    >>> apportion.set_threads(1)
    >>> apportion.set_threads(0)
    """
    global _default
    _default = checked(threads)


def checked(threads: Any) -> int:
    """Returns a number of threads; raises UsageError for anything else."""
    try:
        count = operator.index(threads)
    except TypeError:
        count = -1
    if not 0 <= count <= _MAX_THREADS or isinstance(threads, (bool, np.bool_)):
        raise UsageError(f"threads must be between 0 and {_MAX_THREADS} (0 = all cores), "
                         f"got {_checks.shown(threads)}")
    return count


class _Inside(threading.Condition):
    """The threads that currently run code of the engine, and the thread that shuts down the interpreter."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[int] = []
        self.ending: int | None = None


def _end() -> None:
    """Waits until other threads have left the engine, for at most 5 seconds: functions that are being called
    have to return first.
    """
    _inside.ending = threading.get_ident()
    _core.end()
    with _inside:
        _inside.wait_for(lambda: set(_inside.threads) <= {_inside.ending}, timeout=5)


def _forked() -> None:
    global _inside, _own, _pools, _changing, _generation
    if set(_inside.threads) - {threading.get_ident()}:
        _generation += 1
    _left_behind.append((_pools, _own))
    _pools, _changing = {}, threading.RLock()
    _inside, _own = _Inside(), threading.local()


_default, _generation = 0, 0
# Pools by number of threads, the most recently used one last. The lock is reentrant, because a signal handler
# or a finalizer may explain while this thread holds it.
_pools: dict[int, _core.Pool] = {}
_changing = threading.RLock()
_inside, _own = _Inside(), threading.local()
atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
