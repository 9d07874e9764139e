//! Widths of floating-point numbers.

/// The width of the floating-point numbers to which a library rounds the values of a row before comparing
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 32 bits: XGBoost, CatBoost with numeric features only, ONNX except for inputs of type double,
    /// scikit-learn's forests.
    Single,
    /// 64 bits: LightGBM, CatBoost with categories, ONNX with inputs of type double, scikit-learn's histogram
    /// boosting.
    Double,
}

impl Width {
    /// Rounds a value as the library does before comparing it.
    #[inline]
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::Single => f64::from(value as f32),
            Self::Double => value,
        }
    }
}
