//! Files that are whole or absent.

use std::path::Path;

use anyhow::{Context, Result};

/// Writes `bytes` in a temporary folder beside `path`, then renames: an interrupted run leaves the old file or none.
///
/// # Errors
///
/// If the folder cannot be made, or the file not written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let says = || format!("cannot write {}", path.display());
    let temporary = tempfile::tempdir_in(folder).with_context(says)?;
    let partial = temporary.path().join("partial");
    std::fs::write(&partial, bytes).with_context(says)?;
    std::fs::rename(&partial, path).with_context(says)
}
