//! Tests that scaling the leaves scales the values by the same factor, with every kernel, and that values
//! that are not finite are rejected.

use apportion_games::{Partition, Rows};
use apportion_trees::{
    Diagonal, Ensemble, Exact, Kernel, MarginalTreeExplainer, PathDependentTreeExplainer, Settings, TreeError,
};
use apportion_values::{Semivalue, Value};
use serde_json::json;

const FEATURES: usize = 3;

/// Returns two trees of depth two with these leaf values.
fn ensemble(leaves: [f64; 6]) -> Ensemble {
    let [a, b, c, d, e, f] = leaves;
    let tree = |features: [usize; 2], values: [f64; 3]| {
        json!({
            "output": 0,
            "left": [1, -1, 3, -1, -1], "right": [2, -1, 4, -1, -1],
            "feature": [features[0], 0, features[1], 0, 0], "threshold": [0.0, 0, 0.5, 0, 0],
            "value": [0, values[0], 0, values[1], values[2]], "cover": [10, 4, 6, 2, 4],
        })
    };
    let document = json!({
        "format": "apportion-trees", "version": 1, "width": "double", "features": FEATURES,
        "base_margins": [0.0], "operator": "<=",
        "trees": [tree([0, 1], [a, b, c]), tree([2, 0], [d, e, f])],
    });
    Ensemble::from_bytes(document.to_string().as_bytes()).unwrap()
}

const BACKGROUND: [f64; 9] = [-1.0, 1.0, 1.0, 1.0, 0.0, -1.0, 0.3, 0.7, 0.2];
const ROWS: [f64; 6] = [1.0, 1.0, 1.0, -1.0, 0.0, 2.0];

type Answer = Result<Vec<f64>, TreeError>;

/// Returns the results of every kernel for features, groups and pairs, except for unsupported requests.
fn answers(ensemble: &Ensemble, background: &[f64], rows: &[f64]) -> Vec<(String, Answer)> {
    let rows = Rows::new(rows, FEATURES);
    let partition = Partition::new(FEATURES, vec![vec![0, 1], vec![2]]).unwrap();
    let kernels = [
        None,
        Some(Kernel::Tables),
        Some(Kernel::Quadrature),
        Some(Kernel::Walk),
        Some(Kernel::Cohorts),
        Some(Kernel::Masks),
    ];
    let mut answers: Vec<(String, Answer)> = Vec::new();
    for kernel in kernels {
        let settings = Settings::default().with_kernel(kernel);
        for background in [background, &background[..FEATURES]] {
            let tree_explainer = MarginalTreeExplainer::new(ensemble, Rows::new(background, FEATURES), None);
            let Ok(tree_explainer) =
                tree_explainer.map(|tree_explainer| tree_explainer.with_settings(settings))
            else {
                continue;
            };
            let name = |what: &str| format!("{what}, {kernel:?}, {} background rows", background.len() / 3);
            answers.push((
                name("values"),
                tree_explainer.values(Semivalue::Shapley, rows).map(|found| found.values),
            ));
            answers.push((
                name("two-step"),
                tree_explainer.values(Value::two_step(partition.clone()), rows).map(|found| found.values),
            ));
            let owen = tree_explainer.values(Value::owen(partition.clone()), rows);
            answers.push((name("owen"), owen.map(|found| found.values)));
            let pairs = tree_explainer.interactions(Semivalue::Shapley, Diagonal::Value, rows);
            answers.push((name("interactions"), pairs.map(|found| found.values)));
        }
        let Ok(tree_explainer) = PathDependentTreeExplainer::new(ensemble) else { continue };
        let tree_explainer = tree_explainer.with_settings(settings);
        let name = |what: &str| format!("path-dependent {what}, {kernel:?}");
        answers.push((
            name("values"),
            tree_explainer.values(Semivalue::Shapley, rows).map(|found| found.values),
        ));
        let owen = tree_explainer.values(Value::owen(partition.clone()), rows);
        answers.push((name("owen"), owen.map(|found| found.values)));
        let pairs = tree_explainer.interactions(Semivalue::Shapley, Diagonal::Value, rows);
        answers.push((name("interactions"), pairs.map(|found| found.values)));
    }
    answers.retain(|(_, answer)| {
        !matches!(answer, Err(TreeError::Unsupported { .. } | TreeError::Kernel { .. }))
    });
    answers
}

const LEAVES: [f64; 6] = [1.0, -0.5, 0.75, 0.3, -0.9, 0.1];

#[test]
fn values_have_no_scale() {
    let expected = answers(&ensemble(LEAVES), &BACKGROUND, &ROWS);
    assert!(expected.len() > 30, "{}", expected.len());
    for (factor, tolerance) in [
        (2.0_f64.powi(-990), 0.0),
        (2.0_f64.powi(-600), 0.0),
        (2.0_f64.powi(990), 0.0),
        (1e-300, 1e-12),
        (1e-160, 1e-12),
        (1e160, 1e-12),
        (1e299, 1e-12),
    ] {
        let got = answers(&ensemble(LEAVES.map(|leaf| leaf * factor)), &BACKGROUND, &ROWS);
        assert_eq!(got.len(), expected.len());
        for ((name, got), (_, expected)) in got.into_iter().zip(&expected) {
            for (got, expected) in got.unwrap().iter().zip(expected.as_ref().unwrap()) {
                assert!(
                    (got / factor - expected).abs() <= tolerance,
                    "{name} · {factor:e}: {got:e}, {expected}"
                );
            }
        }
    }
}

#[test]
fn values_that_are_no_numbers_are_refused_by_every_kernel() {
    // The reader rejects leaves that may sum to more than 1e300, but linear leaves grow with the values of
    // the row.
    let document = |coefficient: f64| {
        json!({
            "format": "apportion-trees", "version": 1, "width": "double", "features": FEATURES,
            "base_margins": [0.0], "operator": "<=",
            "trees": [{
                "output": 0, "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
                "threshold": [0.0, 0, 0], "value": [0, 1, 2],
                "linear": [
                    {"node": 1, "constant": 0.0, "features": [1], "coefficients": [coefficient]},
                    {"node": 2, "constant": 0.0, "features": [1, 2], "coefficients": [coefficient, 1.0]}
                ]
            }],
        })
        .to_string()
    };
    let ensemble = Ensemble::from_bytes(document(1e290).as_bytes()).unwrap();
    // The cases have predictions that are not finite, a base value that is not finite, and values that are
    // not finite although the predictions are.
    for (background, row) in [(1.0, 1e30), (1e30, 1.0), (-1.7e18, 1.7e18)] {
        let background = [-1.0, background, 0.0, 1.0, background, 0.0];
        let answers = answers(&ensemble, &background, &[1.0, row, 0.0]);
        assert!(answers.len() > 10, "{}", answers.len());
        for (name, answer) in answers {
            let error = answer.unwrap_err();
            assert!(matches!(error, TreeError::Overflow { .. }), "{name}: {error}");
            assert!(error.to_string().contains("scale the model's outputs down"), "{error}");
        }
    }
}

#[test]
fn leaves_too_large_to_be_added_up_are_refused() {
    let document = json!({
        "format": "apportion-trees", "version": 1, "width": "double", "features": 1, "base_margins": [0.0],
        "operator": "<=",
        "trees": [{
            "output": 0, "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
            "threshold": [0.0, 0, 0], "value": [0, 1.7e308, -1.7e308]
        }],
    });
    let refused = Ensemble::from_bytes(document.to_string().as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("1e300"), "{refused}");
}
