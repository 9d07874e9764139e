//! Runs with a tolerance: the share of runs whose error is within the tolerance, and the number of
//! evaluations.

use anyhow::Result;
use apportion::Until;
use apportion::estimators::{Guarantee, MethodSpec, StopRule, methods};

use super::estimates::{Effort, Estimate, Setting, estimates};
use super::problems::{DATASETS, Problem, textbook, trees};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::{Table, notes, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};

/// Tolerances, as relative errors in the Euclidean norm.
const TOLERANCES: [f64; 3] = [0.1, 0.03, 0.01];

/// Confidence of [`Until::relative`].
const CONFIDENCE: f64 = 0.95;

/// Required share of the runs within the tolerance.
const MIN_SHARE: f64 = 0.93;
/// Maximum ratio of the evaluations used to the minimum budget that reaches the tolerance.
const MAX_RATIO: f64 = 3.0;

/// The default method for Shapley values.
const DEFAULT: &MethodSpec = &methods::LEVERAGE_SHAP;

/// Methods, each with the index of its value in [`Problem::values`], and the numbers of tolerances used for
/// games of up to [`WIDE`] players and for larger games. Tolerances that would use up the whole budget on
/// almost all games are omitted.
const METHODS: [(&MethodSpec, usize, [usize; 2]); 7] = [
    (DEFAULT, 0, [3, 2]),
    (&methods::KERNEL_BANZHAF_WITHOUT_REPLACEMENT, 1, [3, 1]),
    (&methods::KERNEL_SHAP_PAIRED, 0, [2, 1]),
    (&methods::OPTIMIZED_MONTE_CARLO, 0, [2, 1]),
    (&methods::MONTE_CARLO, 0, [1, 1]),
    (&methods::STRATIFIED, 0, [1, 0]),
    (&methods::SGD, 0, [1, 0]),
];

/// Games with more players are wide: their models are slow, so they have fewer runs.
const WIDE: usize = 30;

fn runs_on(session: &Session, players: usize) -> usize {
    if players > WIDE { session.runs.div_ceil(5) } else { session.runs }
}

/// Runs of one method on one kind of game for one tolerance.
struct Measured {
    method: &'static MethodSpec,
    title: String,
    tolerance: f64,
    outcomes: Vec<Estimate>,
    /// Minimum number of evaluations at which the mean error, measured in separate runs, equals the
    /// tolerance; `None` if that is not reached within the budget.
    least: Option<f64>,
}

impl Measured {
    /// Returns the runs that stopped because of the tolerance.
    fn reached(&self) -> impl Iterator<Item = &Estimate> {
        self.outcomes.iter().filter(|run| matches!(run.stopped, Some((StopRule::Tolerance, _))))
    }

    /// Returns the mean number of evaluations of the runs that stopped because of the tolerance.
    fn spent(&self) -> Option<f64> {
        let spent: Vec<f64> = self.reached().map(|run| run.evaluations as f64).collect();
        (!spent.is_empty()).then(|| spent.iter().sum::<f64>() / spent.len() as f64)
    }

    /// Returns the ratio of the mean number of evaluations to the minimum. Returns `None` if any run stopped
    /// before it reached the tolerance, since the remaining runs need fewer evaluations than average.
    fn ratio(&self) -> Option<f64> {
        let are_all = self.reached().count() == self.outcomes.len();
        self.spent().zip(self.least).filter(|_| are_all).map(|(spent, least)| spent / least)
    }
}

/// Number of runs that stopped because of the tolerance, and number of those with an error within it. Both
/// numbers are also given without the runs whose results are exact.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    reached: usize,
    within: usize,
    uncertain: usize,
    uncertain_within: usize,
}

impl Counts {
    fn from_runs(measured: &[&Measured]) -> Self {
        let mut counts = Self::default();
        for (one, run) in measured.iter().flat_map(|one| one.reached().map(move |run| (one, run))) {
            let is_within = run.error.sqrt() <= one.tolerance;
            let is_uncertain = !matches!(run.stopped, Some((_, Guarantee::Exact)));
            counts.reached += 1;
            counts.within += usize::from(is_within);
            counts.uncertain += usize::from(is_uncertain);
            counts.uncertain_within += usize::from(is_uncertain && is_within);
        }
        counts
    }

    /// Tests that enough runs are within the tolerance, both with and without the runs whose results are
    /// exact.
    fn case(self, name: &str) -> Option<Case> {
        let Self { reached, within, uncertain, uncertain_within } = self;
        let shares =
            [(within, reached), (uncertain_within, uncertain)].into_iter().filter(|share| share.1 > 0);
        let test = Test::all(shares.map(|(within, of)| Test::share_above(within, of, MIN_SHARE)));
        let name = format!(
            "{name}: {within} of {reached} runs, {uncertain_within} of the {uncertain} that were not exact"
        );
        (reached > 0).then(|| Case::new(name, test))
    }

    /// Tests that no more runs miss the tolerance than the confidence allows.
    fn case_of_confidence(self, name: &str) -> Option<Case> {
        let Self { reached, within, .. } = self;
        let more = Test::share_above(within, reached, CONFIDENCE);
        // A game counts in favour if significantly more than half of its runs are within the tolerance. With
        // too few runs for this test, the game stays undecided.
        let shows = Test::share_above(within, reached, 0.5);
        let name = format!("{name}: {} of {reached} missed", reached - within);
        (reached > 0).then(|| Case::new(name, Test::of_chances(shows.favour, more.against, reached)))
    }
}

/// Generates the shares of runs within the tolerance, and the ratios of evaluations to minimum budgets.
pub(super) fn until(session: &Session) -> Result<ArtefactOutput> {
    let runs = |players| runs_on(session, players);
    let mut problems = textbook(runs, session.seed)?;
    problems.extend(trees(session, runs, true)?);
    let measured = measure(session, &problems)?;
    let of = |method: &MethodSpec| -> Vec<&Measured> {
        measured.iter().filter(|one| *one.method == *method).collect()
    };
    let claim = |claim: &str, case: &str, by, needed, cases: Vec<Option<Case>>| {
        Claim::over_cases(claim, "target of this project", case, by, needed, cases.into_iter().flatten())
    };
    let of_ratios = "a method; it agrees if its ratio is at most 3 on average over the games and tolerances \
                     for which all runs stopped because of the tolerance; evaluations spent are the mean \
                     over the runs, and the least budget is the one at which the mean relative error of \
                     separate runs equals the tolerance";
    Ok(ArtefactOutput {
        data: numbers("data", measured.iter().map(|one| (one.title.clone(), vec![one]))),
        figure: None,
        tables: vec![numbers("Runs with a tolerance, over all games", by_method(&measured))],
        claims: vec![
            claim(
                "with every method the true error is within the tolerance in at least 93 % of the runs that \
                 stop for it",
                "a method; it agrees if its share pooled over games, tolerances and runs is above 93 %, both \
                 with and without the runs whose results are exact; runs that stopped because of the budget \
                 claim no accuracy and are not counted",
                By::Counts,
                Needed::All,
                METHODS
                    .iter()
                    .map(|(method, ..)| Counts::from_runs(&of(method)).case(method.name()))
                    .collect(),
            ),
            claim(
                "no method on any game misses a tolerance more often than the confidence allows",
                "a method, a game and a tolerance; it disagrees if the share of misses is above the allowed \
                 5 %, and agrees if this share is below one half",
                By::Counts,
                Needed::NotBehind,
                measured.iter().map(|one| Counts::from_runs(&[one]).case_of_confidence(&one.title)).collect(),
            ),
            claim(
                "evaluations spent by leverage-shap are at most 3 times the least budget that reaches the \
                 tolerance on average",
                of_ratios,
                By::StandardError,
                Needed::All,
                vec![ratio_case(DEFAULT, &of(DEFAULT))],
            ),
            claim(
                "with every method evaluations spent are at most 3 times the least budget that reaches the \
                 tolerance on average",
                of_ratios,
                By::StandardError,
                Needed::All,
                METHODS.iter().map(|(method, ..)| ratio_case(method, &of(method))).collect(),
            ),
        ],
        notes: notes![
            "errors are ‖φ̃ − φ‖/‖φ‖, where φ is known in closed form or, for tree ensembles, is the \
             value in the marginal game with the column means as baseline; each run on a dataset explains a \
             different row, and each run of the unanimity games uses a different game",
            format!(
                "budget: the default, 1000 n but at least 100 000, and at most all 2^n coalitions; \
                 confidence {CONFIDENCE}; {} runs on games of more than {WIDE} players",
                runs_on(session, usize::MAX)
            ),
            "kernel-banzhaf-without-replacement estimates Banzhaf values, all others Shapley values",
            "evaluations spent and minimum budgets are measured with growing samples, and repeated \
             coalitions are counted once; minimum budgets are interpolated between two points of a grid, \
             with the squared mean error linear in 1/m",
            "if the error has a single direction, every method needs 6.03 times the minimum budget to be \
             within the tolerance with confidence 0.95: the mean error is √(2/π) σ, its 0.95 quantile is \
             1.96 σ, and π/2 · 1.96² = 6.03. In such games, ratios above 3 are the price of confidence",
        ],
        datasets: DATASETS.to_vec(),
    })
}

/// Tests that the mean ratio of evaluations to the minimum is within the required limit.
fn ratio_case(method: &MethodSpec, measured: &[&Measured]) -> Option<Case> {
    let known: Vec<(f64, &str)> =
        measured.iter().filter_map(|one| Some((one.ratio()?, one.title.as_str()))).collect();
    let (most, whose) = known.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let ratios: Vec<f64> = known.iter().map(|known| known.0).collect();
    let name = format!(
        "{}: mean {} over {} games and tolerances; largest {}, {whose}",
        method.name(),
        significant(Measurement::mean(&ratios).value),
        ratios.len(),
        significant(*most)
    );
    Some(Case::new(name, Test::mean_below(&ratios, MAX_RATIO)))
}

/// Runs all methods on all games for all tolerances.
fn measure(session: &Session, problems: &[Problem]) -> Result<Vec<Measured>> {
    let mut measured = Vec::new();
    let runs = |setting: &Setting<'_>| setting.problem.instances.len();
    let mut settings = Vec::new();
    for problem in problems {
        for &(method, value, [narrow, wide]) in &METHODS {
            let count = if problem.players() > WIDE { wide } else { narrow };
            settings
                .extend(Setting::new(problem, value, method).map(|setting| (setting, &TOLERANCES[..count])));
        }
    }
    let asked: Vec<(&Setting<'_>, f64)> = settings
        .iter()
        .flat_map(|(setting, tolerances)| tolerances.iter().map(move |&tolerance| (setting, tolerance)))
        .collect();
    let cells: Vec<(&Setting<'_>, Effort)> =
        asked.iter().map(|&(setting, tolerance)| (setting, Effort::Until(tolerance))).collect();
    let mut outcomes = estimates(session, &cells, runs)?.into_iter();
    for (setting, tolerances) in &settings {
        let curve = match tolerances.last() {
            Some(&least) => levels(session, setting, least)?,
            None => Vec::new(),
        };
        for (&tolerance, outcomes) in tolerances.iter().zip(outcomes.by_ref()) {
            measured.push(Measured {
                method: setting.method,
                title: format!("{} at {tolerance}", setting.title()),
                tolerance,
                outcomes: outcomes.concat(),
                least: min_evaluations(&curve, tolerance),
            });
        }
    }
    Ok(measured)
}

/// Returns the mean number of evaluations and the mean error of all runs for each budget. Budgets double
/// until the mean error is within the tolerance.
fn levels(session: &Session, setting: &Setting<'_>, tolerance: f64) -> Result<Vec<(f64, f64)>> {
    let players = setting.problem.players();
    let most = Until::relative(tolerance).max_evaluations(players);
    let mut budget = setting.estimator.growing().minimum_budget(players).max(4).min(most);
    let mut levels = Vec::new();
    loop {
        let asked = [(setting, Effort::Grown(budget))];
        let runs = estimates(session, &asked, |setting| setting.problem.instances.len())?.concat().concat();
        let mean = |of: fn(&Estimate) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let error = mean(|run| run.error.sqrt());
        levels.push((mean(|run| run.evaluations as f64), error));
        if error <= tolerance || budget >= most {
            return Ok(levels);
        }
        budget = (2 * budget).min(most);
    }
}

/// Returns the number of evaluations at which the mean error falls to `tolerance`. The squared error is
/// interpolated linearly in 1/m between two levels, which is exact for samples of size m with and without
/// replacement.
fn min_evaluations(levels: &[(f64, f64)], tolerance: f64) -> Option<f64> {
    let at = levels.iter().position(|&(_, error)| error <= tolerance)?;
    let (m, error) = levels[at];
    let Some((m_before, error_before)) = at.checked_sub(1).map(|at| levels[at]) else { return Some(m) };
    let share = (error_before.powi(2) - tolerance.powi(2)) / (error_before.powi(2) - error.powi(2));
    Some(1.0 / ((1.0 - share) / m_before + share / m))
}

/// Groups the measurements over all games by method and tolerance.
fn by_method(measured: &[Measured]) -> impl Iterator<Item = (String, Vec<&Measured>)> {
    METHODS.iter().flat_map(move |(method, ..)| {
        TOLERANCES.into_iter().map(move |tolerance| {
            let is_here = |one: &&Measured| *one.method == **method && one.tolerance == tolerance;
            (format!("{} at {tolerance}", method.name()), measured.iter().filter(is_here).collect())
        })
    })
}

/// Creates a table with one row for each group of measurements.
fn numbers<'m>(caption: &str, groups: impl Iterator<Item = (String, Vec<&'m Measured>)>) -> Table {
    let ratios = |here: &[&Measured]| here.iter().filter_map(|one| one.ratio()).collect::<Vec<f64>>();
    table!(caption, [
        for (title, here) in groups.filter(|group| !group.1.is_empty());
        let (counts, ratios) = (Counts::from_runs(&here), ratios(&here));
    ]
        "what" => title,
        "runs" => here.iter().map(|one| one.outcomes.len()).sum::<usize>(),
        "stopped for it" => counts.reached,
        "within" => counts.within,
        "not exact" => counts.uncertain,
        "of these within" => counts.uncertain_within,
        "spent / least" => Measurement::mean(&ratios).value,
        "largest" => ratios.iter().copied().reduce(f64::max),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_budget_is_where_errors_that_fall_with_the_root_of_the_budget_reach_the_tolerance() {
        let levels = |population: f64| {
            let error = |m: f64| 3.0 * (1.0 / m - 1.0 / population).max(0.0).sqrt();
            [100.0, 141.0, 200.0, 283.0, 400.0].map(|m| (m, error(m)))
        };
        // The results solve 9 / m = 0.04 and 9 (1/m − 1/400) = 0.04.
        assert!((min_evaluations(&levels(f64::INFINITY), 0.2).unwrap() - 225.0).abs() < 1e-9);
        assert!((min_evaluations(&levels(400.0), 0.2).unwrap() - 9.0 / 0.0625).abs() < 1e-9);
        assert_eq!(min_evaluations(&levels(f64::INFINITY), 0.35), Some(100.0));
        assert_eq!(min_evaluations(&levels(f64::INFINITY), 0.1), None);
    }

    #[test]
    fn a_cell_with_runs_stopped_by_the_budget_has_no_ratio() {
        let outcome = |rule, evaluations| Estimate {
            deviations: Vec::new(),
            error: 0.0,
            evaluations,
            rows: 0,
            intervals: 0,
            covered: 0,
            stopped: Some((rule, Guarantee::Asymptotic)),
        };
        let mut measured = Measured {
            method: DEFAULT,
            title: String::new(),
            tolerance: 0.1,
            outcomes: vec![outcome(StopRule::Tolerance, 100), outcome(StopRule::Tolerance, 200)],
            least: Some(75.0),
        };
        assert_eq!(measured.ratio(), Some(2.0));
        measured.outcomes.push(outcome(StopRule::Budget, 1000));
        assert_eq!((measured.spent(), measured.ratio()), (Some(150.0), None));
    }
}
