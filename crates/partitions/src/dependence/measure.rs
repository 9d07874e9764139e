//! What all measures have in common.

/// A measure at work: what it makes of a column once, and of two such.
pub(super) trait Measure: Sync {
    /// A column as the measure wants it.
    type Prepared: Send + Sync;

    /// Prepares column `column`; its numbers are finite and not all equal.
    fn prepare(&self, numbers: &[f64], column: usize) -> Self::Prepared;

    /// The dependence of two columns of the same rows, in [0, 1].
    fn between(&self, first: &Self::Prepared, second: &Self::Prepared) -> f64;
}

/// Linfoot's coefficient of a mutual information in nats; 0 for estimates below 0.
pub(super) fn informational_coefficient(information: f64) -> f64 {
    (-(-2.0 * information.max(0.0)).exp_m1()).sqrt()
}
