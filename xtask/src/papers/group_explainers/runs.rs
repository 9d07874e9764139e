//! The cells: the estimates of one run for all explicands, with K draws each; computed once and kept.

use anyhow::{Context, Result};
use apportion::{Background, MarginalGame};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::experiment::{BACKGROUND, Experiment, Kind, Setting};
use super::truth::{Truth, truth};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Raised when the meaning of a cell changes in a way that no probe sees, so that old checkpoints are not taken up.
pub(super) const PROTOCOL: u32 = 1;

/// Draws K of an estimate.
pub(super) const DRAWS: [usize; 6] = [1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14];

/// Half the width of a 95 % interval in standard errors.
pub(super) const HALF_WIDTH: f64 = 1.96;

/// Rows of D that are explained: all 100 from 50 runs on, fewer in fewer runs.
pub(super) fn explicands(session: &Session) -> usize {
    (2 * session.runs).min(BACKGROUND)
}

/// What stands in for absent predictors (the two versions of the algorithms).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    /// Rows of D, drawn again and again: the value over D is estimated.
    Empirical,
    /// K fresh rows from the law of X for each explicand of each run, each used once: the value under the law is estimated.
    True,
}

impl Mode {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Empirical => "empirical marginal",
            Self::True => "true marginal",
        }
    }
}

/// Whose value of which kind: a predictor, of quotient values a group, from 0.
pub(super) type Subject = (Kind, usize);

/// The first rows of a fresh background, on which games over it are probed: a background of more rows begins with them.
const PROBED_ROWS: usize = 4;

/// What came of probing the game of a row of D: over D, or over the background that `seed` draws.
pub(super) fn played(setting: &Setting, mode: Mode, explicand: usize, seed: u64) -> Result<Digest> {
    match mode {
        Mode::Empirical => setting.played(explicand, &setting.background),
        Mode::True => setting.played(explicand, &setting.fresh(PROBED_ROWS, seed)?),
    }
}

/// The exact values for one explicand.
#[derive(Serialize)]
struct TruthCell<'a> {
    experiment: &'static str,
    subjects: &'a [(&'static str, usize)],
    predictors: usize,
    mode: Mode,
    /// Background rows that the values are over.
    rows: usize,
    explicand: usize,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    played: Digest,
    #[serde(skip)]
    method: &'a Digest,
}

impl Cell for TruthCell<'_> {
    fn ingredients(&self) -> Ingredients<'_> {
        Ingredients {
            kind: "truth",
            protocol: PROTOCOL,
            games: &self.played,
            method: self.method,
            truth: None,
            seed: self.seed,
        }
    }
}

/// The seed of the background that the truth is over in the true marginal mode.
fn truth_seed(experiment: &str, explicand: usize, seed: u64) -> Result<u64> {
    derive_seed(&("truth", experiment, explicand, seed))
}

/// Background rows of the truth in the true marginal mode, for each run and at most; fewer where a row takes more coalitions.
const ROWS_PER_RUN: usize = 1 << 14;
const MOST_ROWS: usize = 1 << 19;

/// Products that the truth in the true marginal mode takes at most for one value.
const MOST_PRODUCTS: usize = 1 << 27;

/// The exact values of `subjects` for each of the first `explicands` rows of D; in the true marginal mode over a large sample.
pub(super) fn truths(
    session: &Session,
    setting: &Setting,
    subjects: &[Subject],
    mode: Mode,
    explicands: usize,
) -> Result<Vec<Vec<Truth>>> {
    let names: Vec<(&str, usize)> = subjects.iter().map(|&(kind, subject)| (kind.title(), subject)).collect();
    let over = |explicand: usize, background: &Background| -> Vec<Truth> {
        let explicand = setting.background.row(explicand);
        let of = |&(kind, subject): &Subject| {
            truth(&setting.model, &setting.partition, kind, subject, explicand, background)
        };
        subjects.iter().map(of).collect()
    };
    let experiment = setting.experiment.name;
    let method = Digest::of_data(&over(0, &setting.fresh(PROBED_ROWS, 1)?))?;
    let cell = |explicand| {
        Ok(TruthCell {
            experiment,
            subjects: &names,
            predictors: setting.predictors(),
            mode,
            rows: match mode {
                Mode::Empirical => BACKGROUND,
                Mode::True => {
                    (ROWS_PER_RUN * session.runs).min(MOST_ROWS).min(MOST_PRODUCTS >> setting.predictors())
                }
            },
            explicand,
            seed: session.seed,
            played: played(setting, mode, explicand, truth_seed(experiment, explicand, session.seed)?)?,
            method: &method,
        })
    };
    let cells: Vec<TruthCell<'_>> = (0..explicands).map(cell).collect::<Result<_>>()?;
    session.results(&cells, |cell| {
        Ok(match cell.mode {
            Mode::Empirical => over(cell.explicand, &setting.background),
            Mode::True => {
                let seed = truth_seed(cell.experiment, cell.explicand, cell.seed)?;
                over(cell.explicand, &setting.fresh(cell.rows, seed)?)
            }
        })
    })
}

/// One run: an estimate for each explicand.
#[derive(Serialize)]
struct RunCell<'a> {
    experiment: &'static str,
    predictors: usize,
    mode: Mode,
    draws: usize,
    explicands: usize,
    run: usize,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    setting: &'a Setting,
    #[serde(skip)]
    truths: &'a [Truth],
    #[serde(skip)]
    played: Digest,
    #[serde(skip)]
    method: &'a Digest,
    #[serde(skip)]
    truth: &'a Digest,
}

impl Cell for RunCell<'_> {
    fn ingredients(&self) -> Ingredients<'_> {
        Ingredients {
            kind: "run",
            protocol: PROTOCOL,
            games: &self.played,
            method: self.method,
            truth: Some(self.truth),
            seed: self.seed,
        }
    }
}

/// The seed of the estimate for one explicand in a run.
fn run_seed(
    setting: &Setting,
    mode: Mode,
    draws: usize,
    explicand: usize,
    run: usize,
    seed: u64,
) -> Result<u64> {
    derive_seed(&("run", setting.experiment.name, setting.predictors(), mode, draws, explicand, run, seed))
}

/// What came of a run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Mean of (ĝ − g)² over the explicands: MISE (equation 4.1).
    pub(super) error: f64,
    /// Mean of the estimates' own squared standard errors.
    pub(super) variance: f64,
    /// Intervals ĝ ± 1.96 standard errors, one for each explicand, that hold the truth.
    pub(super) covered: usize,
}

/// All runs of an experiment with p predictors.
pub(super) struct Runs {
    pub(super) predictors: usize,
    pub(super) truths: Vec<Truth>,
    /// By the number of draws, as [`DRAWS`], and by the run.
    pub(super) measured: Vec<Vec<Measured>>,
}

impl Runs {
    /// Mean of g² over the explicands: what MISE is divided by to give RMISE (equation 4.2).
    pub(super) fn square(&self) -> f64 {
        self.mean(|truth| truth.value * truth.value)
    }

    /// Mean of σ² over the explicands: MISE is expected to be this over K.
    pub(super) fn variance(&self) -> f64 {
        self.mean(|truth| truth.variance)
    }

    fn mean(&self, of: impl Fn(&Truth) -> f64) -> f64 {
        self.truths.iter().map(of).sum::<f64>() / self.truths.len() as f64
    }
}

/// The runs of `experiment` for its numbers of predictors up to `most`, on the first `explicands` rows of D.
pub(super) fn runs(
    session: &Session,
    experiment: &'static Experiment,
    mode: Mode,
    most: usize,
    explicands: usize,
) -> Result<Vec<Runs>> {
    let sizes: Vec<usize> =
        experiment.sizes.iter().copied().filter(|&predictors| predictors <= most).collect();
    let mut all = Vec::new();
    for predictors in sizes {
        let setting = Setting::new(experiment, predictors, session.seed)?;
        let subject = [(experiment.kind, experiment.subject)];
        let truths = truths(session, &setting, &subject, mode, explicands)?.concat();
        let method = method(&setting, mode)?;
        let truth = Digest::of_data(&truths)?;
        // D is the same in all runs.
        let over_d = match mode {
            Mode::Empirical => {
                let rows = (0..explicands).into_par_iter();
                Some(joined(rows.map(|explicand| played(&setting, mode, explicand, 0)).collect())?)
            }
            Mode::True => None,
        };
        let cell = |(draws, run)| {
            let fresh = |explicand| {
                let seed = run_seed(&setting, mode, draws, explicand, run, session.seed)?;
                played(&setting, mode, explicand, seed)
            };
            Ok(RunCell {
                experiment: experiment.name,
                predictors,
                mode,
                draws,
                explicands,
                run,
                seed: session.seed,
                setting: &setting,
                truths: &truths,
                played: over_d.clone().map_or_else(|| joined((0..explicands).map(fresh).collect()), Ok)?,
                method: &method,
                truth: &truth,
            })
        };
        let places: Vec<(usize, usize)> =
            DRAWS.iter().flat_map(|&draws| (0..session.runs).map(move |run| (draws, run))).collect();
        let cells: Vec<RunCell<'_>> = places.into_par_iter().map(cell).collect::<Result<_>>()?;
        let results = session.results(&cells, |cell| {
            measure(cell).with_context(|| {
                format!(
                    "experiment {}, p = {predictors}, K = {}, run {}",
                    experiment.name, cell.draws, cell.run
                )
            })
        })?;
        let measured = results.chunks(session.runs).map(<[Measured]>::to_vec).collect();
        all.push(Runs { predictors, truths, measured });
    }
    Ok(all)
}

fn joined(digests: Result<Vec<Digest>>) -> Result<Digest> {
    digests.map(|digests| Digest::joined(&digests))
}

fn measure(cell: &RunCell<'_>) -> Result<Measured> {
    let setting = cell.setting;
    let mut sums = Measured { error: 0.0, variance: 0.0, covered: 0 };
    for (explicand, truth) in cell.truths.iter().enumerate() {
        let seed = run_seed(setting, cell.mode, cell.draws, explicand, cell.run, cell.seed)?;
        let (estimate, std_error) = estimate(setting, cell.mode, explicand, cell.draws, seed)?;
        let error = (estimate - truth.value).powi(2);
        // A truth from a sample has an error of its own.
        let variance = std_error.powi(2)
            + match cell.mode {
                Mode::Empirical => 0.0,
                Mode::True => truth.sampling_variance,
            };
        sums.error += error;
        sums.variance += std_error.powi(2);
        sums.covered += usize::from(error <= HALF_WIDTH.powi(2) * variance);
    }
    let explicands = cell.truths.len() as f64;
    Ok(Measured { error: sums.error / explicands, variance: sums.variance / explicands, ..sums })
}

/// The estimate for one row of D from K draws, with its standard error.
fn estimate(setting: &Setting, mode: Mode, explicand: usize, draws: usize, seed: u64) -> Result<(f64, f64)> {
    let (experiment, explicand) = (setting.experiment, setting.background.row(explicand));
    let estimator = setting.estimator(experiment.kind);
    let estimates = match mode {
        Mode::Empirical => {
            let game = MarginalGame::new(&setting.model, explicand, &setting.background)?;
            estimator.estimate_players(&game, &[experiment.subject], draws, seed)?
        }
        Mode::True => {
            let fresh = setting.fresh(draws, seed)?;
            let game = MarginalGame::new(&setting.model, explicand, &fresh)?;
            estimator.true_marginal().estimate_players(&game, &[experiment.subject], draws, seed)?
        }
    };
    let std_errors = estimates.std_errors.context("an estimate without standard errors")?;
    Ok((estimates.values[0], std_errors[0]))
}

/// What the estimator is, by what it answers once.
fn method(setting: &Setting, mode: Mode) -> Result<Digest> {
    let (estimate, std_error) = estimate(setting, mode, 0, 300, 1)?;
    Ok(Digest::of([estimate, std_error]))
}

#[cfg(test)]
mod tests {
    use super::super::experiment::ALL;
    use super::*;

    #[test]
    fn games_are_probed_on_the_first_rows_of_the_backgrounds_that_they_are_played_over() {
        for experiment in &ALL {
            let setting = Setting::new(experiment, 6.max(experiment.sizes[0]), 5).unwrap();
            let values = |rows| setting.fresh(rows, 7).unwrap().as_rows().values().to_vec();
            assert!(values(100).starts_with(&values(PROBED_ROWS)), "{}", experiment.name);
        }
    }

    #[test]
    fn another_row_law_model_or_background_is_another_game() {
        let setting = || Setting::new(&ALL[2], 6, 5).unwrap();
        let mut digests = Vec::new();
        for mode in [Mode::Empirical, Mode::True] {
            let of = |setting: &Setting, row, seed| played(setting, mode, row, seed).unwrap();
            assert_eq!(of(&setting(), 3, 7), of(&setting(), 3, 7));
            let mut other = setting();
            other.model.slopes[5] += 1e-12;
            digests.extend([of(&setting(), 3, 7), of(&setting(), 4, 7), of(&other, 3, 7)]);
            digests.push(of(&Setting::new(&ALL[3], 6, 5).unwrap(), 3, 7));
        }
        digests.push(played(&setting(), Mode::True, 3, 8).unwrap());
        digests.push(played(&Setting::new(&ALL[2], 6, 6).unwrap(), Mode::Empirical, 3, 7).unwrap());
        for (at, one) in digests.iter().enumerate() {
            assert!(!digests[..at].contains(one), "{at}");
        }
    }
}
