//! Parsing of a program's output: one answer for each batch of rows.

use std::io::{BufRead, BufReader, Read};
use std::process::ChildStdout;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::ProgramError;
use crate::options::Format;
use crate::process::shown;

/// Maximum length in bytes of a line of the output. No valid line is longer.
const LONGEST_LINE: u64 = 1 << 24;

/// A program's answer to a batch: the outputs for its rows.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answer {
    /// The outputs, rows × outputs in row-major order. They may be NaN or infinite.
    pub(crate) values: Vec<f64>,
    /// Number of rows in the answer.
    pub(crate) rows: usize,
    /// The names of the outputs, if the program wrote any.
    pub(crate) names: Option<Vec<String>>,
    /// The first line of the program's first answer, if it may be a number with a decimal comma.
    pub(crate) decimal_comma: Option<String>,
}

/// The reason why there are no more answers.
#[derive(Debug)]
pub(crate) enum End {
    /// The output has ended.
    Closed,
    /// The output is not a valid answer.
    Fault(ProgramError),
    /// An answer has more rows than any batch.
    TooMany,
}

/// Reads answers and passes them to `receive` until it returns `false`. For text, answers have at most `most`
/// rows each, and `came` counts the rows of the current answer that have been read so far.
pub(crate) fn read(
    format: Format,
    output: ChildStdout,
    most: usize,
    came: &AtomicUsize,
    receive: &mut dyn FnMut(Answer) -> bool,
) -> End {
    let end = match format {
        Format::Csv => Lines::new(output).read(most, came, receive),
        #[cfg(feature = "arrow")]
        Format::Arrow => arrow::read(output, receive),
    };
    end.unwrap_or_else(|end| end)
}

/// A reader of answers from lines of text.
struct Lines<R> {
    output: BufReader<R>,
    line: Vec<u8>,
    /// Number of lines read.
    read: usize,
    /// Number of outputs per row, known after the first row.
    width: Option<usize>,
}

impl<R: Read> Lines<R> {
    fn new(output: R) -> Self {
        Self { output: BufReader::with_capacity(1 << 16, output), line: Vec::new(), read: 0, width: None }
    }

    fn read(
        mut self,
        most: usize,
        came: &AtomicUsize,
        receive: &mut dyn FnMut(Answer) -> bool,
    ) -> Result<End, End> {
        let mut answer = Answer::default();
        while self.next()? {
            let line = self.line.trim_ascii();
            if line.is_empty() {
                came.store(0, Ordering::Relaxed);
                if !receive(std::mem::take(&mut answer)) {
                    break;
                }
            } else if let (1, Some(names)) = (self.read, line.strip_prefix(b"#")) {
                let names = String::from_utf8_lossy(names);
                answer.names = Some(names.split(',').map(|name| name.trim().to_owned()).collect());
            } else if answer.rows == most {
                return Err(End::TooMany);
            } else {
                let before = answer.values.len();
                if !numbers(line, &mut answer.values) {
                    return Err(End::Fault(self.no_numbers()));
                }
                let actual = answer.values.len() - before;
                let expected = self.width.unwrap_or(actual);
                if actual != expected {
                    return Err(End::Fault(ProgramError::LineWidth { line: self.read, actual, expected }));
                }
                if self.width.is_none() && may_be_decimal_comma(line) {
                    answer.decimal_comma = Some(shown(&String::from_utf8_lossy(line)));
                }
                self.width = Some(actual);
                answer.rows += 1;
                came.store(answer.rows, Ordering::Relaxed);
            }
        }
        Ok(End::Closed)
    }

    /// Reads the next line. Returns `false` if there is no complete line.
    fn next(&mut self) -> Result<bool, End> {
        self.line.clear();
        // A killed process may leave an incomplete line. Read errors are treated as the end of the output as
        // well.
        let read = (&mut self.output).take(LONGEST_LINE).read_until(b'\n', &mut self.line);
        let read = read.unwrap_or(0);
        self.read += 1;
        if read as u64 == LONGEST_LINE {
            return Err(End::Fault(self.no_numbers()));
        }
        Ok(self.line.ends_with(b"\n"))
    }

    fn no_numbers(&self) -> ProgramError {
        let text = String::from_utf8_lossy(self.line.trim_ascii());
        ProgramError::NotNumbers { line: self.read, text: shown(&text) }
    }
}

/// Returns whether a line of several numbers may be a single number with a decimal comma. This is not the
/// case if every number has a decimal point.
fn may_be_decimal_comma(line: &[u8]) -> bool {
    line.contains(&b',') && line.split(|&byte| byte == b',').any(|cell| !cell.contains(&b'.'))
}

/// Parses the numbers of a line, separated by commas or spaces, and appends them to `values`. Returns `false`
/// if a number is invalid.
fn numbers(line: &[u8], values: &mut Vec<f64>) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let mut put = |cell: &str| cell.trim().parse().map(|value| values.push(value)).is_ok();
    if line.contains(',') {
        line.split(',').all(&mut put)
    } else {
        line.split_ascii_whitespace().all(&mut put)
    }
}

#[cfg(feature = "arrow")]
mod arrow {
    //! Parsing of answers from an Arrow stream.

    use std::cell::Cell;
    use std::error::Error;
    use std::io;
    use std::rc::Rc;

    use apportion_rows::{RowOptions, RowsError, Source};

    use super::*;

    /// A reader that records whether its end was reached.
    struct EndRecorder<R> {
        output: R,
        ended: Rc<Cell<bool>>,
    }

    impl<R: Read> Read for EndRecorder<R> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.output.read(into).unwrap_or(0);
            self.ended.set(count == 0);
            Ok(count)
        }
    }

    /// The reason why reading stopped.
    enum StopReason {
        NotWanted,
        Unreadable(RowsError),
    }

    impl From<RowsError> for StopReason {
        fn from(error: RowsError) -> Self {
            Self::Unreadable(error)
        }
    }

    pub(super) fn read(mut output: impl Read, receive: &mut dyn FnMut(Answer) -> bool) -> Result<End, End> {
        let mut start = Vec::new();
        // Read errors are treated as the end of the output.
        let _ = (&mut output).take(4).read_to_end(&mut start);
        if start.len() < 4 {
            return Ok(End::Closed);
        }
        if start != [0xff; 4] {
            let problem = format!("the output begins with {:?}", shown(&String::from_utf8_lossy(&start)));
            return Err(End::Fault(ProgramError::NotArrow { problem }));
        }
        let ended = Rc::new(Cell::new(false));
        let output = EndRecorder { output: io::Cursor::new(start).chain(output), ended: Rc::clone(&ended) };
        // All columns are outputs, including one with the default name of the target. The decompressed size
        // is not limited, because answers are processed one by one.
        let wanted = RowOptions { target: Some(""), unpacked_limit: Some(u64::MAX), ..RowOptions::default() };
        let source = Source::stream("the answers", output);
        let read = source.each_block(&wanted, |block| {
            let answer = Answer {
                rows: block.values.len() / block.columns.max(1),
                values: std::mem::take(&mut block.values),
                names: block.names.clone(),
                decimal_comma: None,
            };
            if receive(answer) { Ok(()) } else { Err(StopReason::NotWanted) }
        });
        match read {
            Err(StopReason::Unreadable(error)) if !ended.get() => {
                // Use the inner error: the outer error adds the name of the source, which the message already
                // contains.
                let problem = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                Err(End::Fault(ProgramError::NotArrow { problem: shown(&problem) }))
            }
            _ => Ok(End::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(text: &str, most: usize) -> (Vec<Answer>, End) {
        let mut answers = Vec::new();
        let came = AtomicUsize::new(0);
        let mut receive = |answer| {
            answers.push(answer);
            true
        };
        let end = Lines::new(text.as_bytes()).read(most, &came, &mut receive).unwrap_or_else(|end| end);
        (answers, end)
    }

    #[test]
    fn an_empty_line_ends_an_answer() {
        let (answers, end) = answers("# a, b b\r\n1,-2.5\r\n 3e2 , 0 \r\n\r\n5\t6\n\n7 8\n9", 9);
        let names = Some(vec!["a".to_owned(), "b b".to_owned()]);
        assert_eq!(
            answers,
            [
                Answer {
                    values: vec![1.0, -2.5, 300.0, 0.0],
                    rows: 2,
                    names,
                    decimal_comma: Some("1,-2.5".into()),
                },
                Answer { values: vec![5.0, 6.0], rows: 1, ..Answer::default() },
            ]
        );
        assert!(matches!(end, End::Closed));
    }

    #[test]
    fn what_is_no_number_is_told_with_its_line() {
        for (text, line, shown) in [
            ("1\n\nloading\n", 3, "loading"),
            ("1\n# a\n", 2, "# a"),
            ("[0.5]\n", 1, "[0.5]"),
            ("1,,2\n", 1, "1,,2"),
            ("1,2,\n", 1, "1,2,"),
            ("\x1b[1m1\n", 1, "\\u{1b}[1m1"),
        ] {
            let (_, end) = answers(text, 9);
            let End::Fault(ProgramError::NotNumbers { line: at, text }) = end else { panic!("{end:?}") };
            assert_eq!((at, text.as_str()), (line, shown));
        }
    }

    #[test]
    fn rows_have_the_same_number_of_outputs() {
        let (_, end) = answers("1,2\n\n3\n", 9);
        let End::Fault(error) = end else { panic!("{end:?}") };
        assert!(matches!(error, ProgramError::LineWidth { line: 3, actual: 1, expected: 2 }), "{error}");
    }

    #[test]
    fn numbers_with_decimal_commas_are_recognized() {
        for (text, line) in [
            ("5,25\n6,5\n\n", Some("5,25")),
            ("-1,5e-3\n\n", Some("-1,5e-3")),
            ("1.234,5\n\n", Some("1.234,5")),
            ("0.25,0.75\n\n", None),
            ("1.0,-2.5,3e1\n\n", Some("1.0,-2.5,3e1")),
            ("5 25\n\n", None),
            ("5.25\n1.5\n\n", None),
        ] {
            let (answers, _) = answers(text, 9);
            assert_eq!(answers[0].decimal_comma.as_deref(), line, "{text}");
        }
        let (answers, _) = answers("1,2\n\n1,2\n\n", 9);
        assert_eq!(answers[1].decimal_comma, None);
    }

    #[test]
    fn no_answer_is_longer_than_a_batch() {
        let (answers, end) = answers("1\n2\n\n1\n2\n3\n", 2);
        assert_eq!(answers.len(), 1);
        assert!(matches!(end, End::TooMany));
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_memory() {
        let endless = "1".repeat(LONGEST_LINE as usize + 5);
        let (_, end) = answers(&endless, 2);
        assert!(matches!(end, End::Fault(ProgramError::NotNumbers { line: 1, .. })));
    }
}
