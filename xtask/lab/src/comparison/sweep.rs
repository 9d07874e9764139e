//! Sweeps: the estimates of all contenders on all datasets, for each step of the varied quantity.

use anyhow::Result;

use super::curves::{Centre, Curves, Level, Point};
use super::experiment::{Estimate, Experiment, Run, Setting};
use super::noise::Noise;

/// Sample sizes as multiples of n.
pub(crate) const MULTIPLES: [usize; 6] = [5, 10, 20, 40, 80, 160];

/// Standard deviations of the noise, with axis labels.
const SIGMAS: [(f64, &str); 7] =
    [(0.0, "0"), (0.005, ""), (0.01, "0.01"), (0.05, ""), (0.1, "0.1"), (0.5, ""), (1.0, "1")];

/// Number of evaluations, relative to the number of players or of coalitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// This multiple of the number of players n.
    Multiple(usize),
    /// This share of all 2^n coalitions, rounded to an even number.
    Share(f64),
}

impl Budget {
    /// Returns the number of evaluations for `players` players, or `None` if it is below 4n, which is too few
    /// for a regression.
    pub(crate) fn evaluations(self, players: usize) -> Option<usize> {
        let evaluations = match self {
            Self::Multiple(multiple) => multiple * players,
            Self::Share(share) => 2 * (share * 2f64.powi(players as i32 - 1)).round() as usize,
        };
        (evaluations >= 4 * players).then_some(evaluations)
    }
}

/// One step of a sweep.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) budget: Budget,
    pub(crate) noise: Noise,
    pub(crate) level: Level,
}

/// Returns whether `budget` covers all coalitions of `players` players.
pub(crate) fn covers_all(budget: usize, players: usize) -> bool {
    players < usize::BITS as usize && budget >= 1 << players
}

/// Returns the steps of a sweep over the sample sizes m = 5n … 160n, without noise.
pub(crate) fn by_sample_size() -> Vec<Step> {
    let step = |multiple: usize| {
        let label = format!("{multiple}n");
        Step {
            budget: Budget::Multiple(multiple),
            noise: Noise::NONE,
            level: Level { tick: label.clone(), label, x: multiple as f64 },
        }
    };
    MULTIPLES.into_iter().map(step).collect()
}

/// Returns the steps of a sweep over the noise levels σ = 0 … 1, at m = `multiple`·n.
pub(crate) fn by_noise(multiple: usize, noise: fn(f64) -> Noise) -> Vec<Step> {
    let step = |(sigma, tick): (f64, &str)| Step {
        budget: Budget::Multiple(multiple),
        noise: noise(sigma),
        level: Level { label: format!("σ = {sigma}"), x: sigma, tick: tick.to_owned() },
    };
    SIGMAS.into_iter().map(step).collect()
}

/// Computes the estimates for every dataset, contender and step, each measured by `metric` and summarized
/// over the runs; runs without a measurement are skipped.
pub(crate) fn sweep<R: Run>(
    experiment: &Experiment<'_, R>,
    contenders: &[R::Contender],
    steps: &[Step],
    centre: Centre,
    metric: impl Fn(&R, R::Contender, &Estimate) -> Result<Option<f64>>,
) -> Result<Curves<R::Contender>> {
    let (mut settings, mut levels) = (Vec::new(), Vec::new());
    for (dataset, series) in experiment.datasets.iter().enumerate() {
        for &contender in contenders {
            for (level, step) in steps.iter().enumerate() {
                if let Some(budget) = step.budget.evaluations(series.known.players) {
                    settings.push(Setting { dataset, contender, budget, noise: step.noise });
                    levels.push(level);
                }
            }
        }
    }
    let mut points = Vec::new();
    for ((setting, level), estimates) in settings.iter().zip(levels).zip(experiment.estimates(&settings)?) {
        let series = &experiment.datasets[setting.dataset];
        let mut errors = Vec::new();
        for (instance, estimate) in series.instances.iter().zip(&estimates) {
            errors.push(metric(instance, setting.contender, estimate)?.unwrap_or(f64::NAN));
        }
        let exact = covers_all(setting.budget, series.known.players);
        points.extend(Point::new(setting.dataset, setting.contender, level, exact, errors));
    }
    Ok(Curves {
        panels: experiment.datasets.iter().map(|series| series.known.heading()).collect(),
        levels: steps.iter().map(|step| step.level.clone()).collect(),
        points,
        centre,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_all_coalitions_is_an_even_number_of_them() {
        assert_eq!(Budget::Share(0.6).evaluations(8), Some(154));
        assert_eq!(Budget::Share(1.0).evaluations(16), Some(1 << 16));
        assert_eq!(Budget::Multiple(20).evaluations(8), Some(160));
        assert_eq!(Budget::Share(0.1).evaluations(8), None);
    }
}
