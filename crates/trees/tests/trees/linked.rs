//! Compares values of the outputs of trained models with enumeration, in which the ensemble predicts every
//! mixture and the link is applied.

use std::path::Path;

use apportion_games::{Background, MarginalGame, Partition, Rows, SubGame};
use apportion_trees::{Ensemble, Exact, Link, LinkedTreeExplainer, ModelError, TreeError};
use apportion_values::{Semivalue, Value, enumerate};
use serde_json::Value as Json;

use crate::common::case::{Case, close};
use crate::common::{Random, TreeSpec, linked_document, read};

fn floats(value: &Json) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap_or(f64::NAN)).collect()
}

/// Compares the values of `explicands` with enumeration, to 1e-12 of the largest output.
fn check(ensemble: &Ensemble, link: Link, background: &[f64], explicands: &[f64]) {
    assert_eq!(ensemble.link(), Some(link));
    let n = ensemble.feature_count();
    let tree_explainer = LinkedTreeExplainer::new(ensemble, Rows::new(background, n), None).unwrap();
    let model = ensemble.linked().unwrap();
    let background = Background::rows(background, n).unwrap();
    for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
        let got = tree_explainer.values(value.clone(), Rows::new(explicands, n)).unwrap();
        for (index, row) in Rows::new(explicands, n).iter().enumerate() {
            let got = got.of_row(index);
            let game = MarginalGame::new(&model, row, &background).unwrap();
            let expected = enumerate(&game, value.clone()).unwrap();
            let scale = expected
                .predictions
                .iter()
                .chain(&expected.base)
                .fold(0.0f64, |most, end| most.max(end.abs()));
            let numbers = [&got.values, &got.predictions, &got.base].into_iter().flatten();
            let all = [&expected.values, &expected.predictions, &expected.base].into_iter().flatten();
            for (got, expected) in numbers.zip(all) {
                assert!((got - expected).abs() <= 1e-12 * scale, "{value}: {got} != {expected}");
            }
        }
    }
}

#[test]
fn probabilities_of_the_bundled_classifier_are_divided() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let truth: Json = serde_json::from_slice(&std::fs::read(fixtures.join("truth.json")).unwrap()).unwrap();
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
        let truth: Json = serde_json::from_slice(&truth).unwrap();
        let ensemble =
            Ensemble::from_path(shared.join("models").join(truth["model_file"].as_str().unwrap())).unwrap();
        let rows: Vec<Vec<f64>> =
            truth["cases"].as_array().unwrap().iter().map(|case| floats(&case["x"])).collect();
        let mut background = floats(&truth["baseline"]);
        background.extend(rows[2..].iter().flatten());
        check(&ensemble, link, &background, &rows[..2].concat());
        models += 1;
    }
    assert!(models > 0 || !shared.join("truth").exists(), "the data pack exists, but without these models");
}

fn tree_explainer(case: &Case) -> LinkedTreeExplainer<'_> {
    LinkedTreeExplainer::new(&case.ensemble, case.background.as_rows(), Some(case.background.weights()))
        .unwrap()
}

/// Returns the values of the first row by enumeration, which predicts every mixture.
fn by_enumeration(case: &Case, value: Semivalue) -> Vec<f64> {
    let model = case.ensemble.linked().unwrap();
    let game = MarginalGame::new(&model, case.rows().row(0), &case.background).unwrap();
    enumerate(&game, value).unwrap().values
}

/// Returns the loss of a row by its definition, from the model's margins.
fn loss(ensemble: &Ensemble, link: Link, target: f64, row: &[f64]) -> Vec<f64> {
    let margins = ensemble.margins(Rows::new(row, row.len())).unwrap();
    let probability = |margin: f64, steepness: f64| 1.0 / (1.0 + (-steepness * margin).exp());
    match link {
        Link::Logistic { steepness } if target == 1.0 => vec![-probability(margins[0], steepness).ln()],
        Link::Logistic { steepness } => vec![-(1.0 - probability(margins[0], steepness)).ln()],
        Link::Softmax => {
            let total: f64 = margins.iter().map(|margin| margin.exp()).sum();
            margins.iter().map(|margin| -(margin.exp() / total).ln()).collect()
        }
        _ => vec![(margins[0] - target).powi(2)],
    }
}

#[test]
fn losses_are_divided() {
    let mut random = Random(11);
    for (outputs, link, targets) in [
        (1, Link::Logistic { steepness: 1.0 }, [0.0, 1.0]),
        (1, Link::Logistic { steepness: 0.5 }, [0.0, 1.0]),
        (3, Link::Softmax, [0.0, 2.0]),
        (1, Link::Identity, [1.25, -40.0]),
    ] {
        for features in [1, 2, 5] {
            let all: Vec<usize> = (0..features).collect();
            let trees = (0..6).map(|tree| TreeSpec::random(&mut random, &all, 7, false, tree % outputs));
            let trees: Vec<TreeSpec> = trees.collect();
            let case = Case::linked(&mut random, trees, features, (3, 4), link);
            for target in targets {
                let ensemble = case.ensemble.clone().with_loss(target).unwrap();
                let weights = Some(case.background.weights());
                let tree_explainer =
                    LinkedTreeExplainer::new(&ensemble, case.background.as_rows(), weights).unwrap();
                let got = tree_explainer.values(Semivalue::Shapley, case.rows()).unwrap();
                let model = apportion_games::batch_model(outputs, |rows: Rows<'_>| {
                    Ok(rows.iter().flat_map(|row| loss(&case.ensemble, link, target, row)).collect())
                });
                for (index, row) in case.rows().iter().enumerate() {
                    let game = MarginalGame::new(&model, row, &case.background).unwrap();
                    let expected = enumerate(&game, Semivalue::Shapley).unwrap();
                    let what = format!("{link:?}, target {target}, {features} features");
                    close(&what, &got.of_row(index).values, &expected.values, 1e-10);
                }
            }
        }
    }
}

#[test]
fn losses_that_a_model_does_not_have_are_refused() {
    let refused = |outputs: usize, link: Link, target: f64| {
        let leaf = TreeSpec::leaf(0.5);
        let margins = vec![0.0; outputs];
        let model = read(&linked_document(&[leaf], 2, &margins, Some(link))).unwrap();
        model.with_loss(target).unwrap_err().to_string()
    };
    let logistic = Link::Logistic { steepness: 1.0 };
    for (outputs, link, target, words) in [
        (1, logistic, 0.5, "for target 0.5 of a model with the logistic link; expected 0 or 1"),
        (1, logistic, f64::NAN, "expected 0 or 1"),
        (3, Link::Softmax, 3.0, "expected the index of a class, from 0"),
        (3, Link::Softmax, 0.5, "expected the index of a class"),
        (1, Link::Identity, f64::INFINITY, "expected a finite number"),
        (2, Link::Identity, 0.0, "a regression model with one output"),
        (1, Link::Exponential, 1.0, "a regression model with one output"),
    ] {
        let said = refused(outputs, link, target);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn tables_are_cut_where_many_players_part() {
    // Each feature has a separate split, so that the rows diverge for all features. In random trees, they
    // would not.
    let mut random = Random(5);
    for (features, outputs, link) in
        [(13, 1, Link::Exponential), (18, 1, Link::Logistic { steepness: 1.0 }), (16, 3, Link::Softmax)]
    {
        let all: Vec<usize> = (0..features).collect();
        let mut trees: Vec<TreeSpec> = all
            .iter()
            .map(|&feature| {
                let mut tree = TreeSpec::leaf(0.25);
                let [left, _] = tree.split(0, feature, 0.5, true);
                tree.number[left] = -0.5 + feature as f32 * 0.05;
                tree.output = feature % outputs;
                tree
            })
            .collect();
        for output in 0..2 * outputs {
            trees.push(TreeSpec::random(&mut random, &all, 7, false, output % outputs));
        }
        trees.push(TreeSpec::chain(&mut random, &all));
        let mut case = Case::linked(&mut random, trees, features, (1, 1), link);
        case.rows = vec![1.0; features];
        case.background = Background::baseline(vec![0.0; features]).unwrap();
        for value in [Semivalue::Shapley, Semivalue::weighted_banzhaf(0.3).unwrap()] {
            let got = tree_explainer(&case).values(value.clone(), case.rows()).unwrap();
            close(
                &format!("{features} features, {value}"),
                &got.values,
                &by_enumeration(&case, value),
                1e-12,
            );
        }
    }
}

#[test]
fn a_full_tree_is_written_down_in_a_table_of_its_own() {
    // The tree has 2^8 leaves and one feature for each level. Its 3^8 terms are compared with 12 · 2^8.
    let mut tree = TreeSpec::leaf(0.0);
    let mut level = vec![0];
    for feature in 0..8 {
        level = level.into_iter().flat_map(|node| tree.split(node, feature, 0.5, false)).collect();
    }
    for (index, leaf) in level.into_iter().enumerate() {
        tree.number[leaf] = (index * 37 % 101) as f32 * 0.02 - 1.0;
    }
    let mut random = Random(3);
    let other = TreeSpec::random(&mut random, &[9, 2, 8, 5], 4, false, 0);
    let link = Link::Logistic { steepness: 1.0 };
    let mut case = Case::linked(&mut random, vec![other, tree], 10, (1, 1), link);
    case.rows = vec![1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0];
    case.background = Background::baseline(vec![0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]).unwrap();
    let got = tree_explainer(&case).values(Semivalue::Shapley, case.rows()).unwrap();
    close("a full tree", &got.values, &by_enumeration(&case, Semivalue::Shapley), 1e-12);
}

#[test]
fn of_many_features_only_those_that_part_count() {
    let (features, kept) = (200, [3usize, 64, 70, 131, 199]);
    let mut random = Random(9);
    let all: Vec<usize> = (0..features).collect();
    let trees: Vec<TreeSpec> = (0..60)
        .map(|index| {
            let on = if index % 2 == 0 { &all[..] } else { &kept[..] };
            TreeSpec::random(&mut random, on, 5, false, 0)
        })
        .collect();
    let mut case = Case::linked(&mut random, trees, features, (1, 1), Link::Logistic { steepness: 1.0 });
    let background = case.background.as_rows().values().to_vec();
    case.rows.copy_from_slice(&background);
    for feature in kept {
        case.rows[feature] = 1.75 - background[feature].max(0.0);
    }
    let got = tree_explainer(&case).values(Semivalue::Shapley, case.rows()).unwrap();
    let model = case.ensemble.linked().unwrap();
    let game = MarginalGame::new(&model, &case.rows, &case.background).unwrap();
    let few = SubGame::new(&game, &kept).unwrap();
    let expected = few.expand(&enumerate(&few, Semivalue::Shapley).unwrap().values);
    assert!(expected.iter().filter(|value| **value != 0.0).count() > 2);
    for (feature, (got, expected)) in got.values.iter().zip(&expected).enumerate() {
        assert!((got - expected).abs() < 1e-13, "feature {feature}: {got} != {expected}");
    }
    // The values of features for which the rows do not diverge are exactly 0.
    assert!((0..features).all(|feature| kept.contains(&feature) || got.values[feature] == 0.0));
}

/// Returns a case whose model is a sum of step functions, one for each feature, with a logistic link.
fn steps(features: usize) -> Case {
    let trees = (0..features).map(|feature| {
        let mut tree = TreeSpec::leaf(0.125);
        tree.split(0, feature, 0.5, true);
        tree.number[1] = -0.125;
        tree
    });
    let trees = trees.collect();
    let mut case = Case::linked(&mut Random(1), trees, features, (1, 1), Link::Logistic { steepness: 1.0 });
    case.rows = vec![1.0; features];
    case.background = Background::baseline(vec![0.0; features]).unwrap();
    case
}

#[test]
fn what_would_take_too_long_is_refused_before_it_is_begun() {
    for (features, named) in [(45, Some(45)), (62, Some(62)), (63, None), (300, None)] {
        let case = steps(features);
        for most in [LinkedTreeExplainer::MAX_STEPS, if named.is_none() { u64::MAX } else { 0 }] {
            let tree_explainer = tree_explainer(&case).with_max_steps(most);
            let refused = tree_explainer.values(Semivalue::Shapley, case.rows()).unwrap_err();
            let told = match &refused {
                TreeError::TooManySteps { parting, row: 0, background_row: 0, .. } => *parting,
                other => panic!("{other}"),
            };
            assert_eq!(told, named, "{refused}");
        }
        // Values of a few groups take few steps.
        let groups = (0..5).map(|group| (0..features).filter(|feature| feature % 5 == group).collect());
        let partition = Partition::new(features, groups.collect()).unwrap();
        let got = tree_explainer(&case)
            .values(Value::quotient(Semivalue::Shapley, partition.clone()), case.rows())
            .unwrap();
        let total: f64 = got.values.iter().sum();
        assert!((got.base[0] + total - got.predictions[0]).abs() < 1e-14);
    }
}

#[test]
fn the_limit_is_what_is_counted() {
    let case = steps(6);
    // The steps are 64 mixtures, and two leaves for each of six trees.
    let explain = |most| tree_explainer(&case).with_max_steps(most).values(Semivalue::Shapley, case.rows());
    explain(76).unwrap();
    assert!(matches!(explain(75), Err(TreeError::TooManySteps { steps: 76, max: 75, .. })));
    assert!(explain(75).unwrap_err().to_string().contains("6 features or groups"));
}

#[test]
fn links_that_are_not_known_and_outputs_that_are_too_large_are_refused() {
    let unknown = read(&linked_document(&[TreeSpec::leaf(0.5)], 3, &[0.0], None)).unwrap();
    let background = Rows::new(&[0.0; 3], 3);
    assert!(matches!(
        LinkedTreeExplainer::new(&unknown, background, None),
        Err(TreeError::Model(ModelError::UnknownLink { .. }))
    ));
    assert!(matches!(unknown.linked(), Err(ModelError::UnknownLink { .. })));

    let mut tree = TreeSpec::leaf(800.0);
    let [low, _] = tree.split(0, 0, 0.5, true);
    tree.number[low] = 0.0;
    let [_, down] = tree.split(low, 1, 0.5, true);
    tree.number[down] = -900.0;
    // The output is too large on the background, on the explicand or, in the second model, only on a mixture.
    let ensemble = read(&linked_document(&[tree], 2, &[0.0], Some(Link::Exponential))).unwrap();
    for (row, background) in [([0.0, 0.0], [1.0, 0.0]), ([1.0, 0.0], [0.0, 0.0])] {
        let refused = LinkedTreeExplainer::new(&ensemble, Rows::new(&background, 2), None)
            .and_then(|tree_explainer| tree_explainer.values(Semivalue::Shapley, Rows::new(&row, 2)))
            .unwrap_err();
        assert!(matches!(refused, TreeError::OutputOverflow { output: 0, .. }), "{refused}");
    }
    let mut both = TreeSpec::leaf(0.0);
    let [_, high] = both.split(0, 0, 0.5, true);
    let [_, top] = both.split(high, 1, 0.5, true);
    both.number[top] = 800.0;
    let ensemble = read(&linked_document(&[both], 2, &[0.0], Some(Link::Exponential))).unwrap();
    let tree_explainer = LinkedTreeExplainer::new(&ensemble, Rows::new(&[1.0, 0.0], 2), None).unwrap();
    let refused = tree_explainer.values(Semivalue::Shapley, Rows::new(&[0.0, 1.0], 2)).unwrap_err();
    assert!(matches!(refused, TreeError::OutputOverflow { output: 0, .. }), "{refused}");
}
