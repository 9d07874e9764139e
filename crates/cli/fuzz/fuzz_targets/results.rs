//! Fuzzes results of `explain` in JSON and JSON lines, as read by `plot` and `report`.

#![no_main]

mod command;
#[path = "../../../trees/fuzz/fuzz_targets/texts/mod.rs"]
mod texts;

use command::{run, write};

/// The names of all kinds of figures.
const KINDS: [&str; 14] = [
    "waterfall",
    "force",
    "bar",
    "beeswarm",
    "heatmap",
    "decision",
    "cohorts",
    "scatter",
    "interactions",
    "network",
    "convergence",
    "groups",
    "text",
    "image",
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    write("results.json", bytes);
    // If the results cannot be read, no other command is tried.
    let Some(page) = run(&["report", "--in", "@results.json", "--out", "@out.html"]) else { return };
    assert!(page.starts_with(b"<!") && page.trim_ascii_end().ends_with(b"</html>"), "half a page");
    for kind in KINDS {
        if let Some(figure) = run(&["plot", kind, "--in", "@results.json", "--out", "@out.svg"]) {
            assert!(figure.starts_with(b"<svg ") && figure.ends_with(b"</svg>\n"), "half a figure");
            run(&["plot", kind, "--in", "@results.json", "--out", "@out.csv"])
                .expect("numbers behind a figure");
        }
    }
    // Drawing in pixels is slow, so draw one kind only.
    let kind = KINDS[bytes.len() % KINDS.len()];
    run(&["plot", kind, "--in", "@results.json", "--out", "@out.png", "--width", "280", "--scale", "1"]);
    run(&[
        "plot",
        "cohorts",
        "--in",
        "@results.json",
        "--out",
        "@out.svg",
        "--where",
        "age >= 1",
        "--where",
        "bmi = a",
    ]);
    run(&[
        "plot",
        "waterfall",
        "--in",
        "@results.json",
        "--out",
        "@out.svg",
        "--row",
        "2",
        "--class",
        "1",
        "--top",
        "1",
    ]);
    run(&["plot", "scatter", "--in", "@results.json", "--out", "@out.svg", "--feature", "1", "--with", "0"]);
});

libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    texts::mutate(bytes, size, most, seed)
});
