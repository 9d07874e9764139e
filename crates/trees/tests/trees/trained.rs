//! Compares the values of features in groups in the path-dependent game with enumeration, for trained models
//! of the repository and of the data pack.

use std::path::Path;

use apportion_games::{Partition, Rows};
use apportion_trees::{Ensemble, Exact, PathDependentGame, PathDependentTreeExplainer};
use apportion_values::{CoalitionalValue, Semivalue, Value};

use crate::common::case::close;
use crate::common::{Random, fixture};

/// Compares the results of the tree explainer for some rows with enumeration.
fn check(what: &str, ensemble: &Ensemble, groups: &Partition, rows: &[f64]) {
    let rows = Rows::new(rows, ensemble.feature_count());
    let tree_explainer = PathDependentTreeExplainer::new(ensemble).unwrap();
    let symmetric = CoalitionalValue::symmetric_coalitional_banzhaf();
    for value in [
        Value::owen(groups.clone()),
        Value::banzhaf_owen(groups.clone()),
        Value::Coalitional(symmetric, groups.clone()),
        Value::quotient(Semivalue::Shapley, groups.clone()),
        Value::quotient(Semivalue::Banzhaf, groups.clone()),
        Value::two_step(groups.clone()),
    ] {
        let of_row = |row| value.enumerate(&PathDependentGame::new(ensemble, row).unwrap()).unwrap().values;
        let expected: Vec<f64> = rows.iter().flat_map(of_row).collect();
        let got = tree_explainer.values_of(&value, rows).unwrap();
        close(&format!("{what}, {value:?}"), &got.values, &expected, 1e-10);
        assert_eq!(got.predictions, ensemble.margins(rows).unwrap());
    }
}

#[test]
fn models_of_the_repository_agree_with_enumeration() {
    let random = &mut Random(55);
    for name in ["diabetes_xgb_dart.json.gz", "iris_xgb_softprob.json.gz", "categorical_3_2.json.gz"] {
        let ensemble = Ensemble::from_path(fixture(name)).unwrap();
        let features = ensemble.feature_count();
        for groups in [2, features / 2, features - 1] {
            let groups = random.partition(features, groups.max(1));
            let rows: Vec<f64> = (0..3 * features)
                .map(|_| random.below(9) as f64 * 0.75 - if random.chance(50) { 3.0 } else { 0.0 })
                .collect();
            check(name, &ensemble, &groups, &rows);
        }
    }
}

/// The data pack has ground truth with partitions for the marginal game only. Its models, partitions and
/// baselines are also used here, for the path-dependent game.
#[test]
fn models_of_the_data_pack_agree_with_enumeration_in_their_partitions() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    for name in ["adult", "california", "diabetes"] {
        let path = shared.join("truth").join(format!("{name}_xgb_groups.json"));
        let Ok(bytes) = std::fs::read(path) else { continue };
        let truth: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let ensemble =
            Ensemble::from_path(shared.join("models").join(truth["model_file"].as_str().unwrap())).unwrap();
        let groups = truth["partition"].as_array().unwrap().iter().map(|group| {
            group.as_array().unwrap().iter().map(|feature| feature.as_u64().unwrap() as usize).collect()
        });
        let groups = Partition::new(ensemble.feature_count(), groups.collect()).unwrap();
        let mut rows: Vec<f64> =
            truth["baseline"].as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap()).collect();
        rows.extend(rows.clone().iter().map(|cell| cell * 1.25 + 0.5));
        check(name, &ensemble, &groups, &rows);
    }
}
