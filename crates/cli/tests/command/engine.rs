//! The tree method in the command: formats, interactions of pairs, kernels, compiled backgrounds, and outputs
//! after the link function.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{assert_close, assert_efficient, bytes, fixture, json, numbers, on, run};

fn shared(folder: &str, name: &str) -> String {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "..", "..", "shared", folder, name].iter().collect();
    path.to_str().unwrap().to_owned()
}

/// Runs the command, which must fail, and returns its messages and its exit status.
fn refusal<S: AsRef<str>>(arguments: &[S]) -> (String, i32) {
    let output = run(arguments);
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

/// Compares the values for models from other libraries with the reference values in the data pack, if the
/// pack is available.
#[test]
fn models_of_every_library_have_the_values_of_the_truth() {
    let models = [
        "california_lgbm",
        "bank_missing_lgbm",
        "california_catboost",
        "diabetes_random_forest",
        "diabetes_gradient_boosting",
    ];
    for model in models {
        let Ok(text) = fs::read(shared("truth", &format!("{model}.json"))) else { continue };
        let truth: Value = serde_json::from_slice(&text).unwrap();
        let cases = truth["cases"].as_array().unwrap();
        let list =
            |rows: &Value| numbers(rows).iter().map(|row| row.to_string()).collect::<Vec<_>>().join(",");
        let (file, rows) = (
            shared("models", truth["model_file"].as_str().unwrap()),
            shared("data", truth["data"].as_str().unwrap()),
        );
        let (select, background) = (list(&truth["explicands"]), list(&truth["background"]));
        let folder = tempfile::tempdir().unwrap();
        let baseline = folder.path().join("baseline.csv");
        let cell = |cell: &Value| cell.as_f64().map(|cell| cell.to_string()).unwrap_or_default();
        let line = |cells: &Value, text: fn(&Value) -> String| {
            cells.as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(",")
        };
        let names = line(&truth["features"], |name| name.as_str().unwrap().to_owned());
        fs::write(&baseline, format!("{names}\n{}\n", line(&truth["baseline"], cell))).unwrap();
        let baseline = baseline.to_str().unwrap();
        let games: [(&str, Vec<&str>); 3] = [
            ("interventional_baseline", vec!["--background", baseline]),
            ("interventional_background", vec!["--background", &rows, "--background-select", &background]),
            ("path_dependent", vec!["--game", "path-dependent"]),
        ];
        for (game, options) in games {
            if cases[0].get(game).is_none() {
                continue;
            }
            for (value, keys) in [
                ("shapley", ["shapley_brute_force", "shapley", "shapley_lightgbm", "shapley_catboost"]),
                ("banzhaf", ["banzhaf_brute_force", "banzhaf", "banzhaf", "banzhaf"]),
            ] {
                let mut arguments =
                    vec!["explain", "--model", &file, "--rows", &rows, "--select", &select, "--value", value];
                arguments.extend(&options);
                let results = json(&arguments);
                let what = format!("{model}, {game}, {value}");
                if value == "shapley" {
                    assert_efficient(&results, &what);
                }
                for (explained, case) in results["explanations"].as_array().unwrap().iter().zip(cases) {
                    assert_eq!(explained["row"], case["row"], "{what}");
                    let prediction = case["prediction"].as_f64().unwrap();
                    let (game, base) = (&case[game], case[game]["base"].as_f64().unwrap());
                    let scale = prediction.abs().max(base.abs());
                    assert_close(&numbers(&explained["prediction"]), &[prediction], scale, 1e-12, &what);
                    assert_close(&numbers(&explained["base"]), &[base], scale, 1e-9, &what);
                    if let Some(expected) = keys.iter().find_map(|key| game.get(key)) {
                        assert_close(&numbers(&explained["values"]), &numbers(expected), scale, 1e-9, &what);
                    }
                }
            }
        }
    }
}

const MODEL: &str = "diabetes_xgb_1_7.ubj";
const ROWS: &str = "diabetes.csv.gz";

#[test]
fn interactions_in_the_convention_of_remainders_sum_to_the_values() {
    for game in [&["--game", "path-dependent"][..], &[], &["--background-select", "0-20"]] {
        for value in ["shapley", "banzhaf", "weighted-banzhaf=0.3"] {
            let options = |more: &[&'static str]| -> Vec<String> {
                on("explain", MODEL, ROWS, &[&["--select", "3,17", "--value", value], game, more].concat())
            };
            let values = json(&options(&[]));
            let index = json(&options(&["--interactions"]));
            let remainder = json(&options(&["--interactions=remainder"]));
            let mut some_interact = false;
            for row in 0..2 {
                let of = |results: &Value| numbers(&results["explanations"][row]["values"]);
                let (values, index, remainder) = (of(&values), of(&index), of(&remainder));
                assert_eq!(index.len(), 100);
                let scale = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
                let sums: Vec<f64> = remainder.chunks(10).map(|line| line.iter().sum()).collect();
                assert_close(&sums, &values, scale, 1e-12, "sums of lines");
                let diagonal: Vec<f64> = (0..10).map(|feature| index[11 * feature]).collect();
                assert_close(&diagonal, &values, scale, 1e-12, "the diagonal");
                assert!((0..100).all(|at| index[at] == index[at % 10 * 10 + at / 10]), "symmetric");
                some_interact |= (0..100).any(|at| at / 10 != at % 10 && index[at].abs() > 1e-3 * scale);
            }
            // At least one row has an interaction; otherwise, the sums above would be trivial.
            assert!(some_interact, "{game:?}, {value}");
        }
    }
}

#[test]
fn interactions_are_written_in_every_format() {
    let on = |format: &str| {
        on(
            "explain",
            "iris_xgb_softprob.json.gz",
            "iris.csv",
            &["--select", "0,60", "--interactions", "--format", format],
        )
    };
    let expected = numbers(
        &json(&on("json"))["explanations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["values"].clone())
            .collect(),
    );
    assert_eq!(expected.len(), 2 * 4 * 4 * 3);
    let npy = bytes(&on("npy"));
    let text = String::from_utf8_lossy(&npy[..128]).into_owned();
    assert!(text.contains("(2, 4, 4, 3)"), "{text}");
    let written: Vec<f64> = npy[npy.len() - 8 * expected.len()..]
        .chunks(8)
        .map(|number| f64::from_le_bytes(number.try_into().unwrap()))
        .collect();
    assert_eq!(written, expected);
    let csv = String::from_utf8(bytes(&on("csv"))).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 * 3 * 4);
    assert!(csv.starts_with("row,output,base,prediction,of,"), "{csv}");
    let table = String::from_utf8(bytes(&on("table"))).unwrap();
    assert!(table.contains("itself") && table.contains("output 2"), "{table}");
}

#[test]
fn interactions_that_cannot_be_had_are_refused() {
    for (more, says) in [
        (&["--method", "exact"][..], "requires --method tree"),
        (&["--game", "gaussian"], "marginal or path-dependent"),
        (&["--output", "probability"], "only supports --output margin"),
        (&["--until", "0.1", "--method", "tree"], "is exact; remove --budget"),
        (&["--value", "owen", "--groups", "age,sex"], "semivalue"),
        (&["--value", "l-shapley=1", "--graph", "line"], "semivalue"),
    ] {
        let (message, status) = refusal(&on("explain", MODEL, ROWS, &[more, &["--interactions"]].concat()));
        assert!(message.contains(says) && status == 2, "{more:?}: {message}");
    }
}

/// Returns the interaction indices of a row, by the names of their features.
fn coalitions(results: &Value, row: usize) -> std::collections::BTreeMap<String, f64> {
    let told = results["explanations"][row]["coalitions"].as_array().unwrap();
    let names = |told: &Value| {
        let names = told["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        names.collect::<Vec<_>>().join(",")
    };
    told.iter().map(|told| (names(told), told["value"].as_f64().unwrap())).collect()
}

#[test]
fn indices_of_coalitions_are_those_of_the_tree_explainer_or_of_all_coalitions() {
    for game in [&["--game", "path-dependent"][..], &["--background-select", "0-20"]] {
        let run =
            |more: &[&str]| json(&on("explain", MODEL, ROWS, &[&["--select", "3,17"], game, more].concat()));
        let (matrix, pairs) = (run(&["--interactions=remainder"]), run(&["--interactions=k-sii"]));
        let taylor = run(&["--interactions=shapley-taylor", "--order", "3"]);
        let enumerated = run(&["--interactions=STII", "--order", "3", "--method", "exact"]);
        assert_eq!((&taylor["interactions"], &taylor["order"]), (&"shapley-taylor".into(), &3.into()));
        for row in 0..2 {
            let (expected, got) = (numbers(&matrix["explanations"][row]["values"]), coalitions(&pairs, row));
            let sum: f64 = expected.iter().sum();
            assert!((got.values().sum::<f64>() - sum).abs() < 1e-9 * sum.abs().max(1.0));
            assert!((got["bmi"] - expected[22]).abs() < 1e-9 * expected[22].abs().max(1.0));
            let of = |place: &Value| place.as_f64().unwrap();
            let explained = &taylor["explanations"][row];
            let (got, expected) = (coalitions(&taylor, row), coalitions(&enumerated, row));
            let gap = got.values().sum::<f64>() - (of(&explained["prediction"]) - of(&explained["base"]));
            assert!(gap.abs() < 1e-9, "{gap}");
            for (names, got) in &got {
                let expected = expected.get(names).copied().unwrap_or(0.0);
                assert!((got - expected).abs() < 1e-9, "{names}: {got} {expected}");
            }
        }
        let top = run(&["--interactions", "--order", "3", "--value", "banzhaf", "--top", "4"]);
        assert_eq!(coalitions(&top, 1).len(), 4);
    }
}

#[test]
fn indices_of_groups_and_of_classes_are_told_in_every_format() {
    let on = |format: &str, more: &[&str]| {
        let asked =
            ["--select", "0,60", "--interactions=faithful-banzhaf", "--order", "3", "--format", format];
        on("explain", "iris_xgb_softprob.json.gz", "iris.csv", &[&asked, more].concat())
    };
    let all = json(&on("json", &[]));
    let told = all["explanations"][1]["coalitions"].as_array().unwrap();
    assert!(told[0]["features"].as_array().unwrap().is_empty());
    assert!(told.iter().all(|told| told["value"].as_array().unwrap().len() == 3));
    let csv = String::from_utf8(bytes(&on("csv", &[]))).unwrap();
    assert!(csv.starts_with("row,output,base,prediction,features,size,value\n"), "{csv}");
    let lines = |row: usize| all["explanations"][row]["coalitions"].as_array().unwrap().len() * 3;
    assert_eq!(csv.lines().count(), 1 + lines(0) + lines(1));
    let table = String::from_utf8(bytes(&on("table", &["--class", "1", "--top", "2"]))).unwrap();
    assert!(table.contains("faithful-banzhaf interactions of up to 3 features"), "{table}");
    assert_eq!(table.lines().count(), 1 + 2 * (3 + 2), "{table}");
    let groups = ["--value", "quotient-shapley", "--groups", "petal_length,petal_width"];
    let features = all["features"].as_array().unwrap();
    if features.iter().any(|name| name == "petal_length") {
        let grouped = json(&on("json", &groups));
        assert_eq!(grouped["features"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn indices_that_cannot_be_had_are_refused() {
    for (more, says) in [
        (&["--interactions=nobody"][..], "nobody"),
        (&["--interactions=fsii", "--order", "0"], "1 to 64"),
        (&["--interactions=fsii", "--order", "two"], "--order"),
        (&["--order", "2"], "--interactions"),
        (&["--interactions=remainder", "--order", "3"], "cannot be combined with --order"),
        (&["--interactions=fsii", "--value", "banzhaf"], "remove --value"),
        (&["--interactions=fsii", "--method", "leverage-shap"], "learned-spectrum"),
        (&["--interactions=fsii", "--format", "npy"], "csv or table"),
        (&["--interactions=fsii", "--summary"], "--summary"),
        (&["--interactions=fsii", "--until", "0.01"], "remove --until"),
        (&["--interactions=fsii", "--plot", "bar"], "--plot"),
        (&["--interactions", "--order", "2", "--value", "owen", "--groups", "age,sex"], "semivalue"),
    ] {
        let (message, status) = refusal(&on("explain", MODEL, ROWS, more));
        assert!(message.contains(says) && status == 2, "{more:?}: {message}");
    }
}

#[test]
fn pairs_are_estimated_of_one_sample_with_errors() {
    let explain = |more: &[&str]| {
        let asked =
            ["--select", "0-2", "--interactions=shapley", "--order", "2", "--background-select", "50-99"];
        json(&on("explain", MODEL, ROWS, &[&asked, more].concat()))["explanations"].clone()
    };
    let (exact, told) = (explain(&[]), explain(&["--method", "learned-spectrum", "--budget", "12n"]));
    let (mut held, mut all) = (0, 0);
    for (exact, told) in exact.as_array().unwrap().iter().zip(told.as_array().unwrap()) {
        for pair in told["coalitions"].as_array().unwrap() {
            let value = |of: &Value, what: &str| of[what].as_f64().unwrap();
            let same = |other: &&Value| other["features"] == pair["features"];
            let expected = exact["coalitions"]
                .as_array()
                .unwrap()
                .iter()
                .find(same)
                .map_or(0.0, |of| value(of, "value"));
            all += 1;
            held +=
                usize::from((value(pair, "value") - expected).abs() <= 2.5 * value(pair, "std_error") + 1e-9);
        }
    }
    assert!(all > 20 && 10 * held >= 9 * all, "{held} of {all}");
    let (message, _) =
        refusal(&on("explain", MODEL, ROWS, &["--interactions=stii", "--method", "learned-spectrum"]));
    assert!(message.contains("exact for up to 25 players"), "{message}");
}

#[test]
fn kernels_and_precisions_agree() {
    let explain = |more: &[&str]| {
        numbers(
            &json(&on("explain", MODEL, ROWS, &[&["--select", "0-40"], more].concat()))["explanations"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["values"].clone())
                .collect(),
        )
    };
    for (game, kernels) in [
        (&["--game", "path-dependent"][..], &["quadrature", "walk", "tables"][..]),
        (&["--background-select", "50-99"], &["tables", "walk", "cohorts", "masks"]),
        (&["--background", "mean"], &["tables", "quadrature", "walk", "cohorts", "masks"]),
    ] {
        let expected = explain(game);
        let scale = expected.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        for kernel in kernels {
            let got = explain(&[game, &["--kernel", kernel]].concat());
            assert_close(&got, &expected, scale, 1e-12, kernel);
        }
        let got = explain(&[game, &["--kernel", "tables", "--precision", "f32"]].concat());
        assert_close(&got, &expected, scale, 1e-6, "f32");
        assert_ne!(got, expected, "f32 is not f64");
    }
    let against_rows = ["--background-select", "0-9", "--kernel", "quadrature"];
    for (more, kernel) in
        [(&against_rows[..], "quadrature"), (&["--game", "path-dependent", "--kernel", "masks"], "masks")]
    {
        let (message, _) = refusal(&on("explain", MODEL, ROWS, more));
        assert!(message.contains(kernel), "{message}");
    }
    let (message, status) =
        refusal(&on("explain", MODEL, ROWS, &["--method", "kernel-shap", "--kernel", "walk"]));
    assert!(message.contains("--kernel") && status == 2, "{message}");
}

#[test]
fn a_compiled_background_stands_for_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (compiled, again) = (path("compiled"), path("again"));
    for (out, threads) in [(&compiled, "1"), (&again, "2")] {
        let arguments = [
            "compile-background",
            "--model",
            &fixture(MODEL),
            "--background",
            &fixture(ROWS),
            "--threads",
            threads,
            "--out",
            out,
        ];
        let output = run(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(fs::read(&compiled).unwrap(), fs::read(&again).unwrap());
    let groups = ["--groups", "age,sex;bmi,bp;s1,s2,s3,s4,s5,s6"];
    for value in [
        &["--value", "shapley"][..],
        &["--value", "banzhaf"],
        &["--value", "owen"],
        &["--value", "quotient-shapley"],
        &["--interactions"],
    ] {
        let value = if matches!(value, [_, "owen" | "quotient-shapley"]) {
            [value, &groups].concat()
        } else {
            value.to_vec()
        };
        let explain = |background: [&str; 2]| {
            json(&on("explain", MODEL, ROWS, &[&["--select", "0-9"], &value[..], &background].concat()))
        };
        let (rows, compiled) =
            (explain(["--background", &fixture(ROWS)]), explain(["--background-compiled", &compiled]));
        for row in 0..10 {
            let of = |results: &Value| {
                [&results["explanations"][row]["values"], &results["explanations"][row]["base"]]
                    .map(numbers)
                    .concat()
            };
            let scale = of(&rows).iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            assert_close(&of(&compiled), &of(&rows), scale, 1e-12, &format!("{value:?}"));
        }
    }
    let (message, _) =
        refusal(&on("explain", "iris_xgb.json.gz", "iris.csv", &["--background-compiled", &compiled]));
    assert!(
        message.contains("a different model") && message.contains("compile the background again"),
        "{message}"
    );
    let whole = fs::read(&compiled).unwrap();
    for end in [0, 1, 9, whole.len() / 2, whole.len() - 1] {
        fs::write(&again, &whole[..end]).unwrap();
        let (message, _) = refusal(&on("explain", MODEL, ROWS, &["--background-compiled", &again]));
        assert!(message.contains("compiled background"), "{end}: {message}");
    }
    for (more, says) in [
        (&["--game", "path-dependent"][..], "--game marginal"),
        (&["--method", "exact"], "method tree"),
        (&["--kernel", "walk"], "rows"),
        (&["--kernel", "cohorts"], "only a compiled background"),
        (&["--output", "probability"], "rows"),
    ] {
        let (message, _) =
            refusal(&on("explain", MODEL, ROWS, &[more, &["--background-compiled", &compiled]].concat()));
        assert!(message.contains(says), "{more:?}: {message}");
    }
    let facts = json(&["inspect", "--model", &fixture(MODEL), "--background", &compiled, "--format", "json"]);
    let plans: Vec<(&str, &str)> = facts["marginal_shapley"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plan| plan.as_str().unwrap().split_once(": ").unwrap())
        .collect();
    assert_eq!(plans[1..].iter().map(|plan| plan.0).collect::<Vec<_>>(), ["1000 rows", "100000 rows"]);
    assert_ne!(plans[1].1, plans[2].1, "a hundred times as many rows take longer");
}

#[test]
fn outputs_behind_the_link_are_explained_as_they_are() {
    let more = ["--select", "0,60,120", "--output", "probability"];
    let predicted = json(&on("predict", "iris_xgb_softprob.json.gz", "iris.csv", &more));
    let results = json(&on("explain", "iris_xgb_softprob.json.gz", "iris.csv", &more));
    assert_efficient(&results, "probabilities");
    let exact = json(&on(
        "explain",
        "iris_xgb_softprob.json.gz",
        "iris.csv",
        &[&more[..], &["--method", "exact"]].concat(),
    ));
    for row in 0..3 {
        let prediction = numbers(&predicted["predictions"][row]["prediction"]);
        assert!((prediction.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let [explained, enumerated] = [&results, &exact].map(|results| &results["explanations"][row]);
        assert_close(&numbers(&explained["prediction"]), &prediction, 1.0, 1e-14, "predictions");
        assert_close(&numbers(&explained["values"]), &numbers(&enumerated["values"]), 1.0, 1e-12, "values");
    }
    let (message, status) = refusal(&on(
        "explain",
        "iris_xgb_softprob.json.gz",
        "iris.csv",
        &["--output", "probability", "--game", "path-dependent"],
    ));
    assert!(message.contains("is not supported with --game path-dependent") && status == 2, "{message}");
}

#[test]
fn losses_of_a_classifier_are_those_of_the_probabilities() {
    let explain = |output: &str| {
        let options = ["--select", "0,60,120", "--background-select", "0-29", "--output", output];
        json(&on("explain", "iris_xgb_softprob.json.gz", "iris.csv", &options))
    };
    let probabilities = explain("probability");
    for class in 0..3 {
        let losses = explain(&format!("log-loss={class}"));
        assert_eq!(losses["output"], format!("log-loss={class}"));
        assert_efficient(&losses, "losses");
        let rows = losses["explanations"].as_array().unwrap();
        for (loss, probability) in rows.iter().zip(probabilities["explanations"].as_array().unwrap()) {
            let expected = -numbers(&probability["prediction"])[class].ln();
            assert_close(
                &numbers(&loss["prediction"]),
                &[expected],
                1.0,
                1e-12,
                "the loss of the row's class",
            );
        }
    }
}
