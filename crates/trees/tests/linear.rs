//! Linear leaves against the definitions: every coalition a prediction.

#![allow(clippy::unwrap_used)]

mod common;

use apportion_games::{Background, Coalitions, Game, MarginalGame, Partition, QuotientGame, Rows};
use apportion_trees::{
    Diagonal, Ensemble, InterventionalOracle, Kernel, ModelError, PathDependentOracle, Settings,
};
use apportion_values::{CoalitionalValue, Semivalue, enumerate, two_step_shapley};
use common::Random;
use common::lightgbm::{Node, text};

fn read(trees: &[Node], features: usize) -> Ensemble {
    Ensemble::from_bytes(text(trees, features).as_bytes()).unwrap()
}

/// Trees whose leaves' models have features on their path and off it, and rows with missing values on either side.
fn forest(random: &mut Random, features: usize) -> (Vec<Node>, Ensemble) {
    let all: Vec<usize> = (0..features).collect();
    let trees: Vec<Node> = (0..3).map(|depth| Node::random(random, &all, 2 * depth, 25, 75)).collect();
    let ensemble = read(&trees, features);
    (trees, ensemble)
}

fn assert_close(got: &[f64], wanted: &[f64], what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() < 1e-12, "{what}, number {index}: {got} != {wanted}");
    }
}

fn semivalues(players: usize) -> [Semivalue; 5] {
    let law: Vec<f64> = (0..players).map(|size| (1 + size % 3) as f64).collect();
    let total: f64 = law.iter().sum();
    [
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.1).unwrap(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        Semivalue::by_size_law(&law.iter().map(|weight| weight / total).collect::<Vec<_>>()).unwrap(),
    ]
}

#[test]
fn models_made_up_predict_as_their_rules_say() {
    let random = &mut Random(1);
    for features in [1, 2, 5, 7] {
        for _ in 0..20 {
            let (trees, ensemble) = forest(random, features);
            let rows = random.row(features * 17);
            let got = ensemble.margins(Rows::new(&rows, features)).unwrap();
            let wanted: Vec<f64> = rows
                .chunks_exact(features)
                .map(|row| trees.iter().map(|tree| tree.predict(row)).sum())
                .collect();
            assert_close(&got, &wanted, "margins");
        }
    }
}

#[test]
fn values_of_features_groups_and_features_in_groups_are_those_of_the_definitions() {
    let random = &mut Random(2);
    let mut linear = 0;
    for features in [1, 2, 3, 5, 8] {
        for repetition in 0..12 {
            let (_, ensemble) = forest(random, features);
            linear += usize::from(matches!(ensemble.check_covers(), Err(ModelError::LinearLeaves { .. })));
            let background = random.row(features * [1, 3][repetition % 2]);
            let explicands = random.row(features * 2);
            let rows = Rows::new(&explicands, features);
            let partition = random.partition(features, 1 + repetition % 4);
            let oracle =
                InterventionalOracle::new(&ensemble, Rows::new(&background, features), None).unwrap();
            let background = Background::rows(background, features).unwrap();
            for (index, row) in rows.iter().enumerate() {
                let what = format!("{features} features, {repetition}, row {index}");
                let one = Rows::new(row, features);
                let game = MarginalGame::new(&ensemble, row, &background).unwrap();
                for value in semivalues(features) {
                    let exact = enumerate(&game, value.clone()).unwrap();
                    let got = oracle.values(value.clone(), one).unwrap();
                    assert_close(&got.values, exact.values(), &format!("{what}, {value}"));
                    assert_close(&got.base, exact.base(), &what);
                    assert_close(&got.predictions, exact.full(), &what);
                }
                let quotient = QuotientGame::new(&game, &partition).unwrap();
                for value in semivalues(partition.len()) {
                    let wanted = enumerate(&quotient, value.clone()).unwrap();
                    let got = oracle.quotient_values(value.clone(), &partition, one).unwrap();
                    assert_close(&got.values, wanted.values(), &format!("{what}, quotient {value}"));
                }
                for value in [CoalitionalValue::owen(), CoalitionalValue::banzhaf_owen()] {
                    let wanted = value.enumerate(&game, &partition).unwrap().values;
                    let got = oracle.coalitional_values(&value, &partition, one).unwrap().values;
                    assert_close(&got, &wanted, &format!("{what}, {partition:?}"));
                }
                let wanted = two_step_shapley(&game, &partition).unwrap().values;
                assert_close(&oracle.two_step_shapley(&partition, one).unwrap().values, &wanted, &what);
            }
        }
    }
    assert!(linear > 40, "{linear} models have linear leaves");
}

/// The expected second differences, written out; players × players, with 0 on the diagonal.
fn second_differences(game: &impl Game, value: &Semivalue) -> Vec<f64> {
    let players = game.players();
    let mut worth = vec![0.0; 1 << players];
    game.values(&Coalitions::from_masks(players, 0..1 << players), &mut worth).unwrap();
    let mut pairs = vec![0.0; players * players];
    for (i, j) in (0..players).flat_map(|i| (0..players).map(move |j| (i, j))).filter(|(i, j)| i != j) {
        let both = 1 << i | 1 << j;
        pairs[i * players + j] = (0..1usize << players)
            .filter(|others| others & both == 0)
            .map(|others| {
                let size = others.count_ones() as usize;
                let difference =
                    worth[others | both] - worth[others | 1 << i] - worth[others | 1 << j] + worth[others];
                value.moment(size, players - 2 - size) * difference
            })
            .sum();
    }
    pairs
}

#[test]
fn interactions_are_expected_second_differences() {
    let random = &mut Random(5);
    for features in [1, 2, 3, 5, 7] {
        for repetition in 0..12 {
            let (_, ensemble) = forest(random, features);
            let background = random.row(features * [1, 3][repetition % 2]);
            let row = random.row(features);
            let oracle =
                InterventionalOracle::new(&ensemble, Rows::new(&background, features), None).unwrap();
            let background = Background::rows(background, features).unwrap();
            let game = MarginalGame::new(&ensemble, &row, &background).unwrap();
            let partition = random.partition(features, 1 + repetition % 4);
            let quotient = QuotientGame::new(&game, &partition).unwrap();
            let rows = Rows::new(&row, features);
            let what = format!("{features} features, {repetition}");
            for value in [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::beta_shapley(4.0, 1.0).unwrap()]
            {
                let off_diagonal = |mut values: Vec<f64>, players: usize| {
                    values.iter_mut().step_by(players + 1).for_each(|value| *value = 0.0);
                    values
                };
                let got = oracle.interactions(value.clone(), Diagonal::Value, rows).unwrap().values;
                assert_close(&off_diagonal(got, features), &second_differences(&game, &value), &what);
                let got = oracle.quotient_interactions(value.clone(), Diagonal::Value, &partition, rows);
                let got = off_diagonal(got.unwrap().values, partition.len());
                assert_close(&got, &second_differences(&quotient, &value), &what);
            }
        }
    }
}

/// A model of few of many features has the values of the model of those few.
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
    let near = InterventionalOracle::new(&near, Rows::new(&background, 7), None).unwrap();
    let many = spread(&background);
    let far = InterventionalOracle::new(&far, Rows::new(&many, 140), None).unwrap();
    for value in [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::beta_shapley(0.5, 2.0).unwrap()] {
        let wanted = near.values(value.clone(), Rows::new(&few, 7)).unwrap().values;
        let got = far.values(value, Rows::new(&spread(&few), 140)).unwrap().values;
        assert_close(&got.iter().copied().step_by(20).collect::<Vec<_>>(), &wanted, "140 features");
        assert_eq!(
            got.iter().filter(|&&value| value != 0.0).count(),
            wanted.iter().filter(|&&value| value != 0.0).count()
        );
    }
}

/// A categorical split on a set is a chain of splits on the columns of its members, one column per category.
fn one_hot(node: &Node, categories: usize) -> Node {
    let Node::Split { feature, test, left, right } = node else { return node.clone() };
    let (left, right) = (one_hot(left, categories), one_hot(right, categories));
    let common::lightgbm::Test::In(members) = test else { panic!("all splits are categorical") };
    let share = 1.0 / members.len() as f64;
    members.iter().fold(right, |rest, &category| Node::Split {
        feature: feature * categories + category as usize,
        test: common::lightgbm::Test::AtMost {
            threshold: 0.5,
            missing: common::lightgbm::Missing::NaN,
            default_left: true,
        },
        left: Box::new(rest),
        right: Box::new(left.weighted(share)),
    })
}

/// By every kernel, and by those chosen for one row and for many, against one row and many.
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
            // A missing or unknown category is in no set, and no column says 1.
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
        let dependent = PathDependentOracle::new(&model).unwrap();
        let dependent_twin = PathDependentOracle::new(&twin).unwrap();
        for value in semivalues(features) {
            let what = format!("{features} features, {value}");
            let rows = Rows::new(&explicands, features);
            for kernel in [None, Some(Kernel::Tables), Some(Kernel::Walk), Some(Kernel::Masks)] {
                let settings = Settings { kernel, ..Settings::default() };
                let oracle = InterventionalOracle::new(&model, Rows::new(&background, features), None);
                let got = oracle.unwrap().with_settings(settings).values(value.clone(), rows).unwrap();
                let oracle = InterventionalOracle::new(&twin, wide(&wide_background), None);
                let oracle = oracle.unwrap().with_settings(settings);
                let wide_rows = wide(&wide_explicands);
                let wanted = oracle.quotient_values(value.clone(), &groups, wide_rows).unwrap();
                assert_close(&got.values, &wanted.values, &format!("{what}, marginal, {kernel:?}"));
                assert_close(&got.predictions, &wanted.predictions, &what);
            }
            let got = dependent.values(value.clone(), rows).unwrap();
            let wanted = dependent_twin.quotient_values(value, &groups, wide(&wide_explicands)).unwrap();
            assert_close(&got.values, &wanted.values, &format!("{what}, path-dependent"));
            assert_close(&got.base, &wanted.base, &what);
        }
    }
}

/// Sets that are empty get a member: the twin of such a split has no cover for what goes left.
fn fill_sets(trees: &mut [Node], random: &mut Random) {
    for tree in trees {
        let Node::Split { test, left, right, .. } = tree else { continue };
        if let common::lightgbm::Test::In(members) = test
            && members.is_empty()
        {
            members.push(random.below(5) as u32);
        }
        fill_sets(std::slice::from_mut(left), random);
        fill_sets(std::slice::from_mut(right), random);
    }
}
