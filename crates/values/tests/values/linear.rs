//! Linear values by laws against semivalues and orders, and the laws that are refused.

use apportion_games::{CoalitionView, Coalitions, Game, SumOfUnanimity, TabulatedGame};
use apportion_values::{CoalitionLaw, LinearValue, Semivalue, ValueError, enumerate};

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

/// By definition: all orders with their probabilities, drawn from the end.
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
        let law = |player: usize| {
            let mut coalitions = Coalitions::new(players);
            coalitions.push_members((0..players).filter(|&other| other != player));
            coalitions.push_empty();
            CoalitionLaw::new(coalitions, vec![0.25, 0.75])
        };
        let value = LinearValue::from_laws((0..players).map(law).collect()).unwrap();
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

    let own = CoalitionLaw::new(Coalitions::from_masks(1, [1]), vec![1.0]);
    assert!(LinearValue::from_laws(vec![own]).unwrap_err().to_string().contains("is a member"));
    let short = CoalitionLaw::new(Coalitions::from_masks(1, [0]), vec![]);
    assert!(matches!(LinearValue::from_laws(vec![short]), Err(ValueError::Law { player: 0, .. })));
    assert!(matches!(LinearValue::from_laws(vec![]), Err(ValueError::Players { given: 0, .. })));
    assert!(matches!(LinearValue::from_weights(21, |_, _| 1.0), Err(ValueError::Players { .. })));
    let two = LinearValue::from_weights(2, |_, _| 0.5).unwrap();
    assert!(matches!(
        two.enumerate(&random(3, 1)),
        Err(ValueError::LawsForOtherPlayers { laws: 2, players: 3 })
    ));
}

#[test]
fn laws_survive_being_written_and_read() {
    let value = LinearValue::weighted_shapley(&[1.0, 2.0, 4.0]).unwrap();
    let text = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<LinearValue>(&text).unwrap(), value);
    assert!(serde_json::from_str::<LinearValue>("[[[[7],1.0]]]").is_err());
}
