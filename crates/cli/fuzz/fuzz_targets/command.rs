//! Runs the command with files in a separate directory.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use tempfile::TempDir;

/// A model with six features; two of them have an effect.
const MODEL: &str = include_str!("../../../trees/tests/fixtures/tiny.json");
const ROWS: &str =
    "age,sex,bmi,bp,s1,s2\n0.5,1,20,80,1,0\n1.5,3,,90,2,1\n2,0,31.5,70,3,0\n-1,2.5,25,85,4,1\n";

/// The directory of the runs, which contains a model and rows.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder for what passes");
    let model = MODEL.replace(r#""num_feature":"2""#, r#""num_feature":"6""#);
    fs::write(folder.path().join("model.json"), model).expect("room for a file");
    fs::write(folder.path().join("rows.csv"), ROWS).expect("room for a file");
    folder
});

/// Returns the path of a file in the directory.
pub fn path(name: &str) -> PathBuf {
    FOLDER.path().join(name)
}

/// Writes a file with these bytes and returns its path.
pub fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = path(name);
    fs::write(&path, bytes).expect("room for a file");
    path
}

/// Runs the command. An argument that starts with `@` is the name of a file in the directory. If the command
/// succeeds, returns the content of `@out`, or of the file with this name and an extension.
pub fn run(arguments: &[&str]) -> Option<Vec<u8>> {
    let mut out = None;
    let words = arguments.iter().map(|argument| match argument.split_once('@') {
        Some((before, name)) => {
            let path = path(name);
            if name.starts_with("out") {
                out = Some(path.clone());
            }
            format!("{before}{}", path.display())
        }
        None => (*argument).to_owned(),
    });
    let words: Vec<String> = std::iter::once("apportion".to_owned()).chain(words).collect();
    if let Some(out) = &out {
        let _ = fs::remove_file(out);
    }
    match apportion_cli::run(&words) {
        0 => Some(out.map_or_else(Vec::new, |out| fs::read(out).expect("what was written"))),
        1 | 2 => {
            assert!(out.is_none_or(|out| !out.exists()), "a file of a run that failed");
            None
        }
        status => panic!("exit status {status}"),
    }
}
