//! The dependence of all pairs of columns, each on the rows that have both.

use apportion_games::{Rows, parallel};

use super::Dependence;
use super::binning::Binning;
use super::maximal_information::MaximalInformation;
use super::measure::Measure;
use super::nearest_neighbours::NearestNeighbours;
use super::spearman::Spearman;
use crate::error::PartitionsError;
use crate::matrix::{DependenceMatrix, pairs_of};

/// The least number of rows in which neither feature of a pair is missing.
pub const LEAST_ROWS: usize = 10;

impl Dependence {
    /// The dependence of all pairs of columns.
    ///
    /// NaN is a missing value; each pair is measured on the rows that have both. The result is the same for any number of threads. Takes the
    /// time of n(n − 1)/2 pairs, and room for the data twice or thrice.
    ///
    /// # Errors
    ///
    /// [`PartitionsError::Infinite`]; [`TooFewRows`](PartitionsError::TooFewRows) for a pair with fewer than [`LEAST_ROWS`];
    /// [`Bins`](PartitionsError::Bins) and [`Neighbours`](PartitionsError::Neighbours) where the rows allow no such number.
    pub fn matrix(&self, rows: Rows<'_>) -> Result<DependenceMatrix, PartitionsError> {
        let columns = columns(rows)?;
        let least_rows = fewest_rows(&columns)?;
        if columns.len() > 1 {
            self.check(least_rows)?;
        }
        let values = match *self {
            Self::AbsoluteSpearman => measure(&Spearman, &columns),
            Self::MutualInformation { bins } => measure(&Binning { bins }, &columns),
            Self::NearestNeighbours { neighbours, seed } => {
                measure(&NearestNeighbours::new(neighbours, seed, rows.len()), &columns)
            }
            Self::MaximalInformation => measure(&MaximalInformation, &columns),
        };
        Ok(DependenceMatrix::measured(columns.len(), values, *self, least_rows))
    }

    /// Whether so many rows allow the measure its parameter.
    fn check(&self, rows: usize) -> Result<(), PartitionsError> {
        match *self {
            Self::MutualInformation { bins: Some(given) } if !(2..=rows.isqrt()).contains(&given) => {
                Err(PartitionsError::Bins { given, most: rows.isqrt(), rows })
            }
            Self::NearestNeighbours { neighbours: Some(given), .. } if !(1..rows).contains(&given) => {
                Err(PartitionsError::Neighbours { given, rows })
            }
            _ => Ok(()),
        }
    }
}

/// The columns of `rows`, none with infinite numbers.
fn columns(rows: Rows<'_>) -> Result<Vec<Vec<f64>>, PartitionsError> {
    for (row, numbers) in rows.iter().enumerate() {
        if let Some(column) = numbers.iter().position(|number| number.is_infinite()) {
            return Err(PartitionsError::Infinite { row, column, value: numbers[column] });
        }
    }
    Ok((0..rows.columns()).map(|column| rows.iter().map(|row| row[column]).collect()).collect())
}

/// The number of rows that have both features of a pair, of the pair that has the fewest; all rows where there is one column.
fn fewest_rows(columns: &[Vec<f64>]) -> Result<usize, PartitionsError> {
    let rows = columns.first().map_or(0, Vec::len);
    let missing: Vec<bool> =
        columns.iter().map(|column| column.iter().any(|number| number.is_nan())).collect();
    let complete = |&(first, second): &(usize, usize)| {
        if missing[first] || missing[second] { both(&columns[first], &columns[second]).count() } else { rows }
    };
    let pairs = pairs_of(columns.len());
    let counts: Vec<usize> = parallel::map(&pairs, complete);
    match pairs.iter().zip(&counts).find(|&(_, &complete)| complete < LEAST_ROWS) {
        Some((&(first, second), &complete)) => {
            Err(PartitionsError::TooFewRows { first, second, complete, least: LEAST_ROWS })
        }
        None => Ok(counts.into_iter().min().unwrap_or(rows)),
    }
}

/// The dependence of all pairs, in the order of [`pairs_of`].
fn measure<M: Measure>(measure: &M, columns: &[Vec<f64>]) -> Vec<f64> {
    let prepared: Vec<Option<M::Prepared>> =
        parallel::map(columns.iter().enumerate(), |(column, numbers)| {
            let whole = numbers.iter().all(|number| !number.is_nan()) && !is_constant(numbers);
            whole.then(|| measure.prepare(numbers, column))
        });
    let between = |(first, second): (usize, usize)| match (&prepared[first], &prepared[second]) {
        (Some(one), Some(other)) => measure.between(one, other),
        _ => {
            let (one, other): (Vec<f64>, Vec<f64>) = both(&columns[first], &columns[second]).unzip();
            if is_constant(&one) || is_constant(&other) {
                return 0.0;
            }
            measure.between(&measure.prepare(&one, first), &measure.prepare(&other, second))
        }
    };
    parallel::map(pairs_of(columns.len()), between)
}

/// The numbers of two columns in the rows that have both.
fn both<'a>(first: &'a [f64], second: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    first.iter().copied().zip(second.iter().copied()).filter(|(one, other)| !one.is_nan() && !other.is_nan())
}

fn is_constant(numbers: &[f64]) -> bool {
    numbers.iter().all(|&number| number == numbers[0])
}
