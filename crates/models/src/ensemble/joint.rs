//! Trees with splits that depend on several features at once.

use super::{Ensemble, Rounds, Statistic};
use crate::error::ModelError;

/// The trees of an ensemble that split on [statistics](Statistic) of several features, i.e. of combinations
/// of categories.
///
/// They are ordinary trees over [extended](Self::extended) rows, which have a column for each statistic after
/// the features. A split on a column with an index of at least [`feature_count`](Ensemble::feature_count)
/// therefore depends on all features of one of the [`statistics`](Self::statistics).
#[derive(Debug, Clone)]
pub struct JointTrees {
    features: usize,
    statistics: Vec<Statistic>,
    ensemble: Ensemble,
}

impl JointTrees {
    /// Creates joint trees from `ensemble`, whose base margins must be 0. Its trees expect extended rows of a
    /// model with `features` features.
    pub(crate) fn new(features: usize, statistics: Vec<Statistic>, ensemble: Ensemble) -> Self {
        Self { features, statistics, ensemble }
    }

    /// Returns the trees over extended rows.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// Returns the statistics in the columns after the features.
    pub fn statistics(&self) -> &[Statistic] {
        &self.statistics
    }

    /// Returns the statistic in a column of the extended rows, or `None` if the column is a feature.
    #[inline]
    pub fn statistic(&self, column: usize) -> Option<&Statistic> {
        column.checked_sub(self.features).map(|place| &self.statistics[place])
    }

    /// Returns the rounded rows, each extended by the values of the statistics.
    pub fn extended(&self, rounded: &[f64]) -> Vec<f64> {
        let rows = rounded.chunks_exact(self.features);
        let mut extended = Vec::with_capacity(rows.len() * (self.features + self.statistics.len()));
        for row in rows {
            extended.extend_from_slice(row);
            extended.extend(self.statistics.iter().map(|statistic| statistic.value(|feature| row[feature])));
        }
        extended
    }

    /// Restricts the trees to some boosting rounds. Returns `None` if these do not contain joint trees.
    pub(super) fn of_rounds(self, rounds: &Rounds) -> Result<Option<Self>, ModelError> {
        let ensemble = self.ensemble.of_rounds(rounds)?;
        Ok((!ensemble.trees.is_empty()).then_some(Self { ensemble, ..self }))
    }
}
