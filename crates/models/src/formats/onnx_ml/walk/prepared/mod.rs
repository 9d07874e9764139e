//! Preprocessed columns, each of which is a function of one column of the table.
//!
//! | type | function | operators |
//! |---|---|---|
//! | [`Chain`] | monotone, of a number | `Scaler`, `Imputer`, `Add`, `Sub`, `Mul`, `Div`, `Clip`, `Cast` |
//! | [`Pieces`] | constant on intervals of a number | `OneHotEncoder`, `LabelEncoder`, `Binarizer`, comparisons |
//! | [`Cases`] | a value for each category of a string | `OneHotEncoder`, `LabelEncoder`, `Where` |
//!
//! Therefore a test on such a column is a test on the column of the table. Arithmetic is rounded as in the
//! runtime, and the threshold of a chain is found by bisection over all numbers that the column may contain,
//! so that the test on the table's column holds for exactly the same rows as the test on the preprocessed
//! column.

mod cases;
mod chain;
mod grid;
mod pieces;
mod region;
mod split;
mod step;
#[cfg(test)]
mod tests;

pub(super) use self::cases::{Cases, Choice, Datum, Texts};
pub(super) use self::chain::Chain;
pub(in super::super) use self::grid::Grid;
pub(super) use self::pieces::Pieces;
pub(in super::super) use self::region::Region;
pub(in super::super) use self::split::Split;
pub(super) use self::step::{Operation, Step};
use super::super::decision::Decision;
use super::super::graph::Element;
use super::stop::Stop;

/// A column of a tensor, as a function of one column of the table.
#[derive(Debug, Clone)]
pub(in super::super) enum Prepared {
    Chain(Chain),
    Pieces(Pieces),
    Cases(Cases),
}

impl Prepared {
    /// Returns the column of the table.
    pub(super) fn feature(&self) -> u32 {
        match self {
            Self::Chain(chain) => chain.feature(),
            Self::Pieces(pieces) => pieces.feature(),
            Self::Cases(cases) => cases.feature(),
        }
    }

    /// Returns the number of steps, intervals or strings.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Chain(chain) => chain.steps().len(),
            Self::Pieces(pieces) => pieces.len(),
            Self::Cases(cases) => cases.len(),
        }
    }

    /// Returns the type of the column's values.
    pub(super) fn element(&self) -> Element {
        match self {
            Self::Chain(chain) => chain.element,
            Self::Pieces(pieces) => pieces.element,
            Self::Cases(cases) => cases.element,
        }
    }

    /// Applies a step, whose values have type `element`.
    pub(super) fn after(&self, step: Step, element: Element) -> Result<Self, Stop> {
        Ok(match self {
            Self::Chain(chain) => Self::Chain(chain.after(step, element)?),
            Self::Pieces(pieces) => Self::Pieces(pieces.map(|value| step.value(value), element)),
            Self::Cases(cases) => Self::Cases(cases.map_numbers(|value| step.value(value), element)?),
        })
    }

    /// Applies a function to each value of this column, which must have only a few values.
    pub(super) fn map_values(&self, of: impl Fn(f64) -> f64) -> Result<Self, Stop> {
        match self {
            Self::Chain(_) => Err(Stop::because("it maps each number of a column separately")),
            Self::Pieces(pieces) => Ok(Self::Pieces(pieces.map(of, pieces.element))),
            Self::Cases(cases) => Ok(Self::Cases(cases.map_numbers(of, cases.element)?)),
        }
    }

    /// Changes the type. The new type must be able to represent all values.
    pub(super) fn with_element(&self, element: Element) -> Result<Self, Stop> {
        Ok(match self {
            Self::Chain(chain) => Self::Chain(chain.with_element(element)),
            Self::Pieces(pieces) => Self::Pieces(pieces.map(|value| value, element)),
            Self::Cases(cases) => Self::Cases(cases.map_numbers(|value| value, element)?),
        })
    }

    /// Returns whether a missing value of the table stays missing.
    pub(super) fn missing_is_nan(&self) -> bool {
        match self {
            Self::Chain(chain) => chain.value(f64::NAN).is_nan(),
            Self::Pieces(pieces) => pieces.missing().is_nan(),
            Self::Cases(_) => true,
        }
    }

    /// Translates a test on this column to the column of the table. Missing values of this column are NaN.
    pub(in super::super) fn split(&self, decision: &Decision, grid: Grid) -> Result<Split, Stop> {
        match self {
            Self::Chain(chain) => chain.split(decision, grid),
            Self::Pieces(pieces) => pieces.split(decision, grid),
            Self::Cases(cases) => cases.split(decision),
        }
    }
}
