//! The axioms of the values, on random games; and that the predicates find what violates them.

use apportion_games::{Game, TabulatedGame};
use apportion_values::{Semivalue, axioms, enumerate};
use proptest::prelude::*;

use crate::common::made_symmetric;

/// One value of each kind.
fn all() -> Vec<Semivalue> {
    vec![
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.2).unwrap(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        Semivalue::mixture(&[0.1, 0.6, 1.0], &[0.3, 0.5, 0.2]).unwrap(),
    ]
}

/// On random games of these sizes the worst seen in thousands is 10 times ε; 60 leaves room.
const TOLERANCE: f64 = 60.0 * f64::EPSILON;

fn values(game: &TabulatedGame, value: Semivalue) -> Vec<f64> {
    enumerate(game, value).unwrap().values
}

prop_compose! {
    /// A game of 1 to 8 players and 1 to 3 outputs, with a constant.
    fn any_game()(players in 1..9usize, outputs in 1..4usize)(
        values in prop::collection::vec(-10.0..10.0f64, outputs << players), outputs in Just(outputs),
    ) -> TabulatedGame {
        TabulatedGame::new(values, outputs).unwrap()
    }
}

prop_compose! {
    /// Two games of the same shape.
    fn two_games()(players in 1..9usize, outputs in 1..4usize)(
        first in prop::collection::vec(-10.0..10.0f64, outputs << players),
        second in prop::collection::vec(-10.0..10.0f64, outputs << players),
        outputs in Just(outputs),
    ) -> (TabulatedGame, TabulatedGame) {
        (TabulatedGame::new(first, outputs).unwrap(), TabulatedGame::new(second, outputs).unwrap())
    }
}

/// The game with another player inserted at `player`, who adds `amount` to every coalition.
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
            // Values may cancel where the games do not: 10 is the size of the games, the values are smaller.
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
    // Players 1 and 2 are one, worth 2 + 4; player 3 has moved down to 2.
    assert_eq!(axioms::merged(&game, 1, 2).values_in_order(), [0.0, 1.0, 6.0, 7.0, 8.0, 9.0, 14.0, 15.0]);
}

#[test]
fn what_violates_an_axiom_is_found() {
    // Players 0 and 1 are symmetric, player 2 is a dummy worth 3.
    let game = TabulatedGame::new(vec![0.0, 1.0, 1.0, 4.0, 3.0, 4.0, 4.0, 7.0], 1).unwrap();
    let null = with_dummy(&game, 1, 0.0);
    let parts: [(f64, &[f64]); 2] = [(2.0, &[1.0, 1.0]), (1.0, &[0.0, 1.0])];
    for (found, axiom, got, wanted) in [
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
        assert_eq!((found.axiom, found.got, found.wanted), (axiom, got, wanted));
        // The output of linearity is the position in the lists.
        assert_eq!(found.output, usize::from(axiom == "linearity"));
        assert!(found.to_string().contains(&format!("{got} where {wanted} is wanted")), "{found}");
    }
    // A NaN is nothing but wrong.
    assert!(axioms::efficiency(&[f64::NAN, 1.0], &[0.0], &[1.0], 1.0).is_err());

    assert!(!axioms::are_symmetric(&game, 0, 2, 1e-9));
    assert!(!axioms::is_dummy(&game, 0, 1e-9));
    assert!(!axioms::is_null(&game, 2, 1e-9));
}
