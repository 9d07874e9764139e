//! Regression estimators of values of players in groups, against enumeration.

use apportion_estimators::{CoalitionalRegression, Estimator, EstimatorError, LeverageShap, StandardErrors};
use apportion_games::{
    Coalitions, Counted, Game, GameError, Partition, Purpose, SumOfUnanimity, TabulatedGame, stream,
};
use apportion_values::{CoalitionalValue, Semivalue, SolutionConcept};
use rand::RngExt;
use rand::seq::SliceRandom;

/// All values that the method estimates, of each kind of law.
fn values() -> Vec<SolutionConcept> {
    let weighted = Semivalue::weighted_banzhaf(0.3).unwrap();
    let pair = |between: &Semivalue, within: &Semivalue| {
        CoalitionalValue { between: between.clone(), within: within.clone() }.into()
    };
    vec![
        SolutionConcept::owen(),
        SolutionConcept::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf().into(),
        pair(&Semivalue::Shapley, &Semivalue::Banzhaf),
        pair(&weighted, &Semivalue::Shapley),
        pair(&Semivalue::Shapley, &weighted),
        pair(&weighted, &Semivalue::weighted_banzhaf(0.6).unwrap()),
        SolutionConcept::TwoStepShapley,
        SolutionConcept::Quotient(Semivalue::Shapley),
        SolutionConcept::Quotient(Semivalue::Banzhaf),
        SolutionConcept::Quotient(weighted),
    ]
}

fn estimator(value: &SolutionConcept, partition: &Partition) -> CoalitionalRegression {
    CoalitionalRegression::new(value.clone(), partition.clone()).unwrap()
}

/// Groups of these sizes, their members scattered.
fn partition(sizes: &[usize], seed: u64) -> Partition {
    let players: usize = sizes.iter().sum();
    let mut order: Vec<usize> = (0..players).collect();
    order.shuffle(&mut stream(seed, Purpose::Experiment, 1));
    let mut rest = order.into_iter();
    let groups = sizes.iter().map(|&size| rest.by_ref().take(size).collect()).collect();
    Partition::new(players, groups).unwrap()
}

/// Independent uniform values for all coalitions, around a large constant.
fn random_table(players: usize, outputs: usize, seed: u64) -> TabulatedGame {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let values = (0..outputs << players).map(|_| 100.0 + rng.random_range(-1.0..1.0)).collect();
    TabulatedGame::new(values, outputs).unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// Numbers of groups and of members from 1 to 5.
const SIZES: [&[usize]; 16] = [
    &[1],
    &[2],
    &[5],
    &[1, 1],
    &[2, 1],
    &[3, 1],
    &[2, 2],
    &[1, 4],
    &[5, 5],
    &[3, 1, 2],
    &[1, 1, 1, 2],
    &[4, 2, 3],
    &[2, 2, 2, 2],
    &[1, 3, 1, 4],
    &[1, 2, 3, 2, 1],
    &[1, 1, 1, 1, 1],
];

#[test]
fn every_value_is_exact_at_full_enumeration() {
    for sizes in SIZES {
        let partition = partition(sizes, 7);
        let game = random_table(partition.players(), 2, 3);
        for value in values() {
            let want = value.enumerate(&game, Some(&partition)).unwrap();
            let got = estimator(&value, &partition).estimate(&game, 1 << 20, 5).unwrap();
            let difference = largest_difference(&got.values, &want.values);
            assert!(difference < 1e-10, "{value}, {sizes:?}: {difference}");
            assert_eq!((&got.base, &got.prediction), (&want.base, &want.full));
            let errors = got.std_errors.unwrap();
            assert!(errors.iter().all(|&error| error == 0.0), "{value}, {sizes:?}: {errors:?}");
            assert!(got.diagnostics.exact, "{value}, {sizes:?}");
            assert_eq!(got.diagnostics.rank, got.diagnostics.unknowns);
        }
    }
}
