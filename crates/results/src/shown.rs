//! Escaping of text for display. Names, IDs and categories may contain anything, but must not control a
//! terminal or act as formulas in spreadsheets.

use std::borrow::Cow;

/// Escapes control characters and characters that change the direction of text, e.g. as `\n` or `\u{1b}`.
///
/// Backslashes are not escaped, because the result is meant for people. Use JSON for programs.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_hidden(letter) { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    Cow::Owned(shown)
}

/// Returns whether a character is invisible but affects how text is displayed.
pub(crate) fn is_hidden(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns `text` as a CSV cell, escaped as by [`shown`]. If a spreadsheet would interpret `text` as a
/// formula, the cell is prefixed with `'`. This is the case if `text` begins with one of `= + - @` (also in
/// their full-width forms), a tab or a carriage return, and is not a number. The cell is not quoted yet.
/// Source: OWASP, *CSV Injection*.
pub fn cell_of_text(text: &str) -> Cow<'_, str> {
    let begins_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    if begins_formula && !is_number(text) { Cow::Owned(format!("'{}", shown(text))) } else { shown(text) }
}

/// Returns whether `text` is a decimal number, which no spreadsheet interprets as a formula.
fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok() && text.bytes().all(|byte| b"0123456789+-.eE".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_shown_by_its_code() {
        for (text, expected) in [
            ("age", "age"),
            ("naïve 😀 C:\\new", "naïve 😀 C:\\new"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{9b}31m\u{7f}\0", "\\u{9b}31m\\u{7f}\\u{0}"),
            ("abc\u{202e}fed\u{2066}", "abc\\u{202e}fed\\u{2066}"),
        ] {
            assert_eq!(shown(text), expected);
            assert_eq!(shown(&shown(text)), expected, "escaping is idempotent");
        }
    }

    #[test]
    fn text_is_no_formula_and_numbers_stay_numbers() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-2+3", "'-2+3"),
            ("\t=1", "'\\t=1"),
            ("\r=1", "'\\r=1"),
            ("＝1", "'＝1"),
            ("-5", "-5"),
            ("+1.5e-3", "+1.5e-3"),
            ("-inf", "'-inf"),
            ("a=b", "a=b"),
            ("a\nb", "a\\nb"),
            ("-", "'-"),
            ("", ""),
        ] {
            assert_eq!(cell_of_text(text), expected);
        }
    }
}
