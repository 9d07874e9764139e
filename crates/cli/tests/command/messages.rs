//! What the command says where it refuses, fails or warns: `docs/messages.md`, made by running it.
//!
//! `APPORTION_WRITE_MESSAGES=1 cargo test -p apportion-cli --test command messages` writes the page anew.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::explain::stump_of_two_features;

/// A command, and what is added to it: a line of the table for each.
struct Section {
    title: &'static str,
    command: &'static str,
    options: &'static [&'static str],
}

const EXPLAIN: &str = "explain --model diabetes_xgb.json.gz --rows diabetes.csv.gz --select 0-2";

const SECTIONS: &[Section] = &[
    Section {
        title: "Options of explain",
        command: EXPLAIN,
        options: &[
            "--value shaply",
            "--value owen",
            "--value owen --groups 'age,sex'",
            "--value owen --groups 'age,sex;weight'",
            "--value owen --groups 'age,sex;age,bmi,bp,s1,s2,s3,s4,s5,s6'",
            "--value owen --groups 'age;;sex'",
            "--value owen --groups auto=x",
            "--value owen --groups auto=11",
            "--value owen --groups nothing.json",
            "--value owen --groups list.json",
            "--value owen --groups twice.json",
            "--value owen --groups auto --dependence pearson",
            "--groups 'age,sex'",
            "--dependence spearman",
            "--value quotient-size-law=0.2,0.8,0 --groups '0;1;2;3,4,5,6,7,8,9'",
            "--value l-shapley=1",
            "--value l-shapley=1 --graph 'age'",
            "--value l-shapley=1 --graph 'age,weight'",
            "--value l-shapley=1 --graph grid=3x3",
            "--value l-shapley=1 --graph file=nothing.txt",
            "--graph line",
            "--value l-shapley=1 --graph line --method tree",
            "--value by-size=1,1",
            "--game other",
            "--game gaussian --method tree",
            "--game frequency --background mean",
            "--draws 10",
            "--game gaussian --bandwidth 1",
            "--game empirical --bandwidth wide",
            "--game empirical --bandwidth -1",
            "--game empirical --share 1.5",
            "--game empirical --fallback nearest",
            "--game path-dependent --weights how_often",
            "--background mean --weights how_often",
            "--background diabetes.csv.gz --weights how_often",
            "--method treeshap",
            "--method kernel-shap --value banzhaf",
            "--method leverage-shap --budget 1",
            "--method leverage-shap --budget 99999999999999999",
            "--method leverage-shap --budget n10",
            "--budget 100",
            "--method exact --kernel walk",
            "--output probability --game path-dependent",
            "--output odds",
            "--output log-loss=1",
            "--output log-loss=1 --class 1",
            "--output log-loss=1 --game path-dependent",
            "--class cat",
            "--class 1",
            "--top 0",
            "--interactions --value owen --groups 'age,sex;bmi,bp,s1,s2,s3,s4,s5,s6'",
            "--interactions --method kernel-shap",
            "--interactions --game gaussian",
            "--interactions --output probability",
            "--interactions --budget 100",
            "--interactions --top 3",
            "--seed -1",
            "--threads 2000",
            "--colour",
        ],
    },
    Section {
        title: "Accuracy",
        command: EXPLAIN,
        options: &[
            "--confidence 0.9",
            "--until 0",
            "--until nan",
            "--until 0.1 --confidence 2",
            "--until 0.1 --range -1",
            "--until 1e-9 --method permutation --budget 100",
            "--method kernel-shap --budget 12",
        ],
    },
    Section {
        title: "Rows and backgrounds",
        command: "explain --model diabetes_xgb.json.gz",
        options: &[
            "",
            "--rows nothing.csv",
            "--rows .",
            "--rows empty.csv",
            "--rows iris.csv",
            "--rows digit.png",
            "--rows words.csv",
            "--rows ragged.csv",
            "--rows percent.csv",
            "--rows yes.csv",
            "--rows overflow.csv",
            "--rows latin1.csv",
            "--rows infinite.csv --game gaussian",
            "--rows diabetes.csv.gz --unpacked-limit 1000",
            "--rows cut.csv.gz",
            "--rows diabetes.csv.gz --select 442",
            "--rows diabetes.csv.gz --select x",
            "--rows diabetes.csv.gz --target weight",
            "--rows diabetes.csv.gz --ignore age",
            "--rows diabetes.csv.gz --separator ab",
            "--rows diabetes.csv.gz --decimal-comma",
            "--rows commas.csv",
            "--rows thousands.csv",
            "--rows diabetes.csv.gz --id age --format npy",
            "--rows diabetes.csv.gz --background nothing.csv",
            "--rows diabetes.csv.gz --background iris.csv",
            "--rows diabetes.csv.gz --background mean --background-select 0",
            "--rows diabetes.csv.gz --background mean --game gaussian",
            "--rows diabetes.csv.gz --background mean --game path-dependent",
            "--rows diabetes.csv.gz --background-compiled diabetes.csv.gz",
            "--rows diabetes.csv.gz --background-compiled other.bg",
            "--rows diabetes.csv.gz --background-compiled diabetes.bg --game gaussian",
            "--rows diabetes.csv.gz --background-compiled diabetes.bg --output probability",
            "--rows diabetes.csv.gz --background-compiled diabetes.bg --background mean",
            "--rows - --checkpoint run.json",
        ],
    },
    Section {
        title: "Models",
        command: "predict --rows diabetes.csv.gz",
        options: &[
            "",
            "--model nothing.json",
            "--model .",
            "--model empty.csv",
            "--model iris.csv",
            "--model cut.csv.gz",
            "--model digits.onnx",
            "--model list.json",
            "--model pickle.joblib",
            "--model diabetes_xgb.json.gz --trees 1000",
            "--model diabetes_xgb.json.gz --trees x",
            "--model diabetes_xgb.json.gz --most-features 3",
        ],
    },
    Section {
        title: "Output files",
        command: EXPLAIN,
        options: &[
            "--out .",
            "--out folder/of/nobody",
            "--out diabetes_xgb.json.gz",
            "--out hard.csv.gz",
            "--out soft.csv.gz",
            "--out dangling",
            "--out protected.csv",
            "--out /dev/full",
            "--out graph.txt --value l-shapley=1 --graph file=graph.txt",
            "--out groups.json --value owen --groups groups.json",
            "--out begun.json --resume begun.json",
            "--format xml",
            "--out same --checkpoint same",
            "--format npy --summary",
            "--format npz --top 3",
            "--format csv --plot bar",
            "--format csv --report page.html",
        ],
    },
    Section {
        title: "Checkpoints",
        command: EXPLAIN,
        options: &[
            "--checkpoint -",
            "--checkpoint list.json",
            "--checkpoint begun.json",
            "--checkpoint diabetes_xgb.json.gz",
            "--checkpoint-every 3",
            "--resume nothing.json",
            "--resume list.json",
            "--resume cut.json",
            "--resume changed.json",
            "--resume begun.json --seed 1",
            "--resume begun.json --id s6",
            "--resume begun.json --background /dev/null",
            "--resume other_version.json",
        ],
    },
    Section {
        title: "Groups",
        command: "groups --rows diabetes.csv.gz",
        options: &[
            "--groups 'age,sex'",
            "--groups auto=99",
            "--format npy",
            "--select 0,1",
            "--figure diabetes.csv.gz",
            "--figure same --out same",
            "--linkage ward",
        ],
    },
    Section {
        title: "Compiled backgrounds",
        command: "compile-background --model diabetes_xgb.json.gz",
        options: &[
            "--background diabetes.csv.gz --out diabetes.csv.gz",
            "--background nothing.csv --out new.bg",
            "--background diabetes.csv.gz --out new.bg",
        ],
    },
    Section {
        title: "Figures and reports",
        command: "",
        options: &[
            "plot pie --in begun.results",
            "plot bar --in begun.results --out figure.pdf",
            "plot bar --in begun.results --out begun.results",
            "plot waterfall --in begun.results --row 99",
            "plot scatter --in begun.results --feature wieght",
            "plot bar --in begun.results --class cat",
            "plot cohorts --in begun.results --where age",
            "plot cohorts --in begun.results --where 'weight > 3'",
            "plot cohorts --in begun.results --where 'age > 1000'",
            "plot cohorts --in begun.results --where 'prediction > high'",
            "plot network --in begun.results",
            "plot convergence --in begun.results",
            "plot groups --in begun.results",
            "plot text --in begun.results",
            "plot image --in begun.results",
            "plot bar --in letters.results --out figure.png",
            "plot bar --in huge.results",
            "plot bar --in nothing.json",
            "plot bar --in diabetes.csv.gz",
            "plot bar --in list.json",
            "plot bar --in cut.results",
            "plot bar --in top.results",
            "plot bar --in summary.results",
            "plot bar --in predictions.json",
            "report --in begun.results",
            "report --in begun.results --out begun.results",
            "report --in begun.results --in begun.results --out page.html",
            "report --in begun.results --in pairs.results --out page.html",
        ],
    },
    Section {
        title: "Other commands",
        command: "",
        options: &[
            "",
            "explian",
            "inspect",
            "inspect nothing",
            "inspect .",
            "inspect empty.csv",
            "inspect digit.png",
            "inspect words.csv",
            "inspect cut.json",
            "inspect iris.csv --format npz",
            "inspect --background iris.csv",
            "inspect --model diabetes_xgb.json.gz --background iris.csv",
            "methods --value nothing",
            "completions tcsh",
            "man nothing",
            "explain-text --text 'It is fine'",
        ],
    },
];

/// A folder with all that the lines name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let fixtures: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures"].iter().collect();
    for entry in fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, at(path.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    let header = "age,sex,bmi,bp,s1,s2,s3,s4,s5,s6\n";
    fs::write(at("empty.csv"), "").unwrap();
    fs::write(at("words.csv"), format!("{header}1,2,3,4,5,6,7,8,9,10\n1,2,3,high,5,6,7,8,9,10\n")).unwrap();
    fs::write(at("ragged.csv"), format!("{header}1,2,3\n")).unwrap();
    let numbers = (1..=10).map(|number| format!("{number},5")).collect::<Vec<_>>().join(";");
    fs::write(at("commas.csv"), format!("{}{numbers}\n", header.replace(',', ";"))).unwrap();
    fs::write(at("thousands.csv"), format!("{header}1,2,3,4,\"1,234.5\",6,7,8,9,10\n")).unwrap();
    let row = |cell: &str| format!("{header}1,2,3,4,5,{cell},7,8,9,10\n");
    fs::write(at("percent.csv"), row("71.2%")).unwrap();
    fs::write(at("yes.csv"), row("yes")).unwrap();
    fs::write(at("overflow.csv"), row("1e400")).unwrap();
    fs::write(at("latin1.csv"), [b"caf\xe9,".as_slice(), row("6").as_bytes()].concat()).unwrap();
    fs::write(at("infinite.csv"), format!("{header}1,2,3,4,5,inf,7,8,9,10\n")).unwrap();
    fs::write(at("list.json"), "[1, 2]").unwrap();
    fs::write(at("groups.json"), r#"[["age","sex"],["bmi","bp","s1","s2","s3","s4","s5","s6"]]"#).unwrap();
    fs::write(at("twice.json"), r#"{"body": ["bmi", "bp"], "body": ["age", "sex"]}"#).unwrap();
    fs::write(at("graph.txt"), "age,sex\nsex,bmi\n").unwrap();
    fs::write(at("pickle.joblib"), b"\x80\x04\x95rest").unwrap();
    let packed = fs::read(at("diabetes.csv.gz")).unwrap();
    fs::write(at("cut.csv.gz"), &packed[..packed.len() / 2]).unwrap();
    fs::hard_link(at("diabetes.csv.gz"), at("hard.csv.gz")).unwrap();
    std::os::unix::fs::symlink("diabetes.csv.gz", at("soft.csv.gz")).unwrap();
    std::os::unix::fs::symlink("nothing", at("dangling")).unwrap();
    fs::write(at("protected.csv"), "kept").unwrap();
    fs::set_permissions(at("protected.csv"), std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
    fs::write(at("stump.json"), stump_of_two_features()).unwrap();
    fs::write(at("two.csv"), "a,b\n1,2\n3,4\n").unwrap();

    let run = |line: &str| assert!(output(folder.path(), line).0 == Some(0), "{line}");
    run("compile-background --model diabetes_xgb.json.gz --background diabetes.csv.gz --out diabetes.bg");
    run("compile-background --model stump.json --background two.csv --out other.bg");
    run(&format!("{EXPLAIN} --checkpoint begun.json --out begun.results"));
    run(&format!("{EXPLAIN} --top 3 --out top.results"));
    run(&format!("{EXPLAIN} --summary --out summary.results"));
    run("predict --model diabetes_xgb.json.gz --rows diabetes.csv.gz --out predictions.json");
    run("explain --model stump.json --rows two.csv --interactions --out pairs.results");
    let results = fs::read_to_string(at("begun.results")).unwrap();
    fs::write(at("cut.results"), &results[..results.len() / 2]).unwrap();
    let made = |name: &str, value: f64| {
        let row = format!("{{\"row\":0,\"base\":0,\"prediction\":{value:e},\"values\":[{value:e}]}}");
        format!("{{\"features\":[\"{name}\"],\"explanations\":[{row}]}}")
    };
    fs::write(at("letters.results"), made("年齢", 1.0)).unwrap();
    fs::write(at("huge.results"), made("age", 1e302)).unwrap();
    let begun = fs::read_to_string(at("begun.json")).unwrap();
    fs::write(at("cut.json"), &begun[..begun.len() / 2]).unwrap();
    fs::write(at("changed.json"), begun.replace("\"seed\":\"0\"", "\"seed\":\"1\"")).unwrap();
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(at("other_version.json"), begun.replace(&version, "\"version\":\"0.0.1\"")).unwrap();
    folder
}

/// The words of a line, those in single quotes as one.
fn words(line: &str) -> Vec<String> {
    let outside_and_inside = line.split('\'').enumerate();
    let words = outside_and_inside.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

/// The exit status of a line, and what it says on standard error: of refusals that add the usage the first lines.
fn output(folder: &Path, line: &str) -> (Option<i32>, String) {
    let program = assert_cmd::cargo::cargo_bin("apportion");
    let output = Command::new(program).args(words(line)).current_dir(folder).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let first = stderr.split("\n\n").next().unwrap_or_default();
    (output.status.code(), first.lines().map(str::trim).collect::<Vec<_>>().join("\n"))
}

/// The page.
fn page() -> String {
    let folder = folder();
    let mut page = String::from(
        "# Messages\n\n\
         Errors, warnings and notes of `apportion` on standard error, and the exit status: 2 for an invalid\n\
         request, 1 for a failure. Generated by running the commands, and checked by\n\
         `crates/cli/tests/command/messages.rs`, which also describes how to regenerate this page.\n",
    );
    for Section { title, command, options } in SECTIONS {
        let of =
            if command.is_empty() { "apportion …".to_owned() } else { format!("apportion {command} …") };
        write!(page, "\n## {title}\n\n`{of}`\n\n| … | status | message |\n|---|---|---|\n").unwrap();
        for options in *options {
            let (status, says) = output(folder.path(), &format!("{command} {options}"));
            let status = status.map_or_else(|| "killed".to_owned(), |status| status.to_string());
            assert!(
                !says.contains(folder.path().to_str().unwrap()),
                "{options}: a path of the test in {says}"
            );
            assert!(!says.contains("panicked"), "{options}: {says}");
            assert!(!says.chars().any(|c| c.is_control() && c != '\n'), "{options}: {says:?}");
            let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;").replace('\n', "<br>");
            let shown =
                if options.is_empty() { String::new() } else { format!("`{}`", options.replace('|', "\\|")) };
            writeln!(page, "| {shown} | {status} | {} |", cell(&says)).unwrap();
        }
    }
    page
}

#[test]
fn the_page_of_messages_is_what_the_command_says() {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", "messages.md"].iter().collect();
    let page = page();
    if std::env::var_os("APPORTION_WRITE_MESSAGES").is_some() {
        fs::write(&path, &page).unwrap();
    }
    // A package of this crate alone has no documents of the workspace.
    let Ok(written) = fs::read_to_string(&path) else { return };
    for (written, says) in written.lines().zip(page.lines()) {
        assert_eq!(
            written, says,
            "docs/messages.md is out of date: the head of this file describes how to regenerate it"
        );
    }
    assert_eq!(written.lines().count(), page.lines().count());
}
