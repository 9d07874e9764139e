//! Fuzzes reading of PNG files. Checksums are also corrected, so that the files pass the checksum test.

#![no_main]

use apportion_media::{Adjacency, Image, Segmentation};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    check(&sealed(bytes));
});

/// Checks that reading never panics, that the pixel values are between 0 and 1, and that they change by no
/// more than the rounding to 8 bits when they are written and read again.
fn check(bytes: &[u8]) {
    let Ok(image) = Image::from_png(bytes) else { return };
    let pixels = image.height() * image.width();
    assert_eq!(image.pixels().len(), pixels * image.channels());
    assert!(image.pixels().iter().all(|number| (0.0..=1.0).contains(number)), "a pixel value outside [0, 1]");
    if pixels > 1 << 14 {
        return;
    }
    let once = Image::from_png(&image.to_png().expect("an image")).expect("a file that was written");
    let twice = Image::from_png(&once.to_png().expect("an image")).expect("a file that was written");
    // Writing rounds 16 bits to 8, so only the second round trip is exact.
    assert_eq!(once, twice);
    assert!(
        image.pixels().iter().zip(once.pixels()).all(|(one, other)| (one - other).abs() <= 0.5001 / 255.0)
    );
    let segments = Segmentation::from_label_image(&image);
    assert!(segments.labels().iter().all(|&label| label < segments.count()));
    segments.borders(Adjacency::Eight);
}

/// Returns the file with the correct checksum for each complete chunk.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = 8;
    while let Some(length) = bytes.get(at..at + 4) {
        let length = length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
        let end = at + 8 + length;
        let Some(part) = bytes.get(at + 4..end) else { break };
        let sum = check_sum(part).to_be_bytes();
        let Some(place) = bytes.get_mut(end..end + 4) else { break };
        place.copy_from_slice(&sum);
        at = end + 4;
    }
    bytes
}

/// Computes the CRC-32, bit by bit.
fn check_sum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, &byte: &u8| {
        (0..8).fold(
            sum ^ u32::from(byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    };
    !bytes.iter().fold(!0, step)
}
