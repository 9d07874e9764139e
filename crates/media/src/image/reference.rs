//! Values of absent pixels, and explicands created from images.

use apportion_games::Background;

use super::layout::Layout;
use super::scale::PixelScale;
use super::segmentation::Segmentation;
use super::{Image, check_channels};
use crate::error::MediaError;
use crate::masked::Masked;

/// The values that replace the pixels of absent players. They are image values from 0 to 1, before conversion
/// to the model's scale.
#[derive(Debug, Clone, PartialEq)]
pub enum Reference {
    /// The mean of the image, one number for all its pixels and channels: "the average pixel strength" of
    /// section 5.2 of Chen et al. (2019). For the mean of a data set, use [`Value`](Self::Value).
    Mean,
    /// The mean of each channel of the image, which is its average colour.
    ChannelMeans,
    /// One number for all pixels and channels.
    Value(f64),
    /// One number for each channel.
    Values(Vec<f64>),
    /// The pixels of another image of the same size, such as a blurred version or a background.
    Image(Image),
}

impl Reference {
    /// Returns the values of absent pixels of `image`, as an image of the same size.
    ///
    /// # Errors
    ///
    /// [`MediaError::ReferenceValue`] for a value that is not between 0 and 1, [`MediaError::ImageMismatch`]
    /// for values or an image with different channels or a different size.
    pub fn image_for(&self, image: &Image) -> Result<Image, MediaError> {
        let wanted = (image.height(), image.width(), image.channels());
        let colour = match self {
            Self::Mean => vec![image.mean(); image.channels()],
            Self::ChannelMeans => image.channel_means(),
            Self::Value(value) => vec![*value; image.channels()],
            Self::Values(values) => values.clone(),
            Self::Image(other) => {
                let given = (other.height(), other.width(), other.channels());
                let what = "the reference image";
                return match given == wanted {
                    true => Ok(other.clone()),
                    false => Err(MediaError::ImageMismatch { what, actual: given, expected: wanted }),
                };
            }
        };
        check_channels(colour.len())?;
        if colour.len() != image.channels() {
            let given = (image.height(), image.width(), colour.len());
            return Err(MediaError::ImageMismatch { what: "the reference", actual: given, expected: wanted });
        }
        if let Some(&value) = colour.iter().find(|value| !(0.0..=1.0).contains(*value)) {
            return Err(MediaError::ReferenceValue { value });
        }
        Ok(Image::from_fn(image.height(), image.width(), image.channels(), |_, _, to| {
            to.copy_from_slice(&colour);
        }))
    }
}

impl Image {
    /// Makes this image the explicand of the players of `segmentation`, in the rows of a model that expects
    /// images in `layout` on `scale`. Pixels of absent players take the values of `reference`.
    ///
    /// A player consists of all channels of its pixels. Player i of the game is player i of the segmentation.
    ///
    /// ```
    /// use apportion_games::{Coalitions, Game};
    /// use apportion_media::{Image, Layout, PixelScale, Reference, Segmentation};
    ///
    /// let image = Image::from_bytes(2, 4, 1, &[0, 0, 255, 255, 0, 0, 255, 0])?;
    /// let layout = Layout::from_shape(&[1, 2, 4])?;
    /// let patches = Segmentation::patches(2, 4, 2)?;
    /// let masked = image.masked(&layout, &PixelScale::default(), &patches, &Reference::Value(0.5))?;
    ///
    /// let brightness = |row: &[f64]| row.iter().sum::<f64>();
    /// let mut values = [0.0; 4];
    /// masked.game(&brightness)?.values(&Coalitions::from_masks(2, 0..4), &mut values)?;
    /// assert_eq!(values, [4.0, 2.0, 5.0, 3.0]);
    /// # Ok::<(), apportion_media::MediaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MediaError::ImageMismatch`], [`MediaError::ScaleMismatch`] and [`MediaError::SegmentationMismatch`]
    /// if image, layout, scale, segmentation and reference do not have the same size and channels;
    /// [`MediaError::ReferenceValue`].
    pub fn masked(
        &self,
        layout: &Layout,
        scale: &PixelScale,
        segmentation: &Segmentation,
        reference: &Reference,
    ) -> Result<Masked, MediaError> {
        let explicand = layout.row(self, scale)?;
        segmentation.check(self)?;
        let absent = layout.row_of("the reference image", &reference.image_for(self)?, scale)?;
        let features =
            |pixel: usize| (0..layout.channels()).map(move |channel| layout.feature_at(pixel, channel));
        let players = segmentation.pixels_by_player().into_iter();
        let players = players.map(|pixels| pixels.into_iter().flat_map(features).collect()).collect();
        Masked::new(explicand, Background::baseline(absent)?, players)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChannelOrder;

    fn colours() -> Image {
        Image::new(1, 2, 3, [0.0, 0.5, 1.0, 0.5, 0.5, 0.5]).unwrap()
    }

    #[test]
    fn references_are_means_values_or_images() {
        let image = colours();
        let of = |reference: Reference| reference.image_for(&image).unwrap().pixels().to_vec();
        assert_eq!(of(Reference::Mean), [0.5; 6]);
        assert_eq!(of(Reference::ChannelMeans), [0.25, 0.5, 0.75, 0.25, 0.5, 0.75]);
        assert_eq!(of(Reference::Value(0.125)), [0.125; 6]);
        assert_eq!(of(Reference::Values(vec![0.0, 0.5, 1.0])), [0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
        assert_eq!(of(Reference::Image(image.clone())), image.pixels());
    }

    #[test]
    fn references_that_do_not_fit_are_refused() {
        let refusal = |reference: Reference| reference.image_for(&colours()).unwrap_err();
        for wrong in [-0.5, 255.0, f64::NAN] {
            assert!(matches!(refusal(Reference::Value(wrong)), MediaError::ReferenceValue { .. }));
            let values = Reference::Values(vec![0.0, wrong, 1.0]);
            assert!(matches!(refusal(values), MediaError::ReferenceValue { .. }));
        }
        let grey = refusal(Reference::Values(vec![0.5]));
        assert!(matches!(grey, MediaError::ImageMismatch { actual: (1, 2, 1), expected: (1, 2, 3), .. }));
        let none = refusal(Reference::Values(vec![]));
        assert!(matches!(none, MediaError::ChannelCount { actual: 0 }));
        let small = refusal(Reference::Image(Image::new(1, 1, 3, [0.0; 3]).unwrap()));
        assert!(small.to_string().contains("reference"), "{small}");
    }

    #[test]
    fn players_have_all_channels_of_their_pixels() {
        let segmentation = Segmentation::pixels(1, 2).unwrap();
        for (order, players) in [
            (ChannelOrder::First, [vec![0, 2, 4], vec![1, 3, 5]]),
            (ChannelOrder::Last, [vec![0, 1, 2], vec![3, 4, 5]]),
        ] {
            let layout = Layout::new(1, 2, 3, order).unwrap();
            let scale = PixelScale::new(0.0, 2.0).unwrap();
            let masked = colours().masked(&layout, &scale, &segmentation, &Reference::Value(0.25)).unwrap();
            assert_eq!(masked.players(), players);
            assert_eq!(masked.reference().row(0), [0.5; 6]);
            let row = masked.row(&[true, false]);
            assert_eq!(players[0].iter().map(|&feature| row[feature]).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        }
        let other = Segmentation::pixels(2, 1).unwrap();
        let layout = Layout::new(1, 2, 3, ChannelOrder::First).unwrap();
        let refused =
            colours().masked(&layout, &PixelScale::default(), &other, &Reference::Mean).unwrap_err();
        assert!(matches!(refused, MediaError::SegmentationMismatch { actual: (2, 1), expected: (1, 2) }));
    }
}
