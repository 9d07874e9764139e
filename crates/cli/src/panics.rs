//! Panics that are not printed: those of decoders at damaged files, which are errors of their own.

use std::panic::{set_hook, take_hook};
use std::sync::Once;

/// Leaves out the lines that Rust prints about a panic which becomes an error.
pub(crate) fn leave_out_guarded() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = take_hook();
        set_hook(Box::new(move |panic| {
            if !apportion_rows::is_guarded() {
                default(panic);
            }
        }));
    });
}
