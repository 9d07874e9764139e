//! Rows as they are stored: the same bytes of results from all formats, columns set aside, standard input, groups with odd names.

use assert_cmd::Command;
use serde_json::{Value, json as document_of};

use crate::explain::stump_of_two_features;
use crate::refusals::Bench;
use crate::support::{assert_close, bytes, fixture, json, numbers, run, text};

/// A file of the fixtures of `apportion-rows`.
fn stored(name: &str) -> String {
    format!("{}/../rows/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The stump with other names.
fn stump(names: [&str; 2]) -> String {
    stump_of_two_features().replace(r#"["a","b"]"#, &document_of!(names).to_string())
}

#[test]
fn the_same_rows_give_the_same_bytes_from_every_format() {
    let bench = Bench::new();
    let model = bench.file("model.json", stump(["f32", "f64"]));
    // The matrix has f64 before f32.
    let swapped =
        stump(["f64", "f32"]).replace(r#""split_indices":[0,0,1,0,0]"#, r#""split_indices":[1,0,0,0,0]"#);
    let swapped = bench.file("swapped.json", swapped);
    let explain = |model: &str, rows: &str, more: &[&str]| {
        let background = ["explain", "--model", model, "--rows", rows, "--background", rows];
        bytes(&[&background[..], more].concat())
    };
    let wanted = explain(&model, &stored("table.csv"), &[]);
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
        assert!(explain(&model, &stored(name), &[]) == wanted, "{name}");
    }
    let wanted = explain(&swapped, &stored("table.csv"), &[]);
    let ignore = ["--ignore", "2,3", "--ignore", "4,5,6"];
    assert!(explain(&swapped, &stored("numbers.npy"), &ignore) == wanted);
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
    let wanted = explain(&points, &[]);
    assert!(explain(&commas, &["--decimal-comma"]) == wanted);
    assert!(explain(&quoted, &["--decimal-comma"]) == wanted);
    let with_points = ["explain", "--model", &model, "--rows", &points, "--decimal-comma"];
    bench.refuses(1, &["\"1.5\", and with --decimal-comma", "write \"1,5\""], &with_points);
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
        // Only what CSV needs is in quotes.
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
    let wanted = bytes(&["predict", "--model", &model, "--rows", &file]);
    let mut command = Command::cargo_bin("apportion").unwrap();
    let output =
        command.args(["predict", "--model", &model, "--rows", "-"]).write_stdin(csv).output().unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(0), wanted));
    let twice = ["explain", "--model", &model, "--rows", "-", "--background", "-"];
    let output = Command::cargo_bin("apportion").unwrap().args(twice).write_stdin(csv).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && stderr.contains("once only"), "{stderr}");
    let arguments = ["explain", "--model", &model, "--rows", "-", "--checkpoint", "run.json"];
    bench.refuses(2, &["--rows -", "file"], &arguments);
}

#[test]
fn columns_and_cells_that_do_not_fit_are_refused_with_what_to_type() {
    let bench = Bench::new();
    let model = bench.file("model.json", stump(["age", "blood pressure"]));
    for (rows, more, says) in [
        (
            "age,Blood presure\n1,2\n",
            &[][..],
            &["\"Blood presure\" is meant, name it \"blood pressure\""][..],
        ),
        (
            "age,blood pressure\n1,high\n",
            &[],
            &["row 0 (line 2)", "\"high\"", "no categories", "--missing \"high\""],
        ),
        ("age;blood pressure\n1;2,5\n", &[], &["write decimal points, as in \"2.5\", or", "--decimal-comma"]),
        (
            "age,blood pressure\n1,2\n",
            &["--ignore", "agee"],
            &["--ignore \"agee\"", "the nearest is \"age\""],
        ),
        ("age,blood pressure\n1,2\n", &["--ignore", "age"], &["is a feature of the model"]),
        ("age,blood pressure\n1,2\n", &["--id", "name"], &["--id \"name\" is not a column"]),
        ("x,y;z\n1,2;3\n", &[], &["comma or semicolon", "--separator"]),
        ("PAR1\u{1}", &[], &["Parquet"]),
    ] {
        let rows = bench.file("rows", rows);
        bench.refuses(1, says, &[&["predict", "--model", &model, "--rows", &rows], more].concat());
    }
    let packed = bench.file("rows.gz", std::fs::read(stored("table.csv.gz")).unwrap());
    let limited = ["predict", "--model", &model, "--rows", &packed, "--unpacked-limit", "100"];
    bench.refuses(1, &["--unpacked-limit BYTES"], &limited);
    bench.refuses(2, &["separates no cells"], &[&limited[..5], &["--separator", "ab"]].concat());
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
    let wanted = explain("0;1");
    assert!(explain("\"Annual Income, k$\";\"b;c\"") == wanted);
    assert!(explain(&list) == wanted);
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
    // As Python writes it.
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
    // XGBoost refuses a word that it does not know, LightGBM takes it as missing.
    let slip = bench.file("slip.csv", csv.replace("Rome", "Roma"));
    let xgb = format!("{models}/words_xgb.json.gz");
    bench.refuses(
        1,
        &["\"Roma\", which is no category", "the nearest is \"Rome\"", "--missing \"Roma\""],
        &["predict", "--model", &xgb, "--rows", &slip],
    );
    let arguments = ["predict", "--model", &format!("{models}/words_lgbm.txt.gz"), "--rows", &slip];
    let stderr = String::from_utf8(run(&arguments).stderr).unwrap();
    assert!(stderr.contains("column \"city\"") && stderr.contains("the first is \"Roma\""), "{stderr}");
    // People see, and type, the table's own names and words, which LightGBM's file has with underscores and as codes.
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
