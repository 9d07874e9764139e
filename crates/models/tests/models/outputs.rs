//! Tests of the names of outputs.

use serde_json::json;

use crate::common::{model, read, refusal};

#[test]
fn classes_are_named_where_a_file_says_them_and_each_is_an_output() {
    for (file, names) in [
        ("catboost_multiclass.json.gz", Some(&["0", "1", "2"][..])),
        ("catboost/classes.cbm.gz", Some(&["0", "1", "2"])),
        ("onnx/rf_cls3.onnx", Some(&["0", "1", "2"])),
        ("onnx/xgb_cls3.onnx", Some(&["0", "1", "2"])),
        // The single margin of two classes does not have its own name.
        ("onnx/gb_cls2.onnx", None),
        ("onnx/gb_reg_double.onnx", None),
        ("iris_xgb_softprob.json.gz", None),
    ] {
        assert_eq!(
            model(file).output_names().map(<[String]>::to_vec),
            names.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
            "{file}"
        );
    }
}

#[test]
fn outputs_of_our_own_json_have_the_names_that_it_gives() {
    let document = |names: serde_json::Value| {
        json!({
            "format": "apportion-trees", "version": 1, "width": "double", "features": 1,
            "base_margins": [0, 1], "trees": [], "output_names": names
        })
    };
    assert_eq!(read(&document(json!(["no", "yes"]))).unwrap().output_names().unwrap(), ["no", "yes"]);
    for wrong in [json!(["no"]), json!([1, 2]), json!("no, yes")] {
        assert!(refusal(document(wrong).to_string().as_bytes()).contains("output_names"));
    }
}

#[test]
fn the_two_classes_of_a_single_margin_have_names() {
    let names = |file: &str| model(file).class_names().map(<[String]>::to_vec);
    assert_eq!(names("onnx/gb_cls2.onnx").unwrap(), ["0", "1"]);
    assert_eq!(names("onnx/rf_cls3.onnx").unwrap(), ["0", "1", "2"]);
    assert_eq!(names("onnx/gb_reg_double.onnx"), None);
    let document = |margins: serde_json::Value, names: serde_json::Value| {
        json!({
            "format": "apportion-trees", "version": 1, "width": "double", "features": 1,
            "base_margins": margins, "trees": [], "class_names": names
        })
    };
    let read = read(&document(json!([0]), json!(["-1", "1"]))).unwrap();
    assert_eq!(
        (read.class_names().unwrap(), read.output_names()),
        (&["-1".to_owned(), "1".to_owned()][..], None)
    );
    for (margins, wrong) in [
        (json!([0]), json!(["yes"])),
        (json!([0]), json!(["a", "b", "c"])),
        (json!([0]), json!([0, 1])),
        (json!([0, 1]), json!(["no", "yes"])),
    ] {
        assert!(refusal(document(margins, wrong).to_string().as_bytes()).contains("class_names"));
    }
}
