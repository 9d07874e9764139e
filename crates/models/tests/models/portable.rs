//! Models of a few nodes in the portable format, with their expected predictions and covers, and errors.

use apportion_games::Rows;
use apportion_models::{Ensemble, Link, UnknownCategory};
use serde_json::{Value, json};

use crate::common::{assert_cuts_are_refused, assert_refused, read, refusal};

const NAN: f64 = f64::NAN;

/// Returns a model with two outputs. It consists of a tree with vector leaves, a tree with three kinds of
/// rules and a linear leaf, and a tree that is a single leaf.
fn sample() -> Value {
    json!({
        "format": "apportion-trees",
        "version": 1,
        "width": "double",
        "features": 2,
        "base_margins": [0.5, -0.5],
        "operator": "<=",
        "trees": [
            {
                "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, -2, -2], "threshold": [1.5, -2, -2],
                "value": [0, 0, 1, 2, 3, 4], "default_left": [1, 0, 0], "cover": [5, 2, 3], "scale": 0.5
            },
            {
                "output": 1, "operator": "<",
                "left": [1, 3, -1, -1, 5, -1, 7, -1, -1], "right": [2, 4, -1, -1, 6, -1, 8, -1, -1],
                "feature": [0, 1, 0, 0, 0, 0, 1, 0, 0], "threshold": [1, 0, 0, 0, 0, 0, 0.25, 0, 0],
                "value": [0, 0, 10, 20, 0, 30, 0, 40, 50],
                "rules": [
                    {"node": 1, "categories": [1, 3], "side": "right"},
                    {"node": 4, "numbers": [0.5, -2.5], "side": "right"},
                    {"node": 6, "zero_is_missing": true}
                ],
                "linear": [{"node": 7, "constant": 1.5, "features": [1, 0], "coefficients": [2, -1]}]
            },
            {"output": 0, "left": [-1], "right": [-1], "feature": [0], "threshold": [0], "value": [8]}
        ]
    })
}

fn predict(ensemble: &Ensemble, row: [f64; 2]) -> [f64; 2] {
    let margins = ensemble.margins(Rows::new(&row, 2)).unwrap();
    [margins[0], margins[1]]
}

#[test]
fn all_that_an_ensemble_holds_is_read() {
    let ensemble = read(&sample()).unwrap();
    assert_eq!((ensemble.feature_count(), ensemble.output_count(), ensemble.tree_count()), (2, 2, 4));
    assert_eq!((ensemble.link(), ensemble.feature_names()), (None, None));
    assert_eq!(&*ensemble.origin().format, "apportion-trees");
    // For values up to 1.5 and missing values, the first tree adds 0.5 and 1; otherwise, it adds 1.5 and 2.
    // The last tree adds 8.
    let (left, right) = ([9.0, 0.5], [10.0, 1.5]);
    let both = |first: [f64; 2], second: f64| [first[0], first[1] + second];
    // At the first split of the second tree, 1 < 1 is false, and so is the comparison of a missing value.
    assert_eq!(predict(&ensemble, [1.0, 0.0]), both(left, 10.0));
    assert_eq!(predict(&ensemble, [1.5, 0.0]), both(left, 10.0));
    assert_eq!(predict(&ensemble, [1.5f64.next_up(), 0.0]), both(right, 10.0));
    assert_eq!(predict(&ensemble, [NAN, 0.0]), both(left, 10.0));
    // Categories that are not listed, and fractions below 0, go left.
    for other in [0.0, 2.0, 4.0, -0.5, -7.0, 1e300] {
        assert_eq!(predict(&ensemble, [0.0, other]), both(left, 20.0), "{other}");
    }
    // The listed categories and missing values go right. At the next split, 0.5 and −2.5 go right and all
    // other values left.
    assert_eq!(predict(&ensemble, [0.0, 3.7]), both(left, 30.0));
    assert_eq!(predict(&ensemble, [0.5, 1.0]), both(left, 50.0));
    assert_eq!(predict(&ensemble, [-2.5, NAN]), both(left, 50.0));
}

#[test]
fn features_that_may_not_be_missing_are_listed() {
    let mut document = sample();
    document["refuses_missing"] = json!([1]);
    let ensemble = read(&document).unwrap();
    assert!(!ensemble.refuses_missing(0) && ensemble.refuses_missing(1));
    assert!(ensemble.margins(Rows::new(&[NAN, 0.0], 2)).is_ok());
    let error = ensemble.margins(Rows::new(&[0.0, 0.0, 0.0, NAN], 2)).unwrap_err().to_string();
    assert!(error.contains("row 1 has a missing value in column 1"), "{error}");
    for wrong in [json!([2]), json!([-1])] {
        assert_refused(&sample(), "/refuses_missing", &wrong, "is out of range (features: 2)");
    }
}

#[test]
fn zeros_may_be_missing_and_leaves_linear() {
    let tree = |rules: Value, linear: Value| {
        let mut document = sample();
        document["base_margins"] = json!([0]);
        document["trees"] = json!([{
            "output": 0, "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
            "threshold": [1, 0, 0], "value": [0, 10, 20], "rules": rules, "linear": linear
        }]);
        read(&document).unwrap()
    };
    let of = |ensemble: &Ensemble, row: [f64; 2]| ensemble.margins(Rows::new(&row, 2)).unwrap()[0];
    let zero = tree(json!([{"node": 0, "zero_is_missing": true}]), json!([]));
    for (value, expected) in [(0.0, 20.0), (NAN, 20.0), (1e-40, 20.0), (0.5, 10.0), (1.0, 10.0), (1.5, 20.0)]
    {
        assert_eq!(of(&zero, [value, 0.0]), expected, "{value}");
    }
    let linear =
        tree(json!([]), json!([{"node": 1, "constant": 1.5, "features": [1, 0], "coefficients": [2, -1]}]));
    assert_eq!(of(&linear, [0.5, 3.0]), 7.0);
    assert_eq!(of(&linear, [0.5, NAN]), 10.0);
    assert_eq!(of(&linear, [2.0, NAN]), 20.0);
    let fraction = tree(
        json!([{"node": 0, "categories": [0], "side": "left", "negative_fraction_is_zero": true}]),
        json!([]),
    );
    assert_eq!([-0.5, -1.0, 0.9].map(|value| of(&fraction, [value, 0.0])), [10.0, 20.0, 10.0]);
}

#[test]
fn an_interval_goes_to_its_side() {
    for (side, inside, outside) in [("left", 10.0, 20.0), ("right", 20.0, 10.0)] {
        let mut document = sample();
        document["base_margins"] = json!([0]);
        document["trees"] = json!([{
            "output": 0, "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
            "threshold": [0, 0, 0], "value": [0, 10, 20], "default_left": [1, 0, 0],
            "rules": [{"node": 0, "between": [-1.5, 2], "side": side}]
        }]);
        let model = read(&document).unwrap();
        let of = |value: f64| model.margins(Rows::new(&[value, 0.0], 2)).unwrap()[0];
        assert!([-1.5, 0.0, 2.0].into_iter().all(|value| of(value) == inside));
        assert!([-1.6, 2.1, f64::MIN, f64::MAX].into_iter().all(|value| of(value) == outside));
        assert_eq!(of(NAN), 10.0, "missing values follow the default");
    }
}

#[test]
fn excepted_numbers_go_to_the_side_that_the_threshold_does_not_say() {
    for (operator, at_threshold) in [("<=", 10.0), ("<", 20.0)] {
        let mut document = sample();
        document["base_margins"] = json!([0]);
        document["trees"] = json!([{
            "output": 0, "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
            "threshold": [2, 0, 0], "operator": operator, "value": [0, 10, 20], "default_left": [1, 0, 0],
            "rules": [{"node": 0, "except": [-1, 7, 0]}]
        }]);
        let model = read(&document).unwrap();
        let of = |value: f64| model.margins(Rows::new(&[value, 0.0], 2)).unwrap()[0];
        assert!([-1.0, 0.0, -0.0, 3.0].into_iter().all(|value| of(value) == 20.0));
        assert!([-1.5, 1.0, 7.0].into_iter().all(|value| of(value) == 10.0));
        assert_eq!((of(2.0), of(NAN)), (at_threshold, 10.0));
        document["trees"][0]["rules"] = json!([]);
        assert_ne!(model.fingerprint(), read(&document).unwrap().fingerprint());
        assert!(model.categorical_features().is_empty(), "this rule compares numbers");
        assert_refused(&sample(), "/trees/1/rules/1", &json!({"node": 4, "except": [null]}), "except");
    }
}

#[test]
fn categories_have_their_words_and_codes() {
    let mut document = sample();
    assert!(read(&document).unwrap().categories(0).is_none());
    document["categories"] = json!([
        {"feature": 1, "values": ["Oslo", 3, true, "3"], "unknown": "no category"},
        {"feature": 0, "values": [1.5, -0.0], "unknown": "missing"}
    ]);
    let model = read(&document).unwrap();
    let words = model.categories(1).unwrap();
    assert_eq!(words.unknown(), UnknownCategory::NoCategory);
    assert_eq!(["Oslo", "3", "Rome"].map(|word| words.code_of_text(word)), [Some(0.0), Some(3.0), None]);
    assert_eq!([3.0, 1.0, 0.0].map(|number| words.code_of_number(number)), [Some(1.0), Some(2.0), None]);
    let numbers = model.categories(0).unwrap();
    assert_eq!(numbers.unknown(), UnknownCategory::Missing);
    assert_eq!([1.5, 0.0].map(|number| numbers.code_of_number(number)), [Some(0.0), Some(1.0)]);
    assert_eq!(model.fingerprint(), read(&sample()).unwrap().fingerprint(), "categories change no margin");
    document["categories"][0]["unknown"] = json!("refused");
    assert_eq!(read(&document).unwrap().categories(1).unwrap().unknown(), UnknownCategory::Refused);
    let cases = [
        ("/categories/0/feature", json!(2), "categories[0].feature: feature 2 is out of range (features: 2)"),
        ("/categories/0/feature", json!(0), "feature 0 has two lists"),
        ("/categories/0/unknown", json!("ignored"), "expected \"missing\", \"refused\""),
        ("/categories/0/values", json!(["a", "b", "a"]), "duplicate category \"a\""),
        ("/categories/0/values", json!([0, false, "x"]), "duplicate category 0"),
        ("/categories/0/values", json!(["a", null]), "element 1: expected a string"),
        ("/categories/0/values", json!("a"), "expected a list of strings and numbers, got a string"),
        ("/categories/0/words", json!([]), "unknown field \"words\""),
        ("/categories/0/values", Value::Null, "values"),
        ("/categories", json!({}), "expected a list"),
    ];
    for (path, value, reason) in cases {
        assert_refused(&document, path, &value, reason);
    }
}

#[test]
fn widths_links_and_sources_are_read() {
    let mut document = sample();
    document["trees"][0]["threshold"][0] = json!(0.1);
    let between = 0.5 * (0.1 + f64::from(0.1f32));
    assert_eq!(predict(&read(&document).unwrap(), [between, 0.0])[0], 10.0);
    document["width"] = json!("single");
    document["trees"][0]["threshold"][0] = json!(f64::from(0.1f32));
    assert_eq!(predict(&read(&document).unwrap(), [between, 0.0])[0], 9.0);
    for (link, expected) in [
        (json!({"name": "identity"}), Link::Identity),
        (json!({"name": "logistic"}), Link::Logistic { steepness: 1.0 }),
        (json!({"name": "logistic", "steepness": 2}), Link::Logistic { steepness: 2.0 }),
        (json!({"name": "softmax"}), Link::Softmax),
        (json!({"name": "exponential"}), Link::Exponential),
        (json!({"name": "softplus"}), Link::Softplus),
        (json!({"name": "half-power", "unit": 7.5}), Link::HalfPower { unit: 7.5 }),
        (json!({"name": "step"}), Link::Step),
        (json!({"name": "sorted"}), Link::Sorted),
    ] {
        document["link"] = link;
        assert_eq!(read(&document).unwrap().link(), Some(expected));
    }
    document["source"] =
        json!({"library": "lib", "version": "1.2", "model": "Forest", "objective": "least squares"});
    document["feature_names"] = json!(["a", "b"]);
    let ensemble = read(&document).unwrap();
    let origin = ensemble.origin();
    assert_eq!((&*origin.format, &*origin.version), ("lib as apportion-trees", "1.2"));
    assert_eq!((&*origin.booster, &*origin.objective), ("Forest", "least squares"));
    assert_eq!(ensemble.feature_names().unwrap(), ["a", "b"]);
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    assert_cuts_are_refused("sample", sample().to_string().as_bytes(), 1);
}

#[test]
fn damage_is_refused_with_the_place_and_the_reason() {
    let cases = [
        ("/version", json!(2), "apportion-trees 2; supported: 1"),
        ("/version", json!("one"), "version"),
        ("/width", json!("half"), "expected \"single\" or \"double\", got \"half\""),
        ("/features", json!(0), "features, got 0"),
        ("/features", json!(4_000_000_000u32), "features"),
        ("/features", json!(1), "node 1 splits on feature 1, which is out of range (features: 1)"),
        ("/base_margins", json!([]), "base_margins: expected one number per output"),
        ("/base_margins", json!([1, 2, 3]), "trees[0].value: expected 9 elements, got 6"),
        ("/base_margins", json!([0]), "trees[0].value: expected 3 elements, got 6"),
        ("/operator", json!(">"), "operator: expected"),
        ("/link", json!({"name": "cube"}), "unknown link \"cube\""),
        ("/link", json!({"name": "half-power"}), "missing field \"unit\""),
        ("/link", json!({"name": "logistic", "steepness": -1}), "expected a positive steepness, got -1"),
        ("/feature_names", json!(["a"]), "expected 2 names (one per feature), got 1"),
        ("/featurs", json!(2), "unknown field \"featurs\""),
        ("/source", json!({"name": "x"}), "source: unknown field \"name\""),
        ("/trees/0/defaultleft", json!([]), "trees[0]: unknown field \"defaultleft\""),
        ("/trees/0/left", json!([1, -1]), "trees[0].default_left: expected 2 elements, got 3"),
        ("/trees/0/right", json!([2, -1]), "trees[0].right: expected 3 elements, got 2"),
        ("/trees/0/left/0", json!(3), "tree 0: node 0 has the child 3"),
        ("/trees/0/left/0", json!(0), "tree 0: node 0 is reached twice"),
        ("/trees/0/left/0", json!(2), "tree 0: node 2 is reached twice"),
        ("/trees/0/left/0", json!(1.5), "expected integers, got 1.5"),
        ("/trees/0/feature/0", json!(-1), "tree 0: node 0 splits on feature -1"),
        ("/trees/0/threshold/0", json!("NaN"), "expected a list of numbers, got other values"),
        ("/trees/0/value/2", json!(null), "trees[0].value"),
        ("/trees/0/default_left", json!([2, 0, 0]), "trees[0].default_left"),
        ("/trees/1/output", json!(2), "tree 1: output 2 is out of range (outputs: 2)"),
        ("/trees/1/rules/0/node", json!(2), "tree 1: node 2 has a rule, but is not a split"),
        ("/trees/1/rules/0/node", json!(9), "tree 1: node 9 has a rule, but is not a split"),
        ("/trees/1/rules/0/node", json!(4), "tree 1: node 4 has two rules"),
        ("/trees/1/rules/0/side", json!("up"), "trees[1].rules[0].side: expected"),
        ("/trees/1/rules/0/categories", json!([-1]), "invalid category -1"),
        ("/trees/1/rules/0/categories", json!([16_777_216]), "invalid category 16777216"),
        (
            "/trees/1/rules/1",
            json!({"node": 4, "between": [0], "side": "left"}),
            "between: expected 2 elements, got 1",
        ),
        ("/trees/1/rules/1", json!({"node": 4, "between": [0, 1]}), "missing field \"side\""),
        ("/trees/1/rules/2/zero_is_missing", json!(false), "omit the rule"),
        ("/trees/1/rules/2/zero", json!(1), "unknown field \"zero\""),
        ("/trees/1/linear/0/node", json!(6), "tree 1: node 6 has a linear model, but is not a leaf"),
        ("/trees/1/linear/0/features", json!([1, 2]), "tree 1: the linear model of leaf 7 uses feature 2"),
        ("/trees/1/linear/0/features", json!([1, 1]), "contains feature 1 twice"),
        ("/trees/1/linear/0/features", json!([1]), "coefficients: expected 1 elements, got 2"),
        ("/trees/2/left", json!([]), "trees[2]"),
        ("/trees", json!({}), "expected a list"),
    ];
    for (path, value, reason) in cases {
        assert_refused(&sample(), path, &value, reason);
    }
    for member in ["version", "width", "features", "base_margins", "operator", "trees"] {
        assert_refused(&sample(), &format!("/{member}"), &Value::Null, member);
    }
    let mut huge = sample();
    huge["trees"][0]["value"][2] = json!(1e300);
    assert_refused(&huge, "/trees/0/scale", &json!(1e308), "the value inf");
    // NaN is not valid JSON, but many programs write it.
    let error = refusal(sample().to_string().replace("1.5,-2,-2", "NaN,-2,-2").as_bytes());
    assert!(error.contains("tree 0: node 0 has the threshold NaN"), "{error}");
}

#[test]
fn negative_covers_are_no_game() {
    let mut document = sample();
    document["trees"] = json!([document["trees"][0]]);
    assert!(read(&document).unwrap().check_covers().is_ok());
    document["trees"][0]["cover"] = json!([5, -2, 7]);
    let error = read(&document).unwrap().check_covers().unwrap_err().to_string();
    assert!(error.contains("tree 0, node 1") && error.contains("-2"), "{error}");
}

#[test]
fn leaves_that_add_up_to_nearly_infinity_are_refused() {
    let mut document = sample();
    document["trees"] = json!([document["trees"][0], document["trees"][0]]);
    for (largest, refused) in [(6e299, true), (4e299, false), (5e-324, false)] {
        for tree in 0..2 {
            document["trees"][tree]["value"] = json!([0.0, largest, -largest]);
            document["trees"][tree]["scale"] = json!(1.0);
            document["trees"][tree]["output"] = json!(0);
        }
        match read(&document) {
            Ok(_) => assert!(!refused, "{largest}"),
            Err(error) => {
                let error = error.to_string();
                assert!(refused && error.contains("tree 1: leaf 1 has the value 6e299"), "{error}");
            }
        }
    }
}

#[test]
fn infinite_thresholds_have_all_values_on_one_side_and_missing_ones_where_they_belong() {
    for (threshold, default_left) in
        [("-Infinity", 1), ("-Infinity", 0), ("Infinity", 1), ("Infinity", 0), ("-1.7e308", 1), ("5e-324", 0)]
    {
        for operator in ["<", "<="] {
            let text = json!({
                "format": "apportion-trees", "version": 1, "width": "double", "features": 2,
                "base_margins": [0.5], "operator": operator,
                "trees": [{
                    "left": [1, 3, -1, -1, -1], "right": [2, 4, -1, -1, -1], "feature": [0, 1, 0, 0, 0],
                    "threshold": [0, "here", 0, 0, 0], "value": [0, 0, 1, 2, 4],
                    "default_left": [1, default_left, 0, 0, 0], "cover": [6, 5, 1, 2, 3]
                }]
            });
            let text = text.to_string().replace("\"here\"", threshold);
            let ensemble = Ensemble::from_bytes(text.as_bytes()).unwrap();
            let rows = [-1.0, -1.7e308, NAN, NAN, 2.0, NAN, -2.0, 1.7e308, NAN, 0.0];
            let rows = Rows::new(&rows, 2);
            let margins = ensemble.margins(rows).unwrap();
            let left = |value: f64| match (threshold, value.is_nan()) {
                (_, true) => default_left == 1,
                ("-Infinity", _) => false,
                ("Infinity", _) => true,
                ("5e-324", _) => value <= 0.0,
                _ => value <= -1.7e308 && (operator == "<=" || value < -1.7e308),
            };
            for (row, margin) in rows.iter().zip(&margins) {
                let leaf = if row[0] >= 0.0 { 1.0 } else { [4.0, 2.0][usize::from(left(row[1]))] };
                assert_eq!(*margin, 0.5 + leaf, "{threshold} {operator} {default_left} {row:?}");
            }
        }
    }
}
