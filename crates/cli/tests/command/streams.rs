//! Tables of any length are processed in batches, and every format stores the same results.

use std::io::Read as _;
use std::path::Path;

use apportion_rows::{RowOptions, Source, Table};
use assert_cmd::Command;
use serde_json::Value;

use crate::support::{bytes, fixture, json, numbers, on, run, text};

/// A number of rows that does not fit into one batch, for ten features and one output.
const MANY: usize = 215_000;

fn explain(rows: &Path, more: &[&str]) -> Vec<String> {
    let mut arguments: Vec<String> = ["explain", "--model"].map(str::to_owned).to_vec();
    arguments.extend([fixture("diabetes_xgb.json.gz"), "--rows".to_owned(), rows.display().to_string()]);
    arguments.extend(["--background".to_owned(), fixture("diabetes.csv.gz")]);
    arguments.extend(["--background-select".to_owned(), "1".to_owned()]);
    arguments.extend(more.iter().map(|&argument| argument.to_owned()));
    arguments
}

/// Writes a matrix of varying rows.
fn many(path: &Path) {
    let shape = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({MANY}, 10), }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(118_u16.to_le_bytes());
    file.extend(format!("{shape:<117}\n").bytes());
    let number = |place: usize| (place.wrapping_mul(2_654_435_761) % 4001) as f64 / 20_000.0 - 0.1;
    (0..MANY * 10).for_each(|place| file.extend(number(place).to_le_bytes()));
    std::fs::write(path, file).unwrap();
}

#[test]
fn batches_are_the_same_bytes_however_rows_come_in() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.npy");
    many(&rows);
    let whole = bytes(&explain(&rows, &["--format", "csv", "--threads", "1"]));
    assert_eq!(bytes(&explain(&rows, &["--format", "csv", "--threads", "3"])), whole);
    // A pipe returns only the available bytes per read.
    let piped = Command::cargo_bin("apportion")
        .unwrap()
        .args(explain(Path::new("-"), &["--format", "csv"]))
        .pipe_stdin(&rows)
        .unwrap()
        .output()
        .unwrap();
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
    assert_eq!(piped.stdout, whole);

    let lines: Vec<&[u8]> = whole.split(|&byte| byte == b'\n').collect();
    assert_eq!(lines.len(), MANY + 2);
    let row_of = |line: usize| -> Vec<f64> {
        let line = std::str::from_utf8(lines[line + 1]).unwrap();
        line.split(',').map(|cell| cell.parse().unwrap()).collect()
    };
    for row in [0, 209_714, 209_715, 209_716, MANY - 1] {
        let alone = json(&explain(&rows, &["--select", &row.to_string()]));
        let values = numbers(&alone["explanations"][0]["values"]);
        assert_eq!(row_of(row)[0], row as f64);
        for (value, expected) in row_of(row)[3..13].iter().zip(values) {
            assert!((value - expected).abs() < 1e-9, "row {row}: {value} and {expected}");
        }
    }
    // Selections are processed in batches, too, in any order.
    let some = text(&explain(&rows, &["--format", "csv", "--select", "3,209714-209716,214999"]));
    let told: Vec<&str> = some.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(told, ["3", "209714", "209715", "209716", "214999"]);
    let back = text(&explain(&rows, &["--format", "csv", "--select", "214999,3"]));
    let told: Vec<&str> = back.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(told, ["214999", "3"]);
    for wrong in ["215000", "7,215000", "215000,7"] {
        let refused = run(&explain(&rows, &["--select", wrong]));
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(
            stderr.contains("row 215000 in --select is out of range") && stderr.contains("0 to 214999"),
            "{stderr}"
        );
    }
}

#[test]
fn a_sample_of_more_rows_than_a_batch_is_that_of_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.npy");
    many(&rows);
    let model = fixture("diabetes_xgb.json.gz");
    let of = |arguments: &[&str]| {
        let path = rows.display().to_string();
        let common = ["explain", "--model", &model, "--rows", &path, "--game", "marginal", "--seed", "3"];
        json(&[&common[..], arguments].concat())
    };
    let sampled = of(&["--select", "5"]);
    assert_eq!(sampled["background"], "100 of the 215000 rows of the rows file, drawn with seed 3");
    assert_eq!(sampled["background_rows"], 100);
    // Select the same rows by their indices.
    let chosen = apportion::Background::sampled_rows(MANY, 100, 3);
    let chosen: Vec<String> = chosen.iter().map(usize::to_string).collect();
    let named = of(&["--select", "5", "--background-select", &chosen.join(",")]);
    assert_eq!(named["background_digest"], sampled["background_digest"]);
    assert_eq!(named["explanations"], sampled["explanations"]);
}

fn read(bytes: &[u8], id: bool) -> Table {
    let expected = RowOptions { target: Some("none"), id: id.then_some("id"), ..RowOptions::default() };
    Source::stream("results", bytes).read(&expected).unwrap()
}

/// Returns the bits of numbers, for exact comparison.
fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

#[test]
fn every_format_tells_the_same_of_the_same_rows() {
    let more = |format: &str| {
        on("explain", "iris_xgb_softprob.json.gz", "iris.csv", &["--select", "0,77,149", "--format", format])
    };
    let document = json(&more("json"));
    let table = read(&bytes(&more("csv")), false);
    assert_eq!(table.names.as_ref().unwrap()[..4], ["row", "output", "base", "prediction"]);
    for format in ["parquet", "arrow", "feather"] {
        let other = read(&bytes(&more(format)), false);
        assert_eq!(other.names, table.names, "{format}");
        assert_eq!(bits(&other.values), bits(&table.values), "{format}");
    }
    let explanations = document["explanations"].as_array().unwrap();
    for (row, explanation) in explanations.iter().enumerate() {
        for output in 0..3 {
            let line = table.row(3 * row + output);
            let of_output: Vec<f64> =
                numbers(&explanation["values"]).into_iter().skip(output).step_by(3).collect();
            assert_eq!(line[4..8], of_output);
            assert_eq!(line[8..12], numbers(&explanation["input"])[..]);
        }
    }
    let lines = text(&more("jsonl"));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["features"], document["features"]);
    assert_eq!(lines[1..], explanations[..]);

    let archive = bytes(&more("npz"));
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let mut array = |name: &str| {
        let mut bytes = Vec::new();
        archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    let values = array("values.npy");
    assert_eq!(values, bytes(&more("npy")));
    assert!(String::from_utf8_lossy(&array("base_values.npy")).contains("(3, 3)"));
    assert!(String::from_utf8_lossy(&array("data.npy")).contains("(3, 4)"));
    let names = array("feature_names.npy");
    assert!(
        String::from_utf8_lossy(&names).contains("'<U17'")
            && names.ends_with(b"(\0\0\0c\0\0\0m\0\0\0)\0\0\0\0\0\0\0")
    );
}

/// Estimates from all coalitions are exact.
#[test]
fn errors_of_exact_estimates_are_zero_in_every_format() {
    let of = |more: &[&str]| {
        let options = ["--background", "mean", "--select", "3,50", "--method", "leverage-shap"];
        let options = [&options[..], &["--budget", "2000"], more].concat();
        on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &options)
    };
    for row in json(&of(&[]))["explanations"].as_array().unwrap() {
        assert_eq!(row["evaluations"], 1024, "all coalitions");
        assert_eq!(numbers(&row["std_errors"]), [0.0; 10]);
    }
    for format in ["csv", "parquet", "arrow", "feather"] {
        let table = read(&bytes(&of(&["--format", format])), false);
        // The columns are row, base, prediction, and the value, the error and the input of each feature.
        let lines: Vec<&[f64]> = table.values.chunks_exact(33).collect();
        assert_eq!(lines.len(), 2, "{format}");
        assert!(lines.iter().all(|line| line[13..23] == [0.0; 10]), "{format}: {lines:?}");
    }
    let archive = bytes(&of(&["--format", "npz"]));
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let mut errors = Vec::new();
    archive.by_name("std_errors.npy").unwrap().read_to_end(&mut errors).unwrap();
    assert!(String::from_utf8_lossy(&errors).contains("'shape': (2, 10)"));
    assert_eq!(errors[errors.len() - 160..], [0; 160]);
    assert_eq!((errors.len() - 160) % 64, 0, "nothing but the header stands before the numbers");
    let top = json(&of(&["--top", "2"]));
    assert_eq!(top["explanations"][0]["top"][0]["std_error"], 0.0);
    // Exact methods do not report errors.
    let exact = ["--background", "mean", "--select", "3", "--method", "exact"];
    let exact = json(&on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", &exact));
    assert!(exact["explanations"][0].get("std_errors").is_none());
}

#[test]
fn ids_and_words_are_in_every_table() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.csv");
    let header = "who,age,sex,bmi,bp,s1,s2,s3,s4,s5,s6\n";
    std::fs::write(
        &rows,
        format!("{header}=1+1,0.1,0,0,0,0,0,0,0,0,0\n\"b,\u{1b}[1m\",0,,0,0,0,0,0,0,0,0\n"),
    )
    .unwrap();
    let csv = text(&explain(&rows, &["--id", "who", "--format", "csv"]));
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("id,row,base") && lines[1].starts_with("'=1+1,0,"), "{csv}");
    assert!(lines[2].starts_with("\"b,\\u{1b}[1m\",1,"), "{csv}");
    for format in ["parquet", "arrow", "feather"] {
        let table = read(&bytes(&explain(&rows, &["--id", "who", "--format", format])), true);
        assert_eq!(table.ids.unwrap().values, ["=1+1", "b,\u{1b}[1m"], "{format}");
        assert_eq!(table.values.iter().filter(|cell| cell.is_nan()).count(), 1);
    }
    let shown = text(&explain(&rows, &["--id", "who", "--format", "table"]));
    assert!(shown.contains("row 1 (b,\\u{1b}[1m)") && shown.contains("missing"), "{shown}");
    for format in ["npy", "npz"] {
        let refused = run(&explain(&rows, &["--id", "who", "--format", format]));
        assert_eq!(refused.status.code(), Some(2));
    }
}

#[test]
fn one_class_is_told_alone() {
    let of = |more: &[&str]| {
        json(&on("explain", "iris_xgb_softprob.json.gz", "iris.csv", &[&["--select", "0,77"], more].concat()))
    };
    let (all, one) = (of(&[]), of(&["--class", "2"]));
    assert_eq!(one["class"], 2);
    for row in 0..2 {
        let (all, one) = (&all["explanations"][row], &one["explanations"][row]);
        let expected: Vec<f64> = numbers(&all["values"]).into_iter().skip(2).step_by(3).collect();
        assert_eq!(numbers(&one["values"]), expected);
        assert_eq!((&one["base"], &one["prediction"]), (&all["base"][2], &all["prediction"][2]));
    }
    let pairs = of(&["--class", "1", "--interactions"]);
    assert_eq!(pairs["explanations"][0]["values"][0].as_array().unwrap().len(), 4);
    assert!(pairs["explanations"][0]["values"][0][0].is_number());
    let refused = on("explain", "iris_xgb_softprob.json.gz", "iris.csv", &["--class", "setosa"]);
    let refused = run(&refused);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("0 to 2"));
}

#[test]
fn the_features_that_matter_most_come_with_the_sum_of_the_rest() {
    let whole = json(&explain(Path::new(&fixture("diabetes.csv.gz")), &["--select", "0-4"]));
    let top = json(&explain(Path::new(&fixture("diabetes.csv.gz")), &["--select", "0-4", "--top", "3"]));
    let csv = text(&explain(
        Path::new(&fixture("diabetes.csv.gz")),
        &["--select", "0-4", "--top", "3", "--format", "csv"],
    ));
    assert!(csv.starts_with(
        "row,base,prediction,feature 1,value 1,feature 2,value 2,feature 3,value 3,rest,input of age"
    ));
    for (row, line) in (0..5).zip(csv.lines().skip(1)) {
        let (whole, top) = (&whole["explanations"][row], &top["explanations"][row]);
        let mut values = numbers(&whole["values"]);
        let told = top["top"].as_array().unwrap();
        assert_eq!(told.len(), 3);
        values.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
        let of: Vec<f64> = told.iter().map(|told| told["value"].as_f64().unwrap()).collect();
        assert_eq!(of, values[..3]);
        assert!((top["rest"].as_f64().unwrap() - values[3..].iter().sum::<f64>()).abs() < 1e-12);
        assert!(top.get("values").is_none() && told[0]["input"].is_number());
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(
            (cells[3], cells[4].parse::<f64>().unwrap()),
            (told[0]["feature"].as_str().unwrap(), values[0])
        );
    }
}

#[test]
fn a_summary_is_of_all_rows() {
    let rows = fixture("diabetes.csv.gz");
    let whole = json(&explain(Path::new(&rows), &[]));
    let summary = json(&explain(Path::new(&rows), &["--summary"]));
    let all: Vec<Vec<f64>> =
        whole["explanations"].as_array().unwrap().iter().map(|row| numbers(&row["values"])).collect();
    assert_eq!(summary["rows"], all.len());
    let names: Vec<&str> =
        summary["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let told = summary["summary"].as_array().unwrap();
    assert_eq!(told.len(), names.len());
    let mut last = f64::INFINITY;
    for told in told {
        let player = names.iter().position(|name| told["feature"] == *name).unwrap();
        let values: Vec<f64> = all.iter().map(|row| row[player]).collect();
        let mean = |of: &dyn Fn(f64) -> f64| {
            values.iter().map(|&value| of(value)).sum::<f64>() / values.len() as f64
        };
        let size = mean(&f64::abs);
        let variance =
            mean(&|value| (value.abs() - size).powi(2)) * values.len() as f64 / (values.len() - 1) as f64;
        let near = |name: &str, expected: f64| {
            let given = told[name].as_f64().unwrap();
            assert!(
                (given - expected).abs() < 1e-9 * (1.0 + expected.abs()),
                "{name}: {given} and {expected}"
            );
        };
        near("mean_abs", size);
        near("std_abs", variance.sqrt());
        near("mean", mean(&|value| value));
        near("min", values.iter().copied().fold(f64::INFINITY, f64::min));
        near("max", values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        assert!(size <= last);
        last = size;
    }
    let table = text(&explain(Path::new(&rows), &["--summary", "--top", "2", "--format", "table"]));
    assert!(table.contains("summary of 442 rows") && table.contains("mean |value|"), "{table}");
    let csv = text(&explain(Path::new(&rows), &["--summary", "--format", "csv"]));
    assert!(csv.starts_with("feature,mean abs,std abs,mean,min,max\n"), "{csv}");
}

#[test]
fn a_summary_does_not_depend_on_the_order_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let given = std::fs::read_to_string(fixture("iris.csv")).unwrap();
    let (header, rows) = given.trim_end().split_once('\n').unwrap();
    let backwards: Vec<&str> = rows.lines().rev().collect();
    let reversed = folder.path().join("reversed.csv");
    std::fs::write(&reversed, format!("{header}\n{}\n", backwards.join("\n"))).unwrap();
    let of = |rows: &str| {
        let arguments = ["explain", "--model", &fixture("iris_xgb_softprob.json.gz"), "--rows", rows];
        let more = ["--background", &fixture("iris.csv"), "--summary", "--format", "csv"];
        text(&arguments.iter().chain(&more).map(|&argument| argument.to_owned()).collect::<Vec<_>>())
    };
    let summary = of(&fixture("iris.csv"));
    assert_eq!(summary.lines().count(), 1 + 3 * 4, "{summary}");
    assert_eq!(of(&reversed.display().to_string()), summary);
}

#[test]
fn predictions_stream_in_every_format() {
    let of = |format: &str| on("predict", "iris_xgb_softprob.json.gz", "iris.csv", &["--format", format]);
    let table = read(&bytes(&of("csv")), false);
    for format in ["parquet", "arrow", "feather"] {
        assert_eq!(bits(&read(&bytes(&of(format)), false).values), bits(&table.values), "{format}");
    }
    let lines = text(&of("jsonl"));
    assert_eq!(lines.lines().count(), 151);
}

/// Writes a model with many features and outputs, so that a batch contains few rows. Returns its path.
fn wide_model(folder: &Path, (features, outputs): (usize, usize)) -> String {
    let tree = |output: usize| {
        let feature = output % features;
        let value = (output % 7) as f64 - 3.5;
        format!(
            r#"{{"output": {output}, "left": [1, -1, -1], "right": [2, -1, -1], "feature": [{feature}, 0, 0],
                "threshold": [0.0, 0, 0], "value": [0, {value}, {}]}}"#,
            2.0 * value
        )
    };
    let trees: Vec<String> = (0..outputs).map(tree).collect();
    let model = format!(
        r#"{{"format": "apportion-trees", "version": 1, "width": "double", "features": {features},
            "base_margins": {:?}, "operator": "<=", "trees": [{}]}}"#,
        vec![0.0; outputs],
        trees.join(",")
    );
    let path = folder.join("model.json");
    std::fs::write(&path, model).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_table_method_learns_from_the_first_batch() {
    let folder = tempfile::tempdir().unwrap();
    let (features, outputs) = (100, 200);
    let model = wide_model(folder.path(), (features, outputs));
    let rows = folder.path().join("rows.csv");
    let number = |place: usize| (place.wrapping_mul(2_654_435_761) % 4001) as f64 / 2000.0 - 1.0;
    let line = |row: usize| -> String {
        let cells: Vec<String> = (0..features).map(|at| number(row * features + at).to_string()).collect();
        cells.join(",") + "\n"
    };
    let header: Vec<String> = (0..features).map(|feature| format!("x{feature}")).collect();
    let lines: String = (0..215).map(line).collect();
    std::fs::write(&rows, header.join(",") + "\n" + &lines).unwrap();
    let path = rows.to_str().unwrap();
    let of_model = ["--model", &model, "--background", path, "--background-select", "0-1"];
    let method = ["--method", "table", "--budget", "0.1n", "--format", "csv"];
    let explain = |rows: &str| -> Vec<String> {
        let arguments = [&["explain", "--rows", rows][..], &of_model, &method].concat();
        arguments.into_iter().map(str::to_owned).collect()
    };

    let output = run(&explain(path));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let note = String::from_utf8(output.stderr).unwrap();
    // A batch contains as many rows as fit into 2^22 numbers.
    let batch = (1 << 22) / (features * outputs + features);
    assert!(note.contains(&format!("learned from the first {batch} rows")), "{note}");
    let lines: Vec<&[u8]> = output.stdout.split(|&byte| byte == b'\n').collect();
    // A row has a line for each output.
    assert_eq!(lines.len(), 215 * outputs + 2);
    // With the same surrogate, the values of a row do not depend on the other rows or on the number of
    // threads.
    let piped = Command::cargo_bin("apportion")
        .unwrap()
        .args(explain("-"))
        .args(["--threads", "1"])
        .pipe_stdin(&rows)
        .unwrap()
        .output()
        .unwrap();
    assert!(piped.stdout == output.stdout);
}
