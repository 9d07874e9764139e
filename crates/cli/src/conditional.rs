//! The laws of conditional games, fitted on data.

use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::games::{
    ConditionalLaw, CopulaLaw, EmpiricalLaw, Fallback, FrequencyLaw, GameError, GaussianLaw,
};
use apportion::{Background, Model, Rows, Shared};

use crate::args::{Explain, Game};
use crate::failure::Usage;
use crate::law_options::{Bandwidth, FallbackOption, LawOptions, Variant};

/// Rows per coalition where none are asked for.
const DRAWS: usize = 500;

impl LawOptions {
    /// Refuses options that say nothing of `game`.
    fn check(&self, game: Game) -> Result<()> {
        let drawn = [Game::Gaussian, Game::Copula, Game::Empirical];
        for (option, is_given, games) in [
            ("--draws", self.draws.is_some(), &drawn[..]),
            ("--bandwidth", self.bandwidth.is_some(), &[Game::Empirical]),
            ("--share", self.share.is_some(), &[Game::Empirical]),
            ("--variant", self.variant.is_some(), &[Game::Empirical]),
            ("--fallback", self.fallback.is_some(), &[Game::Frequency]),
        ] {
            if is_given && !games.contains(&game) {
                let names = games.iter().map(|game| game.name()).collect::<Vec<_>>().join(", ");
                let says = format!("{option} is for --game {names}; {} has none", game.name());
                return Err(Usage(says).into());
            }
        }
        Ok(())
    }
}

/// Rows that a law is fitted on, row-major, and their weights, where they have some.
pub(crate) struct Data {
    pub(crate) values: Vec<f64>,
    pub(crate) weights: Option<Vec<f64>>,
}

/// The law of the game that is asked for, fitted on the rows that `data` gives, for a model; none for games that have no law.
pub(crate) fn law<'a>(
    args: &Explain,
    game: Game,
    columns: usize,
    model: impl FnOnce() -> Shared<'a, dyn Model + 'a>,
    data: impl FnOnce() -> Result<Data>,
) -> Result<Option<Shared<'a, dyn ConditionalLaw + 'a>>> {
    let options = &args.law;
    options.check(game)?;
    if matches!(game, Game::Marginal | Game::PathDependent) {
        return Ok(None);
    }
    let Data { values, weights } = data()?;
    let (rows, weights) = (Rows::new(&values, columns), weights.as_deref());
    // At most 2^24.
    let draws = options.draws.map_or(DRAWS, |draws| draws as usize);
    let law = match game {
        Game::Gaussian => match weights {
            None => GaussianLaw::fit(rows, draws, args.seed),
            Some(weights) => GaussianLaw::fit_weighted(rows, weights, draws, args.seed),
        }
        .map(shared),
        Game::Copula => match weights {
            None => CopulaLaw::fit(rows, draws, args.seed),
            Some(weights) => CopulaLaw::fit_weighted(rows, weights, draws, args.seed),
        }
        .map(shared),
        Game::Empirical => empirical(options, rows, weights, draws, model)?,
        _ => frequency(options, rows, weights).map(shared),
    };
    law.map(Some).with_context(|| format!("the law of --game {} cannot be fitted", game.name()))
}

fn shared<'a>(law: impl ConditionalLaw + 'a) -> Shared<'a, dyn ConditionalLaw + 'a> {
    Arc::new(law).into()
}

fn empirical<'a>(
    options: &LawOptions,
    rows: Rows<'_>,
    weights: Option<&[f64]>,
    most_rows: usize,
    model: impl FnOnce() -> Shared<'a, dyn Model + 'a>,
) -> Result<Result<Shared<'a, dyn ConditionalLaw + 'a>, GameError>> {
    let is_shapr = options.variant == Some(Variant::Shapr);
    if is_shapr && weights.is_some() {
        let says = "--variant shapr knows no weights; leave --weights out, or take --variant paper";
        return Err(Usage(says.to_owned()).into());
    }
    let fitted = || {
        let law = match weights {
            _ if is_shapr => EmpiricalLaw::as_in_shapr(rows)?,
            None => EmpiricalLaw::fit(rows)?,
            Some(weights) => EmpiricalLaw::fit_weighted(rows, weights)?,
        };
        let law = match options.share {
            None => law,
            Some(share) => law.with_share(share)?,
        };
        let law = law.with_most_rows(most_rows)?;
        Ok(match options.bandwidth {
            None => shared(law),
            Some(Bandwidth::Given(bandwidth)) => shared(law.with_bandwidth(bandwidth)?),
            Some(Bandwidth::Aicc) => shared(law.with_bandwidths_by_aicc(model())?),
        })
    };
    Ok(fitted())
}

fn frequency(
    options: &LawOptions,
    rows: Rows<'_>,
    weights: Option<&[f64]>,
) -> Result<FrequencyLaw, GameError> {
    let law = match weights {
        None => FrequencyLaw::fit(rows)?,
        Some(weights) => {
            FrequencyLaw::of_table(&Background::rows(rows.values(), rows.columns())?.with_weights(weights)?)
        }
    };
    Ok(law.with_fallback(match options.fallback {
        None | Some(FallbackOption::Refuse) => Fallback::Refuse,
        Some(FallbackOption::Marginal) => Fallback::Marginal,
        Some(FallbackOption::Nearest) => Fallback::Nearest,
    }))
}
