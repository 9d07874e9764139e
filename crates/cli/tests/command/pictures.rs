//! Figures and reports, from results files and during `explain`, and the errors for invalid requests.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{bytes, fixture, json, numbers, on, run, text};

const DIABETES: [&str; 2] = ["diabetes_xgb.json.gz", "diabetes.csv.gz"];
const IRIS: [&str; 2] = ["iris_xgb.json.gz", "iris.csv"];

/// Writes results with these arguments to the file `name`, and returns its directory and path.
fn results(of: [&str; 2], name: &str, more: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut arguments = on("explain", of[0], of[1], more);
    arguments.extend(["--out".to_owned(), path.to_str().unwrap().to_owned()]);
    bytes(&arguments);
    (folder, path)
}

fn plot(kind: &str, results: &Path, more: &[&str]) -> Vec<String> {
    let arguments = ["plot", kind, "--in", results.to_str().unwrap()];
    arguments.iter().chain(more).map(|&argument| argument.to_owned()).collect()
}

/// Runs the command, which must fail with this exit status, and returns its message.
fn refused(arguments: &[String], status: i32) -> String {
    let output = run(arguments);
    let says = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {says}");
    assert!(output.stdout.is_empty() && says.starts_with("error: "), "{says}");
    says
}

#[test]
fn a_figure_is_the_same_from_a_run_and_from_every_kind_of_file() {
    let more = ["--select", "0-19"];
    let (_folder, of_json) = results(DIABETES, "r.json", &more);
    let (_other, of_lines) = results(DIABETES, "r.jsonl", &[&more[..], &["--format", "jsonl"]].concat());
    let packed = of_json.with_extension("json.gz");
    let mut encoder = GzEncoder::new(fs::File::create(&packed).unwrap(), Compression::fast());
    encoder.write_all(&fs::read(&of_json).unwrap()).unwrap();
    encoder.finish().unwrap();
    for kind in ["waterfall", "bar", "beeswarm", "scatter", "force", "heatmap", "decision", "cohorts"] {
        let of_run =
            bytes(&on("explain", DIABETES[0], DIABETES[1], &[&more[..], &["--plot", kind]].concat()));
        assert!(of_run.starts_with(b"<svg ") && of_run.ends_with(b"</svg>\n"), "{kind}");
        for file in [&of_json, &of_lines, &packed] {
            assert_eq!(bytes(&plot(kind, file, &[])), of_run, "{kind} of {}", file.display());
        }
    }
}

#[test]
fn the_numbers_behind_a_figure_are_those_of_the_results() {
    let (folder, file) = results(DIABETES, "r.json", &["--select", "3,7"]);
    let found: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let csv = folder.path().join("numbers.csv");
    bytes(&plot("waterfall", &file, &["--row", "7", "--out", csv.to_str().unwrap()]));
    let written = fs::read_to_string(csv).unwrap();
    let of_row = &found["explanations"][1];
    for (player, value) in numbers(&of_row["values"]).into_iter().enumerate() {
        let name = found["features"][player].as_str().unwrap();
        let line = written.lines().find(|line| line.starts_with(&format!("{name},"))).unwrap();
        assert_eq!(line.split(',').nth(2).unwrap().parse::<f64>().unwrap(), value, "{line}");
    }
    let sizes: Vec<f64> = written
        .lines()
        .skip(1)
        .take(10)
        .map(|line| line.split(',').nth(2).unwrap().parse::<f64>().unwrap().abs())
        .collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
}

#[test]
fn words_classes_and_estimates_are_drawn() {
    let (_folder, iris) = results(["iris_xgb_softprob.json.gz", IRIS[1]], "r.json", &[]);
    let of_class = text(&plot("beeswarm", &iris, &["--class", "2"]));
    assert!(of_class.contains("Shapley value for output 2"), "{of_class}");
    let estimated = ["--game", "marginal", "--method", "leverage-shap", "--budget", "10n", "--select", "0-2"];
    let (_other, file) = results(DIABETES, "r.json", &estimated);
    let svg = text(&plot("waterfall", &file, &[]));
    assert!(svg.contains(" ± "), "estimates have their intervals");
    // With few evaluations, intervals use Student's t distribution, because the degrees of freedom are too
    // few for a normal distribution.
    let degrees =
        json(&on("explain", DIABETES[0], DIABETES[1], &estimated))["explanations"][0]["degrees_of_freedom"]
            .as_f64();
    assert!(degrees.is_some_and(|degrees| degrees > 1.0 && degrees < 1000.0), "{degrees:?}");
}

#[test]
fn endings_say_what_is_written() {
    let (folder, file) = results(DIABETES, "r.json", &["--select", "0"]);
    for (ending, begins) in
        [("svg", &b"<svg "[..]), ("png", b"\x89PNG"), ("csv", b"feature,"), ("SVG", b"<svg ")]
    {
        let out = folder.path().join(format!("figure.{ending}"));
        bytes(&plot("bar", &file, &["--out", out.to_str().unwrap()]));
        assert!(fs::read(&out).unwrap().starts_with(begins), "{ending}");
    }
    let out = folder.path().join("figure.pdf");
    let says = refused(&plot("bar", &file, &["--out", out.to_str().unwrap()]), 2);
    assert!(says.contains("expected .svg or .png"), "{says}");
    assert!(!out.exists());
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let (_folder, file) = results(IRIS, "r.json", &["--select", "0-4"]);
    for (more, expected) in [
        (&["--row", "99"][..], "row 99 is not in the results; they contain 5 rows, from 0 to 4"),
        (&["--class", "7"], "unknown output \"7\""),
        (&["--feature", "petals"], "unknown feature \"petals\"; available features: sepal length (cm)"),
        (&["--where", "age"], "invalid condition \"age\""),
        (&["--where", "age > 3"], "age"),
        (&["--where", "\"age\" > 3"], "unknown feature \"age\""),
        (
            &["--where", "petal length (cm) > 1000"],
            "no row satisfies it; the inputs of petal length (cm) range from 1.3",
        ),
    ] {
        let kind = if more[0] == "--where" { "cohorts" } else { "scatter" };
        let kind = if more[0] == "--row" { "waterfall" } else { kind };
        let says = refused(&plot(kind, &file, more), 2);
        assert!(says.contains(expected), "{says}");
    }
    for (kind, expected) in [
        ("interactions", "--interactions"),
        ("convergence", "--until"),
        ("groups", "groups"),
        ("text", "text"),
    ] {
        let says = refused(&plot(kind, &file, &[]), 2);
        assert!(says.contains(expected), "{says}");
    }
    refused(&plot("pie", &file, &[]), 2);
}

#[test]
fn files_that_hold_no_values_of_rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let of = |command: &str, more: &[&str]| {
        fs::write(
            &path,
            bytes(&on(command, DIABETES[0], DIABETES[1], &[&["--select", "0-2"], more].concat())),
        )
        .unwrap();
        refused(&plot("bar", &path, &[]), 1)
    };
    assert!(of("predict", &[]).contains("results of predict"));
    assert!(of("explain", &["--summary"]).contains("--summary"));
    assert!(of("explain", &["--top", "3"]).contains("--top"));
    assert!(of("explain", &["--format", "csv"]).contains("expected results in JSON"));
    for wrong in [
        "{}",
        "{\"features\":3,\"explanations\":[]}",
        "{\"features\":[\"a\"],\"explanations\":[{\"row\":0,\"base\":0,\"prediction\":1,\"values\":[1,2],\
         \"evaluations\":0}]}",
        "[]",
        "",
        "{\"value\":",
        "{\"features\":[\"a\"]}",
        "{\"features\":[\"a\"],\"explanations\":[]}",
    ] {
        fs::write(&path, wrong).unwrap();
        refused(&plot("bar", &path, &[]), 1);
    }
    // Each row must have the right number of values, and one output for each name.
    let row = |row: usize, base: &str, values: &str| {
        format!("{{\"row\":{row},\"base\":{base},\"prediction\":{base},\"values\":{values}}}")
    };
    for (classes, rows, says) in [
        (
            "",
            [row(0, "0", "[1]"), row(1, "0", "[1,2,3]")],
            "row 0: \"values\" has the wrong length 1, expected 2",
        ),
        ("", [row(0, "0", "[1,2]"), row(1, "[0,0]", "[1,2]")], "row 1: \"base\" has the wrong length 2"),
        (
            ",\"classes\":[\"x\",\"y\",\"z\"]",
            [row(0, "[0,0]", "[1,2,3,4]"), row(1, "[0,0]", "[]")],
            "row 0: \"base\"",
        ),
    ] {
        let [first, second] = rows;
        let text = format!("{{\"features\":[\"a\",\"b\"]{classes},\"explanations\":[{first},{second}]}}");
        fs::write(&path, text).unwrap();
        let told = refused(&plot("bar", &path, &[]), 1);
        assert!(told.contains(says), "{told}");
    }
    refused(&plot("bar", Path::new(&fixture(DIABETES[0])), &[]), 1);
    refused(&plot("bar", &folder.path().join("nothing.json"), &[]), 1);
}

#[test]
fn results_come_from_standard_input_too() {
    let (_folder, file) = results(DIABETES, "r.jsonl", &["--select", "0-4", "--format", "jsonl"]);
    let of_file = bytes(&plot("bar", &file, &[]));
    let output = assert_cmd::Command::cargo_bin("apportion")
        .unwrap()
        .args(["plot", "bar", "--in", "-"])
        .write_stdin(fs::read(&file).unwrap())
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stdout == of_file,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn results_in_another_order_are_refused_with_what_to_do() {
    let (folder, file) = results(DIABETES, "r.json", &["--select", "0"]);
    let whole: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let rows = &whole["explanations"];
    let turned = folder.path().join("turned.json");
    fs::write(&turned, format!("{{\"explanations\":{rows},\"features\":{}}}", whole["features"])).unwrap();
    assert!(refused(&plot("bar", &turned, &[]), 1).contains("keep the order"));
}

#[test]
fn damaged_results_are_refused_and_nothing_is_written() {
    let (folder, file) = results(DIABETES, "r.json", &["--select", "0-2"]);
    let whole = fs::read(&file).unwrap();
    let (damaged, out) = (folder.path().join("damaged.json"), folder.path().join("figure.svg"));
    for end in (0..whole.len() - 1).step_by(97) {
        fs::write(&damaged, &whole[..end]).unwrap();
        refused(&plot("bar", &damaged, &["--out", out.to_str().unwrap()]), 1);
        assert!(!out.exists());
    }
}

#[test]
fn a_report_is_written_in_place_of_results_or_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let (page, other, out) =
        (folder.path().join("page.html"), folder.path().join("other.html"), folder.path().join("r.json"));
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let alone =
        bytes(&on("explain", DIABETES[0], DIABETES[1], &["--select", "0-9", "--report", &path(&page)]));
    assert!(alone.is_empty());
    let written = fs::read_to_string(&page).unwrap();
    assert!(written.starts_with("<!DOCTYPE html>") && written.contains("Content-Security-Policy"));
    assert!(written.contains("--select 0-9 --report"), "the command that makes it again");
    let more = ["--select", "0-9", "--report", &path(&page), "--out", &path(&out)];
    bytes(&on("explain", DIABETES[0], DIABETES[1], &more));
    assert!(
        json(&on("explain", DIABETES[0], DIABETES[1], &["--select", "0-9"]))
            == serde_json::from_slice::<Value>(&fs::read(&out).unwrap()).unwrap()
    );
    bytes(&["report".to_owned(), "--in".to_owned(), path(&out), "--out".to_owned(), path(&other)]);
    assert!(fs::read_to_string(&other).unwrap().contains("apportion report --in"));
}

#[test]
fn rows_without_errors_among_others_are_read_as_exact() {
    let folder = tempfile::tempdir().unwrap();
    let row = |row: usize, errors: &str| {
        format!("{{\"row\":{row},\"base\":0,\"prediction\":3,\"values\":[1,2],{errors}\"evaluations\":4}}")
    };
    let (exact, estimated) = ("", "\"std_errors\":[0.5,null],");
    for (name, errors) in [("first", [exact, estimated]), ("last", [estimated, exact])] {
        let file = folder.path().join(format!("{name}.json"));
        let rows =
            errors.iter().enumerate().map(|(at, errors)| row(at, errors)).collect::<Vec<_>>().join(",");
        fs::write(
            &file,
            format!("{{\"value\":\"shapley\",\"features\":[\"a\",\"b\"],\"explanations\":[{rows}]}}"),
        )
        .unwrap();
        for (at, errors) in errors.iter().enumerate() {
            let figure = text(&plot("waterfall", &file, &["--row", &at.to_string()]));
            assert_eq!(figure.contains("a: +1 ± "), !errors.is_empty(), "{name} {at}: {figure}");
            assert_eq!(figure.contains("b: +2, error unknown"), !errors.is_empty(), "{name} {at}");
        }
    }
}

#[test]
fn conditions_take_names_in_quotes_and_the_prediction() {
    let (folder, file) = results(DIABETES, "r.json", &["--select", "0-9"]);
    let csv = folder.path().join("numbers.csv");
    // Returns the number of rows, the mean absolute value and its half-width from each line.
    let cohorts = |condition: &str| -> Vec<String> {
        bytes(&plot("cohorts", &file, &["--where", condition, "--out", csv.to_str().unwrap()]));
        let numbers = |line: &str| line.rsplit(',').take(3).collect::<Vec<_>>().join(",");
        fs::read_to_string(&csv).unwrap().lines().skip(1).map(numbers).collect()
    };
    assert_eq!(cohorts("\"age\" >= 0"), cohorts("age >= 0"));
    let found: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let rows = found["explanations"].as_array().unwrap();
    let predictions: Vec<f64> = rows.iter().map(|row| row["prediction"].as_f64().unwrap()).collect();
    let least = predictions.iter().copied().fold(f64::INFINITY, f64::min);
    let above = predictions.iter().filter(|&&prediction| prediction > least).count();
    let numbers = cohorts(&format!("prediction > {least}"));
    assert!(numbers[0].ends_with(&format!(",{above}")), "{above}: {numbers:?}");
}

/// Writes the results of one row for features with these names, of which all but the first have the value 0.
/// Returns the path.
fn of_features(folder: &Path, names: &[String], value: f64) -> PathBuf {
    let mut values = vec![0.0; names.len()];
    values[0] = value;
    let file = folder.join("made.json");
    let row = serde_json::json!({"row": 0, "base": 0.0, "prediction": value, "values": values});
    let names = serde_json::json!(names);
    fs::write(&file, format!("{{\"features\":{names},\"explanations\":[{row}]}}")).unwrap();
    file
}

#[test]
fn messages_are_short_however_many_features_there_are_and_however_large_numbers_are() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..500).map(|place| format!("feature {place}")).collect();
    let file = of_features(folder.path(), &names, 1.0);
    let says = refused(&plot("scatter", &file, &["--feature", "featur 321"]), 2);
    assert!(says.contains("available features: feature 321, feature 0, "), "{says}");
    assert!(says.ends_with("feature 8 and 490 more\n"), "{says}");
    let says = refused(&plot("cohorts", &file, &["--where", "featur 321 > 3"]), 2);
    assert!(
        says.contains("available features: feature 321, feature 0, ") && says.contains("and 490 more"),
        "{says}"
    );
    let file = of_features(folder.path(), &names[..2], 1e302);
    let says = refused(&plot("bar", &file, &[]), 1);
    assert!(says.contains("row 0 has 1e302 among its values") && says.len() < 300, "{says}");
}

#[test]
fn letters_that_the_font_of_a_png_lacks_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let said = |name: &str, ending: &str| {
        let file = of_features(folder.path(), &[name.to_owned(), "größe".to_owned()], 1.0);
        let output = run(&plot("bar", &file, &["--out", &out(&format!("figure.{ending}"))]));
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let note = said("年e\u{301}", "png");
    assert!(
        note.starts_with("note: the font of PNG figures lacks \"年\", \"\\u{301}\"; write .svg"),
        "{note}"
    );
    assert_eq!(note.lines().count(), 1);
    let many = said("一二三四五六七", "png");
    assert!(many.contains("\"一\", \"二\", \"三\", \"四\", \"五\" and 2 more; "), "{many}");
    assert_eq!((said("年", "svg"), said("âge", "png")), (String::new(), String::new()));
}

#[test]
fn formats_of_results_that_are_not_written_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html").to_str().unwrap().to_owned();
    for (more, says) in [
        (&["--plot", "bar", "--format", "csv"][..], "--format csv cannot be combined with --plot"),
        (&["--report", &page, "--format", "npz"], "--format npz with --report requires --out"),
    ] {
        let told = refused(&on("explain", DIABETES[0], DIABETES[1], more), 2);
        assert!(told.contains(says), "{told}");
    }
    let out = folder.path().join("r.csv").to_str().unwrap().to_owned();
    let both = ["--select", "0-2", "--report", &page, "--format", "csv", "--out", &out];
    bytes(&on("explain", DIABETES[0], DIABETES[1], &both));
    assert!(fs::read_to_string(&out).unwrap().starts_with("row,base,") && Path::new(&page).exists());
}

#[test]
fn a_page_and_a_checkpoint_are_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one").to_str().unwrap().to_owned();
    for option in ["--checkpoint", "--out"] {
        let arguments = on("explain", DIABETES[0], DIABETES[1], &["--report", &path, option, &path]);
        assert!(refused(&arguments, 2).contains(&format!("--report and {option} name the same file")));
    }
}

#[test]
fn a_report_takes_interactions_of_the_same_features() {
    let (folder, values) = results(DIABETES, "r.json", &["--select", "0-9"]);
    let (_other, pairs) = results(DIABETES, "p.json", &["--select", "0-9", "--interactions"]);
    let (_third, others) = results(IRIS, "p.json", &["--select", "0-9", "--interactions"]);
    let page = folder.path().join("page.html").to_str().unwrap().to_owned();
    let report = |inputs: &[&Path]| -> Vec<String> {
        let inputs = inputs.iter().flat_map(|path| ["--in".to_owned(), path.to_str().unwrap().to_owned()]);
        ["report".to_owned()].into_iter().chain(inputs).chain(["--out".to_owned(), page.clone()]).collect()
    };
    bytes(&report(&[&values, &pairs]));
    assert!(fs::read_to_string(&page).unwrap().contains("interactions"));
    fs::remove_file(&page).unwrap();
    let says = refused(&report(&[&values, &others]), 1);
    assert!(says.contains("differ from those of the values"), "{says}");
    let says = refused(&report(&[&values, &values]), 2);
    assert!(says.contains("at most one results file"), "{says}");
    assert!(!Path::new(&page).exists());
    bytes(&report(&[&pairs]));
}
