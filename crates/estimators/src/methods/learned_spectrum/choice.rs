//! Which prior, and how strong: by what is left of pairs that were left out.

use super::family::Family;
use super::fit::{Fit, Linear, Wanted};
use super::sampled::Sampled;
use super::screens::Screened;
use crate::error::Result;

/// Pairs on which priors are compared at most.
const MOST_COMPARED: usize = 320;
/// Pairs below which they are not.
const FEWEST_COMPARED: usize = 12;

/// Squares of what is left of each pair, by what is left to chance of it, for one output. Infinite where a pair cannot be left out.
pub(super) fn squares(left: &[f64], sampled: &Sampled, output: usize) -> Vec<f64> {
    let own = left.iter().skip(output).step_by(sampled.outputs);
    own.zip(&sampled.free)
        .map(|(left, free)| match *free {
            0.0 => 0.0,
            _ if left.is_nan() => f64::INFINITY,
            free => left * left * free,
        })
        .collect()
}

/// The largest strength of the noise within one paired standard error of the best: where the data cannot tell, the prior counts for nothing. Where it
/// holds single players, too, that would make them all alike; there it is the best.
pub(super) fn strength(fit: &Fit, sampled: &Sampled, output: usize) -> f64 {
    let strengths = fit.strengths();
    let path: Vec<Vec<f64>> =
        strengths.iter().map(|&strength| squares(&fit.left_out(strength), sampled, output)).collect();
    let total = |at: usize| path[at].iter().sum::<f64>();
    let best = (0..path.len()).min_by(|&left, &right| total(left).total_cmp(&total(right))).unwrap_or(0);
    if !fit.has_free_players() {
        return strengths[best];
    }
    let is_close = |at: &usize| {
        let (sum, error) = difference(&path[*at], &path[best]);
        sum <= error
    };
    strengths[(best..path.len()).rev().find(is_close).unwrap_or(best)]
}

/// Whether one fit leaves no more of pairs that are left out than another.
pub(super) fn is_better(fit: &Fit, than: &Fit, sampled: &Sampled, output: usize) -> bool {
    let left = |fit: &Fit| -> f64 {
        squares(&fit.left_out(strength(fit, sampled, output)), sampled, output).iter().sum()
    };
    left(fit) <= left(than)
}

/// Whether single players are free, or have a prior: where pairs are few, by what is left of pairs by either alone.
pub(super) fn linear(sampled: &Sampled, wanted: Wanted<'_>) -> Result<Linear> {
    let columns = wanted.columns(sampled.players);
    let prior = Linear::Prior(3.0 / sampled.players as f64);
    if !can_be_free(sampled.len(), columns) {
        return Ok(prior);
    }
    if sampled.len() >= 3 * columns {
        return Ok(Linear::Free);
    }
    let left = |linear: Linear| -> Result<f64> {
        let fit = Fit::without_prior(sampled, linear, wanted)?;
        let of_output = |output: usize| -> f64 {
            squares(&fit.left_out(strength(&fit, sampled, output)), sampled, output).iter().sum()
        };
        Ok((0..sampled.outputs).map(|output| of_output(output) / unit(sampled, output)).sum())
    };
    Ok(if left(Linear::Free)? <= left(prior)? { Linear::Free } else { prior })
}

/// Whether pairs are enough to tell so many free columns.
fn can_be_free(pairs: usize, columns: usize) -> bool {
    4 * pairs > 5 * columns + 8
}

/// Σ d² of an output, so that outputs count alike.
fn unit(sampled: &Sampled, output: usize) -> f64 {
    let sum: f64 = sampled.odd.iter().skip(output).step_by(sampled.outputs).map(|odd| odd * odd).sum();
    if sum > 0.0 { sum } else { 1.0 }
}

/// The family for each output: the first, unless another leaves clearly less of pairs that neither it nor its screens have seen.
pub(super) fn families(sampled: &Sampled, linear: Linear, wanted: Wanted<'_>) -> Result<Vec<Family>> {
    let step = sampled.len().div_ceil(MOST_COMPARED);
    let compared: Vec<usize> = (0..sampled.len()).step_by(step).collect();
    if compared.len() < FEWEST_COMPARED || sampled.players < 3 {
        return Ok(vec![Family::ALL[0]; sampled.outputs]);
    }
    let folds = if compared.len() <= MOST_COMPARED / 2 { 4 } else { 2 };
    let columns = wanted.columns(sampled.players);
    let mut left = vec![Vec::new(); Family::ALL.len() * sampled.outputs];
    for fold in 0..folds {
        let part = |is_of_fold: bool| -> Sampled {
            let of_part = compared.iter().enumerate().filter(|(at, _)| (at % folds == fold) == is_of_fold);
            sampled.some(&of_part.map(|(_, &pair)| pair).collect::<Vec<_>>())
        };
        let (known, unseen) = (part(false), part(true));
        let screened = Screened::new(&known);
        let linear = match linear {
            Linear::Free if !can_be_free(known.len(), columns) => Linear::Prior(3.0 / sampled.players as f64),
            linear => linear,
        };
        for (at, family) in Family::ALL.into_iter().enumerate() {
            let fit = Fit::new(&known, family.prior(sampled.players, &screened), linear, wanted)?;
            for output in 0..sampled.outputs {
                let predicted = fit.predict(&unseen, strength(&fit, &known, output));
                let squares = (0..unseen.len()).map(|pair| {
                    let left = unseen.odd[pair * sampled.outputs + output]
                        - predicted[pair * sampled.outputs + output];
                    left * left * unseen.weights[pair] * unseen.free[pair]
                });
                left[at * sampled.outputs + output].extend(squares);
            }
        }
    }
    let of_output = |output: usize| {
        let left = |at: usize| &left[at * sampled.outputs + output];
        let total = |at: usize| left(at).iter().sum::<f64>();
        let all = 0..Family::ALL.len();
        let best = all.clone().min_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0);
        let is_close = |at: &usize| {
            let (sum, error) = difference(left(*at), left(best));
            sum <= error
        };
        Family::ALL[(0..best).find(is_close).unwrap_or(best)]
    };
    Ok((0..sampled.outputs).map(of_output).collect())
}

/// Sum of the differences of two lists, and its standard error.
fn difference(left: &[f64], right: &[f64]) -> (f64, f64) {
    let count = left.len() as f64;
    let differences: Vec<f64> = left.iter().zip(right).map(|(left, right)| left - right).collect();
    let sum: f64 = differences.iter().sum();
    let squares: f64 = differences.iter().map(|difference| (difference - sum / count).powi(2)).sum();
    (sum, (squares * count / (count - 1.0).max(1.0)).sqrt())
}
