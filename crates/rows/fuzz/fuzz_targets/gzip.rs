//! Fuzzes rows compressed with gzip: the input itself, and the input compressed, which must not change the
//! result.

#![no_main]

mod check;

use std::io::Read;

use flate2::Compression;
use flate2::read::GzEncoder;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes, false);
    // Content that is compressed twice is an error.
    if check::is_packed(bytes) {
        return;
    }
    // Write two members, as programs that append to a file do.
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let mut packed = Vec::new();
    for part in [first, second] {
        GzEncoder::new(part, Compression::fast())
            .read_to_end(&mut packed)
            .expect("writing to memory succeeds");
    }
    check::packed_is_plain(bytes, &packed);
});
