//! Descriptions of cells that are not numbers, with advice on how to keep their information.

use crate::nearest::shown;
use crate::number::number;
use crate::thousands::without_marks;

/// Common markers of missing values, in lower case, that are not read as missing by default. They may have
/// another meaning, so the user decides.
const LIKELY_MISSING: [&str; 24] = [
    "-",
    "--",
    "---",
    ".",
    "..",
    "...",
    "*",
    "missing",
    "unknown",
    "n.a.",
    "na.",
    "n.d.",
    "nil",
    "none",
    "undefined",
    "(null)",
    "(blank)",
    "blank",
    "\\n",
    "#value!",
    "#ref!",
    "#div/0!",
    "#num!",
    "#name?",
];

/// Currency signs and codes.
const CURRENCIES: [&str; 14] =
    ["$", "€", "£", "¥", "₹", "₽", "₩", "US$", "USD", "EUR", "GBP", "CHF", "JPY", "CNY"];

/// Pairs of words with the meaning true and false, in lower case.
const YES_AND_NO: [[&str; 2]; 5] = [["yes", "no"], ["y", "n"], ["t", "f"], ["on", "off"], ["ja", "nein"]];

/// Returns whether a string is a common marker of missing values.
pub(crate) fn may_be_missing(text: &str) -> bool {
    LIKELY_MISSING.contains(&text.to_lowercase().as_str())
}

/// Returns the advice to declare a cell as missing, if it looks like a missing value. For any other cell,
/// returns an empty string, because this advice would lose the information in the cell.
pub(crate) fn mark_as_missing(text: &str) -> String {
    if may_be_missing(text) {
        format!(" (if it is a missing value, pass --missing {})", shown(text))
    } else {
        String::new()
    }
}

/// Describes a string that is not a number, and how to write it instead. `is_of_a_model` states whether the
/// cell is an input of a model.
pub(crate) fn describe(text: &str, decimal_comma: bool, is_of_a_model: bool) -> String {
    let given = shown(text);
    let trained = if is_of_a_model { ", as in training" } else { "" };
    if let Some(infinite) = infinite(text) {
        return format!("{given} is not a supported spelling of infinity; write {infinite}");
    }
    if let Some(plain) = without_marks(text, decimal_comma) {
        let plain = shown(&plain);
        return format!("{given} contains thousands separators; write {plain}");
    }
    if let Some([percent, share]) = percentage(text, decimal_comma) {
        return format!("{given} is a percentage; write {percent} or {share}{trained}");
    }
    if let Some(amount) = amount(text, decimal_comma) {
        return format!("{given} is an amount of money; write {amount}");
    }
    if is_date(text) {
        let how = if is_of_a_model {
            "write the number that the model was trained on, e.g. the days since a fixed date"
        } else {
            "write a number, e.g. the days since a fixed date"
        };
        return format!("{given} is a date or time; {how}");
    }
    if let Some((plain, unit)) = with_unit(text, decimal_comma) {
        return format!("{given} contains the unit {}; write {plain}", shown(unit));
    }
    let known = if is_of_a_model { ", and the model has no categories for this column" } else { "" };
    let lower = text.to_lowercase();
    let encode = match YES_AND_NO.iter().find(|pair| pair.contains(&lower.as_str())) {
        Some([yes, no]) => {
            format!("encode it as a number{trained}, e.g. 1 for {yes:?} and 0 for {no:?}")
        }
        None => format!("encode it as a number{trained}"),
    };
    let explain =
        if is_of_a_model { ", or use --predict to explain the program that encodes it" } else { "" };
    format!("{given} is not numeric{known}; {encode}{explain}{}", mark_as_missing(text))
}

/// Returns the supported spelling of infinity for a string that spells it differently.
fn infinite(text: &str) -> Option<&'static str> {
    match text {
        "∞" | "+∞" | "1.#INF" | "+1.#INF" => Some("inf"),
        "-∞" | "−∞" | "-1.#INF" => Some("-inf"),
        _ => None,
    }
}

/// Returns a finite number as text, without thousands separators.
fn plain(text: &str, decimal_comma: bool) -> Option<String> {
    let text = text.trim();
    match number(text, decimal_comma) {
        Some(value) if value.is_finite() => Some(text.to_owned()),
        _ => without_marks(text, decimal_comma),
    }
}

/// Returns the number before a percent sign, and the same number divided by 100.
fn percentage(text: &str, decimal_comma: bool) -> Option<[String; 2]> {
    let percent = plain(text.strip_suffix('%')?, decimal_comma)?;
    // Shift the decimal point, because a division would round.
    let share: f64 = format!("{}e-2", percent.replacen(',', ".", 1)).parse().ok()?;
    let share = share.to_string();
    Some([percent, if decimal_comma { share.replacen('.', ",", 1) } else { share }])
}

/// Returns the number in an amount of money.
fn amount(text: &str, decimal_comma: bool) -> Option<String> {
    let (sign, unsigned) = match text.strip_prefix(['-', '−']) {
        Some(rest) => ("-", rest.trim_start()),
        None => ("", text),
    };
    let bare = |currency: &&str| unsigned.strip_prefix(currency).or_else(|| unsigned.strip_suffix(currency));
    let number = CURRENCIES.iter().find_map(|currency| plain(bare(currency)?, decimal_comma))?;
    Some(format!("{sign}{number}"))
}

/// Splits a number from the unit that follows it.
fn with_unit(text: &str, decimal_comma: bool) -> Option<(String, &str)> {
    let is_of_unit =
        |letter: char| letter.is_alphabetic() || matches!(letter, '°' | '/' | '²' | '³' | '"' | '\'');
    let begins = text
        .rfind(|letter: char| !is_of_unit(letter))
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    let (number, unit) = text.split_at(begins);
    (!unit.is_empty()).then_some(()).and(plain(number, decimal_comma)).map(|number| (number, unit))
}

/// Returns whether a string has the form of a date, a time, or both: three groups of digits, or a time of
/// day.
fn is_date(text: &str) -> bool {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let groups = |text: &str, marks: &[char]| -> Option<usize> {
        let mark =
            text.chars().find(|letter| !letter.is_ascii_digit()).filter(|mark| marks.contains(mark))?;
        let parts: Vec<&str> = text.split(mark).collect();
        let are_digits = parts
            .iter()
            .all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()));
        are_digits.then_some(parts.len())
    };
    let is_time = |text: &str| {
        let text = text.split(['.', '+', 'Z', '-', ' ']).next().unwrap_or_default();
        matches!(groups(text, &[':']), Some(2 | 3))
    };
    let is_day = |text: &str| groups(text, &['-', '/', '.']) == Some(3);
    match time {
        "" => is_day(date) || is_time(date),
        time => is_day(date) && is_time(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cell_says_is_kept() {
        for (cell, says) in [
            ("71.2%", "a percentage; write 71.2 or 0.712, as in training"),
            ("5 %", "a percentage; write 5 or 0.05"),
            ("-0.5%", "write -0.5 or -0.005"),
            ("1,234%", "write 1234 or 12.34"),
            ("$5", "an amount of money; write 5"),
            ("-$1,234.50", "write -1234.50"),
            ("12 €", "write 12"),
            ("USD 7.5", "write 7.5"),
            ("1 234", "thousands separators; write \"1234\""),
            ("12cm", "contains the unit \"cm\"; write 12"),
            ("36.6 °C", "contains the unit \"°C\"; write 36.6"),
            ("2024-01-31", "a date or time; write the number that the model was trained on"),
            ("31.1.2024", "a date or time"),
            ("1/31/24 12:30", "a date or time"),
            ("2024-01-31T12:30:00.5Z", "a date or time"),
            ("12:30", "a date or time"),
            ("∞", "spelling of infinity; write inf"),
            ("-1.#INF", "spelling of infinity; write -inf"),
            ("yes", "is not numeric, and the model has no categories for this column; encode it as a number"),
            ("No", "e.g. 1 for \"yes\" and 0 for \"no\""),
            ("tall", "; encode it as a number, as in training, or use --predict to explain the program"),
            ("Unknown", "(if it is a missing value, pass --missing \"Unknown\")"),
            ("-", "pass --missing \"-\""),
            ("#DIV/0!", "pass --missing"),
        ] {
            let said = describe(cell, false, true);
            assert!(said.starts_with(&format!("{cell:?} ")) && said.contains(says), "{cell}: {said}");
            let is_marker = ["Unknown", "-", "#DIV/0!"].contains(&cell);
            assert_eq!(said.contains("--missing"), is_marker, "{said}");
            assert!(!said.contains("empty") && !said.contains("--ignore"), "{said}");
        }
        assert!(describe("71,2 %", true, false).ends_with("write 71,2 or 0,712"));
        assert!(!describe("tall", false, false).contains("the model"));
        for cell in ["10.12", "a-b-c", "1-2", "12-", "v1.2", "%", "$", "cm"] {
            let said = describe(cell, false, true);
            assert!(said.contains("is not numeric"), "{said}");
        }
    }
}
