//! The certificate: how often the 95 % intervals of Leverage SHAP's standard errors hold the truth. Not in the paper.

use anyhow::Result;

use super::contender::Contender::LeverageShap;
use super::instance::Instance;
use super::sweep::{Setting, experiment};
use super::{NOTES, all_datasets};
use crate::comparison::{Estimate, Noise};
use crate::reproduce::catalogue::Made;
use crate::reproduce::report::{Entry, Table};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};

/// Half the width of the interval in standard errors.
const HALF_WIDTH: f64 = 1.96;

/// Sample sizes as multiples of n.
const MULTIPLES: [usize; 2] = [10, 20];

/// How many intervals held the truth.
#[derive(Debug, Clone, Copy, Default)]
struct Coverage {
    intervals: usize,
    covered: usize,
    /// Intervals without width: exact values, or no standard error to be had.
    without_width: usize,
}

impl Coverage {
    /// Counts the intervals of one run on one dataset.
    fn of(instance: &Instance, estimate: &Estimate) -> Self {
        let mut coverage = Self::default();
        let none = vec![0.0; instance.players()];
        let std_errors = estimate.std_errors.as_ref().unwrap_or(&none);
        for ((value, truth), &error) in estimate.values.iter().zip(&instance.truth).zip(std_errors) {
            if error > 0.0 {
                coverage.intervals += 1;
                coverage.covered += usize::from((value - truth).abs() <= HALF_WIDTH * error);
            } else {
                coverage.without_width += 1;
            }
        }
        coverage
    }

    fn add(&mut self, other: Self) {
        self.intervals += other.intervals;
        self.covered += other.covered;
        self.without_width += other.without_width;
    }

    fn share(self) -> Option<f64> {
        (self.intervals > 0).then(|| self.covered as f64 / self.intervals as f64)
    }
}

/// Coverage of φ̃ ± 1.96 se, per dataset and pooled.
pub(crate) fn certificate(session: &Session) -> Result<Made> {
    let experiment = experiment(session, &all_datasets())?;
    let columns = ["dataset", "m", "intervals", "covered", "coverage", "without width"];
    let mut data = Table::new("data", columns);
    let mut pooled = [Coverage::default(); 2];
    let mut by_run = vec![[Coverage::default(); 2]; session.runs];
    for (dataset, series) in experiment.datasets.iter().enumerate() {
        let known = series.known;
        let settings = MULTIPLES.map(|multiple| Setting {
            dataset,
            contender: LeverageShap,
            budget: multiple * known.players,
            noise: Noise::NONE,
        });
        for (at, estimates) in experiment.estimates(&settings)?.into_iter().enumerate() {
            let mut coverage = Coverage::default();
            for ((instance, estimate), run) in series.instances.iter().zip(&estimates).zip(&mut by_run) {
                let here = Coverage::of(instance, estimate);
                coverage.add(here);
                run[at].add(here);
            }
            pooled[at].add(coverage);
            data.push(row(known.name, MULTIPLES[at], coverage));
        }
    }
    let mut table = Table::new("Coverage of nominal 95 % intervals", columns);
    table.rows.clone_from(&data.rows);
    for (multiple, coverage) in MULTIPLES.into_iter().zip(pooled) {
        table.push(row("pooled", multiple, coverage));
    }
    let mut notes = NOTES.map(str::to_owned).to_vec();
    notes.push(
        "only standard errors above zero are counted: a zero says that the value is exact (m ≥ 2^n); pooling weighs every \
         player of every run alike, so wide datasets weigh more"
            .to_owned(),
    );
    Ok(Made {
        data,
        figure: None,
        tables: vec![table],
        claims: vec![claim(pooled, &by_run)],
        notes,
        datasets: all_datasets(),
    })
}

/// What is wanted of 95 % intervals.
const WANTED: (f64, f64) = (0.92, 0.98);

/// The claim of 92 to 98 %; `pooled` over the datasets at each multiple of n, `by_run` in each run.
fn claim(pooled: [Coverage; 2], by_run: &[[Coverage; 2]]) -> Claim {
    let both = |[one, other]: [Coverage; 2]| {
        let mut sum = one;
        sum.add(other);
        sum
    };
    let case = |what: &str, of: &dyn Fn([Coverage; 2]) -> Coverage| {
        let all = of(pooled);
        let shares: Vec<f64> = by_run.iter().filter_map(|&run| of(run).share()).collect();
        let share = all.share().map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        (all.intervals > 0).then(|| {
            Case::new(
                format!("{what}: {share} of {} intervals", all.intervals),
                Test::mean_within(&shares, WANTED),
            )
        })
    };
    let cases =
        [case("m = 10n", &|run| run[0]), case("m = 20n", &|run| run[1]), case("together", &|run| both(run))];
    Claim::over_cases(
        "the 95 % intervals φ̃ ± 1.96 se of Leverage SHAP cover the truth in 92 to 98 % of the cases",
        "target of this project",
        "m = 10n, m = 20n or both together; it agrees if the coverage pooled over datasets and players, its mean over the runs, is 92 to 98 %; \
         intervals without width are not counted",
        By::StandardError,
        Needed::All,
        cases.into_iter().flatten(),
    )
}

fn row(dataset: &str, multiple: usize, coverage: Coverage) -> Vec<Entry> {
    vec![
        dataset.into(),
        format!("{multiple}n").into(),
        coverage.intervals.into(),
        coverage.covered.into(),
        coverage.share().into(),
        coverage.without_width.into(),
    ]
}
