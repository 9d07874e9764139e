//! Checkpoints: every finished cell is one line of a file, so that an interrupted run can resume.
//!
//! A line is a JSON object `{"key", "cell", "result"}`. The key is a hash of the cell, and a cell contains
//! everything that its result depends on ([`super::ingredients`]), so lines never become stale. Commands with
//! a different preset, selection or number of runs reuse existing results, and results for a different game,
//! noise or estimator are never reused. A line is appended with a single write when the cell is finished. A
//! killed process leaves at most one incomplete line at the end, which is removed when the store is opened.

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

/// Finished cells of one paper.
pub(crate) struct Store {
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    results: HashMap<String, Value>,
}

/// One line of the file: a finished cell with its key and its result.
#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    key: String,
    cell: Value,
    result: Value,
}

impl Store {
    /// Opens or creates the store at `path`; `fresh` discards its contents. Waits while another process has
    /// the store open: a killed run may take a moment to end, and the results of a running one can be reused.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written.
    pub(crate) fn open(path: &Path, fresh: bool) -> Result<Self> {
        let file = file(path)?;
        if is_locked(&file) {
            let at = at(path);
            aside!(
                "another run is writing {at}; waiting for it to finish (a different --out avoids the wait)"
            );
            file.lock().context(at)?;
        }
        Self::read(file, path, fresh)
    }

    /// Same as [`Self::open`], but returns `None` if another process has the store open.
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
        // Skip lines that are not valid JSON (e.g. after a full disk); their cells are computed again.
        let results = bytes[..whole]
            .split(|&byte| byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
            .map(|line| (line.key, line.result))
            .collect();
        Ok(Self { inner: Mutex::new(Inner { file, results }) })
    }

    /// Returns the number of finished cells.
    pub(crate) fn len(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).results.len()
    }

    /// Returns the result of a cell, if finished.
    pub(crate) fn get<R: DeserializeOwned>(&self, key: &str) -> Option<R> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.results.get(key).and_then(|result| R::deserialize(result).ok())
    }

    /// Returns whether a cell is finished.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).results.contains_key(key)
    }

    /// Stores the result of a cell, in the file and in memory.
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
    format!("cannot open the checkpoints in {}", path.display())
}

/// Opens or creates the file at `path`.
fn file(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| at(path))?;
    }
    let mut how = OpenOptions::new();
    how.read(true).write(true).create(true).truncate(false).open(path).with_context(|| at(path))
}

/// Returns whether another process has locked the file, and locks it otherwise. On file systems without
/// locks, files count as unlocked.
fn is_locked(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Returns the key of a cell: a hash of its JSON.
pub(crate) fn key(cell: &impl Serialize) -> Result<String> {
    Ok(hex(&Sha256::digest(serde_json::to_vec(cell)?))[..32].to_owned())
}

/// Derives a seed from `parts`, so that different parts have different random streams.
pub(crate) fn derive_seed(parts: &impl Serialize) -> Result<u64> {
    let digest = Sha256::digest(serde_json::to_vec(parts)?);
    Ok(digest.iter().take(8).fold(0, |seed, &byte| seed << 8 | u64::from(byte)))
}

/// Returns the SHA-256 of `bytes` in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Formats bytes as hexadecimal digits.
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
