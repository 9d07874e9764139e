//! Rows side by side, some nodes of a quadrature rule at a time: what the recursions of this folder are made
//! of.
//!
//! Every formula is a loop over the rows of a block, with the nodes unrolled inside. The compiler makes
//! vector instructions of it, for each instruction set on its own. No multiplication is fused with an
//! addition, and rows do not meet, so a row's values are the same bits whatever the instruction set, the
//! width of the block and the rows beside it.
//!
//! # Slots
//!
//! A split needs memory only while the way through the tree is below it. A *slot* holds one number per node
//! of the rule and row, and each level of the tree has two, for both children of the split on the path. On
//! the way down a child's slot is given P of the child; on the way up the child puts T in its place, for its
//! parent to take.

use apportion_values::{Rule, Semivalue};

use super::aligned::Aligned;

/// Most nodes of a rule that are taken through a tree at once. Longer rules are cut.
pub(super) const MOST_NODES: usize = 4;

/// One number per row of a block.
pub(super) type Lanes<const R: usize> = [f64; R];

/// The memory of the way through a tree.
pub(super) struct Stack<const R: usize> {
    pub(super) slots: Aligned<f64, R>,
    /// All bits of the rows that passed all tests of the split's feature, per level and side after that of
    /// all rows.
    pub(super) masks: Aligned<u64, R>,
}

impl<const R: usize> Stack<R> {
    /// For trees of up to as many levels.
    pub(super) fn new(levels: usize) -> Self {
        Self {
            slots: Aligned::new(0.0, (2 * levels + 1) * MOST_NODES),
            masks: Aligned::new(0, 2 * levels + 1),
        }
    }
}

/// Some nodes of a quadrature rule: t, 1 − t and the weights.
#[derive(Clone, Copy)]
pub(super) struct Nodes<'a> {
    pub(super) presence: &'a [f64],
    pub(super) absence: &'a [f64],
    pub(super) weights: &'a [f64],
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

/// What is known of the earlier tests of a feature: which numbers to keep, row by row, where rows that failed
/// one have 0.
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

/// A rule for each number of distinct players that a tree has on a path; `None` where `value` has none.
pub(super) fn rules(distinct: impl Iterator<Item = usize>, value: &Semivalue) -> Option<Vec<Option<Rule>>> {
    let mut rules = Vec::new();
    value.rule(0)?;
    for distinct in distinct {
        rules.resize(rules.len().max(distinct + 1), None);
        if rules[distinct].is_none() {
            rules[distinct] = value.rule(distinct - 1);
        }
    }
    Some(rules)
}

/// The nodes of a rule, as many at a time as the kernel takes.
pub(super) fn runs(rule: &Rule) -> impl Iterator<Item = Nodes<'_>> {
    let presence = rule.presence().chunks(MOST_NODES);
    presence
        .zip(rule.absence().chunks(MOST_NODES))
        .zip(rule.weights().chunks(MOST_NODES))
        .map(|((presence, absence), weights)| Nodes { presence, absence, weights })
}
