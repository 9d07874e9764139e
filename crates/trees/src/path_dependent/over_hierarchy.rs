//! Values over a hierarchy of groups, leaf by leaf.
//!
//! # Derivation
//!
//! On one leaf of value v, a feature j of its path contributes the factor h_j if it is present, and c_j if it
//! is absent (see [`others`](super::others)). Therefore a group contributes the product H of its features if
//! it is present as a whole, and the product C if it is absent. Feature i is in groups G at several levels.
//! The other members of every G are present or absent as a whole, by the semivalue of the level of G,
//! independently of other levels:
//!
//! ```text
//! φ_i = v (h_i − c_i) Π_G O_G,
//! O_G = mean of Π (H_g if member g is present, else C_g) over the coalitions that the member with i joins
//! ```
//!
//! O_G is computed like O_i in [`others`](super::others), with members instead of players, once for each
//! member of each group on the path. Quadrature or the distribution of coalition sizes is used, so any
//! semivalue is supported.
//!
//! # Cost
//!
//! On a leaf with d path features, the groups with several members have at most 2d − 2 members in total. A
//! group of m members takes O(m²) time, so each leaf and row takes O(d²) time.

use apportion_values::CoalitionalValue;

use super::by_size::Paths;
use super::others::{Factor, Others};
use crate::engine::levels::{Child, GroupTree, LeafLevels};
use apportion_models::Ensemble;
use apportion_models::tree::Tree;

/// The computation of the values of trees, with its working memory: created once per thread.
pub(super) struct OverHierarchy<'a> {
    tree: &'a GroupTree,
    features: &'a [u32],
    paths: Paths,
    between: Others<'a>,
    within: Others<'a>,
    leaf: LeafLevels,
    /// For each group of the leaf, the combined factor of its features, and v times the factors of all levels
    /// above.
    of_groups: Vec<(Factor, f64)>,
    members: Vec<Factor>,
    others: Vec<f64>,
}

impl<'a> OverHierarchy<'a> {
    /// Creates the working memory. `value` must be [defined](CoalitionalValue::check_over) for the hierarchy
    /// from which `tree` was created; each feature is its own player.
    pub(super) fn new(value: &'a CoalitionalValue, tree: &'a GroupTree, features: &'a [u32]) -> Self {
        Self {
            tree,
            features,
            paths: Paths::default(),
            between: Others::new(&value.between),
            within: Others::new(&value.within),
            leaf: LeafLevels::default(),
            of_groups: Vec::new(),
            members: Vec::new(),
            others: Vec::new(),
        }
    }

    /// Calls `phi` with contributions to the values of one tree, each with the index of its feature. The row
    /// must be rounded, and the covers must be [valid](Ensemble::check_covers).
    pub(super) fn add(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        row: &[f64],
        mut phi: impl FnMut(usize, f64),
    ) {
        let Self { tree: groups, features, paths, between, within, leaf, of_groups, members, others } = self;
        paths.each(ensemble, tree, features, row, |value, path| {
            leaf.set(path.iter().map(|(feature, _)| *feature), groups);
            of_groups.clear();
            of_groups.resize(leaf.len(), (Factor::NONE, 0.0));
            let factor = |of_groups: &[(Factor, f64)], child| match child {
                Child::Feature(place) => path[place as usize].1,
                Child::Group(group) => of_groups[group as usize].0,
            };
            for group in (0..leaf.len()).rev() {
                let all = leaf.children(group).iter();
                of_groups[group].0 = all.fold(Factor::NONE, |all, &child| all.and(factor(of_groups, child)));
            }
            if let Some((_, left)) = of_groups.first_mut() {
                *left = value;
            }
            for group in 0..leaf.len() {
                let left = of_groups[group].1;
                members.clear();
                members.extend(leaf.children(group).iter().map(|&child| factor(of_groups, child)));
                if leaf.is_top(group) { &mut *between } else { &mut *within }.write(members, others);
                for (&child, &others) in leaf.children(group).iter().zip(&*others) {
                    match child {
                        Child::Group(inner) => of_groups[inner as usize].1 = left * others,
                        Child::Feature(place) => {
                            let (feature, factor) = path[place as usize];
                            phi(feature, left * (factor.gain() * others));
                        }
                    }
                }
            }
        });
    }
}
