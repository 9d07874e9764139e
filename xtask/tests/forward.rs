//! Tests that commands of other packages are built and run with unchanged arguments, and that their exit
//! status is passed on.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

/// Runs `cargo xtask` with these arguments and a fake cargo that prints its arguments and exits with status
/// 2.
fn xtask(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let cargo = folder.path().join("cargo");
    std::fs::write(&cargo, "#!/bin/sh\necho \"$@\"\nexit 2\n").unwrap();
    std::fs::set_permissions(&cargo, Permissions::from_mode(0o755)).unwrap();
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).env("CARGO", &cargo).output().unwrap()
}

#[test]
fn the_laboratory_and_the_trainer_get_their_arguments_and_give_their_status() {
    for (arguments, wanted) in [
        (
            &["reproduce", "fig2", "--out", "x", "--help"][..],
            "Cargo.toml --package lab -- reproduce fig2 --out x --help",
        ),
        (&["laboratory", "--missing", "-999"], "--package lab -- laboratory --missing -999"),
        (&["paper", "folder"], "--package lab -- paper folder"),
        (&["compare", "a", "b"], "--package lab -- compare a b"),
        (&["cite", "all"], "--package lab -- cite all"),
        (&["measure", "frontier"], "--package lab -- measure frontier"),
        (&["train", "--list"], "xtask/lab/train/Cargo.toml -- --list"),
    ] {
        let output = xtask(arguments);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            said.starts_with("run --release ") && said.trim_end().ends_with(wanted),
            "{arguments:?}: {said}"
        );
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn an_unknown_command_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("reprodce").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("reproduce"));
}
