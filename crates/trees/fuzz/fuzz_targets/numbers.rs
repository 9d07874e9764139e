//! Mutations of texts that are mostly numbers: one number takes the place of another, so that the text stays one of its format.

/// Numbers at the ends of what formats hold, and small ones that are nodes, features and categories elsewhere.
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

/// Every other time what libFuzzer does, else another number for one of the numbers in the text.
pub fn mutate(text: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let random = seed as usize;
    let numbers = find(&text[..size]);
    if random.is_multiple_of(2) || numbers.is_empty() {
        return libfuzzer_sys::fuzzer_mutate(text, size, most);
    }
    let (start, end) = numbers[random / 2 % numbers.len()];
    let choice = (random / 2).wrapping_mul(0x9e37_79b1) >> 7;
    let number = if choice.is_multiple_of(3) {
        let (start, end) = numbers[choice / 3 % numbers.len()];
        text[start..end].to_vec()
    } else {
        NUMBERS[choice / 3 % NUMBERS.len()].as_bytes().to_vec()
    };
    let changed = size - (end - start) + number.len();
    if changed > most {
        return size;
    }
    text.copy_within(end..size, start + number.len());
    text[start..start + number.len()].copy_from_slice(&number);
    changed
}

/// Where numbers begin and end.
fn find(text: &[u8]) -> Vec<(usize, usize)> {
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
            numbers.push((at, at + length));
        }
        at += length.max(1);
    }
    numbers
}
