//! Imports of a source file, parsed from its text.

use std::collections::BTreeSet;

use super::tokens::tokens;

/// The parts of a file that matter for import cycles, excluding tests, comments and string literals.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Imports {
    pub(super) uses: Vec<Use>,
    /// Paths written out in code, such as `crate::stream::draw` in a function.
    pub(super) paths: Vec<Vec<String>>,
    /// Names of the items defined in the file.
    pub(super) defined: BTreeSet<String>,
    /// Modules declared with `#[cfg(test)]`.
    pub(super) test_modules: BTreeSet<String>,
}

/// One imported name of a `use` declaration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) path: Vec<String>,
    /// The name in the importing file, or `None` for a glob import (`*`).
    pub(super) name: Option<String>,
    /// Whether this is a `pub use`.
    pub(super) is_public: bool,
}

impl Imports {
    pub(super) fn parse(text: &str) -> Self {
        let mut imports = Self::default();
        let code = imports.without_tests(text);
        let tokens = tokens(&code);
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token.as_str() {
                "use" => {
                    let rest = &tokens[at + 1..];
                    let end = rest.iter().position(|token| token == ";").unwrap_or(rest.len());
                    let mut tree = rest[..end].iter().map(String::as_str).peekable();
                    branches(&mut tree, &[], is_public(&tokens[..at]), &mut imports.uses);
                    at += end;
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" | "mod" => {
                    imports.defined.extend(tokens.get(at + 1).cloned());
                }
                // A path after a bare `::` belongs to a type (`<T>::new`) and is not a module path.
                path if path.contains("::")
                    && path != "::"
                    && !follows_colons(&tokens[..at])
                    && !is_visibility(&tokens[..at]) =>
                {
                    imports.paths.push(path.split("::").map(str::to_owned).collect());
                }
                _ => {}
            }
            at += 1;
        }
        imports
    }

    /// Returns the source without comments, string literals and test items, and records the test modules.
    fn without_tests(&mut self, text: &str) -> String {
        let mut kept = String::new();
        let mut lines = text.lines().map(bare);
        while let Some(line) = lines.next() {
            if line.trim() != "#[cfg(test)]" {
                kept.push_str(&line);
                kept.push('\n');
                continue;
            }
            // The item ends at its semicolon, or at the closing brace of its body.
            let (mut depth, mut has_body) = (0i64, false);
            for line in lines.by_ref() {
                let words: Vec<&str> = line.split_whitespace().collect();
                if let ["mod", name] | [_, "mod", name] = words.as_slice() {
                    self.test_modules.extend(name.strip_suffix(';').map(str::to_owned));
                }
                if !line.trim_start().starts_with("#[") {
                    depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
                    has_body |= line.contains('{');
                    if depth <= 0 && (has_body || line.trim_end().ends_with(';')) {
                        break;
                    }
                }
            }
        }
        kept
    }
}

/// Returns a line without its comment and string literals.
fn bare(line: &str) -> String {
    let line = line.replace("'\"'", "").replace("\\\"", "");
    let line: String = line.split('"').step_by(2).collect();
    line.split("//").next().unwrap_or_default().to_owned()
}

/// Parses a use tree: `a::{b, c::{self, d as e}, *}`.
fn branches<'a>(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    stem: &[String],
    is_public: bool,
    uses: &mut Vec<Use>,
) {
    let mut path = stem.to_vec();
    let mut name = None;
    // Whether the branch has ended with a list in braces, or is empty.
    let mut is_done = true;
    while let Some(token) = tokens.next() {
        match token {
            "::" => {}
            "{" => {
                branches(tokens, &path, is_public, uses);
                is_done = true;
            }
            "*" => {
                uses.push(Use { path: path.clone(), name: None, is_public });
                is_done = true;
            }
            "as" => name = tokens.next().map(str::to_owned),
            "," | "}" => {
                if !is_done {
                    uses.push(named(path, name.take(), is_public));
                }
                path = stem.to_vec();
                is_done = true;
                if token == "}" {
                    return;
                }
            }
            names => {
                path.extend(names.split("::").map(str::to_owned));
                is_done = false;
            }
        }
    }
    if !is_done {
        uses.push(named(path, name, is_public));
    }
}

/// Creates a `Use` of one name. The name defaults to the last segment of the path; `a::self` means `a`.
fn named(mut path: Vec<String>, name: Option<String>, is_public: bool) -> Use {
    if path.len() > 1 {
        path.pop_if(|last| last == "self");
    }
    let name = name.or_else(|| path.last().cloned());
    Use { path, name, is_public }
}

/// Returns whether the tokens before a `use` end with `pub` or `pub(…)`.
fn is_public(before: &[String]) -> bool {
    match before {
        [.., last] if last == "pub" => true,
        [.., last] if last == ")" => {
            let opened = before.iter().rposition(|token| token == "(");
            opened.is_some_and(|at| at > 0 && before[at - 1] == "pub")
        }
        _ => false,
    }
}

/// Returns whether the next token is the path of a visibility, as in `pub(in super::super)`, which imports
/// nothing.
fn is_visibility(before: &[String]) -> bool {
    matches!(before, [.., public, open, within] if public == "pub" && open == "(" && within == "in")
}

fn follows_colons(before: &[String]) -> bool {
    before.last().is_some_and(|last| last == "::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(text: &str) -> Vec<String> {
        let said = |found: &Use| {
            let name = found.name.as_deref().unwrap_or("*");
            format!("{}{} as {name}", if found.is_public { "pub " } else { "" }, found.path.join("::"))
        };
        Imports::parse(text).uses.iter().map(said).collect()
    }

    fn paths(text: &str) -> Vec<String> {
        Imports::parse(text).paths.iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn trees_of_names_are_read() {
        assert_eq!(uses("use a::b;"), ["a::b as b"]);
        assert_eq!(
            uses("pub(crate) use a::{b, c::{self, d as e},\n    f::*,};"),
            ["pub a::b as b", "pub a::c as c", "pub a::c::d as e", "pub a::f as *"]
        );
        assert_eq!(uses("pub(in crate::x) use a::b; use super::*;"), ["pub a::b as b", "super as *"]);
        assert_eq!(uses("fn f() { use self::a::b as _; }"), ["self::a::b as _"]);
    }

    #[test]
    fn written_out_paths_are_read_and_those_of_types_are_not() {
        assert_eq!(
            paths("fn f() -> crate::a::B { super::g(c::D::<u8>::new()) }"),
            ["crate::a::B", "super::g", "c::D"]
        );
        assert_eq!(paths("pub(in super::super) struct A; for a in b::c {}"), ["b::c"]);
        assert_eq!(paths("// crate::a\nlet text = \"crate::b\"; //! crate::c"), Vec::<String>::new());
    }

    #[test]
    fn items_for_tests_are_left_out() {
        let text = "#[cfg(test)]\nuse crate::a::A;\nuse crate::b::B;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod \
            twin;\n#[cfg(test)]\nmod tests {\n    use super::*;\n    fn f() {\n    }\n}\nuse crate::c::C;\n";
        assert_eq!(uses(text), ["crate::b::B as B", "crate::c::C as C"]);
        assert_eq!(Imports::parse(text).test_modules, BTreeSet::from(["twin".to_owned()]));
    }

    #[test]
    fn items_are_known_by_name() {
        let defined = Imports::parse("pub struct A;\nfn b() {}\nconst C: u8 = 0;").defined;
        assert_eq!(defined, ["A", "C", "b"].map(str::to_owned).into());
    }
}
