//! Interaction indices against their definition, and their kernels against each other.

use apportion_games::{Partition, Rows};
use apportion_values::{Semivalue, ValueError};

use super::super::block::{Kernel as _, rules};
use super::super::kernel::{Lanes, Stack};
use super::super::tests::{PortableKernel, bits, chain, check, check_bits, ensemble, forest, semivalues};
use super::kernel::{Kernel, PairTree, add_tree_portable};
use super::partners::Partners;
use crate::common::{Random, TreeSpec};
use crate::{Diagonal, Interactions, PathDependentOracle, TreeError};

/// Matrices from the definition: every coalition of the players is followed through the trees. `player_of` says whose a feature is.
fn by_enumeration(
    value: &Semivalue,
    trees: &[TreeSpec],
    (players, outputs): (usize, usize),
    player_of: &dyn Fn(usize) -> usize,
    row: &[f64],
) -> Vec<f64> {
    let worth = |coalition: usize| {
        let mut worth = vec![0.0; outputs];
        for tree in trees {
            worth[tree.output] +=
                tree.path_dependent(row, |feature| coalition >> player_of(feature) & 1 == 1);
        }
        worth
    };
    let worths: Vec<Vec<f64>> = (0..1 << players).map(worth).collect();
    let mut matrix = vec![0.0; players * players * outputs];
    for i in 0..players {
        for j in 0..players {
            let both = 1usize << i | 1 << j;
            for coalition in (0..1usize << players).filter(|coalition| coalition & both == 0) {
                let size = coalition.count_ones() as usize;
                for output in 0..outputs {
                    let worth = |more: usize| worths[coalition | more][output];
                    matrix[(i * players + j) * outputs + output] += if i == j {
                        value.coefficient(players, size) * (worth(both) - worth(0))
                    } else {
                        let others = players - 2;
                        value.moment(size, others - size)
                            * (worth(both) - worth(1 << i) - worth(1 << j) + worth(0))
                    };
                }
            }
        }
    }
    matrix
}

/// Semivalues of every kind, for `players`.
fn values_for(players: usize) -> Vec<Semivalue> {
    let mut law = vec![0.0; players];
    law[players / 2] = 0.75;
    law[players - 1] += 0.25;
    semivalues().into_iter().chain([Semivalue::by_size_law(&law).unwrap()]).collect()
}

#[test]
fn indices_are_those_of_the_definition() {
    let random = &mut Random(51);
    for features in [1, 2, 3, 6, 8] {
        for depth in [0, 1, 2, 4, 7] {
            for (outputs, categorical) in [(1, false), (1, true), (3, true)] {
                let all: Vec<usize> = (0..features).collect();
                let trees = forest(random, &all, depth, categorical, outputs);
                let ensemble = ensemble(&trees, features, outputs);
                let oracle = PathDependentOracle::new(&ensemble).unwrap();
                let rows = random.row(3 * features);
                let rows = Rows::new(&rows, features);
                for value in values_for(features) {
                    let what = format!("{features} features, depth {depth}, {outputs} outputs, {value}");
                    let pairs = oracle.interactions(value.clone(), Diagonal::Value, rows).unwrap();
                    let shape = (features, outputs);
                    let wanted = |row| by_enumeration(&value, &trees, shape, &|feature| feature, row);
                    check(&what, &pairs.values, &rows.iter().flat_map(wanted).collect::<Vec<_>>());
                    assert_eq!(pairs.base, oracle.base());
                    assert_eq!(pairs.predictions, ensemble.margins(rows).unwrap());
                }
            }
        }
    }
}

#[test]
fn twelve_features_on_a_path_and_again() {
    let random = &mut Random(52);
    let path: Vec<usize> = (0..16).map(|level| (level - level / 9) * 5 % 12).collect();
    let trees =
        [TreeSpec::chain(random, &path), TreeSpec::random(random, &(0..12).collect::<Vec<_>>(), 9, true, 0)];
    let ensemble = ensemble(&trees, 12, 1);
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let mut rows: Vec<f64> = (0..12).map(|_| if random.chance(10) { -1.0 } else { 1.0 }).collect();
    rows.extend(random.row(12));
    let rows = Rows::new(&rows, 12);
    for value in [
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::beta_shapley(4.0, 0.5).unwrap(),
        // A hair from certain presence, where 1 − t is all that is left of what was failed.
        Semivalue::weighted_banzhaf(1.0 - 1e-12).unwrap(),
    ] {
        let pairs = oracle.interactions(value.clone(), Diagonal::Value, rows).unwrap();
        let wanted: Vec<f64> = rows
            .iter()
            .flat_map(|row| by_enumeration(&value, &trees, (12, 1), &|feature| feature, row))
            .collect();
        check(&format!("{value}"), &pairs.values, &wanted);
    }
}

#[test]
fn groups_interact_as_players() {
    let random = &mut Random(53);
    for (features, groups) in [(1, 1), (5, 2), (70, 5), (70, 7)] {
        let partition = random.partition(features, groups);
        let players = partition.len();
        let all: Vec<usize> = (0..features).collect();
        let trees = forest(random, &all, 6, true, 2);
        let ensemble = ensemble(&trees, features, 2);
        let oracle = PathDependentOracle::new(&ensemble).unwrap();
        let rows = random.row(2 * features);
        let rows = Rows::new(&rows, features);
        for value in values_for(players) {
            let pairs =
                oracle.quotient_interactions(value.clone(), Diagonal::Value, &partition, rows).unwrap();
            let group_of = |feature| partition.group_of(feature);
            let wanted = |row| by_enumeration(&value, &trees, (players, 2), &group_of, row);
            check(&format!("{value}"), &pairs.values, &rows.iter().flat_map(wanted).collect::<Vec<_>>());
        }
    }
}

/// With remainders on the diagonal rows add up to the semivalue.
fn check_rows(what: &str, pairs: &Interactions, values: &[f64], features: usize) {
    let scale = pairs.values.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
    for (row, value) in pairs.values.chunks_exact(features).zip(values) {
        let total: f64 = row.iter().sum();
        assert!((total - value).abs() < 1e-12 * scale, "{what}: {total} != {value}");
    }
}

#[test]
fn remainders_and_halves_add_up_to_values() {
    let random = &mut Random(54);
    let features: Vec<usize> = (0..9).map(|feature| feature * 11).collect();
    let trees = forest(random, &features, 6, true, 1);
    let ensemble = ensemble(&trees, 100, 1);
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let rows = random.row(70 * 100);
    let rows = Rows::new(&rows, 100);
    for value in semivalues() {
        let values = oracle.values(value.clone(), rows).unwrap();
        let pairs = oracle.interactions(value.clone(), Diagonal::Remainder, rows).unwrap();
        check_rows(&format!("{value}"), &pairs, &values.values, 100);
    }
}

#[test]
fn neither_long_paths_nor_small_shares_do_harm() {
    for depth in [24, 92, 200] {
        for fraction in [0.9, 0.5, 0.1, 0.001, 1.0 - 1e-6] {
            if f64::log10(fraction) * depth as f64 <= -300.0 {
                continue; // No covers for that.
            }
            let ensemble = chain(depth, fraction);
            let oracle = PathDependentOracle::new(&ensemble).unwrap();
            let failed: [&dyn Fn(usize) -> bool; 4] =
                [&|_| false, &|_| true, &|f| f + 2 == depth, &|f| f % 3 == 2];
            let rows: Vec<f64> = failed
                .iter()
                .flat_map(|failed| (0..depth).map(|f| if failed(f) { -1.0 } else { 1.0 }))
                .collect();
            let rows = Rows::new(&rows, depth);
            for value in [
                Semivalue::Shapley,
                Semivalue::Banzhaf,
                Semivalue::beta_shapley(0.5, 0.5).unwrap(),
                Semivalue::weighted_banzhaf(1.0 - 1e-15).unwrap(),
                Semivalue::weighted_banzhaf(1e-300).unwrap(),
            ] {
                let what = format!("depth {depth}, fraction {fraction}, {value}");
                let pairs = oracle.interactions(value.clone(), Diagonal::Remainder, rows).unwrap();
                assert!(pairs.values.iter().all(|value| value.is_finite()), "{what}");
                let values = oracle.values(value.clone(), rows).unwrap();
                check_rows(&what, &pairs, &values.values, depth);
            }
            if depth == 24 {
                // The other kernel, which multiplies only.
                let law = Semivalue::by_size_law(&[1.0 / 24.0; 24]).unwrap();
                let wanted = oracle.interactions(law, Diagonal::Value, rows).unwrap();
                let pairs = oracle.interactions(Semivalue::Shapley, Diagonal::Value, rows).unwrap();
                check(&format!("fraction {fraction}"), &pairs.values, &wanted.values);
            }
        }
    }
}

impl PortableKernel for Kernel<'_> {
    fn add_portable<const R: usize>(
        &self,
        tree: &PairTree<'_>,
        columns: &[Lanes<R>],
        stack: &mut Stack<R>,
        phi: &mut [Lanes<R>],
    ) {
        for nodes in self.runs(tree) {
            add_tree_portable(self, tree.tree, nodes, columns, stack, phi);
        }
    }
}

#[test]
fn rows_have_the_same_bits_whatever_stands_beside_them_and_whatever_computes_them() {
    let random = &mut Random(55);
    let features: Vec<usize> = (0..11).collect();
    let mut trees = forest(random, &features, 7, true, 1);
    trees.push(TreeSpec::chain(random, &features));
    let ensemble = ensemble(&trees, 11, 1);
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let rows = random.row(11 * 300);
    let partners = Partners::new(&oracle.program, 11);
    for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
        let rules = rules(oracle.program.trees.iter().map(|tree| tree.distinct), &value).unwrap();
        let kernel = Kernel::new(&oracle.program, &partners, rules);
        assert!(kernel.targets().len() > 11);
        check_bits(&format!("{value}"), kernel, &ensemble, &rows[..1100]);
        let explain = |from: usize, count: usize| {
            let rows = Rows::new(&rows[11 * from..11 * (from + count)], 11);
            bits(&oracle.interactions(value.clone(), Diagonal::Remainder, rows).unwrap().values)
        };
        let all = explain(0, 300);
        for (from, count) in [(0, 1), (7, 9), (100, 64), (3, 257), (300, 0)] {
            assert_eq!(explain(from, count), all[121 * from..121 * (from + count)], "{count} from {from}");
        }
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| explain(0, 300)), all, "{threads} threads");
        }
    }
}

#[test]
fn trees_without_pairs_and_values_for_others() {
    let random = &mut Random(56);
    let stumps: Vec<TreeSpec> =
        (0..3).map(|feature| TreeSpec::random(random, &[feature], 3, false, 0)).collect();
    let ensemble = ensemble(&stumps, 3, 1);
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let rows = random.row(3);
    let rows = Rows::new(&rows, 3);
    let values = oracle.values(Semivalue::Shapley, rows).unwrap().values;
    for diagonal in [Diagonal::Value, Diagonal::Remainder] {
        let pairs = oracle.interactions(Semivalue::Shapley, diagonal, rows).unwrap();
        for (index, pair) in pairs.values.iter().enumerate() {
            let (i, j) = (index / 3, index % 3);
            assert_eq!(*pair, if i == j { values[i] } else { 0.0 });
        }
    }
    let law = Semivalue::by_size_law(&[0.5, 0.25, 0.25]).unwrap();
    let partition = Partition::whole(3);
    let error = oracle.quotient_interactions(law, Diagonal::Value, &partition, rows).unwrap_err();
    let wanted =
        matches!(error, TreeError::Value(ValueError::WeightsForOtherPlayers { weights: 3, players: 1 }));
    assert!(wanted, "{error}");
}
