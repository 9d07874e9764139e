//! Interrupts from the keyboard, and requests to end: programs are ended, and what a checkpoint keeps is written before the run ends.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

/// The exit status of whoever was interrupted, as shells have it.
const STATUS: u8 = 130;

static LISTENING: Once = Once::new();
/// Whether there is a checkpoint to be written first.
static KEEPS: AtomicBool = AtomicBool::new(false);
static WAS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Listens for interrupts. Programs do not hear of them otherwise, and would outlive the run.
pub(crate) fn listen() -> Result<()> {
    let mut listening = Ok(());
    LISTENING.call_once(|| {
        listening = ctrlc::set_handler(|| {
            // Whoever asks twice does not want to wait.
            let is_again = WAS_INTERRUPTED.swap(true, Ordering::SeqCst);
            apportion_program::end_all();
            if is_again || !KEEPS.load(Ordering::SeqCst) {
                std::process::exit(STATUS.into());
            }
        });
    });
    listening.context("cannot listen for interruptions")
}

/// From now on the first interrupt does not end the run at once: it ends after it has kept what was done.
pub(crate) fn keep_first() -> Result<()> {
    KEEPS.store(true, Ordering::SeqCst);
    listen()
}

/// Whether there was an interrupt.
pub(crate) fn was_interrupted() -> bool {
    WAS_INTERRUPTED.load(Ordering::SeqCst)
}

/// The exit status of a run that an interrupt ends at once: the programs that it ends may fail their calls before the run is over.
pub(crate) fn status() -> Option<u8> {
    (was_interrupted() && !KEEPS.load(Ordering::SeqCst)).then_some(STATUS)
}
