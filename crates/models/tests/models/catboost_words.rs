//! CatBoost models with categories and their statistics: margins computed by CatBoost 1.2.10, for both
//! formats.

use std::path::Path;

use apportion_games::Rows;
use apportion_models::{Ensemble, ModelError, ReadOptions, Rounds, UnknownCategory};
use serde_json::{Value, json};

use crate::common::{
    assert_close, assert_cuts_are_refused, coded, content, json_fixture, model, numbers, outputs, put, read,
};

const MODELS: [&str; 10] = [
    "words",
    "simple",
    "kinds",
    "classes",
    "combined",
    "combined_classes",
    "all_combined",
    "depthwise",
    "lossguide",
    "numbers",
];

const JOINT: [&str; 3] = ["combined", "combined_classes", "all_combined"];

fn both(name: &str) -> [Ensemble; 2] {
    ["cbm", "json"].map(|ending| model(&format!("catboost/{name}.{ending}.gz")))
}

/// The rows include strings, integers, booleans, missing values, and categories that did not occur in
/// training.
#[test]
fn margins_are_those_of_catboost_from_either_format() {
    let said = json_fixture("catboost/said.json.gz");
    for name in MODELS {
        let said = &said[name];
        for ensemble in both(name) {
            let rows = coded(&ensemble, &said["rows"]);
            let margins = ensemble.margins(Rows::new(&rows, ensemble.feature_count())).unwrap();
            assert_close(&margins, &numbers(&said["margins"]), 1e-12, name);
            if let Some(expected) = said.get("outputs") {
                let expected = numbers(expected);
                let mut got = outputs(&ensemble, &rows);
                if ensemble.output_count() == 1 {
                    got = got.into_iter().flat_map(|chance| [1.0 - chance, chance]).collect();
                }
                assert_close(&got, &expected, 1e-12, name);
            }
            assert_eq!(ensemble.joint().is_some(), JOINT.contains(&name), "{name}");
        }
    }
}

#[test]
fn both_formats_are_the_same_model() {
    for name in MODELS {
        let [binary, document] = both(name);
        assert_eq!(binary.fingerprint(), document.fingerprint(), "{name}");
        assert_eq!(binary.feature_names(), document.feature_names(), "{name}");
        assert_eq!((binary.link(), binary.rounds()), (document.link(), document.rounds()), "{name}");
        assert_eq!(binary.base_margins(), document.base_margins(), "{name}");
        assert_eq!(
            (binary.leaf_count(), binary.depth()),
            (document.leaf_count(), document.depth()),
            "{name}"
        );
        for (one, other) in binary.trees().iter().zip(document.trees()) {
            assert_eq!(binary.cover_of(one), document.cover_of(other), "{name}");
        }
        let (binary, document) = (binary.origin(), document.origin());
        assert_eq!((&*binary.format, &*document.format), ("CatBoost binary", "CatBoost JSON"));
        assert_eq!((&binary.version, &binary.booster), (&document.version, &document.booster), "{name}");
        assert_eq!((&*binary.version, &binary.objective), ("1.2.10", &document.objective), "{name}");
    }
}

/// This test is skipped if the shared data directory is missing.
#[test]
fn the_shared_model_is_the_same_in_both_formats_bit_for_bit() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models");
    let read = |ending| Ensemble::from_path(shared.join(format!("california_catboost.{ending}")));
    let (Ok(binary), Ok(document)) = (read("cbm"), read("json")) else { return };
    assert_eq!(binary.fingerprint(), document.fingerprint());
    for (one, other) in binary.trees().iter().zip(document.trees()) {
        assert_eq!(binary.cover_of(one), document.cover_of(other));
    }
}

#[test]
fn a_column_of_categories_takes_every_word_and_every_whole_number() {
    for ensemble in both("simple") {
        let names = ensemble.feature_names().unwrap();
        let categories: Vec<&str> = (0..names.len())
            .filter(|&feature| ensemble.categories(feature).is_some())
            .map(|feature| &*names[feature])
            .collect();
        assert_eq!(categories, ["city", "zip", "kind", "sold"]);
        let words = ensemble.categories(0).unwrap();
        assert!(words.code_of_text("any word").is_some() && words.code_of_number(0.5).is_none());
        assert_eq!(words.unknown(), UnknownCategory::Refused);
        let zip = ensemble.categories(2).unwrap();
        assert_eq!(zip.code_of_text("8001"), zip.code_of_number(8001.0));
        // Tables contain booleans as text; their codes must be 1 and 0.
        let sold = ensemble.categories(5).unwrap();
        assert_eq!(["True", "False"].map(|text| sold.code_of_text(text)), [Some(1.0), Some(0.0)]);
    }
}

/// For several targets, several statistics have tables of the same name. A JSON file contains only one of
/// these tables.
#[test]
fn several_targets_are_read_where_the_file_has_all_tables() {
    let ensemble = model("catboost/targets.cbm.gz");
    let said = &json_fixture("catboost/said.json.gz")["targets"];
    let rows = coded(&ensemble, &said["rows"]);
    let margins = ensemble.margins(Rows::new(&rows, ensemble.feature_count())).unwrap();
    assert_close(&margins, &numbers(&said["margins"]), 1e-12, "targets");
    let mut document: Value = serde_json::from_slice(&content("catboost/targets.json.gz")).unwrap();
    let error = read(&document).unwrap_err().to_string();
    assert!(error.contains("several targets (MultiRMSE)") && error.contains("model.cbm"), "{error}");
    // Without the loss, the targets are recognized by the order of the statistics.
    put(&mut document, "/model_info", Value::Null);
    assert!(read(&document).unwrap_err().to_string().contains("several targets"));
}

/// Files contain the names of categories only if they were saved with the training data, and only as JSON.
#[test]
fn words_that_the_file_has_are_listed() {
    let [binary, document] = both("words");
    assert!(binary.categories(0).unwrap().list().len() <= document.categories(0).unwrap().list().len());
    let list = format!("{:?}", document.categories(0).unwrap().list());
    assert!(list.contains("Oslo") && !list.contains("8001"), "{list}");
}

/// CatBoost requires missing categories to be strings, and suggests the string `nan`, which pandas also
/// writes.
#[test]
fn a_missing_category_is_the_word_nan() {
    for name in MODELS {
        for ensemble in both(name) {
            let Some(words) = ensemble.categories(0) else { continue };
            let mut rows = vec![0.5; 2 * ensemble.feature_count()];
            rows[0] = f64::NAN;
            rows[ensemble.feature_count()] = words.code_of_text("nan").unwrap();
            let margins = ensemble.margins(Rows::new(&rows, ensemble.feature_count())).unwrap();
            let (one, other) = margins.split_at(ensemble.output_count());
            assert_eq!(one, other, "{name}");
        }
    }
}

#[test]
fn rounds_of_trees_on_combinations_are_counted_with_all_others() {
    for name in JOINT {
        let bytes = content(&format!("catboost/{name}.cbm.gz"));
        let rounds = |rounds: Rounds| {
            Ensemble::from_bytes_with(&bytes, &ReadOptions::default().rounds(rounds)).unwrap()
        };
        let whole = rounds(Rounds::All);
        let (count, features) = (whole.round_count(), whole.feature_count());
        assert_eq!(whole.tree_count(), count * whole.output_count());
        let said = json_fixture("catboost/said.json.gz");
        let rows = coded(&whole, &said[name]["rows"]);
        let margins = |ensemble: &Ensemble| ensemble.margins(Rows::new(&rows, features)).unwrap();
        let base = whole.base_margins();
        let mut sums: Vec<f64> = base.iter().copied().cycle().take(margins(&whole).len()).collect();
        for round in 0..count {
            let one = rounds(Rounds::Within(round..round + 1));
            assert_eq!(one.tree_count(), whole.output_count());
            for ((sum, margin), base) in sums.iter_mut().zip(margins(&one)).zip(base.iter().cycle()) {
                *sum += margin - base;
            }
        }
        assert_close(&sums, &margins(&whole), 1e-12, name);
    }
}

#[test]
fn covers_do_not_say_what_a_split_on_a_combination_expects() {
    for name in MODELS {
        for ensemble in both(name) {
            match ensemble.check_covers() {
                Ok(()) => assert!(!JOINT.contains(&name)),
                Err(ModelError::JointSplits) => assert!(JOINT.contains(&name)),
                Err(error) => panic!("{name}: {error}"),
            }
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    for name in MODELS {
        assert_cuts_are_refused(name, &content(&format!("catboost/{name}.cbm.gz")), 13);
        assert_cuts_are_refused(name, &content(&format!("catboost/{name}.json.gz")), 97);
    }
}

#[test]
fn damage_of_statistics_is_refused_with_the_place_and_the_reason() {
    let whole: Value = serde_json::from_slice(&content("catboost/all_combined.json.gz")).unwrap();
    let statistic = "/features_info/ctrs/0";
    let table = whole.pointer(&format!("{statistic}/identifier")).unwrap().as_str().unwrap();
    for (member, value, reason) in [
        ("ctr_type", json!("Fancy"), "ctr_type: unknown type \"Fancy\"; expected one of: Borders, Buckets"),
        ("identifier", json!("x"), "missing table of a category statistic"),
        ("elements", json!([]), "the statistic has no features"),
        ("elements/0/cat_feature_index", json!(9), "index 9 is not one of the 4 categorical features"),
        ("elements/0/combination_element", json!("x"), "float_feature or cat_feature_exact_value"),
        ("target_border_idx", json!(7), "expected 8 or more counts per category"),
        ("target_border_idx", json!(-1), "expected a count, got -1"),
        ("prior_numerator", json!("x"), "expected a number, got a string"),
        ("borders", json!([]), "in the statistic"),
        ("borders/0", json!(17.5), "in the statistic"),
    ] {
        crate::common::assert_refused(&whole, &format!("{statistic}/{member}"), &value, reason);
    }
    for (member, value, reason) in [
        ("hash_stride", json!(1), "expected rows of 1 elements"),
        ("hash_stride", json!(1000), "expected rows of 1000 elements"),
        ("hash_map", json!([1, 2, 3]), "a list of hashes and numbers"),
        ("hash_map", json!(["x", 2, 3]), "expected a hash"),
        ("hash_map", json!(["1", "2", 3]), "expected a hash or a number"),
    ] {
        let mut damaged = whole.clone();
        damaged["ctr_data"][table][member] = value;
        let error = read(&damaged).unwrap_err().to_string();
        assert!(error.contains(reason), "{member}: {error}");
    }
    let mut far = whole.clone();
    put(&mut far, "/oblivious_trees/0/splits/2/split_index", json!(1_000_000));
    assert!(read(&far).unwrap_err().to_string().contains("expected the index of a border"));
    let mut without = whole.clone();
    put(&mut without, "/ctr_data", Value::Null);
    assert!(read(&without).unwrap_err().to_string().contains("ctr_data"));
}

/// Some kinds of statistics only occur after training on a GPU. They are equivalent to kinds with other
/// names.
#[test]
fn kinds_of_two_names_are_the_same() {
    let text = String::from_utf8(content("catboost/all_combined.json.gz")).unwrap();
    let said = json_fixture("catboost/said.json.gz");
    let renamed = text
        .replace("\"ctr_type\":\"BinarizedTargetMeanValue\"", "\"ctr_type\":\"FloatTargetMeanValue\"")
        .replace("\"ctr_type\":\"Counter\"", "\"ctr_type\":\"FeatureFreq\"");
    assert_ne!(text, renamed);
    let ensemble = Ensemble::from_bytes(renamed.as_bytes()).unwrap();
    let rows = coded(&ensemble, &said["all_combined"]["rows"]);
    let margins = ensemble.margins(Rows::new(&rows, ensemble.feature_count())).unwrap();
    assert_close(&margins, &numbers(&said["all_combined"]["margins"]), 1e-12, "renamed");
}

#[test]
fn a_binary_file_that_is_none_is_refused() {
    for (bytes, reason) in [
        (&b"CBM1"[..], "unexpected end of the file, expected a length"),
        (b"CBM1\x08\0\0\0\0\0", "expected 8 more bytes, got 2"),
        (b"CBM1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "more bytes, got"),
        (b"CBM1\x08\0\0\0\0\0\0\0\0\0\0\0", "without a version"),
        (b"CBM1\x08\0\0\0\xff\xff\xff\x7f\0\0\0\0", "the file is truncated or corrupt"),
    ] {
        let error = crate::common::refusal(bytes);
        assert!(error.contains(reason), "{error}");
    }
    let mut bytes = content("catboost/simple.cbm.gz");
    let at = bytes.windows(18).position(|window| window == b"FlabuffersModel_v1").unwrap();
    bytes[at + 17] = b'2';
    assert!(crate::common::refusal(&bytes).contains("FlabuffersModel_v2"));
}
