//! Handles keyboard interrupts: kills the running external programs, which do not receive the interrupt, and
//! removes incomplete result directories. Checkpoints are kept.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, Once, PoisonError};

use anyhow::{Context, Result};

use xtask::aside;

/// Exit status after an interrupt, as in shells.
const STATUS: i32 = 130;

static LISTENING: Once = Once::new();
/// IDs of running processes, each the leader of a separate process group.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static CHECKPOINTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Installs the handler of keyboard interrupts.
///
/// # Errors
///
/// If the system does not allow a handler.
pub(crate) fn listen() -> Result<()> {
    let mut listening = Ok(());
    LISTENING.call_once(|| {
        listening = ctrlc::set_handler(|| {
            // Both locks are held until the program exits, so that no further process or directory is
            // created.
            let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            running.iter().for_each(|&id| end_group(id));
            for folder in &*unfinished {
                // If the directory cannot be removed, its name shows that it is unfinished.
                let _ = std::fs::remove_dir_all(folder);
            }
            let checkpoints = CHECKPOINTS.lock().unwrap_or_else(PoisonError::into_inner);
            match checkpoints.iter().filter(|path| keep_if_filled(path)).count() {
                0 => aside!("interrupted before any run finished; nothing is stored"),
                _ => aside!("interrupted: finished runs are stored; repeat the command to resume"),
            }
            std::process::exit(STATUS);
        });
    });
    listening.context("cannot listen for interrupts")
}

/// Starts a process, and registers it to be killed if this program is interrupted.
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

/// Kills a process and everything it has started, and unregisters it. Nothing has waited for the process yet,
/// so its ID cannot have been reused.
pub(super) fn end(child: &mut Child) {
    end_group(child.id());
    // Also kill the process itself, in case killing the group has failed. It is not an error if the process
    // has ended in the meantime.
    let _ = child.kill();
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&child.id());
}

/// Registers an incomplete directory, which is removed on an interrupt.
pub(super) fn begin(folder: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
}

/// Unregisters a directory that is complete or removed.
pub(super) fn finish(folder: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).remove(folder);
}

/// Registers a checkpoint file, which is kept on an interrupt unless it is empty.
pub(super) fn keep(checkpoints: &Path) {
    CHECKPOINTS.lock().unwrap_or_else(PoisonError::into_inner).insert(checkpoints.to_owned());
}

/// Unregisters a checkpoint file, and removes the file if it is empty.
pub(super) fn finish_keeping(checkpoints: &Path) {
    CHECKPOINTS.lock().unwrap_or_else(PoisonError::into_inner).remove(checkpoints);
    keep_if_filled(checkpoints);
}

/// Returns whether a checkpoint file is not empty; removes an empty file.
fn keep_if_filled(checkpoints: &Path) -> bool {
    let holds = std::fs::metadata(checkpoints).is_ok_and(|file| file.len() > 0);
    if !holds {
        // An empty file that cannot be removed is harmless.
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
