//! A mistake in the arguments.

/// A mistake in the arguments: exit status 2.
#[derive(Debug)]
pub struct Usage(
    /// What is wrong, and what to do.
    pub String,
);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}
