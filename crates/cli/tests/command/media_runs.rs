//! `apportion explain-text` and `explain-image`: the options of runs, their output and their messages.

use apportion::media::Image;
use insta::assert_snapshot;
use serde_json::Value;

use crate::media::{explained, on_image, on_text};
use crate::support::{bytes, files, json, numbers, rounded, run, text};

const SENTENCE: &str = "It was <very> good & not \"bad\".";

fn sentence(more: &[&str]) -> Vec<String> {
    on_text("words.onnx", SENTENCE, &[&["--value", "l-shapley=1"][..], more].concat())
}

fn topic(more: &[&str]) -> Vec<String> {
    on_text("topics.onnx", "a funny film", &[&["--value", "c-shapley=1"][..], more].concat())
}

fn digit(more: &[&str]) -> Vec<String> {
    on_image("digits.onnx", "digit.png", &[&["--patch", "4", "--value", "c-shapley=1"][..], more].concat())
}

/// Runs the command successfully, and returns its messages.
fn standard_error(arguments: &[String]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

/// Rounds every title in HTML to three decimals.
fn rounded_titles(html: &str) -> String {
    let mut parts = html.split("title=\"");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (title, rest) = part.split_once('"').unwrap();
        out.push_str(&format!("title=\"{:+.3}\"{rest}", title.parse::<f64>().unwrap()));
    }
    out
}

#[test]
fn texts_are_written_in_every_format() {
    assert_snapshot!("text_json", rounded(&text(&sentence(&[]))));
    assert_snapshot!("text_csv", rounded(&text(&sentence(&["--format", "csv"]))));
    assert_snapshot!("text_table", rounded(&text(&sentence(&["--format", "table"]))));
    assert_snapshot!("text_terminal", text(&sentence(&["--format", "terminal"])).replace('\x1b', "ESC"));
    assert_snapshot!("text_html", rounded_titles(&text(&sentence(&["--format", "html"]))));
    assert_snapshot!("text_of_three_classes_json", rounded(&text(&topic(&["--class", "1"]))));
    assert_snapshot!(
        "text_of_three_classes_terminal",
        text(&topic(&["--format", "terminal"])).replace('\x1b', "ESC")
    );
    assert_snapshot!("text_estimated_table", {
        let method =
            ["--value", "shapley", "--method", "leverage-shap", "--budget", "5n", "--format", "table"];
        rounded(&text(&on_text("words.onnx", SENTENCE, &method)))
    });
}

#[test]
fn images_are_written_in_every_format() {
    assert_snapshot!("image_json", rounded(&text(&digit(&[]))));
    assert_snapshot!("image_csv", rounded(&text(&digit(&["--format", "csv"]))));
    assert_snapshot!("image_table", rounded(&text(&digit(&["--format", "table"]))));
}

#[test]
fn results_of_texts_and_images_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.json").to_str().unwrap().to_owned();
    for (arguments, kind, wanted) in [
        (sentence(&[]), "text", "&lt;"),
        (topic(&["--class", "1"]), "text", "funny"),
        (digit(&[]), "image", "<image "),
        (digit(&[]), "waterfall", "1/0"),
    ] {
        bytes(&[&arguments[..], &["--out".to_owned(), file.clone()]].concat());
        let figure = text(&["plot", kind, "--in", &file]);
        assert!(figure.contains(wanted), "{kind}: {figure}");
        let page = folder.path().join("page.html").to_str().unwrap().to_owned();
        bytes(&["report", "--in", &file, "--out", &page]);
    }
}

#[test]
fn npy_holds_the_numbers_of_json() {
    for (arguments, shape) in [
        (sentence as fn(&[&str]) -> Vec<String>, "'shape': (1, 8)"),
        (topic, "'shape': (1, 3, 3)"),
        (digit, "'shape': (1, 4)"),
    ] {
        let npy = bytes(&arguments(&["--format", "npy"]));
        let length = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
        assert!(String::from_utf8_lossy(&npy[10..length]).contains(shape));
        let got: Vec<f64> = npy[length..]
            .chunks_exact(8)
            .map(|number| f64::from_le_bytes(number.try_into().unwrap()))
            .collect();
        assert_eq!(got, numbers(&explained(&json(&arguments(&[])))["values"]));
    }
}

/// Returns the scores of the words in a fragment of HTML.
fn titles(html: &str) -> Vec<f64> {
    html.split("title=\"").skip(1).map(|part| part.split_once('"').unwrap().0.parse().unwrap()).collect()
}

#[test]
fn colours_speak_for_the_class_that_was_asked_for() {
    // Titles have four significant digits.
    let check = |html: &str, expected: Vec<f64>| {
        for (title, expected) in titles(html).into_iter().zip(expected) {
            assert!((title - expected).abs() <= 1e-3 * expected.abs(), "{title}, {expected}");
        }
    };
    // The single output is for class 1.
    let values = numbers(&explained(&json(&sentence(&[])))["values"]);
    check(&text(&sentence(&["--format", "html", "--class", "1"])), values.clone());
    let negated = values.into_iter().map(|value| -value).collect();
    check(&text(&sentence(&["--format", "html", "--class", "0"])), negated);

    let values = numbers(&explained(&json(&topic(&[])))["values"]);
    for class in 0..3 {
        let of_class = values.iter().copied().skip(class).step_by(3).collect();
        check(&text(&topic(&["--format", "html", "--class", &class.to_string()])), of_class);
    }
}

#[test]
fn the_overlay_shows_the_signs_of_the_values() {
    let folder = tempfile::tempdir().unwrap();
    for class in ["0", "1"] {
        let path = folder.path().join("overlay.png");
        let results = json(&digit(&["--overlay", path.to_str().unwrap(), "--class", class]));
        let values = numbers(&explained(&results)["values"]);
        let picture = Image::from_png_file(&path).unwrap();
        // The picture has 8 × 8 pixels, enlarged 35 times, with the colour bar next to them.
        assert_eq!((picture.height(), picture.width(), picture.channels()), (280, 350, 3));
        let most = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        for (player, value) in values.iter().enumerate() {
            let (row, column) = (70 + 140 * (player / 2), 70 + 140 * (player % 2));
            let [red, _, blue] = picture.pixel(row, column) else { panic!("three channels") };
            let wanted = if class == "1" { *value } else { -value };
            if value.abs() > 0.1 * most {
                assert_eq!(blue > red, wanted > 0.0, "player {player} of class {class}: {value}");
            }
        }
        let [red, _, blue] = picture.pixel(0, 349) else { panic!("three channels") };
        assert!(blue > red, "the upper end of the bar");
        assert_eq!(picture.pixel(0, 300), [1.0; 3], "paper between the picture and the bar");
        assert_eq!(files(folder.path()), ["overlay.png"]);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    for (value, method) in [
        ("shapley", "leverage-shap"),
        ("shapley", "permutation"),
        ("banzhaf", "kernel-banzhaf"),
        ("l-shapley=2", "auto"),
        ("l-shapley=2", "l-shapley-permutation"),
        ("l-shapley=2", "l-shapley-leverage"),
        ("c-shapley=2", "auto"),
        ("myerson", "auto"),
    ] {
        let of = |seed: &str, threads: &str| {
            let mut options =
                vec!["--value", value, "--method", method, "--seed", seed, "--threads", threads];
            if method != "auto" {
                options.extend(["--budget", "200"]);
            }
            bytes(&on_image("digits.onnx", "digit.png", &[&["--patch", "2"][..], &options].concat()))
        };
        let one = of("7", "1");
        assert_eq!(one, of("7", "2"), "{value}, {method}");
        assert_eq!(one, of("7", "0"), "{value}, {method}");
        let numbers_of = |bytes: &[u8]| explained(&serde_json::from_slice(bytes).unwrap())["values"].clone();
        assert_eq!(numbers_of(&one) == numbers_of(&of("8", "1")), method == "auto", "{value}, {method}");
    }
}

#[test]
fn estimates_come_near_the_exact_values() {
    for (value, method) in [
        ("shapley", "leverage-shap"),
        ("banzhaf", "kernel-banzhaf-without-replacement"),
        ("l-shapley=2", "l-shapley-leverage"),
        ("l-shapley=2", "l-shapley-permutation"),
    ] {
        let of = |method: &str, budget: &[&str]| {
            let options = ["--patch", "2", "--value", value, "--method", method];
            json(&on_image("digits.onnx", "digit.png", &[&options[..], budget].concat()))
        };
        let (estimated, exact) = (of(method, &["--budget", "2000"]), of("exact", &[]));
        assert_eq!((&estimated["method"], &estimated["budget"]), (&method.into(), &2000.into()));
        assert_eq!((&exact["method"], &exact["budget"]), (&"exact".into(), &Value::Null));
        let row = explained(&estimated);
        assert!(row["evaluations"].as_u64().unwrap() <= 2000);
        let (values, errors) = (numbers(&row["values"]), numbers(&row["std_errors"]));
        for ((value, error), exact) in values.iter().zip(errors).zip(numbers(&explained(&exact)["values"])) {
            assert!((value - exact).abs() <= 5.0 * error + 1e-6, "{method}: {value}, {exact}, {error}");
        }
    }
}

#[test]
fn a_run_until_an_accuracy_is_certified() {
    let options =
        ["--patch", "2", "--until", "0.05", "--method", "l-shapley-permutation", "--value", "l-shapley=2"];
    let results = json(&on_image("digits.onnx", "digit.png", &options));
    let certificate = &explained(&results)["certificate"];
    assert_eq!(certificate["stopped_by"], "tolerance");
    assert!(results["accuracy"].as_str().unwrap().starts_with("Euclidean error 0.05"));
    // By default, a run with a tolerance may evaluate all 2^16 coalitions of the 16 patches.
    assert_eq!(results["budget"], 65_536);
    let exact = json(&digit(&["--until", "0.05"]));
    assert_eq!(explained(&exact)["certificate"]["guarantee"], "exact");
}

#[test]
fn notes_say_what_a_value_comes_to() {
    let of_text =
        |value: &str| standard_error(&on_text("words.onnx", "it was very good", &["--value", value]));
    assert_eq!(of_text("l-shapley=2"), "");
    assert_eq!(of_text("shapley"), "");
    for (value, says) in [
        ("l-shapley=0", "l-shapley=0 equals v({i}) − v(∅)\n"),
        ("c-shapley=0", "c-shapley=0 equals v({i}) − v(∅)\n"),
        ("l-shapley=0,present", "v(N) − v(N∖{i})\n"),
        ("c-shapley=0,printed", "v({i}) − v(∅) times 0.3333\n"),
        (
            "c-shapley=0,graph",
            "v({i}) − v(∅), times a factor that decreases with the number of neighbours of i\n",
        ),
        ("l-shapley=3", "l-shapley=3 values equal the shapley values\n"),
        ("l-shapley=9,present", "l-shapley=9,present values equal the shapley values\n"),
        ("l-banzhaf=9", "l-banzhaf=9 values equal the banzhaf values\n"),
        ("c-shapley=9", "c-shapley=9 values equal the myerson values\n"),
        ("c-shapley=9,graph", "c-shapley=9,graph values equal the myerson values\n"),
        ("c-banzhaf=9", "c-banzhaf=9 values equal the myerson-banzhaf values\n"),
        ("c-shapley=9,printed", "within distance 3 of each other: order 9 equals order 3\n"),
    ] {
        let note = of_text(value);
        assert!(note.starts_with("note: ") && note.ends_with(says), "{value}: {note}");
    }
}

/// Checks that values for orders beyond the diameter equal the values that the note names.
#[test]
fn values_beyond_the_diameter_are_those_that_the_note_names() {
    for (value, plainer) in [
        ("l-shapley=9", "shapley"),
        ("l-shapley=9,present", "shapley"),
        ("c-shapley=9", "myerson"),
        ("c-shapley=9,graph", "myerson"),
        ("c-banzhaf=9", "myerson-banzhaf"),
        ("c-shapley=9,printed", "c-shapley=3,printed"),
    ] {
        let of = |value: &str| {
            let results = json(&on_text("words.onnx", "it was very good", &["--value", value]));
            numbers(&explained(&results)["values"])
        };
        crate::support::assert_close(&of(value), &of(plainer), 1.0, 1e-12, value);
    }
}

#[test]
fn words_that_are_not_in_the_vocabulary_are_noted() {
    let note = standard_error(&on_text("words.onnx", "a quirky film, a quirky plot indeed", &[]));
    assert_eq!(
        note,
        "note: words that are not in the vocabulary are replaced by <unk>: \"quirky\", \"indeed\"\n"
    );
    let many = "good a1 a2 a3 a4 a5 a6 a7 a8 a9";
    let note = standard_error(&on_text("words.onnx", many, &["--unknown", "plot"]));
    assert!(note.contains("replaced by plot: \"a1\"") && note.ends_with("\"a8\", …\n"), "{note}");
}

#[test]
fn timings_are_one_line_of_json_on_standard_error() {
    for arguments in [sentence(&["--timings", "--split", "words"]), digit(&["--timings"])] {
        let stderr = standard_error(&arguments);
        let last = stderr.lines().last().unwrap();
        let timings: Value = serde_json::from_str(last).unwrap();
        for key in ["load_s", "explain_s", "write_s"] {
            assert!(timings[key].as_f64().unwrap() >= 0.0);
        }
    }
}

#[test]
fn a_file_gets_what_standard_output_would() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    for (arguments, formats) in [
        (sentence as fn(&[&str]) -> Vec<String>, &["json", "csv", "npy", "table", "terminal", "html"][..]),
        (digit, &["json", "csv", "npy", "table"]),
    ] {
        for format in formats {
            let printed = bytes(&arguments(&["--format", format]));
            assert!(bytes(&arguments(&["--format", format, "--out", out.to_str().unwrap()])).is_empty());
            assert_eq!(std::fs::read(&out).unwrap(), printed, "{format}");
        }
    }
    assert_eq!(files(folder.path()), ["results"]);
}
