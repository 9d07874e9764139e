//! Models in Apportion's own JSON format, with numbers at the limits of their range: values are finite and
//! sum to the prediction.

use apportion_games::Rows;
use apportion_trees::{Ensemble, Exact, Kernel, MarginalTreeExplainer, PathDependentTreeExplainer, Settings};
use apportion_values::Semivalue;
use serde_json::json;

const NAN: f64 = f64::NAN;

#[test]
fn leaves_that_add_up_to_less_than_infinity_are_explained() {
    for largest in [4e299, 5e-324] {
        let tree = json!({
            "output": 0, "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, -2, -2],
            "threshold": [1.5, -2, -2], "value": [0, largest, -largest],
            "default_left": [1, 0, 0], "cover": [5, 2, 3]
        });
        let document = json!({
            "format": "apportion-trees", "version": 1, "width": "double", "features": 2,
            "base_margins": [0.5, -0.5], "operator": "<=", "trees": [tree, tree]
        });
        let ensemble = Ensemble::from_bytes(document.to_string().as_bytes()).unwrap();
        let features = ensemble.feature_count();
        let rows: Vec<f64> = (0..2 * features).map(|index| [-9.0, 9.0][index / features]).collect();
        let rows = Rows::new(&rows, features);
        let tree_explainer = MarginalTreeExplainer::new(&ensemble, rows.slice(0..1), None).unwrap();
        for kernel in [Kernel::Tables, Kernel::Walk, Kernel::Masks] {
            let settings = Settings::default().with_kernel(kernel);
            let tree_explainer =
                MarginalTreeExplainer::new(&ensemble, rows, None).unwrap().with_settings(settings);
            assert!(
                tree_explainer
                    .values(Semivalue::Shapley, rows)
                    .is_ok_and(|explained| all_finite(&explained.values))
            );
        }
        assert!(all_finite(&tree_explainer.values(Semivalue::Shapley, rows).unwrap().values));
        let path_dependent = PathDependentTreeExplainer::new(&ensemble).unwrap();
        assert!(all_finite(&path_dependent.values(Semivalue::Shapley, rows).unwrap().values));
    }
}

#[test]
fn values_add_up_where_thresholds_are_infinite() {
    for (threshold, default_left) in
        [("-Infinity", 1), ("-Infinity", 0), ("Infinity", 1), ("Infinity", 0), ("-1.7e308", 1), ("5e-324", 0)]
    {
        for operator in ["<", "<="] {
            let text = json!({
                "format": "apportion-trees", "version": 1, "width": "double", "features": 2,
                "base_margins": [0.5], "operator": operator,
                "trees": [{
                    "left": [1, 3, -1, -1, -1], "right": [2, 4, -1, -1, -1], "feature": [0, 1, 0, 0, 0],
                    "threshold": [0, "here", 0, 0, 0], "value": [0, 0, 1, 2, 4],
                    "default_left": [1, default_left, 0, 0, 0], "cover": [6, 5, 1, 2, 3]
                }]
            });
            let text = text.to_string().replace("\"here\"", threshold);
            let ensemble = Ensemble::from_bytes(text.as_bytes()).unwrap();
            let rows = [-1.0, -1.7e308, NAN, NAN, 2.0, NAN, -2.0, 1.7e308, NAN, 0.0];
            let rows = Rows::new(&rows, 2);
            let margins = ensemble.margins(rows).unwrap();
            let path_dependent = PathDependentTreeExplainer::new(&ensemble).unwrap();
            let mut explained = vec![path_dependent.values(Semivalue::Shapley, rows).unwrap()];
            for kernel in Kernel::ALL {
                let settings = Settings::default().with_kernel(kernel);
                let tree_explainer = MarginalTreeExplainer::new(&ensemble, rows.slice(1..2), None).unwrap();
                explained
                    .push(tree_explainer.with_settings(settings).values(Semivalue::Shapley, rows).unwrap());
            }
            for explained in explained {
                for (values, margin) in explained.values.chunks_exact(2).zip(&margins) {
                    let sum = explained.base[0] + values.iter().sum::<f64>();
                    assert!(
                        (sum - margin).abs() < 1e-14,
                        "{threshold} {operator} {default_left}: {sum} != {margin}"
                    );
                }
            }
        }
    }
}

fn all_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}
