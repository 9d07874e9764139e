//! CatBoost models with categories and their statistics: comparison of all values with enumeration, and of
//! Shapley values with CatBoost 1.2.10.

use apportion_games::{Background, MarginalGame, Partition, QuotientGame, Rows};
use apportion_trees::{
    BackgroundCompiler, Diagonal, Ensemble, Exact, Kernel, LinkedTreeExplainer, MarginalTreeExplainer,
    ModelError, PathDependentGame, PathDependentTreeExplainer, Settings, TreeError,
};
use apportion_values::{Semivalue, Value};

use crate::common::case::{close, in_groups, matrix, semivalues};
use crate::common::{Random, coded, json_fixture, model, numbers};

/// The names of models with splits on combinations of features.
const JOINT: [&str; 3] = ["combined", "combined_classes", "all_combined"];

const ALONE: [&str; 5] = ["words", "simple", "kinds", "classes", "depthwise"];

/// Returns a model and its rows, with categories encoded.
fn with_rows(name: &str) -> (Ensemble, Vec<f64>) {
    let ensemble = model(&format!("catboost/{name}.cbm.gz"));
    let rows = coded(&ensemble, &json_fixture("catboost/said.json.gz")[name]["rows"]);
    (ensemble, rows)
}

/// Compares the marginal game of a model with its definition, on random rows of its data.
fn check(name: &str, random: &mut Random, background: usize, values: impl Fn(&mut Random) -> Vec<Value>) {
    let (ensemble, rows) = with_rows(name);
    let features = ensemble.feature_count();
    let mut some = |count: usize| -> Vec<f64> {
        (0..count)
            .flat_map(|_| {
                let row = random.below(rows.len() / features);
                rows[row * features..][..features].to_vec()
            })
            .collect()
    };
    let (explained, background) = (some(3), some(background));
    let weights: Vec<f64> = (0..background.len() / features).map(|row| 1.0 + row as f64).collect();
    let background = Background::rows(background, features).unwrap().with_weights(&weights).unwrap();
    let tree_explainer =
        MarginalTreeExplainer::new(&ensemble, background.as_rows(), Some(background.weights())).unwrap();
    for value in values(random) {
        for row in explained.chunks_exact(features) {
            let game = MarginalGame::new(&ensemble, row, &background).unwrap();
            let what = format!("{name}, {value:?}");
            let expected = value.enumerate(&game).unwrap();
            let got = tree_explainer.values_of(&value, Rows::new(row, features)).unwrap();
            close(&what, &got.values, &expected.values, 1e-12);
            close(&what, &got.predictions, &ensemble.margins(Rows::new(row, features)).unwrap(), 1e-14);
            let pairs = match &value {
                Value::Semivalue(value) => {
                    let all: Vec<usize> = (0..features).collect();
                    matrix(value, Diagonal::Remainder, &all, features, &game)
                }
                Value::Quotient(value, groups) => {
                    let all: Vec<usize> = (0..groups.len()).collect();
                    let quotient = QuotientGame::new(&game, groups).unwrap();
                    matrix(value, Diagonal::Remainder, &all, groups.len(), &quotient)
                }
                _ => continue,
            };
            let got = tree_explainer
                .interactions_of(&value, Diagonal::Remainder, Rows::new(row, features))
                .unwrap();
            close(&format!("{what}, pairs"), &got.values, &pairs, 1e-12);
        }
    }
}

/// Checks every semivalue, every value of features in random groups and of the groups, and all interactions.
#[test]
fn values_of_the_marginal_game_are_those_of_its_definition() {
    let random = &mut Random(11);
    for name in JOINT {
        for background in [1, 4] {
            check(name, random, background, |random| {
                let groups = random.partition(6, 3);
                let values = semivalues(6).into_iter().map(Value::from);
                values.chain(in_groups(&groups)).chain(in_groups(&Partition::singletons(6))).collect()
            });
        }
    }
    for name in ALONE {
        check(name, random, 3, |random| {
            let groups = random.partition(6, 3);
            let owen = [Value::owen(groups.clone()), Value::quotient(Semivalue::Banzhaf, groups)];
            [Semivalue::Shapley, Semivalue::Banzhaf].map(Value::from).into_iter().chain(owen).collect()
        });
    }
}

/// Many rows use tables, and a single baseline uses quadrature; trees with splits on combinations are walked
/// in both cases.
#[test]
fn many_rows_have_the_values_of_each_alone_and_add_up() {
    for name in JOINT {
        let (ensemble, rows) = with_rows(name);
        let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
        for background in [1, 7] {
            let background = Rows::new(&rows[..background * features], features);
            let tree_explainer = MarginalTreeExplainer::new(&ensemble, background, None).unwrap();
            let all = Rows::new(&rows, features);
            let together = tree_explainer.values(Semivalue::Shapley, all).unwrap();
            for (place, row) in rows.chunks_exact(features).enumerate() {
                let alone = tree_explainer.values(Semivalue::Shapley, Rows::new(row, features)).unwrap();
                let values = &together.values[place * features * outputs..][..features * outputs];
                close(name, values, &alone.values, 1e-12);
                for output in 0..outputs {
                    let sum: f64 = values.iter().skip(output).step_by(outputs).sum();
                    let total = sum + together.base[output] - together.predictions[place * outputs + output];
                    assert!(total.abs() < 1e-12, "{name}: {total}");
                }
            }
            let plan = tree_explainer.plan(Semivalue::Shapley, all).unwrap();
            let planned: usize = plan.kernels.iter().map(|(_, trees)| trees).sum();
            assert_eq!(planned, ensemble.tree_count());
            assert!(plan.seconds > 0.0 && plan.kernels.iter().any(|(kernel, _)| *kernel == Kernel::Walk));
        }
    }
}

#[test]
fn path_dependent_shapley_values_are_those_of_catboost_where_splits_look_at_one_feature() {
    let said = json_fixture("catboost/said.json.gz");
    for name in ["words", "simple", "kinds", "classes", "numbers"] {
        let (ensemble, rows) = with_rows(name);
        let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
        let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
        let explained = tree_explainer.values(Semivalue::Shapley, Rows::new(&rows, features)).unwrap();
        let expected = numbers(&said[name]["contributions"]);
        let row =
            |row: usize| (0..outputs).flat_map(move |output| (0..=features).map(move |at| (row, output, at)));
        let got: Vec<f64> = (0..rows.len() / features)
            .flat_map(row)
            .map(|(row, output, at)| match at {
                at if at == features => explained.base[output],
                at => explained.values[(row * features + at) * outputs + output],
            })
            .collect();
        close(name, &got, &expected, 1e-9);
    }
}

#[test]
fn what_trees_on_combinations_cannot_be_asked_is_refused_with_what_to_do() {
    for name in JOINT {
        let (ensemble, rows) = with_rows(name);
        let features = ensemble.feature_count();
        let background = Rows::new(&rows[..2 * features], features);
        let error = PathDependentTreeExplainer::new(&ensemble).map(|_| ()).unwrap_err();
        assert!(matches!(error, TreeError::Model(ModelError::JointSplits)), "{error}");
        assert!(error.to_string().contains("use the marginal game"), "{error}");
        let error = PathDependentGame::new(&ensemble, &rows[..features]).map(|_| ()).unwrap_err();
        assert!(matches!(error, TreeError::Model(ModelError::JointSplits)), "{error}");
        let error = BackgroundCompiler::new(&ensemble).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("several features") && error.contains("the background rows"), "{error}");
        let linked = LinkedTreeExplainer::new(&ensemble, background, None).map(|_| ());
        match linked {
            Err(error) => assert!(error.to_string().contains("Ensemble::linked"), "{error}"),
            Ok(()) => assert_ne!(name, "combined_classes"),
        }
        for kernel in Kernel::ALL {
            let tree_explainer = MarginalTreeExplainer::new(&ensemble, background, None).unwrap();
            let tree_explainer = tree_explainer.with_settings(Settings::default().with_kernel(kernel));
            let values = tree_explainer.values(Semivalue::Shapley, background);
            match kernel {
                Kernel::Walk => drop(values.unwrap()),
                _ => assert!(values.unwrap_err().to_string().contains("use walk"), "{kernel}"),
            }
        }
    }
}
