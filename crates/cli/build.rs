//! Passes the commit of the source to the program: `APPORTION_COMMIT` if it is set, else the commit that
//! cargo wrote into the package, else the one that git reports for the workspace. The build also succeeds
//! without any of them.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The file that cargo adds to packages made from a repository.
const PACKAGED: &str = ".cargo_vcs_info.json";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=APPORTION_COMMIT");
    if let Some(commit) = given_commit().or_else(packaged).or_else(of_repository) {
        println!("cargo:rustc-env=APPORTION_COMMIT={commit}");
    }
}

fn given_commit() -> Option<String> {
    env::var("APPORTION_COMMIT").ok().filter(|commit| is_commit(commit))
}

fn packaged() -> Option<String> {
    let text = fs::read_to_string(PACKAGED).ok()?;
    let commit = text.split('"').find(|part| is_commit(part))?;
    Some(commit.to_owned())
}

/// Returns the commit of the workspace of this crate. A repository that merely contains a copy of the package
/// does not count.
fn of_repository() -> Option<String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !workspace.join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(&workspace).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // Git appends a line to this log whenever a different commit is checked out.
    let log = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "HEAD"]).filter(|commit| is_commit(commit))
}

fn is_commit(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
