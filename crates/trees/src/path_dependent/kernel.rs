//! The recursion of a tree for semivalues of players: implements the formulas of [the module above](super),
//! [vectorized over rows](super::lanes).

use std::hint::select_unpredictable as select;

use apportion_values::Rule;

use super::block::{self, Recursion};
use super::cost::Cost;
use super::inputs::{Inputs, TreeLayout};
use super::lanes::{
    EarlierTests, Lanes, Nodes, Presence, Stack, Tested, Untested, first_mut, mark_sides, runs,
};
use super::one_row;
use super::program::{Program, Split, TreeProgram, Visit};

/// The working memory of either traversal: vectorized over the rows of a block, or, for a single row, over
/// the nodes of the rule.
pub(super) enum Memory<const R: usize> {
    OfBlocks(Stack<R>),
    OfOneRow(one_row::Stack),
}

/// Values by quadrature, with one rule for each number of distinct players on a path of a tree.
pub(super) struct PlayerKernel<'a> {
    pub(super) program: &'a Program,
    pub(super) rules: Vec<Option<Rule>>,
}

impl Recursion for PlayerKernel<'_> {
    type Tree = TreeProgram;
    type Stack<const R: usize> = Memory<R>;
    type NodeData<'k>
        = ()
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

    fn stack<const R: usize>(&self) -> Memory<R> {
        match R {
            1 => Memory::OfOneRow(one_row::Stack::new(self.program)),
            _ => Memory::OfBlocks(Stack::new(self.program.levels())),
        }
    }

    fn few(&self) -> usize {
        Cost::few(self.program.split_count())
    }

    fn runs<'k>(&'k self, tree: &'k TreeProgram) -> impl Iterator<Item = (Nodes<'k>, ())> {
        let Some(rule) = &self.rules[tree.distinct] else { unreachable!("a rule for every tree") };
        runs(rule).map(|nodes| (nodes, ()))
    }

    fn add_run<const R: usize>(
        &self,
        tree: &TreeProgram,
        run: (Nodes<'_>, ()),
        columns: &[Lanes<R>],
        stack: &mut Memory<R>,
        phi: &mut [Lanes<R>],
    ) {
        match stack {
            // The condition is constant, so that no code is generated for blocks of one row.
            Memory::OfBlocks(_) if const { R > 1 } => block::add_run(self, tree, run, columns, stack, phi),
            Memory::OfBlocks(_) => unreachable!("a single row is not processed as a block"),
            Memory::OfOneRow(stack) => {
                let (columns, phi) = (columns.as_flattened(), phi.as_flattened_mut());
                one_row::add_tree(self.program, tree, run.0, columns, stack, phi);
            }
        }
    }

    #[cfg(test)]
    fn add_run_portable<const R: usize>(
        &self,
        tree: &TreeProgram,
        run: (Nodes<'_>, ()),
        columns: &[Lanes<R>],
        stack: &mut Memory<R>,
        phi: &mut [Lanes<R>],
    ) {
        match stack {
            Memory::OfBlocks(_) => block::add_run_portable(self, tree, run, columns, stack, phi),
            Memory::OfOneRow(stack) => {
                let (columns, phi) = (columns.as_flattened(), phi.as_flattened_mut());
                one_row::add_tree_portable(self.program, tree, run.0, columns, stack, phi);
            }
        }
    }

    #[inline(always)]
    fn walk<const Q: usize, const R: usize>(
        &self,
        tree: &TreeProgram,
        (nodes, ()): (Nodes<'_>, ()),
        columns: &[Lanes<R>],
        stack: &mut Memory<R>,
        phi: &mut [Lanes<R>],
    ) {
        let (program, Memory::OfBlocks(Stack { slots, masks })) = (self.program, stack) else {
            unreachable!("a single row is not processed as a block")
        };
        let (slots, masks): (&mut [_], &mut [_]) = (slots, masks);
        let splits = program.splits(tree);
        // P includes the weight of its node.
        for (slot, &weight) in slots.iter_mut().zip(&nodes.weights[..Q]) {
            *slot = [weight; R];
        }
        masks[0] = [u64::MAX; R];
        for step in program.steps(tree) {
            let split = &splits[step.split as usize];
            let column = &columns[split.column as usize];
            let (masks, own_masks) = masks.split_at_mut(split.masks());
            let hot = &masks[split.hot as usize];
            let (slots, children) = slots.split_at_mut(split.children() * Q);
            let slot = first_mut::<Q, R>(&mut slots[split.slot as usize * Q..]);
            let (left, right) = children.split_at_mut(Q);
            let (left, right) = (first_mut::<Q, R>(left), first_mut::<Q, R>(right));
            let phi = &mut phi[split.player as usize];
            let [leaf_left, leaf_right] = split.leaves;
            let first = || (Presence::first(nodes), Untested);
            let again = || (Presence::again(split.passed, nodes), Tested(hot));
            // T of the children, as functions of node and row: a constant for a leaf, otherwise read from the
            // slots.
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
}

/// Computes P of both children: `P(child) = P · ((1 − s) κ_child + s [x goes to the child])`.
#[inline(always)]
fn descend<const Q: usize, const R: usize, E: EarlierTests>(
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
        // The change of each factor if the player is present.
        let to_left = earlier.keep(row, select(goes_left, 1.0 - share_left, -share_left));
        let to_right = earlier.keep(row, select(goes_left, -share_right, 1.0 - share_right));
        for q in 0..Q {
            let reach = slot[q][row];
            left[q][row] = reach * (share_left + s[q] * to_left);
            right[q][row] = reach * (share_right + s[q] * to_right);
        }
    }
}

/// Computes T of a split from T of its children, and the contribution to its feature:
///
/// ```text
/// A = κ_l T_l + κ_r T_r,   Δ = T_x − A,   T = A + s Δ,   φ += Σ_q w_q P ds/dt Δ.
/// ```
#[inline(always)]
fn ascend<const Q: usize, const R: usize, E: EarlierTests>(
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
