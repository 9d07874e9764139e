//! Check that the Rust versions stated in manifests and READMEs are sufficient.
//!
//! The `rust-version` of a crate concerns its users, and must be sufficient for all its dependencies. The
//! version in the README concerns clones of the repository, and must be sufficient for `cargo test`, which
//! builds the default members with their tests. A library may therefore support an older Rust than its tests
//! and tools.

use super::files::File;
use super::finding::Finding;
use super::metadata::{Member, Metadata};
use super::version::{Needed, RustVersion};

/// Returns findings for stated Rust versions that are too low or contradict each other.
pub(crate) fn findings(files: &[File], metadata: &Metadata) -> Vec<Finding> {
    let members = metadata.members();
    let mut findings = too_old(&members);
    findings.extend(said_otherwise(files, &members, metadata.needed_in_a_clone().as_ref()));
    findings
}

/// Returns findings for crates whose `rust-version` is lower than the `rust-version` of a dependency.
fn too_old(members: &[Member]) -> Vec<Finding> {
    let broken = members.iter().filter_map(|member| {
        let (own, needed) = (member.rust_version?, member.needed.as_ref()?);
        (own < needed.version).then(|| {
            let wrong = format!(
                "rust-version is {own}, but the dependency `{}` requires {}",
                needed.package, needed.version
            );
            let remedy = format!("write rust-version = \"{}\"", needed.version);
            Finding::new(&format!("{}/Cargo.toml", member.folder), wrong, remedy)
        })
    });
    broken.collect()
}

/// Returns findings for documents that state another Rust version than the required one. Documents in the
/// directory of a crate are compared with the version that the crate requires, other documents with the
/// version for a clone of the repository.
fn said_otherwise(files: &[File], members: &[Member], clone: Option<&Needed>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // The change log mentions the Rust versions of earlier releases.
    for file in files.iter().filter(|file| file.path.ends_with(".md") && file.path != "CHANGELOG.md") {
        let member = members.iter().find(|member| file.path.starts_with(&format!("{}/", member.folder)));
        let of_crate = member.and_then(|member| member.rust_version);
        let Some(wanted) = of_crate.or(clone.map(|needed| needed.version)) else { continue };
        for said in file.text.lines().filter_map(rust_version).filter(|said| *said != wanted) {
            let wrong = format!("mentions Rust {said}, but {wanted} is required");
            findings.push(Finding::new(&file.path, wrong, format!("write {wanted}")));
        }
    }
    findings
}

/// Parses the version in "Rust 1.89", "rustc 1.89" and "Rust toolchain (1.89 or newer)".
fn rust_version(line: &str) -> Option<RustVersion> {
    let (_, after) = line.split_once("Rust").or_else(|| line.split_once("rustc"))?;
    let after = after.trim_start_matches(" toolchain").trim_start().trim_start_matches('(');
    let version: String =
        after.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    RustVersion::parse(version.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> RustVersion {
        RustVersion::parse(text).unwrap()
    }

    fn member(own: &str, needed: &str) -> Member {
        let needed = Needed { version: version(needed), package: "runtime".to_owned() };
        Member {
            name: "net".to_owned(),
            folder: "crates/net".to_owned(),
            rust_version: Some(version(own)),
            needed: Some(needed),
            ..Member::default()
        }
    }

    #[test]
    fn a_crate_older_than_what_it_needs_is_found() {
        assert_eq!(too_old(&[member("1.94", "1.94"), member("1.95", "1.94")]), []);
        let found = too_old(&[member("1.89", "1.94")]);
        assert_eq!(
            found[0].to_string(),
            "crates/net/Cargo.toml: rust-version is 1.89, but the dependency `runtime` requires 1.94; \
             write rust-version = \"1.94\""
        );
    }

    #[test]
    fn documents_say_the_version_of_their_crate_or_of_a_clone() {
        let clone = Needed { version: version("1.95"), package: "fonts".to_owned() };
        let found = |path: &str, text: &str| {
            said_otherwise(&[File::new(path, text)], &[member("1.94", "1.94")], Some(&clone)).len()
        };
        assert_eq!(found("README.md", "a Rust toolchain (1.95 or newer), in a clone"), 0);
        assert_eq!(found("README.md", "a Rust toolchain (1.94 or newer), in a clone"), 1);
        assert_eq!(found("crates/net/README.md", "Needs Rust 1.94, more than the rest."), 0);
        assert_eq!(found("crates/net/README.md", "Needs Rust 1.89."), 1);
        assert_eq!(found("README.md", "A Rust library in 3 parts."), 0);
        assert_eq!(found("CHANGELOG.md", "Needs Rust 1.80."), 0);
    }
}
