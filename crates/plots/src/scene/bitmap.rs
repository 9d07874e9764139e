//! PNG output, drawn with the library plotters.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::{BitMapBackend, DrawingArea, IntoDrawingArea};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontStyle, FontTransform, IntoFont, RGBAColor, RGBColor, TextStyle, register_font,
};

use super::marker::CROSS_WIDTH;
use super::{Anchor, Marker, Paint, Picture, Point, Scene, Shape};
use crate::error::PlotError;

/// Oversampling factor. The bitmap is drawn larger and averaged, because the library draws thick lines
/// without antialiasing.
const OVERSAMPLING: usize = 2;
/// Distance by which the drawing library centres text above its position, in font sizes.
const RISE: f64 = 0.24;
/// Maximum number of pixels of a file, to limit memory.
const MAX_PIXELS: f64 = 4e8;
/// Length of dashes and of the gaps between them, as in SVG.
const DASHES: [f64; 2] = [5.0, 4.0];

static FONT: Once = Once::new();

impl Scene {
    /// Draws the scene as a PNG file on a light background, with `scale` pixels per CSS pixel (2 for
    /// high-resolution screens, 3 for print).
    ///
    /// The font has Latin, Greek and Cyrillic letters, whereas SVG can use any font on the reader's system.
    /// [Letters that the font lacks](Self::letters_without_font) are drawn as boxes.
    ///
    /// # Errors
    ///
    /// [`PlotError::Drawing`] if the figure would be too large.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        register_fonts();
        let too_large = || {
            PlotError::Drawing(format!(
                "a size of {:.0} × {:.0} pixels is too large for a file; reduce the scale or the width, or \
                 write .svg",
                self.width * scale,
                self.height * scale
            ))
        };
        let is_valid = scale > 0.0 && scale.is_finite();
        if !is_valid {
            let says = format!("invalid scale {scale}; expected a finite number above 0");
            return Err(PlotError::Drawing(says));
        }
        let is_drawn = self.width * self.height * scale * scale <= MAX_PIXELS;
        if !is_drawn {
            return Err(too_large());
        }
        let (width, height) = ((self.width * scale).ceil() as usize, (self.height * scale).ceil() as usize);
        let (wide, high) = (width * OVERSAMPLING, height * OVERSAMPLING);
        let mut pixels = vec![255; wide * high * 3];
        {
            let area =
                BitMapBackend::with_buffer(&mut pixels, (wide as u32, high as u32)).into_drawing_area();
            let brush = Brush { area, scale: scale * OVERSAMPLING as f64 };
            self.shapes.iter().try_for_each(|shape| brush.shape(shape))?;
            brush.area.present().map_err(failed)?;
        }
        let picture = Picture { width, height, pixels: averaged(&pixels, width, height) };
        Ok(picture.png())
    }
}

impl Scene {
    /// Returns the letters in the text of the scene that the font of [PNG files](Self::png) lacks, in the
    /// order of their first occurrence.
    ///
    /// ```
    /// use apportion_plots::{Heading, Gathering, Batch, Kind, Options};
    ///
    /// let mut gathering = Gathering::new(Heading::for_features(["taille", "größe", "高さ"]))?;
    /// let (rows, values) = (vec![0], vec![1.0, 2.0, 3.0]);
    /// gathering.add(Batch { rows, base: vec![0.0], predictions: vec![6.0], values, ..Batch::default() })?;
    /// let scene = Kind::Bar.lay_out(&gathering.end(), &Options::default())?;
    /// assert_eq!(scene.letters_without_font(), ['高', 'さ']);
    /// # Ok::<(), apportion_plots::PlotError>(())
    /// ```
    pub fn letters_without_font(&self) -> Vec<char> {
        register_fonts();
        let font = ("sans-serif", 24.0, FontStyle::Normal).into_font();
        let pixels = |letter: char| {
            let mut pixels: Vec<(i32, i32, u32)> = Vec::new();
            let _ = font.draw(letter.encode_utf8(&mut [0; 4]), (0, 0), |x, y, ink| {
                pixels.push((x, y, ink.to_bits()));
                Ok::<_, Infallible>(())
            });
            pixels
        };
        // The font draws all missing letters in the same way as this code point, which is not a character.
        let lacking = pixels('\u{10ffff}');
        if lacking.is_empty() {
            return Vec::new();
        }
        let mut seen = BTreeSet::new();
        let texts = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text { text, .. } => Some(crate::shown::shown(text)),
            _ => None,
        });
        let letters = texts.flat_map(|text| text.chars().collect::<Vec<_>>());
        letters.filter(|&letter| seen.insert(letter) && pixels(letter) == lacking).collect()
    }
}

/// Registers the font with the drawing library.
fn register_fonts() {
    FONT.call_once(|| {
        for style in [FontStyle::Normal, FontStyle::Bold] {
            // This only fails if the bytes are not a font.
            let _ = register_font("sans-serif", style, epaint_default_fonts::UBUNTU_LIGHT);
        }
    });
}

/// Averages blocks of pixels.
fn averaged(pixels: &[u8], width: usize, height: usize) -> Vec<[u8; 4]> {
    let line = width * OVERSAMPLING * 3;
    let mean = |x: usize, y: usize, channel: usize| {
        let block = (0..OVERSAMPLING * OVERSAMPLING).map(|k| {
            let (down, across) = (k / OVERSAMPLING, k % OVERSAMPLING);
            u32::from(pixels[(y * OVERSAMPLING + down) * line + (x * OVERSAMPLING + across) * 3 + channel])
        });
        (block.sum::<u32>() / (OVERSAMPLING * OVERSAMPLING) as u32) as u8
    };
    (0..height * width)
        .map(|at| {
            let of = |channel| mean(at % width, at / width, channel);
            [of(0), of(1), of(2), 255]
        })
        .collect()
}

fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError::Drawing(error.to_string())
}

struct Brush<'a> {
    area: DrawingArea<BitMapBackend<'a>, Shift>,
    scale: f64,
}

impl Brush<'_> {
    fn pixel(&self, (x, y): Point) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    fn pixels(&self, points: &[Point]) -> Vec<(i32, i32)> {
        points.iter().map(|&point| self.pixel(point)).collect()
    }

    fn line(&self, points: &[Point], colour: RGBAColor, width: f64) -> Result<(), PlotError> {
        let style = colour.stroke_width((width * self.scale).round().max(1.0) as u32);
        self.area.draw(&PathElement::new(self.pixels(points), style)).map_err(failed)
    }

    fn polygon(&self, corners: &[Point], colour: RGBAColor) -> Result<(), PlotError> {
        self.area.draw(&Polygon::new(self.pixels(corners), colour)).map_err(failed)
    }

    fn shape(&self, shape: &Shape) -> Result<(), PlotError> {
        match shape {
            Shape::Rectangle { at, size, paint, opacity, .. } => {
                let corners = [*at, (at.0 + size.0, at.1 + size.1)].map(|corner| self.pixel(corner));
                self.area.draw(&Rectangle::new(corners, colour(*paint, *opacity).filled())).map_err(failed)
            }
            Shape::Line { points, paint, width, is_dashed, opacity, .. } => {
                let colour = colour(*paint, *opacity);
                let parts = if *is_dashed { dashes(points) } else { vec![points.clone()] };
                parts.iter().try_for_each(|points| self.line(points, colour, *width))
            }
            Shape::Area { points, paint, opacity, .. } => self.polygon(points, colour(*paint, *opacity)),
            Shape::Dots { points, radius, marker, paint, .. } => points.iter().try_for_each(|&point| {
                let colour = colour(*paint, 1.0);
                let corners = marker.corners(point, *radius);
                match marker {
                    Marker::Circle => {
                        let circle = Circle::new(self.pixel(point), radius * self.scale, colour.filled());
                        self.area.draw(&circle).map_err(failed)
                    }
                    Marker::Cross => {
                        corners.chunks(2).try_for_each(|line| self.line(line, colour, CROSS_WIDTH))
                    }
                    _ => self.polygon(&corners, colour),
                }
            }),
            Shape::Text { at, text, size, anchor, paint, is_bold, is_upright } => {
                let text = crate::shown::shown(text);
                let style = if *is_bold { FontStyle::Bold } else { FontStyle::Normal };
                let font = ("sans-serif", size * self.scale, style).into_font();
                let side = match anchor {
                    Anchor::Start => HPos::Left,
                    Anchor::Middle => HPos::Center,
                    Anchor::End => HPos::Right,
                };
                let font = if *is_upright { font.transform(FontTransform::Rotate270) } else { font };
                let color = colour(*paint, 1.0).to_backend_color();
                let style = TextStyle { font, color, pos: Pos::new(side, VPos::Center) };
                let at = match is_upright {
                    true => (at.0 + RISE * size, at.1),
                    false => (at.0, at.1 + RISE * size),
                };
                self.area.draw_text(&text, &style, self.pixel(at)).map_err(failed)
            }
            Shape::Picture { at, size, picture } => self.picture(*at, *size, picture),
        }
    }

    /// Draws each pixel of a picture as a rectangle.
    fn picture(&self, at: Point, size: Point, picture: &Picture) -> Result<(), PlotError> {
        let (across, down) = (size.0 / picture.width as f64, size.1 / picture.height as f64);
        for (place, &[red, green, blue, opaque]) in picture.pixels.iter().enumerate() {
            let (x, y) = ((place % picture.width) as f64, (place / picture.width) as f64);
            let corners =
                [(x, y), (x + 1.0, y + 1.0)].map(|(x, y)| self.pixel((at.0 + x * across, at.1 + y * down)));
            let paint = RGBAColor(red, green, blue, f64::from(opaque) / 255.0);
            self.area.draw(&Rectangle::new(corners, paint.filled())).map_err(failed)?;
        }
        Ok(())
    }
}

fn colour(paint: Paint, opacity: f64) -> RGBAColor {
    let [red, green, blue] = paint.light();
    RGBColor(red, green, blue).mix(opacity)
}

/// Returns the dashes of a line, which continue around its corners.
fn dashes(points: &[Point]) -> Vec<Vec<Point>> {
    let mut dashes = Vec::new();
    let mut dash = points.iter().take(1).copied().collect::<Vec<_>>();
    // Dashes have even numbers, gaps have odd numbers.
    let (mut number, mut left) = (0, DASHES[0]);
    for ends in points.windows(2) {
        let (mut at, end) = (ends[0], ends[1]);
        // This limit is not reached, because a figure is at most a few thousand pixels wide.
        for _ in 0..100_000 {
            let length = (end.0 - at.0).hypot(end.1 - at.1);
            if length <= left {
                left -= length;
                break;
            }
            let share = left / length;
            at = (at.0 + share * (end.0 - at.0), at.1 + share * (end.1 - at.1));
            dash.push(at);
            let done = std::mem::replace(&mut dash, vec![at]);
            if number % 2 == 0 {
                dashes.push(done);
            }
            number += 1;
            left = DASHES[number % 2];
        }
        dash.push(end);
    }
    if number % 2 == 0 && dash.len() > 1 {
        dashes.push(dash);
    }
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sum of the ink of the pixels in each row and in each column of a square scene.
    fn ink(scene: &Scene) -> [Vec<f64>; 2] {
        let mut reader =
            png::Decoder::new(std::io::Cursor::new(scene.png(1.0).unwrap())).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let side = scene.width as usize;
        let ink = |x: usize, y: usize| 1.0 - f64::from(pixels[(y * side + x) * 4]) / 255.0;
        let row = |y: usize| (0..side).map(|x| ink(x, y)).sum::<f64>();
        let column = |x: usize| (0..side).map(|y| ink(x, y)).sum::<f64>();
        [(0..side).map(row).collect(), (0..side).map(column).collect()]
    }

    #[test]
    fn the_middle_of_lower_case_letters_is_at_the_position_of_text() {
        for is_upright in [false, true] {
            let mut scene = Scene::new(80.0, "Text");
            scene.height = 80.0;
            match is_upright {
                true => scene.upright_of((40.0, 40.0), "xxx", 20.0, Anchor::Middle),
                false => scene.text_of((40.0, 40.0), "xxx", 20.0, Anchor::Middle, Paint::Ink),
            }
            let [rows, columns] = ink(&scene);
            let across = if is_upright { columns } else { rows };
            let first = across.iter().position(|&ink| ink > 0.5).unwrap();
            let last = across.iter().rposition(|&ink| ink > 0.5).unwrap();
            let middle = 0.5 * (first + last + 1) as f64;
            assert!((middle - 40.0).abs() <= 2.0, "from {first} to {last}");
        }
    }

    #[test]
    fn dashes_continue_around_corners() {
        let corner = [(0.0, 0.0), (3.0, 0.0), (3.0, 20.0)];
        let first = vec![(0.0, 0.0), (3.0, 0.0), (3.0, 2.0)];
        assert_eq!(dashes(&corner), [first, vec![(3.0, 6.0), (3.0, 11.0)], vec![(3.0, 15.0), (3.0, 20.0)]]);
        // Many short segments give the same dashes as a single line.
        let line: Vec<Point> = (0..=40).map(|x| (f64::from(x) * 0.5, 0.0)).collect();
        let ends = |dashes: Vec<Vec<Point>>| -> Vec<(f64, f64)> {
            dashes.iter().map(|dash| (dash[0].0, dash[dash.len() - 1].0)).collect()
        };
        assert_eq!(ends(dashes(&line)), ends(dashes(&[(0.0, 0.0), (20.0, 0.0)])));
        assert_eq!(ends(dashes(&line)), [(0.0, 5.0), (9.0, 14.0), (18.0, 20.0)]);
        assert!(dashes(&[(1.0, 1.0)]).is_empty());
    }
}
