//! Width of text without a font, so that the layout of figures is the same on all systems.

/// Widths of ASCII characters, starting with the space, in hundredths of the font size. They are the widths
/// in DejaVu Sans, which is wider than most fonts that a system may substitute, so that text fits with all of
/// them.
const WIDTHS: [u8; 95] = [
    32, 40, 46, 84, 64, 95, 78, 28, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 78, 75, 30, 30, 66, 56, 86, 75, 79, 60, 79, 70, 64,
    61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 64, 55, 64, 62, 35, 64, 63, 28, 28, 58, 28, 97,
    63, 61, 64, 64, 41, 52, 39, 63, 59, 82, 59, 59, 53, 64, 34, 64, 84,
];

/// Returns the approximate width of text in pixels at this font size. It is usually an overestimate.
///
/// ```
/// assert!(apportion_plots::width_of("iii", 13.0) < apportion_plots::width_of("mmm", 13.0));
/// ```
pub fn width_of(text: &str, size: f64) -> f64 {
    let hundredths: u32 = text.chars().map(width_of_letter).sum();
    f64::from(hundredths) / 100.0 * size
}

fn width_of_letter(letter: char) -> u32 {
    match u32::from(letter) {
        code @ 0x20..0x7f => u32::from(WIDTHS[(code - 0x20) as usize]),
        0x2212 => 84,
        // Combining marks and joiners.
        0x300..0x370 | 0x200b..0x2010 | 0xfe00..0xfe10 => 0,
        // Chinese, Japanese and Korean characters, full-width forms, emoji.
        0x1100..0x1160
        | 0x2e80..0xa4d0
        | 0xac00..0xd7b0
        | 0xf900..0xfb00
        | 0xfe30..0xfe70
        | 0xff00..0xff61
        | 0x1f000..0x40000 => 110,
        _ => 72,
    }
}

/// Returns the text, or its start and its end around `…` if it is wider than `room`. A number in the text is
/// either complete or omitted, because a part of it could be misread.
///
/// ```
/// let name = "the_name_of_a_column_that_is_long";
/// assert_eq!(apportion_plots::shortened(name, 120.0, 13.0), "the_nam…is_long");
/// assert_eq!(apportion_plots::shortened("short", 120.0, 13.0), "short");
/// assert_eq!(apportion_plots::shortened("prediction −1.2345e−299", 120.0, 13.0), "predict…");
/// ```
pub fn shortened(text: &str, room: f64, size: f64) -> String {
    if width_of(text, size) <= room {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().take(1000).collect();
    let last: Vec<char> = text.chars().rev().take(1000).collect();
    let (mut left, mut start, mut end) = (room - size, 0, 0);
    // Take letters from both ends alternately until the space is used.
    while start + end + 1 < letters.len() {
        let next = if start <= end { letters[start] } else { last[end] };
        left -= f64::from(width_of_letter(next)) / 100.0 * size;
        if left < 0.0 {
            break;
        }
        if start <= end { start += 1 } else { end += 1 }
    }
    let start = before_number(&letters, start, |word| is_number(word.iter().collect()));
    let end = before_number(&last, end, |word| is_number(word.iter().rev().collect()));
    let beginning = letters[..start].iter();
    beginning.chain(&['…']).chain(last[..end].iter().rev()).collect()
}

/// Returns the number of letters to keep of the first `kept`. If they end within a number, that number is
/// omitted.
fn before_number(letters: &[char], kept: usize, is_number: impl Fn(&[char]) -> bool) -> usize {
    let is_space = |letter: &char| letter.is_whitespace();
    let from = letters[..kept].iter().rposition(is_space).map_or(0, |at| at + 1);
    let to = letters[kept..].iter().position(is_space).map_or(letters.len(), |at| kept + at);
    if from < kept && is_number(&letters[from..to]) { from } else { kept }
}

/// Returns whether a word is a number as formatted in figures.
fn is_number(word: String) -> bool {
    let word = word.trim_start_matches('(').trim_end_matches([',', '.', ':', ';', ')']).replace('−', "-");
    word.contains(|letter: char| letter.is_ascii_digit()) && word.parse::<f64>().is_ok()
}

/// Breaks text into lines of width `room`. Wider words are shortened.
///
/// ```
/// assert_eq!(apportion_plots::wrapped("one two three", 60.0, 13.0), ["one two", "three"]);
/// ```
pub fn wrapped(text: &str, room: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let word = shortened(word, room, size);
        match lines.last_mut() {
            Some(line) if width_of(line, size) + width_of(&word, size) + 0.32 * size <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_or_left_out() {
        for (text, room, expected) in [
            ("+1e−299", 40.0, "…"),
            ("above −1.2345e−299", 100.0, "above …"),
            ("age at the time >= 40", 100.0, "age at …e >= 40"),
            ("12345678 is what comes first", 100.0, "…s first"),
            // A long word that is not a number is shortened in the middle.
            ("feature_12345678901234567890", 100.0, "feature…567890"),
        ] {
            assert_eq!(shortened(text, room, 11.0), expected);
        }
    }
}
