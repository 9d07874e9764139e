//! The recursion of a tree for a block of rows. It processes a few nodes of the rule between the groups at a
//! time, and all nodes of the rule within the groups.
//!
//! As for [single players](super::super::lanes), every formula is a loop over the rows of a block, no
//! multiplication is fused with an addition, and rows do not interact.

use std::array::from_fn;
use std::hint::select_unpredictable as select;
use std::slice::from_mut;

use apportion_values::{CoalitionalValue, Rule};

use super::super::aligned::Aligned;
use super::super::block::Recursion;
use super::super::inputs::{Inputs, TreeLayout};
use super::super::lanes::{
    EarlierTests, Lanes, MAX_NODES, Nodes, Presence, Tested, Untested, first_mut, mark_sides, rules, runs,
};
use super::program::{Program, Side, Split, Step, TreeProgram};

/// Values by quadrature, with rules for each number of groups on a path of a tree, and for each number of
/// features of a group.
pub(in super::super) struct MemberKernel<'a> {
    pub(in super::super) program: &'a Program,
    between: Vec<Option<Rule>>,
    within: Vec<Option<Rule>>,
}

impl<'a> MemberKernel<'a> {
    /// Creates the recursion; `None` if one of the two semivalues does not have a quadrature rule.
    pub(in super::super) fn new(program: &'a Program, value: &CoalitionalValue) -> Option<Self> {
        let between = rules(program.trees.iter().map(|tree| tree.groups), &value.between)?;
        let within = rules(program.trees.iter().map(|tree| tree.members), &value.within)?;
        Some(Self { program, between, within })
    }

    /// Returns the rule between the groups and the rule within them, for a tree.
    pub(in super::super) fn rules(&self, tree: &TreeProgram) -> (&Rule, &Rule) {
        match (&self.between[tree.groups], &self.within[tree.members]) {
            (Some(between), Some(within)) => (between, within),
            _ => unreachable!("rules for every tree"),
        }
    }
}

impl Recursion for MemberKernel<'_> {
    type Tree = TreeProgram;
    type Stack<const R: usize> = Stack<R>;
    /// The quadrature rule within the groups.
    type NodeData<'k>
        = &'k Rule
    where
        Self: 'k;

    fn inputs(&self) -> &Inputs {
        &self.program.inputs
    }

    fn trees(&self) -> &[TreeProgram] {
        &self.program.trees
    }

    fn place(tree: &TreeProgram) -> &TreeLayout {
        &tree.place
    }

    fn stack<const R: usize>(&self) -> Stack<R> {
        let nodes = self.within.iter().flatten().map(Rule::len).max().unwrap_or(0);
        let [between, within] = self.program.slots;
        Stack {
            between: Aligned::new(0.0, between * MAX_NODES),
            within: Aligned::new(0.0, within * nodes),
            masks: Aligned::new(u64::MAX, 4 * self.program.levels() + 1),
        }
    }

    fn runs<'k>(&'k self, tree: &'k TreeProgram) -> impl Iterator<Item = (Nodes<'k>, &'k Rule)> {
        let (between, within) = self.rules(tree);
        runs(between).map(move |nodes| (nodes, within))
    }

    #[inline(always)]
    fn walk<const Q: usize, const R: usize>(
        &self,
        tree: &TreeProgram,
        (nodes, rule): (Nodes<'_>, &Rule),
        columns: &[Lanes<R>],
        stack: &mut Stack<R>,
        phi: &mut [Lanes<R>],
    ) {
        let program = self.program;
        let Stack { between, within, masks } = stack;
        let (between, within, masks): (&mut [_], &mut [_], &mut [_]) = (between, within, masks);
        let splits = program.splits(tree);
        let (members, total) = (rule.len(), rule.weights().iter().sum::<f64>());
        // P includes the weight of its node.
        for (slot, &weight) in between.iter_mut().zip(&nodes.weights[..Q]) {
            *slot = [weight; R];
        }
        for step in program.steps(tree) {
            match *step {
                Step::Descend { split, factors } => {
                    let split = &splits[split as usize];
                    let column = &columns[split.column as usize];
                    mark(split, column, masks);
                    let (slot, children) = at_split::<Q, R>(between, split);
                    descend(split, column, (Presence::first(nodes), Untested), slot, children, factors);
                }
                Step::DescendAgain { split, factors } => {
                    let split = &splits[split as usize];
                    let column = &columns[split.column as usize];
                    mark(split, column, masks);
                    let earlier = (
                        Presence::again(split.group.passed, nodes),
                        Tested(&masks[split.group.hot as usize]),
                    );
                    let (slot, children) = at_split::<Q, R>(between, split);
                    descend(split, column, earlier, slot, children, factors);
                }
                Step::Carry { from, factor, to } => {
                    let (known, new) = between.split_at_mut(to as usize * Q);
                    let (from, factor) = (slot::<Q, R>(known, from), slot::<Q, R>(known, factor));
                    carry(from, factor, first_mut::<Q, R>(new));
                }
                Step::Open { split } => {
                    let split = &splits[split as usize];
                    let own = &mut within[split.within as usize * members..];
                    for node in 0..members {
                        let (t, weight) = (rule.presence()[node], rule.weights()[node]);
                        let column = &columns[split.column as usize];
                        open(split, column, (t, Untested), |_| weight, own, (node, members));
                    }
                }
                Step::OpenAgain { split } => {
                    let split = &splits[split as usize];
                    let (known, own) = within.split_at_mut(split.within as usize * members);
                    let hot = Tested(&masks[split.feature.hot as usize]);
                    for node in 0..members {
                        let (s, _) = presence(split.feature.passed, rule, node);
                        let reach = &known[(split.above as usize + 2) * members + node];
                        let column = &columns[split.column as usize];
                        open(split, column, (s, hot), |row| reach[row], own, (node, members));
                    }
                }
                Step::Give { split } => {
                    let split = &splits[split as usize];
                    let column = &columns[split.column as usize];
                    let phi = &mut phi[split.player as usize];
                    let ends = worth_of_ends::<Q, R>(split, between);
                    let own = &within[split.within as usize * members..];
                    // If no side is open, the result is the same for all nodes.
                    let open = split.sides.contains(&Side::Open);
                    for node in 0..if open { members } else { 1 } {
                        let weight = if open { rule.weights()[node] } else { total };
                        let [left, right] = worth(split, &ends, own, (node, members));
                        give(split, column, Untested, (left, right), |row, _, lift| {
                            phi[row] += weight * lift
                        });
                    }
                }
                Step::GiveAgain { split } => {
                    let split = &splits[split as usize];
                    let column = &columns[split.column as usize];
                    let phi = &mut phi[split.player as usize];
                    let ends = worth_of_ends::<Q, R>(split, between);
                    let hot = Tested(&masks[split.feature.hot as usize]);
                    let (known, own) = within.split_at_mut(split.within as usize * members);
                    let (above, reach) = known.split_at_mut((split.above as usize + 1) * members);
                    for node in 0..members {
                        let (s, slope) = presence(split.feature.passed, rule, node);
                        let reach = &reach[members + node];
                        let above = &mut above[split.above as usize * members + node];
                        let [left, right] = worth(split, &ends, own, (node, members));
                        give(split, column, hot, (left, right), |row, absent, lift| {
                            phi[row] += reach[row] * slope * lift;
                            above[row] += absent + s * lift;
                        });
                    }
                }
                Step::Ascend { split, parts } => {
                    let split = &splits[split as usize];
                    let column = &columns[split.column as usize];
                    let (slot, children) = at_split::<Q, R>(between, split);
                    ascend(split, column, (Presence::first(nodes), Untested), slot, children, parts);
                }
                Step::AscendAgain { split, parts } => {
                    let split = &splits[split as usize];
                    let column = &columns[split.column as usize];
                    let earlier = (
                        Presence::again(split.group.passed, nodes),
                        Tested(&masks[split.group.hot as usize]),
                    );
                    let (slot, children) = at_split::<Q, R>(between, split);
                    ascend(split, column, earlier, slot, children, parts);
                }
                Step::Close { apart, part, worth } => {
                    let (apart, part) = (slot::<Q, R>(between, apart), slot::<Q, R>(between, part));
                    let worth = worth as usize * members;
                    close(apart, part, &mut within[worth..worth + members]);
                }
            }
        }
    }
}

/// The working memory of a traversal of a tree.
pub(in super::super) struct Stack<const R: usize> {
    between: Aligned<f64, R>,
    within: Aligned<f64, R>,
    /// Masks whose bits are all set for the rows that passed the tests, and zero for all other rows. The
    /// first mask is for all rows.
    masks: Aligned<u64, R>,
}

#[inline(always)]
fn slot<const Q: usize, const R: usize>(slots: &[Lanes<R>], slot: u32) -> &[Lanes<R>; Q] {
    match slots[slot as usize * Q..].first_chunk() {
        Some(slot) => slot,
        None => unreachable!("every number has a slot"),
    }
}

/// Returns the slot of a split, the slots of its children, and the slots of the factors to them.
#[inline(always)]
fn at_split<'a, const Q: usize, const R: usize>(
    slots: &'a mut [Lanes<R>],
    split: &Split,
) -> (&'a mut [Lanes<R>; Q], [&'a mut [Lanes<R>; Q]; 4]) {
    let (known, own) = slots.split_at_mut(split.children as usize * Q);
    let (left, own) = own.split_at_mut(Q);
    let (right, own) = own.split_at_mut(Q);
    let (to_left, to_right) = own.split_at_mut(Q);
    let slot = first_mut(&mut known[split.slot as usize * Q..]);
    (slot, [first_mut(left), first_mut(right), first_mut(to_left), first_mut(to_right)])
}

/// Returns s and ds/dr of a feature at one node of the rule within, for a row that passed all tests of the
/// feature, with c the product of their shares.
#[inline(always)]
fn presence(passed: f64, rule: &Rule, node: usize) -> (f64, f64) {
    let (r, passed_absent) = (rule.presence()[node], passed * rule.absence()[node]);
    let inverse = 1.0 / (r + passed_absent);
    (r * inverse, passed * inverse * inverse)
}

/// Writes, for either side of a split, which rows pass all tests of the split's group, and which rows pass
/// all tests of its feature, up to and including this split.
#[inline(always)]
fn mark<const R: usize>(split: &Split, column: &Lanes<R>, masks: &mut [[u64; R]]) {
    let (known, own) = masks.split_at_mut(split.masks as usize);
    for ((marks, earlier), own) in
        split.marks.into_iter().zip([split.group, split.feature]).zip(own.chunks_exact_mut(2))
    {
        if marks {
            mark_sides(split.threshold, column, &known[earlier.hot as usize], own);
        }
    }
}

/// Computes P of both children, `P(child) = P F`, and, if they are needed, the factors
/// `F = (1 − s) κ_child + s [x goes to the child]`.
#[inline(always)]
fn descend<const Q: usize, const R: usize, E: EarlierTests>(
    split: &Split,
    column: &Lanes<R>,
    (presence, earlier): (Presence<Q>, E),
    slot: &[Lanes<R>; Q],
    [left, right, to_left, to_right]: [&mut [Lanes<R>; Q]; 4],
    factors: bool,
) {
    let s = presence.probability;
    let of_row = |row: usize| gains(split, column, earlier, row);
    let [share_left, share_right] = split.shares;
    if factors {
        for row in 0..R {
            let [more_left, more_right] = of_row(row);
            for q in 0..Q {
                let reach = slot[q][row];
                to_left[q][row] = share_left + s[q] * more_left;
                to_right[q][row] = share_right + s[q] * more_right;
                left[q][row] = reach * to_left[q][row];
                right[q][row] = reach * to_right[q][row];
            }
        }
    } else {
        for row in 0..R {
            let [more_left, more_right] = of_row(row);
            for q in 0..Q {
                let reach = slot[q][row];
                left[q][row] = reach * (share_left + s[q] * more_left);
                right[q][row] = reach * (share_right + s[q] * more_right);
            }
        }
    }
}

/// Returns the change of the factors to both children due to presence.
#[inline(always)]
fn gains<const R: usize, E: EarlierTests>(
    split: &Split,
    column: &Lanes<R>,
    earlier: E,
    row: usize,
) -> [f64; 2] {
    let (goes_left, [share_left, share_right]) = (column[row] < split.threshold, split.shares);
    [
        earlier.keep(row, select(goes_left, 1.0 - share_left, -share_left)),
        earlier.keep(row, select(goes_left, -share_right, 1.0 - share_right)),
    ]
}

/// Computes P without the factor of a group, at a child of a split on another group.
#[inline(always)]
fn carry<const Q: usize, const R: usize>(
    from: &[Lanes<R>; Q],
    factor: &[Lanes<R>; Q],
    to: &mut [Lanes<R>; Q],
) {
    for q in 0..Q {
        for row in 0..R {
            to[q][row] = from[q][row] * factor[q][row];
        }
    }
}

/// Computes P^g to the open sides of a split, at one node of the rule within, and resets their Y.
#[inline(always)]
fn open<const R: usize, E: EarlierTests>(
    split: &Split,
    column: &Lanes<R>,
    (s, earlier): (f64, E),
    reach: impl Fn(usize) -> f64,
    own: &mut [Lanes<R>],
    (node, nodes): (usize, usize),
) {
    for side in 0..2 {
        if split.sides[side] == Side::Open {
            own[side * nodes + node] = [0.0; R];
            let to_side = &mut own[(2 + side) * nodes + node];
            for (row, to_side) in to_side.iter_mut().enumerate() {
                let more = gains(split, column, earlier, row)[side];
                *to_side = reach(row) * (split.shares[side] + s * more);
            }
        }
    }
}

/// Computes X of the sides of a split below which its group is not tested: `Σ_q P₋ᵍ T`.
#[inline(always)]
fn worth_of_ends<const Q: usize, const R: usize>(split: &Split, slots: &[Lanes<R>]) -> [Lanes<R>; 2] {
    let apart = slot::<Q, R>(slots, split.apart);
    if let [Side::Leaf(left), Side::Leaf(right)] = split.sides {
        let reach: Lanes<R> = from_fn(|row| sum(apart, row));
        return [reach.map(|reach| reach * left), reach.map(|reach| reach * right)];
    }
    let mut worth = [[0.0; R]; 2];
    for (side, worth) in worth.iter_mut().enumerate() {
        match split.sides[side] {
            Side::Leaf(value) => *worth = from_fn(|row| sum(apart, row) * value),
            Side::Last => close(apart, slot::<Q, R>(slots, split.children + side as u32), from_mut(worth)),
            Side::Open => {}
        }
    }
    worth
}

/// Returns the sum over the nodes q of a row's numbers in a slot: Σ_q P.
#[inline(always)]
fn sum<const Q: usize, const R: usize>(slot: &[Lanes<R>; Q], row: usize) -> f64 {
    let mut sum = 0.0;
    for node in slot {
        sum += node[row];
    }
    sum
}

/// Returns Y of both sides of a split at one node of the rule within the groups.
#[inline(always)]
fn worth<'a, const R: usize>(
    split: &Split,
    ends: &'a [Lanes<R>; 2],
    own: &'a [Lanes<R>],
    (node, nodes): (usize, usize),
) -> [&'a Lanes<R>; 2] {
    [0, 1].map(|side| if split.sides[side] == Side::Open { &own[side * nodes + node] } else { &ends[side] })
}

/// Calls `take` for each row with two numbers for a split within its group: the value A if the split's
/// feature is absent, and the change Δ if the feature is present:
///
/// ```text
/// A = κ_l Y_l + κ_r Y_r,   Δ = Y_x − A.
/// ```
#[inline(always)]
fn give<const R: usize, E: EarlierTests>(
    split: &Split,
    column: &Lanes<R>,
    earlier: E,
    (left, right): (&Lanes<R>, &Lanes<R>),
    mut take: impl FnMut(usize, f64, f64),
) {
    let [share_left, share_right] = split.shares;
    for row in 0..R {
        let (left, right) = (left[row], right[row]);
        let absent = share_left * left + share_right * right;
        let own = select(column[row] < split.threshold, left, right);
        take(row, absent, earlier.keep(row, own - absent));
    }
}

/// Computes T of a split from T of its children, `T = F_l T_l + F_r T_r`. If `parts` is `true`, also replaces
/// the factors with the two terms.
#[inline(always)]
fn ascend<const Q: usize, const R: usize, E: EarlierTests>(
    split: &Split,
    column: &Lanes<R>,
    presence: (Presence<Q>, E),
    slot: &mut [Lanes<R>; Q],
    [left, right, to_left, to_right]: [&mut [Lanes<R>; Q]; 4],
    parts: bool,
) {
    macro_rules! ascend_from {
        ($left:expr, $right:expr) => {
            if parts {
                add_parts(slot, $left, $right, to_left, to_right)
            } else {
                mix(split, column, presence, slot, $left, $right)
            }
        };
    }
    match split.sides {
        [Side::Leaf(a), Side::Leaf(b)] => ascend_from!(|_, _| a, |_, _| b),
        [Side::Leaf(a), _] => ascend_from!(|_, _| a, |q: usize, row: usize| right[q][row]),
        [_, Side::Leaf(b)] => ascend_from!(|q: usize, row: usize| left[q][row], |_, _| b),
        _ => ascend_from!(|q: usize, row: usize| left[q][row], |q: usize, row: usize| right[q][row]),
    }
}

#[inline(always)]
fn add_parts<const Q: usize, const R: usize>(
    slot: &mut [Lanes<R>; Q],
    left: impl Fn(usize, usize) -> f64,
    right: impl Fn(usize, usize) -> f64,
    to_left: &mut [Lanes<R>; Q],
    to_right: &mut [Lanes<R>; Q],
) {
    for q in 0..Q {
        for row in 0..R {
            to_left[q][row] *= left(q, row);
            to_right[q][row] *= right(q, row);
            slot[q][row] = to_left[q][row] + to_right[q][row];
        }
    }
}

/// Computes `T = A + s (T_x − A)` with `A = κ_l T_l + κ_r T_r`.
#[inline(always)]
fn mix<const Q: usize, const R: usize, E: EarlierTests>(
    split: &Split,
    column: &Lanes<R>,
    (presence, earlier): (Presence<Q>, E),
    slot: &mut [Lanes<R>; Q],
    left: impl Fn(usize, usize) -> f64,
    right: impl Fn(usize, usize) -> f64,
) {
    let (s, [share_left, share_right]) = (presence.probability, split.shares);
    for row in 0..R {
        let goes_left = column[row] < split.threshold;
        for q in 0..Q {
            let (left, right) = (left(q, row), right(q, row));
            let absent = share_left * left + share_right * right;
            slot[q][row] = absent + s[q] * earlier.keep(row, select(goes_left, left, right) - absent);
        }
    }
}

/// Adds `X = Σ_q P₋ᵍ(child) T(child)` to Y at all nodes of the rule within.
#[inline(always)]
fn close<const Q: usize, const R: usize>(
    apart: &[Lanes<R>; Q],
    part: &[Lanes<R>; Q],
    worth: &mut [Lanes<R>],
) {
    let mut sum = [0.0; R];
    for row in 0..R {
        for q in 0..Q {
            sum[row] += apart[q][row] * part[q][row];
        }
    }
    for worth in worth {
        for row in 0..R {
            worth[row] += sum[row];
        }
    }
}
