//! PNG output, drawn with the drawing library.

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

use super::{Anchor, Paint, Picture, Point, Scene, Shape};
use crate::error::PlotError;

/// Oversampling factor. The bitmap is drawn larger and averaged, because the library draws thick lines
/// without antialiasing.
const OVERSAMPLING: usize = 2;
/// Maximum number of pixels of a file, to limit memory.
const MAX_PIXELS: f64 = 4e8;
/// Length of dashes and of the gaps between them.
const DASH: f64 = 5.0;

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
                "{:.0} × {:.0} pixels are too many for a file",
                self.width * scale,
                self.height * scale
            ))
        };
        let is_drawn =
            scale > 0.0 && scale.is_finite() && self.width * self.height * scale * scale <= MAX_PIXELS;
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

    fn shape(&self, shape: &Shape) -> Result<(), PlotError> {
        match shape {
            Shape::Rectangle { at, size, paint, opacity, .. } => {
                let corners = [*at, (at.0 + size.0, at.1 + size.1)].map(|corner| self.pixel(corner));
                self.area.draw(&Rectangle::new(corners, colour(*paint, *opacity).filled())).map_err(failed)
            }
            Shape::Line { points, paint, width, is_dashed, opacity, .. } => {
                let style =
                    colour(*paint, *opacity).stroke_width((width * self.scale).round().max(1.0) as u32);
                let parts = if *is_dashed { dashes(points) } else { vec![points.clone()] };
                parts.into_iter().try_for_each(|points| {
                    let points: Vec<_> = points.into_iter().map(|point| self.pixel(point)).collect();
                    self.area.draw(&PathElement::new(points, style)).map_err(failed)
                })
            }
            Shape::Area { points, paint, opacity, .. } => {
                let points: Vec<_> = points.iter().map(|&point| self.pixel(point)).collect();
                self.area.draw(&Polygon::new(points, colour(*paint, *opacity))).map_err(failed)
            }
            Shape::Dots { points, radius, paint, .. } => points.iter().try_for_each(|&point| {
                let circle =
                    Circle::new(self.pixel(point), radius * self.scale, colour(*paint, 1.0).filled());
                self.area.draw(&circle).map_err(failed)
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
                self.area.draw_text(&text, &style, self.pixel(*at)).map_err(failed)
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

/// Returns the dashes of a line.
fn dashes(points: &[Point]) -> Vec<Vec<Point>> {
    let mut dashes = Vec::new();
    for ends in points.windows(2) {
        let [(x0, y0), (x1, y1)] = [ends[0], ends[1]];
        let length = (x1 - x0).hypot(y1 - y0);
        let at = |along: f64| {
            let share = (along / length).min(1.0);
            (x0 + share * (x1 - x0), y0 + share * (y1 - y0))
        };
        let count = (length / (2.0 * DASH)).ceil().min(1e5) as usize;
        dashes.extend((0..count).map(|dash| {
            let from = 2.0 * DASH * dash as f64;
            vec![at(from), at(from + DASH)]
        }));
    }
    dashes
}
