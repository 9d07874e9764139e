//! Mutations of text formats, which yield valid files more often than mutations of bytes.

use std::ops::Range;

mod numbers;
mod pieces;

/// Applies a byte mutation of libFuzzer half of the time, and otherwise changes one of the numbers or one of
/// the pieces of the text.
pub fn mutate(text: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let random = seed as usize / 4;
    let changed = match seed % 4 {
        0 => numbers::replace(&text[..size], random),
        1 => pieces::change(&text[..size], random),
        _ => None,
    };
    match changed {
        Some(changed) if changed.len() <= most => {
            text[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => libfuzzer_sys::fuzzer_mutate(text, size, most),
    }
}

/// Derives a second random number from the first.
fn scatter(random: usize) -> usize {
    random.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 23
}

/// Returns the text with the bytes of a range replaced.
fn with(text: &[u8], place: Range<usize>, bytes: &[u8]) -> Vec<u8> {
    [&text[..place.start], bytes, &text[place.end..]].concat()
}
