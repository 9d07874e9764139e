//! Reading and writing PNG files.
//!
//! Numbers are used as stored (b / 255 for a byte), as in the data sets on which networks are trained. Gamma
//! and colour-space information in the file is ignored.

use std::io::{Cursor, ErrorKind};
use std::path::Path;

use png::{BitDepth, ColorType, Decoder, DecodingError, Encoder, Info, Transformations};

use super::{Image, check_size};
use crate::error::MediaError;

/// The first bytes of every PNG file.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

impl Image {
    /// Reads an image from the bytes of a PNG file: grey, colour or palette, with 1, 2, 4, 8 or 16 bits,
    /// interlaced or not.
    ///
    /// The number of channels is as in the file, or three for a palette. An alpha channel that is opaque
    /// everywhere is dropped. For an animation, the still image is read.
    ///
    /// # Errors
    ///
    /// [`MediaError::NotPng`], [`MediaError::TruncatedPng`], [`MediaError::BadPng`];
    /// [`MediaError::TooManyPixels`], detected before any pixels are decoded; [`MediaError::Transparent`] if
    /// a pixel is not opaque.
    pub fn from_png(bytes: &[u8]) -> Result<Self, MediaError> {
        if !bytes.starts_with(SIGNATURE) {
            return Err(match !bytes.is_empty() && SIGNATURE.starts_with(bytes) {
                true => MediaError::TruncatedPng,
                false => MediaError::NotPng,
            });
        }
        let mut decoder = Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(Transformations::EXPAND);
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let header = decoder.read_header_info().map_err(refusal)?;
        let (height, width) = (header.height as usize, header.width as usize);
        let pixels = check_size(height, width)?;
        let mut reader = decoder.read_info().map_err(refusal)?;
        check_palette(reader.info())?;
        let (colour, depth) = reader.output_color_type();
        let samples = match colour {
            ColorType::Grayscale => 1,
            ColorType::GrayscaleAlpha => 2,
            ColorType::Rgb => 3,
            ColorType::Rgba => 4,
            // The decoder expands palettes, as requested above.
            ColorType::Indexed => return Err(MediaError::BadPng { problem: "missing palette".to_owned() }),
        };
        let sample_bytes = if depth == BitDepth::Sixteen { 2 } else { 1 };
        let mut data = vec![0; pixels * samples * sample_bytes];
        reader.next_frame(&mut data).map_err(refusal)?;
        reader.finish().map_err(refusal)?;
        let numbers = match depth {
            BitDepth::Sixteen => of_sixteen_bits(&data),
            _ => data.iter().map(|&byte| f64::from(byte) / 255.0).collect(),
        };
        let channels = samples - usize::from(samples.is_multiple_of(2));
        Self::new(height, width, channels, without_alpha(numbers, samples, width)?)
    }

    /// Reads the PNG file at `path`; see [`from_png`](Self::from_png).
    ///
    /// # Errors
    ///
    /// [`MediaError::File`] if the file cannot be read, otherwise same as [`from_png`](Self::from_png).
    pub fn from_png_file(path: impl AsRef<Path>) -> Result<Self, MediaError> {
        let path = path.as_ref();
        match std::fs::read(path) {
            Ok(bytes) => Self::from_png(&bytes),
            Err(source) => Err(MediaError::File { path: path.to_owned(), source }),
        }
    }

    /// Encodes the image as a PNG file with 8 bits per channel: numbers are rounded to multiples of 1/255.
    ///
    /// # Errors
    ///
    /// [`MediaError::EncodePng`] if the encoder fails.
    pub fn to_png(&self) -> Result<Vec<u8>, MediaError> {
        let refusal = |error: png::EncodingError| MediaError::EncodePng {
            height: self.height,
            width: self.width,
            problem: error.to_string(),
        };
        let bytes: Vec<u8> = self.pixels.iter().map(|value| (value * 255.0).round() as u8).collect();
        let mut file = Vec::new();
        // The casts are lossless: an image has fewer than 2³² pixels.
        let mut encoder = Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(if self.channels == 3 { ColorType::Rgb } else { ColorType::Grayscale });
        encoder.set_depth(BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(refusal)?;
        writer.write_image_data(&bytes).map_err(refusal)?;
        writer.finish().map_err(refusal)?;
        Ok(file)
    }
}

/// Rejects a palette that ends with an incomplete colour, because the decoder would panic if a pixel used it.
/// Palettes with too many colours are rejected by the decoder.
fn check_palette(info: &Info<'_>) -> Result<(), MediaError> {
    let bytes = info.palette.as_ref().map_or(0, |palette| palette.len());
    if info.color_type != ColorType::Indexed || bytes.is_multiple_of(3) {
        return Ok(());
    }
    Err(MediaError::BadPng { problem: format!("the palette has {bytes} bytes, expected a multiple of 3") })
}

/// Converts a decoder error to a `MediaError`.
fn refusal(error: DecodingError) -> MediaError {
    match error {
        DecodingError::IoError(source) if source.kind() == ErrorKind::UnexpectedEof => {
            MediaError::TruncatedPng
        }
        error => MediaError::BadPng { problem: error.to_string() },
    }
}

fn of_sixteen_bits(data: &[u8]) -> Vec<f64> {
    let (pairs, _) = data.as_chunks::<2>();
    pairs.iter().map(|&pair| f64::from(u16::from_be_bytes(pair)) / 65535.0).collect()
}

/// Removes the alpha channel, which is the last of 2 or 4 samples and must be 1 everywhere.
fn without_alpha(numbers: Vec<f64>, samples: usize, width: usize) -> Result<Vec<f64>, MediaError> {
    if !samples.is_multiple_of(2) {
        return Ok(numbers);
    }
    if let Some(at) = numbers.chunks_exact(samples).position(|pixel| pixel[samples - 1] != 1.0) {
        return Err(MediaError::Transparent { row: at / width, column: at % width });
    }
    Ok(numbers.chunks_exact(samples).flat_map(|pixel| &pixel[..samples - 1]).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a PNG file with `data` as its samples, and with `palette` unless it is empty.
    fn file(size: (u32, u32), colour: ColorType, depth: BitDepth, palette: &[u8], data: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, size.1, size.0);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        if !palette.is_empty() {
            encoder.set_palette(palette.to_vec());
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(data).unwrap();
        writer.finish().unwrap();
        file
    }

    #[test]
    fn grey_of_every_depth_is_a_fraction_of_white() {
        let of = |depth, data: &[u8]| {
            Image::from_png(&file((1, 2), ColorType::Grayscale, depth, &[], data)).unwrap()
        };
        assert_eq!(of(BitDepth::One, &[0b0100_0000]).pixels(), [0.0, 1.0]);
        assert_eq!(of(BitDepth::Two, &[0b0110_0000]).pixels(), [1.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(of(BitDepth::Four, &[0x7f]).pixels(), [7.0 / 15.0, 1.0]);
        assert_eq!(of(BitDepth::Eight, &[100, 255]).pixels(), [100.0 / 255.0, 1.0]);
        assert_eq!(of(BitDepth::Sixteen, &[1, 0, 255, 255]).pixels(), [256.0 / 65535.0, 1.0]);
    }

    #[test]
    fn colours_may_be_spelled_out_or_in_a_palette() {
        let rgb =
            Image::from_png(&file((1, 1), ColorType::Rgb, BitDepth::Eight, &[], &[255, 51, 0])).unwrap();
        assert_eq!((rgb.channels(), rgb.pixels()), (3, &[1.0, 0.2, 0.0][..]));
        let palette = [0, 0, 0, 255, 51, 0];
        let indexed =
            Image::from_png(&file((2, 1), ColorType::Indexed, BitDepth::One, &palette, &[0x80, 0])).unwrap();
        assert_eq!((indexed.height(), indexed.channels()), (2, 3));
        assert_eq!(indexed.pixels(), [1.0, 0.2, 0.0, 0.0, 0.0, 0.0]);
        let deep = [0, 51, 255, 255, 0, 0];
        let deep = Image::from_png(&file((1, 1), ColorType::Rgb, BitDepth::Sixteen, &[], &deep)).unwrap();
        assert_eq!(deep.pixels(), [51.0 / 65535.0, 1.0, 0.0]);
    }

    #[test]
    fn an_alpha_channel_is_dropped_where_opaque_and_refused_elsewhere() {
        let of = |colour, depth, data: &[u8]| Image::from_png(&file((2, 1), colour, depth, &[], data));
        let grey = of(ColorType::GrayscaleAlpha, BitDepth::Eight, &[51, 255, 0, 255]).unwrap();
        assert_eq!((grey.channels(), grey.pixels()), (1, &[0.2, 0.0][..]));
        let colour = of(ColorType::Rgba, BitDepth::Eight, &[51, 0, 255, 255, 0, 51, 0, 255]).unwrap();
        assert_eq!((colour.channels(), colour.pixels()), (3, &[0.2, 0.0, 1.0, 0.0, 0.2, 0.0][..]));
        let seen_through =
            of(ColorType::Rgba, BitDepth::Eight, &[51, 0, 255, 255, 0, 51, 0, 254]).unwrap_err();
        assert!(matches!(seen_through, MediaError::Transparent { row: 1, column: 0 }));
        let deep =
            of(ColorType::GrayscaleAlpha, BitDepth::Sixteen, &[0, 0, 255, 254, 0, 0, 255, 255]).unwrap_err();
        assert!(matches!(deep, MediaError::Transparent { row: 0, column: 0 }));
    }

    #[test]
    fn a_palette_with_a_colour_to_see_through_is_refused_where_it_is_used() {
        let of = |data: u8| {
            let mut file = Vec::new();
            let mut encoder = Encoder::new(&mut file, 2, 1);
            encoder.set_color(ColorType::Indexed);
            encoder.set_depth(BitDepth::Four);
            encoder.set_palette(vec![255, 0, 0, 0, 255, 0, 0, 0, 255]);
            encoder.set_trns(vec![255, 128]);
            let mut writer = encoder.write_header().unwrap();
            writer.write_image_data(&[data]).unwrap();
            writer.finish().unwrap();
            Image::from_png(&file)
        };
        assert_eq!(of(0x20).unwrap().pixels(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        assert!(matches!(of(0x21), Err(MediaError::Transparent { row: 0, column: 1 })));
    }

    #[test]
    fn palettes_of_half_a_colour_or_too_many_are_refused_where_they_are_used() {
        let of = |bytes: usize, colour, data: &[u8]| {
            let palette: Vec<u8> = (0..bytes).map(|at| (at % 256) as u8).collect();
            Image::from_png(&file((1, 1), colour, BitDepth::Eight, &palette, data))
        };
        for bytes in [4, 5, 137, 767] {
            let refused = of(bytes, ColorType::Indexed, &[0]).unwrap_err().to_string();
            assert!(refused.contains(&format!("the palette has {bytes} bytes")), "{refused}");
        }
        for bytes in [1, 2, 769, 771, 3000] {
            assert!(matches!(of(bytes, ColorType::Indexed, &[0]), Err(MediaError::BadPng { .. })));
        }
        let last = of(768, ColorType::Indexed, &[255]).unwrap();
        assert_eq!(last.pixels(), [253.0 / 255.0, 254.0 / 255.0, 1.0]);
        // For an image with direct colours, the palette is only a suggestion.
        assert_eq!(of(5, ColorType::Rgb, &[0, 51, 255]).unwrap().pixels(), [0.0, 0.2, 1.0]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for channels in [1, 3] {
            let bytes: Vec<u8> = (0..5 * 7 * channels).map(|at| (at * 37 % 256) as u8).collect();
            let image = Image::from_bytes(5, 7, channels, &bytes).unwrap();
            assert_eq!(Image::from_png(&image.to_png().unwrap()).unwrap(), image);
        }
        let nearest = Image::new(1, 2, 1, [0.501, 0.999]).unwrap();
        let read = Image::from_png(&nearest.to_png().unwrap()).unwrap();
        assert_eq!(read, Image::from_bytes(1, 2, 1, &[128, 255]).unwrap());
    }

    #[test]
    fn every_cut_of_a_file_is_refused() {
        let bytes: Vec<u8> = (0..60).collect();
        let file = Image::from_bytes(4, 5, 3, &bytes).unwrap().to_png().unwrap();
        assert!(matches!(Image::from_png(&[]), Err(MediaError::NotPng)));
        for end in 1..file.len() {
            let refused = Image::from_png(&file[..end]).unwrap_err();
            assert!(matches!(refused, MediaError::TruncatedPng), "{end} of {}: {refused}", file.len());
        }
    }

    #[test]
    fn files_that_are_damaged_or_something_else_are_refused() {
        assert!(matches!(Image::from_png(b"\xff\xd8\xff\xe0JFIF"), Err(MediaError::NotPng)));
        let mut file = Image::from_bytes(1, 1, 1, &[9]).unwrap().to_png().unwrap();
        file[20] ^= 1;
        assert!(matches!(Image::from_png(&file), Err(MediaError::BadPng { .. })), "checksum of the header");
        let missing = Image::from_png_file("no such file.png").unwrap_err();
        assert!(missing.to_string().contains("no such file.png"), "{missing}");
    }

    #[test]
    fn a_file_of_too_many_pixels_is_refused_by_its_header() {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, 1 << 16, 1 << 15);
        encoder.set_color(ColorType::Rgb);
        // Write no pixels, so that the header is the only possible reason for the error.
        drop(encoder.write_header().unwrap());
        let refused = Image::from_png(&file).unwrap_err();
        assert!(
            matches!(refused, MediaError::TooManyPixels { height: 32768, width: 65536, .. }),
            "{refused}"
        );
    }
}
