//! Measures the single-threaded time that a conditional game takes per coalition, excluding the model, in
//! milliseconds for n features and 500 draws.
//!
//! `cargo run --release -p apportion-games --example conditional_timing`

use std::time::Instant;

use apportion_games::{
    Coalitions, ConditionalDistribution, ConditionalGame, CopulaDistribution, EmpiricalDistribution, Game,
    GameError, GaussianDistribution, Purpose, Rows, batch_model, stream,
};
use rand::RngExt;
use rand::distr::Distribution;
use rand_distr::StandardNormal;

const DRAWS: usize = 500;
const ROWS: usize = 1000;
const REPETITIONS: usize = 5;

fn main() -> Result<(), GameError> {
    println!("{:>5} {:>10} {:>10} {:>10} {:>10}", "n", "gaussian", "collinear", "copula", "empirical");
    for n in [10, 50, 100, 200] {
        let data = rows(n, false);
        let gaussian = GaussianDistribution::fit(Rows::new(&data, n), DRAWS, 1)?;
        let copula = CopulaDistribution::fit(Rows::new(&data, n), DRAWS, 1)?;
        let empirical = EmpiricalDistribution::fit(Rows::new(&data, n))?.with_max_rows(DRAWS)?;
        let collinear = rows(n, true);
        let collinear = GaussianDistribution::fit(Rows::new(&collinear, n), DRAWS, 1)?;
        let times = [
            milliseconds(&gaussian)?,
            milliseconds(&collinear)?,
            milliseconds(&copula)?,
            milliseconds(&empirical)?,
        ];
        println!("{n:>5} {:>10.3} {:>10.3} {:>10.3} {:>10.3}", times[0], times[1], times[2], times[3]);
    }
    Ok(())
}

/// Returns rows of normally distributed features that share a common factor; if `collinear`, the last column
/// is the sum of the first two.
fn rows(n: usize, collinear: bool) -> Vec<f64> {
    let mut rng = stream(2, Purpose::Experiment, n as u64);
    let mut data = Vec::with_capacity(ROWS * n);
    for _ in 0..ROWS {
        let shared: f64 = StandardNormal.sample(&mut rng);
        let start = data.len();
        data.extend((0..n).map(|_| {
            let own: f64 = StandardNormal.sample(&mut rng);
            shared + own
        }));
        if collinear {
            data[start + n - 1] = data[start] + data[start + 1];
        }
    }
    data
}

/// Returns the time per coalition in milliseconds: the minimum over several runs on the same random
/// coalitions.
fn milliseconds(distribution: &dyn ConditionalDistribution) -> Result<f64, GameError> {
    let n = distribution.columns();
    let mut rng = stream(3, Purpose::Experiment, n as u64);
    let mut batch = Coalitions::new(n);
    for _ in 0..50 {
        let share: f64 = rng.random();
        batch.push_members((0..n).filter(|_| rng.random::<f64>() < share).collect::<Vec<_>>());
    }
    let model = batch_model(1, |rows: Rows<'_>| Ok(rows.iter().map(|row| row[0]).collect())).serial();
    let explicand = vec![0.5; n];
    let game = ConditionalGame::new(&model, &explicand, distribution)?;
    let mut values = vec![0.0; batch.len()];
    let mut least = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        game.values(&batch, &mut values)?;
        least = least.min(start.elapsed().as_secs_f64() * 1e3 / batch.len() as f64);
    }
    Ok(least)
}
