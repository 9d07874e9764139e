//! Errors in the command-line arguments.

/// An error for invalid arguments, which ends the program with exit status 2.
#[derive(Debug)]
pub struct Usage(
    /// The problem, and how to fix it.
    pub String,
);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}
