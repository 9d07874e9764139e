"""The options of explainers: their names, types and defaults, and their form in the engine."""
import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from . import _checks, _core
from ._errors import UnknownOption, UsageError
from ._names import nearest
from ._types import Additive, GameName, Graph, Groups, Measure, Progress, Rounds, Scale

GAMES: tuple[GameName, ...] = get_args(GameName)
SCALES: tuple[Scale, ...] = get_args(Scale)
MEASURES: tuple[Measure, ...] = get_args(Measure)

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `Explainer` with their defaults, for functions that pass them on."""

    weights: npt.ArrayLike | None = None
    value: str = "shapley"
    method: str = "auto"
    budget: int | str = "auto"
    until: float | None = None
    confidence: float = 0.95
    relative_to: Scale = "norm"
    error: Measure = "euclidean"
    range: float | None = None
    groups: Groups = None
    graph: Graph = None
    game: GameName | None = None
    model_output: str = "raw"
    seed: int = 0
    feature_names: Sequence[str] | None = None
    output_names: Sequence[str] | None = None
    rounds: Rounds = None
    threads: int | None = None
    progress: Progress = False
    check: bool = True
    kernel: str | None = None
    precision: Literal["f64", "f32"] | None = None
    rows: int | None = None
    draws: int | None = None
    bandwidth: float | str | None = None
    share: float | None = None
    variant: Literal["paper", "shapr"] | None = None
    fallback: Literal["refuse", "marginal", "nearest"] | None = None
    keep_null_players: bool = False
    additive: Additive = None

    def given(self) -> list[str]:
        """Returns the names of the options that differ from their defaults."""
        return [field.name for field in dataclasses.fields(self)
                if not _is_default(getattr(self, field.name), field.default)]

    def by_name(self) -> dict[str, Any]:
        """Returns the options by name, as keyword arguments of `Explainer`."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def _is_default(given: object, default: object) -> bool:
    return given is default or type(given) is type(default) and bool(given == default)


class Asked(TypedDict):
    """Checked options of the engine."""

    value: str
    method: str
    budget: str
    until: float | None
    confidence: float
    relative_to: Scale
    error: Measure
    range: float | None
    seed: int
    kernel: str | None
    precision: str | None
    rows: int | None
    draws: int | None
    bandwidth: str | None
    share: float | None
    variant: str | None
    fallback: str | None
    keep_null_players: bool


def checked(*, value: object = "shapley", method: object = "auto", budget: object = "auto",
            until: object = None, confidence: object = 0.95, relative_to: object = "norm",
            error: object = "euclidean", range: object = None, seed: object = 0, kernel: object = None,
            precision: object = None, rows: object = None, draws: object = None, bandwidth: object = None,
            share: object = None, variant: object = None, fallback: object = None,
            keep_null_players: object = False) -> Asked:
    """Converts options, which may be objects of any type, to those of the engine.

    Raises UsageError if one of them has the wrong type.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise UsageError(f"invalid seed {_checks.shown(seed)}; expected an integer from 0 to 2^64 - 1")
    return Asked(
        value=_checks.text("value", value), method=_checks.text("method", method), budget=_budget(budget),
        until=_checks.number("tolerance for until", until, optional=True),
        confidence=_checks.number("confidence", confidence),
        relative_to=_checks.choice("relative_to", relative_to, SCALES),
        error=_checks.choice("error", error, MEASURES), range=_checks.number("range", range, optional=True),
        seed=int(seed), kernel=_checks.text("kernel", kernel, optional=True),
        precision=_checks.text("precision", precision, optional=True),
        rows=_checks.whole("rows", rows, 1, optional=True),
        draws=_checks.whole("draws", draws, 1, optional=True), bandwidth=_bandwidth(bandwidth),
        share=_checks.number("share", share, optional=True),
        variant=_checks.text("variant", variant, optional=True),
        fallback=_checks.text("fallback", fallback, optional=True),
        keep_null_players=_checks.flag("keep_null_players", keep_null_players))


def options(asked: Asked | None = None, *, game: str = "marginal", groups: list[Any] | None = None,
            graph: Any = None, linked: bool = False) -> dict[str, Any]:
    """Returns all options in the form that the engine expects.

    asked: the checked options; the defaults if it is None.
    game: the name of the game. groups, graph: by the numbers of features.
    linked: whether outputs are explained after the link function.
    """
    asked = checked() if asked is None else asked
    return {**_of_engine(asked), "game": game, "groups": groups, "graph": graph, "linked": linked}


def _of_engine(asked: Asked) -> dict[str, Any]:
    """Returns the options by name. Without a tolerance, options of the accuracy are included only if they
    differ from their defaults; the engine then raises an error.
    """
    defaults = {"relative_to": "norm", "error": "euclidean", "confidence": 0.95}
    return {name: given for name, given in asked.items()
            if asked["until"] is not None or name not in defaults or given != defaults[name]}


def accuracy_in_words(asked: Asked) -> str | None:
    """Returns the requested accuracy as a string, as in results of the command; None if there is no
    tolerance.
    """
    return _core.accuracy_in_words(_of_engine(asked))


def named_options(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Returns a function that raises UnknownOption, which suggests the nearest option, for unknown keyword
    arguments. The error is a UsageError and a TypeError.
    """
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    what = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def call(*arguments: _P.args, **given: _P.kwargs) -> _R:
        unknown = next((name for name in given if name not in known), None)
        if unknown is not None:
            meant = nearest(unknown, known)
            hint = f"did you mean {meant!r}?" if meant else f"expected one of: {', '.join(known)}"
            raise UnknownOption(f"unknown option {unknown!r} of {what}; {hint}")
        return function(*arguments, **given)

    return call


def _budget(given: object) -> str:
    if isinstance(given, str):
        return str(given)
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    return str(_checks.whole("budget", given, 0, 2**64 - 1))


def _bandwidth(given: object) -> str | None:
    if given is None or isinstance(given, str):
        return given
    return repr(_checks.number("bandwidth", given))
