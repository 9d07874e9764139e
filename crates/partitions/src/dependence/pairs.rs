//! The dependence of all pairs of columns, each measured on the rows in which neither column is missing.

use apportion_games::{Rows, TooMuchMemory, memory, parallel};

use super::Dependence;
use super::binning::Binning;
use super::maximal_information::MaximalInformation;
use super::measure::Measure;
use super::nearest_neighbours::NearestNeighbours;
use super::spearman::Spearman;
use crate::error::PartitionsError;
use crate::matrix::DependenceMatrix;

/// Minimum number of rows in which neither feature of a pair is missing.
pub const MIN_ROWS: usize = 10;

impl Dependence {
    /// Computes the dependence of all pairs of columns.
    ///
    /// NaN is a missing value. Each pair is measured on the rows in which neither column is missing. The
    /// result does not depend on the number of threads. The time is proportional to the n(n − 1)/2 pairs of
    /// features. The memory is two or three copies of the data.
    ///
    /// # Errors
    ///
    /// [`PartitionsError::Memory`] if the pairs do not fit in memory;
    /// [`Infinite`](PartitionsError::Infinite) if a number is infinite;
    /// [`TooFewRows`](PartitionsError::TooFewRows) for a pair with fewer than [`MIN_ROWS`];
    /// [`Bins`](PartitionsError::Bins) and [`Neighbours`](PartitionsError::Neighbours) if there are too few
    /// rows for the number of bins or neighbours.
    pub fn matrix(&self, rows: Rows<'_>) -> Result<DependenceMatrix, PartitionsError> {
        check_memory(rows.columns())?;
        let columns = columns(rows)?;
        let min_rows = min_rows(&columns)?;
        if columns.len() > 1 {
            self.check(min_rows)?;
        }
        let values = match *self {
            Self::AbsoluteSpearman => measure(&Spearman, &columns),
            Self::MutualInformation { bins } => measure(&Binning { bins }, &columns),
            Self::NearestNeighbours { neighbours, seed } => {
                measure(&NearestNeighbours::new(neighbours, seed, rows.len()), &columns)
            }
            Self::MaximalInformation => measure(&MaximalInformation, &columns),
        };
        Ok(DependenceMatrix::measured(columns.len(), values, *self, min_rows))
    }

    /// Checks that the parameter of the measure is valid for this number of rows.
    fn check(&self, rows: usize) -> Result<(), PartitionsError> {
        match *self {
            Self::MutualInformation { bins: Some(given) } if !(2..=rows.isqrt()).contains(&given) => {
                Err(PartitionsError::Bins { actual: given, max: rows.isqrt(), rows })
            }
            Self::NearestNeighbours { neighbours: Some(given), .. } if !(1..rows).contains(&given) => {
                Err(PartitionsError::Neighbours { actual: given, rows })
            }
            _ => Ok(()),
        }
    }
}

/// Checks that the dependences of all pairs of features and their distances for clustering fit in memory.
/// Each pair takes three numbers, including one while the results of the threads are concatenated.
fn check_memory(features: usize) -> Result<(), TooMuchMemory> {
    let bytes = memory::product([3, features, features.saturating_sub(1), 8]) / 2;
    let what = || format!("the dependence of all pairs of {features} features");
    memory::check(bytes, what, "use fewer features, or list the groups")
}

/// Returns the columns of `rows`, after checking that no number is infinite.
fn columns(rows: Rows<'_>) -> Result<Vec<Vec<f64>>, PartitionsError> {
    for (row, numbers) in rows.iter().enumerate() {
        if let Some(column) = numbers.iter().position(|number| number.is_infinite()) {
            return Err(PartitionsError::Infinite { row, column, value: numbers[column] });
        }
    }
    Ok((0..rows.columns()).map(|column| rows.iter().map(|row| row[column]).collect()).collect())
}

/// Returns the smallest number of rows over all pairs in which neither feature is missing, or the total
/// number of rows if there is one column.
fn min_rows(columns: &[Vec<f64>]) -> Result<usize, PartitionsError> {
    let rows = columns.first().map_or(0, Vec::len);
    let missing: Vec<bool> =
        columns.iter().map(|column| column.iter().any(|number| number.is_nan())).collect();
    let complete = |first: usize, second: usize| {
        if missing[first] || missing[second] { both(&columns[first], &columns[second]).count() } else { rows }
    };
    // The smallest number of rows over the pairs of a feature with all later features, or an error if a pair
    // has too few rows.
    let fewest = |first: usize| {
        let mut fewest = rows;
        for second in first + 1..columns.len() {
            let complete = complete(first, second);
            if complete < MIN_ROWS {
                return Err(PartitionsError::TooFewRows { first, second, complete, min: MIN_ROWS });
            }
            fewest = fewest.min(complete);
        }
        Ok(fewest)
    };
    Ok(parallel::try_map(0..columns.len(), fewest)?.into_iter().min().unwrap_or(rows))
}

/// Computes the dependence of all pairs of columns, in the order of the upper triangle of a
/// `DependenceMatrix`.
fn measure<M: Measure>(measure: &M, columns: &[Vec<f64>]) -> Vec<f64> {
    let prepared: Vec<Option<M::Prepared>> =
        parallel::map(columns.iter().enumerate(), |(column, numbers)| {
            let whole = numbers.iter().all(|number| !number.is_nan()) && !is_constant(numbers);
            whole.then(|| measure.prepare(numbers, column))
        });
    let between = |first: usize, second: usize| match (&prepared[first], &prepared[second]) {
        (Some(one), Some(other)) => measure.between(one, other),
        _ => {
            let (one, other): (Vec<f64>, Vec<f64>) = both(&columns[first], &columns[second]).unzip();
            if is_constant(&one) || is_constant(&other) {
                return 0.0;
            }
            measure.between(&measure.prepare(&one, first), &measure.prepare(&other, second))
        }
    };
    let of_first =
        |first: usize| (first + 1..columns.len()).map(|second| between(first, second)).collect::<Vec<f64>>();
    parallel::map(0..columns.len(), of_first).concat()
}

/// Returns an iterator over the numbers of two columns in the rows without missing values.
fn both<'a>(first: &'a [f64], second: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    first.iter().copied().zip(second.iter().copied()).filter(|(one, other)| !one.is_nan() && !other.is_nan())
}

fn is_constant(numbers: &[f64]) -> bool {
    numbers.iter().all(|&number| number == numbers[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_do_not_fit_into_memory_are_refused() {
        for features in [1 << 24, 1 << 32, usize::MAX] {
            let error = check_memory(features).unwrap_err().to_string();
            assert!(error.contains(&format!("{features} features would take")), "{error}");
            assert!(error.contains("use fewer features, or list the groups"), "{error}");
        }
        for features in [0, 1, 2, 1000] {
            assert_eq!(check_memory(features), Ok(()));
        }
    }

    #[test]
    fn too_wide_data_are_refused_before_they_are_copied() {
        let values = vec![0.0; 1 << 24];
        let error = Dependence::AbsoluteSpearman.matrix(Rows::new(&values, values.len())).unwrap_err();
        assert!(matches!(error, PartitionsError::Memory(_)), "{error}");
    }
}
