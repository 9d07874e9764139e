//! The recursion of a tree, for one row: the nodes of the rule side by side.
//!
//! With one row there is nothing to loop over but the nodes of the rule, which vector instructions take at
//! once. What is left to do is the same at every split, so a tree is gone through twice without a branch:
//! down, which leaves behind at each split what the way up wants to know, and up. Nothing depends on guesses
//! of the processor, which a row that comes but once gives no time to learn.
//!
//! The numbers are those of [the kernel of blocks](super::kernel), in the same order, so that a row has the
//! same bits here as there.

use super::lanes::{MOST_NODES, Nodes};
use super::program::{Program, Split, TreeProgram};

/// One number per node of a run of the rule.
type Lanes = [f64; MOST_NODES];

/// The memory of the way through a tree.
pub(super) struct Stack {
    /// t and 1 − t.
    present: Lanes,
    absent: Lanes,
    /// As those of [the kernel of blocks](super::kernel).
    slots: Vec<Slot>,
    visits: Vec<Visit>,
}

/// What is known of a child of a split on the path.
#[derive(Clone, Copy)]
struct Slot {
    /// P.
    reach: Lanes,
    /// T, if it is a split and was left.
    expected: Lanes,
    /// What a later test on the split's player has to know of the tests up to here: a number is kept by the
    /// bits `keep`, and then has those of `add`. It stays what it is where the row passed the tests, is 0
    /// where it failed one, and 1 where there are none.
    keep: u64,
    add: u64,
}

/// What the way down leaves for the way up.
#[derive(Clone, Copy)]
struct Visit {
    /// s.
    presence: Lanes,
    /// P ds/dt; on the way up, P ds/dt Δ.
    slope: Lanes,
    /// All bits where the row goes left.
    goes_left: u64,
}

impl Stack {
    /// For the trees of a program.
    pub(super) fn new(program: &Program) -> Self {
        let none = [0.0; MOST_NODES];
        let mut slots = vec![Slot { reach: none, expected: none, keep: 0, add: 0 }; 2 * program.levels() + 1];
        slots[0].add = 1.0f64.to_bits();
        let splits = program.trees.iter().map(|tree| tree.splits.len()).max().unwrap_or(0);
        let visits = vec![Visit { presence: none, slope: none, goes_left: 0 }; splits];
        Self { present: none, absent: none, slots, visits }
    }
}

/// Adds the values on one tree to `phi`, which has the number of each player, summed over at most
/// [`MOST_NODES`] nodes.
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

/// What [`add_tree`] compiles for each instruction set.
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
    (stack.present, stack.absent) = ([1.0; MOST_NODES], [0.0; MOST_NODES]);
    stack.present[..count].copy_from_slice(nodes.presence);
    stack.absent[..count].copy_from_slice(nodes.absence);
    stack.slots[0].reach = [0.0; MOST_NODES];
    stack.slots[0].reach[..count].copy_from_slice(nodes.weights);
    let splits = (program.splits(tree), program.ascents(tree));
    match count {
        1 => walk::<1>(splits, columns, stack, phi),
        2 => walk::<2>(splits, columns, stack, phi),
        _ => walk::<4>(splits, columns, stack, phi),
    }
}

/// All splits of a tree, with so many lanes.
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
    // Down: a split comes after the one above it, and what is below a right child after all that is below the
    // left.
    for (split, visit) in splits.iter().zip(&mut *visits) {
        let &Split { threshold, shares: [share_left, share_right], passed, .. } = split;
        let goes_left = columns[split.column as usize] < threshold;
        let Slot { keep, add, .. } = slots[split.hot as usize];
        let here: [f64; L] = lanes(&slots[split.slot as usize].reach);
        let left_bits = u64::from(goes_left).wrapping_neg();
        // What presence changes, without a choice, of which the compiler would make a branch.
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
        // Where there are no tests all is kept, but `keep` says so by `add`.
        let passes = keep | u64::from(split.hot == 0).wrapping_neg();
        let [left, right] = children(slots, split);
        (left.keep, right.keep) = (passes & left_bits, passes & !left_bits);
        left.reach[..L].copy_from_slice(&reach_left);
        right.reach[..L].copy_from_slice(&reach_right);
    }
    // Up.
    for (split, visit) in splits.iter().zip(&mut *visits).rev() {
        let &Split { shares: [share_left, share_right], leaves: [leaf_left, leaf_right], .. } = split;
        let (leaf_left, leaf_right) = (leaf_left.to_bits(), leaf_right.to_bits());
        let [left, right] = children(slots, split);
        let (from_left, from_right): ([f64; L], [f64; L]) = (lanes(&left.expected), lanes(&right.expected));
        // The next split with these slots may have leaves there.
        left.expected[..L].fill(0.0);
        right.expected[..L].fill(0.0);
        let (presence, slope): ([f64; L], [f64; L]) = (lanes(&visit.presence), lanes(&visit.slope));
        let goes_left = visit.goes_left;
        let (mut gain, mut here) = ([0.0; L], [0.0; L]);
        for q in 0..L {
            // One of each two is 0.
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
    // What players get, added up in the order of blocks.
    for &number in ascents {
        let gains: [f64; L] = lanes(&visits[number as usize].slope);
        let mut gain = 0.0;
        for at_node in gains {
            gain += at_node;
        }
        phi[splits[number as usize].player as usize] += gain;
    }
}

/// The slots of the children of a split.
#[inline(always)]
fn children<'a>(slots: &'a mut [Slot], split: &Split) -> [&'a mut Slot; 2] {
    match slots.get_mut(split.children()..) {
        Some([left, right, ..]) => [left, right],
        _ => unreachable!("the stack is as deep as the tree"),
    }
}

/// The first lanes.
#[inline(always)]
fn lanes<const L: usize>(lanes: &Lanes) -> [f64; L] {
    match lanes.first_chunk() {
        Some(lanes) => *lanes,
        None => unreachable!("no more lanes than a run has nodes"),
    }
}
