//! Files that are whole or absent.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result};

/// Writes `bytes` under a temporary name beside `path`, then renames: an interrupted run leaves the old file or none.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut partial = OsString::from(".partial-");
    partial.push(path.file_name().unwrap_or_default());
    let partial = folder.join(partial);
    std::fs::write(&partial, bytes).with_context(|| format!("cannot write {}", partial.display()))?;
    std::fs::rename(&partial, path).with_context(|| format!("cannot write {}", path.display()))
}
