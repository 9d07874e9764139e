//! Figures: what is drawn, apart from how.
//!
//! A [`Figure`] is a grid of [`Panel`]s and one legend. A panel has two [`Axis`]es and a list of [`Mark`]s in data coordinates. The same
//! drawing code ([`draw`]) writes SVG and PNG ([`files`]), with a font of its own, so that a machine without fonts draws the same.

mod axis;
mod draw;
mod files;
mod picture;

pub(crate) use axis::Axis;
pub(crate) use files::write;
pub(crate) use picture::Picture;

/// A colour: red, green, blue.
pub(crate) type Colour = (u8, u8, u8);

/// Eight colours that people with colour-blindness can tell apart (Okabe and Ito, 2008).
pub(crate) mod palette {
    use super::Colour;

    pub(crate) const ORANGE: Colour = (230, 159, 0);
    pub(crate) const SKY: Colour = (86, 180, 233);
    pub(crate) const GREEN: Colour = (0, 158, 115);
    pub(crate) const BLUE: Colour = (0, 114, 178);
    pub(crate) const VERMILION: Colour = (213, 94, 0);
    pub(crate) const PURPLE: Colour = (204, 121, 167);
    pub(crate) const BLACK: Colour = (60, 60, 60);
    pub(crate) const GREY: Colour = (150, 150, 150);
}

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

/// How one series looks, everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) colour: Colour,
    pub(crate) shape: Shape,
}

/// Something drawn in a panel, in data coordinates.
#[derive(Debug, Clone)]
pub(crate) enum Mark {
    /// A line through points, each marked with the style's shape.
    Line { style: Style, points: Vec<(f64, f64)> },
    /// A plain line, without points.
    Curve { colour: Colour, points: Vec<(f64, f64)> },
    /// A line in dashes: what theory says.
    Dashes { colour: Colour, points: Vec<(f64, f64)> },
    /// The area between two values at each x: (x, lower, upper).
    Band { colour: Colour, points: Vec<(f64, f64, f64)> },
    /// Points alone.
    Points { style: Style, points: Vec<(f64, f64)> },
    /// The line y = x.
    Identity,
    /// A filled rectangle between two opposite corners.
    Bar { colour: Colour, from: (f64, f64), to: (f64, f64) },
    /// Words beside a place: to its right, or to its left.
    Words { text: String, at: (f64, f64), side: Side },
    /// Words around a place, of a size in points.
    Label { text: String, at: (f64, f64), size: f64, colour: Colour },
    /// A picture from its upper left corner to its lower right one.
    Picture { picture: Picture, from: (f64, f64), to: (f64, f64) },
}

/// On which side of a place its words are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// One system of axes.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Later marks lie above earlier ones.
    pub(crate) marks: Vec<Mark>,
}

/// A grid of panels under a title, with one legend below.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
    /// Panels per row.
    pub(crate) columns: usize,
    pub(crate) legend: Vec<(String, Style)>,
    /// A line of small print under the legend; may be empty.
    pub(crate) note: String,
}

impl Panel {
    /// All x (first) and y (second) of the marks, for the ranges of the axes.
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
                Mark::Band { points, .. } => {
                    xs.extend(points.iter().map(|p| p.0));
                    ys.extend(points.iter().flat_map(|p| [p.1, p.2]));
                }
                Mark::Bar { from, to, .. } | Mark::Picture { from, to, .. } => {
                    xs.extend([from.0, to.0]);
                    ys.extend([from.1, to.1]);
                }
                Mark::Identity | Mark::Words { .. } | Mark::Label { .. } => {}
            }
        }
        (xs, ys)
    }
}
