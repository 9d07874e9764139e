//! Figure 2: the size distribution of sampled coalitions.

use anyhow::{Context, Result};
use apportion::estimators::Pairing;
use apportion::samplers::{Sampler, SizeDistribution, WithReplacement};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::algorithms;
use super::contender::Contender;
use crate::comparison::Compete;
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel};
use crate::reproduce::report::{Table, notes, row, significant};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;
use crate::reproduce::verdict::{By, Case, Claim, Test};

const PLAYERS: [usize; 3] = [10, 100, 1000];

/// Number of sets drawn per possible size.
const DRAWS_PER_SIZE: usize = 100;

/// Generates figure 2.
pub(crate) fn fig2(session: &Session) -> Result<ArtefactOutput> {
    let mut data = Table::new("data", ["players", "distribution", "size", "probability", "drawn", "draws"]);
    let mut table = Table::new(
        "Probability of one set size",
        ["n", "distribution", "size 1", "size n/2", "ratio", "χ² deviation of the draws"],
    );
    let (mut panels, mut agrees, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for players in PLAYERS {
        let distributions = [
            ("kernel", SizeDistribution::kernel(players)?, Contender::KernelShap.style()),
            ("leverage", SizeDistribution::leverage(players)?, Contender::LeverageShap.style()),
        ];
        let mut marks = Vec::new();
        for (name, distribution, style) in distributions {
            let draws = DRAWS_PER_SIZE * (players - 1);
            let seed = derive_seed(&("sizes", name, players, session.seed))?;
            let sample = WithReplacement { distribution: distribution.clone(), pairing: Pairing::Unpaired }
                .sample(draws, seed)?;
            let mut counts = vec![0usize; players + 1];
            sample.coalitions().sizes().iter().for_each(|&size| counts[size as usize] += 1);
            let sizes = 1..players;
            for size in sizes.clone() {
                data.push(row![players, name, size, distribution.probability(size), counts[size], draws]);
            }
            let point = |size: usize| (size as f64, counts[size] as f64 / draws as f64);
            // Draw at most about 125 points: with 999 sizes, this is every eighth point.
            let drawn = sizes.clone().step_by(players.div_ceil(125)).map(point);
            marks.push(Mark::Points { style, points: drawn.collect() });
            marks.push(Mark::Curve {
                colour: style.colour,
                points: sizes.clone().map(|size| (size as f64, distribution.probability(size))).collect(),
            });
            let fit = chi_squared(&counts, &distribution, draws);
            let ratio = distribution.probability(1) / distribution.probability(players / 2);
            table.push(row![
                players,
                name,
                distribution.probability(1),
                distribution.probability(players / 2),
                ratio,
                fit.deviation()
            ]);
            let other = if name == "kernel" {
                SizeDistribution::leverage(players)?
            } else {
                SizeDistribution::kernel(players)?
            };
            let rival = chi_squared(&counts, &other, draws);
            agrees.push(Case::new(
                format!(
                    "n = {players}, {name} (deviation {:.1}, from the other distribution {:.1})",
                    fit.deviation(),
                    rival.deviation()
                ),
                Test::of_chances(rival.chance()?, fit.chance()?, draws),
            ));
            ratios.push((name, players, ratio));
        }
        panels.push(Panel {
            title: format!("n = {players}"),
            x: Axis::linear("set size |S|"),
            y: Axis::log("probability", 1e-12),
            marks,
        });
    }
    Ok(ArtefactOutput {
        data,
        figure: Some(Figure {
            title: "Figure 2: distribution of the sizes of sampled sets".to_owned(),
            panels,
            columns: 3,
            legend: vec![
                ("Kernel SHAP".to_owned(), Contender::KernelShap.style()),
                ("Leverage SHAP".to_owned(), Contender::LeverageShap.style()),
            ],
            note: format!(
                "Lines: the distribution. Points: share of {DRAWS_PER_SIZE}(n − 1) sets drawn by the \
                 sampler, every eighth size at n = 1000."
            ),
        }),
        tables: vec![table],
        claims: claims(&ratios, agrees).into_iter().chain(algorithms::claims(session.seed)).collect(),
        notes: notes![
            "the probability axis is logarithmic, so that both distributions can be read at n = 1000",
            "the authors' repository contains this figure as a picture only, so there are no numbers to \
             compare with",
        ],
        datasets: Vec::new(),
    })
}

fn claims(ratios: &[(&str, usize, f64)], agrees: Vec<Case>) -> Vec<Claim> {
    let said = |distribution: &str| {
        let of_distribution = ratios.iter().filter(|(name, ..)| *name == distribution);
        of_distribution
            .map(|(_, n, ratio)| format!("{} at n = {n}", significant(*ratio)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let all = |distribution: &str, test: fn(f64) -> bool| {
        ratios.iter().filter(|(name, ..)| *name == distribution).all(|&(_, _, ratio)| test(ratio))
    };
    vec![
        Claim::fact(
            "the leverage score distribution places equal total weight on each subset size",
            "caption of figure 2",
            "P(1) / P(n/2) is 1 up to rounding for every n",
            Some(all("leverage", |ratio| (ratio - 1.0).abs() < 1e-9)),
            format!("P(1) / P(n/2) = {}", said("leverage")),
        ),
        Claim::fact(
            "Kernel SHAP over-weights small and large subsets",
            "caption of figure 2",
            "P(1) / P(n/2) exceeds 1 for every n",
            Some(all("kernel", |ratio| ratio > 1.0)),
            format!("P(1) / P(n/2) = {}", said("kernel")),
        ),
        By::Fit.in_all(
            "our samplers draw from these distributions",
            "this project",
            "an n and a distribution; it agrees if the draws rule out the other distribution, and disagrees \
             if they rule out this one",
            agrees,
        ),
    ]
}

/// Result of a χ² goodness-of-fit test of drawn sizes against a distribution.
struct Fit {
    statistic: f64,
    freedom: f64,
}

impl Fit {
    /// Returns the standardized deviation of χ² from its mean, `(χ² − df) / √(2 df)`.
    fn deviation(&self) -> f64 {
        (self.statistic - self.freedom) / (2.0 * self.freedom).sqrt()
    }

    /// Returns the p-value: the probability that draws from the distribution deviate at least as much.
    fn chance(&self) -> Result<f64> {
        Ok(ChiSquared::new(self.freedom).context("invalid degrees of freedom of χ²")?.sf(self.statistic))
    }
}

/// Computes χ² of the counts of sizes 1..n−1. Sizes with an expected count below 5 are merged with their
/// neighbours.
fn chi_squared(counts: &[usize], distribution: &SizeDistribution, draws: usize) -> Fit {
    let (mut statistic, mut cells) = (0.0, 0usize);
    let (mut expected, mut drawn) = (0.0, 0.0);
    let last = counts.len() - 2;
    let mut left: f64 = (1..=last).map(|size| distribution.probability(size)).sum::<f64>() * draws as f64;
    for (size, &count) in counts.iter().enumerate().take(last + 1).skip(1) {
        let here = distribution.probability(size) * draws as f64;
        expected += here;
        drawn += count as f64;
        left -= here;
        if expected >= 5.0 && (left >= 5.0 || size == last) {
            statistic += (drawn - expected) * (drawn - expected) / expected;
            cells += 1;
            (expected, drawn) = (0.0, 0.0);
        }
    }
    Fit { statistic, freedom: cells.saturating_sub(1).max(1) as f64 }
}
