//! The tolerance of a run, as an alternative to a budget.

use apportion_estimators::{Measure, Scale, Until};

use super::error::OptionError;

/// The options for the tolerance of a run.
///
/// ```
/// use apportion::options::Accuracy;
///
/// let accuracy = Accuracy { tolerance: Some(0.01), confidence: Some(0.9), ..Accuracy::default() };
/// assert_eq!(accuracy.until()?.map(|until| until.confidence), Some(0.9));
/// assert!(Accuracy { tolerance: None, ..accuracy }.until().is_err());
/// # Ok::<(), apportion::options::OptionError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Accuracy {
    /// The tolerance (`until`); `None` for a run with a fixed budget.
    pub tolerance: Option<f64>,
    /// The confidence level; 0.95 by default.
    pub confidence: Option<f64>,
    /// The scale of the tolerance; `norm` by default.
    pub relative_to: Option<Scale>,
    /// The measure of the error over all players; `euclidean` by default.
    pub error: Option<Measure>,
    /// The largest minus the smallest output of the model, if known.
    pub range: Option<f64>,
}

/// The scales with their names.
pub(super) const SCALES: [(&str, Scale); 3] =
    [("norm", Scale::Norm), ("range", Scale::Range), ("nothing", Scale::Absolute)];

/// The measures with their names.
pub(super) const MEASURES: [(&str, Measure); 2] =
    [("euclidean", Measure::Euclidean), ("every-player", Measure::EveryPlayer)];

impl Accuracy {
    /// Returns the tolerance of a run; `None` for a run with a fixed budget.
    ///
    /// # Errors
    ///
    /// [`OptionError::Requires`] if other options are set without a tolerance, and [`OptionError::Accuracy`]
    /// for numbers out of range.
    pub fn until(&self) -> Result<Option<Until>, OptionError> {
        let Some(tolerance) = self.tolerance else {
            let others = [
                ("confidence", self.confidence.is_some()),
                ("relative-to", self.relative_to.is_some()),
                ("error", self.error.is_some()),
                ("range", self.range.is_some()),
            ];
            return match others.into_iter().find(|(_, is_given)| *is_given) {
                Some((option, _)) => Err(OptionError::Requires { option, other: "until" }),
                None => Ok(None),
            };
        };
        let defaults = Until::relative(tolerance);
        let until = defaults
            .with_confidence(self.confidence.unwrap_or(defaults.confidence))
            .with_scale(self.relative_to.unwrap_or(defaults.scale))
            .with_measure(self.error.unwrap_or(defaults.measure))
            .with_range(self.range);
        until.check().map_err(OptionError::Accuracy)?;
        Ok(Some(until))
    }
}
