//! Compares every network of the shared data pack with its reference results, if the pack is available.
//!
//! Other programs computed these results in f64 from the f32 weights. The attributions of the multi-layer
//! perceptron were computed by enumerating all coalitions.

use std::io::Read;

use apportion_games::{Background, MarginalGame, Rows};
use apportion_onnx::Network;
use apportion_values::{Semivalue, enumerate_many};
use serde_json::Value;

use crate::common::shared;

fn truth(name: &str) -> Option<Value> {
    let bytes = std::fs::read(shared().join("truth").join(name).with_extension("json")).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap())
}

fn network(name: &str) -> Network {
    Network::from_path(shared().join("models").join(name).with_extension("onnx")).unwrap()
}

/// Reads the lines of the data table, without its header.
fn lines(truth: &Value) -> Vec<String> {
    let path = shared().join("data").join(truth["data"].as_str().unwrap());
    let bytes = std::fs::read(&path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    text.lines().skip(1).map(str::to_owned).collect()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Parses the first `count` numbers of a line.
fn numbers(line: &str, count: usize) -> Vec<f64> {
    line.split(',').take(count).map(|cell| cell.parse().unwrap()).collect()
}

/// Returns the largest difference, relative to `scale`.
fn error(got: &[f64], expected: &[f64], scale: f64) -> f64 {
    assert_eq!(got.len(), expected.len());
    got.iter().zip(expected).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) / scale
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
}

#[test]
fn values_of_the_perceptron_agree_with_enumeration_in_double_precision() {
    let Some(truth) = truth("adult_mlp") else { return };
    let network = network("adult_mlp");
    assert_eq!((network.feature_count(), network.output_count(), network.output_name()), (12, 1, "logit"));
    let table = lines(&truth);
    let rows = truth["background"].as_array().unwrap().iter().map(|index| index.as_u64().unwrap() as usize);
    let background: Vec<f64> = rows.flat_map(|row| numbers(&table[row], 12)).collect();
    assert_eq!(background.len(), 50 * 12);
    let games = [
        ("interventional_baseline", Background::baseline(floats(&truth["baseline"])).unwrap()),
        ("interventional_background", Background::rows(background, 12).unwrap()),
    ];
    let mut worst = [0.0f64; 3];
    for case in truth["cases"].as_array().unwrap() {
        let explicand = floats(&case["x"]);
        let row = case["row"].as_u64().unwrap() as usize;
        assert_eq!(explicand, numbers(&table[row], 12), "the data file has another row {row}");
        let prediction = [case["prediction"].as_f64().unwrap()];
        let got = network.predictions(Rows::new(&explicand, 12)).unwrap();
        worst[0] = worst[0].max(error(&got, &prediction, largest(&prediction)));
        for (name, background) in &games {
            let game = MarginalGame::new(&network, &explicand, background).unwrap();
            let got = enumerate_many(&game, &[Semivalue::Shapley, Semivalue::Banzhaf]).unwrap();
            let base = case[name]["base"].as_f64().unwrap();
            for ((got, key), worst) in got.iter().zip(["shapley", "banzhaf"]).zip(&mut worst[1..]) {
                let expected = floats(&case[name][format!("{key}_brute_force")]);
                *worst = worst.max(error(&got.values, &expected, largest(&expected)));
                *worst = worst.max(error(&got.base, &[base], base.abs()));
            }
        }
    }
    let [prediction, shapley, banzhaf] = worst;
    eprintln!("adult_mlp: predictions {prediction:.1e}, Shapley {shapley:.1e}, Banzhaf {banzhaf:.1e}");
    assert!(prediction < 1e-6, "{prediction}");
    assert!(shapley.max(banzhaf) < 1e-5, "{shapley}, {banzhaf}");
}

/// Parses an image. The order in the file is row, column and channel. The network expects the order channel,
/// row and column, and values between 0 and 1.
fn image(line: &str, shape: &[usize]) -> Vec<f64> {
    let [channels, height, width] = shape[..] else { panic!("no image: {shape:?}") };
    let pixels = numbers(line, channels * height * width);
    let place = |index: usize| index % (height * width) * channels + index / (height * width);
    (0..pixels.len()).map(|index| f64::from(pixels[place(index)] as f32 / 255.0)).collect()
}

/// Parses the ids of a text, truncated or padded with 0. The ids are found from the end of the line, as the
/// last column but one, because the text may contain commas.
fn tokens(line: &str, length: usize) -> Vec<f64> {
    let ids = line.rsplit(',').nth(1).unwrap();
    let ids = ids.split_whitespace().map(|id| id.parse().unwrap());
    ids.chain(std::iter::repeat(0.0)).take(length).collect()
}

#[test]
fn logits_of_images_and_texts_agree_with_evaluation_in_double_precision() {
    for name in ["mnist38_cnn", "cifar_cnn", "rt_polarity_conv", "ag_news_bag"] {
        let Some(truth) = truth(name) else { return };
        let network = network(name);
        let table = lines(&truth);
        let (rows, expected): (Vec<f64>, Vec<f64>) = if name.ends_with("cnn") {
            let rows = table[..20].iter().flat_map(|line| image(line, network.row_shape())).collect();
            (rows, floats(&truth["logits_first_20_test_rows"]))
        } else {
            let indices = floats(&truth["rows_first_20_test"]);
            let text = |index: &f64| tokens(&table[*index as usize], network.feature_count());
            let logits = truth["logits_first_20_test"].as_array().unwrap();
            (indices.iter().flat_map(text).collect(), logits.iter().flat_map(floats).collect())
        };
        let got = network.predictions(Rows::new(&rows, network.feature_count())).unwrap();
        let error = error(&got, &expected, largest(&expected));
        eprintln!("{name}: {error:.1e}");
        assert!(error < 1e-6, "{name}: {error}");
    }
}
