//! The players and the weights of coalitions of a request.

use std::borrow::Cow;
use std::sync::Arc;

use apportion_games::{Partition, parallel};
use apportion_values::{Semivalue, Value};

use super::cohorts::Cohorts;
use super::tree_explainer::{BackgroundStructures, MarginalTreeExplainer};
use crate::background::{of_groups, sort};
use crate::engine::groups::{Coalitional, group_of};
use crate::engine::histograms::Sorted;
use crate::engine::levels::Levels;
use crate::engine::moments::Moments;
use crate::engine::pairs::{PairWeights, Pairs};
use crate::engine::tables::shape::Layout;
use crate::engine::value;
use crate::engine::weights::Weights;
use crate::error::TreeError;

/// A request to a tree explainer.
pub(crate) struct Request<'a> {
    tree_explainer: &'a MarginalTreeExplainer<'a>,
    pub(crate) value: Value,
    /// The player of each feature.
    pub(crate) player_of: Cow<'a, [u32]>,
    pub(crate) players: usize,
    pub(crate) weights: Weights,
    /// The background data structures for these players, unless the players are the features.
    structures: Option<BackgroundStructures>,
}

impl MarginalTreeExplainer<'_> {
    /// Returns the request for a value other than a two-step one.
    pub(super) fn request(&self, value: &Value) -> Result<Request<'_>, TreeError> {
        value::check(value, self.features.len())?;
        let (features, max_width) = (self.features.len(), self.max_width());
        let of_features = (Cow::Borrowed(&self.features[..]), features, None);
        let (weights, (player_of, players, structures)) = match value {
            Value::Semivalue(value) => (Weights::Alike(Moments::new(value.clone(), max_width)), of_features),
            Value::Coalitional(value, groups) => {
                (Weights::Grouped(Coalitional::new(value, groups, max_width)), of_features)
            }
            Value::OverHierarchy(value, hierarchy) => {
                (Weights::OverHierarchy(Levels::new(value, hierarchy, max_width)), of_features)
            }
            Value::Quotient(value, groups) => {
                let moments = Moments::new(value.clone(), max_width.min(groups.len()));
                let of_groups =
                    (Cow::Owned(group_of(groups)), groups.len(), Some(BackgroundStructures::default()));
                (Weights::Alike(moments), of_groups)
            }
            _ => return Err(value::unsupported(value)),
        };
        Ok(Request { tree_explainer: self, value: value.clone(), player_of, players, weights, structures })
    }

    /// Returns the request for indices of coalitions of features, or of groups. The weights of the request
    /// are not used.
    pub(super) fn request_of(&self, groups: Option<&Partition>) -> Result<Request<'_>, TreeError> {
        match groups {
            None => Ok(self.of_features(&Semivalue::Banzhaf)),
            Some(groups) => self.request(&Value::quotient(Semivalue::Banzhaf, groups.clone())),
        }
    }

    /// Returns the request for the values of features by a semivalue that was checked.
    pub(super) fn of_features(&self, value: &Semivalue) -> Request<'_> {
        Request {
            tree_explainer: self,
            value: value.clone().into(),
            player_of: Cow::Borrowed(&self.features),
            players: self.features.len(),
            weights: Weights::Alike(Moments::new(value.clone(), self.max_width())),
            structures: None,
        }
    }
}

impl Request<'_> {
    /// Returns the same request for the pairs of the players.
    pub(super) fn of_pairs(self) -> Result<Self, TreeError> {
        let find = || Arc::new(Pairs::new(&self.tree_explainer.ensemble, &self.player_of, self.players));
        let pairs = Arc::clone(self.structures().pairs.get_or_init(find));
        let Weights::Alike(moments) = self.weights else { return Err(value::not_of_pairs(&self.value)) };
        Ok(Self { weights: Weights::Pairs(PairWeights { moments, pairs }), ..self })
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::for_weights(&self.weights, self.players)
    }

    fn structures(&self) -> &BackgroundStructures {
        self.structures.as_ref().unwrap_or(&self.tree_explainer.structures)
    }

    /// Returns the background as bit sets.
    pub(super) fn cohorts(&self) -> &Cohorts {
        let MarginalTreeExplainer { ensemble, background, weights, .. } = self.tree_explainer;
        self.structures().cohorts.get_or_init(|| Cohorts::new(ensemble, background, weights, &self.player_of))
    }

    /// Returns the background, sorted by pattern at every leaf.
    pub(super) fn sorted(&self) -> &Sorted {
        // Compute outside of the lock: a thread that waits for its share of the work may start a task that
        // needs the lock itself.
        if let Some(sorted) = self.structures().sorted.get() {
            return sorted;
        }
        let sorted = self.sort();
        self.structures().sorted.get_or_init(|| sorted)
    }

    fn sort(&self) -> Sorted {
        let MarginalTreeExplainer { ensemble, background, weights, compiled, structures, .. } =
            self.tree_explainer;
        let (true, Some(sorted)) = (*compiled, structures.sorted.get()) else {
            return sort(ensemble, background, weights, &self.player_of);
        };
        parallel::map(ensemble.trees().iter().zip(sorted), |(tree, sorted)| {
            of_groups(ensemble.nodes_of(tree), sorted.as_ref()?, &self.player_of)
        })
    }
}
