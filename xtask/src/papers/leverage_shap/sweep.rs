//! The two sweeps that most figures share: error against sample size, and against noise.

use anyhow::Result;

use super::contender::Contender;
use super::curves::{Curves, Level, Point};
use super::experiment::{Estimate, Experiment, Setting};
use super::instance::Instance;
use crate::reproduce::statistics::Summary;

/// Sample sizes as multiples of n.
pub(crate) const MULTIPLES: [usize; 6] = [5, 10, 20, 40, 80, 160];

/// Deviations of the noise: where each is drawn, and what the axis says there. Zero lies where 0.001 would.
const SIGMAS: [(f64, f64, &str); 7] = [
    (0.0, 0.001, "0"),
    (0.005, 0.005, ""),
    (0.01, 0.01, "0.01"),
    (0.05, 0.05, ""),
    (0.1, 0.1, "0.1"),
    (0.5, 0.5, ""),
    (1.0, 1.0, "1"),
];

/// The multiple of n at which noise, γ and tables 1 and 4 are measured.
pub(crate) const TABLE_MULTIPLE: usize = 10;

/// How far an estimate is from the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// `‖φ̃ − φ‖² / ‖φ‖²`.
    Error,
    /// `‖Aφ̃ − b‖² / ‖Aφ − b‖² − 1`; for small n.
    ObjectiveExcess,
}

impl Metric {
    fn of(self, instance: &Instance, estimate: &Estimate) -> Result<Option<f64>> {
        match self {
            Self::Error => Ok(Some(instance.relative_error(&estimate.values))),
            Self::ObjectiveExcess => instance.objective_excess(&estimate.values),
        }
    }
}

/// Whether `budget` covers all coalitions of `players` players.
pub(crate) fn covers_all(budget: usize, players: usize) -> bool {
    players < usize::BITS as usize && budget >= 1 << players
}

/// Error against m = 5n … 160n, without noise.
pub(crate) fn by_sample_size(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    metric: Metric,
) -> Result<Curves> {
    let levels = MULTIPLES.map(|multiple| {
        let label = format!("{multiple}n");
        (multiple, 0.0, Level { tick: label.clone(), label, x: multiple as f64 })
    });
    sweep(experiment, contenders, metric, &levels)
}

/// Error against noise σ = 0 … 1 on v, at m = 10n.
pub(crate) fn by_noise(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    metric: Metric,
) -> Result<Curves> {
    let levels = SIGMAS.map(|(sigma, x, tick)| {
        (TABLE_MULTIPLE, sigma, Level { label: format!("σ = {sigma}"), x, tick: tick.to_owned() })
    });
    sweep(experiment, contenders, metric, &levels)
}

/// The estimates of every dataset, contender and level (multiple of n, σ), summed up by `metric`.
fn sweep(
    experiment: &Experiment<'_>,
    contenders: &[Contender],
    metric: Metric,
    levels: &[(usize, f64, Level)],
) -> Result<Curves> {
    let mut places = Vec::new();
    let mut settings = Vec::new();
    for (dataset, series) in experiment.datasets.iter().enumerate() {
        for &contender in contenders {
            for (level, &(multiple, sigma, _)) in levels.iter().enumerate() {
                let budget = multiple * series.dataset.known.players;
                settings.push(Setting { dataset, contender, budget, sigma });
                places.push(level);
            }
        }
    }
    let mut points = Vec::new();
    for ((setting, &level), estimates) in settings.iter().zip(&places).zip(experiment.estimates(&settings)?) {
        let series = &experiment.datasets[setting.dataset];
        let mut sample = Vec::new();
        for (instance, estimate) in series.instances.iter().zip(&estimates) {
            sample.extend(metric.of(instance, estimate)?);
        }
        if !sample.is_empty() {
            points.push(Point {
                panel: setting.dataset,
                contender: setting.contender,
                level,
                exact: covers_all(setting.budget, series.dataset.known.players),
                summary: Summary::of(&sample),
                runs: sample.len(),
            });
        }
    }
    Ok(Curves {
        panels: experiment.datasets.iter().map(|series| series.dataset.known.heading()).collect(),
        levels: levels.iter().map(|level| level.2.clone()).collect(),
        points,
    })
}
