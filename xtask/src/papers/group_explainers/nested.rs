//! Nested permutations against independent draws, and regressions: error against model rows. Not in the paper.

use anyhow::{Context, Result};
use apportion::estimators::{CoalitionalRegression, NestedPermutation, ProductSpace};
use apportion::games::{Coalitions, GameError, Partition, Purpose, stream};
use apportion::{Background, Estimator, Game, MarginalGame, Model};
use rand::seq::index;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::experiment::{BACKGROUND, Kind, Setting, two_a};
use super::runs::{HALF_WIDTH, explicands};
use crate::comparison::{squared_distance, squared_norm};
use crate::reproduce::catalogue::Made;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Style, looks};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::report::{Entry, Table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::store::derive_seed;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};

/// Raised when the games change.
const PROTOCOL: u32 = 2;

/// Budgets M in evaluations of the whole game, each of as many model rows as the background has.
const BUDGETS: [usize; 6] = [8, 16, 32, 64, 128, 256];

/// Explicands of a run, at most.
const MOST_EXPLICANDS: usize = 10;

/// The share of the evaluations that nested permutations may take.
const TARGET: f64 = 0.25;

const VALUES: [Kind; 3] = [Kind::Owen, Kind::TwoStep, Kind::QuotientShapley];

/// How values are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Contender {
    /// Algorithms 2 to 4: independent draws for each player.
    Independent,
    Nested,
    Antithetic,
    /// Leverage-sampled regressions on whole evaluations.
    Regression,
}

impl Contender {
    const ALL: [Self; 4] = [Self::Independent, Self::Nested, Self::Antithetic, Self::Regression];
    const NESTED: [Self; 2] = [Self::Nested, Self::Antithetic];

    fn title(self) -> &'static str {
        match self {
            Self::Independent => "independent draws",
            Self::Nested => "nested permutations, plain",
            Self::Antithetic => "nested permutations, antithetic",
            Self::Regression => "leverage regression",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Independent => looks::PRODUCT_SPACE,
            Self::Nested => looks::NESTED_ORDERS,
            Self::Antithetic => looks::NESTED_ORDERS_ANTITHETIC,
            Self::Regression => looks::COALITIONAL_REGRESSION,
        }
    }

    /// All keep sampling where exact values would be affordable, but for the regression, which is exact there.
    fn estimator(self, of: Kind, partition: &Partition) -> Result<Box<dyn Estimator>> {
        let nested = || NestedPermutation::grouped(of.concept(), partition.clone());
        Ok(match self {
            Self::Independent => {
                Box::new(ProductSpace::grouped(of.concept(), partition.clone()).keep_sampling())
            }
            Self::Nested => Box::new(nested()?.plain().keep_sampling()),
            Self::Antithetic => Box::new(nested()?.keep_sampling()),
            Self::Regression => Box::new(CoalitionalRegression::new(of.concept(), partition.clone())?),
        })
    }
}

/// Games that are explained, one for each explicand.
struct Problem {
    title: &'static str,
    partition: Partition,
    games: Vec<ScenarioTable>,
}

/// A marginal game in every scenario: all 2^n × B predictions, made once.
struct ScenarioTable {
    players: usize,
    scenarios: usize,
    /// By coalition, then scenario.
    values: Vec<f64>,
}

impl ScenarioTable {
    fn of(model: &impl Model, explicand: &[f64], background: &Background) -> Result<Self> {
        let game = MarginalGame::new(model, explicand, background)?;
        let (players, scenarios) = (explicand.len(), background.len());
        let masks = (0..1u64 << players).flat_map(|mask| std::iter::repeat_n(mask, scenarios));
        let coalitions = Coalitions::from_masks(players, masks);
        let of: Vec<usize> = (0..coalitions.len()).map(|row| row % scenarios).collect();
        let mut values = vec![0.0; coalitions.len()];
        game.values_in_scenarios(&coalitions, &of, &mut values)?;
        Ok(Self { players, scenarios, values })
    }

    fn of_coalition(&self, words: &[u64]) -> &[f64] {
        let mask = words[0] as usize;
        &self.values[mask * self.scenarios..(mask + 1) * self.scenarios]
    }
}

impl Game for ScenarioTable {
    fn players(&self) -> usize {
        self.players
    }

    fn rows_per_coalition(&self) -> usize {
        self.scenarios
    }

    fn scenarios(&self) -> usize {
        self.scenarios
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        for ((value, coalition), &scenario) in out.iter_mut().zip(batch.iter()).zip(scenarios) {
            *value = self.of_coalition(coalition.words())[scenario];
        }
        Ok(())
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, coalition) in out.iter_mut().zip(batch.iter()) {
            *value = self.of_coalition(coalition.words()).iter().sum::<f64>() / self.scenarios as f64;
        }
        Ok(())
    }
}

impl Problem {
    fn two_a(session: &Session, explicands: usize) -> Result<Self> {
        let setting = Setting::new(two_a(), 6, session.seed)?;
        let game = |explicand: usize| {
            ScenarioTable::of(&setting.model, setting.background.row(explicand), &setting.background)
        };
        Ok(Self {
            title: "Experiment 2a",
            games: (0..explicands).into_par_iter().map(game).collect::<Result<_>>()?,
            partition: setting.partition,
        })
    }

    /// Diabetes, its features in four groups: person, body, the first serum measurements, the last two.
    fn diabetes(session: &Session, explicands: usize) -> Result<Self> {
        let dataset = session.datasets(&["diabetes"])?.into_iter().next().context("diabetes is embedded")?;
        let mut rng = stream(derive_seed(&("nested", "diabetes", session.seed))?, Purpose::Experiment, 0);
        let drawn = index::sample(&mut rng, dataset.rows(), BACKGROUND + explicands).into_vec();
        let rows: Vec<f64> = drawn[..BACKGROUND].iter().flat_map(|&row| dataset.row(row)).copied().collect();
        let background = Background::rows(rows, dataset.known.players)?;
        let game = |&row: &usize| ScenarioTable::of(&dataset.model, dataset.row(row), &background);
        Ok(Self {
            title: "Diabetes",
            games: drawn[BACKGROUND..].par_iter().map(game).collect::<Result<_>>()?,
            partition: Partition::new(10, vec![vec![0, 1], vec![2, 3], vec![4, 5, 6, 7], vec![8, 9]])?,
        })
    }
}

/// The error of one contender in one run.
#[derive(Serialize)]
struct ErrorCell<'a> {
    problem: &'static str,
    value: &'static str,
    contender: Contender,
    budget: usize,
    run: usize,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    estimator: &'a dyn Estimator,
    /// Of all values of all games.
    #[serde(skip)]
    games: &'a Digest,
    #[serde(skip)]
    method: &'a Digest,
    #[serde(skip)]
    truth: &'a Digest,
}

impl Cell for ErrorCell<'_> {
    fn ingredients(&self) -> Ingredients<'_> {
        Ingredients {
            kind: "nested",
            protocol: PROTOCOL,
            games: self.games,
            method: self.method,
            truth: Some(self.truth),
            seed: self.seed,
        }
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Outcome {
    /// Mean of `‖ĝ − g‖²` over the explicands, over the mean of `‖g‖²`.
    error: f64,
    /// Model rows for one explicand.
    rows: usize,
    /// Intervals ĝ ± 1.96 standard errors, of those that have a width, and how many of them hold the truth.
    intervals: usize,
    covered: usize,
}

/// A contender's errors by budget.
struct Curve {
    contender: Contender,
    points: Vec<Point>,
}

#[derive(Debug, Clone)]
struct Point {
    budget: usize,
    rows: usize,
    error: Measurement,
    intervals: usize,
    covered: usize,
    outcomes: Vec<Outcome>,
}

/// One value on one problem.
struct Comparison {
    problem: &'static str,
    of: Kind,
    curves: Vec<Curve>,
}

impl Comparison {
    fn title(&self) -> String {
        format!("{}, {}", self.problem, self.of.title())
    }

    fn curve(&self, contender: Contender) -> Option<&Curve> {
        self.curves.iter().find(|curve| curve.contender == contender)
    }

    /// Model rows that `contender` took at each budget, over those that independent draws take for the same error. That of independent draws
    /// falls as 1 / rows, so they are found from their mean of error × rows over the budgets.
    fn ratios(&self, contender: Contender) -> Vec<(usize, Measurement)> {
        let products = |contender| {
            let points = self.curve(contender).map_or(&[][..], |curve| &curve.points);
            points.iter().map(|point| (point.budget, point.error.times(point.rows as f64)))
        };
        let independent: Vec<Measurement> =
            products(Contender::Independent).map(|(_, product)| product).collect();
        let count = independent.len() as f64;
        let level = independent.iter().map(|product| product.value).sum::<f64>() / count;
        let error = independent.iter().map(|product| product.error.powi(2)).sum::<f64>().sqrt() / count;
        let ratio = |(budget, product): (usize, Measurement)| {
            let value = product.value / level;
            let relative = (product.error / product.value).hypot(error / level);
            (budget, Measurement { value, error: value * relative })
        };
        products(contender).map(ratio).collect()
    }

    fn runs(&self, contender: Contender) -> usize {
        let points = self.curve(contender).and_then(|curve| curve.points.first());
        points.map_or(0, |point| point.outcomes.len())
    }

    /// The share of a contender's intervals that hold the truth at each budget, and of how many.
    fn coverage(&self, contender: Contender) -> Vec<(usize, usize, usize)> {
        let points = self.curve(contender).map_or(&[][..], |curve| &curve.points);
        points.iter().map(|point| (point.budget, point.covered, point.intervals)).collect()
    }
}

/// Error against model rows, and how many fewer nested permutations take.
pub(super) fn nested(session: &Session) -> Result<Made> {
    let explicands = explicands(session).min(MOST_EXPLICANDS);
    let problems = [Problem::two_a(session, explicands)?, Problem::diabetes(session, explicands)?];
    let mut comparisons = Vec::new();
    for problem in &problems {
        for of in VALUES {
            comparisons.push(comparison(session, problem, of)?);
        }
    }
    let notes = vec![
        format!(
            "games: the marginal game of experiment 2a (groups {{1,2}}, {{3}}, {{4,5,6}}), and that of the trees trained on diabetes (groups age, \
             sex | bmi, bp | s1 to s4 | s5, s6), each with a background of {BACKGROUND} rows; {explicands} explicands, all values of each"
        ),
        "error: mean over explicands and runs of ‖ĝ − g‖² over the mean of ‖g‖², over all players, of quotient values all groups".to_owned(),
        "model rows: a coalition in one scenario takes one row, an evaluation of the whole game as many as the background has. Budgets are the \
         same for all, of 8 to 256 evaluations of the whole game, v(∅) and v(N) among them"
            .to_owned(),
        "nested permutations and independent draws keep sampling where exact values would be affordable; the regression is exact there: points \
         at the bottom of a panel"
            .to_owned(),
        "one nested order takes n + 1 rows where independent draws take 2n; more is saved because nested permutations draw background rows in \
         strata, so that what differs between these adds little to the variance, and by the reverse orders. With a background of 100 rows \
         strata are fine from 200 orders on, which the smallest budgets do not pay"
            .to_owned(),
    ];
    Ok(Made {
        data: data(&comparisons),
        figure: Some(figure(&comparisons, session.runs)),
        tables: vec![ratios(&comparisons), coverage(&comparisons)],
        claims: Contender::NESTED
            .into_iter()
            .map(|contender| fewer_evaluations(&comparisons, contender))
            .chain(WITH_ERRORS.map(|contender| covers(&comparisons, contender)))
            .collect(),
        notes,
        datasets: vec!["diabetes"],
    })
}

fn comparison(session: &Session, problem: &Problem, of: Kind) -> Result<Comparison> {
    let concept = of.concept();
    let truth = |game: &ScenarioTable| Ok(concept.enumerate(game, Some(&problem.partition))?.values);
    let truths: Vec<Vec<f64>> = problem.games.par_iter().map(truth).collect::<Result<_>>()?;
    let games = Digest::of(problem.games.iter().flat_map(|game| game.values.iter().copied()));
    let truth = Digest::of(truths.iter().flatten().copied());
    let mut curves = Vec::new();
    for contender in Contender::ALL {
        let estimator = contender.estimator(of, &problem.partition)?;
        let least = estimator.minimum_budget(problem.partition.players());
        let budgets: Vec<usize> = BUDGETS.into_iter().filter(|&budget| budget >= least).collect();
        // At every budget, as standard errors of small ones are none.
        let answer = |&budget: &usize| estimator.estimate(&problem.games[0], budget, 1);
        let answers = budgets.iter().map(answer).collect::<Result<Vec<_>, _>>()?;
        let method = Digest::of_data(&(estimator.name(), estimator.settings(), answers))?;
        let cell = |(budget, run)| ErrorCell {
            problem: problem.title,
            value: of.title(),
            contender,
            budget,
            run,
            seed: session.seed,
            estimator: &*estimator,
            games: &games,
            method: &method,
            truth: &truth,
        };
        let cells: Vec<ErrorCell<'_>> = budgets
            .iter()
            .flat_map(|&budget| (0..session.runs).map(move |run| (budget, run)))
            .map(cell)
            .collect();
        let outcomes = session.results(&cells, |cell| outcome(cell, problem, &truths))?;
        let points = budgets.iter().zip(outcomes.chunks(session.runs)).map(|(&budget, outcomes)| Point {
            budget,
            rows: outcomes[0].rows,
            error: Measurement::mean(&outcomes.iter().map(|outcome| outcome.error).collect::<Vec<_>>()),
            intervals: outcomes.iter().map(|outcome| outcome.intervals).sum(),
            covered: outcomes.iter().map(|outcome| outcome.covered).sum(),
            outcomes: outcomes.to_vec(),
        });
        curves.push(Curve { contender, points: points.collect() });
    }
    Ok(Comparison { problem: problem.title, of, curves })
}

fn outcome(cell: &ErrorCell<'_>, problem: &Problem, truths: &[Vec<f64>]) -> Result<Outcome> {
    let mut sums = Outcome { error: 0.0, rows: 0, intervals: 0, covered: 0 };
    let mut square = 0.0;
    for (explicand, (game, truth)) in problem.games.iter().zip(truths).enumerate() {
        let seed = derive_seed(&(
            "nested",
            cell.problem,
            cell.value,
            cell.contender,
            cell.budget,
            explicand,
            cell.run,
            cell.seed,
        ))?;
        let explanation = cell.estimator.estimate(game, cell.budget, seed)?;
        sums.error += squared_distance(&explanation.values, truth);
        square += squared_norm(truth);
        sums.rows += explanation.model_rows;
        let std_errors = explanation.std_errors.unwrap_or_default();
        for ((value, truth), error) in explanation.values.iter().zip(truth).zip(std_errors) {
            if error > LEAST_WIDTH {
                sums.intervals += 1;
                sums.covered += usize::from((value - truth).abs() <= HALF_WIDTH * error);
            }
        }
    }
    Ok(Outcome { error: sums.error / square, rows: sums.rows / problem.games.len(), ..sums })
}

/// Standard errors up to this are rounding: the value is exact.
const LEAST_WIDTH: f64 = 1e-9;

/// What is wanted of 95 % intervals.
const WANTED: (f64, f64) = (0.93, 0.97);

/// The contenders whose intervals are judged here; those of independent draws are in the artefact `coverage`.
const WITH_ERRORS: [Contender; 3] = [Contender::Nested, Contender::Antithetic, Contender::Regression];

fn fewer_evaluations(comparisons: &[Comparison], contender: Contender) -> Claim {
    let cases = comparisons.iter().flat_map(|comparison| {
        let runs = comparison.runs(contender);
        comparison.ratios(contender).into_iter().map(move |(budget, ratio)| {
            let name = format!(
                "{}, M = {budget} (ratio {:.3} ± {:.3})",
                comparison.title(),
                ratio.value,
                ratio.error
            );
            Case::new(name, Test::measured_below(ratio, runs, TARGET))
        })
    });
    Claim::over_cases(
        &format!(
            "{} reach the error of independent draws with at most 1/4 of the evaluations",
            contender.title()
        ),
        "target of this project",
        &format!(
            "a game, a value and a budget; it agrees if the model rows are at most {TARGET} times those that independent draws take for the \
             same error"
        ),
        By::StandardError,
        Needed::All,
        cases,
    )
}

fn covers(comparisons: &[Comparison], contender: Contender) -> Claim {
    let points = || comparisons.iter().filter_map(|one| one.curve(contender)).flat_map(|curve| &curve.points);
    let intervals: usize = points().map(|point| point.intervals).sum();
    let covered: usize = points().map(|point| point.covered).sum();
    let runs = points().map(|point| point.outcomes.len()).min().unwrap_or_default();
    let share_of = |run: usize| {
        let (covered, intervals) = points().fold((0, 0), |sum, point| {
            (sum.0 + point.outcomes[run].covered, sum.1 + point.outcomes[run].intervals)
        });
        covered as f64 / intervals as f64
    };
    let shares: Vec<f64> = (0..runs).map(share_of).collect();
    let name = format!("{:.2} % of {intervals} intervals", 100.0 * covered as f64 / intervals as f64);
    let case = Case::new(name, Test::mean_within(&shares, WANTED));
    Claim::over_cases(
        &format!("95 % intervals of {} cover the truth in 93 to 97 % of the cases", contender.title()),
        "target of this project",
        "all games; it agrees if the coverage pooled over them, values, budgets, explicands and players, its mean over the runs, is 93 to 97 %; \
         intervals without width are not counted",
        By::StandardError,
        Needed::All,
        (intervals > 0).then_some(case),
    )
}

fn by_budget(caption: &str) -> Table {
    let columns = ["game", "value", "estimator"].map(str::to_owned).into_iter();
    Table::new(caption, columns.chain(BUDGETS.iter().map(|budget| format!("M = {budget}"))))
}

/// A row of a table by budgets.
fn row(comparison: &Comparison, contender: Contender, entry: impl Fn(usize) -> Option<f64>) -> Vec<Entry> {
    let names = [comparison.problem, comparison.of.title(), contender.title()];
    names.into_iter().map(Entry::from).chain(BUDGETS.map(|budget| entry(budget).into())).collect()
}

fn ratios(comparisons: &[Comparison]) -> Table {
    let mut table =
        by_budget("Model rows over those that independent draws take for the same error, by evaluations M");
    for comparison in comparisons {
        for contender in Contender::ALL {
            let ratios = comparison.ratios(contender);
            table.push(row(comparison, contender, |budget| {
                ratios.iter().find(|ratio| ratio.0 == budget).map(|ratio| ratio.1.value)
            }));
        }
    }
    table
}

fn coverage(comparisons: &[Comparison]) -> Table {
    let mut table = by_budget("Coverage of nominal 95 % intervals");
    for comparison in comparisons {
        for contender in Contender::ALL {
            let coverage = comparison.coverage(contender);
            table.push(row(comparison, contender, |budget| {
                let (_, covered, intervals) = *coverage.iter().find(|coverage| coverage.0 == budget)?;
                (intervals > 0).then(|| covered as f64 / intervals as f64)
            }));
        }
    }
    table
}

fn data(comparisons: &[Comparison]) -> Table {
    let columns = [
        "game",
        "value",
        "estimator",
        "budget",
        "model_rows",
        "error",
        "standard_error",
        "intervals",
        "covered",
    ];
    let mut table = Table::new("data", columns);
    for comparison in comparisons {
        for curve in &comparison.curves {
            for point in &curve.points {
                table.push(vec![
                    comparison.problem.into(),
                    comparison.of.title().into(),
                    curve.contender.title().into(),
                    point.budget.into(),
                    point.rows.into(),
                    point.error.value.into(),
                    point.error.error.into(),
                    point.intervals.into(),
                    point.covered.into(),
                ]);
            }
        }
    }
    table
}

/// Exact values are drawn here.
const FLOOR: f64 = 1e-8;

fn figure(comparisons: &[Comparison], runs: usize) -> Figure {
    let panel = |comparison: &Comparison| {
        let line = |curve: &Curve| Mark::Line {
            style: curve.contender.style(),
            points: curve.points.iter().map(|point| (point.rows as f64, point.error.value)).collect(),
        };
        Panel {
            title: comparison.title(),
            x: Axis::log("model rows", f64::MIN_POSITIVE),
            y: Axis::log("relative squared error", FLOOR),
            marks: comparison.curves.iter().map(line).collect(),
        }
    };
    Figure {
        title: "Error against model rows: independent draws, nested permutations, regressions".to_owned(),
        panels: comparisons.iter().map(panel).collect(),
        columns: VALUES.len(),
        legend: Contender::ALL
            .iter()
            .map(|contender| (contender.title().to_owned(), contender.style()))
            .collect(),
        note: format!(
            "Mean over {runs} runs; values up to {FLOOR:e} are drawn as 0: the regression is exact there."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_marginal_game() {
        let setting = Setting::new(two_a(), 6, 1).unwrap();
        let explicand = setting.background.row(3);
        let game = MarginalGame::new(&setting.model, explicand, &setting.background).unwrap();
        let table = ScenarioTable::of(&setting.model, explicand, &setting.background).unwrap();
        let coalitions = Coalitions::from_masks(6, [0, 5, 63, 40]);
        let (mut one, mut other) = ([0.0; 4], [0.0; 4]);
        game.values(&coalitions, &mut one).unwrap();
        table.values(&coalitions, &mut other).unwrap();
        assert!(one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-14));
        game.values_in_scenarios(&coalitions, &[7, 0, 99, 3], &mut one).unwrap();
        table.values_in_scenarios(&coalitions, &[7, 0, 99, 3], &mut other).unwrap();
        assert_eq!(one, other);
    }
}
