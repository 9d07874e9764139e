//! Detection of numbers with thousands separators, for error messages. Such numbers are errors, because a
//! separator may also be a decimal mark.

/// The thousands separators in use.
const MARKS: [char; 8] = [',', '.', '\'', '’', '_', ' ', '\u{a0}', '\u{202f}'];

/// Removes the thousands separators from a number. The result has a decimal comma if `decimal_comma` is set.
/// Returns `None` for any other text.
///
/// Groups have three digits. With commas, groups before the last group may have two digits, as in India.
pub(crate) fn without_marks(text: &str, decimal_comma: bool) -> Option<String> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = &text[..text.len() - unsigned.len()];
    let is_no_digit = |letter: char| !letter.is_ascii_digit();
    let mark = unsigned.chars().find(|&letter| is_no_digit(letter)).filter(|mark| MARKS.contains(mark))?;
    let whole_ends = unsigned.find(|letter| is_no_digit(letter) && letter != mark).unwrap_or(unsigned.len());
    let (whole, fraction) = unsigned.split_at(whole_ends);
    let (before_last, last) = whole.rsplit_once(mark)?;
    let mut groups = before_last.split(mark);
    let is_grouped =
        groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && !first.starts_with('0'))
            && groups.all(|group| group.len() == 3 || (group.len() == 2 && mark == ','))
            && last.len() == 3;
    if !is_grouped {
        return None;
    }
    let digits = whole.replace(mark, "");
    let Some(decimals) = fraction.strip_prefix(['.', ',']) else {
        return fraction.is_empty().then(|| format!("{sign}{digits}"));
    };
    let is_number = format!("{digits}.{decimals}").parse::<f64>().is_ok();
    let decimal_mark = if decimal_comma { ',' } else { '.' };
    is_number.then(|| format!("{sign}{digits}{decimal_mark}{decimals}"))
}

#[cfg(test)]
mod tests {
    use super::without_marks;

    #[test]
    fn marks_between_thousands_are_left_out() {
        for (text, plain) in [
            ("1,234", "1234"),
            ("-1,234.5", "-1234.5"),
            ("+12,345,678.", "+12345678."),
            ("1.234,5", "1234.5"),
            ("1.234.567", "1234567"),
            ("12,34,567.25e-2", "1234567.25e-2"),
            ("1 234,5", "1234.5"),
            ("1\u{a0}234\u{202f}567", ""),
            ("1\u{202f}234\u{202f}567", "1234567"),
            ("123'456.78", "123456.78"),
            ("1’000", "1000"),
            ("1_000_000", "1000000"),
        ] {
            let options = (!plain.is_empty()).then(|| plain.to_owned());
            assert_eq!(without_marks(text, false), options, "{text}");
            assert_eq!(without_marks(text, true), options.map(|plain| plain.replace('.', ",")), "{text}");
        }
    }

    #[test]
    fn nothing_else_is_such_a_number() {
        for text in [
            "",
            "-",
            ",",
            "1",
            "1.5",
            "1,23",
            "1,2345",
            "1,234,",
            ",234",
            "1234,567",
            "1,,234",
            "1,234,5",
            "1,234x",
            "1,234.5x",
            "1,234.-5",
            "1,234.5.6",
            "1-234",
            "--1,234",
            "1,234e3",
            "a,234",
            "12,3,456",
            "0,123",
            "00,123",
            "2024-01-31",
            "12:30:000",
            "10.12.345",
            "é,234",
        ] {
            assert_eq!(without_marks(text, false), None, "{text}");
        }
    }
}
