#!/usr/bin/env python3
"""Compares order, signs and numbers of figures with those of shap, and writes a page that shows both.

    python3 benches/rivals/plots.py [--out target/rivals/plots.html]

All figures show the same values. Needs the package `apportion`, shap, scikit-learn and matplotlib. Names and
their order are read from shap's axes, and numbers from the text in its figures; ours are read from the data
tables of our figures. Exits with status 1 if they differ.
"""
import argparse
import base64
import csv
import html
import io
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
import numpy as np
import shap
from matplotlib import pyplot
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import apportion

ROW = 3
# Information that only our figures show.
MORE = {
    "waterfall": "the 95% half-width of each estimated value (as whiskers), or a note that values are exact",
    "force": "intervals of estimated values, and the number of blocks that are too small for a name",
    "bar": "the 95% interval of each mean over rows, the error of the estimates, and the mean |value| of the "
           "remaining features",
    "beeswarm": "the number of rows, the selection of rows for the dots, and exact densities over all rows",
    "scatter": "the distribution of the inputs, the feature of the colours and the variance that it "
               "explains, and intervals of estimated values",
    "heatmap": "a scale of the predictions, and the value at which colours saturate",
    "decision": "the number of rows drawn, and intervals of estimated values",
    "cohorts": "the interval of each mean, and the size of each cohort",
}


def texts(figure):
    return [text.get_text().replace("\N{MINUS SIGN}",
                                    "-") for text in figure.findobj(matplotlib.text.Text)
                                    if text.get_text().strip()]


def png(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100, bbox_inches="tight", facecolor="white")
    pyplot.close(figure)
    return base64.b64encode(file.getvalue()).decode()


def theirs(draw):
    """Draws with shap; returns the image, axis names from the top, texts, dots, bar lengths and line ends."""
    pyplot.close("all")
    pyplot.figure()
    draw()
    figure = pyplot.gcf()
    figure.canvas.draw()
    axes = max(figure.axes, key=lambda axes: len(axes.get_yticklabels()))
    low, high = axes.get_ylim()
    labels = sorted((tick.get_position()[1],
                     tick.get_text()) for tick in axes.get_yticklabels() if tick.get_text())
    dots = [np.asarray(found.get_offsets()) for found in axes.collections if isinstance(
        found, matplotlib.collections.PathCollection)]
    return dict(
        image=png(figure), names=[name for _, name in (labels if low > high else reversed(labels))],
        texts=texts(figure),
        dots=np.concatenate([*dots, np.empty((0, 2))]),
        bars=[abs(bar.get_width()) for bar in axes.patches if hasattr(bar, "get_width")],
        ends=[line.get_xdata()[-1] for line in axes.lines if len(line.get_xdata()) > 3])


def lines(figure):
    """Returns the rows of the data table of our figure."""
    return list(csv.DictReader(io.StringIO(figure._inner.csv())))


def orders(figure, names):
    """Returns the names in the order of our figure: from its rows, or its columns."""
    found = [line["feature"] for line in lines(figure) if "feature" in line] or list(lines(figure)[0])
    return [name for name in dict.fromkeys(found) if name in names]


def named(labels, names):
    """Returns the distinct names in labels such as `0.02 = s5`."""
    found = [name for label in labels for name in names if label == name or label.endswith(f"= {name}")]
    return list(dict.fromkeys(found))


def read_off(words, ours):
    """Returns how many of shap's signed numbers equal ours, to the digits shown, and how many there are."""
    shown = [word for word in words if re.fullmatch(r"[+-]\d+(\.\d+)?", word)]
    near = [any(abs(float(word) - value) <= 0.5 * 10.0 ** -len(word.partition(".")[2]) + 1e-12
                for value in ours) for word in shown]
    return sum(near), len(shown)


def judge(kind, shown, figure, names):
    """Returns the comparisons of both figures: whether they agree, and a description."""
    table, judged = lines(figure), []
    if kind in ("waterfall", "bar", "beeswarm", "heatmap", "decision", "cohorts"):
        one, other = named(shown["names"], names), orders(figure, names)
        judged.append((one == other,
                       "the same order" if one == other else f"different orders: {one} and {other}"))
    column = {"waterfall": "value", "bar": "mean |value|", "cohorts": "mean |value|"}.get(kind)
    if column:
        found, count = read_off(shown["texts"], [float(line[column]) for line in table])
        judged.append((found == count > 0,
                       f"{found} of {count} numbers in shap's figure equal ours, including signs"))
    if kind in ("beeswarm", "scatter"):
        ours = sorted(float(line["value"]) for line in table)
        there = sorted(shown["dots"][:, 0 if kind == "beeswarm" else 1])
        alike = len(ours) == len(there) and np.allclose(ours, there, rtol=0.0, atol=1e-9)
        judged.append((alike,
                       f"{len(there)} dots in shap's figure, {len(ours)} in ours, "
                       f"at {'the same' if alike else 'different'} values"))
    if kind == "scatter":
        ours = sorted(float(line["input"]) for line in table)
        alike = np.allclose(ours, sorted(shown["dots"][:, 0]), rtol=0.0, atol=1e-9)
        judged.append((alike, f"{'the same' if alike else 'different'} inputs"))
    if kind == "decision":
        ends = np.array(shown["ends"])
        near = [np.abs(ends - float(line["prediction"])).min() < 1e-6 for line in table]
        judged.append((all(near),
                       f"{sum(near)} of our {len(near)} paths end at the same prediction as one of shap's"))
    return judged


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default="target/rivals/plots.html")
    out = pathlib.Path(parser.parse_args().out)
    rows, targets = load_diabetes(return_X_y=True, as_frame=True)
    model = RandomForestRegressor(n_estimators=50, max_depth=6, random_state=0).fit(rows, targets)
    explanation = apportion.TreeExplainer(model)(rows)
    of_shap = explanation.to_shap()
    names = list(rows.columns)
    plot, plots = explanation.plot, shap.plots
    quiet = dict(show=False)
    by_sex = np.where(rows["sex"] > 0, "sex > 0", "the others").tolist()
    pairs = {
        "waterfall": (lambda: plots.waterfall(of_shap[ROW], max_display=12, **quiet),
                      plot.figure("waterfall", row=ROW)),
        "force": (lambda: plots.force(of_shap[ROW], matplotlib=True, **quiet), plot.figure("force", row=ROW)),
        "bar": (lambda: plots.bar(of_shap, max_display=12, **quiet), plot.figure("bar")),
        "beeswarm": (lambda: plots.beeswarm(of_shap, max_display=12, **quiet), plot.figure("beeswarm")),
        "scatter": (lambda: plots.scatter(of_shap[:, "bmi"], color=of_shap, **quiet),
                    plot.figure("scatter", feature="bmi")),
        "heatmap": (lambda: plots.heatmap(of_shap, max_display=12, **quiet), plot.figure("heatmap")),
        "decision": (lambda: plots.decision(float(of_shap.base_values[0]), of_shap.values, rows, **quiet),
                     plot.figure("decision")),
        "cohorts": (lambda: plots.bar(of_shap.cohorts(by_sex).abs.mean(0), max_display=12, **quiet),
                    plot.figure("cohorts", where="sex > 0")),
    }
    is_same, parts = True, []
    for kind, (draw, figure) in pairs.items():
        shown = theirs(draw)
        judged = judge(kind, shown, figure, names)
        is_same &= all(alike for alike, _ in judged)
        words = "; ".join(said for _, said in judged) or "to be compared visually"
        print(f"{kind}: {words}")
        parts.append(
            f"<section><h2>{kind}</h2><p>Compared: {html.escape(words)}. "
            f"Only in our figure: {html.escape(MORE[kind])}.</p>"
            f'<div><figure><figcaption>shap {shap.__version__}</figcaption>'
            f'<img alt="{kind} by shap" src="data:image/png;base64,{shown["image"]}"></figure>'
            f"<figure><figcaption>apportion {apportion.__version__}</figcaption>{figure.svg}</figure>"
            "</div></section>")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(
        "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Figures side by side</title>"
        "<style>body{font-family:sans-serif;max-width:1600px;margin:auto}"
        "section>div{display:grid;grid-template-columns:1fr 1fr;gap:1rem;align-items:start}"
        "img,svg{width:100%;height:auto}figure{margin:0}</style>"
        "<h1>Figures side by side</h1><p>A random forest on the diabetes data of scikit-learn, 442 rows; "
        "both draw the same values.</p>" + "".join(parts))
    print(out)
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
