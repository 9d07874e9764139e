"""Missing cells of columns in which None, NaN and pandas.NA are not the same to a model.

The engine has one missing value, NaN. To encoders and imputers of scikit-learn None, NaN and pandas.NA are
three, and each may be a category, replaced by something else, or refused. The converter chooses one of them
as the missing value of a column; cells of another kind that take another way have a category of their own,
whose text no word of the column has.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._errors import DataError
from ._types import AnyArray, Numbers, Places

if TYPE_CHECKING:
    from ._data import Coder

# Of which kind a missing cell is: "nan", "None", "<NA>", "null", or a word that counts as missing.
Kind: TypeAlias = str | tuple[str, str]


class Content(bytes):
    """A model file, with the missing cells of its columns."""

    cells: Mapping[int, Cells] = {}

    @classmethod
    def of(cls, content: bytes, cells: Mapping[int, Mapping[Any, Any]]) -> Content:
        """The bytes of a file and what `document_and_cells` of the converter has for its columns."""
        made = cls(content)
        made.cells = {feature: Cells(kinds) for feature, kinds in cells.items()}
        return made


class Text(str):
    """The text of a category that missing cells of a kind have, which a word of the same letters does not
    have.
    """

    __slots__ = ()


class Cells:
    """The missing cells of one column.

    kinds: what "nan", "None" and "<NA>" become: None for a missing value, False where the model refuses it,
        or the text of a category. Keys ("word", text) are words that count as missing. "numbers" is true if
        the categories are numbers, "exact" if a word is a category only if all of its letters agree, and a
        number only if it is one in training, too.
    """

    def __init__(self, kinds: Mapping[Any, Any]) -> None:
        self.kinds = dict(kinds)
        self.of_numbers = bool(self.kinds.pop("numbers", False))
        self.is_exact = bool(self.kinds.pop("exact", False))
        self.texts = {text for text in self.kinds.values() if text}

    def become(self, kind: Kind, coder: Coder) -> Text | None:
        """None for a missing value, or the text of a category; refuses what the model refuses."""
        if kind == "null":  # of polars and Arrow, which have one kind: scikit-learn is given None for it
            return Text(self.kinds["None"]) if self.kinds["None"] else None
        found = self.kinds[kind]
        if found is not False:
            return None if found is None else Text(found)
        taken = [_kind_in_words(other) for other, way in self.kinds.items() if way is not False]
        instead = (f"missing values that it accepts in this column: {', '.join(taken)}" if taken
                   else "the model accepts no missing value in this column")
        raise DataError(f'invalid value {_kind_in_words(kind)} in column "{coder.name}" of {coder.what}: '
                        f'the model refuses it; {instead}')

    def objects(self, values: Any, coder: Coder) -> AnyArray:
        """Cells of a column of objects; those that are missing are None, or the text of their category."""
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
        """Distinct words of a column, and the places of rows among them, negative for those that are missing,
        which are of the kind `null`.
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
            # Elsewhere words are compared without the spaces around them and as numbers. And a word of the
            # same letters as a category of missing cells is not that category.
            is_known = word in known and word not in self.texts
            return (word if is_known or not self.is_exact or not _is_like(word, known)
                    else _beyond(word, known))
        return (word if not self.is_exact or word in known or not _is_like(word, known)
                else _beyond(str(word), known))

    def numbers(self, values: Numbers, codes: Numbers, coder: Coder) -> Numbers:
        """Codes of a column of numbers, with those of NaN."""
        missing = np.isnan(values)
        if self.is_exact and not self.of_numbers:
            # A number is not the word that its digits are.
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
    """Whether a value that may be none of the categories would be taken for one of them."""
    if isinstance(value, str):
        try:
            return value.strip() in known or float(value) in known
        except ValueError:
            return False
    return any(isinstance(word, str) for word in known)


def _beyond(word: str, known: set[Any]) -> str:
    """A word that is like none of the categories, and begins with this one."""
    word = word.strip() or "_"
    while _is_like(word, known):
        word += "_"
    return word


def kind_of(value: Any) -> str | None:
    """The kind of a missing cell; None for any other."""
    if value is None:
        return "None"
    name = type(value).__name__
    if name == "NAType":
        return "<NA>"
    return "nan" if name == "NaTType" or isinstance(value, (float, np.floating)) and value != value else None
