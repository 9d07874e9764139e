"""What an explainer can be asked for, as the engine takes it."""
# mypy: ignore-errors
# Options may be given values of any type.
import numpy as np

from . import _checks
from ._errors import UnknownOption, UsageError
from ._names import nearest

# Beside those that `Explainer` names itself.
OPTIONS = ("confidence", "relative_to", "error", "range", "kernel", "precision", "rows", "draws", "bandwidth", "share", "variant", "fallback",
           "keep_null_players")
GAMES = ("marginal", "path-dependent", "gaussian", "copula", "empirical", "frequency")


def options(*, game="marginal", value="shapley", method="auto", budget="auto", until=None, confidence=0.95, relative_to="norm",
            error="euclidean", range=None, seed=0, groups=None, graph=None, linked=False, kernel=None, precision=None, rows=None,
            draws=None, bandwidth=None, share=None, variant=None, fallback=None, keep_null_players=False):
    """All options by name, with those left out as the command has them. Raises UsageError for values of the wrong type."""
    _checks.choice("game", game, GAMES)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise UsageError(f"invalid seed {_checks.shown(seed)}; expected an integer from 0 to 2^64 - 1")
    accuracy = (_checks.number("tolerance for until", until, optional=True), _checks.choice("relative_to", relative_to, ("norm", "range", "nothing")),
                _checks.choice("error", error, ("euclidean", "every-player")), _checks.number("confidence", confidence),
                _checks.number("range", range, optional=True))
    rows, draws = (_checks.whole(name, given, 1, optional=True) for name, given in (("rows", rows), ("draws", draws)))
    kernel, precision, variant, fallback = (_checks.text(name, given, optional=True) for name, given in (
        ("kernel", kernel), ("precision", precision), ("variant", variant), ("fallback", fallback)))
    return dict(game=game, value=_checks.text("value", value), method=_checks.text("method", method), budget=_budget(budget),
                until=None if until is None else accuracy, seed=int(seed), groups=groups, graph=graph, linked=linked, kernel=kernel, precision=precision, rows=rows, draws=draws, bandwidth=_bandwidth(bandwidth),
                share=_checks.number("share", share, optional=True), variant=variant, fallback=fallback,
                keep_null_players=_checks.flag("keep_null_players", keep_null_players))


def _budget(given):
    if isinstance(given, str):
        return str(given)
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    return str(_checks.whole("budget", given, 0, 2**64 - 1))


def _bandwidth(given):
    return given if given is None or isinstance(given, str) else repr(_checks.number("bandwidth", given))


# Options that `Explainer` names itself.
NAMED = ("weights", "value", "method", "budget", "until", "groups", "graph", "game", "model_output", "seed", "feature_names", "output_names", "rounds", "threads",
         "progress", "check")


def known_options(more, known, what):
    """Raises UnknownOption for an option that is not among those known."""
    unknown = next((option for option in more if option not in known), None)
    if unknown is not None:
        meant = nearest(unknown, known)
        raise UnknownOption(f"unknown option {unknown!r} of {what}; " + (f"did you mean {meant!r}?" if meant else f"expected one of: {', '.join(known)}"))


def accuracy_in_words(until, confidence=0.95, relative_to="norm", error="euclidean", range=None):
    """The accuracy that was asked for, as results of the command have it."""
    scale = {"nothing": "in units of the output", "norm": "of the norm of the values", "range": "of the range of the values"}[relative_to]
    measure = {"euclidean": "Euclidean error", "every-player": "error of every player"}[error]
    of_range = "" if range is None else f", range {range:g}"
    return f"{measure} {until:g} {scale}, confidence {confidence:g}{of_range}"
