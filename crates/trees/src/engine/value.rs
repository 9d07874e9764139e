//! Values that reduce to other values, and values that are not supported.

use apportion_values::{InteractionIndex, Semivalue, Value};

use crate::error::TreeError;

/// Returns the semivalue of features to which a coalitional value reduces. This is the semivalue between the
/// groups if each group is a single feature, and the semivalue within the groups if one group contains all
/// features; otherwise `None`. Hierarchies of two levels must have been converted to partitions before.
pub(crate) fn reduced(value: &Value) -> Option<&Semivalue> {
    match value {
        Value::Coalitional(value, groups) if groups.largest() <= 1 => Some(&value.between),
        Value::Coalitional(value, groups) if groups.len() == 1 => Some(&value.within),
        Value::OverHierarchy(value, hierarchy) => value.reduces_over(hierarchy),
        _ => None,
    }
}

/// Returns the equivalent value of features in groups for a value over a hierarchy of two levels, and `None`
/// for all other values.
pub(crate) fn flat(value: &Value) -> Option<Value> {
    match value {
        Value::OverHierarchy(of, hierarchy) => {
            hierarchy.partition().map(|groups| Value::Coalitional(of.clone(), groups))
        }
        _ => None,
    }
}

/// Checks a value, and its groups, for a model with this many features.
pub(crate) fn check(value: &Value, features: usize) -> Result<(), TreeError> {
    if let Some(groups) = value.groups() {
        groups.check_players(features)?;
    }
    match value {
        Value::Semivalue(value) => value.check_players(features)?,
        Value::Coalitional(value, groups) => value.check(groups)?,
        Value::OverHierarchy(value, hierarchy) => {
            hierarchy.check_players(features)?;
            value.check_over(hierarchy)?;
        }
        Value::Quotient(value, groups) => value.check_players(groups.len())?,
        Value::TwoStepShapley(_) => {}
        _ => return Err(unsupported(value)),
    }
    Ok(())
}

/// Returns the error for a value that a tree explainer does not support. Values over hierarchies are
/// unsupported only for outputs after a link function.
pub(crate) fn unsupported(value: &Value) -> TreeError {
    if value.hierarchy().is_some() {
        return TreeError::Unsupported {
            what: format!(
                "an exact {} with nested groups for an output after a link function",
                value.concept()
            ),
            help: "estimate it by sampling, explain the margin, or use groups of one level",
        };
    }
    TreeError::Unsupported {
        what: format!("an exact {} of a tree ensemble", value.concept()),
        help: "estimate it by sampling, or use a semivalue, a coalitional or two-step value, or a semivalue \
               of groups",
    }
}

/// Returns an error for generalized values, which are not based on the discrete derivatives of a game.
pub(crate) fn check_index(index: &InteractionIndex) -> Result<(), TreeError> {
    if index.is_generalized() {
        return Err(TreeError::Unsupported {
            what: format!("{index} for coalitions of features of a tree ensemble"),
            help: "enumerate the coalitions of a game with few players, or use an interaction index",
        });
    }
    Ok(())
}

/// Returns the error for paths with more players than a pattern has bits.
pub(crate) fn too_many_on_a_path() -> TreeError {
    TreeError::Unsupported {
        what: "an interaction index of coalitions for trees with more than 64 features on a path".to_owned(),
        help: "use the matrix of pairs, or group features",
    }
}

/// Returns the error for interactions that are not based on a semivalue.
pub(crate) fn not_of_pairs(value: &Value) -> TreeError {
    TreeError::Unsupported {
        what: format!("an interaction index based on {}", value.concept()),
        help: "use a semivalue of features or groups",
    }
}
