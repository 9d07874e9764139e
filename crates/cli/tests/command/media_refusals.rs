//! Invalid input of `apportion explain-text` and `explain-image`: the error message suggests a fix, and
//! nothing is written.

use std::fs;

use apportion::media::Image;

use crate::media::{on_image, on_text};
use crate::refusals::Bench;
use crate::support::{files, fixture, run};

/// Checks that the arguments are rejected with a message that contains all of `says`.
fn refuses(bench: &Bench, status: i32, says: &[&str], arguments: &[String]) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    bench.refuses(status, says, &arguments);
}

fn text(bench: &Bench, status: i32, says: &[&str], text: &str, more: &[&str]) {
    refuses(bench, status, says, &on_text("words.onnx", text, more));
}

fn image(bench: &Bench, status: i32, says: &[&str], more: &[&str]) {
    refuses(bench, status, says, &on_image("digits.onnx", "digit.png", more));
}

/// Checks that the network for digits rejects this file.
fn file(bench: &Bench, says: &[&str], path: &str) {
    bench.refuses(1, says, &["explain-image", "--model", &fixture("digits.onnx"), "--image", path]);
}

fn png(height: usize, width: usize, channels: usize) -> Vec<u8> {
    let pixels: Vec<u8> = (0..height * width * channels).map(|index| index as u8).collect();
    Image::from_bytes(height, width, channels, &pixels).unwrap().to_png().unwrap()
}

#[test]
fn images_of_another_size_or_number_of_channels_are_refused() {
    let bench = Bench::new();
    for (name, height, width, channels, says) in [
        ("large.png", 9, 8, 1, "shape 9 × 8 × 1 (height × width × channels), expected 8 × 8 × 1"),
        ("flat.png", 4, 16, 1, "4 × 16"),
        ("colour.png", 8, 8, 3, "8 × 8 × 3"),
        ("pixel.png", 1, 1, 1, "1 × 1"),
    ] {
        file(&bench, &[says, "use the same"], &bench.file(name, png(height, width, channels)));
    }
    refuses(&bench, 1, &["8 × 8", "4 × 6 × 3"], &on_image("colours.onnx", "digit.png", &[]));
    refuses(&bench, 1, &["rows of 64 numbers", "4 × 6"], &on_image("flat.onnx", "colours.png", &[]));
}

#[test]
fn files_that_are_no_images_are_refused() {
    let bench = Bench::new();
    file(&bench, &["cannot read the image", "none.png", "No such file"], "none.png");
    file(&bench, &["not a PNG file"], &fixture("words.txt"));
    file(&bench, &["not a PNG file"], &bench.file("empty.png", ""));
    file(&bench, &["cannot read the image"], bench.outputs.path().to_str().unwrap());
    let whole = fs::read(fixture("digit.png")).unwrap();
    for end in [4, 8, 30, whole.len() - 20, whole.len() - 5] {
        file(&bench, &["cannot read the image", "PNG file"], &bench.file("cut.png", &whole[..end]));
    }
    let mut damaged = whole.clone();
    damaged[50] ^= 0x55;
    file(&bench, &["cannot read the image", "corrupt"], &bench.file("damaged.png", damaged));
    // 8 × 8 grey pixels with an alpha channel; the first one is half transparent.
    file(&bench, &["transparent"], &fixture("transparent.png"));
}

#[test]
fn models_that_take_no_images_or_no_texts_are_refused() {
    let bench = Bench::new();
    let says = &["does not accept images", "token ids", "explain-text"];
    refuses(&bench, 1, says, &on_image("words.onnx", "digit.png", &[]));
    for model in ["digits.onnx", "flat.onnx", "colours.onnx"] {
        refuses(&bench, 1, &["does not accept text", "input x", "integers"], &on_text(model, "good", &[]));
    }
    let trees = fixture("diabetes_xgb_1_7.ubj");
    let says = &["cannot read the model", "ONNX"];
    bench.refuses(1, says, &["explain-image", "--model", &trees, "--image", &fixture("digit.png")]);
    let words = fixture("words.txt");
    bench.refuses(1, says, &["explain-text", "--model", &trees, "--vocab", &words, "--text", "good"]);
    let cut = bench.file("cut.onnx", &fs::read(fixture("digits.onnx")).unwrap()[..600]);
    bench.refuses(
        1,
        &["cannot read the model"],
        &["explain-image", "--model", &cut, "--image", &fixture("digit.png")],
    );
    image(&bench, 1, &["[28, 28]", "[1, 8, 8]"], &["--row-shape", "28,28"]);
    image(&bench, 1, &["unknown output \"logits\"", "y"], &["--model-output", "logits"]);
}

#[test]
fn texts_without_tokens_and_those_that_are_too_long_are_refused() {
    let bench = Bench::new();
    for nothing in ["", "   ", "\t\n"] {
        text(&bench, 1, &["contains no tokens", "at least one word"], nothing, &[]);
    }
    text(&bench, 1, &["no token of the text", "\"xyzzy\", \"plugh\"", "--vocab"], "xyzzy plugh xyzzy", &[]);
    text(&bench, 1, &["20 tokens", "12", "--truncate"], &"good ".repeat(20), &[]);
    let missing = ["explain-text", "--model", &fixture("words.onnx"), "--vocab", &fixture("words.txt")];
    bench.refuses(
        1,
        &["cannot read the text", "No such file"],
        &[&missing[..], &["--text-file", "none.txt"]].concat(),
    );
    let binary = bench.file("text.txt", b"good \xff\xfe");
    bench.refuses(1, &["cannot read the text", "UTF-8"], &[&missing[..], &["--text-file", &binary]].concat());
    bench.refuses(2, &["--text"], &missing);
}

#[test]
fn vocabularies_that_are_none_or_do_not_fit_are_refused() {
    let bench = Bench::new();
    let refused = |says: &[&str], content: &[u8]| {
        let vocabulary = bench.file("vocabulary.txt", content);
        let model = fixture("words.onnx");
        bench.refuses(
            1,
            says,
            &["explain-text", "--model", &model, "--vocab", &vocabulary, "--text", "good"],
        );
    };
    let words = fs::read_to_string(fixture("words.txt")).unwrap();
    refused(&["does not match the model", "21", "20"], format!("{words}more\n").as_bytes());
    refused(&["does not match the model", "3", "20"], b"<pad>\n<unk>\ngood\n");
    refused(&["\"good\"", "2", "4"], b"<pad>\n<unk>\ngood\nbad\ngood\n");
    refused(&["line 2"], b"<pad>\n<unk>\n\ngood\n");
    refused(&["vocabulary is empty"], b"");
    refused(&["UTF-8", "line 1"], b"good\n\xff\n");
    // This vocabulary has no token for unknown words.
    let numbered: String = (0..20).map(|id| format!("w{id}\n")).collect();
    refused(&["good"], numbered.as_bytes());
    let none = ["explain-text", "--model", &fixture("words.onnx"), "--vocab", "none.txt", "--text", "good"];
    bench.refuses(1, &["cannot read the vocabulary", "none.txt"], &none);
    text(&bench, 1, &["--padding", "\"nothing\""], "good", &["--padding", "nothing"]);
    text(&bench, 1, &["--unknown", "\"nothing\""], "good", &["--unknown", "nothing"]);
}

#[test]
fn values_and_methods_that_cannot_be_are_refused() {
    let bench = Bench::new();
    for (says, options) in [
        (&["owen", "in groups", "l-shapley=K"][..], &["--value", "owen"][..]),
        (&["quotient-shapley", "in groups"], &["--value", "quotient-shapley"]),
        (&["unknown value", "l-shapley=K"], &["--value", "l-shapley"]),
        (&["unknown value"], &["--value", "l-shapley=-1"]),
        (&["unknown value"], &["--value", "c-shapley=1.5"]),
        (&["unknown value"], &["--value", "l-shapley=1,printed"]),
        (&["--method tree", "tree ensemble", "exact"], &["--method", "tree"]),
        (
            &["kernel-shap", "l-shapley=1", "l-shapley-leverage"],
            &["--value", "l-shapley=1", "--method", "kernel-shap"],
        ),
        (&["l-shapley-leverage", "does not support --value shapley"], &["--method", "l-shapley-leverage"]),
        (&["l-shapley-permutation", "myerson"], &["--value", "myerson", "--method", "l-shapley-permutation"]),
        (&["on-graph does not support --value shapley"], &["--method", "on-graph"]),
        (&["unknown method"], &["--method", "on-graphs"]),
        (&["invalid value 2 for --class", "0 to 1"], &["--class", "2"]),
        (&["--until"], &["--confidence", "0.9"]),
    ] {
        text(&bench, 2, says, "it was good", options);
        image(&bench, 2, says, &[&["--patch", "4"], options].concat());
    }
    refuses(
        &bench,
        2,
        &["invalid value 3 for --class", "0 to 2"],
        &on_text("topics.onnx", "good", &["--class", "3"]),
    );
    text(&bench, 1, &["--outputs", "logits"], "it was bad", &["--outputs", "probabilities"]);
    text(
        &bench,
        1,
        &["3 players", "4"],
        "a b c d",
        &["--value", "size-distribution=0.2,0.8,0", "--unknown", "plot"],
    );
}

#[test]
fn budgets_that_are_too_small_are_refused_with_the_least() {
    let bench = Bench::new();
    for (says, options) in [
        (
            &["--budget 10 is too small", "exact needs at least 41 evaluations", "l-shapley=1"][..],
            &["l-shapley=1", "10"][..],
        ),
        (&["--budget 11 is too small", "exact needs at least", "c-shapley=2"], &["c-shapley=2", "1n"]),
        (&["--budget 40 is too small", "exact needs at least 67", "myerson"], &["myerson", "40"]),
        (&["--budget 3 is too small", "leverage-shap needs at least"], &["shapley", "3"]),
    ] {
        let options = ["--value", options[0], "--budget", options[1]];
        text(&bench, 1, says, "The film was not bad, it was very good.", &options);
    }
    let exact = ["--method", "exact", "--budget", "100"];
    text(
        &bench,
        1,
        &["--budget 100", "exact needs at least 2^11 = 2048"],
        "The film was not bad, it was very good.",
        &exact,
    );
    text(&bench, 1, &["too large"], "very good", &["--budget", "99999999999999999n"]);
}

#[test]
fn neighbourhoods_that_are_too_large_are_refused_with_what_to_take_instead() {
    let bench = Bench::new();
    let says = [
        "--value l-shapley=4 requires at least",
        "16777216",
        "2^",
        "smaller order",
        "--patch",
        "--method l-shapley-leverage",
    ];
    image(&bench, 1, &says, &["--value", "l-shapley=4"]);
    let says = ["--value myerson", "16777216", "connected", "c-shapley=2", "--patch"];
    image(&bench, 1, &says, &["--value", "myerson"]);
}

#[test]
fn options_of_images_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    for (says, options) in [
        (&["--patch"][..], &["--patch", "0"][..]),
        (&["4 or 8"], &["--neighbours", "6"]),
        (&["--patch", "--superpixels"], &["--patch", "2", "--superpixels", "x.png"]),
        (&["invalid value 2 for --reference", "from 0 (black) to 1 (white)"], &["--reference", "2"]),
        (&["invalid value 0,nan for --reference"], &["--reference", "0,nan"]),
        (&["\"grey\"", "expected mean", "or a file"], &["--reference", "grey"]),
        (&["expected mean"], &["--reference", ""]),
        (&["--pixels", "two different finite numbers"], &["--pixels", "1,1"]),
        (&["--pixels", "got 3"], &["--pixels", "0,1,2"]),
    ] {
        image(&bench, 2, says, options);
    }
    for (says, options) in [
        (&["patches of 9 × 9 pixels", "at most 8"][..], &["--patch", "9"][..]),
        (&["the reference has shape", "× 3 (height"], &["--reference", "0,0.5,1"]),
        (&["channels", "1"], &["--pixels", "0,1,0,1,0,1"]),
    ] {
        image(&bench, 1, says, options);
    }
    let other = bench.file("other.png", png(4, 4, 1));
    image(&bench, 1, &["the reference image", "4 × 4", "8 × 8"], &["--reference", &other]);
    image(&bench, 1, &["4 × 4", "8 × 8"], &["--superpixels", &other]);
    image(
        &bench,
        1,
        &["cannot read the superpixels", "not a PNG file"],
        &["--superpixels", &fixture("words.txt")],
    );
    image(
        &bench,
        1,
        &["cannot read the reference", "not a PNG file"],
        &["--reference", &fixture("words.txt")],
    );
}

#[test]
fn places_that_cannot_be_written_are_refused_and_nothing_is_left() {
    let bench = Bench::new();
    let results = bench.outputs.path().join("results").to_str().unwrap().to_owned();
    image(&bench, 2, &["--overlay and --out name the same file"], &["--overlay", &results]);
    image(&bench, 1, &["--overlay", "would overwrite an input file"], &["--overlay", &fixture("digit.png")]);
    image(
        &bench,
        1,
        &["--overlay", "would overwrite an input file"],
        &["--overlay", &fixture("digits.onnx")],
    );
    image(&bench, 1, &["--overlay", "directory /none does not exist"], &["--overlay", "/none/overlay.png"]);
    image(
        &bench,
        1,
        &["--overlay", "is a directory"],
        &["--overlay", bench.outputs.path().to_str().unwrap()],
    );
    for (arguments, place) in [
        (on_text("words.onnx", "good", &[]), fixture("words.txt")),
        (on_image("digits.onnx", "digit.png", &[]), fixture("digit.png")),
    ] {
        let output = run(&[&arguments[..], &["--out".to_owned(), place.clone()]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(
            String::from_utf8(output.stderr).unwrap().contains("would overwrite an input file"),
            "{place}"
        );
    }
    assert_eq!(files(bench.outputs.path()), Vec::<String>::new());
}

/// If the picture or the results cannot be written, because the device is full, neither of them appears.
#[test]
#[cfg(target_os = "linux")]
fn a_picture_and_results_appear_together() {
    let bench = Bench::new();
    image(&bench, 1, &["cannot write /dev/full"], &["--patch", "4", "--overlay", "/dev/full"]);
    let picture = bench.outputs.path().join("overlay.png");
    let options = ["--patch", "4", "--overlay", picture.to_str().unwrap(), "--out", "/dev/full"];
    let output = run(&on_image("digits.onnx", "digit.png", &options));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(files(bench.outputs.path()), Vec::<String>::new());
    let output = run(&on_image("digits.onnx", "digit.png", &["--patch", "4", "--overlay", "/dev/full"]));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}
