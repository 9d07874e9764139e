//! Output of `cargo metadata`: the packages of the workspace and all their dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::version::{Needed, RustVersion};

/// Packages and their resolved dependencies.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    workspace_default_members: Vec<String>,
    resolve: Resolve,
    workspace_root: String,
}

/// A package of the workspace or a dependency.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Package {
    id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    rust_version: Option<String>,
    manifest_path: String,
    /// Registries that the package may be published to: empty for `publish = false`, `None` if unrestricted.
    publish: Option<Vec<String>>,
    targets: Vec<Target>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone, Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Dependency {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

/// A crate of the workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Path of the crate, relative to the root of the repository.
    pub(crate) folder: String,
    pub(crate) has_library: bool,
    /// Names of the packages that the manifest depends on directly, including dev-dependencies and build
    /// dependencies.
    pub(crate) needs: Vec<String>,
    /// Names of all packages that the crate is built with when the workspace is built, excluding packages
    /// that only tests need.
    pub(crate) builds_with: Vec<String>,
    pub(crate) is_published: bool,
    pub(crate) rust_version: Option<RustVersion>,
    /// The highest Rust version that the dependencies require, excluding dev-dependencies.
    pub(crate) needed: Option<Needed>,
}

impl Metadata {
    /// Runs `cargo metadata` with the versions in `Cargo.lock`.
    ///
    /// # Errors
    ///
    /// If Cargo cannot be run or fails.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let said = Command::new(cargo)
            .args(["metadata", "--format-version", "1", "--locked"])
            .current_dir(root)
            .output()
            .context("cannot run cargo metadata")?;
        if !said.status.success() {
            bail!("cargo metadata failed: {}", String::from_utf8_lossy(&said.stderr).trim());
        }
        Self::parse(&said.stdout)
    }

    fn parse(json: &[u8]) -> Result<Self> {
        serde_json::from_slice(json).context("cannot read the output of cargo metadata")
    }

    /// Returns the crates of the workspace.
    pub(crate) fn members(&self) -> Vec<Member> {
        let members = self.workspace_members.iter().filter_map(|id| self.package(id));
        members.map(|package| self.member(package)).collect()
    }

    /// Returns all packages built by users of the published crates, including these crates, sorted by name
    /// and version.
    pub(crate) fn shipped(&self) -> Vec<Package> {
        let published = |id: &&String| self.package(id).is_some_and(Package::is_published);
        let roots = self.workspace_members.iter().filter(published).map(String::as_str);
        let mut packages: Vec<Package> =
            self.needed_by(roots, false).into_iter().filter_map(|id| self.package(id)).cloned().collect();
        packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
        packages
    }

    /// Returns the Rust version that `cargo test` and `cargo xtask` need in a clone: the highest
    /// `rust-version` of the default members, of xtask and of their dependencies, including dev-dependencies.
    pub(crate) fn needed_in_a_clone(&self) -> Option<Needed> {
        let is_harness = |id: &&String| self.package(id).is_some_and(|package| package.name == "xtask");
        let harness = self.workspace_members.iter().filter(is_harness);
        self.largest(
            &self.needed_by(self.workspace_default_members.iter().chain(harness).map(String::as_str), true),
        )
    }

    fn member(&self, package: &Package) -> Member {
        let folder = package.manifest_path.trim_end_matches("Cargo.toml").trim_end_matches(['/', '\\']);
        let folder = folder.strip_prefix(&self.workspace_root).unwrap_or(folder);
        let mut others = self.needed_by([package.id.as_str()], false);
        others.remove(package.id.as_str());
        Member {
            name: package.name.clone(),
            folder: folder.replace('\\', "/").trim_start_matches('/').to_owned(),
            has_library: package.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "lib")),
            builds_with: others
                .iter()
                .filter_map(|id| self.package(id))
                .map(|other| other.name.clone())
                .collect(),
            is_published: package.is_published(),
            needs: package.dependencies.iter().map(|dependency| dependency.name.clone()).collect(),
            rust_version: package.rust_version.as_deref().and_then(RustVersion::parse),
            needed: self.largest(&others),
        }
    }

    fn largest(&self, ids: &BTreeSet<&str>) -> Option<Needed> {
        let packages = ids.iter().filter_map(|id| self.package(id));
        let asked = packages.filter_map(|package| {
            let version = RustVersion::parse(package.rust_version.as_deref()?)?;
            Some(Needed { version, package: package.name.clone() })
        });
        asked.max()
    }

    /// Returns the packages `roots` and all their dependencies on any platform; `with_tests` includes the
    /// dev-dependencies of the roots.
    fn needed_by<'a>(
        &'a self,
        roots: impl IntoIterator<Item = &'a str>,
        with_tests: bool,
    ) -> BTreeSet<&'a str> {
        let nodes: BTreeMap<&str, &Node> =
            self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let roots: BTreeSet<&str> = roots.into_iter().collect();
        let mut found = roots.clone();
        let mut open: Vec<&str> = roots.iter().copied().collect();
        while let Some(id) = open.pop() {
            for edge in nodes.get(id).into_iter().flat_map(|node| &node.deps) {
                // The dev-dependencies of dependencies are never built.
                let counts = |kind: &EdgeKind| {
                    kind.kind.as_deref() != Some("dev") || (with_tests && roots.contains(id))
                };
                if edge.dep_kinds.iter().any(counts) && found.insert(&edge.pkg) {
                    open.push(&edge.pkg);
                }
            }
        }
        found
    }

    fn package(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }
}

impl Package {
    fn is_published(&self) -> bool {
        self.publish.is_none()
    }
}

#[cfg(test)]
impl Package {
    /// Creates a package for tests.
    pub(crate) fn made_up(name: &str, version: &str, license: Option<&str>) -> Self {
        Self {
            id: format!("{name} {version}"),
            name: name.to_owned(),
            version: version.to_owned(),
            license: license.map(str::to_owned),
            rust_version: None,
            manifest_path: String::new(),
            publish: None,
            targets: Vec::new(),
            dependencies: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, rust_version: &str, publish: bool, needs: &[&str]) -> serde_json::Value {
        let publish = if publish { json!(null) } else { json!([]) };
        json!({
            "id": name, "name": name, "version": "1.0.0", "license": "MIT", "rust_version": rust_version,
            "manifest_path": format!("/w/crates/{name}/Cargo.toml"), "publish": publish,
            "targets": [{"kind": ["lib"]}, {"kind": ["test"]}],
            "dependencies": needs.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
        })
    }

    /// Creates metadata for tests. `face` needs `floor` and, for its tests, `tester`, which needs `old`;
    /// `tool` is not published and needs `face` and `new`.
    fn made_up() -> Metadata {
        let needs = |name: &str, kind: Option<&str>| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let json = json!({
            "workspace_root": "/w",
            "packages": [
                package("face", "1.80", true, &["floor", "tester"]),
                package("floor", "1.85.0", true, &[]),
                package("tester", "1.90", true, &["old"]),
                package("old", "1.60", true, &[]),
                package("tool", "1.80", false, &["face", "new"]),
                package("new", "1.95.1", true, &[]),
            ],
            "workspace_members": ["face", "tool"],
            "workspace_default_members": ["face"],
            "resolve": {"nodes": [
                {"id": "face", "deps": [needs("floor", None), needs("tester", Some("dev"))]},
                {"id": "tester", "deps": [needs("old", None)]},
                {"id": "tool", "deps": [needs("face", None), needs("new", Some("build"))]},
            ]},
        });
        Metadata::parse(json.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn members_are_in_their_folders_and_ask_for_what_they_need() {
        let members = made_up().members();
        let [face, tool] = members.as_slice() else { panic!("two members: {members:?}") };
        assert_eq!(
            (face.name.as_str(), face.folder.as_str(), face.has_library),
            ("face", "crates/face", true)
        );
        assert_eq!(face.needs, ["floor", "tester"]);
        assert_eq!((face.builds_with.as_slice(), face.is_published), (["floor".to_owned()].as_slice(), true));
        assert_eq!((tool.builds_with.len(), tool.is_published), (3, false));
        assert_eq!(face.rust_version, RustVersion::parse("1.80.0"));
        assert_eq!(face.needed.clone().unwrap().package, "floor");
        assert_eq!(tool.needed.clone().unwrap().package, "new");
    }

    #[test]
    fn shipped_is_what_users_build() {
        let shipped = made_up().shipped();
        let names: Vec<&str> = shipped.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["face", "floor"]);
    }

    #[test]
    fn a_clone_is_tested_with_all_that_tests_need() {
        let needed = made_up().needed_in_a_clone().unwrap();
        assert_eq!((needed.package.as_str(), needed.version.to_string().as_str()), ("tester", "1.90"));
    }
}
