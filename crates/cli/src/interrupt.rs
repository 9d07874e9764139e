//! Handles interrupts and termination requests: kills the programs of `--predict`, and saves the checkpoint
//! before the run ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Once};
use std::time::Duration;

use anyhow::{Context, Result};
use apportion::Cancellation;

/// The exit status after an interrupt, as in shells.
const STATUS: u8 = 130;

/// The time that a run with a checkpoint has after an interrupt to reach a state that can be saved.
const GRACE: Duration = Duration::from_millis(300);

/// The token that cancels a run with a checkpoint.
static CANCELLATION: LazyLock<Cancellation> = LazyLock::new(Cancellation::new);
static LISTENING: Once = Once::new();
/// Whether an interrupt must write a checkpoint before the process exits.
static KEEPS: AtomicBool = AtomicBool::new(false);
static WAS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Installs the interrupt handler. Without it, the programs of `--predict` would not be notified and would
/// outlive the run.
pub(crate) fn listen() -> Result<()> {
    let mut listening = Ok(());
    LISTENING.call_once(|| {
        listening = ctrlc::set_handler(|| {
            // A second interrupt exits at once, without writing the checkpoint.
            let is_again = WAS_INTERRUPTED.swap(true, Ordering::SeqCst);
            apportion_program::end_all();
            if is_again || !KEEPS.load(Ordering::SeqCst) {
                std::process::exit(STATUS.into());
            }
            // Wait on another thread, because this one handles the next interrupt.
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                CANCELLATION.cancel();
            });
        });
    });
    listening.context("cannot install the interrupt handler")
}

/// Makes the first interrupt save the checkpoint before the run ends.
pub(crate) fn keep_first() -> Result<()> {
    KEEPS.store(true, Ordering::SeqCst);
    listen()
}

/// Returns the token that an interrupt cancels, for runs with a checkpoint.
pub(crate) fn cancellation() -> &'static Cancellation {
    &CANCELLATION
}

/// Returns whether an interrupt has occurred.
pub(crate) fn was_interrupted() -> bool {
    WAS_INTERRUPTED.load(Ordering::SeqCst)
}

/// Returns the exit status if an interrupt ends the run at once. Errors of the run are not reported in that
/// case, because the killed programs may have caused them.
pub(crate) fn status() -> Option<u8> {
    (was_interrupted() && !KEEPS.load(Ordering::SeqCst)).then_some(STATUS)
}
