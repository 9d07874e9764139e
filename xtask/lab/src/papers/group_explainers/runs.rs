//! Cells of the experiments: the estimates of one run for all explicands, with K draws each, computed once
//! and stored.

use anyhow::{Context, Result};
use apportion::games::parallel;
use apportion::{Background, MarginalGame};
use serde::{Deserialize, Serialize};

use super::experiment::{BACKGROUND, Experiment, Setting};
use super::truth::{Truth, truth};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Version of the cells. It is increased when the meaning of a cell changes in a way that the digests of
/// games and methods do not detect, so that old checkpoints are not reused.
const PROTOCOL: u32 = 2;

/// The numbers of draws K for which estimates are computed.
pub(super) const DRAWS: [usize; 6] = [1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14];

/// Half-width of a 95% interval, as a multiple of the standard error.
pub(super) const HALF_WIDTH: f64 = 1.96;

/// Returns the number of explained rows of D: all 100 for 50 runs or more, fewer for fewer runs.
pub(super) fn explicands(session: &Session) -> usize {
    (2 * session.runs).min(BACKGROUND)
}

/// Part of the seeds of estimates: the estimators resample the rows of D, and thus estimate the values for
/// the empirical background D.
const MODE: &str = "empirical";

/// Number of rows of a small background, for which the exact values are computed to detect changes in their
/// computation.
const PROBED_ROWS: usize = 4;

/// Checkpoint key of the exact values for one explicand.
#[derive(Serialize)]
struct TruthKey {
    experiment: &'static str,
    predictors: usize,
    explicand: usize,
}

/// Returns the exact values of the experiment's subject for each of the first `explicands` rows of D.
fn truths(session: &Session, setting: &Setting, explicands: usize) -> Result<Vec<Truth>> {
    let experiment = setting.experiment;
    let over = |explicand: usize, background: &Background| {
        let explicand = setting.background.row(explicand);
        truth(&setting.model, &setting.partition, experiment.kind, experiment.subject, explicand, background)
    };
    let method = Digest::of_data(&over(0, &setting.fresh(PROBED_ROWS, 1)?))?;
    let cell = |explicand| {
        let key = TruthKey { experiment: experiment.name, predictors: setting.predictors(), explicand };
        let played = setting.played(explicand)?;
        Ok(Cell {
            key,
            made_of: Ingredients::new("truth", PROTOCOL, session.seed, &played, &method),
            with: (),
        })
    };
    let cells: Vec<_> = (0..explicands).map(cell).collect::<Result<_>>()?;
    session.results(&cells, |cell| Ok(over(cell.key.explicand, &setting.background)))
}

/// Checkpoint key of a run, which has one estimate for each explicand.
#[derive(Serialize)]
struct RunKey {
    experiment: &'static str,
    predictors: usize,
    draws: usize,
    explicands: usize,
    run: usize,
}

/// Returns the seed of the estimate for one explicand in a run.
fn run_seed(setting: &Setting, draws: usize, explicand: usize, run: usize, seed: u64) -> Result<u64> {
    derive_seed(&("run", setting.experiment.name, setting.predictors(), MODE, draws, explicand, run, seed))
}

/// Result of one run, averaged over the explicands.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Mean of (ĝ − g)² over the explicands: MISE (equation 4.1).
    pub(super) error: f64,
    /// Mean of the squared standard errors that the estimator reports.
    pub(super) variance: f64,
}

/// All runs of an experiment with p predictors.
pub(super) struct Runs {
    pub(super) predictors: usize,
    pub(super) truths: Vec<Truth>,
    /// Results, indexed by number of draws (in the order of [`DRAWS`]), then by run.
    pub(super) measured: Vec<Vec<Measured>>,
}

impl Runs {
    /// Returns the mean of g² over the explicands, by which MISE is divided to obtain RMISE (equation 4.2).
    pub(super) fn square(&self) -> f64 {
        self.mean(|truth| truth.value * truth.value)
    }

    /// Returns the mean of σ² over the explicands; divided by K, it is the expected MISE.
    pub(super) fn variance(&self) -> f64 {
        self.mean(|truth| truth.variance)
    }

    fn mean(&self, of: impl Fn(&Truth) -> f64) -> f64 {
        self.truths.iter().map(of).sum::<f64>() / self.truths.len() as f64
    }
}

/// Computes the runs of `experiment` for each number of predictors.
pub(super) fn runs(session: &Session, experiment: &'static Experiment) -> Result<Vec<Runs>> {
    let explicands = explicands(session);
    let mut all = Vec::new();
    for &predictors in experiment.sizes {
        let setting = Setting::new(experiment, predictors, session.seed)?;
        let truths = truths(session, &setting, explicands)?;
        let (estimate, std_error) = estimate(&setting, 0, 300, 1)?;
        let method = Digest::from_numbers([estimate, std_error]);
        let truth = Digest::of_data(&truths)?;
        let played = parallel::try_map(0..explicands, |row| setting.played(row))?;
        let played = Digest::joined(&played);
        let cell = |(draws, run)| Cell {
            key: RunKey { experiment: experiment.name, predictors, draws, explicands, run },
            made_of: Ingredients::new("run", PROTOCOL, session.seed, &played, &method).against(&truth),
            with: (),
        };
        let places = DRAWS.iter().flat_map(|&draws| (0..session.runs).map(move |run| (draws, run)));
        let cells: Vec<_> = places.map(cell).collect();
        let results = session.results(&cells, |cell| {
            let RunKey { draws, run, .. } = cell.key;
            measure(&setting, &truths, draws, run, session.seed).with_context(|| {
                format!(
                    "cannot run experiment {} with p = {predictors}, K = {draws} (run {run})",
                    experiment.name
                )
            })
        })?;
        let measured = results.chunks(session.runs).map(<[Measured]>::to_vec).collect();
        all.push(Runs { predictors, truths, measured });
    }
    Ok(all)
}

fn measure(setting: &Setting, truths: &[Truth], draws: usize, run: usize, seed: u64) -> Result<Measured> {
    let (mut error, mut variance) = (0.0, 0.0);
    for (explicand, truth) in truths.iter().enumerate() {
        let seed = run_seed(setting, draws, explicand, run, seed)?;
        let (estimate, std_error) = estimate(setting, explicand, draws, seed)?;
        error += (estimate - truth.value).powi(2);
        variance += std_error.powi(2);
    }
    let explicands = truths.len() as f64;
    Ok(Measured { error: error / explicands, variance: variance / explicands })
}

/// Returns the estimate for one row of D from K draws, with its standard error.
fn estimate(setting: &Setting, explicand: usize, draws: usize, seed: u64) -> Result<(f64, f64)> {
    let experiment = setting.experiment;
    let game = MarginalGame::new(&setting.model, setting.background.row(explicand), &setting.background)?;
    let estimator = setting.estimator(experiment.kind);
    let estimates = estimator.estimate_players(&game, &[experiment.subject], draws, seed)?;
    let std_errors = estimates.std_errors.context("the estimate has no standard errors")?;
    Ok((estimates.values[0], std_errors[0]))
}

#[cfg(test)]
mod tests {
    use super::super::experiment::ALL;
    use super::*;

    #[test]
    fn another_row_distribution_model_or_background_is_another_game() {
        let setting = || Setting::new(&ALL[2], 6, 5).unwrap();
        let of = |setting: &Setting, row| setting.played(row).unwrap();
        assert_eq!(of(&setting(), 3), of(&setting(), 3));
        let mut other = setting();
        other.model.slopes[5] += 1e-12;
        let digests = [
            of(&setting(), 3),
            of(&setting(), 4),
            of(&other, 3),
            of(&Setting::new(&ALL[3], 6, 5).unwrap(), 3),
            of(&Setting::new(&ALL[2], 6, 6).unwrap(), 3),
        ];
        for (at, one) in digests.iter().enumerate() {
            assert!(!digests[..at].contains(one), "{at}");
        }
    }
}
