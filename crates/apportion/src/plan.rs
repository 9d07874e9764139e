//! What an explanation would take, before it is made.

use crate::method::Method;

/// What would be done for each explicand, and what it would take.
///
/// Made by [`Explainer::plan`](crate::Explainer::plan) and [`GameExplainer::plan`](crate::GameExplainer::plan), which make no evaluation.
///
/// ```
/// use apportion::{Budget, GameExplainer, Method};
///
/// // Ten players have 1024 coalitions, which the automatic budget covers; thirty players have too many.
/// assert_eq!(GameExplainer::new().plan(10)?.method, Method::Exact);
/// let plan = GameExplainer::new().budget(Budget::PerPlayer(50)).plan(30)?;
/// assert_eq!((plan.method.name(), plan.most), ("learned-spectrum", Some(1500)));
/// # Ok::<(), apportion::ExplainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The method; never [`Method::Auto`].
    pub method: Method,
    /// The fewest evaluations that the method can do with, where that is known beforehand: all coalitions for [`Method::Exact`].
    pub least: Option<usize>,
    /// The most evaluations that it may take, where there is a limit.
    pub most: Option<usize>,
    /// The time that all rows would take, where it can be predicted: by the tree oracle.
    pub seconds: Option<f64>,
}
