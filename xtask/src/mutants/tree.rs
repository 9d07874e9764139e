//! The copy of the repository that mutants are applied to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Copy of the repository in `target/mutants/tree`. Unchanged files are not rewritten, so that builds stay
/// incremental.
pub(super) struct Tree {
    folder: PathBuf,
}

impl Tree {
    /// Updates the copy from the files of the workspace that git tracks or would add.
    pub(super) fn copy_of(workspace: &Path) -> Result<Self> {
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(workspace)
            .output()
            .context("cannot start git")?;
        ensure!(listed.status.success(), "git cannot list the files of {}", workspace.display());
        let names = String::from_utf8(listed.stdout).context("a file name is not UTF-8")?;
        let tree = Self { folder: workspace.join("target/mutants") };
        let mut kept = BTreeSet::new();
        for name in names.split_terminator('\0') {
            let from = workspace.join(name);
            if !from.is_file() {
                continue;
            }
            let bytes = std::fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
            let to = tree.path().join(name);
            if std::fs::read(&to).ok().as_ref() != Some(&bytes) {
                let folder = to.parent().unwrap_or(&to);
                std::fs::create_dir_all(folder)
                    .and_then(|()| std::fs::write(&to, &bytes))
                    .with_context(|| format!("cannot write {}", to.display()))?;
            }
            kept.insert(to);
        }
        remove_others(&tree.path(), &kept)?;
        Ok(tree)
    }

    /// Returns the root of the copy.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// Returns the build directory for the copy.
    pub(super) fn builds(&self) -> PathBuf {
        self.folder.join("builds")
    }
}

/// Removes the files below `folder` that are not in `kept`, because they no longer exist in the repository.
fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, kept)?;
        } else if !kept.contains(&path) {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}
