//! The data for figures: attributions of rows, with their predictions, errors, inputs and names.

mod condition;
mod density;
mod gathering;
mod sample;
mod subset;
mod summary;

pub use condition::Condition;
pub use density::Density;
pub use gathering::Gathering;
pub use summary::{InputSummary, Spread, Summary};

use apportion_results::{Batch, Heading};

use crate::error::PlotError;
use crate::names::listed;
use crate::scene::{Cell, digits};
pub(crate) use crate::shown::shown;

/// The largest number that is drawn. Sums and differences of such numbers do not overflow.
const MAX_NUMBER: f64 = 1e300;

/// Returns whether a number can be drawn.
pub(crate) fn is_drawn(number: f64) -> bool {
    number.abs() <= MAX_NUMBER
}

/// Attributions that were [collected](Gathering): aggregates over all rows, and all rows or a sample of them.
#[derive(Debug, Clone)]
pub struct Explained {
    pub(crate) heading: Heading,
    /// The kept rows, in their original order.
    pub(crate) kept: Batch,
    pub(crate) summary: Summary,
    /// For each kept row, the factor that converts standard errors to the half-widths of 95% intervals.
    factors: Vec<f64>,
    /// The seed of the sample.
    pub(crate) seed: u64,
}

impl Explained {
    /// Returns the heading, which applies to all rows.
    pub fn heading(&self) -> &Heading {
        &self.heading
    }

    /// Returns the kept rows.
    pub fn batch(&self) -> &Batch {
        &self.kept
    }

    /// Returns the aggregates over all rows.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns whether some rows were not kept.
    pub fn is_sample(&self) -> bool {
        (self.kept.rows.len() as u64) < self.summary.rows
    }

    pub(crate) fn players(&self) -> usize {
        self.heading.players.len()
    }

    pub(crate) fn outputs(&self) -> usize {
        self.heading.outputs.len()
    }

    /// Returns the name of an output for use within a sentence. Empty for a single output without a name.
    pub(crate) fn output_name(&self, output: usize) -> String {
        match self.heading.outputs[output].as_str() {
            "" if self.outputs() > 1 => format!("output {output}"),
            name => shown(name).into_owned(),
        }
    }

    /// Returns the number of kept rows.
    pub(crate) fn rows(&self) -> usize {
        self.kept.rows.len()
    }

    pub(crate) fn value(&self, row: usize, player: usize, output: usize) -> f64 {
        self.kept.values[(row * self.players() + player) * self.outputs() + output]
    }

    pub(crate) fn base(&self, row: usize, output: usize) -> f64 {
        self.kept.base[row * self.outputs() + output]
    }

    pub(crate) fn prediction(&self, row: usize, output: usize) -> f64 {
        self.kept.predictions[row * self.outputs() + output]
    }

    /// Returns the prediction for a row minus the base value and the sum of the values. For efficient values,
    /// this difference is only rounding error.
    pub(crate) fn left_undivided(&self, row: usize, output: usize) -> f64 {
        let sum: f64 = (0..self.players()).map(|player| self.value(row, player, output)).sum();
        self.prediction(row, output) - self.base(row, output) - sum
    }

    /// Returns whether the values have standard errors.
    pub(crate) fn are_estimates(&self) -> bool {
        !self.kept.std_errors.is_empty()
    }

    /// Returns the half-width of the 95% interval of a value. NaN if its error is unknown, 0 for exact
    /// values.
    pub(crate) fn half_width(&self, row: usize, player: usize, output: usize) -> f64 {
        if !self.are_estimates() {
            return 0.0;
        }
        let error = self.kept.std_errors[(row * self.players() + player) * self.outputs() + output];
        error * self.factors[row]
    }

    /// Returns whether the interval of a value contains zero, or is unknown.
    pub(crate) fn is_sign_unsure(&self, row: usize, player: usize, output: usize) -> bool {
        let half = self.half_width(row, player, output);
        half.is_nan() || half > 0.0 && half >= self.value(row, player, output).abs()
    }

    /// Returns the input of a feature for drawing: NaN if it is missing, infinite or too large.
    pub(crate) fn input(&self, row: usize, feature: usize) -> f64 {
        let input = self.any_input(row, feature);
        if is_drawn(input) { input } else { f64::NAN }
    }

    /// Returns the input of a feature, which may be infinite. NaN if it is missing.
    pub(crate) fn any_input(&self, row: usize, feature: usize) -> f64 {
        let features = self.heading.features.len();
        self.kept.inputs.get(row * features + feature).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn has_inputs(&self) -> bool {
        !self.kept.inputs.is_empty()
    }

    /// Returns the input of a feature as text for display.
    pub(crate) fn input_shown(&self, row: usize, feature: usize) -> String {
        let input = self.any_input(row, feature);
        self.heading
            .category(feature, input)
            .map_or_else(|| digits(input, 5), |word| shown(word).into_owned())
    }

    /// Returns the inputs of a player's features as text for display, or `None` if the results have no
    /// inputs.
    pub(crate) fn inputs_of_player(&self, row: usize, player: usize) -> Option<String> {
        let of = |&feature: &usize| self.input_shown(row, feature);
        self.has_inputs().then(|| self.heading.members[player].iter().map(of).collect::<Vec<_>>().join(", "))
    }

    /// Returns the input of a player as a cell of a table: a number in full precision, or text.
    pub(crate) fn cell_of_inputs(&self, row: usize, player: usize) -> Cell {
        match self.only_feature(player) {
            Some(feature) if self.heading.category(feature, self.input(row, feature)).is_none() => {
                match self.any_input(row, feature) {
                    input if input.is_infinite() => Cell::Text(input.to_string()),
                    input => Cell::Number(input),
                }
            }
            _ => self.inputs_of_player(row, player).unwrap_or_default().into(),
        }
    }

    /// Returns the feature of a player that consists of a single feature, if the results have inputs.
    pub(crate) fn only_feature(&self, player: usize) -> Option<usize> {
        match self.heading.members[player][..] {
            [feature] if self.has_inputs() => Some(feature),
            _ => None,
        }
    }

    /// Returns the name of a row: its ID or, without IDs, its index.
    pub(crate) fn row_name(&self, row: usize) -> String {
        match &self.kept.ids {
            Some(ids) => shown(&ids[row]).into_owned(),
            None => format!("row {}", self.kept.rows[row]),
        }
    }

    /// Returns the players by descending mean |φ| over all rows. Ties are in the order of the players.
    pub(crate) fn by_importance(&self, output: usize) -> Vec<usize> {
        let size = |&player: &usize| self.summary.value(player, output, self.outputs()).mean_size;
        let mut players: Vec<usize> = (0..self.players()).collect();
        players.sort_by(|a, b| size(b).total_cmp(&size(a)));
        players
    }

    /// Returns the players of a row by descending |φ|. Ties are in the order of the players.
    pub(crate) fn by_size(&self, row: usize, output: usize) -> Vec<usize> {
        let size = |&player: &usize| self.value(row, player, output).abs();
        let mut players: Vec<usize> = (0..self.players()).collect();
        players.sort_by(|a, b| size(b).total_cmp(&size(a)));
        players
    }

    /// Returns the position of a row among the kept rows, by its index in the file.
    ///
    /// # Errors
    ///
    /// [`PlotError::UnknownRow`] if the row is not among the kept rows.
    pub fn place_of_row(&self, row: u64) -> Result<usize, PlotError> {
        self.kept.rows.iter().position(|&kept| kept == row).ok_or_else(|| {
            let known = match &self.kept.rows[..] {
                [] => "they contain no rows".to_owned(),
                kept if self.is_sample() => format!(
                    "they contain a sample of {} of {} rows, from {} to {}",
                    kept.len(),
                    self.summary.rows,
                    kept[0],
                    kept[kept.len() - 1]
                ),
                [only] => format!("they contain only row {only}"),
                [first, .., last] => format!("they contain {} rows, from {first} to {last}", self.rows()),
            };
            PlotError::UnknownRow { row, known }
        })
    }

    /// Returns the index of an output, given by its name or index, or the index of the first output if `name`
    /// is `None`.
    ///
    /// # Errors
    ///
    /// [`PlotError::UnknownOutput`] if there is no such output.
    pub fn place_of_output(&self, name: Option<&str>) -> Result<usize, PlotError> {
        let Some(name) = name else { return Ok(0) };
        let outputs = &self.heading.outputs;
        // If class names are numbers, a number is never interpreted as an index, to avoid selecting the wrong
        // class.
        let are_numbers = outputs.iter().any(|output| output.parse::<f64>().is_ok());
        let by_number = || name.parse().ok().filter(|&output: &usize| output < outputs.len() && !are_numbers);
        outputs.iter().position(|output| output == name).or_else(by_number).ok_or_else(|| {
            let known = match &outputs[..] {
                [only] if only.is_empty() => "the model has a single output, with index 0".to_owned(),
                outputs => format!("available outputs: {}", listed(name, outputs.iter().map(String::as_str))),
            };
            PlotError::UnknownOutput { name: name.to_owned(), known }
        })
    }

    /// Returns the index of the player with this name.
    ///
    /// # Errors
    ///
    /// [`PlotError::UnknownPlayer`] if there is no such player.
    pub fn place_of_player(&self, name: &str) -> Result<usize, PlotError> {
        let players = &self.heading.players;
        players.iter().position(|player| player == name).ok_or_else(|| PlotError::UnknownPlayer {
            name: name.to_owned(),
            known: format!("available features: {}", listed(name, players.iter().map(String::as_str))),
        })
    }
}
