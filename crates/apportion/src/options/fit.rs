//! Fits the distributions of conditional games.

use std::sync::Arc;

use apportion_games::{
    Background, ConditionalLaw, CopulaLaw, EmpiricalLaw, FrequencyLaw, GameError, GaussianLaw, Model, Rows,
    Shared,
};

use super::distribution::{Bandwidth, Distribution, Variant};
use super::error::OptionError;
use super::game_name::GameName;

/// The default number of rows per coalition.
const DRAWS: usize = 500;

/// A shared distribution.
type Law<'a> = Shared<'a, dyn ConditionalLaw + 'a>;

impl Distribution {
    /// Fits the distribution of a game to rows, with weights if given; `None` for games without a
    /// distribution. `model` is for bandwidths that depend on it, and `None` if it cannot be evaluated at
    /// this time.
    ///
    /// # Errors
    ///
    /// [`OptionError::Weights`] for a variant that does not support weights, [`OptionError::NoModel`] for a
    /// bandwidth that requires a model, and [`OptionError::Distribution`].
    pub fn fit<'a>(
        &self,
        game: GameName,
        rows: Rows<'_>,
        weights: Option<&[f64]>,
        seed: u64,
        model: Option<impl FnOnce() -> Shared<'a, dyn Model + 'a>>,
    ) -> Result<Option<Law<'a>>, OptionError> {
        let is_shapr = self.variant == Some(Variant::Shapr);
        if game == GameName::Empirical && is_shapr && weights.is_some() {
            return Err(OptionError::Weights);
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
            (GameName::Gaussian, None) => GaussianLaw::fit(rows, draws, seed).map(shared),
            (GameName::Gaussian, Some(weights)) => {
                GaussianLaw::fit_weighted(rows, weights, draws, seed).map(shared)
            }
            (GameName::Copula, None) => CopulaLaw::fit(rows, draws, seed).map(shared),
            (GameName::Copula, Some(weights)) => {
                CopulaLaw::fit_weighted(rows, weights, draws, seed).map(shared)
            }
            (GameName::Empirical, _) => self.empirical(rows, weights, draws, model),
            (GameName::Frequency, _) => self.frequency(rows, weights).map(shared),
        };
        fitted.map(Some).map_err(|source| OptionError::Distribution { game: game.name(), source })
    }

    fn empirical<'a>(
        &self,
        rows: Rows<'_>,
        weights: Option<&[f64]>,
        max_rows: usize,
        model: Option<Shared<'a, dyn Model + 'a>>,
    ) -> Result<Law<'a>, GameError> {
        let law = match weights {
            _ if self.variant == Some(Variant::Shapr) => EmpiricalLaw::as_in_shapr(rows)?,
            None => EmpiricalLaw::fit(rows)?,
            Some(weights) => EmpiricalLaw::fit_weighted(rows, weights)?,
        };
        let law = match self.share {
            None => law,
            Some(share) => law.with_share(share)?,
        };
        let law = law.with_most_rows(max_rows)?;
        Ok(match (self.bandwidth, model) {
            (Some(Bandwidth::Given(bandwidth)), _) => shared(law.with_bandwidth(bandwidth)?),
            (Some(Bandwidth::Aicc), Some(model)) => shared(law.with_bandwidths_by_aicc(model)?),
            _ => shared(law),
        })
    }

    fn frequency(&self, rows: Rows<'_>, weights: Option<&[f64]>) -> Result<FrequencyLaw, GameError> {
        let law = match weights {
            None => FrequencyLaw::fit(rows)?,
            Some(weights) => FrequencyLaw::of_table(
                &Background::rows(rows.values(), rows.columns())?.with_weights(weights)?,
            ),
        };
        Ok(law.with_fallback(self.fallback.unwrap_or_default()))
    }
}

fn shared<'a>(law: impl ConditionalLaw + 'a) -> Law<'a> {
    Arc::new(law).into()
}
