//! Suppression of panic messages for panics that become errors, such as panics of decoders for corrupt files.

use std::panic::{set_hook, take_hook};
use std::sync::Once;

/// Installs a panic hook that prints no message for panics that are converted into errors.
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
