"""Texts and images: words, patches and segments as players."""
from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from . import _checks
from ._errors import DataError, ModelError, UsageError, of_call
from ._explanation import Explanation
from ._options import named_options
from ._types import AnyArray, Booleans, Graph, Groups, Measure, Model, Places, Scale
from .games import Game

_Spans: TypeAlias = list[tuple[int, int]]
_Split: TypeAlias = str | Callable[[str], Iterable[tuple[int, int]]] | None

# The built-in function, which an option of `explain_image` shadows.
_range = range
# Words with apostrophes and hyphens, and each punctuation mark by itself.
WORDS = r"\w+(?:['’-]\w+)*|[^\w\s]"


@overload
def explain_text(
    model: Model,
    text: str,
    *,
    split: _Split = None,
    absent: str = "",
    value: str = "shapley",
    graph: Graph = None,
    groups: Groups = None,
    interactions: bool | str = False,
    method: str = "auto",
    budget: int | str = "auto",
    until: float | None = None,
    confidence: float = 0.95,
    relative_to: Scale = "norm",
    error: Measure = "euclidean",
    range: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Explanation: ...
@overload
def explain_text(
    model: Model,
    text: Sequence[str],
    *,
    split: _Split = None,
    absent: str = "",
    value: str = "shapley",
    graph: Graph = None,
    groups: Groups = None,
    interactions: bool | str = False,
    method: str = "auto",
    budget: int | str = "auto",
    until: float | None = None,
    confidence: float = 0.95,
    relative_to: Scale = "norm",
    error: Measure = "euclidean",
    range: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> list[Explanation]: ...
@named_options
def explain_text(
    model: Model,
    text: str | Sequence[str],
    *,
    split: _Split = None,
    absent: str = "",
    value: str = "shapley",
    graph: Graph = None,
    groups: Groups = None,
    interactions: bool | str = False,
    method: str = "auto",
    budget: int | str = "auto",
    until: float | None = None,
    confidence: float = 0.95,
    relative_to: Scale = "norm",
    error: Measure = "euclidean",
    range: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Explanation | list[Explanation]:
    """Explains the words of a text: returns an `Explanation` whose players are the words.

    model: a function from a list of texts to an array of shape (n_texts,) or (n_texts, n_outputs), or an
        object with a method predict_proba or predict of this kind.
    text: the text, or a list of texts.
    split: a regular expression that matches the players, or a function from the text to their ranges (start,
        end) (default None: words, and each punctuation mark by itself).
    absent: the text that replaces absent players, such as "[MASK]" (default ""). By default, the spaces
        before an absent player are removed as well; all other text between players stays.
    value: as in `apportion.Explainer` (default "shapley"). "c-shapley=2", "l-shapley=2" and "myerson" require
        a graph, "owen" and "quotient-shapley" require groups.
    graph: the graph of the words (default None); "line" connects each word with the next one.
    groups: the groups of the words (default None); "sentences" makes each sentence a group.
    interactions, method, budget, until, confidence, relative_to, error, range, seed, threads: as in
        `Game.explain`.

    The attribute `spans` of the explanation contains the range of each player in the text. For a list of
    texts a list of explanations is returned. Raises DataError for a text without players, UsageError for
    invalid options, and ModelError if the model fails.

    >>> import apportion
    >>> def model(texts):
    ...     return [2.0 * ("good" in text) - 3.0 * ("not good" in text) for text in texts]
    >>> found = apportion.explain_text(model, "It is not good.")
    >>> [(name, round(value, 12)) for name, value in zip(found.feature_names, found.values.tolist())]
    [('It', 0.0), ('is', 0.0), ('not', -1.5), ('good', 0.5), ('.', 0.0)]
    """
    options = dict(
        value=value, graph=graph, interactions=interactions, method=method, budget=budget, until=until,
        confidence=confidence, relative_to=relative_to, error=error, range=range, seed=seed, threads=threads)
    if not isinstance(text, str):
        texts: Any = text
        if hasattr(texts, "tolist") and not isinstance(texts, memoryview):
            text = texts.tolist()
        if not isinstance(text, (list, tuple)):
            raise DataError(f"invalid text of type {type(text).__name__}; "
                            "expected a string or a list of strings")
        if any(not isinstance(one, str) for one in text):
            raise DataError("invalid entry in the list of texts; expected strings")
        return [_explained_text(model, one, split, absent, groups, options) for one in text]
    return _explained_text(model, text, split, absent, groups, options)


def _explained_text(model: Model, text: str, split: _Split, absent: str, groups: Groups,
                    options: dict[str, Any]) -> Explanation:
    """Explains one text; the options are those of `Game.explain`."""
    if split is None:
        spans = _words(text)
    else:
        spans = _ranges(split, text) if callable(split) else _matches(split, text)
    if not spans:
        raise DataError("the text has no players; pass a text with words, or a different split")
    if (any(not 0 <= start < end <= len(text) for start, end in spans)
            or any(after[0] < before[1] for before, after in zip(spans, spans[1:]))):
        raise UsageError("invalid ranges of split; expected non-empty ranges within the text, in increasing "
                         "order and without overlap")
    words = [text[start:end] for start, end in spans]
    if isinstance(groups, str) and groups == "sentences":
        groups = _sentences(text, spans)
    ask = _of_lists(model)

    def worth(coalitions: Booleans) -> Any:
        return ask([_masked(text, spans, members, absent) for members in coalitions])

    # Players are numbered, since a word may occur twice.
    found = Game(worth, len(words)).explain(groups=groups, **options)
    if groups is None:
        found.feature_names = words
    else:
        found.feature_names = [_joined(name, words) for name in found.feature_names]
    found.text, found.spans, found.about["of"] = text, spans, "text"
    return found


@named_options
def explain_image(
    model: Model,
    image: npt.ArrayLike,
    *,
    segments: str | npt.ArrayLike = "8x8",
    reference: str | npt.ArrayLike = "mean",
    batch: int = 32,
    value: str = "shapley",
    graph: Graph = None,
    groups: Groups = None,
    interactions: bool | str = False,
    method: str = "auto",
    budget: int | str = "auto",
    until: float | None = None,
    confidence: float = 0.95,
    relative_to: Scale = "norm",
    error: Measure = "euclidean",
    range: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Explanation:
    """Explains the parts of an image: returns an `Explanation` whose players are the parts.

    model: a function from images of shape (n_images, height, width) or (n_images, height, width, n_channels)
        to an array of shape (n_images,) or (n_images, n_outputs).
    image: an array of shape (height, width) or (height, width, n_channels).
    segments: the parts: "8x8" (the default) for eight rows of eight patches, or an array of integers of shape
        (height, width) with the part of each pixel, as scikit-image returns it.
    reference: the replacement for absent parts: "mean" (the default) for the mean of each channel, a number,
        or an image.
    batch: the number of images that the model is called with at once (default 32).
    value: as in `apportion.Explainer` (default "shapley").
    graph: the graph of the parts (default None); "borders" connects parts with a common border.
    groups: the groups of the parts (default None).
    interactions, method, budget, until, confidence, relative_to, error, range, seed, threads: as in
        `Game.explain`.

    The attribute `segments` of the explanation contains the number of the player of each pixel, so that
    `explanation.values[explanation.segments]` is a picture; `image` is the image. Raises DataError for an
    array that is not an image, UsageError for invalid options, and ModelError if the model fails.

    >>> import numpy as np, apportion
    >>> image = np.arange(16.0).reshape(4, 4)
    >>> def model(images):
    ...     return images[:, 0, 0] + images[:, 3, 3]
    >>> found = apportion.explain_image(model, image, segments="2x2", reference=0.0)
    >>> found.values[found.segments][0].round(12).tolist(), found.values.round(12).tolist()
    ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 15.0])
    """
    # Copy the image, because the explanation stores it.
    given = np.array(_checks.array("image", image,
                                   "an array of shape (height, width) or (height, width, channels)"))
    if given.dtype.kind not in "fiub":
        raise DataError(f"image is an array of {given.dtype}; expected real numbers")
    if given.ndim not in (2, 3) or not given.size:
        raise DataError(f"image has shape {given.shape}, "
                        "expected (height, width) or (height, width, n_channels)")
    batch = _checks.whole("batch", batch, 1)
    labels, names = _labels(segments, given.shape[:2])
    absent = _reference(reference, given)
    if isinstance(graph, str) and graph == "borders":
        graph = _borders(labels)

    def worth(coalitions: Booleans) -> AnyArray:
        answers = []
        for start in _range(0, len(coalitions), batch):
            present = coalitions[start : start + batch][:, labels]
            if given.ndim == 3:
                present = present[..., np.newaxis]
            answers.append(np.asarray(_plain(model(np.where(present, given, absent)))))
        return np.concatenate(answers)

    found = Game(worth, names).explain(
        value=value, graph=graph, groups=groups, interactions=interactions, method=method, budget=budget,
        until=until, confidence=confidence, relative_to=relative_to, error=error, range=range, seed=seed,
        threads=threads)
    found.segments, found.image = labels, given
    return found


def _ranges(split: Callable[[str], Iterable[tuple[int, int]]], text: str) -> _Spans:
    try:
        found = split(text)
    except Exception as error:  # anything that a function may raise
        raise of_call("split", error).with_traceback(error.__traceback__) from error
    try:
        return [(operator.index(start), operator.index(end)) for start, end in found]
    except Exception as error:  # iterators may raise any exception
        raise UsageError(f"split returned {_checks.shown(found)}; expected pairs of integers, the start and "
                         "the end of each player in the text") from error


def _matches(split: str, text: str) -> _Spans:
    try:
        return [match.span() for match in re.finditer(split, text) if match[0]]
    except (re.error, TypeError, RecursionError) as error:
        raise UsageError(f"invalid split {_checks.shown(split)} ({error}); expected a regular expression for "
                         "strings, or a function that returns ranges of the text") from error


def _words(text: str) -> _Spans:
    """Returns the ranges of words and punctuation marks. Marks that combine with a character belong to it:
    vowel signs, accents, skin tones, joined emoji.
    """
    spans: _Spans = []
    for match in re.finditer(WORDS, text):
        start, end = match.span()
        before, first = text[start - 1 : start], text[start]
        is_mark = (unicodedata.category(first)[0] == "M" or first == "\u200d"
                   or "\U0001f3fb" <= first <= "\U0001f3ff")
        after_mark = (before == "\u200d" or before and unicodedata.category(before)[0] == "M"
                      and first.isalnum())
        if spans and spans[-1][1] == start and (is_mark or after_mark):
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
    return spans


def _masked(text: str, spans: _Spans, members: Booleans, absent: str) -> str:
    parts, at = [], 0
    for (start, end), is_present in zip(spans, members):
        between = text[at:start]
        # Removing a word also removes the spaces before it.
        parts.append(between if is_present or absent else between.rstrip(" "))
        parts.append(text[start:end] if is_present else absent)
        at = end
    return "".join([*parts, text[at:]]).lstrip(" ")


def _sentences(text: str, spans: _Spans) -> list[list[int]]:
    """Returns the words of each sentence."""
    groups: list[list[int]] = [[]]
    at = 0
    for player, (start, end) in enumerate(spans):
        if groups[-1] and re.search(r"\n\s*\n", text[at:start]):
            groups.append([])
        groups[-1].append(player)
        at = end
        if text[start:end] in (".", "!", "?", "…"):
            groups.append([])
    return [group for group in groups if group]


def _joined(name: str, words: Sequence[str]) -> str:
    return " ".join(words[int(player)] for player in name.split(","))


def _of_lists(model: Model) -> Callable[[list[str]], Any]:
    for method in ("predict_proba", "predict"):
        if callable(getattr(model, method, None)):
            model = getattr(model, method)
            break
    if not callable(model):
        raise ModelError(f"{type(model).__name__} is not callable and has no predict method; "
                         "pass a function of a list of texts")
    return lambda texts: _plain(model(texts))


def _plain(answer: Any) -> Any:
    return answer.detach().cpu().numpy() if hasattr(answer, "detach") else answer


def _labels(segments: Any, shape: tuple[int, ...]) -> tuple[Places, list[str]]:
    """Returns the player of each pixel, numbered from 0 without gaps, and the names of the players."""
    height, width = shape
    if isinstance(segments, str):
        grid = re.fullmatch(r"(\d+)x(\d+)", segments.strip())
        if not grid or not 0 < int(grid[1]) <= height or not 0 < int(grid[2]) <= width:
            raise UsageError(f'invalid segments {segments!r}; expected e.g. "8x8" for eight rows of eight '
                             'patches, at most one for each pixel, or an array of integers')
        rows, columns = int(grid[1]), int(grid[2])
        labels = ((np.arange(height) * rows // height)[:, np.newaxis] * columns
                  + np.arange(width) * columns // width)
        return labels.astype(np.intp), [f"{row},{column}" for row in range(rows) for column in range(columns)]
    given = _checks.array("segments", segments, "an array of shape (height, width) of integers")
    if given.shape != shape:
        raise UsageError(f"segments has shape {given.shape}, expected ({height}, {width}) like the image")
    if given.dtype.kind not in "iub":
        raise UsageError(f"segments is an array of {given.dtype}; expected integers")
    known, labels = np.unique(given, return_inverse=True)
    return labels.reshape(shape), [str(label) for label in known]


def _reference(reference: Any, image: AnyArray) -> AnyArray:
    if isinstance(reference, str):
        if reference != "mean":
            raise UsageError(f'invalid reference {reference!r}; expected "mean", a number, or an image')
        return (image.mean(axis=(0, 1)).astype(image.dtype) if image.dtype.kind == "f"
                else np.rint(image.mean(axis=(0, 1))).astype(image.dtype))
    given = _checks.array("reference", reference, '"mean", a number, or an image')
    if given.dtype.kind not in "fiub":
        raise UsageError(f'invalid reference {_checks.shown(reference)}; '
                         'expected "mean", a number, or an image')
    if given.ndim and given.shape != image.shape:
        raise UsageError(f"reference has shape {given.shape}, expected {image.shape} like the image")
    with np.errstate(invalid="ignore"):
        stored = given.astype(image.dtype)
    if image.dtype.kind in "iub" and not np.array_equal(stored, given):
        raise UsageError(f"invalid reference: it contains values that the type of the image, {image.dtype}, "
                         "cannot represent; pass other values, or the image as 64-bit floats")
    return stored


def _borders(labels: Places) -> list[tuple[int, int]]:
    pairs: set[tuple[int, int]] = set()
    for one, other in ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1])):
        differ = one != other
        low, high = np.minimum(one, other)[differ], np.maximum(one, other)[differ]
        pairs.update(zip(low.tolist(), high.tolist()))
    return sorted(pairs)
