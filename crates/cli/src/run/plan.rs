//! Checks the requested budget against the plan.

use anyhow::{Result, bail};
use apportion::samplers::max_rows;
use apportion::{Budget, Method, Plan, Value};

use crate::messages;

/// Returns the method to use, and its maximum number of evaluations per row, or `None` if there is no
/// maximum.
///
/// # Errors
///
/// The budget is too small for the method, or too large for memory.
pub(crate) fn agreed(
    plan: &Plan,
    value: &Value,
    budget: Option<Budget>,
    (players, what): (usize, &str),
) -> Result<(Method, Option<usize>)> {
    let method = plan.method;
    let given = budget.map(|budget| budget.evaluations(players));
    let most = max_rows(players);
    if let Some(given) = given.filter(|&given| given > most) {
        bail!("--budget {given} is too large: the maximum is {most} evaluations for {players} {what}");
    }
    let allowed = match method {
        Method::By(_) => plan.max_evaluations,
        _ => given,
    };
    if let (Some(allowed), Some(least)) = (allowed, plan.min_evaluations)
        && allowed < least
    {
        let needs = match value {
            Value::Semivalue(_) if method == Method::Exact => {
                format!("2^{players} = {least} evaluations for {players} {what}")
            }
            _ if method == Method::Exact => {
                format!("{least} evaluations for {players} {what} in these groups")
            }
            _ => format!("{least} evaluations for {players} {what}"),
        };
        bail!("--budget {allowed} is too small: {method} needs at least {needs}");
    }
    let takes_a_budget = matches!(method, Method::By(_)) || value.graph().is_some();
    if method == Method::Tree && given.is_some() {
        messages::note(format_args!("--budget is ignored: method {method} makes no evaluations"));
    }
    Ok((method, allowed.filter(|_| takes_a_budget)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::estimators::methods;
    use apportion::{GameExplainer, Semivalue};

    fn agreed_on(
        method: impl Into<Method>,
        budget: Option<Budget>,
        players: usize,
    ) -> Result<Option<usize>, String> {
        let asked = GameExplainer::new().method(method).budget(budget.unwrap_or_default());
        let plan = asked.plan(players).map_err(|error| error.to_string())?;
        let shapley = Value::Semivalue(Semivalue::Shapley);
        let agreed = agreed(&plan, &shapley, budget, (players, "features"));
        agreed.map(|(_, budget)| budget).map_err(|error| error.to_string())
    }

    #[test]
    fn a_budget_below_what_the_method_needs_or_beyond_all_memory_is_refused() {
        for (method, budget, players, says) in [
            (Method::Exact, Budget::Evaluations(1000), 10, "2^10 = 1024"),
            (Method::By(&methods::LEVERAGE_SHAP), Budget::Evaluations(1), 10, "at least"),
            (Method::By(&methods::PERMUTATION), Budget::PerPlayer(usize::MAX), 2, "too large"),
        ] {
            let message = agreed_on(method, Some(budget), players).unwrap_err();
            assert!(message.contains(says), "{message}");
        }
    }

    #[test]
    fn a_multiple_counts_all_features() {
        assert_eq!(agreed_on(&methods::KERNEL_SHAP, Some(Budget::PerPlayer(10)), 60), Ok(Some(600)));
        assert_eq!(agreed_on(&methods::PERMUTATION, None, 10), Ok(Some(2048)));
        assert_eq!(agreed_on(Method::Exact, None, 10), Ok(None));
    }
}
