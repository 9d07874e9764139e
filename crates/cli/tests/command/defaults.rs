//! Tests the default game and the default background.

use std::fs;

use serde_json::Value;

use crate::support::{NOTE_OF_THE_GAME, fixture, json, numbers, on, run, text};

const MODEL: &str = "diabetes_xgb.json.gz";
const ROWS: &str = "diabetes.csv.gz";

/// Runs the command successfully, and returns its messages and its results.
fn run_with_notes(arguments: &[String]) -> (String, Value) {
    let output = run(arguments);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    (told, serde_json::from_slice(&output.stdout).unwrap())
}

/// Runs the command, which must fail without output, and returns its messages.
fn refused(arguments: &[String]) -> String {
    let output = run(arguments);
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Returns a model without cover, which predicts 3 if `flag` is 1, plus 5 if `number` is above 2.
fn without_covers() -> &'static str {
    r#"{"format": "apportion-trees", "version": 1, "width": "double", "features": 2,
        "feature_names": ["flag", "number"],
        "base_margins": [0], "operator": "<=", "trees": [
        {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "threshold": [0.5, 0, 0],
            "value": [0, 0, 3]},
        {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [1, 0, 0], "threshold": [2, 0, 0],
            "value": [0, 0, 5]}]}"#
}

#[test]
fn without_a_background_the_covers_of_the_model_are_played_and_a_line_says_so() {
    let (told, results) = run_with_notes(&on("explain", MODEL, ROWS, &["--select", "5"]));
    assert!(told.starts_with(NOTE_OF_THE_GAME) && told.lines().count() == 1, "{told}");
    assert_eq!(results["game"], "path-dependent");
    let named = json(&on("explain", MODEL, ROWS, &["--select", "5", "--game", "path-dependent"]));
    assert_eq!(results, named);
    let named = run(&on("explain", MODEL, ROWS, &["--select", "5", "--game", "path-dependent"]));
    assert!(named.stderr.is_empty());
    // The default game also applies to interactions of pairs.
    let pairs = ["--select", "5", "--interactions=remainder"];
    assert_eq!(json(&on("explain", MODEL, ROWS, &pairs))["game"], "path-dependent");
}

#[test]
fn what_is_for_rows_alone_is_played_against_rows() {
    for options in
        [&["--background-select", "0-9"][..], &["--output", "probability"], &["--background", "mean"]]
    {
        let (model, rows) = match options[0] {
            "--output" => ("iris_xgb_softprob.json.gz", "iris.csv"),
            _ => (MODEL, ROWS),
        };
        assert_eq!(
            json(&on("explain", model, rows, &[&["--select", "3"], options].concat()))["game"],
            "marginal"
        );
    }
}

#[test]
fn a_model_without_covers_is_explained_against_a_sample_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let model = file("model.json", without_covers());
    let mut many = "flag,number\n".to_owned();
    (0..250).for_each(|row| many.push_str(&format!("{},{}\n", row % 2, row % 5)));
    let (few, many) = (file("few.csv", "flag,number\n0,1\n1,3\n"), file("many.csv", &many));
    let explain = |rows: &str, more: &[&str]| {
        let base = ["explain", "--model", &model, "--rows", rows, "--select", "1"];
        base.iter().chain(more).map(|argument| (*argument).to_owned()).collect::<Vec<_>>()
    };
    let (note, results) = run_with_notes(&explain(&few, &[]));
    assert!(
        note.contains("using all 2 rows of the rows file as the background") && note.lines().count() == 1,
        "{note}"
    );
    assert_eq!(results["background"], "all 2 rows of the rows file");
    // Half of the rows have the flag, and half have a large number. With column means as the background, the
    // value of the flag would have been 0.
    assert_eq!(numbers(&results["explanations"][0]["values"]), [1.5, 2.5]);
    let (note, results) = run_with_notes(&explain(&many, &["--seed", "4"]));
    let words = "100 of the 250 rows of the rows file, drawn with seed 4";
    assert!(note.contains(words) && results["background"] == words, "{note}");
    assert_eq!(
        text(&explain(&many, &["--seed", "4"])),
        text(&explain(&many, &["--seed", "4", "--threads", "1"]))
    );
    assert_ne!(text(&explain(&many, &["--seed", "4"])), text(&explain(&many, &["--seed", "5"])));
    let base = &results["explanations"][0]["base"];
    assert!((base.as_f64().unwrap() - 3.5).abs() < 0.6, "{base}");

    let one = file("one.csv", "flag,number\n1,3\n");
    let select = ["explain", "--model", &model, "--rows", &one].map(str::to_owned);
    let message = refused(&select);
    assert!(message.contains("single row") && message.contains("--background FILE"), "{message}");
    let (_, results) = run_with_notes(&[&select[..], &["--background".to_owned(), few.clone()]].concat());
    assert_eq!(numbers(&results["explanations"][0]["values"]), [1.5, 2.5]);

    // Cover counted on background rows makes the path-dependent game possible.
    let counted = explain(&few, &["--background", &few, "--game", "path-dependent"]);
    let (_, results) = run_with_notes(&counted);
    assert_eq!(results["game"], "path-dependent");
    assert_eq!(numbers(&results["explanations"][0]["values"]), [1.5, 2.5]);
    assert!(results["background"].as_str().unwrap().contains("counted"));
    let message = refused(&explain(&few, &["--background", "mean", "--game", "path-dependent"]));
    assert!(message.contains("counts background rows"), "{message}");

    let (note, _) = run_with_notes(&explain(&few, &["--background", "mean"]));
    assert!(note.contains("the mean of \"flag\", \"number\" is not a possible value"), "{note}");
}

#[test]
fn covers_of_rows_take_the_place_of_those_in_the_model() {
    let rows = fixture(ROWS);
    let of = |more: &[&str]| {
        let options = ["--select", "5", "--game", "path-dependent"];
        json(&on("explain", MODEL, ROWS, &[&options[..], more].concat()))
    };
    let values = |more: &[&str]| numbers(&of(more)["explanations"][0]["values"]);
    // The model was trained on these rows, each with weight 1.
    assert_eq!(values(&["--background", &rows]), values(&[]));
    let few = ["--background-select", "0-99"];
    let (counted, exact) = (values(&few), values(&[&few[..], &["--method", "exact"]].concat()));
    assert_ne!(counted, values(&[]));
    for (own, expected) in counted.iter().zip(exact) {
        assert!((own - expected).abs() < 1e-9, "{own}, {expected}");
    }
}

#[test]
fn a_mean_of_categories_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    fs::write(
        &path,
        r#"{"format": "apportion-trees", "version": 1, "width": "double", "features": 1,
            "feature_names": ["city"], "base_margins": [0], "operator": "<=", "trees": [{
            "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "threshold": [0, 0, 0],
            "value": [0, 1, 3], "rules": [{"node": 0, "categories": [0, 2], "side": "left"}]}]}"#,
    )
    .unwrap();
    let rows = folder.path().join("rows.csv");
    fs::write(&rows, "city\n0\n1\n2\n").unwrap();
    let base =
        ["explain", "--model", path.to_str().unwrap(), "--rows", rows.to_str().unwrap()].map(str::to_owned);
    let mean = ["--background", "mean"].map(str::to_owned);
    let message = refused(&[&base[..], &mean].concat());
    assert!(
        message.contains("categorical features (\"city\")") && message.contains("--background FILE"),
        "{message}"
    );
    assert_eq!(run_with_notes(&base).1["background"], "all 3 rows of the rows file");
}
