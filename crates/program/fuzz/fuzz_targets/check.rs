//! Checks shared by the fuzz targets of answers.

use std::io::{Seek, Write};
use std::os::fd::OwnedFd;
use std::process::ChildStdout;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::answers::{Answer, End, read};
use crate::options::Format;

/// Maximum number of rows of a batch.
const MAX_BATCH_ROWS: usize = 3;
/// Maximum number of answers that are accepted.
const WANTED: usize = 100;

/// Checks that reading never panics, and that every answer consists of rows of equal width. A text answer
/// must not have more rows than a batch.
pub fn check(format: Format, bytes: &[u8]) {
    let mut answers = Vec::new();
    let came = AtomicUsize::new(0);
    let end = read(format, pipe(bytes), MAX_BATCH_ROWS, &came, &mut |answer: Answer| {
        answers.push(answer);
        answers.len() < WANTED
    });
    assert!(answers.len() <= WANTED, "more answers than were accepted");
    let mut width = None;
    for answer in &answers {
        if answer.rows == 0 {
            assert!(answer.values.is_empty(), "an answer without rows has values");
            continue;
        }
        assert!(format != Format::Csv || answer.rows <= MAX_BATCH_ROWS, "more rows than a batch has");
        assert!(answer.values.len().is_multiple_of(answer.rows), "rows of several widths");
        let given = answer.values.len() / answer.rows;
        assert_eq!(*width.get_or_insert(given), given, "answers of several widths");
    }
    if let End::Fault(error) = &end {
        assert!(!error.to_string().is_empty());
    }
    assert!(!matches!(end, End::TooMany) || came.load(Ordering::Relaxed) == MAX_BATCH_ROWS);
}

/// Makes a file look like the output of a process.
fn pipe(bytes: &[u8]) -> ChildStdout {
    let mut file = tempfile::tempfile().expect("a temporary file can be created");
    file.write_all(bytes).expect("the temporary file can be written");
    file.rewind().expect("the position in the temporary file can be reset");
    ChildStdout::from(OwnedFd::from(file))
}
