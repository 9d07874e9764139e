//! Tests with the image of a digit, from the file to pictures of its patches' attributions.

use apportion_games::{Adjacency, Coalitions, Game};
use apportion_media::{
    Image, Layout, Masked, OverlayOptions, PixelScale, Reference, Saliency, Segmentation, masked_picture,
    overlay,
};
use apportion_values::{Semivalue, enumerate};
use proptest::prelude::*;

/// A digit 3 of 28 × 28 pixels, light on black.
const DIGIT: &[u8] = include_bytes!("../fixtures/three.png");

/// The same pixels, interlaced.
const INTERLACED: &[u8] = include_bytes!("../fixtures/three_interlaced.png");

fn digit() -> Image {
    Image::from_png(DIGIT).unwrap()
}

fn masked(segmentation: &Segmentation, reference: &Reference) -> Masked {
    let layout = Layout::from_shape(&[1, 28, 28]).unwrap();
    digit().masked(&layout, &PixelScale::default(), segmentation, reference).unwrap()
}

/// Computes a linear model of the pixels, with weights that grow to the right and upwards.
fn likeness(row: &[f64]) -> f64 {
    row.iter().enumerate().map(|(pixel, value)| weight(pixel) * value).sum()
}

fn weight(pixel: usize) -> f64 {
    (pixel % 28) as f64 / 28.0 - (pixel / 28) as f64 / 56.0
}

/// Draws the image in characters: denser ones for brighter pixels, and `R` or `B` for coloured pixels.
fn in_characters(image: &Image) -> String {
    let character = |pixel: &[f64]| match *pixel {
        [grey] => [' ', '.', ':', 'o', '#'][(grey * 4.0).round() as usize],
        [red, green, blue] if red == green && green == blue => {
            [' ', '.', ':', 'o', '#'][(red * 4.0).round() as usize]
        }
        [red, _, blue] if red > blue => 'R',
        _ => 'B',
    };
    let rows = image.pixels().chunks_exact(image.width() * image.channels());
    let line = |row: &[f64]| row.chunks_exact(image.channels()).map(character).collect::<String>();
    rows.map(|row| format!("|{}|\n", line(row))).collect()
}

#[test]
fn the_digit_in_the_file_is_a_three() {
    let image = digit();
    assert_eq!((image.height(), image.width(), image.channels()), (28, 28, 1));
    insta::assert_snapshot!(in_characters(&image));
    assert_eq!(Image::from_png(INTERLACED).unwrap(), image);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/three.png");
    assert_eq!(Image::from_png_file(path).unwrap(), image);
}

#[test]
fn patches_get_what_their_pixels_are_worth_to_an_additive_model() {
    for (patch, reference) in
        [(7, Reference::Mean), (10, Reference::Value(0.2)), (28, Reference::ChannelMeans)]
    {
        let patches = Segmentation::patches(28, 28, patch).unwrap();
        let masked = masked(&patches, &reference);
        let found = enumerate(&masked.game(&likeness).unwrap(), Semivalue::Shapley).unwrap();
        let (image, absent) = (digit(), reference.image_for(&digit()).unwrap());
        for player in 0..patches.count() {
            let worth = |pixel: usize| weight(pixel) * (image.pixels()[pixel] - absent.pixels()[pixel]);
            let expected: f64 = patches.pixels_of(player).into_iter().map(worth).sum();
            assert!((found.values[player] - expected).abs() < 1e-11, "patch {player} of {patch}");
        }
    }
}

#[test]
fn superpixels_come_from_a_picture_of_them() {
    let colour = |row: usize, column: usize| match (row + column, column) {
        (0..20, _) => [200, 0, 0],
        (_, 0..14) => [0, 200, 0],
        _ => [0, 0, 200],
    };
    let bytes: Vec<u8> = (0..784).flat_map(|pixel| colour(pixel / 28, pixel % 28)).collect();
    let drawn = Image::from_bytes(28, 28, 3, &bytes).unwrap().to_png().unwrap();
    let regions = Segmentation::from_label_image(&Image::from_png(&drawn).unwrap());
    assert_eq!((regions.count(), regions.rows_columns()), (3, None));
    assert_eq!(regions.borders(Adjacency::Four), [(0, 1), (0, 2), (1, 2)]);
    let masked = masked(&regions, &Reference::Value(0.0));
    let mut values = [0.0; 8];
    masked.game(&likeness).unwrap().values(&Coalitions::from_masks(3, 0..8), &mut values).unwrap();
    assert!((values[7] - likeness(masked.explicand())).abs() < 1e-12);
    assert!((values[1] + values[2] + values[4] - values[7]).abs() < 1e-12);
}

#[test]
fn the_top_pixels_of_saliency_are_red_on_the_digit_and_blue_beside_it() {
    let pixels = Segmentation::pixels(28, 28).unwrap();
    let saliency = Saliency::numerical(
        &likeness,
        &masked(&pixels, &Reference::Mean),
        |outputs| outputs[0],
        Saliency::STEP,
    )
    .unwrap();
    let expected: Vec<f64> = (0..784).map(weight).collect();
    assert!(
        saliency.signed().iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-10)
    );
    // These are pixels of the rightmost columns, where the derivative is largest.
    let top: Vec<usize> = (0..784).filter(|&pixel| saliency.magnitudes()[pixel] > 0.5).collect();
    let picture = masked_picture(&digit(), &pixels, &top, &Reference::Mean).unwrap();
    insta::assert_snapshot!(in_characters(&picture));
}

#[test]
fn an_overlay_is_a_picture_of_280_pixels_and_a_bar() {
    let patches = Segmentation::patches(28, 28, 7).unwrap();
    let masked = masked(&patches, &Reference::Mean);
    let shapley = enumerate(&masked.game(&likeness).unwrap(), Semivalue::Shapley).unwrap();
    let picture = overlay(&digit(), &patches, &shapley.values, &OverlayOptions::default()).unwrap();
    let read = Image::from_png(&picture.to_png().unwrap()).unwrap();
    assert_eq!((read.height(), read.width(), read.channels()), (280, 300, 3));
    for (patch, value) in shapley.values.iter().enumerate() {
        let pixel = read.pixel(patch / 4 * 70 + 35, patch % 4 * 70 + 35);
        assert!((pixel[2] - pixel[0]) * value >= 0.0, "patch {patch} of value {value} is {pixel:?}");
    }
}

proptest! {
    #[test]
    fn images_survive_a_png_file_and_rows_of_either_order(
        height in 1..9_usize,
        width in 1..9_usize,
        is_grey: bool,
        seed in 0..256_usize,
    ) {
        let channels = if is_grey { 1 } else { 3 };
        let bytes: Vec<u8> =
            (0..height * width * channels).map(|at| ((at + seed) * 89 % 256) as u8).collect();
        let image = Image::from_bytes(height, width, channels, &bytes).unwrap();
        prop_assert_eq!(&Image::from_png(&image.to_png().unwrap()).unwrap(), &image);
        for order in [apportion_media::ChannelOrder::First, apportion_media::ChannelOrder::Last] {
            let layout = Layout::new(height, width, channels, order).unwrap();
            let row = layout.row(&image, &PixelScale::new(0.0, 255.0).unwrap()).unwrap();
            let pixels = (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
            for (row_of_pixels, column) in pixels {
                for (channel, value) in image.pixel(row_of_pixels, column).iter().enumerate() {
                    prop_assert_eq!(row[layout.feature(row_of_pixels, column, channel)], 255.0 * value);
                }
            }
        }
    }

    #[test]
    fn damaged_files_are_refused_or_read_and_never_worse(at in 8..288_usize, to: u8) {
        let mut file = DIGIT.to_vec();
        let at = at.min(file.len() - 1);
        file[at] = to;
        if let Ok(image) = Image::from_png(&file) {
            prop_assert!(image.pixels().iter().all(|value| (0.0..=1.0).contains(value)));
        }
    }
}
