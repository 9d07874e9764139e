//! Drawing of a figure with any backend of plotters, in pixels.
//!
//! The layout is fixed: a title, the grid of panels, the legend, a note. Sizes are in points; `scale` is the
//! number of pixels per point.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::element::{Circle, Cross, PathElement, Polygon, Rectangle};
use plotters::prelude::{DrawingArea, DrawingBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, IntoTextStyle, RGBColor, ShapeStyle, TextStyle};

use super::axis::Placed;
use super::{Colour, Figure, Mark, Panel, Picture, Shape, Side, Style};

const PANEL_WIDTH: f64 = 280.0;
const PANEL_HEIGHT: f64 = 220.0;
const TITLE_HEIGHT: f64 = 40.0;
const LEGEND_HEIGHT: f64 = 26.0;
const NOTE_HEIGHT: f64 = 22.0;
/// Height of each additional line of the title.
const TITLE_LINE: f64 = 22.0;
/// Height of each additional line of the note.
const NOTE_LINE: f64 = 15.0;
/// Approximate width of a character in the title.
const TITLE_CHARACTER: f64 = 7.2;
/// Approximate width of a character in the note.
const NOTE_CHARACTER: f64 = 5.2;
/// Note shown if areas are truncated.
const BEYOND: &str = " Bands that end at an edge or a break extend beyond it.";
/// Extra distance of labels below an axis if some of them have raised parts, which would overlap the ticks.
const RAISED: f64 = 4.0;
/// Half the size of the strokes that mark a broken axis.
const STROKE: f64 = 4.0;
/// Half the width of a band that is drawn at a single x.
const ALONE: f64 = 4.0;
/// Width of the line or point sample before a name in the legend.
const LEGEND_KEY: f64 = 36.0;
/// Space after a name in the legend.
const LEGEND_GAP: f64 = 30.0;
/// Length of a dash, and of the gap after it.
const DASH: f64 = 5.0;
/// Margins within a panel's cell, around its axes.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 46.0;
/// Minimum gap between two labels below an axis.
const TICK_GAP: f64 = 3.0;
/// Number of characters of a tick label that fit on the left.
const TICK_CHARACTERS: usize = 7;
/// Width of each additional character of a tick label.
const CHARACTER: f64 = 5.8;

const INK: Colour = (50, 50, 50);
const GRID: Colour = (225, 225, 225);

/// Returns the width and height of the whole figure in points.
pub(super) fn size(figure: &Figure) -> (f64, f64) {
    let rows = figure.panels.len().div_ceil(columns(figure)).max(1);
    let legend_rows = legend_rows(figure).len();
    let note = match note_lines(figure).len() {
        0 => 0.0,
        lines => NOTE_HEIGHT + (lines - 1) as f64 * NOTE_LINE,
    };
    let panels = rows as f64 * panel_height(figure);
    let height = title_height(figure) + panels + legend_rows as f64 * LEGEND_HEIGHT + note + 6.0;
    (width(figure), height)
}

/// Returns the number of panels per row.
fn columns(figure: &Figure) -> usize {
    figure.columns.min(figure.panels.len()).max(1)
}

fn width(figure: &Figure) -> f64 {
    columns(figure) as f64 * panel_width(figure) + 16.0
}

/// Wraps the title to the width of the figure.
fn title_lines(figure: &Figure) -> Vec<String> {
    wrapped(&figure.title, width(figure) / TITLE_CHARACTER)
}

fn title_height(figure: &Figure) -> f64 {
    TITLE_HEIGHT + title_lines(figure).len().saturating_sub(1) as f64 * TITLE_LINE
}

/// Wraps the note to the width of the figure, adding a remark if areas are truncated.
fn note_lines(figure: &Figure) -> Vec<String> {
    let is_cut = figure.panels.iter().any(|panel| Frame::new(panel, 0.0, 0.0).cuts(panel));
    let says = if is_cut { BEYOND } else { "" };
    wrapped(format!("{}{says}", figure.note).trim(), width(figure) / NOTE_CHARACTER)
}

/// Wraps text to lines of at most `characters` characters (unless a word is longer) and of about equal
/// length.
///
/// Uses the number of characters rather than widths in pixels, so that lines break identically in all
/// formats.
fn wrapped(text: &str, characters: f64) -> Vec<String> {
    let length = text.chars().count() as f64;
    let room = length / (length / characters).ceil().max(1.0);
    let mut lines: Vec<String> = Vec::new();
    let mut before = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let count = word.chars().count();
        // A word belongs to the line that contains its middle.
        let is_of_line = before as f64 + 0.5 * count as f64 <= room * lines.len() as f64;
        match lines.last_mut() {
            Some(line) if is_of_line => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
        before += count + 1;
    }
    lines
}

/// Returns the width of a cell of the grid. Cells with long tick labels on the left are wider, so that all
/// panels have the same width. For blank axes, the width follows from the longest axis.
fn panel_width(figure: &Figure) -> f64 {
    let width = |panel: &Panel| match panel.x.blank_length() {
        Some(length) => length + 2.0 * RIGHT,
        None => PANEL_WIDTH + room_for_ticks(panel),
    };
    figure.panels.iter().map(width).reduce(f64::max).unwrap_or(PANEL_WIDTH)
}

/// Returns the height of a cell of the grid.
fn panel_height(figure: &Figure) -> f64 {
    let height = |panel: &Panel| panel.y.blank_length().map_or(PANEL_HEIGHT, |length| length + TOP + RIGHT);
    figure.panels.iter().map(height).reduce(f64::max).unwrap_or(PANEL_HEIGHT)
}

/// Returns the additional width that long tick labels on the left of a panel need.
///
/// Uses the number of characters rather than widths in pixels, so that the layout is identical in all
/// formats.
fn room_for_ticks(panel: &Panel) -> f64 {
    panel.y.longest_tick().saturating_sub(TICK_CHARACTERS) as f64 * CHARACTER
}

/// Returns the legend entries by row, with rows no wider than the figure.
///
/// Uses the number of characters rather than widths in pixels, so that rows break identically in all formats.
fn legend_rows(figure: &Figure) -> Vec<&[(String, Style)]> {
    let room = columns(figure) as f64 * panel_width(figure);
    let width = |entries: &[(String, Style)]| -> f64 {
        entries.iter().map(|(name, _)| name.chars().count() as f64 * 7.0 + LEGEND_KEY + LEGEND_GAP).sum()
    };
    let in_rows_of = |entries: usize| figure.legend.chunks(entries).collect::<Vec<_>>();
    // Balance the rows, using more of them if the longest names fall into one row.
    let needed = (width(&figure.legend) / room).ceil().max(1.0) as usize;
    let most = figure.legend.len().div_ceil(needed).max(1);
    let fits = |rows: &Vec<&[(String, Style)]>| rows.iter().all(|row| width(row) <= room);
    (1..=most).rev().map(in_rows_of).find(fits).unwrap_or_else(|| in_rows_of(1))
}

/// Returns the upper left corner of a panel's cell.
fn corner(figure: &Figure, index: usize) -> (f64, f64) {
    let columns = columns(figure);
    let left = 8.0 + (index % columns) as f64 * panel_width(figure);
    (left, title_height(figure) + (index / columns) as f64 * panel_height(figure))
}

/// Returns the pictures of a figure, each with its upper left and lower right corner in points.
pub(super) fn pictures(figure: &Figure) -> Vec<(&Picture, [(f64, f64); 2])> {
    let mut found = Vec::new();
    for (index, panel) in figure.panels.iter().enumerate() {
        let (left, top) = corner(figure, index);
        let frame = Frame::new(panel, left, top);
        for mark in &panel.marks {
            if let Mark::Picture { picture, from, to } = mark {
                found.push((picture, [frame.place(*from), frame.place(*to)]));
            }
        }
    }
    found
}

/// Draws the whole figure, without its [`pictures`] if `with_pictures` is false because they are inserted
/// separately.
pub(super) fn draw<DB: DrawingBackend>(
    figure: &Figure,
    area: &DrawingArea<DB, Shift>,
    scale: f64,
    with_pictures: bool,
) -> Result<()> {
    let pen = Pen { area, scale, with_pictures };
    let (width, _) = size(figure);
    done(area.fill(&RGBColor(255, 255, 255)))?;
    for (line, text) in title_lines(figure).iter().enumerate() {
        let at = (width / 2.0, TITLE_HEIGHT / 2.0 + line as f64 * TITLE_LINE);
        pen.text(text, at, 17.0, HPos::Center)?;
    }
    for (index, panel) in figure.panels.iter().enumerate() {
        let (left, top) = corner(figure, index);
        draw_panel(&pen, panel, left, top)?;
    }
    let below =
        title_height(figure) + figure.panels.len().div_ceil(columns(figure)) as f64 * panel_height(figure);
    draw_legend(&pen, figure, width, below)?;
    let legend_rows = legend_rows(figure).len();
    let at = below + legend_rows as f64 * LEGEND_HEIGHT + NOTE_HEIGHT / 2.0;
    for (line, text) in note_lines(figure).iter().enumerate() {
        pen.text(text, (width / 2.0, at + line as f64 * NOTE_LINE), 11.0, HPos::Center)?;
    }
    done(area.present())
}

fn draw_legend<DB: DrawingBackend>(pen: &Pen<'_, DB>, figure: &Figure, width: f64, top: f64) -> Result<()> {
    for (row, entries) in legend_rows(figure).into_iter().enumerate() {
        let middle = top + (row as f64 + 0.5) * LEGEND_HEIGHT;
        let widths: Vec<f64> =
            entries.iter().map(|(name, _)| LEGEND_KEY + pen.text_width(name, 13.0) + LEGEND_GAP).collect();
        let mut left = (width - widths.iter().sum::<f64>() + LEGEND_GAP) / 2.0;
        for ((name, style), entry_width) in entries.iter().zip(widths) {
            match key(figure, *style) {
                Key::Bar => {
                    let corners = [(left, middle - 5.0), (left + 28.0, middle + 5.0)].map(|at| pen.pixel(at));
                    pen.put(&Rectangle::new(corners, rgb(style.colour).filled()))?;
                }
                Key::Line => {
                    pen.line(&[(left, middle), (left + 28.0, middle)], style.colour, 2.0)?;
                    pen.point((left + 14.0, middle), *style, 4.0)?;
                }
                Key::Point => pen.point((left + 14.0, middle), *style, 4.0)?,
            }
            pen.text(name, (left + LEGEND_KEY, middle), 13.0, HPos::Left)?;
            left += entry_width;
        }
    }
    Ok(())
}

/// The sample before a name in the legend, which shows what the figure draws in that style.
#[derive(Debug, PartialEq, Eq)]
enum Key {
    Line,
    Point,
    Bar,
}

fn key(figure: &Figure, wanted: Style) -> Key {
    let drawn =
        |is_drawn: &dyn Fn(&Mark) -> bool| figure.panels.iter().flat_map(|panel| &panel.marks).any(is_drawn);
    if drawn(&|mark| matches!(mark, Mark::Line { style, .. } if *style == wanted)) {
        Key::Line
    } else if drawn(&|mark| matches!(mark, Mark::Points { style, .. } if *style == wanted)) {
        Key::Point
    } else if drawn(&|mark| matches!(mark, Mark::Bar { colour, .. } if *colour == wanted.colour)) {
        Key::Bar
    } else {
        Key::Line
    }
}

fn draw_panel<DB: DrawingBackend>(pen: &Pen<'_, DB>, panel: &Panel, left: f64, top: f64) -> Result<()> {
    let frame = Frame::new(panel, left, top);
    let (x0, x1, y0, y1) = (frame.left, frame.right, frame.top, frame.bottom);
    for (at, _) in frame.x.ticks() {
        let x = x0 + at * (x1 - x0);
        pen.line(&[(x, y0), (x, y1)], GRID, 0.7)?;
    }
    for (at, _) in frame.y.ticks() {
        let y = y1 - at * (y1 - y0);
        pen.line(&[(x0, y), (x1, y)], GRID, 0.7)?;
    }
    for mark in &panel.marks {
        draw_mark(pen, &frame, mark)?;
    }
    let title_at = ((x0 + x1) / 2.0, top + TOP / 2.0 + 2.0);
    if panel.x.blank_length().is_some() {
        return pen.text(&panel.title, title_at, 14.0, HPos::Center);
    }
    pen.line(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], INK, 0.8)?;
    let lower = if frame.x.ticks().any(|(_, label)| label.contains('^')) { RAISED } else { 0.0 };
    let mut ticks: Vec<(f64, &str)> =
        frame.x.ticks().map(|(at, label)| (x0 + at * (x1 - x0), label)).collect();
    ticks.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut free = f64::NEG_INFINITY;
    for (x, label) in ticks {
        pen.line(&[(x, y1), (x, y1 + 4.0)], INK, 0.8)?;
        // Skip a label that would overlap the previous one.
        let half = 0.5 * pen.text_width(label, 11.0);
        if x - half >= free {
            pen.power(label, (x, y1 + 12.0 + lower), 11.0, HPos::Center)?;
            free = x + half + TICK_GAP;
        }
    }
    for (at, label) in frame.y.ticks() {
        let y = y1 - at * (y1 - y0);
        pen.line(&[(x0 - 4.0, y), (x0, y)], INK, 0.8)?;
        pen.power(label, (x0 - 7.0, y), 11.0, HPos::Right)?;
    }
    if let Some(gap) = frame.x.gap() {
        let x = x0 + gap * (x1 - x0);
        [(x, y0), (x, y1)].into_iter().try_for_each(|at| pen.broken(at, (2.0, STROKE), (2.0, 0.0)))?;
    }
    if let Some(gap) = frame.y.gap() {
        let y = y1 - gap * (y1 - y0);
        [(x0, y), (x1, y)].into_iter().try_for_each(|at| pen.broken(at, (STROKE, 2.0), (0.0, 2.0)))?;
    }
    pen.text(&panel.title, title_at, 14.0, HPos::Center)?;
    pen.power(&panel.x.label, ((x0 + x1) / 2.0, y1 + 29.0 + 0.5 * lower), 12.0, HPos::Center)?;
    pen.upright(&panel.y.label, (left + 8.0, (y0 + y1) / 2.0), 12.0)
}

/// The axes of one panel, positioned in the figure.
struct Frame {
    x: Placed,
    y: Placed,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn new(panel: &Panel, left: f64, top: f64) -> Self {
        let (xs, ys) = panel.extent();
        let areas = panel.edges();
        let both: Vec<f64> = xs.iter().chain(&ys).copied().collect();
        // If the line y = x is drawn, the two axes share their range.
        let square = panel.marks.iter().any(|mark| matches!(mark, Mark::Identity));
        let across = panel.x.blank_length().map(|length| (left + RIGHT, left + RIGHT + length));
        let down = panel.y.blank_length().map_or(PANEL_HEIGHT - BOTTOM, |length| TOP + length);
        let (left, right) = across.unwrap_or_else(|| {
            let left = left + room_for_ticks(panel);
            (left + LEFT, left + PANEL_WIDTH - RIGHT)
        });
        Self {
            x: panel.x.over(if square { &both } else { &xs }, &[]),
            y: panel.y.over(if square { &both } else { &ys }, &areas),
            left,
            right,
            top: top + TOP,
            bottom: top + down,
        }
    }

    /// Returns whether an area extends beyond the edges of the panel, and is thus truncated.
    fn cuts(&self, panel: &Panel) -> bool {
        panel.edges().into_iter().any(|edge| self.y.is_beyond(edge))
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            self.left + self.x.place(x) * (self.right - self.left),
            self.bottom - self.y.place(y) * (self.bottom - self.top),
        )
    }
}

/// Returns the outline of a band in points. A band at a single x gets a visible width.
fn outline(frame: &Frame, band: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let (lower, upper) =
        (|&(x, lower, _): &_| frame.place((x, lower)), |&(x, _, upper): &_| frame.place((x, upper)));
    match band {
        [alone] => {
            let ((x, lower), (_, upper)) = (lower(alone), upper(alone));
            vec![(x - ALONE, lower), (x + ALONE, lower), (x + ALONE, upper), (x - ALONE, upper)]
        }
        _ => band.iter().map(lower).chain(band.iter().rev().map(upper)).collect(),
    }
}

fn draw_mark<DB: DrawingBackend>(pen: &Pen<'_, DB>, frame: &Frame, mark: &Mark) -> Result<()> {
    let placed = |points: &[(f64, f64)]| points.iter().map(|&p| frame.place(p)).collect::<Vec<_>>();
    match mark {
        Mark::Line { style, points } => {
            let points = placed(points);
            pen.line(&points, style.colour, 1.8)?;
            points.iter().try_for_each(|&at| pen.point(at, *style, 3.2))
        }
        Mark::Curve { colour, points } => pen.line(&placed(points), *colour, 1.8),
        Mark::Dashes { colour, points } => pen.dashes(&placed(points), *colour, 1.2),
        Mark::Band { colour, points } => pen.area(&outline(frame, points), *colour, 0.2),
        Mark::Points { style, points } => {
            placed(points).iter().try_for_each(|&at| pen.point(at, *style, 2.1))
        }
        Mark::Bar { colour, from, to } => {
            let corners = [*from, (to.0, from.1), *to, (from.0, to.1)];
            pen.area(&placed(&corners), *colour, 1.0)
        }
        Mark::Words { text, at, side } => {
            let (x, y) = frame.place(*at);
            let (x, anchor) = match side {
                Side::Left => (x - 3.0, HPos::Right),
                Side::Right => (x + 3.0, HPos::Left),
            };
            pen.text(text, (x, y), 10.0, anchor)
        }
        Mark::Label { text, at, size, colour } => pen.label(text, frame.place(*at), *size, *colour),
        Mark::Picture { picture, from, to } if pen.with_pictures => {
            picture.runs().try_for_each(|(corners, colour)| {
                let along = |share: f64, from: f64, to: f64| from + share * (to - from);
                let place =
                    |(x, y): (f64, f64)| frame.place((along(x, from.0, to.0), along(y, from.1, to.1)));
                pen.cell(place(corners[0]), place(corners[1]), colour)
            })
        }
        Mark::Picture { .. } => Ok(()),
        Mark::Identity => {
            let (low, high) = frame.x.range();
            pen.line(&placed(&[(low, low), (high, high)]), INK, 0.9)
        }
    }
}

/// A drawing context with coordinates in points, for a backend that uses pixels.
struct Pen<'a, DB: DrawingBackend> {
    area: &'a DrawingArea<DB, Shift>,
    scale: f64,
    with_pictures: bool,
}

impl<DB: DrawingBackend> Pen<'_, DB> {
    fn pixel(&self, (x, y): (f64, f64)) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    fn pixels(&self, points: &[(f64, f64)]) -> Vec<(i32, i32)> {
        points.iter().map(|&p| self.pixel(p)).collect()
    }

    fn line(&self, points: &[(f64, f64)], colour: Colour, width: f64) -> Result<()> {
        let width = (width * self.scale).round().max(1.0) as u32;
        let style = ShapeStyle { color: rgb(colour).to_rgba(), filled: false, stroke_width: width };
        self.put(&PathElement::new(self.pixels(points), style))
    }

    /// Draws a dashed line whose dashes continue around corners.
    fn dashes(&self, points: &[(f64, f64)], colour: Colour, width: f64) -> Result<()> {
        let mut dash = points.iter().take(1).copied().collect::<Vec<_>>();
        let (mut drawing, mut left) = (true, DASH);
        for ends in points.windows(2) {
            let (mut at, end) = (ends[0], ends[1]);
            loop {
                let length = (end.0 - at.0).hypot(end.1 - at.1);
                if length <= left {
                    left -= length;
                    dash.push(end);
                    break;
                }
                let share = left / length;
                at = (at.0 + share * (end.0 - at.0), at.1 + share * (end.1 - at.1));
                dash.push(at);
                if drawing {
                    self.line(&dash, colour, width)?;
                }
                (dash, drawing, left) = (vec![at], !drawing, DASH);
            }
        }
        if drawing { self.line(&dash, colour, width) } else { Ok(()) }
    }

    fn area(&self, outline: &[(f64, f64)], colour: Colour, opacity: f64) -> Result<()> {
        self.put(&Polygon::new(self.pixels(outline), rgb(colour).mix(opacity).filled()))
    }

    /// Draws a filled rectangle without antialiasing.
    fn cell(&self, from: (f64, f64), to: (f64, f64), colour: Colour) -> Result<()> {
        self.put(&Rectangle::new([self.pixel(from), self.pixel(to)], rgb(colour).filled()))
    }

    /// Draws a point with a radius in points.
    fn point(&self, (x, y): (f64, f64), style: Style, radius: f64) -> Result<()> {
        let fill = rgb(style.colour).filled();
        match style.shape {
            Shape::None => Ok(()),
            Shape::Circle => {
                self.put(&Circle::new(self.pixel((x, y)), (radius * self.scale).round() as i32, fill))
            }
            Shape::Square => {
                let half = 0.9 * radius;
                self.put(&Rectangle::new(
                    [self.pixel((x - half, y - half)), self.pixel((x + half, y + half))],
                    fill,
                ))
            }
            Shape::Triangle | Shape::Wedge => {
                let up = if style.shape == Shape::Triangle { radius } else { -radius };
                let corners =
                    [(x, y - 1.2 * up), (x - 1.1 * radius, y + 0.8 * up), (x + 1.1 * radius, y + 0.8 * up)];
                self.put(&Polygon::new(self.pixels(&corners), fill))
            }
            Shape::Diamond => {
                let r = 1.3 * radius;
                let corners = [(x, y - r), (x - r, y), (x, y + r), (x + r, y)];
                self.put(&Polygon::new(self.pixels(&corners), fill))
            }
            Shape::Cross => {
                let width = (1.4 * self.scale).round().max(1.0) as u32;
                let stroke = rgb(style.colour).stroke_width(width);
                self.put(&Cross::new(self.pixel((x, y)), (radius * self.scale).round() as i32, stroke))
            }
        }
    }

    /// Draws a gap between two strokes in a line of the frame: `slant` is half a stroke, `apart` half the
    /// distance between the strokes.
    fn broken(&self, (x, y): (f64, f64), slant: (f64, f64), apart: (f64, f64)) -> Result<()> {
        let from = (x - apart.0, y - apart.1);
        let to = (x + apart.0, y + apart.1);
        self.line(&[from, to], (255, 255, 255), 2.0)?;
        [from, to].into_iter().try_for_each(|(x, y)| {
            self.line(&[(x - slant.0, y + slant.1), (x + slant.0, y - slant.1)], INK, 0.8)
        })
    }

    fn font(&self, size: f64, colour: Colour) -> TextStyle<'static> {
        ("sans-serif", size * self.scale).into_font().color(&rgb(colour))
    }

    /// Draws centred, coloured text.
    fn label(&self, text: &str, at: (f64, f64), size: f64, colour: Colour) -> Result<()> {
        self.words(text, at, &self.font(size, colour), HPos::Center)
    }

    fn words(&self, text: &str, at: (f64, f64), style: &TextStyle<'_>, anchor: HPos) -> Result<()> {
        let style = style.pos(Pos::new(anchor, VPos::Center));
        done(self.area.draw_text(text, &style, self.pixel(at)))
    }

    fn text_width(&self, text: &str, size: f64) -> f64 {
        let style = self.font(size, INK);
        self.area.estimate_text_size(text, &style).map_or(0.0, |(width, _)| f64::from(width) / self.scale)
    }

    /// Draws text anchored at one end or at its middle.
    fn text(&self, text: &str, at: (f64, f64), size: f64, anchor: HPos) -> Result<()> {
        self.words(text, at, &self.font(size, INK), anchor)
    }

    /// Draws text with the part after `^` raised, as in `10^−3`; the font lacks superscripts above ³.
    fn power(&self, text: &str, at: (f64, f64), size: f64, anchor: HPos) -> Result<()> {
        let Some((base, exponent)) = text.split_once('^') else {
            return self.text(text, at, size, anchor);
        };
        let small = 0.75 * size;
        let (base_width, exponent_width) = (self.text_width(base, size), self.text_width(exponent, small));
        let start = match anchor {
            HPos::Left => at.0,
            HPos::Center => at.0 - (base_width + exponent_width) / 2.0,
            HPos::Right => at.0 - base_width - exponent_width,
        };
        // Anchor the base and the raised part at the point where they meet, so that they do not overlap in a
        // viewer with a wider font.
        let meeting = start + base_width;
        self.text(base, (meeting, at.1), size, HPos::Right)?;
        self.text(exponent, (meeting + 0.5, at.1 - 0.4 * size), small, HPos::Left)
    }

    /// Draws centred text that reads from bottom to top.
    fn upright(&self, text: &str, at: (f64, f64), size: f64) -> Result<()> {
        let ink = rgb(INK);
        let style = ("sans-serif", size * self.scale)
            .into_font()
            .transform(FontTransform::Rotate270)
            .into_text_style(self.area)
            .color(&ink);
        self.words(text, at, &style, HPos::Center)
    }

    fn put<'e, E>(&self, element: &'e E) -> Result<()>
    where
        &'e E: plotters::element::PointCollection<'e, (i32, i32)>,
        E: plotters::element::Drawable<DB>,
    {
        done(self.area.draw(element))
    }
}

fn done(drawn: std::result::Result<(), impl std::fmt::Display>) -> Result<()> {
    drawn.map_err(|error| anyhow!("cannot draw the figure: {error}"))
}

fn rgb((red, green, blue): Colour) -> RGBColor {
    RGBColor(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Mark, palette};
    use super::*;

    #[test]
    fn words_are_broken_into_lines_of_about_one_length_that_fit() {
        let text = "one two three four five six seven eight nine ten";
        assert_eq!(wrapped(text, 100.0), [text]);
        for room in [12.0, 20.0, 30.0] {
            let lines = wrapped(text, room);
            assert_eq!(lines.join(" "), text);
            assert_eq!(lines.len() as f64, (text.len() as f64 / room).ceil());
            // A line may exceed the width by half a word.
            assert!(lines.iter().all(|line| line.len() as f64 <= room + 3.0), "{lines:?}");
        }
        assert!(wrapped("", 10.0).is_empty());
    }

    fn figure(title: &str, band: (f64, f64)) -> Figure {
        let marks = vec![
            Mark::Band { colour: palette::BLUE, points: vec![(1.0, band.0, band.1), (2.0, 1.0, 10.0)] },
            Mark::Curve { colour: palette::BLUE, points: vec![(1.0, 1.0), (2.0, 10.0)] },
        ];
        let (x, y) = (Axis::linear("x"), Axis::log("y", 1e-30));
        Figure {
            title: title.to_owned(),
            panels: vec![Panel { title: String::new(), x, y, marks }],
            columns: 1,
            legend: Vec::new(),
            note: "Words.".to_owned(),
        }
    }

    #[test]
    fn a_long_title_makes_the_figure_higher_and_nothing_wider() {
        let (short, long) =
            (figure("Error", (1.0, 2.0)), figure(&"error by evaluations ".repeat(5), (1.0, 2.0)));
        assert_eq!(size(&long).0, size(&short).0);
        assert!(size(&long).1 > size(&short).1);
    }

    #[test]
    fn a_legend_has_what_the_figure_draws() {
        let style = Style { colour: palette::BLUE, shape: Shape::Circle };
        let mut figure = figure("", (1.0, 2.0));
        for (mark, expected) in [
            (Mark::Bar { colour: palette::BLACK, from: (0.0, 0.0), to: (1.0, 1.0) }, Key::Line),
            (Mark::Bar { colour: style.colour, from: (0.0, 0.0), to: (1.0, 1.0) }, Key::Bar),
            (Mark::Points { style, points: vec![(1.0, 1.0)] }, Key::Point),
            (Mark::Line { style, points: vec![(1.0, 1.0)] }, Key::Line),
        ] {
            figure.panels[0].marks.push(mark);
            assert_eq!(key(&figure, style), expected);
        }
    }

    #[test]
    fn a_band_of_a_single_place_is_seen() {
        let mut figure = figure("", (0.5, 2.0));
        let frame = |figure: &Figure| Frame::new(&figure.panels[0], 0.0, 0.0);
        let corners = outline(&frame(&figure), &[(1.0, 0.5, 2.0), (2.0, 1.0, 10.0)]);
        assert_eq!(corners[0].0, corners[3].0);
        figure.panels[0].marks.truncate(1);
        let corners = outline(&frame(&figure), &[(1.0, 0.5, 2.0)]);
        let [left, right, above, last] = corners[..] else { panic!("{corners:?}") };
        assert!(right.0 - left.0 > 5.0 && right.1 == left.1 && above.0 == right.0 && last.0 == left.0);
        assert!(above.1 < right.1 && last.1 == above.1);
    }

    #[test]
    fn a_band_that_is_cut_off_is_said_to_be() {
        assert_eq!(note_lines(&figure("", (0.5, 2.0))).join(" "), "Words.");
        for beyond in [(-1.0, 2.0), (0.0, 2.0), (1e-9, 2.0), (0.5, 1e9)] {
            let note = note_lines(&figure("", beyond)).join(" ");
            assert_eq!(note, format!("Words.{BEYOND}"), "{beyond:?}");
        }
    }
}
