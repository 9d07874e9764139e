//! Atomic file writes.

use std::path::Path;

use anyhow::{Context, Result};

/// Writes `bytes` to a temporary file next to `path`, then renames it, so that an interrupted run leaves
/// either the old file or no file.
///
/// # Errors
///
/// If the directory cannot be created or the file cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the directory {}", folder.display()))?;
    let says = || format!("cannot write {}", path.display());
    let temporary = tempfile::tempdir_in(folder).with_context(says)?;
    let partial = temporary.path().join("partial");
    std::fs::write(&partial, bytes).with_context(says)?;
    std::fs::rename(&partial, path).with_context(says)
}
