//! Fuzzes files of any kind, as read by `inspect`, which also reads parts of results and checkpoints that
//! other commands skip.

#![no_main]

mod command;

use command::{run, write};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    write("file", bytes);
    for format in ["table", "json"] {
        run(&["inspect", "@file", "--format", format, "--out", "@out"]);
    }
});
