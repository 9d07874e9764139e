//! Runs that survive the process: what is explained, and what is known of the rows that are not, in a file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use apportion::{Checkpoint, Explanation, Follow, Progress};
use indicatif::ProgressBar;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::interrupt;
use crate::output::Destination;

/// How every form of the file begins.
pub(crate) const BEGINNING: &[u8] = br#"{"apportion_checkpoint":"#;
/// Version of the form of the file.
const FORM: u32 = 2;

/// What was asked for, by option: a checkpoint of anything else is refused.
pub(crate) type Request = BTreeMap<String, String>;

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    apportion_checkpoint: u32,
    version: String,
    request: Request,
    /// Explained rows, by their place among the selected ones.
    finished: BTreeMap<usize, Explanation>,
    /// Runs of the rows that were begun.
    begun: BTreeMap<usize, Checkpoint>,
    /// SHA-256 of the rest.
    digest: String,
}

/// What every form of the file has.
#[derive(Deserialize)]
struct Head {
    apportion_checkpoint: u32,
    version: String,
}

/// Follows the rows: shows how far they are, and keeps the checkpoint.
pub(crate) struct Runs<'a> {
    progress: &'a ProgressBar,
    destination: Option<&'a Destination>,
    /// Time between two times that the file is written, unless writing takes long.
    every: Duration,
    before: Stored,
    now: Mutex<Now>,
}

/// What the file says next.
struct Now {
    stored: Stored,
    written: Instant,
    /// How long writing took.
    took: Duration,
    failed: Option<anyhow::Error>,
}

impl<'a> Runs<'a> {
    /// Runs of `request`, from the checkpoint in `resume` on where there is one.
    pub(crate) fn new(
        request: &Request,
        resume: Option<&Path>,
        destination: Option<&'a Destination>,
        every: Duration,
        progress: &'a ProgressBar,
    ) -> Result<Self> {
        let before = match resume {
            Some(path) => read(path, request)?,
            None => Stored::new(request),
        };
        let mut stored = Stored::new(request);
        stored.finished.clone_from(&before.finished);
        stored.begun.clone_from(&before.begun);
        if let Some(destination) = destination {
            interrupt::keep_first()?;
            // A place that cannot be written to is to cost no work.
            stored.write(destination)?;
        }
        let now = Now { stored, written: Instant::now(), took: Duration::ZERO, failed: None };
        Ok(Self { progress, destination, every, before, now: Mutex::new(now) })
    }

    /// Writes the checkpoint as it is by now.
    pub(crate) fn keep(&self) -> Result<()> {
        let mut now = self.now();
        if let Some(failed) = now.failed.take() {
            return Err(failed);
        }
        match self.destination {
            Some(destination) => now.stored.write(destination),
            None => Ok(()),
        }
    }

    /// No state is left half changed where a thread panics.
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Now {
    /// Whether it is time to write again: not more than a twentieth of the time goes into it.
    fn is_due(&self, every: Duration) -> bool {
        self.written.elapsed() >= every.max(20 * self.took)
    }

    fn write(&mut self, destination: &Destination) {
        let started = Instant::now();
        if let Err(error) = self.stored.write(destination) {
            self.failed = Some(error);
        }
        self.written = Instant::now();
        self.took = started.elapsed();
    }
}

impl Follow for Runs<'_> {
    fn finished(&self, row: usize) -> Option<Explanation> {
        self.before.finished.get(&row).cloned()
    }

    fn begun(&self, row: usize) -> Option<Checkpoint> {
        self.before.begun.get(&row).cloned()
    }

    fn begin(&self, _: usize) -> ControlFlow<()> {
        if interrupt::was_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn progress(&self, row: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        let error =
            progress.error.map_or_else(String::new, |error| format!(", error {error:.2} of the tolerance"));
        self.progress
            .set_message(format!("{} of {} evaluations{error}", progress.evaluations, progress.next_look));
        let Some(destination) = self.destination else { return ControlFlow::Continue(()) };
        let is_interrupted = interrupt::was_interrupted();
        let mut now = self.now();
        if is_interrupted || now.is_due(self.every) {
            now.stored.begun.insert(row, progress.checkpoint());
            now.write(destination);
        }
        if is_interrupted || now.failed.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn done(&self, row: usize, explanation: &Explanation) {
        self.progress.inc(1);
        let Some(destination) = self.destination else { return };
        let mut now = self.now();
        now.stored.begun.remove(&row);
        now.stored.finished.insert(row, explanation.clone());
        if now.is_due(self.every) {
            now.write(destination);
        }
    }
}

impl Stored {
    fn new(request: &Request) -> Self {
        Self {
            apportion_checkpoint: FORM,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            request: request.clone(),
            finished: BTreeMap::new(),
            begun: BTreeMap::new(),
            digest: String::new(),
        }
    }

    fn write(&mut self, destination: &Destination) -> Result<()> {
        self.digest = self.digest_of_the_rest()?;
        destination.write(|out| Ok(serde_json::to_writer(out, self)?))
    }

    fn digest_of_the_rest(&mut self) -> Result<String> {
        let digest = std::mem::take(&mut self.digest);
        let text = serde_json::to_vec(self)?;
        self.digest = digest;
        Ok(hexadecimal(&Sha256::digest(text)))
    }
}

/// What tells of any form whether something would be lost with it.
#[derive(Deserialize)]
struct Held {
    finished: BTreeMap<usize, IgnoredAny>,
    begun: BTreeMap<usize, IgnoredAny>,
}

/// Refuses a place for the checkpoint where something is that nobody resumes: work of another run, or a file that is no checkpoint.
pub(crate) fn refuse_to_lose(destination: &Destination, resume: Option<&Path>) -> Result<()> {
    let Some(path) = destination.replaces() else { return Ok(()) };
    if resume.is_some_and(|resume| destination.is_path(resume)) {
        return Ok(());
    }
    let name = path.display();
    let is_own = is_checkpoint(path).with_context(|| format!("cannot read --checkpoint {name}"))?;
    match is_own {
        None => Ok(()),
        Some(false) => {
            bail!("--checkpoint {name} is a file already, and no checkpoint; give another name, or remove it")
        }
        Some(true) => {
            // One that cannot be read to its end may be of another version, and hold anything.
            let held = fs::read(path).ok().and_then(|text| serde_json::from_slice::<Held>(&text).ok());
            match held {
                Some(held) if held.finished.is_empty() && held.begun.is_empty() => Ok(()),
                held => {
                    let rows = held.map_or(String::new(), |held| {
                        format!(" (rows explained: {}, begun: {})", held.finished.len(), held.begun.len())
                    });
                    bail!(
                        "--checkpoint {name} holds an earlier run{rows}; --resume {name} goes on; remove it to start anew"
                    )
                }
            }
        }
    }
}

/// What a checkpoint says of itself, whatever it is of: facts by name.
pub(crate) fn facts(text: &[u8]) -> Result<Vec<(&'static str, Value)>> {
    #[derive(Deserialize)]
    struct Told {
        version: String,
        request: Request,
        finished: BTreeMap<usize, IgnoredAny>,
        begun: BTreeMap<usize, IgnoredAny>,
    }
    let told: Told =
        serde_json::from_slice(text).context("the checkpoint was cut off, or is of another version")?;
    let request: Vec<String> = told.request.iter().map(|(what, is)| format!("{what}: {is}")).collect();
    Ok(vec![
        ("version", json!(told.version)),
        ("rows_explained", json!(told.finished.len())),
        ("rows_begun", json!(told.begun.len())),
        ("request", json!(request)),
    ])
}

/// Whether a file begins as a checkpoint of any form; nothing of an empty one.
fn is_checkpoint(path: &Path) -> Result<Option<bool>> {
    let mut start = Vec::new();
    File::open(path)?.take(BEGINNING.len() as u64).read_to_end(&mut start)?;
    Ok((!start.is_empty()).then_some(start == BEGINNING))
}

/// The checkpoint in a file, if it is one of this request.
fn read(path: &Path, request: &Request) -> Result<Stored> {
    let name = path.display();
    let text = fs::read(path).with_context(|| format!("cannot read --resume {name}"))?;
    let is_none = || format!("--resume {name} is no checkpoint, or was cut off: start anew");
    // Another form may hold anything else.
    let head: Head = serde_json::from_slice(&text).with_context(is_none)?;
    let written = (head.version.as_str(), head.apportion_checkpoint);
    if written != (env!("CARGO_PKG_VERSION"), FORM) {
        bail!(
            "--resume {name} was written by version {} of this command in form {}, this is version {} and form {FORM}: start anew",
            written.0,
            written.1,
            env!("CARGO_PKG_VERSION")
        );
    }
    let mut stored: Stored = serde_json::from_slice(&text).with_context(is_none)?;
    if stored.digest_of_the_rest()? != stored.digest {
        bail!("--resume {name} was changed since it was written: start anew");
    }
    for (what, wanted) in request {
        let given = stored.request.get(what).map_or("nothing", String::as_str);
        if given != wanted {
            bail!(
                "--resume {name} is of another {what}: {given} there, {wanted} here; resume with what it was begun with, or start anew"
            );
        }
    }
    Ok(stored)
}

/// SHA-256 of a file, in hexadecimal digits.
pub(crate) fn digest_of_file(path: &Path) -> Result<String> {
    let says = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(says)?;
    let (mut digest, mut bytes) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut bytes).with_context(says)? {
            0 => return Ok(format!("sha256:{}", hexadecimal(&digest.finalize()))),
            read => digest.update(&bytes[..read]),
        }
    }
}

/// SHA-256 of numbers as little-endian float64, in hexadecimal digits.
pub(crate) fn digest_of_numbers(numbers: &[f64]) -> String {
    let mut digest = Sha256::new();
    numbers.iter().for_each(|number| digest.update(number.to_le_bytes()));
    format!("sha256:{}", hexadecimal(&digest.finalize()))
}

/// A number that stands for a text in a digest: the first bits of the digest of the text.
pub(crate) fn number_of_text(text: &str) -> f64 {
    let digest = Sha256::digest(text);
    let first = digest.iter().take(8).fold(0, |bits: u64, &byte| bits << 8 | u64::from(byte));
    f64::from_bits(first)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str, resume: bool) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        fs::write(&path, text).unwrap();
        let destination = Destination::of_option("--checkpoint", &path, &[]).unwrap();
        let refused = refuse_to_lose(&destination, resume.then_some(path.as_path()));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        refused.err().map(|error| error.to_string())
    }

    #[test]
    fn nothing_is_lost_to_a_checkpoint() {
        let held = r#"{"apportion_checkpoint":2,"version":"0.1.0","request":{},"finished":{"0":{}},"begun":{},"digest":""}"#;
        let says = refusal(held, false).unwrap();
        assert!(says.contains("(rows explained: 1, begun: 0); --resume "), "{says}");
        assert!(says.ends_with("goes on; remove it to start anew"), "{says}");
        assert_eq!(refusal(held, true), None);
        let cut_off = refusal(&held[..60], false).unwrap();
        assert!(cut_off.contains("holds an earlier run; --resume "), "{cut_off}");
        let foreign = refusal("my thesis", false).unwrap();
        assert!(
            foreign.ends_with("is a file already, and no checkpoint; give another name, or remove it"),
            "{foreign}"
        );
        assert!(refusal("{}", false).is_some());
    }

    #[test]
    fn what_holds_nothing_may_be_written_over() {
        assert_eq!(refusal("", false), None);
        let empty = r#"{"apportion_checkpoint":2,"version":"0.1.0","request":{},"finished":{},"begun":{},"digest":""}"#;
        assert_eq!(refusal(empty, false), None);
    }
}
