//! Fits the distributions of conditional games.

use std::sync::Arc;

use apportion_games::{
    Background, ConditionalDistribution, CopulaDistribution, EmpiricalDistribution, FrequencyDistribution,
    GameError, GaussianDistribution, Model, Rows, Shared,
};

use super::distribution::{Bandwidth, Distribution, Variant};
use super::error::OptionError;
use super::game_name::GameName;

/// The default number of rows per coalition.
const DRAWS: usize = 500;

/// A distribution that is borrowed or shared.
type SharedDistribution<'a> = Shared<'a, dyn ConditionalDistribution + 'a>;

impl Distribution {
    /// Fits the distribution of a game to rows, with weights if given. Returns `None` for games without a
    /// distribution. `model` is only required for a bandwidth that depends on the model; it is `None` if the
    /// model cannot be evaluated at this time.
    ///
    /// # Errors
    ///
    /// [`OptionError::Weights`] for a variant that does not support weights, [`OptionError::Form`] for a
    /// bandwidth or share that is out of range, [`OptionError::NoModel`] for a bandwidth that requires a
    /// model, and [`OptionError::Distribution`] if the distribution cannot be fitted.
    pub fn fit<'a>(
        &self,
        game: GameName,
        rows: Rows<'_>,
        weights: Option<&[f64]>,
        seed: u64,
        model: Option<impl FnOnce() -> Shared<'a, dyn Model + 'a>>,
    ) -> Result<Option<SharedDistribution<'a>>, OptionError> {
        let is_shapr = self.variant == Some(Variant::Shapr);
        if game == GameName::Empirical && is_shapr && weights.is_some() {
            return Err(OptionError::Weights);
        }
        if game == GameName::Empirical {
            self.check_ranges()?;
        }
        let needs_model = game == GameName::Empirical && self.bandwidth == Some(Bandwidth::Aicc);
        let model = match (needs_model, model) {
            (false, _) => None,
            (true, Some(model)) => Some(model()),
            (true, None) => return Err(OptionError::NoModel),
        };
        let draws = self.draws.unwrap_or(DRAWS);
        let fitted = match (game, weights) {
            (GameName::Marginal | GameName::PathDependent, _) => return Ok(None),
            (GameName::Gaussian, None) => GaussianDistribution::fit(rows, draws, seed).map(shared),
            (GameName::Gaussian, Some(weights)) => {
                GaussianDistribution::fit_weighted(rows, weights, draws, seed).map(shared)
            }
            (GameName::Copula, None) => CopulaDistribution::fit(rows, draws, seed).map(shared),
            (GameName::Copula, Some(weights)) => {
                CopulaDistribution::fit_weighted(rows, weights, draws, seed).map(shared)
            }
            (GameName::Empirical, _) => self.empirical(rows, weights, draws, model),
            (GameName::Frequency, _) => self.frequency(rows, weights).map(shared),
        };
        fitted.map(Some).map_err(|source| OptionError::Distribution { game: game.name(), source })
    }

    /// Returns an error for a bandwidth or share that is out of range.
    fn check_ranges(&self) -> Result<(), OptionError> {
        let invalid = |option, actual: f64, expected: &str| {
            Err(OptionError::Form { option, actual: actual.to_string(), expected: expected.to_owned() })
        };
        match (self.bandwidth, self.share) {
            (Some(Bandwidth::Given(bandwidth)), _) if !(bandwidth.is_finite() && bandwidth > 0.0) => {
                invalid("bandwidth", bandwidth, "a number above 0, or aicc")
            }
            (_, Some(share)) if !(share > 0.0 && share <= 1.0) => {
                invalid("share", share, "a number above 0 and at most 1")
            }
            _ => Ok(()),
        }
    }

    fn empirical<'a>(
        &self,
        rows: Rows<'_>,
        weights: Option<&[f64]>,
        max_rows: usize,
        model: Option<Shared<'a, dyn Model + 'a>>,
    ) -> Result<SharedDistribution<'a>, GameError> {
        let distribution = match weights {
            _ if self.variant == Some(Variant::Shapr) => EmpiricalDistribution::as_in_shapr(rows)?,
            None => EmpiricalDistribution::fit(rows)?,
            Some(weights) => EmpiricalDistribution::fit_weighted(rows, weights)?,
        };
        let distribution = match self.share {
            None => distribution,
            Some(share) => distribution.with_share(share)?,
        };
        let distribution = distribution.with_max_rows(max_rows)?;
        Ok(match (self.bandwidth, model) {
            (Some(Bandwidth::Given(bandwidth)), _) => shared(distribution.with_bandwidth(bandwidth)?),
            (Some(Bandwidth::Aicc), Some(model)) => shared(distribution.with_bandwidths_by_aicc(model)?),
            _ => shared(distribution),
        })
    }

    fn frequency(&self, rows: Rows<'_>, weights: Option<&[f64]>) -> Result<FrequencyDistribution, GameError> {
        let distribution = match weights {
            None => FrequencyDistribution::fit(rows)?,
            Some(weights) => FrequencyDistribution::from_table(
                &Background::rows(rows.values(), rows.columns())?.with_weights(weights)?,
            ),
        };
        Ok(distribution.with_fallback(self.fallback.unwrap_or_default()))
    }
}

fn shared<'a>(distribution: impl ConditionalDistribution + 'a) -> SharedDistribution<'a> {
    Arc::new(distribution).into()
}
