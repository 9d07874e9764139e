//! Tests that values scale with the game, and that results that are not finite are rejected.

use apportion_games::{Coalitions, Graph, Partition, TabulatedGame};
use apportion_values::{GraphValue, Semivalue, SolutionConcept, Value, ValueError, axioms, enumerate};

const PLAYERS: usize = 5;

fn game(factor: f64) -> TabulatedGame {
    let worth = |mask: u64| ((mask as f64 * 1.7).sin() + mask.count_ones() as f64) * factor;
    let values: Vec<f64> =
        Coalitions::from_masks(PLAYERS, 0..32).iter().map(|row| worth(row.words()[0])).collect();
    TabulatedGame::new(values, 1).unwrap()
}

/// Returns the values of `game` for every solution concept.
fn all_values(game: &TabulatedGame) -> Vec<Result<Vec<f64>, ValueError>> {
    let partition = Partition::new(PLAYERS, vec![vec![0, 1], vec![2, 3, 4]]).unwrap();
    let names = ["shapley", "banzhaf", "beta=4,1", "owen", "banzhaf-owen", "two-step", "quotient-shapley"];
    let of_groups = names.map(|name| {
        let concept: SolutionConcept = name.parse().unwrap();
        let groups = concept.needs_partition().then(|| partition.clone());
        Value::from_concept(concept, groups, None)?.enumerate(game).map(|found| found.values)
    });
    let graph = Graph::line(PLAYERS);
    let on_graph = [GraphValue::l_shapley(2), GraphValue::c_shapley(2), GraphValue::myerson()]
        .map(|value| value.enumerate(game, &graph).map(|found| found.values));
    of_groups.into_iter().chain(on_graph).collect()
}

#[test]
fn values_have_no_scale() {
    let expected: Vec<Vec<f64>> = all_values(&game(1.0)).into_iter().map(Result::unwrap).collect();
    for (factor, tolerance) in [
        (2.0_f64.powi(-990), 0.0),
        (2.0_f64.powi(990), 0.0),
        (1e-300, 1e-12),
        (1e-160, 1e-12),
        (1e160, 1e-12),
        (1e300, 1e-12),
    ] {
        for (got, expected) in all_values(&game(factor)).into_iter().zip(&expected) {
            for (got, expected) in got.unwrap().iter().zip(expected) {
                assert!((got / factor - expected).abs() <= tolerance, "{factor:e}: {got:e}, {expected}");
            }
        }
    }
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    // The values are finite, but their differences are not.
    let values = (0..32)
        .map(|mask: u32| if mask.count_ones().is_multiple_of(2) { 1.7e308 } else { -1.7e308 })
        .collect();
    let game = TabulatedGame::new(values, 1).unwrap();
    for refused in all_values(&game) {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("overflows") || message.contains("finite"), "{message}");
    }
    assert!(matches!(enumerate(&game, Semivalue::Shapley), Err(ValueError::Overflow { .. })));
}

#[test]
fn axioms_hold_at_any_scale_and_of_no_numbers_that_are_not() {
    for factor in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
        let game = game(factor);
        let shapley = enumerate(&game, Semivalue::Shapley).unwrap();
        let check = |values: &[f64]| axioms::efficiency(values, &shapley.base, &shapley.predictions, 1e-13);
        assert!(check(&shapley.values).is_ok(), "{factor:e}");
        let mut off = shapley.values.clone();
        off[0] += 1e-9 * factor;
        assert!(check(&off).is_err(), "{factor:e}");
        assert!(axioms::symmetry(&game, &shapley.values, 1e-13).is_ok());
        for bad in [f64::NAN, f64::INFINITY] {
            off[0] = bad;
            assert!(check(&off).is_err(), "{bad}");
        }
    }
    // The largest |v(S) − v(∅)| of this game overflows to infinity; its players are still not symmetric.
    let values = vec![-1.7e308, 1.7e308, 0.0, 1.7e308];
    let game = TabulatedGame::new(values, 1).unwrap();
    assert!(!axioms::are_symmetric(&game, 0, 1, 1e-9) && !axioms::is_null(&game, 0, 1e-9));
    assert!(axioms::efficiency(&[f64::NAN, 0.0], &[-1.7e308], &[1.7e308], 1e-9).is_err());
}
