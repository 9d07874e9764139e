//! Compares the networks in this crate with the predictions of scikit-learn, and with values computed by
//! their definitions (`tests/fixtures/make.py`).

use apportion_games::{Background, MarginalGame, Rows};
use apportion_onnx::Network;
use apportion_values::{Semivalue, enumerate};
use serde_json::Value;

use crate::common::{DIABETES, IRIS};

fn expected() -> Value {
    serde_json::from_str(include_str!("../fixtures/expected.json")).unwrap()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().flat_map(floats).collect()
}

/// Returns the largest difference, relative to the largest expected number.
fn error(got: &[f64], wanted: &[f64]) -> f64 {
    assert_eq!(got.len(), wanted.len());
    let largest =
        |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |most: f64, value| most.max(value.abs()));
    largest(&mut got.iter().zip(wanted).map(|(a, b)| a - b)) / largest(&mut wanted.iter().copied())
}

#[test]
fn predictions_are_those_of_scikit_learn() {
    for (name, bytes) in [("diabetes_mlp", DIABETES), ("iris_mlp", IRIS)] {
        let network = Network::from_bytes(bytes).unwrap();
        let expected = &expected()[name];
        let rows = matrix(&expected["rows"]);
        let got = network.predictions(Rows::new(&rows, network.feature_count())).unwrap();
        let error = error(&got, &matrix(&expected["predictions"]));
        eprintln!("{name}: {error:.1e}");
        assert!(error < 1e-6, "{name}: {error}");
    }
}

#[test]
fn values_are_those_of_the_definitions() {
    let network = Network::from_bytes(DIABETES).unwrap();
    let expected = &expected()["diabetes_mlp"];
    let background = Background::baseline(floats(&expected["baseline"])).unwrap();
    for case in expected["cases"].as_array().unwrap() {
        let game = MarginalGame::new(&network, &floats(&case["x"]), &background).unwrap();
        for (value, key) in [(Semivalue::Shapley, "shapley"), (Semivalue::Banzhaf, "banzhaf")] {
            let got = enumerate(&game, value).unwrap();
            let error = error(&got.values, &floats(&case[key]));
            eprintln!("{key}: {error:.1e}");
            assert!(error < 1e-5, "{key}: {error}");
        }
    }
}
