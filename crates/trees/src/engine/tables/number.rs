//! The number types of tables.

/// A number in a table, summed in `f64`.
pub(crate) trait Number: Copy + Default + Send + Sync + std::fmt::Debug + 'static {
    /// Returns the number nearest to `value`.
    fn nearest(value: f64) -> Self;

    /// Returns `sum + number`.
    fn add(sum: f64, number: Self) -> f64;
}

impl Number for f64 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn add(sum: f64, number: f64) -> f64 {
        sum + number
    }
}

impl Number for f32 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn add(sum: f64, number: f32) -> f64 {
        sum + f64::from(number)
    }
}
