//! Pixels.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Pixels, row by row: red, green, blue and how opaque.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels of a row.
    pub width: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Width × height.
    pub pixels: Vec<[u8; 4]>,
}

impl Picture {
    /// As a PNG file.
    pub(crate) fn png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(self.pixels.as_flattened())?;
            writer.finish()
        });
        // Nothing but a wrong number of pixels can fail, and writing to memory does not.
        debug_assert!(written.is_ok(), "{written:?}");
        bytes
    }

    /// As an address that holds it all.
    pub(crate) fn data_address(&self) -> String {
        format!("data:image/png;base64,{}", STANDARD.encode(self.png()))
    }
}
