//! What outputs are called.

use serde_json::json;

use crate::common::{model, read, refusal};

#[test]
fn classes_are_named_where_a_file_says_them_and_each_is_an_output() {
    for (file, names) in [
        ("catboost_multiclass.json.gz", Some(&["0", "1", "2"][..])),
        ("catboost/classes.cbm.gz", Some(&["0", "1", "2"])),
        ("onnx/rf_cls3.onnx", Some(&["0", "1", "2"])),
        ("onnx/xgb_cls3.onnx", Some(&["0", "1", "2"])),
        // One margin of two classes is called by neither.
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
            "format": "apportion-trees", "version": 1, "width": "double", "features": 1, "base_margins": [0, 1], "trees": [],
            "output_names": names
        })
    };
    assert_eq!(read(&document(json!(["no", "yes"]))).unwrap().output_names().unwrap(), ["no", "yes"]);
    for wrong in [json!(["no"]), json!([1, 2]), json!("no, yes")] {
        assert!(refusal(document(wrong).to_string().as_bytes()).contains("output_names"));
    }
}
