//! Mutations of text tables that replace one cell with another, so that the text mostly remains a table.

/// Special cells: extreme numbers, missing values, booleans, categories, quotes, delimiters and line ends.
const CELLS: [&str; 40] = [
    "0",
    "1",
    "-1",
    "2.5",
    "-999",
    "-999.0",
    "1e308",
    "1e999",
    "-inf",
    "NaN",
    "nan",
    "NA",
    "",
    "?",
    "None",
    "null",
    "True",
    "false",
    "unknown",
    "green",
    "blue",
    "7",
    "1,5",
    "\"1,5\"",
    "\"a\"\"b\"",
    "\"x\ny\"",
    "\"",
    "a",
    "b",
    "c",
    "a b",
    "w",
    "target",
    "f0",
    "f1",
    "\u{feff}",
    "\u{a0}1",
    "\r\n",
    "\n\n",
    ";",
];

/// Replaces one of the cells for odd seeds; otherwise calls the mutator of libFuzzer.
pub fn mutate(text: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let random = seed as usize;
    if random.is_multiple_of(2) || size == 0 {
        return libfuzzer_sys::fuzzer_mutate(text, size, most);
    }
    let is_between = |byte: &u8| matches!(byte, b',' | b';' | b'\t' | b'|' | b'\n' | b'\r');
    let from = (random / 2).wrapping_mul(0x9e37_79b1) % size;
    let start = text[..from].iter().rposition(is_between).map_or(0, |place| place + 1);
    let end = text[start..size].iter().position(is_between).map_or(size, |length| start + length);
    let cell = CELLS[(random / 2).wrapping_mul(0x85eb_ca6b) / 7 % CELLS.len()].as_bytes();
    let changed = size - (end - start) + cell.len();
    if changed > most {
        return size;
    }
    text.copy_within(end..size, start + cell.len());
    text[start..start + cell.len()].copy_from_slice(cell);
    changed
}
