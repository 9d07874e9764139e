//! A mutant, as stored in `xtask/mutants`.
//!
//! ```text
//! what: pairing: Kernel Banzhaf does not draw pairs
//! file: crates/samplers/src/…
//! test: the_numbers_of_kernel_banzhaf_are_known
//! check: kernel-banzhaf/fig2
//! --- find
//! lines that occur once in the file
//! --- replace
//! lines that replace them
//! ```

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

const FIND: &str = "--- find\n";
const REPLACE: &str = "--- replace\n";

/// A small fault in one file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mutant {
    pub(super) name: String,
    /// Description of the fault.
    pub(super) what: String,
    /// Mutated file, relative to the root of the repository.
    pub(super) file: String,
    find: String,
    replace: String,
    pub(super) catchers: Vec<Catcher>,
}

/// A test or check that should catch a mutant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Catcher {
    /// A unit test of the laboratory.
    Unit(String),
    /// An integration test of the laboratory that compares its output with snapshots.
    Test(String),
    /// The check that compares the verdicts of an artefact with the recorded verdicts.
    Check(String),
}

impl fmt::Display for Catcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit(name) => write!(f, "cargo test --package lab --bin lab {name}"),
            Self::Test(name) => write!(f, "cargo test --package lab --test reproduce {name}"),
            Self::Check(artefact) => write!(f, "cargo xtask reproduce --check {artefact}"),
        }
    }
}

impl Mutant {
    /// Reads a mutant from a file. The name of the mutant is the file name without extension.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let at = || format!("{}: invalid mutant", path.display());
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read_to_string(path).with_context(at)?;
        Self::parse(name, &text).with_context(at)
    }

    fn parse(name: String, text: &str) -> Result<Self> {
        let (head, body) = text.split_once(FIND).context("missing line \"--- find\"")?;
        let (find, replace) = body.split_once(REPLACE).context("missing line \"--- replace\"")?;
        let (mut what, mut file, mut catchers) = (None, None, Vec::new());
        for line in head.lines() {
            let (key, value) = line
                .split_once(": ")
                .with_context(|| format!("invalid line {line:?}; expected KEY: VALUE"))?;
            match key {
                "what" => what = Some(value.to_owned()),
                "file" => file = Some(value.to_owned()),
                "unit" => catchers.push(Catcher::Unit(value.to_owned())),
                "test" => catchers.push(Catcher::Test(value.to_owned())),
                "check" => catchers.push(Catcher::Check(value.to_owned())),
                other => bail!("unknown key {other:?}; expected one of: what, file, unit, test, check"),
            }
        }
        ensure!(!catchers.is_empty(), "missing test that catches the mutant; add a line unit, test or check");
        ensure!(!find.is_empty(), "the text to replace is empty; add it below \"--- find\"");
        ensure!(find != replace, "the replacement equals the text to replace; change one of them");
        Ok(Self {
            name,
            what: what.context("missing line \"what: …\"")?,
            file: file.context("missing line \"file: …\"")?,
            find: find.to_owned(),
            replace: replace.to_owned(),
            catchers,
        })
    }

    /// Returns the text of the mutated file, read from below `root`.
    ///
    /// # Errors
    ///
    /// If the text to replace does not occur exactly once.
    pub(super) fn applied(&self, root: &Path) -> Result<String> {
        let path = root.join(&self.file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{}: cannot read {}", self.name, self.file))?;
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            count => {
                bail!(
                    "{}: the text to replace must occur exactly once (found: {count}) in {}",
                    self.name,
                    self.file
                )
            }
        }
    }

    /// Applies the mutant to its file below `root`, and returns the original text.
    pub(super) fn apply(&self, root: &Path) -> Result<String> {
        let mutated = self.applied(root)?;
        let path = root.join(&self.file);
        let original = std::fs::read_to_string(&path)?;
        std::fs::write(&path, mutated)?;
        Ok(original)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "what: a sign\nfile: a.rs\ntest: of_a\ncheck: p/fig1\n--- find\na + b\n--- replace\na - b\n";

    #[test]
    fn a_mutant_replaces_what_is_there_once_and_else_does_not_apply() {
        let mutant = Mutant::parse("sign".to_owned(), TEXT).unwrap();
        assert_eq!(mutant.catchers, [Catcher::Test("of_a".to_owned()), Catcher::Check("p/fig1".to_owned())]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.rs");
        std::fs::write(&file, "x\na + b\ny\n").unwrap();
        assert_eq!(mutant.apply(folder.path()).unwrap(), "x\na + b\ny\n");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "x\na - b\ny\n");
        for (text, times) in [("x\n", "found: 0"), ("a + b\na + b\n", "found: 2")] {
            std::fs::write(&file, text).unwrap();
            let error = mutant.applied(folder.path()).unwrap_err().to_string();
            assert!(error.contains(times) && error.contains("a.rs"), "{error}");
        }
    }

    #[test]
    fn what_is_no_mutant_is_said() {
        for (text, says) in [
            ("what: a\n", "--- find"),
            ("what: a\nfile: b\n--- find\nx\n--- replace\ny\n", "catch"),
            ("what: a\nfile: b\ntest: c\n--- find\nx\n--- replace\nx\n", "equals the text to replace"),
            ("what: a\ntest: c\n--- find\nx\n--- replace\ny\n", "file"),
            ("who: a\n--- find\nx\n--- replace\ny\n", "who"),
        ] {
            let error = format!("{:#}", Mutant::parse(String::new(), text).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
    }
}
