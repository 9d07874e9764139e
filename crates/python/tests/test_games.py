"""Custom games and textbook games."""
import numpy as np
import pytest

import apportion
from apportion import games


@pytest.mark.parametrize("game",
                         [games.glove(2, 3), games.airport([1, 2, 5]), games.additive([1, 2]),
                          games.weighted_voting(5, [3, 2, 2]),
                                  games.unanimity(4, [([0, 1], 2.0), ([1, 2, 3], -1.0)]), games.cooking()])
def test_closed_forms_are_what_is_found(game, enumerated):
    assert np.allclose(game.explain().values, game.shapley())
    assert np.allclose(game.explain(value="banzhaf").values, game.banzhaf())

    def worth(mask):
        return game([[mask >> player & 1 for player in range(game.players)]])[0]

    assert np.allclose(game.shapley(), enumerated(worth, game.players))


def test_a_game_of_ones_own():
    square = apportion.Game(lambda coalitions: coalitions.sum(axis=1) ** 2.0, players=["a", "b", "c"])
    found = square.explain()
    assert found.values.tolist() == [3.0, 3.0, 3.0] and found["b"].values == 3.0
    large = apportion.Game(lambda coalitions: coalitions.sum(axis=1) ** 2.0, players=40)
    estimate = large.explain(budget="20n", seed=1)
    assert np.allclose(estimate.values, 40) and estimate.evaluations <= 800
    two = apportion.Game(lambda coalitions: np.column_stack([coalitions[:, 0], coalitions.all(axis=1)]),
                         players=2)
    assert two.explain().values.tolist() == [[1.0, 0.5], [0.0, 0.5]]
    assert apportion.Game.table([0, 1, 2, 5]).explain().values.tolist() == [2.0, 3.0]
    owen = square.explain(value="owen", groups=[["a", "b"], ["c"]])
    assert np.isclose(owen.values.sum(), 9)


def test_values_that_differ_by_rounding_are_repeated():
    rng = np.random.default_rng(1)

    def on_threads(coalitions):
        return coalitions.sum(axis=1) ** 2 * (1 + 1e-12 * rng.standard_normal(len(coalitions)))

    found = apportion.Game(on_threads, players=4).explain()
    assert np.allclose(found.values, 4, rtol=1e-9)
    with pytest.raises(apportion.ModelError, match="not deterministic"):
        apportion.Game(lambda coalitions: coalitions.sum(axis=1) + 1e-3 * rng.random(len(coalitions)), 4)


def test_games_that_are_none():
    with pytest.raises(apportion.ModelError, match="not deterministic"):
        apportion.Game(lambda coalitions: np.random.default_rng().random(len(coalitions)), players=3)
    with pytest.raises(apportion.ModelError, match="shape"):
        apportion.Game(lambda coalitions: np.zeros(7), players=3)
    with pytest.raises(apportion.ModelError, match="nan|NaN"):
        apportion.Game(lambda coalitions: np.where(coalitions.sum(axis=1) == 2, np.nan, 0.0),
                       players=3).explain()
    with pytest.raises(ZeroDivisionError):
        apportion.Game(lambda coalitions: np.zeros(len(coalitions)) if coalitions.sum(axis=1).max() in (
            0, 3) and len(coalitions) == 2 else 1 / 0,
                       players=3).explain()
    with pytest.raises(apportion.ModelError, match="complex"):
        apportion.Game(lambda coalitions: coalitions.sum(axis=1) * 1j, players=3)
    # A masked entry is missing, and thus not a valid coalition value.
    with pytest.raises(apportion.ModelError, match="nan|NaN"):
        apportion.Game(lambda coalitions: np.ma.masked_equal(coalitions.sum(axis=1), 2), players=3).explain()
    for values in (["a", "b"], [1j, 2], np.zeros((2, 2, 2))):
        with pytest.raises(apportion.UsageError, match="values"):
            apportion.Game.table(values)
    for make in (lambda: games.glove(0, 0), lambda: apportion.Game.table([1, 2, 3]),
                 lambda: games.airport([-1]),
                 lambda: apportion.Game(None, 3), lambda: apportion.Game(len, -1),
                 lambda: apportion.Game(len, 2.5)):
        with pytest.raises(apportion.Error):
            make()


def test_groups_from_data():
    row = np.arange(100.0)
    columns = np.column_stack([row, row * 37 % 101, row**2])
    assert apportion.groups(columns) == [[0, 2], [1]]
    assert len(apportion.groups(columns, count=3)) == 3
    with pytest.raises(apportion.UsageError):
        apportion.groups(columns, count=9)
    pandas = pytest.importorskip("pandas")
    assert apportion.groups(pandas.DataFrame(columns, columns=["side", "noise", "area"])) == [[
        "side", "area"], ["noise"]]


def test_pairs_of_players_have_their_indices_exact_or_estimated():
    terms = [((0, 1), 2.0), ((1, 2, 3), 3.0), ((4,), 1.0)]
    few = apportion.games.unanimity(6, terms).explain(interactions=True)
    assert few.interactions == "index" and few.std_errors is None
    assert few.values.shape == (6, 6) and np.isclose(few.values[0, 1], 2.0) and np.isclose(
        few.values[1, 2], 1.5)
    many = apportion.Game(lambda asked: 2.0 * (asked[:, 0] & asked[:, 1]) + asked[:, 4], 30)
    told = many.explain(interactions="index", budget="20n", seed=3)
    assert told.method == "learned-spectrum" and abs(told.values[
        0, 1] - 2.0) < 0.05 and told.std_errors.shape == (30, 30)
    assert np.array_equal(np.diagonal(told.values), many.explain(budget="20n", seed=3).values)
    for refused, says in ((dict(interactions="remainder"), "index"),
                          (dict(interactions=True, method="permutation"), "interactions")):
        with pytest.raises(apportion.Error, match=says):
            many.explain(**refused)
