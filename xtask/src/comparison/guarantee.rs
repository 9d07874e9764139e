//! Guarantees of the form: with probability 1 − δ, `m = O(n log(n/δ) + n/(εδ))` evaluations are enough for an excess of ε.

use anyhow::Result;

use super::experiment::{Estimate, Experiment, Run, Setting};
use super::noise::Noise;
use super::sweep::{MULTIPLES, covers_all};
use crate::reproduce::report::significant;
use crate::reproduce::statistics::quantile;
use crate::reproduce::verdict::{Claim, Verdict};

/// The probability with which the guarantee may fail.
const DELTA: f64 = 0.1;

/// A theorem of that form.
pub(crate) struct Guarantee<'a> {
    pub(crate) claim: &'a str,
    pub(crate) source: &'a str,
}

impl Guarantee<'_> {
    /// The claim about `contender`, judged by the largest `ε δ m / n` at the quantile 1 − δ of ε over the runs, at m = 5n … 160n: the
    /// constant that the O would need for its second term alone. Runs without an `excess` are left out.
    pub(crate) fn claim<R: Run>(
        &self,
        experiment: &Experiment<'_, R>,
        contender: R::Contender,
        excess: impl Fn(&R, &Estimate) -> Result<Option<f64>>,
    ) -> Result<Claim> {
        let settings = settings(experiment, contender);
        let mut largest: Option<(f64, String)> = None;
        for (setting, estimates) in settings.iter().zip(experiment.estimates(&settings)?) {
            let series = &experiment.datasets[setting.dataset];
            let mut excesses = Vec::new();
            for (instance, estimate) in series.instances.iter().zip(&estimates) {
                excesses.extend(excess(instance, estimate)?);
            }
            if excesses.is_empty() {
                continue;
            }
            excesses.sort_by(f64::total_cmp);
            let evaluations_per_player = setting.budget as f64 / series.known.players as f64;
            let constant = quantile(&excesses, 1.0 - DELTA) * DELTA * evaluations_per_player;
            if largest.as_ref().is_none_or(|(so_far, _)| constant > *so_far) {
                largest = Some((constant, format!("{}, m = {}", series.known.title, setting.budget)));
            }
        }
        Ok(Claim {
            claim: self.claim.to_owned(),
            source: self.source.to_owned(),
            rule: "holds if, at δ = 0.1, the quantile 0.9 of ε times δ m / n is at most 1 in every setting with m < 2^n"
                .to_owned(),
            verdict: largest
                .as_ref()
                .map_or(Verdict::NotTested, |(constant, _)| Verdict::of_truth(*constant <= 1.0)),
            evidence: largest.map_or("no such setting".to_owned(), |(constant, place)| {
                format!("largest constant {} ({place})", significant(constant))
            }),
        })
    }
}

/// The settings of one contender at all sample sizes below 2^n, without noise.
fn settings<R: Run>(experiment: &Experiment<'_, R>, contender: R::Contender) -> Vec<Setting<R::Contender>> {
    let mut settings = Vec::new();
    for (dataset, series) in experiment.datasets.iter().enumerate() {
        let players = series.known.players;
        let budgets = MULTIPLES.into_iter().map(|multiple| multiple * players);
        settings.extend(budgets.filter(|&budget| !covers_all(budget, players)).map(|budget| Setting {
            dataset,
            contender,
            budget,
            noise: Noise::NONE,
        }));
    }
    settings
}
