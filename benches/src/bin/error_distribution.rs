//! Measures the coverage of the error bounds given by standard errors and their distribution.
//!
//! ```text
//! ‖φ̃ − φ‖² ≤ F_{ν,f}(0.95) Σ_i V_i
//! ```
//!
//! Here ν is the effective number of directions and f the degrees of freedom of the
//! [`ErrorDistribution`](apportion::estimators::ErrorDistribution), and the coverage is taken over many seeds
//! and games. Also measures the share of individual values within ±1.96 standard errors. Columns: method,
//! game, players, evaluations; the coverage of the bounds and the share of individual values; medians of ν
//! and f; the mean squared error divided by the mean of Σ_i V_i; the number of runs without standard errors.
//!
//! `cargo run --release -p apportion-benches --bin error_distribution -- [seeds]`

use apportion::estimators::{
    Draws, Estimator, KernelBanzhaf, KernelShap, LeverageShap, MaximumSampleReuse, MonteCarlo,
    OptimizedKernelShap, PermutationShap, exact,
};
use apportion::games::{Game, Purpose, SumOfUnanimity, TabulatedGame, stream};
use apportion::values::Semivalue;
use rand::RngExt;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Creates a game of this kind from a seed.
fn game(kind: &str, players: usize, seed: u64) -> Box<dyn Game> {
    let mut rng = stream(seed, Purpose::Experiment, 1);
    let sum = |sizes: &[usize], seed: u64| {
        let mut rng = stream(seed, Purpose::Experiment, 2);
        let mut terms = Vec::new();
        for &size in sizes {
            let mut members: Vec<usize> = (0..players).collect();
            for place in 0..size {
                members.swap(place, rng.random_range(place..players));
            }
            terms.push((members[..size].to_vec(), 1.0 + rng.random_range(-0.5..0.5)));
        }
        SumOfUnanimity::new(players, 0.0, terms).expect("terms of these players")
    };
    match kind {
        "dense" => Box::new(SumOfUnanimity::random(players, 60, 5, seed)),
        "table" => {
            let values = (0..1 << players).map(|_| rng.random_range(-1.0..1.0)).collect();
            Box::new(TabulatedGame::new(values, 1).expect("a full table"))
        }
        "pair" => Box::new(sum(&[2], seed)),
        "three" => Box::new(sum(&[3], seed)),
        "three+1" => Box::new(sum(&[3, 1, 1], seed)),
        _ => Box::new(sum(&[4, 3, 3, 2], seed)),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(300), |seeds| seeds.parse())?;
    let leverage = LeverageShap::default();
    let estimators: Vec<Box<dyn Estimator>> = vec![
        Box::new(leverage),
        leverage.growing(),
        Box::new(leverage.with_draws(Draws::WithReplacement)),
        Box::new(KernelShap::default()),
        Box::new(KernelShap::paired()),
        Box::new(OptimizedKernelShap),
        Box::new(KernelBanzhaf::default()),
        KernelBanzhaf::without_replacement().growing(),
        MaximumSampleReuse::adjusted(Semivalue::beta_shapley(4.0, 1.0)?).growing(),
        Box::new(MonteCarlo::new(Semivalue::Shapley)),
        Box::new(PermutationShap::default()),
    ];
    let only = std::env::args().nth(2);
    println!("method game n m within single nu f error/V none");
    for estimator in &estimators {
        if only.as_ref().is_some_and(|only| !estimator.name().contains(only)) {
            continue;
        }
        for kind in ["dense", "table", "pair", "three", "three+1", "few"] {
            for (players, per_player) in [(6, 5), (8, 5), (8, 10), (12, 5), (12, 10), (12, 20)] {
                row(&**estimator, kind, players, per_player * players, seeds)?;
            }
        }
    }
    Ok(())
}

fn row(
    estimator: &dyn Estimator,
    kind: &str,
    players: usize,
    budget: usize,
    seeds: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    let (mut within, mut single, mut runs, mut none) = (0, 0, 0, 0);
    let (mut directions, mut degrees) = (Vec::new(), Vec::new());
    let (mut errors, mut variances) = (0.0, 0.0);
    for seed in 0..seeds {
        let game = game(kind, players, seed);
        let value = estimator.value().semivalue().ok_or("a semivalue")?.clone();
        let truth = exact(&*game, value)?.values;
        let got = estimator.estimate(&*game, budget, seed + 1000)?;
        let (Some(std_errors), Some(distribution)) = (got.std_errors, got.diagnostics.error_distribution)
        else {
            none += 1;
            continue;
        };
        let variance: f64 = std_errors.iter().map(|error| error * error).sum();
        let square = |(value, truth): (&f64, &f64)| (value - truth).powi(2);
        let error: f64 = got.values.iter().zip(&truth).map(square).sum();
        let quantile =
            FisherSnedecor::new(distribution.directions[0], distribution.degrees_of_freedom.min(1e6))?
                .inverse_cdf(0.95);
        within += usize::from(error <= quantile * variance + 1e-20);
        let is_within =
            |((value, truth), error): ((&f64, &f64), &f64)| (value - truth).abs() <= 1.96 * error + 1e-10;
        single += got.values.iter().zip(&truth).zip(&std_errors).filter(|entry| is_within(*entry)).count();
        runs += 1;
        directions.push(distribution.directions[0]);
        degrees.push(distribution.degrees_of_freedom);
        errors += error;
        variances += variance;
    }
    let median = |numbers: &mut Vec<f64>| {
        numbers.sort_by(f64::total_cmp);
        numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    println!(
        "{} {kind} {players} {budget} {:.1} {:.1} {:.1} {:.1} {:.2} {none}",
        estimator.name(),
        percent(within, runs),
        percent(single, runs * players),
        median(&mut directions),
        median(&mut degrees),
        errors / variances,
    );
    Ok(())
}
