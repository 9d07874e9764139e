"""Errors and warnings.

Errors about models, rows, options and results are instances of `Error`, which is a `ValueError`. A package
that is missing for batches or an engine raises a `UsageError`. Methods that convert results to the types of
another package, and workers without apportion, raise an ImportError instead. Errors of the operating system,
and those that Python or shap prescribes (such as the TypeError of `len()`), have their own classes.
"""
import sys
import warnings
from types import FrameType
from typing import Any


class Error(ValueError):
    """The base class of all errors of the package. Messages state what was passed, what is expected, and what
    to do.
    """


class ModelError(Error):
    """A model that cannot be read, or that returns something that is not a prediction."""


class CallError(ModelError):
    """A function that raised an error when it was called.

    `__cause__` is the error that it raised, with its traceback. If Python allows it, the `CallError` is also
    an instance of the class of that error.
    """


class NotFittedError(ModelError):
    """A model that was not fitted."""


class DataError(Error):
    """Rows that cannot be used: wrong columns, unknown categories, infinite numbers."""


class UsageError(Error):
    """A request that is invalid for any model and any rows."""


class UnknownOption(UsageError, TypeError):
    """An unknown keyword argument."""


class UnknownPlace(UsageError, IndexError):
    """A row, feature or output that is out of range."""


class InternalError(Error):
    """A bug in the package."""


class AccuracyWarning(UserWarning):
    """The values are less accurate than requested."""


class ModelWarning(UserWarning):
    """Something that users should know about a model, e.g. what its file lacks and what is used instead."""


def warn(message: str, category: type[Warning]) -> None:
    """Issues a warning for the line that called the package, however many of its functions are in between."""
    level, frame = 1, sys._getframe()
    while (caller := frame.f_back) is not None and _is_own(frame):
        level, frame = level + 1, caller
    warnings.warn(message, category, stacklevel=level)


def _is_own(frame: FrameType) -> bool:
    """Returns whether a frame belongs to a module of the package."""
    package: str = __name__.partition(".")[0]
    name = str(frame.f_globals.get("__name__", ""))
    return name == package or name.startswith(f"{package}.")


def of_call(name: str, error: BaseException) -> CallError:
    """Returns the `CallError` for a function that raised `error`. If Python allows it, the `CallError` is
    also an instance of the class of `error`.
    """
    words = f"{name} raised {type(error).__name__}: {error}"
    try:
        # Other processes do not know the class, so only the message is pickled.
        own = {"__str__": lambda self: words, "__reduce__": lambda self: (CallError, (words,)),
               "__module__": type(error).__module__}
        both: Any = type(type(error).__name__, (CallError, type(error)), own)
        raised: CallError = both.__new__(both, *error.args)
        raised.args = error.args
        raised.__dict__.update(error.__dict__)
        return raised
    except TypeError:
        return CallError(words)


def imported(name: str, install: str) -> Any:
    """Imports a module of another library; if it is missing, raises a UsageError that explains how to install
    it.
    """
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"{name} is not installed: {install}") from error
