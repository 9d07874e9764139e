//! Splits with rules, and leaves that are linear models, in the portable format.

use crate::ensemble::{CategorySet, LinearLeaf, Rule, TreeParts};
use crate::error::ModelError;
use crate::formats::document::Field;

/// Adds the members `rules` and `linear` of a tree to its parts.
pub(super) fn read(
    tree: &Field<'_>,
    parts: &mut TreeParts,
    damaged: impl Fn(String) -> ModelError,
) -> Result<(), ModelError> {
    let count = parts.left.len();
    if let Some(rules) = tree.find("rules")? {
        parts.rules.resize(count, None);
        let mut is_ruled = vec![false; count];
        for field in rules.elements()? {
            let node = field.get("node")?.count()?;
            if node >= count || parts.left[node] == -1 && parts.right[node] == -1 {
                return Err(damaged(format!("node {node} has a rule, but is not a split")));
            }
            if std::mem::replace(&mut is_ruled[node], true) {
                return Err(damaged(format!("node {node} has two rules")));
            }
            let (rule, exchanged) = rule(&field, parts.number[node])?;
            if exchanged {
                let parts = &mut *parts;
                std::mem::swap(&mut parts.left[node], &mut parts.right[node]);
                parts.default_left[node] = !parts.default_left[node];
            }
            parts.rules[node] = Some(rule);
        }
    }
    let Some(linear) = tree.find("linear")? else { return Ok(()) };
    if tree.find("output")?.is_none() {
        return Err(linear.error("missing field \"output\" of a tree with linear leaves"));
    }
    parts.linear = vec![None; count];
    for field in linear.elements()? {
        field.check_members(&["node", "constant", "features", "coefficients"])?;
        let node = field.get("node")?.count()?;
        if node >= count || parts.left[node] != -1 || parts.right[node] != -1 {
            return Err(damaged(format!("node {node} has a linear model, but is not a leaf")));
        }
        if parts.linear[node].is_some() {
            return Err(damaged(format!("node {node} has two linear models")));
        }
        let features = field.get("features")?.integers()?;
        let coefficients = field.get("coefficients")?.numbers_of(features.len())?;
        let feature = |&feature: &i64| {
            u32::try_from(feature).map_err(|_| {
                damaged(format!("the linear model of leaf {node} uses the invalid feature {feature}"))
            })
        };
        let features: Vec<u32> = features.iter().map(feature).collect::<Result<_, _>>()?;
        parts.linear[node] = Some(LinearLeaf {
            constant: field.get("constant")?.number()?,
            terms: features.into_iter().zip(coefficients.iter().copied()).collect(),
        });
    }
    Ok(())
}

/// Returns the rule of a split, and whether the children of the split must be swapped.
fn rule(field: &Field<'_>, threshold: f64) -> Result<(Rule, bool), ModelError> {
    let members_go_left = || {
        let side = field.get("side")?;
        match side.text()? {
            "left" => Ok(true),
            "right" => Ok(false),
            other => Err(side.error(format!("expected \"left\" or \"right\", got {other:?}"))),
        }
    };
    if let Some(list) = field.find("categories")? {
        field.check_members(&["node", "categories", "side", "negative_fraction_is_zero"])?;
        let rule = Rule::Set {
            members: CategorySet::new(list.categories()?),
            members_go_left: members_go_left()?,
            negative_fraction_is_zero: field
                .find("negative_fraction_is_zero")?
                .map_or(Ok(false), |field| field.flag())?,
        };
        Ok((rule, false))
    } else if let Some(list) = field.find("numbers")? {
        field.check_members(&["node", "numbers", "side"])?;
        Ok((Rule::exactly(list.numbers()?.into_owned()), !members_go_left()?))
    } else if let Some(ends) = field.find("between")? {
        field.check_members(&["node", "between", "side"])?;
        let &[lowest, highest] = &*ends.numbers_of(2)? else {
            return Err(ends.error("expected two numbers"));
        };
        Ok((Rule::Between { lowest, highest }, !members_go_left()?))
    } else if let Some(list) = field.find("except")? {
        field.check_members(&["node", "except"])?;
        Ok((Rule::except(threshold, list.numbers()?.into_owned()), false))
    } else {
        field.check_members(&["node", "zero_is_missing"])?;
        let zero = field.get("zero_is_missing")?;
        match zero.flag()? {
            true => Ok((Rule::ZeroIsMissing { threshold }, false)),
            false => Err(zero.error("expected true, got false; omit the rule")),
        }
    }
}
