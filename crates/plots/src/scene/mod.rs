//! A figure after layout and before drawing: shapes with coordinates, paints by their role, and the table of
//! numbers.

#[cfg(feature = "bitmap")]
mod bitmap;
mod colour;
mod marker;
mod number;
mod picture;
mod scale;
mod svg;
mod table;
mod text;

pub(crate) use colour::LAST_STEP;
pub use colour::{Paint, Rgb, style_sheet};
pub use marker::Marker;
pub use number::{digits, signed};
pub use picture::Picture;
pub use scale::Scale;
pub use svg::Dress;
pub(crate) use svg::escape;
pub use table::{Cell, Table};
pub use text::{shortened, width_of, wrapped};

/// A position in pixels from the top left corner.
pub type Point = (f64, f64);

/// A figure after layout.
///
/// ```
/// use apportion_plots::{Dress, Marker, Paint, Scale, Scene};
///
/// let mut scene = Scene::new(200.0, "One point");
/// scene.height = 100.0;
/// let x = Scale::new((0.0, 1.0), (20.0, 180.0));
/// scene.axis_below(&x, (10.0, 60.0), "input");
/// scene.dots([(x.place(0.5), 35.0)], Marker::Diamond, 4.0, Paint::Series(0));
/// assert!(scene.svg(Dress::Colours).contains(">One point</title>"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The width in CSS pixels, 96 per inch.
    pub width: f64,
    /// The height in CSS pixels.
    pub height: f64,
    /// A short title.
    pub title: String,
    /// A sentence that describes the content, for screen readers.
    pub description: String,
    /// The shapes, from the background to the foreground.
    pub shapes: Vec<Shape>,
    /// The data of the figure.
    pub table: Table,
}

/// A graphical element.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Rectangle {
        /// The top left corner.
        at: Point,
        /// Width and height.
        size: Point,
        /// The fill.
        paint: Paint,
        /// The opacity, from 0 to 1.
        opacity: f64,
        /// The player or row that the rectangle represents.
        mark: Mark,
    },
    /// A line through points.
    Line {
        /// At least two points.
        points: Vec<Point>,
        /// The colour.
        paint: Paint,
        /// The width of the line in pixels.
        width: f64,
        /// Whether the line is dashed.
        is_dashed: bool,
        /// The opacity, from 0 to 1.
        opacity: f64,
        /// The player or row that the line represents.
        mark: Mark,
    },
    /// A filled polygon.
    Area {
        /// At least three points.
        points: Vec<Point>,
        /// The fill.
        paint: Paint,
        /// The opacity, from 0 to 1.
        opacity: f64,
        /// The player or row that the area represents.
        mark: Mark,
    },
    /// Dots with the same style, e.g. one per row.
    Dots {
        /// The centres of the dots.
        points: Vec<Point>,
        /// The position of each dot's row among the kept rows; empty if dots do not represent rows.
        rows: Vec<usize>,
        /// The radius of each dot in pixels.
        radius: f64,
        /// The shape of each dot.
        marker: Marker,
        /// The colour.
        paint: Paint,
        /// The player that the dots represent.
        mark: Mark,
    },
    /// A line of text.
    Text {
        /// The position of the text: horizontally that of the part given by `anchor`, vertically the middle
        /// of the lower-case letters (half the x-height). For upright text, the axes are exchanged.
        at: Point,
        /// The text.
        text: String,
        /// The font size in pixels.
        size: f64,
        /// Which part of the text (start, middle or end) is at `at`.
        anchor: Anchor,
        /// The colour.
        paint: Paint,
        /// Whether the text is bold.
        is_bold: bool,
        /// Whether the text runs upwards.
        is_upright: bool,
    },
    /// A picture.
    Picture {
        /// The top left corner.
        at: Point,
        /// Width and height.
        size: Point,
        /// The pixels.
        picture: Picture,
    },
}

/// The player or row that a shape represents, for tooltips and the script of the report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mark {
    /// The index of the player.
    pub player: Option<usize>,
    /// The position of the row among the kept rows.
    pub row: Option<usize>,
    /// The text of the tooltip.
    pub says: String,
}

/// The point of a text label that is placed at the label's coordinates (`text-anchor` in SVG).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The start of the text.
    Start,
    /// The middle of the text.
    Middle,
    /// The end of the text.
    End,
}

impl Mark {
    pub(crate) fn of_player(player: usize, says: impl Into<String>) -> Self {
        Self { player: Some(player), row: None, says: says.into() }
    }

    pub(crate) fn saying(says: impl Into<String>) -> Self {
        Self { says: says.into(), ..Self::default() }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The font size of figures, in pixels.
pub(crate) const FONT: f64 = 13.0;
/// The font size of small text, in pixels.
pub(crate) const SMALL: f64 = 11.0;

impl Scene {
    /// Creates an empty figure of this width. Its height is 0 until it is set.
    pub fn new(width: f64, title: impl Into<String>) -> Self {
        Self {
            width,
            height: 0.0,
            title: title.into(),
            description: String::new(),
            shapes: Vec::new(),
            table: Table::default(),
        }
    }

    /// Adds a filled rectangle.
    pub fn rectangle(&mut self, at: Point, size: Point, paint: Paint, mark: Mark) {
        self.shapes.push(Shape::Rectangle { at, size, paint, opacity: 1.0, mark });
    }

    /// Adds a line through points.
    pub fn line(&mut self, points: impl Into<Vec<Point>>, paint: Paint, width: f64) {
        self.push_line(points.into(), paint, width, false);
    }

    /// Adds a dashed line through points.
    pub fn dashed(&mut self, points: impl Into<Vec<Point>>, paint: Paint, width: f64) {
        self.push_line(points.into(), paint, width, true);
    }

    fn push_line(&mut self, points: Vec<Point>, paint: Paint, width: f64, is_dashed: bool) {
        self.shapes.push(Shape::Line {
            points,
            paint,
            width,
            is_dashed,
            opacity: 1.0,
            mark: Mark::default(),
        });
    }

    /// Adds a filled polygon with an opacity from 0 to 1.
    pub fn area(&mut self, points: impl Into<Vec<Point>>, paint: Paint, opacity: f64) {
        self.shapes.push(Shape::Area { points: points.into(), paint, opacity, mark: Mark::default() });
    }

    /// Adds dots that do not represent rows.
    pub fn dots(&mut self, points: impl Into<Vec<Point>>, marker: Marker, radius: f64, paint: Paint) {
        let (points, rows, mark) = (points.into(), Vec::new(), Mark::default());
        self.shapes.push(Shape::Dots { points, rows, radius, marker, paint, mark });
    }

    pub(crate) fn text(&mut self, at: Point, text: impl Into<String>, anchor: Anchor, paint: Paint) {
        self.text_of(at, text, FONT, anchor, paint);
    }

    pub(crate) fn small(&mut self, at: Point, text: impl Into<String>, anchor: Anchor) {
        self.text_of(at, text, SMALL, anchor, Paint::Muted);
    }

    /// Adds text with a font size in pixels.
    pub fn text_of(&mut self, at: Point, text: impl Into<String>, size: f64, anchor: Anchor, paint: Paint) {
        self.shapes.push(Shape::Text {
            at,
            text: text.into(),
            size,
            anchor,
            paint,
            is_bold: false,
            is_upright: false,
        });
    }

    /// Writes bold text, shortened to end within the figure.
    pub(crate) fn heading(&mut self, at: Point, text: impl Into<String>, anchor: Anchor) {
        let size = FONT + 1.0;
        // Bold letters are wider by about a seventh.
        let text = shortened(&text.into(), self.width - at.0 - 8.0, size * 1.15);
        self.shapes.push(Shape::Text {
            at,
            text,
            size,
            anchor,
            paint: Paint::Ink,
            is_bold: true,
            is_upright: false,
        });
    }

    pub(crate) fn upright(&mut self, at: Point, text: impl Into<String>, anchor: Anchor) {
        self.upright_of(at, text, FONT, anchor);
    }

    /// Adds muted text that runs upwards, with a font size in pixels.
    pub fn upright_of(&mut self, at: Point, text: impl Into<String>, size: f64, anchor: Anchor) {
        self.shapes.push(Shape::Text {
            at,
            text: text.into(),
            size,
            anchor,
            paint: Paint::Muted,
            is_bold: false,
            is_upright: true,
        });
    }

    /// Writes text in lines of width `room`. Returns its height.
    pub(crate) fn paragraph(&mut self, (x, top): Point, room: f64, text: &str) -> f64 {
        let lines = text::wrapped(text, room, SMALL);
        for (line, text) in lines.iter().enumerate() {
            self.small((x, top + (line as f64 + 0.5) * 15.0), text.clone(), Anchor::Start);
        }
        lines.len() as f64 * 15.0
    }

    /// Writes text below a figure, and sets the height of the figure so that it ends below the text.
    pub(crate) fn caption(&mut self, top: f64, text: &str) {
        self.height = top + self.paragraph((12.0, top), self.width - 24.0, text) + 6.0;
    }

    /// Draws an interval as a horizontal line with end marks. If it extends beyond `room`, it is drawn to the
    /// border, without an end mark there. Returns the ends of the line.
    pub(crate) fn whisker(&mut self, (from, to): (f64, f64), y: f64, room: (f64, f64)) -> (f64, f64) {
        let half = 3.5;
        let line = (from.clamp(room.0, room.1), to.clamp(room.0, room.1));
        self.line([(line.0, y), (line.1, y)], Paint::Ink, 1.2);
        for (wanted, x) in [(from, line.0), (to, line.1)] {
            // Differences below half a pixel are rounding error.
            if (wanted - x).abs() < 0.5 {
                self.line([(x, y - half), (x, y + half)], Paint::Ink, 1.2);
            }
        }
        line
    }

    /// Draws a horizontal axis at the bottom: ticks with grid lines from `top` to `bottom`, their labels, and
    /// the label of the axis.
    pub fn axis_below(&mut self, scale: &Scale, (top, bottom): (f64, f64), label: &str) {
        self.ticks_below(scale, (top, bottom), bottom + 11.0);
        self.small_within(scale.middle(), bottom + 29.0, label);
    }

    /// Draws ticks with grid lines from `top` to `bottom`, and their labels at height `y`.
    pub(crate) fn ticks_below(&mut self, scale: &Scale, (top, bottom): (f64, f64), y: f64) {
        let most = ((scale.length() / 80.0) as usize).max(3);
        let mut taken = f64::NEG_INFINITY;
        for (at, text) in scale.ticks(most) {
            let x = scale.place(at);
            self.line([(x, top), (x, bottom)], Paint::Grid, 1.0);
            let half = 0.5 * width_of(&text, SMALL);
            let middle = self.within(x, half);
            // Omit a label that would overlap the previous one.
            if middle - half > taken + 4.0 {
                taken = middle + half;
                self.small((middle, y), text, Anchor::Middle);
            }
        }
    }

    /// Moves an x coordinate so that content extending by `half` on either side is within the figure.
    pub(crate) fn within(&self, x: f64, half: f64) -> f64 {
        x.min(self.width - half - 4.0).max(half + 4.0)
    }

    /// Writes small text centred at an x coordinate, moved and shortened to be within the figure.
    pub(crate) fn small_within(&mut self, x: f64, y: f64, text: &str) {
        let text = shortened(text, self.width - 8.0, SMALL);
        let x = self.within(x, 0.5 * width_of(&text, SMALL));
        self.small((x, y), text, Anchor::Middle);
    }

    /// Draws a vertical axis on the left: ticks with grid lines from `left` to `right`, their labels, and the
    /// label of the axis.
    pub(crate) fn axis_left(&mut self, scale: &Scale, (left, right): (f64, f64), label: &str) {
        let most = ((scale.length() / 36.0) as usize).max(2);
        let mut room: f64 = 0.0;
        for (at, text) in scale.ticks(most) {
            let y = scale.place(at);
            room = room.max(width_of(&text, SMALL));
            self.line([(left, y), (right, y)], Paint::Grid, 1.0);
            self.small((left - 6.0, y), text, Anchor::End);
        }
        let label = shortened(label, scale.length(), FONT);
        self.upright(((left - room - 18.0).max(8.0), scale.middle()), label, Anchor::Middle);
    }
}
