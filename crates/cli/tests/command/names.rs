//! Names of features, ids and files that could control a terminal, run a formula in a spreadsheet, or run a
//! script in a browser.

use serde_json::{Value, json};

use crate::explain::stump_of_two_features;
use crate::refusals::Bench;
use crate::support::{json, run};

const ESCAPE: &str = "\u{1b}]0;owned\u{7}";
const FORMULA: &str = "=1+1";

/// Writes a model and rows whose names and ids contain control sequences and formulas, and returns their
/// paths.
fn files(bench: &Bench) -> [String; 2] {
    let mut model: Value = serde_json::from_str(&stump_of_two_features()).unwrap();
    model["learner"]["feature_names"] = json!([ESCAPE, FORMULA]);
    let rows = format!("who,{ESCAPE},{FORMULA}\n@SUM(A1),1,2\n-5,3,4\n\u{9b}31m,0,1\n");
    [bench.file("model.json", model.to_string()), bench.file("rows\u{1b}[31m.csv", rows)]
}

fn is_harmless(text: &str) -> bool {
    !text.chars().any(|letter| letter.is_control() && letter != '\n')
}

#[test]
fn no_output_and_no_message_commands_a_terminal() {
    let bench = Bench::new();
    let [model, rows] = files(&bench);
    let on = |more: &[&str]| {
        let command = [&["explain", "--model", &model, "--rows", &rows, "--id", "who"], more].concat();
        let output = run(&command);
        let [out, says] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(is_harmless(&says), "{more:?}: {says:?}");
        (output.status.code(), out, says)
    };
    for format in ["table", "csv"] {
        for more in [&[][..], &["--summary"], &["--top", "1"], &["--interactions"]] {
            if more == ["--interactions"] && format == "csv" {
                continue;
            }
            let (status, out, _) = on(&[&["--game", "marginal", "--format", format], more].concat());
            assert_eq!(status, Some(0));
            assert!(is_harmless(&out), "{format} {more:?}: {out:?}");
        }
    }
    let (_, csv, _) = on(&["--format", "csv"]);
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().contains(",\\u{1b}]0;owned\\u{7},'=1+1,"), "{csv}");
    let ids: Vec<&str> = lines.map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(ids, ["'@SUM(A1)", "-5", "\\u{9b}31m"], "text is no formula, and a number stays one");
    // Names are unchanged in machine-readable formats.
    let read = json(&["explain", "--model", &model, "--rows", &rows, "--id", "who"]);
    assert_eq!(read["features"], json!([ESCAPE, FORMULA]));
    for refused in
        [&["--select", "9"][..], &["--groups", "\u{1b}[31m", "--value", "owen"], &["--class", "\u{7}"]]
    {
        let (status, _, says) = on(refused);
        assert!(matches!(status, Some(1 | 2)) && says.starts_with("error: "), "{says}");
    }
    let inspected = run(&["inspect", &rows, "--ignore", "who"]);
    assert!(is_harmless(&String::from_utf8(inspected.stdout).unwrap()));
}

#[test]
fn a_figure_holds_nothing_that_xml_cannot() {
    let bench = Bench::new();
    let lines: String = (0..20).map(|row| format!("{row},{},{}\n", row * 7 % 5, row * 3 % 11)).collect();
    let rows = bench.file("rows.csv", format!("{ESCAPE},<b>&\"c\",d\n{lines}"));
    let figure = bench.outputs.path().join("figure.svg");
    let output = run(&["groups", "--rows", &rows, "--figure", figure.to_str().unwrap(), "--format", "table"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(is_harmless(&String::from_utf8(output.stdout).unwrap()));
    let svg = std::fs::read_to_string(figure).unwrap();
    assert!(is_harmless(&svg) && svg.contains("&lt;b&gt;&amp;&quot;c&quot;"), "{svg}");
}
