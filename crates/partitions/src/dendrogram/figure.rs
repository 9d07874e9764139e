//! The dendrogram as a figure: one leaf per line, with names on the left and the height increasing to the
//! right.

use plotters::coord::Shift;
use plotters::element::{DashedPathElement, PathElement};
use plotters::prelude::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::{Cut, Dendrogram};
use crate::error::PartitionsError;

// All lengths are in pixels of the figure.
const LEAF: i32 = 20;
const WIDTH: i32 = 640;
const MARGIN: i32 = 16;
const AXIS: i32 = 52;
const FONT: i32 = 16;
/// Approximate width of a letter.
const LETTER: i32 = 8;

const INK: RGBColor = RGBColor(60, 60, 60);
const GRID: RGBColor = RGBColor(228, 228, 228);
/// Colours that readers with colour vision deficiency can distinguish (Okabe and Ito), restricted to those
/// that are legible on white.
const GROUPS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(180, 130, 0),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type DrawResult = Result<(), DrawingAreaErrorKind<std::io::Error>>;

impl Dendrogram {
    /// Draws the dendrogram as an SVG document, with names at the leaves and merges at their height 1 −
    /// dependence. If there is a `cut`, a dashed line marks it, and every group of two or more features has a
    /// separate colour (six colours that repeat).
    ///
    /// # Errors
    ///
    /// The errors of [`cut`](Self::cut); [`PartitionsError::Figure`] if the drawing library fails.
    pub fn to_svg(&self, cut: Option<Cut>) -> Result<String, PartitionsError> {
        let done = cut.map_or(Ok(0), |cut| self.merges_below(cut))?;
        let line = cut.map(|cut| match cut {
            Cut::Height(height) => height,
            Cut::Groups(_) => self.height_after(done),
        });
        let layout = Layout::new(self);
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, layout.size()).into_drawing_area();
            self.draw(&area, &layout, done, line)
                .map_err(|error| PartitionsError::Figure { message: error.to_string() })?;
        }
        Ok(svg)
    }

    /// Returns a height between the last of the first `done` merges and the next merge.
    fn height_after(&self, done: usize) -> f64 {
        let height = |merge: usize| self.merges.get(merge).map(|merge| merge.height);
        let below = done.checked_sub(1).and_then(height).unwrap_or(0.0);
        0.5 * (below + height(done).unwrap_or(1.0))
    }

    fn draw(&self, area: &Area<'_>, layout: &Layout, done: usize, line: Option<f64>) -> DrawResult {
        area.fill(&RGBColor(255, 255, 255))?;
        layout.draw_axis(area)?;
        let colours = self.colours(layout, done);
        for (feature, name) in self.leaves.iter().enumerate() {
            let at = (layout.left - 8, layout.rows[feature]);
            area.draw_text(&printable(name), &text(colours[feature], HPos::Right), at)?;
        }
        for (at, merge) in self.merges.iter().enumerate() {
            let cluster = self.features() + at;
            let [first, second] = merge.children;
            let x = layout.x(merge.height);
            let corners = vec![
                (layout.x(self.height(first)), layout.rows[first]),
                (x, layout.rows[first]),
                (x, layout.rows[second]),
                (layout.x(self.height(second)), layout.rows[second]),
            ];
            area.draw(&PathElement::new(corners, stroke(colours[cluster], 2)))?;
        }
        if let Some(height) = line.filter(|height| (0.0..=1.0).contains(height)) {
            let x = layout.x(height);
            let ends = [(x, layout.top), (x, layout.bottom)];
            area.draw(&DashedPathElement::new(ends, 6, 4, stroke(INK, 1)))?;
        }
        area.present()
    }

    /// Returns the height of a cluster, 0 for a feature.
    fn height(&self, cluster: usize) -> f64 {
        cluster.checked_sub(self.features()).map_or(0.0, |merge| self.merges[merge].height)
    }

    /// Returns the colour of each cluster: the colour of its group if it is below the cut and in a group of
    /// several features, else `INK`.
    fn colours(&self, layout: &Layout, done: usize) -> Vec<RGBColor> {
        let features = self.features();
        let mut colours = vec![INK; features + self.merges.len()];
        let mut outermost = vec![true; features + done];
        for child in self.merges[..done].iter().flat_map(|merge| merge.children) {
            outermost[child] = false;
        }
        let mut groups: Vec<usize> =
            (features..features + done).filter(|&cluster| outermost[cluster]).collect();
        groups.sort_by_key(|&group| layout.rows[group]);
        for (group, colour) in groups.into_iter().zip(GROUPS.into_iter().cycle()) {
            colours[group] = colour;
        }
        for (at, merge) in self.merges[..done].iter().enumerate().rev() {
            for child in merge.children {
                colours[child] = colours[features + at];
            }
        }
        colours
    }
}

/// Positions in the figure.
struct Layout {
    left: i32,
    top: i32,
    bottom: i32,
    /// The vertical position of each cluster: the line of a leaf, or the middle between its children.
    rows: Vec<i32>,
}

impl Layout {
    fn new(dendrogram: &Dendrogram) -> Self {
        let features = dendrogram.features();
        let letters =
            dendrogram.leaves.iter().map(|name| printable(name).chars().count()).max().unwrap_or(0) as i32;
        let mut rows = vec![0; features + dendrogram.merges.len()];
        for (line, leaf) in dendrogram.leaves_in_order().into_iter().enumerate() {
            rows[leaf] = MARGIN + LEAF * line as i32 + LEAF / 2;
        }
        for (at, merge) in dendrogram.merges.iter().enumerate() {
            let [first, second] = merge.children;
            rows[features + at] = (rows[first] + rows[second]) / 2;
        }
        let left = MARGIN + LETTER * letters.max(2) + 8;
        Self { left, top: MARGIN, bottom: MARGIN + LEAF * features as i32, rows }
    }

    fn size(&self) -> (u32, u32) {
        ((self.left + WIDTH + 2 * MARGIN) as u32, (self.bottom + AXIS) as u32)
    }

    fn x(&self, height: f64) -> i32 {
        self.left + (height * f64::from(WIDTH)).round() as i32
    }

    fn draw_axis(&self, area: &Area<'_>) -> DrawResult {
        for tick in 0..=5 {
            let height = f64::from(tick) / 5.0;
            let x = self.x(height);
            area.draw(&PathElement::new(vec![(x, self.top), (x, self.bottom + 4)], stroke(GRID, 1)))?;
            area.draw_text(&height.to_string(), &text(INK, HPos::Center), (x, self.bottom + 14))?;
        }
        let middle = (self.x(0.5), self.bottom + 36);
        area.draw_text("height = 1 − dependence", &text(INK, HPos::Center), middle)
    }
}

impl Dendrogram {
    /// Returns the leaves in an order in which merges do not cross. Of the two clusters of a merge, the one
    /// that contains the first feature of both is on top.
    fn leaves_in_order(&self) -> Vec<usize> {
        let features = self.features();
        let mut first: Vec<usize> = (0..features).collect();
        for merge in &self.merges {
            let [one, other] = merge.children;
            first.push(first[one].min(first[other]));
        }
        let mut leaves = Vec::with_capacity(features);
        let mut waiting = vec![first.len() - 1];
        while let Some(cluster) = waiting.pop() {
            match cluster.checked_sub(features) {
                None => leaves.push(cluster),
                Some(merge) => {
                    let mut children = self.merges[merge].children;
                    children.sort_by_key(|&child| std::cmp::Reverse(first[child]));
                    waiting.extend(children);
                }
            }
        }
        leaves
    }
}

/// Returns a name as drawn, with control characters, which XML cannot represent, replaced by escapes.
fn printable(name: &str) -> String {
    let mut drawn = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '\u{fffe}' | '\u{ffff}' => drawn.extend(letter.escape_unicode()),
            letter if letter.is_control() => drawn.extend(letter.escape_default()),
            letter => drawn.push(letter),
        }
    }
    drawn
}

fn stroke(colour: RGBColor, width: u32) -> ShapeStyle {
    colour.stroke_width(width)
}

fn text(colour: RGBColor, side: HPos) -> TextStyle<'static> {
    let pos = Pos::new(side, VPos::Center);
    TextStyle { font: ("sans-serif", FONT).into_font(), color: colour.to_backend_color(), pos }
}
