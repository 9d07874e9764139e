//! Conversion of panics in third-party decoders to errors.
//!
//! The decoders of Parquet and Zstandard check most of a file, but panic for some corrupt files. The checks
//! of this crate prevent them from allocating excessive memory, which would abort the process. After a panic,
//! only the state of the decoder is inconsistent, and it is discarded.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use crate::error::{Result, RowsError};

thread_local! {
    /// Whether a panic of this thread is converted to an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic of the current thread would be converted to an error. This is the case while a
/// decoder of Parquet or Zstandard is running, which may panic for a corrupt file.
///
/// This crate does not set a panic hook, so the default hook prints a line for such a panic. To suppress it,
/// call this function in a hook:
///
/// ```
/// let default = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !apportion_rows::is_guarded() {
///         default(panic);
///     }
/// }));
/// ```
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Runs `decode`. If it panics, returns the error for a corrupt file.
pub(crate) fn guarded<T>(what: &str, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    let was_guarded = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(was_guarded);
    result.unwrap_or_else(|panic| match panic.downcast::<ReceiverPanic>() {
        // The panic did not occur in a decoder.
        Ok(panic) => std::panic::resume_unwind(panic.0),
        Err(_) => Err(RowsError::corrupt(format!("the {what} is corrupt"))),
    })
}

/// A panic of the receiver of rows.
struct ReceiverPanic(Box<dyn std::any::Any + Send>);

/// Runs code inside [`guarded`] that does not belong to a decoder. Panics of this code are reported, and
/// remain panics.
pub(crate) fn unguarded<T>(receive: impl FnOnce() -> T) -> T {
    let was_guarded = IS_GUARDED.replace(false);
    let result = catch_unwind(AssertUnwindSafe(receive));
    IS_GUARDED.set(was_guarded);
    match result {
        Ok(value) => value,
        Err(panic) if was_guarded => panic_any(ReceiverPanic(panic)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_decoder_is_an_error_and_one_of_a_receiver_remains() {
        let error = guarded::<()>("Parquet file", || panic!("index out of bounds")).unwrap_err();
        assert_eq!(error.to_string(), "the Parquet file is corrupt; write the file again");
        assert_eq!(guarded("Parquet file", || Ok(unguarded(|| 3))).unwrap(), 3);
        let panic = catch_unwind(|| {
            let _ = guarded::<()>("Parquet file", || unguarded(|| std::panic::resume_unwind(Box::new(7))));
        });
        assert_eq!(*panic.unwrap_err().downcast::<i32>().unwrap(), 7);
    }
}
