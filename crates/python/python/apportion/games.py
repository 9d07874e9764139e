"""Games: what each coalition of players is worth. Those of textbooks have closed forms of their values.

>>> import apportion
>>> glove = apportion.games.glove(1, 2)
>>> glove.explain().values.round(12).tolist(), glove.shapley().round(12).tolist()
([0.666666666667, 0.166666666667, 0.166666666667], [0.666666666667, 0.166666666667, 0.166666666667])
"""
# mypy: ignore-errors
import warnings

import numpy as np

from . import _checks, _core
from ._data import real_numbers
from ._errors import AccuracyWarning, ModelError, UsageError, of_call
from ._explanation import Explanation
from ._groups import flat, graph as asked_graph, numbered
from ._options import accuracy_in_words, known_options, options
from ._threads import engine, pool


# Options of `explain` beside those that it names itself.
_OPTIONS = ("method", "budget", "until", "confidence", "relative_to", "error", "range", "seed")


class Game:
    """A game of one's own.

    value: a callable from an array of coalitions × players booleans to an array of coalitions, or coalitions × outputs.
    players: how many there are, or their names.

    >>> import apportion
    >>> square = apportion.Game(lambda coalitions: coalitions.sum(axis=1) ** 2, players=4)
    >>> square.explain().values
    array([4., 4., 4., 4.])
    """

    def __init__(self, value, players):
        if not callable(value):
            raise ModelError(f"a game is a callable of coalitions, and no {type(value).__name__}; Game.table takes the values of all coalitions")
        self._value, self.names = value, None
        if isinstance(players, (int, np.integer)):
            count = _checks.whole("number of players", players, 0)
        else:
            self.names = _checks.names("players", players)
            count = len(self.names)
        ends = np.zeros((2, count), dtype=bool)
        ends[1] = True
        first, again = self._answer(ends), self._answer(ends)
        if first.shape != again.shape or not np.array_equal(first, again):
            raise ModelError("the game gave two answers for the same coalitions: fix its seed")
        self._outputs = 1 if first.ndim == 1 else first.shape[1]
        self._core = _core.Game.of_function(self._flat, count, self._outputs)

    def __reduce__(self):
        if self._value is None:
            raise TypeError("a game of a textbook or a table is not pickled: make it anew, or pickle what it is made of")
        return Game, (self._value, self.players if self.names is None else self.names)

    @classmethod
    def _of(cls, core, names=None):
        game = cls.__new__(cls)
        game._core, game.names, game._value, game._outputs = core, names, None, core.output_count
        return game

    @classmethod
    def table(cls, values):
        """A game from the table of its values: 2^n, or 2^n × outputs. Bit i of an entry's place is player i.

        >>> import apportion
        >>> apportion.Game.table([0, 4, 3, 9]).explain().values
        array([5., 4.])
        """
        try:
            values = real_numbers(values)
        except Exception as error:  # whatever an object raises that is made an array
            raise UsageError(f"invalid values {_checks.shown(values)} ({error}); expected an array of 2^n numbers, one for each coalition") from error
        if values.ndim not in (1, 2):
            raise UsageError(f"values has {values.ndim} dimensions; expected an array of shape (2^n,) or (2^n, n_outputs)")
        return cls._of(_core.Game.of_table(values.ravel(), 1 if values.ndim == 1 else values.shape[1]))

    @property
    def players(self):
        """How many players there are."""
        return self._core.player_count

    def __call__(self, coalitions):
        """What coalitions × players booleans are worth."""
        coalitions = _coalitions(coalitions, self.players)
        values = engine(self._core.values, coalitions)
        return values if self._outputs == 1 else values.reshape(len(coalitions), self._outputs)

    def shapley(self):
        """Shapley values by the closed form of the textbook; None for other games."""
        forms = self._core.closed_forms()
        return None if forms is None else forms[0]

    def banzhaf(self):
        """Banzhaf values by the closed form of the textbook; None for other games."""
        forms = self._core.closed_forms()
        return None if forms is None else forms[1]

    def explain(self, *, value="shapley", groups=None, graph=None, interactions=False, threads=None, **more):
        """Divides what the game is worth: an `Explanation` of one row. Options are those of `apportion.Explainer`.

        interactions: True, or "index", for the interactions of all pairs, players × players: by all coalitions where the budget covers them, else
            estimates (Shapley and Banzhaf) with std_errors.
        """
        known_options(more, ("value", "groups", "graph", "interactions", "threads", *_OPTIONS), "Game.explain")
        names = self.names or [str(player) for player in range(self.players)]
        members = None if groups is None else numbered(groups, names, None, threads)
        asked = options(value=value, groups=members, graph=asked_graph(graph, names), **more)
        if interactions is not False and interactions is not None:
            interactions = interactions is True or _checks.choice("form of interactions", interactions, ("index",))
        told = engine(_core.pairs_of_game if interactions else _core.explain_game, self._core, asked, pool(threads))
        for warning in told.get("warnings", ()):
            warnings.warn(warning, AccuracyWarning, stacklevel=2)
        outputs = self._outputs
        players = [",".join(names[player] for player in flat(group)) for group in members] if str(value).startswith("quotient") else names
        shape = (len(players),) * (2 if interactions else 1) + ((outputs,) if outputs > 1 else ())
        errors = told["std_errors"]
        accuracy = None
        if asked["until"] is not None:
            accuracy = accuracy_in_words(**dict(zip(("until", "relative_to", "error", "confidence", "range"), asked["until"])))
        whole = Explanation._of(
            told["values"].reshape(1, *shape), told["base"].reshape(1, -1) if outputs > 1 else told["base"], None, feature_names=players,
            predictions=told["predictions"].reshape(1, -1) if outputs > 1 else told["predictions"],
            std_errors=None if errors is None else errors.reshape(1, *shape), evaluations=told.get("evaluations"),
            degrees_of_freedom=told.get("degrees_of_freedom"), draws=told.get("draws"), certificates=told.get("certificates"),
            interactions="index" if interactions else None,
            about=dict(value=str(value), game="game", method=told["method"], same_as=told.get("same_as"), seed=more.get("seed", 0), accuracy=accuracy))
        return whole[0]

    def _answer(self, coalitions):
        try:
            answer = self._value(coalitions)
        except Exception as error:
            raise of_call("the game", error).with_traceback(error.__traceback__) from error
        try:
            answer = real_numbers(answer)
        except Exception as error:  # whatever an object raises that is made an array
            raise ModelError(f"the game returned {_checks.shown(answer)} ({error}); expected an array of numbers, one for each coalition") from error
        if answer.ndim == 2 and answer.shape[1] == 1:
            answer = np.ascontiguousarray(answer[:, 0])
        if answer.ndim not in (1, 2) or len(answer) != len(coalitions):
            raise ModelError(f"the game returned an array of shape {answer.shape} for {len(coalitions)} coalitions; coalitions, or coalitions × "
                             "outputs are wanted")
        return answer

    def _flat(self, coalitions):
        return self._answer(coalitions).ravel()


def _coalitions(given, players):
    """Returns coalitions as an array of coalitions × players booleans."""
    try:
        found = np.atleast_2d(np.asarray(given))
        if found.dtype.kind not in "biuf" or found.ndim != 2:
            raise ValueError(f"an array of {found.dtype} with {found.ndim} dimensions")
        return np.ascontiguousarray(found, dtype=bool)
    except Exception as error:  # whatever an object raises that is made an array
        raise UsageError(f"invalid coalitions {_checks.shown(given)} ({error}); expected booleans of shape (n_coalitions, {players})") from error


def _list(name, given, of):
    """Returns what `of` makes of each entry of a sequence."""
    if isinstance(given, (str, bytes, dict)) or not hasattr(type(given), "__iter__") or isinstance(given, np.ndarray) and given.ndim != 1:
        raise UsageError(f"invalid {name} {_checks.shown(given)}; expected a list of numbers")
    try:
        entries = list(given)
    except Exception as error:  # whatever an iterator raises
        raise UsageError(f"invalid {name} {_checks.shown(given)} ({type(error).__name__}: {error}); expected a list of numbers") from error
    return [of(one) for one in entries]


def glove(left, right):
    """Players with a left glove and players with a right one: a coalition is worth its pairs."""
    return Game._of(_core.Game.glove(_checks.whole("number of left gloves", left), _checks.whole("number of right gloves", right)))


def airport(costs):
    """A runway as long as the largest plane in the coalition needs."""
    return Game._of(_core.Game.airport(_list("costs", costs, lambda cost: _checks.number("cost", cost))))


def additive(amounts):
    """Everyone brings an amount."""
    return Game._of(_core.Game.additive(_list("amounts", amounts, lambda amount: _checks.number("amount", amount))))


def weighted_voting(quota, weights):
    """A coalition wins whose weights reach the quota."""
    most = 2**64 - 1
    return Game._of(_core.Game.weighted_voting(_checks.whole("quota", quota, 0, most),
                                               _list("weights", weights, lambda weight: _checks.whole("weight", weight, 0, most))))


def unanimity(players, terms, constant=0.0):
    """A sum of unanimity games: each term, (members, coefficient), is had by coalitions that hold all its members."""
    players = _checks.whole("number of players", players)

    def term(given):
        try:
            members, value = () if isinstance(given, (str, bytes, dict)) else given
        except Exception:  # whatever an object raises that is taken for a pair
            raise UsageError(f"invalid term {_checks.shown(given)}; expected a pair of members and coefficient, e.g. ([0, 2], 1.5)") from None
        return _list("members of a term", members, lambda member: _checks.whole("member of a term", member)), _checks.number("coefficient", value)

    return Game._of(_core.Game.sum_of_unanimity(players, _checks.number("constant", constant), _list("terms", terms, term)))


def cooking():
    """The cooking game of three players."""
    return Game._of(_core.Game.cooking())
