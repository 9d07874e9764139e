//! The behaviour of sampling methods if the budget covers every coalition.

/// The behaviour for a budget of `2^n` evaluations or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum FullBudget {
    /// Enumerate all coalitions, so that the result is exact.
    #[default]
    Enumerate,
    /// Continue sampling as published, to reproduce published results. Methods that draw with replacement
    /// then never become exact.
    Sample,
}
