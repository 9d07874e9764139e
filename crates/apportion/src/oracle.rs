//! The exact oracle of an ensemble, for each of its games.

use apportion_games::{Background, Partition, Rows};
use apportion_trees::{
    Attributions, CompiledBackground, Ensemble, InterventionalOracle, LinkedOracle, PathDependentOracle,
    Settings, TreeError,
};
use apportion_values::{SolutionConcept, ValueError};

/// Exact values of a tree ensemble.
pub(crate) enum Oracle<'a> {
    Interventional(InterventionalOracle<'a>),
    PathDependent(PathDependentOracle<'a>),
    Linked(LinkedOracle<'a>),
}

impl<'a> Oracle<'a> {
    /// Of the marginal game against `background`.
    pub(crate) fn interventional(
        ensemble: &'a Ensemble,
        background: &Background,
        settings: Settings,
    ) -> Result<Self, TreeError> {
        let weights = Some(background.weights());
        let oracle = InterventionalOracle::new(ensemble, background.as_rows(), weights)?;
        Ok(Self::Interventional(oracle.with_settings(settings)))
    }

    /// Of the marginal game against a background without its rows.
    pub(crate) fn compiled(
        ensemble: &'a Ensemble,
        background: CompiledBackground,
        settings: Settings,
    ) -> Result<Self, TreeError> {
        let oracle = InterventionalOracle::from_compiled(ensemble, background)?;
        Ok(Self::Interventional(oracle.with_settings(settings)))
    }

    /// Of the path-dependent game.
    pub(crate) fn path_dependent(ensemble: &'a Ensemble, settings: Settings) -> Result<Self, TreeError> {
        Ok(Self::PathDependent(PathDependentOracle::new(ensemble)?.with_settings(settings)))
    }

    /// Of the marginal game of outputs behind the link.
    pub(crate) fn linked(ensemble: &'a Ensemble, background: &Background) -> Result<Self, TreeError> {
        let weights = Some(background.weights());
        LinkedOracle::new(ensemble, background.as_rows(), weights).map(Self::Linked)
    }

    /// The values of all rows, of players in the groups of `partition` where they are values of groups.
    pub(crate) fn values(
        &self,
        value: &SolutionConcept,
        partition: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        // The oracles have the same methods, and share no trait for the sake of this one place.
        macro_rules! ask {
            ($oracle:expr) => {
                match (value, partition) {
                    (SolutionConcept::Semivalue(semivalue), _) => $oracle.values(semivalue.clone(), rows),
                    (SolutionConcept::Coalitional(value), Some(partition)) => {
                        $oracle.coalitional_values(value, partition, rows)
                    }
                    (SolutionConcept::TwoStepShapley, Some(partition)) => {
                        $oracle.two_step_shapley(partition, rows)
                    }
                    (SolutionConcept::Quotient(semivalue), Some(partition)) => {
                        $oracle.quotient_values(semivalue.clone(), partition, rows)
                    }
                    _ => Err(ValueError::NoPartition { value: Box::new(value.clone()) }.into()),
                }
            };
        }
        match self {
            Self::Interventional(oracle) => ask!(oracle),
            Self::PathDependent(oracle) => ask!(oracle),
            Self::Linked(oracle) => ask!(oracle),
        }
    }
}
