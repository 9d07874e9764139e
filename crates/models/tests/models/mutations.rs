//! Corrupt files of all formats. Each is rejected, or is a model that can predict, without a panic, an
//! endless loop or exhausted memory.
//!
//! By default, a few hundred files of each format are tested. To test more, run
//! `APPORTION_MUTATIONS=10000 cargo test -p apportion-models mutations`.

use std::time::Instant;

use apportion_games::Rows;
use apportion_models::Ensemble;

use crate::common::{Random, content, json_fixture, ubj};

const FILES: [&str; 28] = [
    "words_xgb.json.gz",
    "words_xgb.ubj.gz",
    "xgboost_vectors.json.gz",
    "xgboost_linear_classes.json.gz",
    "dump_words_xgb.json.gz",
    "words_lgbm.txt.gz",
    "lightgbm_linear.txt.gz",
    "dump_words_lgbm.json.gz",
    "catboost_one_hot.json.gz",
    "catboost_depthwise.json.gz",
    "catboost/simple.cbm.gz",
    "catboost/combined.cbm.gz",
    "catboost/combined.json.gz",
    "treelite_targets.json.gz",
    "scikit_learn/forest_reg.json.gz",
    "onnx/tree_ensemble.onnx",
    "onnx/gb_reg_double.onnx",
    "onnx/linear/imputed.onnx",
    "onnx/linear/classes_double.onnx",
    "onnx/linear/steps.onnx",
    "onnx/linear/two_layers.onnx",
    "onnx/pipelines/words_filled_in.onnx",
    "onnx/pipelines/words_logistic.onnx",
    "onnx/pipelines/voting_weighted.onnx",
    "onnx/pipelines/ada_boost.onnx",
    "onnx/pipelines/isolation.onnx",
    "onnx/pipelines/hand_labels.onnx",
    "onnx/pipelines/hand_overflow.onnx",
];

/// Extreme numbers that replace counts, indices and values.
const EXTREMES: [&str; 12] = [
    "-1",
    "0",
    "255",
    "65536",
    "1048577",
    "2147483647",
    "4294967295",
    "9223372036854775807",
    "1e308",
    "-1e308",
    "NaN",
    "1e-320",
];

/// Returns a corrupt copy of a file. Bytes are changed, parts are removed, repeated or swapped, or numbers
/// are replaced with extreme numbers.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let length = random.below(64).min(bytes.len() - at);
        match random.below(7) {
            0 => bytes[at] = random.next() as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => drop(bytes.drain(at..at + length)),
            3 => {
                let piece = bytes[at..at + length].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            4 => bytes.truncate(at),
            5 => {
                let end = (at + 4).min(bytes.len());
                bytes[at..end].fill([0x00, 0x7f, 0xff][random.below(3)]);
            }
            _ => {
                // Replace the next number in the text of the file.
                let is_digit = |byte: &u8| byte.is_ascii_digit();
                if let Some(start) = bytes[at..].iter().position(is_digit).map(|start| at + start) {
                    let of_number =
                        |byte: &&u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+');
                    let length = bytes[start..].iter().take_while(of_number).count();
                    bytes.splice(start..start + length, EXTREMES[random.below(EXTREMES.len())].bytes());
                }
            }
        }
    }
    bytes
}

#[test]
fn damaged_files_are_refused_or_are_models() {
    let count = std::env::var("APPORTION_MUTATIONS").map_or(300, |count| count.parse().unwrap());
    let portable = ubj(&json_fixture("diabetes_xgb_1_7.json.gz"));
    let files = FILES.iter().map(|file| (*file, content(file))).chain([("diabetes as UBJ", portable)]);
    for (number, (file, bytes)) in files.enumerate() {
        assert!(Ensemble::from_bytes(&bytes).is_ok(), "{file}");
        let (mut refused, mut slowest) = (0, 0.0f64);
        for seed in 0..count {
            let damaged = damaged(&bytes, &mut Random((number as u64) << 32 | seed));
            let started = Instant::now();
            match Ensemble::from_bytes(&damaged) {
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
                Ok(model) => {
                    let rows = vec![0.5; model.feature_count()];
                    // Predicting may return an error because a number overflows. Nothing else is required of
                    // a corrupt model.
                    let _ = model.margins(Rows::new(&rows, rows.len())).map(|margins| margins.len());
                }
            }
            slowest = slowest.max(started.elapsed().as_secs_f64());
        }
        assert!(
            refused > 0 && slowest < 10.0,
            "{file}: {refused} of {count} refused, the slowest in {slowest} s"
        );
    }
}

#[test]
fn documents_that_would_fill_memory_are_refused() {
    let (list, object) = ("[],".repeat(4_000_000), "{\"a\":0},".repeat(2_000_000));
    for text in [format!("[{list}0]"), format!("[{object}0]"), format!("{{\"learner\":[{object}0]}}")] {
        let error = Ensemble::from_bytes(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("in memory"), "{error}");
    }
    let nulls = [&b"{i\x01a["[..], &b"Z".repeat(10_000_000), b"]}"].concat();
    let error = Ensemble::from_bytes(&nulls).unwrap_err().to_string();
    assert!(error.contains("in memory"), "{error}");
}
