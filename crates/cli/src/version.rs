//! The version, the commit and the features of this build.

/// The optional features.
const FEATURES: [(&str, bool); 2] =
    [("columnar", cfg!(feature = "columnar")), ("networks", cfg!(feature = "networks"))];

/// Returns the text of `--version`: the version, the commit, the features.
pub(crate) fn long() -> String {
    let features: Vec<&str> = FEATURES.iter().filter(|(_, is_in)| *is_in).map(|(name, _)| *name).collect();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    let commit = option_env!("APPORTION_COMMIT").unwrap_or("unknown");
    format!("{}\ncommit: {commit}\nfeatures: {features}", env!("CARGO_PKG_VERSION"))
}
