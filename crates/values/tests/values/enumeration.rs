//! Tests enumeration against both definitions and closed forms, on any number of threads, and checks its
//! errors.

use std::sync::atomic::{AtomicUsize, Ordering};

use apportion_games::{
    Additive, Airport, ClosedForm, Coalitions, Cooking, Counted, Game, GameError, Glove, SumOfUnanimity,
    TabulatedGame, WeightedVoting,
};
use apportion_values::{Attributions, LeastSquaresForm, Semivalue, ValueError, enumerate, enumerate_many};

use crate::common::{assert_close, random_game};

const BOTH: [Semivalue; 2] = [Semivalue::Shapley, Semivalue::Banzhaf];

/// Returns at least one semivalue of each kind, for games of `players` players.
fn all(players: usize) -> Vec<Semivalue> {
    let weights: Vec<f64> = (1..=players).map(|weight| weight as f64).collect();
    let distribution: Vec<f64> = weights.iter().map(|weight| weight / weights.iter().sum::<f64>()).collect();
    vec![
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.2).unwrap(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        Semivalue::beta_shapley(0.5, 3.0).unwrap(),
        Semivalue::from_size_distribution(&distribution).unwrap(),
        Semivalue::mixture(&[0.1, 0.6, 1.0], &[0.3, 0.5, 0.2]).unwrap(),
    ]
}

/// Wraps the table in a game that does not expose it, so that it is evaluated in batches.
fn counted(game: &TabulatedGame) -> Counted<&TabulatedGame> {
    Counted::new(game)
}

/// Returns the values by definition, player by player and coalition by coalition.
fn by_definition(game: &TabulatedGame, value: &Semivalue) -> Vec<f64> {
    let (players, outputs) = (game.players(), game.outputs());
    let mut values = vec![0.0; players * outputs];
    for player in 0..players {
        for mask in (0..1u64 << players).filter(|mask| mask >> player & 1 == 0) {
            let weight = value.coefficient(players, mask.count_ones() as usize);
            for output in 0..outputs {
                let added = game.value(mask | 1 << player)[output] - game.value(mask)[output];
                values[player * outputs + output] += weight * added;
            }
        }
    }
    values
}

/// Returns the Shapley values by their other definition: the mean marginal contribution over all orders of
/// the players.
fn by_orders(game: &TabulatedGame) -> Vec<f64> {
    /// Adds the marginal contributions in all orders that begin with the members of `mask` to `sums`, and
    /// returns the number of these orders. `added` contains the contributions of the members.
    fn visit(game: &TabulatedGame, mask: u64, added: &mut [f64], sums: &mut [f64]) -> f64 {
        let players = game.players();
        if mask.count_ones() as usize == players {
            sums.iter_mut().zip(added).for_each(|(sum, added)| *sum += *added);
            return 1.0;
        }
        let mut orders = 0.0;
        for player in (0..players).filter(|player| mask >> player & 1 == 0) {
            added[player] = game.value(mask | 1 << player)[0] - game.value(mask)[0];
            orders += visit(game, mask | 1 << player, added, sums);
        }
        orders
    }
    let (mut added, mut sums) = (vec![0.0; game.players()], vec![0.0; game.players()]);
    let orders = visit(game, 0, &mut added, &mut sums);
    sums.into_iter().map(|sum| sum / orders).collect()
}

#[test]
fn values_are_those_of_the_definition() {
    for players in [1, 2, 3, 7, 8, 12, 13, 14] {
        for outputs in [1, 3] {
            let game = random_game(players, outputs);
            let values = all(players);
            for (value, got) in values.iter().zip(enumerate_many(&game, &values).unwrap()) {
                let what = format!("{value}, {players} players, {outputs} outputs");
                assert_close(&got.values, &by_definition(&game, value), 1e-14, &what);
                assert_eq!((got.rows(), got.players(), got.outputs()), (1, players, outputs));
                assert_eq!(got.base, game.value(0));
                assert_eq!(got.predictions, game.value((1 << players) - 1));
                assert_eq!(got.value(0, players - 1), &got.values[(players - 1) * outputs..]);
                assert_eq!(enumerate(&game, value.clone()).unwrap(), got, "{what}: alone or together");
            }
        }
    }
}

#[test]
fn shapley_values_are_means_over_all_orders() {
    for players in 1..=7 {
        let game = random_game(players, 1);
        let got = enumerate(&game, Semivalue::Shapley).unwrap();
        assert_close(&got.values, &by_orders(&game), 1e-14, &format!("{players} players"));
    }
}

#[test]
fn a_large_constant_changes_nothing() {
    let game = random_game(12, 1);
    // The shift is a power of two, so that the shifted table equals the original one up to a rounding of
    // 2^−23.
    let shifted = TabulatedGame::from_fn(12, |mask| game.value(mask)[0] + 2f64.powi(30)).unwrap();
    let back = TabulatedGame::from_fn(12, |mask| shifted.value(mask)[0] - 2f64.powi(30)).unwrap();
    for value in BOTH {
        let [got, expected] = [&shifted, &back].map(|game| enumerate(game, value.clone()).unwrap());
        assert_close(&got.values, &expected.values, 1e-15, &value.to_string());
    }
}

#[test]
fn textbook_games_have_the_values_of_their_closed_forms() {
    let games: Vec<(&str, Box<dyn ClosedForm>)> = vec![
        ("additive", Box::new(Additive::new((0..15).map(f64::from).collect::<Vec<_>>()).unwrap())),
        ("unanimity", Box::new(SumOfUnanimity::unanimity(14, [0, 3, 13]).unwrap())),
        ("sum of unanimity", Box::new(SumOfUnanimity::random(16, 100, 9, 4).with_constant(1e3).unwrap())),
        ("gloves", Box::new(Glove::new(5, 11).unwrap())),
        ("airport", Box::new(Airport::new((0..15).map(|i| f64::from(i * i)).collect::<Vec<_>>()).unwrap())),
        ("voting", Box::new(WeightedVoting::new(40, (0..15).collect::<Vec<_>>()).unwrap())),
        ("cooking", Box::new(Cooking)),
    ];
    for (name, game) in games {
        let [shapley, banzhaf] = BOTH.map(|value| enumerate(&game, value).unwrap());
        let range = 1.0 + (shapley.predictions[0] - shapley.base[0]).abs();
        assert_close(&shapley.values, &game.shapley(), 1e-13 * range, name);
        assert_close(&banzhaf.values, &game.banzhaf(), 1e-13 * range, name);
    }
}

#[test]
fn one_player_gets_everything() {
    let game = TabulatedGame::new(vec![2.0, 5.0, 10.0, -1.0], 2).unwrap();
    for value in BOTH {
        assert_eq!(enumerate(&game, value).unwrap().values, [8.0, -6.0]);
    }
}

#[test]
fn every_coalition_is_asked_for_once_for_all_values_together() {
    for players in [1, 5, 12, 15] {
        let table = random_game(players, 2);
        let game = counted(&table);
        let got = enumerate_many(&game, &BOTH).unwrap();
        assert_eq!(game.evaluations(), 1 << players);
        // A table that is read directly yields the same bits as the same table evaluated in batches.
        assert_eq!(got, enumerate_many(&table, &BOTH).unwrap());
    }
}

#[test]
fn no_value_wanted_means_no_question_asked() {
    let table = random_game(3, 1);
    let game = counted(&table);
    assert_eq!(enumerate_many(&game, &[]).unwrap(), []);
    assert_eq!(game.calls(), 0);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let table = random_game(16, 3);
    let results: Vec<Vec<Attributions>> = [1, 2, 3]
        .into_iter()
        .flat_map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                [enumerate_many(&table, &BOTH).unwrap(), enumerate_many(&counted(&table), &BOTH).unwrap()]
            })
        })
        .collect();
    assert!(results.iter().all(|result| *result == results[0]));
}

/// A game that computes the value of a coalition from its mask, and fails if this value is −1. It declares
/// whether it supports threads, and records how many calls run at the same time.
struct Watched<F> {
    players: usize,
    parallel: bool,
    inside: AtomicUsize,
    max_inside: AtomicUsize,
    calls: AtomicUsize,
    value: F,
}

impl<F: Fn(u64) -> f64 + Sync> Watched<F> {
    fn new(players: usize, parallel: bool, value: F) -> Self {
        let (inside, max_inside, calls) = Default::default();
        Self { players, parallel, inside, max_inside, calls, value }
    }
}

impl<F: Fn(u64) -> f64 + Sync> Game for Watched<F> {
    fn players(&self) -> usize {
        self.players
    }
    fn parallel(&self) -> bool {
        self.parallel
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.max_inside.fetch_max(inside, Ordering::SeqCst);
        let result = out.iter_mut().zip(batch.words()).try_for_each(|(value, &mask)| {
            *value = (self.value)(mask);
            if *value == -1.0 {
                return Err(GameError::Parameter { what: format!("no value for {mask}") });
            }
            Ok(())
        });
        self.inside.fetch_sub(1, Ordering::SeqCst);
        result
    }
}

#[test]
fn a_game_for_one_thread_is_asked_by_one_thread() {
    let game = Watched::new(16, false, |mask| f64::from(mask.count_ones()).powi(2));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let got = pool.install(|| enumerate(&game, Semivalue::Shapley)).unwrap();
    assert_close(&got.values, &[16.0; 16], 1e-12, "square of the size");
    assert_eq!(game.max_inside.into_inner(), 1);
}

#[test]
fn of_several_failures_the_first_is_reported() {
    for parallel in [true, false] {
        let game = Watched::new(16, parallel, |mask| if mask >= 20_000 { -1.0 } else { 0.0 });
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let error = pool.install(|| enumerate(&game, Semivalue::Banzhaf)).unwrap_err();
        assert_eq!(error.to_string(), "no value for 20000");
    }
}

#[test]
fn a_game_that_fails_is_not_asked_to_the_end() {
    let game = Watched::new(22, true, |mask| if mask >= 5000 { -1.0 } else { 0.0 });
    assert!(enumerate(&game, Semivalue::Shapley).is_err());
    assert!(game.calls.into_inner() <= 64, "one wave of 2^18 coalitions");
}

#[test]
fn a_value_that_is_not_finite_is_refused_with_its_coalition() {
    for (broken, bad) in
        [(0, f64::NAN), (8191, f64::INFINITY), (8192, f64::NEG_INFINITY), (16383, f64::INFINITY)]
    {
        let game = Watched::new(14, true, move |mask| if mask == broken { bad } else { 1.0 });
        let error = enumerate(&game, Semivalue::Banzhaf).unwrap_err();
        let ValueError::Game(GameError::NotFinite { coalition, .. }) = &error else { panic!("{error}") };
        assert_eq!(coalition.view().words(), [broken], "{error}");
    }
}

#[test]
fn values_too_large_to_be_summed_are_refused() {
    let game = TabulatedGame::new(vec![-f64::MAX, f64::MAX, 0.0, 0.0], 1).unwrap();
    let error = enumerate(&game, Semivalue::Shapley).unwrap_err();
    assert!(matches!(error, ValueError::Overflow { player: 0, output: 0 }), "{error}");
}

#[test]
fn no_players_and_too_many_are_refused_before_any_work() {
    let nobody = TabulatedGame::new(vec![1.0], 1).unwrap();
    assert!(matches!(
        enumerate(&nobody, Semivalue::Shapley),
        Err(ValueError::Players { actual: 0, max: 25 })
    ));
    let game = Watched::new(26, true, |_| 0.0);
    assert!(matches!(enumerate(&game, Semivalue::Shapley), Err(ValueError::Players { actual: 26, max: 25 })));
    assert_eq!(game.calls.into_inner(), 0);
}

#[test]
fn a_game_behind_a_pointer_is_a_game() {
    let game: &dyn Game = &Cooking;
    assert_close(&enumerate(game, Semivalue::Banzhaf).unwrap().values, &[6.0, 5.0, 4.0], 1e-14, "dyn");
}

#[test]
fn weights_by_size_are_refused_for_games_of_other_players() {
    let value = Semivalue::from_size_distribution(&[0.5, 0.5]).unwrap();
    let refused = enumerate(&random_game(3, 1), value).unwrap_err();
    assert!(matches!(refused, ValueError::WeightsForOtherPlayers { weights: 2, players: 3 }), "{refused}");
}

/// Tests that the gradient of the regression over all coalitions is zero at the value or, under the
/// constraint, the same for all players.
#[test]
fn values_solve_their_least_squares_problem_over_all_coalitions() {
    for players in [2, 3, 5, 6] {
        let game = random_game(players, 1);
        for value in all(players) {
            let Some(form) = value.least_squares() else { continue };
            let phi = enumerate(&game, value.clone()).unwrap().values;
            let (centre, start) = match form {
                LeastSquaresForm::Centred { p } => (p, mean_of(&game, form)),
                _ => (0.0, game.value(0)[0]),
            };
            // The gradient is Σ_S w(S) residual(S) (z_i − centre). It is zero for every player; under the
            // constraint, it is the same for all players.
            let gradient: Vec<f64> = (0..players)
                .map(|player| {
                    let term = |mask: u64| {
                        let weight = form.ln_weight(players, mask.count_ones() as usize).exp();
                        let z = |i: usize| (mask >> i & 1) as f64 - centre;
                        let fitted: f64 = (0..players).map(|i| z(i) * phi[i]).sum();
                        weight * (game.value(mask)[0] - start - fitted) * z(player)
                    };
                    (0..1u64 << players).map(term).sum()
                })
                .collect();
            let mean = match form {
                LeastSquaresForm::Centred { .. } => 0.0,
                _ => gradient.iter().sum::<f64>() / players as f64,
            };
            assert!(gradient.iter().all(|g| (g - mean).abs() < 1e-13), "{value}, {players}: {gradient:?}");
        }
    }
}

/// Returns the intercept: the weighted mean of the game, Σ w(S) v(S) / Σ w(S).
fn mean_of(game: &TabulatedGame, form: LeastSquaresForm) -> f64 {
    let players = game.players();
    let weight = |mask: u64| form.ln_weight(players, mask.count_ones() as usize).exp();
    let total: f64 = (0..1u64 << players).map(weight).sum();
    (0..1u64 << players).map(|mask| weight(mask) * game.value(mask)[0]).sum::<f64>() / total
}
