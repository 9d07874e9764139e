//! Infinite values in rows, backgrounds and thresholds: every tree explainer, with every kernel, returns the
//! values of the definitions.

use apportion_games::{Background, Coalitions, Game, MarginalGame, Rows};
use apportion_models::Link;
use apportion_trees::{Ensemble, Exact, MarginalTreeExplainer, PathDependentGame, TreeError};
use apportion_values::{CoalitionalValue, InteractionIndex, Semivalue, Value};

use crate::common::case::{Case, Rules};
use crate::common::{Random, TreeSpec, document, linked_document};

/// The number that represents an infinite threshold until the document is serialized, because JSON cannot
/// represent infinity. XGBoost writes a word for infinity.
const INFINITE: f32 = 1_329_227_995_784_915_872_903_807_060_280_344_576.0;

/// Returns trees with some thresholds at the limits of the number range.
fn trees(random: &mut Random, features: usize, depth: usize, at_most: bool) -> Vec<TreeSpec> {
    let players: Vec<usize> = (0..features).collect();
    let tree = |_| {
        let mut tree = TreeSpec::random(random, &players, depth, true, 0);
        tree.at_most = at_most;
        for node in 0..tree.left.len() {
            if tree.left[node] != -1 && random.chance(50) {
                tree.number[node] = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN][random.below(4)];
            }
        }
        tree
    };
    (0..3).map(tree).collect()
}

/// Returns the trees with infinite numbers replaced with finite ones.
fn finite(trees: &[TreeSpec]) -> Vec<TreeSpec> {
    let mut trees = trees.to_vec();
    for number in trees.iter_mut().flat_map(|tree| &mut tree.number).filter(|number| number.is_infinite()) {
        *number = INFINITE.copysign(*number);
    }
    trees
}

fn read(document: &serde_json::Value) -> Ensemble {
    let text = document.to_string().replace(&serde_json::json!(INFINITE).to_string(), "Infinity");
    Ensemble::from_bytes(text.as_bytes()).unwrap()
}

/// Returns values, many of which are infinite or would be in 32 bits.
fn rows(random: &mut Random, count: usize) -> Vec<f64> {
    let ends = [f64::INFINITY, f64::NEG_INFINITY, 1e39, -1e300, f64::from(f32::MAX), f64::from(f32::MIN)];
    (0..count).map(|_| if random.chance(60) { ends[random.below(6)] } else { random.cell() }).collect()
}

fn case(random: &mut Random, trees: Vec<TreeSpec>, ensemble: Ensemble, background: usize) -> Case {
    let features = ensemble.feature_count();
    Case {
        what: format!("{trees:?}"),
        rules: Rules::Trees(trees),
        features,
        rows: rows(random, 5 * features),
        background: Background::rows(rows(random, background * features), features).unwrap(),
        ensemble,
    }
}

#[test]
fn values_and_interactions_are_those_of_the_definitions() {
    let random = &mut Random(31);
    for (features, depth, background) in
        [(1, 1, 1), (1, 4, 3), (2, 3, 1), (3, 3, 7), (3, 6, 40), (5, 4, 2), (5, 5, 66)]
    {
        for at_most in [false, true] {
            let trees = trees(random, features, depth, at_most);
            let ensemble = match at_most {
                false => read(&document(&finite(&trees), features, &[0.25])),
                true => {
                    let link = Some(Link::Logistic { steepness: 1.0 });
                    let mut document = linked_document(&finite(&trees), features, &[0.25], link);
                    document["operator"] = "<=".into();
                    // The categorical splits follow XGBoost, in which values that are not categories go left.
                    read(&document)
                }
            };
            let case = case(random, trees, ensemble, background);
            let groups = random.partition(features, 1 + features / 2);
            case.check(&[
                Semivalue::Shapley.into(),
                Semivalue::Banzhaf.into(),
                Semivalue::weighted_banzhaf(0.3).unwrap().into(),
                Value::Coalitional(CoalitionalValue::owen(), groups.clone()),
                Value::quotient(Semivalue::Shapley, groups.clone()),
                Value::two_step(groups.clone()),
            ]);
            case.check_indices(&[(InteractionIndex::ShapleyTaylor, 2)], None);
            case.check_indices(&[(InteractionIndex::ShapleyTaylor, 2)], Some(&groups));
        }
    }
}

#[test]
fn games_of_a_row_are_the_tree_written_out() {
    let random = &mut Random(32);
    for _ in 0..40 {
        let trees = trees(random, 4, 5, false);
        let case = {
            let ensemble = read(&document(&finite(&trees), 4, &[0.0]));
            case(random, trees.clone(), ensemble, 3)
        };
        let all = Coalitions::from_masks(4, 0..16);
        for row in case.rows().iter() {
            let (mut marginal, mut by_path) = ([0.0; 16], [0.0; 16]);
            MarginalGame::new(&case.ensemble, row, &case.background)
                .unwrap()
                .values(&all, &mut marginal)
                .unwrap();
            PathDependentGame::new(&case.ensemble, row).unwrap().values(&all, &mut by_path).unwrap();
            for mask in 0..16usize {
                let mean = |mixture: &[f64]| {
                    let mixed: Vec<f64> =
                        (0..4).map(|i| if mask >> i & 1 == 1 { row[i] } else { mixture[i] }).collect();
                    trees.iter().map(|tree| tree.predict(&mixed)).sum::<f64>() / 3.0
                };
                let expected: f64 = case.background.as_rows().iter().map(mean).sum();
                assert!((marginal[mask] - expected).abs() < 1e-12, "{mask:04b} of {row:?}, {trees:?}");
                let expected: f64 =
                    trees.iter().map(|tree| tree.path_dependent(row, |i| mask >> i & 1 == 1)).sum();
                assert!((by_path[mask] - expected).abs() < 1e-12, "{mask:04b} of {row:?}, {trees:?}");
            }
        }
    }
}

#[test]
fn linear_leaves_refuse_what_they_would_compute_with() {
    let document = concat!(
        r#"{"format":"apportion-trees","version":1,"width":"double","features":2,"base_margins":[0],"#,
        r#""operator":"<",
        "trees":[{"output":0,"left":[1,-1,-1],"right":[2,-1,-1],"feature":[0,0,0],"threshold":[0.5,0,0],
        "value":[0,1,2],"linear":[{"node":2,"constant":1,"features":[1],"coefficients":[3.5]}]}]}"#
    );
    let model = Ensemble::from_bytes(document.as_bytes()).unwrap();
    let infinite = f64::INFINITY;
    let background = [-infinite, 1.0, infinite, 3.0];
    let tree_explainer = MarginalTreeExplainer::new(&model, Rows::new(&background, 2), None).unwrap();
    let values = |row: &[f64]| tree_explainer.values_of(&Semivalue::Shapley.into(), Rows::new(row, 2));
    let found = values(&[infinite, 2.0]).unwrap();
    // The model is f = 1 below the threshold, and 1 + 3.5 x otherwise. Therefore v(∅) = (1 + 11.5) / 2,
    // v({0}) = (4.5 + 11.5) / 2, v({1}) = (1 + 8) / 2, v(N) = 8.
    let expected = [(8.0 - 6.25 + 8.0 - 4.5) / 2.0, (4.5 - 6.25 + 8.0 - 8.0) / 2.0];
    assert!(
        found.values.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-12),
        "{found:?}"
    );
    let refused = |error: TreeError, place: &str| {
        let error = error.to_string();
        assert!(error.contains(place) && error.contains("but linear models "), "{error}");
    };
    refused(values(&[0.0, infinite]).unwrap_err(), "row 0 has the value inf in column 1");
    let background = [0.0, 0.0, 0.0, -infinite];
    let error = MarginalTreeExplainer::new(&model, Rows::new(&background, 2), None).unwrap_err();
    refused(error, "background row 1 has the value -inf in column 1");
}
