//! Scales of relative tolerances: the norm or the range of the values, estimated conservatively.
//!
//! Errors make the norm and the range of the estimates larger than those of the true values, and runs tend to
//! stop when the norm or the range of the estimates happens to be too large. For small tolerances, this
//! hardly matters, because the error is then far below the norm. For a tolerance of 1, it is decisive.
//!
//! # From standard errors
//!
//! Let τ be the tolerance, `ε = φ̃ − φ` the errors, and e(δ) the error bound in the requested measure. A
//! certificate is false if the error exceeds τ‖φ‖. The other symbols are as in [`bounds`](super::bounds).
//! Because `‖φ̃‖² = ‖φ‖² + 2 φ·ε + ‖ε‖²`, it is false if
//!
//! ```text
//! (error)² + τ² (‖ε‖² + 2 φ·ε) > τ² ‖φ̃‖²
//! ```
//!
//! The typical size of the left side is `e(½)² + τ² tr Σ̂`. The excess with probability δ has three parts:
//! `a = e(δ)² − e(½)²` for the error, `a₂ = (F(1 − δ) − F(½)) tr Σ̂` for ‖ε‖², and
//! `b = 2 e(δ) τ t(1 − δ/2) (tr Σ̂ / √ν)^½` for `2 τ² φ·ε`. The last part holds because ‖φ‖ is below error/τ
//! in this case, and `tr Σ̂ / √ν` is at least the variance in any direction. The last part is not correlated
//! with the others, so squares add:
//!
//! ```text
//! tolerance² = τ² ‖φ̃‖² − τ² tr Σ̂ − (√((a + τ² a₂)² + b²) − a)
//! ```
//!
//! The range `R̃` of the estimates is too large by d, the sum of the errors of the largest and of the
//! smallest value. If u players may have the largest value, and l players the smallest, within their
//! simultaneous bounds, then `d(δ) = s (t(1 − δ/2u) + t(1 − δ/2l))`, where s is their largest standard error,
//! and likewise
//!
//! ```text
//! tolerance = τ (R̃ − d(½)) − (√(a² + τ² (d(δ) − d(½))²) − a),      a = e(δ) − e(½)
//! ```
//!
//! # From an inequality
//!
//! Here, each value is within its simultaneous bound `h_i`. The norm is therefore at least `‖φ̃‖ − ‖h‖`, and
//! the range is at least `R̃ − 2 max h`. The effect of events that the whole sample may have missed
//! ([`bounds`](super::bounds)) is also subtracted in full.

use super::until::Scale;

/// The errors of one output.
pub(super) struct Errors<'e> {
    pub(super) values: &'e [f64],
    /// Simultaneous bounds on the errors of the values, each with probability `1 − δ/n`.
    pub(super) each: &'e [f64],
    /// Error bounds in the requested measure that hold with probabilities 1 − δ and ½.
    pub(super) error: Pair,
    /// The part of the scale that the sample may have missed.
    pub(super) missed: f64,
    pub(super) distribution: BoundBasis<'e>,
}

/// Two bounds on a number: one that holds with probability 1 − δ, and one that holds with probability ½.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) sure: f64,
    pub(super) even: f64,
}

/// The basis of the error bounds.
pub(super) enum BoundBasis<'e> {
    /// An inequality that holds for every number of draws.
    Inequality,
    /// Standard errors estimated from the sample.
    StandardErrors {
        /// The trace `tr Σ̂`, an estimate of `E ‖ε‖²`.
        trace: f64,
        /// Bounds on `‖ε‖²`.
        square: Pair,
        /// The number of directions ν of the errors.
        directions: f64,
        /// The largest standard error of a value.
        largest: f64,
        /// A function that returns the two-sided quantiles of Student's t, for a given fraction of the error
        /// probability δ and for the same fraction of 1.
        student: &'e dyn Fn(f64) -> Pair,
    },
}

/// Returns the norm or the range of the values, or `None` for an absolute tolerance.
pub(super) fn of_estimates(scale: Scale, values: &[f64]) -> Option<f64> {
    match scale {
        Scale::Absolute => None,
        Scale::Norm => Some(norm(values)),
        Scale::Range => Some((max_of(values) - min_of(values)).max(0.0)),
    }
}

impl Errors<'_> {
    /// Returns `share` times the smallest norm of the values that is compatible with their errors. It may be
    /// zero.
    pub(super) fn of_norm(&self, share: f64) -> f64 {
        let whole = norm(self.values);
        let seen = match self.distribution {
            BoundBasis::Inequality => share * (whole - norm(self.each)),
            BoundBasis::StandardErrors { trace, square, directions, student, .. } => {
                let Pair { sure, even } = self.error;
                let of_error = (sure * sure - even * even).max(0.0);
                let of_square = square.sure - square.even;
                // An error above the tolerance is not certified, so the tolerance limits the error here.
                let across = 2.0 * share * sure.min(share * whole) * student(1.0).sure;
                let across = across * (trace / directions.sqrt()).sqrt();
                let beyond = (of_error + share * share * of_square).hypot(across) - of_error;
                (share * share * (whole * whole - trace) - beyond).max(0.0).sqrt()
            }
        };
        seen.min(share * (whole - self.missed)).max(0.0)
    }

    /// Returns `share` times the smallest range of the values that is compatible with their errors. It may be
    /// zero.
    pub(super) fn of_range(&self, share: f64) -> f64 {
        let (most, least) = (max_of(self.values), min_of(self.values));
        let whole = (most - least).max(0.0);
        let widest = self.each.iter().copied().fold(0.0, f64::max);
        let seen = match self.distribution {
            BoundBasis::Inequality => share * (whole - 2.0 * widest),
            BoundBasis::StandardErrors { largest, student, .. } => {
                let candidates = |is_one: &dyn Fn(f64) -> bool| {
                    self.values.iter().filter(|&&value| is_one(value)).count() as f64
                };
                let above = student(1.0 / candidates(&|value| value >= most - 2.0 * widest));
                let below = student(1.0 / candidates(&|value| value <= least + 2.0 * widest));
                let (sure, even) = (largest * (above.sure + below.sure), largest * (above.even + below.even));
                let of_error = (self.error.sure - self.error.even).max(0.0);
                share * (whole - even) - (of_error.hypot(share * (sure - even)) - of_error)
            }
        };
        seen.min(share * (whole - self.missed)).max(0.0)
    }
}

/// Returns the Euclidean norm of `values`.
pub(super) fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn max_of(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn min_of(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use apportion_games::{Purpose, stream};
    use rand::RngExt;
    use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

    use super::*;

    /// Simulates interim checks of `values` with independent errors of variance `1/n` for n players. Returns
    /// the fraction of checks that reach the tolerance, and the fraction that reach it although the error
    /// exceeds it.
    fn outcomes(scale: Scale, share: f64, values: &[f64], wrong: f64, interim_checks: u64) -> (f64, f64) {
        let players = values.len() as f64;
        let distribution = ChiSquared::new(players).unwrap();
        let normal = Normal::new(0.0, 1.0).unwrap();
        let square = |wrong: f64| distribution.inverse_cdf(1.0 - wrong) / players;
        let quantile = |wrong: f64| normal.inverse_cdf(1.0 - 0.5 * wrong);
        let largest = players.sqrt().recip();
        let each = vec![quantile(wrong / players) * largest; values.len()];
        let student = |share: f64| Pair { sure: quantile(share * wrong), even: quantile(share) };
        let (mut reached, mut false_ones) = (0, 0);
        for interim_check in 0..interim_checks {
            let mut rng = stream(interim_check, Purpose::Experiment, values.len() as u64);
            let errors: Vec<f64> = values
                .iter()
                .map(|_| normal.inverse_cdf(rng.random_range(f64::EPSILON..1.0)) * largest)
                .collect();
            let estimates: Vec<f64> =
                values.iter().zip(&errors).map(|(value, error)| value + error).collect();
            let square = Pair { sure: square(wrong), even: square(0.5) };
            let known = Errors {
                values: &estimates,
                each: &each,
                error: Pair { sure: square.sure.sqrt(), even: square.even.sqrt() },
                missed: 0.0,
                distribution: BoundBasis::StandardErrors {
                    trace: 1.0,
                    square,
                    directions: players,
                    largest,
                    student: &student,
                },
            };
            let tolerance = if scale == Scale::Norm { known.of_norm(share) } else { known.of_range(share) };
            let is_reached = square.sure.sqrt() <= tolerance;
            reached += usize::from(is_reached);
            false_ones +=
                usize::from(is_reached && norm(&errors) > share * of_estimates(scale, values).unwrap());
        }
        (reached as f64 / interim_checks as f64, false_ones as f64 / interim_checks as f64)
    }

    #[test]
    fn shares_that_are_reached_are_reached_by_the_values_too() {
        for scale in [Scale::Norm, Scale::Range] {
            for players in [1, 2, 7, 40].into_iter().filter(|&players| scale == Scale::Norm || players > 1) {
                for share in [0.05, 0.3, 1.0, 3.0] {
                    for is_sparse in [false, true] {
                        let shape: Vec<f64> = (0..players)
                            .map(|player| match is_sparse {
                                true => f64::from(u8::from(player == 0)),
                                false => (player as f64 + 0.7).sin(),
                            })
                            .collect();
                        let whole = of_estimates(scale, &shape).unwrap();
                        let mut most: f64 = 0.0;
                        // Errors nearly always exceed the tolerance for the smallest size, and rarely for the
                        // largest.
                        for size in [0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6] {
                            let values: Vec<f64> =
                                shape.iter().map(|value| value * size / (share * whole)).collect();
                            let (_, false_ones) = outcomes(scale, share, &values, 0.05, 1000);
                            most = most.max(false_ones);
                        }
                        // The limit is one twentieth, plus the spread of a thousand simulations.
                        assert!(most <= 0.072, "{scale:?}, n = {players}, {share}, {is_sparse}: {most}");
                        // Check that the tolerance can still be reached.
                        let values: Vec<f64> =
                            shape.iter().map(|value| value * 9.0 / (share.min(1.0) * whole)).collect();
                        assert!(
                            outcomes(scale, share, &values, 0.05, 50).0 > 0.9,
                            "{scale:?}, n = {players}, {share}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn by_an_inequality_all_of_the_bounds_are_taken_off() {
        let known = |missed| Errors {
            values: &[3.0, 0.0, -4.0],
            each: &[0.3, 0.0, 0.4],
            error: Pair { sure: 0.5, even: 0.4 },
            missed,
            distribution: BoundBasis::Inequality,
        };
        assert!((known(0.0).of_norm(0.1) - 0.45).abs() < 1e-12);
        assert!((known(0.0).of_range(0.1) - 0.62).abs() < 1e-12);
        assert!((known(2.0).of_norm(0.1) - 0.3).abs() < 1e-12);
        assert_eq!(known(9.0).of_range(0.1), 0.0);
    }
}
