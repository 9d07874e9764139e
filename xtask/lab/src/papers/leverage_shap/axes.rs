//! Varied parameters and metrics of the sweeps of this paper.

use anyhow::Result;

use super::contender::Contender;
use super::instance::Instance;
use crate::comparison::{self, Estimate};

pub(crate) type Curves = comparison::Curves<Contender>;

/// The parameter that a sweep varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Along {
    /// The sample size m = 5n … 160n, without noise.
    SampleSize,
    /// The standard deviation σ = 0 … 1 of noise on v, at m = 10n.
    Noise,
}

/// Multiple of n at which noise, γ and tables 1 and 4 are measured.
pub(crate) const TABLE_MULTIPLE: usize = 10;

/// A measure of the distance between an estimate and the exact values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Squared error relative to the truth, `‖φ̃ − φ‖² / ‖φ‖²`.
    Error,
    /// Relative excess of the objective, `‖Aφ̃ − b‖² / ‖Aφ − b‖² − 1`, which is only available for small n.
    ObjectiveExcess,
}

impl Metric {
    pub(crate) fn measure(self, instance: &Instance, estimate: &Estimate) -> Result<Option<f64>> {
        match self {
            Self::Error => Ok(Some(instance.relative_error(&estimate.values))),
            Self::ObjectiveExcess => instance.objective_excess(&estimate.values),
        }
    }
}
