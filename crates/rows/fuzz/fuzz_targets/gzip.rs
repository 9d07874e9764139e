//! Rows packed by gzip: the bytes as they are, and packed by a sound writer, which must change nothing.

#![no_main]

mod check;

use std::io::Read;

use flate2::Compression;
use flate2::read::GzEncoder;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes, false);
    // What is packed itself is refused inside.
    if check::is_packed(bytes) {
        return;
    }
    // In two members, as programs that append leave them.
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let mut packed = Vec::new();
    for part in [first, second] {
        GzEncoder::new(part, Compression::fast()).read_to_end(&mut packed).expect("memory takes it");
    }
    check::packed_is_plain(bytes, &packed);
});
