//! Mean, standard deviation and extremes of numbers, from exact sums.

use num_bigint::{BigInt, BigUint};
use rayon::prelude::*;

use super::by_exponent::{MAX_NUMBERS, SumsByExponent};
use super::exact_sum::{ExactSum, UNIT, split};
use super::rounding::{quotient, root_of_quotient};
use crate::error::SummaryError;

/// The number of columns that are copied together. Their numbers in one row take one cache line.
const BLOCK: usize = 8;
/// The minimum number of rows for which sums by exponent are faster than adding the numbers one by one.
const MIN_ROWS: usize = 32;
/// The maximum count of numbers.
pub(super) const MAX_COUNT: u64 = i64::MAX as u64;
/// The number of bits of the largest sum, which has 2^63 terms equal to the largest double.
const MAX_BITS: u64 = 63 + 1024 + UNIT as u64;
/// The number of bits of the largest sum of squares.
const MAX_BITS_OF_SQUARES: u64 = 63 + 2 * (1024 + UNIT as u64);

/// The count, the mean, the standard deviation and the extremes of numbers, and of their absolute values.
///
/// Sums are exact, so they do not depend on the order of the numbers, or on how parts were merged; and each
/// result is rounded only once. Negative zeros count as positive ones. Adding a number takes a few
/// nanoseconds, and several times as long in batches of fewer than 32 rows; a statistic takes less than a
/// microsecond. The memory does not depend on the count: about 400 bytes, and up to 3 KB for numbers of all
/// magnitudes.
///
/// ```
/// use apportion_results::Moments;
///
/// let mut moments = [Moments::default(), Moments::default()];
/// // Two rows of two numbers.
/// Moments::add_rows(&mut moments, &[1e16 + 2.0, -3.0, 1e16, 5.0])?;
/// assert_eq!(moments[0].mean(), 1e16);
/// assert_eq!(moments[0].deviation(), 2_f64.sqrt());
/// assert_eq!((moments[1].mean(), moments[1].mean_absolute()), (1.0, 4.0));
/// # Ok::<(), apportion_results::SummaryError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    count: u64,
    /// The sum of the positive numbers, and the sum of the absolute values of the negative ones. The index is
    /// the sign bit.
    sums: [ExactSum; 2],
    /// The sum of squares; `None` in a summary of format 1 whose squares exceed the largest double.
    squares: Option<ExactSum>,
    min: f64,
    max: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self {
            count: 0,
            sums: [ExactSum::default(), ExactSum::default()],
            squares: Some(ExactSum::default()),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl Moments {
    /// Adds rows (rows × moments, row-major). The number at index j of each row is added to `moments[j]`. All
    /// moments must have the same count.
    ///
    /// # Errors
    ///
    /// [`SummaryError::NotFinite`] for a number that is NaN or infinite, in which case other numbers may have
    /// been added; [`SummaryError::TooManyRows`].
    pub fn add_rows(moments: &mut [Self], numbers: &[f64]) -> Result<(), SummaryError> {
        Self::add_columns(moments, numbers, (0, moments.len()))
    }

    /// Same as [`add_rows`](Self::add_rows), on all threads of the current pool of rayon.
    ///
    /// # Errors
    ///
    /// Same as [`add_rows`](Self::add_rows).
    pub fn add_rows_in_parallel(moments: &mut [Self], numbers: &[f64]) -> Result<(), SummaryError> {
        let width = moments.len();
        let size = width.div_ceil(2 * rayon::current_num_threads()).max(8 * BLOCK);
        let chunks = moments.par_chunks_mut(size).enumerate();
        chunks.try_for_each(|(place, moments)| Self::add_columns(moments, numbers, (place * size, width)))
    }

    /// Adds the columns from `first` on, one for each of the moments, of rows with `width` numbers.
    fn add_columns(
        moments: &mut [Self],
        numbers: &[f64],
        (first, width): (usize, usize),
    ) -> Result<(), SummaryError> {
        let Some(count) = moments.first().map(|moments| moments.count) else { return Ok(()) };
        let rows = numbers.len() / width;
        check_count(count, rows as u64)?;
        if rows >= MIN_ROWS {
            return Self::add_by_exponent(moments, numbers, (first, width));
        }
        for row in numbers.chunks_exact(width) {
            let row = &row[first..first + moments.len()];
            check_finite(row)?;
            moments.iter_mut().zip(row).for_each(|(moments, &number)| moments.add(number));
        }
        Ok(())
    }

    /// Adds rows block by block. The numbers of a block are copied, because the numbers of a column of a wide
    /// table are far apart.
    fn add_by_exponent(
        moments: &mut [Self],
        numbers: &[f64],
        (first, width): (usize, usize),
    ) -> Result<(), SummaryError> {
        let mut sums = SumsByExponent::default();
        let mut lines = vec![[0.0; BLOCK]; MAX_NUMBERS];
        for rows in numbers.chunks(width * MAX_NUMBERS) {
            let lines = &mut lines[..rows.len() / width];
            for (block, moments) in moments.chunks_mut(BLOCK).enumerate() {
                let start = first + block * BLOCK;
                let (min, max) = copy_lines(lines, rows.chunks_exact(width).map(|row| &row[start..]))?;
                for (column, moments) in moments.iter_mut().enumerate() {
                    moments.count += lines.len() as u64;
                    moments.min = moments.min.min(min[column]);
                    moments.max = moments.max.max(max[column]);
                    // Skip columns of zeros. They are common, because tree ensembles do not use all features
                    // of a wide table.
                    if min[column] != 0.0 || max[column] != 0.0 {
                        lines.iter().for_each(|line| sums.add(line[column]));
                        sums.drain(&mut moments.sums, moments.squares.as_mut());
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a finite number.
    #[inline]
    fn add(&mut self, number: f64) {
        // Adding zero makes negative zeros positive.
        let number = number + 0.0;
        self.count += 1;
        self.min = self.min.min(number);
        self.max = self.max.max(number);
        if number == 0.0 {
            return;
        }
        let (mantissa, shift) = split(number);
        // Use the sign as an index, because the processor cannot predict a branch on it.
        self.sums[usize::from(number < 0.0)].add(mantissa, shift);
        if let Some(squares) = &mut self.squares {
            squares.add_square(u128::from(mantissa).pow(2), shift);
        }
    }

    /// Adds the numbers of other moments.
    ///
    /// # Errors
    ///
    /// [`SummaryError::TooManyRows`], in which case nothing is added.
    pub fn merge(&mut self, other: &Self) -> Result<(), SummaryError> {
        self.count = check_count(self.count, other.count)?;
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, other)| own.merge(other));
        match (&mut self.squares, &other.squares) {
            (Some(squares), Some(more)) => squares.merge(more),
            _ => self.squares = None,
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        Ok(())
    }

    /// Returns the number of numbers that were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean; NaN if there are no numbers.
    pub fn mean(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let from = self.first();
        let [positive, negative] = self.totals(from);
        match positive >= negative {
            true => self.divided(&(positive - negative), from),
            false => -self.divided(&(negative - positive), from),
        }
    }

    /// Returns the mean of the absolute values; NaN if there are no numbers.
    pub fn mean_absolute(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let from = self.first();
        let [positive, negative] = self.totals(from);
        self.divided(&(positive + negative), from)
    }

    /// Returns the sample standard deviation, with the divisor n − 1: 0 for a single number, NaN for none.
    pub fn deviation(&self) -> f64 {
        self.deviation_about(|[positive, negative]| match positive >= negative {
            true => positive - negative,
            false => negative - positive,
        })
    }

    /// Returns the sample standard deviation of the absolute values, like [`deviation`](Self::deviation).
    pub fn deviation_of_absolute(&self) -> f64 {
        self.deviation_about(|[positive, negative]| positive + negative)
    }

    /// Returns the minimum; infinity if there are no numbers.
    pub fn min(&self) -> f64 {
        self.min
    }

    /// Returns the maximum; negative infinity if there are no numbers.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// Returns √((n Σx² − s²) / (n (n − 1))). The function `sum` computes s from the sum of the positive
    /// numbers and the sum of the absolute values of the negative ones.
    fn deviation_about(&self, sum: impl FnOnce([BigUint; 2]) -> BigUint) -> f64 {
        let Some(squares) = self.squares.as_ref().filter(|_| self.count > 0) else {
            return if self.count > 0 { f64::INFINITY } else { f64::NAN };
        };
        if self.is_zero() {
            return 0.0;
        }
        // Choose a unit that is small enough for both sums. The sum of numbers is in this unit, and the sum
        // of squares is in its square.
        let from = self.first().min(squares.first().unwrap_or(usize::MAX) / 2);
        let sum = sum(self.totals(from));
        let (squares, square) = (squares.total(2 * from) * self.count, &sum * &sum);
        if squares <= square {
            // In format 1, squares were rounded, so their sum may be too small.
            return 0.0;
        }
        let below = [self.count, (self.count - 1).max(1)];
        root_of_quotient(&(squares - square), below, 64 * from as i64 - UNIT)
    }

    /// Returns whether there are numbers, and all are zero.
    fn is_zero(&self) -> bool {
        self.min == 0.0 && self.max == 0.0
    }

    /// Returns the position of the first limb that is not zero in one of the two sums.
    fn first(&self) -> usize {
        self.sums.iter().filter_map(ExactSum::first).min().unwrap_or(0)
    }

    /// Returns the sums of the positive numbers, and of the absolute values of the negative ones, in units of
    /// 2^(64 from − 1127).
    fn totals(&self, from: usize) -> [BigUint; 2] {
        self.sums.each_ref().map(|sum| sum.total(from))
    }

    /// Returns a sum in units of 2^(64 from − 1127), divided by the count.
    fn divided(&self, sum: &BigUint, from: usize) -> f64 {
        match self.count {
            0 => f64::NAN,
            count => quotient(sum, count, 64 * from as i64 - UNIT),
        }
    }

    /// Returns Σx and Σ|x| in units of 2^−1127, and Σx² in units of 2^−2254 unless it is infinite.
    pub(super) fn sums(&self) -> (BigInt, BigUint, Option<BigUint>) {
        let [positive, negative] = self.totals(0);
        let absolute = &positive + &negative;
        let sum = BigInt::from(positive) - BigInt::from(negative);
        (sum, absolute, self.squares.as_ref().map(|squares| squares.total(0)))
    }

    /// Creates moments from the sums that [`sums`](Self::sums) returned, and the extremes if the count is not
    /// zero. Returns `None` if no numbers can have these sums and extremes.
    pub(super) fn from_sums(
        count: u64,
        (sum, absolute, squares): (&BigInt, &BigUint, Option<&BigUint>),
        extremes: Option<(f64, f64)>,
    ) -> Option<Self> {
        let has_room = absolute.bits() <= MAX_BITS
            && squares.is_none_or(|squares| squares.bits() <= MAX_BITS_OF_SQUARES);
        // These are twice the sum of the positive numbers, and twice the sum of the absolute values of the
        // negative ones.
        let positive = (BigInt::from(absolute.clone()) + sum).to_biguint()?;
        let negative = (BigInt::from(absolute.clone()) - sum).to_biguint()?;
        if !has_room || positive.bit(0) || count > MAX_COUNT || (count > 0) != extremes.is_some() {
            return None;
        }
        let is_empty = *absolute == BigUint::ZERO && squares.is_some_and(|squares| *squares == BigUint::ZERO);
        if count == 0 && !is_empty {
            return None;
        }
        let (min, max) = extremes.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
        if count > 0 && !(min.is_finite() && max.is_finite() && min <= max) {
            return None;
        }
        Some(Self {
            count,
            sums: [positive, negative].map(|twice| ExactSum::from_total(&(twice >> 1_u8))),
            squares: squares.map(ExactSum::from_total),
            min: min + 0.0,
            max: max + 0.0,
        })
    }
}

/// Copies the first [`BLOCK`] numbers of each row to `lines`, with negative zeros made positive. Returns the
/// minimum and the maximum of each column.
fn copy_lines<'r>(
    lines: &mut [[f64; BLOCK]],
    rows: impl Iterator<Item = &'r [f64]>,
) -> Result<([f64; BLOCK], [f64; BLOCK]), SummaryError> {
    let (mut min, mut max) = ([f64::INFINITY; BLOCK], [f64::NEG_INFINITY; BLOCK]);
    // An entry becomes NaN if the column contains a number that is not finite.
    let mut zeros = [0.0; BLOCK];
    for (line, row) in lines.iter_mut().zip(rows) {
        let numbers = match row.first_chunk::<BLOCK>() {
            Some(numbers) => *numbers,
            // The last block of the table may be narrower. Fill it with zeros.
            None => std::array::from_fn(|column| row.get(column).copied().unwrap_or(0.0)),
        };
        for column in 0..BLOCK {
            let number = numbers[column] + 0.0;
            // Each of these comparisons is a single instruction, unlike `f64::min` and `f64::max`, which
            // handle NaN.
            min[column] = if number < min[column] { number } else { min[column] };
            max[column] = if number > max[column] { number } else { max[column] };
            zeros[column] += number * 0.0;
            line[column] = number;
        }
    }
    if zeros == [0.0; BLOCK] { Ok((min, max)) } else { Err(SummaryError::NotFinite) }
}

fn check_finite(numbers: &[f64]) -> Result<(), SummaryError> {
    let are_finite = numbers.iter().all(|number| number.is_finite());
    if are_finite { Ok(()) } else { Err(SummaryError::NotFinite) }
}

/// Returns the sum of two counts, or an error if it exceeds [`MAX_COUNT`].
pub(super) fn check_count(count: u64, more: u64) -> Result<u64, SummaryError> {
    let count = count.saturating_add(more);
    if count > MAX_COUNT {
        Err(SummaryError::TooManyRows { actual: count, max: MAX_COUNT })
    } else {
        Ok(count)
    }
}
