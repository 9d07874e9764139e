"""Figures of explanations, laid out by the engine and drawn with matplotlib or shown as SVG."""
from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks, _core
from ._errors import UsageError
from ._files import write_whole
from ._options import named_options
from ._types import AnyArray, Numbers, Path

if TYPE_CHECKING:
    from ._explanation import Explanation

# CSS pixels per inch, and points of text per inch.
_PIXELS, _POINTS = 96.0, 72.0


class Figure:
    """A figure, which notebooks display."""

    def __init__(self, inner: _core.Figure) -> None:
        self._inner = inner

    @property
    def svg(self) -> str:
        """The figure as the text of an SVG file."""
        return self._inner.svg()

    @property
    def title(self) -> str:
        """The title of the figure."""
        return self._inner.title

    @property
    def description(self) -> str:
        """A description of the figure in one sentence."""
        return self._inner.description

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<{self.title}: {self.description}>"

    def save(self, path: Path, *, scale: float = 2.0) -> None:
        """Writes the figure to a file.

        path: a path that ends in .svg, .png or .csv; a .csv file contains the data of the figure.
        scale: the number of pixels of a .png file per CSS pixel (default 2).

        Raises UsageError for any other path.
        """
        path = _checks.path("path", path)
        ending = os.path.splitext(path)[1].lower()
        if ending == ".svg":
            content = self.svg.encode()
        elif ending == ".png":
            content = self._inner.png(_checks.number("scale", scale))
        elif ending == ".csv":
            content = self._inner.csv().encode()
        else:
            raise UsageError(f"invalid path {path}; figures are saved as .svg, .png or .csv")
        write_whole(path, content)

    def draw(self, ax: Any = None) -> Any:
        """Draws the figure with matplotlib and returns the axes, whose coordinates are CSS pixels.

        ax: the axes to draw into (default None: those of a new figure).
        """
        from matplotlib import pyplot

        width, height = self._inner.size
        if ax is None:
            figure = pyplot.figure(figsize=(width / _PIXELS, height / _PIXELS))
            ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        _draw(self._inner, ax)
        return ax


def _draw(inner: _core.Figure, ax: Any) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Polygon, Rectangle

    width, height = inner.size
    box = ax.get_window_extent()
    # Points per CSS pixel, so that text and lines scale with the axes.
    points = min(box.width / width, box.height / height) * _POINTS / ax.figure.dpi
    ax.set_xlim(0.0, width)
    ax.set_ylim(height, 0.0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    for order, (kind, *rest) in enumerate(inner.shapes(), start=1):
        if kind == "rectangle":
            at, size, colour, opacity = rest
            ax.add_patch(Rectangle(at, *size, facecolor=colour, edgecolor="none", alpha=opacity,
                                   zorder=order))
        elif kind == "line":
            places, colour, thick, dashed, opacity = rest
            style = (0, (5, 4)) if dashed else "solid"
            ax.add_collection(LineCollection([places], colors=colour, linewidths=thick * points,
                                             linestyles=[style], alpha=opacity, zorder=order))
        elif kind == "area":
            places, colour, opacity = rest
            ax.add_patch(Polygon(places, closed=True, facecolor=colour, edgecolor="none", alpha=opacity,
                                 zorder=order))
        elif kind == "dots":
            places, radius, colour = rest
            x, y = np.array(places).reshape(-1, 2).T
            ax.scatter(x, y, s=(2.0 * radius * points) ** 2, color=colour, linewidths=0.0, zorder=order)
        elif kind == "text":
            at, text, size, side, colour, bold, upright = rest
            # Show dollar signs instead of parsing formulas.
            ax.text(*at, text, fontsize=size * points, color=colour, ha=side,
                    va="center_baseline" if not upright else "center",
                    fontweight="bold" if bold else "normal", rotation=90.0 if upright else 0.0,
                    rotation_mode="anchor", parse_math=False, zorder=order)
        else:
            at, size, across, down, pixels = rest
            image = np.frombuffer(pixels, dtype=np.uint8).reshape(down, across, 4)
            ax.imshow(image, extent=(at[0], at[0] + size[0], at[1] + size[1], at[1]), interpolation="nearest",
                      aspect="equal", zorder=order)
            ax.set_xlim(0.0, width)
            ax.set_ylim(height, 0.0)


class Plots:
    """The figures of an explanation, each a method with its name: `explanation.plot.waterfall(row=3)`.

    If matplotlib is installed, a figure is drawn into axes, which are returned. Otherwise, a `Figure` is
    returned, which notebooks display. The method `figure` always returns a `Figure`. Estimates are drawn with
    their errors. All figures have these options:

    ax: the axes of matplotlib (default None: those of a new figure).
    width: the width in CSS pixels (default None: that of `ax`, else 720). The height depends on the width and
        the content.
    seed: the seed of the sample of rows whose dots are drawn if there are many rows (default 0).

    A figure raises UsageError for options that do not match the explanation, and DataError for an explanation
    that lacks the data for it.
    """

    def __init__(self, explanation: Explanation) -> None:
        self._explanation = explanation

    @named_options
    def figure(
        self,
        kind: str,
        *,
        row: int | None = None,
        output: int | str | None = None,
        feature: str | None = None,
        partner: str | None = None,
        top: int = 20,
        where: str | Sequence[str] = (),
        width: float = 720,
        seed: int = 0,
    ) -> Figure:
        """Returns the figure of a kind as a `Figure`, whether or not matplotlib is installed.

        kind: the name of the figure, such as "bar".
        row, output, feature, partner, top, where, seed: as in the method with the name of the figure. Options
            that this method does not have are ignored.
        width: the width in CSS pixels (default 720).

        Raises the errors of the method of the figure.
        """
        explanation = self._explanation
        kind = _checks.choice("figure", kind, tuple(name for name, _ in _core.figures()))
        whole, number, outputs = gathered(explanation, row, seed)
        asked = dict(row=number, output=_place(output, outputs),
                     feature=_checks.text("feature", feature, optional=True),
                     partner=_checks.text("partner", partner, optional=True), top=_checks.whole("top", top),
                     width=_checks.number("width", width), where=_conditions(where))
        return Figure(whole.figure(kind, asked))

    @named_options
    def waterfall(self, *, ax: Any = None, row: int | None = None, output: int | str | None = None,
                  top: int = 20, width: float | None = None, seed: int = 0) -> Any:
        """Draws how each feature moves the prediction of one row from the base value.

        row: the position of the row in the explanation (default None: the first one).
        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("waterfall", ax, width, row=row, output=output, top=top, seed=seed)

    @named_options
    def force(self, *, ax: Any = None, row: int | None = None, output: int | str | None = None, top: int = 20,
              width: float | None = None, seed: int = 0) -> Any:
        """Draws one row: the features that increase its prediction against those that decrease it.

        row: the position of the row in the explanation (default None: the first one).
        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("force", ax, width, row=row, output=output, top=top, seed=seed)

    @named_options
    def bar(self, *, ax: Any = None, output: int | str | None = None, top: int = 20,
            width: float | None = None, seed: int = 0) -> Any:
        """Draws the importance of each feature over all rows: the mean absolute value.

        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("bar", ax, width, output=output, top=top, seed=seed)

    @named_options
    def beeswarm(self, *, ax: Any = None, output: int | str | None = None, top: int = 20,
                 width: float | None = None, seed: int = 0) -> Any:
        """Draws the values of all rows by feature, coloured by feature value.

        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("beeswarm", ax, width, output=output, top=top, seed=seed)

    @named_options
    def scatter(self, *, ax: Any = None, feature: str | None = None, partner: str | None = None,
                output: int | str | None = None, width: float | None = None, seed: int = 0) -> Any:
        """Draws the values of one feature against its inputs, coloured by the inputs of another feature.

        feature: the name of the feature (default None: the most important one).
        partner: the name of the feature whose inputs determine the colours (default None: the one with the
            strongest interaction; for values without interactions, the one whose inputs explain most of the
            variation that the inputs of `feature` leave unexplained).
        output: the name or the index of the output (default None: the first one).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("scatter", ax, width, feature=feature, partner=partner, output=output, seed=seed)

    @named_options
    def heatmap(self, *, ax: Any = None, output: int | str | None = None, top: int = 20,
                width: float | None = None, seed: int = 0) -> Any:
        """Draws the values of all rows as a matrix of colours, with the rows sorted by prediction.

        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("heatmap", ax, width, output=output, top=top, seed=seed)

    @named_options
    def interactions(self, *, ax: Any = None, output: int | str | None = None, top: int = 20,
                     width: float | None = None, seed: int = 0) -> Any:
        """Draws the mean interactions of pairs of features over all rows as a matrix.

        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("interactions", ax, width, output=output, top=top, seed=seed)

    @named_options
    def network(self, *, ax: Any = None, output: int | str | None = None, top: int = 20,
                width: float | None = None, seed: int = 0) -> Any:
        """Draws the mean interactions of pairs of features over all rows as lines between them.

        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("network", ax, width, output=output, top=top, seed=seed)

    @named_options
    def decision(self, *, ax: Any = None, row: int | None = None, output: int | str | None = None,
                 top: int = 20, width: float | None = None, seed: int = 0) -> Any:
        """Draws the values of rows as paths from the base value to the prediction.

        row: the position of a row that is drawn in front of the others (default None).
        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("decision", ax, width, row=row, output=output, top=top, seed=seed)

    @named_options
    def cohorts(self, *, ax: Any = None, where: str | Sequence[str] = (), output: int | str | None = None,
                top: int = 20, width: float | None = None, seed: int = 0) -> Any:
        """Draws the importance of each feature in cohorts of rows, side by side.

        where: at most six conditions that divide the rows into cohorts, such as "age >= 40" (default:
            predictions above their median, and the others).
        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("cohorts", ax, width, where=where, output=output, top=top, seed=seed)

    @named_options
    def convergence(self, *, ax: Any = None, row: int | None = None, width: float | None = None,
                    seed: int = 0) -> Any:
        """Draws the error bound against the evaluations, for runs with a tolerance (`until`).

        row: the position of a row that is drawn in front of the others (default None).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("convergence", ax, width, row=row, seed=seed)

    @named_options
    def groups(self, *, ax: Any = None, output: int | str | None = None, top: int = 20,
               width: float | None = None, seed: int = 0) -> Any:
        """Draws the importance of groups, nested or not: the mean absolute sum of their members' values.

        output: the name or the index of the output (default None: the first one).
        top: the maximum number of features that are shown individually (default 20).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("groups", ax, width, output=output, top=top, seed=seed)

    @named_options
    def text(self, *, ax: Any = None, row: int | None = None, output: int | str | None = None,
             width: float | None = None, seed: int = 0) -> Any:
        """Draws a text whose words are coloured by their values.

        row: the position of the row in the explanation (default None: the first one).
        output: the name or the index of the output (default None: the first one).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("text", ax, width, row=row, output=output, seed=seed)

    @named_options
    def image(self, *, ax: Any = None, row: int | None = None, output: int | str | None = None,
              width: float | None = None, seed: int = 0) -> Any:
        """Draws an image whose parts are coloured by their values.

        row: the position of the row in the explanation (default None: the first one).
        output: the name or the index of the output (default None: the first one).
        ax, width, seed, the returned object and errors: as in `Plots`.
        """
        return self._drawn("image", ax, width, row=row, output=output, seed=seed)

    def _drawn(self, kind: str, ax: Any, width: float | None, **asked: Any) -> Any:
        """Draws a figure with matplotlib, or returns it if matplotlib is not installed."""
        if width is not None:
            asked["width"] = width
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            if ax is not None:
                raise
            return self.figure(kind, **asked)
        if ax is not None and not callable(getattr(ax, "get_window_extent", None)):
            raise UsageError(f"invalid ax {_checks.shown(ax)}; expected a single matplotlib Axes object")
        if ax is not None and width is None:
            asked["width"] = ax.get_window_extent().width / ax.figure.dpi * _PIXELS
        return self.figure(kind, **asked).draw(ax)


def _conditions(where: Any) -> list[str]:
    if isinstance(where, str):
        return [where]
    try:
        return [_checks.text("condition in where", one) for one in where]
    except UsageError:
        raise
    except Exception as error:  # iterators may raise any exception
        raise UsageError(f'invalid where {_checks.shown(where)}; '
                         'expected conditions such as "age >= 40"') from error


def _place(output: Any, names: Sequence[str]) -> int:
    """Returns the position of an output, by name or index."""
    if output is None:
        return 0
    if isinstance(output, str):
        if output in names:
            return names.index(output)
        raise UsageError(f"unknown output {output!r}; expected one of: {', '.join(names)}")
    place = _checks.whole("output", output, -(2**62))
    if not -len(names) <= place < len(names):
        raise UsageError(_checks.out_of_range("output", output, len(names)))
    return place % len(names)


def gathered(
    explanation: Explanation, row: int | None = None, seed: int = 0
) -> tuple[_core.Gathered, int | None, list[str]]:
    """Returns the explanation as the engine draws it, the number of the row at the position `row`, and the
    names of the outputs.
    """
    seed, row = _checks.whole("seed", seed, 0, 2**64 - 1), _checks.whole("row", row, -(2**62), optional=True)
    values, base, predictions, errors = explanation._whole()
    count, outputs = values.shape[0], values.shape[-1]
    if row is not None and not -count <= row < count:
        raise UsageError(_checks.out_of_range("row", row, count))
    numbers = explanation._row_numbers(count).astype(np.uint64)
    wanted = None if row is None else int(numbers[row])
    names = [""] * outputs
    if isinstance(explanation.output_names, (list, tuple)) and len(explanation.output_names) == outputs:
        names = list(explanation.output_names)
    arrays = _arrays(explanation, values, base, predictions, errors, numbers)
    drawn = _core.Gathered(_heading(explanation, names), arrays, wanted, seed)
    return drawn, wanted, [name or str(place) for place, name in enumerate(names)]


class Page:
    """An HTML report in a single file that needs no network. Notebooks show it."""

    def __init__(self, html: str) -> None:
        self._html = html

    @property
    def html(self) -> str:
        """The HTML text of the report."""
        return self._html

    def save(self, path: Path) -> None:
        """Writes the report to a file, completely or not at all.

        path: the path of the file.
        """
        write_whole(_checks.path("path", path), self._html.encode())

    def __repr__(self) -> str:
        return f"<report of {len(self._html.encode()) / 1e6:.2f} MB; save it and open it in a browser>"

    def _repr_html_(self) -> str:
        from html import escape

        # Isolate the report and the notebook from each other.
        return (f'<iframe srcdoc="{escape(self._html, quote=True)}" sandbox="allow-scripts allow-downloads" '
                'title="report" width="100%" height="800" style="border:0"></iframe>')


def page(explanation: Explanation, interactions: Explanation | None = None, title: str | None = None,
         seed: int = 0) -> Page:
    """Returns the report of an explanation, with interactions of the same players if there are some."""
    pairs, title = None, _checks.text("title", title, optional=True)
    if interactions is not None and not isinstance(interactions, type(explanation)):
        raise UsageError(f"invalid interactions {_checks.shown(interactions)}; expected the explanation of "
                         "the same rows with interactions=True")
    if interactions is None and explanation.interactions:
        interactions = explanation
    if interactions is not None:
        if not interactions.interactions:
            raise UsageError("invalid interactions: expected an explanation computed with "
                             "interactions=True, got one with a value for each feature")
        if interactions._player_names() != explanation._player_names():
            raise UsageError("interactions and values have different features; "
                             "compute both with the same model")
        pairs = gathered(interactions, seed=seed)[0]
    return Page(_core.report(gathered(explanation, seed=seed)[0], pairs, title, "explanation.report()"))


def _heading(explanation: Explanation, outputs: list[str]) -> dict[str, Any]:
    about = explanation.about
    players = explanation._player_names()
    data = explanation._rows_of_data()
    features = (list(explanation._inputs()) if data is not None
                and data.shape[1] == len(explanation._inputs()) else list(players))
    groups = about.get("groups")
    known = {"value", "game", "method", "groups", "more", "of"}
    facts = {**{name: value for name, value in about.items() if name not in known},
             **(about.get("more") or {})}
    words = [[str(word) for word in explanation.categories.get(feature, ())]
             for feature in range(len(features))]
    in_words = [(name, value if isinstance(value, str) else json.dumps(value))
                for name, value in facts.items() if value is not None]
    return dict(value=about.get("value") or "shapley", game=about.get("game") or "",
                method=about.get("method") or "", facts=in_words, players=list(players), features=features,
                members=_members(players, features, groups), categories=words, outputs=outputs,
                groups=None if groups is None else json.dumps(groups), interactions=explanation.interactions,
                **_medium(explanation))


def _medium(explanation: Explanation) -> dict[str, Any]:
    """Returns the text or the image whose parts are the players."""
    if explanation.text is not None and explanation.spans is not None:
        ends = np.cumsum([0, *(len(letter.encode()) for letter in explanation.text)]).tolist()
        return dict(text=explanation.text, spans=[(ends[start], ends[end])
                                                  for start, end in explanation.spans])
    if explanation.segments is None:
        return {}
    segments, image = np.asarray(explanation.segments), np.asarray(explanation.image, dtype=np.float64)
    colours = image.reshape(*segments.shape, -1)
    low, high = float(np.nanmin(colours, initial=0.0)), float(np.nanmax(colours, initial=0.0))
    # The channels range from 0 to 1, from 0 to 255, or over any other interval.
    scale = ((0.0, 1.0) if low >= 0.0 and high <= 1.0 else (0.0, 255.0) if low >= 0.0 and high <= 255.0
             else (low, high))
    colours = np.clip(np.nan_to_num((colours - scale[0]) / ((scale[1] - scale[0]) or 1.0)) * 255.0, 0.0,
                      255.0).astype(np.uint8)
    colours = colours[..., :3] if colours.shape[-1] >= 3 else np.repeat(colours[..., :1], 3, axis=-1)
    return dict(image_size=segments.shape, segments=segments.ravel().tolist(),
                pixels=colours.reshape(-1, 3).tolist())


def _members(players: Sequence[str], features: Sequence[str], groups: Any) -> list[list[int]]:
    """Returns the features of each player: the feature with its name, or the features of the group at its
    position."""
    if list(players) == list(features):
        return [[player] for player in range(len(players))]
    places = {name: place for place, name in enumerate(features)}

    def flat(member: Any) -> list[str]:
        return [member] if isinstance(member, str) else [name for inner in member for name in flat(inner)]

    if groups is not None and len(groups) == len(players):
        return [[places[name] for name in flat(group) if name in places] for group in groups]
    return [[places[name]] if name in places else [] for name in players]


def _arrays(explanation: Explanation, values: Numbers, base: Numbers, predictions: Numbers,
            errors: Numbers | None, numbers: AnyArray) -> dict[str, Any]:
    def flat(array: AnyArray | None) -> Numbers | None:
        return None if array is None else np.ascontiguousarray(array, dtype=np.float64)

    count = len(values)
    data = explanation._rows_of_data()
    if data is not None and (explanation.interactions or data.shape[1] != len(explanation._inputs())):
        data = None
    each = {name: None if getattr(explanation, name) is None else np.atleast_1d(getattr(explanation, name))
            for name in ("evaluations", "degrees_of_freedom")}
    certificates = explanation.certificates
    if isinstance(certificates, dict):
        certificates = [certificates]
    ids = explanation.index
    if ids is not None:
        ids = [str(name) for name in np.atleast_1d(np.asarray(ids, dtype=object))]
    written = None
    if certificates is not None:
        written = [None if one is None else json.dumps(one) for one in certificates]
    return dict(
        rows=np.ascontiguousarray(numbers), ids=ids if ids is not None and len(ids) == count else None,
        base=flat(base), predictions=flat(predictions), values=flat(values), std_errors=flat(errors),
        degrees_of_freedom=flat(each["degrees_of_freedom"]), inputs=flat(data), certificates=written,
        evaluations=None if each["evaluations"] is None else each["evaluations"].astype(np.uint64))
