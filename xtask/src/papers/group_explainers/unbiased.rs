//! Unbiasedness: the mean of many estimates of every value, in both modes, against the truth. Not in the paper.

use anyhow::{Context, Result};
use apportion::MarginalGame;
use apportion::estimators::{NestedPermutation, PlayerEstimates};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::experiment::{Kind, Setting, two_a};
use super::runs::{Mode, PROTOCOL, Subject, played, truths};
use crate::reproduce::catalogue::Made;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::report::{Entry, Table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::store::derive_seed;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};

/// Repetitions for each run: 200 in the paper's 50.
const PER_RUN: usize = 4;

/// What counts as no bias, relative to the truth.
const BIAS: f64 = 0.05;

/// Draws of an estimate, and background rows in the true marginal mode.
const DRAWS: usize = 512;

/// Rows of D that are explained.
const EXPLICANDS: usize = 5;

/// How it is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Sampling {
    /// Algorithms 1 to 4, independent draws for each player.
    Independent,
    /// Nested permutations shared by all players.
    Nested,
    /// These and their reverses.
    Antithetic,
}

impl Sampling {
    fn title(self) -> &'static str {
        match self {
            Self::Independent => "independent draws",
            Self::Nested => "nested permutations",
            Self::Antithetic => "nested permutations, antithetic",
        }
    }
}

/// What is estimated and how; nested permutations have the empirical marginal mode alone.
const CASES: [(Mode, Sampling); 4] = [
    (Mode::Empirical, Sampling::Independent),
    (Mode::True, Sampling::Independent),
    (Mode::Empirical, Sampling::Nested),
    (Mode::Empirical, Sampling::Antithetic),
];

/// All repetitions for one explicand.
#[derive(Serialize)]
struct RepetitionsCell<'a> {
    mode: Mode,
    sampling: Sampling,
    value: &'static str,
    explicand: usize,
    draws: usize,
    repetitions: usize,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    of: Kind,
    #[serde(skip)]
    played: Digest,
    #[serde(skip)]
    method: &'a Digest,
}

impl Cell for RepetitionsCell<'_> {
    fn ingredients(&self) -> Ingredients<'_> {
        Ingredients {
            kind: "unbiased",
            protocol: PROTOCOL,
            games: &self.played,
            method: self.method,
            truth: None,
            seed: self.seed,
        }
    }
}

/// The seed of a repetition.
fn seed_of(
    (mode, sampling): (Mode, Sampling),
    of: Kind,
    explicand: usize,
    repetition: usize,
    seed: u64,
) -> Result<u64> {
    derive_seed(&("unbiased", mode, sampling, of.title(), explicand, repetition, seed))
}

/// Mean and standard error of the mean for every player or group.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Means {
    means: Vec<f64>,
    errors: Vec<f64>,
}

/// How far one value is off.
struct Deviation {
    case: (Mode, Sampling),
    of: Kind,
    explicand: usize,
    subject: usize,
    mean: f64,
    truth: f64,
    /// Of the difference, that of the truth included.
    error: f64,
}

impl Deviation {
    fn z(&self) -> f64 {
        (self.mean - self.truth) / self.error
    }
}

/// The largest deviation of means over repetitions from the truth, for every value of experiment 2a.
pub(super) fn unbiased(session: &Session) -> Result<Made> {
    let setting = Setting::new(two_a(), 6, session.seed)?;
    let repetitions = PER_RUN * session.runs;
    let subjects: Vec<Subject> = Kind::ALL
        .into_iter()
        .flat_map(|of| (0..count(&setting, of)).map(move |subject| (of, subject)))
        .collect();
    let mut deviations = Vec::new();
    for case in CASES {
        // By explicand, then in the order of the subjects.
        let truths = truths(session, &setting, &subjects, case.0, EXPLICANDS)?;
        for of in Kind::ALL {
            let means = means_of(session, &setting, case, of, repetitions)?;
            for (explicand, (means, truths)) in means.iter().zip(&truths).enumerate() {
                for (&(_, subject), truth) in subjects.iter().zip(truths).filter(|(known, _)| known.0 == of) {
                    let sampling_variance = match case.0 {
                        Mode::Empirical => 0.0,
                        Mode::True => truth.sampling_variance,
                    };
                    deviations.push(Deviation {
                        case,
                        of,
                        explicand,
                        subject,
                        mean: means.means[subject],
                        truth: truth.value,
                        error: (means.errors[subject].powi(2) + sampling_variance).sqrt(),
                    });
                }
            }
        }
    }
    let mut notes = super::notes(session);
    notes.push(format!(
        "experiment 2a: the values of all predictors (quotient values of all groups) for the first {EXPLICANDS} rows of D; {repetitions} \
         repetitions of K = {DRAWS} draws each, in the true marginal mode with fresh background rows in each"
    ));
    notes.push(
        "z: mean of the repetitions less the truth, over the standard error of this difference; the truth is exact in the empirical \
         marginal mode, and in the true marginal mode that of a sample of up to 2^19 rows with a standard error of its own"
            .to_owned(),
    );
    Ok(Made {
        data: data(&deviations),
        figure: None,
        tables: vec![table(&deviations)],
        claims: vec![claim(&deviations, repetitions)],
        notes,
        datasets: Vec::new(),
    })
}

/// How many values of a kind there are.
fn count(setting: &Setting, of: Kind) -> usize {
    if of == Kind::QuotientShapley { setting.partition.len() } else { setting.predictors() }
}

/// The means over the repetitions, by explicand.
fn means_of(
    session: &Session,
    setting: &Setting,
    case: (Mode, Sampling),
    of: Kind,
    repetitions: usize,
) -> Result<Vec<Means>> {
    let (mode, sampling) = case;
    let probe = estimates(setting, case, of, 0, 1)?;
    let method = Digest::of(probe.values);
    let mut cells = Vec::new();
    for explicand in 0..EXPLICANDS {
        cells.push(RepetitionsCell {
            mode,
            sampling,
            value: of.title(),
            explicand,
            draws: DRAWS,
            repetitions,
            seed: session.seed,
            of,
            played: played(setting, mode, explicand, seed_of(case, of, explicand, 0, session.seed)?)?,
            method: &method,
        });
    }
    session.results(&cells, |cell| means(setting, cell))
}

fn means(setting: &Setting, cell: &RepetitionsCell<'_>) -> Result<Means> {
    let mut samples: Vec<Vec<f64>> = Vec::new();
    for repetition in 0..cell.repetitions {
        let case = (cell.mode, cell.sampling);
        let seed = seed_of(case, cell.of, cell.explicand, repetition, cell.seed)?;
        let values = estimates(setting, case, cell.of, cell.explicand, seed)?.values;
        samples.resize_with(values.len(), Vec::new);
        samples.iter_mut().zip(values).for_each(|(sample, value)| sample.push(value));
    }
    let means: Vec<Measurement> = samples.iter().map(|sample| Measurement::mean(sample)).collect();
    Ok(Means {
        means: means.iter().map(|mean| mean.value).collect(),
        errors: means.iter().map(|mean| mean.error).collect(),
    })
}

/// The estimates for all players or groups.
fn estimates(
    setting: &Setting,
    (mode, sampling): (Mode, Sampling),
    of: Kind,
    explicand: usize,
    seed: u64,
) -> Result<PlayerEstimates> {
    let explicand = setting.background.row(explicand);
    let empirical = MarginalGame::new(&setting.model, explicand, &setting.background)?;
    let players: Vec<usize> = (0..count(setting, of)).collect();
    let estimates = match (mode, sampling) {
        (Mode::True, _) => {
            let fresh = setting.fresh(DRAWS, seed)?;
            let game = MarginalGame::new(&setting.model, explicand, &fresh)?;
            setting.estimator(of).true_marginal().estimate_players(&game, &players, DRAWS, seed)
        }
        (Mode::Empirical, Sampling::Independent) => {
            setting.estimator(of).estimate_players(&empirical, &players, DRAWS, seed)
        }
        (Mode::Empirical, nested) => {
            let estimator = NestedPermutation::grouped(of.concept(), setting.partition.clone())?;
            let estimator = if nested == Sampling::Nested { estimator.plain() } else { estimator };
            estimator.estimate_draws(&empirical, DRAWS, seed)
        }
    };
    estimates.with_context(|| format!("{} by {}", of.title(), sampling.title()))
}

fn of_case(deviations: &[Deviation], case: (Mode, Sampling), of: Kind) -> Vec<&Deviation> {
    deviations.iter().filter(|deviation| deviation.case == case && deviation.of == of).collect()
}

fn largest<'a>(deviations: impl IntoIterator<Item = &'a Deviation>) -> f64 {
    deviations.into_iter().map(|deviation| deviation.z().abs()).fold(0.0, f64::max)
}

/// By how much the means are off in proportion to the truth: the slope through 0 of the deviations on the truths, weighted.
fn relative_bias(deviations: &[&Deviation]) -> Measurement {
    let (mut product, mut square) = (0.0, 0.0);
    for one in deviations.iter().filter(|one| one.error > 0.0) {
        product += (one.mean - one.truth) * one.truth / one.error.powi(2);
        square += (one.truth / one.error).powi(2);
    }
    Measurement { value: product / square, error: square.powf(-0.5) }
}

/// The chance of a deviation as large as the largest, of as many as there are.
fn chance_of_largest(deviations: &[&Deviation], repetitions: usize) -> f64 {
    let largest = largest(deviations.iter().copied());
    let Ok(law) = StudentsT::new(0.0, 1.0, repetitions.saturating_sub(1).max(1) as f64) else {
        return f64::NAN;
    };
    (2.0 * law.sf(largest) * deviations.len() as f64).min(1.0)
}

fn claim(deviations: &[Deviation], repetitions: usize) -> Claim {
    let mut cases = Vec::new();
    for case in CASES {
        for of in Kind::ALL {
            let here = of_case(deviations, case, of);
            let bias = relative_bias(&here);
            let proportional = Test::measured_within(bias, repetitions, (-BIAS, BIAS));
            let single = Test::of_chances(0.0, chance_of_largest(&here, repetitions), repetitions);
            let name = format!(
                "{}, {}, {} (bias {:.2} ± {:.2} %, largest |z| {:.2} of {})",
                case.0.title(),
                case.1.title(),
                of.title(),
                100.0 * bias.value,
                100.0 * bias.error,
                largest(here.iter().copied()),
                here.len()
            );
            cases.push(Case::new(name, Test::all([proportional, single])));
        }
    }
    Claim::over_cases(
        "both modes are unbiased: means over many repetitions are the truth for every value",
        "target of this project; Theorems 3.1 to 3.3",
        &format!(
            "a mode, a way of sampling and a kind of value; it agrees if the means are within {} % of the truths in proportion; against it speaks, too, \
             a mean further off than the furthest of so many would be",
            100.0 * BIAS
        ),
        By::StandardError,
        Needed::All,
        cases,
    )
    .and(&format!("largest |z| {:.2} of {} values, {repetitions} repetitions", largest(deviations), deviations.len()))
}

fn table(deviations: &[Deviation]) -> Table {
    let columns = ["mode", "sampling", "value", "values", "largest |z|", "root mean square z"];
    let mut table = Table::new("Means over the repetitions against the truth", columns);
    for case in CASES {
        for of in Kind::ALL {
            let here = of_case(deviations, case, of);
            let square = here.iter().map(|deviation| deviation.z().powi(2)).sum::<f64>() / here.len() as f64;
            table.push(vec![
                Entry::from(case.0.title()),
                case.1.title().into(),
                of.title().into(),
                here.len().into(),
                largest(here).into(),
                square.sqrt().into(),
            ]);
        }
    }
    table
}

fn data(deviations: &[Deviation]) -> Table {
    let columns =
        ["mode", "sampling", "value", "explicand", "player_or_group", "mean", "truth", "standard_error", "z"];
    let mut table = Table::new("data", columns);
    for deviation in deviations {
        table.push(vec![
            deviation.case.0.title().into(),
            deviation.case.1.title().into(),
            deviation.of.title().into(),
            deviation.explicand.into(),
            (deviation.subject + 1).into(),
            deviation.mean.into(),
            deviation.truth.into(),
            deviation.error.into(),
            deviation.z().into(),
        ]);
    }
    table
}
