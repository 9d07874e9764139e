//! Helpers that run the command and read its output.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// Returns the path of a file in `tests/fixtures`.
pub(crate) fn fixture(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", name].iter().collect();
    path.to_str().unwrap().to_owned()
}

/// Runs `apportion` with these arguments.
pub(crate) fn run<S: AsRef<str>>(arguments: &[S]) -> Output {
    let arguments = arguments.iter().map(AsRef::as_ref);
    Command::cargo_bin("apportion").unwrap().args(arguments).output().unwrap()
}

/// The start of the note about the default game.
pub(crate) const NOTE_OF_THE_GAME: &str = "note: using the path-dependent game";

/// Runs the command successfully, and returns its standard output.
pub(crate) fn bytes<S: AsRef<str>>(arguments: &[S]) -> Vec<u8> {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Runs the command successfully like [`bytes`], and returns its standard output as text.
pub(crate) fn text<S: AsRef<str>>(arguments: &[S]) -> String {
    String::from_utf8(bytes(arguments)).unwrap()
}

/// Runs the command successfully like [`bytes`], and returns its standard output parsed as JSON.
pub(crate) fn json<S: AsRef<str>>(arguments: &[S]) -> Value {
    serde_json::from_slice(&bytes(arguments)).unwrap()
}

/// Returns the arguments of a command on fixtures, followed by `more`.
pub(crate) fn on(command: &str, model: &str, rows: &str, more: &[&str]) -> Vec<String> {
    let mut arguments = vec![command.to_owned(), "--model".to_owned(), fixture(model)];
    arguments.extend(["--rows".to_owned(), fixture(rows)]);
    arguments.extend(more.iter().map(|&argument| argument.to_owned()));
    arguments
}

/// Returns all numbers within `value`, in order.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// The characters that end a number in JSON, CSV and tables.
const DELIMITERS: [char; 8] = [',', ':', ' ', '\n', '[', ']', '{', '}'];

/// Rounds every number with a decimal point to three decimals, so that snapshots do not depend on the last
/// bits.
pub(crate) fn rounded(text: &str) -> String {
    let mut out = String::new();
    for part in text.split_inclusive(DELIMITERS) {
        let number = part.trim_end_matches(DELIMITERS);
        match number.parse::<f64>() {
            Ok(value) if number.contains(['.', 'e']) => {
                out.push_str(&format!("{:.3}", value + 0.0));
                out.push_str(&part[number.len()..]);
            }
            _ => out.push_str(part),
        }
    }
    out
}

/// Checks that `a` and `b` agree to `tolerance`, relative to `scale`.
pub(crate) fn assert_close(a: &[f64], b: &[f64], scale: f64, tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (index, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance * scale, "{what}, number {index}: {a} and {b}");
    }
}

/// Checks `Σφ + base = prediction` for every row and output, with a relative tolerance of 1e-10.
pub(crate) fn assert_efficient(results: &Value, what: &str) {
    for row in results["explanations"].as_array().unwrap() {
        let (base, prediction, values) =
            (numbers(&row["base"]), numbers(&row["prediction"]), numbers(&row["values"]));
        for output in 0..base.len() {
            let total: f64 = values.iter().skip(output).step_by(base.len()).sum();
            let gap = (total + base[output] - prediction[output]).abs();
            let scale = base[output].abs().max(prediction[output].abs()).max(1.0);
            assert!(gap <= 1e-10 * scale, "{what}, row {}, output {output}: {gap}", row["row"]);
        }
    }
}

/// Returns the names of the files in a directory.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
