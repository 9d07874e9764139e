//! What a relative tolerance is a share of: the norm or the range of the values, as small as they may be.
//!
//! Errors make the norm and the range of estimates larger than those of the values, and a run stops where they happen to be large. With small
//! tolerances that hardly matters, as the error is far below the norm then; with a tolerance of 1 it decides.
//!
//! # By standard errors
//!
//! Let τ be the tolerance, `ε = φ̃ − φ`, and e(δ) the bound of the error in the measure that is asked for. A certificate is false where the error is
//! beyond τ‖φ‖, and `‖φ̃‖² = ‖φ‖² + 2 φ·ε + ‖ε‖²`. So it is false where
//!
//! ```text
//! (error)² + τ² (‖ε‖² + 2 φ·ε) > τ² ‖φ̃‖²
//! ```
//!
//! On the left, `e(½)² + τ² tr Σ̂` are usual. What goes beyond with the probability δ is `a = e(δ)² − e(½)²` of the error, `a₂ = (F(1 − δ) − F(½)) tr Σ̂` of
//! ‖ε‖², and `b = 2 e(δ) τ t(1 − δ/2) (tr Σ̂ / √ν)^½` of `2 τ² φ·ε`: there ‖φ‖ is below error/τ, and `tr Σ̂ / √ν` is at least the variance in any
//! direction. The last is not correlated with the others, so that squares add:
//!
//! ```text
//! tolerance² = τ² ‖φ̃‖² − τ² tr Σ̂ − (√((a + τ² a₂)² + b²) − a)
//! ```
//!
//! A range is too large by d, that of errors of the largest and of the least value. Where u and l players may have those, within their simultaneous
//! bounds, `d(δ) = s (t(1 − δ/2u) + t(1 − δ/2l))`, s their largest standard error, and likewise
//!
//! ```text
//! tolerance = τ (R̃ − d(½)) − (√(a² + τ² (d(δ) − d(½))²) − a),      a = e(δ) − e(½)
//! ```
//!
//! # By an inequality
//!
//! Each value is within its simultaneous bound `h_i` then: the norm is at least `‖φ̃‖ − ‖h‖`, and the range `R̃ − 2 max h`. What all of a sample may have
//! missed ([`bounds`](super::bounds)) is taken off as a whole, too.

use super::until::Scale;

/// What is known of the errors of one output.
pub(super) struct Errors<'e> {
    pub(super) values: &'e [f64],
    /// Simultaneous bounds of the values, each with the probability `1 − δ/n`.
    pub(super) each: &'e [f64],
    /// Bounds of the error in the measure that is asked for, with the probabilities 1 − δ and ½.
    pub(super) error: Pair,
    /// What the sample may have missed of the scale.
    pub(super) missed: f64,
    pub(super) law: Law<'e>,
}

/// A bound that holds with the probability 1 − δ, and one that holds in half of all cases.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) sure: f64,
    pub(super) even: f64,
}

/// On what the bounds rest.
pub(super) enum Law<'e> {
    /// An inequality that holds for every number of draws.
    Inequality,
    /// Standard errors.
    StandardErrors {
        /// `tr Σ̂`, that is `E ‖ε‖²`.
        trace: f64,
        /// Bounds of `‖ε‖²`.
        square: Pair,
        /// ν.
        directions: f64,
        /// The largest standard error of a value.
        largest: f64,
        /// Quantiles of Student's law, beyond which on both sides together there is the probability δ times the share that is given, or ½ times it.
        student: &'e dyn Fn(f64) -> Pair,
    },
}

/// The norm or the range of the values; none where the tolerance is absolute.
pub(super) fn of_estimates(scale: Scale, values: &[f64]) -> Option<f64> {
    match scale {
        Scale::Absolute => None,
        Scale::Norm => Some(norm(values)),
        Scale::Range => Some((most(values) - least(values)).max(0.0)),
    }
}

impl Errors<'_> {
    /// `share` of the norm of the values as small as it may be, which is zero where that may be.
    pub(super) fn of_norm(&self, share: f64) -> f64 {
        let whole = norm(self.values);
        let seen = match self.law {
            Law::Inequality => share * (whole - norm(self.each)),
            Law::StandardErrors { trace, square, directions, student, .. } => {
                let Pair { sure, even } = self.error;
                let of_error = (sure * sure - even * even).max(0.0);
                let of_square = square.sure - square.even;
                // Where the error is beyond the tolerance there is nothing to be certified.
                let across = 2.0 * share * sure.min(share * whole) * student(1.0).sure;
                let across = across * (trace / directions.sqrt()).sqrt();
                let beyond = (of_error + share * share * of_square).hypot(across) - of_error;
                (share * share * (whole * whole - trace) - beyond).max(0.0).sqrt()
            }
        };
        seen.min(share * (whole - self.missed)).max(0.0)
    }

    /// `share` of the range of the values as small as it may be, which is zero where that may be.
    pub(super) fn of_range(&self, share: f64) -> f64 {
        let (most, least) = (most(self.values), least(self.values));
        let whole = (most - least).max(0.0);
        let widest = self.each.iter().copied().fold(0.0, f64::max);
        let seen = match self.law {
            Law::Inequality => share * (whole - 2.0 * widest),
            Law::StandardErrors { largest, student, .. } => {
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

/// The Euclidean norm.
pub(super) fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use apportion_games::{Purpose, stream};
    use rand::RngExt;
    use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

    use super::*;

    /// Of one look at `players` values with independent errors of variance `1/players`, how often a tolerance is reached, and how often it is
    /// although the error is beyond it.
    fn outcomes(scale: Scale, share: f64, values: &[f64], wrong: f64, looks: u64) -> (f64, f64) {
        let players = values.len() as f64;
        let law = ChiSquared::new(players).unwrap();
        let normal = Normal::new(0.0, 1.0).unwrap();
        let square = |wrong: f64| law.inverse_cdf(1.0 - wrong) / players;
        let quantile = |wrong: f64| normal.inverse_cdf(1.0 - 0.5 * wrong);
        let largest = players.sqrt().recip();
        let each = vec![quantile(wrong / players) * largest; values.len()];
        let student = |share: f64| Pair { sure: quantile(share * wrong), even: quantile(share) };
        let (mut reached, mut false_ones) = (0, 0);
        for look in 0..looks {
            let mut rng = stream(look, Purpose::Experiment, values.len() as u64);
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
                law: Law::StandardErrors {
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
        (reached as f64 / looks as f64, false_ones as f64 / looks as f64)
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
                        // From values that are beyond the tolerance nearly always to those that are within it.
                        for size in [0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6] {
                            let values: Vec<f64> =
                                shape.iter().map(|value| value * size / (share * whole)).collect();
                            let (_, false_ones) = outcomes(scale, share, &values, 0.05, 1000);
                            most = most.max(false_ones);
                        }
                        // A twentieth, and what a thousand looks vary by.
                        assert!(most <= 0.072, "{scale:?}, n = {players}, {share}, {is_sparse}: {most}");
                        // It can be reached all the same.
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
            law: Law::Inequality,
        };
        assert!((known(0.0).of_norm(0.1) - 0.45).abs() < 1e-12);
        assert!((known(0.0).of_range(0.1) - 0.62).abs() < 1e-12);
        assert!((known(2.0).of_norm(0.1) - 0.3).abs() < 1e-12);
        assert_eq!(known(9.0).of_range(0.1), 0.0);
    }
}
