//! Tests models whose trees depend on one feature each, in particular linear models.

use apportion_games::{Background, MarginalGame, Rows, TabulatedGame};
use apportion_trees::{
    Diagonal, Ensemble, Exact, Kernel, MarginalTreeExplainer, PathDependentTreeExplainer, Settings,
};
use apportion_values::{Semivalue, Value, enumerate};

use crate::common::case::{Case, close, in_groups, matrix, semivalues};
use crate::common::lightgbm::{Node, text};
use crate::common::{Random, json_fixture, model, numbers};

#[test]
fn trees_of_one_feature_or_one_group_have_the_values_of_the_definition() {
    let random = &mut Random(20);
    for (features, rows) in [(1, (3, 5)), (2, (1, 1)), (5, (3, 4)), (7, (20, 3))] {
        let mut trees: Vec<Node> =
            (0..features).map(|feature| Node::random(random, &[feature], feature % 3, 25, 75)).collect();
        // Also include trees that depend on several features, which are walked.
        let all: Vec<usize> = (0..features).collect();
        trees.push(Node::random(random, &all, 2, 0, 75));
        trees.push(Node::random(random, &[0, features - 1], 1, 0, 100));
        let case = Case::linear(random, trees, features, rows);
        let mut values: Vec<Value> = semivalues(features).into_iter().map(Value::from).collect();
        values.extend(in_groups(&random.partition(features, 3)));
        case.check(&values);
    }
}

#[test]
fn linear_models_of_files_have_the_values_of_the_definition_without_a_draw() {
    for (name, said) in json_fixture("onnx/linear/said.json.gz").as_object().unwrap() {
        let ensemble = model(&format!("onnx/linear/{name}.onnx"));
        let features = ensemble.feature_count();
        let rows = numbers(&said["rows"]);
        let (explicands, others) = rows.split_at(3 * features);
        let background = Background::rows(others, features).unwrap();
        let tree_explainer =
            MarginalTreeExplainer::new(&ensemble, Rows::new(others, features), None).unwrap();
        let explicands = Rows::new(explicands, features);
        for value in semivalues(features) {
            let got = tree_explainer.values(value.clone(), explicands).unwrap();
            let pairs = tree_explainer.interactions(value.clone(), Diagonal::Value, explicands).unwrap();
            for (row, explicand) in explicands.iter().enumerate() {
                let game = MarginalGame::new(&ensemble, explicand, &background).unwrap();
                let game = TabulatedGame::from_game(&game).unwrap();
                let expected = enumerate(&game, value.clone()).unwrap();
                close(name, &got.of_row(row).values, &expected.values, 1e-12);
                let players: Vec<usize> = (0..features).collect();
                let expected = matrix(&value, Diagonal::Value, &players, features, &game);
                close(name, &pairs.of_row(row).values, &expected, 1e-12);
                for (i, j) in (0..features).flat_map(|i| (0..features).map(move |j| (i, j))) {
                    let interact = pairs.pair(row, i, j).iter().any(|&number| number != 0.0);
                    assert!(i == j || !interact, "{name}: linear terms do not interact");
                }
            }
        }
        assert!(PathDependentTreeExplainer::new(&ensemble).is_err(), "{name}");
    }
}

#[test]
fn many_features_have_the_values_of_the_walk() {
    let random = &mut Random(21);
    for features in [64, 65, 200] {
        let trees: Vec<Node> =
            (0..features).map(|feature| Node::random(random, &[feature], 0, 0, 100)).collect();
        let ensemble = Ensemble::from_bytes(text(&trees, features).as_bytes()).unwrap();
        let (rows, background) = (random.row(70 * features), random.row(9 * features));
        let (rows, background) = (Rows::new(&rows, features), Rows::new(&background, features));
        let tree_explainer = || MarginalTreeExplainer::new(&ensemble, background, None).unwrap();
        let walk = tree_explainer().with_settings(Settings::default().with_kernel(Kernel::Walk));
        let groups = random.partition(features, 12);
        for value in [
            Semivalue::Shapley.into(),
            Semivalue::beta_shapley(0.5, 2.0).unwrap().into(),
            Value::owen(groups.clone()),
            Value::quotient(Semivalue::Banzhaf, groups),
        ] {
            let got = tree_explainer().values(value.clone(), rows).unwrap();
            let expected = walk.values(value, rows).unwrap();
            close(&format!("{features} features"), &got.values, &expected.values, 1e-12);
        }
        let plan = tree_explainer().plan(Semivalue::Shapley, rows).unwrap();
        let slow = walk.plan(Semivalue::Shapley, rows).unwrap();
        assert!(plan.seconds < slow.seconds);
    }
}

/// If the explicand equals all background rows, the values are exactly 0, because the mean has no rounding
/// error.
#[test]
fn what_is_as_in_the_background_contributes_nothing() {
    let ensemble = model("onnx/linear/regression.onnx");
    let row = [0.1, 0.7, -0.3, 0.2, 1.1, -0.6];
    let background: Vec<f64> = row.iter().copied().cycle().take(7 * 6).collect();
    let tree_explainer = MarginalTreeExplainer::new(&ensemble, Rows::new(&background, 6), None).unwrap();
    let got = tree_explainer.values(Semivalue::Shapley, Rows::new(&row, 6)).unwrap();
    assert_eq!(got.values, [0.0; 6]);
}
