//! Compares the predictions of networks exported with skl2onnx with the predictions of scikit-learn
//! (`tests/fixtures/exports.py`).

use apportion_games::Rows;
use apportion_onnx::{Network, NetworkOptions, OnnxError};
use serde_json::Value;

const EXPECTED: &str = include_str!("../fixtures/exported.json");
const CLASSIFIERS: [(&str, &[u8], usize); 2] = [
    ("iris", include_bytes!("../fixtures/exported_iris.onnx"), 3),
    ("cancer", include_bytes!("../fixtures/exported_cancer.onnx"), 2),
];
const REGRESSOR: &[u8] = include_bytes!("../fixtures/exported_diabetes.onnx");

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn assert_predicts(network: &Network, name: &str) {
    let expected: Value = serde_json::from_str(EXPECTED).unwrap();
    let (rows, wanted) = (numbers(&expected[name]["rows"]), numbers(&expected[name]["predictions"]));
    let got = network.predictions(Rows::new(&rows, network.feature_count())).unwrap();
    assert_eq!(got.len(), wanted.len());
    let largest = wanted.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    for (got, wanted) in got.iter().zip(&wanted) {
        assert!((got - wanted).abs() < 1e-6 * largest, "{name}: {got} {wanted}");
    }
}

#[test]
fn a_pipeline_of_scaling_and_a_perceptron_predicts_as_scikit_learn() {
    assert_predicts(&Network::from_bytes(REGRESSOR).unwrap(), "diabetes");
}

#[test]
fn the_probabilities_of_a_classifier_are_chosen_by_name() {
    for (name, bytes, classes) in CLASSIFIERS {
        let error = Network::from_bytes(bytes).unwrap_err();
        assert!(
            matches!(&error, OnnxError::Outputs { names } if names == &["label", "probabilities"]),
            "{error}"
        );
        assert!(error.to_string().contains("--model-output"), "{error}");
        let network = NetworkOptions::new().output("probabilities").from_bytes(bytes).unwrap();
        assert_eq!((network.output_count(), network.row_shape().len()), (classes, 1));
        assert_predicts(&network, name);
        let error = NetworkOptions::new().output("label").from_bytes(bytes).unwrap_err();
        assert!(matches!(error, OnnxError::ElementType { .. }), "{error}");
    }
}
