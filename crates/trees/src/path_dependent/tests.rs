//! Consistency tests of the recursions: results are the same to the last bit for any instruction set and any
//! block width.

use apportion_games::Partition;
use apportion_models::Ensemble;
use apportion_values::{CoalitionalValue, Semivalue};

use super::block::{self, Blocks, Recursion};
use super::coalitional;
use super::inputs::{Inputs, TreeLayout};
use super::interactions::PairKernel;
use super::interactions::partners::Partners;
use super::kernel::PlayerKernel;
use super::lanes::{Lanes, MAX_NODES, Nodes, rules, runs};
use super::tree_explainer::PathDependentTreeExplainer;
use crate::common::case::semivalues;
use crate::common::{Random, TreeSpec, document, read};

#[test]
fn instruction_sets_and_widths_of_blocks_give_the_same_bits() {
    let random = &mut Random(24);
    let features: Vec<usize> = (0..11).collect();
    let mut trees: Vec<TreeSpec> = (0..2).map(|_| TreeSpec::random(random, &features, 7, true, 0)).collect();
    trees.push(TreeSpec::chain(random, &features));
    let ensemble = read(&document(&trees, 11, &[-0.75])).unwrap();
    let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
    let rows = random.row(11 * 100);
    let program = &tree_explainer.program;
    let partners = Partners::new(program, 11);
    let groups = vec![vec![3, 0, 7], vec![1], vec![2, 10], vec![8, 4, 6, 5], vec![9]];
    let in_groups = coalitional::Program::new(&ensemble, &Partition::new(11, groups).unwrap());
    // Use all values that have a quadrature rule.
    let values = &semivalues(11)[..9];
    for (value, within) in values.iter().zip(values.iter().rev()) {
        let rules = || rules(program.trees.iter().map(|tree| tree.distinct), value).unwrap();
        check_bits(&format!("{value}"), PlayerKernel { program, rules: rules() }, &ensemble, &rows);
        if PairKernel::takes(&rules()) {
            let pairs = PairKernel::new(program, &partners, rules());
            assert!(pairs.targets().len() > 11);
            check_bits(&format!("pairs, {value}"), pairs, &ensemble, &rows);
        }
        let value = CoalitionalValue { between: value.clone(), within: within.clone() };
        let recursion = coalitional::MemberKernel::new(&in_groups, &value).unwrap();
        check_bits(&format!("{value:?}"), recursion, &ensemble, &rows);
    }
}

fn check_bits(what: &str, recursion: impl Recursion, ensemble: &Ensemble, rows: &[f64]) {
    let portable = Portable(recursion);
    let expected = explain::<64, _>(&portable, ensemble, rows);
    assert_eq!(explain::<8, _>(&portable, ensemble, rows), expected, "{what}");
    assert_eq!(explain::<1, _>(&portable, ensemble, rows), expected, "{what}");
    let Portable(recursion) = portable;
    assert_eq!(explain::<64, _>(&recursion, ensemble, rows), expected, "{what}");
    assert_eq!(explain::<8, _>(&recursion, ensemble, rows), expected, "{what}");
    assert_eq!(explain::<1, _>(&recursion, ensemble, rows), expected, "{what}");
}

/// Returns the bits that a recursion writes, in blocks of `R` rows.
fn explain<const R: usize, K: Recursion>(recursion: &K, ensemble: &Ensemble, rows: &[f64]) -> Vec<u64> {
    let numbers = recursion.targets().iter().max().unwrap() + 1;
    let mut values = vec![0.0; rows.len() / ensemble.feature_count() * numbers];
    Blocks::<K, R>::new(recursion).explain(recursion, ensemble, rows, &mut values);
    values.iter().map(|value| value.to_bits()).collect()
}

/// A recursion that is not compiled for any particular instruction set.
struct Portable<K>(K);

impl<K: Recursion> Recursion for Portable<K> {
    type Tree = K::Tree;
    type Stack<const R: usize> = K::Stack<R>;
    type NodeData<'k>
        = K::NodeData<'k>
    where
        Self: 'k;

    fn inputs(&self) -> &Inputs {
        self.0.inputs()
    }

    fn trees(&self) -> &[K::Tree] {
        self.0.trees()
    }

    fn place(tree: &K::Tree) -> &TreeLayout {
        K::place(tree)
    }

    fn targets(&self) -> &[usize] {
        self.0.targets()
    }

    fn stack<const R: usize>(&self) -> K::Stack<R> {
        self.0.stack()
    }

    fn runs<'k>(&'k self, tree: &'k K::Tree) -> impl Iterator<Item = (Nodes<'k>, K::NodeData<'k>)> {
        self.0.runs(tree)
    }

    fn walk<const Q: usize, const R: usize>(
        &self,
        tree: &K::Tree,
        run: (Nodes<'_>, K::NodeData<'_>),
        columns: &[Lanes<R>],
        stack: &mut K::Stack<R>,
        phi: &mut [Lanes<R>],
    ) {
        self.0.walk::<Q, R>(tree, run, columns, stack, phi);
    }

    fn add_run<const R: usize>(
        &self,
        tree: &K::Tree,
        run: (Nodes<'_>, K::NodeData<'_>),
        columns: &[Lanes<R>],
        stack: &mut K::Stack<R>,
        phi: &mut [Lanes<R>],
    ) {
        self.0.add_run_portable(tree, run, columns, stack, phi);
    }
}

#[test]
fn all_rows_are_taken_in_wide_blocks_narrow_ones_or_singly() {
    for (levels, few) in [(1, 1), (8, 4), (40, 1), (40, 4)] {
        for rows in 0..300 {
            let [wide, narrow, single] = block::rows_by_width(rows, levels, few);
            assert_eq!(wide + narrow + single, rows);
            // At most `few` rows are processed one by one. If there are at most `few` rows in total, all of
            // them are.
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
    let rule = Semivalue::Shapley.rule(2 * (2 * MAX_NODES + 1) - 1).unwrap();
    let runs: Vec<usize> = runs(&rule).map(|nodes| nodes.presence.len()).collect();
    assert_eq!(runs, [MAX_NODES, MAX_NODES, 1]);
}
