//! Every kernel against the definition, and against each other.

use apportion_games::Rows;
use apportion_values::Semivalue;

use super::{CHOICES as CHOSEN, Choices, cost, tables};
use crate::common::{Random, TreeSpec};
use crate::interactions::{Diagonal, Interactions};
use crate::oracle::InterventionalOracle;
use crate::oracle::cost::{Choose, Kernel};
use crate::oracle::tests::{Case, semivalues};

/// Each kernel wherever it can be used, and the choice that users get.
const CHOICES: [(&str, Choose); 5] = [
    ("walk", |_| Kernel::Walk),
    ("cohorts", |task| if task.cohorts { Kernel::Cohorts } else { Kernel::Walk }),
    ("masks", |task| if (task.sorted)().is_some() { Kernel::Masks } else { Kernel::Walk }),
    ("tables", |task| match (task.sorted)().map(|(paths, _)| tables::size(task.nodes, paths)) {
        Some(Some(size)) => Kernel::Tables { size },
        Some(None) => Kernel::Masks,
        None => Kernel::Walk,
    }),
    ("choice", cost::choose),
];

/// The interactions by one kernel, the values by that of least predicted time.
fn explain(
    oracle: &InterventionalOracle<'_>,
    value: &Semivalue,
    diagonal: Diagonal,
    rows: Rows<'_>,
    pairs: Choose,
) -> Interactions {
    oracle.interactions_by(value.clone(), diagonal, rows, Choices { pairs, ..CHOSEN }).unwrap()
}

/// The interactions of one explicand from their definition: features × features × outputs. Features that are not `players` must not
/// matter.
fn by_enumeration(case: &Case, value: &Semivalue, players: &[usize], explicand: &[f64]) -> Vec<f64> {
    let outputs = case.outputs;
    let total: f64 = case.weights.iter().sum();
    let worth = |coalition: usize| -> Vec<f64> {
        let mut worth = vec![0.0; outputs];
        for (row, weight) in case.background().iter().zip(&case.weights) {
            let mut mixture = row.to_vec();
            for (position, &player) in players.iter().enumerate() {
                if coalition >> position & 1 == 1 {
                    mixture[player] = explicand[player];
                }
            }
            for tree in &case.trees {
                worth[tree.output] += weight / total * tree.predict(&mixture);
            }
        }
        worth
    };
    let worths: Vec<Vec<f64>> = (0..1 << players.len()).map(worth).collect();
    let mut values = vec![0.0; case.features * case.features * outputs];
    for (i, &a) in players.iter().enumerate() {
        for (j, &b) in players.iter().enumerate().filter(|&(j, _)| j != i) {
            for coalition in 0..1usize << players.len() {
                if coalition >> i & 1 == 1 || coalition >> j & 1 == 1 {
                    continue;
                }
                let size = coalition.count_ones() as usize;
                let weight = value.moment(size, players.len() - 2 - size);
                for output in 0..outputs {
                    let worth = |more: usize| worths[coalition | more][output];
                    values[(a * case.features + b) * outputs + output] +=
                        weight * (worth(1 << i | 1 << j) - worth(1 << i) - worth(1 << j) + worth(0));
                }
            }
        }
    }
    values
}

/// The same as sums over leaves: for every leaf and background row, which path features only one of the two rows satisfies.
fn by_leaves(case: &Case, value: &Semivalue, explicand: &[f64]) -> Vec<f64> {
    let mut values = vec![0.0; case.features * case.features * case.outputs];
    let total: f64 = case.weights.iter().sum();
    for tree in &case.trees {
        let mut open = vec![(0usize, Vec::<(usize, bool)>::new())];
        while let Some((node, path)) = open.pop() {
            if tree.left[node] != -1 {
                for (child, left) in [(tree.left[node], true), (tree.right[node], false)] {
                    let mut longer = path.clone();
                    longer.push((node, left));
                    open.push((child as usize, longer));
                }
                continue;
            }
            let mut features: Vec<usize> = path.iter().map(|&(split, _)| tree.feature[split]).collect();
            features.sort_unstable();
            features.dedup();
            let satisfies = |row: &[f64], feature: usize| {
                path.iter().all(|&(split, left)| {
                    tree.feature[split] != feature || tree.goes_left(split, row[feature]) == left
                })
            };
            for (row, weight) in case.background().iter().zip(&case.weights) {
                let passes: Vec<(bool, bool)> = features
                    .iter()
                    .map(|&feature| (satisfies(explicand, feature), satisfies(row, feature)))
                    .collect();
                if passes.contains(&(false, false)) {
                    continue;
                }
                let count = |kind| passes.iter().filter(|&&passes| passes == kind).count();
                let (own, rest) = (count((true, false)), count((false, true)));
                let leaf = weight / total * f64::from(tree.number[node]);
                for (&a, &one) in features.iter().zip(&passes) {
                    for (&b, &other) in features.iter().zip(&passes) {
                        if a == b || one == (true, true) || other == (true, true) {
                            continue;
                        }
                        let lost = usize::from(one == (false, true)) + usize::from(other == (false, true));
                        let sign = if lost == 1 { -1.0 } else { 1.0 };
                        values[(a * case.features + b) * case.outputs + tree.output] +=
                            sign * leaf * value.moment(own - (2 - lost), rest - lost);
                    }
                }
            }
        }
    }
    values
}

/// Compares every kernel with `twin`, which gives the interactions of one explicand, and the diagonals with the values.
fn check(case: &Case, what: &str, twin: impl Fn(&Case, &Semivalue, &[f64]) -> Vec<f64>) {
    let oracle = InterventionalOracle::new(&case.ensemble, case.background(), Some(&case.weights)).unwrap();
    let (features, outputs) = (case.features, case.outputs);
    for value in semivalues(features) {
        let wanted: Vec<f64> = case.explicands().iter().flat_map(|row| twin(case, &value, row)).collect();
        let alone = oracle.values(value.clone(), case.explicands()).unwrap();
        for (name, choose) in CHOICES {
            let what = format!("{what}, {value}, {name}");
            let got = explain(&oracle, &value, Diagonal::Value, case.explicands(), choose);
            assert_eq!((&got.base, &got.predictions), (&alone.base, &alone.predictions));
            assert_eq!(got.values.len(), wanted.len());
            for (index, (&got, &wanted)) in got.values.iter().zip(&wanted).enumerate() {
                let (player, other, row) = (
                    index / outputs % features,
                    index / outputs / features % features,
                    index / outputs / features / features,
                );
                if player == other {
                    let value = alone.values[(row * features + player) * outputs + index % outputs];
                    assert_eq!(got, value, "{what}: the diagonal");
                } else {
                    assert!((got - wanted).abs() < 1e-12, "{what}: number {index}: {got} != {wanted}");
                }
            }
            let remainders = explain(&oracle, &value, Diagonal::Remainder, case.explicands(), choose);
            for (position, alone) in alone.values.chunks_exact(outputs).enumerate() {
                for (output, alone) in alone.iter().enumerate() {
                    let row = &remainders.values[position * features * outputs..][..features * outputs];
                    let sum: f64 = row.iter().skip(output).step_by(outputs).sum();
                    assert!((sum - alone).abs() < 1e-12, "{what}: row {position} sums to {sum}, not {alone}");
                }
            }
        }
    }
}

#[test]
fn interactions_are_those_of_the_definition() {
    let random = &mut Random(21);
    for (features, depth, outputs, background) in
        [(1, 2, 1, 3), (2, 3, 1, 1), (5, 4, 1, 7), (6, 5, 3, 20), (9, 4, 2, 5), (7, 8, 1, 90)]
    {
        let all: Vec<usize> = (0..features).collect();
        for categorical in [false, true] {
            let mut trees: Vec<TreeSpec> = (0..4)
                .map(|index| TreeSpec::random(random, &all, depth, categorical, index % outputs))
                .collect();
            trees.push(TreeSpec::leaf(0.75));
            let case = Case::new(random, trees, features, outputs, (3, background));
            let what = format!("{features} features, depth {depth}, {outputs} outputs, {background} rows");
            check(&case, &what, |case, value, row| by_enumeration(case, value, &all, row));
            check(&case, &what, by_leaves);
        }
    }
}

#[test]
fn all_kernels_agree_across_blocks_of_rows() {
    let random = &mut Random(22);
    let features: Vec<usize> = (0..9).collect();
    let trees = (0..4).map(|_| TreeSpec::random(random, &features, 6, true, 0)).collect();
    let case = Case::new(random, trees, 9, 1, (131, 130));
    check(&case, "131 rows against 130", by_leaves);
}

#[test]
fn few_of_many_features_interact() {
    let random = &mut Random(23);
    let trees: Vec<TreeSpec> = (0..6)
        .map(|tree| {
            let features: Vec<usize> = (0..5).map(|k| (tree * 13 + k * k * 3) % 90).collect();
            TreeSpec::random(random, &features, 5, false, tree % 2)
        })
        .collect();
    let case = Case::new(random, trees, 90, 2, (5, 9));
    check(&case, "90 features", by_leaves);
}

#[test]
fn a_path_with_more_features_than_a_word_has_bits_is_walked() {
    let random = &mut Random(24);
    for features in [63, 64, 65, 100] {
        // Some features twice, so that the path is longer than it has features.
        let path: Vec<usize> = (0..features).chain((0..features).step_by(7)).collect();
        let chain = TreeSpec::chain(random, &path);
        let short = TreeSpec::random(random, &[0, 5, 9], 3, true, 0);
        let mut case = Case::new(random, vec![chain, short], features, 1, (2, 3));
        // Rows that mostly go down the chain, so that mixtures reach its end.
        for value in case.explicands.iter_mut().chain(&mut case.background) {
            *value = if random.chance(2) { -1.0 } else { 1.0 };
        }
        check(&case, &format!("a chain of {features}"), by_leaves);
    }
}

#[test]
fn deep_trees_need_no_deep_stack() {
    let random = &mut Random(25);
    let features: Vec<usize> = (0..1500).collect();
    let chain = TreeSpec::chain(random, &features);
    let case = Case::new(random, vec![chain], 1500, 1, (0, 1));
    let (high, low) = (vec![1.0; 1500], vec![-1.0; 1500]);
    let oracle = InterventionalOracle::new(&case.ensemble, Rows::new(&low, 1500), None).unwrap();
    let got = oracle.interactions(Semivalue::Shapley, Diagonal::Remainder, Rows::new(&high, 1500)).unwrap();
    let total: f64 = got.values.iter().sum();
    assert!((total + got.base[0] - got.predictions[0]).abs() < 1e-11);
    for a in 0..1500 {
        assert!((0..a).all(|b| got.values[a * 1500 + b].to_bits() == got.values[b * 1500 + a].to_bits()));
    }
}

#[test]
fn results_are_the_same_bytes_on_any_number_of_threads() {
    let random = &mut Random(26);
    let features: Vec<usize> = (0..12).collect();
    let trees = (0..20).map(|_| TreeSpec::random(random, &features, 6, false, 0)).collect();
    let case = Case::new(random, trees, 12, 1, (300, 90));
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let oracle =
                InterventionalOracle::new(&case.ensemble, case.background(), Some(&case.weights)).unwrap();
            CHOICES.map(|(_, choose)| {
                let got =
                    explain(&oracle, &Semivalue::Shapley, Diagonal::Remainder, case.explicands(), choose);
                got.values.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
            })
        })
    };
    let one = bits(1);
    assert_eq!(one, bits(2));
    assert_eq!(one, bits(5));
}
