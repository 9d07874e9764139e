"""Models that are asked: any callable on arrays or data frames, estimators by their predictions, modules of torch and keras."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import sys

import numpy as np

from ._data import Wanted, real_numbers, table
from ._errors import Error, ModelError, UsageError, of_call
from ._models import family


class Function:
    """A model as a function from rows × features to rows × outputs numbers, which it returns in one line.

    Where the background is a data frame, the model is given frames with its columns and their types.
    """

    def __init__(self, model, background, output=None):
        self.call, self.output_names = _predictor(model, output)
        self.schema = _Schema(background) if is_pandas(background) else None
        self.name = getattr(model, "__name__", None) or type(model).__name__
        self.outputs = None

    def of_frames(self, frame):
        """The same model, which is given frames with the columns of this one."""
        other = Function.__new__(Function)
        other.__dict__.update(self.__dict__, schema=_Schema(frame))
        return other

    def wanted(self, names=None, count=None):
        """What the model wants of rows."""
        return Wanted(self.schema.names, len(self.schema.names), self.schema) if self.schema is not None else Wanted(names, count)

    def settle(self, rows):
        """Asks for some rows twice: how many outputs there are, and whether the answer is the same."""
        # A function may change what it is given.
        first = self._answer(rows.copy())
        again = self._answer(rows.copy())
        if first.shape != again.shape or not np.allclose(first, again, rtol=1e-6, atol=1e-9, equal_nan=True):
            raise ModelError(f"{self.name} gave two answers for the same rows: a game is a function; fix its seed, or set it to evaluate")
        self.outputs = 1 if first.ndim == 1 else first.shape[1]
        if self.output_names is not None and len(self.output_names) != self.outputs:
            self.output_names = None
        self._check(first, rows)

    def __call__(self, rows):
        answer = self._answer(rows)
        if (1 if answer.ndim == 1 else answer.shape[1]) != self.outputs:
            raise ModelError(f"{self.name} returned an array of shape {answer.shape} for {len(rows)} rows, after {self.outputs} outputs before")
        self._check(answer, rows)
        return answer.ravel()

    def _answer(self, rows):
        given = self.schema.frame(rows) if self.schema is not None else rows
        try:
            answer = self.call(given)
        except Error:
            raise
        except Exception as error:
            raise of_call(self.name, error).with_traceback(error.__traceback__) from error
        if hasattr(answer, "detach"):
            answer = answer.detach().cpu().numpy()
        if self.output_names is None and hasattr(answer, "columns"):
            self.output_names = [str(name) for name in answer.columns]
        try:
            answer = real_numbers(answer)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{self.name} returned what is no array of numbers: {error}; for classes give predict_proba") from error
        if answer.ndim == 2 and answer.shape[1] == 1:
            answer = answer[:, 0]
        if answer.ndim not in (1, 2) or len(answer) != len(rows):
            raise ModelError(f"{self.name} returned an array of shape {answer.shape} for {len(rows)} rows; rows, or rows × outputs are wanted")
        return np.ascontiguousarray(answer)

    def _check(self, answer, rows):
        if not np.isfinite(answer).all():
            row = int(np.argmin(np.isfinite(answer.reshape(len(rows), -1)).all(axis=1)))
            value = answer.reshape(len(rows), -1)[row]
            raise ModelError(f"{self.name} returned {value[~np.isfinite(value)][0]} for the row {np.asarray(rows)[row].tolist()}; a game needs "
                             "finite values, so check the model at that row")


def is_pandas(rows):
    """Whether rows are a data frame of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(rows, pandas.DataFrame)


def _predictor(model, output):
    """How a model is called, and what its outputs are called."""
    if isinstance(model, type):
        raise ModelError(f"{model.__module__}.{model.__qualname__} is a class: give an object of it that is fitted")
    library = family(model)
    classes = getattr(model, "classes_", None)
    names = [str(label) for label in classes] if classes is not None and not isinstance(classes, list) else None
    if output is not None and not callable(getattr(model, output, None)):
        raise UsageError(f"the model has no method {output!r}")
    if output is not None:
        return getattr(model, output), names
    if library == "torch":
        return _torch(model), None
    if library in ("keras", "tensorflow") and hasattr(model, "predict"):
        return lambda rows: model.predict(rows, verbose=0), None
    # What a classifier predicts is a label, which is no number or should be taken for none.
    for method in ("predict_proba", *(["decision_function"] if classes is not None or not hasattr(model, "predict") else []), "predict"):
        if callable(getattr(model, method, None)):
            return getattr(model, method), None if method == "predict" else names
    if callable(model):
        return model, None
    raise ModelError(f"{type(model).__module__}.{type(model).__qualname__} can neither be called nor predict; give a function of rows")


def _torch(module):
    def call(rows):
        import torch

        parameter = next(module.parameters(), None)
        kind = {} if parameter is None else dict(dtype=parameter.dtype, device=parameter.device)
        was_training = module.training
        module.eval()
        try:
            with torch.no_grad():
                return module(torch.as_tensor(np.asarray(rows)).to(**kind))
        finally:
            module.train(was_training)

    return call


class _Schema:
    """The columns of a data frame: words have codes, so that rows are numbers, and numbers become frames again."""

    def __init__(self, frame):
        import pandas

        self.names = [str(name) for name in frame.columns]
        self.labels, self.dtypes = list(frame.columns), list(frame.dtypes)
        self.words = {}
        for place, dtype in enumerate(self.dtypes):
            if isinstance(dtype, pandas.CategoricalDtype):
                self.words[place] = {word: code for code, word in enumerate(dtype.categories)}
            elif not _is_of_numbers(dtype):
                self.words[place] = {}
        self.features_with_words = list(self.words)
        self.categorical_features = []

    def categories(self, feature):
        return list(self.words[feature]) if feature in self.words else None

    def codes_of_texts(self, feature, texts):
        return np.array([np.nan if text is None else self._code(feature, text) for text in texts], dtype=np.float64)

    def codes_of_numbers(self, feature, numbers):
        return np.array([np.nan if number != number else self._code(feature, number) for number in numbers.tolist()], dtype=np.float64)

    def _code(self, feature, word):
        known = self.words[feature]
        if word not in known and _is_categorical(self.dtypes[feature]):
            raise IndexError(0)
        return known.setdefault(word, len(known))

    def frame(self, rows):
        """Rows of numbers as a data frame with the columns and types of the first one."""
        import pandas

        columns = {}
        for place, (label, dtype) in enumerate(zip(self.labels, self.dtypes)):
            column = rows[:, place]
            if place in self.words:
                codes = np.where(np.isnan(column), -1, column).astype(np.intp)
                if isinstance(dtype, pandas.CategoricalDtype):
                    columns[label] = pandas.Categorical.from_codes(codes, dtype=dtype)
                else:
                    words = pandas.array([*self.words[place], None], dtype=dtype)
                    columns[label] = words.take(codes)
            elif isinstance(dtype, np.dtype) and dtype.kind in "iub":
                # Absent features come from rows of the background, so whole numbers stay whole.
                columns[label] = column.astype(dtype) if not np.isnan(column).any() and np.all(column == np.rint(column)) else column
            elif isinstance(dtype, np.dtype):
                columns[label] = column.astype(dtype)
            else:
                columns[label] = pandas.array(column).astype(dtype)
        return pandas.DataFrame(columns)


def _is_categorical(dtype):
    import pandas

    return isinstance(dtype, pandas.CategoricalDtype)


def _is_of_numbers(dtype):
    if isinstance(dtype, np.dtype):
        return dtype.kind in "fiub"
    return bool(getattr(dtype, "_is_numeric", False)) or getattr(dtype, "kind", "O") in "fiub"


def rows_for(function, rows, names=None, count=None, what="X"):
    """Rows as a table of what a function wants."""
    return table(rows, function.wanted(names, count), what)
