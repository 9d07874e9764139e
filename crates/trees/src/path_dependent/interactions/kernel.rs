//! The recursion of a tree for pairs, for a block of rows and a few nodes of a quadrature rule at a time.
//!
//! It uses the slots and masks of [single players](super::super::lanes). As in that module, every formula is
//! a loop over the rows of a block, no multiplication is fused with an addition, and rows do not interact.

use std::hint::select_unpredictable as select;

use apportion_values::Rule;

use super::super::block::Recursion;
use super::super::inputs::{Inputs, TreeLayout};
use super::super::lanes::{
    EarlierTests, Lanes, Nodes, Presence, Stack, Tested, Untested, first_mut, mark_sides, runs,
};
use super::super::program::{Program, Split, TreeProgram, Visit};
use super::partners::{Partner, Partners};

/// The minimum of 1 − t at a node, so that its inverse is far from overflow.
const MIN_ABSENCE: f64 = 1e-280;

/// Values and interaction indices by quadrature.
pub(in super::super) struct PairKernel<'a> {
    program: &'a Program,
    partners: &'a Partners,
    rules: Vec<Option<Rule>>,
    trees: Vec<PairTree<'a>>,
    /// Λ of each edge for rows that passed all tests of the player, `(1 − c) / (t + c (1 − t))`: edges ×
    /// nodes for each tree and run of nodes.
    passed: Vec<f64>,
}

/// A tree, with the offset of the Λ of its edges.
pub(in super::super) struct PairTree<'a> {
    pub(in super::super) tree: &'a TreeProgram,
    passed: usize,
}

impl<'a> PairKernel<'a> {
    /// Returns whether this kernel supports `rules`, which must not have a node at 1.
    pub(in super::super) fn takes(rules: &[Option<Rule>]) -> bool {
        rules.iter().flatten().all(|rule| rule.absence().iter().all(|&absence| absence >= MIN_ABSENCE))
    }

    /// Creates the recursion, with `rules` for the trees of the program.
    pub(in super::super) fn new(
        program: &'a Program,
        partners: &'a Partners,
        rules: Vec<Option<Rule>>,
    ) -> Self {
        let mut passed = Vec::new();
        let trees = program.trees.iter().map(|tree| {
            let start = passed.len();
            for nodes in rules[tree.distinct].iter().flat_map(runs) {
                for split in program.splits(tree) {
                    for share in split.shares {
                        let c = (split.passed * share).max(f64::MIN_POSITIVE);
                        let at_node = |(t, absent): (&f64, &f64)| (1.0 - c) / (t + c * absent);
                        passed.extend(nodes.presence.iter().zip(nodes.absence).map(at_node));
                    }
                }
            }
            PairTree { tree, passed: start }
        });
        let trees = trees.collect();
        Self { program, partners, rules, trees, passed }
    }
}

impl<'a> Recursion for PairKernel<'a> {
    type Tree = PairTree<'a>;
    type Stack<const R: usize> = Stack<R>;
    /// Λ of the tree's edges, for one run of nodes.
    type NodeData<'k>
        = &'k [f64]
    where
        Self: 'k;

    fn inputs(&self) -> &Inputs {
        &self.program.inputs
    }

    fn trees(&self) -> &[PairTree<'a>] {
        &self.trees
    }

    fn place<'t>(tree: &'t PairTree<'a>) -> &'t TreeLayout {
        &tree.tree.place
    }

    fn stack<const R: usize>(&self) -> Stack<R> {
        Stack::new(self.program.levels())
    }

    fn targets(&self) -> &[usize] {
        &self.partners.targets
    }

    fn runs<'k>(&'k self, tree: &'k PairTree<'a>) -> impl Iterator<Item = (Nodes<'k>, &'k [f64])> {
        let Some(rule) = &self.rules[tree.tree.distinct] else { unreachable!("a rule for every tree") };
        let mut rest = &self.passed[tree.passed..];
        let edges = 2 * tree.tree.splits.len();
        runs(rule).map(move |nodes| {
            let (passed, others) = rest.split_at(edges * nodes.presence.len());
            rest = others;
            (nodes, passed)
        })
    }

    #[inline(always)]
    fn walk<const Q: usize, const R: usize>(
        &self,
        PairTree { tree, .. }: &PairTree<'a>,
        (nodes, passed): (Nodes<'_>, &[f64]),
        columns: &[Lanes<R>],
        Stack { slots, masks }: &mut Stack<R>,
        phi: &mut [Lanes<R>],
    ) {
        let (slots, masks): (&mut [_], &mut [_]) = (slots, masks);
        let splits = self.program.splits(tree);
        // P includes the weight of its node.
        for (slot, &weight) in slots.iter_mut().zip(&nodes.weights[..Q]) {
            *slot = [weight; R];
        }
        masks[0] = [u64::MAX; R];
        // For one split and row: the gain at each node, and its contribution to a pair with a player whose
        // test the row failed.
        let mut gains = [[0.0; R]; Q];
        let mut failed = [0.0; R];
        for step in self.program.steps(tree) {
            let split = &splits[step.split as usize];
            let column = &columns[split.column as usize];
            let (masks, own_masks) = masks.split_at_mut(split.masks());
            let hot = &masks[split.hot as usize];
            let (slots, children) = slots.split_at_mut(split.children() * Q);
            let slot = first_mut::<Q, R>(&mut slots[split.slot as usize * Q..]);
            let (left, right) = children.split_at_mut(Q);
            let (left, right) = (first_mut::<Q, R>(left), first_mut::<Q, R>(right));
            let first = || (Presence::first(nodes), Untested);
            let again = || (Presence::again(split.passed, nodes), Tested(hot));
            match step.visit {
                Visit::Descend | Visit::DescendMarking => {
                    mark_sides(split.threshold, column, hot, own_masks);
                    descend(split, own_masks, first(), slot, left, right);
                    continue;
                }
                Visit::DescendAgain | Visit::DescendAgainMarking => {
                    mark_sides(split.threshold, column, hot, own_masks);
                    descend(split, own_masks, again(), slot, left, right);
                    continue;
                }
                _ => {}
            }
            let (leaf_left, leaf_right) = step.visit.leaves();
            if leaf_left {
                *left = [[split.leaves[0]; R]; Q];
            }
            if leaf_right {
                *right = [[split.leaves[1]; R]; Q];
            }
            let absence = nodes.absence;
            if step.visit.again() {
                ascend(split, column, again(), slot, left, right, (&mut gains, &mut failed, absence));
            } else {
                ascend(split, column, first(), slot, left, right, (&mut gains, &mut failed, absence));
            }
            let own = &mut phi[split.player as usize];
            for row in 0..R {
                let mut sum = 0.0;
                for gain in &gains {
                    sum += gain[row];
                }
                own[row] += sum;
            }
            for partner in self.partners.partners(tree.splits.start + step.split as usize) {
                give(partner, passed, &gains, &failed, masks, phi);
            }
        }
    }
}

/// Computes P of both children, from the rows that pass all tests of the player on either side:
///
/// ```text
/// P(child) = P · (s + κ (1 − s))   if x goes there and passed all earlier tests,
/// P(child) = P · κ (1 − s)         if x goes to the other and passed them,
/// P(child) = P · κ                 if x failed one.
/// ```
#[inline(always)]
fn descend<const Q: usize, const R: usize, E: EarlierTests>(
    split: &Split,
    own_masks: &[[u64; R]],
    (presence, _): (Presence<Q>, E),
    slot: &[Lanes<R>; Q],
    left: &mut [Lanes<R>; Q],
    right: &mut [Lanes<R>; Q],
) {
    let [goes_left, goes_right, ..] = own_masks else { unreachable!("every level has two masks") };
    let [share_left, share_right] = split.shares;
    let cold = |share: f64| presence.absence.map(|absence| share * absence);
    let (cold_left, cold_right) = (cold(share_left), cold(share_right));
    for q in 0..Q {
        let s = presence.probability[q];
        let (hot_left, hot_right) = (s + cold_left[q], s + cold_right[q]);
        for row in 0..R {
            let (to_left, to_right) = (goes_left[row] != 0, goes_right[row] != 0);
            let (mut here, mut there) =
                (select(to_left, hot_left, cold_left[q]), select(to_left, cold_right[q], hot_right));
            if E::TESTED {
                let passed = to_left | to_right;
                here = select(passed, here, share_left);
                there = select(passed, there, share_right);
            }
            let reach = slot[q][row];
            left[q][row] = reach * here;
            right[q][row] = reach * there;
        }
    }
}

/// Computes T of a split from T of its children, its gains `w_q P ds/dt Δ`, and `−Σ_q gain / (1 − t)`.
#[inline(always)]
fn ascend<const Q: usize, const R: usize, E: EarlierTests>(
    split: &Split,
    column: &Lanes<R>,
    (presence, earlier): (Presence<Q>, E),
    slot: &mut [Lanes<R>; Q],
    left: &[Lanes<R>; Q],
    right: &[Lanes<R>; Q],
    (gains, failed, absence): (&mut [Lanes<R>; Q], &mut Lanes<R>, &[f64]),
) {
    let (threshold, [share_left, share_right]) = (split.threshold, split.shares);
    let (s, slope) = (presence.probability, presence.slope);
    *failed = [0.0; R];
    for q in 0..Q {
        let inverse = 1.0 / absence[q];
        for row in 0..R {
            let goes_left = column[row] < threshold;
            let (left, right) = (left[q][row], right[q][row]);
            let absent = share_left * left + share_right * right;
            let lift = earlier.keep(row, select(goes_left, left, right) - absent);
            let reach = slot[q][row];
            let gain = if E::TESTED { slope[q] * reach } else { reach } * lift;
            gains[q][row] = gain;
            failed[row] -= gain * inverse;
            slot[q][row] = absent + s[q] * lift;
        }
    }
}

/// Adds the contribution of a split to the pair of its player and a player tested above it: `Σ_q gain · Λ`.
#[inline(always)]
fn give<const Q: usize, const R: usize>(
    partner: &Partner,
    passed: &[f64],
    gains: &[Lanes<R>; Q],
    failed: &Lanes<R>,
    masks: &[[u64; R]],
    phi: &mut [Lanes<R>],
) {
    let Some(passed) = passed[partner.edge as usize * Q..].first_chunk::<Q>() else {
        unreachable!("every edge has a number per node")
    };
    let hot = &masks[partner.hot as usize];
    let index = &mut phi[partner.pair as usize];
    for row in 0..R {
        let mut sum = 0.0;
        for q in 0..Q {
            sum += gains[q][row] * passed[q];
        }
        index[row] += select(hot[row] != 0, sum, failed[row]);
    }
}
