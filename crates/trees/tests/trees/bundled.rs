//! Compares the models in the repository with ground truth that another program computed from the
//! definitions.

use std::path::{Path, PathBuf};

use apportion_games::{Partition, Rows};
use apportion_trees::{
    Attributions, Diagonal, Ensemble, Exact, MarginalTreeExplainer, PathDependentGame,
    PathDependentTreeExplainer,
};
use apportion_values::{Semivalue, Value, enumerate};
use serde_json::Value as Json;

use crate::common::case::close;

/// Returns the directory of the models, which belong to the tests of the crate that reads them.
fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tests/fixtures")
}

fn floats(value: &Json) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

const VALUES: [(Semivalue, &str); 2] = [(Semivalue::Shapley, "shapley"), (Semivalue::Banzhaf, "banzhaf")];

/// Compares the results of a tree explainer with the ground truth of `game`, for the cases that contain this
/// game.
fn compare(model: &Json, game: &str, answer: impl Fn(Semivalue, &[f64]) -> Attributions) -> usize {
    let file = &model["file"];
    let mut compared = 0;
    for case in model["cases"].as_array().unwrap().iter().filter(|case| !case[game].is_null()) {
        let output = case["output"].as_u64().unwrap() as usize;
        let margin = case["margin"].as_f64().unwrap();
        let base = case[game]["base"].as_f64().unwrap();
        for (value, key) in VALUES {
            let got = answer(value, &floats(&case["x"]));
            let tolerance = 1e-12 * margin.abs().max(base.abs());
            assert!((got.predictions[output] - margin).abs() <= tolerance, "{file}");
            assert!((got.base[output] - base).abs() <= tolerance, "{file}, {game}");
            for (feature, truth) in floats(&case[game][key]).into_iter().enumerate() {
                let got = got.value(0, feature)[output];
                assert!(
                    (got - truth).abs() <= tolerance,
                    "{file}, {game}, {key}, {feature}: {got} != {truth}"
                );
                compared += 1;
            }
        }
    }
    compared
}

#[test]
fn bundled_models_agree_with_their_ground_truth() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let truth: Json = serde_json::from_slice(&std::fs::read(fixtures.join("truth.json")).unwrap()).unwrap();
    let (mut marginal, mut path_dependent, mut enumerated) = (0, 0, 0);
    for model in truth.as_array().unwrap() {
        let ensemble = Ensemble::from_path(models().join(model["file"].as_str().unwrap())).unwrap();
        let n = ensemble.feature_count();
        let background: Vec<f64> = model["background"].as_array().unwrap().iter().flat_map(floats).collect();
        let baseline = floats(&model["baseline"]);
        for (game, background) in
            [("interventional_mean", &baseline), ("interventional_background", &background)]
        {
            if background.is_empty() {
                continue;
            }
            let tree_explainer =
                MarginalTreeExplainer::new(&ensemble, Rows::new(background, n), None).unwrap();
            marginal +=
                compare(model, game, |value, row| tree_explainer.values(value, Rows::new(row, n)).unwrap());
        }
        let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
        path_dependent += compare(model, "path_dependent", |value, row| {
            tree_explainer.values(value, Rows::new(row, n)).unwrap()
        });
        if n <= 12 {
            enumerated += compare(model, "path_dependent", |value, row| {
                enumerate(&PathDependentGame::new(&ensemble, row).unwrap(), value).unwrap()
            });
        }
    }
    assert!(marginal > 100 && path_dependent > 300 && enumerated > 100);
}

#[test]
fn bundled_models_agree_with_the_ground_truth_of_features_in_groups() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let truth: Json = serde_json::from_slice(&std::fs::read(fixtures.join("groups.json")).unwrap()).unwrap();
    let mut compared = 0;
    for model in truth.as_array().unwrap() {
        let file = model["file"].as_str().unwrap();
        let ensemble = Ensemble::from_path(models().join(file)).unwrap();
        let n = ensemble.feature_count();
        let members = |group: &Json| floats(group).into_iter().map(|feature| feature as usize).collect();
        let partition =
            Partition::new(n, model["partition"].as_array().unwrap().iter().map(members).collect()).unwrap();
        let background: Vec<f64> = model["background"].as_array().unwrap().iter().flat_map(floats).collect();
        for case in model["cases"].as_array().unwrap() {
            let background = if case["game"] == "interventional_mean" {
                floats(&model["baseline"])
            } else {
                background.clone()
            };
            let tree_explainer =
                MarginalTreeExplainer::new(&ensemble, Rows::new(&background, n), None).unwrap();
            let explicand = floats(&case["x"]);
            let rows = Rows::new(&explicand, n);
            let (base, prediction) = (case["base"].as_f64().unwrap(), case["prediction"].as_f64().unwrap());
            let tolerance = 1e-12 * base.abs().max(prediction.abs());
            for (key, value) in [
                ("owen", Value::owen(partition.clone())),
                ("banzhaf_owen", Value::banzhaf_owen(partition.clone())),
                ("two_step_shapley", Value::two_step(partition.clone())),
                ("quotient_shapley", Value::quotient(Semivalue::Shapley, partition.clone())),
                ("quotient_banzhaf", Value::quotient(Semivalue::Banzhaf, partition.clone())),
            ] {
                let got = tree_explainer.values(value, rows).unwrap();
                let truth = floats(&case[key]);
                assert_eq!(got.values.len(), truth.len());
                assert!(
                    (got.base[0] - base).abs() <= tolerance
                        && (got.predictions[0] - prediction).abs() <= tolerance
                );
                for (got, truth) in got.values.iter().zip(truth) {
                    assert!((got - truth).abs() <= tolerance, "{file}, {key}: {got} != {truth}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 200);
}

#[test]
fn remainders_are_the_interactions_of_xgboost() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let file = std::fs::read(fixtures.join("xgboost_interactions.json")).unwrap();
    let cases: Vec<Json> = serde_json::from_slice(&file).unwrap();
    let mut compared = 0;
    for case in &cases {
        let ensemble = Ensemble::from_path(crate::common::fixture(case["file"].as_str().unwrap())).unwrap();
        let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
        let row = floats(&case["x"]);
        let got = tree_explainer
            .interactions(Semivalue::Shapley, Diagonal::Remainder, Rows::new(&row, row.len()))
            .unwrap();
        let outputs = ensemble.output_count();
        for (output, expected) in case["interactions"].as_array().unwrap().iter().enumerate() {
            let got: Vec<f64> = got.values.iter().skip(output).step_by(outputs).copied().collect();
            // The tolerance covers the rounding error of sums in f32: 1 part in 10⁷.
            let scale = (got.iter().map(|number| number.abs()).sum::<f64>()).max(1.0);
            close(case["file"].as_str().unwrap(), &got, &floats(expected), 1e-6 * scale);
            compared += got.len();
        }
    }
    assert!(compared > 200, "{compared} numbers");
}
