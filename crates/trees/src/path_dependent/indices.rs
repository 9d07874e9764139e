//! Interaction indices of coalitions in the path-dependent game; [`leaves`](super::leaves) computes the
//! indices of a leaf.

use std::sync::Arc;

use apportion_games::{Partition, Rows};
use apportion_values::{InteractionIndex, Interactions};

use super::leaves::{PathDependentLeaves, Ready};
use super::tree_explainer::PathDependentTreeExplainer;
use crate::engine::groups::group_of;
use crate::engine::indices::moments::IndexMoments;
use crate::engine::indices::rows::explain;
use crate::engine::value;
use crate::error::TreeError;

impl PathDependentTreeExplainer<'_> {
    /// Computes the indices of all coalitions of up to `order` players that act together in some tree.
    pub(super) fn indices(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>, TreeError> {
        value::check_index(index)?;
        if let Some(groups) = groups {
            groups.check_players(self.features.len())?;
        }
        let players = groups.map_or(self.features.len(), Partition::len);
        let predictions = self.ensemble.margins(rows)?;
        let weights = index.weights(order, players)?;
        let order = order.min(players);
        let player_of = groups.map_or_else(|| self.features.clone(), group_of);
        let make = || Ready::new(&self.ensemble, &player_of, (players, order)).map(Arc::new);
        let ready = self.ready.try_get(&(order, groups.cloned()), make)?;
        let moments = IndexMoments::new(&weights, ready.numbered.max_width);
        let leaves = PathDependentLeaves { ready: &ready, moments: &moments };
        let found = explain(&self.ensemble, &leaves, &ready.numbered, rows)?;
        found.answers((index, &weights), &self.ensemble, &self.program.base, predictions)
    }
}
