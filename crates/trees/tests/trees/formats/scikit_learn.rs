//! scikit-learn models, exported as JSON: values sum to the predictions of the library.

use std::io::Read;

use apportion_games::Rows;
use apportion_trees::{Ensemble, Exact, MarginalTreeExplainer, PathDependentTreeExplainer};
use apportion_values::Semivalue;
use serde_json::Value;

use crate::common::fixture;

/// Reads a table; missing values are null.
fn table(value: &Value) -> Vec<f64> {
    let rows = value.as_array().unwrap().iter();
    rows.flat_map(|row| row.as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap_or(f64::NAN)))
        .collect()
}

#[test]
fn values_of_models_written_as_json_add_up() {
    let mut text = String::new();
    let file = std::fs::File::open(fixture("scikit_learn/scores.json.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let scores: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(scores.len(), 20);
    for (name, expected) in &scores {
        let ensemble = Ensemble::from_path(fixture(&format!("scikit_learn/{name}.json.gz"))).unwrap();
        let (features, outputs_count) = (ensemble.feature_count(), ensemble.output_count());
        let rows = table(&expected["rows"]);
        let rows = Rows::new(&rows, features);
        let margins = ensemble.margins(rows).unwrap();
        let path_dependent = PathDependentTreeExplainer::new(&ensemble).unwrap();
        let interventional = MarginalTreeExplainer::new(&ensemble, rows.slice(0..5), None).unwrap();
        for explained in [
            path_dependent.values(Semivalue::Shapley, rows).unwrap(),
            interventional.values(Semivalue::Shapley, rows).unwrap(),
        ] {
            for (row, margins) in margins.chunks_exact(outputs_count).enumerate() {
                for (output, margin) in margins.iter().enumerate() {
                    let values =
                        &explained.values[row * features * outputs_count..][..features * outputs_count];
                    let sum: f64 = values.iter().skip(output).step_by(outputs_count).sum();
                    let sum = sum + explained.base[output];
                    assert!(
                        (sum - margin).abs() < 1e-12 * margin.abs().max(1.0),
                        "{name}: {sum} != {margin}"
                    );
                }
            }
        }
    }
}
