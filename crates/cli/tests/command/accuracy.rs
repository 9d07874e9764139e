//! Runs with a requested accuracy instead of a budget, and runs that are interrupted and resumed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{bytes, json, numbers, on, run, text};

fn diabetes(more: &[&str]) -> Vec<String> {
    on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", more)
}

fn norm(numbers: &[f64]) -> f64 {
    numbers.iter().map(|number| number * number).sum::<f64>().sqrt()
}

#[test]
fn the_error_is_what_the_certificate_says() {
    let select = ["--select", "0-19", "--seed", "3"];
    let exact = json(&diabetes(&select));
    for (method, tolerance) in [("leverage-shap", 0.1), ("permutation", 0.1), ("kernel-shap-paired", 0.1)] {
        let tolerance_text = tolerance.to_string();
        let got = json(&diabetes(&[&select[..], &["--method", method, "--until", &tolerance_text]].concat()));
        assert_eq!(got["budget"], 1024);
        assert_eq!(
            got["accuracy"], "Euclidean error 0.1 of the norm of the values, confidence 0.95",
            "{method}"
        );
        let (mut wrong, mut evaluations) = (0, 0);
        for (row, exact) in
            got["explanations"].as_array().unwrap().iter().zip(exact["explanations"].as_array().unwrap())
        {
            let certificate = &row["certificate"];
            assert_eq!(certificate["stopped_by"], "tolerance", "{method}");
            let truth = numbers(&exact["values"]);
            let off: Vec<f64> =
                numbers(&row["values"]).iter().zip(&truth).map(|(got, want)| got - want).collect();
            let bound = certificate["error_bound"].as_f64().unwrap();
            assert!(bound <= certificate["tolerance"].as_f64().unwrap());
            assert!(certificate["tolerance"].as_f64().unwrap() <= 1.2 * tolerance * norm(&truth));
            assert_eq!(numbers(&certificate["half_widths"]).len(), truth.len());
            wrong += usize::from(norm(&off) > tolerance * norm(&truth));
            evaluations += row["evaluations"].as_u64().unwrap();
        }
        // With 95% confidence, one in twenty runs may exceed the tolerance.
        assert!(wrong <= 4, "{method}: {wrong} of 20");
        assert!(evaluations < 20 * 1024, "{method}: nothing was saved");
    }
}

#[test]
fn exact_methods_are_certified_as_such() {
    for (method, guarantee) in [("auto", "exact"), ("exact", "exact")] {
        let got = json(&diabetes(&["--select", "0", "--method", method, "--until", "0.01"]));
        let certificate = &got["explanations"][0]["certificate"];
        assert_eq!(
            (&certificate["guarantee"], &certificate["stopped_by"]),
            (&guarantee.into(), &"tolerance".into())
        );
        assert_eq!(certificate["error_bound"], 0.0);
    }
}

#[test]
fn a_budget_that_is_used_up_is_said_so_and_every_format_shows_it() {
    let options = ["--select", "0-1", "--method", "permutation", "--until", "0.001", "--budget", "200"];
    let output = run(&diabetes(&options));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert!(stderr.contains("warning: 2 of 2 rows") && stderr.contains("--budget"), "{stderr}");
    let table = text(&diabetes(&[&options[..], &["--format", "table"]].concat()));
    assert!(
        table.contains("until: Euclidean error 0.001") && table.contains("stopped by: budget"),
        "{table}"
    );
    let csv = text(&diabetes(&[&options[..], &["--format", "csv"]].concat()));
    assert!(
        csv.lines().next().unwrap().contains(",evaluations,error bound,tolerance,stopped by,input of age"),
        "{csv}"
    );
    assert!(csv.lines().nth(1).unwrap().contains(",budget,"), "{csv}");
}

#[test]
fn accuracies_that_mean_nothing_are_refused() {
    for (options, says) in [
        (&["--until", "0"][..], "invalid value 0 for --until: must be"),
        (&["--until", "-0.1"], "must be positive"),
        (&["--until", "0.1", "--confidence", "1"], "invalid value 1 for --confidence: must be"),
        (&["--until", "0.1", "--confidence", "95"], "below 1, such as 0.95"),
        (&["--until", "0.1", "--range", "0"], "invalid value 0 for --range: must be"),
        (&["--confidence", "0.9"], "--confidence requires --until"),
        (&["--relative-to", "range"], "--relative-to requires --until"),
    ] {
        let output = run(&diabetes(options));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {stderr}");
        assert!(stderr.contains(says), "{options:?}: {stderr}");
    }
}

/// Returns the arguments of a run that takes at least half a second, because it has many background rows.
fn long(more: &[&str]) -> Vec<String> {
    let options = "--select 0-9 --method leverage-shap --until 0.02 --seed 5 --background-select 0-149";
    diabetes(&options.split(' ').chain(more.iter().copied()).collect::<Vec<_>>())
}

fn stored(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[test]
fn a_run_that_was_killed_resumes_to_the_bytes_of_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let file = path.to_str().unwrap();
    let expected = bytes(&long(&[]));
    let mut child = Command::new(env!("CARGO_BIN_EXE_apportion"))
        .args(long(&["--checkpoint", file, "--checkpoint-every", "0"]))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    let some_but_not_all = loop {
        if let Some(stored) = stored(&path) {
            let finished = stored["finished"].as_object().unwrap().len();
            if finished > 0 || child.try_wait().unwrap().is_some() {
                break finished;
            }
        }
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(some_but_not_all > 0);
    assert!(stored(&path).is_some(), "a checkpoint is whole at any time");
    assert_eq!(bytes(&long(&["--resume", file, "--checkpoint", file])), expected);
    // The checkpoint contains all ten rows, and resuming from it gives the same results.
    let stored = stored(&path).unwrap();
    assert_eq!(stored["finished"].as_object().unwrap().len(), 10);
    assert_eq!(bytes(&long(&["--resume", file])), expected);

    let refused = |arguments: &[String]| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let mut other = long(&["--resume", file]);
    let seed = other.iter().position(|argument| argument == "--seed").unwrap() + 1;
    other[seed] = "6".to_owned();
    assert!(refused(&other).contains("a different run (seed: 5, now 6)"));
    let mut other = long(&["--resume", file]);
    let method = other.iter().position(|argument| argument == "--method").unwrap() + 1;
    other[method] = "permutation".to_owned();
    assert!(refused(&other).contains("(method: leverage-shap, now permutation)"));
    let mut other = long(&["--resume", file]);
    let model = other.iter().position(|argument| argument == "--model").unwrap() + 1;
    other[model] = crate::support::fixture("diabetes_xgb_1_7.ubj");
    assert!(refused(&other).contains("a different run (model: sha256:"));

    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(refused(&long(&["--resume", file])).contains("is corrupt (EOF"));
    fs::write(
        &path,
        whole.replacen("\"base\":", "\"base\": ", 1).replacen("\"evaluations\":", "\"evaluations\":1", 1),
    )
    .unwrap();
    assert!(refused(&long(&["--resume", file])).contains("the checksum does not match"));
    fs::write(&path, "{}").unwrap();
    assert!(refused(&long(&["--resume", file])).contains("is not a checkpoint"));
    // A checkpoint of an older format may have any content.
    fs::write(&path, "{\"apportion_checkpoint\":1,\"version\":\"0.1.0\",\"rows\":[]}").unwrap();
    let says = refused(&long(&["--resume", file]));
    assert!(says.contains("was written by version 0.1.0 (format 1)"), "{says}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let file = path.to_str().unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_apportion"))
        .args(long(&["--checkpoint", file, "--checkpoint-every", "0"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while stored(&path).is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains(&format!("error: interrupted; to continue, pass --resume {file} and")),
        "{stderr}"
    );
    assert!(output.stdout.is_empty());
    assert_eq!(bytes(&long(&["--resume", file])), bytes(&long(&[])));
}

#[test]
fn other_columns_of_ids_are_another_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("rows.csv"), "more,a,b\n9,1,2\n8,3,4\n").unwrap();
    std::fs::write(at("stump.json"), crate::explain::stump_of_two_features()).unwrap();
    let with = |more: &[&str]| {
        let estimate = ["--method", "exact", "--background-select", "0"];
        let mut arguments =
            ["explain", "--model", &at("stump.json"), "--rows", &at("rows.csv")].map(str::to_owned).to_vec();
        arguments.extend(estimate.iter().chain(more).map(|&argument| argument.to_owned()));
        run(&arguments)
    };
    let begun = with(&["--id", "more", "--checkpoint", &at("run.json")]);
    assert!(begun.status.success(), "{}", String::from_utf8_lossy(&begun.stderr));
    let resumed = with(&["--id", "b", "--resume", &at("run.json")]);
    assert!(!resumed.status.success() && resumed.stdout.is_empty());
}

#[test]
fn a_checkpoint_does_not_change_results_of_a_budget() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for method in ["leverage-shap", "permutation", "monte-carlo", "exact", "auto"] {
        let options =
            ["--select", "0-2", "--method", method, "--budget", "1024", "--checkpoint", &at(method)];
        let plain = bytes(&diabetes(&options[..6]));
        assert_eq!(bytes(&diabetes(&options)), plain, "{method}");
        // A second run must not replace the checkpoint of the first one with an empty checkpoint.
        let before = fs::read(at(method)).unwrap();
        let output = run(&diabetes(&options));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("; pass --resume "), "{stderr}");
        assert_eq!((output.status.code(), fs::read(at(method)).unwrap()), (Some(1), before));
        let path = at(method);
        let goes_on = [&options[..], &["--resume", &path]].concat();
        assert_eq!(bytes(&diabetes(&goes_on)), plain, "{method}");
    }
    let same = ["--select", "0", "--out", &at("same"), "--checkpoint", &at("same")];
    assert_eq!(run(&diabetes(&same)).status.code(), Some(2));
}

#[test]
fn a_range_that_the_values_leave_is_refused() {
    let options = ["--select", "0", "--method", "permutation", "--until", "0.1", "--range", "0.001"];
    let output = run(&diabetes(&options));
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("invalid range 0.001: values of the game already differ by"), "{stderr}");
}

#[test]
fn the_results_do_not_go_where_the_checkpoint_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let file = path.to_str().unwrap();
    let options = ["--select", "0", "--method", "permutation", "--checkpoint", file];
    bytes(&diabetes(&options));
    let before = fs::read(&path).unwrap();
    let output =
        run(&diabetes(&["--select", "0", "--method", "permutation", "--resume", file, "--out", file]));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_checkpoint_that_cannot_be_written_is_known_before_any_work() {
    let options = ["--method", "permutation", "--checkpoint", "/dev/full"];
    let output = run(&diabetes(&options));
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8(output.stderr).unwrap().contains("/dev/full is not a regular file"));
}

#[cfg(unix)]
#[test]
fn exact_methods_stop_between_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let file = path.to_str().unwrap();
    let options =
        ["--method", "exact", "--background-select", "0-19", "--checkpoint", file, "--threads", "1"];
    let child = Command::new(env!("CARGO_BIN_EXE_apportion"))
        .args(diabetes(&options))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while stored(&path).is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("error: interrupted; to continue, pass --resume"), "{stderr}");
}

#[test]
fn draws_of_a_conditional_game_are_raised_unless_the_budget_forbids() {
    let explain = |more: &[&str]| {
        let options = ["--select", "0", "--game", "gaussian", "--draws", "100", "--method", "leverage-shap"];
        let accuracy = ["--until", "0.1"];
        json(&diabetes(&[&options[..], &accuracy, more].concat()))["explanations"][0].clone()
    };
    let raised = explain(&[]);
    assert_eq!(raised["certificate"]["stopped_by"], "tolerance");
    assert!(raised["draws"].as_u64().unwrap() > 100, "{}", raised["draws"]);
    // A run that evaluates all 1024 coalitions leaves none of this budget for more draws.
    let short = explain(&["--budget", "1024"]);
    assert_eq!((&short["certificate"]["stopped_by"], &short["draws"]), (&"draws".into(), &100.into()));
}

#[test]
fn a_second_name_of_an_estimator_is_said() {
    let same_as = |method: &str| {
        let select = ["--select", "0", "--background-select", "0-4", "--budget", "200", "--method", method];
        json(&diabetes(&select))["same_as"].clone()
    };
    assert_eq!(
        (same_as("optimized-monte-carlo"), same_as("permutation")),
        ("permutation".into(), Value::Null)
    );
}
