//! Rows packed by zstd: the bytes as they are, and in frames of raw blocks, which must change nothing.

#![no_main]

mod check;

/// A frame of one raw block without a check sum.
fn frame(content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd];
    // A single segment, whose length takes four bytes; then the last block, raw.
    bytes.push(0xa0);
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(&(((content.len() as u32) << 3) | 1).to_le_bytes()[..3]);
    bytes.extend(content);
    bytes
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes, false);
    // What is packed itself is refused inside.
    if check::is_packed(bytes) {
        return;
    }
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let skipped = [&0x184d_2a53_u32.to_le_bytes()[..], &2u32.to_le_bytes(), b"??"].concat();
    check::packed_is_plain(bytes, &[frame(first), skipped, frame(second)].concat());
});
