//! Every kernel against the definition, for features in groups.

use apportion_games::{Background, MarginalGame, Partition, QuotientGame};
use apportion_values::{CoalitionalValue, Semivalue, enumerate};

use super::super::tests::{CHOICES, Case, semivalues};
use super::super::{Attributions, InterventionalOracle};
use crate::common::{Random, TreeSpec};

/// Pairs of semivalues for a structure, weights by size where they fit.
fn pairs(partition: &Partition) -> Vec<CoalitionalValue> {
    let mixture = Semivalue::mixture(&[0.0, 0.3, 1.0], &[0.25, 0.5, 0.25]).unwrap();
    let mut pairs = vec![
        CoalitionalValue::owen(),
        CoalitionalValue::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf(),
        CoalitionalValue {
            between: Semivalue::weighted_banzhaf(0.3).unwrap(),
            within: Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        },
        CoalitionalValue { between: mixture.clone(), within: Semivalue::Banzhaf },
        CoalitionalValue { between: Semivalue::beta_shapley(0.5, 3.0).unwrap(), within: mixture },
    ];
    let by_size = |players: usize| semivalues(players).pop().unwrap();
    pairs.push(CoalitionalValue { between: by_size(partition.len()), within: Semivalue::Shapley });
    if partition.groups().iter().all(|group| group.len() == partition.largest()) {
        pairs.push(CoalitionalValue { between: Semivalue::Shapley, within: by_size(partition.largest()) });
    }
    pairs
}

fn assert_close(got: &Attributions, wanted: &[f64], what: &str) {
    assert_eq!(got.values.len(), wanted.len(), "{what}");
    for (index, (got, wanted)) in got.values.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() < 1e-12, "{what}: number {index}: {got} != {wanted}");
    }
}

/// Compares every kernel with enumeration of the game.
fn check(what: &str, case: &Case, partition: &Partition) {
    let background = Background::rows(case.background.clone(), case.features)
        .unwrap()
        .with_weights(&case.weights)
        .unwrap();
    let oracle = InterventionalOracle::new(&case.ensemble, case.background(), Some(&case.weights)).unwrap();
    let games: Vec<_> = case
        .explicands()
        .iter()
        .map(|row| MarginalGame::new(&case.ensemble, row, &background).unwrap())
        .collect();
    for value in pairs(partition) {
        let wanted: Vec<f64> =
            games.iter().flat_map(|game| value.enumerate(game, partition).unwrap().values).collect();
        for (name, choose) in CHOICES {
            let got = oracle.coalitional_values_by(&value, partition, case.explicands(), choose).unwrap();
            assert_close(&got, &wanted, &format!("{what}, {value:?}, {name}, {partition:?}"));
        }
    }
    for value in semivalues(partition.len()) {
        let quotients = games.iter().map(|game| QuotientGame::new(game, partition).unwrap());
        let wanted: Vec<f64> =
            quotients.flat_map(|game| enumerate(&game, value.clone()).unwrap().values().to_vec()).collect();
        for (name, choose) in CHOICES {
            let got = oracle.quotient_values_by(value.clone(), partition, case.explicands(), choose).unwrap();
            assert_close(&got, &wanted, &format!("{what}, quotient {value}, {name}, {partition:?}"));
        }
    }
}

#[test]
fn all_kernels_give_the_grouped_values_of_the_definition() {
    let random = &mut Random(21);
    for features in [1, 2, 3, 5, 8] {
        for depth in [0, 2, 4, 7] {
            for (outputs, background) in [(1, 1), (2, 5), (1, 40)] {
                let used: Vec<usize> = (0..features).collect();
                let trees = (0..2 * outputs)
                    .map(|index| TreeSpec::random(random, &used, depth, true, index % outputs))
                    .collect();
                let case = Case::new(random, trees, features, outputs, (3, background));
                let partition = random.partition(features, 1 + features / 2);
                check(&format!("{features} features, depth {depth}"), &case, &partition);
            }
        }
    }
}

#[test]
fn groups_of_one_and_one_group_are_the_semivalues_between_and_within() {
    let random = &mut Random(22);
    let features: Vec<usize> = (0..9).collect();
    let trees = (0..6).map(|_| TreeSpec::random(random, &features, 6, true, 0)).collect();
    let case = Case::new(random, trees, 9, 1, (131, 130));
    let oracle = InterventionalOracle::new(&case.ensemble, case.background(), Some(&case.weights)).unwrap();
    for value in pairs(&Partition::singletons(9)) {
        let inner = CoalitionalValue { between: value.between.clone(), within: Semivalue::Banzhaf };
        let outer = CoalitionalValue { between: Semivalue::Banzhaf, within: value.between.clone() };
        for (name, choose) in CHOICES {
            let wanted = oracle.values_by(value.between.clone(), case.explicands(), choose).unwrap();
            for (value, partition) in [(&inner, Partition::singletons(9)), (&outer, Partition::whole(9))] {
                let got = oracle.coalitional_values_by(value, &partition, case.explicands(), choose).unwrap();
                assert_close(&got, &wanted.values, &format!("{value:?}, {name}"));
            }
        }
    }
}

#[test]
fn results_in_groups_are_the_same_bytes_on_any_number_of_threads() {
    let random = &mut Random(23);
    let features: Vec<usize> = (0..12).collect();
    let trees = (0..20).map(|_| TreeSpec::random(random, &features, 6, false, 0)).collect();
    let case = Case::new(random, trees, 12, 1, (300, 90));
    let partition = random.partition(12, 4);
    let explain = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let oracle =
                InterventionalOracle::new(&case.ensemble, case.background(), Some(&case.weights)).unwrap();
            let (owen, rows) = (CoalitionalValue::owen(), case.explicands());
            CHOICES.map(|(_, choose)| {
                let owen = oracle.coalitional_values_by(&owen, &partition, rows, choose).unwrap();
                let groups = oracle.quotient_values_by(Semivalue::Shapley, &partition, rows, choose).unwrap();
                [owen, groups].map(|got| got.values.into_iter().map(f64::to_bits).collect::<Vec<_>>())
            })
        })
    };
    let one = explain(1);
    assert_eq!(one, explain(2));
    assert_eq!(one, explain(5));
}

#[test]
fn paths_with_as_many_features_as_a_word_has_bits_and_more_have_the_same_values_by_any_kernel() {
    let random = &mut Random(24);
    for features in [12, 63, 64, 65, 130] {
        // Some features twice, so that the path is longer than it has features.
        let path: Vec<usize> = (0..features).chain((0..features).step_by(7)).collect();
        let trees = vec![TreeSpec::chain(random, &path), TreeSpec::random(random, &[0, 5, 9], 3, true, 0)];
        let mut case = Case::new(random, trees, features, 1, (3, 4));
        // Rows that mostly go down the chain, so that mixtures reach its end.
        for value in case.explicands.iter_mut().chain(&mut case.background) {
            *value = if random.chance(2) { -1.0 } else { 1.0 };
        }
        let oracle =
            InterventionalOracle::new(&case.ensemble, case.background(), Some(&case.weights)).unwrap();
        let partition = random.partition(features, features / 3);
        let rows = case.explicands();
        let groups = oracle.quotient_values(Semivalue::Shapley, &partition, rows).unwrap();
        for value in pairs(&partition) {
            let wanted = oracle.coalitional_values_by(&value, &partition, rows, CHOICES[0].1).unwrap();
            for (name, choose) in CHOICES {
                let got = oracle.coalitional_values_by(&value, &partition, rows, choose).unwrap();
                assert_close(&got, &wanted.values, &format!("{features} features, {value:?}, {name}"));
            }
            if value == CoalitionalValue::owen() {
                let sums = wanted.values.chunks(features).flat_map(|values| {
                    let sum = |members: &Vec<usize>| members.iter().map(|&member| values[member]).sum();
                    partition.groups().iter().map(sum).collect::<Vec<f64>>()
                });
                assert_close(&groups, &sums.collect::<Vec<_>>(), "sums over groups");
            }
        }
    }
}
