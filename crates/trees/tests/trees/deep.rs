//! Tests trees that are too deep for recursive algorithms and for the recurrences in the literature.

use apportion_games::{Background, Partition, Rows};
use apportion_trees::{
    Diagonal, Ensemble, Exact, MarginalTreeExplainer, PathDependentGame, PathDependentTreeExplainer,
};
use apportion_values::{CoalitionalValue, Semivalue, Value, enumerate};
use serde_json::json;

use crate::common::case::{Case, close, semivalues};
use crate::common::{Random, TreeSpec, document, read};

const FEATURES: usize = 250;

/// Returns a tree that is a chain of splits on distinct features. At every split, a `fraction` of the cover
/// continues along the chain.
fn chain(random: &mut Random, depth: usize, fraction: f32) -> TreeSpec {
    let features: Vec<usize> = (0..depth).map(|level| level * 7 % FEATURES).collect();
    let mut tree = TreeSpec::chain(random, &features);
    // The leaves next to the chain have odd indices, from the top down. The end of the chain has the last
    // index.
    let end = tree.left.len() - 1;
    let mut below = 1.0;
    tree.cover[end] = below;
    for level in (0..depth).rev() {
        tree.cover[2 * level + 1] = below * (1.0 - fraction) / fraction;
        below /= fraction;
    }
    tree
}

/// Returns a chain of splits with a small tree next to each of them, and with some features repeated.
fn bushy(random: &mut Random, depth: usize) -> TreeSpec {
    let features: Vec<usize> = (0..depth).map(|level| (level * 7 + random.below(5)) % FEATURES).collect();
    let mut tree = TreeSpec::chain(random, &features);
    for level in 0..depth {
        for leaf in tree.split(2 * level + 1, random.below(FEATURES), 0.5, true) {
            tree.number[leaf] = random.below(41) as f32 * 0.1 - 2.0;
        }
    }
    tree
}

/// Checks that the values of all rows are finite and that, if the value is efficient, they sum with the base
/// value to the prediction. The tolerance is relative to the largest of these numbers.
fn check_sums(what: &str, tree_explainer: &dyn Exact, value: &Value, rows: Rows<'_>) {
    let got = tree_explainer.values_of(value, rows).unwrap();
    for (values, prediction) in got.values.chunks(got.values.len() / rows.len()).zip(&got.predictions) {
        assert!(values.iter().all(|value| value.is_finite()), "{what}, {value:?}");
        let is_efficient = match value {
            Value::Semivalue(value) | Value::Quotient(value, _) => value.is_efficient(),
            Value::Coalitional(value, _) => value.between.is_efficient() && value.within.is_efficient(),
            _ => true,
        };
        let total: f64 = values.iter().sum();
        let scale = values.iter().fold(prediction.abs(), |scale, value| scale.max(value.abs()));
        let error = (total + got.base[0] - prediction).abs() / scale;
        assert!(
            !is_efficient || error < 1e-12,
            "{what}, {value:?}: {total} + {} != {prediction}",
            got.base[0]
        );
    }
}

/// Checks that the values of the members of a group sum to the value of the group, for any semivalue between
/// the groups and an efficient one within them.
fn check_groups(what: &str, tree_explainer: &dyn Exact, groups: &Partition, rows: Rows<'_>) {
    let by_size = semivalues(groups.len()).pop().unwrap();
    let shapley = || Semivalue::Shapley;
    let mut members: Vec<(Value, Semivalue)> = [shapley(), Semivalue::Banzhaf, by_size]
        .map(|between| {
            let value = CoalitionalValue { between: between.clone(), within: shapley() };
            (Value::Coalitional(value, groups.clone()), between)
        })
        .into();
    members.push((Value::two_step(groups.clone()), shapley()));
    for (value, between) in members {
        check_sums(what, tree_explainer, &value, rows);
        let got = tree_explainer.values_of(&value, rows).unwrap().values;
        let expected =
            tree_explainer.values_of(&Value::quotient(between, groups.clone()), rows).unwrap().values;
        let sums: Vec<f64> = got
            .chunks(groups.players())
            .flat_map(|row| {
                groups.groups().iter().map(|group| group.iter().map(|&feature| row[feature]).sum::<f64>())
            })
            .collect();
        close(&format!("{what}, {value:?}"), &sums, &expected, 1e-12);
    }
}

#[test]
fn values_add_up_to_groups_and_predictions_at_depth_92_and_200() {
    let random = &mut Random(41);
    for depth in [92, 200] {
        let mut trees: Vec<TreeSpec> = vec![bushy(random, depth)];
        // Use fractions for which the covers can be represented in 32 bits.
        let fractions = if depth == 92 { [0.9, 0.5, 0.4] } else { [0.9, 0.7, 0.66] };
        trees.extend(fractions.map(|fraction| chain(random, depth, fraction)));
        // Use one row that passes all tests of the chain, rows that fail a few or most of the tests, and a
        // random row.
        let mut rows = vec![1.0; FEATURES];
        for percent in [2, 10, 60] {
            rows.extend((0..FEATURES).map(|_| if random.chance(percent) { -1.0 } else { 1.0 }));
        }
        rows.extend(random.row(FEATURES));
        let rows = Rows::new(&rows, FEATURES);
        for (number, tree) in trees.into_iter().enumerate() {
            let ensemble = read(&document(&[tree], FEATURES, &[0.5])).unwrap();
            assert_eq!(ensemble.depth(), depth + usize::from(number == 0));
            let tree_explainers: [(&str, Box<dyn Exact + '_>); 2] = [
                ("path-dependent", Box::new(PathDependentTreeExplainer::new(&ensemble).unwrap())),
                (
                    "marginal",
                    Box::new(MarginalTreeExplainer::new(&ensemble, rows.slice(0..2), None).unwrap()),
                ),
            ];
            for (game, tree_explainer) in tree_explainers {
                let what = format!("{game}, tree {number} of depth {depth}");
                let distribution =
                    Semivalue::from_size_distribution(&[1.0 / FEATURES as f64; FEATURES]).unwrap();
                for value in [Semivalue::Shapley, Semivalue::beta_shapley(1.0, 1.0).unwrap(), distribution] {
                    check_sums(&what, &*tree_explainer, &value.into(), rows);
                }
                let groups = [3, 20, 130, 249][number];
                check_groups(&what, &*tree_explainer, &random.partition(FEATURES, groups), rows);
            }
        }
    }
}

/// Returns a tree that is a chain of splits on distinct features. At every split, a `fraction` of the cover
/// continues along the chain, as far as 64 bits allow. Low values leave the chain.
fn thin(depth: usize, fraction: f64) -> Ensemble {
    let count = 2 * depth + 1;
    let (mut left, mut right, mut cover) = (vec![-1; count], vec![-1; count], vec![1.0; count]);
    for level in 0..depth {
        let [ends, goes_on] = [2 * level + 1, 2 * level + 2];
        let above = if level == 0 { 0 } else { 2 * level };
        (left[above], right[above]) = (ends as i64, goes_on as i64);
        (cover[ends], cover[goes_on]) = (cover[above] * (1.0 - fraction), cover[above] * fraction);
    }
    let split = |node: usize| node.is_multiple_of(2) && node + 1 < count;
    let number: Vec<f64> =
        (0..count).map(|node| if split(node) { 0.0 } else { (node % 7) as f64 - 3.0 }).collect();
    let feature: Vec<usize> = (0..count).map(|node| node / 2 % depth).collect();
    let tree = json!({
        "left": left, "right": right, "feature": feature, "threshold": number, "value": number, "cover": cover
    });
    let document = json!({
        "format": "apportion-trees", "version": 1, "width": "single", "features": depth,
        "base_margins": [0.25], "operator": "<", "trees": [tree],
    });
    Ensemble::from_bytes(document.to_string().as_bytes()).unwrap()
}

#[test]
fn neither_long_paths_nor_small_shares_do_harm() {
    for depth in [24, 92, 200, 250] {
        for fraction in [0.9, 0.5, 0.1, 0.001, 1e-9, 1.0 - 1e-6] {
            if f64::log10(fraction) * depth as f64 <= -300.0 {
                continue; // the covers would underflow
            }
            let ensemble = thin(depth, fraction);
            let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
            // Use rows that pass all tests, fail all tests, fail one test in the middle or near the end, or
            // fail every third test.
            let failed: [&dyn Fn(usize) -> bool; 5] =
                [&|_| false, &|_| true, &|f| f == depth / 2, &|f| f + 2 == depth, &|f| f % 3 == 2];
            let rows =
                failed.iter().flat_map(|failed| (0..depth).map(|f| if failed(f) { -1.0 } else { 1.0 }));
            let rows: Vec<f64> = rows.collect();
            let rows = Rows::new(&rows, depth);
            let what = format!("depth {depth}, fraction {fraction}");
            let rare = [1.0 - 1e-15, 1e-300].map(|p| Semivalue::weighted_banzhaf(p).unwrap());
            for value in semivalues(depth).into_iter().chain(rare) {
                let value = Value::from(value);
                check_sums(&what, &tree_explainer, &value, rows);
                // The values of a row have the same bits if the row is explained alone.
                let together = tree_explainer.values_of(&value, rows).unwrap().values;
                for (row, expected) in rows.iter().zip(together.chunks_exact(depth)) {
                    let alone = tree_explainer.values_of(&value, Rows::new(row, depth)).unwrap().values;
                    assert!(
                        alone.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits()),
                        "{what}, {value:?}"
                    );
                }
                let is_by_size = matches!(&value, Value::Semivalue(Semivalue::SizeWeights(_)));
                if fraction != 1e-9 && depth < 250 && !is_by_size {
                    let pairs = tree_explainer.interactions_of(&value, Diagonal::Remainder, rows).unwrap();
                    assert!(pairs.values.iter().all(|value| value.is_finite()), "{what}, {value:?}");
                }
            }
            if depth == 24 && fraction != 1e-9 {
                // Weights by coalition size use the other kernel, which does not divide.
                let distribution = Semivalue::from_size_distribution(&[1.0 / 24.0; 24]).unwrap();
                let [got, expected] = [Semivalue::Shapley, distribution]
                    .map(|value| tree_explainer.interactions(value, Diagonal::Value, rows).unwrap().values);
                close(&what, &got, &expected, 1e-13);
            }
            // Use groups of neighbours on the path, and groups of features that are far apart.
            for group_of in [|f: usize, _: usize| f / 6, |f: usize, depth: usize| f % (depth / 6)] {
                let count = (0..depth).map(|f| group_of(f, depth)).max().unwrap() + 1;
                let mut groups = vec![Vec::new(); count];
                (0..depth).for_each(|f| groups[group_of(f, depth)].push(f));
                let groups = Partition::new(depth, groups).unwrap();
                check_sums(&what, &tree_explainer, &Value::owen(groups.clone()), rows);
                check_sums(&what, &tree_explainer, &Value::two_step(groups), rows);
            }
        }
    }
}

#[test]
fn paths_of_thousands_of_splits_need_no_deep_stack() {
    let random = &mut Random(4);
    // Explicand and background diverge at every split, so the walk is as long as possible.
    let features: Vec<usize> = (0..5000).collect();
    let ensemble = read(&document(&[TreeSpec::chain(random, &features)], 5000, &[0.0])).unwrap();
    assert_eq!(ensemble.depth(), 5000);
    let (high, low) = (vec![1.0; 5000], vec![-1.0; 5000]);
    let high = Rows::new(&high, 5000);
    let tree_explainer = MarginalTreeExplainer::new(&ensemble, Rows::new(&low, 5000), None).unwrap();
    check_sums("5000 features", &tree_explainer, &Semivalue::Shapley.into(), high);
    // Beyond the size of the moment table, moments are computed one by one.
    let uniform = Semivalue::beta_shapley(1.0, 1.0).unwrap();
    let [shapley, uniform] =
        [Semivalue::Shapley, uniform].map(|value| tree_explainer.values(value, high).unwrap().values);
    close("beyond the table", &uniform, &shapley, 1e-14);
    check_sums("5000 features", &tree_explainer, &Semivalue::beta_shapley(0.3, 40.0).unwrap().into(), high);

    let ensemble = read(&document(&[TreeSpec::chain(random, &features[..1500])], 1500, &[0.0])).unwrap();
    let tree_explainer = MarginalTreeExplainer::new(&ensemble, Rows::new(&low[..1500], 1500), None).unwrap();
    let high = Rows::new(&high.values()[..1500], 1500);
    let got = tree_explainer.interactions(Semivalue::Shapley, Diagonal::Remainder, high).unwrap();
    let total: f64 = got.values.iter().sum();
    assert!((total + got.base[0] - got.predictions[0]).abs() < 1e-11);
    for a in 0..1500 {
        assert!((0..a).all(|b| got.values[a * 1500 + b].to_bits() == got.values[b * 1500 + a].to_bits()));
    }

    let path: Vec<usize> = (0..5000).map(|level| level % 40).collect();
    let ensemble = read(&document(&[TreeSpec::chain(random, &path)], 40, &[-0.75])).unwrap();
    let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
    let rows: Vec<f64> = (0..40 * 70).map(|k| if k % 997 == 5 { -1.0 } else { 1.0 }).collect();
    let rows = Rows::new(&rows, 40);
    check_sums("a chain of 5000", &tree_explainer, &Semivalue::Shapley.into(), rows);
    check_groups("a chain of 5000", &tree_explainer, &random.partition(40, 10), rows.slice(0..3));
}

#[test]
fn trees_that_give_nothing_and_trees_without_splits_have_values_too() {
    let random = &mut Random(26);
    let mut nothing = TreeSpec::random(random, &[0, 1], 3, false, 0);
    let leaves = nothing.left.clone();
    nothing.number.iter_mut().zip(leaves).filter(|(_, left)| *left == -1).for_each(|(value, _)| *value = 0.0);
    let mut case = Case::new(random, vec![nothing, TreeSpec::leaf(1.5)], 3, (2, 1));
    case.background = Background::baseline(vec![0.0; 3]).unwrap();
    let groups = Partition::new(3, vec![vec![0, 2], vec![1]]).unwrap();
    for (name, tree_explainer, _) in case.tree_explainers().iter().flatten() {
        for value in [Semivalue::Shapley.into(), Value::owen(groups.clone()), Value::two_step(groups.clone())]
        {
            let Ok(got) = tree_explainer.values_of(&value, case.rows()) else { continue };
            assert_eq!((got.values, got.base), (vec![0.0; 6], vec![0.75]), "{name}");
        }
    }
}

/// Below an empty node, the cover halves until it underflows. Then only the path-dependent game is rejected.
#[test]
fn empty_nodes_on_very_long_paths_are_refused_and_not_divided_by_zero() {
    let random = &mut Random(82);
    for (length, sound) in [(500, true), (2000, false)] {
        let mut chain = TreeSpec::chain(random, &vec![0; length]);
        let last = chain.cover.len();
        for node in (0..last).filter(|&node| chain.left[node] == -1).skip(1) {
            chain.cover[node] = 0.0;
        }
        let ensemble = read(&document(&[chain], 1, &[0.0])).unwrap();
        let row = Rows::new(&[1.0], 1);
        assert!(ensemble.margins(row).unwrap()[0].is_finite());
        match ensemble.check_covers() {
            Ok(()) => {
                assert!(sound, "{length} splits");
                let exact =
                    enumerate(&PathDependentGame::new(&ensemble, &[1.0]).unwrap(), Semivalue::Shapley)
                        .unwrap();
                let got = PathDependentTreeExplainer::new(&ensemble)
                    .unwrap()
                    .values(Semivalue::Shapley, row)
                    .unwrap();
                close("a long chain", &got.values, &exact.values, 1e-12);
            }
            Err(error) => {
                assert!(!sound, "{error}");
                assert!(error.to_string().contains("its cover is 0"), "{error}");
            }
        }
    }
}
