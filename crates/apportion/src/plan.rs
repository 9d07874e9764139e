//! The method and the cost of an explanation, determined in advance.

use crate::method::Method;

/// The method and the cost of explaining a game, or each of several rows.
///
/// Returned by [`Explainer::plan`](crate::Explainer::plan) and
/// [`GameExplainer::plan`](crate::GameExplainer::plan), which evaluate nothing.
///
/// ```
/// use apportion::{Budget, GameExplainer, Method};
///
/// // Ten players have 1024 coalitions, which the automatic budget covers; thirty players have too many.
/// assert_eq!(GameExplainer::new().plan(10)?.method, Method::Exact);
/// let plan = GameExplainer::new().budget(Budget::PerPlayer(50)).plan(30)?;
/// assert_eq!((plan.method.name(), plan.max_evaluations), ("learned-spectrum", Some(1500)));
/// # Ok::<(), apportion::ExplainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The method; never [`Method::Auto`].
    pub method: Method,
    /// The minimum number of evaluations of the method, if known in advance; for [`Method::Exact`], the
    /// number of all coalitions.
    pub min_evaluations: Option<usize>,
    /// The maximum number of evaluations, if limited.
    pub max_evaluations: Option<usize>,
    /// The predicted time for all rows, in seconds; only for the tree method.
    pub seconds: Option<f64>,
}
