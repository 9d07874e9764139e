"""Games: what each coalition of players is worth. Those of textbooks have closed forms of their values.

>>> import apportion
>>> glove = apportion.games.glove(1, 2)
>>> glove.explain().values.round(12).tolist(), glove.shapley().round(12).tolist()
([0.666666666667, 0.166666666667, 0.166666666667], [0.666666666667, 0.166666666667, 0.166666666667])
"""
import warnings

import numpy as np

from . import _core
from ._data import real_numbers
from ._errors import AccuracyWarning, ModelError, UsageError, of_call
from ._explanation import Explanation
from ._groups import flat, graph as asked_graph, numbered
from ._options import accuracy_in_words, options
from ._threads import engine, pool


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
        if not isinstance(players, (int, np.integer)) and not hasattr(players, "__iter__") or isinstance(players, (int, np.integer)) and players < 0:
            raise UsageError(f"players={players!r}: give how many there are, or their names")
        self.names = [str(name) for name in players] if not isinstance(players, (int, np.integer)) else None
        self._value = value
        count = int(players) if self.names is None else len(self.names)
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
        except (TypeError, ValueError) as error:
            raise UsageError(f"values are no array of numbers: {error}") from error
        if values.ndim not in (1, 2):
            raise UsageError(f"values of the shape {values.shape}; coalitions, or coalitions × outputs are wanted")
        return cls._of(_core.Game.of_table(values.ravel(), 1 if values.ndim == 1 else values.shape[1]))

    @property
    def players(self):
        """How many players there are."""
        return self._core.player_count

    def __call__(self, coalitions):
        """What coalitions × players booleans are worth."""
        coalitions = np.ascontiguousarray(np.atleast_2d(coalitions), dtype=bool)
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
        names = self.names or [str(player) for player in range(self.players)]
        members = None if groups is None else numbered(groups, names, None, threads)
        asked = options(value=str(value), groups=members, graph=asked_graph(graph, names), **more)
        if interactions not in (False, True, "index"):
            raise UsageError(f'interactions={interactions!r}: of a game give "index"')
        told = engine(_core.pairs_of_game if interactions else _core.explain_game, self._core, asked, pool(threads))
        for warning in told.get("warnings", ()):
            warnings.warn(warning, AccuracyWarning, stacklevel=2)
        outputs = self._outputs
        players = [",".join(names[player] for player in flat(group)) for group in members] if str(value).startswith("quotient") else names
        shape = (len(players),) * (2 if interactions else 1) + ((outputs,) if outputs > 1 else ())
        errors = told["std_errors"]
        accuracy = None
        if more.get("until") is not None:
            accuracy = accuracy_in_words(**{key: more[key] for key in ("until", "confidence", "relative_to", "error", "range") if key in more})
        whole = Explanation(
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
        except (TypeError, ValueError) as error:
            raise ModelError(f"the game returned what is no array of numbers: {error}") from error
        if answer.ndim == 2 and answer.shape[1] == 1:
            answer = np.ascontiguousarray(answer[:, 0])
        if answer.ndim not in (1, 2) or len(answer) != len(coalitions):
            raise ModelError(f"the game returned an array of shape {answer.shape} for {len(coalitions)} coalitions; coalitions, or coalitions × "
                             "outputs are wanted")
        return answer

    def _flat(self, coalitions):
        return self._answer(coalitions).ravel()


def glove(left, right):
    """Players with a left glove and players with a right one: a coalition is worth its pairs."""
    return Game._of(_core.Game.glove(left, right))


def airport(costs):
    """A runway as long as the largest plane in the coalition needs."""
    return Game._of(_core.Game.airport([float(cost) for cost in costs]))


def additive(amounts):
    """Everyone brings an amount."""
    return Game._of(_core.Game.additive([float(amount) for amount in amounts]))


def weighted_voting(quota, weights):
    """A coalition wins whose weights reach the quota."""
    return Game._of(_core.Game.weighted_voting(int(quota), [int(weight) for weight in weights]))


def unanimity(players, terms, constant=0.0):
    """A sum of unanimity games: each term, (members, coefficient), is had by coalitions that hold all its members."""
    return Game._of(_core.Game.sum_of_unanimity(int(players), float(constant), [(list(members), float(value)) for members, value in terms]))


def cooking():
    """The cooking game of three players."""
    return Game._of(_core.Game.cooking())
