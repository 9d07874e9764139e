//! Tensors, each of whose columns is a function of one column of the table.

use std::cell::Cell;
use std::rc::Rc;

use super::columns::Allowance;
use super::prepared::{Cases, Chain, Grid, Prepared, Split, Step};
use super::stop::Stop;
use crate::ensemble::Width;
use crate::formats::onnx_ml::decision::Decision;
use crate::formats::onnx_ml::graph::Element;

/// Number of categories that the rules for a file of any length may list. Rules for long files may list more
/// categories.
const RULES: usize = 1 << 24;

/// A list of columns, each of which is a function of one column of the table.
#[derive(Debug, Clone)]
pub(in super::super) enum Table {
    /// An input of the graph. Its columns are not listed one by one, since a file may declare any number of
    /// them.
    Input(Input),
    Columns(Rc<[Prepared]>),
}

/// Columns of the table that belong to one input.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Input {
    pub(super) first: u32,
    pub(super) count: usize,
    pub(super) element: Element,
    /// Whether rows are more precise than the input of the runtime, so that they must be rounded to `f32`.
    pub(super) is_rounded: bool,
}

impl Input {
    fn column(self, index: usize) -> Prepared {
        let feature = self.first + index as u32;
        let column = match self.element {
            Element::Text => return Prepared::Cases(Cases::new(feature)),
            element => Prepared::Chain(Chain::new(feature, element)),
        };
        match self.is_rounded {
            true => column.after(Step::Single, Element::Single).unwrap_or(column),
            false => column,
        }
    }
}

impl Table {
    /// Returns the number of columns.
    pub(in super::super) fn len(&self) -> usize {
        match self {
            Self::Input(input) => input.count,
            Self::Columns(columns) => columns.len(),
        }
    }

    fn column(&self, index: usize) -> Option<Prepared> {
        match self {
            Self::Input(input) => (index < input.count).then(|| input.column(index)),
            Self::Columns(columns) => columns.get(index).cloned(),
        }
    }

    /// Returns all columns, one by one.
    pub(super) fn columns(&self, allowance: &mut Allowance) -> Result<Vec<Prepared>, Stop> {
        let size = match self {
            Self::Input(input) => input.count.saturating_mul(2),
            Self::Columns(columns) => columns.iter().map(|column| 1 + column.len()).sum(),
        };
        allowance.spend(size)?;
        Ok((0..self.len()).filter_map(|index| self.column(index)).collect())
    }

    /// Applies a function to each column.
    pub(super) fn map(
        &self,
        allowance: &mut Allowance,
        mut of: impl FnMut(usize, Prepared) -> Result<Prepared, Stop>,
    ) -> Result<Self, Stop> {
        let columns = self.columns(allowance)?.into_iter().enumerate();
        Ok(Self::Columns(columns.map(|(index, column)| of(index, column)).collect::<Result<_, _>>()?))
    }

    /// Returns the columns with these indices.
    pub(super) fn chosen(&self, places: &[usize], allowance: &mut Allowance) -> Result<Self, Stop> {
        allowance.spend(places.len())?;
        let column = |&place: &usize| self.column(place).ok_or(Stop::Other);
        match places.is_empty() {
            true => Err(Stop::Other),
            false => Ok(Self::Columns(places.iter().map(column).collect::<Result<_, _>>()?)),
        }
    }

    /// Converts the columns to `f32`.
    pub(super) fn as_single(&self, grid: Grid, allowance: &mut Allowance) -> Result<Self, Stop> {
        match self {
            Self::Input(input) if input.element != Element::Text => Ok(Self::Input(Input {
                element: Element::Single,
                is_rounded: grid.0 == Width::Double,
                ..*input
            })),
            _ => self.map(allowance, |_, column| match column.element() {
                Element::Single => Ok(column),
                _ => column.after(Step::Single, Element::Single),
            }),
        }
    }

    /// Returns whether all values have this type.
    pub(super) fn is_of(&self, element: Element) -> bool {
        match self {
            Self::Input(input) => input.element == element,
            Self::Columns(columns) => columns.iter().all(|column| column.element() == element),
        }
    }
}

/// A translator of tests on preprocessed columns to tests on columns of the table.
pub(in super::super) struct Splitter<'a> {
    table: &'a Table,
    grid: Grid,
    /// Number of categories that rules may still list, because each split on an encoded column may list all
    /// of its categories.
    budget: Cell<usize>,
}

impl<'a> Splitter<'a> {
    /// Creates a splitter. The limit depends on the file's `length`, but rules may list many more numbers
    /// than the file contains.
    pub(super) fn new(table: &'a Table, grid: Grid, length: usize) -> Self {
        Self { table, grid, budget: Cell::new(RULES.max(length.saturating_mul(64))) }
    }

    /// Returns the number of preprocessed columns.
    pub(in super::super) fn columns(&self) -> usize {
        self.table.len()
    }

    /// Translates a test on a preprocessed column to a test on a column of the table.
    pub(in super::super) fn split(&self, decision: &Decision) -> Result<Split, Stop> {
        let place = usize::try_from(decision.feature).ok();
        let column = place.and_then(|place| self.table.column(place)).ok_or(Stop::Other)?;
        let left = self.budget.get().checked_sub(column.len());
        let long = || Stop::because("its splits on encoded columns list too many categories");
        self.budget.set(left.ok_or_else(long)?);
        column.split(decision, self.grid)
    }
}
