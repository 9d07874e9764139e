//! Provenance of results: source version, time, command and machine.

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// Provenance of results: the version of the source, the command, and when and where it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Provenance {
    /// Version of the library.
    pub(crate) version: String,
    /// Commit of the source, if available from git.
    pub(crate) commit: Option<String>,
    /// Whether the source has uncommitted changes, if available from git.
    pub(crate) has_changes: Option<bool>,
    pub(crate) command: Vec<String>,
    /// Start of the run, in seconds since the beginning of 1970.
    pub(crate) made_at: u64,
    pub(crate) machine: Machine,
}

/// The machine of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Model of the processor, if the system reports it.
    pub(crate) cpu: Option<String>,
    pub(crate) cores: usize,
    /// Number of threads used, which affects measured times.
    pub(crate) threads: usize,
    pub(crate) os: String,
    pub(crate) arch: String,
}

impl Provenance {
    /// Returns the provenance of this run, with the source in `workspace`.
    ///
    /// # Errors
    ///
    /// If the system clock is set to a time before 1970.
    pub(crate) fn of_this_run(workspace: &Path) -> Result<Self> {
        let (commit, has_changes) = commit(workspace).unzip();
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit,
            has_changes,
            command: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            made_at: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .context("the system clock is set to a time before 1970")?
                .as_secs(),
            machine: machine(),
        })
    }
}

/// Returns the commit of the source in `workspace`, and whether it has uncommitted changes; `None` without
/// git or a repository.
pub(crate) fn commit(workspace: &Path) -> Option<(String, bool)> {
    let git = |arguments: &[&str]| {
        let said = Command::new("git").arg("-C").arg(workspace).args(arguments).output().ok()?;
        said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some((commit, !changes.is_empty()))
}

/// Returns a description of this machine.
fn machine() -> Machine {
    Machine {
        cpu: cpu(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        threads: rayon::current_num_threads(),
        os: os(),
        arch: std::env::consts::ARCH.to_owned(),
    }
}

fn cpu() -> Option<String> {
    let field = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let of_linux = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| field(&text, "model name"));
    let of_mac = || {
        let said = Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
        said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
    };
    of_linux.or_else(|| {
        if cfg!(target_os = "macos") { of_mac() } else { std::env::var("PROCESSOR_IDENTIFIER").ok() }
    })
}

/// Returns the operating system and its release, e.g. `linux 6.1.0`.
fn os() -> String {
    let name = std::env::consts::OS;
    match std::fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => format!("{name} {}", release.trim()),
        Err(_) => name.to_owned(),
    }
}
