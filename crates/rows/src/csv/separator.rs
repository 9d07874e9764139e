//! Detection of the delimiter from the first line and, if that is ambiguous, from the lines below it.

use std::collections::HashSet;

use super::lines::{line_ends, split_header};
use crate::choice::lightgbm_name;
use crate::error::{Result, RowsError};
use crate::row_options::RowOptions;

/// The possible delimiters with their names.
const CANDIDATES: [(u8, &str); 4] = [(b',', "comma"), (b';', "semicolon"), (b'\t', "tab"), (b'|', "pipe")];
/// Maximum number of lines that are compared, and maximum number of bytes in these lines.
const LINES: usize = 50;
const BYTES: usize = 1 << 16;

/// Returns the delimiter of a text that starts with `beginning`:
///
/// 1. the delimiter specified by the user;
/// 2. otherwise the delimiter that splits the first line into the most fields with expected names;
/// 3. otherwise the only delimiter that splits the first line, or a comma if none does;
/// 4. otherwise the only delimiter that splits the first lines into the same number of fields each.
pub(super) fn find(beginning: &[u8], options: &RowOptions<'_>) -> Result<u8> {
    if let Some(given) = options.separator {
        return Ok(given);
    }
    let cut = |separator: u8| cells(split_header(beginning, separator).0, separator);
    let headers = CANDIDATES.map(|(separator, _)| (separator, cut(separator)));
    let of_known = |(separator, header): &(u8, Vec<String>)| (known_cells(header, options), *separator);
    let known: Vec<(usize, u8)> = headers.iter().map(of_known).collect();
    let most = known.iter().map(|&(count, _)| count).max().unwrap_or(0);
    let cuts = |separator: u8| headers.iter().any(|(other, header)| *other == separator && header.len() > 1);
    let best: Vec<u8> =
        known.iter().filter(|&&(count, _)| count == most).map(|&(_, separator)| separator).collect();
    let cutting: Vec<u8> = best.iter().copied().filter(|&separator| cuts(separator)).collect();
    match (&best[..], &cutting[..]) {
        (&[only], _) if most > 0 => return Ok(only),
        (_, &[]) => return Ok(b','),
        (_, &[only]) => return Ok(only),
        _ => {}
    }
    let even: Vec<u8> = cutting.iter().copied().filter(|&separator| is_even(beginning, separator)).collect();
    match even[..] {
        [only] => Ok(only),
        _ => {
            let possible = if even.is_empty() { cutting } else { even };
            let named = |(separator, _): &&(u8, &str)| possible.contains(separator);
            let names: Vec<&str> = CANDIDATES.iter().filter(named).map(|&(_, name)| name).collect();
            let header = String::from_utf8_lossy(split_header(beginning, b'\n').0);
            Err(RowsError::Separator {
                header: header.trim().chars().take(60).collect(),
                candidates: names.join(" or "),
            })
        }
    }
}

/// Returns the number of header fields that are names of features or of other specified columns.
pub(super) fn known_cells(header: &[String], options: &RowOptions<'_>) -> usize {
    let names =
        options.names.unwrap_or_default().iter().map(String::as_str).chain(options.ignored.iter().copied());
    let names: HashSet<&str> = names.chain(options.target).chain(options.id).chain(options.weight).collect();
    let is_known = |cell: &&String| {
        names.contains(cell.as_str())
            || (options.names_are_rewritten && names.contains(lightgbm_name(cell).as_str()))
    };
    header.iter().filter(is_known).count()
}

/// Returns whether the first lines all have the same number of fields.
fn is_even(text: &[u8], separator: u8) -> bool {
    let text = &text[..text.len().min(BYTES)];
    let mut start = 0;
    // The last line of the prefix may be truncated.
    let lines = line_ends(text, separator).take(LINES).map(|end| {
        let line = &text[start..end];
        start = end;
        line
    });
    let mut counts = lines
        .filter(|line| line.iter().any(|byte| !matches!(byte, b'\r' | b'\n')))
        .map(|line| cells(line, separator).len());
    match counts.next() {
        Some(first) => counts.all(|count| count == first),
        None => true,
    }
}

/// Returns the fields of a line; empty if it is not UTF-8.
pub(super) fn cells(line: &[u8], separator: u8) -> Vec<String> {
    let line = line.strip_prefix(super::lines::BYTE_ORDER_MARK).unwrap_or(line);
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).delimiter(separator).from_reader(line);
    let mut record = ::csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) => record.iter().map(|cell| cell.trim().to_owned()).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(text: &str, names: &[&str]) -> Result<u8> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let names = (!names.is_empty()).then_some(names.as_slice());
        find(text.as_bytes(), &RowOptions { names, ..RowOptions::default() })
    }

    #[test]
    fn the_header_tells_the_separator() {
        for (text, options) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("a\tb,c\n1\t2\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("\u{feff}\"x;y\",z\n1,2\n", b','),
            ("a\n1\n", b','),
            ("", b','),
            // Both delimiters split the header, but only one splits the rows.
            ("income; k$,age\n1,2\n3,4\n", b','),
            ("a,1;b\n\"x\n,\";2\n", b';'),
        ] {
            assert_eq!(detect(text, &[]).unwrap(), options, "{text:?}");
        }
    }

    #[test]
    fn the_names_that_are_wanted_decide_best() {
        let text = "age,years;income,k$\n1;2\n";
        assert_eq!(detect(text, &["age,years", "income,k$"]).unwrap(), b';');
        assert_eq!(detect(text, &["age", "years;income", "k$"]).unwrap(), b',');
        let target = RowOptions { target: Some("years;income"), ..RowOptions::default() };
        assert_eq!(find(text.as_bytes(), &target).unwrap(), b',');
        assert_eq!(detect("a b;c\td\n1;2\t3\n", &["a b"]).unwrap(), b';');
    }

    #[test]
    fn what_cannot_be_told_is_refused_unless_it_is_given() {
        let text = "a,b;c\n1,2;3\n4,5;6\n";
        let message = detect(text, &[]).unwrap_err().to_string();
        assert!(message.contains("comma or semicolon") && message.contains("--separator"), "{message}");
        let given = RowOptions { separator: Some(b';'), ..RowOptions::default() };
        assert_eq!(find(text.as_bytes(), &given).unwrap(), b';');
    }
}
