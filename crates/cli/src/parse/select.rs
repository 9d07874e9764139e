//! Selections of rows: `3,17` or `0,5-9`, both ends included, in the order given.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use anyhow::{Result, bail};

/// The selected rows, before they are checked against the number of rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    ranges: Vec<(usize, usize)>,
}

impl Selection {
    /// Returns the number of selected rows.
    pub(crate) fn len(&self) -> usize {
        self.ranges
            .iter()
            .fold(0, |sum: usize, &(first, last)| sum.saturating_add(last - first).saturating_add(1))
    }

    /// Returns whether the rows are in strictly increasing order.
    pub(crate) fn is_increasing(&self) -> bool {
        self.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0)
    }

    /// Returns the selected rows within `range`.
    pub(crate) fn within(&self, range: Range<usize>) -> Vec<usize> {
        let within =
            |&(first, last): &(usize, usize)| first.max(range.start)..last.saturating_add(1).min(range.end);
        self.ranges.iter().flat_map(within).collect()
    }

    /// Returns the selected rows, or an error if one of them is not below `count`, the number of rows of
    /// `what`.
    pub(crate) fn rows(&self, count: usize, option: &str, what: &str) -> Result<Vec<usize>> {
        if count == 0 {
            bail!(
                "{option} requires rows to select from, but {what} has no rows; pass at least one row, or \
                 remove {option}"
            );
        }
        for &(first, last) in &self.ranges {
            if last >= count {
                let given = first.max(count);
                let known = match count {
                    1 => "a single row; use row 0".to_owned(),
                    _ => format!("{count} rows; use rows 0 to {}", count - 1),
                };
                bail!("row {given} in {option} is out of range: {what} has {known}");
            }
        }
        Ok(self.ranges.iter().flat_map(|&(first, last)| first..=last).collect())
    }
}

/// Formats the selection as on the command line.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = |part: &str| {
            let part = part.trim();
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (first.trim().parse(), last.trim().parse()) {
                (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
                (Ok(_), Ok(_)) => Err(format!(
                    "invalid range {part:?}: the last row is before the first; expected e.g. 5-9"
                )),
                _ => Err(format!("invalid row or range {part:?}; expected e.g. 3,17 or 5-9, counted from 0")),
            }
        };
        Ok(Self { ranges: text.split(',').map(range).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, count: usize) -> Result<Vec<usize>> {
        text.parse::<Selection>().unwrap().rows(count, "--select", "rows.csv")
    }

    #[test]
    fn rows_are_written_as_they_would_be_typed() {
        for text in ["0-2,7,5-6", "3", "3,3"] {
            assert_eq!(text.parse::<Selection>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn rows_that_come_in_order_are_found_piece_by_piece() {
        let selection: Selection = "1-2,5,8-18446744073709551615".parse().unwrap();
        assert!(selection.is_increasing() && selection.len() == usize::MAX - 4);
        assert_eq!(selection.within(0..6), [1, 2, 5]);
        assert_eq!(selection.within(6..10), [8, 9]);
        assert!(!"2,1".parse::<Selection>().unwrap().is_increasing());
        assert!(!"2,2".parse::<Selection>().unwrap().is_increasing());
    }

    #[test]
    fn rows_and_ranges_come_in_the_order_given() {
        assert_eq!(rows("3, 0,5-7", 8).unwrap(), [3, 0, 5, 6, 7]);
    }

    #[test]
    fn a_row_beyond_the_count_is_refused_with_the_count() {
        assert_eq!(
            rows("0,150", 150).unwrap_err().to_string(),
            "row 150 in --select is out of range: rows.csv has 150 rows; use rows 0 to 149"
        );
        assert!(rows("5-18446744073709551615", 6).unwrap_err().to_string().contains("row 6"));
    }

    #[test]
    fn what_is_no_list_of_rows_is_refused() {
        for text in ["", "3,", "a", "-1", "7-5", "1.5", "99999999999999999999"] {
            assert!(text.parse::<Selection>().is_err(), "{text:?}");
        }
    }
}
