//! LightGBM models: comparison with the values of the library, and explanation of models that remain valid
//! after random changes.

use std::io::Read;

use apportion_games::Rows;
use apportion_trees::{
    Ensemble, Exact, MarginalTreeExplainer, ModelError, PathDependentGame, PathDependentTreeExplainer,
    TreeError,
};
use apportion_values::Semivalue;
use proptest::prelude::*;
use serde_json::Value;

use crate::common::fixture;

fn unzipped(file: &str) -> String {
    let bytes = std::fs::read(fixture(file)).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    text
}

fn text(name: &str) -> String {
    unzipped(&format!("lightgbm_{name}.txt.gz"))
}

fn read(text: &str) -> Result<Ensemble, ModelError> {
    Ensemble::from_bytes(text.as_bytes())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap_or(f64::NAN)).collect()
}

fn assert_close(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        let close = (got - expected).abs() <= tolerance * expected.abs().max(1.0);
        assert!(close, "{what}, number {index}: {got} != {expected}");
    }
}

#[test]
fn path_dependent_values_are_those_of_lightgbm() {
    let mut compared = 0;
    let library: Value = serde_json::from_str(&unzipped("lightgbm_margins.json.gz")).unwrap();
    for (name, said) in library.as_object().unwrap() {
        if said["contributions"].is_null() {
            continue;
        }
        let rows: Vec<f64> = said["rows"].as_array().unwrap().iter().flat_map(numbers).collect();
        let ensemble = read(&text(name)).unwrap();
        let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
        let outputs = ensemble.output_count();
        let expected = numbers(&said["contributions"]);
        let explained = tree_explainer.values(Semivalue::Shapley, Rows::new(&rows, 10).slice(0..4)).unwrap();
        // The contributions are ordered by rows, then outputs, then features and the base value.
        for (row, expected) in expected.chunks_exact(11 * outputs).enumerate() {
            for (output, expected) in expected.chunks_exact(11).enumerate() {
                let mut got: Vec<f64> = (0..10)
                    .map(|feature| explained.values[(row * 10 + feature) * outputs + output])
                    .collect();
                got.push(explained.base[output]);
                assert_close(&got, expected, 1e-12, &format!("{name}, row {row}, output {output}"));
                compared += got.len();
            }
        }
    }
    assert!(compared > 400, "{compared}");
}

#[test]
fn linear_leaves_have_no_path_dependent_game() {
    let ensemble = read(&text("linear")).unwrap();
    let expected = |error: TreeError| {
        matches!(error, TreeError::Model(ModelError::LinearLeaves { tree: 1, node: 7, .. }))
    };
    assert!(expected(PathDependentTreeExplainer::new(&ensemble).map(|_| ()).unwrap_err()));
    assert!(expected(PathDependentGame::new(&ensemble, &[0.0; 10]).map(|_| ()).unwrap_err()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// A model that remains valid after a few changed bytes is explained without a panic.
    #[test]
    fn what_survives_changed_bytes_is_explained(
        linear: bool,
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(b"0123456789-. \n=enai".to_vec())),
            1..4,
        ),
    ) {
        let mut bytes = text(if linear { "linear" } else { "regression" }).into_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(ensemble) = Ensemble::from_bytes(&bytes) {
            let (row, missing) = ([1.0; 10], [f64::NAN; 10]);
            let missing = Rows::new(&missing, 10);
            let tree_explainer = MarginalTreeExplainer::new(&ensemble, missing, None).unwrap();
            tree_explainer.values(Semivalue::Shapley, Rows::new(&row, 10)).unwrap();
            if let Ok(tree_explainer) = PathDependentTreeExplainer::new(&ensemble) {
                tree_explainer.values(Semivalue::Shapley, Rows::new(&row, 10)).unwrap();
            }
        }
    }
}
