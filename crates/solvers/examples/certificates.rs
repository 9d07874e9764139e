//! Compares the certificate by probes with the one computed from the Gram matrix, on sampled designs for
//! Shapley values, for games whose values are known.
//!
//! `cargo run --release -p apportion-solvers --example certificates [n…]`
//!
//! Prints for each game, for n players and m/n evaluations per player:
//!
//! - `errors`, `least`, `most`: the standard errors by probes divided by the computed ones (the root of the
//!   ratio of their mean squares, and the smallest and the largest ratio for one player);
//! - `cover`: the fraction of players and draws whose error is at most 1.96 computed standard errors, and the
//!   same for standard errors by probes;
//! - `directions`, `freedom`: the mean ratios of the directions and of the degrees of freedom;
//! - `hats`: the largest relative error of a hat value;
//! - `value error`: the mean squared error of the values, divided by the mean square of the true values.

use apportion_games::{Airport, ClosedForm, Coalitions, Game, Glove, Purpose, SumOfUnanimity, stream};
use apportion_solvers::{Constraint, Design, Kernel, Options, least_squares_with};
use rand::RngExt;

const DRAWS: u64 = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![300, 1000] } else { given };
    println!(
        "game          n  m/n  errors  least  most   cover computed  cover probes  directions  freedom  \
         hats  value error"
    );
    for players in sizes {
        let games: [(&str, Box<dyn ClosedFormGame>); 3] = [
            ("unanimity", Box::new(SumOfUnanimity::random(players, 3 * players, 4, 1))),
            ("airport", Box::new(Airport::new((1..=players).map(|i| (i * i) as f64).collect::<Vec<f64>>())?)),
            ("glove", Box::new(Glove::new(players / 3, players - players / 3)?)),
        ];
        for (name, game) in &games {
            for per_player in [3, 5, 10, 20] {
                compare(name, game.as_ref(), per_player)?;
            }
        }
    }
    Ok(())
}

/// A game whose Shapley values are known.
trait ClosedFormGame: Game + ClosedForm {}
impl<G: Game + ClosedForm> ClosedFormGame for G {}

fn compare(
    name: &str,
    game: &dyn ClosedFormGame,
    per_player: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let n = game.players();
    let truth = game.shapley();
    let mut ends = Coalitions::new(n);
    ends.push_empty();
    ends.push_full();
    let mut of_ends = [0.0; 2];
    game.values(&ends, &mut of_ends)?;
    let (mut ratios, mut sums, mut covered, mut error) = (Vec::new(), [0.0; 2], [0.0; 2], 0.0);
    let (mut directions, mut freedom, mut off) = (Vec::new(), Vec::new(), 0.0_f64);
    for seed in 0..DRAWS {
        let (coalitions, weights) = paired_design(n, per_player * n / 2, seed);
        let mut values = vec![0.0; coalitions.len()];
        game.values(&coalitions, &mut values)?;
        values.iter_mut().for_each(|value| *value -= of_ends[0]);
        let design = Design::paired(&coalitions, &weights)?;
        let total = [of_ends[1] - of_ends[0]];
        let certificates = [Kernel::Panels, Kernel::MatrixFree].map(|kernel| {
            let fit = least_squares_with(&design, &values, 1, Constraint::Sum(&total), &Options { kernel })?;
            let certificate = fit.certificate(&vec![1.0; weights.len()])?;
            Ok::<_, Box<dyn std::error::Error>>((certificate, fit))
        });
        let [computed, probed] = certificates;
        let ((computed, fit), (probed, by_steps)) = (computed?, probed?);
        for (player, truth) in truth.iter().enumerate() {
            let deviation = (fit.coefficients()[player] - truth).abs();
            error += deviation * deviation;
            let errors = [computed.standard_errors[player], probed.standard_errors[player]];
            ratios.push(errors[1] / errors[0]);
            for (which, own) in errors.iter().enumerate() {
                sums[which] += own * own;
                covered[which] += f64::from(u8::from(deviation <= 1.96 * own));
            }
        }
        directions.push(probed.directions[0] / computed.directions[0]);
        freedom.push(probed.degrees_of_freedom / computed.degrees_of_freedom);
        for (want, got) in fit.hat_values().iter().zip(by_steps.hat_values()) {
            off = off.max((got / want - 1.0).abs());
        }
    }
    let cases = (DRAWS as usize * n) as f64;
    let norm: f64 = truth.iter().map(|value| value * value).sum();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    println!(
        "{name:10} {n:5} {per_player:4} {:7.3} {:6.3} {:5.3} {:16.3} {:13.3} {:11.3} {:8.3} {off:5.2} \
         {:12.1e}",
        (sums[1] / sums[0]).sqrt(),
        ratios.iter().copied().fold(f64::INFINITY, f64::min),
        ratios.iter().copied().fold(0.0, f64::max),
        covered[0] / cases,
        covered[1] / cases,
        mean(&directions),
        mean(&freedom),
        error / (DRAWS as f64 * norm),
    );
    Ok(())
}

/// Returns pairs of coalitions with uniformly distributed sizes, and the regression weights that correspond
/// to drawing them by leverage scores.
fn paired_design(players: usize, pairs: usize, seed: u64) -> (Coalitions, Vec<f64>) {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let mut coalitions = Coalitions::with_capacity(players, 2 * pairs);
    let mut weights = Vec::with_capacity(pairs);
    let mut order: Vec<usize> = (0..players).collect();
    for pair in 0..pairs {
        let size = rng.random_range(1..players);
        for position in 0..size {
            order.swap(position, rng.random_range(position..players));
        }
        coalitions.push_members(order[..size].iter().copied());
        coalitions.push_complement(2 * pair);
        weights.push(1.0 / (size * (players - size)) as f64);
    }
    (coalitions, weights)
}
