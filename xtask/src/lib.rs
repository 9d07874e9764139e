//! Code shared by the workspace automation (`cargo xtask`) and the laboratory (`xtask/lab`).
//!
//! | file | contents |
//! |---|---|
//! | [`command`] | printing of lines, and running of programs |
//! | [`files`] | atomic file writes |
//! | [`mod@table`] | tables of numbers and text |
//! | [`usage`] | errors in the arguments |

pub mod command;
pub mod files;
pub mod table;
pub mod usage;

use std::path::{Path, PathBuf};

pub use usage::Usage;

/// Returns the root of the workspace that this program was built in.
pub fn workspace() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Includes the README in the doctests, as every library does; it has no examples to run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
