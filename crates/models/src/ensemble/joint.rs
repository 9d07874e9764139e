//! Trees with splits that look at several features at once.

use super::{Ensemble, Rounds, Statistic};
use crate::error::ModelError;

/// The trees of an ensemble that split on [statistics](Statistic) of several features, combinations of categories.
///
/// They are trees as all others, of rows that are [extended](Self::extended): after the features comes a column for each statistic. So a
/// split on a column from [`feature_count`](Ensemble::feature_count) of the model on looks at all features of one of
/// [`statistics`](Self::statistics).
#[derive(Debug, Clone)]
pub struct JointTrees {
    features: usize,
    statistics: Vec<Statistic>,
    ensemble: Ensemble,
}

impl JointTrees {
    /// `ensemble` has the trees over extended rows of a model of so many features, and margins of 0 before any tree.
    pub(crate) fn new(features: usize, statistics: Vec<Statistic>, ensemble: Ensemble) -> Self {
        Self { features, statistics, ensemble }
    }

    /// The trees, over extended rows.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// What the columns after the features are.
    pub fn statistics(&self) -> &[Statistic] {
        &self.statistics
    }

    /// The statistic that a split on a column of the extended rows looks at; `None` where it looks at that feature alone.
    #[inline]
    pub fn statistic(&self, column: usize) -> Option<&Statistic> {
        column.checked_sub(self.features).map(|place| &self.statistics[place])
    }

    /// Rounded rows with their statistics.
    pub fn extended(&self, rounded: &[f64]) -> Vec<f64> {
        let rows = rounded.chunks_exact(self.features);
        let mut extended = Vec::with_capacity(rows.len() * (self.features + self.statistics.len()));
        for row in rows {
            extended.extend_from_slice(row);
            extended.extend(self.statistics.iter().map(|statistic| statistic.value(|feature| row[feature])));
        }
        extended
    }

    /// Those of some rounds; `None` where these have none.
    pub(super) fn of_rounds(self, rounds: &Rounds) -> Result<Option<Self>, ModelError> {
        let ensemble = self.ensemble.of_rounds(rounds)?;
        Ok((!ensemble.trees.is_empty()).then_some(Self { ensemble, ..self }))
    }
}
