//! Output of a figure as SVG and PNG.

use std::path::Path;
use std::sync::Once;

use anyhow::{Context, Result};
use plotters::prelude::{BitMapBackend, IntoDrawingArea, SVGBackend};
use plotters::style::{FontStyle, register_font};

use super::{Figure, draw, picture};
use xtask::files::write_atomically;

/// Pixels per point of the PNG.
const PNG_SCALE: usize = 2;
/// Factor by which the bitmap is drawn larger and then averaged, because the backend does not antialias thick
/// lines.
const OVERSAMPLING: usize = 2;
/// SVG units per point; coordinates are integers.
const SVG_SCALE: f64 = 2.0;

static FONT: Once = Once::new();

/// Writes `figure.svg` and `figure.png` into `folder`.
pub(crate) fn write(figure: &Figure, folder: &Path) -> Result<()> {
    FONT.call_once(|| {
        for style in [FontStyle::Normal, FontStyle::Bold] {
            // Fails only if the bytes are not a font.
            let _ = register_font("sans-serif", style, epaint_default_fonts::UBUNTU_LIGHT);
        }
    });
    figure.check()?;
    write_atomically(&folder.join("figure.svg"), svg(figure)?.as_bytes())?;
    write_atomically(&folder.join("figure.png"), &png(figure)?)
}

fn svg(figure: &Figure) -> Result<String> {
    let (width, height) = draw::size(figure);
    let mut text = String::new();
    {
        let size = ((width * SVG_SCALE) as u32, (height * SVG_SCALE) as u32);
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw::draw(figure, &area, SVG_SCALE, false)?;
    }
    let mut pictures = String::new();
    for (picture, corners) in draw::pictures(figure) {
        let [(left, top), (right, bottom)] = corners.map(|(x, y)| (x * SVG_SCALE, y * SVG_SCALE));
        pictures.push_str(&picture.svg(left, top, right - left, bottom - top)?);
    }
    let end = text.rfind("</svg>").context("the SVG file has no closing tag")?;
    text.insert_str(end, &pictures);
    Ok(text)
}

fn png(figure: &Figure) -> Result<Vec<u8>> {
    let (width, height) = draw::size(figure);
    let (width, height) = (width.ceil() as usize * PNG_SCALE, height.ceil() as usize * PNG_SCALE);
    let (wide, high) = (width * OVERSAMPLING, height * OVERSAMPLING);
    let mut pixels = vec![0; wide * high * 3];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, (wide as u32, high as u32)).into_drawing_area();
        draw::draw(figure, &area, (PNG_SCALE * OVERSAMPLING) as f64, true)?;
    }
    let averaged = shrink(&pixels, width);
    picture::png(&averaged, width, height)
}

/// Averages blocks of 2 × 2 pixels; the result has `width` pixels per row.
fn shrink(pixels: &[u8], width: usize) -> Vec<u8> {
    let row = width * OVERSAMPLING * 3;
    let mut out = Vec::with_capacity(pixels.len() / (OVERSAMPLING * OVERSAMPLING));
    for rows in pixels.chunks_exact(OVERSAMPLING * row) {
        let (upper, lower) = rows.split_at(row);
        for (upper, lower) in upper.chunks_exact(OVERSAMPLING * 3).zip(lower.chunks_exact(OVERSAMPLING * 3)) {
            for channel in 0..3 {
                let pair = |pixels: &[u8]| u16::from(pixels[channel]) + u16::from(pixels[channel + 3]);
                out.push(((pair(upper) + pair(lower)) / 4) as u8);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn each_pixel_is_the_mean_of_four_channel_by_channel() {
        // A block has four pixels, which differ by 0, 1, 2 and 4 steps.
        let block = |corner: [u8; 3], step: u8| {
            let of = |more: u8| corner.map(|channel| channel + more * step);
            [[of(0), of(1)], [of(2), of(4)]]
        };
        let blocks =
            [[block([0, 100, 200], 10), block([1, 2, 3], 0)], [block([7, 7, 7], 1), block([255, 0, 255], 0)]];
        let mut pixels = Vec::new();
        for blocks in &blocks {
            for row in 0..2 {
                for block in blocks {
                    pixels.extend(block[row].as_flattened());
                }
            }
        }
        // The mean of 0, 10, 20 and 40 is 17, rounded down.
        assert_eq!(shrink(&pixels, 2), [17, 117, 217, 1, 2, 3, 8, 8, 8, 255, 0, 255]);
    }
}
