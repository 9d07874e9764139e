//! The estimators that a paper compares.

use anyhow::Result;
use apportion::Estimator;

use crate::reproduce::figure::Style;
use crate::reproduce::ingredients::Digest;

/// An estimator among those that a paper compares.
pub(crate) trait Compete: Copy + Ord + Sync + 'static {
    /// All of them, in the order of legends and tables.
    fn all() -> &'static [Self];

    /// The name in figures and tables.
    fn title(self) -> &'static str;

    /// The same look in every figure.
    fn style(self) -> Style;

    /// Whether it is the one that the paper is about, which is drawn on top.
    fn is_subject(self) -> bool;

    fn estimator(self) -> Box<dyn Estimator>;

    /// What the estimator is, by its answers: results of one that has changed since are not taken up again.
    fn digest(self) -> Result<Digest> {
        Digest::of_estimator(&*self.estimator())
    }
}
