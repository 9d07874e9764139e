//! The distribution of the errors of values, from the change in the values that each pair of the sample
//! causes.

use apportion_games::Cancellation;
use apportion_solvers::add_cross_products;

/// The minimum degrees of freedom of the errors. It applies even if the fit leaves fewer, because the
/// leave-one-out residual of a pair is not part of its own fit.
pub(super) const MIN_DEGREES: f64 = 5.0;
/// The factor that converts squared leave-one-out residuals to variances of errors if a prior is used. It is
/// needed because the prior's screens have seen every pair, so the residuals are too small. Without this
/// factor, 95% intervals cover the true value in only 90% of the cases for sums of 100 unanimity games of 20
/// players at 20n.
pub(super) const OPTIMISM: f64 = 1.4;

pub(super) fn sum_of_squares(numbers: &[f64]) -> f64 {
    numbers.iter().map(|number| number * number).sum()
}

/// Returns the degrees of freedom of the total variance, and the number of directions of the errors. They are
/// computed from the changes c_k for pairs, players × pairs, as for regressions
/// (`apportion_solvers::Certificate`).
pub(super) fn distribution_of(shares: &[f64], players: usize, pairs: usize) -> (f64, f64) {
    let norms: Vec<f64> = (0..pairs)
        .map(|pair| {
            Cancellation::check();
            (0..players).map(|player| shares[player * pairs + pair].powi(2)).sum()
        })
        .collect();
    let sum: f64 = norms.iter().sum();
    let squares: f64 = norms.iter().map(|norm| norm * norm).sum();
    let spread = squares - sum * sum / pairs as f64;
    let degrees = if spread > 0.0 { 2.0 * sum * sum / spread } else { f64::INFINITY };
    // This is Σ̂ = Σ_k c_k c_kᵀ, n × n.
    let mut covariance = vec![0.0; players * players];
    let by_pair: Vec<f64> =
        (0..players * pairs).map(|at| shares[(at % players) * pairs + at / players]).collect();
    add_cross_products(&by_pair, &by_pair, (players, players), &mut covariance);
    // Subtract the product of each pair with itself.
    let trace = sum * sum - squares;
    let of_square = covariance.iter().map(|entry| entry * entry).sum::<f64>() - squares;
    let directions = if trace > 0.0 && of_square > 0.0 { trace / of_square } else { 1.0 };
    (degrees, directions.clamp(1.0, players as f64))
}
