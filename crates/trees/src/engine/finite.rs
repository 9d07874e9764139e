//! Checks that all results are finite.

use apportion_games::scan;
use apportion_values::Attributions;

use crate::error::TreeError;

/// Returns an error if a value, an interaction, a prediction or a base value is not finite.
pub(crate) fn finite(found: Attributions) -> Result<Attributions, TreeError> {
    let of_rows = if found.are_of_pairs() { "an interaction" } else { "a value" };
    let numbers = [
        ("the base value", &found.base, 1),
        ("the prediction", &found.predictions, found.rows()),
        (of_rows, &found.values, found.rows()),
    ];
    for (what, numbers, rows) in numbers {
        if let Some(at) = scan::position(numbers, |number| !number.is_finite()) {
            let (row, output) = (at / (numbers.len() / rows), at % found.outputs());
            return Err(TreeError::Overflow { what, row, output });
        }
    }
    Ok(found)
}
