//! Positions of an image's pixels in a model's row.

use super::scale::PixelScale;
use super::{Image, check_channels, check_size};
use crate::error::MediaError;

/// The order in which the numbers of an image are stored in a row of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelOrder {
    /// The first channel of all pixels, row by row, then the second channel, and so on: shape \[channels,
    /// height, width\].
    First,
    /// Pixel by pixel, with the channels of a pixel next to each other: shape \[height, width, channels\].
    Last,
}

/// The image size that a model expects, and the positions of the pixels in its rows.
///
/// ```
/// use apportion_media::{ChannelOrder, Layout};
///
/// let layout = Layout::from_shape(&[3, 32, 32])?;
/// assert_eq!((layout.height(), layout.width(), layout.channels()), (32, 32, 3));
/// assert_eq!(layout.order(), ChannelOrder::First);
/// // Green of the pixel in row 1, column 2.
/// assert_eq!(layout.feature(1, 2, 1), 32 * 32 + 32 + 2);
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    height: usize,
    width: usize,
    channels: usize,
    order: ChannelOrder,
}

impl Layout {
    /// Returns the layout of images of `height` × `width` pixels with `channels` numbers each.
    ///
    /// # Errors
    ///
    /// [`MediaError::EmptyImage`], [`MediaError::TooManyPixels`], [`MediaError::ChannelCount`].
    pub fn new(
        height: usize,
        width: usize,
        channels: usize,
        order: ChannelOrder,
    ) -> Result<Self, MediaError> {
        check_size(height, width)?;
        check_channels(channels)?;
        Ok(Self { height, width, channels, order })
    }

    /// Returns the layout for the shape of a row, without the batch dimension. \[28, 28\] is grey; \[1, 28,
    /// 28\] and \[3, 32, 32\] are channels-first, \[28, 28, 1\] and \[32, 32, 3\] channels-last.
    ///
    /// # Errors
    ///
    /// [`MediaError::Shape`] if the shape is not an image shape or is ambiguous: a flat row (see
    /// [`flat_square`](Self::flat_square)), or 1 or 3 at both ends; [`MediaError::EmptyImage`] and
    /// [`MediaError::TooManyPixels`].
    pub fn from_shape(shape: &[usize]) -> Result<Self, MediaError> {
        let refuse = |problem| Err(MediaError::Shape { shape: shape.to_vec(), problem });
        let is_channels = |size: usize| size == 1 || size == 3;
        match *shape {
            [_] => refuse("a flat row does not determine the width; set height, width and channels"),
            [height, width] => Self::new(height, width, 1, ChannelOrder::Last),
            [first, _, last] if is_channels(first) && is_channels(last) => {
                refuse("the first or the last dimension may be the channels; set height, width and channels")
            }
            [channels, height, width] if is_channels(channels) => {
                Self::new(height, width, channels, ChannelOrder::First)
            }
            [height, width, channels] if is_channels(channels) => {
                Self::new(height, width, channels, ChannelOrder::Last)
            }
            [_, _, _] => refuse("the first or the last dimension must be the channels, 1 or 3"),
            _ => refuse("expected two dimensions (height, width) or three (with the channels)"),
        }
    }

    /// Returns the layout of square grey images in flat rows of `features` numbers, row by row. For example,
    /// 784 features are 28 × 28 pixels.
    ///
    /// # Errors
    ///
    /// [`MediaError::Shape`] if the number is not a square number, otherwise same as [`new`](Self::new).
    pub fn flat_square(features: usize) -> Result<Self, MediaError> {
        let side = features.isqrt();
        match side * side == features {
            true => Self::new(side, side, 1, ChannelOrder::Last),
            false => Err(MediaError::Shape {
                shape: vec![features],
                problem: "the number of features is not a square number; set height, width and channels",
            }),
        }
    }

    /// Returns the number of rows of pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the number of pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of channels of a pixel: 1 or 3.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns the order of an image's numbers in a row.
    pub fn order(&self) -> ChannelOrder {
        self.order
    }

    /// Returns the number of features in a row of the model.
    pub fn features(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Returns the column of a row that contains `channel` of a pixel.
    ///
    /// # Panics
    ///
    /// If the pixel or channel does not exist.
    pub fn feature(&self, row: usize, column: usize, channel: usize) -> usize {
        let is_inside = row < self.height && column < self.width && channel < self.channels;
        assert!(is_inside, "channel {channel} of pixel {row}, {column} is outside the layout");
        self.feature_at(row * self.width + column, channel)
    }

    /// Returns the column of `channel` of the pixel with index `pixel`, counted row by row.
    pub(super) fn feature_at(&self, pixel: usize, channel: usize) -> usize {
        match self.order {
            ChannelOrder::First => channel * self.height * self.width + pixel,
            ChannelOrder::Last => pixel * self.channels + channel,
        }
    }

    /// Returns the row of `image`, with its pixels converted to the model's `scale`.
    ///
    /// # Errors
    ///
    /// [`MediaError::ImageMismatch`] if the image has a different size or different channels,
    /// [`MediaError::ScaleMismatch`] if the scale has different channels.
    pub fn row(&self, image: &Image, scale: &PixelScale) -> Result<Vec<f64>, MediaError> {
        self.row_of("the image", image, scale)
    }

    /// Returns the row of `image`; errors refer to the image as `what`.
    pub(super) fn row_of(
        &self,
        what: &'static str,
        image: &Image,
        scale: &PixelScale,
    ) -> Result<Vec<f64>, MediaError> {
        let given = (image.height(), image.width(), image.channels());
        let wanted = (self.height, self.width, self.channels);
        if given != wanted {
            return Err(MediaError::ImageMismatch { what, actual: given, expected: wanted });
        }
        if let Some(given) = scale.channels().filter(|&given| given != self.channels) {
            return Err(MediaError::ScaleMismatch { actual: given, expected: self.channels });
        }
        let mut row = vec![0.0; self.features()];
        for (pixel, numbers) in image.pixels().chunks_exact(self.channels).enumerate() {
            for (channel, &number) in numbers.iter().enumerate() {
                row[self.feature_at(pixel, channel)] = scale.value(channel, number);
            }
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_shape(shape: &[usize]) -> (usize, usize, usize, ChannelOrder) {
        let layout = Layout::from_shape(shape).unwrap();
        assert_eq!(layout.features(), shape.iter().product());
        (layout.height(), layout.width(), layout.channels(), layout.order())
    }

    #[test]
    fn shapes_of_images_are_told_apart() {
        assert_eq!(from_shape(&[1, 28, 27]), (28, 27, 1, ChannelOrder::First));
        assert_eq!(from_shape(&[3, 32, 31]), (32, 31, 3, ChannelOrder::First));
        assert_eq!(from_shape(&[28, 27, 1]), (28, 27, 1, ChannelOrder::Last));
        assert_eq!(from_shape(&[32, 31, 3]), (32, 31, 3, ChannelOrder::Last));
        assert_eq!(from_shape(&[28, 27]), (28, 27, 1, ChannelOrder::Last));
    }

    #[test]
    fn shapes_of_several_kinds_of_images_or_none_are_refused() {
        for shape in [&[784][..], &[1, 28, 3], &[3, 3, 3], &[4, 28, 28], &[1, 3, 28, 28], &[]] {
            let refused = Layout::from_shape(shape).unwrap_err();
            assert!(
                matches!(&refused, MediaError::Shape { shape: given, .. } if given == shape),
                "{refused}"
            );
        }
        assert!(matches!(Layout::from_shape(&[1, 0, 28]), Err(MediaError::EmptyImage { .. })));
        let square = Layout::flat_square(784).unwrap();
        assert_eq!((square.height(), square.width(), square.channels()), (28, 28, 1));
        assert!(matches!(Layout::flat_square(785), Err(MediaError::Shape { .. })));
        assert!(matches!(Layout::flat_square(0), Err(MediaError::EmptyImage { .. })));
    }

    #[test]
    fn a_row_has_its_channels_first_or_last() {
        let image = Image::new(1, 2, 3, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]).unwrap();
        let scale = PixelScale::per_channel([(0.0, 1.0), (0.0, 10.0), (1.0, 2.0)]).unwrap();
        let row = |order| Layout::new(1, 2, 3, order).unwrap().row(&image, &scale).unwrap();
        assert_eq!(row(ChannelOrder::Last), [0.0, 1.0, 1.2, 0.3, 4.0, 1.5]);
        assert_eq!(row(ChannelOrder::First), [0.0, 0.3, 1.0, 4.0, 1.2, 1.5]);
        for order in [ChannelOrder::First, ChannelOrder::Last] {
            let layout = Layout::new(1, 2, 3, order).unwrap();
            let row = layout.row(&image, &PixelScale::default()).unwrap();
            for (column, channel) in (0..2).flat_map(|column| (0..3).map(move |channel| (column, channel))) {
                assert_eq!(row[layout.feature(0, column, channel)], image.pixel(0, column)[channel]);
            }
        }
    }

    #[test]
    fn images_and_scales_of_another_shape_are_refused() {
        let layout = Layout::from_shape(&[1, 2, 3]).unwrap_err();
        assert!(layout.to_string().contains("[1, 2, 3]"), "{layout}");
        let layout = Layout::from_shape(&[1, 2, 2]).unwrap();
        let image = Image::new(2, 1, 3, [0.0; 6]).unwrap();
        let refused = layout.row(&image, &PixelScale::default()).unwrap_err();
        assert!(matches!(refused, MediaError::ImageMismatch { actual: (2, 1, 3), expected: (2, 2, 1), .. }));
        let scale = PixelScale::per_channel([(0.0, 1.0); 3]).unwrap();
        let refused = layout.row(&Image::new(2, 2, 1, [0.0; 4]).unwrap(), &scale).unwrap_err();
        assert!(matches!(refused, MediaError::ScaleMismatch { actual: 3, expected: 1 }));
    }
}
