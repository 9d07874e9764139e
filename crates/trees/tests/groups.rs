//! Values of features in groups, against enumeration of the game and by what they must add up to.

#![allow(clippy::unwrap_used)]

mod common;

use apportion_games::{Background, GameError, MarginalGame, Partition, QuotientGame, Rows};
use apportion_trees::{Attributions, InterventionalOracle, TreeError};
use apportion_values::{CoalitionalValue, Semivalue, ValueError, enumerate, two_step_shapley};
use common::{Random, TreeSpec, document, read};

fn assert_close(got: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() <= tolerance, "{what}: number {index}: {got} != {wanted}");
    }
}

fn random_semivalue(random: &mut Random, players: usize) -> Semivalue {
    match random.below(8) {
        0 | 1 => Semivalue::Shapley,
        2 => Semivalue::Banzhaf,
        3 => Semivalue::weighted_banzhaf(0.3).unwrap(),
        4 => Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        5 => Semivalue::mixture(&[0.0, 0.4, 1.0], &[0.25, 0.5, 0.25]).unwrap(),
        6 => Semivalue::mixture(&[random.below(2) as f64], &[1.0]).unwrap(),
        _ => {
            let total = (players * (players + 1) / 2) as f64;
            let law: Vec<f64> = (1..=players).map(|size| size as f64 / total).collect();
            Semivalue::by_size_law(&law).unwrap()
        }
    }
}

/// The named pairs, and one at random.
fn pairs(random: &mut Random, partition: &Partition) -> Vec<CoalitionalValue> {
    let between = random_semivalue(random, partition.len());
    let within = random_semivalue(random, partition.largest());
    let within = match within.check_players(1) {
        Err(_) if partition.groups().iter().any(|group| group.len() != partition.largest()) => {
            Semivalue::Banzhaf
        }
        _ => within,
    };
    vec![
        CoalitionalValue::owen(),
        CoalitionalValue::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf(),
        CoalitionalValue { between, within },
    ]
}

#[test]
fn two_hundred_ensembles_have_the_values_of_enumeration() {
    let random = &mut Random(31);
    for round in 0..200 {
        let features = 1 + random.below(8);
        let outputs = if random.chance(20) { 3 } else { 1 };
        let depth = 1 + random.below(6);
        // Some features that no tree uses.
        let used: Vec<usize> = (0..features).filter(|&feature| feature == 0 || random.chance(85)).collect();
        let categorical = random.chance(50);
        let trees: Vec<TreeSpec> = (0..outputs * (1 + random.below(4)))
            .map(|index| TreeSpec::random(random, &used, depth, categorical, index % outputs))
            .collect();
        let base: Vec<f32> = (0..outputs).map(|output| output as f32 - 0.5).collect();
        let ensemble = read(&document(&trees, features, &base)).unwrap();
        let partition = match round % 10 {
            0 => Partition::singletons(features),
            1 => Partition::whole(features),
            _ => {
                let groups = 1 + random.below(features);
                random.partition(features, groups)
            }
        };
        let background_rows = [1, 1, 3, 30][random.below(4)];
        let background = random.row(features * background_rows);
        let weights: Vec<f64> = (0..background_rows).map(|_| 0.25 + random.below(4) as f64).collect();
        let explicand_rows = [1, 2, 4][random.below(3)];
        let explicands = random.row(features * explicand_rows);
        let rows = Rows::new(&explicands, features);
        let oracle =
            InterventionalOracle::new(&ensemble, Rows::new(&background, features), Some(&weights)).unwrap();
        let background = Background::rows(background, features).unwrap().with_weights(&weights).unwrap();
        let games: Vec<_> =
            rows.iter().map(|row| MarginalGame::new(&ensemble, row, &background).unwrap()).collect();
        let check = |got: Attributions, wanted: Vec<f64>, what: &str| {
            assert_close(
                &got.values,
                &wanted,
                1e-10,
                &format!("ensemble {round}, {what}, {:?}", partition.groups()),
            );
        };
        for value in pairs(random, &partition) {
            let wanted = games.iter().flat_map(|game| value.enumerate(game, &partition).unwrap().values);
            let got = oracle.coalitional_values(&value, &partition, rows).unwrap();
            check(got, wanted.collect(), &format!("{value:?}"));
        }
        for value in [Semivalue::Shapley, Semivalue::Banzhaf, random_semivalue(random, partition.len())] {
            let quotients = games.iter().map(|game| QuotientGame::new(game, &partition).unwrap());
            let wanted =
                quotients.flat_map(|game| enumerate(&game, value.clone()).unwrap().values().to_vec());
            let got = oracle.quotient_values(value.clone(), &partition, rows).unwrap();
            check(got, wanted.collect(), &format!("quotient {value}"));
        }
        let wanted = games.iter().flat_map(|game| two_step_shapley(game, &partition).unwrap().values);
        check(oracle.two_step_shapley(&partition, rows).unwrap(), wanted.collect(), "two-step");
    }
}

/// Sums of values over each group, for one output.
fn over_groups(values: &[f64], partition: &Partition) -> Vec<f64> {
    let sum = |members: &Vec<usize>| members.iter().map(|&feature| values[feature]).sum();
    partition.groups().iter().map(sum).collect()
}

#[test]
fn owen_and_two_step_values_add_up_to_the_groups_and_to_the_prediction_on_paths_of_200_features() {
    let (random, features) = (&mut Random(32), 260);
    let path: Vec<usize> = (0..200).map(|level| level * 7 % features).collect();
    let mut trees = vec![TreeSpec::chain(random, &path), TreeSpec::chain(random, &path[60..180])];
    for level in (0..200).step_by(3) {
        for leaf in trees[0].split(2 * level + 1, random.below(features), 0.5, true) {
            trees[0].number[leaf] = random.below(41) as f32 * 0.1 - 2.0;
        }
    }
    let ensemble = read(&document(&trees, features, &[0.5])).unwrap();
    assert!(ensemble.depth() >= 200);
    // Rows that mostly go down the chains, so that mixtures reach their ends.
    let rows: Vec<f64> = (0..4 * features).map(|_| if random.chance(3) { -1.0 } else { 1.0 }).collect();
    let background: Vec<f64> =
        (0..2 * features).map(|_| if random.chance(50) { -1.0 } else { 1.0 }).collect();
    let rows = Rows::new(&rows, features);
    let oracle =
        InterventionalOracle::new(&ensemble, Rows::new(&background, features), Some(&[1.0, 3.0])).unwrap();
    for groups in [2, 13, 130] {
        let partition = random.partition(features, groups);
        let quotient = oracle.quotient_values(Semivalue::Shapley, &partition, rows).unwrap();
        let banzhaf = oracle.quotient_values(Semivalue::Banzhaf, &partition, rows).unwrap();
        let owen = oracle.coalitional_values(&CoalitionalValue::owen(), &partition, rows).unwrap();
        let symmetric = CoalitionalValue::symmetric_coalitional_banzhaf();
        let symmetric = oracle.coalitional_values(&symmetric, &partition, rows).unwrap();
        let two_step = oracle.two_step_shapley(&partition, rows).unwrap();
        for row in 0..rows.len() {
            let of_groups =
                |of: &Attributions| of.values[row * partition.len()..][..partition.len()].to_vec();
            for (of_features, of_groups, name) in [
                (&owen, of_groups(&quotient), "Owen"),
                (&two_step, of_groups(&quotient), "two-step"),
                (&symmetric, of_groups(&banzhaf), "symmetric coalitional Banzhaf"),
            ] {
                let values = &of_features.values[row * features..][..features];
                let what = format!("{name}, {groups} groups, row {row}");
                assert_close(&over_groups(values, &partition), &of_groups, 1e-12, &what);
                if name != "symmetric coalitional Banzhaf" {
                    let total: f64 = values.iter().sum();
                    let gap = of_features.predictions[row] - of_features.base[0];
                    assert!((total - gap).abs() < 1e-12, "{what}: {total} != {gap}");
                }
            }
        }
    }
}

#[test]
fn features_that_no_tree_uses_get_nothing_but_their_share_of_two_steps() {
    let mut tree = TreeSpec::leaf(0.0);
    let [left, right] = tree.split(0, 0, 0.5, true);
    (tree.number[left], tree.number[right]) = (3.0, 10.0);
    let ensemble = read(&document(&[tree], 4, &[0.0])).unwrap();
    let oracle = InterventionalOracle::new(&ensemble, Rows::new(&[0.0; 4], 4), None).unwrap();
    let rows = Rows::new(&[1.0; 4], 4);
    // A group of features that matter not at all, and one with two of which one does.
    let partition = Partition::new(4, vec![vec![2, 3], vec![1, 0]]).unwrap();
    let owen = oracle.coalitional_values(&CoalitionalValue::owen(), &partition, rows).unwrap();
    assert_eq!((owen.values, owen.base, owen.predictions), (vec![7.0, 0.0, 0.0, 0.0], vec![3.0], vec![10.0]));
    assert_eq!(oracle.two_step_shapley(&partition, rows).unwrap().values, [7.0, 0.0, 0.0, 0.0]);
    let groups = oracle.quotient_values(Semivalue::Banzhaf, &partition, rows).unwrap();
    assert_eq!(groups.values, [0.0, 7.0]);
}

#[test]
fn partitions_of_other_models_and_weights_that_do_not_fit_are_refused() {
    let ensemble = read(&document(&[TreeSpec::leaf(1.0)], 3, &[0.0])).unwrap();
    let oracle = InterventionalOracle::new(&ensemble, Rows::new(&[0.0; 3], 3), None).unwrap();
    let rows = Rows::new(&[1.0; 3], 3);
    let owen = CoalitionalValue::owen();
    let others = Partition::whole(4);
    for refused in [
        oracle.coalitional_values(&owen, &others, rows),
        oracle.quotient_values(Semivalue::Shapley, &others, rows),
        oracle.two_step_shapley(&others, rows),
    ] {
        let refused = refused.unwrap_err();
        let expected = TreeError::Game(GameError::PartitionOfOthers { given: 4, wanted: 3 });
        assert_eq!(refused.to_string(), expected.to_string());
    }
    let partition = Partition::new(3, vec![vec![0], vec![1, 2]]).unwrap();
    let two = Semivalue::by_size_law(&[0.5, 0.5]).unwrap();
    let between = CoalitionalValue { between: two.clone(), within: Semivalue::Shapley };
    assert_eq!(oracle.coalitional_values(&between, &partition, rows).unwrap().values, [0.0; 3]);
    let within = CoalitionalValue { between: Semivalue::Shapley, within: two.clone() };
    for refused in [
        oracle.coalitional_values(&within, &partition, rows),
        oracle.coalitional_values(&between, &Partition::whole(3), rows),
        oracle.quotient_values(two, &Partition::whole(3), rows),
    ] {
        let refused = refused.unwrap_err();
        assert!(
            matches!(
                refused,
                TreeError::Value(ValueError::WeightsForOtherPlayers { weights: 2, players: 1 })
            ),
            "{refused}"
        );
    }
    let none = oracle.coalitional_values(&owen, &partition, Rows::new(&[], 3)).unwrap();
    assert!(none.values.is_empty() && none.predictions.is_empty());
}
