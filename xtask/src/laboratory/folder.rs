//! The folder of a run: never one that is there already, and never half of one.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::record::{EstimateLine, FORMAT, Record, RunLine};
use crate::reproduce::files::write_atomically;

const RECORD: &str = "run.json";
const RUNS: &str = "runs.csv";
const ESTIMATES: &str = "estimates.csv";

/// Makes a folder of this name in `out`; where one is there, with the first number from 2 that is free behind it.
///
/// # Errors
///
/// If it cannot be made.
pub(crate) fn make(out: &Path, name: &str) -> Result<PathBuf> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let mut number = 1_usize;
    loop {
        let folder = match number {
            1 => out.join(name),
            _ => out.join(format!("{name}-{number}")),
        };
        // Made or refused in one step, so that two runs at once have two folders.
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot make the folder {}", folder.display()));
            }
        }
    }
}

/// Writes the numbers, and last the record, which says that the folder is whole.
pub(crate) fn write(
    folder: &Path,
    record: &Record,
    runs: &[RunLine],
    estimates: &[EstimateLine],
) -> Result<()> {
    write_atomically(&folder.join(RUNS), &csv(runs)?)?;
    write_atomically(&folder.join(ESTIMATES), &csv(estimates)?)?;
    let mut json = serde_json::to_vec_pretty(record)?;
    json.push(b'\n');
    write_atomically(&folder.join(RECORD), &json)
}

/// The record of a folder.
///
/// # Errors
///
/// If it is no folder of a run, or one of another form.
pub(crate) fn record(folder: &Path) -> Result<Record> {
    let path = folder.join(RECORD);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => bail!(
            "{} is no folder of a finished run: it has no {RECORD}; give one that cargo xtask laboratory has made",
            folder.display()
        ),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    // The form first: of another one nothing else need be there.
    let read = || format!("cannot read {}: it is damaged; make the run again", path.display());
    let json: serde_json::Value = serde_json::from_slice(&bytes).with_context(read)?;
    let form = json.get("format").and_then(serde_json::Value::as_u64);
    ensure!(
        form == Some(FORMAT.into()),
        "{} is of form {}, and this program reads form {FORMAT}; make the run again, or read it with the version {} that wrote it",
        path.display(),
        form.map_or("unknown".to_owned(), |form| form.to_string()),
        json.get("version").and_then(serde_json::Value::as_str).unwrap_or("(unknown)")
    );
    serde_json::from_value(json).with_context(read)
}

/// The runs of a folder.
///
/// # Errors
///
/// If they cannot be read.
pub(crate) fn runs(folder: &Path) -> Result<Vec<RunLine>> {
    lines(&folder.join(RUNS))
}

fn csv(lines: &[impl Serialize]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    lines.iter().try_for_each(|line| writer.serialize(line))?;
    Ok(writer.into_inner()?)
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let read = || format!("cannot read {}", path.display());
    let mut reader = csv::Reader::from_path(path).with_context(read)?;
    reader.deserialize().collect::<Result<_, _>>().with_context(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_there_is_left_alone() {
        let out = tempfile::tempdir().unwrap();
        let names: Vec<PathBuf> = (0..3).map(|_| make(out.path(), "a").unwrap()).collect();
        assert_eq!(names, ["a", "a-2", "a-3"].map(|name| out.path().join(name)));
    }

    #[test]
    fn runs_come_back_to_the_last_bit() {
        let out = tempfile::tempdir().unwrap();
        let line = RunLine {
            dataset: "a,\"b\"".to_owned(),
            estimator: "c".to_owned(),
            budget: "5n".to_owned(),
            run: 0,
            seed: u64::MAX,
            explicand_row: 3,
            evaluations: 20,
            squared_error: 0.1 + 0.2,
            relative_squared_error: None,
            seconds: 5e-324,
        };
        let other = RunLine { relative_squared_error: Some(1.0 / 3.0), ..line.clone() };
        std::fs::write(out.path().join(RUNS), csv(&[line.clone(), other.clone()]).unwrap()).unwrap();
        assert_eq!(runs(out.path()).unwrap(), [line, other]);
    }
}
