//! Pictures that display the scores of players.

use super::colour::{ACTIVATED, Colour, INACTIVE, PAPER, heat, muted};
use super::reference::Reference;
use super::segmentation::Segmentation;
use super::{Image, check_size};
use crate::error::MediaError;

/// Options of [`overlay`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverlayOptions {
    /// The enlargement factor: each pixel of the image becomes a square with this number of pixels on each
    /// side. `None` chooses the smallest factor for which the longer side has at least 280 pixels.
    pub factor: Option<usize>,
    /// Whether to draw a colour bar on the right. It ranges from the largest |score| at the top to its
    /// negative at the bottom, with zero in the middle.
    pub colour_bar: bool,
}

impl Default for OverlayOptions {
    /// Returns options with an automatic factor and a colour bar.
    fn default() -> Self {
        Self { factor: None, colour_bar: true }
    }
}

/// Minimum length of the longer side in pixels if no factor is given.
const LONGER_SIDE: usize = 280;

/// Draws the scores of players over the image.
///
/// The image is shown in light grey, players with positive scores in blue, and players with negative scores
/// in red. The colour is stronger for a larger |score|; the largest |score| has the full colour. Colour
/// images are converted to grey. If all scores are zero, no colour is shown.
///
/// ```
/// use apportion_media::{Image, OverlayOptions, Segmentation, overlay};
///
/// let image = Image::from_bytes(2, 2, 1, &[0, 255, 255, 0])?;
/// let pixels = Segmentation::pixels(2, 2)?;
/// let picture = overlay(&image, &pixels, &[0.0, 1.5, -3.0, 0.0], &OverlayOptions::default())?;
/// assert_eq!((picture.height(), picture.channels()), (280, 3));
/// let [red, green, blue] = picture.pixel(200, 100) else { panic!("three channels") };
/// assert!(red > green && red > blue);
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
///
/// # Errors
///
/// [`MediaError::SegmentationMismatch`], [`MediaError::ScoreCount`] and [`MediaError::ScoreNotFinite`] unless
/// there is a finite score per player, [`MediaError::EmptyImage`] for a factor of zero,
/// [`MediaError::TooManyPixels`] if the picture would be too large.
pub fn overlay(
    image: &Image,
    segmentation: &Segmentation,
    scores: &[f64],
    options: &OverlayOptions,
) -> Result<Image, MediaError> {
    segmentation.check(image)?;
    let players = segmentation.count();
    if scores.len() != players {
        return Err(MediaError::ScoreCount { actual: scores.len(), players });
    }
    if let Some(player) = scores.iter().position(|score| !score.is_finite()) {
        return Err(MediaError::ScoreNotFinite { player, value: scores[player] });
    }
    let largest = scores.iter().fold(0.0_f64, |largest, score| largest.max(score.abs()));
    let strength = |score: f64| if largest > 0.0 { score / largest } else { 0.0 };
    let grey = image.to_grey();
    let colours = grey.pixels().iter().zip(segmentation.labels());
    let colours = colours.flat_map(|(&grey, &player)| heat(muted(grey), strength(scores[player]))).collect();
    let small = Image { channels: 3, pixels: colours, ..*image };
    let longest = image.height().max(image.width());
    let factor = options.factor.unwrap_or(LONGER_SIDE.div_ceil(longest));
    let picture = small.enlarged(factor)?;
    if options.colour_bar { with_bar(&picture, factor) } else { Ok(picture) }
}

/// Adds a colour bar on the right of `picture`. The bar is `width` pixels wide, and is `width` pixels away
/// from the picture.
fn with_bar(picture: &Image, width: usize) -> Result<Image, MediaError> {
    let height = picture.height();
    let bar = picture.width().saturating_add(width);
    let whole = bar.saturating_add(width);
    check_size(height, whole)?;
    // The centre of the topmost pixel is at 1, the centre of the lowest at −1.
    let down = |row: usize| 2.0 * row as f64 / (height - 1).max(1) as f64;
    Ok(Image::from_fn(height, whole, 3, |row, column, to| {
        if column < picture.width() {
            to.copy_from_slice(picture.pixel(row, column));
        } else if column < bar {
            to.copy_from_slice(&PAPER);
        } else {
            to.copy_from_slice(&heat(muted(1.0), 1.0 - down(row)));
        }
    }))
}

/// Draws the image with `players` masked, usually those with the highest scores, as in figures 3 to 5 of Chen
/// et al., 2019.
///
/// Masked pixels of a grey image become red if they were activated (at least half as bright as white) and
/// blue if not; `reference` is not used. Masked pixels of a colour image take the values of `reference`. All
/// other pixels are unchanged. The picture has the size of the image and three channels; see
/// [`Image::enlarged`].
///
/// ```
/// use apportion_media::{Image, Reference, Segmentation, masked_picture};
///
/// let image = Image::from_bytes(1, 3, 1, &[0, 255, 255])?;
/// let picture = masked_picture(&image, &Segmentation::pixels(1, 3)?, &[0, 2], &Reference::Mean)?;
/// assert!(picture.pixel(0, 0)[2] > picture.pixel(0, 0)[0], "blue: it was black");
/// assert_eq!(picture.pixel(0, 1), [1.0; 3], "not masked");
/// assert!(picture.pixel(0, 2)[0] > picture.pixel(0, 2)[2], "red: it was white");
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
///
/// # Errors
///
/// [`MediaError::SegmentationMismatch`], [`MediaError::NoSuchPlayer`]; for colour images also the errors of
/// [`Reference::image_for`].
pub fn masked_picture(
    image: &Image,
    segmentation: &Segmentation,
    players: &[usize],
    reference: &Reference,
) -> Result<Image, MediaError> {
    segmentation.check(image)?;
    let mut is_masked = vec![false; segmentation.count()];
    for &player in players {
        match is_masked.get_mut(player) {
            Some(masked) => *masked = true,
            None => return Err(MediaError::NoSuchPlayer { player, players: is_masked.len() }),
        }
    }
    let colour = |grey: f64| -> Colour { if grey >= 0.5 { ACTIVATED } else { INACTIVE } };
    let masks = match image.channels() {
        1 => Image {
            channels: 3,
            pixels: image.pixels().iter().flat_map(|&grey| colour(grey)).collect(),
            ..*image
        },
        _ => reference.image_for(image)?,
    };
    let mut picture = image.to_rgb();
    let pixels = picture.pixels.chunks_exact_mut(3).zip(masks.pixels.chunks_exact(3));
    for ((pixel, mask), &player) in pixels.zip(segmentation.labels()) {
        if is_masked[player] {
            pixel.copy_from_slice(mask);
        }
    }
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: OverlayOptions = OverlayOptions { factor: Some(1), colour_bar: false };

    #[test]
    fn scores_colour_the_pixels_of_their_players() {
        let image = Image::new(1, 4, 1, [0.0, 0.0, 1.0, 1.0]).unwrap();
        let regions = Segmentation::from_labels(1, 4, &[0, 1, 1, 2]).unwrap();
        let picture = overlay(&image, &regions, &[0.0, 2.0, -1.0], &PLAIN).unwrap();
        assert_eq!(picture.pixel(0, 0), heat(muted(0.0), 0.0));
        assert_eq!(picture.pixel(0, 0), [muted(0.0); 3]);
        assert_eq!(picture.pixel(0, 1), heat(muted(0.0), 1.0));
        assert_eq!(picture.pixel(0, 2), heat(muted(1.0), 1.0));
        assert_eq!(picture.pixel(0, 3), heat(muted(1.0), -0.5));
        let bytes: Vec<u8> = picture.pixels().iter().map(|value| (value * 255.0).round() as u8).collect();
        assert_eq!(
            bytes.chunks_exact(3).collect::<Vec<_>>(),
            [[158, 158, 158], [20, 80, 195], [30, 90, 205], [234, 146, 149]]
        );
    }

    #[test]
    fn scores_of_any_size_have_the_same_picture() {
        let image = Image::new(1, 2, 3, [0.2, 0.4, 0.6, 0.1, 0.0, 0.9]).unwrap();
        let pixels = Segmentation::pixels(1, 2).unwrap();
        let of = |scores: [f64; 2]| overlay(&image, &pixels, &scores, &PLAIN).unwrap();
        for factor in [1e-300, 1e300] {
            assert_eq!(of([factor, -0.5 * factor]), of([1.0, -0.5]));
        }
        let nothing = of([0.0, -0.0]);
        assert_eq!(nothing.pixel(0, 1), [muted(image.to_grey().pixels()[1]); 3]);
    }

    #[test]
    fn a_bar_of_colours_goes_from_blue_by_nothing_to_red() {
        let image = Image::new(3, 2, 1, [0.0; 6]).unwrap();
        let options = OverlayOptions { colour_bar: true, ..PLAIN };
        let picture = overlay(&image, &Segmentation::pixels(3, 2).unwrap(), &[1.0; 6], &options).unwrap();
        assert_eq!((picture.height(), picture.width()), (3, 4));
        let column = |column: usize| [0, 1, 2].map(|row| picture.pixel(row, column).to_vec());
        assert_eq!(column(2), [0, 1, 2].map(|_| PAPER.to_vec()));
        assert_eq!(column(3), [1.0, 0.0, -1.0].map(|strength| heat(muted(1.0), strength).to_vec()));
    }

    #[test]
    fn pictures_of_small_images_are_large_enough_to_see() {
        for (height, width, expected) in
            [(28, 28, (280, 280)), (32, 32, (288, 288)), (1, 3, (94, 282)), (300, 2, (300, 2))]
        {
            let image = Image::new(height, width, 1, vec![0.5; height * width]).unwrap();
            let whole = Segmentation::patches(height, width, height.max(width)).unwrap();
            let options = OverlayOptions { colour_bar: false, ..OverlayOptions::default() };
            let picture = overlay(&image, &whole, &[1.0], &options).unwrap();
            assert_eq!((picture.height(), picture.width()), expected);
        }
    }

    #[test]
    fn masked_pixels_of_a_colour_image_become_the_reference() {
        let image = Image::new(1, 3, 3, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]).unwrap();
        let regions = Segmentation::from_labels(1, 3, &[0, 1, 0]).unwrap();
        let picture =
            masked_picture(&image, &regions, &[0], &Reference::Values(vec![0.0, 0.5, 1.0])).unwrap();
        assert_eq!(picture.pixels(), [0.0, 0.5, 1.0, 0.4, 0.5, 0.6, 0.0, 0.5, 1.0]);
        assert_eq!(masked_picture(&image, &regions, &[], &Reference::Mean).unwrap(), image);
    }

    #[test]
    fn masked_pixels_of_a_grey_image_say_what_they_were() {
        let image = Image::new(1, 4, 1, [0.0, 0.49, 0.5, 1.0]).unwrap();
        let pixels = Segmentation::pixels(1, 4).unwrap();
        let picture = masked_picture(&image, &pixels, &[3, 1, 2, 3], &Reference::Mean).unwrap();
        assert_eq!(picture.pixels(), [[0.0; 3], INACTIVE, ACTIVATED, ACTIVATED].concat());
    }

    #[test]
    fn pictures_of_something_else_are_refused() {
        let image = Image::new(2, 2, 1, [0.0; 4]).unwrap();
        let pixels = Segmentation::pixels(2, 2).unwrap();
        let refusal =
            |scores: &[f64], options: &OverlayOptions| overlay(&image, &pixels, scores, options).unwrap_err();
        assert!(matches!(refusal(&[0.0; 3], &PLAIN), MediaError::ScoreCount { actual: 3, players: 4 }));
        let infinite = refusal(&[0.0, 1.0, f64::INFINITY, 0.0], &PLAIN);
        assert!(matches!(infinite, MediaError::ScoreNotFinite { player: 2, .. }));
        for factor in [0, 1 << 12] {
            let options = OverlayOptions { factor: Some(factor), colour_bar: true };
            let refused = refusal(&[0.0; 4], &options);
            let is_expected =
                matches!(refused, MediaError::EmptyImage { .. } | MediaError::TooManyPixels { .. });
            assert!(is_expected, "{factor}: {refused}");
        }
        let other = Segmentation::pixels(4, 1).unwrap();
        assert!(matches!(
            overlay(&image, &other, &[0.0; 4], &PLAIN),
            Err(MediaError::SegmentationMismatch { .. })
        ));
        let none = masked_picture(&image, &pixels, &[0, 4], &Reference::Mean).unwrap_err();
        assert!(matches!(none, MediaError::NoSuchPlayer { player: 4, players: 4 }));
    }
}
