//! The method and the budget of a run, and errors about the budget in terms of the command-line options.

use anyhow::{Result, anyhow};
use apportion::estimators::EstimatorError;
use apportion::{Budget, ExplainError, Method, Plan};

use crate::messages;

/// Checks the budget of a plan. `what` is the name of a player: feature or player.
///
/// # Errors
///
/// The budget is too small for the method, or too large for memory.
pub(crate) fn check(plan: &Plan, budget: Option<Budget>, what: &str) -> Result<()> {
    plan.check().map_err(|error| in_words(error, what))?;
    if matches!(plan.method, Method::Tree | Method::KernelMachine) && budget.is_some() {
        messages::note(format_args!("--budget is ignored: method {} makes no evaluations", plan.method));
    }
    Ok(())
}

/// Rewords an error about the budget.
fn in_words(error: ExplainError, what: &str) -> anyhow::Error {
    let counted = |players: usize| messages::counted(players, what);
    match error {
        ExplainError::Estimator(EstimatorError::Budget { method, actual, min, players }) => anyhow!(
            "--budget {actual} is too small: {method} needs at least {} for {}",
            messages::counted(min, "evaluation"),
            counted(players)
        ),
        ExplainError::ExactBudget { actual, min, players } => {
            let needs = match 1usize.checked_shl(players as u32) {
                Some(all) if all == min => {
                    format!("2^{players} = {} for {}", messages::counted(min, "evaluation"), counted(players))
                }
                _ => {
                    let players = counted(players);
                    format!("{} for {players} in these groups", messages::counted(min, "evaluation"))
                }
            };
            anyhow!("--budget {actual} is too small: exact needs at least {needs}")
        }
        ExplainError::LargeBudget { actual, max, players } => anyhow!(
            "--budget {actual} is too large: the maximum is {max} evaluations for {}",
            counted(players)
        ),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::GameExplainer;
    use apportion::estimators::methods;

    fn budget_of(
        method: impl Into<Method>,
        budget: Option<Budget>,
        players: usize,
    ) -> Result<Option<usize>, String> {
        let explainer = GameExplainer::new().method(method).budget(budget.unwrap_or_default());
        let plan = explainer.plan(players).map_err(|error| error.to_string())?;
        check(&plan, budget, "feature").map(|()| plan.budget).map_err(|error| error.to_string())
    }

    #[test]
    fn a_budget_below_what_the_method_needs_or_beyond_all_memory_is_refused() {
        for (method, budget, players, says) in [
            (Method::Exact, Budget::Evaluations(1000), 10, "2^10 = 1024"),
            (Method::By(&methods::LEVERAGE_SHAP), Budget::Evaluations(1), 10, "at least"),
            (Method::By(&methods::PERMUTATION), Budget::PerPlayer(usize::MAX), 2, "too large"),
        ] {
            let message = budget_of(method, Some(budget), players).unwrap_err();
            assert!(message.starts_with("--budget") && message.contains(says), "{message}");
        }
    }

    #[test]
    fn a_multiple_counts_all_features() {
        assert_eq!(budget_of(&methods::KERNEL_SHAP, Some(Budget::PerPlayer(10)), 60), Ok(Some(600)));
        assert_eq!(budget_of(&methods::PERMUTATION, None, 10), Ok(Some(2048)));
        assert_eq!(budget_of(Method::Exact, None, 10), Ok(None));
    }
}
