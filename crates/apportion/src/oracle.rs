//! The exact oracle of an ensemble, for either of its games.

use apportion_games::{Background, Rows};
use apportion_trees::{Attributions, Ensemble, InterventionalOracle, PathDependentOracle, TreeError};
use apportion_values::Semivalue;

/// Exact values of a tree ensemble.
pub(crate) enum Oracle<'a> {
    Interventional(InterventionalOracle<'a>),
    PathDependent(PathDependentOracle<'a>),
}

impl<'a> Oracle<'a> {
    /// Of the marginal game against `background`.
    pub(crate) fn interventional(ensemble: &'a Ensemble, background: &Background) -> Result<Self, TreeError> {
        let weights = Some(background.weights());
        InterventionalOracle::new(ensemble, background.as_rows(), weights).map(Self::Interventional)
    }

    /// Of the path-dependent game.
    pub(crate) fn path_dependent(ensemble: &'a Ensemble) -> Result<Self, TreeError> {
        PathDependentOracle::new(ensemble).map(Self::PathDependent)
    }

    pub(crate) fn values(&self, value: Semivalue, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        match self {
            Self::Interventional(oracle) => oracle.values(value, rows),
            Self::PathDependent(oracle) => oracle.values(value, rows),
        }
    }
}
