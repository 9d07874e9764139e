//! Fuzzes checkpoints, as read by `explain --resume`: the raw bytes and, if they parse as a checkpoint, its
//! runs with corrected checksums.

#![no_main]

mod command;
#[path = "../../../trees/fuzz/fuzz_targets/texts/mod.rs"]
mod texts;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use apportion::{Checkpoint, Explanation};
use command::{run, write};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The arguments of `explain`. They request an accuracy, so that an observer follows the run.
const EXPLAIN: [&str; 18] = [
    "explain",
    "--model",
    "@model.json",
    "--rows",
    "@rows.csv",
    "--game",
    "marginal",
    "--background",
    "@rows.csv",
    "--method",
    "leverage-shap",
    "--budget",
    "40",
    "--until",
    "0.01",
    "--threads",
    "1",
    "--out",
];

/// The content of a checkpoint file.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    apportion_checkpoint: u32,
    version: String,
    request: BTreeMap<String, String>,
    finished: BTreeMap<usize, Explanation>,
    begun: BTreeMap<usize, Checkpoint>,
    digest: String,
}

/// The checkpoint that the command writes for a complete run.
static WRITTEN: LazyLock<Stored> = LazyLock::new(|| {
    let checkpoint = [&EXPLAIN[..], &["@out.json", "--checkpoint", "@whole.json"]].concat();
    run(&checkpoint).expect("a run that is sound");
    let text = std::fs::read(command::path("whole.json")).expect("what was written");
    serde_json::from_slice(&text).expect("a checkpoint")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let written = &*WRITTEN;
    resume(bytes);
    // Also try the bytes as the checkpoint file of a new run, which must not overwrite it.
    run(&[&EXPLAIN[..], &["@out.json", "--checkpoint", "@run.json"]].concat());
    let Ok(stored) = serde_json::from_slice::<Stored>(bytes) else { return };
    let begun = stored.begun.into_iter().map(|(row, checkpoint)| (row, sealed(&checkpoint))).collect();
    let mut stored = Stored { finished: stored.finished, begun, digest: String::new(), ..written.clone() };
    stored.digest = hexadecimal(&serde_json::to_vec(&stored).expect("runs are JSON"));
    resume(&serde_json::to_vec(&stored).expect("runs are JSON"));
});

libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    texts::mutate(bytes, size, most, seed)
});

fn resume(bytes: &[u8]) {
    write("run.json", bytes);
    run(&[&EXPLAIN[..], &["@out.json", "--resume", "@run.json"]].concat());
}

/// Returns the checkpoint with the correct checksum of its content.
fn sealed(checkpoint: &Checkpoint) -> Checkpoint {
    let mut value = serde_json::to_value(checkpoint).expect("a run is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let whole = |value: &Value| value.as_u64().unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut digest = Sha256::new();
    for text in [text(&value["version"]), text(&value["method"]), value["settings"].to_string()] {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    let stored = &value["stored"];
    let (coalitions, scenarios, values) =
        (list(&stored["coalitions"]), list(&stored["scenarios"]), list(&stored["values"]));
    let numbers = ["form", "seed", "players", "outputs", "scenarios"].map(|name| whole(&value[name]));
    let lengths = [coalitions.len() as u64, scenarios.len() as u64, values.len() as u64];
    let bits = values.iter().map(|value| value.as_f64().unwrap_or_default().to_bits());
    let whole = coalitions.iter().chain(&scenarios).map(whole);
    for number in numbers.into_iter().chain(lengths).chain(whole).chain(bits) {
        digest.update(number.to_le_bytes());
    }
    value["digest"] = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    serde_json::from_value(value).unwrap_or_else(|_| checkpoint.clone())
}

fn hexadecimal(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
