//! LightGBM models: comparison with the predictions of the library, and errors.
//!
//! `fixtures/make_lightgbm.py` creates the models. It also computes LightGBM's margins, outputs and
//! path-dependent SHAP values for rows with all kinds of values. (The tests of `apportion-trees` compare the
//! SHAP values.)

use apportion_games::Rows;
use apportion_models::{Ensemble, Link, ModelError};
use proptest::prelude::*;

use crate::common::{assert_as_said, content, json_fixture, model, numbers, refusal};

fn text(name: &str) -> String {
    String::from_utf8(content(&format!("lightgbm_{name}.txt.gz"))).unwrap()
}

fn read(text: &str) -> Result<Ensemble, ModelError> {
    Ensemble::from_bytes(text.as_bytes())
}

const MODELS: [(&str, &str, &str, Option<Link>); 10] = [
    ("regression", "gbdt", "regression", Some(Link::Identity)),
    ("zero", "gbdt", "regression_l1", Some(Link::Identity)),
    ("none", "gbdt", "huber", Some(Link::Identity)),
    ("binary", "gbdt", "binary sigmoid:0.7", Some(Link::Logistic { steepness: 0.7 })),
    ("multiclass", "gbdt", "multiclass num_class:4", Some(Link::Softmax)),
    ("forest", "rf", "regression", Some(Link::Identity)),
    ("dart", "dart", "poisson", Some(Link::Exponential)),
    ("linear", "gbdt", "regression", Some(Link::Identity)),
    ("custom", "gbdt", "custom", None),
    ("v3", "gbdt", "regression", Some(Link::Identity)),
];

#[test]
fn rows_with_every_kind_of_value_have_the_margins_that_lightgbm_gives() {
    let said = json_fixture("lightgbm_margins.json.gz");
    for (name, booster, objective, link) in MODELS {
        let ensemble = model(&format!("lightgbm_{name}.txt.gz"));
        // The margin of a linear model may be 1e300, so tolerances are relative.
        assert_as_said(name, &ensemble, &said[name], [1e-14; 2]);
        let origin = ensemble.origin();
        let version = if name == "v3" { "v3" } else { "v4" };
        assert_eq!((origin.format.as_str(), origin.version.as_str()), ("LightGBM text", version));
        assert_eq!((origin.booster.as_str(), origin.objective.as_str()), (booster, objective));
        assert_eq!(ensemble.link(), link, "{name}");
        assert_eq!(ensemble.feature_names().unwrap()[9], "Column_9");
        assert!(ensemble.base_margins().iter().all(|&base| base == 0.0));
    }
}

#[test]
fn line_ends_of_another_system_and_nothing_after_the_trees_are_read_alike() {
    let text = text("regression");
    let rows = numbers(&json_fixture("lightgbm_margins.json.gz")["regression"]["rows"]);
    let margins = |text: &str| read(text).unwrap().margins(Rows::new(&rows, 10)).unwrap();
    let expected = margins(&text);
    assert_eq!(margins(&text.replace('\n', "\r\n")), expected);
    let end = text.find("end of trees").unwrap() + "end of trees".len();
    assert_eq!(margins(&text[..end]), expected);
    assert_eq!(margins(&format!("\n \n{text}")), expected);
}

/// A truncated file is rejected, unless only optional parts after the model are missing.
#[test]
fn a_file_cut_at_any_byte_is_refused() {
    for name in ["regression", "linear"] {
        let text = text(name);
        let trees = text.find("end of trees").unwrap() + "end of trees".len();
        let parameters = text.find("end of parameters").unwrap() + "end of parameters".len();
        for length in 0..text.len() {
            let rest = text[trees.min(length)..length].trim_ascii();
            let harmless = length >= trees && rest.is_empty()
                || length >= parameters
                    && (text.len() - length <= 1
                        || !text[parameters..length].contains("pandas_categorical:"));
            assert_eq!(read(&text[..length]).is_ok(), harmless, "{name}: {length} of {} bytes", text.len());
        }
        assert!(matches!(read(&text[..trees + 50]), Err(ModelError::Line { .. })));
    }
}

/// Replaces the first line after `after` that starts with `start`, and corrects the size of its tree.
fn with_line(text: &str, after: &str, start: &str, line: &str) -> String {
    let from = text.find(after).unwrap();
    let at = from + text[from..].find(&format!("\n{start}")).unwrap() + 1;
    let end = at + text[at..].find('\n').unwrap();
    let changed = format!("{}{line}{}", &text[..at], &text[end..]);
    let sizes_at = changed.find("tree_sizes=").unwrap() + "tree_sizes=".len();
    let sizes_end = sizes_at + changed[sizes_at..].find('\n').unwrap();
    let Some(tree) = text[..at].rfind("\nTree=").filter(|_| start != "Tree=") else { return changed };
    let index: usize = text[tree + 6..].lines().next().unwrap().parse().unwrap();
    let mut sizes: Vec<usize> =
        changed[sizes_at..sizes_end].split(' ').map(|size| size.parse().unwrap()).collect();
    sizes[index] = sizes[index] + line.len() - (end - at);
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("{}{}{}", &changed[..sizes_at], sizes.join(" "), &changed[sizes_end..])
}

#[test]
fn damaged_models_are_refused_with_the_line_or_the_tree_and_node() {
    let regression = text("regression");
    let tree = "Tree=1\n";
    // Tree 1 has 8 leaves, and its splits 0, 2, 3 and 5 are categorical.
    for (after, start, line, reason) in [
        ("tree\n", "version=", "version=v2", "LightGBM v2; supported: v3"),
        ("tree\n", "version=", "version=v5", "LightGBM v5"),
        ("tree\n", "version=", "", "missing line \"version\""),
        ("tree\n", "num_class=", "num_class=0", "line 3: num_class: expected 1 to"),
        ("tree\n", "num_class=", "num_class=-1", "line 3: num_class: expected a count, got \"-1\""),
        ("tree\n", "num_class=", "num_class=3", "expected 3 (the number of classes), got 1"),
        ("tree\n", "num_class=", "num_class=4294967295", "classes"),
        ("tree\n", "num_class=", "num_class=99999999999", "expected a count"),
        ("tree\n", "num_tree_per_iteration=", "num_class=1", "duplicate line \"num_class\""),
        ("tree\n", "max_feature_idx=", "max_feature_idx=8", "expected 9 names (one per feature), got 10"),
        ("tree\n", "max_feature_idx=", "max_feature_idx=4294967295", "expected 4294967296 names"),
        ("tree\n", "objective=", "objective=binary sigmoid:0", "line 7: objective: invalid sigmoid \"0\""),
        ("tree\n", "objective=", "objective=multiclass num_class:3", "3 classes, but num_class is 1"),
        ("tree\n", "feature_names=", "", "missing line \"feature_names\""),
        ("tree\n", "tree_sizes=", "tree_sizes=1 2", "tree 0 has"),
        ("tree\n", "tree_sizes=", "tree_sizes=", "more trees than the 0"),
        ("tree\n", "tree_sizes=", "tree_sizes=1 x", "invalid number \"x\""),
        ("tree\n", "Tree=", "Tree=7", "expected the start of tree 0 of 4"),
        (tree, "num_leaves=", "num_leaves=0", "expected at least one leaf"),
        (tree, "num_leaves=", "num_leaves=9", "threshold: expected 8 elements, got 7"),
        (tree, "num_leaves=", "num_leaves=4294967295", "elements, got 7"),
        (tree, "num_leaves=", "", "missing line \"num_leaves\" after \"Tree=1\""),
        (tree, "split_feature=", "split_feature=0 0 0 0 0 0", "expected 7 elements, got 6"),
        (tree, "split_feature=", "split_feature=10 0 0 0 0 0 0", "tree 1: node 0 splits on feature 10"),
        (tree, "split_feature=", "split_feature=0 -1 0 0 0 0 0", "tree 1: node 1 splits on feature -1"),
        (tree, "split_feature=", "split_feature=0 1.5 0 0 0 0 0", "invalid number \"1.5\""),
        (
            tree,
            "threshold=",
            "threshold=9 nan 8 7 6 5 4",
            "tree 1: node 0 has the category set 9, which is out of range",
        ),
        (tree, "threshold=", "threshold=0 nan 1 2 3 0 1", "tree 1: node 1 has the threshold NaN"),
        (
            tree,
            "threshold=",
            "threshold=0.5 1 1 2 3 0 1",
            "node 0 has the category set 0.5, which is out of range",
        ),
        (
            tree,
            "decision_type=",
            "decision_type=12 2 2 2 2 2 2",
            "tree 1: node 0 has the unknown decision type 12",
        ),
        (tree, "decision_type=", "decision_type=300 2 2 2 2 2 2", "decision_type: invalid number \"300\""),
        (
            tree,
            "decision_type=",
            "decision_type=2 2 2 2 2 2 2",
            "tree 1: the category set 0 is not used by any split",
        ),
        (tree, "left_child=", "left_child=7 -1 -1 -1 -1 -1 -1", "tree 1: node 0 has the child 7"),
        (tree, "left_child=", "left_child=1 -9 -1 -1 -1 -1 -1", "tree 1: node 1 has the child -9"),
        (tree, "left_child=", "left_child=0 1 2 3 4 5 6", "tree 1: node 0 is reached twice"),
        (tree, "right_child=", "right_child=-1 -1 -1 -1 -1 -1 -1", "reached twice"),
        (tree, "leaf_value=", "leaf_value=1 2 3", "leaf_value: expected 8 elements, got 3"),
        (tree, "leaf_value=", "leaf_value=1 2 3 4 inf 6 7 8", "tree 1: leaf 11 has the value inf"),
        (tree, "leaf_count=", "leaf_count=1 2 3", "leaf_count: expected 8 elements, got 3"),
        (tree, "num_cat=", "num_cat=0", "node 0 has the category set 0, which is out of range"),
        (tree, "num_cat=", "num_cat=4", "cat_boundaries: "),
        (tree, "cat_boundaries=", "cat_boundaries=0 2 1 3 4 9", "cat_boundaries: "),
        (tree, "cat_boundaries=", "cat_boundaries=1 2 3 4 5 6", "cat_boundaries: "),
        (tree, "cat_boundaries=", "cat_boundaries=0 1 2 3 4 400", "cat_boundaries: "),
        (tree, "cat_threshold=", "cat_threshold=1 -2", "cat_threshold: invalid number \"-2\""),
        (tree, "cat_threshold=", "cat_threshold=4294967296", "cat_threshold: "),
    ] {
        let damaged = with_line(&regression, after, start, line);
        let error = read(&damaged).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(reason), "{start} {line}: {error}");
        let typed =
            matches!(error, ModelError::Line { .. } | ModelError::Tree { .. } | ModelError::Version { .. });
        assert!(typed, "{start} {line}: {error:?}");
    }
    let linear = text("linear");
    let terms =
        linear[linear.find("Tree=1").unwrap()..].lines().find(|line| line.starts_with("leaf_features="));
    let other = terms.unwrap().replacen(|digit: char| digit.is_ascii_digit(), "99", 1);
    for (start, line, reason) in [
        ("is_linear=", "is_linear=yes", "is_linear: expected a count, got \"yes\""),
        ("leaf_const=", "leaf_const=1 2", "leaf_const: expected 8 elements, got 2"),
        (
            "leaf_const=",
            "leaf_const=nan nan nan nan nan nan nan nan",
            "tree 1: the linear model of leaf 7 contains the number NaN",
        ),
        ("num_features=", "num_features=1 1 1 1 1 1 1", "num_features: expected "),
        ("num_features=", "num_features=9 9 9 9 9 9 9 9", "expected 72 elements"),
        ("num_features=", &format!("num_features={0} {0} 0 0 0 0 0 0", usize::MAX), "too many features"),
        ("leaf_coeff=", "leaf_coeff=1", "leaf_coeff: expected 16 elements, got 1"),
        (
            "leaf_features=",
            &other,
            "tree 1: the linear model of leaf 7 uses feature 99, which is out of range (features: 10)",
        ),
    ] {
        let error = refusal(with_line(&linear, tree, start, line).as_bytes());
        assert!(error.contains(reason), "{line}: {error}");
    }
}

#[test]
fn covers_may_be_missing_and_are_checked_where_they_are_asked_for() {
    let text = text("regression");
    let bare = with_line(&with_line(&text, "Tree=1\n", "leaf_count=", ""), "Tree=1\n", "internal_count=", "");
    let ensemble = read(&bare).unwrap();
    let error = ensemble.check_covers().unwrap_err();
    assert!(matches!(error, ModelError::Cover { tree: 1, node: 0, .. }), "{error}");
    let tree = text.split("Tree=2\n").nth(1).unwrap();
    let counts = tree.lines().find(|line| line.starts_with("leaf_count=")).unwrap();
    let negative = with_line(&text, "Tree=2\n", "leaf_count=", &counts.replace('=', "=-"));
    let error = read(&negative).unwrap().check_covers().unwrap_err();
    // Leaf 0 follows the seven splits, so it is node 7.
    assert!(matches!(error, ModelError::Cover { tree: 2, node: 7, .. }), "{error}");
}

#[test]
fn linear_leaves_have_no_covers_that_say_what_they_expect() {
    let error = read(&text("linear")).unwrap().check_covers().unwrap_err();
    assert!(matches!(error, ModelError::LinearLeaves { tree: 1, node: 7, .. }), "{error}");
}

#[test]
fn a_model_without_trees_says_nothing() {
    let text = text("regression");
    let (start, end) = (text.find("Tree=0").unwrap(), text.find("end of trees").unwrap());
    let empty =
        with_line(&format!("{}{}", &text[..start], &text[end..]), "tree\n", "tree_sizes=", "tree_sizes=");
    let ensemble = read(&empty).unwrap();
    assert_eq!((ensemble.tree_count(), ensemble.margins(Rows::new(&[1.0; 10], 10)).unwrap()), (0, vec![0.0]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Tests that a file with a few changed bytes is rejected, or is a valid model that predicts without a
    /// panic.
    #[test]
    fn changed_bytes_are_refused_or_harmless(
        linear: bool,
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(b"0123456789-. \n=enai".to_vec())),
            1..4,
        ),
    ) {
        let mut bytes = text(if linear { "linear" } else { "regression" }).into_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(ensemble) = Ensemble::from_bytes(&bytes) {
            ensemble.margins(Rows::new(&[1.0; 10], 10)).unwrap();
        }
    }
}

/// LightGBM separates names with single spaces, and replaces spaces within names. Other white space is kept,
/// and in models that were not loaded from a file, names may be empty or contain line breaks.
#[test]
fn names_may_hold_any_space_but_a_blank() {
    let text = text("regression");
    let rows = numbers(&json_fixture("lightgbm_margins.json.gz")["regression"]["rows"]);
    let margins = |text: &str| read(text).unwrap().margins(Rows::new(&rows, 10)).unwrap();
    let line = text.lines().find(|line| line.starts_with("feature_names=")).unwrap();
    let names = |first: &str, last: &str| {
        let mut names: Vec<String> = (0..10).map(|feature| format!("c{feature}")).collect();
        (names[0], names[9]) = (first.to_owned(), last.to_owned());
        names
    };
    for (first, last) in [
        ("a\tb", "z"),
        ("a\u{b}b\u{c}c", "\u{a0}x\u{2028}y"),
        ("größe", "日本"),
        ("", "z"),
        ("a", ""),
        ("a\nb", "c\td\n\ne"),
        ("a=b", "=c"),
    ] {
        let names = names(first, last);
        let changed = text.replace(line, &format!("feature_names={}", names.join(" ")));
        assert_eq!(read(&changed).unwrap().feature_names().unwrap(), names, "{first:?}");
        assert_eq!(margins(&changed), margins(&text));
    }
    let spaced = text.replace(line, &format!("feature_names={}", names("a", "b").join("  ")));
    assert_eq!(read(&spaced).unwrap().feature_names().unwrap(), names("a", "b"));
    let fewer = text.replace(line, "feature_names=a b\tc");
    assert!(refusal(fewer.as_bytes()).contains("expected 10 names (one per feature), got 3"));
}
