//! Assembly of rows from the cells of columns. A lane is a column of the file that is read.

use super::decimal::{Decimal, DecimalReading};
use super::moment::Moment;
use crate::allowance::Allowance;
use crate::cells::{Feature, weight};
use crate::columns::ChosenColumns;
use crate::error::{Result, RowsError};
use crate::exact::exact;
use crate::number::number;
use crate::row_options::RowOptions;
use crate::table::{Block, Read, RowReceiver};

/// A cell as stored in its column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    Missing,
    Float(f64),
    Integer(i128),
    Decimal(Decimal),
    /// A decimal beyond 128 bits, rounded.
    LongDecimal(f64),
    Boolean(bool),
    Text(&'a str),
    /// A date or time, for IDs and for features whose strings are stored.
    Moment(Moment),
}

impl From<DecimalReading> for Cell<'_> {
    fn from(decimal: DecimalReading) -> Self {
        match decimal {
            DecimalReading::Whole(decimal) => Self::Decimal(decimal),
            DecimalReading::Rounded(number) => Self::LongDecimal(number),
        }
    }
}

/// The columns that are read from a file, and the rows assembled from them.
pub(crate) struct Lanes<'w> {
    header: Vec<String>,
    chosen: ChosenColumns,
    features: Vec<Feature<'w>>,
    decimal_comma: bool,
    /// Indices in the file of the columns that are read: the features, the IDs, and the weights.
    columns: Vec<usize>,
    block: Block,
    /// The number of values in the current block. Memory for them is allocated when the first cell arrives.
    announced: usize,
    /// The number of rows passed on so far.
    rows: usize,
}

impl<'w> Lanes<'w> {
    /// Creates the lanes for the columns chosen from a header.
    pub(crate) fn new(header: Vec<String>, options: &RowOptions<'w>) -> Result<Self> {
        let chosen = ChosenColumns::by_name(&header, options)?;
        let features = Feature::all(chosen.columns.iter().map(|&column| header[column].clone()), options);
        let columns = chosen.columns.iter().copied().chain(chosen.id).chain(chosen.weight).collect();
        let block = chosen.block(Some(&header));
        let decimal_comma = options.decimal_comma;
        Ok(Self { header, chosen, features, decimal_comma, columns, block, announced: 0, rows: 0 })
    }

    /// Returns for each lane the index of its column in the file.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Returns whether a lane contains the IDs.
    fn is_of_ids(&self, lane: usize) -> bool {
        lane == self.features.len() && self.chosen.id.is_some()
    }

    /// Returns whether the cells of a lane may be dates and times, as for IDs and for features whose strings
    /// are stored.
    pub(crate) fn takes_moments(&self, lane: usize) -> bool {
        self.is_of_ids(lane) || self.features.get(lane).is_some_and(Feature::keeps_texts)
    }

    /// Returns the error for a column whose values (`what`) are neither numbers nor categories.
    pub(crate) fn refusal(&self, lane: usize, what: &str) -> RowsError {
        let name = &self.header[self.columns[lane]];
        if self.is_of_ids(lane) {
            let problem =
                format!("column {name:?} contains {what}, which cannot be used as --id; convert it to text");
            return RowsError::columns(problem);
        }
        RowsError::columns(format!(
            "column {name:?} contains {what}, not numbers or categories; convert it as in training, or pass \
             --ignore {name:?} if it is not a feature"
        ))
    }

    /// Starts a block of `rows` rows, within the `allowance`. Memory is allocated only when the first cell
    /// arrives. A file can declare any number of rows, but a reader checks that the file contains these rows
    /// before it passes a cell.
    pub(crate) fn begin(&mut self, rows: usize, allowance: &Allowance) -> Result<()> {
        allowance.unpack(self.bytes_of(rows))?;
        self.announced = rows.checked_mul(self.features.len()).ok_or_else(announced_too_many)?;
        self.block.clear();
        Ok(())
    }

    /// Returns the number of bytes that `rows` rows take in memory.
    pub(crate) fn bytes_of(&self, rows: usize) -> u64 {
        let numbers = (rows as u64).saturating_mul(self.columns.len().max(1) as u64);
        numbers.saturating_mul(8)
    }

    /// Returns the writer for the cells of a lane in the current block.
    pub(crate) fn lane(&mut self, lane: usize) -> Lane<'_, 'w> {
        let (column, width) = (self.columns[lane], self.features.len());
        let place = ColumnLocation { first_row: self.rows, column, name: &self.header[column] };
        let is_id = self.is_of_ids(lane);
        let to = match self.features.get_mut(lane) {
            Some(feature) => {
                let (values, announced) = (&mut self.block.values, self.announced);
                ColumnTarget::Feature { feature, values, announced, at: lane, width }
            }
            None if is_id => ColumnTarget::Id(&mut self.block.ids),
            None => {
                ColumnTarget::Weight { weights: &mut self.block.weights, decimal_comma: self.decimal_comma }
            }
        };
        Lane { place, to, row: 0 }
    }

    /// Passes the current block of rows to the receiver. Returns `false` if the receiver stopped.
    pub(crate) fn hand_over(&mut self, receive: &mut RowReceiver<'_>) -> bool {
        // If no cell was written, all cells of the block are missing.
        self.block.values.resize(self.announced, f64::NAN);
        self.rows += self.block.values.len() / self.features.len().max(1);
        self.block.values.is_empty() || receive(&mut self.block)
    }

    /// Returns the information about all rows.
    pub(crate) fn finish(self) -> Read {
        self.chosen.summary(&self.header, &self.features)
    }
}

/// The position of a column, for messages.
struct ColumnLocation<'l> {
    first_row: usize,
    column: usize,
    name: &'l str,
}

impl ColumnLocation<'_> {
    fn describe(&self, row: usize) -> String {
        format!("row {}, column {} {:?}", self.first_row + row, self.column, self.name)
    }
}

enum ColumnTarget<'l, 'w> {
    Feature {
        feature: &'l mut Feature<'w>,
        values: &'l mut Vec<f64>,
        announced: usize,
        at: usize,
        width: usize,
    },
    Id(&'l mut Vec<String>),
    Weight {
        weights: &'l mut Vec<f64>,
        decimal_comma: bool,
    },
}

/// A writer of the cells of one column to the current block of rows.
pub(crate) struct Lane<'l, 'w> {
    place: ColumnLocation<'l>,
    to: ColumnTarget<'l, 'w>,
    /// The number of cells written so far, i.e. the row of the next cell.
    row: usize,
}

impl Lane<'_, '_> {
    /// Writes the next cell.
    #[inline]
    pub(crate) fn put(&mut self, cell: Cell<'_>) -> Result<()> {
        let (row, place) = (self.row, || self.place.describe(self.row));
        match &mut self.to {
            ColumnTarget::Feature { feature, values, announced, at, width } => {
                if values.is_empty() {
                    values.resize(*announced, f64::NAN);
                }
                let value = match cell {
                    Cell::Missing => Ok(f64::NAN),
                    Cell::Float(value) => feature.number(value),
                    Cell::Integer(value) => feature.whole(value),
                    Cell::Decimal(value) => feature.number(value.rounded()),
                    Cell::LongDecimal(value) => feature.number(value),
                    Cell::Boolean(value) => feature.boolean(value),
                    Cell::Text(text) => feature.text(text),
                    Cell::Moment(moment) if feature.keeps_texts() => feature.moment(&moment.to_string()),
                    Cell::Moment(_) => return Err(no_number(place())),
                };
                let value = value.map_err(|error| feature.at(place(), &error))?;
                let Some(to) = values.get_mut(row * *width + *at) else { return Err(too_many(place())) };
                *to = value;
            }
            ColumnTarget::Id(ids) => ids.push(match cell {
                Cell::Missing => String::new(),
                Cell::Float(value) => value.to_string(),
                Cell::Integer(value) => value.to_string(),
                Cell::Decimal(value) => value.text(),
                Cell::LongDecimal(_) => return Err(too_long(place())),
                Cell::Boolean(value) => value.to_string(),
                Cell::Text(text) => text.to_owned(),
                Cell::Moment(moment) => moment.to_string(),
            }),
            ColumnTarget::Weight { weights, decimal_comma } => {
                let weighs = match cell {
                    Cell::Missing | Cell::Moment(_) => None,
                    Cell::Float(value) | Cell::LongDecimal(value) => Some(value),
                    Cell::Integer(value) => exact(value),
                    Cell::Decimal(value) => Some(value.rounded()),
                    Cell::Boolean(value) => Some(f64::from(u8::from(value))),
                    Cell::Text(text) => number(text.trim(), *decimal_comma),
                };
                weights.push(weight(weighs, place)?);
            }
        }
        self.row += 1;
        Ok(())
    }
}

#[cold]
fn no_number(place: String) -> RowsError {
    let problem = "dates and times are not numbers or categories; convert the column as in training, or pass \
                   it to --ignore if it is not a feature";
    RowsError::Cell { place, problem: problem.to_owned() }
}

#[cold]
fn too_long(place: String) -> RowsError {
    let problem = "decimals of more than 38 digits cannot be used as --id; convert the column to text";
    RowsError::Cell { place, problem: problem.to_owned() }
}

#[cold]
fn announced_too_many() -> RowsError {
    RowsError::corrupt("the file is corrupt: it declares more rows than are possible")
}

#[cold]
fn too_many(place: String) -> RowsError {
    RowsError::Cell {
        place,
        problem: "the file is corrupt: the column continues beyond the declared number of rows; write the \
                  file again"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers_with_commas_where_that_is_said() {
        let options = RowOptions { weight: Some("w"), decimal_comma: true, ..RowOptions::default() };
        let mut lanes = Lanes::new(vec!["a".to_owned(), "w".to_owned()], &options).unwrap();
        lanes.begin(1, &Allowance::new(None)).unwrap();
        lanes.lane(0).put(Cell::Text("1,5")).unwrap();
        lanes.lane(1).put(Cell::Text(" 2,5 ")).unwrap();
        let mut rows = Vec::new();
        lanes.hand_over(&mut |block| {
            rows.push((block.values.clone(), block.weights.clone()));
            true
        });
        assert_eq!(rows, [(vec![1.5], vec![2.5])]);
        lanes.begin(1, &Allowance::new(None)).unwrap();
        assert!(lanes.lane(0).put(Cell::Text("1.5")).unwrap_err().to_string().contains("--decimal-comma"));
        assert!(lanes.lane(1).put(Cell::Text("2.5")).is_err());
    }
}
