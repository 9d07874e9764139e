"""Games: a value for each coalition of players. Textbook games have closed forms of their Shapley values.

>>> import apportion
>>> glove = apportion.games.glove(1, 2)
>>> glove.explain().values.round(12).tolist(), glove.shapley().round(12).tolist()
([0.666666666667, 0.166666666667, 0.166666666667], [0.666666666667, 0.166666666667, 0.166666666667])
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from . import _checks, _core
from ._data import real_numbers
from ._errors import AccuracyWarning, ModelError, UsageError, of_call, warn
from ._explanation import Explanation
from ._groups import flat, graph as asked_graph, numbered
from ._options import accuracy_in_words, checked, named_options, options
from ._threads import engine, pool
from ._types import Booleans, Graph, Groups, Measure, Numbers, Scale

_Value: TypeAlias = Callable[[Booleans], npt.ArrayLike]
_Engine: TypeAlias = _core.Game
_T = TypeVar("_T")
# The built-in function, which an option of `Game.explain` shadows.
_range = range


class Game:
    """A game: the value of each coalition of players.

    value: a function from an array of booleans of shape (n_coalitions, n_players), True for players that are
        present, to an array of shape (n_coalitions,) or (n_coalitions, n_outputs).
    players: the number of players, or their names.

    Values of the same coalition in two calls may differ by rounding errors, e.g. if several threads or a GPU
    compute sums: by at most 1e-6 of the larger of the values of the empty and the grand coalition.

    Raises ModelError if `value` is not a function of this kind, and UsageError for invalid players.

    >>> import apportion
    >>> square = apportion.Game(lambda coalitions: coalitions.sum(axis=1) ** 2, players=4)
    >>> square.explain().values
    array([4., 4., 4., 4.])
    """

    names: list[str] | None
    _value: _Value | None
    _core: _Engine
    _outputs: int

    def __init__(self, value: _Value, players: int | Iterable[str]) -> None:
        if not callable(value):
            raise ModelError(f"invalid game of type {type(value).__name__}; expected a function of "
                             "coalitions (Game.table expects the values of all coalitions)")
        self._value, self.names = value, None
        if isinstance(players, (int, np.integer)):
            count = _checks.whole("number of players", players, 0)
        else:
            self.names = _checks.names("players", players)
            count = len(self.names)
        ends = np.zeros((2, count), dtype=bool)
        ends[1] = True
        first, again = self._answer(ends), self._answer(ends)
        if not _checks.is_repeated(first, again):
            raise ModelError("the game is not deterministic: it returned different values for the same "
                             "coalitions; fix its seed")
        self._outputs = 1 if first.ndim == 1 else first.shape[1]
        self._core = _Engine.of_function(self._flat, count, self._outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._value is None:
            raise TypeError("textbook games and tables cannot be pickled; pickle their arguments instead")
        return Game, (self._value, self.players if self.names is None else self.names)

    @classmethod
    def _of(cls, core: _Engine, names: list[str] | None = None) -> Game:
        game = cls.__new__(cls)
        game._core, game.names, game._value, game._outputs = core, names, None, core.output_count
        return game

    @classmethod
    def table(cls, values: npt.ArrayLike) -> Game:
        """Returns the game with a table of values.

        values: an array of shape (2^n,) or (2^n, n_outputs) with the value of each coalition of n players.
            Bit i of the index of a coalition is 1 if player i is present.

        Raises UsageError for any other array.

        >>> import apportion
        >>> apportion.Game.table([0, 4, 3, 9]).explain().values
        array([5., 4.])
        """
        try:
            found = real_numbers(values)
        except Exception as error:  # conversion to an array may raise any exception
            raise UsageError(f"invalid values {_checks.shown(values)} ({error}); "
                             "expected an array of 2^n numbers, one for each coalition") from error
        if found.ndim not in (1, 2):
            raise UsageError(f"values is a {found.ndim}-D array; "
                             "expected an array of shape (2^n,) or (2^n, n_outputs)")
        return cls._of(_Engine.of_table(found.ravel(), 1 if found.ndim == 1 else found.shape[1]))

    @property
    def players(self) -> int:
        """The number of players."""
        return self._core.player_count

    def __call__(self, coalitions: npt.ArrayLike) -> Numbers:
        """Returns the values of coalitions, of shape (n_coalitions,) or (n_coalitions, n_outputs).

        coalitions: booleans of shape (n_coalitions, n_players).

        Raises UsageError for anything else.
        """
        present = _coalitions(coalitions, self.players)
        values = engine(self._core.values, present)
        return values if self._outputs == 1 else values.reshape(len(present), self._outputs)

    def shapley(self) -> Numbers | None:
        """Returns the Shapley values by the closed form of a textbook game; None for other games."""
        forms = self._core.closed_forms()
        return None if forms is None else forms[0]

    def banzhaf(self) -> Numbers | None:
        """Returns the Banzhaf values by the closed form of a textbook game; None for other games."""
        forms = self._core.closed_forms()
        return None if forms is None else forms[1]

    @named_options
    def explain(
        self,
        *,
        value: str = "shapley",
        groups: Groups = None,
        graph: Graph = None,
        interactions: bool | str = False,
        method: str = "auto",
        budget: int | str = "auto",
        until: float | None = None,
        confidence: float = 0.95,
        relative_to: Scale = "norm",
        error: Measure = "euclidean",
        range: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> Explanation:
        """Returns the values of the players as an `Explanation` of one row.

        value: the solution concept (default "shapley").
        groups, graph: the groups and the graph of the players, by name or number (default None).
        interactions: True or "index" for the interaction index of all pairs, of shape (n_players, n_players)
            (default False): exact if all coalitions are within the budget, else estimates with std_errors
            (Shapley and Banzhaf).
        method, budget, until, confidence, relative_to, error, range, seed, threads: as in
            `apportion.Explainer`.

        Raises UsageError for invalid options, and ModelError if the function of the game fails. Issues an
        AccuracyWarning if the values are less accurate than `until`.
        """
        names = self.names or [str(player) for player in _range(self.players)]
        members = None if groups is None else numbered(groups, names, None, threads)
        asked = checked(value=value, method=method, budget=budget, until=until, confidence=confidence,
                        relative_to=relative_to, error=error, range=range, seed=seed)
        of_pairs = interactions is not False and interactions is not None
        if of_pairs and interactions is not True:
            _checks.choice("form of interactions", interactions, ("index",))
        told = engine(_core.pairs_of_game if of_pairs else _core.explain_game, self._core,
                      options(asked, game="marginal", groups=members, graph=asked_graph(graph, names)),
                      pool(threads))
        for warning in told.get("warnings", ()):
            warn(warning, AccuracyWarning)
        outputs = self._outputs
        players = names
        if members is not None and asked["value"].startswith("quotient"):
            players = [",".join(names[player] for player in flat(group)) for group in members]
        shape = (len(players),) * (2 if of_pairs else 1) + ((outputs,) if outputs > 1 else ())
        per_row = (1, outputs) if outputs > 1 else (1,)
        errors = told["std_errors"]
        about = dict(value=asked["value"], game="game", method=told["method"], same_as=told.get("same_as"),
                     seed=asked["seed"], accuracy=accuracy_in_words(asked))
        whole = Explanation._of(
            told["values"].reshape(1, *shape), told["base"].reshape(per_row), None, feature_names=players,
            predictions=told["predictions"].reshape(per_row),
            std_errors=None if errors is None else errors.reshape(1, *shape),
            evaluations=told.get("evaluations"), degrees_of_freedom=told.get("degrees_of_freedom"),
            draws=told.get("draws"), certificates=told.get("certificates"),
            interactions="index" if of_pairs else None, about=about)
        return whole[0]

    def _answer(self, coalitions: Booleans) -> Numbers:
        assert self._value is not None
        try:
            said = self._value(coalitions)
        except Exception as error:
            raise of_call("the game", error).with_traceback(error.__traceback__) from error
        try:
            answer = real_numbers(said)
        except Exception as error:  # conversion to an array may raise any exception
            raise ModelError(f"the game returned {_checks.shown(said)} ({error}); "
                             "expected an array of numbers, one for each coalition") from error
        if answer.ndim == 2 and answer.shape[1] == 1:
            answer = np.ascontiguousarray(answer[:, 0])
        if answer.ndim not in (1, 2) or len(answer) != len(coalitions):
            raise ModelError(f"the game returned an array of shape {answer.shape} for "
                             f'{_checks.counted(len(coalitions), "coalition")}, '
                             "expected (n_coalitions,) or (n_coalitions, n_outputs)")
        return answer

    def _flat(self, coalitions: Booleans) -> Numbers:
        return self._answer(coalitions).ravel()


def _coalitions(given: Any, players: int) -> Booleans:
    """Returns coalitions as an array of coalitions × players booleans."""
    try:
        found = np.atleast_2d(np.asarray(given))
        if found.dtype.kind not in "biuf" or found.ndim != 2:
            raise ValueError(f"a {found.ndim}-D array of {found.dtype}")
        return np.ascontiguousarray(found, dtype=bool)
    except Exception as error:  # conversion to an array may raise any exception
        raise UsageError(f"invalid coalitions {_checks.shown(given)} ({error}); "
                         f"expected booleans of shape (n_coalitions, {players})") from error


def _list(name: str, given: Any, of: Callable[[Any], _T], expected: str = "a list of numbers") -> list[_T]:
    """Returns the results of `of` for the entries of a sequence."""
    if (isinstance(given, (str, bytes, dict)) or not hasattr(type(given), "__iter__")
            or isinstance(given, np.ndarray) and given.ndim != 1):
        raise UsageError(f"invalid {name} {_checks.shown(given)}; expected {expected}")
    try:
        entries = list(given)
    except Exception as error:  # iterators may raise any exception
        raise UsageError(f"invalid {name} {_checks.shown(given)} ({type(error).__name__}: {error}); "
                         f"expected {expected}") from error
    return [of(one) for one in entries]


def glove(left: int, right: int) -> Game:
    """Returns the glove game: the value of a coalition is its number of pairs of gloves.

    left, right: the number of players with a left glove and with a right glove. Players with a left glove
        come first.

    Raises UsageError for invalid numbers.
    """
    return Game._of(_Engine.glove(_checks.whole("number of left gloves", left),
                                  _checks.whole("number of right gloves", right)))


def airport(costs: Iterable[float]) -> Game:
    """Returns the airport game: the value of a coalition is the largest of the costs of its players.

    costs: the cost of the runway that the plane of each player requires.

    Raises UsageError for anything but a list of numbers.
    """
    return Game._of(_Engine.airport(_list("costs", costs, lambda cost: _checks.number("cost", cost))))


def additive(amounts: Iterable[float]) -> Game:
    """Returns the additive game: the value of a coalition is the sum of the amounts of its players.

    amounts: the amount of each player.

    Raises UsageError for anything but a list of numbers.
    """
    return Game._of(_Engine.additive(_list("amounts", amounts,
                                           lambda amount: _checks.number("amount", amount))))


def weighted_voting(quota: int, weights: Iterable[int]) -> Game:
    """Returns the weighted voting game: the value of a coalition is 1 if its weights reach the quota, else 0.

    quota: the weight that a coalition requires. weights: the weight of each player.

    Raises UsageError for anything but integers from 0 to 2^64 - 1.
    """
    most = 2**64 - 1
    of_players = _list("weights", weights, lambda weight: _checks.whole("weight", weight, 0, most))
    return Game._of(_Engine.weighted_voting(_checks.whole("quota", quota, 0, most), of_players))


def unanimity(players: int, terms: Iterable[tuple[Sequence[int], float]], constant: float = 0.0) -> Game:
    """Returns a sum of unanimity games: the value of a coalition is a constant plus the sum of the
    coefficients of those terms whose members are all present.

    players: the number of players.
    terms: pairs of the members of a term (numbers of players) and its coefficient.
    constant: the value of the empty coalition (default 0).

    Raises UsageError for anything else.
    """
    players = _checks.whole("number of players", players)

    def term(given: Any) -> tuple[list[int], float]:
        try:
            if isinstance(given, (str, bytes, dict)):
                raise TypeError("not a pair")
            members, value = given
        except Exception:  # unpacking may raise any exception
            raise UsageError(f"invalid term {_checks.shown(given)}; "
                             "expected a pair of members and coefficient, e.g. ([0, 2], 1.5)") from None
        of_term = _list("members of a term", members,
                        lambda member: _checks.whole("member of a term", member), "a list of players")
        return of_term, _checks.number("coefficient", value)

    return Game._of(_Engine.sum_of_unanimity(players, _checks.number("constant", constant),
                                             _list("terms", terms, term,
                                                   "a list of pairs, e.g. [([0, 2], 1.5)]")))


def cooking() -> Game:
    """Returns the cooking game, a textbook example with three players."""
    return Game._of(_Engine.cooking())
