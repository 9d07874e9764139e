//! Byte matrices in NumPy's file format, which contain images with their classes.

use anyhow::{Context, Result, ensure};

/// Returns the rows of bytes in `file`, each with `columns` bytes.
///
/// The format: 6 magic bytes, 2 bytes for the version, the length of the header, and the header, a Python
/// dict of the element type, the memory order and the shape; then the elements.
///
/// # Errors
///
/// If the file has another format, contains elements other than bytes, is in column-major order, has an
/// unexpected number of axes or columns, or is truncated.
pub(crate) fn byte_matrix(file: &[u8], columns: usize) -> Result<Vec<&[u8]>> {
    let body = file.strip_prefix(b"\x93NUMPY\x01\x00").context("not a file in NumPy format 1.0")?;
    let (length, rest) = body.split_at_checked(2).context("the header is truncated")?;
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    let (header, elements) = rest.split_at_checked(length).context("the header is truncated")?;
    let header = std::str::from_utf8(header).context("the header is not text")?;
    ensure!(
        header.contains("'descr': '|u1'") && header.contains("'fortran_order': False"),
        "expected bytes in row-major order, found {}",
        header.trim_end()
    );
    let shape = header.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')'));
    let (shape, _) = shape.context("the header does not contain a shape")?;
    let shape: Vec<usize> = (shape.split(',').map(str::trim).filter(|part| !part.is_empty()))
        .map(|part| part.parse().with_context(|| format!("invalid length of an axis {part:?}")))
        .collect::<Result<_>>()?;
    let &[rows, width] = &shape[..] else {
        anyhow::bail!("expected a 2-D array, got a {}-D array", shape.len())
    };
    ensure!(width == columns, "wrong number of columns in a row: {width}, expected {columns}");
    ensure!(
        rows.checked_mul(width) == Some(elements.len()),
        "found {} elements, expected {rows} × {width}",
        elements.len()
    );
    Ok(elements.chunks_exact(columns).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, elements: &[u8]) -> Vec<u8> {
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
    }

    const HEADER: &str = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }  \n";

    #[test]
    fn rows_come_one_after_the_other() {
        let file = file(HEADER, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(byte_matrix(&file, 3).unwrap(), [[1, 2, 3], [4, 5, 6]]);
    }

    #[test]
    fn other_files_are_refused() {
        let error = |file: &[u8]| format!("{:#}", byte_matrix(file, 3).unwrap_err());
        let six = [0; 6];
        assert!(error(b"a,b,c\n").contains("not a file in NumPy format"));
        assert!(error(&file(HEADER, &six)[..20]).contains("header is truncated"));
        assert!(error(&file(HEADER, &six[..5])).contains("5 elements, expected 2 × 3"));
        assert!(
            error(&file(&HEADER.replace("|u1", "<f8"), &six)).contains("expected bytes in row-major order")
        );
        assert!(
            error(&file(&HEADER.replace("False", "True"), &six))
                .contains("expected bytes in row-major order")
        );
        assert!(error(&file(&HEADER.replace("(2, 3)", "(2,)"), &six)).contains("got a 1-D array"));
        assert!(
            error(&file(&HEADER.replace("(2, 3)", "(2, x)"), &six)).contains("invalid length of an axis")
        );
        assert!(
            error(&file(&HEADER.replace("(2, 3)", "(3, 2)"), &six))
                .contains("columns in a row: 2, expected 3")
        );
        assert!(error(&file(&HEADER.replace("shape", "form"), &six)).contains("does not contain a shape"));
    }
}
