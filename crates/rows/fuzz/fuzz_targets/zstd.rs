//! Fuzzes rows compressed with zstd: the input itself, and the input in frames of raw blocks, which must not
//! change the result.

#![no_main]

mod check;

/// Returns a frame with one raw block and no checksum.
fn frame(content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd];
    // The header declares a single segment, whose size takes four bytes. The only block follows, which is
    // raw.
    bytes.push(0xa0);
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(&(((content.len() as u32) << 3) | 1).to_le_bytes()[..3]);
    bytes.extend(content);
    bytes
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes, false);
    // Content that is compressed twice is an error.
    if check::is_packed(bytes) {
        return;
    }
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let skipped = [&0x184d_2a53_u32.to_le_bytes()[..], &2u32.to_le_bytes(), b"??"].concat();
    check::packed_is_plain(bytes, &[frame(first), skipped, frame(second)].concat());
});
