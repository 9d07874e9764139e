//! Runs that are killed at random times must not leave partial files, and the next run must clean up after
//! them.
//!
//! `APPORTION_KILLS=20 cargo test -p apportion-cli --test command kills` kills each kind of run 20 times.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{files, fixture, on};

fn start(arguments: &[String]) -> std::process::Child {
    Command::new(assert_cmd::cargo::cargo_bin("apportion"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn finish(arguments: &[String]) {
    assert!(start(arguments).wait().unwrap().success(), "{arguments:?}");
}

/// Returns the number of times that each kind of run is killed.
fn kills() -> u32 {
    std::env::var("APPORTION_KILLS").map_or(2, |kills| kills.parse().unwrap())
}

/// Returns a pseudorandom number from 0 to 1, and advances the state.
fn random(draw: &mut u64) -> f64 {
    *draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*draw >> 11) as f64 / (1_u64 << 53) as f64
}

/// Kills runs that write `out`, which must then contain either its previous content or complete results, and
/// checks the files after the next run.
fn kill(arguments: &[String], out: &Path, draw: &mut u64) {
    let folder = out.parent().unwrap();
    let started = Instant::now();
    finish(arguments);
    let took = started.elapsed();
    let whole = fs::read(out).unwrap();
    let left = files(folder).len();
    for kill in 0..kills() {
        let before = if kill % 2 == 0 { Some(b"before".to_vec()) } else { None };
        match &before {
            Some(before) => fs::write(out, before).unwrap(),
            None => fs::remove_file(out).unwrap(),
        }
        let mut child = start(arguments);
        std::thread::sleep(took.mul_f64(1.1 * random(draw)).min(Duration::from_secs(5)));
        let _ = child.kill();
        child.wait().unwrap();
        let found = fs::read(out).ok();
        assert!(found == before || found.as_ref() == Some(&whole), "{arguments:?}: half written");
        finish(arguments);
        assert!(fs::read(out).unwrap() == whole, "{arguments:?}");
        assert_eq!(files(folder).len(), left, "{arguments:?}: {:?}", files(folder));
    }
}

#[test]
fn runs_that_are_killed_leave_whole_files_and_the_next_run_clears_up() {
    let mut draw = 20;
    let mut formats = vec!["json", "jsonl", "csv", "npy", "npz", "table"];
    if cfg!(feature = "columnar") {
        formats.extend(["parquet", "arrow", "feather"]);
    }
    for format in formats {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("results");
        let options = ["--game", "path-dependent", "--format", format, "--out", out.to_str().unwrap()];
        kill(&on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &options), &out, &mut draw);
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("figure.svg");
    let groups = ["groups", "--rows", &fixture("diabetes.csv.gz"), "--figure", out.to_str().unwrap()];
    kill(&groups.map(str::to_owned), &out, &mut draw);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("compiled");
    let (model, rows) = (fixture("diabetes_xgb.json.gz"), fixture("diabetes.csv.gz"));
    let compile =
        ["compile-background", "--model", &model, "--background", &rows, "--out", out.to_str().unwrap()];
    kill(&compile.map(str::to_owned), &out, &mut draw);
}

#[test]
fn a_run_that_is_killed_again_and_again_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let explain = |more: &[&str]| {
        let options =
            ["--select", "0-40", "--method", "leverage-shap", "--budget", "20n", "--checkpoint-every", "0"];
        on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &[&options[..], more].concat())
    };
    let started = Instant::now();
    finish(&explain(&["--checkpoint", &at("whole.json"), "--out", &at("whole")]));
    let took = started.elapsed();
    let mut draw = 4;
    let (checkpoint, out) = (at("run.json"), at("results"));
    let arguments = |is_begun: bool| {
        let more = ["--checkpoint", &checkpoint, "--out", &out, "--resume", &checkpoint];
        explain(if is_begun { &more } else { &more[..4] })
    };
    for _ in 0..kills() {
        let mut child = start(&arguments(Path::new(&checkpoint).exists()));
        std::thread::sleep(took.mul_f64(0.7 * random(&mut draw)));
        let _ = child.kill();
        child.wait().unwrap();
    }
    finish(&arguments(Path::new(&checkpoint).exists()));
    assert!(fs::read(&out).unwrap() == fs::read(at("whole")).unwrap());
    let mut left = files(folder.path());
    left.sort();
    assert_eq!(left, ["results", "run.json", "whole", "whole.json"]);
}
