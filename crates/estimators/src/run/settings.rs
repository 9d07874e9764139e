//! The options of an estimator as data.

use apportion_games::{Graph, Hierarchy, Partition};
use apportion_samplers::Pairing;
use apportion_values::{GraphValue, SolutionConcept};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Options as data, for all that serde can write: [`Estimator`](crate::Estimator) asks for it, so that none can be without.
pub trait Settings {
    /// All that tells it from others of its name: equal settings, equal answers. Stored runs are compared by them.
    fn settings(&self) -> Value;
}

impl<T: Serialize> Settings for T {
    fn settings(&self) -> Value {
        // What serde cannot write as JSON is told from all that it can, by its reason.
        serde_json::to_value(self).unwrap_or_else(|error| Value::String(error.to_string()))
    }
}

/// [`Pairing`] in settings.
#[derive(Serialize)]
#[serde(remote = "Pairing")]
pub(crate) enum OfPairs {
    Unpaired,
    Paired,
}

/// The groups, each with its players.
pub(crate) fn groups<S: Serializer>(partition: &Partition, serializer: S) -> Result<S::Ok, S::Error> {
    partition.groups().serialize(serializer)
}

/// The groups, where there are some.
pub(crate) fn any_groups<S: Serializer>(
    partition: &Option<Partition>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    partition.as_ref().map(Partition::groups).serialize(serializer)
}

/// The group that each node is in, and the level of each group, where there is a hierarchy.
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

/// The neighbours of each node.
pub(crate) fn neighbours<S: Serializer>(graph: &Graph, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq((0..graph.nodes()).map(|node| graph.neighbours(node)))
}

/// The name of a value of players on a graph.
pub(crate) fn name<S: Serializer>(value: &GraphValue, serializer: S) -> Result<S::Ok, S::Error> {
    SolutionConcept::from(value.clone()).serialize(serializer)
}
