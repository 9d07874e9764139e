//! The recursion of a tree for one row, vectorized over the nodes of the rule.
//!
//! With one row, the only loop is over the nodes of the rule, which vector instructions process at once. The
//! operations are the same at every split, so a tree is traversed twice without a branch: down, storing at
//! each split the data that the way up needs, and up. The time does not depend on branch prediction, which
//! could not learn the pattern from a single row.
//!
//! The numbers are the same as in [the kernel of blocks](super::kernel), computed in the same order, so that
//! both kernels return the same bits for a row.

use super::lanes::{MAX_NODES, Nodes};
use super::program::{Program, Split, TreeProgram};

/// One number per node of a run of the rule.
type Lanes = [f64; MAX_NODES];

/// The working memory of a traversal of a tree.
pub(super) struct Stack {
    /// The nodes t, which are the probabilities of presence; `absent` contains 1 − t.
    present: Lanes,
    absent: Lanes,
    /// The same slots as in [the kernel of blocks](super::kernel).
    slots: Vec<Slot>,
    visits: Vec<Visit>,
}

/// The data of a child of a split on the path.
#[derive(Clone, Copy)]
struct Slot {
    /// P of the child: the probability that the walk reaches it.
    reach: Lanes,
    /// T of the child, the expectation below it, if it is a split that has been finished.
    expected: Lanes,
    /// The result of the tests up to here, for a later test on the split's player: a number is combined with
    /// it as `number & keep | add`. If the row passed all tests, the number is unchanged. If it failed one,
    /// the number becomes 0. If there are no tests, the number becomes 1.
    keep: u64,
    add: u64,
}

/// The data that the way down stores for the way up.
#[derive(Clone, Copy)]
struct Visit {
    /// s: the probability that the split's player is present, given the earlier tests.
    presence: Lanes,
    /// P ds/dt after the way down; P ds/dt Δ after the way up.
    slope: Lanes,
    /// All bits are set if the row goes left.
    goes_left: u64,
}

impl Stack {
    /// Creates the stack for the trees of a program.
    pub(super) fn new(program: &Program) -> Self {
        let none = [0.0; MAX_NODES];
        let mut slots = vec![Slot { reach: none, expected: none, keep: 0, add: 0 }; 2 * program.levels() + 1];
        slots[0].add = 1.0f64.to_bits();
        let splits = program.trees.iter().map(|tree| tree.splits.len()).max().unwrap_or(0);
        let visits = vec![Visit { presence: none, slope: none, goes_left: 0 }; splits];
        Self { present: none, absent: none, slots, visits }
    }
}

/// Adds the values on one tree to `phi`, which has one number per player. The values are summed over the
/// nodes of one run, at most [`MAX_NODES`].
#[multiversion::multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub(super) fn add_tree(
    program: &Program,
    tree: &TreeProgram,
    nodes: Nodes<'_>,
    columns: &[f64],
    stack: &mut Stack,
    phi: &mut [f64],
) {
    add_tree_portable(program, tree, nodes, columns, stack, phi);
}

/// The implementation of [`add_tree`], which is compiled for each instruction set.
#[inline(always)]
pub(super) fn add_tree_portable(
    program: &Program,
    tree: &TreeProgram,
    nodes: Nodes<'_>,
    columns: &[f64],
    stack: &mut Stack,
    phi: &mut [f64],
) {
    // Lanes without a node have weight 0.
    let count = nodes.presence.len();
    (stack.present, stack.absent) = ([1.0; MAX_NODES], [0.0; MAX_NODES]);
    stack.present[..count].copy_from_slice(nodes.presence);
    stack.absent[..count].copy_from_slice(nodes.absence);
    stack.slots[0].reach = [0.0; MAX_NODES];
    stack.slots[0].reach[..count].copy_from_slice(nodes.weights);
    let splits = (program.splits(tree), program.ascents(tree));
    match count {
        1 => walk::<1>(splits, columns, stack, phi),
        2 => walk::<2>(splits, columns, stack, phi),
        _ => walk::<4>(splits, columns, stack, phi),
    }
}

/// Processes all splits of a tree, with `L` lanes.
#[inline(always)]
fn walk<const L: usize>(
    (splits, ascents): (&[Split], &[u32]),
    columns: &[f64],
    stack: &mut Stack,
    phi: &mut [f64],
) {
    let Stack { present, absent, slots, visits } = stack;
    let (present, absent): ([f64; L], [f64; L]) = (lanes(present), lanes(absent));
    let visits = &mut visits[..splits.len()];
    // On the way down, a split comes after the split above it, and everything below a right child comes after
    // everything below the left child.
    for (split, visit) in splits.iter().zip(&mut *visits) {
        let &Split { threshold, shares: [share_left, share_right], passed, .. } = split;
        let goes_left = columns[split.column as usize] < threshold;
        let Slot { keep, add, .. } = slots[split.hot as usize];
        let here: [f64; L] = lanes(&slots[split.slot as usize].reach);
        let left_bits = u64::from(goes_left).wrapping_neg();
        // The change due to presence, computed without a conditional, which the compiler would turn into a
        // branch.
        let all_left = f64::from_bits(1.0f64.to_bits() & left_bits);
        let (to_left, to_right) = (all_left - share_left, (1.0 - all_left) - share_right);
        let (mut presence, mut slope) = ([0.0; L], [0.0; L]);
        let (mut reach_left, mut reach_right) = ([0.0; L], [0.0; L]);
        for q in 0..L {
            let inverse = 1.0 / (present[q] + passed * absent[q]);
            let inverse = f64::from_bits(inverse.to_bits() & keep | add);
            presence[q] = present[q] * inverse;
            slope[q] = passed * inverse * inverse * here[q];
            reach_left[q] = here[q] * (share_left + presence[q] * to_left);
            reach_right[q] = here[q] * (share_right + presence[q] * to_right);
        }
        visit.presence[..L].copy_from_slice(&presence);
        visit.slope[..L].copy_from_slice(&slope);
        visit.goes_left = left_bits;
        // If there are no tests, every row passes, although `keep` is 0 (and `add` is set).
        let passes = keep | u64::from(split.hot == 0).wrapping_neg();
        let [left, right] = children(slots, split);
        (left.keep, right.keep) = (passes & left_bits, passes & !left_bits);
        left.reach[..L].copy_from_slice(&reach_left);
        right.reach[..L].copy_from_slice(&reach_right);
    }
    // Go up: process the splits in reverse order.
    for (split, visit) in splits.iter().zip(&mut *visits).rev() {
        let &Split { shares: [share_left, share_right], leaves: [leaf_left, leaf_right], .. } = split;
        let (leaf_left, leaf_right) = (leaf_left.to_bits(), leaf_right.to_bits());
        let [left, right] = children(slots, split);
        let (from_left, from_right): ([f64; L], [f64; L]) = (lanes(&left.expected), lanes(&right.expected));
        // Reset the slots, because the next split that uses them may have leaves there.
        left.expected[..L].fill(0.0);
        right.expected[..L].fill(0.0);
        let (presence, slope): ([f64; L], [f64; L]) = (lanes(&visit.presence), lanes(&visit.slope));
        let goes_left = visit.goes_left;
        let (mut gain, mut here) = ([0.0; L], [0.0; L]);
        for q in 0..L {
            // One of the two numbers is always 0, so the bitwise OR selects the other.
            let left = f64::from_bits(from_left[q].to_bits() | leaf_left);
            let right = f64::from_bits(from_right[q].to_bits() | leaf_right);
            let without = share_left * left + share_right * right;
            let own = f64::from_bits(left.to_bits() & goes_left | right.to_bits() & !goes_left);
            let lift = own - without;
            gain[q] = slope[q] * lift;
            here[q] = without + presence[q] * lift;
        }
        slots[split.slot as usize].expected[..L].copy_from_slice(&here);
        visit.slope[..L].copy_from_slice(&gain);
    }
    // Add the contributions to the players, in the same order as for blocks.
    for &number in ascents {
        let gains: [f64; L] = lanes(&visits[number as usize].slope);
        let mut gain = 0.0;
        for at_node in gains {
            gain += at_node;
        }
        phi[splits[number as usize].player as usize] += gain;
    }
}

/// Returns the slots of the children of a split.
#[inline(always)]
fn children<'a>(slots: &'a mut [Slot], split: &Split) -> [&'a mut Slot; 2] {
    match slots.get_mut(split.children()..) {
        Some([left, right, ..]) => [left, right],
        _ => unreachable!("the stack has room for all levels of the tree"),
    }
}

/// Returns the first `L` lanes.
#[inline(always)]
fn lanes<const L: usize>(lanes: &Lanes) -> [f64; L] {
    match lanes.first_chunk() {
        Some(lanes) => *lanes,
        None => unreachable!("L is at most the number of nodes of a run"),
    }
}
