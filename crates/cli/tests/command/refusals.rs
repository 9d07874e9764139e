//! Invalid input: the exit status is 1 for invalid or mismatched files, and 2 for an invalid request. The
//! message suggests a fix, and nothing is written.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::explain::stump_of_two_features;
use crate::support::{files, fixture, run};

/// A directory for the inputs of a test, and another one for its output, which must stay empty.
pub(crate) struct Bench {
    inputs: tempfile::TempDir,
    pub(crate) outputs: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { inputs: tempfile::tempdir().unwrap(), outputs: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path: PathBuf = self.inputs.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs the command with `--out`, and checks that it fails with `status` and a message that contains all
    /// of `says`, and writes nothing.
    pub(crate) fn refuses(&self, status: i32, says: &[&str], arguments: &[&str]) {
        let out = self.outputs.path().join("results");
        let output = run(&[arguments, &["--out", out.to_str().unwrap()]].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(stderr.starts_with("error: "), "{stderr}");
        if status == 1 {
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
        }
        for text in says {
            assert!(stderr.contains(text), "{arguments:?}: {text:?} is not in {stderr}");
        }
        assert!(files(self.outputs.path()).is_empty(), "{arguments:?}");
    }

    fn refuses_model(&self, says: &[&str], model: &str) {
        let rows = fixture("diabetes.csv.gz");
        self.refuses(1, says, &["explain", "--model", model, "--rows", &rows]);
        self.refuses(1, says, &["predict", "--model", model, "--rows", &rows]);
        self.refuses(1, says, &["inspect", "--model", model]);
    }

    fn refuses_rows(&self, says: &[&str], content: impl AsRef<[u8]>) {
        let model = self.file("model.json", stump_of_two_features());
        let rows = self.file("rows", content);
        self.refuses(1, says, &["explain", "--model", &model, "--rows", &rows]);
        self.refuses(1, says, &["predict", "--model", &model, "--rows", &rows]);
    }

    fn refuses_options(&self, status: i32, says: &[&str], options: &[&str]) {
        let (model, rows) = (fixture("diabetes_xgb.json.gz"), fixture("diabetes.csv.gz"));
        self.refuses(status, says, &[&["explain", "--model", &model, "--rows", &rows], options].concat());
    }
}

fn unpacked(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(fs::File::open(fixture(name)).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns the model of the fixture after a change.
fn changed(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut model = serde_json::from_slice(&unpacked("diabetes_xgb.json.gz")).unwrap();
    change(&mut model);
    serde_json::to_vec(&model).unwrap()
}

#[test]
fn groups_that_are_none_are_refused_with_the_features() {
    let bench = Bench::new();
    for (says, options) in [
        (&["owen", "--groups auto"][..], &["--value", "owen"][..]),
        (&["--value shapley cannot be combined with --groups"], &["--groups", "age,sex"]),
        (&["8 of 10 features are missing: \"bmi\""], &["--value", "owen", "--groups", "age,sex"]),
        (
            &["feature \"age\" is in both group 0 and group 1"],
            &["--value", "owen", "--groups", "age,sex;age,bmi,bp,s1,s2,s3,s4,s5,s6"],
        ),
        (&["unknown feature \"weight\" in --groups"], &["--value", "two-step", "--groups", "age,weight"]),
        (&["empty group in --groups"], &["--value", "two-step", "--groups", "age;;sex"]),
        (&["auto=3"], &["--value", "owen", "--groups", "auto=x"]),
        (
            &["3 players", "4"],
            &["--value", "quotient-size-distribution=0.2,0.8,0", "--groups", "0;1;2;3,4,5,6,7,8,9"],
        ),
        (
            &["nested-permutation", "banzhaf-owen"],
            &["--value", "banzhaf-owen", "--groups", "auto", "--method", "nested-permutation"],
        ),
        (&["unknown value", "quotient-shapley"], &["--value", "quotients", "--groups", "auto"]),
        (&["spearman"], &["--value", "owen", "--groups", "auto", "--dependence", "pearson"]),
    ] {
        bench.refuses_options(2, says, options);
    }
    for (says, options) in [
        (
            &["auto=11", "from 1 to the number of features, 10"][..],
            &["--value", "owen", "--groups", "auto=11"][..],
        ),
        (&["auto=0", "from 1 to the number of features, 10"], &["--value", "owen", "--groups", "auto=0"]),
        (
            &["invalid number of bins 1: must be at least 2"],
            &["--value", "owen", "--groups", "auto", "--dependence", "mutual-information=1"],
        ),
        (
            &["invalid number of nearest neighbours 0"],
            &["--value", "owen", "--groups", "auto", "--dependence", "nearest-neighbours=0"],
        ),
        (&["--groups auto"], &["--value", "owen", "--groups", "0;1,2,3,4,5,6,7,8,9", "--linkage", "single"]),
        (&["--groups auto"], &["--dependence", "spearman"]),
    ] {
        bench.refuses_options(2, says, options);
    }
    let groups = "0;1,2,3,4,5,6,7,8,9";
    let method = ["--value", "owen", "--groups", groups, "--method", "product-space-true-marginal"];
    let one_row = &[&method[..], &["--background-select", "0"]].concat();
    bench.refuses_options(1, &["a single scenario", "background", "product-space"], one_row);
}

#[test]
fn conditional_games_that_cannot_be_are_refused() {
    let bench = Bench::new();
    bench.refuses_options(
        2,
        &["--background mean", "fitted to rows"],
        &["--game", "gaussian", "--background", "mean"],
    );
    bench.refuses_options(
        2,
        &["--method tree does not support --game gaussian"],
        &["--game", "gaussian", "--method", "tree"],
    );
    bench.refuses_options(2, &["--draws"], &["--draws", "10"]);
    bench.refuses_options(2, &["--draws"], &["--game", "gaussian", "--draws", "0"]);
    bench.refuses_options(2, &["--draws", "16777216"], &["--game", "gaussian", "--draws", "1000000000000"]);
    let model = bench.file("model.json", stump_of_two_features());
    for (says, rows) in [(&["missing"][..], "a,b\n1,2\n3,\n0,1\n"), (&["row"], "a,b\n1,2\n")] {
        let rows = bench.file("rows.csv", rows);
        for game in ["gaussian", "copula", "empirical"] {
            let arguments = ["explain", "--model", &model, "--rows", &rows, "--select", "0", "--game", game];
            bench.refuses(1, says, &arguments);
        }
    }
}

#[test]
fn groups_are_found_in_columns_of_numbers_alone() {
    let bench = Bench::new();
    let rows = bench.file("rows.csv", "a,b\n1,2\n3,4\n0,1\n4,4\n5,7\n6,1\n7,0\n8,2\n9,9\n10,3\n");
    bench.refuses(2, &["auto"], &["groups", "--rows", &rows, "--groups", "a;b"]);
    bench.refuses(
        2,
        &["auto=3", "from 1 to the number of features, 2"],
        &["groups", "--rows", &rows, "--groups", "auto=3"],
    );
    let npy = ["groups", "--rows", &rows, "--groups", "auto=2", "--format", "npy"];
    bench.refuses(2, &["npy"], &npy);
    let figure = bench.outputs.path().join("results").to_str().unwrap().to_owned();
    bench.refuses(
        2,
        &["the same file"],
        &["groups", "--rows", &rows, "--groups", "auto=2", "--figure", &figure],
    );
    bench.refuses(
        1,
        &["--figure", "directory /none does not exist"],
        &["groups", "--rows", &rows, "--figure", "/none/figure.svg"],
    );
    let target = bench.file("target.csv", "target\n1\n2\n");
    bench.refuses(1, &["no columns"], &["groups", "--rows", &target]);
}

#[test]
fn a_model_file_that_is_missing_empty_or_no_model_is_refused() {
    let bench = Bench::new();
    bench.refuses_model(&["cannot read the model", "none.json", "No such file"], "none.json");
    bench.refuses_model(&["empty"], &bench.file("empty", ""));
    bench.refuses_model(&["unrecognized model format", "XGBoost"], &fixture("iris.csv"));
    bench.refuses_model(&["cannot read the model"], &bench.file("object.json", "{}"));
    bench.refuses_model(&["cannot read the model"], bench.inputs.path().to_str().unwrap());
}

#[test]
fn a_model_file_that_is_truncated_is_refused() {
    let bench = Bench::new();
    let (plain, packed) =
        (unpacked("diabetes_xgb.json.gz"), fs::read(fixture("diabetes_xgb.json.gz")).unwrap());
    let ubj = fs::read(fixture("diabetes_xgb_1_7.ubj")).unwrap();
    for (name, content) in [("json", plain), ("json.gz", packed), ("ubj", ubj)] {
        for end in [1, content.len() / 2, content.len() - 2] {
            bench.refuses_model(&["cannot read the model"], &bench.file(name, &content[..end]));
        }
    }
}

#[test]
fn a_model_file_of_a_future_version_or_with_broken_trees_is_refused() {
    let bench = Bench::new();
    let future = changed(|model| model["version"] = json!([99, 0, 0]));
    bench.refuses_model(&["XGBoost 99"], &bench.file("future.json", future));
    let tree = |model: &mut Value, key: &str, node: usize, value: Value| {
        model["learner"]["gradient_booster"]["model"]["trees"][5][key][node] = value;
    };
    let cycle = changed(|model| tree(model, "left_children", 1, json!(0)));
    bench.refuses_model(&["tree 5"], &bench.file("cycle.json", cycle));
    let beyond = changed(|model| tree(model, "right_children", 0, json!(100_000)));
    bench.refuses_model(&["tree 5"], &bench.file("beyond.json", beyond));
}

#[test]
fn rows_that_are_missing_empty_or_have_no_header_are_refused() {
    let bench = Bench::new();
    bench.refuses_rows(&["empty"], "");
    bench.refuses_rows(&["numbers only", "header"], "1,2\n3,4\n");
    bench.refuses_rows(&["gzip data is truncated"], &fs::read(fixture("diabetes.csv.gz")).unwrap()[..500]);
    let model = fixture("diabetes_xgb.json.gz");
    bench.refuses(
        1,
        &["cannot read rows from none.csv", "No such file"],
        &["explain", "--model", &model, "--rows", "none.csv"],
    );
}

#[test]
fn rows_with_the_wrong_columns_are_refused() {
    let bench = Bench::new();
    bench.refuses_rows(
        &["1 of the 2 features of the model is missing from the 2 columns: \"b\""],
        "a,c\n1,2\n",
    );
    bench.refuses_rows(
        &["1 of the 2 features of the model is missing from the 1 column besides the target", "\"b\""],
        "a,target\n1,2\n",
    );
    bench.refuses_rows(&["duplicate column name \"a\" (columns 0 and 1)"], "a,a\n1,2\n");
    let model = fixture("diabetes_xgb.json.gz");
    let says = ["expected 10 feature columns, found 4 besides the target \"target\" (\"sepal length"];
    bench.refuses(1, &says, &["explain", "--model", &model, "--rows", &fixture("iris.csv")]);
}

#[test]
fn rows_with_cells_that_are_no_numbers_are_refused() {
    let bench = Bench::new();
    bench.refuses_rows(&["row 1 (line 3), column 0 \"a\"", "\"tall\" is not numeric"], "a,b\n1,2\ntall,4\n");
    bench.refuses_rows(&["row 0 (line 2), column 1 \"b\": \"1e400\" overflows float64"], "a,b\n1,1e400\n");
    bench.refuses_rows(&["column 1 \"b\": \"71.2%\" is a percentage; write 71.2 or 0.712"], "a,b\n1,71.2%\n");
    bench.refuses_rows(&["is not encoded in UTF-8", "\"größe,b\"", "iconv -f"], b"gr\xf6\xdfe,b\n1,2\n");
    bench.refuses_rows(&["text in UTF-32", "iconv -f UTF-32"], b"\xff\xfe\0\0a\0\0\0,\0\0\0b\0\0\0");
    bench.refuses_rows(&["row 0 (line 2) has 1 field, expected 2 as in the header"], "a,b\n1\n");
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    let bench = Bench::new();
    let npy = |descr: &str, shape: &str, data: &[f64]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    };
    bench.refuses_rows(&["expected 2 feature columns, found 3"], npy("<f8", "(1, 3)", &[1.0, 2.0, 3.0]));
    bench.refuses_rows(&["truncated or corrupt"], npy("<f8", "(2, 2)", &[1.0, 2.0]));
    bench.refuses_rows(&["beyond 2^53", "convert it"], npy("<i8", "(1, 2)", &[1.1, 2.0]));
    bench.refuses_rows(&["\"|O\"", "convert it"], npy("|O", "(1, 2)", &[1.0, 2.0]));
    bench.refuses_rows(&["2 × 0", "at least one"], npy("<f8", "(2, 0)", &[]));
}

#[test]
fn a_row_or_target_that_is_not_there_is_refused() {
    let bench = Bench::new();
    bench.refuses_options(
        1,
        &["row 442 in --select is out of range", "has 442 rows", "0 to 441"],
        &["--select", "3,442"],
    );
    bench.refuses_options(2, &["'--select <ROWS>'", "\"x\""], &["--select", "x"]);
    bench.refuses_options(
        1,
        &["unknown column \"y\" in --target; available columns: \"age\""],
        &["--target", "y"],
    );
}

#[test]
fn more_threads_or_evaluations_than_any_machine_has_room_for_are_refused() {
    let bench = Bench::new();
    bench.refuses_options(2, &["--threads", "1024"], &["--threads", "5000"]);
    let options = ["--method", "leverage-shap", "--budget", "2000000000"];
    bench.refuses_options(1, &["--budget 2000000000 is too large", "134217728"], &options);
}

#[test]
fn a_background_that_is_empty_or_does_not_fit_is_refused() {
    let bench = Bench::new();
    let header = "age,sex,bmi,bp,s1,s2,s3,s4,s5,s6,target\n";
    let empty = bench.file("empty.csv", header);
    bench.refuses_options(1, &["background", "no rows"], &["--background", &empty]);
    bench.refuses_options(
        1,
        &["background", "4 columns", "10 of the 10 features of the rows file are missing"],
        &["--background", &fixture("iris.csv")],
    );
    bench.refuses_options(1, &["background", "No such file"], &["--background", "none.csv"]);
    bench.refuses_options(
        1,
        &["row 500 in --background-select is out of range", "442 rows"],
        &["--background-select", "500"],
    );
    let file = fixture("diabetes.csv.gz");
    let options = ["--background", &file, "--background-select", "442"];
    bench.refuses_options(1, &["row 442 in --background-select is out of range"], &options);
    let options = ["--background", "mean", "--background-select", "1"];
    bench.refuses_options(2, &["--background mean", "remove --background"], &options);
}

#[test]
fn a_budget_below_what_the_method_needs_is_refused() {
    let bench = Bench::new();
    for method in [
        "leverage-shap",
        "leverage-shap-unpaired",
        "leverage-shap-with-replacement",
        "leverage-shap-bernoulli",
        "kernel-shap",
        "kernel-shap-paired",
        "optimized-kernel-shap",
        "permutation",
        "exact",
    ] {
        let says = ["--budget 1 is too small", "at least", method];
        bench.refuses_options(1, &says, &["--method", method, "--budget", "1"]);
    }
    bench.refuses_options(1, &["2^10 = 1024"], &["--method", "exact", "--budget", "10n"]);
    bench.refuses_options(2, &["'--budget <M|Kn>'", "10n"], &["--method", "exact", "--budget", "ten"]);
}

#[test]
fn names_that_are_not_known_are_refused() {
    let bench = Bench::new();
    bench.refuses_options(
        2,
        &["unknown method \"treeshap\"", "leverage-shap", "permutation"],
        &["--method", "treeshap"],
    );
    bench.refuses_options(2, &["unknown value \"shap\"", "banzhaf"], &["--value", "shap"]);
    bench.refuses_options(2, &["unknown game \"normal\"", "path-dependent, gaussian"], &["--game", "normal"]);
    bench.refuses_options(2, &["'yaml'", "json"], &["--format", "yaml"]);
    bench.refuses_options(
        2,
        &[
            "--method permutation does not support --value banzhaf",
            "auto, tree, exact, table, learned-spectrum, kernel-banzhaf",
        ],
        &["--method", "permutation", "--value", "banzhaf"],
    );
    bench.refuses(2, &["--rows"], &["explain", "--model", "model.json"]);
    bench.refuses(
        2,
        &["npy", "inspect does not support"],
        &["inspect", "--model", &fixture("iris_xgb.json.gz"), "--format", "npy"],
    );
}

#[test]
fn values_that_are_none_are_refused_with_what_is_wanted() {
    let bench = Bench::new();
    for (value, says) in [
        ("weighted-banzhaf=0", &["between 0 and 1", "presence 0"]),
        ("weighted-banzhaf=1.5", &["between 0 and 1", "presence 1.5"]),
        ("weighted-banzhaf", &["unknown value", "weighted-banzhaf=P"]),
        ("beta=0,1", &["positive", "parameters 0.0 and 1.0"]),
        ("beta=1,-2", &["positive", "parameters 1.0 and -2.0"]),
        ("beta=1", &["unknown value", "beta=A,B"]),
        ("by-size=0.5,-0.5,1.5", &["non-negative", "size 1 is -0.5"]),
        ("size-distribution=0.5,0.4", &["with a sum of 1", "the probabilities sum to 0.9"]),
        ("size-distribution=0.5,0.5", &["defined by size for 2 players", "the game has 10"]),
        ("mixture=1.5:1", &["points in [0, 1]", "1.5"]),
    ] {
        bench.refuses_options(2, says, &["--value", value]);
    }
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none").join("results.json");
    let output = run(&["inspect", "--model", "none.json", "--out", missing.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("does not exist; create it"));
    assert!(files(folder.path()).is_empty());
}

#[cfg(not(feature = "networks"))]
#[test]
fn a_command_without_networks_says_how_to_get_one_with_them() {
    let bench = Bench::new();
    for command in ["explain-text", "explain-image"] {
        for arguments in [&["--help"][..], &["--model", "network.onnx", "--text", "good"], &[]] {
            bench.refuses(2, &[command, "--features networks"], &[&[command], arguments].concat());
        }
    }
}
