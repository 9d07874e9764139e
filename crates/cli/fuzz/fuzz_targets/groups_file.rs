//! Fuzzes files with groups of features, as read by `explain`.

#![no_main]

mod command;

use command::{run, write};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    write("groups.json", bytes);
    let explain =
        ["explain", "--model", "@model.json", "--rows", "@rows.csv", "--threads", "1", "--out", "@out.json"];
    for of_value in [&["--value", "owen"][..], &[]] {
        let explained = run(&[&explain[..], &["--groups", "@groups.json"], of_value].concat());
        if let Some(explained) = explained {
            let explained =
                serde_json::from_slice::<serde_json::Value>(&explained).expect("results are JSON");
            assert!(explained["explanations"].as_array().is_some_and(|rows| rows.len() == 4), "{explained}");
            // Also draw the results.
            write("results.json", explained.to_string().as_bytes());
            run(&["plot", "groups", "--in", "@results.json", "--out", "@out.svg"]);
        }
    }
});
