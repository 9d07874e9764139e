//! Values of players on a graph, from the minimum number of coalitions: L-Shapley, C-Shapley and Myerson
//! values for any semivalue.

mod connected;
mod exact_result;
mod local;
mod moments;
mod myerson;
mod regression;
mod sampled;
mod whole;

use apportion_values::{Semivalue, Value};

use crate::registry::specs;
use crate::run::Estimator;

pub use regression::ConnectedRegression;
pub use sampled::{LocalMethod, LocalSampling};
pub use whole::OnGraph;

/// Builds the estimator of values in neighbourhoods: of Shapley values if `of_shapley` is set, otherwise of
/// other semivalues. Returns `None` for all other values. The method has different names in the two cases.
fn sampling(value: &Value, method: LocalMethod, of_shapley: bool) -> Option<Box<dyn Estimator>> {
    match value {
        Value::OnGraph(value, graph) if (value.semivalue == Semivalue::Shapley) == of_shapley => {
            Some(Box::new(LocalSampling::new(graph.clone(), value.clone(), method).ok()?))
        }
        _ => None,
    }
}

specs! {
    ON_GRAPH = "on-graph" variant: "exact values on a graph, from the coalitions that they depend on",
        |value| match value {
            Value::OnGraph(value, graph) => Some(Box::new(OnGraph::new(graph.clone(), value.clone()))),
            _ => None,
        };
    L_SHAPLEY_PERMUTATION = "l-shapley-permutation":
        "contributions of each player to random coalitions of its neighbourhood",
        |value| sampling(value, LocalMethod::Contributions, true);
    L_SHAPLEY_LEVERAGE = "l-shapley-leverage": "Leverage SHAP in the neighbourhood of each player",
        |value| sampling(value, LocalMethod::Regression, true);
    LOCAL_MONTE_CARLO = "local-monte-carlo":
        "contributions to random coalitions of a neighbourhood, for semivalues other than Shapley",
        |value| sampling(value, LocalMethod::Contributions, false);
    L_BANZHAF_KERNEL = "l-banzhaf-kernel": "Kernel Banzhaf in the neighbourhood of each player",
        |value| sampling(value, LocalMethod::Regression, false);
    C_SHAPLEY_REGRESSION = "c-shapley-regression": "least squares on small connected coalitions, an \
        approximation of C-Shapley values",
        |value| match value {
            Value::OnGraph(value, graph) => {
                Some(Box::new(ConnectedRegression::new(graph.clone()).order(value.order()?)))
            }
            _ => None,
        };
}
