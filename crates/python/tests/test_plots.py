"""Figures of explanations, with and without matplotlib, and the numbers that they show."""
import csv
import io
import xml.etree.ElementTree

import numpy as np
import pytest

import apportion
from apportion import _core

KINDS = [name for name, _ in _core.figures()]
ONE_ROW = ["waterfall", "force"]
ALL_ROWS = ["bar", "beeswarm", "scatter", "heatmap", "decision", "cohorts"]


@pytest.fixture(scope="module")
def exact(frame, booster):
    rows, _ = frame
    return apportion.TreeExplainer(booster)(rows)


@pytest.fixture(scope="module")
def estimated(numbers):
    rows, _ = numbers
    wide = np.tile(rows, 4)
    return apportion.explain(lambda rows: np.sin(rows).sum(axis=1) + rows[:, 0] * rows[:, 5] * rows[:, 6],
                             wide[:5], wide[3:8],
                             method="leverage-shap", until=0.1)


def table(figure):
    return list(csv.DictReader(io.StringIO(figure._inner.csv())))


@pytest.mark.parametrize("kind", ONE_ROW + ALL_ROWS)
def test_every_figure_is_svg_and_png(exact, estimated, kind, tmp_path):
    for explanation in (exact, estimated):
        figure = explanation.plot.figure(kind)
        assert (xml.etree.ElementTree.fromstring(figure.svg).tag.endswith("svg")
                and figure._repr_svg_() == figure.svg)
        assert figure.title and figure.description and table(figure)
        for ending, begins in [("svg", b"<svg "), ("png", b"\x89PNG"), ("csv", b"")]:
            path = tmp_path / f"figure.{ending}"
            figure.save(path)
            assert path.read_bytes().startswith(begins) and not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("kind", ONE_ROW + ALL_ROWS)
def test_matplotlib_draws_every_figure(exact, estimated, kind):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for explanation in (exact, estimated):
        axes = getattr(explanation.plot, kind)()
        axes.figure.canvas.draw()
        assert axes.patches or axes.collections
        _, own = pyplot.subplots(figsize=(6, 5))
        assert getattr(explanation.plot, kind)(ax=own) is own
        own.figure.canvas.draw()
        pyplot.close("all")


def test_without_matplotlib_figures_are_svg(exact, monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *arguments, **more):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert exact.plot.bar().svg.startswith("<svg ")
    with pytest.raises(ImportError):
        exact.plot.bar(ax=object())


def test_the_numbers_are_those_of_the_explanation(exact, estimated):
    for explanation in (exact, estimated):
        row = len(explanation) - 1
        found = {line["feature"]: line for line in table(explanation.plot.figure("waterfall", row=row))}
        low, high = explanation.intervals()
        for player, name in enumerate(explanation.feature_names):
            assert float(found[name]["value"]) == explanation.values[row, player]
            half = float(found[name]["95% CI half-width"])
            assert half == pytest.approx((high - low)[row, player] / 2, rel=1e-6, abs=1e-300)
        sizes = {line["feature"]: float(line["mean |value|"])
                 for line in table(explanation.plot.figure("bar"))}
        assert list(sizes.values()) == pytest.approx(
            sorted(explanation.importance(), reverse=True), rel=1e-12)


def test_words_are_shown_and_conditions_divide(exact, frame):
    rows, _ = frame
    svg = exact.plot.figure("waterfall", row=0).svg
    assert f"colour = {rows['colour'].iloc[0]}" in svg
    figure = exact.plot.figure("cohorts", where="colour = red")
    assert str(int((rows["colour"] == "red").sum())) in figure.svg
    assert exact.plot.figure("cohorts", where=["rooms >= 2", "rooms < 2"]).svg


def test_interactions_classes_groups_texts_and_images(numbers, booster, frame):
    rows, targets = frame
    pairs = apportion.TreeExplainer(booster)(rows, interactions=True)
    for kind in ("interactions", "network", "bar", "waterfall"):
        assert pairs.plot.figure(kind).svg
    data, _ = numbers
    several = apportion.explain(lambda rows: rows[:, :3], data[:6], data[:4], output_names=["x", "y", "z"])
    assert "for y" in several.plot.figure("bar", output="y").svg and several.plot.figure(
        "bar", output=1).svg == several.plot.figure("bar", output="y").svg
    one = several[0, :, "z"]
    assert one.plot.figure("waterfall").svg
    grouped = apportion.explain(lambda rows: rows.sum(axis=1), data[:6], data[:4], value="owen",
                                groups=[[0, 1], [2, 3]])
    assert grouped.plot.figure("groups").svg
    text = apportion.explain_text(lambda texts: [len(text) for text in texts], "Not <b>funny</b> at all.")
    assert "&lt;" in text.plot.figure("text").svg and "funny" in text.plot.figure("text").svg
    image = apportion.explain_image(lambda images: images.reshape(len(images), -1).sum(axis=1),
                                    np.arange(64.0).reshape(8, 8), segments="4x4")
    assert image.plot.figure("image").svg


@pytest.mark.parametrize("wrong, says", [
    (dict(kind="pie"), "unknown figure"), (dict(kind="waterfall", row=10**6), "row 1000000 is out of range"),
    (dict(kind="scatter", feature="nobody"), "unknown feature"),
    (dict(kind="bar", output="nobody"), "unknown output"),
    (dict(kind="bar", output=7), "output 7 is out of range"),
    (dict(kind="cohorts", where="nothing"), "invalid condition"),
    (dict(kind="network"), "interactions"), (dict(kind="convergence"), "until"),
    (dict(kind="groups"), "groups"),
])
def test_what_is_not_there_is_refused(exact, wrong, says):
    with pytest.raises(apportion.UsageError, match=says):
        exact.plot.figure(**wrong)
    with pytest.raises(apportion.UsageError, match="figures are saved"):
        exact.plot.figure("bar").save("figure.pdf")


def test_a_report_is_a_page(exact, frame, booster, tmp_path):
    rows, _ = frame
    pairs = apportion.TreeExplainer(booster)(rows, interactions=True)
    path = tmp_path / "report.html"
    page = exact.report(path, interactions=pairs, title="A <title>")
    written = path.read_text()
    assert written == page.html and written.startswith("<!DOCTYPE html>") and "A &lt;title&gt;" in written
    assert "sandbox" in page._repr_html_() and "<!DOCTYPE" not in page._repr_html_()
    assert pairs.report().html
    with pytest.raises(apportion.UsageError, match="computed with interactions=True"):
        exact.report(interactions=exact)
    with pytest.raises(apportion.UsageError, match="different features"):
        exact.report(interactions=pairs[:, ["size", "rooms"], ["size", "rooms"]])


def test_the_same_explanation_is_the_same_bytes(exact):
    for kind in ONE_ROW + ALL_ROWS:
        assert exact.plot.figure(kind).svg == exact.plot.figure(kind).svg
    assert exact.report().html == exact.report().html
