//! Tests of cover that is computed from given rows.

use apportion_games::{GameError, Rows};
use apportion_models::{Ensemble, ModelError};

use crate::common::{Random, content};

/// Counts the rows that reach each node, by following each row from the root.
fn counts(model: &Ensemble, tree: usize, rows: &[f64]) -> Vec<f64> {
    let nodes = model.nodes_of(&model.trees()[tree]);
    let comes_to = |row: &[f64], wanted: usize| {
        let (mut at, mut comes) = (0, wanted == 0);
        while !nodes[at].is_leaf() {
            let value = model.width().round(row[nodes[at].feature()]);
            at = if model.goes_left(nodes[at], value) { nodes[at].left() } else { nodes[at].right() };
            comes |= at == wanted;
        }
        comes
    };
    let of_node = |node| rows.chunks(model.feature_count()).filter(|row| comes_to(row, node)).count() as f64;
    (0..nodes.len()).map(of_node).collect()
}

#[test]
fn covers_are_the_numbers_of_rows_that_come_to_each_node() {
    for file in ["diabetes_xgb.json.gz", "words_lgbm.txt.gz", "catboost_depthwise.json.gz"] {
        let bytes = content(file);
        let model = Ensemble::from_bytes(&bytes).unwrap();
        let rows = Random(3).row(50 * model.feature_count());
        let counted = model.clone().with_covers_of(Rows::new(&rows, model.feature_count())).unwrap();
        counted.check_covers().unwrap();
        assert_eq!(counted.fingerprint(), model.fingerprint(), "{file}");
        for (tree, shape) in model.trees().iter().enumerate().take(12) {
            let wanted = counts(&model, tree, &rows);
            for (own, wanted) in counted.cover_of(shape).iter().zip(wanted) {
                // Empty nodes have a negligible share, or half the cover of an empty parent.
                assert!(
                    *own == wanted || wanted == 0.0 && *own > 0.0 && *own < 1e-30,
                    "{file}: {own}, {wanted}"
                );
            }
        }
    }
}

#[test]
fn whole_weights_are_repeated_rows() {
    let model = Ensemble::from_bytes(&content("diabetes_xgb.json.gz")).unwrap();
    let features = model.feature_count();
    let rows = Random(4).row(30 * features);
    let weights: Vec<f64> = (0..30).map(|row| f64::from(row * 5 % 4)).collect();
    let repeated: Vec<f64> =
        rows.chunks(features).zip(&weights).flat_map(|(row, &weight)| row.repeat(weight as usize)).collect();
    let counted = model.clone().with_covers_of(Rows::new(&repeated, features)).unwrap();
    for unit in [1.0, 1e-9, 1e300] {
        let weights: Vec<f64> = weights.iter().map(|weight| weight * unit).collect();
        let weighted = model.clone().with_covers_of_weighted(Rows::new(&rows, features), &weights).unwrap();
        weighted.check_covers().unwrap();
        for tree in model.trees() {
            let (weighted, counted) = (weighted.cover_of(tree), counted.cover_of(tree));
            for (own, wanted) in weighted.iter().zip(counted) {
                // Compare shares of the root's cover.
                let (own, wanted) = (own / weighted[0], wanted / counted[0]);
                assert!((own - wanted).abs() < 1e-12, "{own} for {wanted}");
            }
        }
    }
    let refused = model.clone().with_covers_of_weighted(Rows::new(&rows, features), &[0.0; 30]).unwrap_err();
    assert!(refused.to_string().contains("all weights are zero"), "{refused}");
}

#[test]
fn a_model_without_covers_gets_them_and_rows_that_do_not_fit_are_refused() {
    let model = Ensemble::from_bytes(&content("treelite_forest.json.gz")).unwrap();
    let features = model.feature_count();
    let covered = model.clone().with_covers_of(Rows::new(&vec![0.0; features], features)).unwrap();
    covered.check_covers().unwrap();
    let refused =
        |values: &[f64], columns| model.clone().with_covers_of(Rows::new(values, columns)).unwrap_err();
    assert!(matches!(refused(&[], features), ModelError::Game(GameError::EmptyBackground)));
    assert!(matches!(
        refused(&vec![0.0; features + 1], features + 1),
        ModelError::Game(GameError::Width { .. })
    ));
    let infinite = vec![f64::INFINITY; features];
    model.clone().with_covers_of(Rows::new(&infinite, features)).unwrap().check_covers().unwrap();
    let linear = Ensemble::from_bytes(&content("lightgbm_linear.txt.gz")).unwrap();
    let rows = vec![0.0; linear.feature_count()];
    let linear = linear.clone().with_covers_of(Rows::new(&rows, rows.len())).unwrap();
    assert!(matches!(linear.check_covers(), Err(ModelError::LinearLeaves { .. })));
}

#[test]
fn features_that_lists_are_looked_up_for_are_categorical() {
    for (file, expected) in [
        ("words_lgbm.txt.gz", vec![0, 2, 3, 4, 5, 6]),
        ("words_xgb.json.gz", vec![0, 2, 3]),
        ("diabetes_xgb.json.gz", vec![]),
        ("lightgbm_zero.txt.gz", vec![8]),
    ] {
        let model = Ensemble::from_bytes(&content(file)).unwrap();
        assert_eq!(model.categorical_features(), expected, "{file}");
    }
    // An interval compares numbers, so the feature is not categorical.
    let between = concat!(
        r#"{"format": "apportion-trees", "version": 1, "width": "double", "features": 1, "#,
        r#""base_margins": [0], "operator": "<=",
        "trees": [{"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "#,
        r#""threshold": [0, 0, 0], "value": [0, 1, 3],
        "rules": [{"node": 0, "between": [1, 2], "side": "left"}]}]}"#
    );
    assert!(Ensemble::from_bytes(between.as_bytes()).unwrap().categorical_features().is_empty());
}
