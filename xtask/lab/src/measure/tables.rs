//! The table of each section.

use anyhow::{Context, Result};
use apportion::estimators::{Anytime, Estimator, StopRule, Until};
use apportion::games::parallel;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use xtask::aside;
use xtask::table::Table;
use xtask::{row, table};

use super::estimates::{Contender, Estimate, Runner, estimates};
use super::games::Problem;
use super::harness::Harness;
use crate::comparison::{squared_distance, squared_norm};
use crate::reproduce::session::progress;

/// Confidence of intervals and bounds.
const CONFIDENCE: f64 = 0.95;

/// Coverage below which the intervals of a single game are listed.
const LOW_COVERAGE: f64 = 0.88;

/// Budgets above this share of all coalitions give nearly exact results, which are not compared.
const NEARLY_ALL: f64 = 0.9;

/// Returns the order statistic for a share from 0 to 1, e.g. the median for 0.5.
fn quantile(mut numbers: Vec<f64>, share: f64) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().saturating_sub(1) as f64;
    numbers.get((last * share).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Returns the mean of the numbers that are not NaN.
fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let known: Vec<f64> = numbers.filter(|number| !number.is_nan()).collect();
    known.iter().sum::<f64>() / known.len() as f64
}

/// Calls `each` for every problem, budget and contender that supports the value and the budget, unless the
/// budget covers nearly all coalitions. Returns the results of the calls that succeed.
fn for_each<'a, R>(
    harness: &'a Harness,
    problems: &'a [Problem],
    mut each: impl FnMut(&'a Problem, &(String, usize), &'a Contender, &Runner<'a>) -> Result<R>,
) -> Vec<R> {
    let mut found = Vec::new();
    let progress = progress(problems.len());
    for problem in problems {
        for budget in harness.budgets(problem.players) {
            if budget.1 as f64 > NEARLY_ALL * (problem.players as f64).exp2() {
                continue;
            }
            for contender in &harness.contenders {
                let Some(runner) = contender.runner(&problem.value, harness.growing) else { continue };
                if runner.minimum_budget(problem.players) > budget.1 {
                    continue;
                }
                match each(problem, &budget, contender, &runner) {
                    Ok(measured) => found.push(measured),
                    Err(error) => aside!(
                        "{} on {} (n = {}) at {} is omitted: {error:#}",
                        contender.name(),
                        problem.name,
                        problem.players,
                        budget.0
                    ),
                }
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    found
}

/// The errors of a contender and of the reference in one run.
struct Compared {
    /// Relative squared errors of the contender and of the reference, `‖φ̃ − φ‖² / ‖φ‖²`.
    error: f64,
    reference: f64,
    /// Share of values within their intervals; NaN without intervals.
    coverage: f64,
    /// The sum of the squared standard errors divided by the squared error.
    variance: f64,
    evaluations: f64,
    seconds: f64,
}

impl Compared {
    fn new(estimate: &Estimate, reference: &Estimate, truth: &[f64]) -> Self {
        let norm = squared_norm(truth);
        let error = squared_distance(&estimate.values, truth);
        let (mut coverage, mut variance) = (f64::NAN, f64::NAN);
        if let Some(explanation) = &estimate.explanation {
            if let Some(intervals) = explanation.intervals(CONFIDENCE) {
                let held =
                    intervals.iter().zip(truth).filter(|((low, high), want)| low <= want && *want <= high);
                coverage = held.count() as f64 / truth.len() as f64;
            }
            if let Some(errors) = &explanation.std_errors {
                variance = squared_norm(errors) / error;
            }
        }
        Self {
            error: error / norm,
            reference: squared_distance(&reference.values, truth) / norm,
            coverage,
            variance,
            evaluations: estimate.evaluations as f64,
            seconds: estimate.seconds,
        }
    }

    /// Returns the error relative to that of the reference. An error of the reference below 1e-30 is a
    /// rounding error and counts as 1e-30.
    fn ratio(&self) -> f64 {
        self.error / self.reference.max(1e-30)
    }
}

/// The runs of a row of the table of errors.
struct Group<'a> {
    value: String,
    name: &'a str,
    players: (usize, usize),
    budget: String,
    contender: &'a str,
    runs: Vec<Compared>,
}

/// Compares the errors of contenders with those of the reference.
pub(super) fn errors(harness: &Harness, problems: &[Problem]) -> Result<Table> {
    let reference = Contender::Method(harness.reference);
    // Estimates of the reference are computed once for each problem and budget, and reused for all
    // contenders.
    let mut last: Option<(&Problem, usize, Vec<Estimate>)> = None;
    let found = for_each(harness, problems, |problem, budget, contender, runner| {
        last.take_if(|(of, with, _)| !std::ptr::eq(*of, problem) || *with != budget.1);
        let (.., references) = match &mut last {
            Some(known) => known,
            none => {
                let of = reference
                    .runner(&problem.value, harness.growing)
                    .with_context(|| format!("{} does not support the value", reference.name()))?;
                none.insert((problem, budget.1, estimates(problem, &of, budget.1)?))
            }
        };
        let runs = problem.runs().zip(estimates(problem, runner, budget.1)?).zip(&*references);
        Ok(Group {
            value: problem.value.concept().to_string(),
            name: if harness.pool { problem.class } else { &problem.name },
            players: (problem.players, problem.players),
            budget: budget.0.clone(),
            contender: contender.name(),
            runs: runs.map(|((run, one), other)| Compared::new(&one, other, &run.0.truth)).collect(),
        })
    });
    let mut groups: Vec<Group<'_>> = Vec::new();
    for group in found {
        let is_same = |other: &&mut Group<'_>| {
            (&other.value, other.name, &other.budget, other.contender)
                == (&group.value, group.name, &group.budget, group.contender)
                && (harness.pool || other.players == group.players)
        };
        match groups.iter_mut().find(is_same) {
            Some(other) => {
                other.players = (other.players.0.min(group.players.0), other.players.1.max(group.players.1));
                other.runs.extend(group.runs);
            }
            None => groups.push(group),
        }
    }
    let caption = format!("Squared errors relative to those of {}", reference.name());
    Ok(table!(caption, [for group in &groups;
        let of = |of: fn(&Compared) -> f64| group.runs.iter().map(of);
        let sum = |of: fn(&Compared) -> f64| group.runs.iter().map(of).sum::<f64>();]
        "value" => group.value.as_str(),
        "game" => group.name,
        "n" => match group.players {
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        },
        "budget" => group.budget.as_str(),
        "estimator" => group.contender,
        "runs" => group.runs.len(),
        "reference" => quantile(of(|run| run.reference).collect(), 0.5),
        "median" => quantile(of(Compared::ratio).collect(), 0.5),
        "90%" => quantile(of(Compared::ratio).collect(), 0.9),
        "geometric mean" => mean(of(|run| run.ratio().max(1e-12).ln())).exp(),
        "ratio of means" => sum(|run| run.error) / sum(|run| run.reference),
        "coverage" => mean(of(|run| run.coverage)),
        "variance" => quantile(of(|run| run.variance).filter(|ratio| !ratio.is_nan()).collect(), 0.5),
        "evaluations" => mean(of(|run| run.evaluations)),
        "seconds" => mean(of(|run| run.seconds)),
    ))
}

/// Intervals of one game, or pooled over games.
#[derive(Debug, Default, Clone, Copy)]
struct Intervals {
    count: usize,
    covering: usize,
    /// Number of intervals of width zero around a wrong value.
    wrong_points: usize,
    /// Number of values without an interval.
    absent: usize,
    half_widths: f64,
    errors: f64,
}

impl Intervals {
    fn add(&mut self, estimate: &Estimate, truth: &[f64]) {
        let scale = truth.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let Some(intervals) =
            estimate.explanation.as_ref().and_then(|explanation| explanation.intervals(CONFIDENCE))
        else {
            self.absent += truth.len();
            return;
        };
        for ((&(low, high), value), want) in intervals.iter().zip(&estimate.values).zip(truth) {
            // A value within rounding error of the truth is right.
            let is_right = (value - want).abs() <= 1e-9 * scale;
            self.count += 1;
            self.covering += usize::from(is_right || (low <= *want && *want <= high));
            self.wrong_points += usize::from(low == high && !is_right);
            self.half_widths += 0.5 * (high - low) / scale;
            self.errors += (value - want).abs() / scale;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.covering += other.covering;
        self.wrong_points += other.wrong_points;
        self.absent += other.absent;
        self.half_widths += other.half_widths;
        self.errors += other.errors;
    }

    fn coverage(&self) -> f64 {
        self.covering as f64 / self.count as f64
    }
}

/// Measures the coverage of intervals. The first table pools the hard games and the smooth games; the second
/// lists the games with low coverage, or with intervals of width zero around wrong values.
pub(super) fn intervals(harness: &Harness, problems: &[Problem]) -> Result<[Table; 2]> {
    const COLUMNS: [&str; 7] =
        ["value", "estimator", "intervals", "coverage", "wrong points", "half-width", "error"];
    let mut pooled: Vec<((String, &str, &str), Intervals)> = Vec::new();
    let columns = COLUMNS.into_iter().chain(["games", "without"]);
    let mut all = Table::new("Coverage of 95% intervals", columns);
    let columns = COLUMNS.into_iter().chain(["game", "n"]);
    let mut low = Table::new("Games with low coverage, or points around wrong values", columns);
    let progress = progress(problems.len() * harness.contenders.len());
    for contender in &harness.contenders {
        for problem in problems {
            progress.inc(1);
            let Some(runner) = contender.runner(&problem.value, harness.growing) else { continue };
            for (_, budget) in harness.budgets(problem.players) {
                let budget = budget.max(runner.minimum_budget(problem.players));
                let mut found = Intervals::default();
                for ((known, _), estimate) in problem.runs().zip(estimates(problem, &runner, budget)?) {
                    found.add(&estimate, &known.truth);
                }
                let value = problem.value.concept().to_string();
                if found.count > 0 && (found.coverage() < LOW_COVERAGE || found.wrong_points > 0) {
                    let mut cells = cells(&value, contender.name(), &found);
                    cells.extend(row![problem.name.as_str(), problem.players]);
                    low.push(cells);
                }
                let key = (value, contender.name(), problem.class);
                match pooled.iter_mut().find(|(of, _)| *of == key) {
                    Some((_, sum)) => sum.merge(&found),
                    None => pooled.push((key, found)),
                }
            }
        }
    }
    progress.finish_and_clear();
    for ((value, contender, class), found) in &pooled {
        let mut cells = cells(value, contender, found);
        cells.extend(row![*class, found.absent]);
        all.push(cells);
    }
    Ok([all, low])
}

/// Returns the cells that both tables of intervals have in common.
fn cells(value: &str, contender: &str, found: &Intervals) -> Vec<xtask::table::Entry> {
    let each = found.count as f64;
    row![
        value,
        contender,
        found.count,
        found.coverage(),
        found.wrong_points,
        found.half_widths / each,
        found.errors / each
    ]
}

/// Measures the coverage of bounds of the norm, and of individual values within ±1.96 standard errors:
///
/// ```text
/// ‖φ̃ − φ‖² ≤ F_{ν,f}(0.95) Σ_i V_i
/// ```
///
/// with the squared standard errors V_i, and the 95% quantile of an F distribution, whose parameters are the
/// directions ν and the degrees of freedom f of the distribution of the errors.
pub(super) fn bounds(harness: &Harness, problems: &[Problem]) -> Result<Table> {
    let found = for_each(harness, problems, |problem, budget, contender, runner| {
        let estimates = estimates(problem, runner, budget.1)?;
        let bounds = problem.runs().zip(&estimates).map(|((known, _), one)| Bound::new(one, &known.truth));
        let bounds: Vec<Bound> = bounds.filter_map(Result::transpose).collect::<Result<_>>()?;
        Ok((problem, budget.0.clone(), contender.name(), bounds))
    });
    Ok(table!("Coverage of 95% bounds of the norm, and of single values", [
        for (problem, budget, contender, bounds) in found;
        let sum = |of: fn(&Bound) -> f64| bounds.iter().map(of).sum::<f64>();
        let median = |of: fn(&Bound) -> f64| quantile(bounds.iter().map(of).collect(), 0.5);]
        "value" => problem.value.concept().to_string(),
        "estimator" => contender,
        "game" => problem.name.as_str(),
        "n" => problem.players,
        "budget" => budget,
        "norm" => sum(|one| f64::from(u8::from(one.is_within))) / bounds.len() as f64,
        "values" => sum(|one| one.single as f64) / (bounds.len() * problem.players) as f64,
        "directions" => median(|one| one.directions),
        "degrees of freedom" => median(|one| one.degrees),
        "error / variance" => sum(|one| one.error) / sum(|one| one.variance),
        "without" => problem.runs.len() - bounds.len(),
    ))
}

/// One run compared with its bound.
struct Bound {
    /// Whether the norm of the error is within the bound.
    is_within: bool,
    /// Number of values within ±1.96 standard errors.
    single: usize,
    directions: f64,
    degrees: f64,
    /// Squared error, and the sum of the squared standard errors.
    error: f64,
    variance: f64,
}

impl Bound {
    /// Compares an estimate with its bound. Returns `None` if the estimate has no standard errors or no
    /// distribution of the errors.
    fn new(estimate: &Estimate, truth: &[f64]) -> Result<Option<Self>> {
        let Some(explanation) = &estimate.explanation else { return Ok(None) };
        let distribution = explanation.diagnostics.error_distribution.as_ref();
        let Some((errors, distribution)) = explanation.std_errors.as_ref().zip(distribution) else {
            return Ok(None);
        };
        let (error, variance) = (squared_distance(&estimate.values, truth), squared_norm(errors));
        let (directions, degrees) = (distribution.directions[0], distribution.degrees_of_freedom);
        let quantile = FisherSnedecor::new(directions, degrees.min(1e6))?.inverse_cdf(CONFIDENCE);
        let is_near =
            |((value, truth), error): ((&f64, &f64), &f64)| (value - truth).abs() <= 1.96 * error + 1e-10;
        let single = estimate.values.iter().zip(truth).zip(errors).filter(|one| is_near(*one)).count();
        let is_within = error <= quantile * variance + 1e-20;
        Ok(Some(Self { is_within, single, directions, degrees, error, variance }))
    }
}

/// Runs with one tolerance.
#[derive(Debug, Default, Clone, Copy)]
struct Certificates {
    runs: usize,
    certified: usize,
    correct: usize,
    evaluations: usize,
}

impl Certificates {
    fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        self.certified += other.certified;
        self.correct += other.correct;
        self.evaluations += other.evaluations;
    }

    fn cells(&self) -> Vec<xtask::table::Entry> {
        row![self.runs, self.certified, self.correct, self.evaluations as f64 / self.runs as f64]
    }
}

/// Measures how many runs with a tolerance are certified, and how many of them are within the tolerance:
/// pooled over games, and for each game with incorrect certificates.
pub(super) fn certificates(harness: &Harness, problems: &[Problem]) -> Result<[Table; 2]> {
    const COLUMNS: [&str; 7] =
        ["value", "estimator", "tolerance", "runs", "certified", "correct", "mean evaluations"];
    let mut all = Table::new("Runs with a tolerance", COLUMNS);
    let columns = COLUMNS.into_iter().chain(["game", "n"]);
    let mut wrong = Table::new("Games with incorrect certificates", columns);
    let tasks = problems.len() * harness.contenders.len() * harness.tolerances.len();
    let progress = progress(tasks);
    let mut values: Vec<String> =
        problems.iter().map(|problem| problem.value.concept().to_string()).collect();
    values.dedup();
    for value in &values {
        for contender in &harness.contenders {
            let mut sum = Certificates::default();
            for &tolerance in &harness.tolerances {
                let mut pooled = Certificates::default();
                let of_value = |problem: &&Problem| problem.value.concept().to_string() == *value;
                for problem in problems.iter().filter(of_value) {
                    progress.inc(1);
                    let Some(Runner::Method(estimator)) = contender.runner(&problem.value, false) else {
                        continue;
                    };
                    for (_, budget) in harness.budgets(problem.players) {
                        let found = certified(problem, &*estimator, budget, tolerance);
                        if found.correct < found.certified {
                            let mut cells = row![value.as_str(), contender.name(), tolerance];
                            cells.extend(found.cells());
                            cells.extend(row![problem.name.as_str(), problem.players]);
                            wrong.push(cells);
                        }
                        pooled.merge(&found);
                    }
                }
                if pooled.runs > 0 {
                    let mut cells = row![value.as_str(), contender.name(), tolerance];
                    cells.extend(pooled.cells());
                    all.push(cells);
                    sum.merge(&pooled);
                }
            }
            if sum.runs > 0 && harness.tolerances.len() > 1 {
                let mut cells = row![value.as_str(), contender.name(), "all"];
                cells.extend(sum.cells());
                all.push(cells);
            }
        }
    }
    progress.finish_and_clear();
    Ok([all, wrong])
}

/// Runs an estimator with a tolerance, up to a budget. Runs that fail are not counted.
fn certified(problem: &Problem, estimator: &dyn Estimator, budget: usize, tolerance: f64) -> Certificates {
    let runs: Vec<_> = problem.runs().collect();
    let found = parallel::map(&runs, |&(known, seed)| {
        let until = Until::relative(tolerance).with_budget(Some(budget));
        let mut run = Anytime::new(estimator, &*known.game, seed).ok()?;
        let found = run.run_until(&until).ok()?;
        let norm = squared_norm(&known.truth).sqrt();
        let error = squared_distance(&found.values, &known.truth).sqrt();
        let stopped = found.certificate.as_ref().map(|certificate| certificate.stopped_by);
        let is_certified = stopped == Some(StopRule::Tolerance);
        // The truth has rounding errors, too.
        let is_within = error <= tolerance * norm + 1e-9 * (1.0 + norm);
        Some(Certificates {
            runs: 1,
            certified: usize::from(is_certified),
            correct: usize::from(is_certified && is_within),
            evaluations: found.evaluations,
        })
    });
    found.into_iter().flatten().fold(Certificates::default(), |mut sum, one| {
        sum.merge(&one);
        sum
    })
}
