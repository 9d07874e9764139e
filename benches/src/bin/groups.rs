//! Compares the errors of the regression estimators for grouped players with the errors of Monte Carlo with
//! nested permutations, at the same number of evaluations.
//!
//! `cargo run --release -p apportion-benches --bin groups -- [repetitions] [value]`
//!
//! There are two kinds of games. *leaves* is a sum of terms that are non-zero if some features are present
//! and some others are absent, as in a marginal game of a tree ensemble; half of their features are from one
//! group. *terms* is a random sum of unanimity games of 1 to 4 players. Squared errors are relative to the
//! squared norm of the values, averaged over the repetitions. Permutations are paired with their reverse.
//! Coverage is the share of values within ±1.96 standard errors, for methods that report standard errors.

use apportion::estimators::{CoalitionalRegression, Estimator, NestedPermutation};
use apportion::games::{Coalitions, Game, GameError, Partition, Purpose, SumOfUnanimity, stream};
use apportion::values::{SolutionConcept, Value};
use rand::RngExt;

/// A sum of terms like the leaves of trees. A term `(present, absent, c)` is `c` for coalitions that contain
/// all players of the mask `present` and no player of the mask `absent`; otherwise it is 0.
struct Leaves {
    players: usize,
    leaves: Vec<(u64, u64, f64)>,
}

impl Leaves {
    fn random(partition: &Partition, seed: u64) -> Self {
        let players = partition.players();
        let mut rng = stream(seed, Purpose::Experiment, 2);
        let leaf = |_| {
            let home = partition.group(rng.random_range(0..partition.len()));
            let (mut present, mut absent) = (0, 0);
            for _ in 0..rng.random_range(3..6) {
                let player = match rng.random_range(0..2) {
                    0 => home[rng.random_range(0..home.len())],
                    _ => rng.random_range(0..players),
                };
                if rng.random_range(0..2) == 0 { present |= 1 << player } else { absent |= 1 << player }
            }
            (present, absent & !present, rng.random_range(-1.0..1.0))
        };
        Self { players, leaves: (0..200).map(leaf).collect() }
    }
}

impl Game for Leaves {
    fn players(&self) -> usize {
        self.players
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (row, out) in batch.iter().zip(out) {
            let z = row.words()[0];
            let worth = |&(present, absent, c): &(u64, u64, f64)| {
                if z & present == present && z & absent == 0 { c } else { 0.0 }
            };
            *out = self.leaves.iter().map(worth).sum();
        }
        Ok(())
    }
}

fn squared_error(got: &[f64], want: &[f64]) -> f64 {
    got.iter().zip(want).map(|(x, y)| (x - y) * (x - y)).sum()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let repetitions: u64 = std::env::args().nth(1).map_or(Ok(100), |text| text.parse())?;
    let value: SolutionConcept =
        std::env::args().nth(2).map_or(Ok(SolutionConcept::owen()), |text| text.parse())?;
    println!("groups                         game    budget   used  error    coverage  permutations, ratio");
    for sizes in [
        vec![5; 4],
        vec![4; 5],
        vec![8; 4],
        vec![6; 6],
        vec![8, 1, 1, 6, 3],
        vec![5; 10],
        vec![3; 14],
        vec![12, 12],
    ] {
        let players: usize = sizes.iter().sum();
        let mut players_in_order = 0..players;
        let groups = sizes.iter().map(|&size| players_in_order.by_ref().take(size).collect()).collect();
        let partition = Partition::new(players, groups)?;
        let leaves = Leaves::random(&partition, 1);
        let terms = SumOfUnanimity::random(players, 8 * players, 4, 1);
        let games: [(&str, &dyn Game); 2] = [("leaves", &leaves), ("terms", &terms)];
        for (name, game) in games {
            let truth =
                Value::from_concept(value.clone(), Some(partition.clone()), None)?.enumerate(game)?.values;
            let norm: f64 = truth.iter().map(|value| value * value).sum();
            let estimator = CoalitionalRegression::new(value.clone(), partition.clone())?;
            let permutations =
                NestedPermutation::grouped(SolutionConcept::owen(), partition.clone())?.keep_sampling();
            for budget in [5 * players, 10 * players, 20 * players, 40 * players, 80 * players] {
                if budget < estimator.minimum_budget(players) {
                    continue;
                }
                let (mut error, mut by_permutations, mut evaluations) = (0.0, 0.0, 0);
                let (mut covered, mut judged) = (0, 0);
                for seed in 0..repetitions {
                    let got = estimator.estimate(game, budget, seed)?;
                    error += squared_error(&got.values, &truth) / norm / repetitions as f64;
                    evaluations = got.evaluations;
                    if let Some(errors) = &got.std_errors {
                        judged += errors.len();
                        let within = |((got, want), error): ((&f64, &f64), &f64)| {
                            (got - want).abs() <= 1.96 * error + 1e-12
                        };
                        covered += got
                            .values
                            .iter()
                            .zip(&truth)
                            .zip(errors)
                            .filter(|triple| within(*triple))
                            .count();
                    }
                    if value == SolutionConcept::owen() {
                        let got = permutations.estimate(game, budget, seed)?;
                        by_permutations += squared_error(&got.values, &truth) / norm / repetitions as f64;
                    }
                }
                let shape = format!("{sizes:?}").replace(' ', "");
                let coverage = f64::from(covered as u32) / f64::from(judged.max(1) as u32);
                print!("{shape:<30} {name:<7} {budget:>6} {evaluations:>6}  {error:<8.1e} {coverage:>8.3}");
                if value == SolutionConcept::owen() {
                    print!("  {by_permutations:<8.1e} {:>6.1}", by_permutations / error);
                }
                println!();
            }
        }
    }
    Ok(())
}
