//! Which source ran, and on what.

use std::path::Path;
use std::process::Command;

use super::record::Machine;

/// The commit of the source in `workspace`, and whether there are changes beside it; none where there is no git or no repository.
pub(crate) fn commit(workspace: &Path) -> Option<(String, bool)> {
    let git = |arguments: &[&str]| {
        let said = Command::new("git").arg("-C").arg(workspace).args(arguments).output().ok()?;
        said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some((commit, !changes.is_empty()))
}

/// This machine.
pub(crate) fn machine() -> Machine {
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

/// `linux 6.1.0`.
fn os() -> String {
    let name = std::env::consts::OS;
    match std::fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => format!("{name} {}", release.trim()),
        Err(_) => name.to_owned(),
    }
}
