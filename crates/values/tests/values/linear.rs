//! Tests linear values against semivalues and orders, and that invalid distributions are rejected.

use apportion_games::{CoalitionView, Coalitions, Game, SumOfUnanimity, TabulatedGame};
use apportion_values::{
    CoalitionDistribution, DistributionProblem, LinearValue, Semivalue, ValueError, enumerate,
};

use crate::common::assert_close;

fn random(players: usize, seed: u64) -> TabulatedGame {
    let game = SumOfUnanimity::random(players, 3 * players, players.min(4), seed);
    TabulatedGame::from_game(&game).unwrap()
}

#[test]
fn with_the_weights_of_a_semivalue_it_is_that_semivalue() {
    for players in [1, 2, 5, 6] {
        let game = random(players, 3);
        for semivalue in [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::beta_shapley(4.0, 1.0).unwrap()]
        {
            let weight =
                |_: usize, coalition: CoalitionView<'_>| semivalue.coefficient(players, coalition.size());
            let linear = LinearValue::from_weights(players, weight).unwrap();
            let wanted = enumerate(&game, semivalue.clone()).unwrap();
            let got = linear.enumerate(&game).unwrap().values;
            assert_close(&got, &wanted.values, 1e-12, &format!("{players} players, {semivalue}"));
        }
    }
}

/// Compares weighted Shapley values with the mean over all orders, weighted by the probability of drawing
/// each order from the last player to the first.
#[test]
fn weighted_shapley_is_the_average_over_orders_drawn_from_the_end() {
    fn orders(
        left: Vec<usize>,
        weights: &[f64],
        probability: f64,
        tail: Vec<usize>,
        all: &mut Vec<(Vec<usize>, f64)>,
    ) {
        let sum: f64 = left.iter().map(|&player| weights[player]).sum();
        if left.is_empty() {
            all.push((tail, probability));
            return;
        }
        for &last in &left {
            let rest = left.iter().copied().filter(|&player| player != last).collect();
            let longer = std::iter::once(last).chain(tail.iter().copied()).collect();
            orders(rest, weights, probability * weights[last] / sum, longer, all);
        }
    }
    let weights = [1.0, 0.2, 3.0, 7.5];
    let game = random(4, 8);
    let mut all = Vec::new();
    orders(vec![0, 1, 2, 3], &weights, 1.0, Vec::new(), &mut all);
    let mut wanted = [0.0; 4];
    for (order, probability) in all {
        let mut mask = 0u64;
        for player in order {
            let added = game.value(mask | 1 << player)[0] - game.value(mask)[0];
            wanted[player] += probability * added;
            mask |= 1 << player;
        }
    }
    let got = LinearValue::weighted_shapley(&weights).unwrap().enumerate(&game).unwrap();
    assert_close(&got.values, &wanted, 1e-12, "over orders");
}

#[test]
fn members_of_a_carrier_share_by_their_weights_even_where_sums_overflow() {
    let game = SumOfUnanimity::unanimity(4, [0, 2, 3]).unwrap();
    let got = LinearValue::weighted_shapley(&[2e307, 9e307, 4e307, 1.4e308]).unwrap();
    assert_close(&got.enumerate(&game).unwrap().values, &[0.1, 0.0, 0.2, 0.7], 1e-12, "shares");
    assert!(matches!(
        LinearValue::weighted_shapley(&[1.0, 0.0]),
        Err(ValueError::PlayerWeight { player: 1, weight: 0.0 })
    ));
}

#[test]
fn laws_of_few_coalitions_serve_games_of_many_players() {
    for players in [65, 130] {
        let game = SumOfUnanimity::random(players, 40, 3, 1);
        let distribution = |player: usize| {
            let mut coalitions = Coalitions::new(players);
            coalitions.push_members((0..players).filter(|&other| other != player));
            coalitions.push_empty();
            CoalitionDistribution::new(coalitions, vec![0.25, 0.75])
        };
        let value = LinearValue::from_distributions((0..players).map(distribution).collect()).unwrap();
        let got = value.enumerate(&game).unwrap();
        let worth = |members: Vec<usize>| {
            let mut batch = Coalitions::new(players);
            batch.push_members(members);
            let mut worth = [0.0];
            game.values(&batch, &mut worth).unwrap();
            worth[0]
        };
        for player in [0, 1, 63, 64, players - 1] {
            let all = || (0..players).collect::<Vec<_>>();
            let others = (0..players).filter(|&other| other != player).collect();
            let wanted = 0.75 * (worth(vec![player]) - worth(vec![])) + 0.25 * (worth(all()) - worth(others));
            assert!((got.values[player] - wanted).abs() < 1e-12);
        }
    }
}

#[test]
fn what_breaks_the_assumptions_is_refused_with_which_and_by_how_much() {
    let refused = |weight: f64| {
        LinearValue::from_weights(2, |_, coalition| if coalition.size() == 0 { 0.5 } else { weight })
            .unwrap_err()
            .to_string()
    };
    for (weight, words) in [(-0.25, ["player 0", "(A1)", "-0.25"]), (0.75, ["(A2)", "1.25", "2.5e-1"])] {
        let message = refused(weight);
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
    assert!(refused(f64::NAN).contains("NaN"));

    let own = CoalitionDistribution::new(Coalitions::from_masks(1, [1]), vec![1.0]);
    assert!(LinearValue::from_distributions(vec![own]).unwrap_err().to_string().contains("is a member"));
    let short = CoalitionDistribution::new(Coalitions::from_masks(1, [0]), vec![]);
    assert!(matches!(
        LinearValue::from_distributions(vec![short]),
        Err(ValueError::Distribution { player: 0, .. })
    ));
    assert!(matches!(LinearValue::from_distributions(vec![]), Err(ValueError::Players { actual: 0, .. })));
    assert!(matches!(LinearValue::from_weights(21, |_, _| 1.0), Err(ValueError::Players { .. })));
    let two = LinearValue::from_weights(2, |_, _| 0.5).unwrap();
    assert!(matches!(
        two.enumerate(&random(3, 1)),
        Err(ValueError::DistributionsForOtherPlayers { distributions: 2, players: 3 })
    ));
}

#[test]
fn laws_survive_being_written_and_read() {
    let value = LinearValue::weighted_shapley(&[1.0, 2.0, 4.0]).unwrap();
    let text = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<LinearValue>(&text).unwrap(), value);
    assert!(serde_json::from_str::<LinearValue>("[[[[7],1.0]]]").is_err());
}

#[test]
fn laws_of_more_coalitions_than_are_asked_for_at_once_are_summed_in_parts() {
    // Two of the 13 players have distributions over 2^12 coalitions each; every other player has a single
    // coalition.
    let players = 13;
    let game = random(players, 5);
    let distribution = |player: usize| {
        let masks = (0..1u64 << players).filter(|mask| mask >> player & 1 == 0);
        let masks: Vec<u64> = if player < 2 { masks.collect() } else { masks.take(1).collect() };
        let weights = vec![1.0 / masks.len() as f64; masks.len()];
        CoalitionDistribution::new(Coalitions::from_masks(players, masks), weights)
    };
    let value = LinearValue::from_distributions((0..players).map(distribution).collect()).unwrap();
    let got = value.enumerate(&game).unwrap();
    let banzhaf = enumerate(&game, Semivalue::Banzhaf).unwrap();
    assert_close(&got.values[..2], &banzhaf.values[..2], 1e-12, "all coalitions");
    let alone = |player: usize| game.value(1 << player)[0] - game.value(0)[0];
    let wanted: Vec<f64> = (2..players).map(alone).collect();
    assert_close(&got.values[2..], &wanted, 1e-14, "the empty one alone");
    assert_eq!(value.distribution(0).coalitions().len(), 4096);
    assert_eq!(value.distribution(5).probabilities(), [1.0]);
}

#[test]
fn a_table_of_laws_is_made_for_one_to_twenty_players() {
    for players in [0, 21] {
        let refused = LinearValue::weighted_shapley(&vec![1.0; players]).unwrap_err();
        assert!(
            matches!(refused, ValueError::Players { actual: given, max: 20 } if given == players),
            "{refused}"
        );
    }
    let one = LinearValue::weighted_shapley(&[3.0]).unwrap();
    assert_eq!(one.distribution(0).probabilities(), [1.0]);
    let refused = LinearValue::weighted_shapley(&[1.0, f64::INFINITY]).unwrap_err();
    assert!(matches!(refused, ValueError::PlayerWeight { player: 1, .. }), "{refused}");
    // Coalitions of weight zero are dropped.
    let first = LinearValue::from_weights(3, |_, coalition| f64::from(coalition.size() == 0)).unwrap();
    assert!((0..3).all(|player| first.distribution(player).coalitions().len() == 1));
}

#[test]
fn each_fault_of_a_law_is_told_as_what_it_is() {
    let problem = |players: usize, coalitions: Coalitions, weights: &[f64]| {
        let distribution = || CoalitionDistribution::new(coalitions.clone(), weights.to_vec());
        match LinearValue::from_distributions((0..players).map(|_| distribution()).collect()) {
            Err(ValueError::Distribution { player: 0, problem }) => problem,
            other => panic!("{other:?}"),
        }
    };
    let empty = || Coalitions::from_masks(2, [0]);
    assert_eq!(problem(2, empty(), &[0.5, 0.5]), DistributionProblem::Lengths { coalitions: 1, weights: 2 });
    assert_eq!(problem(2, empty(), &[]), DistributionProblem::Lengths { coalitions: 1, weights: 0 });
    assert_eq!(
        problem(2, Coalitions::new(2), &[]),
        DistributionProblem::Lengths { coalitions: 0, weights: 0 }
    );
    assert_eq!(problem(3, empty(), &[1.0]), DistributionProblem::OtherPlayers { actual: 2, expected: 3 });
    let negative = problem(2, Coalitions::from_masks(2, [0, 2]), &[1.25, -0.25]);
    assert!(matches!(negative, DistributionProblem::Weight { weight: -0.25, .. }), "{negative}");
    let infinite = problem(2, empty(), &[f64::INFINITY]);
    assert!(matches!(infinite, DistributionProblem::Weight { .. }), "{infinite}");
    for off in [2e-9, -2e-9] {
        let sum = problem(2, empty(), &[1.0 + off]);
        assert!(matches!(sum, DistributionProblem::Sum { .. }), "{sum}");
    }
    let distribution = || CoalitionDistribution::new(Coalitions::from_masks(1, [0]), vec![1.0 - 0.5e-9]);
    assert!(LinearValue::from_distributions(vec![distribution()]).is_ok());
    // The distributions refer to player number 2, which does not exist in a game of 2 players.
    let refused = serde_json::from_str::<LinearValue>("[[[[],1.0]],[[[2],1.0]]]").unwrap_err().to_string();
    assert!(
        refused.contains("player 1") && refused.contains("3 players") && refused.contains("2 distributions")
    );
    assert!(serde_json::from_str::<LinearValue>("[[[[1],1.0]],[[[0],1.0]]]").is_ok());
}
