//! Hat values, and the variances of the coefficients that result from drawing the coalitions at random.
//!
//! # Notation
//!
//! Row k of the regression is `a_k = z_k − ρ` (the bits z_k minus an origin ρ) or, under the constraint on
//! the sum, `a_k = P z_k` with the projection `P = I − 11ᵀ/n`. Its weight is `w_k`, and its residual is
//! `e_k`. G is the Gram matrix, and G⁺ its pseudo-inverse. With `g_kl = a_kᵀ G⁺ a_l` (plus 1/Σw if an
//! intercept is fitted by the mean), the hat values are `h_k = w_k g_kk`.
//!
//! # The error of a row
//!
//! A regression adapts to each of its rows. Row k has an error ε_k with `E ε_k² = σ²/w_k`, but only the
//! residual e_k is observed, with `w_k E e_k² = σ² (1 − h_k)`. The rescaled residual `ε̃_k = e_k /
//! √(1 − h_k)` has the magnitude of ε_k (MacKinnon and White 1985, HC2), and row k contributes `w_k (G⁺ a_k)
//! ε̃_k` to the error of the coefficients. For rows k and l that are drawn together, with the 2 × 2 block H
//! of the hat matrix `h_kl = √(w_k w_l) g_kl` (Bell and McCaffrey 2002):
//!
//! ```text
//! (√w_k ε̃_k, √w_l ε̃_l) = (I − H)^(−1/2) (√w_k e_k, √w_l e_l)
//! ```
//!
//! Division by `1 − h_k` itself would yield the change of the coefficients when row k is omitted (the
//! jackknife, HC3). The squares of these changes are too large by the factor `1/(1 − h_k)`: by two thirds
//! with 5 evaluations per player.
//!
//! If a row represents t independent draws, each of them has 1/t of the row's weight.
//!
//! [`crate::certificate_by_probes`] computes certificates without the inverse of the Gram matrix.

use std::ops::Range;

use crate::covariance::{Covariance, Traces};
use crate::error::SolverError;
use crate::factor::{Factor, dot};
use crate::images::{Images, for_each_block};
use crate::least_squares::LeastSquares;
use crate::rows::Form;
use crate::system::Inverse;

/// Estimated errors of the coefficients that result from drawing the coalitions at random.
///
/// Let c_k be the random contribution of unit k (a row, a pair or a draw) to the errors of all coefficients.
/// The covariance matrix of these errors is estimated by `Σ̂ = Σ_k c_k c_kᵀ`.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The variances `V_i = Σ̂_ii`: n × k, row-major. If the computation of a variance overflows or
    /// underflows, the variance is infinite or zero; the standard errors are still valid.
    pub variances: Vec<f64>,
    /// The square roots of the variances, computed without overflow.
    pub standard_errors: Vec<f64>,
    /// The effective number of directions of the errors, `ν = (tr Σ)² / tr Σ²`, for each output; between 1
    /// and n. The estimate is `Σ_{k≠l} ‖c_k‖² ‖c_l‖²` divided by `Σ_{k≠l} (c_kᵀ c_l)²`. Products of a row
    /// with itself are omitted, because they are fourth moments rather than covariances. For up to 32
    /// players, the estimate is computed from Σ̂ itself. For more, it is computed from `Σ̂ g` with 16 fixed
    /// random sign vectors g, with one standard error added to tr Σ².
    pub directions: Vec<f64>,
    /// The degrees of freedom of `tr Σ̂ / tr Σ`: the minimum over the outputs, at least 1. For one output,
    /// they are `2 (Σ_k x_k)² / (Σ_k x_k² − (Σ_k x_k)²/m)` with `x_k = ‖c_k‖²` for m draws (Satterthwaite
    /// 1946), or the number of draws minus the hat values of their rows if that is smaller.
    pub degrees_of_freedom: f64,
}

/// A hat value within this distance of 1 means that some coefficient is determined by this row alone.
pub(crate) const SATURATED: f64 = 1e-9;

/// The draws of a row, or of a pair whose members are separate rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowDraw {
    /// The factor f of the row's variance: the fraction of its size class that was not drawn, or 1 for
    /// independent draws. It is 0 for a row that is certain to be in the design, or that was not drawn.
    pub(crate) free: f64,
    /// The number t of times that the row was drawn independently.
    pub(crate) times: f64,
}

/// The quadratic forms g_kl for a block of rows.
struct Forms {
    /// The form `g_kk` of every row k.
    own: Vec<f64>,
    /// The form `g_kl` for every two neighbouring rows k and l, if the members of pairs are omitted together.
    between: Vec<f64>,
}

/// Returns the draws of rows or pairs that were drawn once each, with the given fractions `free`.
fn without_replacement(free: &[f64]) -> Result<Vec<RowDraw>, SolverError> {
    if let Some(index) = free.iter().position(|fraction| !(0.0..=1.0).contains(fraction)) {
        return Err(SolverError::Free { index, value: free[index] });
    }
    Ok(free.iter().map(|&free| RowDraw { free, times: 1.0 }).collect())
}

impl LeastSquares {
    /// Returns the hat values (statistical leverages) `h_k = w_k a_kᵀ G⁺ a_k` of the rows of the regression.
    /// They are between 0 and 1 and sum to the [`rank`](Self::rank). If there is an intercept, the hat value
    /// of an unpaired row also includes `w_k / Σw`, so the hat values sum to the rank plus one.
    ///
    /// If a pair acts as one row, its hat value is the sum of the hat values of both members, without the
    /// part for the intercept. For m' rows, takes `O(n³ + m' n²/4)` additions on the first call; later calls
    /// return the cached result.
    ///
    /// [Without the Gram matrix](crate::Kernel::MatrixFree), the hat values are estimated from the weights
    /// and norms of the rows. For sampled designs of 1000 players, they are accurate to about 10%. The
    /// estimates also sum to the rank.
    pub fn hat_values(&self) -> Vec<f64> {
        let compute = || {
            let Inverse::Factored(factor) = &self.inverse else { return self.expected_hat_values() };
            let mut hat_values = Vec::with_capacity(self.rows());
            let _: Result<(), SolverError> = self.for_each_block_of_images(factor, |images, forms| {
                hat_values.extend(self.hats(&images, &forms));
                Ok(())
            });
            hat_values
        };
        self.hat_values.get_or_init(compute).clone()
    }

    /// Returns the estimated variances of the coefficients (n × k) that result from drawing the coalitions at
    /// random, and properties of the joint distribution of the errors. The variances are
    ///
    /// ```text
    /// V_i = Σ_k f_k w_k² (G⁺ a_k)_i² e_k² / (1 − h_k)
    /// ```
    ///
    /// over the rows of the regression, with residuals `e_k`, hat values `h_k` and the Gram matrix G (HC2,
    /// MacKinnon and White 1985). If the members of pairs are separate rows, each pair as a whole replaces
    /// the row in this formula (Bell and McCaffrey 2002), because pairs are drawn, not rows. `free` contains
    /// one fraction for each row (for each pair in a paired design): `f_k = 1 − drawn/available` in its size
    /// class. The fraction is 0 if the class is enumerated, so the certificate of a full enumeration is 0.
    ///
    /// For m' rows, takes `O(n³ + m' n²/4)` additions for all outputs together, and computes the [hat
    /// values](Self::hat_values) as well.
    ///
    /// [Without the Gram matrix](crate::Kernel::MatrixFree), `h_k` and `(G⁺ a_k)_i²` are replaced by their
    /// expected values for rows that do not favour any player. The sum of the variances is also measured with
    /// 16 random probes, which takes about as long as the solve. If the measured sum is larger, the variances
    /// are increased to match it. The resulting certificate was compared with the certificate from the Gram
    /// matrix, for sums of unanimity games, airport and glove games of 300 and 1000 players, with 3 to 20
    /// evaluations per player. The estimated mean squared errors are 0.99 to 1.13 times as large, and the
    /// coverage of 95% intervals differs by at most 1.2 percentage points. The standard error for a single
    /// player is 0.5 to 3.5 times the one from the Gram matrix at 3 evaluations per player, and 0.8 to 1.25
    /// times at 20 (`cargo run --release -p apportion-solvers --example certificates`). For rows that have a
    /// large common part (plain bits, without constraint, centre or intercept), the errors are overestimated
    /// by up to one half.
    ///
    /// # Errors
    ///
    /// [`SolverError`] if the number of fractions differs from the number of rows (pairs), if a fraction is
    /// outside \[0, 1\], or if a row (pair) with `f_k > 0` has hat value 1: its error cannot be estimated
    /// because the budget is too small.
    pub fn certificate(&self, free: &[f64]) -> Result<Certificate, SolverError> {
        self.judge(without_replacement(free)?, None)
    }

    /// Returns the [certificate](Self::certificate) for deviations from a mean: the coefficients of the q
    /// players `among` minus their mean, `φ_i − (1/q) Σ_{j ∈ among} φ_j`, and the other coefficients
    /// unchanged. The variances are n × k, row-major.
    ///
    /// The [directions](Certificate::directions) refer to the deviations only.
    ///
    /// Meant for regressions that only determine the differences between players, and in which the common
    /// part of the coefficients is only a control variate.
    ///
    /// # Errors
    ///
    /// Same as [`certificate`](Self::certificate); also [`SolverError::Among`] for an empty range or players
    /// that do not exist.
    pub fn certificate_of_deviations(
        &self,
        among: Range<usize>,
        free: &[f64],
    ) -> Result<Certificate, SolverError> {
        let players = self.rows.bits.players;
        if among.is_empty() || among.end > players {
            return Err(SolverError::Among { start: among.start, end: among.end, players });
        }
        self.judge(without_replacement(free)?, Some(among))
    }

    /// Returns the [certificate](Self::certificate) for independent draws. Row (pair) k was drawn `times[k]`
    /// times, and its weight is the total weight of these draws:
    ///
    /// ```text
    /// V_i = Σ_k t_k (w_k/t_k)² (G⁺ a_k)_i² e_k² / (1 − h_k/t_k)
    /// ```
    ///
    /// These are the squared contributions of single draws to coefficient i, summed over all draws.
    ///
    /// # Errors
    ///
    /// Same as [`certificate`](Self::certificate), with `times` instead of `free`. Rows that were drawn zero
    /// times are ignored.
    pub fn certificate_of_draws(&self, times: &[u32]) -> Result<Certificate, SolverError> {
        let drawn = |&times: &u32| RowDraw { free: f64::from(times.min(1)), times: f64::from(times.max(1)) };
        self.judge(times.iter().map(drawn).collect(), None)
    }

    /// Computes the certificate from the sums `Σ (f/t) (t · contribution of one draw)²`. If `among` is given,
    /// the certificate is for the deviations of these players from their mean.
    fn judge(&self, drawn: Vec<RowDraw>, among: Option<Range<usize>>) -> Result<Certificate, SolverError> {
        if drawn.len() != self.rows.units() {
            return Err(SolverError::FreeCount { actual: drawn.len(), expected: self.rows.units() });
        }
        let Inverse::Factored(factor) = &self.inverse else { return self.judge_by_probes(&drawn, among) };
        let n = self.rows.bits.players;
        let mut variances = vec![vec![0.0; n]; self.outputs];
        let covered = among.clone().unwrap_or(0..n);
        let mut covariances = vec![Covariance::new(covered); self.outputs];
        let (mut hat_values, mut left) = (Vec::with_capacity(self.rows()), 0.0);
        self.for_each_block_of_images(factor, |mut images, forms| {
            let hats: Vec<f64> = self.hats(&images, &forms).collect();
            if let Some(among) = &among {
                images.take_off_mean(among.clone());
            }
            if self.rows.pairs_apart {
                self.add_pairs(&images, &hats, &forms, &drawn, &mut variances, &mut covariances)?;
            } else {
                self.add_rows(&images, &hats, &drawn, &mut variances, &mut covariances)?;
            }
            let rows_per_unit = self.rows_per_unit();
            let hats_of_units = hats.chunks(rows_per_unit).map(|hats| hats.iter().sum::<f64>());
            let units = &drawn[images.rows.start / rows_per_unit..];
            let chances = units.iter().zip(hats_of_units).filter(|(drawn, _)| drawn.free > 0.0);
            left += chances.map(|(drawn, hats)| drawn.times - hats / rows_per_unit as f64).sum::<f64>();
            hat_values.extend(hats);
            Ok(())
        })?;
        self.hat_values.get_or_init(|| hat_values);
        let traces: Vec<Traces> = covariances.iter().map(Covariance::traces).collect();
        Ok(self.certificate_of(&variances, &traces, &drawn, left))
    }

    /// Creates the certificate from the variances for outputs divided by their units (the field `units`).
    /// `left` is the number of draws minus the degrees of freedom used by the fit.
    pub(crate) fn certificate_of(
        &self,
        variances: &[Vec<f64>],
        traces: &[Traces],
        drawn: &[RowDraw],
        left: f64,
    ) -> Certificate {
        let by_player = |player: usize| variances.iter().map(move |variances| variances[player]);
        let in_units = || (0..self.rows.bits.players).flat_map(by_player).zip(self.units.iter().cycle());
        let draws = drawn.iter().filter(|drawn| drawn.free > 0.0).map(|drawn| drawn.times).sum();
        let degrees = traces.iter().map(|traces| traces.degrees_of_freedom(draws));
        Certificate {
            variances: in_units().map(|(variance, unit)| variance * unit * unit).collect(),
            standard_errors: in_units().map(|(variance, unit)| variance.sqrt() * unit).collect(),
            directions: traces.iter().map(Traces::directions).collect(),
            degrees_of_freedom: degrees.fold(left, f64::min).max(1.0),
        }
    }

    /// Returns the number of rows that are omitted together.
    fn rows_per_unit(&self) -> usize {
        if self.rows.pairs_apart { 2 } else { 1 }
    }

    fn add_rows(
        &self,
        images: &Images<'_>,
        hats: &[f64],
        drawn: &[RowDraw],
        variances: &mut [Vec<f64>],
        covariances: &mut [Covariance],
    ) -> Result<(), SolverError> {
        let range = images.rows.clone();
        let mut factors = vec![0.0; hats.len()];
        for (index, (factor, hat)) in factors.iter_mut().zip(hats).enumerate() {
            let row = range.start + index;
            let (weight, RowDraw { free, times }) = (self.rows.weights[row], drawn[row]);
            if free > 0.0 && weight > 0.0 {
                let others = 1.0 - hat / times;
                if others < SATURATED {
                    return Err(SolverError::Saturated { row, hat_value: hat / times });
                }
                *factor = (free / times / others).sqrt() * weight;
            }
        }
        let mut losses = Vec::new();
        let outputs = self.errors.iter().zip(variances).zip(covariances);
        for ((errors, variances), covariance) in outputs {
            let of_images: Vec<f64> =
                errors[range.clone()].iter().zip(&factors).map(|(error, factor)| factor * error).collect();
            let squares: Vec<f64> = of_images.iter().map(|factor| factor.powi(2)).collect();
            images.add_squares(&squares, variances);
            images.combine(&of_images, 1, covariance.players(), &mut losses);
            covariance.add(&losses, drawn[range.clone()].iter().map(|drawn| drawn.times));
        }
        Ok(())
    }

    fn add_pairs(
        &self,
        images: &Images<'_>,
        hats: &[f64],
        forms: &Forms,
        drawn: &[RowDraw],
        variances: &mut [Vec<f64>],
        covariances: &mut [Covariance],
    ) -> Result<(), SolverError> {
        let range = images.rows.clone();
        let weights = self.rows.weights[range.clone()].as_chunks::<2>().0;
        // For each pair, store the factors of both images for both residuals.
        let mut factors = vec![[[0.0; 2]; 2]; weights.len()];
        let pairs = weights.iter().zip(hats.as_chunks::<2>().0).zip(&forms.between);
        for (index, (factors, ((&[w, v], &[h, k]), &between))) in factors.iter_mut().zip(pairs).enumerate() {
            let pair = range.start / 2 + index;
            let RowDraw { free, times } = drawn[pair];
            if free > 0.0 && w + v > 0.0 {
                let (h, k) = (h / times, k / times);
                let (beside_w, beside_v) = (w * between / times, v * between / times);
                // This is the larger eigenvalue of the 2 × 2 block of the hat matrix.
                let hat_value = 0.5 * (h + k + (h - k).hypot(2.0 * (beside_w * beside_v).sqrt()));
                if 1.0 - hat_value < SATURATED {
                    return Err(SolverError::Saturated { row: pair, hat_value });
                }
                // If s² = det(I − H), then (I − H)^(−1/2) = adj(I − H + s I) / (s √(tr(I − H) + 2 s)).
                let s = ((1.0 - h) * (1.0 - k) - beside_w * beside_v).sqrt();
                let share = (free / times).sqrt() / (s * (2.0 - h - k + 2.0 * s).sqrt());
                *factors = [
                    [share * w * (1.0 - k + s), share * w * beside_v],
                    [share * v * beside_w, share * v * (1.0 - h + s)],
                ];
            }
        }
        let mut losses = Vec::new();
        let outputs = self.errors.iter().zip(variances).zip(covariances);
        for ((errors, variances), covariance) in outputs {
            let pairs = errors[range.clone()].as_chunks::<2>().0.iter().zip(&factors);
            let of_images = pairs.flat_map(|(&[e, d], &[first, second])| {
                [first[0] * e + first[1] * d, second[0] * e + second[1] * d]
            });
            let of_images: Vec<f64> = of_images.collect();
            images.add_squares_of_pairs(&of_images, variances);
            images.combine(&of_images, 2, covariance.players(), &mut losses);
            let pairs = range.start / 2..range.end / 2;
            covariance.add(&losses, drawn[pairs].iter().map(|drawn| drawn.times));
        }
        Ok(())
    }

    fn hats(&self, images: &Images<'_>, forms: &Forms) -> impl Iterator<Item = f64> {
        self.rows.weights[images.rows.clone()].iter().zip(&forms.own).map(|(weight, form)| weight * form)
    }

    /// Calls `visit` with the images `G⁺ a_k` of all rows and their forms, one block of rows at a time.
    fn for_each_block_of_images(
        &self,
        factor: &Factor,
        mut visit: impl FnMut(Images<'_>, Forms) -> Result<(), SolverError>,
    ) -> Result<(), SolverError> {
        let inverse = factor.pseudo_inverse();
        // Under the constraint, `G⁺ 1 = 0`, so z can replace the projected row.
        let of_origin: Vec<f64> = inverse
            .col_iter()
            .map(|column| column.iter().zip(&self.origin).map(|(entry, origin)| entry * origin).sum())
            .collect();
        let mut constant = dot(&of_origin, &self.origin);
        if self.rows.form == Form::AboutMean && self.total > 0.0 {
            constant += self.total.recip();
        }
        let mut beside = vec![0.0; self.rows()];
        self.rows.bits.times(&of_origin, &mut beside);
        let shift: Vec<f64> = of_origin.iter().map(|entry| -entry).collect();
        for_each_block(&self.rows.bits, &inverse, &shift, |images| {
            let beside = &beside[images.rows.clone()];
            let about_origin = |(form, beside): (f64, &f64)| form - beside + constant;
            let own = images.own_forms().into_iter().zip(beside).map(about_origin).collect();
            let between = if self.rows.pairs_apart {
                images
                    .neighbour_forms()
                    .into_iter()
                    .zip(beside.iter().skip(1).step_by(2))
                    .map(about_origin)
                    .collect()
            } else {
                Vec::new()
            };
            visit(images, Forms { own, between })
        })
    }
}
