//! Values of the outputs of trained models against enumeration: every mixture predicted by the ensemble, and taken through the link.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use apportion_games::{Background, MarginalGame, Rows};
use apportion_trees::{Ensemble, Link, LinkedOracle};
use apportion_values::{Semivalue, enumerate};
use serde_json::Value;

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap_or(f64::NAN)).collect()
}

/// Explains `explicands` and compares with enumeration to 1e-12 of the largest output.
fn check(ensemble: &Ensemble, link: Link, background: &[f64], explicands: &[f64]) {
    assert_eq!(ensemble.link(), Some(link));
    let (n, outputs) = (ensemble.feature_count(), ensemble.output_count());
    let oracle = LinkedOracle::new(ensemble, Rows::new(background, n), None).unwrap();
    let model = ensemble.linked().unwrap();
    let background = Background::rows(background, n).unwrap();
    for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
        let got = oracle.values(value.clone(), Rows::new(explicands, n)).unwrap();
        let rows = got.values.chunks_exact(n * outputs).zip(got.predictions.chunks_exact(outputs));
        for (row, (values, predictions)) in Rows::new(explicands, n).iter().zip(rows) {
            let game = MarginalGame::new(&model, row, &background).unwrap();
            let wanted = enumerate(&game, value.clone()).unwrap();
            let scale =
                wanted.full().iter().chain(wanted.base()).fold(0.0f64, |most, end| most.max(end.abs()));
            let pairs = values.iter().zip(wanted.values());
            let ends = predictions.iter().zip(wanted.full()).chain(got.base.iter().zip(wanted.base()));
            for (got, wanted) in pairs.chain(ends) {
                assert!((got - wanted).abs() <= 1e-12 * scale, "{value}: {got} != {wanted}");
            }
        }
    }
}

#[test]
fn probabilities_of_the_bundled_classifier_are_divided() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let truth: Value = serde_json::from_slice(&std::fs::read(fixtures.join("truth.json")).unwrap()).unwrap();
    let models = truth.as_array().unwrap();
    let iris = models.iter().find(|model| model["file"] == "iris_xgb_softprob.json.gz").unwrap();
    let background: Vec<f64> = iris["background"].as_array().unwrap().iter().flat_map(floats).collect();
    let model =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tests/fixtures/iris_xgb_softprob.json.gz");
    let ensemble = Ensemble::from_path(model).unwrap();
    let cases = iris["cases"].as_array().unwrap();
    for case in cases {
        check(&ensemble, Link::Softmax, &background, &floats(&case["x"]));
    }
    assert!(cases.len() > 2);
}

#[test]
fn outputs_of_the_models_of_the_data_pack_are_divided() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let logistic = Link::Logistic { steepness: 1.0 };
    let mut models = 0;
    for (name, link) in [
        ("adult_xgb_logistic", logistic),
        ("pima_xgb_logistic_2_1", logistic),
        ("california_xgb_poisson", Link::Exponential),
    ] {
        let Ok(truth) = std::fs::read(shared.join("truth").join(format!("{name}.json"))) else { continue };
        let truth: Value = serde_json::from_slice(&truth).unwrap();
        let ensemble =
            Ensemble::from_path(shared.join("models").join(truth["model_file"].as_str().unwrap())).unwrap();
        let rows: Vec<Vec<f64>> =
            truth["cases"].as_array().unwrap().iter().map(|case| floats(&case["x"])).collect();
        let mut background = floats(&truth["baseline"]);
        background.extend(rows[2..].iter().flatten());
        check(&ensemble, link, &background, &rows[..2].concat());
        models += 1;
    }
    assert!(models > 0 || !shared.join("truth").exists(), "the data pack is there, but none of these models");
}
