"""Explanations: the values of rows, with their base values, predictions, names and metadata."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _checks, _core
from ._data import real_numbers
from ._errors import DataError, UnknownPlace, UsageError
from ._files import write_whole
from ._names import listed, nearest
from ._types import AnyArray, Form, Numbers, Path, Places

if TYPE_CHECKING:
    from ._plots import Page, Plots

# A key for one axis: a number, a slice, or an array of positions or booleans.
_Key: TypeAlias = int | slice | AnyArray

_FORMS: tuple[Form, ...] = ("index", "remainder")
# The axes of each array, in order. Matrices of interactions have two axes of players.
_ROW, _PLAYER, _OTHER, _OUTPUT, _INPUT = "row", "player", "other", "output", "input"
# Extensions of formats in which an explanation cannot be saved.
_OTHER_FORMATS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".npy", ".npz", ".pkl", ".xlsx", ".html",
                  ".svg", ".png", ".pdf")


def _part_of(name: str, is_array: bool) -> Any:
    """Returns the property of a part. Setting it raises an error if the value does not match the other parts.
    """
    def get(self: Explanation) -> Any:
        return self._parts[name]

    def put(self: Explanation, given: Any) -> None:
        before = self._parts[name]
        self._parts[name] = (_array(name, given) if is_array and type(given) is not np.ndarray
                             and given is not before else given)
        try:
            self._check()
        except Exception:
            self._parts[name] = before
            raise

    return property(get, put)


class Explanation:
    """The values of players (features or groups) for the predictions of rows.

    values: an array of shape (n_rows, n_players), with n_outputs at the end if the model has several outputs.
        For interactions the shape is (n_rows, n_players, n_players), with n_outputs at the end.
    base_values: the base values, an array of shape (n_rows,) or (n_rows, n_outputs), or a number.
    data: the rows that were explained, of shape (n_rows, n_features), with codes for categories (default
        None). `display_data` contains the categories.
    feature_names: the names of the players (default None: f0, f1, …).
    input_names: the names of the features, if the players are groups (default None).
    output_names: the names of the outputs (default None).
    predictions: the predictions, like base_values (default None).
    std_errors: a standard error for each value (default None: the values are exact).
    evaluations, draws: the number of evaluations and of draws for each row (default None).
    degrees_of_freedom: the degrees of freedom of the standard errors, for each row (default None: infinitely
        many).
    certificates: a dictionary for each row with a certified accuracy, None for others (default None).
    index: the labels of the rows (default None).
    row_numbers: the indices of the rows in their file (default None: 0, 1, …).
    categories: a dictionary from the index of a feature to its categories (default None).
    interactions: "index" or "remainder" for interactions (default None).
    about: a description of the computation: a dictionary with value, game, method, … (default None).

    Slices are explanations, too: by position, name, class or mask. A string selects a class by its label: "2"
    is the class with the label 2, and 2 is the third output. An explanation of a `text` has the range of each
    player in `spans`; one of an `image` has the player of each pixel in `segments`.

    Raises DataError for arrays whose shapes do not match, and UsageError for arguments of the wrong type.

    >>> import numpy as np, apportion
    >>> found = apportion.explain(lambda rows: rows[:, :2], np.array([[1.0, 2.0], [3.0, 4.0]]),
    ...                           feature_names=["a", "b"], output_names=["x", "y"])
    >>> found.shape, found[1, "b", "y"].values.item(), found[:, "a"].shape
    ((2, 2, 2), 1.0, (2, 2))
    """

    text: str | None = None
    spans: list[tuple[int, int]] | None = None
    segments: Places | None = None
    image: AnyArray | None = None

    # These parts are numbers, arrays and names. Slices have fewer axes, and no list of names for an axis that
    # was reduced to one element.
    values: Any = _part_of("values", is_array=True)
    base_values: Any = _part_of("base_values", is_array=True)
    predictions: Any = _part_of("predictions", is_array=True)
    std_errors: Any = _part_of("std_errors", is_array=True)
    data: Any = _part_of("data", is_array=True)
    evaluations: Any = _part_of("evaluations", is_array=True)
    draws: Any = _part_of("draws", is_array=True)
    degrees_of_freedom: Any = _part_of("degrees_of_freedom", is_array=True)
    row_numbers: Any = _part_of("row_numbers", is_array=True)
    feature_names: Any = _part_of("feature_names", is_array=False)
    input_names: Any = _part_of("input_names", is_array=False)
    output_names: Any = _part_of("output_names", is_array=False)
    index: Any = _part_of("index", is_array=False)
    categories: dict[int, list[Any]] = _part_of("categories", is_array=False)
    interactions: Form | None = _part_of("interactions", is_array=False)
    about: dict[str, Any] = _part_of("about", is_array=False)

    _axes: tuple[str, ...]
    _certificates: Any
    _parts: dict[str, Any]

    def __init__(
        self,
        values: npt.ArrayLike,
        base_values: npt.ArrayLike,
        data: npt.ArrayLike | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        predictions: npt.ArrayLike | None = None,
        std_errors: npt.ArrayLike | None = None,
        evaluations: npt.ArrayLike | None = None,
        degrees_of_freedom: npt.ArrayLike | None = None,
        draws: npt.ArrayLike | None = None,
        certificates: Sequence[dict[str, Any] | None] | None = None,
        index: Any = None,
        row_numbers: npt.ArrayLike | None = None,
        categories: dict[int, list[Any]] | None = None,
        interactions: Form | None = None,
        about: dict[str, Any] | None = None,
    ) -> None:
        if interactions is not None:
            interactions = _checks.choice("form of interactions", interactions, _FORMS)
        least = 3 if interactions else 2
        found: Numbers = _array("values", values)
        if found.ndim not in (least, least + 1):
            other = ", n_features" if interactions else ""
            raise DataError(f"values is a {found.ndim}-D array; expected an array of shape (n_rows, "
                            f"n_features{other}) or (n_rows, n_features{other}, n_outputs)")
        per_row = (found.shape[0], *found.shape[least:])
        each = dict(base_values=_array("base_values", base_values, per_row),
                    predictions=_array("predictions", predictions, per_row))
        for name, given in (("data", data), ("std_errors", std_errors), ("evaluations", evaluations),
                            ("degrees_of_freedom", degrees_of_freedom), ("draws", draws),
                            ("row_numbers", row_numbers)):
            is_whole = name in ("evaluations", "draws", "row_numbers")
            each[name] = _array(name, given, dtype=np.int64 if is_whole else np.float64)
        for name, given in (("feature_names", feature_names), ("input_names", input_names),
                            ("output_names", output_names)):
            each[name] = None if given is None else _checks.names(name, given)
        if not isinstance(categories, (dict, type(None))) or not isinstance(about, (dict, type(None))):
            raise UsageError("invalid categories or about; expected dictionaries")
        if certificates is not None and not isinstance(certificates, (list, tuple)):
            raise UsageError(f"invalid certificates {_checks.shown(certificates)}; "
                             "expected a list with a dictionary or None for each row")
        if index is not None:
            try:
                if isinstance(index, (str, bytes, dict, set, frozenset)):
                    raise TypeError("not a sequence")
                index = (index.copy(deep=True) if hasattr(index, "get_level_values") else index.copy()
                         if isinstance(index, np.ndarray) else list(index))
            except Exception as error:  # iterators may raise any exception
                raise UsageError(f"invalid index {_checks.shown(index)}; "
                                 "expected one label for each row") from error
        self._set(found, certificates=None if certificates is None else list(certificates), index=index,
                  categories=_owned_categories(categories), interactions=interactions,
                  about=dict(about or {}), **each)
        self._check()

    @classmethod
    def _of(cls, values: Any, base_values: Any, data: Any = None, *, axes: tuple[str, ...] | None = None,
            **parts: Any) -> Explanation:
        """Returns an explanation that contains these arrays, without copies and without checks of shapes."""
        made = cls.__new__(cls)
        made._set(values, base_values, data, axes=axes, **parts)
        return made

    def _set(self, values: Any, base_values: Any, data: Any = None, *, feature_names: Any = None,
             input_names: Any = None, output_names: Any = None, predictions: Any = None,
             std_errors: Any = None, evaluations: Any = None, degrees_of_freedom: Any = None,
             draws: Any = None, certificates: Any = None, index: Any = None, row_numbers: Any = None,
             categories: dict[int, list[Any]] | None = None, interactions: Form | None = None,
             about: dict[str, Any] | None = None, axes: tuple[str, ...] | None = None) -> None:
        if axes is None:
            whole = (_ROW, _PLAYER, _OTHER, _OUTPUT) if interactions else (_ROW, _PLAYER, _OUTPUT)
            axes = whole[: np.ndim(values)]
        if isinstance(certificates, list) and not any(certificates):
            certificates = None
        self._axes, self._certificates = axes, certificates
        # These parts are accessed through properties, which check new values.
        self._parts = dict(values=values, base_values=base_values, data=data, predictions=predictions,
                           std_errors=std_errors, evaluations=evaluations,
                           degrees_of_freedom=degrees_of_freedom, draws=draws, row_numbers=row_numbers,
                           feature_names=feature_names, input_names=input_names, output_names=output_names,
                           index=index, categories=categories or {}, interactions=interactions,
                           about=about or {})

    def _check(self) -> None:
        """Raises DataError if a part was changed and no longer matches the others."""
        arrays, axes, values = self._parts, self._axes, self._parts["values"]
        if not _are_numbers(values) or np.ndim(values) != len(axes):
            expected = f"an array of numbers with the axes {', '.join(axes)}" if axes else "a number"
            raise DataError(f"invalid values {_checks.shown(values)}; expected {expected}")
        size = dict(zip(axes, np.shape(values)))
        for name, of in _AXES_OF.items():
            array = arrays[name]
            shape = tuple(size[axis] for axis in (axes if of is None else of) if axis in size)
            if array is not None and (not _are_numbers(array) or np.shape(array) != shape):
                raise DataError(f"{name} has shape {np.shape(array)}, expected numbers of shape {shape}")
        players, outputs = self.feature_names, self.output_names
        if (self.interactions is not None and not (isinstance(self.interactions, str)
                                                   and self.interactions in ("index", "remainder"))
                or (self.interactions is None and _OTHER in axes)):
            raise DataError(f"invalid interactions {_checks.shown(self.interactions)}; "
                            "expected one of: None, index, remainder")
        for name, names, axis in (("feature_names", players, _PLAYER), ("output_names", outputs, _OUTPUT)):
            if not (names is None or isinstance(names, str) or _are_names(names)):
                raise DataError(f"invalid {name} {_checks.shown(names)}; expected a list of strings")
            if axis in size and names is not None and (isinstance(names, str) or len(names) != size[axis]):
                count = _checks.counted(1 if isinstance(names, str) else len(names), "name")
                raise DataError(f"{name} has {count}, expected {size[axis]} (one for each {axis})")
        if not (self.input_names is None or _are_names(self.input_names)):
            raise DataError(f"invalid input_names {_checks.shown(self.input_names)}; "
                            "expected a list of strings")
        self._check_rest(size)

    def _check_rest(self, size: Mapping[str, int]) -> None:
        data, rows = self._parts["data"], size.get(_ROW)
        if data is not None:
            shape = np.shape(data)
            inputs = (None if self.input_names is None
                      and (self.feature_names is None or isinstance(self.feature_names, str))
                      else len(self._inputs()))
            is_whole = len(shape) == (1 if rows is None else 2) and (inputs is None or shape[-1] == inputs)
            is_column = len(shape) == (0 if rows is None else 1) and _PLAYER not in size
            if not _are_numbers(data) or not (is_whole or is_column) or rows is not None and shape[0] != rows:
                expected = tuple(number for number in (rows, "n_features" if inputs is None else inputs)
                                 if number is not None)
                raise DataError(f"data has shape {shape}, expected numbers of shape {expected}")
        if (not isinstance(self.categories, dict)
                or not all(isinstance(feature, (int, np.integer))
                           and 0 <= feature < max(1, len(self._inputs())) and isinstance(words, (list, tuple))
                           for feature, words in self.categories.items())):
            raise DataError("invalid categories; expected a dictionary that maps feature indices to lists "
                            "of categories")
        if not isinstance(self.about, dict) or not isinstance(self.about.get("more") or {}, dict):
            raise DataError(f"invalid value {_checks.shown(self.about)} for about; expected a dictionary")
        for name in ("value", "game", "method", "same_as", "accuracy"):
            if not isinstance(self.about.get(name), (str, type(None))):
                raise DataError(f"invalid {name} {_checks.shown(self.about[name])}; expected a string")
        if not _are_groups(self.about.get("groups")):
            raise DataError(f"invalid groups {_checks.shown(self.about['groups'])}; expected a list of "
                            "groups, each a (possibly nested) list of names, e.g. "
                            '[["age", "sex"], ["bmi"]]')
        if rows is None:
            return
        for name, given in (("index", self.index), ("certificates", self._certificates)):
            if given is not None and _length(given) != rows:
                raise DataError(f"invalid {name} {_checks.shown(given)}; "
                                f"expected one entry per row, {rows} in total")
        if self._certificates is not None and not all(one is None or isinstance(one, (dict, str))
                                                      for one in self._certificates):
            raise DataError("invalid certificates; expected a dictionary or None for each row")
        numbers = self._parts["row_numbers"]
        if numbers is not None and (np.asarray(numbers) < 0).any():
            raise DataError(f"invalid row_numbers {_checks.shown(numbers)}; expected integers of at least 0")

    # Properties of the whole explanation.

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return np.shape(self.values)

    def __len__(self) -> int:
        if not self._axes:
            raise TypeError("an explanation of a single value has no length")
        return self.shape[0]

    @property
    def value(self) -> str | None:
        """The solution concept: "shapley", "owen", …"""
        return self.about.get("value")

    @property
    def game(self) -> str | None:
        """The game: "marginal", "path-dependent", …"""
        return self.about.get("game")

    @property
    def method(self) -> str | None:
        """The method that computed the values."""
        return self.about.get("method")

    @property
    def output(self) -> str | None:
        """The kind of predictions: "log-odds", "decision_function", "predict", …"""
        return self.about.get("output") or (self.about.get("more") or {}).get("output")

    @property
    def notes(self) -> list[str]:
        """Notes for users about the model and the choice of the output, as sentences."""
        return list(self.about.get("notes") or ())

    @property
    def display_data(self) -> Any:
        """The data with categories instead of their codes, an array of objects; None if there is no data."""
        if self.data is None:
            return None
        if not self.categories:
            return self.data
        shown = np.array(self.data, dtype=object)
        for feature, words in self.categories.items():
            column = shown[..., feature]
            if np.ndim(column):
                shown[..., feature] = [_word(words, code) for code in column]
            else:
                shown[feature] = _word(words, shown[feature])
        return shown

    @property
    def certificates(self) -> Any:
        """The certificates of the rows: a list with a dictionary for each row with a certified accuracy, and
        None for the other rows; None if no row has one. For a single selected row (`explanation[0]`), its
        dictionary or None.
        """
        if self._certificates is None:
            return None
        if isinstance(self._certificates, (str, dict)):
            return _as_dict(self._certificates)
        return [_as_dict(certificate) for certificate in self._certificates]

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The certificate of an explanation of one row; raises UsageError if there are several rows."""
        found = self.certificates
        if isinstance(found, list):
            if len(found) != 1:
                raise UsageError(f"certificate requires a single row, found {len(found)}; "
                                 "select one row, or use certificates")
            return found[0]
        return found

    def intervals(self, confidence: float = 0.95) -> tuple[Any, Any]:
        """Returns a pointwise confidence interval for each value: an array of lower ends and an array of
        upper ends, both with the shape of the values.

        confidence: the confidence level (default 0.95).

        The intervals use Student's t distribution with the degrees of freedom of the standard errors. For
        exact values, both ends are the values. Raises UsageError for an invalid confidence level.
        """
        if self.std_errors is None:
            return self.values.copy(), self.values.copy()
        degrees = np.atleast_1d(np.full(1, np.inf) if self.degrees_of_freedom is None
                                else self.degrees_of_freedom)
        confidence = _checks.number("confidence", confidence)
        factors = _core.interval_factors(confidence, np.ascontiguousarray(degrees, dtype=np.float64))
        if _ROW in self._axes:
            factors = factors.reshape(-1, *[1] * (np.ndim(self.values) - 1))
        else:
            factors = factors[0]
        half = factors * self.std_errors
        return self.values - half, self.values + half

    def additivity_gap(self) -> float:
        """Returns the largest |Σφ + base − prediction|, which is 0 except for rounding if the values are
        efficient.

        Raises DataError if the predictions are missing.
        """
        if self.predictions is None:
            raise DataError("predictions is missing; "
                            "pass predictions=… to Explanation, one for each row and output")
        axes = tuple(place for place, axis in enumerate(self._axes) if axis in (_PLAYER, _OTHER))
        gap = self.values.sum(axis=axes) + self.base_values - self.predictions
        return float(np.abs(gap).max(initial=0.0))

    def importance(self) -> Any:
        """Returns the mean absolute value over the rows, of shape (n_players,) or (n_players, n_outputs)."""
        if _ROW not in self._axes or not len(self):
            return np.abs(self.values) if _ROW not in self._axes else np.zeros(self.shape[1:])
        return np.abs(self.values).mean(axis=0)

    # Figures.

    @property
    def plot(self) -> Plots:
        """The figures, each a method with its name: `explanation.plot.beeswarm()`."""
        from ._plots import Plots

        return Plots(self)

    def report(self, path: Path | None = None, *, interactions: Explanation | None = None,
               title: str | None = None, seed: int = 0) -> Page:
        """Returns a report as a single HTML file, which opens in any browser without a network. Notebooks
        show it.

        path: the path of the file to write (default None: no file is written).
        interactions: the explanation of the same rows with `interactions=True` (default None).
        title: the title (default None: that of the explanation).
        seed: the seed of the sample of rows that the page stores if there are many (default 0).

        Raises UsageError for interactions of other features, and DataError if the predictions are missing.
        """
        from ._plots import page

        found = page(self, interactions, title, seed)
        if path is not None:
            found.save(path)
        return found

    # Slices.

    def __getitem__(self, key: Any) -> Explanation:
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in [one for one in keys if one is Ellipsis]:
            at = next(place for place, one in enumerate(keys) if one is Ellipsis)
            keys[at : at + 1] = [slice(None)] * (len(self._axes) - len(keys) + 1)
        if len(keys) > len(self._axes):
            axes = (f"expected at most {len(self._axes)}, for the axes {', '.join(self._axes)}" if self._axes
                    else "the explanation is a single value, which has no axes")
            raise UsageError(f"too many indices ({len(keys)}); {axes}")
        keys += [slice(None)] * (len(self._axes) - len(keys))
        chosen = {axis: self._chosen(axis, one) for axis, one in zip(self._axes, keys)}
        if len(self._player_names()) == len(self._inputs()):
            chosen[_INPUT] = chosen.get(_PLAYER, slice(None))
        of = chosen.get

        def names(given: Any, one: Any) -> Any:
            if given is None or isinstance(given, str):
                return given
            return (given[one] if isinstance(one, (int, slice))
                    else [given[place] for place in np.arange(len(given))[one]])

        def part(array: Any, *axes: str) -> Any:
            return (None if array is None else _part(array,
                                                     [of(axis, slice(None)) for axis in axes
                                                      if axis in self._axes or axis == _INPUT]))

        rows = (_ROW,)
        inputs = names(self.input_names, slice(None))
        categories = self.categories
        if categories and _INPUT in chosen:
            if isinstance(chosen[_INPUT], int):
                categories = {}
            else:
                places = np.arange(len(self._inputs()))[chosen[_INPUT]].tolist()
                categories = {new: categories[old] for new, old in enumerate(places) if old in categories}
        certificates = self._certificates
        if certificates is not None and _ROW in self._axes:
            row = chosen[_ROW]
            certificates = (certificates[row] if isinstance(row, (int, slice))
                            else [certificates[place] for place in np.arange(len(certificates))[row]])
        about = dict(self.about)
        if isinstance(of(_OUTPUT), int) and self.output_names is not None:
            about["more"] = {**about.get("more", {}), "class": self.output_names[of(_OUTPUT)]}
        return Explanation._of(part(self.values, *self._axes), part(self.base_values, _ROW, _OUTPUT),
                               self._data_part(part),
                               feature_names=names(self.feature_names, of(_PLAYER, slice(None))),
                               input_names=inputs,
                               output_names=names(self.output_names, of(_OUTPUT, slice(None))),
                               predictions=part(self.predictions, _ROW, _OUTPUT),
                               std_errors=part(self.std_errors, *self._axes),
                               evaluations=part(self.evaluations, *rows),
                               degrees_of_freedom=part(self.degrees_of_freedom, *rows),
                               draws=part(self.draws, *rows), certificates=certificates,
                               index=None if self.index is None or _ROW not in self._axes
                               else names(self.index, chosen[_ROW]) if isinstance(self.index, (list, tuple))
                               else self.index[chosen[_ROW]],
                               row_numbers=part(np.arange(self.shape[0]) if self.row_numbers is None
                                                else self.row_numbers, *rows) if _ROW in self._axes
                               else self.row_numbers, categories=categories, interactions=self.interactions,
                               about=about, axes=tuple(axis for axis in self._axes
                                                       if not isinstance(chosen[axis], int)))

    def _data_part(self, part: Callable[..., Any]) -> Any:
        if self.data is None:
            return None
        if np.ndim(self.data) == 0:
            return self.data
        has_rows = _ROW in self._axes
        if np.ndim(self.data) == 1 and has_rows:
            return part(self.data, _ROW)
        return part(self.data, *((_ROW, _INPUT) if has_rows else (_INPUT,)))

    def _chosen(self, axis: str, key: Any) -> _Key:
        """Returns a key of one axis as a number, a slice or an array of positions or booleans."""
        size, noun = self.shape[self._axes.index(axis)], _PLAYER if axis == _OTHER else axis
        if isinstance(key, slice):
            for end in (key.start, key.stop, key.step):
                if end is not None and not hasattr(type(end), "__index__"):
                    raise UsageError(f"invalid slice of {noun}s {_checks.shown(key)}; "
                                     "expected integers, e.g. [0:10]")
            if key.step is not None and int(key.step) == 0:
                raise UsageError(f"invalid slice of {noun}s {_checks.shown(key)}; "
                                 "expected a step other than 0")
            return key
        if axis in (_PLAYER, _OTHER, _OUTPUT):
            names = self._output_names_or_numbers() if axis == _OUTPUT else self._player_names()
            if isinstance(key, str):
                return self._named(key, names, noun)
            if isinstance(key, (list, tuple)) and any(isinstance(one, str) for one in key):
                return np.array([self._named(one, names, noun) if isinstance(one, str)
                                 else _checks.whole(noun, one, -size, size - 1) for one in key],
                                dtype=np.intp)
        is_whole = isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_))
        if axis == _OUTPUT and not is_whole and (isinstance(key, np.generic)
                                                 or not hasattr(type(key), "__iter__")
                                                 and not hasattr(type(key), "__array__")):
            # The key is a label that is not a string. Integers are positions instead, as in NumPy.
            try:
                return self._named(str(key), names, noun)
            except UsageError:
                raise
            except Exception as error:  # any object may fail to print itself
                raise UsageError(f"invalid output {_checks.shown(key)}; "
                                 "expected a number, a name or a label") from error
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            key = int(key)
            if not -size <= key < size:
                raise UnknownPlace(_checks.out_of_range(noun, key, size))
            return key % size
        kinds = "integers, a slice or a mask" if axis == _ROW else "integers, names, a slice or a mask"
        try:
            found = np.asarray(key)
        except Exception as error:  # conversion to an array may raise any exception
            raise UsageError(f"invalid {noun}s {_checks.shown(key)}; expected {kinds}") from error
        if found.dtype == bool:
            if found.shape != (size,):
                raise UsageError(f"mask has shape {found.shape}, expected ({size},) (one for each {noun})")
            return found
        if found.ndim == 1 and (found.dtype.kind in "iu" or not found.size):
            wrong = found[(found < -size) | (found >= size)]
            if wrong.size:
                raise UnknownPlace(_checks.out_of_range(noun, int(wrong[0]), size))
            return found.astype(np.intp)
        raise UsageError(f"invalid {noun}s {_checks.shown(key)}; expected {kinds}")

    @staticmethod
    def _named(name: str, names: Sequence[str], axis: str) -> int:
        if name in names:
            return names.index(name)
        meant = nearest(name, names)
        hint = f'did you mean "{meant}"?' if meant is not None else f"expected one of: {listed(names)}"
        raise UsageError(f'unknown {axis} "{name}"; {hint}')

    def _player_names(self) -> list[str]:
        if isinstance(self.feature_names, str):
            return [self.feature_names]
        if self.feature_names is not None:
            if _PLAYER in self._axes and len(self.feature_names) != self.shape[self._axes.index(_PLAYER)]:
                self._check()
            return list(self.feature_names)
        return ([f"f{player}" for player in range(self.shape[self._axes.index(_PLAYER)])]
                if _PLAYER in self._axes else ["f0"])

    def _inputs(self) -> list[str]:
        return self.input_names if self.input_names is not None else self._player_names()

    def _output_names_or_numbers(self) -> list[str]:
        if _OUTPUT not in self._axes:
            return ["0"]
        if self.output_names is not None and not isinstance(self.output_names, str):
            return list(self.output_names)
        return [str(output) for output in range(self.shape[-1])]

    # The arrays with all axes.

    def _whole(self) -> tuple[Numbers, Numbers, Numbers, Numbers | None]:
        """Returns the arrays with all axes: values of shape (n_rows, n_players, n_outputs), or for
        interactions (n_rows, n_players, n_players, n_outputs); base values and predictions of shape (n_rows,
        n_outputs); standard errors of the shape of the values.
        """
        self._check()
        if self.predictions is None:
            raise DataError("predictions is missing; "
                            "pass predictions=… to Explanation, one for each row and output")
        values = np.asarray(self.values, dtype=np.float64)
        wanted = (_ROW, _PLAYER, _OTHER, _OUTPUT) if self.interactions else (_ROW, _PLAYER, _OUTPUT)

        def widened(array: Any, axes: tuple[str, ...]) -> Any:
            if array is None:
                return None
            array = np.asarray(array)
            for place, axis in enumerate(axes):
                if axis not in self._axes:
                    array = np.expand_dims(array, place)
            return array

        whole = widened(values, wanted)
        if self.interactions and whole.shape[1] != whole.shape[2]:
            raise UsageError(f"the interactions have {whole.shape[1]} × {whole.shape[2]} features; expected "
                             "the same features on both axes, e.g. [:, names, names]")
        return (whole, widened(self.base_values, (_ROW, _OUTPUT)), widened(self.predictions, (_ROW, _OUTPUT)),
                widened(self.std_errors, wanted))

    def _rows_of_data(self) -> AnyArray | None:
        if self.data is None:
            return None
        data = np.asarray(self.data)
        count = len(self) if _ROW in self._axes else 1
        return data.reshape(count, -1)

    # Conversions.

    def to_shap(self) -> Any:
        """Returns a `shap.Explanation`, for the plots of shap; requires shap."""
        import shap

        names = self.feature_names
        shown = self.display_data
        if self.input_names is not None:  # groups have no single input
            shown = data = None
        else:
            data = self.data
        values, segments = np.array(self.values), self.segments
        if self.about.get("of") == "text":
            shown = data = np.array(names)
        elif segments is not None:  # an image of one row, as shap.plots.image expects it
            values, data = values[segments][np.newaxis, :, :, np.newaxis], np.asarray(self.image)[np.newaxis]
            shown, names = data, None
        found = shap.Explanation(values=values, base_values=_plain(self.base_values),
                                 data=None if data is None else np.asarray(data),
                                 display_data=None if shown is None or shown is data else np.asarray(shown),
                                 feature_names=names,
                                 output_names=None if self.output_names is None or _OUTPUT not in self._axes
                                 else list(self.output_names), error_std=None)
        return found

    def to_shapiq(self, row: int | None = None, output: int | str | None = None) -> Any:
        """Returns one row and output as `shapiq.InteractionValues`; requires shapiq.

        row: the position of the row (default None: the only one). output: the name or index of the output
        (default None: the only one).

        Raises UsageError if there are several rows or outputs and none is chosen.
        """
        import shapiq

        one = self
        if _ROW in one._axes:
            if row is None and len(one) != 1:
                raise UsageError(f"shapiq requires a single row, found {len(one)}; select one with row=…")
            one = one[0 if row is None else row]
        if _OUTPUT in one._axes:
            if output is None:
                raise UsageError(f"shapiq requires a single output, found {one.shape[-1]}; "
                                 "select one with output=…")
            one = one[..., output]
        count = one.shape[0]
        lookup: dict[tuple[int, ...], int] = {(): 0}
        values = [float(one.base_values)]
        players = np.diagonal(one.values) if one.interactions else one.values
        for player in range(count):
            lookup[(player,)] = len(values)
            values.append(float(players[player]))
        if one.interactions:
            double = 2.0 if one.interactions == "remainder" else 1.0
            for i in range(count):
                for j in range(i + 1, count):
                    lookup[(i, j)] = len(values)
                    values.append(double * float(one.values[i, j]))
        index = {None: "SV" if self.value == "shapley" else "BV" if self.value == "banzhaf" else "SV",
                 "index": "SII" if self.value == "shapley" else "BII", "remainder": "k-SII"}[one.interactions]
        return shapiq.InteractionValues(values=np.array(values), index=index,
                                        max_order=2 if one.interactions else 1, min_order=0, n_players=count,
                                        interaction_lookup=lookup, estimated=one.std_errors is not None,
                                        estimation_budget=None if one.evaluations is None
                                        else int(one.evaluations), baseline_value=float(one.base_values))

    def _columns(self) -> dict[str, AnyArray]:
        """Returns the columns that the command writes: a line for each row and output, and for interactions
        for each player.
        """
        values, base, predictions, errors = self._whole()
        rows, outputs = values.shape[0], values.shape[-1]
        names, numbers = self._player_names(), self._row_numbers(rows)
        lines = values.shape[1] if self.interactions else 1
        each = outputs * lines
        columns = {"row": np.repeat(numbers, each)}
        if outputs > 1:
            columns["output"] = np.tile(np.repeat(self._output_names_or_numbers(), lines), rows)
        columns["base"] = np.repeat(base.ravel(), lines)
        columns["prediction"] = np.repeat(predictions.ravel(), lines)
        if self.interactions:
            columns["of"] = np.tile(names, rows * outputs)
            for other, name in enumerate(names):
                columns[name] = np.moveaxis(values[:, :, other, :], 2, 1).ravel()
            return columns
        for player, name in enumerate(names):
            columns[name] = values[:, player, :].ravel()
        if errors is not None:
            for player, name in enumerate(names):
                columns[f"std error of {name}"] = errors[:, player, :].ravel()
        return columns

    def _row_numbers(self, rows: int) -> AnyArray:
        return np.arange(rows) if self.row_numbers is None else np.atleast_1d(self.row_numbers)

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Returns a data frame with the columns that the command writes: row, (output,) base, prediction and
        the players.

        library: "pandas" (the default) or "polars", which has to be installed.

        Raises UsageError for any other library, and DataError if the predictions are missing.
        """
        _checks.choice("library", library, ("pandas", "polars"))
        columns = self._columns()
        if library == "polars":
            import polars

            return polars.DataFrame(columns)
        import pandas

        frame = pandas.DataFrame(columns)
        if self.index is not None and np.ndim(self.index) == 1:
            frame.index = pandas.Index(self.index).repeat(len(frame) // max(len(self.index), 1))
        return frame

    def to_arrow(self) -> Any:
        """Returns a `pyarrow.Table` with the columns of `to_frame`; requires pyarrow."""
        import pyarrow

        return pyarrow.table({name: pyarrow.array(column) for name, column in self._columns().items()})

    # Files.

    def save(self, path: Path) -> None:
        """Writes the explanation as `apportion explain --format json` does.

        path: the path of the file. If it ends in .gz, the file is gzipped; the extension of another format,
            such as .csv, is rejected.

        The file is written under a temporary name and renamed, so it is never incomplete. Raises UsageError
        for a path of another format, and DataError for an explanation without predictions or with infinite
        numbers.
        """
        import json

        path = _checks.path("path", path)
        if path.lower().removesuffix(".gz").endswith(_OTHER_FORMATS):
            raise UsageError(f"{path}: explanations are saved as JSON, with the extension .json or .json.gz; "
                             "use to_frame() or to_arrow() for tables, report() for a report, and "
                             "plot.figure() for figures")
        try:
            content = (json.dumps(self._document(), separators=(",", ":"), allow_nan=False,
                                  ensure_ascii=False).encode() + b"\n")
        except ValueError as error:
            raise DataError("the explanation contains an infinite number, which JSON cannot store "
                            f"({error}); use to_frame() or to_arrow()") from error
        if path.endswith(".gz"):
            import gzip

            content = gzip.compress(content, mtime=0)
        write_whole(path, content)

    def _document(self) -> dict[str, Any]:
        about = self.about
        values, base, predictions, errors = self._whole()
        head = {"value": about.get("value") or "shapley", "game": about.get("game") or "marginal"}
        if self.interactions:
            head["interactions"] = self.interactions
        else:
            head["method"] = about.get("method") or "auto"
            if about.get("same_as"):
                head["same_as"] = about["same_as"]
            head["budget"] = about.get("budget")
            if about.get("accuracy"):
                head["accuracy"] = about["accuracy"]
            head["seed"] = about.get("seed") or 0
        head.update(about.get("more") or {})
        if self.output_names is not None and _OUTPUT in self._axes:
            head["classes"] = list(self.output_names)
        head["features"] = self._player_names()
        if about.get("groups"):
            head["groups"] = about["groups"]
        if self.input_names is not None:
            head["input_names"] = list(self.input_names)
        data = self._rows_of_data()
        numbers, ids = self._row_numbers(len(values)), self.index
        certificates = self.certificates
        if certificates is not None and not isinstance(certificates, list):
            certificates = [certificates]
        explanations = []
        for row in range(len(values)):
            said: dict[str, Any] = {"row": int(numbers[row])}
            if ids is not None:
                said["id"] = str(ids[row] if np.ndim(ids) or isinstance(ids, (list, tuple)) else ids)
            said["base"], said["prediction"] = _numbers(base[row]), _numbers(predictions[row])
            said["values"] = _nested(values[row])
            if errors is not None:
                said["std_errors"] = _nested(errors[row])
            if data is not None:
                said["input"] = [_word(self.categories[feature], number) if feature in self.categories
                                 else _input(number) for feature, number in enumerate(data[row])]
            if not self.interactions:
                said["evaluations"] = (0 if self.evaluations is None
                                       else int(np.atleast_1d(self.evaluations)[row]))
                draws = None if self.draws is None else int(np.atleast_1d(self.draws)[row])
                if draws is not None and draws >= 0:
                    said["draws"] = draws
                degrees = (None if self.degrees_of_freedom is None
                           else float(np.atleast_1d(self.degrees_of_freedom)[row]))
                if degrees is not None and np.isfinite(degrees):
                    said["degrees_of_freedom"] = degrees
                if certificates is not None and certificates[row] is not None:
                    said["certificate"] = certificates[row]
            explanations.append(said)
        head["explanations"] = explanations
        return head

    @classmethod
    def load(cls, path: Path) -> Explanation:
        """Returns the explanation in a file that `save` wrote, or `apportion explain --format json` or
        `jsonl`.

        path: the path of the file, which may be gzipped.

        Raises DataError for any other file, including one with a summary (`--summary`) or only some of the
        values (`--top`), and OSError if the file cannot be read.
        """
        path = _checks.path("path", path)
        with open(path, "rb") as file:
            content = file.read()
        if content.startswith(b"\x1f\x8b"):
            import gzip
            import zlib

            try:
                content = gzip.decompress(content)
            except (OSError, EOFError, zlib.error) as error:
                raise DataError(f"{path} is a truncated or corrupt gzip file ({error}); "
                                "save the explanation again") from error
        return cls._of_text(content, path)

    @classmethod
    def _of_text(cls, content: bytes, name: str) -> Explanation:
        try:
            found = cls._parsed(content, name)
            _check_shapes(found)
            found._check()
        except DataError:
            raise
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError,
                RecursionError) as error:
            what = f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else error
            raise DataError(f"{name} does not contain results of apportion explain in JSON, or is corrupt "
                            f"({what}); choose another file, or rerun apportion explain") from error
        return found

    @classmethod
    def _parsed(cls, content: bytes, name: str) -> Explanation:
        import json

        try:
            first, _, rest = content.partition(b"\n")
            head = json.loads(first)
            is_summary = "summary" in head
            if not is_summary and "explanations" not in head:
                head["explanations"] = [json.loads(line) for line in rest.splitlines() if line.strip()]
            features = head["features"]
            lines = [] if is_summary else head["explanations"]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{name} does not contain results of apportion explain in JSON, or is truncated "
                            f"({error}); choose another file, or rerun apportion explain") from error
        # Summaries have a line for each feature, other results a line for each row.
        if is_summary or lines and all("row" not in line and "values" not in line for line in lines):
            raise DataError(f"{name} contains a summary over all rows instead of the values of each row; "
                            "rerun apportion explain without --summary")
        if any("values" not in line for line in lines):
            raise DataError(f"{name} does not contain all values of each row; rerun apportion explain "
                            "without --top and without a named interaction index")

        def stacked(key: str) -> Numbers:
            return np.array([_holed(line[key]) for line in lines], dtype=np.float64)

        try:
            values, base, predictions = stacked("values"), stacked("base"), stacked("prediction")
            errors = stacked("std_errors") if lines and "std_errors" in lines[0] else None
        except (ValueError, KeyError) as error:
            raise DataError(f"{name} contains rows of different shapes ({error}); "
                            "rerun apportion explain") from error
        form = head.get("interactions")
        if not lines:
            values = np.empty((0, len(features)) + ((len(features),) if form else ()))
        data, categories = (_read_inputs([line["input"] for line in lines]) if lines and "input" in lines[0]
                            else (None, {}))
        known = {"value", "game", "interactions", "method", "same_as", "budget", "accuracy", "seed",
                 "classes", "features", "groups", "input_names", "explanations"}
        return cls._of(values, base, data, feature_names=features, input_names=head.get("input_names"),
                       output_names=head.get("classes", head.get("class")), predictions=predictions,
                       std_errors=errors, evaluations=np.array([line.get("evaluations", 0) for line in lines],
                                                               dtype=np.int64),
                       draws=np.array([line.get("draws", -1) for line in lines], dtype=np.int64),
                       degrees_of_freedom=np.array([line.get("degrees_of_freedom", np.inf) for line in lines],
                                                   dtype=np.float64),
                       certificates=[line.get("certificate") for line in lines]
                       if any("certificate" in line for line in lines) else None,
                       index=[_label(line["id"]) for line in lines] if lines and "id" in lines[0] else None,
                       row_numbers=np.array([line["row"] for line in lines], dtype=np.int64),
                       categories=categories, interactions=form,
                       about={**{key: head.get(key)
                                 for key in ("value", "game", "method", "same_as", "budget", "accuracy",
                                             "seed", "groups")},
                              "more": {key: value for key, value in head.items() if key not in known}})

    # Display.

    def __repr__(self) -> str:
        what = f"{self.interactions} interactions" if self.interactions else "values"
        axes = " × ".join(f"{size} {axis}s" for axis, size in zip(self._axes, self.shape)) or "one value"
        lines = [f"Explanation: {self.value} {what}, {self.game} game, method {self.method}", f"  {axes}"]
        if self.output not in (None, "output of the function"):
            lines[-1] += f", output: {self.output}"
        if self._axes == (_PLAYER,) and not self.interactions:
            base = float(self.base_values)
            prediction = float(self.predictions) if self.predictions is not None else float("nan")
            lines.append(f"  base {base:.6g}, prediction {prediction:.6g}")
            names = self._player_names()
            width = max((len(name) for name in names), default=0)
            for player in np.argsort(-np.abs(self.values), kind="stable")[:10]:
                error = "" if self.std_errors is None else f" ± {self.std_errors[player]:.2g}"
                lines.append(f"  {names[player]:<{width}} {self.values[player]:+.6g}{error}")
            if len(names) > 10:
                lines.append(f"  and {len(names) - 10} more")
        elif _ROW in self._axes and len(self) and not self.interactions and _PLAYER in self._axes:
            sizes = self.importance()
            sizes = sizes.sum(axis=-1) if sizes.ndim > 1 else sizes
            names = self._player_names()
            most = ", ".join(f"{names[player]} {sizes[player]:.4g}"
                             for player in np.argsort(-sizes, kind="stable")[:5])
            lines.append(f"  mean |value|: {most}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        if self.interactions or _PLAYER not in self._axes:
            return f"<pre>{escape(repr(self))}</pre>"
        one = self
        note = ""
        if _ROW in one._axes:
            note = f"mean |value| over {len(one)} rows"
            sizes = one.importance()
        else:
            sizes = one.values
        if np.ndim(sizes) > 1:
            sizes, note = np.abs(sizes).sum(axis=-1), f"{note}, summed over outputs".lstrip(", ")
        names = self._player_names()
        largest = float(np.abs(sizes).max(initial=0.0)) or 1.0
        lines = []
        for player in np.argsort(-np.abs(sizes), kind="stable")[:20]:
            width = 160 * abs(float(sizes[player])) / largest
            colour = "#ff0d57" if sizes[player] >= 0 else "#1e88e5"
            lines.append(f"<tr><td>{escape(names[player])}</td><td "
                         f"style='text-align:right'>{float(sizes[player]):.6g}</td><td><div "
                         f"style='background:{colour};height:0.8em;width:{width:.0f}px'></div></td></tr>")
        head = (f"{escape(str(self.value))} values, {escape(str(self.game))} game, "
                f"method {escape(str(self.method))}")
        return f"<div><b>{head}</b><br>{escape(note)}<table>{''.join(lines)}</table></div>"


# The axes of each array except the data. None means the same axes as the values.
_AXES_OF = {"base_values": (_ROW, _OUTPUT), "predictions": (_ROW, _OUTPUT), "std_errors": None,
            "evaluations": (_ROW,), "degrees_of_freedom": (_ROW,), "draws": (_ROW,), "row_numbers": (_ROW,)}


def _owned_categories(given: Any) -> dict[int, list[Any]]:
    try:
        return {feature: list(words) for feature, words in (given or {}).items()}
    except Exception as error:  # iterators may raise any exception
        raise UsageError(f"invalid categories {_checks.shown(given)}; expected a dictionary that maps "
                         "feature indices to lists of categories") from error


def _are_groups(given: Any) -> bool:
    """Returns whether groups are lists of names, nested or not."""
    if given is None:
        return True
    left = [given]
    while left:
        member = left.pop()
        if isinstance(member, (list, tuple)):
            left.extend(member)
        elif not isinstance(member, str) or member is given:
            return False
    return all(isinstance(group, (list, tuple)) for group in given)


def _length(given: Any) -> int | None:
    """Returns the number of labels; None if the object is not a sequence of labels."""
    if isinstance(given, (str, bytes, dict, set, frozenset)):
        return None
    try:
        return len(given) if getattr(given, "ndim", 1) == 1 else None
    except Exception:  # len() may raise any exception
        return None


def _array(name: str, given: Any, shape: tuple[int, ...] | None = None, dtype: Any = np.float64) -> Any:
    """Returns numbers as a new array. A single number, or one number per output, is broadcast to `shape`."""
    if given is None:
        if name in ("values", "base_values"):
            raise DataError(f"{name} is missing; expected an array of numbers")
        return None
    try:
        found = np.array(real_numbers(given)).reshape(np.shape(given))
        if dtype is not np.float64:
            if not np.array_equal(found, np.rint(found)):
                raise ValueError("expected integers")
            found = found.astype(dtype)
    except Exception as error:  # conversion to an array may raise any exception
        raise DataError(f"invalid {name} {_checks.shown(given)} ({error}); "
                        "expected an array of numbers") from error
    if shape is not None and (found.ndim == 0 or len(shape) == 2 and found.shape == shape[1:]):
        found = np.array(np.broadcast_to(found, shape))
    return found


def _are_numbers(array: Any) -> bool:
    return (isinstance(array, (int, float, np.number)) or isinstance(array, np.ndarray)
            and array.dtype.kind in "fiu")


def load(path: Path) -> Explanation:
    """Returns the explanation in a file; `Explanation.load` describes the argument and the errors."""
    return Explanation.load(path)


def _check_shapes(found: Explanation) -> None:
    """Raises ValueError for results whose parts do not match."""
    names, inputs, outputs = found.feature_names, found.input_names, found.output_names
    if (not _are_names(names) or not (inputs is None or _are_names(inputs))
            or not (outputs is None or isinstance(outputs, str) or _are_names(outputs))):
        raise ValueError("expected strings as names of features and classes")
    rows, players = len(found.values), len(names)
    shape = (rows, players) + ((players,) if found.interactions else ())
    several = found.values.shape[len(shape) :]
    if found.interactions not in (None, "index",
                                  "remainder") or found.values.shape != shape + several or len(several) > 1:
        raise ValueError(f"values have shape {found.values.shape}, expected {rows} rows and "
                         f"{players} features")
    if rows and any(array.shape != (rows, *several) for array in (found.base_values, found.predictions)):
        raise ValueError("expected one base and one prediction for each row and class")
    if found.std_errors is not None and found.std_errors.shape != found.values.shape:
        raise ValueError("expected one standard error for each value")
    if isinstance(outputs, list) and several and len(outputs) != several[0]:
        raise ValueError(f"found {len(outputs)} classes, but values for {several[0]}")
    if found.data is not None and found.data.shape != (rows, len(inputs if inputs is not None else names)):
        raise ValueError("expected one input for each row and feature")
    arrays = [found.values, found.base_values, found.predictions, found.std_errors]
    if any(np.isinf(array).any() for array in arrays if array is not None):
        raise ValueError("found numbers beyond the range of a double")
    if found._certificates is not None and not all(one is None or isinstance(one, dict)
                                                   for one in found._certificates):
        raise ValueError("expected objects as certificates")


def _are_names(names: Any) -> bool:
    return isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)


def _as_dict(certificate: Any) -> Any:
    if not isinstance(certificate, str):
        return certificate
    import json

    return json.loads(certificate)


def _part(array: Any, keys: Sequence[_Key]) -> Any:
    """Returns a part of an array. Each key selects from its own axis, unlike in NumPy, where arrays are
    combined.
    """
    if np.ndim(array) == 0:
        return array
    for axis in reversed(range(len(keys))):
        key = keys[axis]
        array = array[(slice(None),) * axis + (key,)]
    return array


def _plain(number: Any) -> Any:
    return float(number) if np.ndim(number) == 0 else np.array(number)


def _word(words: Sequence[Any], code: float) -> Any:
    if code != code:
        return None
    if np.isinf(code):
        return float(code)
    place = int(code)
    if 0 <= place < len(words) and place == code:
        word = words[place]
        return word if isinstance(word, (str, float, int, bool)) else str(word)
    return float(code)


# The strings that represent infinite inputs in results, because JSON has no infinite numbers.
_INFINITE = {"Infinity": np.inf, "-Infinity": -np.inf}


def _input(number: float) -> str | float | None:
    return ("Infinity" if number > 0 else "-Infinity") if np.isinf(number) else _number(number)


def _number(number: float) -> float | None:
    return None if number != number else float(number)


def _numbers(numbers: Numbers) -> Any:
    return _number(numbers[0]) if len(numbers) == 1 else [_number(number) for number in numbers]


def _nested(values: Numbers) -> Any:
    """Returns values of players as nested lists; a single output is a number instead of a list."""
    values = values[..., 0] if values.shape[-1] == 1 else values
    if not np.isnan(values).any():
        return values.tolist()
    return _with_holes(values.tolist())


def _with_holes(numbers: Any) -> Any:
    return [_with_holes(number) for number in numbers] if isinstance(numbers, list) else _number(numbers)


def _holed(numbers: Any) -> Any:
    if isinstance(numbers, list):
        return [_holed(number) for number in numbers]
    return np.nan if numbers is None else numbers


def _label(given: Any) -> Any:
    if not isinstance(given, (str, int, float)):
        raise ValueError(f"the id of a row is {_checks.shown(given)}, expected a string")
    return given


def _read_inputs(lines: Sequence[Sequence[Any]]) -> tuple[Numbers, dict[int, list[Any]]]:
    """Returns inputs as numbers and the categories by feature. Strings are coded in order of appearance."""
    categories: dict[int, dict[tuple[type, Any], int]] = {}
    data = np.empty((len(lines), len(lines[0])))
    if any(not isinstance(cell, (str, int, float, type(None))) for line in lines for cell in line):
        raise ValueError("expected numbers, strings or null as inputs")
    words_of = {feature for line in lines for feature, cell in enumerate(line) if isinstance(cell, str)
                and cell not in _INFINITE}
    for row, line in enumerate(lines):
        for feature, cell in enumerate(line):
            if isinstance(cell, str) and feature not in words_of:
                data[row, feature] = _INFINITE[cell]
            elif feature in words_of and cell is not None:
                # True, 1, 1.0 and "1" are different cells; a number in a column with strings is not the code
                # of one of them.
                words = categories.setdefault(feature, {})
                data[row, feature] = words.setdefault((type(cell), cell), len(words))
            else:
                data[row, feature] = np.nan if cell is None else cell
    return data, {feature: [word for _, word in words] for feature, words in categories.items()}
