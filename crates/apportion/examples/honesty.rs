//! Measures the coverage of confidence intervals and the correctness of certificates, on games that are
//! designed to mislead samples.
//!
//! ```console
//! $ cargo run --release -p apportion --example honesty -- intervals
//! $ cargo run --release -p apportion --example honesty -- certificates 20 leverage-shap,permutation
//! ```
//!
//! - `intervals [SEEDS] [METHODS] [SIZES] [FAMILY]`: the coverage of 95% intervals at 20n evaluations, pooled
//!   over players and seeds, and the number of zero-width intervals around a wrong value.
//! - `certificates [SEEDS] [METHODS] [SIZES] [FAMILY]`: the number of certified runs with a tolerance of 0.1,
//!   0.03 and 0.01, and how many of them are within the tolerance.
//! - `values [SEEDS] [METHODS] [SIZES] [FAMILY]`: the same for values other than the Shapley value, compared
//!   with enumeration, with a tolerance of 0.1 and 0.03, for 8 and 12 players by default.
//!
//! FAMILY is a substring of the names of the game families to run.

#![allow(clippy::unwrap_used, reason = "games and budgets are known to be valid")]

#[path = "../tests/apportion/common/hard_games.rs"]
mod hard_games;

use apportion::estimators::{Anytime, Estimator, StopRule, Until, methods};
use apportion::games::Partition;
use apportion::{Method, Semivalue, SolutionConcept, Value};
use hard_games::{SolvedGame, hard_games, smooth_games};
use rayon::prelude::*;

/// The sampling methods for Shapley values.
const METHODS: [Method; 20] = [
    Method::By(&methods::LEVERAGE_SHAP),
    Method::By(&methods::LEVERAGE_SHAP_BERNOULLI),
    Method::By(&methods::LEVERAGE_SHAP_UNPAIRED),
    Method::By(&methods::LEVERAGE_SHAP_WITH_REPLACEMENT),
    Method::By(&methods::KERNEL_SHAP),
    Method::By(&methods::KERNEL_SHAP_PAIRED),
    Method::By(&methods::OPTIMIZED_KERNEL_SHAP),
    Method::By(&methods::PERMUTATION),
    Method::By(&methods::OPTIMIZED_MONTE_CARLO),
    Method::By(&methods::OPTIMIZED_MONTE_CARLO_INDEPENDENT),
    Method::By(&methods::OPTIMIZED_MONTE_CARLO_BALANCED),
    Method::By(&methods::SGD),
    Method::By(&methods::MONTE_CARLO),
    Method::By(&methods::STRATIFIED),
    Method::By(&methods::STRATIFIED_EQUAL),
    Method::By(&methods::MSR),
    Method::By(&methods::MSR_ADJUSTED),
    Method::By(&methods::PRODUCT_SPACE),
    Method::By(&methods::NESTED_PERMUTATION),
    Method::By(&methods::NESTED_PERMUTATION_PLAIN),
];

/// Returns whether a value is exact up to rounding.
fn is_right(got: f64, want: f64, scale: f64) -> bool {
    (got - want).abs() <= 1e-9 * scale
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |index: usize| arguments.get(index).map(String::as_str).filter(|text| *text != "all");
    let seeds: u64 = given(1).map_or(Ok(20), str::parse)?;
    let methods: Vec<Method> = match given(2) {
        Some(names) => names.split(',').map(str::parse).collect::<Result<_, _>>()?,
        None => METHODS.to_vec(),
    };
    let sizes: Vec<usize> = match given(3) {
        Some(sizes) => sizes.split(',').map(str::parse).collect::<Result<_, _>>()?,
        None if given(0) == Some("values") => vec![8, 12],
        None => vec![8, 12, 20, 50, 100],
    };
    let games: Vec<(usize, SolvedGame)> = sizes
        .iter()
        .flat_map(|&n| hard_games(n).into_iter().chain(smooth_games(n)).map(move |game| (n, game)))
        .filter(|(_, game)| given(4).is_none_or(|part| game.family.contains(part)))
        .collect();
    match given(0) {
        Some("certificates") => certificates(&methods, &games, seeds),
        Some("values") => values(&given(2).map_or(Method::all().collect(), |_| methods), &games, seeds),
        _ => intervals(&methods, &games, seeds),
    }
    Ok(())
}

fn estimator(method: Method) -> Option<Box<dyn Estimator>> {
    method.estimator(&Semivalue::Shapley.into())
}

#[derive(Default, Clone, Copy)]
struct Count {
    intervals: usize,
    held: usize,
    zero_and_wrong: usize,
    none: usize,
    width: f64,
    error: f64,
}

fn intervals(methods: &[Method], games: &[(usize, SolvedGame)], seeds: u64) {
    for &method in methods {
        let Some(estimator) = estimator(method) else { continue };
        let counts: Vec<Count> = games
            .par_iter()
            .map(|(n, known)| {
                let scale = known.shapley.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
                let mut count = Count::default();
                for seed in 0..seeds {
                    let budget = (20 * n).max(estimator.minimum_budget(*n));
                    let got = estimator.estimate(&*known.game, budget, seed).unwrap();
                    let Some(intervals) = got.intervals(0.95) else {
                        count.none += n;
                        continue;
                    };
                    for ((&(low, high), value), want) in intervals.iter().zip(&got.values).zip(&known.shapley)
                    {
                        let right = is_right(*value, *want, scale);
                        count.intervals += 1;
                        count.held += usize::from(right || (low <= *want && *want <= high));
                        count.zero_and_wrong += usize::from(low == high && !right);
                        count.width += 0.5 * (high - low) / scale;
                        count.error += (value - want).abs() / scale;
                    }
                }
                count
            })
            .collect();
        let pooled = |smooth: bool| {
            games.iter().zip(&counts).filter(|((_, known), _)| known.is_smooth == smooth).fold(
                Count::default(),
                |sum, (_, count)| Count {
                    intervals: sum.intervals + count.intervals,
                    held: sum.held + count.held,
                    zero_and_wrong: sum.zero_and_wrong + count.zero_and_wrong,
                    none: sum.none + count.none,
                    width: sum.width + count.width,
                    error: sum.error + count.error,
                },
            )
        };
        for (name, count) in [("hard", pooled(false)), ("smooth", pooled(true))] {
            let share = count.held as f64 / count.intervals.max(1) as f64;
            let each = count.intervals.max(1) as f64;
            println!(
                "{:36} {name:6} coverage {share:.3}, {} of {} with zero width and wrong, {} without; \
                 half-width {:.4}, error {:.4}",
                method.name(),
                count.zero_and_wrong,
                count.intervals,
                count.none,
                count.width / each,
                count.error / each
            );
        }
        for ((n, known), count) in games.iter().zip(&counts) {
            let share = count.held as f64 / count.intervals.max(1) as f64;
            if (share < 0.88 || count.zero_and_wrong > 0) && count.intervals > 0 {
                println!(
                    "    {:40} n = {n:3}: {share:.2}, {} of {}; half-width {:.4}, error {:.4}",
                    known.family,
                    count.zero_and_wrong,
                    count.intervals,
                    count.width / count.intervals as f64,
                    count.error / count.intervals as f64
                );
            }
        }
    }
}

fn certificates(methods: &[Method], games: &[(usize, SolvedGame)], seeds: u64) {
    let mut all = (0, 0);
    for &method in methods {
        let Some(estimator) = estimator(method) else { continue };
        let mut of_method = (0, 0);
        for tolerance in [0.1, 0.03, 0.01] {
            let cells: Vec<(usize, usize, f64)> = games
                .par_iter()
                .map(|(n, known)| {
                    let norm = known.shapley.iter().map(|value| value * value).sum::<f64>().sqrt();
                    let (mut certified, mut within, mut evaluations) = (0, 0, 0.0);
                    for seed in 0..seeds {
                        let until = Until::relative(tolerance).with_budget(Some(200 * n));
                        let mut run = Anytime::new(&*estimator, &*known.game, seed).unwrap();
                        let Ok(got) = run.run_until(&until) else { continue };
                        evaluations += got.evaluations as f64 / seeds as f64;
                        let squares =
                            got.values.iter().zip(&known.shapley).map(|(got, want)| (got - want).powi(2));
                        let error = squares.sum::<f64>().sqrt();
                        if got
                            .certificate
                            .as_ref()
                            .is_some_and(|found| found.stopped_by == StopRule::Tolerance)
                        {
                            certified += 1;
                            within += usize::from(error <= tolerance * norm * (1.0 + 1e-9));
                        }
                    }
                    (certified, within, evaluations)
                })
                .collect();
            let sum = cells.iter().fold((0, 0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
            println!("{:36} {tolerance}: {} of {} certificates correct", method.name(), sum.1, sum.0);
            for ((n, known), cell) in games.iter().zip(&cells) {
                if cell.1 < cell.0 {
                    println!(
                        "    {:40} n = {n:3}: {} of {}, {:.0} evaluations",
                        known.family, cell.1, cell.0, cell.2
                    );
                }
            }
            of_method = (of_method.0 + sum.0, of_method.1 + sum.1);
        }
        println!("{:36} {} of {} in all", method.name(), of_method.1, of_method.0);
        all = (all.0 + of_method.0, all.1 + of_method.1);
    }
    println!("{} of {} certificates correct", all.1, all.0);
}

fn values(methods: &[Method], games: &[(usize, SolvedGame)], seeds: u64) {
    let concepts: [SolutionConcept; 7] = [
        Semivalue::Banzhaf.into(),
        Semivalue::weighted_banzhaf(0.3).unwrap().into(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap().into(),
        SolutionConcept::owen(),
        SolutionConcept::banzhaf_owen(),
        SolutionConcept::TwoStepShapley,
        SolutionConcept::Quotient(Semivalue::Shapley),
    ];
    for concept in &concepts {
        for &method in methods {
            let mut of_method = (0, 0);
            let cells = games.par_iter().map(|(n, known)| {
                // Four groups, each with members that are far apart.
                let groups = 4;
                let partition = (0..groups).map(|group| (group..*n).step_by(groups).collect()).collect();
                let partition = Partition::new(*n, partition).unwrap();
                let groups = concept.needs_partition().then_some(partition);
                let value = Value::from_concept(concept.clone(), groups, None).unwrap();
                let Some(estimator) = method.estimator(&value) else { return (0, 0) };
                let truth = value.enumerate(&*known.game).unwrap().values;
                let norm = truth.iter().map(|value| value * value).sum::<f64>().sqrt();
                let mut counts = (0, 0);
                for (tolerance, seed) in
                    [0.1, 0.03].into_iter().flat_map(|one| (0..seeds).map(move |seed| (one, seed)))
                {
                    let until = Until::relative(tolerance).with_budget(Some(50 * n));
                    let mut run = Anytime::new(&*estimator, &*known.game, seed).unwrap();
                    let Ok(got) = run.run_until(&until) else { continue };
                    if got.certificate.as_ref().is_some_and(|found| found.stopped_by == StopRule::Tolerance) {
                        let squares = got.values.iter().zip(&truth).map(|(got, want)| (got - want).powi(2));
                        let is_within = squares.sum::<f64>().sqrt() <= tolerance * norm + 1e-9 * (1.0 + norm);
                        counts = (counts.0 + 1, counts.1 + usize::from(is_within));
                    }
                }
                counts
            });
            let cells: Vec<(usize, usize)> = cells.collect();
            for cell in &cells {
                of_method = (of_method.0 + cell.0, of_method.1 + cell.1);
            }
            if of_method.0 > 0 {
                println!("{concept:24} {:36} {} of {}", method.name(), of_method.1, of_method.0);
            }
            for ((n, known), cell) in games.iter().zip(&cells) {
                if 20 * cell.1 < 19 * cell.0 {
                    println!("    {:40} n = {n:3}: {} of {}", known.family, cell.1, cell.0);
                }
            }
        }
    }
}
