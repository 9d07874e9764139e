//! The laws of conditional games, fitted on data.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::games::{
    ConditionalLaw, CopulaLaw, EmpiricalLaw, Fallback, FrequencyLaw, GameError, GaussianLaw,
};
use apportion::{Background, Model, Rows, Shared};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::args::{Explain, Game};
use crate::failure::Usage;

/// Rows per coalition where none are asked for.
const DRAWS: usize = 500;

/// What is said of the law of a conditional game.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct LawOptions {
    /// Rows per coalition in a conditional game: as many are drawn (gaussian, copula), or at most so many are kept (empirical)
    /// [default: 500]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    draws: Option<u64>,

    /// The width of the kernel of --game empirical: a number, or aicc, the one of least AICc for each row and coalition (AICc_full of
    /// shapr; for at most 2000 rows of data) [default: 0.1]
    #[arg(long, value_name = "SIGMA|aicc", allow_hyphen_values = true)]
    bandwidth: Option<Bandwidth>,

    /// The share of all weight that the rows kept by --game empirical hold [default: 0.95]
    #[arg(long, value_name = "ETA", allow_hyphen_values = true)]
    share: Option<f64>,

    /// How --game empirical was published: paper (distances over the number of features present, ties kept together), or shapr (as that R
    /// package computes: over its square, ties left out by their place in the data)
    #[arg(long, value_enum, value_name = "NAME")]
    variant: Option<Variant>,

    /// What --game frequency says of a coalition on which no row of the data agrees: refuse (nothing), marginal (the mean over all rows),
    /// nearest (the rows that agree on the most of its features)
    #[arg(long, value_enum, value_name = "NAME")]
    fallback: Option<FallbackOption>,
}

/// The width of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Bandwidth {
    Given(f64),
    Aicc,
}

impl FromStr for Bandwidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "aicc" => Ok(Self::Aicc),
            number => {
                number.parse().map(Self::Given).map_err(|_| "a number above 0 is wanted, or aicc".to_owned())
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Variant {
    Paper,
    Shapr,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum FallbackOption {
    Refuse,
    Marginal,
    Nearest,
}

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
