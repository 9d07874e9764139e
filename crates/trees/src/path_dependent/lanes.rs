//! Vectorization over rows and runs of quadrature nodes: the building blocks of the recursions in this
//! directory.
//!
//! Every formula is a loop over the rows of a block, with the nodes unrolled inside. The compiler vectorizes
//! it separately for each instruction set. No multiplication is fused with an addition, and rows do not
//! interact. Therefore a row's values are the same to the last bit for any instruction set, any block width,
//! and any other rows in the block.
//!
//! # Slots
//!
//! A split needs memory only while the traversal is below it. A *slot* contains one number per node of the
//! rule and row. Each level of the tree has two slots, one for each child of the split on the path. On the
//! way down, a child's slot is set to P of the child. On the way up, the child replaces it with T, which its
//! parent reads.

use apportion_values::{Rule, Semivalue};

use super::aligned::Aligned;

/// The maximum number of nodes of a rule per traversal of a tree. Longer rules are split.
pub(super) const MAX_NODES: usize = 4;

/// One number per row of a block.
pub(super) type Lanes<const R: usize> = [f64; R];

/// The working memory of a traversal of a tree.
pub(super) struct Stack<const R: usize> {
    pub(super) slots: Aligned<f64, R>,
    /// Masks of rows: a word has all bits set if its row passed all tests of a feature so far. Mask 0
    /// contains all rows. Each level has two more, for going left and going right.
    pub(super) masks: Aligned<u64, R>,
}

impl<const R: usize> Stack<R> {
    /// Creates the stack for trees of up to `levels` levels.
    pub(super) fn new(levels: usize) -> Self {
        Self {
            slots: Aligned::new(0.0, (2 * levels + 1) * MAX_NODES),
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
        None => unreachable!("the stack has room for all levels of the tree"),
    }
}

/// The probability of presence s, 1 − s and ds/dt, for rows that passed all earlier tests of the feature.
pub(super) struct Presence<const Q: usize> {
    pub(super) probability: [f64; Q],
    pub(super) absence: [f64; Q],
    pub(super) slope: [f64; Q],
}

impl<const Q: usize> Presence<Q> {
    /// Returns the values at the first test: s = t and ds/dt = 1.
    #[inline(always)]
    pub(super) fn first(nodes: Nodes<'_>) -> Self {
        let (mut probability, mut absence) = ([0.0; Q], [0.0; Q]);
        probability.copy_from_slice(&nodes.presence[..Q]);
        absence.copy_from_slice(&nodes.absence[..Q]);
        Self { probability, absence, slope: [1.0; Q] }
    }

    /// Returns the values at a later test; `passed` is c, the product of the shares of the earlier tests.
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

/// The result of the earlier tests of a feature. Keeps the numbers of rows that passed them, and replaces all
/// other numbers with 0.
pub(super) trait EarlierTests: Copy {
    const TESTED: bool;

    fn keep(self, row: usize, number: f64) -> f64;
}

/// The case without earlier tests of the feature.
#[derive(Clone, Copy)]
pub(super) struct Untested;

impl EarlierTests for Untested {
    const TESTED: bool = false;

    #[inline(always)]
    fn keep(self, _: usize, number: f64) -> f64 {
        number
    }
}

/// The case with earlier tests of the feature: all bits are set for the rows that passed them.
#[derive(Clone, Copy)]
pub(super) struct Tested<'a, const R: usize>(pub(super) &'a [u64; R]);

impl<const R: usize> EarlierTests for Tested<'_, R> {
    const TESTED: bool = true;

    // Uses bit masks, because the compiler would turn a conditional into branches.
    #[inline(always)]
    fn keep(self, row: usize, number: f64) -> f64 {
        f64::from_bits(number.to_bits() & self.0[row])
    }
}

/// Writes, for either side of a split, which rows pass all tests of the split's player, up to and including
/// this split.
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

/// Returns a rule for each number of distinct players on a path of a tree; `None` if `value` does not have
/// rules.
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

/// Iterates over the nodes of a rule, in runs as long as the kernel supports.
pub(super) fn runs(rule: &Rule) -> impl Iterator<Item = Nodes<'_>> {
    let presence = rule.presence().chunks(MAX_NODES);
    presence
        .zip(rule.absence().chunks(MAX_NODES))
        .zip(rule.weights().chunks(MAX_NODES))
        .map(|((presence, absence), weights)| Nodes { presence, absence, weights })
}
