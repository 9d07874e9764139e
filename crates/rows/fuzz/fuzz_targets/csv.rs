//! Fuzzes CSV files with a header.

#![no_main]

mod cells;
mod check;

use apportion_rows::Table;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(table) = check::check(bytes, false)
        && let Some(names) = check::writable(&table)
    {
        for (separator, ends) in [(",", "\n"), (";", "\r\n"), ("\t", "\n")] {
            check::reads_back(&table, written(&table, &names, separator, ends).as_bytes());
        }
    }
});

libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    cells::mutate(bytes, size, most, seed)
});

/// Returns the table as text, with the names in quotes.
fn written(table: &Table, names: &[String], separator: &str, ends: &str) -> String {
    let mut text = "who wrote".to_owned();
    for name in names {
        text.push_str(&format!("{separator}\"{}\"", name.replace('"', "\"\"")));
    }
    text.push_str(ends);
    for row in 0..table.len() {
        text.push_str("we");
        for value in table.row(row) {
            text.push_str(separator);
            if !value.is_nan() {
                text.push_str(&format!("{value:?}"));
            }
        }
        text.push_str(ends);
    }
    text
}
