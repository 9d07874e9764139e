//! Widths of floating-point numbers.

/// The width of floating-point number to which a library rounds a row before it compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 32 bits: XGBoost, CatBoost with numeric features only, ONNX, scikit-learn's forests.
    Single,
    /// 64 bits: LightGBM, CatBoost with categories, scikit-learn's histogram boosting.
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
