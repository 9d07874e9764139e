//! Check that packages built by users occur in a single version, except for those listed in the policy.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::metadata::Package;
use super::policy::{POLICY, Policy};

/// Returns findings for packages that occur in several versions without being listed, and for listed packages
/// that occur in a single version.
pub(crate) fn findings(packages: &[Package], policy: &Policy) -> Vec<Finding> {
    let allowed: Vec<&str> = policy.in_several_versions().collect();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let new = versions.iter().filter(|(name, _)| !allowed.contains(name)).map(|(name, versions)| {
        let wrong = format!("`{name}` is built in versions {}", versions.join(" and "));
        let remedy = format!("unify them; see cargo tree --target all --invert {name}@{}", versions[0]);
        Finding::new("Cargo.lock", wrong, remedy)
    });
    let gone = allowed.iter().filter(|name| !versions.contains_key(**name)).map(|name| {
        let wrong = format!("`{name}` is listed as occurring in several versions, but occurs in one");
        Finding::new(POLICY, wrong, "remove it from the list")
    });
    new.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    #[test]
    fn packages_in_two_versions_are_found_unless_they_are_allowed() {
        let packages =
            [("rand", "0.9.0"), ("rand", "0.10.3"), ("serde", "1.0.0"), ("syn", "2.0.0"), ("syn", "3.0.0")];
        let packages = packages.map(|(name, version)| Package::made_up(name, version, Some("MIT")));
        let wanted = "Cargo.lock: `rand` is built in versions 0.9.0 and 0.10.3; ";
        assert_found(&findings(&packages, &Policy::made_up(&[], &["syn"])), &[wanted]);
    }

    #[test]
    fn an_allowance_that_is_not_needed_is_found() {
        let packages = [Package::made_up("syn", "3.0.0", None)];
        assert_found(&findings(&packages, &Policy::made_up(&[], &["syn"])), &["remove it from the list"]);
    }
}
