//! CatBoost models: comparison with the Shapley values of CatBoost 1.2.10, with ground truth, and with
//! enumeration of the games.

use apportion_games::{Background, Game, MarginalGame, Rows};
use apportion_trees::{
    Ensemble, Exact, MarginalTreeExplainer, PathDependentGame, PathDependentTreeExplainer,
};
use apportion_values::{Semivalue, enumerate};
use serde_json::Value;

use crate::common::fixture;

fn model(name: &str) -> Ensemble {
    Ensemble::from_path(fixture(&format!("{name}.json.gz"))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap_or(f64::NAN)).collect()
}

const MODELS: [&str; 6] = [
    "catboost_multiclass",
    "catboost_missing",
    "catboost_lossguide",
    "catboost_depthwise",
    "catboost_one_hot",
    "catboost_one_hot_depthwise",
];

/// The rows contain missing values, values at borders and next to them, and categories that did not occur in
/// training.
#[test]
fn path_dependent_shapley_values_are_those_of_catboost() {
    let truth: Value =
        serde_json::from_slice(&std::fs::read(fixture("catboost_margins.json")).unwrap()).unwrap();
    let mut compared = 0;
    for name in MODELS {
        let (ensemble, truth) = (model(name), &truth[name]);
        let (n, outputs) = (ensemble.feature_count(), ensemble.output_count());
        let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
        let rows = truth["rows"].as_array().unwrap();
        for (index, row) in rows.iter().map(floats).enumerate() {
            let margins = floats(&truth["margins"][index]);
            let scale = margins.iter().fold(1.0, |most: f64, margin| most.max(margin.abs()));
            let explained = tree_explainer.values(Semivalue::Shapley, Rows::new(&row, n)).unwrap();
            let wanted: Vec<Vec<f64>> =
                truth["shapley"][index].as_array().unwrap().iter().map(floats).collect();
            // The values that CatBoost computes for nested trees with empty leaves can have large errors.
            let total: f64 = wanted.iter().chain([&floats(&truth["base"])]).map(|values| values[0]).sum();
            if (total - margins[0]).abs() > 1e-9 * scale {
                assert!(ensemble.origin().booster == "nested trees", "{name}: values of CatBoost do not sum");
                continue;
            }
            compared += 1;
            for (base, wanted) in explained.base.iter().zip(floats(&truth["base"])) {
                assert!((base - wanted).abs() <= 1e-9 * scale, "{name}: base {base} != {wanted}");
            }
            for feature in 0..n {
                for output in 0..outputs {
                    let (got, wanted) =
                        (explained.values[feature * outputs + output], wanted[feature][output]);
                    assert!(
                        (got - wanted).abs() <= 1e-9 * scale,
                        "{name}, row {index}, feature {feature}: {got} != {wanted}"
                    );
                }
            }
        }
    }
    assert!(compared >= 58, "{compared} rows of four models at least");
}

/// Compares all values of the path-dependent and the marginal game with the enumeration of all coalitions.
/// Many leaves of the models are empty.
#[test]
fn values_are_those_of_enumerating_the_games() {
    let truth: Value =
        serde_json::from_slice(&std::fs::read(fixture("catboost_margins.json")).unwrap()).unwrap();
    for name in MODELS {
        let ensemble = model(name);
        let n = ensemble.feature_count();
        let rows: Vec<Vec<f64>> = truth[name]["rows"].as_array().unwrap().iter().map(floats).collect();
        let background = Background::rows(rows[2..7].concat(), n).unwrap();
        let marginal = MarginalTreeExplainer::new(&ensemble, background.as_rows(), None).unwrap();
        let path_dependent = PathDependentTreeExplainer::new(&ensemble).unwrap();
        for row in [&rows[0], &rows[1], &rows[9]] {
            let game = MarginalGame::new(&ensemble, row, &background).unwrap();
            let expected = PathDependentGame::new(&ensemble, row).unwrap();
            for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
                let one = Rows::new(row, n);
                check(&game, value.clone(), &marginal.values(value.clone(), one).unwrap().values, name);
                check(
                    &expected,
                    value.clone(),
                    &path_dependent.values(value.clone(), one).unwrap().values,
                    name,
                );
            }
        }
    }
}

fn check(game: &impl Game, value: Semivalue, got: &[f64], what: &str) {
    let wanted = enumerate(game, value.clone()).unwrap();
    let scale =
        wanted.predictions.iter().chain(&wanted.base).fold(1.0, |most: f64, worth| most.max(worth.abs()));
    for (got, wanted) in got.iter().zip(&wanted.values) {
        assert!((got - wanted).abs() <= 1e-12 * scale, "{what}, {value}: {got} != {wanted}");
    }
}
