//! Mutations of text that consists mostly of numbers: one number is replaced with another, so that the text
//! stays valid.

use std::ops::Range;

use super::{scatter, with};

/// Numbers at the limits of the formats, and small numbers that occur elsewhere as nodes, features and
/// categories.
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "-1",
    "-2",
    "0.5",
    "1e-310",
    "5e-324",
    "-0.0",
    "1e300",
    "1e308",
    "-1e308",
    "3.5e38",
    "-3.5e38",
    "NaN",
    "Infinity",
    "-Infinity",
    "16777215",
    "65536",
    "2147483648",
    "4294967295",
    "9007199254740993",
];

/// Returns the text with one of its numbers replaced; `None` if there is no number.
pub fn replace(text: &[u8], random: usize) -> Option<Vec<u8>> {
    let numbers = find(text);
    let place = numbers.get(random.checked_rem(numbers.len())?)?.clone();
    let choice = scatter(random);
    let number = if choice.is_multiple_of(3) {
        &text[numbers[choice / 3 % numbers.len()].clone()]
    } else {
        NUMBERS[choice / 3 % NUMBERS.len()].as_bytes()
    };
    Some(with(text, place, number))
}

/// Returns the range of each number.
fn find(text: &[u8]) -> Vec<Range<usize>> {
    let inside = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].iter().take_while(|byte| inside(byte)).count();
        if length > 0
            && text[at..at + length].iter().any(u8::is_ascii_digit)
            && text[at] != b'e'
            && text[at] != b'E'
        {
            numbers.push(at..at + length);
        }
        at += length.max(1);
    }
    numbers
}
