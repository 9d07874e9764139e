//! The recursion of a tree, for a block of rows and a few nodes of a quadrature rule at a time.
//!
//! Every formula of [the module above](super) is a loop over the rows of a block, with the nodes unrolled inside. The compiler makes
//! vector instructions of it, for each instruction set on its own. No multiplication is fused with an addition, and rows do not meet,
//! so a row's values are the same bits whatever the instruction set, the width of the block and the rows beside it.
//!
//! # Slots
//!
//! Split and leaves of a path need memory only while the way through the tree is below them. A *slot* holds one number per node of the
//! rule and row, and each level of the tree has two, for both children of the split on the path. On the way down a child's slot is given P
//! of the child; on the way up the child puts T in its place, for its parent to take.

use std::hint::select_unpredictable as select;

use super::program::{Program, Split, TreeProgram};

/// Most nodes of a rule that are taken through a tree at once. Longer rules are cut.
pub(super) const MOST_NODES: usize = 4;

/// One number per row of a block.
pub(super) type Lanes<const R: usize> = [f64; R];

/// The memory of the way through a tree.
pub(super) struct Stack<const R: usize> {
    slots: Vec<Lanes<R>>,
    /// Per level and side: all bits of the rows that passed all tests of the split's feature.
    masks: Vec<[u64; R]>,
}

impl<const R: usize> Stack<R> {
    /// For trees of up to as many levels.
    pub(super) fn new(levels: usize) -> Self {
        Self { slots: vec![[0.0; R]; (2 * levels + 1) * MOST_NODES], masks: vec![[0; R]; 2 * levels] }
    }
}

/// Some nodes of a quadrature rule: t, 1 − t and the weights.
#[derive(Clone, Copy)]
pub(super) struct Nodes<'a> {
    pub(super) presence: &'a [f64],
    pub(super) absence: &'a [f64],
    pub(super) weights: &'a [f64],
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
    for (slot, &weight) in stack.slots.iter_mut().zip(&nodes.weights[..Q]) {
        *slot = [weight; R];
    }
    for step in program.steps(tree) {
        let split = &splits[step.split()];
        let column = &columns[split.column as usize];
        let (masks, own_masks) = stack.masks.split_at_mut(split.masks());
        let hot = if split.again { Some(&masks[split.hot as usize]) } else { None };
        let (slots, children) = stack.slots.split_at_mut(split.children() * Q);
        let slot = first_mut::<Q, R>(&mut slots[split.slot as usize * Q..]);
        let (left, right) = children.split_at_mut(Q);
        let (left, right) = (first_mut::<Q, R>(left), first_mut::<Q, R>(right));
        let presence = Presence::new(split.passed, nodes);
        if step.is_ascent() {
            let phi = &mut phi[split.player as usize];
            match hot {
                None => ascend(split, &presence, column, Untested, slot, left, right, phi),
                Some(hot) => ascend(split, &presence, column, Tested(hot), slot, left, right, phi),
            }
            continue;
        }
        if split.marks {
            mark(split, column, hot, own_masks);
        }
        match hot {
            None => descend(split, &presence, column, Untested, slot, left, right),
            Some(hot) => descend(split, &presence, column, Tested(hot), slot, left, right),
        }
    }
}

#[inline(always)]
fn first_mut<const Q: usize, const R: usize>(slots: &mut [Lanes<R>]) -> &mut [Lanes<R>; Q] {
    match slots.first_chunk_mut() {
        Some(slot) => slot,
        None => unreachable!("the stack is as deep as the tree"),
    }
}

/// s and ds/dt where the row has passed all earlier tests of the feature, whose shares multiply to c.
struct Presence<const Q: usize> {
    probability: [f64; Q],
    slope: [f64; Q],
}

impl<const Q: usize> Presence<Q> {
    #[inline(always)]
    fn new(passed: f64, nodes: Nodes<'_>) -> Self {
        let (mut probability, mut slope) = ([0.0; Q], [0.0; Q]);
        for q in 0..Q {
            let (t, passed_absent) = (nodes.presence[q], passed * nodes.absence[q]);
            let inverse = 1.0 / (t + passed_absent);
            probability[q] = t * inverse;
            slope[q] = passed * inverse * inverse;
        }
        Self { probability, slope }
    }
}

/// What is known of the earlier tests of a feature: which numbers to keep, row by row, where rows that failed one have 0.
trait Earlier: Copy {
    const TESTED: bool;

    fn keep(self, row: usize, number: f64) -> f64;
}

/// There are none.
#[derive(Clone, Copy)]
struct Untested;

impl Earlier for Untested {
    const TESTED: bool = false;

    #[inline(always)]
    fn keep(self, _: usize, number: f64) -> f64 {
        number
    }
}

/// There are some: all bits of the rows that passed them.
#[derive(Clone, Copy)]
struct Tested<'a, const R: usize>(&'a [u64; R]);

impl<const R: usize> Earlier for Tested<'_, R> {
    const TESTED: bool = true;

    // By bits, as the compiler would make branches of a choice.
    #[inline(always)]
    fn keep(self, row: usize, number: f64) -> f64 {
        f64::from_bits(number.to_bits() & self.0[row])
    }
}

/// Which rows pass all tests of the feature up to this one, on either side.
#[inline(always)]
fn mark<const R: usize>(split: &Split, column: &Lanes<R>, hot: Option<&[u64; R]>, masks: &mut [[u64; R]]) {
    let threshold = split.threshold;
    let [left, right, ..] = masks else { unreachable!("every level has two masks") };
    for row in 0..R {
        left[row] = u64::from(column[row] < threshold).wrapping_neg();
        right[row] = !left[row];
    }
    if let Some(hot) = hot {
        for row in 0..R {
            left[row] &= hot[row];
            right[row] &= hot[row];
        }
    }
}

/// P of both children: `P(child) = P · ((1 − s) κ_child + s [x goes to the child])`.
#[inline(always)]
fn descend<const Q: usize, const R: usize>(
    split: &Split,
    presence: &Presence<Q>,
    column: &Lanes<R>,
    earlier: impl Earlier,
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

/// T of a split from those of its children, which are leaves or have been left before, and what its feature gets.
#[allow(
    clippy::too_many_arguments,
    reason = "the state of the walk, apart so that the compiler sees that nothing overlaps"
)]
#[inline(always)]
fn ascend<const Q: usize, const R: usize>(
    split: &Split,
    presence: &Presence<Q>,
    column: &Lanes<R>,
    earlier: impl Earlier,
    slot: &mut [Lanes<R>; Q],
    left: &[Lanes<R>; Q],
    right: &[Lanes<R>; Q],
    phi: &mut Lanes<R>,
) {
    let [leaf_left, leaf_right] = split.leaves;
    let (left, right) = (|q: usize, row: usize| left[q][row], |q: usize, row: usize| right[q][row]);
    let (leaf_left, leaf_right) = (|_, _| leaf_left, |_, _| leaf_right);
    match split.is_leaf {
        [false, false] => join(split, presence, column, earlier, slot, (left, right), phi),
        [false, true] => join(split, presence, column, earlier, slot, (left, leaf_right), phi),
        [true, false] => join(split, presence, column, earlier, slot, (leaf_left, right), phi),
        [true, true] => join(split, presence, column, earlier, slot, (leaf_left, leaf_right), phi),
    }
}

/// ```text
/// A = κ_l T_l + κ_r T_r,   Δ = T_x − A,   T = A + s Δ,   φ += Σ_q w_q P ds/dt Δ
/// ```
#[inline(always)]
fn join<const Q: usize, const R: usize, E: Earlier>(
    split: &Split,
    presence: &Presence<Q>,
    column: &Lanes<R>,
    earlier: E,
    slot: &mut [Lanes<R>; Q],
    (left, right): (impl Fn(usize, usize) -> f64, impl Fn(usize, usize) -> f64),
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
            // The slope is 1 where there was no earlier test.
            gain += if E::TESTED { slope[q] * reach } else { reach } * lift;
            slot[q][row] = absent + s[q] * lift;
        }
        phi[row] += gain;
    }
}
