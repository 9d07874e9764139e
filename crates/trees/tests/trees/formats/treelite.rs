//! treelite dumps: the values equal the values of the model in its own format.

use apportion_games::Rows;
use apportion_trees::{Ensemble, Exact, MarginalTreeExplainer, PathDependentTreeExplainer};
use apportion_values::Semivalue;
use serde_json::Value;

use crate::common::fixture;

fn model(name: &str) -> Ensemble {
    Ensemble::from_path(fixture(&format!("{name}.json.gz"))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap_or(f64::NAN)).collect()
}

#[test]
fn a_model_has_the_same_values_in_its_own_format() {
    let (own, dumped) = (model("treelite_xgboost_native"), model("treelite_xgboost"));
    let truth: Value =
        serde_json::from_slice(&std::fs::read(fixture("treelite_margins.json")).unwrap()).unwrap();
    let rows: Vec<f64> =
        truth["treelite_xgboost"]["rows"].as_array().unwrap().iter().flat_map(floats).collect();
    let rows = Rows::new(&rows, 4);
    let background = rows.slice(2..6);
    for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
        let marginal = [&own, &dumped].map(|model| {
            MarginalTreeExplainer::new(model, background, None).unwrap().values(value.clone(), rows).unwrap()
        });
        let path_dependent = [&own, &dumped].map(|model| {
            PathDependentTreeExplainer::new(model).unwrap().values(value.clone(), rows).unwrap()
        });
        for [own, dumped] in [marginal, path_dependent] {
            for (own, dumped) in
                own.values.iter().zip(&dumped.values).chain(own.base.iter().zip(&dumped.base))
            {
                assert!((own - dumped).abs() <= 1e-12, "{value}: {own} != {dumped}");
            }
        }
    }
}
