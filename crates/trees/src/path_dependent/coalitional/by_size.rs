//! Computes coalitional values of one tree leaf by leaf, for a single row. Used if one of the two semivalues
//! has weights by coalition size, which do not have a quadrature rule.

use apportion_games::Partition;
use apportion_values::CoalitionalValue;

use super::super::by_size::Paths;
use super::super::others::{Factor, Others};
use apportion_models::Ensemble;
use apportion_models::tree::Tree;

/// The computation of `φ_i = v (h_i − c_i) V_i W_g`, leaf by leaf, with its working memory: created once per
/// thread.
pub(in super::super) struct BySize<'a> {
    partition: &'a Partition,
    features: &'a [u32],
    paths: Paths,
    between: Others<'a>,
    within: Others<'a>,
    /// The features of the path, sorted by group.
    path: Vec<(usize, Factor)>,
    groups: Vec<Factor>,
    members: Vec<Factor>,
    of_groups: Vec<f64>,
    of_members: Vec<f64>,
}

impl<'a> BySize<'a> {
    /// Creates the working memory. `value` must be [defined](CoalitionalValue::check) for the groups; each
    /// feature is its own player.
    pub(in super::super) fn new(
        value: &'a CoalitionalValue,
        partition: &'a Partition,
        features: &'a [u32],
    ) -> Self {
        Self {
            partition,
            features,
            paths: Paths::default(),
            between: Others::new(&value.between),
            within: Others::new(&value.within),
            path: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            of_groups: Vec::new(),
            of_members: Vec::new(),
        }
    }

    /// Calls `phi` with contributions to the values of one tree, each with the index of its feature. The row
    /// must be rounded, and the covers must be [valid](Ensemble::check_covers).
    pub(in super::super) fn add(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        row: &[f64],
        mut phi: impl FnMut(usize, f64),
    ) {
        let Self {
            partition,
            features,
            paths,
            between,
            within,
            path,
            groups,
            members,
            of_groups,
            of_members,
        } = self;
        let group_of = |one: &(usize, Factor)| partition.group_of(one.0);
        paths.each(ensemble, tree, features, row, |value, of_leaf| {
            path.clear();
            path.extend_from_slice(of_leaf);
            path.sort_by_key(group_of);
            let by_group = || path.chunk_by(|a, b| group_of(a) == group_of(b));
            groups.clear();
            groups.extend(
                by_group().map(|group| group.iter().fold(Factor::NONE, |all, (_, one)| all.and(*one))),
            );
            between.write(groups, of_groups);
            for (group, of_group) in by_group().zip(&*of_groups) {
                members.clear();
                members.extend(group.iter().map(|(_, factor)| *factor));
                within.write(members, of_members);
                for (&(feature, factor), of_member) in group.iter().zip(&*of_members) {
                    phi(feature, value * of_group * (factor.gain() * of_member));
                }
            }
        });
    }
}
