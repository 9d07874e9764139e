//! What a leaf gives, and to whom: players, players in groups or over a hierarchy of groups, or pairs.
//!
//! Kernels know how leaves are reached, and say who is taken from where; a [`Share`] knows what that gives.
//! With E the players that are taken from the explicand, R those from the background row and v the leaf's
//! value times the weight of the row,
//!
//! | | | |
//! |---|---|---|
//! | [`Alone`] | a semivalue | v M(\|E\| − 1, \|R\|) to each of E, −v M(\|E\|, \|R\| − 1) to each of R |
//! | [`InGroups`] | a coalitional value | the same twice, between groups and within: see [`in_groups`] |
//! | [`OverHierarchy`] | the same over a hierarchy | the same at every level: see [`over_hierarchy`] |
//! | [`InPairs`] | an interaction index | v M(\|E\| − 2, \|R\|) to two of E, and so on: see [`in_pairs`] |
//!
//! Numbers go to *targets*: a player, or the number of a pair.

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
use super::cohorts::{Arrived, Weigh};
use super::walk::Walked;

/// A leaf, its path features, and the background as it sees it: patterns and their weights.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) features: &'a [u32],
    pub(crate) value: f64,
    pub(crate) background: &'a [(u64, f64)],
}

/// What leaves give, with the memory that it takes: made once per thread.
pub(crate) trait Share: Send {
    /// How coalitions are weighed.
    type Weights: Sync;
    /// What a [walk](super::walk) hands up.
    type Sums: Copy + Default + Send;

    /// For games with these players or, of values in groups, features.
    fn new(weights: &Self::Weights) -> Self;

    /// On the way of one explicand against one background row.
    fn walked<'a>(
        &'a mut self,
        weights: &'a Self::Weights,
        phi: impl FnMut(usize, f64) + 'a,
    ) -> impl Walked<Sums = Self::Sums> + 'a;

    /// Takes in a leaf that is [seen by patterns](super::masks): whether it gives anything.
    fn meets(&mut self, weights: &Self::Weights, seen: Seen<'_>) -> bool;

    /// Gives what the leaf that was met last has for explicands of a pattern.
    fn of_pattern(
        &mut self,
        weights: &Self::Weights,
        seen: Seen<'_>,
        pattern: u64,
        phi: impl FnMut(usize, f64),
    );

    /// Gives what a leaf has for an explicand against all rows of a [cohort](super::cohorts).
    fn of_cohort<const W: usize>(
        &mut self,
        weights: &Self::Weights,
        arrived: Arrived<'_, W>,
        weigh: &impl Weigh,
        phi: &mut impl FnMut(usize, f64),
    );

    /// Gives the values of [products](super::linear) where v is `value`.
    fn of_products(
        &mut self,
        weights: &Self::Weights,
        products: &mut Products,
        value: f64,
        phi: &mut impl FnMut(usize, f64),
    );
}
