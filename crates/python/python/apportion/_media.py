"""Texts and images: words, patches and segments as players."""
# mypy: ignore-errors
import operator
import re
import unicodedata

import numpy as np

from . import _checks
from ._errors import DataError, ModelError, UsageError, of_call
from .games import Game

# Words with their apostrophes and hyphens, and signs one by one.
WORDS = r"\w+(?:['’-]\w+)*|[^\w\s]"


def explain_text(model, text, *, split=None, absent="", value="shapley", graph=None, groups=None, **more):
    """What each word of a text contributed to what a model said of it: an `Explanation` whose players are the words. Of a list of texts: a list.

    model: a callable from a list of texts to an array of texts, or texts × outputs, or an object that has predict_proba or predict of such lists.
    split: a regular expression that matches the players, or a callable from the text to their ranges, (start, end) each. By default words, and
        signs one by one.
    absent: what stands in the text where a player is absent, such as "[MASK]". What is between players stays, but for spaces around removed ones.
    value, graph, groups, method, budget, until, seed: as `apportion.Explainer` has them. With graph="line" neighbours are next to each other:
        value="c-shapley=2", "l-shapley=2", "myerson". groups="sentences" for value="owen" or "quotient-shapley".

    The attribute `spans` of the explanation has the range of each player in the text.

    >>> import apportion
    >>> said = apportion.explain_text(lambda texts: [2.0 * ("good" in text) - 3.0 * ("not good" in text) for text in texts], "It is not good.")
    >>> [(name, round(value, 12)) for name, value in zip(said.feature_names, said.values.tolist())]
    [('It', 0.0), ('is', 0.0), ('not', -1.5), ('good', 0.5), ('.', 0.0)]
    """
    if not isinstance(text, str):
        if hasattr(text, "tolist") and not isinstance(text, memoryview):
            text = text.tolist()
        if not isinstance(text, (list, tuple)):
            raise DataError(f"invalid text of type {type(text).__name__}; expected a string or a list of strings")
        if any(not isinstance(one, str) for one in text):
            raise DataError("a list of texts holds something that is no text")
        return [explain_text(model, one, split=split, absent=absent, value=value, graph=graph, groups=groups, **more) for one in text]
    if split is None:
        spans = _words(text)
    else:
        spans = _ranges(split, text) if callable(split) else _matches(split, text)
    if not spans:
        raise DataError("the text has no players: give a text with words, or split")
    if any(not 0 <= start < end <= len(text) for start, end in spans) or any(after[0] < before[1] for before, after in zip(spans, spans[1:])):
        raise UsageError("split: the ranges of players lie in the text, in its order, and do not overlap; none is empty")
    words = [text[start:end] for start, end in spans]
    if isinstance(groups, str) and groups == "sentences":
        groups = _sentences(text, spans)
    ask = _of_lists(model)

    def worth(coalitions):
        return ask([_masked(text, spans, members, absent) for members in coalitions])

    # Players are told apart by their places: words may come twice.
    found = Game(worth, len(words)).explain(value=value, graph=graph, groups=groups, **more)
    if groups is None:
        found.feature_names = words
    else:
        found.feature_names = [_joined(name, words) for name in found.feature_names]
    found.text, found.spans, found.about["of"] = text, spans, "text"
    return found


def explain_image(model, image, *, segments="8x8", reference="mean", value="shapley", graph=None, groups=None, batch=32, **more):
    """What each part of an image contributed to what a model said of it: an `Explanation` whose players are the parts.

    model: a callable from images × height × width (× channels) to an array of images, or images × outputs.
    image: height × width, or height × width × channels.
    segments: "8x8" for eight rows of eight patches, or an array of height × width whole numbers, the part of each pixel, as scikit-image makes them.
    reference: what absent parts look like: "mean" for the mean of each channel, a number, or an image.
    value, graph, groups, method, budget, until, seed: as `apportion.Explainer` has them. graph="borders": parts with a common border are
        neighbours.
    batch: how many images the model is given at once.

    The attribute `segments` of the explanation has the number of each pixel's player, so `explanation.values[explanation.segments]` is a picture;
    `image` has the image.

    >>> import numpy as np, apportion
    >>> image = np.arange(16.0).reshape(4, 4)
    >>> found = apportion.explain_image(lambda images: images[:, 0, 0] + images[:, 3, 3], image, segments="2x2", reference=0.0)
    >>> found.values[found.segments][0].round(12).tolist(), found.values.round(12).tolist()
    ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 15.0])
    """
    # Of its own: the explanation has it, whatever becomes of what was given.
    image = np.array(_checks.array("image", image, "an array of shape (height, width) or (height, width, channels)"))
    if image.dtype.kind not in "fiub":
        raise DataError(f"image is an array of {image.dtype}; expected real numbers")
    if image.ndim not in (2, 3) or not image.size:
        raise DataError(f"an image of the shape {image.shape}: height × width, or height × width × channels is wanted")
    batch = _checks.whole("batch", batch, 1)
    labels, names = _labels(segments, image.shape[:2])
    absent = _reference(reference, image)
    if isinstance(graph, str) and graph == "borders":
        graph = _borders(labels)

    def worth(coalitions):
        answers = []
        for start in range(0, len(coalitions), batch):
            present = coalitions[start : start + batch][:, labels]
            if image.ndim == 3:
                present = present[..., np.newaxis]
            answers.append(np.asarray(_plain(model(np.where(present, image, absent)))))
        return np.concatenate(answers)

    found = Game(worth, names).explain(value=value, graph=graph, groups=groups, **more)
    found.segments, found.image = labels, image
    return found


def _ranges(split, text):
    try:
        found = split(text)
    except Exception as error:  # anything that a function may raise
        raise of_call("split", error).with_traceback(error.__traceback__) from error
    try:
        return [(operator.index(start), operator.index(end)) for start, end in found]
    except Exception as error:  # whatever an iterator raises
        raise UsageError(f"split returned {_checks.shown(found)}; expected pairs of numbers, the start and the end of each player in the text") from error


def _matches(split, text):
    try:
        return [match.span() for match in re.finditer(split, text) if match[0]]
    except (re.error, TypeError, RecursionError) as error:
        raise UsageError(f"invalid split {_checks.shown(split)}; expected a regular expression of strings, or a function from the text to ranges: {error}") from error


def _words(text):
    """Words and signs. What is written onto a letter or a sign belongs to it: vowel signs, accents, colours of skin, joined pictures."""
    spans = []
    for match in re.finditer(WORDS, text):
        start, end = match.span()
        before, first = text[start - 1 : start], text[start]
        is_mark = unicodedata.category(first)[0] == "M" or first == "\u200d" or "\U0001f3fb" <= first <= "\U0001f3ff"
        after_mark = before == "\u200d" or before and unicodedata.category(before)[0] == "M" and first.isalnum()
        if spans and spans[-1][1] == start and (is_mark or after_mark):
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
    return spans


def _masked(text, spans, members, absent):
    parts, at = [], 0
    for (start, end), is_present in zip(spans, members):
        between = text[at:start]
        # The space of a removed word goes with it.
        parts.append(between if is_present or absent else between.rstrip(" "))
        parts.append(text[start:end] if is_present else absent)
        at = end
    return "".join([*parts, text[at:]]).lstrip(" ")


def _sentences(text, spans):
    """Words up to the end of each sentence."""
    groups, at = [[]], 0
    for player, (start, end) in enumerate(spans):
        if groups[-1] and re.search(r"\n\s*\n", text[at:start]):
            groups.append([])
        groups[-1].append(player)
        at = end
        if text[start:end] in (".", "!", "?", "…"):
            groups.append([])
    return [group for group in groups if group]


def _joined(name, words):
    return " ".join(words[int(player)] for player in name.split(","))


def _of_lists(model):
    for method in ("predict_proba", "predict"):
        if callable(getattr(model, method, None)):
            model = getattr(model, method)
            break
    if not callable(model):
        raise ModelError(f"{type(model).__name__} can neither be called nor predict; give a function of a list of texts")
    return lambda texts: _plain(model(texts))


def _plain(answer):
    return answer.detach().cpu().numpy() if hasattr(answer, "detach") else answer


def _labels(segments, shape):
    """The player of each pixel, from 0 on without a gap, and what the players are called."""
    height, width = shape
    if isinstance(segments, str):
        given = re.fullmatch(r"(\d+)x(\d+)", segments.strip())
        if not given or not 0 < int(given[1]) <= height or not 0 < int(given[2]) <= width:
            raise UsageError(f'segments={segments!r}: write "8x8" for eight rows of eight patches, at most as many as there are pixels, or give an array')
        rows, columns = int(given[1]), int(given[2])
        labels = (np.arange(height) * rows // height)[:, np.newaxis] * columns + np.arange(width) * columns // width
        return labels.astype(np.intp), [f"{row},{column}" for row in range(rows) for column in range(columns)]
    given = _checks.array("segments", segments, "an array of shape (height, width) of integers")
    if given.shape != shape:
        raise UsageError(f"segments of the shape {given.shape} for an image of {height} × {width} pixels")
    if given.dtype.kind not in "iub":
        raise UsageError(f"segments of {given.dtype}: whole numbers are wanted")
    known, labels = np.unique(given, return_inverse=True)
    return labels.reshape(shape), [str(label) for label in known]


def _reference(reference, image):
    if isinstance(reference, str):
        if reference != "mean":
            raise UsageError(f'reference={reference!r}: give "mean", a number, or an image')
        return image.mean(axis=(0, 1)).astype(image.dtype) if image.dtype.kind == "f" else np.rint(image.mean(axis=(0, 1))).astype(image.dtype)
    given = _checks.array("reference", reference, '"mean", a number, or an image')
    if given.dtype.kind not in "fiub":
        raise UsageError(f'invalid reference {_checks.shown(reference)}; expected "mean", a number, or an image')
    if given.ndim and given.shape != image.shape:
        raise UsageError(f"a reference of the shape {given.shape} for an image of the shape {image.shape}")
    with np.errstate(invalid="ignore"):
        stored = given.astype(image.dtype)
    if image.dtype.kind in "iub" and not np.array_equal(stored, given):
        raise UsageError(f"reference: {image.dtype}, which the image holds, cannot say all of its numbers; give others, or the image as 64-bit floats")
    return stored


def _borders(labels):
    pairs = set()
    for one, other in ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1])):
        differ = one != other
        low, high = np.minimum(one, other)[differ], np.maximum(one, other)[differ]
        pairs.update(zip(low.tolist(), high.tolist()))
    return sorted(pairs)
