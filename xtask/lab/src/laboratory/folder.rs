//! The result directory of a run, which never replaces an existing one and is never left incomplete.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::interrupt;
use super::record::{EstimateLine, FORMAT, Record, RunLine};
use crate::reproduce::store::sha256;
use xtask::files::write_atomically;

const RECORD: &str = "run.json";
const RUNS: &str = "runs.csv";
const ESTIMATES: &str = "estimates.csv";

/// Creates a directory with this name in `out`; if it exists, appends the first free number from 2.
///
/// # Errors
///
/// If it cannot be created.
pub(crate) fn make(out: &Path, name: &str) -> Result<PathBuf> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot create the directory {}", out.display()))?;
    // Creation is atomic, so that two concurrent runs get two directories.
    at_first_free(out, name, |folder| std::fs::create_dir(folder))
}

/// Calls `make` with `name`, then `name-2`, `name-3`, …, until it does not report that the directory exists.
fn at_first_free(out: &Path, name: &str, make: impl Fn(&Path) -> io::Result<()>) -> Result<PathBuf> {
    let names = std::iter::once(name.to_owned()).chain((2_u64..).map(|number| format!("{name}-{number}")));
    for folder in names.map(|name| out.join(name)) {
        match make(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {
            }
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("cannot create the directory {}", folder.display()));
            }
        }
    }
    bail!("cannot create a directory {name}-N in {}: all numbers N are taken", out.display())
}

/// A directory that is being written, under a temporary name. It is removed unless finished.
pub(crate) struct Unfinished<'a> {
    out: &'a Path,
    name: String,
    pub(crate) path: PathBuf,
}

impl<'a> Unfinished<'a> {
    /// Creates a temporary directory in `out`, which [`finish`](Self::finish) renames to `name`.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub(crate) fn new(out: &'a Path, name: String) -> Result<Self> {
        let path = make(out, &format!(".{name}.unfinished"))?;
        interrupt::begin(&path);
        Ok(Self { out, name, path })
    }

    /// Renames the directory to its final name; if that exists, appends the first free number from 2.
    ///
    /// # Errors
    ///
    /// If renaming fails.
    pub(crate) fn finish(self) -> Result<PathBuf> {
        at_first_free(self.out, &self.name, |folder| match folder.symlink_metadata() {
            Ok(_) => Err(ErrorKind::AlreadyExists.into()),
            // If another run created the directory first, it is not empty, so renaming fails and keeps it.
            Err(_) => std::fs::rename(&self.path, folder),
        })
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        interrupt::finish(&self.path);
        // The temporary directory no longer exists if it was renamed. If it cannot be removed, its name shows
        // that it is unfinished.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Writes the files of numbers, and finally the record, which contains their digests and shows that they are
/// complete.
pub(crate) fn write(
    folder: &Path,
    record: &mut Record,
    runs: &[RunLine],
    estimates: &[EstimateLine],
) -> Result<()> {
    for (name, bytes) in
        [(RUNS, csv(RunLine::COLUMNS, runs)?), (ESTIMATES, csv(EstimateLine::COLUMNS, estimates)?)]
    {
        write_atomically(&folder.join(name), &bytes)?;
        record.results.push((name.to_owned(), sha256(&bytes)));
    }
    let mut json = serde_json::to_vec_pretty(record)?;
    json.push(b'\n');
    write_atomically(&folder.join(RECORD), &json)
}

/// Reads the record of a directory.
///
/// # Errors
///
/// If `folder` is not the result directory of a finished run, or its record is corrupt or has a different
/// format version.
pub(crate) fn record(folder: &Path) -> Result<Record> {
    let path = folder.join(RECORD);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => bail!(
            "{} is not the directory of a finished run: it has no {RECORD}; pass one that cargo xtask \
             laboratory has created",
            folder.display()
        ),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    // Check the format first: other versions may have other fields.
    let read = || format!("cannot read {}: it is corrupt; repeat the run", path.display());
    let json: serde_json::Value = serde_json::from_slice(&bytes).with_context(read)?;
    let form = json.get("format").and_then(serde_json::Value::as_u64);
    ensure!(
        form == Some(FORMAT.into()),
        "{} has format version {}, but this program expects {FORMAT}; repeat the run, or use version {} of \
         the program, which wrote it",
        path.display(),
        form.map_or("unknown".to_owned(), |form| form.to_string()),
        json.get("version").and_then(serde_json::Value::as_str).unwrap_or("(unknown)")
    );
    serde_json::from_value(json).with_context(read)
}

/// Reads the runs in a result directory, given its record.
///
/// # Errors
///
/// If a data file does not exist, or differs from the file whose digest is in the record.
pub(crate) fn runs(folder: &Path, record: &Record) -> Result<Vec<RunLine>> {
    let path = folder.join(RUNS);
    let bytes = std::fs::read(&path).with_context(|| {
        format!(
            "cannot read {}, which {RECORD} refers to; copy the whole directory, or repeat the run",
            path.display()
        )
    })?;
    let digest = sha256(&bytes);
    let is_it = |(name, written): &(String, String)| name == RUNS && *written == digest;
    ensure!(
        record.results.iter().any(is_it),
        "{} differs from the file that {RECORD} was written with (its SHA-256 is {digest:.12}…): it was \
         modified or truncated; copy the whole directory again, or repeat the run",
        path.display()
    );
    lines(&bytes).with_context(|| format!("cannot read {}", path.display()))
}

/// Formats lines as CSV; the header is written even without lines.
fn csv(columns: &[&str], lines: &[impl Serialize]) -> Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record(columns)?;
    lines.iter().try_for_each(|line| writer.serialize(line))?;
    Ok(writer.into_inner()?)
}

fn lines<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>> {
    Ok(csv::Reader::from_reader(bytes).deserialize().collect::<Result<_, _>>()?)
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
        let bytes = csv(RunLine::COLUMNS, &[line.clone(), other.clone()]).unwrap();
        assert_eq!(lines::<RunLine>(&bytes).unwrap(), [line.clone(), other]);
        // The column names match the fields of the lines.
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(line).unwrap();
        let named = writer.into_inner().unwrap();
        assert_eq!(named.split(|&byte| byte == b'\n').next(), bytes.split(|&byte| byte == b'\n').next());
        assert!(lines::<RunLine>(&csv(RunLine::COLUMNS, &[] as &[RunLine]).unwrap()).unwrap().is_empty());
    }

    #[test]
    fn a_folder_has_its_name_when_it_is_whole() {
        let out = tempfile::tempdir().unwrap();
        let names = || -> Vec<String> {
            let name =
                |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
            let mut names: Vec<String> = std::fs::read_dir(out.path()).unwrap().map(name).collect();
            names.sort();
            names
        };
        let [one, other] = [(); 2].map(|()| Unfinished::new(out.path(), "a".to_owned()).unwrap());
        assert_eq!(names(), [".a.unfinished", ".a.unfinished-2"]);
        std::fs::write(other.path.join("x"), "1").unwrap();
        assert_eq!(other.finish().unwrap(), out.path().join("a"));
        std::fs::write(one.path.join("x"), "2").unwrap();
        assert_eq!(one.finish().unwrap(), out.path().join("a-2"));
        drop(Unfinished::new(out.path(), "b".to_owned()).unwrap());
        assert_eq!(names(), ["a", "a-2"]);
        assert_eq!(std::fs::read(out.path().join("a/x")).unwrap(), b"1");
    }
}
