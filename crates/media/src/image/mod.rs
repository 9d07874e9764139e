//! Images: pixels, PNG files, division into players, and pictures of scores.
//!
//! # Notation
//!
//! An image has `height` rows of `width` pixels. A pixel has one number (grey) or three (red, green, blue),
//! from 0 (black) to 1. Numbers are stored row by row and pixel by pixel, with the channels of a pixel next
//! to each other.

mod colour;
mod layout;
mod picture;
mod png;
mod reference;
mod scale;
mod segmentation;

pub use layout::{ChannelOrder, Layout};
pub use picture::{OverlayOptions, masked_picture, overlay};
pub use reference::Reference;
pub use scale::PixelScale;
pub use segmentation::Segmentation;

use crate::error::MediaError;

/// An image in grey or colour: `height` × `width` pixels of one or three numbers from 0 to 1, channels last.
///
/// ```
/// use apportion_media::Image;
///
/// let image = Image::from_bytes(2, 2, 1, &[0, 51, 102, 255])?;
/// assert_eq!((image.height(), image.width(), image.channels()), (2, 2, 1));
/// assert_eq!(image.pixel(0, 1), [0.2]);
/// assert_eq!(image.mean(), 0.4);
/// assert_eq!(Image::from_png(&image.to_png()?)?, image);
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    height: usize,
    width: usize,
    channels: usize,
    pixels: Vec<f64>,
}

impl Image {
    /// Maximum number of pixels of an image: 2²² (2048 × 2048). Files that declare more are not decoded.
    pub const MAX_PIXELS: usize = 1 << 22;

    /// Creates an image of `height` × `width` pixels with `channels` numbers from 0 to 1 each, row by row,
    /// channels last.
    ///
    /// # Errors
    ///
    /// [`MediaError::EmptyImage`], [`MediaError::TooManyPixels`], [`MediaError::ChannelCount`] unless
    /// `channels` is 1 or 3, [`MediaError::PixelCount`] for a different number of values,
    /// [`MediaError::PixelRange`] for a value that is not between 0 and 1.
    pub fn new(
        height: usize,
        width: usize,
        channels: usize,
        pixels: impl Into<Vec<f64>>,
    ) -> Result<Self, MediaError> {
        let pixels = pixels.into();
        check_count(height, width, channels, pixels.len())?;
        if let Some(at) = pixels.iter().position(|value| !(0.0..=1.0).contains(value)) {
            let (row, column) = (at / channels / width, at / channels % width);
            return Err(MediaError::PixelRange { row, column, value: pixels[at] });
        }
        Ok(Self { height, width, channels, pixels })
    }

    /// Creates an image of `height` × `width` pixels with `channels` bytes each, row by row, channels last;
    /// byte b becomes b / 255.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new), except [`MediaError::PixelRange`].
    pub fn from_bytes(
        height: usize,
        width: usize,
        channels: usize,
        bytes: &[u8],
    ) -> Result<Self, MediaError> {
        check_count(height, width, channels, bytes.len())?;
        Ok(Self {
            height,
            width,
            channels,
            pixels: bytes.iter().map(|&byte| f64::from(byte) / 255.0).collect(),
        })
    }

    /// Creates an image from a function. `pixel` writes the numbers for a row and column, which must be
    /// between 0 and 1.
    fn from_fn(
        height: usize,
        width: usize,
        channels: usize,
        pixel: impl Fn(usize, usize, &mut [f64]),
    ) -> Self {
        let mut pixels = vec![0.0; height * width * channels];
        for (at, mine) in pixels.chunks_exact_mut(channels).enumerate() {
            pixel(at / width, at % width, mine);
        }
        Self { height, width, channels, pixels }
    }

    /// Returns the number of rows of pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the number of pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of channels of a pixel: 1 (grey) or 3 (red, green, blue).
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns all numbers, row by row, channels last.
    pub fn pixels(&self) -> &[f64] {
        &self.pixels
    }

    /// Returns the numbers of the pixel in `row` and `column`.
    ///
    /// # Panics
    ///
    /// If the pixel does not exist.
    pub fn pixel(&self, row: usize, column: usize) -> &[f64] {
        assert!(row < self.height && column < self.width, "pixel {row}, {column} is outside the image");
        let start = (row * self.width + column) * self.channels;
        &self.pixels[start..start + self.channels]
    }

    /// Returns the mean of all pixel values, over all channels.
    pub fn mean(&self) -> f64 {
        self.pixels.iter().sum::<f64>() / self.pixels.len() as f64
    }

    /// Returns the mean of each channel.
    pub fn channel_means(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.channels];
        for pixel in self.pixels.chunks_exact(self.channels) {
            sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += value);
        }
        sums.iter().map(|sum| sum / (self.height * self.width) as f64).collect()
    }

    /// Converts the image to grey: Y = 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), computed from the stored
    /// numbers. A grey image is returned unchanged.
    pub fn to_grey(&self) -> Self {
        match self.pixels.as_chunks::<3>() {
            (pixels, []) if self.channels == 3 => Self {
                channels: 1,
                // Compute relative to green, so that three equal numbers result in exactly that number.
                pixels: pixels
                    .iter()
                    .map(|[red, green, blue]| green + 0.299 * (red - green) + 0.114 * (blue - green))
                    .map(|grey| grey.clamp(0.0, 1.0))
                    .collect(),
                ..*self
            },
            _ => self.clone(),
        }
    }

    /// Converts the image to three channels. The number of a grey pixel is repeated in each channel.
    pub fn to_rgb(&self) -> Self {
        if self.channels == 3 {
            return self.clone();
        }
        Self { channels: 3, pixels: self.pixels.iter().flat_map(|&grey| [grey; 3]).collect(), ..*self }
    }

    /// Enlarges the image: every pixel becomes `factor` × `factor` pixels.
    ///
    /// # Errors
    ///
    /// [`MediaError::EmptyImage`] for a factor of zero, [`MediaError::TooManyPixels`].
    pub fn enlarged(&self, factor: usize) -> Result<Self, MediaError> {
        let (height, width) = (self.height.saturating_mul(factor), self.width.saturating_mul(factor));
        check_size(height, width)?;
        let pixel = |row: usize, column: usize, to: &mut [f64]| {
            to.copy_from_slice(self.pixel(row / factor, column / factor));
        };
        Ok(Self::from_fn(height, width, self.channels, pixel))
    }
}

/// Returns the number of pixels of an image of this size, or an error if it is zero or too large.
fn check_size(height: usize, width: usize) -> Result<usize, MediaError> {
    match height.checked_mul(width) {
        Some(0) => Err(MediaError::EmptyImage { height, width }),
        Some(pixels) if pixels <= Image::MAX_PIXELS => Ok(pixels),
        _ => Err(MediaError::TooManyPixels { height, width, max: Image::MAX_PIXELS }),
    }
}

/// Returns an error unless the number of channels is 1 or 3.
fn check_channels(channels: usize) -> Result<(), MediaError> {
    match channels {
        1 | 3 => Ok(()),
        given => Err(MediaError::ChannelCount { actual: given }),
    }
}

/// Returns an error unless an image of this size has `given` numbers.
fn check_count(height: usize, width: usize, channels: usize, given: usize) -> Result<(), MediaError> {
    let pixels = check_size(height, width)?;
    check_channels(channels)?;
    match pixels * channels == given {
        true => Ok(()),
        false => Err(MediaError::PixelCount { actual: given, height, width, channels }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_no_image_are_refused() {
        let refusal = |height, width, channels, pixels: &[f64]| {
            Image::new(height, width, channels, pixels).unwrap_err()
        };
        assert!(matches!(refusal(0, 3, 1, &[]), MediaError::EmptyImage { height: 0, width: 3 }));
        assert!(matches!(refusal(1, 1, 2, &[0.0; 2]), MediaError::ChannelCount { actual: 2 }));
        assert!(matches!(refusal(2, 2, 3, &[0.0; 4]), MediaError::PixelCount { actual: 4, .. }));
        assert!(matches!(refusal(usize::MAX, 2, 1, &[0.0]), MediaError::TooManyPixels { .. }));
        assert!(matches!(refusal(1 << 11, 1 + (1 << 11), 1, &[0.0]), MediaError::TooManyPixels { .. }));
        for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let refused = refusal(2, 2, 3, &[&[0.5; 8][..], &[wrong], &[0.0; 3]].concat());
            assert!(matches!(refused, MediaError::PixelRange { row: 1, column: 0, .. }), "{wrong}");
        }
    }

    #[test]
    fn grey_weighs_the_channels_and_leaves_equal_ones_alone() {
        let image = Image::new(1, 4, 3, [1., 0., 0., 0., 1., 0., 0., 0., 1., 0.3, 0.3, 0.3]).unwrap();
        let grey = image.to_grey();
        let difference = grey.pixels().iter().zip([0.299, 0.587, 0.114, 0.3]).map(|(a, b)| (a - b).abs());
        assert!(difference.fold(0.0, f64::max) < 1e-15);
        assert_eq!(grey.pixels()[3], 0.3);
        assert_eq!(grey.to_rgb().to_grey(), grey);
        assert_eq!((grey.to_grey(), image.to_rgb()), (grey, image));
    }

    #[test]
    fn means_are_of_all_numbers_or_of_a_channel() {
        let image = Image::new(1, 2, 3, [0.0, 0.5, 1.0, 0.5, 0.5, 0.5]).unwrap();
        assert_eq!(image.mean(), 0.5);
        assert_eq!(image.channel_means(), [0.25, 0.5, 0.75]);
    }

    #[test]
    fn an_enlarged_image_repeats_its_pixels() {
        let image = Image::new(1, 2, 1, [0.0, 1.0]).unwrap();
        let large = image.enlarged(2).unwrap();
        assert_eq!((large.height(), large.width()), (2, 4));
        assert_eq!(large.pixels(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        assert!(matches!(image.enlarged(0), Err(MediaError::EmptyImage { .. })));
        assert!(matches!(image.enlarged(1 << 40), Err(MediaError::TooManyPixels { .. })));
    }
}
