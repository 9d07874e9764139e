//! Compares interaction indices of coalitions of any order with the definitions of the games, with the
//! matrices of pairs, and with enumeration.

use apportion_games::{Background, MarginalGame, Partition, Rows};
use apportion_trees::{
    BackgroundCompiler, Diagonal, Exact, InteractionIndex, Interactions, MarginalTreeExplainer,
    PathDependentGame, PathDependentTreeExplainer, TreeError,
};
use apportion_values::{Semivalue, ValueError, enumerate_interactions};

use crate::common::case::{Case, semivalues};
use crate::common::lightgbm::Node;
use crate::common::{Random, TreeSpec, coded, document, json_fixture, model, read};

const NAMED: [&str; 10] = [
    "k-shapley",
    "shapley-taylor",
    "faithful-shapley",
    "faithful-banzhaf",
    "faithful-weighted-banzhaf=0.3",
    "k-additive-shapley",
    "chaining",
    "moebius",
    "co-moebius",
    "walsh",
];

/// Returns every interaction index that the tree methods support, for each of these orders.
fn all(players: usize, orders: &[usize]) -> Vec<(InteractionIndex, usize)> {
    let semivalues = semivalues(players).into_iter().map(InteractionIndex::Semivalue);
    let named = NAMED.iter().map(|name| name.parse().unwrap());
    let indices: Vec<InteractionIndex> = semivalues.chain(named).collect();
    orders.iter().flat_map(|&order| indices.iter().cloned().map(move |index| (index, order))).collect()
}

#[test]
fn indices_of_every_order_are_those_of_the_definitions() {
    let random = &mut Random(40);
    for (features, depth, outputs, background) in
        [(1, 0, 1, 1), (1, 3, 2, 5), (2, 5, 1, 20), (3, 2, 2, 64), (5, 4, 1, 7), (6, 6, 3, 20), (7, 7, 1, 70)]
    {
        for categorical in [false, true] {
            let players: Vec<usize> = (0..features).collect();
            let shape = (3, depth, categorical);
            let mut case = Case::random(random, (features, &players), shape, outputs, (4, background));
            case.check_indices(&all(features, &[1, 3, 9]), None);
            case.background = Background::baseline(case.background.as_rows().row(0).to_vec()).unwrap();
            case.check_indices(&all(features, &[3]), None);
        }
    }
}

#[test]
fn groups_are_the_players_of_the_quotient_game() {
    let random = &mut Random(41);
    for features in [2, 5, 8] {
        let players: Vec<usize> = (0..features).collect();
        let case = Case::random(random, (features, &players), (4, 6, true), 2, (3, 9));
        let groups = random.partition(features, 1 + features / 2);
        case.check_indices(&all(groups.len(), &[2, 3]), Some(&groups));
        case.check_indices(&all(1, &[2]), Some(&Partition::whole(features)));
    }
}

#[test]
fn linear_leaves_on_the_path_and_off_it_have_the_indices_of_the_definition() {
    let random = &mut Random(42);
    for (features, rows) in [(1, (3, 5)), (2, (1, 1)), (5, (3, 4)), (7, (4, 3))] {
        let all_features: Vec<usize> = (0..features).collect();
        let trees = (0..3).map(|depth| Node::random(random, &all_features, 2 * depth, 25, 75)).collect();
        let case = Case::linear(random, trees, features, rows);
        case.check_indices(&all(features, &[2, 3, features]), None);
        let groups = random.partition(features, 3);
        case.check_indices(&all(groups.len(), &[2]), Some(&groups));
    }
}

#[test]
fn few_of_many_features_act_together() {
    let random = &mut Random(43);
    for features in [70, 140] {
        let players: Vec<usize> = (0..6).map(|k| (3 + k * 23) % features).collect();
        let case = Case::random(random, (features, &players), (3, 6, true), 2, (2, 20));
        let asked = all(features, &[2, 3]);
        let of_any_number = |(index, _): &(InteractionIndex, usize)| {
            !matches!(index, InteractionIndex::Semivalue(Semivalue::SizeWeights(_)))
        };
        case.check_indices(&asked.into_iter().filter(of_any_number).collect::<Vec<_>>(), None);
    }
}

fn near(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (place, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance, "{what}, {place}: {got} != {expected}");
    }
}

/// Returns a case with deep trees on forty features, and many rows.
fn large() -> Case {
    let random = &mut Random(44);
    let features: Vec<usize> = (0..40).collect();
    Case::random(random, (40, &features), (8, 9, false), 1, (150, 33))
}

#[test]
fn pairs_are_those_of_the_dense_matrices() {
    let case = large();
    let [marginal, path_dependent, _] = case.tree_explainers();
    for (name, tree_explainer, _) in [&marginal[0], &path_dependent[0]] {
        for semivalue in semivalues(40) {
            let index = InteractionIndex::Semivalue(semivalue.clone());
            let sparse = tree_explainer.indices_of(&index, 2, None, case.rows()).unwrap();
            let dense =
                tree_explainer.interactions_of(&semivalue.into(), Diagonal::Value, case.rows()).unwrap();
            for (row, sparse) in sparse.iter().enumerate() {
                near(&sparse.matrix().values, &dense.of_row(row).values, 1e-12, name);
            }
        }
        let of_shap = tree_explainer.indices_of(&InteractionIndex::KShapley, 2, None, case.rows()).unwrap();
        let dense =
            tree_explainer.interactions_of(&Semivalue::Shapley.into(), Diagonal::Remainder, case.rows());
        let dense = dense.unwrap();
        for (row, sparse) in of_shap.iter().enumerate() {
            near(&sparse.matrix_of_halves().values, &dense.of_row(row).values, 1e-12, name);
        }
    }
}

fn bits(found: &[Interactions]) -> Vec<Vec<u64>> {
    found.iter().map(|found| found.values().iter().map(|index| index.to_bits()).collect()).collect()
}

#[test]
fn a_row_has_the_same_bits_among_others_and_on_any_number_of_threads() {
    let case = large();
    let on = |threads: usize, rows: Rows<'_>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let [marginal, path_dependent, _] = case.tree_explainers();
        pool.install(|| {
            [&marginal[0], &path_dependent[0]].map(|(_, tree_explainer, _)| {
                bits(&tree_explainer.indices_of(&InteractionIndex::FaithfulShapley, 3, None, rows).unwrap())
            })
        })
    };
    let all = on(1, case.rows());
    assert!(all == on(5, case.rows()));
    let some = on(2, Rows::new(&case.rows[7 * 40..12 * 40], 40));
    for (some, all) in some.iter().zip(&all) {
        assert!(some[..] == all[7..12]);
    }
}

#[test]
fn efficient_indices_sum_to_the_prediction_less_the_base() {
    let case = large();
    let [marginal, path_dependent, _] = case.tree_explainers();
    for (name, tree_explainer, _) in [&marginal[0], &path_dependent[0]] {
        for index in ["k-shapley", "shapley-taylor", "faithful-shapley"] {
            for order in 1..=4 {
                for found in
                    tree_explainer.indices_of(&index.parse().unwrap(), order, None, case.rows()).unwrap()
                {
                    let sum: f64 = found.values().iter().sum();
                    let expected = found.predictions()[0] - found.base()[0];
                    assert!(
                        (sum - expected).abs() < 1e-10,
                        "{name}, {index} order {order}: {sum} != {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_games_themselves_are_enumerated_to_the_same_indices() {
    let random = &mut Random(45);
    let features: Vec<usize> = (0..12).collect();
    let case = Case::random(random, (12, &features), (20, 5, false), 1, (2, 10));
    let background = Background::rows(case.background.as_rows().values(), 12).unwrap();
    let marginal = MarginalTreeExplainer::new(&case.ensemble, background.as_rows(), None).unwrap();
    let path_dependent = PathDependentTreeExplainer::new(&case.ensemble).unwrap();
    for name in NAMED {
        let index: InteractionIndex = name.parse().unwrap();
        let got = [
            marginal.indices_of(&index, 3, None, case.rows()).unwrap(),
            path_dependent.indices_of(&index, 3, None, case.rows()).unwrap(),
        ];
        for (row, explicand) in case.rows().iter().enumerate() {
            let expected = [
                enumerate_interactions(
                    &MarginalGame::new(&case.ensemble, explicand, &background).unwrap(),
                    &index,
                    3,
                ),
                enumerate_interactions(
                    &PathDependentGame::new(&case.ensemble, explicand).unwrap(),
                    &index,
                    3,
                ),
            ];
            for (got, expected) in got.iter().zip(expected) {
                for (coalition, expected) in expected.unwrap().iter() {
                    let members: Vec<usize> = coalition.members().collect();
                    let got = got[row].get(&members).map_or(0.0, |index| index[0]);
                    assert!((got - expected[0]).abs() < 1e-11, "{name} {coalition}: {got} != {expected:?}");
                }
            }
        }
    }
}

/// A leaf with three hundred terms would have four million coalitions of three, but only single features have
/// nonzero indices.
#[test]
fn a_wide_linear_model_has_no_coalitions_but_its_features() {
    let random = &mut Random(49);
    let features = 300;
    let slopes: Vec<(usize, f64)> = (0..features).map(|feature| (feature, 0.5 + feature as f64)).collect();
    let leaf = Node::Leaf { value: 1.0, count: 10.0, linear: Some((2.0, slopes.clone())) };
    let case = Case::linear(random, vec![leaf], features, (2, 3));
    let whole = |rows: Rows<'_>| -> Vec<f64> {
        rows.values().iter().map(|value| if value.is_nan() { 0.25 } else { *value }).collect()
    };
    let (rows, background) = (whole(case.rows()), whole(case.background.as_rows()));
    let rows = Rows::new(&rows, features);
    let tree_explainer =
        MarginalTreeExplainer::new(&case.ensemble, Rows::new(&background, features), None).unwrap();
    for name in ["k-shapley", "shapley-taylor", "faithful-shapley"] {
        for (found, row) in
            tree_explainer.indices_of(&name.parse().unwrap(), 3, None, rows).unwrap().iter().zip(rows.iter())
        {
            assert!(found.coalitions().sizes().iter().all(|&size| size == 1), "{name}");
            for &(feature, slope) in &slopes {
                let mean: f64 = background.iter().skip(feature).step_by(features).sum::<f64>() / 3.0;
                let (got, expected) = (found.get(&[feature]), slope * (row[feature] - mean));
                let got = got.map_or(0.0, |index| index[0]);
                assert!(
                    (got - expected).abs() < 1e-10 * expected.abs().max(1.0),
                    "{name} {feature}: {got} {expected}"
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let random = &mut Random(46);
    let path: Vec<usize> = (0..70).collect();
    let chain = vec![TreeSpec::chain(random, &path)];
    let ensemble = read(&document(&chain, 70, &[0.0])).unwrap();
    let row = vec![0.5; 70];
    let rows = Rows::new(&row, 70);
    let marginal = MarginalTreeExplainer::new(&ensemble, rows, None).unwrap();
    let path_dependent = PathDependentTreeExplainer::new(&ensemble).unwrap();
    let tree_explainers: [&dyn Exact; 2] = [&marginal, &path_dependent];
    for tree_explainer in tree_explainers {
        let ask =
            |index: &str, order, rows| tree_explainer.indices_of(&index.parse().unwrap(), order, None, rows);
        let error = ask("shapley", 2, rows).unwrap_err();
        assert!(
            matches!(error, TreeError::Unsupported { .. }) && error.to_string().contains("64"),
            "{error}"
        );
        let error = ask("generalized-shapley", 2, rows).unwrap_err();
        assert!(matches!(error, TreeError::Unsupported { .. }), "{error}");
        for order in [0, 65] {
            let error = ask("shapley", order, rows).unwrap_err();
            assert!(matches!(error, TreeError::Value(ValueError::Order { .. })), "{error}");
        }
        assert!(matches!(ask("shapley", 2, Rows::new(&row, 35)), Err(TreeError::Game(_))));
        let groups = Partition::whole(3);
        let error =
            tree_explainer.indices_of(&InteractionIndex::SHAPLEY, 2, Some(&groups), rows).unwrap_err();
        assert!(matches!(error, TreeError::Game(_)), "{error}");
    }
    let wide: Vec<usize> = (0..60).collect();
    let chain = vec![TreeSpec::chain(random, &wide)];
    let ensemble = read(&document(&chain, 60, &[0.0])).unwrap();
    let row = vec![0.5; 60];
    let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
    let error =
        tree_explainer.indices_of(&InteractionIndex::SHAPLEY, 6, None, Rows::new(&row, 60)).unwrap_err();
    assert!(matches!(error, TreeError::Value(ValueError::TooManyInteractions { .. })), "{error}");
    let none = tree_explainer.indices_of(&InteractionIndex::SHAPLEY, 2, None, Rows::new(&[], 60)).unwrap();
    assert!(none.is_empty());
}

#[test]
fn leaves_at_the_end_of_32_bits_have_room_in_64() {
    let random = &mut Random(47);
    let features: Vec<usize> = (0..4).collect();
    let mut trees: Vec<TreeSpec> = (0..3).map(|_| TreeSpec::random(random, &features, 3, false, 0)).collect();
    for tree in &mut trees {
        for (node, number) in tree.number.iter_mut().enumerate().filter(|(node, _)| tree.left[*node] == -1) {
            *number = if node % 2 == 0 { 1e38 } else { -1e38 };
        }
    }
    let case = Case::new(random, trees, 4, (3, 4));
    case.check_indices(&all(4, &[3]), None);
}

#[test]
fn compiled_backgrounds_have_the_indices_of_their_rows() {
    let case = large();
    let (background, weights) = (case.background.as_rows(), Some(case.background.weights()));
    let mut compiler = BackgroundCompiler::new(&case.ensemble).unwrap();
    compiler.add(background, weights).unwrap();
    let compiled = MarginalTreeExplainer::from_compiled(&case.ensemble, compiler.finish().unwrap()).unwrap();
    let plain = MarginalTreeExplainer::new(&case.ensemble, background, weights).unwrap();
    for index in ["shapley-taylor", "faithful-banzhaf"] {
        let of = |tree_explainer: &dyn Exact| {
            tree_explainer.indices_of(&index.parse().unwrap(), 3, None, case.rows()).unwrap()
        };
        for (got, expected) in of(&compiled).iter().zip(of(&plain)) {
            near(got.values(), expected.values(), 1e-12, index);
            near(got.constant(), expected.constant(), 1e-12, index);
        }
    }
}

#[test]
fn a_model_that_splits_on_several_features_at_once_has_the_indices_of_its_marginal_game() {
    for name in ["combined", "combined_classes", "all_combined", "words"] {
        let ensemble = model(&format!("catboost/{name}.cbm.gz"));
        let all = coded(&ensemble, &json_fixture("catboost/said.json.gz")[name]["rows"]);
        let features = ensemble.feature_count();
        let (rows, background) = (all[..2 * features].to_vec(), &all[4 * features..7 * features]);
        let background = Background::rows(background, features).unwrap();
        let tree_explainer = MarginalTreeExplainer::new(&ensemble, background.as_rows(), None).unwrap();
        for index in ["shapley", "k-shapley", "shapley-taylor", "faithful-banzhaf"] {
            let index: InteractionIndex = index.parse().unwrap();
            let found = tree_explainer.indices_of(&index, 3, None, Rows::new(&rows, features)).unwrap();
            for (found, row) in found.iter().zip(rows.chunks(features)) {
                let game = MarginalGame::new(&ensemble, row, &background).unwrap();
                let expected = enumerate_interactions(&game, &index, 3).unwrap();
                for (coalition, expected) in expected.iter() {
                    let members: Vec<usize> = coalition.members().collect();
                    let zeros = vec![0.0; expected.len()];
                    near(found.get(&members).unwrap_or(&zeros), expected, 1e-10, name);
                }
            }
        }
    }
}
