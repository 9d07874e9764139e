//! Boosting rounds: up to the best one, all, or a range.

use apportion_games::Rows;
use apportion_models::{Ensemble, ModelError, ReadOptions, Rounds};
use serde_json::{Value, json};

use crate::common::{Random, TreeSpec, assert_refused, content, document, json_fixture, put, read};

fn within(document: &Value, rounds: &Rounds) -> Result<Ensemble, ModelError> {
    Ensemble::from_bytes_with(document.to_string().as_bytes(), &ReadOptions::default().rounds(rounds.clone()))
}

fn rows(features: usize) -> Vec<f64> {
    Random(5).row(40 * features)
}

fn margins(model: &Ensemble) -> Vec<f64> {
    model.margins(Rows::new(&rows(model.feature_count()), model.feature_count())).unwrap()
}

/// Returns the margins of the trees `first..end` of the file, each added to its output.
fn sums(all: &Ensemble, first: usize, end: usize) -> Vec<f64> {
    let features = all.feature_count();
    let mut sums = Vec::new();
    for row in rows(features).chunks(features) {
        let mut margins = all.base_margins().to_vec();
        for tree in &all.trees()[first..end] {
            let (nodes, mut at) = (all.nodes_of(tree), 0);
            while !nodes[at].is_leaf() {
                let value = all.width().round(row[nodes[at].feature()]);
                at = if all.goes_left(nodes[at], value) { nodes[at].left() } else { nodes[at].right() };
            }
            margins[tree.output] += nodes[at].value();
        }
        sums.extend(margins);
    }
    sums
}

#[test]
fn the_best_round_of_early_stopping_is_the_last() {
    for (file, round) in [("diabetes_xgb", 1), ("iris_xgb_softprob", 3), ("diabetes_xgb_dart", 1)] {
        let mut document = json_fixture(&format!("{file}.json.gz"));
        let all = read(&document).unwrap();
        assert_eq!((all.best_round_count(), all.rounds()), (None, 0..all.round_count()), "{file}");
        assert_eq!(all.tree_count(), round * all.round_count(), "{file}");
        put(&mut document, "/learner/attributes", json!({"best_iteration": "11", "best_score": "0.3"}));
        let best = read(&document).unwrap();
        assert_eq!((best.best_round_count(), best.rounds()), (Some(12), 0..12), "{file}");
        assert_eq!(best.tree_count(), 12 * round, "{file}");
        assert_eq!(margins(&best), sums(&all, 0, 12 * round), "{file}");
        best.check_covers().unwrap();
        assert_ne!(best.fingerprint(), all.fingerprint());
        let all_again = within(&document, &Rounds::All).unwrap();
        assert_eq!(margins(&all_again), margins(&all), "{file}");
        // A model that was sliced after training keeps the attribute.
        put(&mut document, "/learner/attributes/best_iteration", json!("100000"));
        assert_eq!(margins(&read(&document).unwrap()), margins(&all), "{file}");
        let place = "/learner/attributes/best_iteration";
        assert_refused(&document, place, &json!("soon"), "learner.attributes.best_iteration");
    }
}

#[test]
fn any_rounds_are_the_sum_of_their_trees_and_the_base() {
    for (file, round) in [
        ("diabetes_xgb_1_7.json.gz", 1),
        ("iris_xgb_softprob.json.gz", 3),
        ("catboost_multiclass.json.gz", 3),
        ("lightgbm_multiclass.txt.gz", 4),
        ("lightgbm_regression.txt.gz", 1),
        ("treelite_xgboost.json.gz", 1),
        ("categorical_3_2.json.gz", 1),
    ] {
        let bytes = content(file);
        let all = Ensemble::from_bytes(&bytes).unwrap();
        let count = all.round_count();
        assert_eq!(all.tree_count(), round * count, "{file}");
        for (start, end) in [(0, 1), (0, count), (1, count), (count - 1, count), (1, 2)] {
            let some =
                Ensemble::from_bytes_with(&bytes, &ReadOptions::default().rounds(Rounds::Within(start..end)))
                    .unwrap();
            assert_eq!((some.rounds(), some.round_count()), (start..end, count), "{file}");
            assert_eq!(margins(&some), sums(&all, round * start, round * end), "{file} {start}..{end}");
            assert_eq!(some.leaf_count(), some.trees().iter().map(|tree| tree.leaves).sum::<usize>());
            assert_eq!(some.nodes().len(), some.trees().iter().map(|tree| tree.nodes().len()).sum::<usize>());
        }
        for (start, end) in [(0, count + 1), (3, 3), (count, count)] {
            let error =
                Ensemble::from_bytes_with(&bytes, &ReadOptions::default().rounds(Rounds::Within(start..end)))
                    .unwrap_err();
            assert!(matches!(error, ModelError::Rounds { .. }), "{file}: {error}");
        }
    }
}

#[test]
fn linear_leaves_come_with_their_rounds() {
    let bytes = content("lightgbm_linear.txt.gz");
    let of = |rounds: Rounds| {
        margins(&Ensemble::from_bytes_with(&bytes, &ReadOptions::default().rounds(rounds)).unwrap())
    };
    let (all, first, rest) =
        (of(Rounds::All), of(Rounds::Within(0..2)), of(Rounds::Within(2..read_rounds(&bytes))));
    for ((all, first), rest) in all.iter().zip(&first).zip(&rest) {
        assert!((all - first - rest).abs() <= 1e-12 * (1.0 + all.abs()), "{all} {first} {rest}");
    }
    assert!(first.iter().any(|&first| first != 0.0) && rest.iter().any(|&rest| rest != 0.0));
}

fn read_rounds(bytes: &[u8]) -> usize {
    Ensemble::from_bytes(bytes).unwrap().round_count()
}

#[test]
fn a_mean_over_rounds_stays_one() {
    for file in ["lightgbm_forest.txt.gz", "treelite_forest.json.gz"] {
        let bytes = content(file);
        let all = Ensemble::from_bytes(&bytes).unwrap();
        let count = all.round_count();
        let single = |round| {
            margins(
                &Ensemble::from_bytes_with(
                    &bytes,
                    &ReadOptions::default().rounds(Rounds::Within(round..round + 1)),
                )
                .unwrap(),
            )
        };
        let mut mean = vec![0.0; single(0).len()];
        for round in 0..3 {
            mean.iter_mut().zip(single(round)).for_each(|(mean, number)| *mean += number / 3.0);
        }
        let three = margins(
            &Ensemble::from_bytes_with(&bytes, &ReadOptions::default().rounds(Rounds::Within(0..3))).unwrap(),
        );
        for (got, expected) in three.iter().zip(&mean) {
            assert!(
                (got - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                "{file}: {got} {expected} of {count}"
            );
        }
    }
}

#[test]
fn parallel_trees_are_one_round_whether_the_file_says_where_rounds_end_or_not() {
    let random = &mut Random(9);
    let trees: Vec<TreeSpec> =
        (0..12).map(|tree| TreeSpec::random(random, &[0, 1], 2, true, tree / 2 % 2)).collect();
    let mut file = document(&trees, 2, &[0.5, -0.5]);
    let model = "/learner/gradient_booster/model";
    put(&mut file, &format!("{model}/gbtree_model_param/num_parallel_tree"), json!("2"));
    let all = read(&file).unwrap();
    assert_eq!((all.round_count(), all.tree_count()), (3, 12));
    let told = within(&file, &Rounds::Within(1..2)).unwrap();
    put(&mut file, &format!("{model}/iteration_indptr"), json!([0, 4, 8, 12]));
    let written = within(&file, &Rounds::Within(1..2)).unwrap();
    assert_eq!(margins(&told), margins(&written));
    assert_eq!(margins(&told), sums(&all, 4, 8));
    for wrong in
        [json!([0, 4, 8]), json!([0, 8, 4, 12]), json!([1, 12]), json!([0, 4, 4, 12]), json!([0, -1, 12])]
    {
        assert_refused(&file, &format!("{model}/iteration_indptr"), &wrong, "iteration_indptr");
    }
}

#[test]
fn covers_matter_in_the_trees_that_are_used_alone() {
    let random = &mut Random(2);
    let trees: Vec<TreeSpec> = (0..3).map(|_| TreeSpec::random(random, &[0, 1], 2, false, 0)).collect();
    let mut file = document(&trees, 2, &[0.5]);
    put(&mut file, "/learner/gradient_booster/model/trees/2/sum_hessian", json!([]));
    let error = read(&file).unwrap().check_covers().unwrap_err();
    assert!(matches!(error, ModelError::Cover { tree: 2, .. }), "{error}");
    within(&file, &Rounds::Within(0..2)).unwrap().check_covers().unwrap();
    within(&file, &Rounds::Within(1..3)).unwrap().check_covers().unwrap_err();
}
