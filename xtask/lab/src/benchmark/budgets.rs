//! Estimates for fixed budgets: interval coverage, bias, and error as a function of the number of model rows
//! evaluated.

use anyhow::Result;
use apportion::estimators::{MethodSpec, methods};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::estimates::{Effort, Estimate, Setting, estimates};
use super::problems::{DATASETS, Problem, grouped, trees};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::{Table, notes, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// Number of rows of each dataset, and of the simulated data, explained in every run.
const EXPLICANDS: usize = 5;

/// Relative squared errors up to this are rounding error.
const EXACT: f64 = 1e-20;

/// Maximum relative bias that counts as unbiased.
const BIAS: f64 = 0.05;

/// Maximum number of model rows with which nested permutations must reach the error of independent draws, as
/// a share of the model rows of the independent draws.
const FEWER: f64 = 0.25;

/// The problems and budgets on which a method is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Problems {
    /// Tree ensembles: 10n and 20n evaluations, for the value with this index in the list of the problem.
    Trees(usize),
    /// All four values for grouped players: 12, 32 and 80 evaluations, each of which takes one prediction per
    /// background row.
    Groups,
}

/// A method, and the requirements that it must meet.
struct Requirement {
    method: &'static MethodSpec,
    on: Problems,
    /// Required range for the coverage of the method's 95% intervals.
    covers: (f64, f64),
    is_unbiased: bool,
}

const fn judged(
    method: &'static MethodSpec,
    on: Problems,
    covers: (f64, f64),
    is_unbiased: bool,
) -> Requirement {
    Requirement { method, on, covers, is_unbiased }
}

const NEAR: (f64, f64) = (0.93, 0.97);
const ABOUT: (f64, f64) = (0.92, 0.98);
/// Required range of the coverage for methods whose intervals may be conservative.
const AT_LEAST: (f64, f64) = (0.92, 1.0);

const METHODS: [Requirement; 10] = [
    judged(&methods::LEVERAGE_SHAP, Problems::Trees(0), ABOUT, false),
    judged(&methods::OPTIMIZED_MONTE_CARLO, Problems::Trees(0), AT_LEAST, true),
    judged(&methods::MONTE_CARLO, Problems::Trees(0), AT_LEAST, true),
    judged(&methods::SGD, Problems::Trees(0), AT_LEAST, true),
    judged(&methods::KERNEL_BANZHAF_WITHOUT_REPLACEMENT, Problems::Trees(1), AT_LEAST, false),
    judged(&methods::MSR_ADJUSTED, Problems::Trees(1), AT_LEAST, false),
    judged(&methods::PRODUCT_SPACE, Problems::Groups, NEAR, true),
    judged(&methods::NESTED_PERMUTATION_PLAIN, Problems::Groups, NEAR, true),
    judged(&methods::NESTED_PERMUTATION, Problems::Groups, NEAR, true),
    judged(&methods::LEVERAGE, Problems::Groups, NEAR, false),
];

/// The method that [`NESTED`] must beat in model rows.
const INDEPENDENT: &MethodSpec = &methods::PRODUCT_SPACE;
/// The methods that must need fewer model rows than [`INDEPENDENT`].
const NESTED: [&MethodSpec; 2] = [&methods::NESTED_PERMUTATION_PLAIN, &methods::NESTED_PERMUTATION];

/// Results of a method for one value of one problem with one budget.
struct Measured {
    judged: &'static Requirement,
    problem: String,
    value: String,
    truths: Vec<f64>,
    budget: usize,
    /// Estimates, indexed by run, then by game.
    runs: Vec<Vec<Estimate>>,
}

impl Measured {
    fn title(&self) -> String {
        format!("{}, {}, {} evaluations", self.problem, self.value, self.budget)
    }

    /// Returns the average of a quantity over the games, for each run.
    fn by_run(&self, of: impl Fn(&Estimate) -> f64) -> Vec<f64> {
        self.runs.iter().map(|games| games.iter().map(&of).sum::<f64>() / games.len() as f64).collect()
    }

    fn mean_error(&self) -> f64 {
        Measurement::mean(&self.by_run(|one| one.error)).value
    }

    /// Returns, for each run, the error multiplied by the number of model rows, averaged over the games. The
    /// product does not depend on the budget if the error is inversely proportional to the number of rows.
    fn error_times_rows(&self) -> Vec<f64> {
        self.by_run(|one| one.error * one.rows as f64)
    }

    /// Returns, for each player of each game, the mean deviation from the exact value over the runs, with its
    /// standard error, and the exact value. Players whose estimates do not vary are left out.
    fn deviations(&self) -> Vec<(Measurement, f64)> {
        let all: Vec<Vec<f64>> = self
            .runs
            .iter()
            .map(|games| games.iter().flat_map(|one| one.deviations.clone()).collect())
            .collect();
        let of = |(at, &truth): (usize, &f64)| {
            (Measurement::mean(&all.iter().map(|run| run[at]).collect::<Vec<_>>()), truth)
        };
        self.truths.iter().enumerate().map(of).filter(|(mean, _)| mean.error > 1e-12).collect()
    }

    /// Returns the bias relative to the truth: the slope of the weighted regression of the deviations on the
    /// truths through 0.
    fn relative_bias(&self) -> Measurement {
        let (mut product, mut square) = (0.0, 0.0);
        for (mean, truth) in self.deviations() {
            product += mean.value * truth / mean.error.powi(2);
            square += (truth / mean.error).powi(2);
        }
        Measurement { value: product / square, error: f64::powf(square, -0.5) }
    }

    fn largest_z(&self) -> f64 {
        self.deviations().iter().map(|(mean, _)| (mean.value / mean.error).abs()).fold(0.0, f64::max)
    }

    /// Tests that the slope of the mean estimates against the true values differs from 1 by at most [`BIAS`],
    /// and that the largest deviation does not exceed the maximum expected among this many values.
    fn is_unbiased(&self) -> Option<Case> {
        let (runs, values) = (self.runs.len(), self.deviations().len());
        let (bias, largest) = (self.relative_bias(), self.largest_z());
        let distribution = StudentsT::new(0.0, 1.0, runs.saturating_sub(1).max(1) as f64).ok()?;
        let chance = (2.0 * distribution.sf(largest) * values as f64).min(1.0);
        let name = format!(
            "{}, {} (bias {:.2} ± {:.2} %, largest |z| {largest:.2} of {values})",
            self.judged.method.name(),
            self.title(),
            100.0 * bias.value,
            100.0 * bias.error
        );
        let proportional = Test::measured_within(bias, runs, (-BIAS, BIAS));
        (values > 0).then(|| Case::new(name, Test::all([proportional, Test::of_chances(0.0, chance, runs)])))
    }
}

/// Returns the number of intervals that contain the truth and the total number of intervals, pooled over some
/// settings, and the share of intervals that contain it in each run.
fn coverage(measured: &[&Measured]) -> (usize, usize, Vec<f64>) {
    let runs = measured.iter().map(|one| one.runs.len()).min().unwrap_or_default();
    let of_run = |run: usize| {
        measured
            .iter()
            .flat_map(|one| &one.runs[run])
            .fold((0, 0), |sum, one| (sum.0 + one.covered, sum.1 + one.intervals))
    };
    let counts: Vec<(usize, usize)> = (0..runs).map(of_run).collect();
    let known = counts.iter().filter(|(_, intervals)| *intervals > 0);
    let shares = known.map(|&(covered, intervals)| covered as f64 / intervals as f64).collect();
    (counts.iter().map(|count| count.0).sum(), counts.iter().map(|count| count.1).sum(), shares)
}

/// Generates the artefact with the errors, coverage and bias of all methods.
pub(super) fn budgets(session: &Session) -> Result<ArtefactOutput> {
    let trees = trees(session, |_| EXPLICANDS, false)?;
    let measured = measure(session, &trees, &grouped(EXPLICANDS, session.seed)?)?;
    let of = |judged: &Requirement| {
        measured.iter().filter(|one| one.judged.method == judged.method).collect::<Vec<_>>()
    };
    let mut claims = Vec::new();
    for judged in &METHODS {
        let (covered, intervals, shares) = coverage(&of(judged));
        let share = covered as f64 / intervals as f64;
        let (least, most) = judged.covers;
        let name = judged.method.name();
        let case = Case::new(
            format!("{:.2} % of {intervals} intervals", 100.0 * share),
            Test::mean_within(&shares, judged.covers),
        );
        claims.push(By::StandardError.in_all(
            &format!(
                "95 % intervals of {name} cover the truth in {:.0} to {:.0} % of the cases",
                100.0 * least,
                100.0 * most
            ),
            "target of this project",
            "all games together; it agrees if the coverage, pooled over games, values, budgets, rows and \
             players, has a mean over the runs between the limits; intervals of width 0 are not counted",
            (intervals > 0).then_some(case),
        ));
    }
    // The budgets of a setting are consecutive and ascending.
    let is_largest = |at: usize| measured.get(at + 1).is_none_or(|next| next.budget <= measured[at].budget);
    let unbiased = measured.iter().enumerate().filter(|(at, one)| one.judged.is_unbiased && is_largest(*at));
    claims.push(By::StandardError.in_all(
        "methods that are to be unbiased are: means of many estimates are the truth",
        "target of this project",
        &format!(
            "a method, a game and a value, at the largest budget; it agrees if the slope of the means over \
             the runs against the truths is within {} % of 1; it also disagrees if the largest deviation of \
             a mean exceeds the maximum expected among this many values",
            100.0 * BIAS
        ),
        unbiased.filter_map(|(_, one)| one.is_unbiased()),
    ));
    claims.extend(NESTED.map(|method| fewer_rows(&measured, method)));
    Ok(ArtefactOutput {
        data: numbers("data", &measured),
        figure: None,
        tables: vec![numbers("Errors, coverage and bias", &measured)],
        claims,
        notes: notes![
            format!(
                "tree ensembles: {EXPLICANDS} rows of each dataset with the column means as background, \
                 Shapley and Banzhaf values; logistic: the marginal game of 12 dependent predictors in four \
                 groups (1, 2 | 3, 4 | 5, 6 | 7 to 12), {EXPLICANDS} rows with 100 background rows"
            ),
            "error: mean of ‖φ̃ − φ‖²/‖φ‖² over rows and runs; model rows: one for each evaluated coalition \
             and background row; bias: mean over the runs minus the truth, relative to the truth; z: the \
             mean minus the truth, divided by its standard error",
            "a standard error of zero means that a value is exact; such intervals are not counted. Pooling \
             gives the same weight to every player of every run, so datasets with many features weigh more",
        ],
        datasets: DATASETS.to_vec(),
    })
}

fn measure(session: &Session, trees: &[Problem], groups: &Problem) -> Result<Vec<Measured>> {
    let mut settings: Vec<(&Requirement, usize, Setting<'_>)> = Vec::new();
    for judged in &METHODS {
        let (problems, values) = match judged.on {
            Problems::Trees(value) => (trees, value..value + 1),
            Problems::Groups => (std::slice::from_ref(groups), 0..groups.values.len()),
        };
        for problem in problems {
            for value in values.clone() {
                settings.extend(
                    Setting::new(problem, value, judged.method).map(|setting| (judged, value, setting)),
                );
            }
        }
    }
    let mut asked = Vec::new();
    for (judged, value, setting) in &settings {
        let players = setting.problem.players();
        let least = setting.estimator.minimum_budget(players);
        let budgets = match judged.on {
            Problems::Trees(_) => vec![10 * players, 20 * players],
            Problems::Groups => vec![12, 32, 80],
        };
        for budget in budgets.into_iter().filter(|&budget| budget >= least) {
            asked.push((*judged, *value, setting, budget));
        }
    }
    let cells: Vec<_> =
        asked.iter().map(|&(.., setting, budget)| (setting, Effort::Budget(budget))).collect();
    let answers = estimates(session, &cells, |_| session.runs)?;
    let measured = asked.iter().zip(answers).map(|(&(judged, value, setting, budget), runs)| Measured {
        judged,
        problem: setting.problem.name.clone(),
        value: setting.value(),
        truths: setting.problem.instances.iter().flat_map(|game| game.truths[value].clone()).collect(),
        budget,
        runs,
    });
    // Exact results provide no information about sampling errors.
    Ok(measured.filter(|one: &Measured| one.mean_error() > EXACT).collect())
}

fn fewer_rows(measured: &[Measured], method: &'static MethodSpec) -> Claim {
    let cases = measured.iter().filter(|one| *one.judged.method == *method).filter_map(|one| {
        let alike = |other: &&Measured| *other.judged.method == *INDEPENDENT && other.title() == one.title();
        let other = measured.iter().find(alike)?;
        let (rows, others) = (one.error_times_rows(), other.error_times_rows());
        let ratio = Measurement::mean(&rows).value / Measurement::mean(&others).value;
        let name = format!("{} (ratio {ratio:.3})", one.title());
        Some(Case::new(name, Test::ratio_below(&rows, &others, FEWER)))
    });
    By::SignedRanks.in_all(
        &format!(
            "{} reaches the error of {} with at most 1/4 of the model rows",
            method.name(),
            INDEPENDENT.name()
        ),
        "target of this project",
        &format!(
            "a value and a budget; it agrees if squared error times model rows is at most {FEWER} times that \
             of independent draws"
        ),
        cases,
    )
}

/// Creates a table with one row per method, problem, value and budget.
fn numbers(caption: &str, measured: &[Measured]) -> Table {
    table!(caption, [for one in measured; let (covered, intervals, _) = coverage(&[one]);]
        "method" => one.judged.method.name(),
        "what" => one.title(),
        "model rows" => Measurement::mean(&one.by_run(|one| one.rows as f64)).value,
        "error" => one.mean_error(),
        "coverage" => covered as f64 / intervals as f64,
        "bias" => one.relative_bias().value,
        "largest |z|" => one.largest_z(),
    )
}
