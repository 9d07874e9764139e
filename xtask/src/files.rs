//! Atomic file writes.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};

/// The number of files that this process has written.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Writes `bytes` to a temporary file next to `path`, then renames it. An interrupted run leaves the previous
/// file, if there is one, or the complete new file.
///
/// # Errors
///
/// If the directory cannot be created or the file cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the directory {}", folder.display()))?;
    let says = || format!("cannot write {}", path.display());
    let name = path.file_name().with_context(says)?.to_string_lossy();
    // The process ID and the counter make the name unique.
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let partial = folder.join(format!(".{name}.{}-{number}.partial", std::process::id()));
    let written = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, path));
    if written.is_err() {
        // Ignore an error here: the error of the write is reported.
        let _ = std::fs::remove_file(&partial);
    }
    written.with_context(says)
}
