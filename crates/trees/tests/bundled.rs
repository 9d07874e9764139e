//! The models in the repository against ground truth that was computed from the definitions by another program.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use apportion_games::Rows;
use apportion_trees::{Ensemble, InterventionalOracle};
use apportion_values::Semivalue;
use serde_json::Value;

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn bundled_models_agree_with_their_ground_truth() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let truth: Value = serde_json::from_slice(&std::fs::read(fixtures.join("truth.json")).unwrap()).unwrap();
    let mut compared = 0;
    for model in truth.as_array().unwrap() {
        let file = model["file"].as_str().unwrap();
        let ensemble = Ensemble::from_path(fixtures.join(file)).unwrap();
        let (n, outputs) = (ensemble.feature_count(), ensemble.output_count());
        let background: Vec<f64> = model["background"].as_array().unwrap().iter().flat_map(floats).collect();
        let baseline = floats(&model["baseline"]);
        for (game, background) in
            [("interventional_mean", &baseline), ("interventional_background", &background)]
        {
            let oracle = InterventionalOracle::new(&ensemble, Rows::new(background, n), None).unwrap();
            for case in model["cases"].as_array().unwrap() {
                let explicand = floats(&case["x"]);
                let output = case["output"].as_u64().unwrap() as usize;
                let margin = case["margin"].as_f64().unwrap();
                let base = case[game]["base"].as_f64().unwrap();
                for (value, key) in [(Semivalue::Shapley, "shapley"), (Semivalue::Banzhaf, "banzhaf")] {
                    let got = oracle.values(value, Rows::new(&explicand, n)).unwrap();
                    let tolerance = 1e-12 * margin.abs().max(base.abs());
                    assert!((got.predictions[output] - margin).abs() <= tolerance, "{file}");
                    assert!((got.base[output] - base).abs() <= tolerance, "{file}, {game}");
                    for (feature, truth) in floats(&case[game][key]).into_iter().enumerate() {
                        let got = got.values[feature * outputs + output];
                        assert!(
                            (got - truth).abs() <= tolerance,
                            "{file}, {game}, {key}, {feature}: {got} != {truth}"
                        );
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 100);
}
