//! Fuzzes files with edges between features, as read by `explain`.

#![no_main]

mod command;

use command::{run, write};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    write("edges", bytes);
    let explain =
        ["explain", "--model", "@model.json", "--rows", "@rows.csv", "--threads", "1", "--out", "@out.json"];
    run(&[
        &explain[..],
        &["--value", "myerson", "--graph", "file=@edges", "--game", "marginal", "--background", "@rows.csv"]
            [..],
    ]
    .concat());
});
