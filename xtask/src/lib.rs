//! What automation and laboratory share.
//!
//! | file | holds |
//! |---|---|
//! | [`told`] | lines for whoever runs a command, and programs that are run |
//! | [`files`] | files that are whole or absent |
//! | [`mod@table`] | tables of numbers and texts |
//! | [`usage`] | a mistake in the arguments |

pub mod files;
pub mod table;
pub mod told;
pub mod usage;

use std::path::{Path, PathBuf};

pub use usage::Usage;

/// The root of the workspace that this program was built in.
pub fn workspace() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// The README has nothing to run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
