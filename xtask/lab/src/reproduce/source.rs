//! Files that are not in the repository, and instructions for getting them.

/// A data file, identified by the SHA-256 of its decompressed bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub(crate) file: &'static str,
    pub(crate) sha256: &'static str,
}

/// Returns instructions for getting files that are not embedded.
pub(crate) fn how_to_get(sources: &[&Source]) -> String {
    let files: Vec<String> =
        sources.iter().map(|source| format!("{} (SHA-256 {}…)", source.file, &source.sha256[..12])).collect();
    let files = match files.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    };
    format!("not embedded; put {files} into a directory, and pass its path with --data or APPORTION_DATA")
}
