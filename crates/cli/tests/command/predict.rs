//! `apportion predict`: raw margins.

use insta::assert_snapshot;

use crate::support::{bytes, json, numbers, on, rounded, text};

#[test]
fn margins_are_the_predictions_that_are_explained() {
    for (model, rows) in
        [("iris_xgb_softprob.json.gz", "iris.csv"), ("diabetes_xgb_1_7.ubj", "diabetes.csv.gz")]
    {
        let explained = json(&on("explain", model, rows, &["--select", "0-9"]));
        let predicted = json(&on("predict", model, rows, &["--select", "0-9"]));
        for row in 0..10 {
            let (a, b) = (&explained["explanations"][row], &predicted["predictions"][row]);
            assert_eq!(a["row"], b["row"]);
            crate::support::assert_close(
                &numbers(&a["prediction"]),
                &numbers(&b["prediction"]),
                100.0,
                1e-13,
                model,
            );
        }
    }
}

#[test]
fn every_format_writes_the_margins() {
    let arguments = |format| {
        on("predict", "iris_xgb_softprob.json.gz", "iris.csv", &["--select", "0,77", "--format", format])
    };
    assert_snapshot!("predict_json", rounded(&text(&arguments("json"))));
    assert_snapshot!("predict_csv", rounded(&text(&arguments("csv"))));
    assert_snapshot!("predict_table", text(&arguments("table")));
    assert_eq!(bytes(&arguments("npy")).len(), 128 + 2 * 3 * 8);
}

#[test]
fn all_rows_come_in_order_on_any_number_of_threads() {
    let arguments =
        |threads| on("predict", "diabetes_xgb.json.gz", "diabetes.csv.gz", &["--threads", threads]);
    let one = bytes(&arguments("1"));
    assert_eq!(one, bytes(&arguments("2")));
    let results: serde_json::Value = serde_json::from_slice(&one).unwrap();
    assert_eq!(results["predictions"].as_array().unwrap().len(), 442);
    assert_eq!(results["predictions"][441]["row"], 441);
}
