//! Hat values, and variances of the coefficients over the draw of the coalitions.
//!
//! # Notation
//!
//! Rows `a_k = z_k − ρ` of weight `w_k` (or `a_k = P z_k`), residuals `e_k`, Gram matrix G,
//! `g_kl = a_kᵀ G⁺ a_l` (with an intercept that is fitted by the mean: and 1/Σw), hat values
//! `h_k = w_k g_kk`.
//!
//! # What a row is off by
//!
//! A regression bends to each of its rows: of what row k is off by, ε_k with `E ε_k² = σ²/w_k`, it leaves the
//! residual e_k with `w_k E e_k² = σ² (1 − h_k)`. `ε̃_k = e_k / √(1 − h_k)` is as large as ε_k again
//! (MacKinnon and White 1985, HC2), and the coefficients have `w_k (G⁺ a_k) ε̃_k` of the row. For rows k and
//! l that are drawn together, with the 2 × 2 block H of the hat matrix `h_kl = √(w_k w_l) g_kl` (Bell and
//! McCaffrey 2002):
//!
//! ```text
//! (√w_k ε̃_k, √w_l ε̃_l) = (I − H)^(−1/2) (√w_k e_k, √w_l e_l)
//! ```
//!
//! Division by `1 − h_k` itself would give what the coefficients lose when row k is left out (the jackknife,
//! HC3), whose squares are too large by `1/(1 − h_k)`: by two thirds with 5 evaluations a player.
//!
//! Where a row stands for t independent draws, one of them has the t-th part of its weight.
//!
//! Without the inverse of the Gram matrix see [`crate::certificate_by_probes`].

use std::ops::Range;

use crate::covariance::{Covariance, Traces};
use crate::error::SolverError;
use crate::factor::{Factor, dot};
use crate::images::{Images, for_each_block};
use crate::least_squares::LeastSquares;
use crate::rows::Form;
use crate::system::Inverse;

/// Estimated errors of the coefficients over the draw of the coalitions.
///
/// With c_k what all coefficients have of row (pair, draw) k, by what is left to chance, their covariance
/// matrix is `Σ̂ = Σ_k c_k c_kᵀ`.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The variances `V_i = Σ̂_ii`: n × k, row-major. Infinite or zero where a square is no number any more;
    /// the standard errors then still are.
    pub variances: Vec<f64>,
    /// Their square roots.
    pub standard_errors: Vec<f64>,
    /// In how many directions the errors go, `ν = (tr Σ)² / tr Σ²`, for each output; between 1 and n. Both
    /// traces without what a row has in common with itself alone, `Σ_{k≠l} ‖c_k‖² ‖c_l‖²` over
    /// `Σ_{k≠l} (c_kᵀ c_l)²`, which is 4th moments and no covariance. Up to 32 players from Σ̂ itself; beyond
    /// from `Σ̂ g` of 16 fixed random sign vectors g, with one of their standard errors added to tr Σ².
    pub directions: Vec<f64>,
    /// Degrees of freedom of `tr Σ̂ / tr Σ`, of the output where they are fewest, at least 1:
    /// `2 (Σ_k x_k)² / (Σ_k x_k² − (Σ_k x_k)²/m)` with `x_k = ‖c_k‖²` of m draws (Satterthwaite 1946), or the
    /// draws less the hat values of their rows where that is less.
    pub degrees_of_freedom: f64,
}

/// A hat value this close to 1 means that the row alone determines some coefficient.
pub(crate) const SATURATED: f64 = 1e-9;

/// What is known of how a row, or a pair of rows of their own, came into the design.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    /// f: 0 where it is there for certain.
    pub(crate) free: f64,
    /// t: independent draws that met it.
    pub(crate) times: f64,
}

/// The forms g of a block of rows.
struct Forms {
    /// `g_kk` of every row.
    own: Vec<f64>,
    /// `g_kl` of every two neighbours, where pairs are left out together.
    between: Vec<f64>,
}

/// Rows or pairs that were drawn once at most, `free` being left to chance.
fn without_replacement(free: &[f64]) -> Result<Vec<Drawn>, SolverError> {
    if let Some(index) = free.iter().position(|fraction| !(0.0..=1.0).contains(fraction)) {
        return Err(SolverError::Free { index, value: free[index] });
    }
    Ok(free.iter().map(|&free| Drawn { free, times: 1.0 }).collect())
}

impl LeastSquares {
    /// Hat values (statistical leverages) `h_k = w_k a_kᵀ G⁺ a_k` of the rows of the regression, between 0
    /// and 1; they sum to the [`rank`](Self::rank). Rows on their own have `w_k / Σw` more with an intercept,
    /// and sum to one more.
    ///
    /// Where a pair acts as one row: the sum of both members' hat values, without the intercept's. Takes
    /// `O(n³ + m' n²/4)` additions the first time, and is remembered.
    ///
    /// [Without the Gram matrix](crate::Kernel::MatrixFree) they are those expected of rows of such a weight
    /// and norm, which sum to the rank, too: within a tenth for sampled designs of 1000 players.
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

    /// Estimated variances of the coefficients over the draw of the coalitions, n × k, and what they say of
    /// the errors together.
    ///
    /// ```text
    /// V_i = Σ_k f_k w_k² (G⁺ a_k)_i² e_k² / (1 − h_k)
    /// ```
    ///
    /// over the rows of the regression, with residuals `e_k`, hat values `h_k` and the Gram matrix G (HC2,
    /// MacKinnon and White 1985). Where the members of pairs are rows of their own, the pair as a whole takes
    /// the place of the row, as pairs are drawn, not rows (Bell and McCaffrey 2002). `free` holds, for each
    /// row, or for each pair of a paired design, `f_k = 1 − drawn/available` of its size class: 0 where a
    /// class is enumerated, so that the certificate of a full enumeration is 0.
    ///
    /// Takes `O(n³ + m' n²/4)` additions for all outputs together, and finds the
    /// [hat values](Self::hat_values) on the way.
    ///
    /// [Without the Gram matrix](crate::Kernel::MatrixFree) `h_k` and `(G⁺ a_k)_i²` are those expected of
    /// rows that favour no player, and the sum of the variances is at least what 16 random probes measure,
    /// which takes about as long as the solve. Compared with the computed certificate (sums of unanimity
    /// games, airport and glove games of 300 and 1000 players, 3 to 20 evaluations a player): mean squared
    /// errors within 0.99 and 1.13 of it, coverage of 95 % intervals within 1.2 points; one player's error
    /// between 0.5 and 3.5 of the computed one at 3 evaluations a player, 0.8 and 1.25 at 20.
    /// `cargo run --release -p apportion-solvers --example certificates`. Rows that all have much in common
    /// (bits as they are, without constraint, centre or intercept) are judged as too large by up to a half.
    ///
    /// # Errors
    ///
    /// [`SolverError`] for another number of fractions than rows (pairs), fractions outside \[0, 1\], and a
    /// row (pair) with `f_k > 0` and hat value 1: its error cannot be estimated, the budget is too small.
    pub fn certificate(&self, free: &[f64]) -> Result<Certificate, SolverError> {
        self.judge(without_replacement(free)?, None)
    }

    /// The [certificate](Self::certificate) of the coefficients of the players `among` less their mean,
    /// `φ_i − (1/q) Σ_{j ∈ among} φ_j` for q such players, and of the other coefficients as they are: n × k,
    /// row-major.
    ///
    /// The [directions](Certificate::directions) are those of the deviations alone.
    ///
    /// For regressions that determine what the players have in common only as a control variate, and
    /// differences between them.
    ///
    /// # Errors
    ///
    /// As [`certificate`](Self::certificate), and [`SolverError::Among`] for no players or players that do
    /// not exist.
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

    /// The [certificate](Self::certificate) of independent draws, where row (pair) k was met `times[k]` times
    /// and has the weight of all of these draws together:
    ///
    /// ```text
    /// V_i = Σ_k t_k (w_k/t_k)² (G⁺ a_k)_i² e_k² / (1 − h_k/t_k)
    /// ```
    ///
    /// the squares of what coefficient i has of one draw, over all draws.
    ///
    /// # Errors
    ///
    /// As [`certificate`](Self::certificate), of `times` in place of `free`. What was met zero times counts
    /// for nothing.
    pub fn certificate_of_draws(&self, times: &[u32]) -> Result<Certificate, SolverError> {
        let drawn = |&times: &u32| Drawn { free: f64::from(times.min(1)), times: f64::from(times.max(1)) };
        self.judge(times.iter().map(drawn).collect(), None)
    }

    /// `Σ (f/t) (t · what one draw gives)²`, of the deviations from the mean where there are players `among`
    /// whom it is taken.
    fn judge(&self, drawn: Vec<Drawn>, among: Option<Range<usize>>) -> Result<Certificate, SolverError> {
        if drawn.len() != self.rows.units() {
            return Err(SolverError::FreeCount { given: drawn.len(), wanted: self.rows.units() });
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

    /// The certificate that says so, of variances in units of the outputs; `left` draws are left after the
    /// fit.
    pub(crate) fn certificate_of(
        &self,
        variances: &[Vec<f64>],
        traces: &[Traces],
        drawn: &[Drawn],
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

    /// Rows that are left out together.
    fn rows_per_unit(&self) -> usize {
        if self.rows.pairs_apart { 2 } else { 1 }
    }

    fn add_rows(
        &self,
        images: &Images<'_>,
        hats: &[f64],
        drawn: &[Drawn],
        variances: &mut [Vec<f64>],
        covariances: &mut [Covariance],
    ) -> Result<(), SolverError> {
        let range = images.rows.clone();
        let mut factors = vec![0.0; hats.len()];
        for (index, (factor, hat)) in factors.iter_mut().zip(hats).enumerate() {
            let row = range.start + index;
            let (weight, Drawn { free, times }) = (self.rows.weights[row], drawn[row]);
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
        drawn: &[Drawn],
        variances: &mut [Vec<f64>],
        covariances: &mut [Covariance],
    ) -> Result<(), SolverError> {
        let range = images.rows.clone();
        let weights = self.rows.weights[range.clone()].as_chunks::<2>().0;
        // Factors of both images for both residuals.
        let mut factors = vec![[[0.0; 2]; 2]; weights.len()];
        let pairs = weights.iter().zip(hats.as_chunks::<2>().0).zip(&forms.between);
        for (index, (factors, ((&[w, v], &[h, k]), &between))) in factors.iter_mut().zip(pairs).enumerate() {
            let pair = range.start / 2 + index;
            let Drawn { free, times } = drawn[pair];
            if free > 0.0 && w + v > 0.0 {
                let (h, k) = (h / times, k / times);
                let (beside_w, beside_v) = (w * between / times, v * between / times);
                // The larger eigenvalue of the two rows' part of the hat matrix.
                let hat_value = 0.5 * (h + k + (h - k).hypot(2.0 * (beside_w * beside_v).sqrt()));
                if 1.0 - hat_value < SATURATED {
                    return Err(SolverError::Saturated { row: pair, hat_value });
                }
                // With s² = det(I − H): (I − H)^(−1/2) = adj(I − H + s I) / (s √(tr(I − H) + 2 s)).
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

    /// Calls `visit` with the images `G⁺ a_k` of all rows and their forms, a block at a time.
    fn for_each_block_of_images(
        &self,
        factor: &Factor,
        mut visit: impl FnMut(Images<'_>, Forms) -> Result<(), SolverError>,
    ) -> Result<(), SolverError> {
        let inverse = factor.pseudo_inverse();
        // Under the constraint `G⁺ 1 = 0`, so that z stands for the projected row.
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
