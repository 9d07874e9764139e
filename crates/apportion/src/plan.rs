//! The method and the cost of an explanation, determined in advance.

use apportion_estimators::EstimatorError;
use apportion_samplers::max_rows;

use crate::error::ExplainError;
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
    /// The maximum number of evaluations, if limited. If [`Method::Auto`] chooses the table method, up to
    /// five times as many additional evaluations are made once, to learn a surrogate.
    pub max_evaluations: Option<usize>,
    /// The budget that the values depend on: [`max_evaluations`](Self::max_evaluations) for sampling methods
    /// and for values on graphs, `None` for other exact values.
    pub budget: Option<usize>,
    /// The number of players.
    pub players: usize,
    /// The predicted time for all rows, in seconds; only for the exact methods of trees and kernel machines.
    pub seconds: Option<f64>,
    /// The number of evaluations of the given budget, if it is not automatic.
    pub(crate) given: Option<usize>,
}

impl Plan {
    /// Returns the plan of an exact method that evaluates nothing.
    #[cfg(any(feature = "kernels", feature = "trees"))]
    pub(crate) fn without_evaluations(method: Method, players: usize, seconds: f64) -> Self {
        Self {
            method,
            min_evaluations: Some(0),
            max_evaluations: Some(0),
            budget: None,
            players,
            seconds: Some(seconds),
            given: None,
        }
    }

    /// Checks the budget before anything is evaluated.
    ///
    /// ```
    /// use apportion::{Budget, GameExplainer, Method};
    ///
    /// let explainer = GameExplainer::new().method(Method::Exact).budget(Budget::Evaluations(1000));
    /// let error = explainer.plan(10)?.check().unwrap_err().to_string();
    /// assert!(error.contains("at least 2^10 = 1024 evaluations"), "{error}");
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExplainError::ExactBudget`] and [`EstimatorError::Budget`] for a budget below
    /// [`min_evaluations`](Self::min_evaluations), and [`ExplainError::LargeBudget`] for a budget that no
    /// sample in memory can have.
    pub fn check(&self) -> Result<(), ExplainError> {
        let (method, players) = (self.method, self.players);
        if let (Some(actual), Some(min)) = (self.max_evaluations, self.min_evaluations)
            && actual < min
        {
            return Err(match method {
                Method::Exact => ExplainError::ExactBudget { actual, min, players },
                _ => EstimatorError::Budget { method: method.name(), actual, min, players }.into(),
            });
        }
        match self.given.max(self.budget) {
            Some(actual) if actual > max_rows(players) => {
                Err(ExplainError::LargeBudget { actual, max: max_rows(players), players })
            }
            _ => Ok(()),
        }
    }
}
