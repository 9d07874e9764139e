//! What `inspect` tells of a file, whatever it is: of results and checkpoints also what others do not read.

#![no_main]

mod command;

use command::{run, write};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    write("file", bytes);
    for format in ["table", "json"] {
        run(&["inspect", "@file", "--format", format, "--out", "@out"]);
    }
});
