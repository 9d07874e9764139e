//! Parts of tables for a terminal: numbers with six significant digits, bars, aligned columns. Control
//! characters in names are escaped, so that they cannot control the terminal.

use std::io::{self, Write};

use apportion_results::Batch;
use apportion_results::shown::shown;

/// The length of the longest bar in characters.
const BAR: usize = 24;
/// Writes the heading of a row, or of one of its outputs if there are several.
pub(super) fn heading(
    batch: &Batch,
    row: usize,
    output: usize,
    names: Option<&[String]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let outputs = names.map_or(1, <[String]>::len);
    let id = batch.ids.as_ref().map_or_else(String::new, |ids| format!(" ({})", shown(&ids[row])));
    let name = names.map_or_else(String::new, |names| format!(", output {}", shown(&names[output])));
    let [base, prediction] =
        [&batch.base, &batch.predictions].map(|numbers| digits(numbers[row * outputs + output]));
    writeln!(out, "\nrow {}{id}{name}: base {base}, prediction {prediction}", batch.rows[row])
}

/// The content of the last column of a table.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LastColumn {
    Numbers,
    Bars,
}

/// Writes lines of cells in aligned columns: the first column and bars to the left, all other columns to the
/// right.
pub(super) fn aligned(lines: &[Vec<String>], last: LastColumn, out: &mut dyn Write) -> io::Result<()> {
    let columns = lines.first().map_or(0, Vec::len);
    let lines: Vec<Vec<_>> = lines.iter().map(|line| line.iter().map(|cell| shown(cell)).collect()).collect();
    let widths: Vec<usize> = (0..columns)
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    for line in lines {
        let mut text = String::new();
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let to_the_left = column == 0 || (column + 1 == columns && last == LastColumn::Bars);
            text.push_str("  ");
            text.push_str(&if to_the_left { format!("{cell:<width$}") } else { format!("{cell:>width$}") });
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

/// Formats a number with six significant digits.
pub(super) fn digits(number: f64) -> String {
    let magnitude = number.abs();
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    if !(1e-4..1e9).contains(&magnitude) {
        return format!("{number:.5e}");
    }
    let before_the_point = magnitude.log10().floor() as i32 + 1;
    format!("{number:.*}", (6 - before_the_point).max(0) as usize)
}

/// Bars of block characters with a resolution of an eighth of a character, on a common scale. If any value is
/// negative, bars extend from a zero line to either side.
pub(super) struct Bars {
    /// The largest absolute value, which gets the longest bar.
    largest: f64,
    are_below_zero: bool,
}

impl Bars {
    /// Creates bars with a common scale for these values.
    pub(super) fn new(values: impl IntoIterator<Item = f64>) -> Self {
        values.into_iter().fold(Self { largest: 0.0, are_below_zero: false }, |bars, value| Self {
            largest: bars.largest.max(value.abs()),
            are_below_zero: bars.are_below_zero || value < 0.0,
        })
    }

    /// Returns the bar of a value.
    pub(super) fn bar(&self, value: f64) -> String {
        let room = if self.are_below_zero { BAR / 2 } else { BAR };
        let share = if self.largest > 0.0 { value.abs() / self.largest } else { 0.0 };
        let eighths = (share * (8 * room) as f64).round() as usize;
        let (whole, rest) = (eighths / 8, eighths % 8);
        let full = "█".repeat(whole);
        if !self.are_below_zero {
            return full + PARTS[rest];
        }
        if value >= 0.0 {
            return format!("{}│{full}{}", " ".repeat(room), PARTS[rest]);
        }
        // Only the half block fills a character from the right.
        let half = if rest >= 4 { "▐" } else { "" };
        format!("{:>room$}│", format!("{half}{full}"))
    }
}

/// Blocks of zero to seven eighths of a character, from the left.
const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_significant_digits() {
        let pairs = [
            (138.02767813, "138.028"),
            (-0.0616962065, "-0.0616962"),
            (1234567.8, "1234568"),
            (1.5e-9, "1.50000e-9"),
            (0.0, "0"),
            (2e12, "2.00000e12"),
        ];
        for (number, text) in pairs {
            assert_eq!(digits(number), text);
        }
    }

    #[test]
    fn bars_are_in_proportion() {
        let bars = Bars::new([1.0, 4.0, 0.0]);
        assert_eq!(bars.bar(4.0), "█".repeat(BAR));
        assert_eq!(bars.bar(1.0), "█".repeat(BAR / 4));
        assert_eq!(bars.bar(4.0 * 12.5 / 24.0), "█".repeat(12) + "▌");
        assert_eq!(bars.bar(0.0), "");
        assert_eq!(Bars::new([0.0]).bar(0.0), "");
    }

    #[test]
    fn bars_below_zero_go_to_the_left_of_the_others() {
        let bars = Bars::new([-2.0, 4.0]);
        assert_eq!(bars.bar(4.0), " ".repeat(12) + "│" + &"█".repeat(12));
        assert_eq!(bars.bar(-2.0), " ".repeat(6) + &"█".repeat(6) + "│");
        assert_eq!(bars.bar(-2.0 - 1.0 / 6.0), " ".repeat(5) + "▐" + &"█".repeat(6) + "│");
        assert_eq!(bars.bar(0.0), " ".repeat(12) + "│");
    }
}
