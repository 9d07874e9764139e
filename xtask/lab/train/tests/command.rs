//! Tests of the command on small generated data.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

use std::path::Path;
use std::process::{Command, Output};

/// Returns pseudo-random numbers from 0 to 99, the same in every run.
fn digits(seed: usize) -> impl FnMut() -> usize {
    let mut state = seed as u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % 100
    }
}

/// Creates a directory with 60 rows of the dataset pima and 40 texts of two classes.
fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut draw = digits(1);
    let mut table = "a,b,c,target\n".to_owned();
    for _ in 0..60 {
        let (a, b, c) = (draw(), draw(), draw());
        table.push_str(&format!("{a},{b},{c},{}\n", usize::from(a > b)));
    }
    let mut texts = "split,text,target\n".to_owned();
    for text in 0..40 {
        let words: Vec<String> = (0..12).map(|_| format!("w{}", draw() % 18)).collect();
        let split = if text % 4 == 0 { "test" } else { "train" };
        texts.push_str(&format!("{split},{},{}\n", words.join(" "), text % 2));
    }
    for (name, content) in [("pima.csv", table), ("imdb.csv", texts)] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn train(data: &Path, arguments: &[&str], threads: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_apportion-train"))
        .args(arguments)
        .arg("--data")
        .arg(data)
        .env("RAYON_NUM_THREADS", threads)
        .output()
        .unwrap()
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_number_of_threads() {
    let folder = data();
    let files = ["pima_mlp.onnx", "imdb_word_cnn.onnx", "index.json"];
    let made = |seed: &str, threads: &str| {
        let out = tempfile::tempdir().unwrap();
        let names = ["pima_mlp", "imdb_word_cnn", "--seed", seed, "--out", out.path().to_str().unwrap()];
        let done = train(folder.path(), &names, threads);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        files.map(|file| std::fs::read(out.path().join(file)).unwrap())
    };
    let first = made("5", "1");
    assert!(first == made("5", "2"), "one thread or two");
    let other = made("6", "1");
    assert!(first.iter().zip(&other).all(|(a, b)| a != b), "another seed");
}

#[test]
fn networks_lie_beside_the_data_with_their_hashes() {
    let folder = data();
    let done = train(folder.path(), &["pima_mlp"], "1");
    let message = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        message.starts_with("pima_mlp: accuracy ") && message.contains("on 12 test samples"),
        "{message}"
    );
    let index = std::fs::read_to_string(folder.path().join("networks/index.json")).unwrap();
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    let entry = &index["networks"][0];
    assert_eq!((entry["name"].as_str(), entry["input"].as_str()), (Some("pima_mlp"), Some("columns")));
    assert_eq!(entry["row"], serde_json::json!([3]));
    assert_eq!(entry["data"][0]["file"], "pima.csv");
    for hash in [&entry["file"]["sha256"], &entry["data"][0]["sha256"]] {
        assert_eq!(hash.as_str().map(str::len), Some(64));
    }
    assert!(folder.path().join("networks/pima_mlp.onnx").is_file());
}

#[test]
fn validation_writes_nothing() {
    let folder = data();
    let done = train(folder.path(), &["pima_mlp", "--validate"], "1");
    assert!(done.status.success() && !folder.path().join("networks").exists());
    assert!(String::from_utf8_lossy(&done.stdout).contains("on 6 held-out training samples"));
}

#[test]
fn what_is_missing_is_named_and_the_others_are_trained() {
    let folder = data();
    let done = train(folder.path(), &["german_mlp", "pima_mlp"], "1");
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        !done.status.success() && message.contains("german_mlp: skipped: german.csv not found"),
        "{message}"
    );
    assert!(folder.path().join("networks/pima_mlp.onnx").is_file());
    let done = train(folder.path(), &["resnet"], "1");
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(message.contains("unknown network \"resnet\"; expected one of: imdb_word_cnn, "), "{message}");
    let done = train(Path::new("no/such/folder"), &["pima_mlp"], "1");
    assert!(String::from_utf8_lossy(&done.stderr).contains("--data is not a directory: no/such/folder"));
}
