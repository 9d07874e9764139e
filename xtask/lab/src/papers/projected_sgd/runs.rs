//! Cells of the experiments: the errors of one method on one pair at all budgets, computed once and stored.

use anyhow::{Context, Result};
use apportion::estimators::{EstimatorError, GradientError};
use serde::{Deserialize, Serialize};

use super::method::Method;
use super::task::{PROTOCOL, Pairs, Setting, Task, budget};
use super::truth::{Truth, played, truths};
use crate::comparison::squared_distance;
use crate::reproduce::cli::Preset;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::store::derive_seed;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// Number of features in figure 2.
pub(super) const LOW: usize = 16;
/// Number of features in figure 3.
pub(super) const HIGH: usize = 300;

/// Returns the numbers of permutations T in the figures; the budgets are `2 + T (d − 1)`.
pub(super) fn passes(session: &Session, players: usize) -> Vec<usize> {
    let last = match (players > LOW, session.preset) {
        (false, _) => 11,
        (true, Preset::Quick) => 7,
        (true, Preset::Paper) => 8,
    };
    (2..=last).map(|exponent| 1 << exponent).collect()
}

/// Checkpoint key of the errors of one method on one pair.
#[derive(Serialize)]
struct ErrorsKey<'a> {
    task: Task,
    players: usize,
    pairs: Pairs,
    pair: usize,
    method: Method,
    passes: &'a [usize],
    /// Number of permutations from which the ground truth was estimated; `None` for enumeration.
    orders: Option<usize>,
}

/// The errors of one method on one pair, as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Errors {
    /// ‖φ̂ − φ‖² by budget; `None` if the iterates diverged.
    errors: Vec<Option<f64>>,
    /// Number of evaluations by budget; 0 if the iterates diverged.
    evaluations: Vec<usize>,
}

/// The errors of one method on all pairs.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    pub(super) method: Method,
    pub(super) players: usize,
    /// The number of permutations T, by level.
    pub(super) passes: Vec<usize>,
    /// Errors by level and pair; empty at a level if the iterates diverged on any pair.
    pub(super) errors: Vec<Vec<f64>>,
    /// Number of evaluations used, averaged over the pairs, by level.
    pub(super) evaluations: Vec<f64>,
}

impl Curve {
    /// Returns the mean error over the pairs at a level, or `None` if the iterates diverged on any pair.
    pub(super) fn mean(&self, level: usize) -> Option<Measurement> {
        let errors = &self.errors[level];
        (!errors.is_empty()).then(|| Measurement::mean(errors))
    }
}

/// The truth, and the errors of each method on all pairs.
pub(super) struct Measured {
    pub(super) setting: Setting,
    pub(super) truths: Vec<Truth>,
    pub(super) curves: Vec<Curve>,
}

impl Measured {
    /// Returns the expected squared error of the reference values themselves, averaged over the pairs; 0 if
    /// they are enumerated.
    pub(super) fn noise(&self) -> f64 {
        self.truths.iter().map(|truth| truth.variance).sum::<f64>() / self.truths.len() as f64
    }

    /// Returns the mean of ‖φ‖² over the pairs.
    pub(super) fn square(&self) -> f64 {
        let square = |truth: &Truth| truth.values.iter().map(|value| value * value).sum::<f64>();
        self.truths.iter().map(square).sum::<f64>() / self.truths.len() as f64
    }

    pub(super) fn curve(&self, method: Method) -> Option<&Curve> {
        self.curves.iter().find(|curve| curve.method == method)
    }
}

/// Computes the errors of `methods` at the budgets of `passes`.
pub(super) fn measure(
    session: &Session,
    setting: Setting,
    methods: &[Method],
    passes: &[usize],
) -> Result<Measured> {
    let Setting { task, players, pairs, count } = setting;
    let truths = truths(session, setting)?;
    let digests = methods.iter().map(|method| method.digest()).collect::<Result<Vec<Digest>>>()?;
    let played = played(setting, session.seed)?;
    let mut cells = Vec::new();
    for (&method, digest) in methods.iter().zip(&digests) {
        for ((pair, truth), played) in truths.iter().enumerate().zip(&played) {
            let made_of = Ingredients::new("errors", PROTOCOL, session.seed, played, digest);
            cells.push(Cell {
                key: ErrorsKey { task, players, pairs, pair, method, passes, orders: truth.orders },
                made_of: made_of.against(&Digest::from_numbers(truth.values.iter().copied())),
                with: truth,
            });
        }
    }
    let results =
        session.results(&cells, |Cell { key: ErrorsKey { pair, method, .. }, with: truth, .. }| {
            errors(setting, *pair, *method, passes, truth, session.seed)
                .with_context(|| format!("cannot run {} on pair {pair} of {}", method.title(), task.title()))
        })?;
    let mut results = results.into_iter();
    let curves = methods.iter().map(|&method| {
        let of_pairs: Vec<Errors> = results.by_ref().take(count).collect();
        let errors =
            |level: usize| of_pairs.iter().map(|pair| pair.errors[level]).collect::<Option<Vec<f64>>>();
        let evaluations = |level: usize| {
            of_pairs.iter().map(|pair| pair.evaluations[level] as f64).sum::<f64>() / count as f64
        };
        Curve {
            method,
            players,
            passes: passes.to_vec(),
            errors: (0..passes.len()).map(|level| errors(level).unwrap_or_default()).collect(),
            evaluations: (0..passes.len()).map(evaluations).collect(),
        }
    });
    Ok(Measured { setting, curves: curves.collect(), truths })
}

/// Computes the errors of one method on one pair at all budgets, with the same draws, as in a single run.
fn errors(
    setting: Setting,
    pair: usize,
    method: Method,
    passes: &[usize],
    truth: &Truth,
    seed: u64,
) -> Result<Errors> {
    let Setting { task, players, pairs, .. } = setting;
    let game = setting.game(pair, seed)?;
    let seed = derive_seed(&("errors", task, players, pairs, pair, method, seed))?;
    let estimator = method.estimator();
    let mut found = Errors { errors: Vec::new(), evaluations: Vec::new() };
    for &passes in passes {
        match estimator.estimate(&game, budget(players, passes), seed) {
            Ok(explanation) => {
                found.errors.push(Some(squared_distance(&explanation.values, &truth.values)));
                found.evaluations.push(explanation.evaluations);
            }
            Err(EstimatorError::Gradient(GradientError::Diverged { .. })) => {
                found.errors.push(None);
                found.evaluations.push(0);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// Tests that the mean of `errors` over the pairs is below the mean of `others`, using the differences for
/// each pair.
pub(super) fn is_below(errors: &[f64], others: &[f64]) -> Test {
    let differences: Vec<f64> = errors.iter().zip(others).map(|(error, other)| error - other).collect();
    Test::mean_below(&differences, 0.0)
}

/// Judges the claim that one error is below another in all cases, at every budget.
pub(super) fn judge(claim: &str, source: &str, case: &str, cases: Vec<Case>) -> Claim {
    let case = format!("{case} at a budget; it agrees if the squared error is lower on the same pair");
    By::StandardError.in_all(claim, source, &case, cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::verdict::Verdict;

    #[test]
    fn errors_are_compared_pair_by_pair() {
        let errors: Vec<f64> = (0..12).map(|pair| f64::from(pair * 7 % 12)).collect();
        let shifted = |by: f64| -> Vec<f64> {
            errors.iter().enumerate().map(|(pair, error)| error + by + 0.01 * (pair % 3) as f64).collect()
        };
        let verdict = |others: &[f64]| {
            judge("", "", "", vec![Case::new("", is_below(&errors[..others.len()], others))]).verdict
        };
        assert_eq!(verdict(&shifted(0.1)), Verdict::Holds);
        assert_eq!(verdict(&shifted(-0.1)), Verdict::DoesNotHold);
        assert_eq!(verdict(&shifted(-0.01)), Verdict::Undecided);
        assert_eq!(verdict(&shifted(0.1)[..5]), Verdict::NotTested, "five pairs are too few");
    }
}
