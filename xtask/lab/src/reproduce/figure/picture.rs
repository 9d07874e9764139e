//! Pictures in figures: small images whose pixels are shown as squares.

use anyhow::{Context, Result, ensure};

use super::palette::Colour;

/// An image of `width` × `height` pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    width: usize,
    height: usize,
    /// Red, green and blue values of the pixels, row by row.
    bytes: Vec<u8>,
}

impl Picture {
    /// Creates a picture from the red, green and blue values of the pixels, row by row.
    ///
    /// # Errors
    ///
    /// If the number of bytes does not match the size, or there are no pixels.
    pub(crate) fn new(width: usize, height: usize, bytes: Vec<u8>) -> Result<Self> {
        ensure!(
            !bytes.is_empty() && bytes.len() == 3 * width * height,
            "expected {width} × {height} pixels with 3 bytes each, got {} bytes",
            bytes.len()
        );
        Ok(Self { width, height, bytes })
    }

    fn colour(&self, row: usize, column: usize) -> Colour {
        let at = 3 * (row * self.width + column);
        (self.bytes[at], self.bytes[at + 1], self.bytes[at + 2])
    }

    /// Returns the horizontal runs of pixels with the same colour: for each run, the upper left and the lower
    /// right corner, relative to the picture, and the colour.
    pub(super) fn runs(&self) -> impl Iterator<Item = ([(f64, f64); 2], Colour)> {
        let (wide, high) = (self.width as f64, self.height as f64);
        (0..self.height).flat_map(move |row| {
            let mut runs: Vec<([(f64, f64); 2], Colour)> = Vec::new();
            for column in 0..self.width {
                let colour = self.colour(row, column);
                let end = ((column + 1) as f64 / wide, (row + 1) as f64 / high);
                match runs.last_mut() {
                    Some((corners, last)) if *last == colour => corners[1] = end,
                    _ => runs.push(([(column as f64 / wide, row as f64 / high), end], colour)),
                }
            }
            runs
        })
    }

    /// Returns the picture as an SVG element that keeps its pixels square.
    pub(super) fn svg(&self, left: f64, top: f64, width: f64, height: f64) -> Result<String> {
        Ok(format!(
            "<image x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
             preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
             href=\"data:image/png;base64,{}\"/>\n",
            base64(&png(&self.bytes, self.width, self.height)?)
        ))
    }
}

/// Encodes `width` × `height` RGB pixels as PNG.
pub(super) fn png(pixels: &[u8], width: usize, height: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().context("cannot encode the PNG")?;
    writer.write_image_data(pixels).context("cannot encode the PNG")?;
    writer.finish().context("cannot encode the PNG")?;
    Ok(bytes)
}

/// Encodes bytes in Base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0, |bits: u32, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for letter in 0..4 {
            let index = bits >> (18 - 6 * letter) & 63;
            text.push(if letter <= three.len() { char::from(LETTERS[index as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_gives_the_test_vectors_of_its_standard() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in vectors {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn neighbours_of_one_colour_are_one_run() {
        let picture = Picture::new(3, 2, [[9; 6].as_slice(), &[1; 3], &[2; 9]].concat()).unwrap();
        let runs: Vec<_> = picture.runs().collect();
        let third = 2.0 / 3.0;
        assert_eq!(
            runs,
            [
                ([(0.0, 0.0), (third, 0.5)], (9, 9, 9)),
                ([(third, 0.0), (1.0, 0.5)], (1, 1, 1)),
                ([(0.0, 0.5), (1.0, 1.0)], (2, 2, 2))
            ]
        );
        assert!(Picture::new(3, 2, vec![0; 6]).is_err() && Picture::new(0, 2, Vec::new()).is_err());
    }
}
