//! The oracle against the definition, and its kernel against itself.

use apportion_games::{GameError, Partition, Rows};
use apportion_values::{CoalitionalValue, Semivalue, ValueError};
use serde_json::json;

use super::block::{self, Blocks, rules};
use super::kernel::{self, Kernel, Lanes, MOST_NODES, Memory};
use super::program::TreeProgram;
use super::questions::{Place, Questions};
use super::{PathDependentOracle, coalitional, one_row};
use crate::common::{Random, TreeSpec, document, read};
use crate::{Attributions, Ensemble, ModelError, TreeError};

/// Every kind of value that is defined for any number of players.
pub(super) fn semivalues() -> Vec<Semivalue> {
    let checked = [
        Semivalue::weighted_banzhaf(0.01),
        Semivalue::weighted_banzhaf(0.3),
        Semivalue::weighted_banzhaf(0.99),
        Semivalue::beta_shapley(1.0, 1.0),
        Semivalue::beta_shapley(4.0, 1.0),
        Semivalue::beta_shapley(0.5, 0.5),
        Semivalue::beta_shapley(16.0, 1.0),
        Semivalue::mixture(&[0.25, 0.5, 0.875], &[0.5, 0.25, 0.25]),
        Semivalue::mixture(&[0.0, 0.7, 1.0], &[0.25, 0.25, 0.5]),
        Semivalue::mixture(&[0.0], &[1.0]),
        Semivalue::mixture(&[1.0], &[1.0]),
    ];
    [Semivalue::Shapley, Semivalue::Banzhaf].into_iter().chain(checked.map(Result::unwrap)).collect()
}

pub(super) fn ensemble(trees: &[TreeSpec], features: usize, outputs: usize) -> Ensemble {
    let base_scores: Vec<f32> = (0..outputs).map(|output| output as f32 - 0.75).collect();
    read(&document(trees, features, &base_scores)).unwrap()
}

/// Trees of `outputs` outputs in turn, that split on `players` only.
pub(super) fn forest(
    random: &mut Random,
    players: &[usize],
    depth: usize,
    categorical: bool,
    outputs: usize,
) -> Vec<TreeSpec> {
    (0..2 * outputs)
        .map(|tree| TreeSpec::random(random, players, depth, categorical, tree % outputs))
        .collect()
}

/// The values from their definition: every coalition of `players`, followed through the trees. Other features must not matter.
fn by_enumeration(
    value: &Semivalue,
    trees: &[TreeSpec],
    (features, outputs): (usize, usize),
    players: &[usize],
    row: &[f64],
) -> Vec<f64> {
    let value = value.without_null_players(players.len());
    let worth = |coalition: usize| {
        let present = |feature| {
            players.iter().position(|&player| player == feature).is_some_and(|bit| coalition >> bit & 1 == 1)
        };
        let mut worth = vec![0.0; outputs];
        for tree in trees {
            worth[tree.output] += tree.path_dependent(row, present);
        }
        worth
    };
    let worths: Vec<Vec<f64>> = (0..1 << players.len()).map(worth).collect();
    let mut values = vec![0.0; features * outputs];
    for (bit, &player) in players.iter().enumerate() {
        for coalition in (0..1usize << players.len()).filter(|coalition| coalition >> bit & 1 == 0) {
            let weight = value.coefficient(players.len(), coalition.count_ones() as usize);
            for output in 0..outputs {
                let gain = worths[coalition | 1 << bit][output] - worths[coalition][output];
                values[player * outputs + output] += weight * gain;
            }
        }
    }
    values
}

/// The same as sums over leaves, with the quadrature of each leaf's own degree:
/// `φ_i += v Σ_q w_q (h_i − c_i) Π_{j≠i} (h_j t_q + c_j (1 − t_q))`.
fn by_leaves(
    value: &Semivalue,
    trees: &[TreeSpec],
    (features, outputs): (usize, usize),
    row: &[f64],
) -> Vec<f64> {
    let mut values = vec![0.0; features * outputs];
    for tree in trees {
        let cover: Vec<f64> = tree.covers().into_iter().map(f64::from).collect();
        // Per open node, the features of its path with h and c.
        let mut open = vec![(0usize, Vec::<(usize, f64, f64)>::new())];
        while let Some((node, path)) = open.pop() {
            if tree.left[node] != -1 {
                let feature = tree.feature[node];
                let goes_left = tree.goes_left(node, row[feature]);
                for (child, is_left) in [(tree.left[node], true), (tree.right[node], false)] {
                    let (h, c) =
                        (f64::from(u8::from(goes_left == is_left)), cover[child as usize] / cover[node]);
                    let mut longer = path.clone();
                    match longer.iter_mut().find(|known| known.0 == feature) {
                        Some(known) => *known = (feature, known.1 * h, known.2 * c),
                        None => longer.push((feature, h, c)),
                    }
                    open.push((child as usize, longer));
                }
                continue;
            }
            if path.is_empty() {
                continue;
            }
            let rule = value.rule(path.len() - 1).unwrap();
            for (i, &(feature, h, c)) in path.iter().enumerate() {
                let others = |t: f64, absent: f64| -> f64 {
                    let others = path.iter().enumerate().filter(|(j, _)| *j != i);
                    others.map(|(_, (_, h, c))| h * t + c * absent).product()
                };
                let nodes = rule.presence().iter().zip(rule.absence()).zip(rule.weights());
                let mean: f64 = nodes.map(|((&t, &absent), weight)| weight * others(t, absent)).sum();
                values[feature * outputs + tree.output] += f64::from(tree.number[node]) * (h - c) * mean;
            }
        }
    }
    values
}

pub(super) fn check(what: &str, values: &[f64], wanted: &[f64]) {
    assert_eq!(values.len(), wanted.len());
    let scale = wanted.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
    for (index, (got, wanted)) in values.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() < 1e-13 * scale, "{what}: number {index}: {got} != {wanted}");
    }
}

/// For efficient values: values and base add up to the prediction.
fn check_sum(what: &str, explained: &Attributions, features: usize) {
    let outputs = explained.base.len();
    let rows =
        explained.values.chunks_exact(features * outputs).zip(explained.predictions.chunks_exact(outputs));
    for (values, predictions) in rows {
        for (output, (base, prediction)) in explained.base.iter().zip(predictions).enumerate() {
            let total: f64 = values.iter().skip(output).step_by(outputs).sum();
            let scale = values.iter().fold(prediction.abs().max(1.0), |scale, value| scale.max(value.abs()));
            assert!(
                (total + base - prediction).abs() < 1e-12 * scale,
                "{what}: {total} + {base} != {prediction}"
            );
        }
    }
}

/// Rows that come alone have the bits that they have together.
fn check_singly(
    what: &str,
    oracle: &PathDependentOracle<'_>,
    value: &Semivalue,
    rows: Rows<'_>,
    together: &Attributions,
) {
    let numbers = together.values.len() / rows.len();
    for (row, wanted) in rows.iter().zip(together.values.chunks_exact(numbers)) {
        let alone = oracle.values(value.clone(), Rows::new(row, row.len())).unwrap();
        assert_eq!(bits(&alone.values), bits(wanted), "{what}");
    }
}

#[test]
fn values_are_those_of_the_definition() {
    let random = &mut Random(21);
    for features in [1, 2, 3, 8, 70, 140] {
        for depth in [0, 1, 2, 4, 7] {
            for (outputs, categorical) in [(1, false), (1, true), (3, true)] {
                let first = random.below(features);
                let players: Vec<usize> = (0..features.min(6)).map(|k| (first + k * 23) % features).collect();
                let players: Vec<usize> = if features < 23 { (0..features).collect() } else { players };
                let trees = forest(random, &players, depth, categorical, outputs);
                let ensemble = ensemble(&trees, features, outputs);
                let oracle = PathDependentOracle::new(&ensemble).unwrap();
                let rows = random.row(3 * features);
                let rows = Rows::new(&rows, features);
                let mut law = vec![0.0; features];
                law[features / 2] = 0.75;
                law[features - 1] += 0.25;
                let by_size = Semivalue::by_size_law(&law).unwrap();
                for value in semivalues().into_iter().chain([by_size]) {
                    let what = format!("{features} features, depth {depth}, {outputs} outputs, {value}");
                    let explained = oracle.values(value.clone(), rows).unwrap();
                    let shape = (features, outputs);
                    let wanted = |row| by_enumeration(&value, &trees, shape, &players, row);
                    check_singly(&what, &oracle, &value, rows, &explained);
                    check(&what, &explained.values, &rows.iter().flat_map(wanted).collect::<Vec<_>>());
                    if value.is_efficient() {
                        check_sum(&what, &explained, features);
                    }
                    assert_eq!(explained.base, oracle.base());
                    assert_eq!(explained.predictions, ensemble.margins(rows).unwrap());
                }
            }
        }
    }
}

#[test]
fn trees_with_many_features_on_a_path_give_the_sums_over_their_leaves() {
    let random = &mut Random(22);
    for (features, depth) in [(12, 9), (40, 40), (65, 70), (130, 130)] {
        // Features again every now and then.
        let path: Vec<usize> = (0..depth).map(|level| (level - level / 9) * 5 % features).collect();
        let players: Vec<usize> = (0..features).collect();
        let trees =
            [TreeSpec::chain(random, &path), TreeSpec::random(random, &players, depth.min(8), true, 0)];
        let ensemble = ensemble(&trees, features, 1);
        let oracle = PathDependentOracle::new(&ensemble).unwrap();
        // Rows that mostly go down the chain.
        let rows: Vec<f64> = (0..2 * features).map(|_| if random.chance(5) { -1.0 } else { 1.0 }).collect();
        let rows = Rows::new(&rows, features);
        for value in semivalues() {
            let explained = oracle.values(value.clone(), rows).unwrap();
            let wanted: Vec<f64> =
                rows.iter().flat_map(|row| by_leaves(&value, &trees, (features, 1), row)).collect();
            check_singly(&format!("depth {depth}, {value}"), &oracle, &value, rows, &explained);
            check(&format!("depth {depth}, {value}"), &explained.values, &wanted);
        }
    }
}

/// A chain of distinct features in which going on keeps a `fraction` of the cover, whatever 64 bits hold. Low values end.
pub(super) fn chain(depth: usize, fraction: f64) -> Ensemble {
    let count = 2 * depth + 1;
    let (mut left, mut right, mut cover) = (vec![-1; count], vec![-1; count], vec![1.0; count]);
    for level in 0..depth {
        let [ends, goes_on] = [2 * level + 1, 2 * level + 2];
        let above = if level == 0 { 0 } else { 2 * level };
        (left[above], right[above]) = (ends as i64, goes_on as i64);
        (cover[ends], cover[goes_on]) = (cover[above] * (1.0 - fraction), cover[above] * fraction);
    }
    let split = |node: usize| node.is_multiple_of(2) && node + 1 < count;
    let number: Vec<f64> =
        (0..count).map(|node| if split(node) { 0.0 } else { (node % 7) as f64 - 3.0 }).collect();
    let tree = json!({
        "left": left, "right": right, "feature": (0..count).map(|node| node / 2 % depth).collect::<Vec<_>>(),
        "threshold": number, "value": number, "cover": cover,
    });
    let document = json!({
        "format": "apportion-trees", "version": 1, "width": "single", "features": depth, "base_margins": [0.25], "operator": "<",
        "trees": [tree],
    });
    Ensemble::from_bytes(document.to_string().as_bytes()).unwrap()
}

#[test]
fn neither_long_paths_nor_small_shares_do_harm() {
    for depth in [24, 92, 200, 250] {
        for fraction in [0.9, 0.5, 0.1, 0.001, 1e-9, 1.0 - 1e-6] {
            if f64::log10(fraction) * depth as f64 <= -300.0 {
                continue; // No covers for that.
            }
            let ensemble = chain(depth, fraction);
            let oracle = PathDependentOracle::new(&ensemble).unwrap();
            // All tests passed, all failed, one failed in the middle and near the end, every third failed.
            let failed: [&dyn Fn(usize) -> bool; 5] =
                [&|_| false, &|_| true, &|f| f == depth / 2, &|f| f + 2 == depth, &|f| f % 3 == 2];
            let rows: Vec<f64> = failed
                .iter()
                .flat_map(|failed| (0..depth).map(|f| if failed(f) { -1.0 } else { 1.0 }))
                .collect();
            let rows = Rows::new(&rows, depth);
            for value in semivalues() {
                let explained = oracle.values(value.clone(), rows).unwrap();
                let what = format!("depth {depth}, fraction {fraction}, {value}");
                check_singly(&what, &oracle, &value, rows, &explained);
                assert!(
                    explained.values.iter().all(|value| value.is_finite()),
                    "{depth}, {fraction}, {value}"
                );
                if value.is_efficient() {
                    check_sum(&format!("depth {depth}, fraction {fraction}, {value}"), &explained, depth);
                }
            }
            // Neighbours on the path together, and such as are far from each other.
            for group_of in [|f: usize, _: usize| f / 6, |f: usize, depth: usize| f % (depth / 6)] {
                let count = (0..depth).map(|f| group_of(f, depth)).max().unwrap() + 1;
                let mut groups = vec![Vec::new(); count];
                (0..depth).for_each(|f| groups[group_of(f, depth)].push(f));
                let partition = Partition::new(depth, groups).unwrap();
                let owen = oracle.coalitional_values(&CoalitionalValue::owen(), &partition, rows).unwrap();
                check_sum(&format!("depth {depth}, fraction {fraction}, Owen"), &owen, depth);
                let two_step = oracle.two_step_shapley(&partition, rows).unwrap();
                check_sum(&format!("depth {depth}, fraction {fraction}, two-step"), &two_step, depth);
            }
        }
    }
}

pub(super) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn a_row_has_the_same_bits_whatever_stands_beside_it() {
    let random = &mut Random(23);
    let features: Vec<usize> = (0..9).collect();
    // Rules of two, three and five nodes; the last in two runs.
    for (depth, longest) in [(3, 4), (5, 6), (7, 9)] {
        let mut trees = forest(random, &features, depth, true, 2);
        trees.push(TreeSpec::chain(random, &(0..longest).collect::<Vec<_>>()));
        let ensemble = ensemble(&trees, 9, 2);
        let oracle = PathDependentOracle::new(&ensemble).unwrap();
        let rows = random.row(9 * 700);
        for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
            let explain = |from: usize, count: usize| {
                let rows = Rows::new(&rows[9 * from..9 * (from + count)], 9);
                bits(&oracle.values(value.clone(), rows).unwrap().values)
            };
            let all = explain(0, 700);
            for count in [0, 1, 2, 3, 7, 8, 9, 12, 24, 25, 63, 64, 65, 200, 257, 512] {
                for from in [0, 1, 100, 700 - count] {
                    if from + count <= 700 {
                        assert_eq!(
                            explain(from, count),
                            all[18 * from..18 * (from + count)],
                            "{count} from {from}"
                        );
                    }
                }
            }
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| explain(0, 700)), all, "{threads} threads");
            }
        }
    }
}

#[test]
fn instruction_sets_and_widths_of_blocks_give_the_same_bits() {
    let random = &mut Random(24);
    let features: Vec<usize> = (0..11).collect();
    let trees = forest(random, &features, 7, true, 1);
    let ensemble = ensemble(&trees, 11, 1);
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let rows = random.row(11 * 100);
    for value in semivalues() {
        let program = &oracle.program;
        let rules = rules(program.trees.iter().map(|tree| tree.distinct), &value).unwrap();
        check_bits(&format!("{value}"), Kernel { program, rules }, &ensemble, &rows);
    }
    let groups = vec![vec![3, 0, 7], vec![1], vec![2, 10], vec![8, 4, 6, 5], vec![9]];
    let program = coalitional::Program::new(&ensemble, &Partition::new(11, groups).unwrap());
    for (between, within) in semivalues().into_iter().zip(semivalues().into_iter().rev()) {
        let value = CoalitionalValue { between, within };
        let kernel = coalitional::Kernel::new(&program, &value).unwrap();
        check_bits(&format!("{value:?}"), kernel, &ensemble, &rows);
    }
}

pub(super) fn check_bits(what: &str, kernel: impl PortableKernel, ensemble: &Ensemble, rows: &[f64]) {
    let kernel = Portable(kernel);
    let wanted = explain::<64, _>(&kernel, ensemble, rows);
    assert_eq!(explain::<8, _>(&kernel, ensemble, rows), wanted, "{what}");
    assert_eq!(explain::<1, _>(&kernel, ensemble, rows), wanted, "{what}");
    let Portable(kernel) = kernel;
    assert_eq!(explain::<64, _>(&kernel, ensemble, rows), wanted, "{what}");
    assert_eq!(explain::<8, _>(&kernel, ensemble, rows), wanted, "{what}");
    assert_eq!(explain::<1, _>(&kernel, ensemble, rows), wanted, "{what}");
}

/// The bits that a kernel writes, by blocks of `R` rows.
fn explain<const R: usize, K: block::Kernel>(kernel: &K, ensemble: &Ensemble, rows: &[f64]) -> Vec<u64> {
    let numbers = kernel.targets().iter().max().unwrap() + 1;
    let mut values = vec![0.0; rows.len() / ensemble.feature_count() * numbers];
    Blocks::<K, R>::new(kernel).explain(kernel, ensemble, rows, &mut values);
    bits(&values)
}

/// A kernel that can do without any instruction set in particular.
pub(super) trait PortableKernel: block::Kernel {
    fn add_portable<const R: usize>(
        &self,
        tree: &Self::Tree,
        columns: &[Lanes<R>],
        stack: &mut Self::Stack<R>,
        phi: &mut [Lanes<R>],
    );
}

impl PortableKernel for Kernel<'_> {
    fn add_portable<const R: usize>(
        &self,
        tree: &TreeProgram,
        columns: &[Lanes<R>],
        stack: &mut Memory<R>,
        phi: &mut [Lanes<R>],
    ) {
        for nodes in block::runs(self.rules[tree.distinct].as_ref().unwrap()) {
            match stack {
                Memory::OfBlocks(stack) => {
                    kernel::add_tree_portable(self.program, tree, nodes, columns, stack, phi);
                }
                Memory::OfOneRow(stack) => {
                    let (columns, phi) = (columns.as_flattened(), phi.as_flattened_mut());
                    one_row::add_tree_portable(self.program, tree, nodes, columns, stack, phi);
                }
            }
        }
    }
}

impl PortableKernel for coalitional::Kernel<'_> {
    fn add_portable<const R: usize>(
        &self,
        tree: &coalitional::TreeProgram,
        columns: &[Lanes<R>],
        stack: &mut coalitional::Stack<R>,
        phi: &mut [Lanes<R>],
    ) {
        let (between, within) = self.rules(tree);
        for nodes in block::runs(between) {
            coalitional::add_tree_portable(self.program, tree, (nodes, within), columns, stack, phi);
        }
    }
}

/// The kernel when it does.
struct Portable<K>(K);

impl<K: PortableKernel> block::Kernel for Portable<K> {
    type Tree = K::Tree;
    type Stack<const R: usize> = K::Stack<R>;

    fn questions(&self) -> &Questions {
        self.0.questions()
    }

    fn trees(&self) -> &[K::Tree] {
        self.0.trees()
    }

    fn place(tree: &K::Tree) -> &Place {
        K::place(tree)
    }

    fn targets(&self) -> &[usize] {
        self.0.targets()
    }

    fn stack<const R: usize>(&self) -> K::Stack<R> {
        self.0.stack()
    }

    fn add_tree<const R: usize>(
        &self,
        tree: &K::Tree,
        columns: &[Lanes<R>],
        stack: &mut K::Stack<R>,
        phi: &mut [Lanes<R>],
    ) {
        self.0.add_portable(tree, columns, stack, phi);
    }
}

#[test]
fn deep_trees_need_no_deep_stack() {
    let random = &mut Random(25);
    let path: Vec<usize> = (0..5000).map(|level| level % 40).collect();
    let ensemble = ensemble(&[TreeSpec::chain(random, &path)], 40, 1);
    assert_eq!(ensemble.depth(), 5000);
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let rows: Vec<f64> = (0..40 * 70).map(|k| if k % 997 == 5 { -1.0 } else { 1.0 }).collect();
    let explained = oracle.values(Semivalue::Shapley, Rows::new(&rows, 40)).unwrap();
    check_sum("a chain of 5000", &explained, 40);
}

#[test]
fn trees_that_give_nothing_cost_nothing() {
    let random = &mut Random(26);
    let mut nothing = TreeSpec::random(random, &[0, 1], 3, false, 0);
    nothing
        .number
        .iter_mut()
        .zip(&nothing.left)
        .filter(|(_, left)| **left == -1)
        .for_each(|(value, _)| *value = 0.0);
    let ensemble = ensemble(&[nothing, TreeSpec::leaf(1.5)], 2, 1);
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    assert!(oracle.program.trees.is_empty());
    for value in semivalues() {
        let explained = oracle.values(value, Rows::new(&[1.0, 0.0], 2)).unwrap();
        assert_eq!((explained.values, explained.base), (vec![0.0; 2], vec![0.75]));
    }
}

#[test]
fn all_rows_are_taken_in_wide_blocks_narrow_ones_or_singly() {
    for (levels, few) in [(1, 1), (8, 4), (40, 1), (40, 4)] {
        for rows in 0..300 {
            let [wide, narrow, single] = block::rows_by_width(rows, levels, few);
            assert_eq!(wide + narrow + single, rows);
            // No more than a few rows come singly, and all these where they are alone.
            assert!(single <= few && (rows > few || single == rows), "{rows} rows: {single} singly");
            assert!(levels < 40 || wide == 0, "{rows} rows: {wide} in wide blocks of a deep stack");
            let [wide_blocks, narrow_blocks, single_rows] = block::block_counts(rows, levels, few);
            assert!(wide <= wide_blocks * 64 && wide + 64 > wide_blocks * 64);
            assert!(narrow <= narrow_blocks * 8 && narrow + 8 > narrow_blocks * 8);
            assert_eq!(single, single_rows);
        }
    }
}

#[test]
fn a_rule_is_taken_in_runs_of_nodes() {
    let rule = Semivalue::Shapley.rule(2 * (2 * MOST_NODES + 1) - 1).unwrap();
    let runs: Vec<usize> = block::runs(&rule).map(|nodes| nodes.presence.len()).collect();
    assert_eq!(runs, [MOST_NODES, MOST_NODES, 1]);
}

#[test]
fn bad_covers_rows_and_values_are_refused() {
    let random = &mut Random(27);
    let tree = TreeSpec::random(random, &[0, 1], 2, false, 0);
    let mut without = document(std::slice::from_ref(&tree), 2, &[0.0]);
    without["learner"]["gradient_booster"]["model"]["trees"][0]["sum_hessian"][0] = 0.0.into();
    let ensemble = read(&without).unwrap();
    assert!(matches!(
        PathDependentOracle::new(&ensemble),
        Err(TreeError::Model(ModelError::Cover { tree: 0, node: 0, .. }))
    ));

    let ensemble = read(&document(&[tree], 2, &[0.0])).unwrap();
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let refused = |value, rows: &[f64], columns| oracle.values(value, Rows::new(rows, columns)).unwrap_err();
    let error = refused(Semivalue::Shapley, &[0.0; 3], 3);
    assert!(matches!(error, TreeError::Game(GameError::Width { given: 3, wanted: 2, .. })), "{error}");
    let error = refused(Semivalue::Shapley, &[0.0, f64::INFINITY], 2);
    assert!(matches!(error, TreeError::Game(GameError::InfiniteInput { column: 1, .. })), "{error}");
    let error = refused(Semivalue::by_size_law(&[0.5, 0.25, 0.25]).unwrap(), &[0.0; 2], 2);
    let wanted =
        matches!(error, TreeError::Value(ValueError::WeightsForOtherPlayers { weights: 3, players: 2 }));
    assert!(wanted, "{error}");
}
