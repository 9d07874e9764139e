//! The link functions of LightGBM's objectives.

use crate::ensemble::Link;

/// Returns the link of an objective, which may include parameters such as `sigmoid:1`. Returns `None` if it
/// is not supported.
///
/// # Errors
///
/// The problem with a parameter.
pub(super) fn link(objective: &str, classes: usize) -> Result<Option<Link>, String> {
    let mut words = objective.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let (mut steepness, mut square_root) = (1.0, false);
    for word in words {
        match word.split_once(':') {
            Some(("sigmoid", value)) => {
                let number = value.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
                steepness = number.ok_or_else(|| format!("invalid sigmoid {value:?}"))?;
            }
            Some(("num_class", value)) if value.parse() != Ok(classes) => {
                return Err(format!("the objective has {value} classes, but num_class is {classes}"));
            }
            None if word == "sqrt" => square_root = true,
            _ => {}
        }
    }
    Ok(match name {
        // The output is the square of the margin, with the sign of the margin.
        _ if square_root => None,
        "binary" | "multiclassova" => Some(Link::Logistic { steepness }),
        "cross_entropy" => Some(Link::Logistic { steepness: 1.0 }),
        "cross_entropy_lambda" => Some(Link::Softplus),
        "multiclass" => Some(Link::Softmax),
        "poisson" | "gamma" | "tweedie" => Some(Link::Exponential),
        "regression" | "regression_l1" | "huber" | "fair" | "quantile" | "mape" | "lambdarank"
        | "rank_xendcg" => Some(Link::Identity),
        _ => None,
    })
}
