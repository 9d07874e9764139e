//! Servers for tests, and functions that start and call them.

use std::time::Duration;

use apportion_games::Rows;
use apportion_program::{Column, Program, ProgramError, ProgramOptions};

/// A server that returns the first column of each row.
pub(crate) const FIRST: &str = "read header; while read count; do \
    while [ $count -gt 0 ]; do IFS=, read x y; echo $x; count=$((count - 1)); done; echo; done";

/// Returns a shell server that runs `per_row` with the cells `$x` and `$y` of each row, and `per_batch` after
/// the rows of each batch; `$batch` is the batch number, counted from 1.
pub(crate) fn shell(per_row: &str, per_batch: &str) -> String {
    format!(
        "read header; batch=0; while read count; do batch=$((batch + 1)); i=0; \
         while [ $i -lt $count ]; do IFS=, read x y; {per_row}; i=$((i + 1)); done; {per_batch}; done"
    )
}

pub(crate) fn columns() -> [Column; 2] {
    [Column::new("x"), Column::new("y")]
}

pub(crate) fn options() -> ProgramOptions {
    ProgramOptions::default().timeout(Duration::from_secs(30))
}

/// Starts a program with two columns, using the row (1, 2) for the test at the start.
pub(crate) fn start(command: &str, options: &ProgramOptions) -> Result<Program, ProgramError> {
    Program::start(command, &columns(), Rows::new(&[1.0, 2.0], 2), options)
}

pub(crate) fn refusal(command: &str, options: &ProgramOptions) -> ProgramError {
    match start(command, options) {
        Ok(program) => panic!("{program:?} was started"),
        Err(error) => error,
    }
}

/// Returns `count` rows of two random finite numbers of any magnitude, some of them missing.
pub(crate) fn random_rows(count: usize) -> Vec<f64> {
    let mut state = 88_172_645_463_325_252u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let value = |at: usize, bits: u64| match f64::from_bits(bits) {
        _ if at % 2 == 1 && bits.is_multiple_of(5) => f64::NAN,
        value if value.is_finite() => value,
        _ => (bits % 1000) as f64,
    };
    (0..2 * count).map(|at| value(at, next())).collect()
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Returns the first column.
pub(crate) fn first(rows: &[f64]) -> Vec<f64> {
    rows.chunks(2).map(|row| row[0]).collect()
}

pub(crate) fn predictions(program: &Program, rows: &[f64]) -> Result<Vec<f64>, ProgramError> {
    program.predictions(Rows::new(rows, 2))
}

/// Returns whether a process with this ID is running.
pub(crate) fn runs(id: &str) -> bool {
    let probe = std::process::Command::new("sh").args(["-c", &format!("kill -0 {id} 2>/dev/null")]).status();
    probe.unwrap().success()
}

/// Waits until a file contains a line, and returns it.
pub(crate) fn line_of(path: &std::path::Path) -> String {
    for _ in 0..1000 {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    panic!("{} was not written", path.display());
}
