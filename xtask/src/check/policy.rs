//! Policy for third-party packages: `deny.toml`, which `cargo deny` also reads.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// Path of the policy file.
pub(crate) const POLICY: &str = "deny.toml";

/// Allowed licences, and packages allowed in several versions.
#[derive(Debug, Deserialize)]
pub(crate) struct Policy {
    licenses: Licences,
    bans: Bans,
}

#[derive(Debug, Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// Additional licences allowed for one package.
#[derive(Debug, Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Bans {
    skip: Vec<Skip>,
}

#[derive(Debug, Deserialize)]
struct Skip {
    #[serde(rename = "crate")]
    name: String,
}

impl Policy {
    /// Reads the policy of the repository.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or one of the lists is missing.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(root.join(POLICY)).with_context(|| format!("cannot read {POLICY}"))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).with_context(|| format!("cannot read {POLICY}"))
    }

    /// Returns the licences allowed for a package: the licences allowed for all packages, and the exceptions
    /// for this package.
    pub(crate) fn licences_of(&self, package: &str) -> Vec<&str> {
        let own = self.licenses.exceptions.iter().filter(|exception| exception.name == package);
        own.flat_map(|exception| &exception.allow).chain(&self.licenses.allow).map(String::as_str).collect()
    }

    /// Returns the names of the packages allowed in several versions.
    pub(crate) fn in_several_versions(&self) -> impl Iterator<Item = &str> {
        self.bans.skip.iter().map(|skip| skip.name.as_str())
    }

    /// Creates a policy for tests.
    #[cfg(test)]
    pub(crate) fn made_up(licences: &[&str], in_several_versions: &[&str]) -> Self {
        let allow = licences.iter().map(|&licence| licence.to_owned()).collect();
        let skip = in_several_versions.iter().map(|&name| Skip { name: name.to_owned() }).collect();
        Self { licenses: Licences { allow, exceptions: Vec::new() }, bans: Bans { skip } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::workspace;

    #[test]
    fn the_policy_of_the_repository_can_be_read() {
        let policy = Policy::read(&workspace()).unwrap();
        assert!(policy.licences_of("any").contains(&"MIT"));
        let of_fonts = |package: &str| policy.licences_of(package).contains(&"OFL-1.1");
        assert!(of_fonts("epaint_default_fonts") && !of_fonts("any"));
        assert!(policy.in_several_versions().any(|name| name == "syn"));
    }

    #[test]
    fn a_policy_without_a_list_is_refused() {
        let error = format!("{:#}", Policy::parse("[licenses]\nallow = []\n[bans]\n").unwrap_err());
        assert!(error.contains("deny.toml") && error.contains("skip"), "{error}");
    }
}
