//! Compares LightGBM models with equivalent models: models that use few of many features, and models with one
//! column per category.

use crate::common::Random;
use crate::common::case::{close, semivalues};
use crate::common::lightgbm::{Node, text};
use apportion_games::{Partition, Rows};
use apportion_trees::{Ensemble, Exact, Kernel, MarginalTreeExplainer, PathDependentTreeExplainer, Settings};
use apportion_values::{Semivalue, Value};

fn read(trees: &[Node], features: usize) -> Ensemble {
    Ensemble::from_bytes(text(trees, features).as_bytes()).unwrap()
}

/// Returns random trees and their ensemble. The linear models of their leaves use features on the path and
/// other features.
fn forest(random: &mut Random, features: usize) -> (Vec<Node>, Ensemble) {
    let all: Vec<usize> = (0..features).collect();
    let trees: Vec<Node> = (0..3).map(|depth| Node::random(random, &all, 2 * depth, 25, 75)).collect();
    let ensemble = read(&trees, features);
    (trees, ensemble)
}

/// A model that uses few of its many features has the same values as a model with only those features.
#[test]
fn more_than_64_players() {
    fn moved(node: &Node) -> Node {
        match node.clone() {
            Node::Split { feature, test, left, right } => Node::Split {
                feature: 20 * feature,
                test,
                left: Box::new(moved(&left)),
                right: Box::new(moved(&right)),
            },
            Node::Leaf { value, count, linear } => {
                let far = |(feature, slope)| (20 * feature, slope);
                let linear = linear.map(|(constant, terms)| (constant, terms.into_iter().map(far).collect()));
                Node::Leaf { value, count, linear }
            }
        }
    }
    let random = &mut Random(3);
    let (trees, near) = forest(random, 7);
    let far = read(&trees.iter().map(moved).collect::<Vec<_>>(), 140);
    let (few, background) = (random.row(7 * 5), random.row(7 * 4));
    let spread = |rows: &[f64]| -> Vec<f64> {
        rows.iter().flat_map(|&value| std::iter::once(value).chain([f64::NAN; 19])).collect()
    };
    let near = MarginalTreeExplainer::new(&near, Rows::new(&background, 7), None).unwrap();
    let many = spread(&background);
    let far = MarginalTreeExplainer::new(&far, Rows::new(&many, 140), None).unwrap();
    for value in [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::beta_shapley(0.5, 2.0).unwrap()] {
        let expected = near.values(value.clone(), Rows::new(&few, 7)).unwrap().values;
        let got = far.values(value, Rows::new(&spread(&few), 140)).unwrap().values;
        close("140 features", &got.iter().copied().step_by(20).collect::<Vec<_>>(), &expected, 1e-12);
        assert_eq!(
            got.iter().filter(|&&value| value != 0.0).count(),
            expected.iter().filter(|&&value| value != 0.0).count()
        );
    }
}

/// Converts a categorical split on a set to a chain of splits on the columns of its members, one column per
/// category.
fn one_hot(node: &Node, categories: usize) -> Node {
    let Node::Split { feature, test, left, right } = node else { return node.clone() };
    let (left, right) = (one_hot(left, categories), one_hot(right, categories));
    let crate::common::lightgbm::Test::In(members) = test else { panic!("all splits are categorical") };
    let share = 1.0 / members.len() as f64;
    members.iter().fold(right, |rest, &category| Node::Split {
        feature: feature * categories + category as usize,
        test: crate::common::lightgbm::Test::AtMost {
            threshold: 0.5,
            missing: crate::common::lightgbm::Missing::NaN,
            default_left: true,
        },
        left: Box::new(rest),
        right: Box::new(left.weighted(share)),
    })
}

/// Tests every kernel, and the kernels chosen for one row and for many rows, with one background row and with
/// many.
#[test]
fn a_categorical_model_equals_its_one_hot_twin() {
    const CATEGORIES: usize = 5;
    let random = &mut Random(4);
    for (features, count, baselines) in [(1, 3, 1), (2, 9, 2), (4, 70, 1), (3, 70, 40), (5, 5, 64)] {
        let all: Vec<usize> = (0..features).collect();
        let mut trees: Vec<Node> = (0..4).map(|_| Node::random(random, &all, 3, 100, 0)).collect();
        fill_sets(&mut trees, random);
        let twins: Vec<Node> = trees.iter().map(|tree| one_hot(tree, CATEGORIES)).collect();
        let (model, twin) = (read(&trees, features), read(&twins, features * CATEGORIES));
        let groups =
            (0..features).map(|feature| (feature * CATEGORIES..(feature + 1) * CATEGORIES).collect());
        let groups = Partition::new(features * CATEGORIES, groups.collect()).unwrap();
        let mut rows = |count: usize| -> Vec<f64> {
            // A missing or unknown category is in no set, and all of its columns are 0.
            let cell = |random: &mut Random| match random.below(7) {
                6 => f64::NAN,
                category => category as f64,
            };
            (0..count * features).map(|_| cell(random)).collect()
        };
        let (explicands, background) = (rows(count), rows(baselines));
        let columns = |rows: &[f64]| -> Vec<f64> {
            let column = |value: f64| {
                (0..CATEGORIES).map(move |category| f64::from(u8::from(value == category as f64)))
            };
            rows.iter().flat_map(|&value| column(value)).collect()
        };
        let (wide_explicands, wide_background) = (columns(&explicands), columns(&background));
        let wide = |rows| Rows::new(rows, features * CATEGORIES);
        let dependent = PathDependentTreeExplainer::new(&model).unwrap();
        let dependent_twin = PathDependentTreeExplainer::new(&twin).unwrap();
        for value in semivalues(features) {
            let what = format!("{features} features, {value}");
            let rows = Rows::new(&explicands, features);
            for kernel in [None, Some(Kernel::Tables), Some(Kernel::Walk), Some(Kernel::Masks)] {
                let settings = Settings::default().with_kernel(kernel);
                let tree_explainer =
                    MarginalTreeExplainer::new(&model, Rows::new(&background, features), None);
                let got =
                    tree_explainer.unwrap().with_settings(settings).values(value.clone(), rows).unwrap();
                let tree_explainer = MarginalTreeExplainer::new(&twin, wide(&wide_background), None);
                let tree_explainer = tree_explainer.unwrap().with_settings(settings);
                let wide_rows = wide(&wide_explicands);
                let expected =
                    tree_explainer.values(Value::quotient(value.clone(), groups.clone()), wide_rows).unwrap();
                close(&format!("{what}, marginal, {kernel:?}"), &got.values, &expected.values, 1e-12);
                close(&what, &got.predictions, &expected.predictions, 1e-12);
            }
            let got = dependent.values(value.clone(), rows).unwrap();
            let expected = dependent_twin
                .values(Value::quotient(value, groups.clone()), wide(&wide_explicands))
                .unwrap();
            close(&format!("{what}, path-dependent"), &got.values, &expected.values, 1e-12);
            close(&what, &got.base, &expected.base, 1e-12);
        }
    }
}

/// Adds a member to empty sets, because the left child of such a split would not have cover in the one-hot
/// model.
fn fill_sets(trees: &mut [Node], random: &mut Random) {
    for tree in trees {
        let Node::Split { test, left, right, .. } = tree else { continue };
        if let crate::common::lightgbm::Test::In(members) = test
            && members.is_empty()
        {
            members.push(random.below(5) as u32);
        }
        fill_sets(std::slice::from_mut(left), random);
        fill_sets(std::slice::from_mut(right), random);
    }
}
