//! The allowance for unseen events: the part of an error that the spread of a sample cannot show.
//!
//! # Notation
//!
//! `φ̃` is the estimate for one output and n players; `V_i` are the squared standard errors from the spread
//! of the sample, and f is their number of degrees of freedom. The *influence* of a draw on a value is its
//! contribution to the value's error. For a mean of T draws, this is the deviation of the draw from the mean,
//! divided by T.
//!
//! # Motivation
//!
//! Standard errors only reflect what the sample contains. Rare and large events, such as the swing of a small
//! voter (a coalition that wins only with this voter), may be missing from the whole sample. Then the value
//! is wrong, and its spread is zero. The error of every estimate is therefore increased by one more draw, of
//! the typical size of such draws:
//!
//! ```text
//! means of draws:   V_i + ½ (R_i² + R² exp(−e_i²)) + ‖φ̃‖² / (n (4T)²)
//! regressions:      V_i + ‖φ̃‖² / (n (6f)²)
//!
//! R_i² = Σ_t c_ti⁴ / Σ_t c_ti²,     e_i = (Σ_t c_ti²)² / Σ_t c_ti⁴
//! ```
//!
//! - For methods whose values are means of separate draws, `c_ti` are the influences, `R_i` is the size of
//!   the influences that make up most of the variance, and `e_i` is their number. For normally distributed
//!   draws, `R_i² = 3σ²/T²`, which is negligible. For a swing that occurs once in T draws, R_i is 1/T. For a
//!   value whose draws hardly varied, R is used instead, the typical size among all values. If nothing varied
//!   for any value, R is the size of the values themselves divided by T.
//! - For means, a quarter of a draw of the size of the values is added; for regressions, whose draws inform
//!   all values, a sixth. For a regression in which nothing varied, a whole draw of the size of the largest
//!   value, `max_j |φ̃_j| / f`, is added to each value.
//!
//! Methods that compare v(∅) and v(N) with their sample add the variance due to the largest conjunction of
//! players that the sample may have missed, if v(∅) or v(N) shows that there is such an event
//! (`support/missed_conjunction.rs`).
//!
//! Only exact values have an error of exactly zero. If there is no scale at all, because every observed
//! number is zero, the estimate has no standard errors.

use super::explanation::Explanation;

/// Standard errors below this fraction of the norm of the values are rounding errors.
const ROUNDING: f64 = 1e-10;

/// For each value, the sums of squares and of fourth powers of the influences of the draws: n × k, row-major.
#[derive(Debug, Clone)]
pub(crate) struct Influences {
    pub(crate) squares: Vec<f64>,
    pub(crate) fourths: Vec<f64>,
}

impl Influences {
    /// Creates the influences of zero draws on the given number of values.
    pub(crate) fn none(values: usize) -> Self {
        Self { squares: vec![0.0; values], fourths: vec![0.0; values] }
    }

    /// Returns the influences on means of `draws` draws, from the sums of squares and of fourth powers of the
    /// deviations.
    pub(crate) fn of_means(squares: &[f64], fourths: &[f64], draws: f64) -> Self {
        let part = draws.recip().powi(2);
        Self {
            squares: squares.iter().map(|sum| sum * part).collect(),
            fourths: fourths.iter().map(|sum| sum * part * part).collect(),
        }
    }

    /// Adds the influences of further draws on the same values.
    pub(crate) fn add(&mut self, other: &Self) {
        let add =
            |sums: &mut [f64], more: &[f64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.squares, &other.squares);
        add(&mut self.fourths, &other.fourths);
    }

    /// Appends the influences on further values.
    pub(crate) fn extend(&mut self, other: Self) {
        self.squares.extend(other.squares);
        self.fourths.extend(other.fourths);
    }

    /// Returns the influences on the values multiplied by `factor`.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.squares.iter_mut().for_each(|square| *square *= factor.powi(2));
        self.fourths.iter_mut().for_each(|fourth| *fourth *= factor.powi(4));
        self
    }

    /// Returns, for each value, the size of one more draw: the square root of the terms added to `V_i`.
    /// `shares[i]` is the weight of one draw in value i: 1/T for a mean of T draws, 0 if the value is exact.
    pub(crate) fn one_draw(&self, values: &[f64], shares: &[f64], outputs: usize) -> Vec<f64> {
        let usual: Vec<f64> =
            (0..outputs).map(|output| self.usual(values, shares, output, outputs)).collect();
        let mean_square = |output: usize| {
            let own = values.iter().skip(output).step_by(outputs);
            own.clone().map(|value| value * value).sum::<f64>() / own.count() as f64
        };
        let mean_squares: Vec<f64> = (0..outputs).map(mean_square).collect();
        (0..values.len())
            .map(|at| match shares[at] {
                0.0 => 0.0,
                share => {
                    let size = squared_size(self.squares[at], self.fourths[at], usual[at % outputs]);
                    (0.5 * size + mean_squares[at % outputs] * (share / 4.0).powi(2)).sqrt()
                }
            })
            .collect()
    }

    /// Returns R², the squared typical size of the influence of a draw, for one output.
    fn usual(&self, values: &[f64], shares: &[f64], output: usize, outputs: usize) -> f64 {
        let of_output =
            |numbers: &[f64]| -> Vec<f64> { numbers.iter().skip(output).step_by(outputs).copied().collect() };
        let (squares, fourths) = (of_output(&self.squares), of_output(&self.fourths));
        // These are the squared influences of draws that are as large as the values themselves.
        let whole: Vec<f64> =
            of_output(values).iter().zip(of_output(shares)).map(|(x, share)| (x * share).powi(2)).collect();
        let (varied, size) = (squares.iter().sum::<f64>(), whole.iter().sum::<f64>());
        if varied > ROUNDING * ROUNDING * size {
            fourths.iter().sum::<f64>() / varied
        } else if size > 0.0 {
            whole.iter().map(|square| square * square).sum::<f64>() / size
        } else {
            0.0
        }
    }
}

/// Returns `R_i² + R² exp(−e_i²)`. Squares that are negligible relative to the typical size count as zero.
fn squared_size(squares: f64, fourths: f64, usual: f64) -> f64 {
    if fourths <= 0.0 || squares <= ROUNDING * ROUNDING * usual {
        return usual;
    }
    let draws = squares * squares / fourths;
    fourths / squares + usual * (-draws * draws).exp()
}

/// Returns the terms to add to the variances (n × k) of a regression with `degrees` degrees of freedom, and
/// whether nothing varied for some output.
pub(crate) fn of_regression(
    values: &[f64],
    variances: &[f64],
    degrees: f64,
    outputs: usize,
) -> (Vec<f64>, bool) {
    let mut added = vec![0.0; values.len()];
    let mut has_not_varied = false;
    for output in 0..outputs {
        let own = || (output..values.len()).step_by(outputs);
        let square: f64 = own().map(|at| values[at].powi(2)).sum();
        let largest = own().map(|at| values[at].powi(2)).fold(0.0, f64::max);
        let varied_not = varied_not(own().map(|at| variances[at]).sum(), square);
        let part = square / (own().count() as f64 * (6.0 * degrees).powi(2));
        let whole = if varied_not { largest / degrees.powi(2) } else { 0.0 };
        own().for_each(|at| added[at] = part + whole);
        has_not_varied |= varied_not;
    }
    (added, has_not_varied)
}

/// Returns whether variances that sum to `trace` are only rounding errors, for values whose squares sum to
/// `square`.
fn varied_not(trace: f64, square: f64) -> bool {
    trace <= ROUNDING * ROUNDING * square
}

impl Explanation {
    /// Returns the terms to add to the squared standard errors (n × k), and whether nothing varied for some
    /// output. Requires standard errors.
    ///
    /// Uses [`one_draw`](crate::ErrorDistribution::one_draw) of the error distribution if it is set. Methods
    /// that do not set it are treated as regressions.
    pub(crate) fn unseen(&self) -> (Vec<f64>, bool) {
        let (mut unseen, nothing_varied) = self.unseen_draws();
        let ends = self.diagnostics.error_distribution.iter().flat_map(|known| &known.shown_by_ends);
        let ends: Vec<f64> = ends.map(|error| error * error).collect();
        for values in unseen.chunks_exact_mut(ends.len().max(1)) {
            values.iter_mut().zip(&ends).for_each(|(value, end)| *value += end);
        }
        (unseen, nothing_varied)
    }

    /// Computes the same as [`unseen`](Self::unseen), without the events that v(∅) and v(N) show.
    fn unseen_draws(&self) -> (Vec<f64>, bool) {
        let outputs = self.outputs();
        let squares =
            |numbers: &[f64]| -> Vec<f64> { numbers.iter().map(|number| number * number).collect() };
        let variances = squares(self.std_errors.as_deref().unwrap_or_default());
        match &self.diagnostics.error_distribution {
            Some(distribution) if !distribution.one_draw.is_empty() => {
                let sum = |numbers: &[f64], output: usize| -> f64 {
                    numbers.iter().skip(output).step_by(outputs).sum()
                };
                let values = squares(&self.values);
                let is_still = |output: usize| varied_not(sum(&variances, output), sum(&values, output));
                (squares(&distribution.one_draw), (0..outputs).any(is_still))
            }
            distribution => {
                let degrees = distribution.as_ref().map_or(1.0, |distribution| {
                    distribution.draws_left.unwrap_or(distribution.degrees_of_freedom)
                });
                of_regression(&self.values, &variances, degrees, outputs)
            }
        }
    }

    /// Adds the allowance for unseen events to the standard errors, and records whether nothing varied.
    pub(crate) fn with_unseen(mut self) -> Self {
        if self.diagnostics.exact || self.std_errors.is_none() {
            return self;
        }
        let (unseen, nothing_varied) = self.unseen();
        self.diagnostics.nothing_varied |= nothing_varied;
        let errors: Vec<f64> = self.std_errors.take().unwrap_or_default();
        let errors: Vec<f64> =
            errors.iter().zip(&unseen).map(|(error, unseen)| error.hypot(unseen.sqrt())).collect();
        // Some values may be exact and have zero error. But if all errors are zero, exact values cannot be
        // distinguished from others.
        let outputs = self.outputs();
        let has_scale = |output: usize| errors.iter().skip(output).step_by(outputs).any(|error| *error > 0.0);
        if (0..outputs).all(has_scale) && errors.iter().all(|error| error.is_finite()) {
            self.std_errors = Some(errors);
        } else {
            self.diagnostics.error_distribution = None;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the size of one more draw for each mean; a row of `values` contains the draws of one mean.
    fn one_draw(values: &[&[f64]]) -> Vec<f64> {
        let draws = values[0].len() as f64;
        let means: Vec<f64> = values.iter().map(|own| own.iter().sum::<f64>() / draws).collect();
        let powers = |power: i32| -> Vec<f64> {
            values
                .iter()
                .zip(&means)
                .map(|(own, mean)| own.iter().map(|x| (x - mean).powi(power)).sum())
                .collect()
        };
        let influences = Influences::of_means(&powers(2), &powers(4), draws);
        influences.one_draw(&means, &vec![draws.recip(); means.len()], 1)
    }

    #[test]
    fn a_swing_that_was_not_met_has_the_size_of_those_that_were() {
        // The first player has a nonzero contribution in one of ten draws, and the second in none.
        let mut swings = [0.0; 10];
        swings[3] = 1.0;
        let got = one_draw(&[&swings, &[0.0; 10]]);
        // The expected R² is Σ d⁴ / Σ d² = (0.9⁴ + 9 · 0.1⁴) / 0.9, divided by the squared number of draws.
        let square = (0.9f64.powi(4) + 9.0 * 0.1f64.powi(4)) / 0.9 / 100.0;
        // Add a quarter of a draw of the size of the values, 0.1 and 0.
        let quarter = 0.1f64.powi(2) / 2.0 / 40.0f64.powi(2);
        assert!((got[1] - (0.5 * square + quarter).sqrt()).abs() < 1e-15, "{got:?}");
        assert!(got[0] > got[1], "its own, and a share of the usual one");
    }

    #[test]
    fn values_that_varied_often_go_by_their_own_size() {
        let small: Vec<f64> = (0..40).map(|at| 1e-3 * (f64::from(at % 4) - 1.5)).collect();
        let large: Vec<f64> = (0..40).map(|at| f64::from(at % 4) - 1.5).collect();
        let got = one_draw(&[&small, &large]);
        assert!((got[0] / got[1] - 1e-3).abs() < 1e-9, "{got:?}");
        // The allowance is small compared with the standard error.
        let error = (small.iter().map(|x| x.powi(2)).sum::<f64>() / 39.0 / 40.0).sqrt();
        assert!(got[0] < 0.15 * error, "{} {error}", got[0]);
    }

    #[test]
    fn where_nothing_varied_the_values_are_the_scale() {
        let got = one_draw(&[&[2.0; 8], &[0.0; 8]]);
        let expected = (0.5 * (2.0f64 / 8.0).powi(2) + 2.0 / 32.0f64.powi(2)).sqrt();
        assert!(got.iter().all(|got| (got - expected).abs() < 1e-15), "{got:?}");
    }
}
