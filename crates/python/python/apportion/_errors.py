"""What can go wrong. Every error of the package is an `Error`, which is a `ValueError`."""


class Error(ValueError):
    """Why there is no explanation: what was given, what is wanted, what to do."""


class ModelError(Error):
    """A model that cannot be read, or that says what is no prediction."""


class CallError(ModelError):
    """A function that raised, where an answer was wanted. `__cause__` is what it raised, with its traceback; where Python allows it, the error is an
    instance of that class, too."""


class NotFittedError(ModelError):
    """A model that was not trained."""


class DataError(Error):
    """Rows that cannot be used: wrong columns, words that the model does not know, infinite numbers."""


class UsageError(Error):
    """A request that makes no sense, whatever the model and the rows are."""


class UnknownOption(UsageError, TypeError):
    """An option that there is not."""


class UnknownPlace(UsageError, IndexError):
    """A row, feature or output that is out of range."""


class InternalError(Error):
    """A fault of the package."""


class AccuracyWarning(UserWarning):
    """Values that are less than what was asked for."""


class ModelWarning(UserWarning):
    """What should be known of a model: what its file lacks, and what was taken for that."""


def of_call(name, error):
    """What to raise where a function that was asked raised `error`: both a `CallError` and, as far as Python allows it, what `error` is."""
    words = f"{name} raised {type(error).__name__}: {error}"
    try:
        # Of a class that no other process knows only the words are sent.
        own = {"__str__": lambda self: words, "__reduce__": lambda self: (CallError, (words,)), "__module__": type(error).__module__}
        both = type(type(error).__name__, (CallError, type(error)), own)
        raised = both.__new__(both, *error.args)
        raised.args = error.args
        raised.__dict__.update(error.__dict__)
        return raised
    except TypeError:
        return CallError(words)


def imported(name, install):
    """A module that the package does without elsewhere, or an error that says how to get it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"{name} is not installed: {install}") from error
