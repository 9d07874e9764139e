//! The recursion of a tree, for a block of rows and a few nodes of a quadrature rule at a time.
//!
//! Every formula of [the module above](super) is a loop over the rows of a block, with the nodes unrolled inside. The compiler makes
//! vector instructions of it, for each instruction set on its own. No multiplication is fused with an addition, and rows do not meet,
//! so a row's values are the same bits whatever the instruction set, the width of the block and the rows beside it.
//!
//! # Slots
//!
//! A split needs memory only while the way through the tree is below it. A *slot* holds one number per node of the
//! rule and row, and each level of the tree has two, for both children of the split on the path. On the way down a child's slot is given P
//! of the child; on the way up the child puts T in its place, for its parent to take.

use std::hint::select_unpredictable as select;

use apportion_values::Rule;

use super::block::{self, runs};
use super::one_row;
use super::plan::Cost;
use super::program::{Program, Split, TreeProgram, Visit};
use super::questions::{Place, Questions};

/// Most nodes of a rule that are taken through a tree at once. Longer rules are cut.
pub(super) const MOST_NODES: usize = 4;

/// One number per row of a block.
pub(super) type Lanes<const R: usize> = [f64; R];

/// The memory of the way through a tree.
pub(super) struct Stack<const R: usize> {
    pub(super) slots: Vec<Lanes<R>>,
    /// All bits of the rows that passed all tests of the split's feature, per level and side after that of all rows.
    pub(super) masks: Vec<[u64; R]>,
}

impl<const R: usize> Stack<R> {
    /// For trees of up to as many levels.
    pub(super) fn new(levels: usize) -> Self {
        Self { slots: vec![[0.0; R]; (2 * levels + 1) * MOST_NODES], masks: vec![[0; R]; 2 * levels + 1] }
    }
}

/// The memory of either way to go through a tree: with the rows of a block side by side, or, for a single row, with the nodes of the rule.
pub(super) enum Memory<const R: usize> {
    OfBlocks(Stack<R>),
    OfOneRow(one_row::Stack),
}

/// Some nodes of a quadrature rule: t, 1 − t and the weights.
#[derive(Clone, Copy)]
pub(super) struct Nodes<'a> {
    pub(super) presence: &'a [f64],
    pub(super) absence: &'a [f64],
    pub(super) weights: &'a [f64],
}

/// Values by quadrature: a rule for each number of distinct players that a tree may have on a path.
pub(super) struct Kernel<'a> {
    pub(super) program: &'a Program,
    pub(super) rules: Vec<Option<Rule>>,
}

impl block::Kernel for Kernel<'_> {
    type Tree = TreeProgram;
    type Stack<const R: usize> = Memory<R>;

    fn questions(&self) -> &Questions {
        &self.program.questions
    }

    fn trees(&self) -> &[TreeProgram] {
        &self.program.trees
    }

    fn place(tree: &TreeProgram) -> &Place {
        &tree.place
    }

    fn stack<const R: usize>(&self) -> Memory<R> {
        match R {
            1 => Memory::OfOneRow(one_row::Stack::new(self.program)),
            _ => Memory::OfBlocks(Stack::new(self.program.levels())),
        }
    }

    fn few(&self) -> usize {
        Cost::few(self.program.split_count())
    }

    fn add_tree<const R: usize>(
        &self,
        tree: &TreeProgram,
        columns: &[Lanes<R>],
        stack: &mut Memory<R>,
        phi: &mut [Lanes<R>],
    ) {
        let Some(rule) = &self.rules[tree.distinct] else { unreachable!("a rule for every tree") };
        let program = self.program;
        for nodes in runs(rule) {
            match stack {
                // A constant condition, so that nothing is compiled for blocks of one row.
                Memory::OfBlocks(stack) if const { R > 1 } => {
                    add_tree(program, tree, nodes, columns, stack, phi);
                }
                Memory::OfBlocks(_) => unreachable!("a single row is no block"),
                Memory::OfOneRow(stack) => {
                    let (columns, phi) = (columns.as_flattened(), phi.as_flattened_mut());
                    one_row::add_tree(program, tree, nodes, columns, stack, phi);
                }
            }
        }
    }
}

/// Adds the values on one tree to `phi`, which has the lanes of each player, summed over at most [`MOST_NODES`] nodes.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
pub(super) fn add_tree<const R: usize>(
    program: &Program,
    tree: &TreeProgram,
    nodes: Nodes<'_>,
    columns: &[Lanes<R>],
    stack: &mut Stack<R>,
    phi: &mut [Lanes<R>],
) {
    add_tree_portable(program, tree, nodes, columns, stack, phi);
}

/// What [`add_tree`] compiles for each instruction set.
#[inline(always)]
pub(super) fn add_tree_portable<const R: usize>(
    program: &Program,
    tree: &TreeProgram,
    nodes: Nodes<'_>,
    columns: &[Lanes<R>],
    stack: &mut Stack<R>,
    phi: &mut [Lanes<R>],
) {
    match nodes.presence.len() {
        1 => walk::<1, R>(program, tree, nodes, columns, stack, phi),
        2 => walk::<2, R>(program, tree, nodes, columns, stack, phi),
        3 => walk::<3, R>(program, tree, nodes, columns, stack, phi),
        4 => walk::<4, R>(program, tree, nodes, columns, stack, phi),
        count => unreachable!("{count} nodes at once"),
    }
}

/// All steps of a tree.
#[inline(always)]
fn walk<const Q: usize, const R: usize>(
    program: &Program,
    tree: &TreeProgram,
    nodes: Nodes<'_>,
    columns: &[Lanes<R>],
    stack: &mut Stack<R>,
    phi: &mut [Lanes<R>],
) {
    let splits = program.splits(tree);
    // P carries the weight of its node.
    for (slot, &weight) in stack.slots.iter_mut().zip(&nodes.weights[..Q]) {
        *slot = [weight; R];
    }
    stack.masks[0] = [u64::MAX; R];
    for step in program.steps(tree) {
        let split = &splits[step.split as usize];
        let column = &columns[split.column as usize];
        let (masks, own_masks) = stack.masks.split_at_mut(split.masks());
        let hot = &masks[split.hot as usize];
        let (slots, children) = stack.slots.split_at_mut(split.children() * Q);
        let slot = first_mut::<Q, R>(&mut slots[split.slot as usize * Q..]);
        let (left, right) = children.split_at_mut(Q);
        let (left, right) = (first_mut::<Q, R>(left), first_mut::<Q, R>(right));
        let phi = &mut phi[split.player as usize];
        let [leaf_left, leaf_right] = split.leaves;
        let first = || (Presence::first(nodes), Untested);
        let again = || (Presence::again(split.passed, nodes), Tested(hot));
        // T of the children, as functions of node and row: of leaves, which have one value, or left in the slots.
        macro_rules! from {
            (left) => {
                |q: usize, row: usize| left[q][row]
            };
            (right) => {
                |q: usize, row: usize| right[q][row]
            };
            (leaf_left) => {
                |_, _| leaf_left
            };
            (leaf_right) => {
                |_, _| leaf_right
            };
        }
        match step.visit {
            Visit::Descend => descend(split, column, first(), slot, left, right),
            Visit::DescendAgain => descend(split, column, again(), slot, left, right),
            Visit::DescendMarking => {
                mark_sides(split.threshold, column, hot, own_masks);
                descend(split, column, first(), slot, left, right);
            }
            Visit::DescendAgainMarking => {
                mark_sides(split.threshold, column, hot, own_masks);
                descend(split, column, again(), slot, left, right);
            }
            Visit::Ascend => ascend(split, column, first(), slot, from!(left), from!(right), phi),
            Visit::AscendLeftLeaf => {
                ascend(split, column, first(), slot, from!(leaf_left), from!(right), phi)
            }
            Visit::AscendRightLeaf => {
                ascend(split, column, first(), slot, from!(left), from!(leaf_right), phi)
            }
            Visit::AscendLeaves => {
                ascend(split, column, first(), slot, from!(leaf_left), from!(leaf_right), phi)
            }
            Visit::AscendAgain => ascend(split, column, again(), slot, from!(left), from!(right), phi),
            Visit::AscendAgainLeftLeaf => {
                ascend(split, column, again(), slot, from!(leaf_left), from!(right), phi)
            }
            Visit::AscendAgainRightLeaf => {
                ascend(split, column, again(), slot, from!(left), from!(leaf_right), phi)
            }
            Visit::AscendAgainLeaves => {
                ascend(split, column, again(), slot, from!(leaf_left), from!(leaf_right), phi);
            }
        }
    }
}

#[inline(always)]
pub(super) fn first_mut<const Q: usize, const R: usize>(slots: &mut [Lanes<R>]) -> &mut [Lanes<R>; Q] {
    match slots.first_chunk_mut() {
        Some(slot) => slot,
        None => unreachable!("the stack is as deep as the tree"),
    }
}

/// s, 1 − s and ds/dt where the row has passed all earlier tests of the feature.
pub(super) struct Presence<const Q: usize> {
    pub(super) probability: [f64; Q],
    pub(super) absence: [f64; Q],
    pub(super) slope: [f64; Q],
}

impl<const Q: usize> Presence<Q> {
    /// At the first test: t and 1.
    #[inline(always)]
    pub(super) fn first(nodes: Nodes<'_>) -> Self {
        let (mut probability, mut absence) = ([0.0; Q], [0.0; Q]);
        probability.copy_from_slice(&nodes.presence[..Q]);
        absence.copy_from_slice(&nodes.absence[..Q]);
        Self { probability, absence, slope: [1.0; Q] }
    }

    /// At a test after others, whose shares multiply to c.
    #[inline(always)]
    pub(super) fn again(passed: f64, nodes: Nodes<'_>) -> Self {
        let (mut probability, mut absence, mut slope) = ([0.0; Q], [0.0; Q], [0.0; Q]);
        for q in 0..Q {
            let (t, passed_absent) = (nodes.presence[q], passed * nodes.absence[q]);
            let inverse = 1.0 / (t + passed_absent);
            probability[q] = t * inverse;
            absence[q] = passed_absent * inverse;
            slope[q] = passed * inverse * inverse;
        }
        Self { probability, absence, slope }
    }
}

/// What is known of the earlier tests of a feature: which numbers to keep, row by row, where rows that failed one have 0.
pub(super) trait Earlier: Copy {
    const TESTED: bool;

    fn keep(self, row: usize, number: f64) -> f64;
}

/// There are none.
#[derive(Clone, Copy)]
pub(super) struct Untested;

impl Earlier for Untested {
    const TESTED: bool = false;

    #[inline(always)]
    fn keep(self, _: usize, number: f64) -> f64 {
        number
    }
}

/// There are some: all bits of the rows that passed them.
#[derive(Clone, Copy)]
pub(super) struct Tested<'a, const R: usize>(pub(super) &'a [u64; R]);

impl<const R: usize> Earlier for Tested<'_, R> {
    const TESTED: bool = true;

    // By bits, as the compiler would make branches of a choice.
    #[inline(always)]
    fn keep(self, row: usize, number: f64) -> f64 {
        f64::from_bits(number.to_bits() & self.0[row])
    }
}

/// Which rows pass all tests of the player up to this one, on either side.
#[inline(always)]
pub(super) fn mark_sides<const R: usize>(
    threshold: f64,
    column: &Lanes<R>,
    hot: &[u64; R],
    masks: &mut [[u64; R]],
) {
    let [left, right, ..] = masks else { unreachable!("every level has two masks") };
    for row in 0..R {
        let goes_left = u64::from(column[row] < threshold).wrapping_neg();
        left[row] = hot[row] & goes_left;
        right[row] = hot[row] & !goes_left;
    }
}

/// P of both children: `P(child) = P · ((1 − s) κ_child + s [x goes to the child])`.
#[inline(always)]
fn descend<const Q: usize, const R: usize, E: Earlier>(
    split: &Split,
    column: &Lanes<R>,
    (presence, earlier): (Presence<Q>, E),
    slot: &[Lanes<R>; Q],
    left: &mut [Lanes<R>; Q],
    right: &mut [Lanes<R>; Q],
) {
    let (threshold, [share_left, share_right], s) = (split.threshold, split.shares, presence.probability);
    for row in 0..R {
        let goes_left = column[row] < threshold;
        // What presence changes.
        let to_left = earlier.keep(row, select(goes_left, 1.0 - share_left, -share_left));
        let to_right = earlier.keep(row, select(goes_left, -share_right, 1.0 - share_right));
        for q in 0..Q {
            let reach = slot[q][row];
            left[q][row] = reach * (share_left + s[q] * to_left);
            right[q][row] = reach * (share_right + s[q] * to_right);
        }
    }
}

/// T of a split from those of its children, and what its feature gets:
///
/// ```text
/// A = κ_l T_l + κ_r T_r,   Δ = T_x − A,   T = A + s Δ,   φ += Σ_q w_q P ds/dt Δ.
/// ```
#[inline(always)]
fn ascend<const Q: usize, const R: usize, E: Earlier>(
    split: &Split,
    column: &Lanes<R>,
    (presence, earlier): (Presence<Q>, E),
    slot: &mut [Lanes<R>; Q],
    left: impl Fn(usize, usize) -> f64,
    right: impl Fn(usize, usize) -> f64,
    phi: &mut Lanes<R>,
) {
    let (threshold, [share_left, share_right]) = (split.threshold, split.shares);
    let (s, slope) = (presence.probability, presence.slope);
    for row in 0..R {
        let goes_left = column[row] < threshold;
        let mut gain = 0.0;
        for q in 0..Q {
            let (left, right) = (left(q, row), right(q, row));
            let absent = share_left * left + share_right * right;
            let lift = earlier.keep(row, select(goes_left, left, right) - absent);
            let reach = slot[q][row];
            gain += if E::TESTED { slope[q] * reach } else { reach } * lift;
            slot[q][row] = absent + s[q] * lift;
        }
        phi[row] += gain;
    }
}
