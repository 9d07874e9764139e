//! Options of games: weighted backgrounds, and the distributions of conditional games.

use std::fs;

use serde_json::Value;

use crate::support::{fixture, json, numbers, on, run};

const MODEL: &str = "iris_xgb_softprob.json.gz";
const ROWS: &str = "iris.csv";

/// Files with two equivalent backgrounds: rows of the fixture with weights in a separate column, and the same
/// rows repeated.
struct Backgrounds {
    folder: tempfile::TempDir,
}

impl Backgrounds {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let rows = fs::read_to_string(fixture(ROWS)).unwrap();
        let mut lines = rows.lines();
        let header = lines.next().unwrap();
        let (mut weighted, mut repeated) = (format!("{header},how_often\n"), format!("{header}\n"));
        for (row, line) in lines.step_by(4).enumerate() {
            let weight = row * 7 % 4;
            weighted.push_str(&format!("{line},{weight}\n"));
            (0..weight).for_each(|_| repeated.push_str(&format!("{line}\n")));
        }
        fs::write(folder.path().join("weighted.csv"), weighted).unwrap();
        fs::write(folder.path().join("repeated.csv"), repeated).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }
}

fn explain(more: &[&str]) -> Vec<String> {
    on("explain", MODEL, ROWS, &[&["--select", "5,77"], more].concat())
}

fn values(results: &Value) -> Vec<f64> {
    let rows = results["explanations"].as_array().unwrap();
    rows.iter().flat_map(|row| numbers(&row["values"])).collect()
}

fn refusal(arguments: &[String]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn whole_weights_are_repeated_rows_in_every_game() {
    let files = Backgrounds::new();
    let (weighted, repeated) = (files.path("weighted.csv"), files.path("repeated.csv"));
    for options in [
        &["--game", "marginal"][..],
        &["--output", "probability"],
        &["--game", "marginal", "--method", "exact"],
        &["--game", "path-dependent"],
        &["--game", "gaussian", "--draws", "40"],
        &["--game", "copula", "--draws", "40"],
        &["--game", "empirical"],
        &["--game", "empirical", "--bandwidth", "2", "--share", "0.8"],
        &["--game", "frequency", "--fallback", "nearest"],
        &["--game", "frequency", "--fallback", "marginal"],
    ] {
        let with =
            json(&explain(&[options, &["--background", &weighted, "--weights", "how_often"]].concat()));
        let without = json(&explain(&[options, &["--background", &repeated]].concat()));
        for (with, without) in values(&with).iter().zip(values(&without)) {
            assert!((with - without).abs() < 1e-9, "{options:?}: {with} for {without}");
        }
    }
    // Selected rows keep their weights. The weights only affect the game if they are specified.
    let select = ["--game", "marginal", "--background-select", "1-9", "--background"];
    let with = json(&explain(&[&select[..], &[&weighted, "--weights", "how_often"]].concat()));
    let without = json(&explain(&[&select[..], &[&weighted]].concat()));
    assert_ne!(values(&with), values(&without));
    assert_ne!(with["background_digest"], without["background_digest"]);
}

#[test]
fn weights_of_the_rows_file_weigh_its_background() {
    let files = Backgrounds::new();
    let weighted = files.path("weighted.csv");
    let explain = |rows: &str, more: &[&str]| {
        let base = ["explain", "--model", &fixture(MODEL), "--rows", rows, "--select", "3"];
        json(&[&base[..], more].concat())
    };
    let own = explain(&weighted, &["--game", "marginal", "--weights", "how_often"]);
    let named = explain(&weighted, &["--background", &weighted, "--weights", "how_often"]);
    assert_eq!(values(&own), values(&named));
    let fitted = explain(&weighted, &["--game", "empirical", "--weights", "how_often"]);
    let named =
        explain(&weighted, &["--game", "empirical", "--background", &weighted, "--weights", "how_often"]);
    assert_eq!(values(&fitted), values(&named));
}

#[test]
fn compiled_backgrounds_have_their_weights() {
    let files = Backgrounds::new();
    let (weighted, repeated) = (files.path("weighted.csv"), files.path("repeated.csv"));
    let compiled = |background: &str, name: &str, more: &[&str]| {
        let (model, out) = (fixture(MODEL), files.path(name));
        let base = ["compile-background", "--model", &model, "--background", background, "--out", &out];
        let output = run(&[&base[..], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        values(&json(&explain(&["--background-compiled", &out])))
    };
    let with = compiled(&weighted, "weighted.bg", &["--weights", "how_often"]);
    for (with, without) in with.iter().zip(compiled(&repeated, "repeated.bg", &[])) {
        assert!((with - without).abs() < 1e-12, "{with} for {without}");
    }
    let out = files.path("weighted.bg");
    let said = refusal(&explain(&["--background-compiled", &out, "--weights", "how_often"]));
    assert!(said.contains("pass it to compile-background"), "{said}");
}

#[test]
fn options_of_laws_do_what_they_say_and_are_refused_elsewhere() {
    let files = Backgrounds::new();
    let repeated = files.path("repeated.csv");
    let of = |more: &[&str]| {
        values(&json(&explain(&[&["--game", "empirical", "--background", &repeated], more].concat())))
    };
    let plain = of(&[]);
    assert_eq!(plain, of(&["--bandwidth", "0.1", "--share", "0.95", "--variant", "paper", "--draws", "500"]));
    for options in [
        &["--bandwidth", "1"][..],
        &["--bandwidth", "aicc"],
        &["--bandwidth", "AICc"],
        &["--variant", "shapr"],
    ] {
        assert_ne!(plain, of(options), "{options:?}");
    }
    assert_eq!(of(&["--bandwidth", "aicc"]), of(&["--bandwidth", "AICc", "--threads", "1"]));
    let independence = ["--game", "independence", "--background", &repeated];
    assert_eq!(json(&explain(&independence))["game"], "marginal");
    for (options, words) in [
        (
            &["--game", "gaussian", "--bandwidth", "1"][..],
            "--bandwidth requires --game empirical, not gaussian",
        ),
        (
            &["--game", "marginal", "--draws", "9"],
            "--draws requires --game gaussian, copula or empirical, not marginal",
        ),
        (
            &["--game", "empirical", "--fallback", "nearest"],
            "--fallback requires --game frequency, not empirical",
        ),
        (&["--game", "empirical", "--bandwidth", "wide"], "expected a number above 0, or aicc"),
        (
            &["--game", "empirical", "--variant", "shapr", "--background", "W", "--weights", "how_often"],
            "--variant shapr does not support weights",
        ),
        (&["--game", "path-dependent", "--weights", "how_often"], "path-dependent requires a background"),
        (&["--background", "W", "--weights", "how_oft"], "unknown column \"how_oft\" in --weights"),
        (&["--background", "mean", "--weights", "how_often"], "--weights cannot be combined with"),
    ] {
        let weighted = files.path("weighted.csv");
        let options: Vec<&str> =
            options.iter().map(|&option| if option == "W" { &*weighted } else { option }).collect();
        let said = refusal(&explain(&options));
        assert!(said.contains(words), "{options:?}: {said}");
    }
    // Test the errors of fitting and of conditioning.
    for (options, words) in [
        (
            &["--game", "empirical", "--bandwidth", "-1"][..],
            "invalid value \"-1\" for --bandwidth; expected a number above 0, or aicc",
        ),
        (&["--game", "empirical", "--share", "1.5"], "invalid value \"1.5\" for --share; expected"),
        (&["--game", "frequency", "--background", &repeated, "--select", "1"], "or a fallback"),
    ] {
        let output = run(&on("explain", MODEL, ROWS, options));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(words), "{options:?}: {said}");
    }
}
