//! The runs of the paper's authors, judged and shown next to ours.
//!
//! Source: `xtask/lab/data/leverage_shap_authors.md`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};

use super::axes::{Along, Curves, Metric, TABLE_MULTIPLE};
use super::contender::Contender;
use super::instance::SMALL;
use super::printed;
use crate::comparison::{Centre, Level, MULTIPLES, Point, covers_all};
use crate::reproduce::datasets::unpack;

/// The gzipped file of the authors' runs.
const PACKED: &[u8] = include_bytes!("../../../data/leverage_shap_authors.csv.gz");

/// Dataset names in the authors' files, in the order of [`printed::DATASETS`].
const DATASETS: [&str; 8] =
    ["IRIS", "California", "Diabetes", "Adult", "Correlated", "Independent", "NHANES", "Communities"];

/// The authors' noise levels, with axis labels.
const SIGMAS: [(f64, &str); 9] = [
    (0.0, "0"),
    (0.0005, ""),
    (0.001, ""),
    (0.005, ""),
    (0.01, "0.01"),
    (0.05, ""),
    (0.1, "0.1"),
    (0.5, ""),
    (1.0, "1"),
];

/// Values of `n ‖Aφ − b‖² / ‖φ‖²` up to this are rounding error, since the authors' models predict in single
/// precision. Such games are additive.
const ROUNDING: f64 = 1e-6;

/// The key of the runs of one estimator in one setting, in the authors' file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Setting {
    dataset: String,
    estimator: String,
    evaluations: usize,
    /// Noise level, as written in the file.
    sigma: String,
    alpha: String,
}

/// The measurements in each run.
#[derive(Debug, Clone, Default)]
struct Measured {
    error: Vec<f64>,
    /// Excess of the objective over its minimum, by run; empty if the authors did not compute it.
    excess: Vec<f64>,
}

/// All runs of the authors.
pub(super) struct Authors {
    players: BTreeMap<String, usize>,
    measured: BTreeMap<Setting, Measured>,
}

/// Returns all runs of the authors, read once.
///
/// # Errors
///
/// If the embedded file is invalid; the tests verify that it is valid.
pub(super) fn authors() -> Result<&'static Authors> {
    static READ: LazyLock<Result<Authors>> = LazyLock::new(|| Authors::read(PACKED));
    READ.as_ref().map_err(|error| anyhow::anyhow!("cannot read the authors' runs: {error:#}"))
}

/// Returns the name of an estimator in the authors' files, or `None` if it does not occur there.
///
/// For the synthetic games, Leverage SHAP (Unpaired) occurs only under the other of its two names.
fn name(contender: Contender, is_synthetic: bool) -> Option<&'static str> {
    Some(match contender {
        Contender::KernelShap => "Kernel SHAP",
        Contender::OptimizedKernelShap => "Optimized Kernel SHAP",
        Contender::LeverageShap => "Leverage SHAP",
        Contender::KernelShapPaired => "Kernel SHAP Paired",
        Contender::LeverageShapUnpaired if is_synthetic => "Leverage SHAP wo Bernoulli, Paired",
        Contender::LeverageShapUnpaired => "Leverage SHAP (Unpaired)",
        Contender::LeverageShapWithReplacement => "Leverage SHAP wo Bernoulli",
        Contender::PermutationShap => "Permutation SHAP",
        _ => return None,
    })
}

impl Authors {
    fn read(packed: &[u8]) -> Result<Self> {
        let bytes = unpack(packed)?;
        let (mut players, mut measured) = (BTreeMap::new(), BTreeMap::<Setting, Measured>::new());
        for record in csv::Reader::from_reader(bytes.as_slice()).records() {
            let record = record?;
            let cell = |at: usize| record.get(at).context("a row has too few columns");
            let runs: Vec<f64> = record.iter().skip(7).map(|run| Ok(run.parse()?)).collect::<Result<_>>()?;
            ensure!(runs.len() == RUNS, "found {} runs, expected {RUNS}", runs.len());
            players.insert(cell(0)?.to_owned(), cell(1)?.parse()?);
            let setting = Setting {
                dataset: cell(0)?.to_owned(),
                estimator: cell(2)?.to_owned(),
                evaluations: cell(3)?.parse()?,
                sigma: cell(4)?.to_owned(),
                alpha: cell(5)?.to_owned(),
            };
            let here = measured.entry(setting).or_default();
            match cell(6)? {
                "error" => here.error = runs,
                "excess" => here.excess = runs,
                _ => {}
            }
        }
        Ok(Self { players, measured })
    }

    /// Returns the runs of a setting. In the file, a noise level is written in its shortest decimal notation.
    fn measured(
        &self,
        dataset: &str,
        estimator: &str,
        evaluations: usize,
        (sigma, alpha): (f64, &str),
    ) -> Option<&Measured> {
        let setting = Setting {
            dataset: dataset.to_owned(),
            estimator: estimator.to_owned(),
            evaluations,
            sigma: sigma.to_string(),
            alpha: alpha.to_owned(),
        };
        self.measured.get(&setting)
    }

    /// Returns the number of players of the authors' dataset in a column of the paper's tables.
    pub(super) fn players(&self, column: usize) -> usize {
        self.players.get(DATASETS[column]).copied().unwrap_or_default()
    }

    /// Returns the panel title, e.g. `IRIS (n = 4)`.
    pub(super) fn heading(&self, column: usize) -> String {
        format!("{} (n = {})", DATASETS[column], self.players(column))
    }

    /// Returns the errors of an estimator at m = 10n, run by run.
    pub(super) fn errors(&self, contender: Contender, column: usize) -> Option<&[f64]> {
        let evaluations = TABLE_MULTIPLE * self.players(column);
        let measured = self.measured(DATASETS[column], name(contender, false)?, evaluations, (0.0, ""))?;
        Some(&measured.error)
    }

    /// Returns `n ‖Aφ − b‖² / ‖φ‖²` of each run on a dataset with few players, a lower bound on γ; NaN if the
    /// game is additive up to rounding.
    ///
    /// Without noise, `‖φ̃ − φ‖² = n ‖Aφ − b‖² ε`, with the excess ε of the objective, for every estimator
    /// whose values sum to v(N) − v(∅) (Pythagoras and Lemma 3.3). The bound is computed from the estimate
    /// with the largest error, where rounding matters least.
    pub(super) fn residuals(&self, column: usize) -> Vec<f64> {
        let without_noise = self.measured.iter().filter(|(setting, measured)| {
            setting.dataset == DATASETS[column] && setting.sigma == "0" && !measured.excess.is_empty()
        });
        let mut largest = vec![(0.0, f64::NAN); RUNS];
        for (_, measured) in without_noise {
            for ((largest, &error), &excess) in largest.iter_mut().zip(&measured.error).zip(&measured.excess)
            {
                if error > largest.0 {
                    *largest = (error, error / excess);
                }
            }
        }
        largest
            .into_iter()
            .map(|(_, residual)| if residual > ROUNDING { residual } else { f64::NAN })
            .collect()
    }

    /// Returns the excess of the objective, run by run. Without noise, it is computed from the error, which
    /// avoids cancellation.
    fn excess(measured: &Measured, residuals: &[f64], sigma: f64) -> Vec<f64> {
        let runs = measured.error.iter().zip(&measured.excess).zip(residuals);
        let of = |((error, excess), residual): ((&f64, &f64), &f64)| match residual {
            residual if residual.is_nan() => f64::NAN,
            residual if sigma == 0.0 => error / residual,
            _ => *excess,
        };
        runs.map(of).collect()
    }

    /// Returns the curves of one of the authors' figures on datasets. Each column of the paper's tables has a
    /// panel; for the objective, only the datasets with few players have a panel.
    pub(super) fn curves(
        &self,
        along: Along,
        metric: Metric,
        contenders: &[Contender],
        centre: Centre,
    ) -> Curves {
        let settings: Vec<(usize, f64, Level)> = match along {
            Along::SampleSize => MULTIPLES
                .map(|multiple| {
                    let label = format!("{multiple}n");
                    (multiple, 0.0, Level { tick: label.clone(), label, x: multiple as f64 })
                })
                .to_vec(),
            Along::Noise => SIGMAS
                .map(|(sigma, tick)| {
                    let label = format!("σ = {sigma}");
                    (TABLE_MULTIPLE, sigma, Level { label, x: sigma, tick: tick.to_owned() })
                })
                .to_vec(),
        };
        let columns = columns(self, metric);
        let mut points = Vec::new();
        for (panel, &column) in columns.iter().enumerate() {
            let players = self.players(column);
            let residuals =
                if metric == Metric::ObjectiveExcess { self.residuals(column) } else { Vec::new() };
            for &contender in contenders {
                let Some(name) = name(contender, false) else { continue };
                for (level, (multiple, sigma, _)) in settings.iter().enumerate() {
                    let evaluations = multiple * players;
                    let measured = self.measured(DATASETS[column], name, evaluations, (*sigma, ""));
                    let runs = measured.map(|measured| match metric {
                        Metric::Error => measured.error.clone(),
                        Metric::ObjectiveExcess => Self::excess(measured, &residuals, *sigma),
                    });
                    let exact = covers_all(evaluations, players);
                    points.extend(runs.and_then(|runs| Point::new(panel, contender, level, exact, runs)));
                }
            }
        }
        Curves {
            panels: columns.iter().map(|&column| self.heading(column)).collect(),
            levels: settings.into_iter().map(|(_, _, level)| level).collect(),
            points,
            centre,
        }
    }

    /// Returns the authors' runs of a contender on a synthetic game with `players` players, m = 500 and level
    /// α.
    pub(super) fn synthetic(
        &self,
        contender: Contender,
        players: usize,
        alpha: f64,
    ) -> Option<Synthetic<'_>> {
        let dataset = format!("Synthetic_{players}");
        let evaluations = SYNTHETIC_EVALUATIONS;
        let measured =
            self.measured(&dataset, name(contender, true)?, evaluations, (0.0, &alpha.to_string()))?;
        Some(Synthetic { players, alpha, measured })
    }
}

/// Number of runs of each estimator in each setting.
pub(super) const RUNS: usize = 100;

/// Number of evaluations on the synthetic games.
pub(super) const SYNTHETIC_EVALUATIONS: usize = 500;

/// Returns the columns of the paper's tables for which a metric is available.
pub(super) fn columns(authors: &Authors, metric: Metric) -> Vec<usize> {
    let has = |column: &usize| metric == Metric::Error || authors.players(*column) <= SMALL;
    (0..printed::DATASETS.len()).filter(has).collect()
}

/// Runs of an estimator on the synthetic games of one n and α.
pub(super) struct Synthetic<'a> {
    players: usize,
    alpha: f64,
    measured: &'a Measured,
}

impl Synthetic<'_> {
    /// Returns the errors as computed and plotted by the authors: `‖φ̃ − x‖² / ‖x‖²`, where x is the solution
    /// of the regression that sums to 0.
    pub(super) fn plotted(&self) -> Vec<f64> {
        self.measured.error.clone()
    }

    /// Returns `‖φ̃ − φ‖² / ‖φ‖²` for the Shapley values `φ = x + 1/n`, which sum to v(N) − v(∅) = 1. By
    /// Pythagoras, `‖φ̃ − φ‖² = n ‖Aφ − b‖² ε` with the excess ε of the objective and `‖Aφ − b‖ = α`.
    pub(super) fn errors(&self) -> Vec<f64> {
        let norm = span_norm(self.players, self.alpha) + 1.0 / self.players as f64;
        let distance = |excess: &f64| self.players as f64 * self.alpha.powi(2) * excess;
        self.measured.excess.iter().map(|excess| distance(excess) / norm).collect()
    }

    pub(super) fn excess(&self) -> &[f64] {
        &self.measured.excess
    }
}

/// Returns `‖x‖²` of the synthetic games, where x is the part of φ that sums to 0: `‖Ax‖ = 1 − α`, and
/// `‖Ax‖² = ‖x‖²/n` (Lemma 3.3).
pub(super) fn span_norm(players: usize, alpha: f64) -> f64 {
    (1.0 - alpha).powi(2) * players as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::statistics::Summary;
    use crate::reproduce::verdict::Test;

    /// Rounds to three significant digits, as numpy does for the paper's tables.
    fn three(number: f64) -> f64 {
        format!("{number:.2e}").parse().unwrap()
    }

    #[test]
    fn their_runs_give_tables_1_and_4_digit_for_digit() {
        let authors = authors().unwrap();
        for (contender, table) in printed::ERRORS {
            for column in 0..8 {
                let summary = Summary::from_sample(authors.errors(contender, column).unwrap());
                for (statistic, (name, value)) in summary.named().into_iter().enumerate() {
                    let want = table[statistic][column];
                    assert_eq!(three(value), want, "{contender:?}, {}, {name}", DATASETS[column]);
                }
            }
        }
    }

    #[test]
    fn their_runs_give_table_2_digit_for_digit() {
        let pair = (Contender::LeverageShap, Contender::OptimizedKernelShap);
        let curves =
            authors().unwrap().curves(Along::SampleSize, Metric::Error, &[pair.0, pair.1], Centre::Mean);
        let mut open = Vec::new();
        for (column, ratios) in printed::RATIOS.into_iter().enumerate() {
            for (level, want) in ratios.into_iter().enumerate() {
                let ratio = curves.ratio((column, level), pair).unwrap();
                assert_eq!(three(ratio), want, "{} {level}", DATASETS[column]);
                open.extend((want != 1.0).then_some(ratio));
            }
        }
        // The paper truncates 0.5026 to 50.2%.
        let average = open.iter().sum::<f64>() / open.len() as f64;
        assert_eq!((average * 1000.0).floor() / 1000.0, printed::AVERAGE_RATIO, "{average}");
    }

    #[test]
    fn every_figure_has_all_their_estimators_at_all_levels() {
        let authors = authors().unwrap();
        let points = |along, metric| {
            let curves = authors.curves(along, metric, Contender::ALL, Centre::Mean);
            assert!(curves.points.iter().all(|point| point.errors.len() == RUNS));
            curves.points.len()
        };
        assert_eq!(points(Along::SampleSize, Metric::Error), 8 * 7 * 6);
        assert_eq!(points(Along::Noise, Metric::Error), 8 * 7 * 9);
        assert_eq!(points(Along::SampleSize, Metric::ObjectiveExcess), 4 * 7 * 6);
        assert_eq!(points(Along::Noise, Metric::ObjectiveExcess), 4 * 7 * 9);
    }

    #[test]
    fn the_excess_follows_from_the_error_by_pythagoras() {
        let authors = authors().unwrap();
        let mut compared = 0;
        for column in columns(authors, Metric::ObjectiveExcess) {
            let residuals = authors.residuals(column);
            for (setting, measured) in &authors.measured {
                if setting.dataset != DATASETS[column] || setting.sigma != "0" {
                    continue;
                }
                let computed = Authors::excess(measured, &residuals, 0.0);
                for (computed, excess) in computed.into_iter().zip(&measured.excess) {
                    // Smaller values in the authors' files are rounding errors of single precision.
                    if *excess > 0.1 && !computed.is_nan() {
                        assert!(
                            (computed / excess - 1.0).abs() < 0.01,
                            "{setting:?}: {computed} != {excess}"
                        );
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 1000, "{compared}");
    }

    #[test]
    fn their_synthetic_errors_are_distances_to_values_that_add_up_to_0() {
        let authors = authors().unwrap();
        let mut compared = 0;
        for players in [10, 12, 14, 16] {
            for alpha in [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8] {
                for contender in Contender::ALL {
                    let Some(runs) = authors.synthetic(*contender, players, alpha) else { continue };
                    let share = 1.0 / players as f64;
                    let norm = span_norm(players, alpha);
                    for (plotted, error) in runs.plotted().into_iter().zip(runs.errors()) {
                        // φ̃ sums to 1, so ‖φ̃ − x‖² = ‖φ̃ − φ‖² + 1/n; and ‖φ‖² = ‖x‖² + 1/n.
                        let want = (error * (norm + share) + share) / norm;
                        assert!(
                            (plotted / want - 1.0).abs() < 2e-4,
                            "{players}, {alpha}: {plotted} != {want}"
                        );
                        compared += 1;
                    }
                }
            }
        }
        assert_eq!(compared, 4 * 7 * 6 * RUNS);
    }

    /// Leverage SHAP (Unpaired) was run twice: significant differences between two runs of one method must be
    /// rare.
    #[test]
    fn two_runs_of_one_method_do_not_differ_beyond_chance() {
        let authors = authors().unwrap();
        let names = ["Leverage SHAP (Unpaired)", "Leverage SHAP wo Bernoulli, Paired"];
        let mut chances = Vec::new();
        for (column, dataset) in DATASETS.into_iter().enumerate() {
            for multiple in MULTIPLES {
                let evaluations = multiple * authors.players(column);
                let [one, other] =
                    names.map(|name| &authors.measured(dataset, name, evaluations, (0.0, "")).unwrap().error);
                let test = Test::ratio_below(one, other, 1.0);
                chances.push(test.favour.min(test.against));
            }
        }
        assert_eq!(chances.len(), 48);
        let least = chances.iter().copied().fold(1.0, f64::min);
        assert!(least > 0.025 / 48.0, "{least}");
    }
}
