//! Priors on the odd part of a game.

use crate::surrogate::prior::{Prior, Signs};
use crate::surrogate::walsh_process::WalshProcess;

use super::spectrum_target::SpectrumTarget;

/// A prior on products of an odd number of players.
#[derive(Debug, Clone)]
pub(super) enum OddPrior {
    /// Variances for products of at least three players.
    Products(Prior),
    /// The odd part of a process on coalitions, including single players.
    Process(WalshProcess),
}

impl OddPrior {
    /// Returns whether the prior contains no products.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Products(prior) => prior.is_empty(),
            Self::Process(_) => false,
        }
    }

    /// Returns the variance of `d(S)`, which is the same for every coalition S.
    pub(super) fn variance(&self) -> f64 {
        match self {
            Self::Products(prior) => prior.variance(),
            Self::Process(process) => process.odd_variance(),
        }
    }

    /// Returns the covariances of `d(S)` between two sets of coalitions, row-major.
    pub(super) fn cross(&self, left: &Signs, right: &Signs) -> Vec<f64> {
        match self {
            Self::Products(prior) => prior.cross(left, right),
            Self::Process(process) => process.odd_cross(left, right),
        }
    }

    /// Returns the covariances of `d(S)` with d(N).
    pub(super) fn with_all(&self, rows: &Signs) -> Vec<f64> {
        match self {
            Self::Products(prior) => prior.with_all(rows),
            Self::Process(process) => process.odd_cross(rows, &Signs::of_all_players(rows.players)),
        }
    }

    /// Returns the covariances of the value of each player with `d(S)`, players × rows.
    pub(super) fn with_values(&self, rows: &Signs, target: SpectrumTarget<'_>) -> Vec<f64> {
        match self {
            Self::Products(prior) => prior.with_each(rows, |order| target.weight(order)),
            // The value only depends on the odd part of the game, so its covariance with the even part is 0.
            Self::Process(process) => process.with_values(rows, target.value).unwrap_or_default(),
        }
    }
}
