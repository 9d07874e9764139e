//! What a sampling method does when its budget covers every coalition.

/// What to do at a budget of `2^n` evaluations or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum FullBudget {
    /// Enumerate all coalitions: the answer is exact.
    #[default]
    Enumerate,
    /// Go on sampling as published, for reproductions: methods that draw with replacement never become exact.
    Sample,
}
