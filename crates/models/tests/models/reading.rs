//! Model files of XGBoost: predictions, and errors for all kinds of invalid content.

use std::io::Write;

use apportion_games::{GameError, Model, Rows};
use apportion_models::{Ensemble, Link, ModelError};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{
    Random, TreeSpec, assert_as_said, assert_cuts_are_refused, assert_refused, content, document,
    json_fixture, model, put, read, refusal, ubj,
};

/// Returns the margins of rows with one feature.
fn margins(document: &Value, rows: &[f64]) -> Vec<f64> {
    read(document).unwrap().margins(Rows::new(rows, 1)).unwrap()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Returns a small model with everything that a file can contain: two classes, a categorical split, missing
/// values, and a single leaf.
fn sample() -> Value {
    let random = &mut Random(1);
    let mut trees: Vec<TreeSpec> =
        (0..2).map(|output| TreeSpec::random(random, &[0, 1, 2], 2, true, output)).collect();
    let mut root = TreeSpec::leaf(0.0);
    let [left, _] = root.split(0, 1, 0.5, true);
    root.number[left] = 1.25;
    root.set[0] = Some(vec![1, 2]);
    trees.push(root);
    trees.push(TreeSpec::leaf(0.5));
    document(&trees, 3, &[0.25, -0.5])
}

#[test]
fn a_file_says_what_it_is() {
    for (file, format, version, booster, objective, link) in [
        ("iris_xgb_softprob", "XGBoost JSON", "3.2.0", "gbtree", "multi:softprob", Link::Softmax),
        ("diabetes_xgb_dart", "XGBoost JSON", "3.2.0", "dart", "reg:squarederror", Link::Identity),
        ("diabetes_xgb_1_7", "XGBoost JSON", "1.7.6", "gbtree", "reg:squarederror", Link::Identity),
        ("catboost_multiclass", "CatBoost JSON", "1.2.10", "oblivious trees", "MultiClass", Link::Softmax),
        ("catboost_depthwise", "CatBoost JSON", "1.2.10", "nested trees", "RMSE", Link::Identity),
    ] {
        let ensemble = model(&format!("{file}.json.gz"));
        let origin = ensemble.origin();
        assert_eq!((&*origin.format, &*origin.version), (format, version), "{file}");
        assert_eq!((&*origin.booster, &*origin.objective), (booster, objective), "{file}");
        assert_eq!((ensemble.link(), ensemble.feature_names()), (Some(link), None), "{file}");
    }
    let binary = model("diabetes_xgb_1_7.ubj.gz");
    assert_eq!((&*binary.origin().format, &*binary.origin().version), ("XGBoost UBJ", "1.7.6"));
    for (file, names) in [
        ("categorical_3_2.json.gz", &["city", "age", "kind", "score"][..]),
        ("catboost_one_hot.json.gz", &["c1", "u", "c2"]),
    ] {
        assert_eq!(model(file).feature_names().unwrap(), names);
    }
    let iris = model("iris_xgb_softprob.json.gz");
    assert_eq!((iris.feature_count(), iris.output_count(), iris.tree_count()), (4, 3, 150));
    assert_eq!(iris.base_margins(), [0.0; 3]);
    assert!(iris.depth() > 0 && iris.leaf_count() > iris.tree_count());
    let one_hot = model("catboost_one_hot.json.gz");
    assert_eq!((one_hot.depth(), one_hot.tree_count(), one_hot.output_count()), (4, 20, 1));
}

#[test]
fn json_and_ubj_and_their_gzips_are_the_same_model() {
    let rows = Random(2).row(10 * 40);
    let rows = Rows::new(&rows, 10);
    let json = content("diabetes_xgb_1_7.json.gz");
    let binary = content("diabetes_xgb_1_7.ubj.gz");
    let wanted = Ensemble::from_bytes(&json).unwrap().margins(rows).unwrap();
    for bytes in [gzip(&json), binary.clone(), gzip(&binary), [b"\n ", &json[..]].concat()] {
        assert_eq!(Ensemble::from_bytes(&bytes).unwrap().margins(rows).unwrap(), wanted);
    }
    let sample = sample();
    let rows = Rows::new(&rows.values()[..3 * 100], 3);
    let wanted = read(&sample).unwrap().margins(rows).unwrap();
    assert_eq!(Ensemble::from_bytes(&ubj(&sample)).unwrap().margins(rows).unwrap(), wanted);
}

/// Compares with the margins of XGBoost 1.7.6 and 3.2.0 for rows with known, unknown, negative, fractional,
/// huge and missing categories.
#[test]
fn categorical_splits_are_honoured_as_xgboost_does() {
    for version in ["1_7", "3_2"] {
        let said = json_fixture(&format!("categorical_{version}_margins.json"));
        // XGBoost adds in f32.
        assert_as_said(version, &model(&format!("categorical_{version}.json.gz")), &said, [1e-6; 2]);
    }
}

#[test]
fn a_prediction_is_the_sum_of_the_leaves_that_the_rules_lead_to() {
    let random = &mut Random(3);
    for (features, depth, count) in [(1, 1, 1), (3, 4, 7), (5, 20, 200), (8, 6, 64), (8, 6, 129)] {
        let all: Vec<usize> = (0..features).collect();
        for categorical in [false, true] {
            let trees: Vec<TreeSpec> = (0..5)
                .map(|index| TreeSpec::random(random, &all, depth.min(9), categorical, index % 2))
                .collect();
            let chain = TreeSpec::chain(random, &all.repeat(depth));
            let trees = [trees, vec![chain]].concat();
            let ensemble = read(&document(&trees, features, &[0.5, 1.5])).unwrap();
            let rows = random.row(features * count);
            let rows = Rows::new(&rows, features);
            let got = ensemble.margins(rows).unwrap();
            let mut out = vec![0.0; got.len()];
            ensemble.predict(rows, &mut out).unwrap();
            assert_eq!(got, out);
            for (row, got) in rows.iter().zip(got.chunks_exact(2)) {
                let mut wanted = [0.5, 1.5];
                for tree in &trees {
                    wanted[tree.output] += tree.predict(row);
                }
                assert_eq!(got, wanted);
            }
        }
    }
}

#[test]
fn rows_of_another_width_are_refused() {
    let ensemble = read(&sample()).unwrap();
    let error = ensemble.margins(Rows::new(&[0.0; 4], 4)).unwrap_err();
    assert!(matches!(error, ModelError::Game(GameError::Width { actual: 4, expected: 3, .. })), "{error}");
    assert!(ensemble.predict(Rows::new(&[0.0; 4], 4), &mut [0.0; 2]).is_err());
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    let (json, binary) = (sample().to_string().into_bytes(), ubj(&sample()));
    for (name, bytes, step) in [
        ("packed JSON", gzip(&json), 1),
        ("packed UBJ", gzip(&binary), 1),
        ("JSON", json, 1),
        ("UBJ", binary, 1),
        ("library's JSON", content("diabetes_xgb_1_7.json.gz"), 311),
        ("library's UBJ", content("diabetes_xgb_1_7.ubj.gz"), 311),
    ] {
        assert_cuts_are_refused(name, &bytes, step);
    }
}

#[test]
fn bytes_after_the_document_are_refused() {
    let sample = sample();
    for bytes in [sample.to_string().into_bytes(), ubj(&sample), gzip(sample.to_string().as_bytes())] {
        assert!(Ensemble::from_bytes(&[&bytes[..], b"x"].concat()).is_err());
    }
}

#[test]
fn what_is_no_model_file_is_refused_by_kind() {
    assert!(matches!(Ensemble::from_path("no/such/file.json"), Err(ModelError::File { .. })));
    assert!(matches!(Ensemble::from_bytes(b""), Err(ModelError::Empty)));
    assert!(matches!(Ensemble::from_bytes(b" \n\t"), Err(ModelError::Empty)));
    assert!(matches!(Ensemble::from_bytes(b"bin\0\0"), Err(ModelError::UnknownFormat { .. })));
    assert!(matches!(Ensemble::from_bytes(b"trees\nversion=v4"), Err(ModelError::UnknownFormat { .. })));
    assert!(matches!(Ensemble::from_bytes(b"tree\nversion=v4"), Err(ModelError::Line { .. })));
    assert!(matches!(Ensemble::from_bytes(&[0x1f, 0x8b, 1, 2]), Err(ModelError::Gzip { .. })));
    assert!(matches!(Ensemble::from_bytes(&gzip(b"")), Err(ModelError::Empty)));
    assert!(matches!(Ensemble::from_bytes(b"{}"), Err(ModelError::UnknownDocument { .. })));
    assert!(matches!(Ensemble::from_bytes(b"{\"a\":1}"), Err(ModelError::UnknownDocument { .. })));
    assert!(matches!(Ensemble::from_bytes(b"{\"a\":"), Err(ModelError::Json { .. })));
    assert!(matches!(Ensemble::from_bytes(b"{i\x01a"), Err(ModelError::Ubj { .. })));
    let directory = env!("CARGO_MANIFEST_DIR");
    assert!(matches!(Ensemble::from_path(directory), Err(ModelError::File { .. })));
}

#[test]
fn damage_is_refused_with_the_place_and_the_reason() {
    const TREE: &str = "/learner/gradient_booster/model/trees/2";
    const MODEL: &str = "/learner/gradient_booster/model";
    const PARAMETERS: &str = "/learner/learner_model_param";
    let tree = |key: &str| format!("{TREE}/{key}");
    let model = |key: &str| format!("{MODEL}/{key}");
    let parameter = |key: &str| format!("{PARAMETERS}/{key}");
    let cases: Vec<(String, Value, &str)> = vec![
        // The structure of a tree. Tree 2 has a single split and two leaves.
        (tree("left_children/0"), json!(0), "reached twice"),
        (tree("right_children/0"), json!(1), "reached twice"),
        (tree("left_children/1"), json!(0), "node 0 is reached twice"),
        (tree("left_children/0"), json!(3), "the child 3"),
        (tree("right_children/0"), json!(-1), "the child -1"),
        (tree("left_children/0"), json!(-2), "the child -2"),
        (tree("left_children/0"), json!(1.5), "1.5"),
        (tree("left_children"), json!([-1, -1, -1]), "the child -1"),
        (tree("split_indices/0"), json!(3), "feature 3"),
        (tree("split_indices/0"), json!(-1), "feature -1"),
        (tree("split_indices"), json!([0, 0]), "expected 3 elements, got 2"),
        (tree("right_children"), json!([2, -1, -1, -1]), "expected 3 elements, got 4"),
        (tree("default_left"), json!([1]), "expected 3 elements, got 1"),
        (tree("default_left/0"), json!(2), "booleans"),
        (tree("default_left/0"), json!("yes"), "booleans"),
        (tree("sum_hessian"), json!([1.0]), "expected 3 elements, got 1"),
        (tree("split_conditions/1"), json!(1e300), "value inf"),
        (tree("split_conditions/1"), json!("a"), "expected a list of numbers, got other values"),
        (tree("split_conditions"), Value::Null, "missing field \"split_conditions\""),
        (tree("tree_param/num_nodes"), json!("4"), "got 4"),
        (tree("tree_param/num_nodes"), json!("three"), "expected a count"),
        (tree("tree_param/num_deleted"), json!("1"), "1 are marked as deleted"),
        (
            tree("tree_param/size_leaf_vector"),
            json!("3"),
            "expected leaves of 2 values (one per output), got 3",
        ),
        // Categorical splits.
        (tree("categories_nodes/0"), json!(1), "not a categorical split"),
        (tree("categories_nodes"), json!([]), "expected 0 elements, got 1"),
        (tree("categories_sizes/0"), json!(9), "segment of 9"),
        (tree("categories_segments/0"), json!(-1), "segment"),
        (tree("categories_sizes/0"), json!(9007199254740991i64), "segment"),
        (tree("categories/0"), json!(-1), "invalid category"),
        (tree("categories/0"), json!(16777216), "invalid category"),
        (tree("split_type/1"), json!(1), "without categories"),
        // The model around the trees.
        (model("tree_info/0"), json!(2), "output 2 is out of range (outputs: 2)"),
        (model("tree_info/0"), json!(-1), "output -1"),
        (model("tree_info"), json!([0]), "expected 4 elements, got 1"),
        (model("trees"), json!([]), "expected 0 (the number of trees)"),
        (model("trees"), json!([1, 2]), "a list of values other than numbers, got numbers"),
        (model("trees/1"), json!("tree"), "expected an object, got a string"),
        (model("gbtree_model_param/num_trees"), json!("5"), "got 5"),
        (parameter("base_score"), json!("[0.5,0.5,0.5]"), "expected 2 base scores (one per output), got 3"),
        (parameter("base_score"), json!("half"), "half"),
        (parameter("base_score"), json!("inf"), "invalid base score"),
        (parameter("num_feature"), json!("0"), "has no features"),
        (parameter("num_feature"), json!("-3"), "expected a count"),
        (parameter("num_class"), json!(1.5), "1.5"),
        (parameter("num_class"), json!("4294967295"), "outputs"),
        (parameter("num_target"), json!("2"), "2 classes cannot be combined with 2 targets"),
        (parameter("num_class"), json!("1"), "expected 1 base scores"),
        ("/learner/feature_names".to_owned(), json!(["a"]), "expected 3 names (one per feature), got 1"),
        ("/learner/feature_names".to_owned(), json!(["a", 1, "c"]), "expected a string, got a number"),
        ("/learner/objective/name".to_owned(), json!("reg:mine"), "reg:mine"),
        ("/learner/objective".to_owned(), Value::Null, "missing field \"objective\""),
        ("/learner/gradient_booster/name".to_owned(), json!("gblinear"), "missing field \"weights\""),
        ("/learner/gradient_booster/name".to_owned(), json!("forest"), "the booster \"forest\""),
        ("/learner/gradient_booster/name".to_owned(), json!("dart"), "missing field \"gbtree\""),
        ("/version".to_owned(), json!([4, 0, 0]), "XGBoost 4.0.0; supported: 1.7 to 3.x"),
        ("/version".to_owned(), json!([1, 6, 2]), "XGBoost 1.6.2"),
        ("/version".to_owned(), json!([3, 2]), "expected three numbers"),
        ("/version".to_owned(), Value::Null, "missing field \"version\""),
        ("/learner".to_owned(), json!([]), "expected an object, got a list"),
    ];
    for (path, value, reason) in cases {
        assert_refused(&sample(), &path, &value, reason);
        let mut document = sample();
        put(&mut document, &path, value.clone());
        let binary = refusal(&ubj(&document));
        // In UBJ, 1e300 becomes infinite, and 9007199254740991 is out of range. Both are still rejected, with
        // a different reason.
        let fits = value.as_f64().is_none_or(|number| number.abs() < 1e10);
        assert!(binary.contains(reason) || !fits, "{path} = {value} as UBJ: {binary}");
    }
}

#[test]
fn covers_are_checked_only_where_they_are_asked_for_and_named_by_tree_and_node() {
    const TREE: &str = "/learner/gradient_booster/model/trees/2";
    let covers = |place: &str| format!("{TREE}/sum_hessian{place}");
    // Tree 2 has a single split and two leaves.
    let cases = [
        (covers("/0"), json!(-1.0), 0, "its cover is -1"),
        (covers("/0"), json!(0.0), 0, "its cover is 0, expected a positive number at the root"),
        (covers("/2"), json!(-2.5), 2, "its cover is -2.5"),
        (covers("/2"), json!(1e300), 2, "its cover is inf"),
        (covers("/0"), json!(1e300), 0, "its cover is inf"),
        // This cover underflows to 0 in f32.
        (covers("/0"), json!(1e-60), 0, "its cover is 0"),
        (covers(""), json!([0.0, 0.0, 0.0]), 0, "its cover is 0"),
        // An empty leaf is valid, but the covers of siblings must sum to the cover of their parent.
        (covers(""), json!([5.0, 0.0, 3.0]), 0, "its children, 0 and 3, sum to 3"),
        (covers(""), json!([5.0, 2.0, 2.5]), 0, "its children, 2 and 2.5, sum to 4.5"),
        (covers(""), json!([5.0, 2.0, 3.1]), 0, "its cover is 5"),
        (covers(""), json!([]), 0, "missing cover"),
        (covers(""), Value::Null, 0, "missing cover"),
    ];
    for (path, value, wanted, reason) in cases {
        let mut document = sample();
        read(&document).unwrap().check_covers().unwrap();
        put(&mut document, &path, value.clone());
        for bytes in [document.to_string().into_bytes(), ubj(&document)] {
            let ensemble =
                Ensemble::from_bytes(&bytes).unwrap_or_else(|error| panic!("{path} = {value}: {error}"));
            let rows = Rows::new(&[1.0, 2.0, f64::NAN, 0.0, 0.0, 0.0], 3);
            ensemble.margins(rows).unwrap();
            let error = ensemble.check_covers().unwrap_err();
            assert!(error.to_string().contains(reason), "{path} = {value}: {error}");
            let ModelError::Cover { tree, node, .. } = error else { panic!("{error}") };
            assert_eq!((tree, node), (2, wanted), "{path} = {value}");
        }
    }
}

#[test]
fn covers_that_differ_by_rounding_are_sound() {
    let mut document = sample();
    let covers = "/learner/gradient_booster/model/trees/2/sum_hessian";
    for sums in
        [[5.0, 2.0, 3.0009], [1e-30, 1e-30, 1e-37], [3e38, 2e38, 1e38], [5.0, 0.0, 5.0], [5.0, 5.0, 0.0]]
    {
        put(&mut document, covers, json!(sums));
        read(&document).unwrap().check_covers().unwrap();
    }
    // The cover of a tree with a single leaf is not used.
    put(&mut document, "/learner/gradient_booster/model/trees/3/sum_hessian", json!([0.0]));
    read(&document).unwrap().check_covers().unwrap();
}

/// XGBoost numbers nodes in the order of their creation, but this crate numbers them level by level.
#[test]
fn a_bad_cover_is_named_by_the_number_of_its_node_in_the_file() {
    let mut tree = TreeSpec::leaf(0.0);
    let [left, right] = tree.split(0, 0, 0.5, false);
    let [deep, _] = tree.split(right, 0, 0.75, false);
    tree.split(deep, 0, 0.6, false);
    let [file_node, _] = tree.split(left, 0, 0.25, false);
    assert_eq!(file_node, 7);
    tree.cover[file_node] = -1.0;
    let error = read(&document(&[TreeSpec::leaf(1.0), tree], 1, &[0.0])).unwrap().check_covers().unwrap_err();
    assert!(matches!(error, ModelError::Cover { tree: 1, node: 7, .. }), "{error}");
}

#[test]
fn pruned_nodes_that_the_file_declares_are_skipped() {
    let mut tree = TreeSpec::leaf(0.0);
    let [left, right] = tree.split(0, 0, 0.5, false);
    tree.split(right, 0, 0.75, false);
    // After pruning, the split is a leaf again, and its children are unused nodes.
    (tree.left[right], tree.right[right]) = (-1, -1);
    (tree.number[left], tree.number[right]) = (-1.0, 2.0);
    let mut document = document(&[tree], 1, &[0.0]);
    assert!(read(&document).unwrap_err().to_string().contains("2 of 5 nodes are not reached"));
    put(&mut document, "/learner/gradient_booster/model/trees/0/tree_param/num_deleted", json!("2"));
    assert_eq!(margins(&document, &[0.0, 1.0]), [-1.0, 2.0]);
}

#[test]
fn base_scores_are_read_in_every_spelling() {
    let trees = [TreeSpec::leaf(0.0)];
    let margin = |objective: &str, score: Value, version: Value| {
        let mut document = document(&trees, 1, &[0.0]);
        put(&mut document, "/learner/learner_model_param/base_score", score);
        put(&mut document, "/learner/objective/name", json!(objective));
        put(&mut document, "/version", version);
        read(&document).map(|ensemble| ensemble.base_margins()[0])
    };
    let third = f64::from(0.3_f32);
    for score in [json!("3E-1"), json!("[3E-1]"), json!(" [ 0.3 ] "), json!(0.3), json!([0.3])] {
        assert_eq!(margin("reg:squarederror", score.clone(), json!([2, 0, 0])).unwrap(), third, "{score}");
    }
    // Margins minus leaves of XGBoost 1.7.6, 2.1.4 and 3.2.0 for a base score of 0.3, rounded to f32.
    for (objective, wanted) in [
        ("binary:logistic", -0.84730),
        ("reg:logistic", -0.84730),
        ("binary:logitraw", 0.3),
        ("binary:hinge", 0.3),
        ("count:poisson", -1.20397),
        ("reg:gamma", -1.20397),
        ("reg:tweedie", -1.20397),
        ("survival:cox", -1.20397),
        ("survival:aft", -1.20397),
        ("reg:absoluteerror", 0.3),
        ("reg:quantileerror", 0.3),
        ("reg:pseudohubererror", 0.3),
        ("reg:squaredlogerror", 0.3),
        ("rank:pairwise", 0.3),
        ("multi:softmax", 0.3),
    ] {
        let got = margin(objective, json!("[3E-1]"), json!([3, 2, 0])).unwrap();
        assert!((got - wanted).abs() < 1e-5, "{objective}: {got}");
    }
    for (objective, score) in
        [("binary:logistic", 0.0), ("binary:logistic", 1.0), ("count:poisson", 0.0), ("reg:gamma", -1.0)]
    {
        let error = margin(objective, json!(score), json!([2, 1, 0])).unwrap_err();
        assert!(matches!(error, ModelError::Schema { .. }), "{objective} {score}: {error}");
    }
}

/// XGBoost 3.4 stores the weights in the model of a `gbtree`. A reader for the layout of 3.3 would use weight
/// 1 for every leaf.
#[test]
fn leaves_are_weighted_by_tree_wherever_the_weights_stand() {
    let gbtree = document(&[TreeSpec::leaf(0.1), TreeSpec::leaf(-2.5)], 1, &[0.0]);
    let mut dart = gbtree.clone();
    let model = dart["learner"]["gradient_booster"].take();
    dart["learner"]["gradient_booster"] = json!({"gbtree": model, "name": "dart"});
    let [a, b] = [(0.1_f32, 0.3_f32), (-2.5, 0.7)].map(|(leaf, weight)| f64::from(leaf) * f64::from(weight));
    for (mut document, path) in [
        (dart.clone(), "/learner/gradient_booster/weight_drop"),
        (gbtree.clone(), "/learner/gradient_booster/model/weight_drop"),
    ] {
        put(&mut document, path, json!([0.3, 0.7]));
        assert_eq!(margins(&document, &[0.0]), [a + b], "{path}");
        assert_refused(&document, path, &json!([0.3]), "expected 2 elements, got 1");
        assert_refused(&document, path, &json!([0.3, 1e300]), "weight");
    }
    assert!(read(&dart).unwrap_err().to_string().contains("weight_drop"));
    let mut unweighted = gbtree;
    put(&mut unweighted, "/learner/gradient_booster/model/weight_drop", json!([]));
    assert_eq!(margins(&unweighted, &[0.0]), [f64::from(0.1_f32) - 2.5]);
}

#[test]
fn a_very_deep_tree_is_read_without_a_deep_stack() {
    let chain = TreeSpec::chain(&mut Random(4), &[0; 200_000]);
    let ensemble = Ensemble::from_bytes(&ubj(&document(&[chain], 1, &[0.0]))).unwrap();
    assert_eq!(ensemble.depth(), 200_000);
    assert_eq!(ensemble.margins(Rows::new(&[1.0], 1)).unwrap(), [1.5]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Tests that a file with a few changed bytes is rejected, or is a valid model that predicts without a
    /// panic.
    #[test]
    fn changed_bytes_are_refused_or_harmless(
        binary: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let sample = sample();
        let mut bytes = if binary { ubj(&sample) } else { sample.to_string().into_bytes() };
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(ensemble) = Ensemble::from_bytes(&bytes) {
            let features = ensemble.feature_count();
            prop_assume!(features < 1000);
            ensemble.margins(Rows::new(&vec![1.0; features], features)).unwrap();
        }
    }
}

/// XGBoost 3.4 writes `-Infinity` as the threshold of some splits if the row weights differ widely.
#[test]
fn an_infinite_threshold_sends_all_values_to_one_side() {
    for (threshold, wanted) in [("-Infinity", [2.0, 2.0, -1.0]), ("Infinity", [-1.0, -1.0, -1.0])] {
        let mut tree = TreeSpec::leaf(0.0);
        let [left, right] = tree.split(0, 0, 0.5, true);
        (tree.number[left], tree.number[right]) = (-1.0, 2.0);
        let document = document(&[tree], 1, &[0.0]).to_string();
        assert!(document.contains("[0.5,"), "{document}");
        let ensemble =
            Ensemble::from_bytes(document.replace("[0.5,", &format!("[{threshold},")).as_bytes()).unwrap();
        let rows = [-3.4e38, 3.4e38, f64::NAN];
        assert_eq!(ensemble.margins(Rows::new(&rows, 1)).unwrap(), wanted, "{threshold}");
        // No number is less than −∞, and ∞ is not less than ∞.
        let rows = [f64::NEG_INFINITY, f64::INFINITY];
        let wanted = if threshold == "Infinity" { [-1.0, 2.0] } else { [2.0, 2.0] };
        assert_eq!(ensemble.margins(Rows::new(&rows, 1)).unwrap(), wanted, "{threshold}");
    }
    let document = document(&[TreeSpec::chain(&mut Random(1), &[0])], 1, &[0.0]).to_string();
    let error = refusal(document.replace("[0.0,", "[NaN,").as_bytes());
    assert!(error.contains("threshold NaN"), "{error}");
}

/// Tests each comparison at each threshold for values around it. XGBoost computes in 32 bits, in which 1e39
/// is infinite.
#[test]
fn infinite_values_are_compared_as_numbers() {
    let ends = [
        ("-Infinity", f64::NEG_INFINITY),
        ("-1.7976931348623157e308", f64::MIN),
        ("-3.4028234663852886e38", f64::from(f32::MIN)),
        ("0.5", 0.5),
        ("3.4028234663852886e38", f64::from(f32::MAX)),
        ("1.7976931348623157e308", f64::MAX),
        ("Infinity", f64::INFINITY),
    ];
    let infinite = f64::INFINITY;
    let values =
        [-infinite, f64::MIN, -1e39, f64::from(f32::MIN), 0.5, f64::from(f32::MAX), 1e39, f64::MAX, infinite];
    for (operator, width) in [("<", "single"), ("<=", "single"), ("<", "double"), ("<=", "double")] {
        for (text, threshold) in ends {
            for default_left in [false, true] {
                let document = format!(
                    r#"{{"format":"apportion-trees","version":1,"width":"{width}","features":1,
                    "base_margins":[0],"operator":"{operator}","trees":[{{"output":0,
                    "left":[1,-1,-1],"right":[2,-1,-1],"feature":[0,0,0],
                    "threshold":[{text},0,0],"value":[0,1,2],"default_left":[{default_left},false,false],
                    "cover":[8,3,5]}}]}}"#
                );
                let model = Ensemble::from_bytes(document.as_bytes()).unwrap();
                let what = format!("{width} {operator} {text}");
                for value in values {
                    let x = if width == "single" { f64::from(value as f32) } else { value };
                    let left = if operator == "<" { x < threshold } else { x <= threshold };
                    let wanted = if left { 1.0 } else { 2.0 };
                    // Test a single row, and several rows that pass through the tree together.
                    for count in [1, 8] {
                        let got = model.margins(Rows::new(&vec![value; count], 1)).unwrap();
                        assert_eq!(got, vec![wanted; count], "{value:e} {what}");
                    }
                }
                let missing = model.margins(Rows::new(&[f64::NAN; 9], 1)).unwrap();
                assert_eq!(missing, [if default_left { 1.0 } else { 2.0 }; 9], "{what}");
                let covers: Vec<f64> = model.cover_of(&model.trees()[0]).to_vec();
                let leaf = |at: usize| model.nodes()[at].value();
                assert!((1..3).all(|at| covers[at] == if leaf(at) == 1.0 { 3.0 } else { 5.0 }), "{what}");
            }
        }
    }
}

#[test]
fn rules_take_infinite_values() {
    let infinite = f64::INFINITY;
    for (rule, threshold, wanted) in [
        (r#"{"node":0,"between":[-Infinity,Infinity],"side":"left"}"#, "0", [1.0, 1.0, 1.0, 1.0]),
        (r#"{"node":0,"between":[-Infinity,Infinity],"side":"right"}"#, "0", [2.0, 2.0, 2.0, 2.0]),
        (r#"{"node":0,"between":[0,Infinity],"side":"left"}"#, "0", [2.0, 2.0, 1.0, 1.0]),
        (r#"{"node":0,"numbers":[3,Infinity],"side":"right"}"#, "0", [1.0, 1.0, 2.0, 2.0]),
        (r#"{"node":0,"categories":[3],"side":"left"}"#, "0", [2.0, 2.0, 1.0, 2.0]),
        (r#"{"node":0,"categories":[3],"side":"right"}"#, "Infinity", [1.0, 1.0, 2.0, 1.0]),
        (r#"{"node":0,"zero_is_missing":true}"#, "1e300", [1.0, 1.0, 1.0, 2.0]),
    ] {
        let document = format!(
            r#"{{"format":"apportion-trees","version":1,"width":"double","features":1,
            "base_margins":[0],"operator":"<=","trees":[{{"output":0,
            "left":[1,-1,-1],"right":[2,-1,-1],"feature":[0,0,0],"threshold":[{threshold},0,0],
            "value":[0,1,2],"default_left":[false,false,false],"rules":[{rule}]}}]}}"#
        );
        let model = Ensemble::from_bytes(document.as_bytes()).unwrap();
        let got = model.margins(Rows::new(&[-infinite, -1e305, 3.0, infinite], 1)).unwrap();
        assert_eq!(got, wanted, "{rule}");
    }
}

/// An infinite product of a coefficient and a value cannot be attributed.
#[test]
fn linear_models_refuse_infinite_values_of_their_features_alone() {
    for (width, large) in [("single", 1e39), ("double", f64::INFINITY)] {
        let document = format!(
            r#"{{"format":"apportion-trees","version":1,"width":"{width}","features":3,
            "base_margins":[0],"operator":"<",
            "trees":[{{"output":0,"left":[1,-1,-1],"right":[2,-1,-1],"feature":[0,0,0],"threshold":[0.5,0,0],
            "value":[0,1,2],"linear":[{{"node":2,"constant":1,"features":[2],"coefficients":[3.5]}}]}}]}}"#
        );
        let model = Ensemble::from_bytes(document.as_bytes()).unwrap();
        let rows = [large, -large, 2.0, -large, large, 2.0];
        assert_eq!(model.margins(Rows::new(&rows, 3)).unwrap(), [8.0, 1.0], "{width}");
        let rows = [large, 0.0, 0.0, -large, large, -large];
        let error = model.margins(Rows::new(&rows, 3)).unwrap_err();
        assert!(
            matches!(error, ModelError::Game(GameError::InfiniteInput { column: 2, .. })),
            "{width}: {error}"
        );
        let error = error.to_string();
        assert!(error.starts_with("row 1 ") && error.contains("but linear models "), "{error}");
    }
}

/// Tests the first bytes of files that `save_model("model.bin")` of XGBoost 1.7 and older releases wrote.
#[test]
fn the_old_binary_format_of_xgboost_is_refused_with_how_to_save_it_again() {
    for (objective, booster) in [
        ("reg:squarederror", "gbtree"),
        ("reg:linear", "gbtree"),
        ("multi:softprob", "gbtree"),
        ("binary:logistic", "dart"),
        ("rank:pairwise", "gblinear"),
        ("survival:cox", "gbtree"),
        ("count:poisson", "gbtree"),
    ] {
        let mut parameters = vec![0; 136];
        parameters[..8].copy_from_slice(b"\0\0\0?\x03\0\0\0");
        for text in [objective, booster] {
            parameters.extend((text.len() as u64).to_le_bytes());
            parameters.extend(text.bytes());
        }
        for mark in [&b"binf"[..], b""] {
            let message = refusal(&[mark, &parameters, &[7; 500]].concat());
            assert!(
                message.contains("old binary format")
                    && message.contains("booster.save_model(\"model.json\")"),
                "{objective}: {message}"
            );
        }
    }
    assert!(refusal(b"bs64\tYmluZgAAAD8=").contains("old binary format"));
    assert!(!refusal(&[b'x'; 300]).contains("old binary format"));
}
