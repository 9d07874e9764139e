//! Figure 10: sampling with and without replacement.

use anyhow::Result;

use super::contender::Contender::{self, KernelBanzhaf, KernelBanzhafWithoutReplacement};
use super::experiment::{Curves, Metric, curves, datasets, experiment_over, judged, look};
use super::notes::notes;
use crate::comparison::{Budget, FigureLayout, Level, Noise, Step, by_sample_size};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::{notes, significant};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Claim};

/// Maximum number of players for which sample sizes reach 2^n.
const ENUMERABLE: usize = 16;

/// Share of all coalitions at which this project's target is judged.
const TARGET_SHARE: f64 = 0.6;

/// Sample sizes as shares of 2^n, with axis labels.
const SHARES: [(f64, &str); 9] = [
    (0.05, "0.05"),
    (0.1, "0.1"),
    (0.2, "0.2"),
    (0.4, "0.4"),
    (TARGET_SHARE, ""),
    (0.8, ""),
    (0.95, ""),
    (1.0, "1"),
    (2.0, "2"),
];

const PAIR: (Contender, Contender) = (KernelBanzhafWithoutReplacement, KernelBanzhaf);

/// Generates figure 10: median and quartiles of the error with and without replacement.
pub(crate) fn fig10(session: &Session) -> Result<ArtefactOutput> {
    let contenders = [KernelBanzhaf, KernelBanzhafWithoutReplacement];
    let narrow = experiment_over(session, |known| known.players <= ENUMERABLE)?;
    let wide = experiment_over(session, |known| known.players > ENUMERABLE)?;
    let up_to_all = curves(&narrow, &contenders, &by_share(), Metric::SquaredError)?;
    let sparse = curves(&wide, &contenders, &by_sample_size(), Metric::SquaredError)?;
    let look = FigureLayout {
        x: "evaluations m over 2^n",
        ..look("Figure 10: error with and without replacement (trees, path-dependent game)", "squared error")
    };
    let multiples = FigureLayout { x: "evaluations m", ..look };
    let columns = ["dataset", "m"];
    let mut made =
        up_to_all.artefact_output(columns, &look, "Median of ‖φ̃ − φ‖² by sample size, n ≤ 16").followed_by(
            sparse.artefact_output(columns, &multiples, "Median of ‖φ̃ − φ‖² by sample size, n > 16"),
        );
    made.claims =
        judged(&up_to_all, |curves| vec![nothing_until_all(curves), exact_at_all(curves), target(curves)]);
    made.claims.extend(judged(&sparse, |curves| vec![alike_where_sparse(curves)]));
    made.notes = notes();
    made.notes.extend(notes![
        "without replacement exactly m different coalitions are evaluated, in pairs; the paper says that \
         this gives only about m. With replacement repeated coalitions are evaluated once, so that fewer \
         than m evaluations are used: about (1 − e^{−m/2^n}) 2^n",
    ]);
    made.datasets = datasets(|known| known.players <= ENUMERABLE);
    made.datasets.extend(datasets(|known| known.players > ENUMERABLE));
    Ok(made)
}

fn by_share() -> Vec<Step> {
    let step = |(share, tick): (f64, &str)| Step {
        budget: Budget::Share(share),
        noise: Noise::NONE,
        level: Level { label: format!("{share}·2^n"), x: share, tick: tick.to_owned() },
    };
    SHARES.into_iter().map(step).collect()
}

fn nothing_until_all(curves: &Curves) -> Claim {
    let cases =
        curves.cases(curves.open_places(), PAIR, |place| curves.is_below(place, PAIR, 0.8).opposite());
    By::SignedRanks.in_all(
        "sampling without replacement does not improve the error while m < 2^n",
        "section 3.2; appendix G; figure 10",
        "a dataset with n ≤ 16 and a sample size below 2^n; it agrees if the error without replacement is at \
         least 0.8 of that with in the same run",
        cases,
    )
}

fn alike_where_sparse(curves: &Curves) -> Claim {
    By::SignedRanks.in_most(
        "with and without replacement perform quite similarly (where m is a small part of 2^n)",
        "caption of figure 10",
        "a dataset with n > 16 and a sample size; it agrees if the errors of the same run are within a \
         factor of 1.5",
        curves.alike_cases(curves.open_places(), PAIR, 1.5),
    )
}

fn exact_at_all(curves: &Curves) -> Claim {
    let exact = curves.points.iter().filter(|point| point.exact && point.contender == PAIR.0);
    let ratios = exact.filter_map(|point| curves.ratio((point.panel, point.level), PAIR));
    let largest = ratios.reduce(f64::max);
    Claim::fact(
        "without replacement the error falls sharply where m reaches 2^n, as all coalitions are sampled",
        "caption of figure 10",
        "on every dataset with n ≤ 16, the median at m ≥ 2^n is below 1e-15 of that with replacement",
        largest.map(|largest| largest < 1e-15),
        largest.map_or("no such dataset".to_owned(), |l| format!("largest such ratio {}", significant(l))),
    )
}

/// Returns the claim on this project's target: sampling without replacement halves the error at m = 0.6 ·
/// 2^n.
fn target(curves: &Curves) -> Claim {
    let level = SHARES.iter().position(|share| share.0 == TARGET_SHARE);
    let places = curves.open_places().filter(|place| Some(place.1) == level);
    By::SignedRanks.in_all(
        "without replacement the error is at most half of that with, at m = 0.6 · 2^n",
        "target of this project",
        "a dataset with n ≤ 16; it agrees if the ratio in the same run is at most 0.5",
        curves.below_cases(places, PAIR, 0.5),
    )
}
