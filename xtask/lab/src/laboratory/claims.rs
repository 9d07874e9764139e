//! Claims of a paper about its estimators, judged over the datasets and budgets of a run.

use anyhow::{Result, bail};
use serde::Deserialize;

use super::record::{EstimateLine, RunLine};
use super::runs::Finished;
use super::summary::differ_by_rounding;
use crate::comparison::{squared_distance, squared_norm};
use crate::reproduce::report::significant;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};
use xtask::Usage;

/// A claim in `paper.toml`: its text, its source, and one statement about each case, which is a dataset and a
/// budget.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatedClaim {
    claim: String,
    source: String,
    /// The numbers that the paper prints for the claim.
    prints: Option<String>,
    /// The reason why the claim does not hold, if it was investigated.
    why: Option<String>,
    lower: Option<Lower>,
    same: Option<Same>,
    exact: Option<Exact>,
    /// Required share of the cases.
    #[serde(rename = "in", default)]
    share: Share,
    /// The datasets that the claim is about; all if omitted.
    datasets: Option<Vec<String>>,
    /// The budgets that the claim is about; all if omitted.
    budgets: Option<Vec<String>>,
}

/// The statement that, run by run, the squared error of one estimator is lower than `factor` times the
/// squared error of another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lower {
    of: String,
    than: String,
    #[serde(default = "one")]
    factor: f64,
}

/// The statement that two estimators have the same estimates, up to a distance of `within` times the norm of
/// the true values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Same {
    of: String,
    and: String,
    within: f64,
}

/// The statement that the estimates equal the true values, up to a distance of `within` times their norm.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exact {
    of: String,
    within: f64,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Share {
    #[default]
    All,
    Most,
    NotBehind,
}

impl From<Share> for Needed {
    fn from(share: Share) -> Self {
        match share {
            Share::All => Self::All,
            Share::Most => Self::Most,
            Share::NotBehind => Self::NotBehind,
        }
    }
}

fn one() -> f64 {
    1.0
}

/// The statement about each case.
enum Statement<'a> {
    Lower(&'a Lower),
    Same(&'a Same),
    Exact(&'a Exact),
}

impl StatedClaim {
    /// Validates the claim for a run with these estimators, datasets and budgets.
    ///
    /// # Errors
    ///
    /// [`Usage`] if the claim does not have exactly one statement, has a `factor` or `within` that is not
    /// positive and finite, or refers to something that the run does not contain.
    pub(crate) fn check(&self, estimators: &[String], datasets: &[String], budgets: &[String]) -> Result<()> {
        let statement = self.statement()?;
        let named = match &statement {
            Statement::Lower(Lower { of, than, .. }) => vec![of, than],
            Statement::Same(Same { of, and, .. }) => vec![of, and],
            Statement::Exact(Exact { of, .. }) => vec![of],
        };
        let (limit, what) = match statement {
            Statement::Lower(lower) => (lower.factor, "factor"),
            Statement::Same(same) => (same.within, "within"),
            Statement::Exact(exact) => (exact.within, "within"),
        };
        if !(limit > 0.0 && limit.is_finite()) {
            bail!(Usage(format!(
                "the claim {:?}: invalid {what} {limit}; expected a positive number",
                self.claim
            )));
        }
        self.check_known("estimator", named, estimators)?;
        self.check_known("dataset", self.datasets.iter().flatten(), datasets)?;
        self.check_known("budget", self.budgets.iter().flatten(), budgets)
    }

    fn check_known<'a>(
        &self,
        what: &str,
        named: impl IntoIterator<Item = &'a String>,
        known: &[String],
    ) -> Result<()> {
        match named.into_iter().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => bail!(Usage(format!(
                "the claim {:?} refers to an unknown {what} {name:?}; available in this run: {}",
                self.claim,
                known.join(", ")
            ))),
        }
    }

    fn statement(&self) -> Result<Statement<'_>> {
        match (&self.lower, &self.same, &self.exact) {
            (Some(lower), None, None) => Ok(Statement::Lower(lower)),
            (None, Some(same), None) => Ok(Statement::Same(same)),
            (None, None, Some(exact)) => Ok(Statement::Exact(exact)),
            _ => bail!(Usage(format!(
                "the claim {:?} requires exactly one of lower = {{ of, than }}, same = {{ of, and, within }} \
                 and exact = {{ of, within }}",
                self.claim
            ))),
        }
    }

    /// Judges the claim on the results of a run.
    pub(crate) fn judge(&self, finished: &Finished) -> Result<Claim> {
        let statement = self.statement()?;
        let (by, case) = match &statement {
            Statement::Lower(Lower { of, than, factor }) => {
                let bound = if *factor == 1.0 { String::new() } else { format!("{factor} times ") };
                (
                    By::SignedRanks,
                    format!(
                        "a dataset and a budget; for it: the squared error of {of} is below {bound}that of \
                         {than}"
                    ),
                )
            }
            Statement::Same(Same { of, and, within }) => (
                By::Nothing,
                format!(
                    "a dataset and a budget; for it: {of} and {and} differ by at most {within} of ‖φ‖ in \
                     every run"
                ),
            ),
            Statement::Exact(Exact { of, within }) => (
                By::Nothing,
                format!("a dataset and a budget; for it: {of} is within {within} of ‖φ‖ in every run"),
            ),
        };
        let (mut cases, mut largest) = (Vec::new(), 0.0_f64);
        for dataset in finished.record.datasets.iter().map(|dataset| &dataset.name) {
            for budget in &finished.record.budgets {
                if !(means(&self.datasets, dataset) && means(&self.budgets, budget)) {
                    continue;
                }
                let at = CaseRuns { finished, dataset, budget };
                let test = match &statement {
                    Statement::Lower(Lower { of, than, factor }) => {
                        let (one, other) = at.errors(of, than);
                        if one.is_empty() {
                            continue;
                        }
                        Test::ratio_below(&one, &other, *factor)
                    }
                    Statement::Same(Same { of, and, within }) => {
                        let Some(distance) = at.distance(of, and) else { continue };
                        largest = largest.max(distance);
                        Test::certain(distance <= *within)
                    }
                    Statement::Exact(Exact { of, within }) => {
                        let Some(distance) = at.distance_to_truth(of) else { continue };
                        largest = largest.max(distance);
                        Test::certain(distance <= *within)
                    }
                };
                cases.push(Case::new(format!("{dataset} at {budget}"), test));
            }
        }
        let judged =
            Claim::over_cases(&self.claim, &self.source, &case, by, self.share.into(), cases.iter().cloned());
        let judged = match &self.prints {
            Some(numbers) => judged.prints(numbers.clone()),
            None => judged,
        };
        let judged = match &self.why {
            Some(why) => judged.because(why.clone()),
            None => judged,
        };
        let is_certain = by == By::Nothing && !cases.is_empty();
        Ok(match is_certain {
            true => judged.and(&format!("largest difference {} of ‖φ‖", significant(largest))),
            false => judged,
        })
    }
}

/// Returns whether a name is selected. Without a selection, all names are selected.
fn means(meant: &Option<Vec<String>>, name: &String) -> bool {
    meant.as_ref().is_none_or(|names| names.contains(name))
}

/// The runs of one dataset and budget.
struct CaseRuns<'a> {
    finished: &'a Finished,
    dataset: &'a str,
    budget: &'a str,
}

impl CaseRuns<'_> {
    /// Returns the squared errors of two estimators in the order of the runs. Errors that differ only by
    /// rounding are made equal. Both lists are empty if one of the estimators was skipped.
    fn errors(&self, one: &str, other: &str) -> (Vec<f64>, Vec<f64>) {
        let of = |estimator: &str| -> Vec<&RunLine> {
            let is_here = |line: &&RunLine| {
                line.dataset == self.dataset && line.budget == self.budget && line.estimator == estimator
            };
            self.finished.outcome.runs.iter().filter(is_here).collect()
        };
        let errors = |(one, other): (&RunLine, &RunLine)| match differ_by_rounding(one, other) {
            true => (one.squared_error, one.squared_error),
            false => (one.squared_error, other.squared_error),
        };
        of(one).into_iter().zip(of(other)).map(errors).unzip()
    }

    /// Returns the estimates of an estimator in the order of runs and players.
    fn estimates(&self, estimator: &str) -> Vec<&EstimateLine> {
        let is_here = |line: &&EstimateLine| {
            line.dataset == self.dataset && line.budget == self.budget && line.estimator == estimator
        };
        self.finished.outcome.estimates.iter().filter(is_here).collect()
    }

    /// Returns the largest ‖φ̃ − φ̃'‖ / ‖φ‖ over the runs, or `None` without runs.
    fn distance(&self, one: &str, other: &str) -> Option<f64> {
        let (one, other) = (self.estimates(one), self.estimates(other));
        (one.len() == other.len()).then_some(())?;
        let others: Vec<f64> = other.iter().map(|line| line.estimate).collect();
        largest_distance(&one, &others)
    }

    /// Returns the largest ‖φ̃ − φ‖ / ‖φ‖ over the runs, or `None` without runs.
    fn distance_to_truth(&self, estimator: &str) -> Option<f64> {
        let lines = self.estimates(estimator);
        let truth: Vec<f64> = lines.iter().map(|line| line.truth).collect();
        largest_distance(&lines, &truth)
    }
}

/// Returns the largest distance between the estimates of a run and the numbers in `others`, divided by the
/// norm of the true values unless that norm is 0.
fn largest_distance(lines: &[&EstimateLine], others: &[f64]) -> Option<f64> {
    let mut from = 0;
    let distances = lines.chunk_by(|one, next| one.run == next.run).map(|run| {
        let (estimates, truth): (Vec<f64>, Vec<f64>) =
            run.iter().map(|line| (line.estimate, line.truth)).unzip();
        let others = &others[from..from + run.len()];
        from += run.len();
        let (distance, norm) = (squared_distance(&estimates, others).sqrt(), squared_norm(&truth).sqrt());
        if norm > 0.0 { distance / norm } else { distance }
    });
    distances.reduce(f64::max)
}
