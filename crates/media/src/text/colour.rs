//! Colours of scores in texts.

/// The red, green and blue components of a colour.
pub(super) type Rgb = [u8; 3];

/// Returns the background colour of a word, given its score divided by the largest |score|, in [−1, 1].
///
/// The colour is white at 0, blue at 1, red at −1, and linear in between, as in table 2 of Chen, Song,
/// Wainwright and Jordan (2019).
pub(super) fn background(share: f64) -> Rgb {
    let faded = (255.0 * (1.0 - share.abs())).round() as u8;
    if share < 0.0 { [255, faded, faded] } else { [faded, faded, 255] }
}

/// Returns black or white, whichever has the higher contrast with `background`.
pub(super) fn foreground(background: Rgb) -> Rgb {
    // The contrast is (lighter + 0.05) / (darker + 0.05). Black and white have equal contrast at a luminance
    // of √(1.05 · 0.05) − 0.05.
    if luminance(background) > 0.179 { [0; 3] } else { [255; 3] }
}

/// Returns the relative luminance of an sRGB colour: 0 for black, 1 for white.
fn luminance(colour: Rgb) -> f64 {
    let linear = colour.map(|channel| {
        let channel = f64::from(channel) / 255.0;
        if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_from_red_over_white_to_blue() {
        let expected =
            [(-1.0, [255, 0, 0]), (-0.5, [255, 128, 128]), (0.0, [255; 3]), (0.2, [204, 204, 255])];
        for (share, colour) in expected {
            assert_eq!(background(share), colour, "{share}");
        }
        assert_eq!(background(1.0), [0, 0, 255]);
    }

    #[test]
    fn every_word_can_be_read() {
        // The Web Content Accessibility Guidelines require a contrast of 4.5.
        for step in -1000..=1000 {
            let colour = background(f64::from(step) / 1000.0);
            let (a, b) = (luminance(colour) + 0.05, luminance(foreground(colour)) + 0.05);
            assert!(a.max(b) / a.min(b) > 4.5, "{colour:?}");
        }
    }
}
