//! The choice of a prior and its strength, by leave-one-out residuals.

use super::family::Family;
use super::fit::{Fit, Linear, SpectrumTarget};
use super::sampled::Sampled;
use super::screens::ScreenResults;
use crate::error::Result;

/// The maximum number of pairs with which priors are compared.
const MAX_COMPARED_PAIRS: usize = 320;
/// The minimum number of pairs with which priors are compared.
const MIN_COMPARED_PAIRS: usize = 12;

/// Returns the squared residual of each pair, multiplied by 1 minus its inclusion probability, for one
/// output. It is infinite if the coefficients are not determined without the pair.
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

/// Returns, for each output, the largest noise strength whose residuals are within one paired standard error
/// of those of the best strength. If the data are inconclusive, the prior therefore has no effect. If the
/// prior includes single players, a strong noise would make them all equal, so the best strength is used
/// instead.
pub(super) fn strengths(fit: &Fit, sampled: &Sampled) -> Vec<f64> {
    let strengths = fit.strengths();
    let left: Vec<Vec<f64>> = strengths.iter().map(|&strength| fit.left_out(strength)).collect();
    let of_output = |output: usize| {
        let path: Vec<Vec<f64>> = left.iter().map(|left| squares(left, sampled, output)).collect();
        let total = |at: usize| path[at].iter().sum::<f64>();
        let best = (0..path.len()).min_by(|&left, &right| total(left).total_cmp(&total(right))).unwrap_or(0);
        let is_close = |at: &usize| {
            let (sum, error) = difference(&path[*at], &path[best]);
            sum <= error
        };
        match fit.has_free_players() {
            true => strengths[(best..path.len()).rev().find(is_close).unwrap_or(best)],
            false => strengths[best],
        }
    };
    (0..sampled.outputs).map(of_output).collect()
}

/// Returns the sum of squared residuals Σ f_k r_k² w_k for each output, at the noise strength of the output.
pub(super) fn totals(fit: &Fit, sampled: &Sampled) -> Vec<f64> {
    let strengths = strengths(fit, sampled);
    let of_output = |(output, strength): (usize, &f64)| -> f64 {
        squares(&fit.left_out(*strength), sampled, output).iter().sum()
    };
    strengths.iter().enumerate().map(of_output).collect()
}

/// Returns the treatment of single players: free, or with a prior. If there are few pairs, the regression on
/// single players alone is computed in both ways, and the variant with the smaller residuals is chosen.
pub(super) fn linear(sampled: &Sampled, wanted: SpectrumTarget<'_>) -> Result<Linear> {
    let columns = wanted.columns(sampled.players);
    let prior = Linear::Prior(3.0 / sampled.players as f64);
    if !can_be_free(sampled.len(), columns) {
        return Ok(prior);
    }
    if sampled.len() >= 3 * columns {
        return Ok(Linear::Free);
    }
    let left = |linear: Linear| -> Result<f64> {
        let totals = totals(&Fit::without_prior(sampled, linear, wanted)?, sampled);
        Ok(totals.iter().enumerate().map(|(output, total)| total / unit(sampled, output)).sum())
    };
    Ok(if left(Linear::Free)? <= left(prior)? { Linear::Free } else { prior })
}

/// Returns whether there are enough pairs to estimate `columns` free columns.
fn can_be_free(pairs: usize, columns: usize) -> bool {
    4 * pairs > 5 * columns + 8
}

/// Returns Σ d² for one output, the unit in which all outputs have equal weights.
fn unit(sampled: &Sampled, output: usize) -> f64 {
    let sum: f64 = sampled.odd.iter().skip(output).step_by(sampled.outputs).map(|odd| odd * odd).sum();
    if sum > 0.0 { sum } else { 1.0 }
}

/// Returns the family for each output. This is the first one, unless another has clearly smaller residuals on
/// pairs that neither the family nor its screens have seen. Also returns these residuals, if all pairs were
/// compared and there are so few of them that a choice may fit them by chance.
pub(super) fn families(
    sampled: &Sampled,
    linear: Linear,
    wanted: SpectrumTarget<'_>,
) -> Result<Vec<(Family, Option<f64>)>> {
    let step = sampled.len().div_ceil(MAX_COMPARED_PAIRS);
    let compared: Vec<usize> = (0..sampled.len()).step_by(step).collect();
    if compared.len() < MIN_COMPARED_PAIRS || sampled.players < 3 {
        return Ok(vec![(Family::ALL[0], None); sampled.outputs]);
    }
    let folds = if compared.len() <= MAX_COMPARED_PAIRS / 2 { 4 } else { 2 };
    let columns = wanted.columns(sampled.players);
    let mut left = vec![Vec::new(); Family::ALL.len() * sampled.outputs];
    for fold in 0..folds {
        let part = |is_of_fold: bool| -> Sampled {
            let of_part = compared.iter().enumerate().filter(|(at, _)| (at % folds == fold) == is_of_fold);
            sampled.some(&of_part.map(|(_, &pair)| pair).collect::<Vec<_>>())
        };
        let (known, unseen) = (part(false), part(true));
        let linear = match linear {
            Linear::Free if !can_be_free(known.len(), columns) => Linear::Prior(3.0 / sampled.players as f64),
            linear => linear,
        };
        let screened = ScreenResults::beyond_players(&known, linear, wanted)?;
        for (at, family) in Family::ALL.into_iter().enumerate() {
            let fit = Fit::new(&known, family.prior(sampled.players, &screened), linear, wanted)?;
            let strengths = strengths(&fit, &known);
            for (output, &strength) in strengths.iter().enumerate() {
                // Outputs with equal strengths are predicted together.
                if strengths[..output].contains(&strength) {
                    continue;
                }
                let predicted = fit.predict(&unseen, strength);
                for output in (output..sampled.outputs).filter(|&output| strengths[output] == strength) {
                    let at_pair = |pair: usize| pair * sampled.outputs + output;
                    let squares = (0..unseen.len()).map(|pair| {
                        let left = unseen.odd[at_pair(pair)] - predicted[at_pair(pair)];
                        left * left * unseen.weights[pair] * unseen.free[pair]
                    });
                    left[at * sampled.outputs + output].extend(squares);
                }
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
        let taken = (0..best).find(is_close).unwrap_or(best);
        let are_few = step == 1 && sampled.len() < 3 * columns;
        (Family::ALL[taken], are_few.then(|| total(taken)))
    };
    Ok((0..sampled.outputs).map(of_output).collect())
}

/// Returns whether the total of the squares in `left` is below the total of those in `right` by more than one
/// paired standard error.
pub(super) fn is_clearly_less(left: &[f64], right: &[f64]) -> bool {
    let (sum, error) = difference(left, right);
    sum + error < 0.0
}

/// Returns the sum of the differences between corresponding entries of two lists, and the standard error of
/// this sum.
fn difference(left: &[f64], right: &[f64]) -> (f64, f64) {
    let count = left.len() as f64;
    let differences: Vec<f64> = left.iter().zip(right).map(|(left, right)| left - right).collect();
    let sum: f64 = differences.iter().sum();
    let squares: f64 = differences.iter().map(|difference| (difference - sum / count).powi(2)).sum();
    (sum, (squares * count / (count - 1.0).max(1.0)).sqrt())
}
