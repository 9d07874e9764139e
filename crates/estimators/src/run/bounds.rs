//! Error bounds of an explanation, computed from its standard errors and their distribution.
//!
//! # Notation
//!
//! δ is the error probability; `V_i` are the squared standard errors for n players, and `tr Σ̂ = Σ_i V_i`; f
//! is the number of degrees of freedom, and ν is the number of directions (see
//! [`ErrorDistribution`](crate::ErrorDistribution)).
//!
//! ```text
//! asymptotic:            |φ̃_i − φ_i| ≤ t_f(1 − δ/2) √V_i,      ‖φ̃ − φ‖² ≤ F_{ν,f}(1 − δ) tr Σ̂
//! empirical Bernstein:   |φ̃_i − φ_i| ≤ √(2 V_i ln(4/δ)) + 7 R ln(4/δ) / (3 (T − 1))
//! ```
//!
//! The second bound applies to means of T draws in an interval of length R (Maurer and Pontil, COLT 2009,
//! theorem 4, two-sided).
//!
//! # Unseen events
//!
//! Standard errors, and hence the bounds, include an allowance for unseen events ([`crate::report::unseen`]).
//! It does not cover an event that the entire sample missed. Except with probability δ, an event that T
//! coalitions missed has a probability of at most `p = ln(1/δ) / T`. If each player is present with
//! probability q, an event that requires `k = log(1/p) / log(1/q)` players to be present has this
//! probability. If its size is A, then
//!
//! ```text
//! |φ_i| ≤ (A/q) p for each of them,      ‖φ‖ ≤ (A/q) p √k
//! ```
//!
//! and the same with 1 − q for events that require players to be absent. The Banzhaf distribution has q = ½,
//! which is used for all values except weighted Banzhaf values. In this section, T is the budget of the
//! sample minus n + 2 (for n values, v(∅) and v(N)), or f if that is larger. An event that was missed at one
//! interim check was also missed at all earlier ones, so δ is not divided among the checks. Two signs
//! indicate how large A may be:
//!
//! - If nothing varied in the sample, this is reported as a separate guarantee. The values must sum to v(N) −
//!   v(∅), as in an additive game, and `A = ‖φ̃‖`, which is twice the standard deviation of an additive game
//!   over coalitions.
//! - The gap between v(N) − v(∅) and the sum of the values, `A = |v(N) − v(∅) − Σφ̃_i|`, may be due to a
//!   single event, unless the sample varied as much. For a regression, `tr V ≈ n σ²/(T q(1 − q))`, and a
//!   variance of σ² over T draws corresponds to about `e = T σ²/A²` draws of size A. The gap is therefore
//!   multiplied by `exp(−e)`. Efficient values have no gap.

use apportion_values::{Semivalue, SolutionConcept};

use super::scale::{self, BoundBasis, Errors, Pair, norm};
use super::until::{Measure, Scale, Until};
use crate::report::{
    BoundedDraws, Explanation, Guarantee, StopRule, fisher, independent_directions, student, unit,
};

/// The largest gap between the sum of the values and v(N) − v(∅) with which values still count as those of an
/// additive game, as a fraction of `|v(N) − v(∅)| + ‖φ̃‖`.
const ADDITIVE: f64 = 1e-6;

/// The error bounds of an explanation, compared with the tolerances at an interim check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) guarantee: Guarantee,
    /// The error bound for each output; `None` without standard errors.
    pub(crate) errors: Option<Vec<f64>>,
    /// The tolerance for each output, in units of the output.
    pub(crate) tolerances: Vec<f64>,
    /// The half-width of the pointwise interval of each value; `None` without standard errors.
    pub(crate) half_widths: Option<Vec<f64>>,
}

impl Bounds {
    /// Returns the bounds for `explanation`, from a sample of `sample` evaluations, at the error probability
    /// `wrong`. Relative tolerances refer to the sums of its values and `known` ones (n × k, or empty).
    pub(crate) fn for_explanation(
        explanation: &Explanation,
        known: &[f64],
        sample: usize,
        until: &Until,
        wrong: f64,
    ) -> Self {
        // Compute squares in units in which they neither overflow nor underflow.
        let outputs = explanation.outputs();
        let size = |output: usize| explanation.output(output).into_iter().map(f64::abs).fold(0.0, f64::max);
        let units: Vec<f64> = (0..outputs).map(|output| unit(size(output))).collect();
        let known: Vec<f64> =
            known.iter().zip(units.iter().cycle()).map(|(known, unit)| known * unit).collect();
        let own = Self::in_units(&explanation.clone().times(&units), &known, sample, until, wrong, &units);
        let back = |numbers: Vec<f64>| -> Vec<f64> {
            numbers.iter().zip(units.iter().cycle()).map(|(number, unit)| number / unit).collect()
        };
        Self {
            errors: own.errors.map(back),
            tolerances: back(own.tolerances),
            half_widths: own.half_widths.map(back),
            ..own
        }
    }

    /// Computes the same as [`for_explanation`](Self::for_explanation) for a rescaled explanation. Absolute
    /// tolerances of `until` are multiplied by the factor of the output.
    fn in_units(
        explanation: &Explanation,
        known: &[f64],
        sample: usize,
        until: &Until,
        wrong: f64,
        units: &[f64],
    ) -> Self {
        let outputs = explanation.outputs();
        let totals = |output: usize| -> Vec<f64> {
            let known = known.iter().skip(output).step_by(outputs).chain(std::iter::repeat(&0.0));
            explanation.output(output).iter().zip(known).map(|(value, known)| value + known).collect()
        };
        let of_estimates = || {
            units.iter().enumerate().map(|(output, unit)| {
                let whole = scale::of_estimates(until.scale, &totals(output)).unwrap_or(*unit);
                until.tolerance * whole
            })
        };
        let Some(variances) = variances(explanation) else {
            let tolerances = of_estimates().collect();
            return Self { guarantee: Guarantee::Unknown, errors: None, tolerances, half_widths: None };
        };
        if explanation.diagnostics.exact && variances.iter().all(|&variance| variance == 0.0) {
            let half_widths = Some(vec![0.0; variances.len()]);
            return Self {
                guarantee: Guarantee::Exact,
                errors: Some(vec![0.0; outputs]),
                tolerances: of_estimates().collect(),
                half_widths,
            };
        }
        let distribution = explanation.diagnostics.error_distribution.as_ref();
        let bounded = until
            .range
            .zip(distribution.and_then(|distribution| distribution.bounded_draws))
            // Scale the range of the game by the largest factor.
            .map(|(range, draws)| (range * units.iter().copied().fold(0.0, f64::max), draws));
        let guarantee = match bounded {
            Some(_) => Guarantee::EmpiricalBernstein,
            None if explanation.diagnostics.nothing_varied => Guarantee::NothingVaried,
            None => Guarantee::Asymptotic,
        };
        let degrees = distribution.map_or(1.0, |distribution| distribution.degrees_of_freedom);
        let half_widths = |variances: &mut dyn Iterator<Item = f64>, wrong: f64| -> Vec<f64> {
            if let Some((range, draws)) = bounded {
                return variances.map(|variance| bernstein(variance, range, draws, wrong)).collect();
            }
            let quantile = student(degrees, wrong);
            variances.map(|variance| quantile * variance.sqrt()).collect()
        };
        let players = explanation.players() as f64;
        let of_output = |output: usize| variances.iter().skip(output).step_by(outputs).copied();
        let looked_at = sample.saturating_sub(explanation.players() + 2);
        let missed = |output: usize, measure: Measure| match guarantee {
            Guarantee::NothingVaried if !adds_up(explanation, output) => f64::INFINITY,
            Guarantee::NothingVaried => {
                let draws = degrees.max(looked_at as f64);
                missed(explanation, norm(&explanation.output(output)), draws, until, measure)
            }
            Guarantee::Asymptotic => {
                let draws = degrees.max(looked_at as f64);
                let size = left_by_the_sample(explanation, &variances, draws, output);
                missed(explanation, size, draws, until, measure)
            }
            _ => 0.0,
        };
        let wrong_each = wrong / outputs as f64;
        // These are bounds for the individual values, adjusted so that all hold jointly.
        let each = |output: usize, wrong: f64| half_widths(&mut of_output(output), wrong / players);
        // This is the bound on ‖φ̃ − φ‖², computed from standard errors.
        let square = |output: usize, wrong: f64| {
            let directions = directions(explanation, &variances, output);
            fisher(directions, degrees, wrong) * trace(explanation, &variances, degrees, output)
        };
        let error = |output: usize, wrong: f64| match (until.measure, bounded) {
            (Measure::EveryPlayer, _) => each(output, wrong).into_iter().fold(0.0, f64::max),
            (Measure::Euclidean, Some(_)) => norm(&each(output, wrong)),
            (Measure::Euclidean, None) => square(output, wrong).sqrt(),
        };
        let errors: Vec<f64> =
            (0..outputs).map(|output| error(output, wrong_each).max(missed(output, until.measure))).collect();
        let tolerance = |output: usize, of_estimates: f64| {
            // Without an error bound, the scale has no bound either.
            if until.scale == Scale::Absolute || !errors[output].is_finite() {
                return of_estimates;
            }
            let quantiles = |share: f64| Pair {
                sure: student(degrees, share * wrong_each),
                even: student(degrees, share),
            };
            let distribution = match bounded {
                Some(_) => BoundBasis::Inequality,
                None => BoundBasis::StandardErrors {
                    trace: trace(explanation, &variances, degrees, output),
                    square: Pair { sure: square(output, wrong_each), even: square(output, 0.5) },
                    directions: directions(explanation, &variances, output),
                    largest: of_output(output).fold(0.0, f64::max).sqrt(),
                    student: &quantiles,
                },
            };
            let is_norm = until.scale == Scale::Norm;
            let errors = Errors {
                values: &totals(output),
                each: &each(output, wrong_each),
                error: Pair { sure: error(output, wrong_each), even: error(output, 0.5) },
                missed: missed(output, if is_norm { Measure::Euclidean } else { Measure::EveryPlayer }),
                distribution,
            };
            if is_norm { errors.of_norm(until.tolerance) } else { errors.of_range(until.tolerance) }
        };
        let tolerances =
            of_estimates().enumerate().map(|(output, estimate)| tolerance(output, estimate)).collect();
        let if_finite =
            |numbers: Vec<f64>| numbers.iter().all(|number| number.is_finite()).then_some(numbers);
        let half_widths = if_finite(half_widths(&mut variances.iter().copied(), wrong));
        // Without degrees of freedom, quantiles are infinite, and there is no bound.
        Self { guarantee, errors: if_finite(errors), tolerances, half_widths }
    }

    /// Returns the largest ratio of an error bound to its tolerance, which is at most 1 if the tolerance is
    /// reached; `None` without bounds.
    ///
    /// A tolerance of zero (relative to a scale that may be zero) is only reached by exact values.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let ratio = |(&error, &tolerance): (&f64, &f64)| if error == 0.0 { 0.0 } else { error / tolerance };
        Some(self.errors.as_ref()?.iter().zip(&self.tolerances).map(ratio).fold(0.0, f64::max))
    }
}

impl Bounds {
    /// Returns the reason why an uncertified run stopped: `otherwise`, unless the relative tolerance is
    /// undefined.
    pub(crate) fn if_scaled(&self, otherwise: StopRule) -> StopRule {
        if self.tolerances.contains(&0.0) { StopRule::NoScale } else { otherwise }
    }
}

/// Returns the factor by which the number of evaluations must grow to reach the tolerance. Assumes that
/// variances decrease and degrees of freedom increase in proportion. Returns `None` if there is no finite
/// bound to extrapolate from.
pub(crate) fn growth_needed(
    explanation: &Explanation,
    known: &[f64],
    sample: usize,
    until: &Until,
    wrong: f64,
) -> Option<f64> {
    let mut grown = explanation.clone();
    let (errors, distribution) =
        (explanation.std_errors.clone()?, explanation.diagnostics.error_distribution.clone());
    let mut growth = 1.0;
    // Bounds decrease with the square root of the number of evaluations. If nothing varied, they decrease
    // about in proportion to it. With this power, the iteration converges in both cases.
    let power = if explanation.diagnostics.nothing_varied { 4.0 / 3.0 } else { 2.0 };
    // Use fixed-point iteration to find the factor for which the bound equals the tolerance. The quantiles
    // hardly change.
    for _ in 0..8 {
        grown.std_errors = Some(errors.iter().map(|error| error / f64::sqrt(growth)).collect());
        if let (Some(grown), Some(distribution)) = (&mut grown.diagnostics.error_distribution, &distribution)
        {
            grown.degrees_of_freedom = distribution.degrees_of_freedom * growth;
            let grow = |sizes: &[f64]| sizes.iter().map(|size| size / f64::sqrt(growth)).collect();
            grown.one_draw = grow(&distribution.one_draw);
            grown.shown_by_ends = grow(&distribution.shown_by_ends);
            grown.bounded_draws = distribution
                .bounded_draws
                .map(|draws| BoundedDraws { draws: (draws.draws as f64 * growth).round() as usize, ..draws });
        }
        let sample = (sample as f64 * growth).round() as usize;
        let ratio = Bounds::for_explanation(&grown, known, sample, until, wrong).ratio()?;
        if !ratio.is_finite() {
            return None;
        }
        growth = (growth * ratio.powf(power)).clamp(1.0, 1e9);
    }
    Some(growth)
}

/// Returns the squared standard errors of all values, or `None` if they are missing or not all finite.
fn variances(explanation: &Explanation) -> Option<Vec<f64>> {
    let errors = explanation.std_errors.as_ref()?;
    errors.iter().all(|error| error.is_finite()).then(|| errors.iter().map(|error| error * error).collect())
}

/// Returns whether the values sum to v(N) − v(∅), up to the relative gap [`ADDITIVE`]. Efficient values
/// always do; other values generally do so only in an additive game. If nothing varied in the sample, a
/// larger gap means that the sample missed some contributions.
fn adds_up(explanation: &Explanation, output: usize) -> bool {
    let total = explanation.prediction[output] - explanation.base[output];
    gap(explanation, output) <= ADDITIVE * (total.abs() + norm(&explanation.output(output)))
}

/// Returns the gap `|v(N) − v(∅) − Σφ̃_i|` for one output.
fn gap(explanation: &Explanation, output: usize) -> f64 {
    let total = explanation.prediction[output] - explanation.base[output];
    (explanation.output(output).iter().sum::<f64>() - total).abs()
}

/// Returns the size of an event that would explain the gap to v(N) − v(∅). It is reduced if the sample varied
/// enough to have contained this event.
fn left_by_the_sample(explanation: &Explanation, variances: &[f64], draws: f64, output: usize) -> f64 {
    if adds_up(explanation, output) {
        return 0.0;
    }
    let gap = gap(explanation, output);
    let own = variances.iter().skip(output).step_by(explanation.outputs());
    // Only variation in the sample is evidence that the sample saw the events, so the part of the variances
    // for missed events is subtracted.
    let of_ends = explanation
        .diagnostics
        .error_distribution
        .as_ref()
        .and_then(|distribution| distribution.shown_by_ends.get(output))
        .map_or(0.0, |error| error * error);
    let trace: f64 = own.map(|variance| (variance - of_ends).max(0.0)).sum();
    let q = presence(&explanation.value);
    let seen = trace * draws * draws * q * (1.0 - q) / (explanation.players() as f64 * gap * gap);
    gap * (-seen).exp()
}

/// Returns the probability that a player is present: p for weighted Banzhaf values, one half for all others.
fn presence(value: &SolutionConcept) -> f64 {
    match value {
        SolutionConcept::Semivalue(Semivalue::WeightedBanzhaf(presence)) => presence.p(),
        _ => 0.5,
    }
}

/// Returns the largest effect of an event of the given `size` that a sample of `coalitions` coalitions
/// misses, except with the error probability of `until`.
fn missed(explanation: &Explanation, size: f64, coalitions: f64, until: &Until, measure: Measure) -> f64 {
    let wrong = (1.0 - until.confidence) / explanation.outputs() as f64;
    let log = wrong.recip().ln();
    let share = log / coalitions;
    let presence = presence(&explanation.value);
    let of_members = |q: f64| match measure {
        _ if share >= q => f64::INFINITY,
        Measure::EveryPlayer => size * share / q,
        Measure::Euclidean => size * share / q * (share.ln() / q.ln()).sqrt(),
    };
    if size == 0.0 { 0.0 } else { of_members(presence).max(of_members(1.0 - presence)) }
}

/// Returns the estimate of `E ‖φ̃ − φ‖²` for one output.
///
/// The standard error of each value includes one more draw than was observed, in case the sample missed a
/// large contribution. If values are means of independent draws, not all of them missed one, because their
/// total observed variance is unbiased. The norm therefore includes one more draw only once: the largest over
/// all values, or a quarter of a draw of the size of all values, whichever is larger. If nothing varied, it
/// includes the draws of all values.
fn trace(explanation: &Explanation, variances: &[f64], degrees: f64, output: usize) -> f64 {
    let of_output = |numbers: &[f64]| {
        numbers.iter().skip(output).step_by(explanation.outputs()).copied().collect::<Vec<_>>()
    };
    let own = of_output(variances);
    let distribution = explanation
        .diagnostics
        .error_distribution
        .as_ref()
        .filter(|distribution| distribution.bounded_draws.is_some());
    match distribution.map(|distribution| of_output(&distribution.one_draw)) {
        Some(one_draw) if !one_draw.is_empty() && !explanation.diagnostics.nothing_varied => {
            let seen: f64 = own.iter().zip(&one_draw).map(|(all, size)| (all - size * size).max(0.0)).sum();
            let largest = one_draw.iter().map(|size| size * size).fold(0.0, f64::max);
            let square: f64 = of_output(&explanation.values).iter().map(|value| value * value).sum();
            seen + largest.max(square / (4.0 * degrees).powi(2))
        }
        _ => own.iter().sum(),
    }
}

/// Returns the number of directions ν for one output. It is at most `(Σ V_i)² / Σ V_i²`, because unseen
/// events may affect few values. If ν is unknown, returns half of the number for independent errors: the
/// errors of values with a fixed sum are negatively correlated, in the extreme case in pairs.
fn directions(explanation: &Explanation, variances: &[f64], output: usize) -> f64 {
    let independent =
        independent_directions(variances.iter().skip(output).step_by(explanation.outputs()).copied());
    let known = explanation
        .diagnostics
        .error_distribution
        .as_ref()
        .and_then(|distribution| distribution.directions.get(output));
    known.map_or(0.5 * independent, |known| known.min(independent)).max(1.0)
}

fn bernstein(variance: f64, range: f64, BoundedDraws { draws, span }: BoundedDraws, wrong: f64) -> f64 {
    if draws < 2 {
        return f64::INFINITY;
    }
    let log = (4.0 / wrong).ln();
    (2.0 * variance * log).sqrt() + 7.0 * span * range * log / (3.0 * (draws - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, expected) in [(1.0, 12.7062), (5.0, 2.5706), (30.0, 2.0423), (1e9, 1.95996)] {
            assert!(
                (student(degrees, 0.05) - expected).abs() < 1e-3,
                "t with {degrees}: {}",
                student(degrees, 0.05)
            );
        }
        for (nu, f, expected) in
            [(1.0, 5.0, 6.6079), (9.0, 20.0, 2.3928), (4.0, 4.0, 6.3882), (10.0, 1e9, 1.8307)]
        {
            let got = fisher(nu, f, 0.05);
            assert!((got / expected - 1.0).abs() < 2e-3, "F with {nu} and {f}: {got}");
        }
        assert!(fisher(37.3, 2.2, 1e-4).is_finite());
        assert_eq!(student(0.0, 0.05), f64::INFINITY);
    }
}
