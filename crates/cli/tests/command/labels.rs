//! Tests the selection of classes by their labels: `--class` and `--output log-loss=CLASS`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{assert_close, json, numbers, run};

/// Returns a model with one feature and, for each output, a tree with one split. The margins of the outputs
/// differ.
fn model(outputs: usize, names: Option<(&str, &[&str])>) -> Value {
    let trees: Vec<Value> = (0..outputs)
        .map(|output| {
            let leaf = 0.5 + output as f64;
            json!({"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0],
                "threshold": [output, 0, 0], "value": [0, leaf, -leaf], "output": output})
        })
        .collect();
    let link = if outputs == 1 { "logistic" } else { "softmax" };
    let mut document = json!({"format": "apportion-trees", "version": 1, "width": "double", "features": 1,
        "operator": "<=", "feature_names": ["a"], "base_margins": vec![0.25; outputs],
        "link": {"name": link}, "trees": trees});
    if let Some((member, names)) = names {
        document[member] = json!(names);
    }
    document
}

/// Returns the arguments for explaining rows with a model, followed by `more`.
fn arguments(folder: &Path, model: &Value, command: &str, more: &[&str]) -> Vec<String> {
    let (path, rows) = (folder.join("model.json"), folder.join("rows.csv"));
    fs::write(&path, model.to_string()).unwrap();
    fs::write(&rows, "a\n0\n1\n2\n3\n").unwrap();
    let given = [command, "--model", path.to_str().unwrap(), "--rows", rows.to_str().unwrap()];
    given.iter().chain(more).map(|&argument| argument.to_owned()).collect()
}

fn predictions(results: &Value) -> Vec<Vec<f64>> {
    results["explanations"].as_array().unwrap().iter().map(|row| numbers(&row["prediction"])).collect()
}

fn refusal(arguments: &[String]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

const LABELS: [[&str; 3]; 6] = [
    ["0", "1", "2"],
    ["1", "2", "3"],
    ["-1", "0", "1"],
    ["no", "so-so", "yes"],
    ["2", "0", "1"],
    ["0.5", "1.5", "2.5"],
];

#[test]
fn a_class_of_several_is_its_label() {
    let folder = tempfile::tempdir().unwrap();
    for labels in LABELS {
        let model = model(3, Some(("output_names", &labels)));
        let of = |more: &[&str]| {
            json(&arguments(
                folder.path(),
                &model,
                "explain",
                &[more, &["--background", folder.path().join("rows.csv").to_str().unwrap()]].concat(),
            ))
        };
        let (all, shares) = (predictions(&of(&[])), predictions(&of(&["--output", "probability"])));
        for (place, label) in labels.iter().enumerate() {
            let one = of(&[&format!("--class={label}")]);
            assert_eq!(one["class"], *label);
            let losses = of(&["--output", &format!("log-loss={label}")]);
            assert_eq!(
                (&losses["output"], &losses["class"]),
                (&json!(format!("log-loss={label}")), &json!(label))
            );
            for (row, (one, loss)) in predictions(&one).iter().zip(predictions(&losses)).enumerate() {
                assert_close(one, &[all[row][place]], 1.0, 1e-12, "the output of the label");
                assert_close(&loss, &[-shares[row][place].ln()], 1.0, 1e-12, "the loss of the label");
            }
        }
        for wrong in ["none", "7", "-2"] {
            let (class, loss) = (format!("--class={wrong}"), format!("log-loss={wrong}"));
            for more in [&[class.as_str()][..], &["--output", &loss]] {
                let says = refusal(&arguments(folder.path(), &model, "explain", more));
                assert!(
                    says.contains(&format!("unknown class \"{wrong}\" in --")) && says.contains(labels[1]),
                    "{says}"
                );
            }
        }
    }
}

#[test]
fn numbers_of_classes_are_taken_where_no_label_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let on = |model: &Value, more: &[&str]| arguments(folder.path(), model, "explain", more);
    let words = model(3, Some(("output_names", &["no", "so-so", "yes"])));
    assert_eq!(json(&on(&words, &["--class", "1"]))["class"], "so-so");
    let nameless = model(3, None);
    assert_eq!(json(&on(&nameless, &["--class", "1"]))["class"], 1);
    assert!(refusal(&on(&nameless, &["--class", "3"])).contains("classes 0 to 2 and stores no class names"));
    let from_one = model(3, Some(("output_names", &["1", "2", "3"])));
    assert!(refusal(&on(&from_one, &["--class", "0"])).contains("available classes: 1, 2, 3"));
    assert_eq!(json(&on(&from_one, &["--class", "1.0"]))["class"], "1");
    let negative = model(3, Some(("output_names", &["-1", "0", "1"])));
    assert_eq!(json(&on(&negative, &["--class", "-1"]))["class"], "-1");
}

#[test]
fn a_single_margin_is_that_of_the_second_label() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.csv");
    for labels in [["0", "1"], ["1", "2"], ["-1", "1"], ["good", "bad"], ["False", "True"], ["1", "0"]] {
        let model = model(1, Some(("class_names", &labels)));
        let of = |more: &[&str]| {
            json(&arguments(
                folder.path(),
                &model,
                "explain",
                &[more, &["--background", rows.to_str().unwrap()]].concat(),
            ))
        };
        let share = predictions(&of(&["--output", "probability"]));
        for (place, label) in labels.iter().enumerate() {
            let losses = predictions(&of(&["--output", &format!("log-loss={label}")]));
            for (loss, share) in losses.iter().zip(&share) {
                let share = if place == 1 { share[0] } else { 1.0 - share[0] };
                assert_close(loss, &[-share.ln()], 1.0, 1e-12, "the loss of the label");
            }
        }
        assert_eq!(predictions(&of(&[&format!("--class={}", labels[1])])), predictions(&of(&[])));
        let says =
            refusal(&arguments(folder.path(), &model, "explain", &[&format!("--class={}", labels[0])]));
        assert!(says.contains(&format!("is for class {0}; use --class {0}", labels[1])), "{says}");
    }
    let nameless = model(1, None);
    let says = refusal(&arguments(folder.path(), &nameless, "explain", &["--class", "0"]));
    assert!(says.contains("for class 1"), "{says}");
}
