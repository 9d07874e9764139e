//! Tests `apportion predict`.

use std::io::Read;

use insta::assert_snapshot;

use crate::support::{bytes, fixture, json, numbers, on, rounded, run, text};

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

#[test]
fn early_stopping_is_honoured_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stopped.json");
    let mut content = Vec::new();
    let packed = std::fs::read(fixture("diabetes_xgb.json.gz")).unwrap();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut content).unwrap();
    let mut model: serde_json::Value = serde_json::from_slice(&content).unwrap();
    model["learner"]["attributes"]["best_iteration"] = "4".into();
    std::fs::write(&path, model.to_string()).unwrap();
    let path = path.to_str().unwrap();
    let rows = fixture("diabetes.csv.gz");
    let on = |command, more: &[&str]| run(&[&[command, "--model", path, "--rows", &rows][..], more].concat());
    let predict = |more: &[&str]| {
        let output = on("predict", more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (best, note) = predict(&[]);
    assert!(
        note.contains("rounds 0..5 of 100, up to the best one (best_iteration); pass --trees all"),
        "{note}"
    );
    assert_eq!(predict(&["--trees", "5"]), (best.clone(), String::new()));
    let (all, note) = predict(&["--trees", "all"]);
    assert_ne!(all, best);
    assert_eq!(note, "");
    let results = json(&["explain", "--model", path, "--rows", &rows, "--select", "0", "--trees", "1..3"]);
    assert_eq!(results["rounds"], "1..3 of 100");
    assert_eq!(
        json(&["inspect", "--model", path, "--format", "json"])["rounds"],
        "0..5 of 100, up to the best one (best_iteration)"
    );
    let output = on("predict", &["--trees", "90..200"]);
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("expected a range within 0..100, the rounds of the model")
    );
}
