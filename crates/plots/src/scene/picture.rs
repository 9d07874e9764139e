//! Pixel images.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Pixels, row by row: red, green, blue and opacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Number of pixels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Width × height pixels.
    pub pixels: Vec<[u8; 4]>,
}

impl Picture {
    /// Encodes the picture as a PNG file.
    pub(crate) fn png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(self.pixels.as_flattened())?;
            writer.finish()
        });
        // Only a wrong number of pixels could cause an error, since writing to memory cannot fail.
        debug_assert!(written.is_ok(), "{written:?}");
        bytes
    }

    /// Returns a data URL with the picture.
    pub(crate) fn data_address(&self) -> String {
        format!("data:image/png;base64,{}", STANDARD.encode(self.png()))
    }
}
