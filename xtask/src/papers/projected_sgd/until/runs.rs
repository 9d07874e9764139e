//! The cells: one run until an accuracy, computed once and kept.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use apportion::estimators::{Anytime, Estimator, Guarantee, StopRule};
use apportion::{Method, Semivalue};
use serde::{Deserialize, Serialize};

use super::asked::{Contender, METHODS, tolerances, until, value};
use super::game::{Instance, Name, Series};
use super::least::{least, least_evaluations};
use super::resumed::interrupted;
use crate::comparison::relative_error;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Raised when the meaning of a cell changes in a way that no probe sees, so that old checkpoints are not taken up.
pub(super) const PROTOCOL: u32 = 1;

/// One of so many runs is interrupted and resumed.
const INTERRUPTED: usize = 5;

/// One run until an accuracy.
#[derive(Serialize)]
struct RunCell<'a> {
    #[serde(flatten)]
    name: &'a Name,
    method: &'static str,
    tolerance: f64,
    run: usize,
    is_interrupted: bool,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    value: Semivalue,
    #[serde(skip)]
    estimator: &'a dyn Estimator,
    #[serde(skip)]
    digest: &'a Digest,
    #[serde(skip)]
    instance: &'a Instance,
}

impl Cell for RunCell<'_> {
    fn ingredients(&self) -> Ingredients<'_> {
        Ingredients {
            kind: "until",
            protocol: PROTOCOL,
            games: &self.instance.played,
            method: self.digest,
            truth: Some(&self.instance.truth),
            seed: self.seed,
        }
    }
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) stopped_by: StopRule,
    pub(super) guarantee: Guarantee,
    pub(super) evaluations: usize,
    pub(super) looks: usize,
    /// The true relative error over the tolerance.
    pub(super) error: f64,
    /// ν, the directions of the error as the method measured them.
    pub(super) directions: Option<f64>,
    /// Whether the run that was interrupted and resumed gave the same bytes; none where that was not tried.
    pub(super) same_bytes: Option<bool>,
}

/// All runs of one method on one game for one tolerance.
pub(super) struct Measured {
    pub(super) game: String,
    pub(super) method: Method,
    pub(super) tolerance: f64,
    pub(super) outcomes: Vec<Outcome>,
    /// The least evaluations at which the mean relative error is the tolerance; none within the budget.
    pub(super) least: Option<f64>,
}

impl Measured {
    /// The runs that stopped for the tolerance.
    pub(super) fn reached(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.stopped_by == StopRule::Tolerance)
    }

    /// Mean evaluations of the runs that stopped for the tolerance, if there is one.
    pub(super) fn spent(&self) -> Option<f64> {
        let count = self.reached().count();
        let sum: usize = self.reached().map(|outcome| outcome.evaluations).sum();
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// Evaluations spent over the least that reach the tolerance on average; none where runs were stopped by the budget, as those that
    /// were not are the cheap ones.
    pub(super) fn ratio(&self) -> Option<f64> {
        let are_all = self.reached().count() == self.outcomes.len();
        self.spent().zip(self.least).filter(|_| are_all).map(|(spent, least)| spent / least)
    }

    /// The mean of ν over the runs that stopped for the tolerance with an error.
    pub(super) fn directions(&self) -> Option<f64> {
        let known: Vec<f64> = self
            .reached()
            .filter(|outcome| outcome.guarantee != Guarantee::Exact)
            .filter_map(|outcome| outcome.directions)
            .collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    /// `leverage-shap on adult (n = 12) at 0.01`.
    pub(super) fn title(&self) -> String {
        format!("{} on {} at {}", self.method, self.game, self.tolerance)
    }
}

/// A game, a method, and what it is asked for there.
pub(super) type Setting<'a> = (&'a Series, &'a Contender, &'static [f64]);

/// All methods on all games.
pub(super) fn measure(session: &Session, games: &[Series]) -> Result<Vec<Measured>> {
    let contenders = METHODS.into_iter().map(Contender::new).collect::<Result<Vec<_>>>()?;
    let settings: Vec<Setting<'_>> = games
        .iter()
        .flat_map(|series| contenders.iter().map(move |contender| (series, contender)))
        .map(|(series, contender)| (series, contender, tolerances(session, contender.method, series.players)))
        .filter(|(.., tolerances)| !tolerances.is_empty())
        .collect();
    let curves = least(session, &settings)?;
    let cells: Vec<RunCell<'_>> = settings
        .iter()
        .flat_map(|&(series, contender, tolerances)| {
            tolerances.iter().flat_map(move |&tolerance| {
                series.instances.iter().enumerate().map(move |(run, instance)| RunCell {
                    name: &series.name,
                    method: contender.method.name(),
                    tolerance,
                    run,
                    is_interrupted: run % INTERRUPTED == 0,
                    seed: session.seed,
                    value: value(contender.method),
                    estimator: &*contender.estimator,
                    digest: &contender.digest,
                    instance,
                })
            })
        })
        .collect();
    let mut outcomes = session
        .results(&cells, |cell| {
            run(cell).with_context(|| {
                format!("{} on {}, run {}, until {}", cell.method, cell.name.game, cell.run, cell.tolerance)
            })
        })?
        .into_iter();
    let mut measured = Vec::new();
    for ((series, contender, tolerances), curve) in settings.iter().zip(&curves) {
        for &tolerance in *tolerances {
            measured.push(Measured {
                game: series.title(),
                method: contender.method,
                tolerance,
                outcomes: outcomes.by_ref().take(series.instances.len()).collect(),
                least: least_evaluations(curve, tolerance),
            });
        }
    }
    Ok(measured)
}

fn run(cell: &RunCell<'_>) -> Result<Outcome> {
    let game = cell.instance.game()?;
    // Tolerances are independent of each other: pooling them is then pooling runs.
    let seed = derive_seed(&("until", &cell.name.game, cell.method, cell.tolerance, cell.run, cell.seed))?;
    let until = until(cell.tolerance);
    let chunks = AtomicUsize::new(0);
    let mut straight = Anytime::new(cell.estimator, &*game, seed)?.watched(|_| {
        chunks.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    });
    let explanation = straight.run_until(&until)?;
    let certificate =
        explanation.certificate.as_ref().context("a run until an accuracy says why it stopped")?;
    let law = explanation.diagnostics.error_law.as_ref();
    let same_bytes = if cell.is_interrupted {
        let stop_at = derive_seed(&("stop", seed))? as usize % chunks.load(Ordering::Relaxed).max(1);
        let resumed = interrupted(cell.estimator, &*game, seed, &until, stop_at)?;
        Some(serde_json::to_string(explanation)? == serde_json::to_string(&resumed)?)
    } else {
        None
    };
    Ok(Outcome {
        stopped_by: certificate.stopped_by,
        guarantee: certificate.guarantee,
        evaluations: explanation.evaluations,
        looks: certificate.looks.len(),
        error: relative_error(&explanation.values, cell.instance.truth(&cell.value)).sqrt() / cell.tolerance,
        directions: law.and_then(|law| law.directions.first().copied()),
        same_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_runs_stopped_by_the_budget_has_no_ratio() {
        let outcome = |stopped_by, evaluations| Outcome {
            stopped_by,
            guarantee: Guarantee::Asymptotic,
            evaluations,
            looks: 3,
            error: 0.5,
            directions: Some(2.0),
            same_bytes: None,
        };
        let mut measured = Measured {
            game: "g".to_owned(),
            method: super::super::asked::DEFAULT,
            tolerance: 0.1,
            outcomes: vec![outcome(StopRule::Tolerance, 100), outcome(StopRule::Tolerance, 200)],
            least: Some(75.0),
        };
        assert_eq!(measured.ratio(), Some(2.0));
        measured.outcomes.push(outcome(StopRule::Budget, 1000));
        assert_eq!((measured.spent(), measured.ratio()), (Some(150.0), None));
    }
}
