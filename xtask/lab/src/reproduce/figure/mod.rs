//! Figures: contents and drawing.
//!
//! A [`Figure`] is a grid of [`Panel`]s and one legend. A panel has two [`Axis`]es and a list of [`Mark`]s in
//! data coordinates. It is laid out once ([`draw`]) as a [`Scene`](apportion_plots::Scene), which is written
//! as SVG and PNG ([`files`]). The layout does not depend on installed fonts. Each method has the same style
//! in all papers ([`styles`]), and a figure with ambiguous series is rejected ([`Figure::check`]).

mod axis;
mod draw;
mod files;
pub(crate) mod palette;
pub(crate) mod styles;

use anyhow::{Result, ensure};

/// A colour: red, green, blue.
pub(crate) use apportion_plots::Rgb as Colour;
pub(crate) use apportion_plots::{Marker, Picture};

pub(crate) use axis::Axis;
pub(crate) use files::write;

/// Style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) colour: Colour,
    /// The marker of points. In the legend, `None` stands for a colour that is used with any marker.
    pub(crate) marker: Option<Marker>,
}

/// An element of a panel, in data coordinates.
#[derive(Debug, Clone)]
pub(crate) enum Mark {
    /// A line through points, each with the style's marker.
    Line { style: Style, points: Vec<(f64, f64)> },
    /// A line without markers.
    Curve { colour: Colour, points: Vec<(f64, f64)> },
    /// A dashed line, used for theoretical predictions.
    Dashes { colour: Colour, points: Vec<(f64, f64)> },
    /// The area between two values at each x, as (x, lower, upper).
    Band { colour: Colour, points: Vec<(f64, f64, f64)> },
    /// Points without a line.
    Points { style: Style, points: Vec<(f64, f64)> },
    /// The line y = x.
    Identity,
    /// A filled rectangle between two opposite corners.
    Bar { colour: Colour, from: (f64, f64), to: (f64, f64) },
    /// Text to the left or right of a position.
    Words { text: String, at: (f64, f64), side: Side },
    /// Text centred at a position, with a font size in CSS pixels.
    Label { text: String, at: (f64, f64), size: f64, colour: Colour },
    /// A picture between its upper left and lower right corners.
    Picture { picture: Picture, from: (f64, f64), to: (f64, f64) },
}

/// Side of a position on which its text is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A panel with one pair of axes.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Elements, drawn in order.
    pub(crate) marks: Vec<Mark>,
}

/// A grid of panels with a title and one legend.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
    /// Panels per row.
    pub(crate) columns: usize,
    pub(crate) legend: Vec<(String, Style)>,
    /// Small print below the legend; may be empty.
    pub(crate) note: String,
}

impl Panel {
    /// Returns the styles of the series.
    fn styles(&self) -> impl Iterator<Item = Style> {
        self.marks.iter().filter_map(|mark| match mark {
            Mark::Line { style, .. } | Mark::Points { style, .. } => Some(*style),
            _ => None,
        })
    }

    /// Returns all x values and all y values of the marks except areas, from which the ranges of the axes are
    /// determined.
    fn extent(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for mark in &self.marks {
            match mark {
                Mark::Line { points, .. }
                | Mark::Curve { points, .. }
                | Mark::Dashes { points, .. }
                | Mark::Points { points, .. } => {
                    xs.extend(points.iter().map(|p| p.0));
                    ys.extend(points.iter().map(|p| p.1));
                }
                Mark::Band { points, .. } => xs.extend(points.iter().map(|p| p.0)),
                Mark::Bar { from, to, .. } | Mark::Picture { from, to, .. } => {
                    xs.extend([from.0, to.0]);
                    ys.extend([from.1, to.1]);
                }
                Mark::Identity | Mark::Words { .. } | Mark::Label { .. } => {}
            }
        }
        (xs, ys)
    }

    /// Returns all y values of the edges of areas.
    fn edges(&self) -> Vec<f64> {
        let bands = self.marks.iter().filter_map(|mark| match mark {
            Mark::Band { points, .. } => Some(points),
            _ => None,
        });
        bands.flatten().flat_map(|point| [point.1, point.2]).filter(|edge| edge.is_finite()).collect()
    }
}

impl Figure {
    /// Checks that a reader can distinguish the series of a panel and the entries of the legend, and find
    /// each series in the legend.
    ///
    /// # Errors
    ///
    /// If two series or two entries share colour and marker, a band could belong to two lines, or the legend
    /// lacks a colour or marker.
    fn check(&self) -> Result<()> {
        for panel in &self.panels {
            let styles: Vec<Style> = panel.styles().collect();
            for (at, style) in styles.iter().enumerate() {
                ensure!(
                    !styles[..at].contains(style),
                    "two series in {:?} have the style {style:?}",
                    panel.title
                );
                ensure!(self.legend.is_empty() || self.explains(*style), "the legend lacks {style:?}");
            }
            for mark in &panel.marks {
                let Mark::Band { colour, .. } = mark else { continue };
                let lines = panel.marks.iter().filter(|mark| mark.is_line_of(*colour)).count();
                ensure!(lines <= 1, "a band in {:?} belongs to {lines} lines of {colour:?}", panel.title);
            }
        }
        for (at, (title, style)) in self.legend.iter().enumerate() {
            for (other, taken) in &self.legend[..at] {
                ensure!(
                    style != taken && title != other,
                    "{title:?} and {other:?} look the same in the legend"
                );
            }
        }
        Ok(())
    }

    /// Returns whether the legend contains a style, or both its colour and its marker in separate entries.
    fn explains(&self, style: Style) -> bool {
        let has = |test: &dyn Fn(Style) -> bool| self.legend.iter().any(|entry| test(entry.1));
        has(&|entry| entry == style)
            || (has(&|entry| entry.colour == style.colour) && has(&|entry| entry.marker == style.marker))
    }
}

impl Mark {
    fn is_line_of(&self, wanted: Colour) -> bool {
        match self {
            Self::Line { style, .. } => style.colour == wanted,
            Self::Curve { colour, .. } => *colour == wanted,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLUE_CIRCLES: Style = Style { colour: palette::BLUE, marker: Some(Marker::Circle) };
    const BLUE_SQUARES: Style = Style { colour: palette::BLUE, marker: Some(Marker::Square) };
    const GREEN_CIRCLES: Style = Style { colour: palette::GREEN, marker: Some(Marker::Circle) };

    fn figure(styles: &[Style], legend: &[Style], band: Option<Colour>) -> Figure {
        let points = vec![(0.0, 1.0), (1.0, 2.0)];
        let lines = styles.iter().map(|&style| Mark::Line { style, points: points.clone() });
        let band = band.map(|colour| Mark::Band { colour, points: vec![(0.0, 0.5, 1.5), (1.0, 1.5, 2.5)] });
        Figure {
            title: String::new(),
            panels: vec![Panel {
                title: String::new(),
                x: Axis::linear("x"),
                y: Axis::linear("y"),
                marks: lines.chain(band).collect(),
            }],
            columns: 1,
            legend: legend.iter().enumerate().map(|(at, &style)| (at.to_string(), style)).collect(),
            note: String::new(),
        }
    }

    #[test]
    fn series_that_look_alike_are_refused() {
        let is_fine = |styles: &[Style], legend: &[Style], band| figure(styles, legend, band).check().is_ok();
        let two = [BLUE_CIRCLES, GREEN_CIRCLES];
        assert!(is_fine(&two, &two, None) && is_fine(&two, &two, Some(palette::BLUE)));
        assert!(is_fine(&[BLUE_CIRCLES, BLUE_SQUARES], &[], None));
        assert!(!is_fine(&[BLUE_CIRCLES, BLUE_CIRCLES], &two, None));
        assert!(!is_fine(&two, &[BLUE_CIRCLES, GREEN_CIRCLES, BLUE_CIRCLES], None));
        assert!(!is_fine(&[BLUE_CIRCLES, BLUE_SQUARES], &[], Some(palette::BLUE)));
    }

    #[test]
    fn the_legend_has_every_series_or_its_colour_and_its_mark() {
        let line = |colour| Style { colour, marker: None };
        let mark = |marker| Style { colour: palette::GREY, marker: Some(marker) };
        let series = [BLUE_CIRCLES, BLUE_SQUARES];
        let colours_and_marks = [line(palette::BLUE), mark(Marker::Circle), mark(Marker::Square)];
        assert!(figure(&series, &colours_and_marks, None).check().is_ok());
        assert!(figure(&series, &colours_and_marks[..2], None).check().is_err());
        assert!(figure(&series, &[BLUE_CIRCLES], None).check().is_err());
        assert!(figure(&series, &colours_and_marks[1..], None).check().is_err());
    }

    #[test]
    fn areas_do_not_count_for_the_range_of_lines() {
        let figure = figure(&[BLUE_CIRCLES], &[], Some(palette::BLUE));
        assert_eq!(figure.panels[0].extent().1, [1.0, 2.0]);
        assert_eq!(figure.panels[0].edges(), [0.5, 1.5, 1.5, 2.5]);
    }
}
