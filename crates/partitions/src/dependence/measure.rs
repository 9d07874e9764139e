//! The trait for measures of dependence.

/// A measure of dependence, which preprocesses each column once and then compares pairs.
pub(super) trait Measure: Sync {
    /// A preprocessed column.
    type Prepared: Send + Sync;

    /// Preprocesses the `numbers` of a column, which are finite and not all equal. `column` is the index of
    /// the column.
    fn prepare(&self, numbers: &[f64], column: usize) -> Self::Prepared;

    /// Returns the dependence of two columns of the same rows, in [0, 1].
    fn between(&self, first: &Self::Prepared, second: &Self::Prepared) -> f64;
}

/// Returns Linfoot's coefficient for a mutual information in nats; 0 for estimates below 0.
pub(super) fn informational_coefficient(information: f64) -> f64 {
    (-(-2.0 * information.max(0.0)).exp_m1()).sqrt()
}
