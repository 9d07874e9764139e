//! Attributes that all operators have in common: number of outputs, base values, and aggregation of the
//! trees.

use super::attributes::Attributes;
use crate::error::ModelError;

/// Maximum number of outputs. The file stores only their number, so without a limit a small file could
/// exhaust the memory.
const MAX_OUTPUTS: i64 = 1 << 20;

pub(super) fn output_count(attributes: Attributes<'_>, name: &str, count: i64) -> Result<usize, ModelError> {
    match count {
        1..=MAX_OUTPUTS => Ok(count as usize),
        0 => Err(attributes.error(name, "expected at least one output")),
        _ => Err(attributes.error(name, format!("expected at most {MAX_OUTPUTS} outputs, got {count}"))),
    }
}

/// Returns one base value for each output. All are 0 if the file does not contain base values.
pub(super) fn base_margins(
    attributes: Attributes<'_>,
    base: Vec<f64>,
    outputs: usize,
) -> Result<Vec<f64>, ModelError> {
    if base.is_empty() {
        return Ok(vec![0.0; outputs]);
    }
    attributes.check_count("base_values", base.len(), outputs)?;
    Ok(base)
}

/// Returns the factor of every leaf: 1 if trees are summed, 1 / number of trees if they are averaged.
pub(super) fn share_of_tree(
    attributes: Attributes<'_>,
    aggregate: Option<&str>,
    trees: usize,
) -> Result<f64, ModelError> {
    match aggregate.unwrap_or("SUM") {
        "SUM" => Ok(1.0),
        "AVERAGE" => Ok(1.0 / trees.max(1) as f64),
        what @ ("MIN" | "MAX") => Err(ModelError::Unsupported {
            what: format!("a tree ensemble with the aggregate function {what}"),
            help: "use SUM or AVERAGE",
        }),
        other => Err(attributes.error("aggregate_function", format!("unknown function {other:?}"))),
    }
}
