//! Comment lines above the header, which begin with `#`.

use super::lines::split_header;
use super::separator;
use crate::error::Result;
use crate::number::number;
use crate::row_options::RowOptions;

/// The size of the comments above the header, in bytes and in lines.
pub(super) struct Comments {
    pub(super) bytes: usize,
    pub(super) lines: usize,
}

/// Finds the comments at the start of a text.
///
/// Comments are the lines before the first one that does not begin with `#`. The last of them may be the
/// header, as in `#id,age`. It is the header if it has the same number of fields as the line below, unless
/// the names or strings in the line below show that the line below is the header.
pub(super) fn find(text: &[u8], options: &RowOptions<'_>) -> Result<Comments> {
    let mut lines = vec![0];
    let mut rest = text;
    while rest.first() == Some(&b'#') {
        let Some(end) = rest.iter().position(|&byte| byte == b'\n') else { break };
        rest = &rest[end + 1..];
        lines.push(text.len() - rest.len());
    }
    let block = lines.len() - 1;
    let comments = |lines_before: usize| Comments { bytes: lines[lines_before], lines: lines_before };
    if block == 0 || rest.is_empty() {
        return Ok(comments(0));
    }
    let last = &text[lines[block - 1]..];
    // If the lines below do not determine the delimiter, the last comment line may be the header, which
    // determines it.
    let Ok(separator) = separator::find(rest, options) else { return Ok(comments(block - 1)) };
    let cells = |text: &[u8]| separator::cells(split_header(text, separator).0, separator);
    let (marked, below) = (cells(last), cells(rest));
    if marked.len() != below.len() {
        return Ok(comments(block));
    }
    let known = |cells: &[String]| separator::known_cells(cells, options);
    let is_number = |cell: &String| number(cell, options.decimal_comma).is_some();
    let is_header = match known(&below).cmp(&known(&marked)) {
        std::cmp::Ordering::Greater => false,
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Equal => {
            let second = cells(split_header(rest, separator).1);
            below.iter().any(is_number) || !second.iter().any(is_number)
        }
    };
    Ok(comments(if is_header { block - 1 } else { block }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_end_where_the_header_begins() {
        for (text, lines) in [
            ("a,b\n1,2\n", 0),
            ("# exported 2026-01-01\na,b\n1,2\n", 1),
            ("# exported 2026-01-01\r\n# by Ann\r\na;b\r\n1;2\r\n", 2),
            ("#id,age\n1,2\n3,4\n", 0),
            ("# exported\n#id,age\n1,2\n", 1),
            ("# one, two\na,b\n1,2\n", 1),
            ("# \"an open quote\na,b\n1,2\n", 1),
            ("#\n#\n#\na\n1\n", 3),
            ("#a\n1\n2\n", 0),
            ("# a comment\na\n1\n", 1),
            ("# a, b and c\na\tb\n1\t2\n", 1),
            ("#id,city\nx,Rome\ny,Oslo\n", 0),
            ("# nothing else\n", 0),
            ("#a,b", 0),
        ] {
            let found = find(text.as_bytes(), &RowOptions::default()).unwrap();
            assert_eq!(found.lines, lines, "{text:?}");
            assert_eq!(text[..found.bytes].matches('\n').count(), lines, "{text:?}");
        }
        // The expected names take precedence.
        let names = ["city", "land"].map(str::to_owned);
        let options = RowOptions { names: Some(&names), ..RowOptions::default() };
        assert_eq!(find(b"#x,y\ncity,land\nRome,Italy\n", &options).unwrap().lines, 1);
        let names = ["#x", "y"].map(str::to_owned);
        let options = RowOptions { names: Some(&names), ..RowOptions::default() };
        assert_eq!(find(b"#x,y\ncity,land\n1,2\n", &options).unwrap().lines, 0);
    }
}
