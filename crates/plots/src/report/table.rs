//! The numbers behind a figure, to be read and to be taken along.

use super::html::{Html, named};
use crate::scene::{Cell, Table, digits};

/// The most lines that stand in the page.
const MOST_LINES: usize = 100;

/// Whether the script has the numbers of a table, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// They are of rows, which the script knows.
    Known,
    /// They stand in the table alone, so all of their digits do.
    Here,
}

/// Writes a table that is opened by a click. The script adds what saves it as CSV, of `file` as its name.
pub(super) fn write(html: &mut Html, table: &Table, numbers: Numbers, title: &str, file: &str) {
    let lines = table.lines.len();
    html.open("details", &[("class", "numbers"), ("data-file", file)]);
    html.element("summary", &[], "The numbers behind it");
    if lines > MOST_LINES {
        html.element("p", &[("class", "note")], &format!("The first {MOST_LINES} of {lines} lines."));
    }
    lines_of(html, table, numbers, title);
    html.close("details");
}

/// Writes the lines in a box that scrolls by itself.
pub(super) fn lines_of(html: &mut Html, table: &Table, numbers: Numbers, title: &str) {
    let label = format!("Table: {title}");
    html.open("div", &[("class", "scroll"), ("role", "region"), ("tabindex", "0"), ("aria-label", &label)]);
    html.raw("<table><thead><tr>");
    for (column, name) in table.columns.iter().enumerate() {
        // A name stands where what is below it does.
        let class = match table.lines.first().and_then(|line| line.get(column)) {
            Some(Cell::Number(_)) => "",
            _ => "t",
        };
        html.element("th", &[("scope", "col"), ("dir", "auto"), ("class", class)], &named(name));
    }
    html.raw("</tr></thead><tbody>");
    for line in table.lines.iter().take(MOST_LINES) {
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

/// A text, whose direction is looked for where it may not be from left to right.
fn write_text(html: &mut Html, text: &str) {
    match text.is_ascii() {
        true if text.is_empty() => html.raw("<td></td>"),
        true => html.element("td", &[("class", "t")], &named(text)),
        false => html.element("td", &[("class", "t"), ("dir", "auto")], &named(text)),
    };
}

/// A number to six digits; the whole of it beside, where it has more and is nowhere else.
fn write_number(html: &mut Html, number: f64, numbers: Numbers) {
    let shown = digits(number, 6);
    let is_whole = number.is_nan() || shown.replace('−', "-").parse() == Ok(number);
    match is_whole || numbers == Numbers::Known {
        true => html.element("td", &[], &shown),
        false => html.element("td", &[("data-n", &format!("{number:e}"))], &shown),
    };
}
