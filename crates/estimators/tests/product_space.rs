//! Monte Carlo on the product space, player by player and by nested permutations, against enumeration.
#![allow(clippy::unwrap_used)]

use apportion_estimators::{Estimator, NestedPermutation, ProductSpace};
use apportion_games::{Background, MarginalGame, Partition};
use apportion_values::SolutionConcept;

fn model(row: &[f64]) -> f64 {
    row[0] * row[1] - row[2].powi(2) + (row[0] * row[2]).sin() + row[3] * row[4] * row[1]
}

#[test]
fn smoke() {
    let values: Vec<f64> = (0..5 * 40).map(|i| (f64::from(i) * 1.7).cos()).collect();
    let background = Background::rows(values, 5).unwrap();
    let game = MarginalGame::new(&model, &[0.3, -1.2, 2.0, 0.7, 1.1], &background).unwrap();
    let partition = Partition::new(5, vec![vec![3, 0], vec![1], vec![2, 4]]).unwrap();
    for name in ["shapley", "banzhaf", "owen", "banzhaf-owen", "two-step", "quotient-shapley"] {
        let concept: SolutionConcept = name.parse().unwrap();
        let truth = concept.enumerate(&game, Some(&partition)).unwrap().values;
        let got = ProductSpace::grouped(concept.clone(), partition.clone())
            .keep_sampling()
            .estimate(&game, 2000, 1)
            .unwrap();
        for ((got, error), want) in got.values.iter().zip(got.std_errors.unwrap()).zip(&truth) {
            println!("{name} {got} ± {error} for {want}: {}", (got - want) / error);
        }
        if let Ok(nested) = NestedPermutation::grouped(concept, partition.clone()) {
            for nested in [nested.clone().keep_sampling(), nested.plain().keep_sampling()] {
                let got = nested.estimate(&game, 2000, 1).unwrap();
                for ((got, error), want) in got.values.iter().zip(got.std_errors.unwrap()).zip(&truth) {
                    println!("  {} {got} ± {error} for {want}: {}", nested.name(), (got - want) / error);
                }
            }
        }
    }
}
