//! Checks that every tree explainer, with every kernel, returns the values and interactions of the
//! definitions. If the definitions take too long, checks that the kernels agree.

use apportion_games::{Background, Partition};
use apportion_models::Link;
use apportion_trees::{Exact, LinkedTreeExplainer, MarginalTreeExplainer};
use apportion_values::{CoalitionalValue, Semivalue, Value};

use crate::common::case::{Case, Rules, in_groups, semivalues};
use crate::common::lightgbm::Node;
use crate::common::{Random, TreeSpec, linked_document, read};

const LINKS: [Link; 9] = [
    Link::Identity,
    Link::Logistic { steepness: 1.0 },
    Link::Logistic { steepness: 0.3 },
    Link::Exponential,
    Link::Softplus,
    Link::HalfPower { unit: 3.5 },
    Link::Softmax,
    Link::Sorted,
    Link::Step,
];

fn of_features(features: usize) -> Vec<Value> {
    semivalues(features).into_iter().map(Value::from).collect()
}

/// Returns all kinds of values for features, and for features in these groups.
fn all(groups: &Partition) -> Vec<Value> {
    of_features(groups.players()).into_iter().chain(in_groups(groups)).collect()
}

/// Returns one value of each kind, and a random selection of all other values.
fn some(random: &mut Random, groups: &Partition) -> Vec<Value> {
    let mut values = all(groups);
    values.retain(|_| random.chance(20));
    values.extend([
        Semivalue::Shapley.into(),
        Value::Coalitional(CoalitionalValue::owen(), groups.clone()),
        Value::quotient(Semivalue::Banzhaf, groups.clone()),
        Value::two_step(groups.clone()),
    ]);
    values
}

/// Returns `count` features, spread evenly over all features.
fn spread(random: &mut Random, features: usize, count: usize) -> Vec<usize> {
    let first = random.below(features);
    (0..count.min(features)).map(|k| (first + k * 23) % features).collect()
}

#[test]
fn features_groups_and_pairs_have_the_values_of_the_definitions() {
    let random = &mut Random(1);
    for (features, depth, outputs, background) in [
        (1, 0, 1, 1),
        (1, 3, 3, 5),
        (2, 1, 1, 1),
        (2, 5, 1, 20),
        (3, 2, 2, 64),
        (3, 7, 1, 1),
        (5, 4, 1, 7),
        (6, 5, 3, 20),
        (7, 7, 1, 70),
    ] {
        // With six features or more, only use trees that contain both kinds of splits.
        for categorical in [false, true].into_iter().filter(|&categorical| categorical || features < 6) {
            let players: Vec<usize> = (0..features).collect();
            let shape = (3, depth, categorical);
            let mut case = Case::random(random, (features, &players), shape, outputs, (3, background));
            case.check(&all(&random.partition(features, 1 + features / 2)));
            // With a single baseline, the game is also a path-dependent game.
            case.background = Background::baseline(case.background.as_rows().row(0).to_vec()).unwrap();
            case.check(&some(random, &Partition::singletons(features)));
            case.check(&some(random, &Partition::whole(features)));
        }
    }
}

#[test]
fn eighty_random_ensembles_have_the_values_of_the_definitions() {
    let random = &mut Random(2);
    for _ in 0..80 {
        let features = 1 + random.below(8);
        // Some features are used by no tree, and some leaves are 0.
        let used: Vec<usize> = (0..features).filter(|&feature| feature == 0 || random.chance(85)).collect();
        let outputs = if random.chance(20) { 3 } else { 1 };
        let (depth, categorical) = (random.below(7), random.chance(50));
        let count = outputs * (1 + random.below(4));
        let trees = (0..count).map(|index| {
            let mut tree = TreeSpec::random(random, &used, depth, categorical, index % outputs);
            // Use both rare and common branches.
            tree.cover.iter_mut().for_each(|cover| *cover = [1.0, 3.0, 40.0, 1e4][random.below(4)]);
            tree
        });
        let trees = trees.collect();
        let rows = ([1, 2, 4][random.below(3)], [1, 1, 3, 30][random.below(4)]);
        let case = Case::new(random, trees, features, rows);
        let count = 1 + random.below(features);
        let groups = random.partition(features, count);
        case.check(&some(random, &groups));
    }
}

#[test]
fn groups_of_equal_size_may_have_weights_by_size_within() {
    let random = &mut Random(3);
    for (groups, size) in [(2, 2), (3, 2), (2, 4), (4, 2)] {
        let features = groups * size;
        let members = (0..groups).map(|group| (0..size).map(|k| k * groups + group).collect()).collect();
        let players: Vec<usize> = (0..features).collect();
        let case = Case::random(random, (features, &players), (3, 5, true), 1, (2, 3));
        case.check(&in_groups(&Partition::new(features, members).unwrap()));
    }
}

#[test]
fn few_of_many_features_have_values_and_interact() {
    let random = &mut Random(4);
    for (features, depth, outputs, background) in
        [(70, 4, 1, 5), (70, 7, 3, 1), (90, 5, 1, 90), (140, 4, 2, 20)]
    {
        let players = spread(random, features, 6);
        let case = Case::random(random, (features, &players), (3, depth, true), outputs, (2, background));
        let by_size = semivalues(features).pop().unwrap();
        let values =
            [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::beta_shapley(4.0, 0.5).unwrap(), by_size];
        case.check(&values.map(Value::from));
    }
}

#[test]
fn twelve_features_are_on_a_path_and_some_of_them_again() {
    let random = &mut Random(14);
    let path: Vec<usize> = (0..16).map(|level| (level - level / 9) * 5 % 12).collect();
    let players: Vec<usize> = (0..12).collect();
    let trees = vec![TreeSpec::chain(random, &path), TreeSpec::random(random, &players, 9, true, 0)];
    let mut case = Case::new(random, trees, 12, (2, 1));
    case.rows[..12].iter_mut().for_each(|cell| *cell = if random.chance(10) { -1.0 } else { 1.0 });
    // Use a probability close to 1, so that products over failed tests contain the small factor 1 − t.
    let certain = Semivalue::weighted_banzhaf(1.0 - 1e-12).unwrap();
    let values =
        [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::beta_shapley(4.0, 0.5).unwrap(), certain];
    case.check(&values.map(Value::from));
}

#[test]
fn rows_and_background_rows_fill_blocks_and_words_and_do_not() {
    let random = &mut Random(5);
    let features = 6;
    let players: Vec<usize> = (0..features).collect();
    let groups = random.partition(features, 3);
    for (rows, background) in [
        (1, 63),
        (1, 64),
        (1, 65),
        (2, 128),
        (1, 200),
        (1, 512),
        (3, 513),
        (1, 1100),
        (63, 2),
        (64, 3),
        (65, 1),
        (131, 130),
    ] {
        let case = Case::random(random, (features, &players), (3, 5, true), 2, (rows, background));
        case.check(&some(random, &groups));
    }
    // Check a case without rows to explain.
    Case::random(random, (features, &players), (3, 5, true), 2, (0, 2)).check(&all(&groups));
}

#[test]
fn kernels_agree_where_there_are_many_rows() {
    let random = &mut Random(6);
    for (features, depth, outputs, rows) in [(2, 3, 1, 900), (7, 5, 2, 700), (17, 5, 1, 300), (40, 4, 1, 700)]
    {
        let players: Vec<usize> = (0..features).collect();
        let case = Case::random(random, (features, &players), (6, depth, true), outputs, (rows, 9));
        let groups = random.partition(features, features.div_ceil(3));
        case.agree(&some(random, &groups));
    }
}

#[test]
fn paths_have_as_many_features_as_a_word_has_bits_and_more() {
    let random = &mut Random(7);
    for features in [12, 24, 63, 64, 65, 130] {
        // Some features occur twice, so that the path is longer than its number of features.
        let path: Vec<usize> = (0..features).chain((0..features).step_by(7)).collect();
        let short = TreeSpec::random(random, &[0, 5, 9], 3, true, 0);
        for background in [1, 4] {
            let trees = vec![TreeSpec::chain(random, &path), short.clone()];
            let mut case = Case::new(random, trees, features, (2, background));
            // Use rows that mostly follow the chain, so that mixtures reach its end.
            let mut row = |count: usize| -> Vec<f64> {
                (0..count * features).map(|_| if random.chance(2) { -1.0 } else { 1.0 }).collect()
            };
            case.rows = row(2);
            case.background = Background::rows(row(background), features).unwrap();
            let groups = random.partition(features, features / 3);
            case.agree(&some(random, &groups));
        }
    }
}

#[test]
fn pairs_on_long_paths_are_differences_of_values() {
    let random = &mut Random(8);
    for features in [30, 64, 100] {
        let path: Vec<usize> = (0..features).chain((0..features).step_by(7)).collect();
        let chain = TreeSpec::chain(random, &path);
        let mut case = Case::new(random, vec![chain], features, (1, 1));
        case.rows = (0..features).map(|_| if random.chance(3) { -1.0 } else { 1.0 }).collect();
        let baseline: Vec<f64> = (0..features).map(|_| if random.chance(30) { -1.0 } else { 1.0 }).collect();
        case.background = Background::baseline(baseline.clone()).unwrap();
        for value in [Semivalue::Shapley, Semivalue::Banzhaf].map(Value::from) {
            let [marginal, ..] = case.tree_explainers();
            let pairs =
                marginal[0].1.interactions_of(&value, Default::default(), case.rows()).unwrap().values;
            for other in [0, 1, features / 2, features - 1] {
                // Compute each value with the other player always present, and with the other player always
                // absent.
                let values = [case.rows[other], baseline[other]].map(|cell| {
                    let (mut row, mut baseline) = (case.rows.clone(), baseline.clone());
                    (row[other], baseline[other]) = (cell, cell);
                    let fixed = MarginalTreeExplainer::new(
                        &case.ensemble,
                        apportion_games::Rows::new(&baseline, features),
                        None,
                    );
                    let rows = apportion_games::Rows::new(&row, features);
                    apportion_trees::Exact::values_of(&fixed.unwrap(), &value, rows).unwrap().values
                });
                for feature in (0..features).filter(|&feature| feature != other) {
                    let expected = values[0][feature] - values[1][feature];
                    let got = pairs[feature * features + other];
                    assert!((got - expected).abs() < 1e-12, "{features}, {value:?}: {feature} and {other}");
                }
            }
        }
    }
}

/// A node without training rows has a share of 0 if its sibling has rows, and of one half if its parent is
/// empty, too.
#[test]
fn empty_nodes_have_no_share() {
    let random = &mut Random(9);
    let mut emptied = 0;
    for (features, depth, outputs) in [(1, 3, 1), (2, 4, 1), (3, 6, 2), (5, 5, 1), (6, 7, 2), (7, 8, 1)] {
        for _ in 0..3 {
            let players: Vec<usize> = (0..features).collect();
            let mut trees: Vec<TreeSpec> =
                (0..3).map(|tree| TreeSpec::random(random, &players, depth, true, tree % outputs)).collect();
            for tree in &mut trees {
                empty_some(tree, random);
            }
            emptied += trees.iter().filter(|tree| tree.covers().contains(&0.0)).count();
            let groups = random.partition(features, 3);
            Case::new(random, trees, features, (1, 2)).check(&some(random, &groups));
        }
    }
    assert!(emptied > 30, "{emptied} trees with empty nodes");
}

/// Empties some leaves and whole subtrees, but never the whole tree.
fn empty_some(tree: &mut TreeSpec, random: &mut Random) {
    let leaves: Vec<usize> = (0..tree.left.len()).filter(|&node| tree.left[node] == -1).collect();
    for &leaf in &leaves[1..] {
        if random.chance(40) {
            tree.cover[leaf] = 0.0;
        }
    }
    // Empty one whole subtree.
    let splits: Vec<usize> = (1..tree.left.len()).filter(|&node| tree.left[node] != -1).collect();
    if !splits.is_empty() {
        let mut below = vec![splits[random.below(splits.len())]];
        while let Some(node) = below.pop() {
            match tree.left[node] {
                -1 if node != leaves[0] => tree.cover[node] = 0.0,
                -1 => {}
                left => below.extend([left as usize, tree.right[node] as usize]),
            }
        }
    }
}

/// The models of leaves use features on their path and other features. Explicands and background rows have
/// missing values.
#[test]
fn linear_leaves_have_the_values_of_the_definitions() {
    let random = &mut Random(10);
    let mut linear = 0;
    for features in [1, 2, 3, 5, 7] {
        let all_features: Vec<usize> = (0..features).collect();
        for background in [1, 3, 1, 3, 1, 3] {
            let trees = (0..3).map(|depth| Node::random(random, &all_features, 2 * depth, 25, 75)).collect();
            let case = Case::linear(random, trees, features, (2, background));
            linear += usize::from(case.ensemble.trees().iter().any(|tree| tree.linear));
            let count = 1 + random.below(4);
            let groups = random.partition(features, count);
            case.check(&some(random, &groups));
        }
    }
    assert!(linear > 20, "{linear} models have linear leaves");
}

/// Returns a case with trees that split on some of the features and are assigned to the outputs in turn. Some
/// splits are categorical, and one tree is a single leaf.
fn behind(random: &mut Random, features: usize, outputs: usize, link: Link) -> Case {
    let players: Vec<usize> = (0..features).collect();
    let mut tree = |index: usize| match index {
        0 => TreeSpec::leaf(0.0),
        _ => TreeSpec::random(random, &players, 1 + index % 5, index.is_multiple_of(2), index % outputs),
    };
    let trees = (0..5 * outputs).map(&mut tree).collect();
    Case::linked(random, trees, features, (2, 4), link)
}

#[test]
fn outputs_behind_links_have_the_values_of_every_mixture() {
    let random = &mut Random(11);
    for link in LINKS {
        for (features, outputs, groups) in [(1, 1, 1), (2, 3, 2), (5, 3, 5), (6, 1, 3), (7, 1, 1)] {
            let case = behind(random, features, outputs, link);
            let groups = random.partition(features, groups);
            case.check(&some(random, &groups));
        }
    }
}

#[test]
fn leaves_of_any_size_keep_their_digits_behind_a_link() {
    for scale in [1e-30f32, 1e-3, 1e3, 1e30] {
        let link = Link::HalfPower { unit: f64::from(scale) };
        let mut case = behind(&mut Random(12), 4, 1, link);
        let Rules::Trees(trees) = &mut case.rules else { panic!("trees") };
        for tree in &mut *trees {
            let leaves = (0..tree.number.len()).filter(|&node| tree.left[node] == -1);
            leaves.for_each(|node| tree.number[node] *= scale);
        }
        case.ensemble = read(&linked_document(trees, 4, &[0.0], Some(link))).unwrap();
        case.check(&of_features(4));
    }
}

#[test]
fn background_rows_that_decide_alike_count_together() {
    let mut case = behind(&mut Random(13), 5, 1, Link::Exponential);
    let rows: Vec<f64> = (0..40).flat_map(|row| [f64::from(row % 3); 5]).collect();
    case.background = Background::rows(rows, 5).unwrap();
    case.check(&of_features(5));
    let tree_explainer = LinkedTreeExplainer::new(&case.ensemble, case.background.as_rows(), None).unwrap();
    let tree_explainer = tree_explainer.with_max_steps(3 * (32 + 25 * 16) * 2);
    tree_explainer.values(Semivalue::Shapley, case.rows()).unwrap();
}
