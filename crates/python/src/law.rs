//! The laws of conditional games, fitted on data.

use std::sync::Arc;

use apportion::games::{
    ConditionalLaw, CopulaLaw, EmpiricalLaw, Fallback, FrequencyLaw, GameError, GaussianLaw,
};
use apportion::{Background, Ensemble, Rows};
use pyo3::prelude::*;

use crate::errors::{of_playing, usage};
use crate::options::Options;
use crate::serve::beside;

/// Rows per coalition where none are asked for.
const DRAWS: usize = 500;

/// The law of the conditional game `options.game`, fitted on `rows`; `trees` is the model, where it is one.
pub(crate) fn law(
    py: Python<'_>,
    options: &Options,
    rows: Rows<'_>,
    weights: Option<&[f64]>,
    trees: Option<&Arc<Ensemble>>,
) -> PyResult<Arc<dyn ConditionalLaw>> {
    let draws = options.draws.unwrap_or(DRAWS);
    let seed = options.seed;
    let fitted = match options.game.as_str() {
        "gaussian" => beside(py, || match weights {
            None => GaussianLaw::fit(rows, draws, seed).map(shared),
            Some(weights) => GaussianLaw::fit_weighted(rows, weights, draws, seed).map(shared),
        })?,
        "copula" => beside(py, || match weights {
            None => CopulaLaw::fit(rows, draws, seed).map(shared),
            Some(weights) => CopulaLaw::fit_weighted(rows, weights, draws, seed).map(shared),
        })?,
        "empirical" => return empirical(py, options, rows, weights, trees),
        "frequency" => frequency(py, options, rows, weights)?,
        other => {
            let says = format!(
                "unknown game {other:?}; known are marginal, path-dependent, gaussian, copula, empirical, frequency"
            );
            return Err(usage(py, says));
        }
    };
    fitted.map_err(|error| of_playing(py, &error))
}

fn shared(law: impl ConditionalLaw + 'static) -> Arc<dyn ConditionalLaw> {
    Arc::new(law)
}

fn empirical(
    py: Python<'_>,
    options: &Options,
    rows: Rows<'_>,
    weights: Option<&[f64]>,
    trees: Option<&Arc<Ensemble>>,
) -> PyResult<Arc<dyn ConditionalLaw>> {
    let is_shapr = options.variant.as_deref() == Some("shapr");
    let bandwidth = options.bandwidth.as_deref();
    let number = match bandwidth {
        None | Some("aicc") => None,
        Some(text) => Some(
            text.parse::<f64>()
                .map_err(|_| usage(py, "bandwidth: a number above 0 is wanted, or \"aicc\""))?,
        ),
    };
    if bandwidth == Some("aicc") && trees.is_none() {
        return Err(usage(
            py,
            "bandwidth=\"aicc\" asks the model, and is for tree ensembles here; give a number",
        ));
    }
    if is_shapr && weights.is_some() {
        return Err(usage(
            py,
            "variant=\"shapr\" knows no weights; leave them out, or take variant=\"paper\"",
        ));
    }
    let fitted = || -> Result<Arc<dyn ConditionalLaw>, GameError> {
        let law = match weights {
            _ if is_shapr => EmpiricalLaw::as_in_shapr(rows)?,
            None => EmpiricalLaw::fit(rows)?,
            Some(weights) => EmpiricalLaw::fit_weighted(rows, weights)?,
        };
        let law = match options.share {
            None => law,
            Some(share) => law.with_share(share)?,
        };
        let law = law.with_most_rows(options.draws.unwrap_or(DRAWS))?;
        Ok(match (number, bandwidth, trees) {
            (Some(number), ..) => shared(law.with_bandwidth(number)?),
            (None, Some(_), Some(trees)) => shared(law.with_bandwidths_by_aicc(Arc::clone(trees))?),
            _ => shared(law),
        })
    };
    beside(py, fitted)?.map_err(|error| of_playing(py, &error))
}

fn frequency(
    py: Python<'_>,
    options: &Options,
    rows: Rows<'_>,
    weights: Option<&[f64]>,
) -> PyResult<Result<Arc<dyn ConditionalLaw>, GameError>> {
    let fallback = match options.fallback.as_deref() {
        None | Some("refuse") => Fallback::Refuse,
        Some("marginal") => Fallback::Marginal,
        Some("nearest") => Fallback::Nearest,
        Some(other) => {
            return Err(usage(
                py,
                format!("unknown fallback {other:?}; known are refuse, marginal, nearest"),
            ));
        }
    };
    let fitted = || -> Result<_, GameError> {
        Ok(match weights {
            None => FrequencyLaw::fit(rows)?,
            Some(weights) => FrequencyLaw::of_table(
                &Background::rows(rows.values(), rows.columns())?.with_weights(weights)?,
            ),
        })
    };
    let fitted = beside(py, fitted)?;
    Ok(fitted.map(|law: FrequencyLaw| shared(law.with_fallback(fallback))))
}
