"""What an explainer can be asked for, as the engine takes it."""
from ._errors import UsageError

# Beside those that `Explainer` names itself.
OPTIONS = ("confidence", "relative_to", "error", "range", "kernel", "precision", "rows", "draws", "bandwidth", "share", "variant", "fallback",
           "keep_null_players")
GAMES = ("marginal", "path-dependent", "gaussian", "copula", "empirical", "frequency")


def options(*, game="marginal", value="shapley", method="auto", budget="auto", until=None, confidence=0.95, relative_to="norm",
            error="euclidean", range=None, seed=0, groups=None, graph=None, linked=False, kernel=None, precision=None, rows=None,
            draws=None, bandwidth=None, share=None, variant=None, fallback=None, keep_null_players=False):
    """All options by name, with those left out as the command has them."""
    if game not in GAMES:
        raise UsageError(f"unknown game {game!r}; known are {', '.join(GAMES)}")
    if not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise UsageError(f"seed={seed!r}: give a whole number from 0 to 2^64 - 1")
    accuracy = None if until is None else (float(until), relative_to, error, float(confidence), None if range is None else float(range))
    return dict(game=game, value=value, method=method, budget=str(budget), until=accuracy, seed=seed, groups=groups, graph=graph, linked=linked,
                kernel=kernel, precision=precision, rows=rows, draws=draws, bandwidth=None if bandwidth is None else str(bandwidth),
                share=share, variant=variant, fallback=fallback, keep_null_players=keep_null_players)


def accuracy_in_words(until, confidence=0.95, relative_to="norm", error="euclidean", range=None):
    """The accuracy that was asked for, as results of the command have it."""
    scale = {"nothing": "in units of the output", "norm": "of the norm of the values", "range": "of the range of the values"}[relative_to]
    measure = {"euclidean": "Euclidean error", "every-player": "error of every player"}[error]
    of_range = "" if range is None else f", range {range:g}"
    return f"{measure} {until:g} {scale}, confidence {confidence:g}{of_range}"
