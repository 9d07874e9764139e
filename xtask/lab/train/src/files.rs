//! Hashing and writing of files.

use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Returns the SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file under a temporary name, and renames it when complete.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let folder = path.parent().with_context(cannot)?;
    std::fs::create_dir_all(folder).with_context(cannot)?;
    let partial = path.with_extension("partial");
    std::fs::write(&partial, bytes).with_context(cannot)?;
    std::fs::rename(&partial, path).with_context(cannot)
}
