//! What an interrupt from the keyboard ends: the programs that run, which would not hear of it, and folders that are not whole. Checkpoints stay.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, Once, PoisonError};

use anyhow::{Context, Result};

use xtask::aside;

/// The exit status of whoever was interrupted, as shells have it.
const STATUS: i32 = 130;

static LISTENING: Once = Once::new();
/// The numbers of processes that run, each the first of a group of its own.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static CHECKPOINTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Listens for interrupts from now on.
///
/// # Errors
///
/// If the system does not allow it.
pub(crate) fn listen() -> Result<()> {
    let mut listening = Ok(());
    LISTENING.call_once(|| {
        listening = ctrlc::set_handler(|| {
            // Both stay locked, so that nothing is started or made any more.
            let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            running.iter().for_each(|&id| end_group(id));
            for folder in &*unfinished {
                // What cannot be removed has a name that says what it is.
                let _ = std::fs::remove_dir_all(folder);
            }
            let checkpoints = CHECKPOINTS.lock().unwrap_or_else(PoisonError::into_inner);
            match checkpoints.iter().filter(|path| keep_if_filled(path)).count() {
                0 => aside!("interrupted: no run had ended, and nothing is kept"),
                _ => aside!(
                    "interrupted: the runs that have ended are kept, and the same command goes on with them"
                ),
            }
            std::process::exit(STATUS);
        });
    });
    listening.context("cannot listen for interrupts")
}

/// Starts a process, which is ended with us.
///
/// # Errors
///
/// If it cannot be started.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    running.insert(child.id());
    Ok(child)
}

/// Ends a process with all that it has started, and forgets it. It was not waited for: its number is still its own.
pub(super) fn end(child: &mut Child) {
    end_group(child.id());
    // Where that has failed. What has ended by itself meanwhile is no failure.
    let _ = child.kill();
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&child.id());
}

/// A folder is not whole from now on.
pub(super) fn begin(folder: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
}

/// A folder is whole, or gone.
pub(super) fn finish(folder: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).remove(folder);
}

/// A file of checkpoints is there from now on.
pub(super) fn keep(checkpoints: &Path) {
    CHECKPOINTS.lock().unwrap_or_else(PoisonError::into_inner).insert(checkpoints.to_owned());
}

/// A file of checkpoints is filled no more; an empty one goes.
pub(super) fn finish_keeping(checkpoints: &Path) {
    CHECKPOINTS.lock().unwrap_or_else(PoisonError::into_inner).remove(checkpoints);
    keep_if_filled(checkpoints);
}

/// Whether a file of checkpoints holds any. An empty one is removed.
fn keep_if_filled(checkpoints: &Path) -> bool {
    let holds = std::fs::metadata(checkpoints).is_ok_and(|file| file.len() > 0);
    if !holds {
        // An empty one that stays does no harm.
        let _ = std::fs::remove_file(checkpoints);
    }
    holds
}

#[cfg(unix)]
fn end_group(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(id, Signal::KILL);
    }
}

#[cfg(windows)]
fn end_group(id: u32) {
    let _ = Command::new("taskkill").args(["/T", "/F", "/PID", &id.to_string()]).output();
}
