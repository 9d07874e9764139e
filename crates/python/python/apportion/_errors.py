"""What can go wrong. Every error of the package is an `Error`, which is a `ValueError`."""


class Error(ValueError):
    """Why there is no explanation: what was given, what is wanted, what to do."""


class ModelError(Error):
    """A model that cannot be read, or that says what is no prediction."""


class NotFittedError(ModelError):
    """A model that was not trained."""


class DataError(Error):
    """Rows that cannot be used: wrong columns, words that the model does not know, infinite numbers."""


class UsageError(Error):
    """A request that makes no sense, whatever the model and the rows are."""


class InternalError(Error):
    """A fault of the package."""


class AccuracyWarning(UserWarning):
    """Values that are less than what was asked for."""


class ModelWarning(UserWarning):
    """What should be known of a model: what its file lacks, and what was taken for that."""
