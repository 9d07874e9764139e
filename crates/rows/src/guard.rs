//! Panics of the decoders of others, as errors.
//!
//! The decoders of Parquet and Zstandard check most of what a damaged file can say, and panic at some of the rest. What they are given here
//! cannot make them take memory out of proportion, which would abort; a panic in them leaves nothing behind but their own state, which is
//! thrown away with it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use crate::error::{Result, RowsError};

thread_local! {
    /// Whether a panic of this thread is turned into an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread, now, would be turned into an error: it is one of a decoder of Parquet or Zstandard at a damaged file.
///
/// This crate sets no panic hook, so that Rust's own prints a line about such a panic. A program that wants none sets one that asks here:
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

/// Runs `decode`; its panic is an error that says that the file is damaged.
pub(crate) fn guarded<T>(what: &str, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    let was_guarded = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(was_guarded);
    result.unwrap_or_else(|panic| match panic.downcast::<OfTheReceiver>() {
        // Not one of a decoder: it goes on its way.
        Ok(panic) => std::panic::resume_unwind(panic.0),
        Err(_) => Err(RowsError::damaged(format!("the {what} is corrupt"))),
    })
}

/// The panic of who receives rows.
struct OfTheReceiver(Box<dyn std::any::Any + Send>);

/// Runs what is no decoder's inside of [`guarded`]: its panic is told, and remains one.
pub(crate) fn unguarded<T>(receive: impl FnOnce() -> T) -> T {
    let was_guarded = IS_GUARDED.replace(false);
    let result = catch_unwind(AssertUnwindSafe(receive));
    IS_GUARDED.set(was_guarded);
    match result {
        Ok(value) => value,
        Err(panic) if was_guarded => panic_any(OfTheReceiver(panic)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_decoder_is_an_error_and_one_of_a_receiver_remains() {
        let error = guarded::<()>("Parquet file", || panic!("index out of bounds")).unwrap_err();
        assert_eq!(error.to_string(), "the Parquet file is corrupt");
        assert_eq!(guarded("Parquet file", || Ok(unguarded(|| 3))).unwrap(), 3);
        let panic = catch_unwind(|| {
            let _ = guarded::<()>("Parquet file", || unguarded(|| std::panic::resume_unwind(Box::new(7))));
        });
        assert_eq!(*panic.unwrap_err().downcast::<i32>().unwrap(), 7);
    }
}
