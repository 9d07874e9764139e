//! `apportion explain-text` and `explain-image`: compares every case of the data pack's networks with
//! reference values, computed from the definitions in double precision. Without the data pack, nothing is
//! checked here; other tests use the networks of the fixtures.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use apportion::media::Image;
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::media::{explained, largest};
use crate::support::{assert_close, json, numbers};

/// The maximum error relative to the largest value of a case, because networks compute in single precision.
const SINGLE: f64 = 1e-6;

fn shared(folder: &str, name: &str) -> String {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "..", "..", "shared", folder, name].iter().collect();
    path.to_str().unwrap().to_owned()
}

/// Returns the reference document of a model, and its cases. Without the data pack, there are no cases.
fn cases(model: &str) -> (Value, Vec<Value>) {
    let Ok(bytes) = fs::read(shared("truth", &format!("{model}.json"))) else { return Default::default() };
    let truth: Value = serde_json::from_slice(&bytes).unwrap();
    let cases = truth["cases"].as_array().unwrap().clone();
    (truth, cases)
}

/// Compares the values of `output` with the expected ones.
fn check(arguments: &[&str], value: &str, expected: &Value, output: usize) {
    let results = json(&[arguments, &["--value", value, "--method", "exact"]].concat());
    let row = explained(&results);
    let outputs = numbers(&row["base"]).len();
    let got: Vec<f64> = numbers(&row["values"]).into_iter().skip(output).step_by(outputs).collect();
    let expected = numbers(expected);
    assert_close(&got, &expected, largest(&expected), SINGLE, &format!("{arguments:?}, {value}"));
}

/// Returns the keys of the reference document up to this order, each with the name of its value.
fn values(orders: usize) -> Vec<(String, String)> {
    let of_order = |order: usize| {
        [
            (format!("l_shapley_k{order}"), format!("l-shapley={order}")),
            (format!("c_shapley_k{order}"), format!("c-shapley={order},printed")),
        ]
    };
    let others = [("myerson", "myerson")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    (1..=orders).flat_map(of_order).chain(others).collect()
}

#[test]
fn every_text_gets_its_true_values() {
    for (model, vocabulary) in
        [("rt_polarity_conv", "rt_polarity_vocab.txt"), ("ag_news_bag", "ag_news_vocab.txt")]
    {
        for (index, case) in cases(model).1.iter().enumerate() {
            let tokens: Vec<&str> =
                case["tokens"].as_array().unwrap().iter().map(|token| token.as_str().unwrap()).collect();
            let (network, vocabulary) =
                (shared("models", &format!("{model}.onnx")), shared("data", vocabulary));
            let text = tokens.join(" ");
            let arguments = [
                "explain-text",
                "--model",
                &network,
                "--vocab",
                &vocabulary,
                "--text",
                &text,
                "--split",
                "blanks",
            ];
            let results = json(&[&arguments[..], &["--value", "l-shapley=0"]].concat());
            let ids = results["tokens"].as_array().unwrap().iter().map(|token| &token["id"]);
            assert!(ids.eq(case["ids"].as_array().unwrap()), "{text}");
            let output = case["output"].as_u64().unwrap() as usize;
            let row = explained(&results);
            for (key, expected) in [("base", "base"), ("prediction", "logit")] {
                let expected = case[expected].as_f64().unwrap();
                assert_close(
                    &numbers(&row[key])[output..][..1],
                    &[expected],
                    expected.abs().max(1.0),
                    SINGLE,
                    key,
                );
            }
            for (key, value) in values(3) {
                check(&arguments, &value, &case[&key], output);
            }
            // Enumerating all coalitions of the longest texts is too slow to be done for both values.
            if tokens.len() < 12 || index.is_multiple_of(2) {
                check(&arguments, "shapley", &case["shapley_brute_force"], output);
            }
            if tokens.len() < 12 || index == 1 {
                check(&arguments, "banzhaf", &case["banzhaf_brute_force"], output);
            }
        }
    }
}

#[test]
fn every_digit_gets_its_true_values() {
    let (truth, cases) = cases("mnist38_cnn");
    if cases.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::new();
    let file = fs::File::open(shared("data", truth["data"].as_str().unwrap())).unwrap();
    GzDecoder::new(file).read_to_string(&mut table).unwrap();
    let reference = truth["reference_pixel"].to_string();
    let network = shared("models", "mnist38_cnn.onnx");
    for (index, case) in cases.iter().enumerate() {
        let line = table.lines().nth(1 + case["row"].as_u64().unwrap() as usize).unwrap();
        let pixels: Vec<u8> = line.split(',').take(28 * 28).map(|cell| cell.parse().unwrap()).collect();
        let path = folder.path().join("digit.png");
        fs::write(&path, Image::from_bytes(28, 28, 1, &pixels).unwrap().to_png().unwrap()).unwrap();
        let image = path.to_str().unwrap();
        let arguments = ["explain-image", "--model", &network, "--image", image, "--reference", &reference];
        let arguments = [&arguments[..], &["--patch", "7"]].concat();
        for (key, value) in values(2) {
            check(&arguments, &value, &case[&key], 0);
        }
        // All coalitions are enumerated for one digit per value.
        match index {
            0 => check(&arguments, "shapley", &case["shapley_brute_force"], 0),
            1 => check(&arguments, "banzhaf", &case["banzhaf_brute_force"], 0),
            _ => {}
        }
    }
}
