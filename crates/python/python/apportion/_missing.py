"""Missing cells of columns in which None, NaN and pandas.NA are not the same to a model.

The engine has one missing value, NaN. Encoders and imputers of scikit-learn distinguish None, NaN and
pandas.NA, and each may be a category, be replaced, or be rejected. The converter chooses one of them as the
missing value of a column; cells of a kind that is treated differently have a separate category, whose text
differs from all strings of the column.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._errors import DataError
from ._types import AnyArray, Numbers, Places

if TYPE_CHECKING:
    from ._data import Coder

# The kind of a missing cell: "nan", "None", "<NA>", "null", or a string that represents a missing value.
Kind: TypeAlias = str | tuple[str, str]


class Content(bytes):
    """A model file, and how its columns treat missing cells."""

    cells: Mapping[int, Cells] = {}

    @classmethod
    def of(cls, content: bytes, cells: Mapping[int, Mapping[Any, Any]]) -> Content:
        """Returns the bytes of a file, with the cells that `document_and_cells` of the converter returned."""
        made = cls(content)
        made.cells = {feature: Cells(kinds) for feature, kinds in cells.items()}
        return made


class Text(str):
    """The category of missing cells of a kind, which is different from an equal string in a column."""

    __slots__ = ()


class Cells:
    """The missing cells of one column.

    kinds: what cells of the kinds "nan", "None" and "<NA>" become: None for a missing value, False if the
        model rejects them, or the text of a category. Keys ("word", text) are strings that represent missing
        values. The entry "numbers" is true if the categories are numbers, "exact" if strings and numbers must
        equal a training category exactly.
    """

    def __init__(self, kinds: Mapping[Any, Any]) -> None:
        self.kinds = dict(kinds)
        self.of_numbers = bool(self.kinds.pop("numbers", False))
        self.is_exact = bool(self.kinds.pop("exact", False))
        self.texts = {text for text in self.kinds.values() if text}

    def become(self, kind: Kind, coder: Coder) -> Text | None:
        """Returns None for a missing value, or the text of a category; raises DataError if the model rejects
        it.
        """
        if kind == "null":  # polars and Arrow have one kind, which scikit-learn receives as None
            return Text(self.kinds["None"]) if self.kinds["None"] else None
        found = self.kinds[kind]
        if found is not False:
            return None if found is None else Text(found)
        taken = [_kind_in_words(other) for other, way in self.kinds.items() if way is not False]
        instead = (f"the model rejects it; use another missing value: {', '.join(taken)}" if taken
                   else "the model rejects it, as it rejects all missing values in this column; impute the "
                   "value, or remove the row")
        raise DataError(f'invalid value {_kind_in_words(kind)} in column "{coder.name}" of {coder.what}: '
                        f"{instead}")

    def objects(self, values: Any, coder: Coder) -> AnyArray:
        """Returns the cells of a column of objects; missing ones are None, or the text of their category."""
        values = np.array(values, dtype=object)
        words = {key[1] for key in self.kinds if isinstance(key, tuple)}
        for row, value in enumerate(values):
            kind: Kind | None = kind_of(value)
            if kind is None and isinstance(value, str) and value in words:
                kind = ("word", value)
            if kind is not None:
                values[row] = self.become(kind, coder)
        return values

    def words(self, distinct: Iterable[Any], places: Any, null: str | None,
              coder: Coder) -> tuple[list[Any], Places]:
        """Returns the distinct strings of a column, and the position of each row's string among them, which
        is negative for missing cells; these are of the kind `null`.
        """
        known = set(coder.wanted.categories(coder.feature) or ())
        distinct, places = [self._word(word, known, coder) for word in distinct], np.array(places)
        if (places < 0).any() and null is not None:
            found = self.become(null, coder)
            if found is not None:
                places[places < 0] = len(distinct)
                distinct.append(found)
        return distinct, places

    def _word(self, word: Any, known: set[Any], coder: Coder) -> Any:
        if isinstance(word, Text) or word is None:
            return word
        if isinstance(word, str):
            if ("word", word) in self.kinds:
                return self.become(("word", word), coder)
            # Strings are otherwise compared without surrounding spaces, and as numbers. A string that equals
            # the text of a category of missing cells does not belong to it.
            is_known = word in known and word not in self.texts
            return (word if is_known or not self.is_exact or not _is_like(word, known)
                    else _beyond(word, known))
        return (word if not self.is_exact or word in known or not _is_like(word, known)
                else _beyond(str(word), known))

    def numbers(self, values: Numbers, codes: Numbers, coder: Coder) -> Numbers:
        """Returns the codes of a column of numbers, including the codes of NaN."""
        missing = np.isnan(values)
        if self.is_exact and not self.of_numbers:
            # A number does not match the category that its digits spell.
            known = set(coder.wanted.categories(coder.feature) or ())
            codes = np.array(codes)
            for number in np.unique(values[~missing]):
                if number not in known and _is_like(number, known):
                    codes[values == number] = coder.codes([_beyond(str(number), known)])[0]
        if not missing.any():
            return codes
        found = self.become("nan", coder)
        if found is None:
            return codes
        return np.where(missing, coder.codes([found])[0], codes)


def _kind_in_words(kind: Kind) -> str:
    return repr(kind[1]) if isinstance(kind, tuple) else {"nan": "NaN", "<NA>": "pandas.NA"}.get(kind, kind)


def _is_like(value: Any, known: set[Any]) -> bool:
    """Returns whether a value would match one of the categories in an inexact comparison."""
    if isinstance(value, str):
        try:
            return value.strip() in known or float(value) in known
        except ValueError:
            return False
    return any(isinstance(word, str) for word in known)


def _beyond(word: str, known: set[Any]) -> str:
    """Returns a string that begins with `word` and does not match any of the categories."""
    word = word.strip() or "_"
    while _is_like(word, known):
        word += "_"
    return word


def kind_of(value: Any) -> str | None:
    """Returns the kind of a missing cell; None for any other cell."""
    if value is None:
        return "None"
    name = type(value).__name__
    if name == "NAType":
        return "<NA>"
    return "nan" if name == "NaTType" or isinstance(value, (float, np.floating)) and value != value else None
