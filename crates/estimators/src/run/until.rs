//! Tolerances for the error of a run, as an alternative to budgets.

use crate::error::EstimatorError;
use crate::error::RunError;
use crate::setters::setters;

/// The quantity to which the tolerance is relative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// The tolerance is absolute, in units of the output.
    Absolute,
    /// ‖φ‖, the Euclidean norm of the values for one output, estimated conservatively. The default.
    #[default]
    Norm,
    /// `max φ − min φ`, the range of the values for one output, estimated conservatively.
    Range,
}

/// The norm that combines the errors of all values into one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// ‖φ̃ − φ‖, the Euclidean norm (ℓ2). The default.
    #[default]
    Euclidean,
    /// `max_i |φ̃_i − φ_i|`: every player is within the tolerance, jointly at the confidence level.
    EveryPlayer,
}

/// A stopping rule: run until the error is within a tolerance, or the budget is exhausted.
///
/// ```
/// use apportion_estimators::Until;
///
/// // ‖φ̃ − φ‖ ≤ 0.01 ‖φ‖ with confidence 0.95, from at most 100,000 evaluations.
/// let until = Until::relative(0.01).with_budget(Some(100_000));
/// assert_eq!(until.confidence, 0.95);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Until {
    /// The tolerance; must be positive.
    pub tolerance: f64,
    /// The quantity to which the tolerance is relative.
    pub scale: Scale,
    /// The norm that combines the errors of all players. If there are several outputs, each of them must be
    /// within the tolerance.
    pub measure: Measure,
    /// The probability that the error is within the tolerance if the run stops at the tolerance; between 0
    /// and 1, defaults to 0.95.
    pub confidence: f64,
    /// The maximum number of evaluations, including v(∅) and v(N). For n players, it defaults to 1000 n, but
    /// at least 100,000 and at most all `2^n`.
    pub budget: Option<usize>,
    /// The maximum number of interim checks; defaults to 32. All checks together share the error probability.
    pub interim_checks: usize,
    /// The largest value of the game minus its smallest, if known; for example, 1 if the model output is a
    /// probability. Methods whose values are means of independent draws then use empirical Bernstein bounds,
    /// which hold for every number of draws, instead of asymptotic ones.
    pub range: Option<f64>,
}

setters!(Until {
    with_tolerance => tolerance: f64,
    with_scale => scale: Scale,
    with_measure => measure: Measure,
    with_confidence => confidence: f64,
    with_budget => budget: Option<usize>,
    with_looks => interim_checks: usize,
    with_range => range: Option<f64>,
});

/// The default number of interim checks.
const LOOKS: usize = 32;

impl Until {
    /// Creates the rule that stops at a Euclidean error of at most `tolerance` times the norm of the values.
    pub fn relative(tolerance: f64) -> Self {
        Self {
            tolerance,
            scale: Scale::default(),
            measure: Measure::default(),
            confidence: 0.95,
            budget: None,
            interim_checks: LOOKS,
            range: None,
        }
    }

    /// Creates the rule that stops at a Euclidean error of at most `tolerance`, in units of the output.
    pub fn absolute(tolerance: f64) -> Self {
        Self { scale: Scale::Absolute, ..Self::relative(tolerance) }
    }

    /// Checks that the settings are in range.
    ///
    /// # Errors
    ///
    /// [`RunError::Until`] for a tolerance or a range that is not positive and finite, for a confidence
    /// outside (0, 1), or for zero interim checks.
    pub fn check(&self) -> Result<(), EstimatorError> {
        let is_positive = |number: f64| number.is_finite() && number > 0.0;
        let refused =
            |what, given, wanted| Err(RunError::Until { what, actual: given, expected: wanted }.into());
        if !is_positive(self.tolerance) {
            return refused("tolerance", self.tolerance, "positive and finite");
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return refused("confidence", self.confidence, "above 0 and below 1, such as 0.95");
        }
        if let Some(range) = self.range.filter(|&range| !is_positive(range)) {
            return refused(
                "range",
                range,
                "positive and finite (the largest value of the game minus the smallest)",
            );
        }
        if self.interim_checks == 0 {
            return refused("number of interim checks", 0.0, "at least 1");
        }
        Ok(())
    }

    /// Returns a description of the requested accuracy, as stored in result files and checkpoints.
    ///
    /// ```
    /// use apportion_estimators::Until;
    ///
    /// let words = Until::relative(0.01).words();
    /// assert_eq!(words, "Euclidean error 0.01 of the norm of the values, confidence 0.95");
    /// ```
    pub fn words(&self) -> String {
        let scale = match self.scale {
            Scale::Absolute => "in units of the output",
            Scale::Norm => "of the norm of the values",
            Scale::Range => "of the range of the values",
        };
        let measure = match self.measure {
            Measure::Euclidean => "Euclidean error",
            Measure::EveryPlayer => "error of every player",
        };
        let range = self.range.map_or_else(String::new, |range| format!(", range {range}"));
        format!("{measure} {} {scale}, confidence {}{range}", self.tolerance, self.confidence)
    }

    /// Returns the maximum number of evaluations for a game with `players` players.
    pub fn max_evaluations(&self, players: usize) -> usize {
        let all = 1usize.checked_shl(players as u32).filter(|_| players < 30).unwrap_or(usize::MAX);
        self.budget.unwrap_or_else(|| players.saturating_mul(1000).max(100_000).min(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        let good = Until::relative(0.1);
        assert!(good.check().is_ok());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(good.with_tolerance(bad).check().is_err());
            assert!(good.with_range(Some(bad)).check().is_err());
        }
        for bad in [0.0, 1.0, -0.5, 2.0, f64::NAN] {
            let message = good.with_confidence(bad).check().unwrap_err().to_string();
            assert!(message.contains("confidence") && message.contains("0.95"), "{message}");
        }
        assert!(good.with_looks(0).check().is_err());
    }

    #[test]
    fn no_more_than_all_coalitions_are_evaluated_unless_asked_for() {
        let until = Until::relative(0.1);
        assert_eq!(until.max_evaluations(10), 1024);
        assert_eq!(until.max_evaluations(20), 100_000);
        assert_eq!(until.max_evaluations(1000), 1_000_000);
        assert_eq!(until.with_budget(Some(7)).max_evaluations(10), 7);
    }
}
