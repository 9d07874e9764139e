//! Checkpoints: every finished cell is one line of a file, so that an interrupted run goes on where it stopped.
//!
//! A line is a JSON object `{"key", "cell", "result"}`. The key is a hash of the cell, and a cell holds all that made its result
//! ([`super::ingredients`]), so lines never go stale: another preset, another selection or more runs find what is there, and what was made
//! by another game, noise or estimator is not found. A line is appended by one write after the cell is done. A process that is killed leaves at most one torn line, the last;
//! opening the store cuts it off.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use xtask::aside;

/// The finished cells of one paper.
pub(crate) struct Store {
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    results: HashMap<String, Value>,
}

/// One line of the file.
#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    key: String,
    cell: Value,
    result: Value,
}

impl Store {
    /// Opens the store at `path`, or makes it; with `fresh` what it holds is forgotten. While another process has it open, waits: a run
    /// that was just killed takes a moment to end, and what another one finishes is there afterwards.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written.
    pub(crate) fn open(path: &Path, fresh: bool) -> Result<Self> {
        let file = file(path)?;
        if is_locked(&file) {
            let at = at(path);
            aside!("another run is writing {at}; waiting for it to end (another --out needs no waiting)");
            file.lock().context(at)?;
        }
        Self::read(file, path, fresh)
    }

    /// The same; none while another process has it open.
    pub(crate) fn open_if_free(path: &Path, fresh: bool) -> Result<Option<Self>> {
        let file = file(path)?;
        if is_locked(&file) { Ok(None) } else { Self::read(file, path, fresh).map(Some) }
    }

    fn read(mut file: File, path: &Path, fresh: bool) -> Result<Self> {
        let at = || at(path);
        if fresh {
            file.set_len(0).with_context(at)?;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(at)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).with_context(at)?;
        file.seek(SeekFrom::End(0)).with_context(at)?;
        // A line that is no JSON (a disk that filled up) is a cell to compute again.
        let results = bytes[..whole]
            .split(|&byte| byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
            .map(|line| (line.key, line.result))
            .collect();
        Ok(Self { inner: Mutex::new(Inner { file, results }) })
    }

    /// How many cells are finished.
    pub(crate) fn len(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).results.len()
    }

    /// The result of a cell, where it is finished.
    pub(crate) fn get<R: DeserializeOwned>(&self, key: &str) -> Option<R> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.results.get(key).and_then(|result| R::deserialize(result).ok())
    }

    /// Whether a cell is finished.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).results.contains_key(key)
    }

    /// Remembers the result of a cell, in the file and here.
    pub(crate) fn put(&self, key: String, cell: &impl Serialize, result: &impl Serialize) -> Result<()> {
        let line = Line { key, cell: serde_json::to_value(cell)?, result: serde_json::to_value(result)? };
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.file.write_all(text.as_bytes()).context("cannot write a checkpoint")?;
        inner.results.insert(line.key, line.result);
        Ok(())
    }
}

fn at(path: &Path) -> String {
    format!("the checkpoints in {}", path.display())
}

/// The file at `path`, which is made where there is none.
fn file(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| at(path))?;
    }
    let mut how = OpenOptions::new();
    how.read(true).write(true).create(true).truncate(false).open(path).with_context(|| at(path))
}

/// Whether another process has the file open; otherwise we have it now. A file system without locks is no reason to stop.
fn is_locked(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// The key of a cell: a hash of its JSON.
pub(crate) fn key(cell: &impl Serialize) -> Result<String> {
    Ok(hex(&Sha256::digest(serde_json::to_vec(cell)?))[..32].to_owned())
}

/// A seed that is a function of everything named: different names, different streams.
pub(crate) fn derive_seed(parts: &impl Serialize) -> Result<u64> {
    let digest = Sha256::digest(serde_json::to_vec(parts)?);
    Ok(digest.iter().take(8).fold(0, |seed, &byte| seed << 8 | u64::from(byte)))
}

/// SHA-256 of `bytes` in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_to_the_last_bit_after_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let values = [1.0 / 3.0, 5e-324, -1.7976931348623157e308, 0.1 + 0.2];
        let store = Store::open(&path, false).unwrap();
        store.put("a".to_owned(), &1, &values).unwrap();
        drop(store);
        let store = Store::open(&path, false).unwrap();
        assert_eq!(store.get::<[f64; 4]>("a").unwrap().map(f64::to_bits), values.map(f64::to_bits));
        assert!(!store.contains("b"));
    }

    #[test]
    fn a_torn_last_line_is_cut_off_and_the_next_line_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let store = Store::open(&path, false).unwrap();
        store.put("a".to_owned(), &1, &10).unwrap();
        store.put("b".to_owned(), &2, &20).unwrap();
        drop(store);
        let bytes = std::fs::read(&path).unwrap();
        for cut in [1, 2, 10] {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
            let store = Store::open(&path, false).unwrap();
            assert_eq!((store.get("a"), store.get::<i32>("b")), (Some(10), None), "{cut} bytes lost");
            store.put("b".to_owned(), &2, &20).unwrap();
            drop(store);
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn a_second_run_waits_for_the_first_and_finds_what_it_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let first = Store::open(&path, false).unwrap();
        let second = std::thread::spawn({
            let path = path.clone();
            move || Store::open(&path, false).unwrap()
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        first.put("a".to_owned(), &1, &10).unwrap();
        drop(first);
        assert_eq!(second.join().unwrap().get("a"), Some(10));
    }

    #[test]
    fn a_store_that_is_open_is_not_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let first = Store::open_if_free(&path, false).unwrap().unwrap();
        first.put("a".to_owned(), &1, &10).unwrap();
        assert!(Store::open_if_free(&path, true).unwrap().is_none());
        drop(first);
        let second = Store::open_if_free(&path, false).unwrap().unwrap();
        assert_eq!((second.get("a"), second.len()), (Some(10), 1));
    }

    #[test]
    fn a_fresh_store_has_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        Store::open(&path, false).unwrap().put("a".to_owned(), &1, &10).unwrap();
        assert!(!Store::open(&path, true).unwrap().contains("a"));
    }
}
