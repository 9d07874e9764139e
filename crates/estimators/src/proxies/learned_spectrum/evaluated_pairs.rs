//! The evaluations of the game: both coalitions of every pair, or one coalition from each of a larger number
//! of pairs.
//!
//! If `v(S) + v(S̄)` is the same for every S, one coalition of a pair determines the other. This holds for
//! additive games, and for voting games with a quota of half the weight. Some pairs are evaluated in full
//! first. If their sums vary much less than the residuals of a regression of their differences on single
//! players, the sum is assumed to be a constant c: halving the cost of a pair is worth more than the
//! resulting noise. The evaluated coalition of a pair is random, so a pair with a different sum adds noise to
//! the odd part d, but no bias. With the even part `e(S) = (v(S) + v(S̄))/2`:
//!
//! ```text
//! d̂(S) = ±(v(T) − c/2),  T = S or S̄ by the toss of a coin,    E d̂(S) = d(S),    Var d̂(S) = (e(S) − c/2)²
//! ```

use std::collections::HashMap;

use apportion_games::{Coalitions, Purpose, stream};
use apportion_samplers::Sample;
use apportion_values::LeastSquaresForm;
use rand::RngExt;

use super::choice;
use super::fit::{Fit, Linear};
use super::sampled::Sampled;
use super::spectrum_target::SpectrumTarget;
use crate::error::Result;
use crate::run::Evaluations;

/// One in this number of pairs is evaluated in full first.
const FIRST: usize = 4;
/// The minimum number of pairs for evaluating only one coalition of a pair.
const MIN_PAIRS: usize = 24;
/// Two limits on the number of first pairs per column without a prior: the minimum for a regression on single
/// players, and the maximum that is used for it.
const PAIRS_PER_COLUMN: (f64, usize) = (1.5, 4);
/// The maximum number of columns of this regression. With more columns, it would take as long as the result.
const MAX_COLUMNS: usize = 200;
/// The maximum number of times that the sample is redrawn to contain more pairs.
const ROUNDS: usize = 3;
/// The maximum variance of the pairs' sums with which the sum is assumed to be constant, relative to the
/// residuals of a regression of the pairs' differences on single players.
const SHARE: f64 = 0.3;
/// The maximum difference with which sums count as equal, relative to the largest value.
const ROUNDING: f64 = 1e-9;

/// Pairs of complementary coalitions, and the values of the coalitions.
pub(super) struct EvaluatedPairs {
    pub(super) sample: Sample,
    /// The value v(S) of each coalition in the sample, rows × outputs.
    pub(super) values: Vec<f64>,
    /// Whether only one coalition of most pairs was evaluated. The value of the other one was then derived
    /// from the sum of the pair.
    pub(super) is_halved: bool,
}

impl EvaluatedPairs {
    /// Evaluates both coalitions of all pairs.
    pub(super) fn in_pairs(sample: Sample, evaluations: &mut Evaluations<'_>) -> Result<Self> {
        let values = evaluations.values(sample.coalitions())?;
        Ok(Self { sample, values, is_halved: false })
    }

    /// Evaluates either both coalitions of all pairs of `sample`, or one coalition of most pairs of a larger
    /// sample. `more` draws a sample with a given number of coalitions.
    pub(super) fn in_halves(
        sample: Sample,
        evaluations: &mut Evaluations<'_>,
        more: impl Fn(usize) -> Result<Sample>,
        (form, target): (LeastSquaresForm, SpectrumTarget<'_>),
        seed: u64,
    ) -> Result<Self> {
        let (coalitions, outputs) = (sample.coalitions(), evaluations.empty.len());
        let pairs = coalitions.len() / 2;
        if pairs < MIN_PAIRS {
            return Self::in_pairs(sample, evaluations);
        }
        let is_first = |row: usize| (row / 2).is_multiple_of(FIRST);
        let rows = |is_chosen: &dyn Fn(usize) -> bool| {
            let mut chosen = Coalitions::new(coalitions.players());
            (0..coalitions.len())
                .filter(|&row| is_chosen(row))
                .for_each(|row| chosen.push(coalitions.row(row)));
            chosen
        };
        let first = rows(&is_first);
        let of_first = evaluations.values(&first)?;
        let mut values = vec![0.0; coalitions.len() * outputs];
        let place = |values: &mut [f64], answers: &[f64], is_placed: &dyn Fn(usize) -> bool| {
            let places = values.chunks_exact_mut(outputs).enumerate().filter(|(row, _)| is_placed(*row));
            places
                .zip(answers.chunks_exact(outputs))
                .for_each(|((_, place), answer)| place.copy_from_slice(answer));
        };
        place(&mut values, &of_first, &is_first);
        let of_pairs = Sampled::new(&sample, &values, evaluations, form)
            .some(&(0..pairs).step_by(FIRST).collect::<Vec<_>>());
        let Some(halves) = halves_of_sums(&of_pairs, target)? else {
            let of_rest = evaluations.values(&rows(&|row| !is_first(row)))?;
            place(&mut values, &of_rest, &|row| !is_first(row));
            return Ok(Self { sample, values, is_halved: false });
        };
        let known: HashMap<&[u64], &[f64]> =
            first.iter().map(|row| row.words()).zip(of_first.chunks_exact(outputs)).collect();
        let is_new = |sample: &Sample, row: usize| !known.contains_key(sample.coalitions().row(row).words());
        let news = |sample: &Sample| {
            (0..sample.coalitions().len()).step_by(2).filter(|&row| is_new(sample, row)).count()
        };
        let left = 2 * pairs - first.len();
        let mut sample = more(2 * left)?;
        // Pairs whose values are already known take no evaluations, so the sample can contain more pairs.
        for _ in 0..ROUNDS {
            let larger = more(sample.coalitions().len() + 2 * (left - news(&sample)))?;
            if news(&larger) > left {
                break;
            }
            sample = larger;
        }
        let coalitions = sample.coalitions();
        let known = |row: usize| known.get(coalitions.row(row).words()).copied();
        let mut rng = stream(seed, Purpose::Halves, 0);
        // Choose the coalition to evaluate in each pair.
        let evaluated: Vec<usize> =
            (0..coalitions.len()).step_by(2).map(|row| row + usize::from(rng.random::<bool>())).collect();
        let mut unknown = Coalitions::with_capacity(coalitions.players(), evaluated.len());
        evaluated
            .iter()
            .filter(|&&row| known(row).is_none())
            .for_each(|&row| unknown.push(coalitions.row(row)));
        let answers = evaluations.values(&unknown)?;
        let mut answers = answers.chunks_exact(outputs);
        let mut values = Vec::with_capacity(coalitions.len() * outputs);
        for row in evaluated {
            let pair = match (known(row & !1), known(row | 1)) {
                (Some(first), Some(second)) => [first.to_vec(), second.to_vec()],
                _ => {
                    let answer = answers.next().unwrap_or(&evaluations.empty);
                    let other = answer.iter().zip(&halves).map(|(value, half)| 2.0 * half - value).collect();
                    if row.is_multiple_of(2) { [answer.to_vec(), other] } else { [other, answer.to_vec()] }
                }
            };
            values.extend(pair.into_iter().flatten());
        }
        Ok(Self { sample, values, is_halved: true })
    }
}

/// Returns half of the sum of a pair's values, for every output, if this sum is about the same for all pairs.
fn halves_of_sums(pairs: &Sampled, target: SpectrumTarget<'_>) -> Result<Option<Vec<f64>>> {
    let (outputs, columns) = (pairs.outputs, target.columns(pairs.players));
    let (least, most) = PAIRS_PER_COLUMN;
    let weight: f64 = pairs.weights.iter().sum();
    let left = match columns <= MAX_COLUMNS && pairs.len() as f64 >= least * columns as f64 {
        true => {
            let step = pairs.len().div_ceil(most * columns.max(1));
            let some = pairs.some(&(0..pairs.len()).step_by(step).collect::<Vec<_>>());
            let of_all = weight / some.weights.iter().sum::<f64>();
            let left = choice::totals(&Fit::without_prior(&some, Linear::Free, target)?, &some);
            left.into_iter().map(|left| left * of_all).collect()
        }
        false => vec![0.0; outputs],
    };
    let of_output = |output: usize| -> Option<f64> {
        let even = || pairs.weights.iter().zip(pairs.even.iter().skip(output).step_by(outputs));
        let mean = even().map(|(weight, even)| weight * even).sum::<f64>() / weight;
        let spread: f64 = even().map(|(weight, even)| weight * (even - mean).powi(2)).sum();
        let numbers = pairs.even.iter().chain(&pairs.odd).skip(output).step_by(outputs);
        let largest = numbers.fold(0.0f64, |largest, number| largest.max(number.abs()));
        (spread <= SHARE * left[output] || spread <= weight * (ROUNDING * largest).powi(2)).then_some(mean)
    };
    Ok((0..outputs).map(of_output).collect())
}
