"""Explanations of texts and images."""
import numpy as np
import pytest

import apportion


def count_of(text):
    return 2.0 * ("good" in text) - 3.0 * ("not good" in text) + text.count("very")


def test_words_are_players():
    found = apportion.explain_text(lambda texts: [count_of(text) for text in texts],
                                   "Not bad, not good: very very old.")
    assert found.feature_names == ["Not", "bad", ",", "not", "good", ":", "very", "very", "old", "."]
    assert np.allclose(found.values, [0, 0, 0, -1.5, 0.5, 0, 1, 1, 0, 0]) and found.additivity_gap() < 1e-12
    assert [found.spans[place] for place in (0, 4)] == [(0, 3), (13, 17)]


def test_absent_words_leave_no_double_spaces_and_masks_stand_in():
    seen = set()

    def keep(texts):
        seen.update(texts)
        return np.zeros(len(texts))

    apportion.explain_text(keep, "a b, c")
    assert {"a b, c", "", "a", "b", "c", ",", "a, c", "b c", "a b,"} <= seen, seen
    seen.clear()
    apportion.explain_text(keep, "a b", absent="[MASK]")
    assert seen == {"a b", "[MASK] b", "a [MASK]", "[MASK] [MASK]"}


def test_texts_in_many_forms(enumerated):
    texts = ["one two", "trois"]
    found = apportion.explain_text(lambda texts: np.array([[len(text), text.count("o")] for text in texts]),
                                   texts)
    assert [one.shape for one in found] == [(2, 2), (1, 2)]
    letters = apportion.explain_text(lambda texts: [len(set(text)) for text in texts], "abca",
                                     split=lambda text: [(at, at + 1) for at in range(len(text))])

    def worth(mask):
        return len({"abca"[at] for at in range(4) if mask >> at & 1})

    assert np.allclose(letters.values, enumerated(worth, 4))
    near = apportion.explain_text(lambda texts: [len(text) for text in texts], "a b c d e",
                                  value="c-shapley=1", graph="line")
    assert len(near.values) == 5
    sentences = apportion.explain_text(lambda texts: [len(text.split()) for text in texts],
                                       "I am. You are! We", groups="sentences", value="quotient-shapley")
    assert sentences.feature_names == ["I am .", "You are !", "We"] and np.isclose(sentences.values.sum(), 5)


def test_words_of_many_scripts_are_whole():
    found = apportion.explain_text(lambda texts: [len(text) for text in texts],
                                   "हिन्दी में 👩‍👩‍👧 👍🏽! مرحبا don't e\u0301te", method="exact")
    assert found.feature_names == ["हिन्दी", "में", "👩‍👩‍👧", "👍🏽", "!", "مرحبا", "don't", "e\u0301te"]


@pytest.mark.parametrize("text, more, says", [
    ("", {}, "no players"), ("...", {"split": r"\w"}, "no players"),
    ("ab", {"split": lambda text: [(0, 2), (1, 2)]}, "overlap"),
    ("ab", {"split": lambda text: [(0, 9)]}, "within the text"),
    ("ab", {"split": lambda text: [(-1, 1)]}, "within the text"),
    ("a b", {"split": "("}, "regular expression"), (b"abc", {}, "text"), (None, {}, "text"),
    ([None], {}, "text"),
])
def test_texts_without_players(text, more, says):
    with pytest.raises(apportion.Error, match=says):
        apportion.explain_text(lambda texts: np.zeros(len(texts)), text, **more)


def test_models_of_texts_that_fail():
    with pytest.raises(apportion.ModelError, match="no such thing"):
        apportion.explain_text(lambda texts: {}["no such thing"], "a b")
    with pytest.raises(apportion.ModelError, match="shape"):
        apportion.explain_text(lambda texts: np.zeros(3), "a b")
    with pytest.raises(apportion.ModelError, match="is not callable and has no predict method"):
        apportion.explain_text(7, "a b")


def test_parts_of_images_are_players(enumerated):
    random = np.random.default_rng(3)
    image = random.random((5, 6, 3))

    def model(images):
        return images[:, :2].sum(axis=(1, 2, 3)) * images[:, 4, 5, 1]

    found = apportion.explain_image(model, image, segments="2x3", reference=0.5)
    labels = found.segments

    def worth(mask):
        present = np.isin(labels, [player for player in range(6) if mask >> player & 1])
        return model(np.where(present[..., None], image, 0.5)[None])[0]

    assert np.allclose(found.values, enumerated(worth, 6)) and found.values[labels].shape == (5, 6)
    assert found.feature_names[4] == "1,1"
    own = np.zeros((5, 6), dtype=int)
    own[2:, :3] = 7
    own[:, 4:] = -1
    parts = apportion.explain_image(model, image, segments=own, graph="borders", value="myerson")
    assert parts.feature_names == ["-1", "0", "7"] and parts.additivity_gap() < 1e-9
    grey = apportion.explain_image(lambda images: images.max(axis=(1, 2)),
                                   (image[..., 0] * 255).astype(np.uint8), segments="1x2")
    assert grey.shape == (2,)


@pytest.mark.parametrize("more, says", [
    ({"segments": "9x1"}, "segments"), ({"segments": "two"}, "segments"),
    ({"segments": np.zeros((2, 2), int)}, "shape"),
    ({"segments": np.zeros((4, 4))}, "expected integers"), ({"reference": np.zeros(3)}, "reference"),
    ({"reference": "black"}, "reference"), ({"batch": 0}, "batch"),
])
def test_images_that_cannot_be_cut(more, says):
    with pytest.raises(apportion.Error, match=says):
        apportion.explain_image(lambda images: images.sum(axis=(1, 2)), np.ones((4, 4)),
                                **{"segments": "2x2", **more})


@pytest.mark.parametrize("reference", [0.5, 256, -1, np.full((4, 4), 0.5)])
def test_a_reference_that_pixels_cannot_be(reference):
    with pytest.raises(apportion.UsageError, match="uint8"):
        apportion.explain_image(lambda images: images.sum(axis=(1, 2)), np.ones((4, 4), np.uint8),
                                segments="2x2", reference=reference)


def test_what_is_no_image():
    with pytest.raises(apportion.DataError, match="shape"):
        apportion.explain_image(lambda images: images, np.ones(4))
