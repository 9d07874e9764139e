//! Checkpoints: files that contain the finished rows of a run and the state of its unfinished rows, so that
//! another process can resume the run.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use apportion::{Checkpoint, Explanation, Progress};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::destination::{Destination, is_still};
use crate::digest::hexadecimal;
use crate::error::FileError;
use crate::key::Key;

/// The first bytes of a checkpoint of any version.
pub const BEGINNING: &[u8] = br#"{"apportion_checkpoint":"#;
/// Version of the file format.
const FORMAT: u32 = 3;

/// The parts of a run's [`Key`], by name.
type Request = BTreeMap<String, String>;

/// The contents of a checkpoint file.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    apportion_checkpoint: u32,
    version: String,
    request: Request,
    /// Explanations of the finished rows, by index among the explained rows.
    finished: BTreeMap<usize, Explanation>,
    /// States of the unfinished rows.
    begun: BTreeMap<usize, Checkpoint>,
    /// SHA-256 of all other fields.
    digest: String,
}

/// The fields that every version of the file format has.
#[derive(Deserialize)]
struct Head {
    apportion_checkpoint: u32,
    version: String,
}

/// The checkpoint of a run, with the rows that an earlier process stored and the rows that this process adds.
///
/// Rows are counted from 0 among the explained rows. All methods may be called from any thread. The file is
/// complete at any time. On Unix, it is locked for the lifetime of this value: other runs, in this process or
/// another, cannot use it.
pub struct CheckpointFile {
    destination: Option<Destination>,
    /// Minimum time between two writes of the file. If writing is slow, the time is longer.
    every: Duration,
    before: Stored,
    now: Mutex<PendingContents>,
}

/// The state behind the lock: the contents to write next, and information about the last write.
struct PendingContents {
    stored: Stored,
    written: Instant,
    /// Duration of the last write.
    took: Duration,
    failed: Option<FileError>,
    /// The file as last written. It is locked while it is open.
    held: Option<File>,
    /// Whether the file did not exist when this run began. Another run may have created it since.
    is_new: bool,
}

impl CheckpointFile {
    /// Opens the checkpoint of the run with this key. It starts with the rows of the checkpoint `resume`, if
    /// any, and is written to `destination`. The file is written once immediately, so that an invalid path is
    /// reported before any computation, and then at most once per `every`.
    ///
    /// Error messages use `what` as the name of the file `resume`.
    ///
    /// # Errors
    ///
    /// [`FileError`] if `resume` cannot be read, is corrupt, has a different version or belongs to a
    /// different run. The same error is returned if the file to write is in use by another run, contains an
    /// earlier run that is not resumed, is not a checkpoint, or cannot be written.
    pub fn open(
        key: &Key,
        resume: Option<(&str, &Path)>,
        destination: Option<&Destination>,
        every: Duration,
    ) -> Result<Self, FileError> {
        let request = key.parts();
        let held = match destination {
            Some(destination) => Self::check(destination, resume)?,
            None => None,
        };
        let before = match resume {
            Some((what, path)) => read(what, path, &request)?,
            None => Stored::new(&request),
        };
        let mut stored = Stored::new(&request);
        stored.finished.clone_from(&before.finished);
        stored.begun.clone_from(&before.begun);
        // `is_new` is determined before the file is written, because a file that appears later belongs to
        // another run. Without locks, only the existence of the file can be tested.
        let is_new = match cfg!(unix) {
            true => held.is_none(),
            false => destination.is_some_and(|destination| destination.replaces().is_none()),
        };
        let mut now = PendingContents {
            stored,
            written: Instant::now(),
            took: Duration::ZERO,
            failed: None,
            held,
            is_new,
        };
        if let Some(destination) = destination {
            now.write(destination)?;
        }
        Ok(Self { destination: destination.cloned(), every, before, now: Mutex::new(now) })
    }

    /// Checks before any computation whether a checkpoint can be written to a destination. Returns the locked
    /// file if it exists.
    ///
    /// # Errors
    ///
    /// Same as [`open`](Self::open).
    pub fn check(
        destination: &Destination,
        resume: Option<(&str, &Path)>,
    ) -> Result<Option<File>, FileError> {
        let Destination::File { path, what, .. } = destination else {
            return Err(FileError::NotRegular { what: destination.what() });
        };
        let held = lock(path, what)?;
        refuse_to_lose(destination, resume.map(|(_, path)| path))?;
        Ok(held)
    }

    /// Returns the explanation of a row that an earlier process finished.
    pub fn finished(&self, row: usize) -> Option<&Explanation> {
        self.before.finished.get(&row)
    }

    /// Returns the rows that earlier processes finished, in order.
    pub fn finished_rows(&self) -> impl Iterator<Item = (usize, &Explanation)> {
        self.before.finished.iter().map(|(&row, explanation)| (row, explanation))
    }

    /// Returns the state of a row that an earlier process started.
    pub fn begun(&self, row: usize) -> Option<Checkpoint> {
        self.before.begun.get(&row).cloned()
    }

    /// Stores the state of a row and writes the file, if the file is due to be written or `is_last` is set.
    /// Returns `Break` if this or an earlier write failed.
    pub fn progress(&self, row: usize, progress: &Progress<'_>, is_last: bool) -> ControlFlow<()> {
        let Some(destination) = &self.destination else { return ControlFlow::Continue(()) };
        let mut now = self.now();
        if is_last || now.is_due(self.every) {
            now.stored.begun.insert(row, progress.checkpoint());
            now.try_write(destination);
        }
        if now.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Stores the explanation of a row, and writes the file if it is due.
    pub fn done(&self, row: usize, explanation: &Explanation) {
        let Some(destination) = &self.destination else { return };
        let mut now = self.now();
        now.stored.begun.remove(&row);
        now.stored.finished.insert(row, explanation.clone());
        if now.is_due(self.every) {
            now.try_write(destination);
        }
    }

    /// Writes the file with all rows stored so far.
    ///
    /// # Errors
    ///
    /// [`FileError::Write`], from this or an earlier write.
    pub fn write(&self) -> Result<(), FileError> {
        let mut now = self.now();
        if let Some(failed) = now.failed.take() {
            return Err(failed);
        }
        match &self.destination {
            Some(destination) => now.write(destination),
            None => Ok(()),
        }
    }

    /// Writes the file with all rows stored so far, and unlocks it for other runs.
    ///
    /// # Errors
    ///
    /// Same as [`write`](Self::write).
    pub fn finish(&self) -> Result<(), FileError> {
        let written = self.write();
        self.now().held = None;
        written
    }

    /// Locks the state. Ignores poisoning: a panic cannot leave it inconsistent.
    fn now(&self) -> MutexGuard<'_, PendingContents> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingContents {
    /// Returns whether the file is due to be written. The interval is long enough that writing takes at most
    /// 5% of the run time.
    fn is_due(&self, every: Duration) -> bool {
        self.written.elapsed() >= every.max(20 * self.took)
    }

    fn try_write(&mut self, destination: &Destination) {
        let started = Instant::now();
        if let Err(error) = self.write(destination) {
            self.failed = Some(error);
        }
        self.written = Instant::now();
        self.took = started.elapsed();
    }

    /// Writes the file. The new file is locked before it replaces the old one.
    fn write(&mut self, destination: &Destination) -> Result<(), FileError> {
        self.stored.digest = self.stored.digest_of_the_rest()?;
        let mut sink = destination.open()?;
        serde_json::to_writer(&mut sink, &self.stored).map_err(|error| match error.is_io() {
            true => FileError::Write(error.into()),
            false => FileError::Format { what: "the checkpoint", source: error },
        })?;
        match sink.finish_as(self.is_new) {
            Ok(file) => self.held = file.filter(|_| cfg!(unix)),
            // Another run has created the file in the meantime.
            Err(FileError::Write(error)) if self.is_new && error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(FileError::InUse { what: destination.what() });
            }
            Err(error) => return Err(error),
        }
        self.is_new = false;
        Ok(())
    }
}

impl Stored {
    fn new(request: &Request) -> Self {
        Self {
            apportion_checkpoint: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            request: request.clone(),
            finished: BTreeMap::new(),
            begun: BTreeMap::new(),
            digest: String::new(),
        }
    }

    fn digest_of_the_rest(&mut self) -> Result<String, FileError> {
        let digest = std::mem::take(&mut self.digest);
        let text = serde_json::to_vec(self);
        self.digest = digest;
        let text = text.map_err(|source| FileError::Format { what: "the checkpoint", source })?;
        Ok(hexadecimal(&Sha256::digest(text)))
    }
}

/// Locks an existing file, so that no other run writes to it. On file systems without locks, this has no
/// effect.
fn lock(path: &Path, what: &str) -> Result<Option<File>, FileError> {
    if !cfg!(unix) {
        return Ok(None);
    }
    loop {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(FileError::Read { what: what.to_owned(), source }),
        };
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(FileError::InUse { what: what.to_owned() });
        }
        // Another run may have replaced the file in the meantime.
        if is_still(path, &file) {
            return Ok(Some(file));
        }
    }
}

/// The finished and unfinished rows in a checkpoint of any version. Error messages contain their numbers.
#[derive(Deserialize)]
struct RowCounts {
    finished: BTreeMap<usize, IgnoredAny>,
    begun: BTreeMap<usize, IgnoredAny>,
}

/// Returns an error if the destination would overwrite a file that is not resumed, and that is either a
/// checkpoint with rows or not a checkpoint. An empty file may be overwritten.
fn refuse_to_lose(destination: &Destination, resume: Option<&Path>) -> Result<(), FileError> {
    let Some(path) = destination.replaces() else { return Ok(()) };
    if resume.is_some_and(|resume| destination.is_path(resume)) {
        return Ok(());
    }
    let what = destination.what();
    match is_checkpoint(path).map_err(|source| FileError::Read { what: what.clone(), source })? {
        None => Ok(()),
        Some(false) => Err(FileError::NotACheckpoint { what }),
        Some(true) => {
            // A file that cannot be parsed may have a different version, with unknown contents.
            let held = fs::read(path).ok().and_then(|text| serde_json::from_slice::<RowCounts>(&text).ok());
            let rows = match held {
                Some(held) if held.finished.is_empty() && held.begun.is_empty() => return Ok(()),
                Some(held) => {
                    format!(" (rows done: {}, in progress: {})", held.finished.len(), held.begun.len())
                }
                None => String::new(),
            };
            Err(FileError::EarlierRun { what, path: path.to_owned(), rows })
        }
    }
}

/// Returns facts about a run from the content `text` of its checkpoint, as pairs of name and value.
///
/// # Errors
///
/// [`FileError::NotCheckpoint`] if `text` is truncated, or is not the content of a checkpoint.
pub fn facts(text: &[u8]) -> Result<Vec<(&'static str, Value)>, FileError> {
    #[derive(Deserialize)]
    struct Contents {
        version: String,
        request: Request,
        finished: BTreeMap<usize, IgnoredAny>,
        begun: BTreeMap<usize, IgnoredAny>,
    }
    let contents: Contents = serde_json::from_slice(text)
        .map_err(|error| FileError::NotCheckpoint { problem: error.to_string() })?;
    let request: Vec<String> = contents.request.iter().map(|(part, is)| format!("{part}: {is}")).collect();
    Ok(vec![
        ("version", json!(contents.version)),
        ("rows_explained", json!(contents.finished.len())),
        ("rows_begun", json!(contents.begun.len())),
        ("request", json!(request)),
    ])
}

/// Returns whether a file starts like a checkpoint of any version; `None` for an empty file.
///
/// # Errors
///
/// Any error while opening or reading the file.
pub fn is_checkpoint(path: &Path) -> io::Result<Option<bool>> {
    let mut start = Vec::new();
    File::open(path)?.take(BEGINNING.len() as u64).read_to_end(&mut start)?;
    Ok((!start.is_empty()).then_some(start == BEGINNING))
}

/// Reads the checkpoint in a file, and checks that it belongs to this request.
fn read(what: &str, path: &Path, request: &Request) -> Result<Stored, FileError> {
    let what = || format!("{what}{}{}", if what.is_empty() { "" } else { " " }, path.display());
    let text = fs::read(path).map_err(|source| FileError::Read { what: what(), source })?;
    let corrupt = |problem: String| FileError::Corrupt { what: what(), problem };
    // Check the version first, because other versions may have different contents.
    let head: Head = serde_json::from_slice(&text).map_err(|error| corrupt(error.to_string()))?;
    if (head.version.as_str(), head.apportion_checkpoint) != (env!("CARGO_PKG_VERSION"), FORMAT) {
        return Err(FileError::Version {
            what: what(),
            version: head.version,
            format: head.apportion_checkpoint,
            own_version: env!("CARGO_PKG_VERSION"),
            own_format: FORMAT,
        });
    }
    let mut stored: Stored = serde_json::from_slice(&text).map_err(|error| corrupt(error.to_string()))?;
    if stored.digest_of_the_rest()? != stored.digest {
        return Err(corrupt("the checksum does not match: the file was modified".to_owned()));
    }
    // First compare the parts that users change most often, because differences in other parts may follow
    // from these.
    let first = ["model", "rows", "background"].into_iter();
    for part in first.chain(request.keys().chain(stored.request.keys()).map(String::as_str)) {
        let of = |request: &Request| request.get(part).map_or("nothing", String::as_str).to_owned();
        let (before, actual) = (of(&stored.request), of(request));
        if before != actual {
            return Err(FileError::OtherRun { what: what(), part: part.to_owned(), stored: before, actual });
        }
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path, resumes: bool, seed: &str) -> Result<CheckpointFile, FileError> {
        let destination = Destination::from_option("--checkpoint", path, &[])?;
        let key = Key { seed: seed.to_owned(), ..Key::default() };
        let resume = resumes.then_some(("--resume", path));
        CheckpointFile::open(&key, resume, Some(&destination), Duration::ZERO)
    }

    fn refusal(text: &str, resume: bool) -> Option<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        fs::write(&path, text).unwrap();
        let destination = Destination::from_option("--checkpoint", &path, &[]).unwrap();
        let refused = refuse_to_lose(&destination, resume.then_some(path.as_path()));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        refused.err().map(|error| error.to_string())
    }

    #[test]
    fn nothing_is_lost_to_a_checkpoint() {
        let held = concat!(
            r#"{"apportion_checkpoint":3,"version":"0.1.0","request":{},"#,
            r#""finished":{"0":{}},"begun":{},"digest":""}"#
        );
        let says = refusal(held, false).unwrap();
        assert!(
            says.contains("contains an earlier run (rows done: 1, in progress: 0); pass --resume ")
                && says.ends_with("run.json to continue it, or delete the file"),
            "{says}"
        );
        assert_eq!(refusal(held, true), None);
        let cut_off = refusal(&held[..60], false).unwrap();
        assert!(
            cut_off.contains("contains an earlier run; pass --resume ")
                && cut_off.ends_with("run.json to continue it, or delete the file"),
            "{cut_off}"
        );
        let foreign = refusal("my thesis", false).unwrap();
        assert!(
            foreign.ends_with("exists and is not a checkpoint; choose another path, or delete the file"),
            "{foreign}"
        );
        assert!(refusal("{}", false).is_some());
    }

    #[test]
    fn an_empty_checkpoint_may_be_replaced() {
        assert_eq!(refusal("", false), None);
        let empty = concat!(
            r#"{"apportion_checkpoint":3,"version":"0.1.0","request":{},"#,
            r#""finished":{},"begun":{},"digest":""}"#
        );
        assert_eq!(refusal(empty, false), None);
    }

    #[test]
    fn a_checkpoint_resumes_only_with_its_key_and_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        drop(open(&path, false, "1").unwrap());
        drop(open(&path, true, "1").unwrap());
        let error = open(&path, true, "2").err().unwrap().to_string();
        assert!(error.contains("a different run (seed: 1, now 2); resume with the same seed"), "{error}");
        let text = fs::read_to_string(&path).unwrap();
        for (problem, changed) in [
            ("not a checkpoint", text[..text.len() / 2].to_owned()),
            ("the checksum does not match", text.replace(r#""seed":"1""#, r#""seed":"2""#)),
            ("format 1", text.replace("checkpoint\":3", "checkpoint\":1")),
        ] {
            fs::write(&path, changed).unwrap();
            let error = open(&path, true, "2").err().unwrap().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_second_run_is_refused_while_the_first_lives() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.json");
        let first = open(&path, false, "1").unwrap();
        for _ in 0..3 {
            for resumes in [false, true] {
                let error = open(&path, resumes, "1").err().unwrap();
                assert!(matches!(error, FileError::InUse { .. }), "{error}");
            }
            first.write().unwrap();
        }
        drop(first);
        drop(open(&path, true, "1").unwrap());
        // If several runs start at the same time, only one succeeds.
        for _ in 0..200 {
            fs::remove_file(&path).unwrap();
            let begun: Vec<_> = std::thread::scope(|scope| {
                let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| open(&path, false, "1"))).collect();
                runs.into_iter().map(|run| run.join().unwrap()).collect()
            });
            assert_eq!(begun.iter().filter(|begun| begun.is_ok()).count(), 1);
        }
    }

    #[test]
    fn a_checkpoint_is_a_regular_file() {
        let error = open(Path::new("/dev/null"), false, "1").err().unwrap();
        assert!(matches!(error, FileError::NotRegular { .. }), "{error}");
    }
}
