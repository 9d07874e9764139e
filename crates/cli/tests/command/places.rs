//! Tests the destinations of results: file descriptors, files that are also inputs, and system limits.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Output, Stdio};

use crate::support::{files, fixture};

/// Runs the command in a shell that sets up its descriptors and limits; `"$@"` in the script is the command.
fn shell(script: &str, directory: &std::path::Path, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(assert_cmd::cargo::cargo_bin("apportion"))
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn rows(directory: &std::path::Path) -> String {
    let model = fixture("diabetes_xgb.json.gz");
    fs::copy(fixture("diabetes.csv.gz"), directory.join("rows.csv.gz")).unwrap();
    model
}

#[test]
fn an_input_is_not_an_output_by_any_name() {
    let directory = tempfile::tempdir().unwrap();
    let model = rows(directory.path());
    let before = fs::read(directory.path().join("rows.csv.gz")).unwrap();
    let predict = ["predict", "--model", &model, "--rows"];
    for (script, more) in [
        (r#""$@" <rows.csv.gz"#, &["-", "--out", "rows.csv.gz"][..]),
        (r#""$@" <rows.csv.gz"#, &["/dev/stdin", "--out", "./rows.csv.gz"]),
        (r#""$@" <rows.csv.gz >>rows.csv.gz"#, &["-"]),
        (r#""$@" 3>>rows.csv.gz"#, &["rows.csv.gz", "--out", "/dev/fd/3"]),
        (r#""$@" 3>>rows.csv.gz"#, &["rows.csv.gz", "--out", "/proc/self/fd/3"]),
        (r#""$@" >>rows.csv.gz"#, &["rows.csv.gz", "--out", "/dev/fd/1"]),
        (r#""$@" >>rows.csv.gz"#, &["rows.csv.gz", "--out", "/proc/self/fd/1"]),
    ] {
        let output = shell(script, directory.path(), &[&predict[..], more].concat());
        let says = String::from_utf8(output.stderr).unwrap();
        assert!(says.contains("an input file"), "{script} {more:?}: {says}");
        assert_eq!(fs::read(directory.path().join("rows.csv.gz")).unwrap(), before, "{script} {more:?}");
    }
}

#[test]
fn descriptors_are_written_on_and_other_files_do_not_go_there() {
    let directory = tempfile::tempdir().unwrap();
    let model = rows(directory.path());
    let predict = ["predict", "--model", &model, "--rows", "rows.csv.gz", "--format", "csv"];
    let plain = shell(r#""$@""#, directory.path(), &predict).stdout;
    for (name, script) in [
        ("/dev/fd/1", r#"{ echo first; "$@"; } >found"#),
        ("/proc/self/fd/1", r#"{ echo first; "$@"; } >found"#),
        ("/dev/fd/4", r#"{ echo first >&4; "$@"; } 4>found"#),
        ("/dev/stdout", r#"{ echo first; "$@"; } >found"#),
    ] {
        let output = shell(script, directory.path(), &[&predict[..], &["--out", name]].concat());
        assert!(output.status.success(), "{name}: {output:?}");
        let found = fs::read(directory.path().join("found")).unwrap();
        assert!(found == [b"first\n", &plain[..]].concat(), "{name}");
    }
    let explain = ["explain", "--model", &model, "--rows", "rows.csv.gz", "--game", "path-dependent"];
    for (name, says) in [
        ("/dev/fd/1", "to standard output, which is reserved"),
        ("/proc/self/fd/1", "to standard output, which is reserved"),
        ("/dev/fd/2", "is not a regular file"),
        ("/dev/fd/77", "cannot be written"),
    ] {
        let output = shell(r#""$@""#, directory.path(), &[&explain[..], &["--checkpoint", name]].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && output.stdout.is_empty() && stderr.contains(says),
            "{name}: {stderr}"
        );
    }
}

#[test]
fn names_that_cannot_be_files_are_refused_before_the_model_is_read() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "").unwrap();
    std::os::unix::fs::symlink("loop", directory.path().join("loop")).unwrap();
    let long = "x".repeat(300);
    for name in ["missing/results", "file/results", ".", "loop", &long] {
        let inspect = ["inspect", "--model", "missing.json", "--out", name];
        let output = shell(r#""$@""#, directory.path(), &inspect);
        let says = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(1) && says.starts_with(&format!("error: --out {name}")),
            "{name}: {says}"
        );
        assert!(!says.contains("missing.json"), "{says}");
    }
    assert_eq!(files(directory.path()).len(), 2);
}

#[test]
fn a_limit_of_file_sizes_is_reported_and_leaves_no_part() {
    let directory = tempfile::tempdir().unwrap();
    let model = rows(directory.path());
    let explain =
        ["explain", "--model", &model, "--rows", "rows.csv.gz", "--game", "path-dependent", "--out", "found"];
    let output = shell(r#"ulimit -f 4; "$@""#, directory.path(), &explain);
    let says = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && says.contains("cannot write found: File too large"), "{says}");
    assert_eq!(files(directory.path()), ["rows.csv.gz"]);
}
