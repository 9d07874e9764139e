//! SVG output.
//!
//! The library plotters, which draws PNG, is not used here: its coordinates are whole pixels, and its
//! elements cannot have classes or titles.

use std::fmt::Write;

use super::colour::hex;
use super::marker::CROSS_WIDTH;
use super::{Anchor, Mark, Marker, Paint, Scene, Shape};
use crate::shown::shown;

/// The way in which shapes in SVG get their colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dress {
    /// Each shape has its colour in the light theme, for SVG in a separate file.
    Colours,
    /// Each shape has a class, for which a [style sheet](super::style_sheet) defines the colour, and
    /// attributes with its row and player, for an HTML page. The number makes IDs unique among figures.
    Classes(usize),
}

impl Scene {
    /// Draws the scene as SVG, with title and description for screen readers. Coordinates are rounded to a
    /// tenth of a pixel.
    pub fn svg(&self, dress: Dress) -> String {
        let mut out = String::with_capacity(64 * self.shapes.len() + 512);
        let (width, height) = (number(self.width), number(self.height));
        let id = if let Dress::Classes(id) = dress { id } else { 0 };
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"system-ui,'DejaVu Sans',sans-serif\" role=\"img\" \
             aria-labelledby=\"t{id} d{id}\"><title id=\"t{id}\">"
        );
        escape(&self.title, &mut out);
        let _ = write!(out, "</title><desc id=\"d{id}\">");
        escape(&self.description, &mut out);
        out.push_str("</desc>");
        let mut pen = Pen { out, dress };
        if dress == Dress::Colours {
            let paper = hex(Paint::Paper.light());
            let _ = write!(pen.out, "<rect width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>");
        }
        for shape in &self.shapes {
            pen.shape(shape);
        }
        pen.out.push_str("</svg>");
        pen.out
    }
}

struct Pen {
    out: String,
    dress: Dress,
}

impl Pen {
    // Writing to a string cannot fail.
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rectangle { at, size, paint, opacity, mark } => {
                let [x, y, width, height] = [at.0, at.1, size.0, size.1].map(number);
                let _ = write!(self.out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"");
                self.fill(*paint, *opacity);
                self.end("rect", mark);
            }
            Shape::Line { points, paint, width, is_dashed, opacity, mark } => {
                self.out.push_str("<path d=\"");
                self.path(points);
                let _ = write!(self.out, "\" fill=\"none\" stroke-width=\"{}\"", number(*width));
                if *is_dashed {
                    self.out.push_str(" stroke-dasharray=\"5 4\"");
                }
                self.stroke(*paint, *opacity);
                self.end("path", mark);
            }
            Shape::Area { points, paint, opacity, mark } => {
                self.out.push_str("<path d=\"");
                self.path(points);
                self.out.push_str("z\"");
                self.fill(*paint, *opacity);
                self.end("path", mark);
            }
            Shape::Dots { points, rows, radius, marker, paint, mark } => {
                self.out.push_str("<path d=\"");
                for &(x, y) in points {
                    match marker {
                        Marker::Circle => {
                            let _ = write!(self.out, "M{} {}h0", number(x), number(y));
                        }
                        Marker::Cross => {
                            let ends = marker.corners((x, y), *radius);
                            ends.chunks(2).for_each(|line| self.path(line));
                        }
                        _ => {
                            self.path(&marker.corners((x, y), *radius));
                            self.out.push('z');
                        }
                    }
                }
                self.out.push('"');
                let stroke = match marker {
                    Marker::Circle => Some((" stroke-linecap=\"round\"", 2.0 * radius)),
                    Marker::Cross => Some(("", CROSS_WIDTH)),
                    _ => None,
                };
                match stroke {
                    Some((ends, width)) => {
                        let width = number(width);
                        let _ = write!(self.out, " fill=\"none\"{ends} stroke-width=\"{width}\"");
                        self.stroke(*paint, 1.0);
                    }
                    None => self.fill(*paint, 1.0),
                }
                if self.dress != Dress::Colours && !rows.is_empty() {
                    let rows: Vec<String> = rows.iter().map(usize::to_string).collect();
                    let _ = write!(self.out, " data-rows=\"{}\"", rows.join(" "));
                }
                self.end("path", mark);
            }
            Shape::Text { at, text, size, anchor, paint, is_bold, is_upright } => {
                let (x, y) = (number(at.0), number(at.1));
                match is_upright {
                    true => {
                        let _ = write!(self.out, "<text transform=\"translate({x} {y})rotate(-90)\"");
                    }
                    false => {
                        let _ = write!(self.out, "<text x=\"{x}\" y=\"{y}\"");
                    }
                }
                // `dy` shifts the text from its baseline to the middle of lower-case letters.
                let _ = write!(self.out, " dy=\".35em\" font-size=\"{}\"", number(*size));
                match anchor {
                    Anchor::Start => {}
                    Anchor::Middle => self.out.push_str(" text-anchor=\"middle\""),
                    Anchor::End => self.out.push_str(" text-anchor=\"end\""),
                }
                if *is_bold {
                    self.out.push_str(" font-weight=\"600\"");
                }
                self.fill(*paint, 1.0);
                self.out.push('>');
                escape(text, &mut self.out);
                self.out.push_str("</text>");
            }
            Shape::Picture { at, size, picture } => {
                let [x, y, width, height] = [at.0, at.1, size.0, size.1].map(number);
                let _ = write!(
                    self.out,
                    "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                     preserveAspectRatio=\"none\" image-rendering=\"pixelated\" href=\"{}\"/>",
                    picture.data_address()
                );
            }
        }
    }

    fn path(&mut self, points: &[(f64, f64)]) {
        for (place, &(x, y)) in points.iter().enumerate() {
            let command = if place == 0 { 'M' } else { 'L' };
            let _ = write!(self.out, "{command}{} {}", number(x), number(y));
        }
    }

    fn fill(&mut self, paint: Paint, opacity: f64) {
        self.paint("fill", "f-", paint, opacity);
    }

    fn stroke(&mut self, paint: Paint, opacity: f64) {
        self.paint("stroke", "k-", paint, opacity);
    }

    fn paint(&mut self, what: &str, class: &str, paint: Paint, opacity: f64) {
        let _ = match (self.dress, paint) {
            (Dress::Colours, _) | (_, Paint::Fixed(_)) => {
                write!(self.out, " {what}=\"{}\"", hex(paint.light()))
            }
            (Dress::Classes(_), _) => write!(self.out, " class=\"{class}{}\"", paint.name()),
        };
        if opacity < 1.0 {
            let _ = write!(self.out, " {what}-opacity=\"{}\"", (opacity * 100.0).round() / 100.0);
        }
    }

    /// Ends an element, with the player and row that it represents and its tooltip.
    fn end(&mut self, element: &str, mark: &Mark) {
        if mark.is_nothing() {
            self.out.push_str("/>");
            return;
        }
        if self.dress != Dress::Colours {
            for (name, place) in [("player", mark.player), ("row", mark.row)] {
                if let Some(place) = place {
                    let _ = write!(self.out, " data-{name}=\"{place}\"");
                }
            }
        }
        if mark.says.is_empty() {
            self.out.push_str("/>");
            return;
        }
        self.out.push_str("><title>");
        escape(&mark.says, &mut self.out);
        let _ = write!(self.out, "</title></{element}>");
    }
}

/// Formats a coordinate, rounded to a tenth of a pixel.
fn number(number: f64) -> String {
    let text = format!("{number:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Appends `text`, escaped for XML.
pub(crate) fn escape(text: &str, out: &mut String) {
    for letter in shown(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
}
