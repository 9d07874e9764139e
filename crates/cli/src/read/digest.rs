//! Digests of files, which identify the inputs of a run.

use std::path::Path;

use anyhow::{Context, Result};
use apportion_files::digest;

/// Returns the digest of a file, or an error that contains its path.
pub(crate) fn digest_of_file(path: &Path) -> Result<String> {
    digest::digest_file(path).with_context(|| format!("cannot read {}", path.display()))
}
