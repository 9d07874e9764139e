//! Tests that values satisfy their axioms on random games, and that each predicate detects violations.

use apportion_games::{Game, TabulatedGame};
use apportion_values::{Semivalue, axioms, enumerate};
use proptest::prelude::*;

use crate::common::made_symmetric;

/// Returns one semivalue of each kind that is defined for any number of players.
fn all() -> Vec<Semivalue> {
    vec![
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.2).unwrap(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        Semivalue::mixture(&[0.1, 0.6, 1.0], &[0.3, 0.5, 0.2]).unwrap(),
    ]
}

/// The largest error in thousands of random games of these sizes is 10 ε; 60 ε leaves a margin.
const TOLERANCE: f64 = 60.0 * f64::EPSILON;

fn values(game: &TabulatedGame, value: Semivalue) -> Vec<f64> {
    enumerate(game, value).unwrap().values
}

prop_compose! {
    /// Generates a game of 1 to 8 players and 1 to 3 outputs, with v(∅) ≠ 0.
    fn any_game()(players in 1..9usize, outputs in 1..4usize)(
        values in prop::collection::vec(-10.0..10.0f64, outputs << players), outputs in Just(outputs),
    ) -> TabulatedGame {
        TabulatedGame::new(values, outputs).unwrap()
    }
}

prop_compose! {
    /// Generates two games of the same shape.
    fn two_games()(players in 1..9usize, outputs in 1..4usize)(
        first in prop::collection::vec(-10.0..10.0f64, outputs << players),
        second in prop::collection::vec(-10.0..10.0f64, outputs << players),
        outputs in Just(outputs),
    ) -> (TabulatedGame, TabulatedGame) {
        (TabulatedGame::new(first, outputs).unwrap(), TabulatedGame::new(second, outputs).unwrap())
    }
}

/// Returns the game with another player inserted at `player`, whose marginal contribution to every coalition
/// is `amount`.
fn with_dummy(game: &TabulatedGame, player: usize, amount: f64) -> TabulatedGame {
    let below = (1u64 << player) - 1;
    let values = (0..2u64 << game.players()).flat_map(|mask| {
        let bonus = if mask >> player & 1 == 1 { amount } else { 0.0 };
        game.value(mask & below | mask >> 1 & !below)
            .iter()
            .map(move |value| value + bonus)
            .collect::<Vec<_>>()
    });
    TabulatedGame::new(values.collect(), game.outputs()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn shapley_values_are_efficient(game in any_game()) {
        let got = enumerate(&game, Semivalue::Shapley).unwrap();
        axioms::efficiency(&got.values, &got.base, &got.predictions, TOLERANCE).unwrap();
    }

    #[test]
    fn symmetric_players_have_equal_values(game in any_game(), a in 0..8usize, b in 0..8usize) {
        let (first, second) = (a % game.players(), b % game.players());
        let game = made_symmetric(&game, first, second);
        prop_assert!(axioms::are_symmetric(&game, first, second, 0.0));
        for value in all() {
            axioms::symmetry(&game, &values(&game, value), TOLERANCE).unwrap();
        }
    }

    #[test]
    fn null_players_get_nothing(game in any_game(), at in 0..8usize) {
        let player = at % (game.players() + 1);
        let game = with_dummy(&game, player, 0.0);
        prop_assert!(axioms::is_null(&game, player, 0.0));
        for value in all() {
            axioms::null_player(&game, &values(&game, value), TOLERANCE).unwrap();
        }
    }

    #[test]
    fn dummies_get_what_they_bring(game in any_game(), at in 0..8usize, amount in -5.0..5.0f64) {
        let player = at % (game.players() + 1);
        let game = with_dummy(&game, player, amount);
        prop_assert!(axioms::is_dummy(&game, player, TOLERANCE));
        for value in all() {
            axioms::dummy(&game, &values(&game, value), TOLERANCE).unwrap();
        }
    }

    #[test]
    fn values_are_linear((v, w) in two_games(), alpha in -3.0..3.0f64, beta in -3.0..3.0f64) {
        let table = v.values_in_order().iter().zip(w.values_in_order()).map(|(v, w)| alpha * v + beta * w);
        let both = TabulatedGame::new(table.collect(), v.outputs()).unwrap();
        for value in all() {
            let (of_v, of_w) = (values(&v, value.clone()), values(&w, value.clone()));
            // The tolerance is larger here because it is relative to the values of the players, which may be
            // much smaller than the values of the games.
            axioms::linearity(&[(alpha, &of_v), (beta, &of_w)], &values(&both, value), 1e-11).unwrap();
        }
    }

    #[test]
    fn banzhaf_values_are_two_efficient(game in any_game(), a in 0..8usize, b in 0..8usize) {
        let (a, b) = (a % game.players(), b % game.players());
        prop_assume!(a != b);
        let pair = (a.min(b), a.max(b));
        let merged = axioms::merged(&game, pair.0, pair.1);
        let (apart, together) = (values(&game, Semivalue::Banzhaf), values(&merged, Semivalue::Banzhaf));
        axioms::two_efficiency(&game, &apart, pair, &together, TOLERANCE).unwrap();
    }
}

#[test]
fn merging_leaves_the_other_players_as_they_were() {
    let game = TabulatedGame::from_fn(4, |mask| mask as f64).unwrap();
    // Players 1 and 2 are merged, with the value 2 + 4; player 3 has become player 2.
    assert_eq!(axioms::merged(&game, 1, 2).values_in_order(), [0.0, 1.0, 6.0, 7.0, 8.0, 9.0, 14.0, 15.0]);
}

#[test]
fn what_violates_an_axiom_is_found() {
    // Players 0 and 1 are symmetric, and player 2 is a dummy with the value 3.
    let game = TabulatedGame::new(vec![0.0, 1.0, 1.0, 4.0, 3.0, 4.0, 4.0, 7.0], 1).unwrap();
    let null = with_dummy(&game, 1, 0.0);
    let parts: [(f64, &[f64]); 2] = [(2.0, &[1.0, 1.0]), (1.0, &[0.0, 1.0])];
    for (found, axiom, got, expected) in [
        (axioms::symmetry(&game, &[2.0, 1.0, 3.0], 1e-9), "symmetry", 2.0, 1.0),
        (axioms::dummy(&game, &[2.0, 2.0, 2.5], 1e-9), "dummy", 2.5, 3.0),
        (axioms::efficiency(&[2.0, 2.0, 2.5], &[0.0], &[7.0], 1e-9), "efficiency", 6.5, 7.0),
        (axioms::null_player(&null, &[2.0, 0.1, 2.0, 3.0], 1e-9), "null player", 0.1, 0.0),
        (axioms::linearity(&parts, &[2.0, 2.0], 1e-9), "linearity", 2.0, 3.0),
        (
            axioms::two_efficiency(&game, &[2.0, 2.0, 3.0], (0, 1), &[5.0, 3.0], 1e-9),
            "2-efficiency",
            4.0,
            5.0,
        ),
    ] {
        let found = found.unwrap_err();
        assert_eq!((found.axiom, found.actual, found.expected), (axiom, got, expected));
        // For linearity, the output is the position in the lists.
        assert_eq!(found.output, usize::from(axiom == "linearity"));
        assert!(found.to_string().contains(&format!("got {got}, expected {expected}")), "{found}");
    }
    // NaN always violates the axiom.
    assert!(axioms::efficiency(&[f64::NAN, 1.0], &[0.0], &[1.0], 1.0).is_err());

    assert!(!axioms::are_symmetric(&game, 0, 2, 1e-9));
    assert!(!axioms::is_dummy(&game, 0, 1e-9));
    assert!(!axioms::is_null(&game, 2, 1e-9));
}

/// Asserts that `check` accepts differences of up to 1e-6 times `scale`, and rejects larger ones.
fn allows_what_it_says(what: &str, scale: f64, check: impl Fn(f64, f64) -> Result<(), axioms::Violation>) {
    let tolerance = 1e-6;
    for sign in [1.0, -1.0] {
        assert_eq!(check(sign * 0.9 * tolerance * scale, tolerance), Ok(()), "{what}");
        let refused = check(sign * 1.1 * tolerance * scale, tolerance).unwrap_err();
        assert!((refused.allowed / (tolerance * scale) - 1.0).abs() < 1e-9, "{what}: {refused}");
    }
}

/// Returns a game in which two players contribute 1 each, and the third contributes 2. The contributions to
/// the second output are 1000 times as large.
fn of_two_scales() -> TabulatedGame {
    let worth = |mask: u64| f64::from((mask & 3).count_ones()) + 2.0 * (mask >> 2) as f64;
    let both = (0..8).flat_map(|mask| [5.0 + worth(mask), 1000.0 * worth(mask) - 7000.0]);
    TabulatedGame::new(both.collect(), 2).unwrap()
}

#[test]
fn tolerances_are_shares_of_the_largest_number_that_an_axiom_compares() {
    let game = of_two_scales();
    let exact = [1.0, 1000.0, 1.0, 1000.0, 2.0, 2000.0];
    // The range is the largest |v(S) − v(∅)| for each output.
    for (output, range) in [(0, 4.0), (1, 4000.0)] {
        let off = |player: usize, by: f64| {
            let mut values = exact;
            values[2 * player + output] += by;
            values
        };
        let check = |by, tolerance| axioms::symmetry(&game, &off(1, by), tolerance);
        allows_what_it_says("symmetry", range, check);
        let check = |by, tolerance| axioms::dummy(&game, &off(2, by), tolerance);
        allows_what_it_says("dummy", range, check);
        // Player 1 of the larger game is a null player.
        let larger = with_dummy(&game, 1, 0.0);
        let check = |by: f64, tolerance| {
            let mut values = [[1.0, 1000.0], [0.0, 0.0], [1.0, 1000.0], [2.0, 2000.0]].concat();
            values[2 + output] += by;
            axioms::null_player(&larger, &values, tolerance)
        };
        allows_what_it_says("null player", range, check);
        let merged = [2.0, 2000.0, 2.0, 2000.0];
        let check = |by, tolerance| axioms::two_efficiency(&game, &off(1, by), (0, 1), &merged, tolerance);
        allows_what_it_says("2-efficiency", range, check);
        let check = |by: f64, tolerance| {
            let mut merged = [1.0, 1000.0, 3.0, 3000.0];
            merged[2 + output] += by;
            axioms::two_efficiency(&game, &exact, (1, 2), &merged, tolerance)
        };
        allows_what_it_says("2-efficiency of the last two", range, check);
        // The tolerance is multiplied by the number of players, 3.
        for (base, full, scale) in [
            ([0.0, 0.0], [4.0, 4000.0], range),
            ([5.0, -7000.0], [9.0, -3000.0], [9.0, 7000.0][output]),
            ([-9.0, -9000.0], [-5.0, -5000.0], [9.0, 9000.0][output]),
        ] {
            let check = |by, tolerance| axioms::efficiency(&off(1, by), &base, &full, tolerance);
            allows_what_it_says("efficiency", 3.0 * scale, check);
        }
        let large = [[1.0, 1000.0], [1.0, 1000.0], [-20.0, -20_000.0]].concat();
        let check = |by: f64, tolerance| {
            let mut values = large.clone();
            values[2 + output] += by;
            axioms::efficiency(&values, &[0.0; 2], &[-18.0, -18_000.0], tolerance)
        };
        allows_what_it_says("efficiency of large values", 3.0 * [20.0, 20_000.0][output], check);
    }
    for (parts, scale) in [([1.0, 1.0], 4000.0), ([-5.0, 3.0], 10_000.0), ([0.5, 0.5], 2000.0)] {
        let combined: Vec<f64> = exact.iter().map(|value| (parts[0] + parts[1]) * value).collect();
        let check = |by: f64, tolerance| {
            let mut combined = combined.clone();
            combined[3] += by;
            axioms::linearity(&[(parts[0], &exact), (parts[1], &exact)], &combined, tolerance)
        };
        allows_what_it_says("linearity", scale, check);
    }
}

#[test]
fn players_are_alike_and_add_the_same_up_to_a_share_of_the_range() {
    for output in 0..2 {
        let range = [4.0, 4000.0][output];
        let check = |by: f64| {
            let mut table = of_two_scales().values_in_order().to_vec();
            // Change the value of the coalition of players 0 and 2.
            table[5 * 2 + output] += by * 1e-6 * range;
            let game = TabulatedGame::new(table, 2).unwrap();
            let larger = with_dummy(&game, 3, 0.0);
            let mut table = larger.values_in_order().to_vec();
            table[(8 + 5) * 2 + output] += by * 1e-6 * range;
            let larger = TabulatedGame::new(table, 2).unwrap();
            [
                axioms::are_symmetric(&game, 0, 1, 1e-6),
                axioms::is_dummy(&game, 0, 1e-6) && axioms::is_dummy(&game, 2, 1e-6),
                axioms::is_null(&larger, 3, 1e-6),
            ]
        };
        for sign in [1.0, -1.0] {
            assert_eq!(check(sign * 0.9), [true; 3], "output {output}");
            assert_eq!(check(sign * 1.1), [false; 3], "output {output}");
        }
    }
    assert!(!axioms::is_null(&of_two_scales(), 2, 1e-6));
}

#[test]
fn of_several_violations_the_worst_is_told() {
    let game = of_two_scales();
    let mut values = [1.0, 1000.0, 1.0, 1000.0, 2.0, 2000.0];
    (values[0], values[2], values[4]) = (1.5, 3.0, 1.75);
    let worst = axioms::dummy(&game, &values, 1e-9).unwrap_err();
    assert_eq!((worst.output, worst.actual, worst.expected), (0, 3.0, 1.0));
    values[5] = 1000.0;
    let worst = axioms::dummy(&game, &values, 1e-9).unwrap_err();
    assert_eq!((worst.output, worst.actual, worst.expected), (1, 1000.0, 2000.0));
    values[1] = f64::NAN;
    let worst = axioms::dummy(&game, &values, 1e-9).unwrap_err();
    assert!(worst.output == 1 && worst.actual.is_nan() && worst.expected == 1000.0);
}

#[test]
fn values_of_another_shape_and_players_that_are_not_there_panic() {
    let game = of_two_scales();
    let (three, partition) = ([0.0; 6], apportion_games::Partition::whole(2));
    let wrong: [&(dyn Fn() + std::panic::RefUnwindSafe); 14] = [
        &|| _ = axioms::symmetry(&game, &[0.0; 5], 1e-9),
        &|| _ = axioms::dummy(&game, &[0.0; 7], 1e-9),
        &|| _ = axioms::efficiency(&three, &[0.0; 2], &[0.0; 3], 1e-9),
        &|| _ = axioms::efficiency(&[0.0; 5], &[0.0; 2], &[0.0; 2], 1e-9),
        &|| _ = axioms::are_symmetric(&game, 0, 3, 1e-9),
        &|| _ = axioms::are_symmetric(&game, 3, 0, 1e-9),
        &|| _ = axioms::is_dummy(&game, 3, 1e-9),
        &|| drop(axioms::merged(&game, 1, 1)),
        &|| drop(axioms::merged(&game, 1, 3)),
        &|| _ = axioms::two_efficiency(&game, &three, (1, 1), &[0.0; 4], 1e-9),
        &|| _ = axioms::two_efficiency(&game, &three, (1, 3), &[0.0; 4], 1e-9),
        &|| _ = axioms::two_efficiency(&game, &three, (0, 1), &[0.0; 6], 1e-9),
        &|| _ = axioms::quotient_property(&partition, &[0.0; 3], &[0.0], 1e-9),
        &|| _ = axioms::symmetry_within_groups(&game, &partition, &three, 1e-9),
    ];
    for (index, wrong) in wrong.into_iter().enumerate() {
        assert!(std::panic::catch_unwind(wrong).is_err(), "{index}");
    }
}
