//! Tests the closed forms of textbook games against the definitions of the Shapley and Banzhaf values.

use apportion_games::{
    Additive, Airport, ClosedForm, Coalition, Coalitions, Cooking, Game, GameError, Glove, SumOfUnanimity,
    TabulatedGame, WeightedVoting,
};
use proptest::prelude::*;

use crate::common::assert_close;

fn factorial(n: usize) -> f64 {
    (1..=n).map(|k| k as f64).product()
}

/// Returns `(Shapley, Banzhaf)` by definition, as sums over all coalitions.
fn by_definition(game: &impl Game) -> (Vec<f64>, Vec<f64>) {
    let players = game.players();
    let table = TabulatedGame::from_game(game).unwrap();
    let (mut shapley, mut banzhaf) = (vec![0.0; players], vec![0.0; players]);
    for player in 0..players {
        for mask in (0..1u64 << players).filter(|mask| mask >> player & 1 == 0) {
            let size = mask.count_ones() as usize;
            let added = table.value(mask | 1 << player)[0] - table.value(mask)[0];
            shapley[player] += added * factorial(size) * factorial(players - 1 - size) / factorial(players);
            banzhaf[player] += added / 2f64.powi(players as i32 - 1);
        }
    }
    (shapley, banzhaf)
}

fn check(game: &impl ClosedForm) {
    let (shapley, banzhaf) = by_definition(game);
    assert_close(&game.shapley(), &shapley, 1e-12, "Shapley");
    assert_close(&game.banzhaf(), &banzhaf, 1e-12, "Banzhaf");
}

#[test]
fn the_cooks_have_whole_numbers() {
    check(&Cooking);
}

#[test]
fn gloves_of_every_split_match_the_definition() {
    for left in 0..7 {
        for right in 0..7 {
            match Glove::new(left, right) {
                Ok(game) => check(&game),
                Err(error) => assert!(left + right == 0 && matches!(error, GameError::Parameter { .. })),
            }
        }
    }
}

#[test]
fn ten_thousand_gloves_neither_overflow_nor_lose_efficiency() {
    for (left, right) in [(9000, 1000), (5000, 5000), (1, 9999)] {
        let game = Glove::new(left, right).unwrap();
        let total: f64 = game.shapley().iter().sum();
        let pairs = left.min(right) as f64;
        assert!((total - pairs).abs() < 1e-9 * pairs, "{left} and {right}: {total}");
        assert!(game.banzhaf().iter().all(|value| (0.0..=1.0).contains(value)));
    }
}

#[test]
fn costs_and_amounts_that_make_no_game_are_refused() {
    for costs in [vec![], vec![-1.0], vec![f64::NAN], vec![f64::INFINITY]] {
        assert!(matches!(Airport::new(costs), Err(GameError::Parameter { .. })));
    }
    assert!(matches!(Additive::new([]), Err(GameError::Parameter { .. })));
    assert!(matches!(Additive::new([0.0, f64::NAN]), Err(GameError::Parameter { .. })));
}

#[test]
fn the_airport_shares_of_a_thousand_planes_sum_to_the_longest_runway() {
    let costs: Vec<f64> = (0..1000).map(|plane| f64::from(plane * 7919 % 1000)).collect();
    let total: f64 = Airport::new(costs).unwrap().shapley().iter().sum();
    assert!((total - 999.0).abs() < 1e-9, "{total}");
}

#[test]
fn a_unanimity_game_is_worth_something_only_with_all_of_its_players() {
    let game = SumOfUnanimity::unanimity(130, [0, 64, 129]).unwrap();
    let mut batch = Coalitions::new(130);
    batch.push(Coalition::from_members(130, [0, 64, 129, 5]).view());
    batch.push(Coalition::from_members(130, [0, 64, 128]).view());
    let mut values = [0.0; 2];
    game.values(&batch, &mut values).unwrap();
    assert_eq!(values, [1.0, 0.0]);
    assert_eq!(game.shapley()[64], 1.0 / 3.0);
    assert_eq!(game.banzhaf()[129], 0.25);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn additive_games_match_the_definition(amounts in prop::collection::vec(-10.0..10.0f64, 1..9)) {
        check(&Additive::new(amounts).unwrap());
    }

    #[test]
    fn airport_games_match_the_definition(costs in prop::collection::vec(0.0..10.0f64, 1..9)) {
        check(&Airport::new(costs).unwrap());
    }

    #[test]
    fn planes_of_equal_cost_match_the_definition(costs in prop::collection::vec(0..3u8, 1..9)) {
        check(&Airport::new(costs.into_iter().map(f64::from).collect::<Vec<_>>()).unwrap());
    }

    #[test]
    fn sums_of_unanimity_games_match_the_definition(
        seed in any::<u64>(), players in 1..9usize, terms in 0..20usize, constant in -5.0..5.0f64,
    ) {
        check(&SumOfUnanimity::random(players, terms, players, seed).with_constant(constant).unwrap());
    }

    #[test]
    fn weighted_voting_games_match_the_definition(
        weights in prop::collection::vec(0..9u64, 1..9), quota in 1..100u64,
    ) {
        let total: u64 = weights.iter().sum();
        prop_assume!(total > 0);
        check(&WeightedVoting::new(1 + quota % total, weights).unwrap());
    }
}
