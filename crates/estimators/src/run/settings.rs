//! The options of an estimator as data.

use apportion_games::{Graph, Hierarchy, Partition};
use apportion_samplers::Pairing;
use apportion_values::{GraphValue, SolutionConcept};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Options as JSON, for every serializable type. This trait is a supertrait of
/// [`Estimator`](crate::Estimator), so every estimator implements it.
pub trait Settings {
    /// Returns all options. Estimators with the same name and equal settings return equal results. Stored
    /// runs are compared by their settings.
    fn settings(&self) -> Value;
}

impl<T: Serialize> Settings for T {
    fn settings(&self) -> Value {
        // If serialization fails, use its error message, which differs from all valid settings.
        serde_json::to_value(self).unwrap_or_else(|error| Value::String(error.to_string()))
    }
}

/// Serde definition of [`Pairing`] for settings.
#[derive(Serialize)]
#[serde(remote = "Pairing")]
pub(crate) enum PairingSetting {
    Unpaired,
    Paired,
}

/// Serializes the groups, each with its players.
pub(crate) fn groups<S: Serializer>(partition: &Partition, serializer: S) -> Result<S::Ok, S::Error> {
    partition.groups().serialize(serializer)
}

/// Serializes the groups, if any.
pub(crate) fn any_groups<S: Serializer>(
    partition: &Option<Partition>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    partition.as_ref().map(Partition::groups).serialize(serializer)
}

/// Serializes the parent group of each node and the level of each group; null without a hierarchy.
pub(crate) fn any_levels<S: Serializer>(
    hierarchy: &Option<Hierarchy>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let levels = hierarchy.as_ref().map(|hierarchy| {
        let parents: Vec<Option<usize>> = (0..hierarchy.nodes()).map(|node| hierarchy.parent(node)).collect();
        let levels: Vec<usize> = hierarchy.groups().map(|group| hierarchy.level(group)).collect();
        (parents, levels)
    });
    levels.serialize(serializer)
}

/// Serializes the neighbours of each node.
pub(crate) fn neighbours<S: Serializer>(graph: &Graph, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq((0..graph.nodes()).map(|node| graph.neighbours(node)))
}

/// Serializes the name of a value for players on a graph.
pub(crate) fn name<S: Serializer>(value: &GraphValue, serializer: S) -> Result<S::Ok, S::Error> {
    SolutionConcept::from(value.clone()).serialize(serializer)
}
