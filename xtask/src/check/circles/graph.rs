//! Import graph of the files of a crate, and its import cycles.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Imports;

/// Maximum number of re-exports that are followed for one name. The limit ensures termination if names
/// re-export each other.
const STEPS: usize = 16;

/// Returns the import cycles of a crate, given the paths of its files relative to `src`. Each cycle is a list
/// of at least two files that all import each other, directly or indirectly.
pub(super) fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let modules = Modules::new(files);
    let reached: Vec<BTreeSet<usize>> = modules.reached();
    let mut circles = Vec::new();
    let mut is_told = vec![false; modules.files.len()];
    for (file, ahead) in reached.iter().enumerate() {
        if is_told[file] || !ahead.contains(&file) {
            continue;
        }
        let circle: Vec<usize> =
            ahead.iter().copied().filter(|&other| reached[other].contains(&file)).collect();
        circle.iter().for_each(|&member| is_told[member] = true);
        circles.push(circle.into_iter().map(|member| modules.files[member].path.clone()).collect());
    }
    circles
}

/// Returns the imports between the files of a crate, as pairs of paths relative to `src`.
pub(super) fn imports(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let modules = Modules::new(files);
    let path = |file: usize| modules.files[file].path.clone();
    let imports = |file| modules.imported(file).into_iter().map(move |other| (file, other));
    let all = (0..modules.files.len()).flat_map(imports);
    all.map(|(file, other)| (path(file), path(other))).collect()
}

/// Modules of a crate, one per file.
struct Modules {
    files: Vec<Source>,
    /// File index by module path: `["run", "plan"]` for both `run/plan.rs` and `run/plan/mod.rs`.
    by_path: BTreeMap<Vec<String>, usize>,
}

struct Source {
    path: String,
    module: Vec<String>,
    imports: Imports,
}

impl Modules {
    fn new(files: &[(&str, &str)]) -> Self {
        let sources = files.iter().map(|(path, text)| Source {
            path: (*path).to_owned(),
            module: module(path),
            imports: Imports::parse(text),
        });
        let all: Vec<Source> = sources.collect();
        let mut tests: BTreeSet<Vec<String>> = BTreeSet::new();
        for source in &all {
            let child = |name: &String| [source.module.as_slice(), std::slice::from_ref(name)].concat();
            tests.extend(source.imports.test_modules.iter().map(child));
        }
        let is_test = |module: &[String]| (1..=module.len()).any(|length| tests.contains(&module[..length]));
        let files: Vec<Source> = all.into_iter().filter(|source| !is_test(&source.module)).collect();
        let by_path =
            files.iter().enumerate().map(|(index, source)| (source.module.clone(), index)).collect();
        Self { files, by_path }
    }

    /// Returns, for each file, all files that it imports directly or indirectly. The set contains the file
    /// itself if it is part of a cycle.
    fn reached(&self) -> Vec<BTreeSet<usize>> {
        let next: Vec<BTreeSet<usize>> = (0..self.files.len()).map(|file| self.imported(file)).collect();
        let from = |file: usize| {
            let mut reached = BTreeSet::new();
            let mut open: Vec<usize> = next[file].iter().copied().collect();
            while let Some(other) = open.pop() {
                if reached.insert(other) {
                    open.extend(&next[other]);
                }
            }
            reached
        };
        (0..self.files.len()).map(from).collect()
    }

    /// Returns the other files that a file imports.
    fn imported(&self, file: usize) -> BTreeSet<usize> {
        let Source { module, imports, .. } = &self.files[file];
        let uses = imports.uses.iter().filter(|found| !found.is_public).map(|found| &found.path);
        let found = uses.chain(&imports.paths).filter_map(|path| self.resolved(module, path, STEPS));
        found.filter(|&other| other != file).collect()
    }

    /// Returns the file that defines `path` as seen from `module`, or `None` if the item is in another crate.
    fn resolved(&self, module: &[String], path: &[String], steps: usize) -> Option<usize> {
        let steps = steps.checked_sub(1)?;
        let (mut place, mut rest) = self.start(module, path)?;
        while let Some((name, after)) = rest.split_first() {
            let child = [place.as_slice(), std::slice::from_ref(name)].concat();
            if name == "self" {
                rest = after;
            } else if name == "super" {
                place.pop()?;
                rest = after;
            } else if self.by_path.contains_key(&child) {
                (place, rest) = (child, after);
            } else {
                return self
                    .exported(&place, name, after, steps)
                    .or_else(|| self.by_path.get(&place).copied());
            }
        }
        self.by_path.get(&place).copied()
    }

    /// Returns the module at which a path starts (e.g. for `crate` or `super`), and the rest of the path.
    fn start<'a>(&self, module: &[String], path: &'a [String]) -> Option<(Vec<String>, &'a [String])> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest)),
            "self" => Some((module.to_vec(), rest)),
            "super" => Some((module.split_last()?.1.to_vec(), rest)),
            _ => {
                let child = [module, std::slice::from_ref(first)].concat();
                self.by_path.contains_key(&child).then_some((child, rest))
            }
        }
    }

    /// Returns the file that provides a name which a module imports, either by name or with a glob import.
    fn exported(&self, place: &[String], name: &str, after: &[String], steps: usize) -> Option<usize> {
        let imports = &self.files[*self.by_path.get(place)?].imports;
        if imports.defined.contains(name) {
            return None;
        }
        if let Some(found) = imports.uses.iter().find(|found| found.name.as_deref() == Some(name)) {
            return self.resolved(place, &[found.path.as_slice(), after].concat(), steps);
        }
        let from_all = imports.uses.iter().filter(|found| found.name.is_none()).filter_map(|found| {
            let other = self.resolved(place, &found.path, steps)?;
            let has = &self.files[other].imports;
            let exports = || has.uses.iter().any(|found| found.name.as_deref() == Some(name));
            (has.defined.contains(name) || exports()).then_some(other)
        });
        from_all.into_iter().next()
    }
}

/// Returns the module path of a file, given its path relative to `src`.
fn module(path: &str) -> Vec<String> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
    let is_root = matches!(path, "lib" | "main");
    module.pop_if(|last| is_root || last == "mod");
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_import_each_other_are_circles() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
            ("a.rs", "use crate::b::B;\npub struct A;\n"),
            ("b.rs", "use super::c::C;\npub struct B;\n"),
            ("c.rs", "pub struct C;\nfn f() { crate::a::A; }\n"),
            ("d.rs", "use crate::a::A;\n"),
        ];
        assert_eq!(circles(&files), [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn a_name_that_is_exported_again_is_in_the_file_that_defines_it() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::*;\n"),
            ("a.rs", "pub struct A;\nuse crate::B;\n"),
            ("b.rs", "pub struct B;\n"),
        ];
        assert_eq!(circles(&files), Vec::<Vec<String>>::new());
        let files = [files[0], files[1], ("b.rs", "pub struct B;\nuse crate::A;\n")];
        assert_eq!(circles(&files), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn a_parent_and_a_child_that_need_each_other_are_a_circle() {
        let files = [
            ("lib.rs", "mod parent;\n"),
            ("parent/mod.rs", "mod child;\nfn f() { child::g() }\npub struct P;\n"),
            ("parent/child.rs", "use super::P;\npub fn g() {}\n"),
        ];
        assert_eq!(circles(&files), [["parent/mod.rs", "parent/child.rs"]]);
    }

    #[test]
    fn tests_stand_in_no_circle() {
        let files = [
            ("lib.rs", "mod a;\n"),
            ("a/mod.rs", "#[cfg(test)]\nmod tests;\nfn f() { tests::g() }\n"),
            ("a/tests.rs", "use super::*;\n"),
        ];
        assert_eq!(circles(&files), Vec::<Vec<String>>::new());
    }

    #[test]
    fn names_that_lead_to_each_other_come_to_an_end() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a.rs", "pub use crate::b::X;\n"),
            ("b.rs", "pub use crate::a::X;\nuse crate::a::X as Y;\n"),
        ];
        assert_eq!(circles(&files), Vec::<Vec<String>>::new());
    }
}
