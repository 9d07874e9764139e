//! Rows in files: identical results for all formats, columns that are not features, standard input, and
//! groups with unusual names.

use assert_cmd::Command;
use serde_json::{Value, json as document_of};

use crate::explain::stump_of_two_features;
use crate::refusals::Bench;
use crate::support::{assert_close, bytes, fixture, json, numbers, run, text};

/// Returns the path of a fixture of `apportion-rows`.
fn stored(name: &str) -> String {
    format!("{}/../rows/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the model of [`stump_of_two_features`] with these feature names.
fn stump(names: [&str; 2]) -> String {
    stump_of_two_features().replace(r#"["a","b"]"#, &document_of!(names).to_string())
}

#[test]
fn the_same_rows_give_the_same_bytes_from_every_format() {
    let bench = Bench::new();
    let model = bench.file("model.json", stump(["f32", "f64"]));
    // In the matrix file, the column f64 comes before the column f32.
    let swapped =
        stump(["f64", "f32"]).replace(r#""split_indices":[0,0,1,0,0]"#, r#""split_indices":[1,0,0,0,0]"#);
    let swapped = bench.file("swapped.json", swapped);
    let explain = |model: &str, rows: &str, more: &[&str]| {
        let background = ["explain", "--model", model, "--rows", rows, "--background", rows];
        bytes(&[&background[..], more].concat())
    };
    let expected = explain(&model, &stored("table.csv"), &[]);
    for name in [
        "table.csv.gz",
        "table.csv.zst",
        #[cfg(feature = "columnar")]
        "snappy.parquet",
        #[cfg(feature = "columnar")]
        "zstd.parquet",
        #[cfg(feature = "columnar")]
        "pandas.parquet",
        #[cfg(feature = "columnar")]
        "polars.parquet",
        #[cfg(feature = "columnar")]
        "plain.arrow",
        #[cfg(feature = "columnar")]
        "polars.arrow",
        #[cfg(feature = "columnar")]
        "stream.arrows",
        #[cfg(feature = "columnar")]
        "lz4.feather",
    ] {
        assert!(explain(&model, &stored(name), &[]) == expected, "{name}");
    }
    let expected = explain(&swapped, &stored("table.csv"), &[]);
    let ignore = ["--ignore", "2,3", "--ignore", "4,5,6"];
    assert!(explain(&swapped, &stored("numbers.npy"), &ignore) == expected);
}

#[test]
fn numbers_with_a_comma_are_those_with_a_point() {
    let bench = Bench::new();
    let model = bench.file("model.json", stump(["a", "b"]));
    let points = bench.file("points.csv", "a,w,b\n1.5,2.0,-9.5\n2.5,1.5,1e1\n0.25,0.5,\n");
    let commas = bench.file("commas.csv", "a;w;b\n1,5;2,0;-9,5\n2,5;1,5;1e1\n\"0,25\";0,5;\n");
    let quoted = bench.file("quoted.csv", "a,w,b\n\"1,5\",2,\"-9,5\"\n\"2,5\",\"1,5\",10\n\",25\",\",5\",\n");
    let explain = |rows: &str, more: &[&str]| {
        let all = ["explain", "--model", &model, "--rows", rows, "--background", rows, "--weights", "w"];
        bytes(&[&all[..], &["--missing", "-9.5"], more].concat())
    };
    let expected = explain(&points, &[]);
    assert!(explain(&commas, &["--decimal-comma"]) == expected);
    assert!(explain(&quoted, &["--decimal-comma"]) == expected);
    let with_points = ["explain", "--model", &model, "--rows", &points, "--decimal-comma"];
    bench.refuses(
        1,
        &["\"1.5\" uses a decimal point, but --decimal-comma is set", "write \"1,5\""],
        &with_points,
    );
}

#[test]
fn ids_are_carried_to_every_format_that_can_hold_them() {
    let bench = Bench::new();
    let model = bench.file("model.json", stump_of_two_features());
    let rows = bench.file("rows.csv", "who;b;a\nann;1;2\n\"bob; jr\";NA;-999\n");
    let on = |command: &'static str, more: &[&'static str]| {
        let arguments = [command, "--model", &model, "--rows", &rows, "--id", "who", "--missing", "-999"];
        [&arguments[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let background = ["--background", &rows, "--background-select", "0"];
    let explained = [on("explain", &[]), background.map(str::to_owned).to_vec()].concat();
    let explanations = &json(&explained)["explanations"];
    assert_eq!([&explanations[0]["id"], &explanations[1]["id"]], ["ann", "bob; jr"]);
    for (format, says) in
        [("csv", "\"bob; jr\",1,"), ("csv", "bob; jr,1,"), ("table", "row 1 (bob; jr): base")]
    {
        let arguments = [explained.clone(), vec!["--format".to_owned(), format.to_owned()]].concat();
        let text = text(&arguments);
        // Only CSV needs quotes.
        assert_eq!(text.contains(says), !says.starts_with('"'), "{text}");
        assert!(format == "table" || text.starts_with("id,row,base"), "{text}");
    }
    assert_eq!(json(&on("predict", &["--select", "1"]))["predictions"][0]["id"], "bob; jr");
    let table = text(&on("predict", &["--format", "table"]));
    assert!(table.contains("id") && table.contains("ann"), "{table}");
    let interactions = [explained.clone(), vec!["--interactions".to_owned()]].concat();
    assert_eq!(json(&interactions)["explanations"][0]["id"], "ann");
    let npy: Vec<String> = on("predict", &["--format", "npy"]);
    bench.refuses(2, &["--format npy", "--id"], &npy.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn rows_come_from_standard_input_once() {
    let bench = Bench::new();
    let model = bench.file("model.json", stump_of_two_features());
    let csv = "a\tb\n1\tTrue\n3\tfalse\n";
    let file = bench.file("rows.csv", csv);
    let expected = bytes(&["predict", "--model", &model, "--rows", &file]);
    let mut command = Command::cargo_bin("apportion").unwrap();
    let output =
        command.args(["predict", "--model", &model, "--rows", "-"]).write_stdin(csv).output().unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(0), expected));
    let twice = ["explain", "--model", &model, "--rows", "-", "--background", "-"];
    let output = Command::cargo_bin("apportion").unwrap().args(twice).write_stdin(csv).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && stderr.contains("only once"), "{stderr}");
    let arguments = ["explain", "--model", &model, "--rows", "-", "--checkpoint", "run.json"];
    bench.refuses(2, &["--checkpoint and --resume", "file"], &arguments);
}

#[test]
fn columns_and_cells_that_do_not_fit_are_refused_with_what_to_type() {
    let bench = Bench::new();
    let model = bench.file("model.json", stump(["age", "blood pressure"]));
    for (rows, more, says) in [
        (
            "age,Blood presure\n1,2\n",
            &[][..],
            &["rename the column \"Blood presure\" if it is the feature \"blood pressure\""][..],
        ),
        (
            "age,blood pressure\n1,high\n",
            &[],
            &["row 0 (line 2)", "\"high\"", "no categories", "encode it as a number"],
        ),
        (
            "age;blood pressure\n1;2,5\n",
            &[],
            &["uses a decimal comma; write \"2.5\", or pass --decimal-comma"],
        ),
        (
            "age,blood pressure\n1,2\n",
            &["--ignore", "agee"],
            &["unknown column \"agee\" in --ignore; did you mean \"age\"?"],
        ),
        (
            "age,blood pressure\n1,2\n",
            &["--ignore", "age"],
            &["invalid column \"age\" in --ignore: it is a feature of the model"],
        ),
        ("age,blood pressure\n1,2\n", &["--id", "name"], &["unknown column \"name\" in --id"]),
        ("x,y;z\n1,2;3\n", &[], &["comma or semicolon", "--separator"]),
        ("PAR1\u{1}", &[], &["Parquet"]),
    ] {
        let rows = bench.file("rows", rows);
        bench.refuses(1, says, &[&["predict", "--model", &model, "--rows", &rows], more].concat());
    }
    let packed = bench.file("rows.gz", std::fs::read(stored("table.csv.gz")).unwrap());
    let limited = ["predict", "--model", &model, "--rows", &packed, "--unpacked-limit", "100"];
    bench.refuses(1, &["--unpacked-limit BYTES"], &limited);
    bench.refuses(2, &["invalid separator \"ab\""], &[&limited[..5], &["--separator", "ab"]].concat());
}

#[test]
fn groups_may_have_names_with_commas_or_be_listed_in_a_file() {
    let bench = Bench::new();
    let names = ["Annual Income, k$", "b;c"];
    let model = bench.file("model.json", stump(names));
    let rows = bench.file("rows.csv", "\"Annual Income, k$\",b;c\n1,2\n3,20\n");
    let list = bench.file("groups.json", document_of!({"money": [names[0]], "rest": [1]}).to_string());
    let explain = |groups: &str| {
        bytes(&["explain", "--model", &model, "--rows", &rows, "--value", "owen", "--groups", groups])
    };
    let expected = explain("0;1");
    assert!(explain("\"Annual Income, k$\";\"b;c\"") == expected);
    assert!(explain(&list) == expected);
    let broken = bench.file("broken.json", "{\"money\": 3}");
    let arguments = ["explain", "--model", &model, "--rows", &rows, "--value", "owen", "--groups", &broken];
    bench.refuses(1, &["cannot read the groups", "[[\"FEATURE\""], &arguments);
    let compared = ["groups", "--rows", &fixture("iris.csv"), "--ignore", "\"sepal length (cm)\""];
    assert!(!text(&compared).contains("sepal length"));
}

#[test]
fn a_table_with_words_is_predicted_as_its_library_does() {
    let bench = Bench::new();
    let models = format!("{}/../models/tests/fixtures", env!("CARGO_MANIFEST_DIR"));
    let packed = std::fs::File::open(format!("{models}/words.json.gz")).unwrap();
    let document: Value = serde_json::from_reader(flate2::read::GzDecoder::new(packed)).unwrap();
    let columns = document["columns"].as_object().unwrap();
    // Formats a cell as Python does.
    let cell = |value: &Value| match value {
        Value::Null => "NA".to_owned(),
        Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Value::String(text) => text.clone(),
        number => number.to_string(),
    };
    let rows = document["models"]["xgb"]["margins"].as_array().unwrap().len();
    let lines =
        (0..rows).map(|row| columns.values().map(|column| cell(&column[row])).collect::<Vec<_>>().join(";"));
    let header = columns.keys().map(String::as_str).collect::<Vec<_>>().join(";");
    let csv = std::iter::once(header).chain(lines).collect::<Vec<_>>().join("\n");
    let file = bench.file("rows.csv", &csv);
    for (name, model) in
        [("xgb", "words_xgb.json.gz"), ("xgb", "words_xgb.ubj.gz"), ("lgbm", "words_lgbm.txt.gz")]
    {
        let predicted = json(&["predict", "--model", &format!("{models}/{model}"), "--rows", &file]);
        let predicted: Vec<f64> = predicted["predictions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["prediction"].as_f64().unwrap())
            .collect();
        assert_close(&predicted, &numbers(&document["models"][name]["margins"]), 1.0, 2e-5, model);
    }
    // XGBoost rejects unknown categories; LightGBM treats them as missing.
    let slip = bench.file("slip.csv", csv.replace("Rome", "Roma"));
    let xgb = format!("{models}/words_xgb.json.gz");
    bench.refuses(
        1,
        &["unknown category \"Roma\"; did you mean \"Rome\"?"],
        &["predict", "--model", &xgb, "--rows", &slip],
    );
    let arguments = ["predict", "--model", &format!("{models}/words_lgbm.txt.gz"), "--rows", &slip];
    let stderr = String::from_utf8(run(&arguments).stderr).unwrap();
    assert!(stderr.contains("column \"city\"") && stderr.contains("the first is \"Roma\""), "{stderr}");
    // Names and categories are shown and entered as in the table, although LightGBM's file contains names
    // with underscores, and codes instead of categories.
    let groups = "\"Annual Income (k$)\",city;rooms,size,garden,always,share,new";
    let shown = text(
        &[
            &[
                "explain",
                "--model",
                &format!("{models}/words_lgbm.txt.gz"),
                "--rows",
                &file,
                "--select",
                "0-9",
            ][..],
            &["--value", "owen", "--groups", groups, "--format", "table"],
        ]
        .concat(),
    );
    for word in ["Annual Income (k$)", "Köln", "New York", "medium", "same"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
}

#[test]
fn infinite_values_are_explained_drawn_and_read_back() {
    let bench = Bench::new();
    let model = bench.file("stump.json", crate::explain::stump_of_two_features());
    let rows = bench.file("rows.csv", "a,b\ninf,-inf\n1,inf\n-inf,2\n1e39,1\n5,5\n");
    // The stump predicts 0.5, plus 1 if a < 2, else 2 if b < 10, else 4.
    let game = |a: f64, b: f64| {
        0.5 + if a < 2.0 {
            1.0
        } else if b < 10.0 {
            2.0
        } else {
            4.0
        }
    };
    let x = [
        [f64::INFINITY, f64::NEG_INFINITY],
        [1.0, f64::INFINITY],
        [f64::NEG_INFINITY, 2.0],
        [1e39, 1.0],
        [5.0, 5.0],
    ];
    let kernels = [&[][..], &["--method", "exact"], &["--method", "tree", "--kernel", "walk"]];
    for more in kernels {
        let explained = json(
            &[&["explain", "--model", &model, "--rows", &rows, "--game", "marginal"][..], more].concat(),
        );
        for (found, x_row) in explained["explanations"].as_array().unwrap().iter().zip(x) {
            assert!((found["prediction"].as_f64().unwrap() - game(x_row[0], x_row[1])).abs() < 1e-12);
            let mean = |f: &dyn Fn([f64; 2]) -> f64| x.iter().map(|&z| f(z)).sum::<f64>() / 5.0;
            let (none, both) = (mean(&|z| game(z[0], z[1])), game(x_row[0], x_row[1]));
            let (first, second) = (mean(&|z| game(x_row[0], z[1])), mean(&|z| game(z[0], x_row[1])));
            let expected = [(first - none + both - second) / 2.0, (second - none + both - first) / 2.0];
            for (value, expected) in numbers(&found["values"]).into_iter().zip(expected) {
                assert!((value - expected).abs() < 1e-12, "{x_row:?}: {value}, not {expected}");
            }
        }
        assert_eq!(explained["explanations"][0]["input"], serde_json::json!(["Infinity", "-Infinity"]));
    }
    // Every format stores infinite values, and figures and reports can be drawn from JSON.
    let csv = text(&["explain", "--model", &model, "--rows", &rows, "--format", "csv"]);
    assert!(csv.lines().nth(1).unwrap().contains("inf,-inf"), "{csv}");
    let results = bench.file("results.json", bytes(&["explain", "--model", &model, "--rows", &rows]));
    for kind in ["waterfall", "beeswarm", "scatter", "bar", "heatmap", "force"] {
        let svg = text(&["plot", kind, "--in", &results]);
        assert!(svg.contains("</svg>") && !svg.contains("NaN") && !svg.contains("=\"inf"), "{kind}: {svg}");
    }
    let page = bench.file("page.html", "");
    let output = run(&["report", "--in", &results, "--out", &page]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(&page).unwrap().contains("infinite, and excluded here"));
    // Games that compute with the values report an error.
    for (more, says) in [
        (
            &["--game", "gaussian"][..],
            "--game gaussian requires finite values, but row 0 of the data has the value inf in \"a\"",
        ),
        (
            &["--game", "marginal", "--background", "mean"],
            "requires finite values, but row 0 has the value inf in \"a\"",
        ),
        (
            &["--value", "owen", "--groups", "auto"],
            "row 0 of the data has the value inf in \"a\", but measuring",
        ),
    ] {
        bench.refuses(1, &[says], &[&["explain", "--model", &model, "--rows", &rows][..], more].concat());
    }
}

#[test]
fn a_linear_model_refuses_infinite_values_by_row_and_feature() {
    let bench = Bench::new();
    let linear = r#"{"format":"apportion-trees","version":1,"width":"double","features":2,
        "base_margins":[0],"operator":"<","feature_names":["a","b"],"trees":[{"output":0,
        "left":[1,-1,-1],"right":[2,-1,-1],"feature":[0,0,0],"threshold":[0.5,0,0],
        "value":[0,1,2],"linear":[{"node":2,"constant":1,"features":[1],"coefficients":[3.5]}]}]}"#;
    let model = bench.file("linear.json", linear);
    let rows = bench.file("rows.csv", "a,b\ninf,1\n-inf,2\n1,-inf\n");
    let finite = bench.file("finite.csv", "a,b\ninf,1\n-inf,2\n");
    let arguments = |command, rows| [command, "--model", &model, "--rows", rows].map(str::to_owned);
    let says =
        "row 2 has the value -inf in \"b\", but linear models require finite values; pass a finite number";
    let explain = ["explain", "--model", &model, "--rows", &rows];
    bench.refuses(1, &[says], &[&explain[..], &["--background", &finite]].concat());
    bench.refuses(1, &[says], &["predict", "--model", &model, "--rows", &rows]);
    bench.refuses(
        1,
        &[&format!("background {says}")],
        &[&["explain", "--model", &model, "--rows", &finite][..], &["--background", &rows]].concat(),
    );
    assert_eq!(json(&arguments("predict", &finite))["predictions"][0]["prediction"], 4.5);
}

#[test]
fn texts_in_other_encodings_and_with_comments_are_read_with_a_note_or_refused_with_what_to_do() {
    let bench = Bench::new();
    let model = bench.file("model.json", stump(["age", "größe"]));
    let plain = "age,größe\n1,2\n3,4\n";
    let expected = text(&["predict", "--model", &model, "--rows", &bench.file("plain.csv", plain)]);
    let little: Vec<u8> = format!("\u{feff}{plain}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = plain.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (name, content, says) in [
        ("marked.csv", format!("\u{feff}{plain}").into_bytes(), ""),
        ("little.csv", little, "UTF-16LE"),
        ("big.csv", big, "UTF-16BE"),
        (
            "comments.csv",
            format!("# exported 2026-01-01\n# by Ann, in Bern\n{plain}").into_bytes(),
            "2 lines above the header",
        ),
    ] {
        let output = run(&["predict", "--model", &model, "--rows", &bench.file(name, content)]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && told.contains(says), "{name}: {told}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{name}");
    }
    let latin = bench.file("latin.csv", b"age,gr\xf6\xdfe\n1,2\n");
    bench.refuses(
        1,
        &["the header is not encoded in UTF-8", "\"age,größe\"", "iconv -f WINDOWS-1252 -t UTF-8"],
        &["predict", "--model", &model, "--rows", &latin],
    );
    let old = bench.file("old.bin", [&b"binf"[..], &[0; 300]].concat());
    bench.refuses(
        1,
        &["XGBoost model in the old binary format", "booster.save_model(\"model.json\")"],
        &["predict", "--model", &old, "--rows", &latin],
    );
}
