//! The contributions of a leaf: to players, players in groups or in a hierarchy of groups, or pairs.
//!
//! Kernels determine how leaves are reached, and from which row each player is taken. A [`LeafKernel`]
//! computes the resulting contributions. In the table, E are the players that are taken from the explicand, R
//! the players from the background row, and v the leaf's value times the weight of the row:
//!
//! | | | |
//! |---|---|---|
//! | [`Alone`] | a semivalue | v M(\|E\| − 1, \|R\|) to each of E, −v M(\|E\|, \|R\| − 1) to each of R |
//! | [`InGroups`] | a coalitional value | the product of such weights between the groups and within them: see [`in_groups`] |
//! | [`OverHierarchy`] | a coalitional value over a hierarchy | the product of such weights at all levels: see [`over_hierarchy`] |
//! | [`InPairs`] | an interaction index | v M(\|E\| − 2, \|R\|) to two of E, and so on: see [`in_pairs`] |
//!
//! Contributions are added to *targets*: players, or numbered pairs of players.

mod alone;
mod in_groups;
mod in_pairs;
mod over_hierarchy;
mod products;

pub(crate) use self::alone::Alone;
pub(crate) use self::in_groups::InGroups;
pub(crate) use self::in_pairs::InPairs;
pub(crate) use self::over_hierarchy::OverHierarchy;
pub(crate) use self::products::Products;
use super::cohorts::{ArrivedCohort, Weigh};
use super::walk::WalkVisitor;

/// A leaf with its path features and its background patterns with their weights.
#[derive(Clone, Copy)]
pub(crate) struct LeafView<'a> {
    pub(crate) features: &'a [u32],
    pub(crate) value: f64,
    pub(crate) background: &'a [(u64, f64)],
}

/// The contributions of leaves, with the working memory for them: created once per thread.
pub(crate) trait LeafKernel: Send {
    /// The weights of coalitions that determine the contributions.
    type Weights: Sync;
    /// The sums that a [walk](super::walk) passes up.
    type Sums: Copy + Default + Send;

    /// Creates the working memory for these weights.
    fn new(weights: &Self::Weights) -> Self;

    /// Returns the operations of a walk of one explicand and one background row.
    fn walked<'a>(
        &'a mut self,
        weights: &'a Self::Weights,
        phi: impl FnMut(usize, f64) + 'a,
    ) -> impl WalkVisitor<Sums = Self::Sums> + 'a;

    /// Prepares a leaf for [masks](super::masks). Returns whether the leaf contributes anything.
    fn visit_leaf(&mut self, weights: &Self::Weights, view: LeafView<'_>) -> bool;

    /// Adds the contributions of the most recently prepared leaf for explicands with a pattern.
    fn of_pattern(
        &mut self,
        weights: &Self::Weights,
        view: LeafView<'_>,
        pattern: u64,
        phi: impl FnMut(usize, f64),
    );

    /// Adds the contributions of a leaf for an explicand and all rows of a [cohort](super::cohorts).
    fn of_cohort<const W: usize>(
        &mut self,
        weights: &Self::Weights,
        arrived: ArrivedCohort<'_, W>,
        weigh: &impl Weigh,
        phi: &mut impl FnMut(usize, f64),
    );

    /// Adds the values of [products](super::linear), where v is `value`.
    fn of_products(
        &mut self,
        weights: &Self::Weights,
        products: &mut Products,
        value: f64,
        phi: &mut impl FnMut(usize, f64),
    );
}
