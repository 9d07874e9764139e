//! Means of ensembles: predictions are means of the members' margins, and members that differ are rejected.

use apportion_games::Rows;
use apportion_models::{Ensemble, Link, ModelError, ReadOptions, Rounds};
use serde_json::{Value, json};

use crate::common::{Random, TreeSpec, assert_close, content, document, json_fixture, model, put, read};

fn first_rounds(name: &str, count: usize) -> Ensemble {
    let options = ReadOptions::default().rounds(Rounds::Within(0..count));
    Ensemble::from_bytes_with(&content(name), &options).unwrap()
}

/// Returns rows that contain missing values, and integers, which are categories in some models.
fn rows(features: usize) -> Vec<f64> {
    let mut random = Random(7);
    (0..60 * features)
        .map(|place| match place % 5 {
            0 => f64::NAN,
            1 => random.below(4) as f64,
            _ => random.cell(),
        })
        .map(|cell| if cell.is_infinite() { 1.0 } else { cell })
        .collect()
}

#[test]
fn margins_are_the_means_of_those_of_the_members() {
    for name in [
        "diabetes_xgb.json.gz",
        "diabetes_xgb_dart.json.gz",
        "iris_xgb_softprob.json.gz",
        "categorical_3_2.json.gz",
        "xgboost_vectors.json.gz",
        "lightgbm_regression.txt.gz",
        "lightgbm_zero.txt.gz",
        "lightgbm_linear.txt.gz",
        "lightgbm_multiclass.txt.gz",
        "lightgbm_forest.txt.gz",
        "words_lgbm.txt.gz",
        "catboost_multiclass.json.gz",
        "catboost_one_hot.json.gz",
        "catboost_statistics.json.gz",
        "catboost_text_categories.json.gz",
    ] {
        let whole = model(name);
        let members = [whole.clone(), first_rounds(name, 1), first_rounds(name, 2.min(whole.round_count()))];
        let mean = Ensemble::mean_of(&[&members[0], &members[1], &members[2]]).unwrap();
        let columns = whole.feature_count();
        let rows = rows(columns);
        let rows = Rows::new(&rows, columns);
        let each = members.each_ref().map(|member| member.margins(rows).unwrap());
        let expected: Vec<f64> =
            (0..each[0].len()).map(|at| each.iter().map(|margins| margins[at] / 3.0).sum()).collect();
        assert_close(&mean.margins(rows).unwrap(), &expected, 1e-12, name);
        assert_eq!(mean.tree_count(), members.iter().map(Ensemble::tree_count).sum::<usize>(), "{name}");
        assert_eq!(mean.rounds(), 0..3, "{name}");
        assert_eq!(mean.feature_names(), whole.feature_names(), "{name}");
        assert_eq!(mean.check_covers().is_ok(), members.iter().all(|member| member.check_covers().is_ok()));
        let is_identity = whole.link() == Some(Link::Identity);
        assert_eq!(mean.link(), is_identity.then_some(Link::Identity), "{name}");
        for feature in 0..columns {
            let codes = |model: &Ensemble| model.categories(feature).map(|words| words.code_of_text("red"));
            assert_eq!(codes(&mean), codes(&whole), "{name}, {feature}");
        }
        let scales = mean.margin_scales(rows).unwrap();
        assert!(
            mean.margins(rows)
                .unwrap()
                .iter()
                .zip(scales)
                .all(|(margin, scale)| margin.abs() <= scale * (1.0 + 1e-12))
        );
    }
}

#[test]
fn a_mean_of_one_is_that_one_and_of_none_is_refused() {
    let whole = model("iris_xgb_softprob.json.gz");
    let mean = Ensemble::mean_of(&[&whole]).unwrap();
    assert_eq!((mean.fingerprint(), mean.link()), (whole.fingerprint(), whole.link()));
    assert!(matches!(Ensemble::mean_of(&[]), Err(ModelError::EmptyMean)));
}

fn named(features: usize, outputs: usize, names: &Value) -> Ensemble {
    let mut random = Random(3);
    let trees: Vec<TreeSpec> = (0..outputs).map(|_| TreeSpec::chain(&mut random, &[0, 1])).collect();
    let mut document = document(&trees, features, &vec![0.5; outputs]);
    put(&mut document, "/learner/feature_names", names.clone());
    read(&document).unwrap()
}

#[test]
fn members_that_differ_are_refused_with_what_differs() {
    let first = named(3, 1, &json!(["a", "b", "c"]));
    let cases = [
        (named(4, 1, &json!([])), "4 features, expected 3"),
        (named(3, 1, &json!(["a", "c", "b"])), "the name \"c\" of feature 1, expected \"b\""),
        (model("iris_xgb_softprob.json.gz"), "features, expected 3"),
    ];
    for (other, says) in cases {
        let error = Ensemble::mean_of(&[&first, &first, &other]).unwrap_err();
        assert!(matches!(error, ModelError::Mean { member: 2, .. }));
        assert!(error.to_string().contains(says) && error.to_string().contains("one by one"), "{error}");
    }
    // The mean takes the names of the members that have names.
    let mean = Ensemble::mean_of(&[&named(3, 1, &json!([])), &first]).unwrap();
    assert_eq!(mean.feature_names().unwrap(), ["a", "b", "c"]);
    let width = |width: &str| {
        let tree = json!({
            "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "threshold": [1.5, 0, 0],
            "value": [0, 10, 20]
        });
        let document = json!({
            "format": "apportion-trees", "version": 1, "width": width, "features": 1, "base_margins": [0.5],
            "operator": "<=", "trees": [tree]
        });
        Ensemble::from_bytes(document.to_string().as_bytes()).unwrap()
    };
    let error = Ensemble::mean_of(&[&width("double"), &width("single")]).unwrap_err().to_string();
    assert!(error.contains("splits on 32-bit numbers, expected 64-bit"), "{error}");
}

#[test]
fn other_categories_are_refused_if_a_tree_looks_at_them() {
    let document = json_fixture("words_xgb.json.gz");
    let whole = read(&document).unwrap();
    let feature = (0..whole.feature_count()).find(|&feature| whole.categories(feature).is_some()).unwrap();
    let mut other = document.clone();
    put(
        &mut other,
        &format!("/learner/gradient_booster/model/cats/enc/{feature}"),
        json!({"offsets": [], "values": []}),
    );
    let bare = read(&other).unwrap();
    assert!(bare.categories(feature).is_none());
    let error = Ensemble::mean_of(&[&whole, &bare]).unwrap_err().to_string();
    assert!(error.contains("different categories for the feature"), "{error}");
}

#[test]
fn scales_of_linear_leaves_are_those_of_their_terms() {
    let linear = model("xgboost_linear.json.gz");
    let columns = linear.feature_count();
    let rows = vec![1e3; columns];
    let scale = linear.margin_scales(Rows::new(&rows, columns)).unwrap()[0];
    let margins = |sign: &dyn Fn(usize) -> f64| {
        let row: Vec<f64> = (0..columns).map(|feature| sign(feature) * 1e3).collect();
        linear.margins(Rows::new(&row, columns)).unwrap()[0]
    };
    let base = linear.base_margins()[0];
    let terms: f64 = (0..columns)
        .map(|feature| (margins(&|other| f64::from(u8::from(other == feature))) - base).abs())
        .sum();
    assert!((scale - terms - base.abs()).abs() < 1e-9 * scale, "{scale} {terms}");
}
