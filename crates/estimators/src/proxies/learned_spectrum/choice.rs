//! The choice of a prior and its strength, by leave-one-out residuals.

use super::family::Family;
use super::fit::{Fit, Linear};
use super::odd_prior::OddPrior;
use super::sampled::Sampled;
use super::screens::ScreenResults;
use super::spectrum_target::SpectrumTarget;
use crate::error::Result;
use crate::surrogate::walsh_process::WalshProcess;

/// The maximum number of pairs with which priors are compared.
const MAX_COMPARED_PAIRS: usize = 320;
/// The minimum number of pairs with which priors are compared.
const MIN_COMPARED_PAIRS: usize = 12;

/// Returns the residual of each pair, multiplied by the root of 1 minus its inclusion probability, for one
/// output. It is infinite if the coefficients are not determined without the pair.
pub(super) fn residuals(left: &[f64], sampled: &Sampled, output: usize) -> Vec<f64> {
    let own = left.iter().skip(output).step_by(sampled.outputs);
    own.zip(&sampled.free)
        .map(|(left, free)| match *free {
            0.0 => 0.0,
            _ if left.is_nan() => f64::INFINITY,
            free => left * free.sqrt(),
        })
        .collect()
}

/// Returns the squares of the [`residuals`].
pub(super) fn squares(left: &[f64], sampled: &Sampled, output: usize) -> Vec<f64> {
    squared(&residuals(left, sampled, output))
}

pub(super) fn squared(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|number| number * number).collect()
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
pub(super) fn linear(sampled: &Sampled, target: SpectrumTarget<'_>) -> Result<Linear> {
    let columns = target.columns(sampled.players);
    let prior = Linear::Prior(3.0 / sampled.players as f64);
    if !can_be_free(sampled.len(), columns) {
        return Ok(prior);
    }
    if !are_few(sampled.len(), columns) {
        return Ok(Linear::Free);
    }
    let left = |linear: Linear| -> Result<f64> {
        let totals = totals(&Fit::without_prior(sampled, linear, target)?, sampled);
        Ok(totals.iter().enumerate().map(|(output, total)| total / unit(sampled, output)).sum())
    };
    Ok(if left(Linear::Free)? <= left(prior)? { Linear::Free } else { prior })
}

/// Returns whether there are enough pairs to estimate `columns` free columns.
pub(super) fn can_be_free(pairs: usize, columns: usize) -> bool {
    4 * pairs > 5 * columns + 8
}

/// Returns Σ d² for one output, the unit in which all outputs have equal weights.
fn unit(sampled: &Sampled, output: usize) -> f64 {
    let sum: f64 = sampled.odd.iter().skip(output).step_by(sampled.outputs).map(|odd| odd * odd).sum();
    if sum > 0.0 { sum } else { 1.0 }
}

/// The choice of priors for one output.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub(super) family: Family,
    /// The weighted residuals of the family on unseen pairs; empty if there are too few pairs.
    pub(super) unseen: Vec<f64>,
    /// The same residuals of the process, if any.
    pub(super) unseen_of_process: Option<Vec<f64>>,
}

/// Returns the choice for each output, by residuals on pairs that neither a family nor its screens have seen.
/// The family is the first one, unless another has clearly smaller residuals.
pub(super) fn families(
    sampled: &Sampled,
    linear: Linear,
    target: SpectrumTarget<'_>,
    process: Option<&WalshProcess>,
) -> Result<Vec<Choice>> {
    let step = sampled.len().div_ceil(MAX_COMPARED_PAIRS);
    let compared: Vec<usize> = (0..sampled.len()).step_by(step).collect();
    if compared.len() < MIN_COMPARED_PAIRS || sampled.players < 3 {
        let first = Choice { family: Family::ALL[0], unseen: Vec::new(), unseen_of_process: None };
        return Ok(vec![first; sampled.outputs]);
    }
    let folds = if compared.len() <= MAX_COMPARED_PAIRS / 2 { 4 } else { 2 };
    let columns = target.columns(sampled.players);
    let candidates = Family::ALL.len() + usize::from(process.is_some());
    let mut left = vec![Vec::new(); candidates * sampled.outputs];
    for fold in 0..folds {
        let part = |is_of_fold: bool| -> Sampled {
            let of_part = compared.iter().enumerate().filter(|(at, _)| (at % folds == fold) == is_of_fold);
            sampled.some(&of_part.map(|(_, &pair)| pair).collect::<Vec<_>>())
        };
        let (known, unseen) = (part(false), part(true));
        let of_known = |linear: Linear| match linear {
            Linear::Free if !can_be_free(known.len(), columns) => Linear::Prior(3.0 / sampled.players as f64),
            linear => linear,
        };
        let linear = of_known(linear);
        let screened = ScreenResults::beyond_players(&known, linear, target)?;
        let families = Family::ALL.map(|family| OddPrior::Products(family.prior(sampled.players, &screened)));
        let priors = families.into_iter().map(|prior| (prior, linear));
        let of_process = process.map(|process| (OddPrior::Process(process.clone()), of_known(Linear::Free)));
        for (at, (prior, linear)) in priors.chain(of_process).enumerate() {
            let fit = Fit::new(&known, prior, linear, target)?;
            let strengths = strengths(&fit, &known);
            for (output, &strength) in strengths.iter().enumerate() {
                // Outputs with equal strengths are predicted together.
                if strengths[..output].contains(&strength) {
                    continue;
                }
                let predicted = fit.predict(&unseen, strength);
                for output in (output..sampled.outputs).filter(|&output| strengths[output] == strength) {
                    let at_pair = |pair: usize| pair * sampled.outputs + output;
                    let residuals = (0..unseen.len()).map(|pair| {
                        let left = unseen.odd[at_pair(pair)] - predicted[at_pair(pair)];
                        left * (unseen.weights[pair] * unseen.free[pair]).sqrt()
                    });
                    left[at * sampled.outputs + output].extend(residuals);
                }
            }
        }
    }
    let of_output = |output: usize| {
        let left = |at: usize| &left[at * sampled.outputs + output];
        let squares = |at: usize| squared(left(at));
        let total = |at: usize| squares(at).iter().sum::<f64>();
        let best = (0..Family::ALL.len()).min_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0);
        let is_close = |at: &usize| {
            let (sum, error) = difference(&squares(*at), &squares(best));
            sum <= error
        };
        let taken = (0..best).find(is_close).unwrap_or(best);
        Choice {
            family: Family::ALL[taken],
            unseen: left(taken).clone(),
            unseen_of_process: process.map(|_| left(Family::ALL.len()).clone()),
        }
    };
    Ok((0..sampled.outputs).map(of_output).collect())
}

/// Returns the share of `second` for which the squared residuals of the weighted mean of two predictions are
/// smallest (Breiman, *Stacked Regressions*, Machine Learning 1996, for two predictions).
pub(super) fn share(first: &[f64], second: &[f64]) -> f64 {
    let products: f64 = first.iter().zip(second).map(|(first, second)| first * (first - second)).sum();
    let share = products / distance(first, second);
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// Returns the variance of the [`share`] as a coefficient of a regression with the given number of columns
/// besides it.
pub(super) fn variance_of_share(first: &[f64], second: &[f64], share: f64, columns: usize) -> f64 {
    let mean = first.iter().zip(second).map(|(first, second)| first + share * (second - first));
    let squares: f64 = mean.map(|residual| residual * residual).sum();
    let degrees = first.len().saturating_sub(columns + 1).max(1) as f64;
    squares / degrees / distance(first, second)
}

fn distance(first: &[f64], second: &[f64]) -> f64 {
    first.iter().zip(second).map(|(first, second)| (first - second).powi(2)).sum()
}

/// Returns whether there are so few pairs that a choice may fit them by chance.
pub(super) fn are_few(pairs: usize, columns: usize) -> bool {
    pairs < 3 * columns
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_minimize_the_squares_of_averages() {
        let first = [1.0, -2.0, 0.5, 3.0, -1.0];
        let second = [0.5, -1.0, -1.5, 1.0, 0.25];
        let squares = |share: f64| -> f64 {
            first.iter().zip(&second).map(|(a, b)| ((1.0 - share) * a + share * b).powi(2)).sum()
        };
        let best =
            (0..=1000).map(|at| f64::from(at) / 1000.0).min_by(|a, b| squares(*a).total_cmp(&squares(*b)));
        assert!((share(&first, &second) - best.unwrap()).abs() < 1e-3);
        // The better prediction alone, neither of two equal ones, and no share if a residual is unknown.
        assert_eq!(share(&[1.0, 1.0], &[2.0, 2.0]), 0.0);
        assert_eq!(share(&[2.0, 2.0], &[1.0, 1.0]), 1.0);
        assert_eq!(share(&first, &first), 0.0);
        assert_eq!(share(&[f64::INFINITY, 1.0], &[1.0, 1.0]), 0.0);
    }

    #[test]
    fn the_variance_of_a_share_is_that_of_a_coefficient() {
        // The share is the coefficient of first − second in a regression of first.
        let (first, second) = ([3.0, 1.0, 2.0, -1.0], [1.0, 2.0, 1.0, 0.0]);
        let share = share(&first, &second);
        let left: f64 = first.iter().zip(&second).map(|(a, b)| (a - share * (a - b)).powi(2)).sum();
        let expected = left / 3.0 / (4.0 + 1.0 + 1.0 + 1.0);
        assert!((variance_of_share(&first, &second, share, 0) - expected).abs() < 1e-14);
    }
}
