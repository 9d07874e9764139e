"""How libraries spell the names of a frame's columns in their models."""
from collections.abc import Iterable


def names_as(library: str | None, columns: Iterable[object]) -> list[list[str]]:
    """Returns for each column the spellings under which a library may have stored it, the most likely first.

    library: "XGBoost", "LightGBM", "CatBoost", or any other for the text of the label itself.
    columns: the labels of the columns, of any kind; tuples for columns with several levels.

    >>> names_as("XGBoost", [("p", "mean"), 3])
    [["('p', 'mean')", 'p mean'], ['3']]
    >>> names_as("LightGBM", ["a b"])
    [['a b', 'a_b']]
    """
    return [_distinct([str(label), *_others(library, label, place)]) for place, label in enumerate(columns)]


def _others(library: str | None, label: object, place: int) -> list[str]:
    text = str(label)
    if library == "XGBoost":
        return [" ".join(map(str, label))] if isinstance(label, tuple) else []
    if library == "LightGBM":
        # Spaces become underscores; in some versions other white space and JSON punctuation, too. A trailing
        # carriage return is lost.
        rewritten = text.replace(" ", "_")
        strict = "".join("_" if letter.isspace() or letter in '",:[]{}' else letter for letter in text)
        return [rewritten, rewritten.rstrip("\r"), strict]
    if library == "CatBoost":
        # A column with an empty name is named after its index.
        return [f"{place}"] if text == "" else []
    return []


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
