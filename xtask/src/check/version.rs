//! Rust versions as stated in manifests.

/// A required Rust version, and the package that requires it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Needed {
    pub(crate) version: RustVersion,
    pub(crate) package: String,
}

/// A version of Rust; 1.89 and 1.89.0 are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RustVersion([u64; 3]);

impl RustVersion {
    /// Parses `1.89` or `1.89.0`; returns `None` for any other string.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = [0; 3];
        let mut read = 0;
        for part in text.split('.') {
            *parts.get_mut(read)? = part.parse().ok()?;
            read += 1;
        }
        (read >= 2).then_some(Self(parts))
    }
}

impl std::fmt::Display for RustVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}")?;
        if *patch > 0 { write!(f, ".{patch}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_two_or_three_numbers() {
        assert_eq!(RustVersion::parse("1.89"), RustVersion::parse("1.89.0"));
        assert!(RustVersion::parse("1.9") < RustVersion::parse("1.10"));
        assert_eq!(RustVersion::parse("1.89.2").unwrap().to_string(), "1.89.2");
        for text in ["1", "", "1.x", "1.2.3.4"] {
            assert_eq!(RustVersion::parse(text), None, "{text}");
        }
    }
}
