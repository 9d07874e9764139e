//! Tables with the data of figures, for display and for download.

use super::html::{Html, named};
use crate::scene::{Cell, Table, digits};

/// Maximum number of lines in the page.
const MAX_LINES: usize = 100;

/// The place where the page stores the numbers of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// The numbers belong to rows, whose data the script has.
    Known,
    /// Only the table contains the numbers, so it stores all of their digits.
    Here,
}

/// Writes a collapsible table. The script adds a link that downloads it as CSV, named `file`.
pub(super) fn write(html: &mut Html, table: &Table, numbers: Numbers, title: &str, file: &str) {
    let lines = table.lines.len();
    html.open("details", &[("class", "numbers"), ("data-file", file)]);
    html.element("summary", &[], "Data");
    if lines > MAX_LINES {
        html.element("p", &[("class", "note")], &format!("First {MAX_LINES} of {lines} rows"));
    }
    lines_of(html, table, numbers, title);
    html.close("details");
}

/// Writes the lines in a scrollable box.
pub(super) fn lines_of(html: &mut Html, table: &Table, numbers: Numbers, title: &str) {
    let label = format!("Table: {title}");
    html.open("div", &[("class", "scroll"), ("role", "region"), ("tabindex", "0"), ("aria-label", &label)]);
    html.raw("<table><thead><tr>");
    for (column, name) in table.columns.iter().enumerate() {
        // The alignment of a header matches the alignment of the cells below.
        let class = match table.lines.first().and_then(|line| line.get(column)) {
            Some(Cell::Number(_)) => "",
            _ => "t",
        };
        html.element("th", &[("scope", "col"), ("dir", "auto"), ("class", class)], &named(name));
    }
    html.raw("</tr></thead><tbody>");
    for line in table.lines.iter().take(MAX_LINES) {
        html.raw("<tr>");
        for cell in line {
            match cell {
                Cell::Text(text) => write_text(html, text),
                Cell::Number(number) => write_number(html, *number, numbers),
            }
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
}

/// Writes text. If the text may not be left-to-right, the browser detects its direction.
fn write_text(html: &mut Html, text: &str) {
    match text.is_ascii() {
        true if text.is_empty() => html.raw("<td></td>"),
        true => html.element("td", &[("class", "t")], &named(text)),
        false => html.element("td", &[("class", "t"), ("dir", "auto")], &named(text)),
    };
}

/// Writes a number with six digits. If it has more digits, and the script does not have them, all digits are
/// stored in an attribute.
fn write_number(html: &mut Html, number: f64, numbers: Numbers) {
    let shown = digits(number, 6);
    let is_whole = number.is_nan() || shown.replace('−', "-").parse() == Ok(number);
    match is_whole || numbers == Numbers::Known {
        true => html.element("td", &[], &shown),
        false => html.element("td", &[("data-n", &format!("{number:e}"))], &shown),
    };
}
