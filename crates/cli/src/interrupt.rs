//! Interrupts from the keyboard, and requests to end: programs are ended, and what a checkpoint keeps is written before the run ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Once};
use std::time::Duration;

use anyhow::{Context, Result};
use apportion::Cancellation;

/// The exit status of whoever was interrupted, as shells have it.
const STATUS: u8 = 130;

/// How long a run that keeps a checkpoint may work on after an interrupt, to come to a state that can be kept.
const GRACE: Duration = Duration::from_millis(300);

/// Cancels a run that keeps a checkpoint.
static CANCELLATION: LazyLock<Cancellation> = LazyLock::new(Cancellation::new);
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
            // Not on this thread, which listens for the next interrupt.
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                CANCELLATION.cancel();
            });
        });
    });
    listening.context("cannot install the handler of interrupts")
}

/// From now on the first interrupt does not end the run at once: it ends after it has kept what was done.
pub(crate) fn keep_first() -> Result<()> {
    KEEPS.store(true, Ordering::SeqCst);
    listen()
}

/// The token under which a run that keeps a checkpoint is to work: an interrupt cancels it.
pub(crate) fn cancellation() -> &'static Cancellation {
    &CANCELLATION
}

/// Whether there was an interrupt.
pub(crate) fn was_interrupted() -> bool {
    WAS_INTERRUPTED.load(Ordering::SeqCst)
}

/// The exit status of a run that an interrupt ends at once: the programs that it ends may fail their calls before the run is over.
pub(crate) fn status() -> Option<u8> {
    (was_interrupted() && !KEEPS.load(Ordering::SeqCst)).then_some(STATUS)
}
