//! Values of players.

use crate::error::TreeError;

/// Exact attributions of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Attributions {
    /// Rows × features × outputs, row-major: with n features and k outputs, the value of feature i for output o of row j is
    /// `values[(j·n + i)·k + o]`. Quotient values are of groups in the place of features.
    pub values: Vec<f64>,
    /// Per output: v(∅). Of the marginal game the weighted mean margin of the background, of the path-dependent game what the trees
    /// expect where nothing is known.
    pub base: Vec<f64>,
    /// Rows × outputs: v(N), the margin of each row.
    pub predictions: Vec<f64>,
}

impl Attributions {
    /// Refuses numbers that are not finite: every kernel's values come through here.
    pub(crate) fn new(values: Vec<f64>, base: Vec<f64>, predictions: Vec<f64>) -> Result<Self, TreeError> {
        check_finite("a value", &values, &base, &predictions)?;
        Ok(Self { values, base, predictions })
    }
}

/// Refuses values of rows, called `what`, and ends that are not finite.
pub(crate) fn check_finite(
    what: &'static str,
    values: &[f64],
    base: &[f64],
    predictions: &[f64],
) -> Result<(), TreeError> {
    let outputs = base.len().max(1);
    let rows = (predictions.len() / outputs).max(1);
    for (what, numbers, rows) in
        [("the base", base, 1), ("the prediction", predictions, rows), (what, values, rows)]
    {
        if let Some(at) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(TreeError::Overflow {
                what,
                row: at / (numbers.len() / rows).max(1),
                output: at % outputs,
            });
        }
    }
    Ok(())
}
