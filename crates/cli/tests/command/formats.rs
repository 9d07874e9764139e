//! Tests the four output formats of `apportion explain`.

use insta::assert_snapshot;

use crate::support::{bytes, fixture, json, numbers, on, rounded, run, text};

fn one_output(format: &str) -> Vec<String> {
    let options = ["--select", "3,50", "--background", "mean", "--format", format];
    on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &options)
}

fn three_outputs(format: &str) -> Vec<String> {
    on(
        "explain",
        "iris_xgb_softprob.json.gz",
        "iris.csv",
        &[
            "--background",
            "mean",
            "--select",
            "0,77",
            "--value",
            "banzhaf",
            "--method",
            "exact",
            "--format",
            format,
        ],
    )
}

fn with_errors(format: &str) -> Vec<String> {
    on(
        "explain",
        "diabetes_xgb.json.gz",
        "diabetes.csv.gz",
        &[
            "--background",
            "mean",
            "--select",
            "3",
            "--method",
            "leverage-shap",
            "--budget",
            "20n",
            "--seed",
            "1",
            "--format",
            format,
        ],
    )
}

#[test]
fn json_is_one_object_on_one_line() {
    assert_snapshot!("json_one_output", rounded(&text(&one_output("json"))));
    assert_snapshot!("json_three_outputs", rounded(&text(&three_outputs("json"))));
    assert_snapshot!("json_with_errors", rounded(&text(&with_errors("json"))));
}

#[test]
fn csv_has_a_line_for_each_row_and_output() {
    assert_snapshot!("csv_one_output", rounded(&text(&one_output("csv"))));
    assert_snapshot!("csv_three_outputs", rounded(&text(&three_outputs("csv"))));
    assert_snapshot!("csv_with_errors", rounded(&text(&with_errors("csv"))));
}

#[test]
fn tables_show_the_features_that_matter_most_first() {
    assert_snapshot!("table_one_output", text(&one_output("table")));
    assert_snapshot!("table_three_outputs", text(&three_outputs("table")));
    assert_snapshot!("table_with_errors", text(&with_errors("table")));
}

#[test]
fn numbers_in_json_and_csv_read_back_to_the_same_bits() {
    let json = json(&one_output("json"));
    let csv = text(&one_output("csv"));
    for (row, line) in csv.lines().skip(1).enumerate() {
        let cells: Vec<f64> = line.split(',').skip(3).map(|cell| cell.parse().unwrap()).collect();
        let row = &json["explanations"][row];
        assert_eq!(cells, [numbers(&row["values"]), numbers(&row["input"])].concat());
    }
}

#[test]
fn npy_holds_the_numbers_of_json() {
    for (arguments, shape) in
        [(one_output as fn(&str) -> Vec<String>, "'shape': (2, 10)"), (three_outputs, "'shape': (2, 4, 3)")]
    {
        let json = json(&arguments("json"));
        let rows = json["explanations"].as_array().unwrap();
        let expected: Vec<f64> = rows.iter().flat_map(|row| numbers(&row["values"])).collect();
        let npy = bytes(&arguments("npy"));
        let length = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
        assert!(String::from_utf8_lossy(&npy[10..length]).contains(shape));
        let got: Vec<f64> = npy[length..]
            .chunks_exact(8)
            .map(|number| f64::from_le_bytes(number.try_into().unwrap()))
            .collect();
        assert_eq!(got, expected);
    }
}

#[test]
fn what_is_written_as_npy_reads_back_as_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values.npy");
    let path = path.to_str().unwrap();
    let mut arguments = one_output("npy");
    arguments.extend(["--out".to_owned(), path.to_owned()]);
    bytes(&arguments);
    let predicted =
        json(&["predict", "--model", &crate::support::fixture("diabetes_xgb.json.gz"), "--rows", path]);
    assert_eq!(predicted["predictions"].as_array().unwrap().len(), 2);
}

/// Linear models in ONNX files use a closed form for margins and model-agnostic methods for probabilities,
/// and have no cover.
#[test]
fn linear_models_are_explained_predicted_and_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.csv");
    let numbers_of =
        |row: usize| (0..5).map(move |column| format!("{}", ((row * 5 + column) % 7) as f64 * 0.5));
    let lines = (0..9).map(|row| numbers_of(row).collect::<Vec<_>>().join(","));
    std::fs::write(&rows, format!("a,b,c,d,e\n{}\n", lines.collect::<Vec<_>>().join("\n"))).unwrap();
    let rows = rows.to_str().unwrap();
    let model = crate::support::fixture("../../../models/tests/fixtures/onnx/linear/two_classes.onnx");
    let explained = |more: &[&str]| {
        let arguments = ["explain", "--model", &model, "--rows", rows, "--background", rows, "--select", "2"];
        json(&[&arguments[..], more].concat())
    };
    for (more, method) in [
        (&[][..], "tree"),
        (&["--value", "banzhaf"], "tree"),
        (&["--output", "probability"], "exact"),
        (&["--game", "gaussian"], "exact"),
    ] {
        let result = explained(more);
        assert_eq!(result["method"], method, "{more:?}");
        let explanation = &result["explanations"][0];
        let sum: f64 = numbers(&explanation["values"]).iter().sum();
        let [base, prediction] = ["base", "prediction"].map(|end| numbers(&explanation[end])[0]);
        assert!((base + sum - prediction).abs() < 1e-12, "{more:?}");
    }
    let predicted = json(&["predict", "--model", &model, "--rows", rows]);
    let of_row = numbers(&predicted["predictions"][2]["prediction"]);
    assert_eq!(of_row, numbers(&explained(&[])["explanations"][0]["prediction"]));
    let facts = json(&["inspect", "--model", &model, "--format", "json"]);
    assert_eq!((&facts["booster"], &facts["link"]), (&"linear model".into(), &"logistic".into()));
    let refused =
        crate::support::run(&["explain", "--model", &model, "--rows", rows, "--game", "path-dependent"]);
    assert!(!refused.status.success());
}

#[test]
fn a_table_without_rows_has_results_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.csv");
    std::fs::write(&rows, "age,sex,bmi,bp,s1,s2,s3,s4,s5,s6\n").unwrap();
    let (model, background) = (fixture("diabetes_xgb.json.gz"), fixture("diabetes.csv.gz"));
    let on_rows = |command: &str, more: &[&str]| {
        run(&[&[command, "--model", &model, "--rows", rows.to_str().unwrap()], more].concat())
    };
    let ways: [(&str, &[&str]); 5] = [
        ("explain", &[]),
        ("explain", &["--background", &background, "--method", "leverage-shap"]),
        ("explain", &["--background", &background, "--method", "leverage-shap", "--until", "0.1"]),
        ("explain", &["--interactions"]),
        ("predict", &[]),
    ];
    for (command, more) in ways {
        let output = on_rows(command, &[more, &["--format", "json"]].concat());
        let (said, messages) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr));
        let messages = messages.unwrap();
        assert!(output.status.success() && messages.contains("there are no rows"), "{messages}");
        let found: serde_json::Value = serde_json::from_str(&said).unwrap();
        let list = if command == "predict" { "predictions" } else { "explanations" };
        assert_eq!(found[list], serde_json::json!([]), "{command} {more:?}: {said}");
        for format in ["csv", "npy", "npz", "parquet", "arrow", "table"] {
            let output = on_rows(command, &[more, &["--format", format]].concat());
            let messages = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !output.stdout.is_empty(), "{format}: {messages}");
        }
    }
    let lines = on_rows("explain", &["--format", "csv"]).stdout;
    assert_eq!(String::from_utf8(lines).unwrap().lines().count(), 1);
    let output = on_rows("explain", &["--select", "0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--select requires rows to select from"));
    let output = on_rows("explain", &["--background", "mean"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--background mean requires at least one row"));
    let output = on_rows("explain", &["--summary"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there are no rows to summarize"));
}
