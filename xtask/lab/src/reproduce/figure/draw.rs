//! Layout of a figure as a scene: the title, the grid of panels, the legend, a note. All lengths are in CSS
//! pixels.

use apportion_plots::{Anchor, Mark as Tooltip, Paint, Point, Scene, Shape, shortened, width_of, wrapped};

use super::axis::Placed;
use super::{Colour, Figure, Mark, Panel, Side, Style};

/// Width and height of the axes of a panel.
const PLOT: Point = (214.0, 148.0);
/// Distance between the content and the edges of the figure.
const EDGE: f64 = 8.0;
/// Space above the axes of a panel, for its title.
const TOP: f64 = 26.0;
/// Space below the axes of a panel, for labels.
const BOTTOM: f64 = 46.0;
/// Space to the right of the axes of a panel, and on both sides of blank axes.
const RIGHT: f64 = 10.0;
/// Space to the left of the tick labels, for the label of the axis.
const LABEL: f64 = 20.0;
/// Distance of the tick labels from the axis on the left.
const TICK: f64 = 7.0;
/// Minimum gap between two labels below an axis.
const TICK_GAP: f64 = 4.0;
/// Maximum number of ticks below an axis, if they are chosen from the data.
const MAX_TICKS: usize = 5;
/// Space for each tick on the left of an axis, if they are chosen from the data.
const TICK_ROOM: f64 = 28.0;

const TITLE_FONT: f64 = 17.0;
const TITLE_LINE: f64 = 22.0;
const PANEL_FONT: f64 = 14.0;
const LABEL_FONT: f64 = 12.0;
const TICK_FONT: f64 = 11.0;
const LEGEND_FONT: f64 = 13.0;
const LEGEND_LINE: f64 = 26.0;
const NOTE_FONT: f64 = 11.0;
const NOTE_LINE: f64 = 15.0;

/// Width of the sample before a name in the legend.
const KEY: f64 = 28.0;
/// Space after that sample.
const KEY_GAP: f64 = 8.0;
/// Space after a name in the legend.
const ENTRY_GAP: f64 = 30.0;

/// Note shown if areas are truncated.
const BEYOND: &str = " Bands that end at an edge or a break extend beyond it.";
/// Half the size of the strokes that mark a broken axis.
const STROKE: f64 = 4.0;
/// Half the width of a band that is drawn at a single x.
const ALONE: f64 = 4.0;

/// Lays out the whole figure.
pub(super) fn scene(figure: &Figure) -> Scene {
    let columns = figure.columns.min(figure.panels.len()).max(1);
    let left = figure.panels.iter().map(left_of_axes).fold(0.0, f64::max);
    let (width, height) = figure
        .panels
        .iter()
        .map(|panel| cell(panel, left))
        .fold((0.0, 0.0), |(width, height): Point, cell| (width.max(cell.0), height.max(cell.1)));
    let mut scene = Scene::new(columns as f64 * width + 2.0 * EDGE, &*figure.title);
    let mut top = EDGE + centred_lines(&mut scene, EDGE, &figure.title, TITLE_FONT, TITLE_LINE);
    let mut is_cut = false;
    for panels in figure.panels.chunks(columns) {
        for (column, panel) in panels.iter().enumerate() {
            let at = EDGE + column as f64 * width;
            let frame = Frame::new(panel, (at, top), left);
            is_cut |= panel.edges().into_iter().any(|edge| frame.y.is_beyond(edge));
            draw_panel(&mut scene, panel, &frame, (at, at + width));
        }
        top += height;
    }
    top += draw_legend(&mut scene, figure, top);
    let note = format!("{}{}", figure.note, if is_cut { BEYOND } else { "" });
    top += centred_lines(&mut scene, top, note.trim(), NOTE_FONT, NOTE_LINE);
    scene.height = top + EDGE;
    scene.description = description(figure, note.trim());
    scene
}

/// Describes the figure for screen readers.
fn description(figure: &Figure, note: &str) -> String {
    let listed = |kind: &str, names: Vec<&str>| match names.is_empty() {
        true => String::new(),
        false => format!("{kind}: {}. ", names.join("; ")),
    };
    let panels = figure.panels.iter().map(|panel| panel.title.as_str()).filter(|title| !title.is_empty());
    let series = figure.legend.iter().map(|(name, _)| name.as_str());
    listed("Panels", panels.collect()) + &listed("Series", series.collect()) + note
}

/// Draws text in centred lines below `top`. Returns their height.
fn centred_lines(scene: &mut Scene, top: f64, text: &str, size: f64, line: f64) -> f64 {
    let lines = wrapped(text, scene.width - 2.0 * EDGE, size);
    let middle = 0.5 * scene.width;
    for (at, text) in lines.iter().enumerate() {
        let y = top + (at as f64 + 0.5) * line;
        scene.text_of((middle, y), text, size, Anchor::Middle, Paint::Ink);
    }
    lines.len() as f64 * line
}

/// Returns the space that a panel needs to the left of its axes.
fn left_of_axes(panel: &Panel) -> f64 {
    let frame = Frame::new(panel, (0.0, 0.0), 0.0);
    let widest = frame.y.ticks.iter().map(|(_, label)| width_of(label, TICK_FONT)).fold(0.0, f64::max);
    LABEL + widest + TICK
}

/// Returns width and height of a panel whose axes start `left` pixels from its edge.
fn cell(panel: &Panel, left: f64) -> Point {
    let width = panel.x.blank_length().map_or(left + PLOT.0 + RIGHT, |length| length + 2.0 * RIGHT);
    (width, panel.y.blank_length().map_or(TOP + PLOT.1 + BOTTOM, |length| TOP + length + RIGHT))
}

/// Draws the legend below `top`, in columns that fit into the figure. Returns its height.
fn draw_legend(scene: &mut Scene, figure: &Figure, top: f64) -> f64 {
    let room = scene.width - 2.0 * EDGE;
    let names: Vec<String> =
        figure.legend.iter().map(|(name, _)| shortened(name, room - KEY - KEY_GAP, LEGEND_FONT)).collect();
    let columns = legend_columns(&names, room);
    let start = 0.5 * (scene.width - columns.iter().sum::<f64>() + ENTRY_GAP);
    for (at, (name, (_, style))) in names.iter().zip(&figure.legend).enumerate() {
        let (row, column) = (at / columns.len(), at % columns.len());
        let left = start + columns[..column].iter().sum::<f64>();
        let middle = top + (row as f64 + 0.5) * LEGEND_LINE;
        draw_key(scene, figure, (left, middle), *style);
        let at = (left + KEY + KEY_GAP, middle);
        scene.text_of(at, name, LEGEND_FONT, Anchor::Start, Paint::Ink);
    }
    names.len().div_ceil(columns.len().max(1)) as f64 * LEGEND_LINE
}

/// Returns the widths of the columns of a legend. There are as many columns as fit, without columns that
/// could be removed without adding a row.
fn legend_columns(names: &[String], room: f64) -> Vec<f64> {
    let width = |name: &String| KEY + KEY_GAP + width_of(name, LEGEND_FONT) + ENTRY_GAP;
    let columns = |count: usize| -> Vec<f64> {
        let column = |first: usize| names.iter().skip(first).step_by(count).map(width);
        (0..count).map(|first| column(first).fold(0.0, f64::max)).collect()
    };
    let fits = |columns: &Vec<f64>| columns.iter().sum::<f64>() - ENTRY_GAP <= room;
    let is_needed = |count: &usize| names.len().div_ceil(names.len().div_ceil(*count)) == *count;
    let found = (1..=names.len()).rev().filter(is_needed).map(columns).find(fits);
    found.unwrap_or_else(|| columns(names.len().min(1)))
}

/// Draws the sample before a name in the legend, as the figure draws the style.
fn draw_key(scene: &mut Scene, figure: &Figure, (left, middle): Point, wanted: Style) {
    let paint = Paint::Fixed(wanted.colour);
    match key(figure, wanted) {
        Key::Bar => scene.rectangle((left, middle - 5.0), (KEY, 10.0), paint, Tooltip::default()),
        Key::Line => scene.line([(left, middle), (left + KEY, middle)], paint, 2.0),
        Key::Points => {}
    }
    if let (Key::Line | Key::Points, Some(marker)) = (key(figure, wanted), wanted.marker) {
        scene.dots([(left + 0.5 * KEY, middle)], marker, 4.0, paint);
    }
}

/// The kind of mark that the figure draws in the style of a legend entry.
#[derive(Debug, PartialEq, Eq)]
enum Key {
    Line,
    Points,
    Bar,
}

fn key(figure: &Figure, wanted: Style) -> Key {
    let drawn =
        |is_drawn: &dyn Fn(&Mark) -> bool| figure.panels.iter().flat_map(|panel| &panel.marks).any(is_drawn);
    if drawn(&|mark| matches!(mark, Mark::Line { style, .. } if *style == wanted)) {
        Key::Line
    } else if drawn(&|mark| matches!(mark, Mark::Points { style, .. } if *style == wanted)) {
        Key::Points
    } else if drawn(&|mark| matches!(mark, Mark::Bar { colour, .. } if *colour == wanted.colour)) {
        Key::Bar
    } else {
        Key::Line
    }
}

/// The axes of one panel, positioned in the figure.
struct Frame {
    x: Placed,
    y: Placed,
    /// The upper left and the lower right corner.
    corners: [Point; 2],
}

impl Frame {
    fn new(panel: &Panel, (left, top): Point, left_of_axes: f64) -> Self {
        let (mut xs, mut ys) = panel.extent();
        let (mut beside, areas) = (Vec::new(), panel.edges());
        // If the line y = x is drawn, the two axes share their range.
        if panel.marks.iter().any(|mark| matches!(mark, Mark::Identity)) {
            xs.extend_from_slice(&ys);
            (ys, beside) = (xs.clone(), areas.clone());
        }
        let (left, width) = match panel.x.blank_length() {
            Some(length) => (left + RIGHT, length),
            None => (left + left_of_axes, PLOT.0),
        };
        let (right, top) = (left + width, top + TOP);
        let bottom = top + panel.y.blank_length().unwrap_or(PLOT.1);
        // Draw as many ticks below the axis as have space for their labels.
        let below = |most| panel.x.over(&xs, &beside, (left, right), most);
        let fits = |x: &Placed| {
            x.ticks.windows(2).all(|pair| label_edge(&pair[0], 1.0) <= label_edge(&pair[1], -1.0))
        };
        let x = (3..=MAX_TICKS).rev().map(below).find(fits).unwrap_or_else(|| below(2));
        Self {
            x,
            y: panel.y.over(&ys, &areas, (bottom, top), ((bottom - top) / TICK_ROOM) as usize),
            corners: [(left, top), (right, bottom)],
        }
    }

    fn place(&self, (x, y): Point) -> Point {
        (self.x.place(x), self.y.place(y))
    }

    fn places(&self, points: &[Point]) -> Vec<Point> {
        points.iter().map(|&point| self.place(point)).collect()
    }
}

/// Returns the right edge of a tick label below an axis, with its share of the gap to the next label, or the
/// left edge for `side` −1.
fn label_edge((x, label): &(f64, String), side: f64) -> f64 {
    x + side * 0.5 * (width_of(label, TICK_FONT) + TICK_GAP)
}

/// Draws a panel whose cell is between the edges `cell`.
fn draw_panel(scene: &mut Scene, panel: &Panel, frame: &Frame, cell: (f64, f64)) {
    let [(left, top), (right, bottom)] = frame.corners;
    let (centre, middle) = (0.5 * (left + right), 0.5 * (top + bottom));
    frame.x.ticks.iter().for_each(|&(x, _)| scene.line([(x, top), (x, bottom)], Paint::Grid, 0.7));
    frame.y.ticks.iter().for_each(|&(y, _)| scene.line([(left, y), (right, y)], Paint::Grid, 0.7));
    panel.marks.iter().for_each(|mark| draw_mark(scene, frame, mark));
    centred(scene, (centre, top - 0.5 * TOP + 2.0), &panel.title, (PANEL_FONT, Paint::Ink), cell);
    if panel.x.blank_length().is_some() {
        return;
    }
    let border = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    scene.line(border, Paint::Ink, 0.8);
    let mut free = f64::NEG_INFINITY;
    for tick @ (x, label) in &frame.x.ticks {
        scene.line([(*x, bottom), (*x, bottom + 4.0)], Paint::Ink, 0.8);
        // Skip a label that would overlap the previous one.
        if !label.is_empty() && label_edge(tick, -1.0) >= free {
            scene.text_of((*x, bottom + 12.0), label, TICK_FONT, Anchor::Middle, Paint::Ink);
            free = label_edge(tick, 1.0);
        }
    }
    let mut widest: f64 = 0.0;
    for (y, label) in &frame.y.ticks {
        scene.line([(left - 4.0, *y), (left, *y)], Paint::Ink, 0.8);
        scene.text_of((left - TICK, *y), label, TICK_FONT, Anchor::End, Paint::Ink);
        widest = widest.max(width_of(label, TICK_FONT));
    }
    if let Some(x) = frame.x.gap() {
        [top, bottom].into_iter().for_each(|y| draw_gap(scene, (x, y), (2.0, STROKE), (2.0, 0.0)));
    }
    if let Some(y) = frame.y.gap() {
        [left, right].into_iter().for_each(|x| draw_gap(scene, (x, y), (STROKE, 2.0), (0.0, 2.0)));
    }
    centred(scene, (centre, bottom + 30.0), &panel.x.label, (LABEL_FONT, Paint::Muted), cell);
    // The label may be longer than the axis.
    let ends = (top - TOP, bottom + 0.8 * BOTTOM);
    let label = shortened(&panel.y.label, ends.1 - ends.0, LABEL_FONT);
    let half = 0.5 * width_of(&label, LABEL_FONT);
    let y = middle.min(ends.1 - half).max(ends.0 + half);
    scene.upright_of((left - TICK - widest - 11.0, y), label, LABEL_FONT, Anchor::Middle);
}

/// Draws text centred at a position, or as near to it as the edges of the cell allow.
fn centred(scene: &mut Scene, (x, y): Point, text: &str, (size, paint): (f64, Paint), cell: (f64, f64)) {
    let text = shortened(text, cell.1 - cell.0, size);
    let half = 0.5 * width_of(&text, size);
    let x = x.min(cell.1 - half).max(cell.0 + half);
    scene.text_of((x, y), text, size, Anchor::Middle, paint);
}

/// Draws a gap between two strokes in a line of the frame: `slant` is half a stroke, `apart` half the
/// distance between the strokes.
fn draw_gap(scene: &mut Scene, (x, y): Point, slant: Point, apart: Point) {
    let ends = [(x - apart.0, y - apart.1), (x + apart.0, y + apart.1)];
    scene.line(ends, Paint::Paper, 2.0);
    for (x, y) in ends {
        scene.line([(x - slant.0, y + slant.1), (x + slant.0, y - slant.1)], Paint::Ink, 0.8);
    }
}

fn draw_mark(scene: &mut Scene, frame: &Frame, mark: &Mark) {
    let fixed = |colour: &Colour| Paint::Fixed(*colour);
    let dots = |scene: &mut Scene, points: &[Point], style: &Style, radius: f64| {
        if let Some(marker) = style.marker {
            scene.dots(frame.places(points), marker, radius, fixed(&style.colour));
        }
    };
    match mark {
        Mark::Line { style, points } => {
            scene.line(frame.places(points), fixed(&style.colour), 1.8);
            dots(scene, points, style, 3.2);
        }
        Mark::Curve { colour, points } => scene.line(frame.places(points), fixed(colour), 1.8),
        Mark::Dashes { colour, points } => scene.dashed(frame.places(points), fixed(colour), 1.2),
        Mark::Band { colour, points } => scene.area(outline(frame, points), fixed(colour), 0.2),
        Mark::Points { style, points } => dots(scene, points, style, 2.1),
        Mark::Bar { colour, from, to } => {
            let corners = [*from, (to.0, from.1), *to, (from.0, to.1)];
            scene.area(frame.places(&corners), fixed(colour), 1.0);
        }
        Mark::Words { text, at, side } => {
            let (x, y) = frame.place(*at);
            let (x, anchor) = match side {
                Side::Left => (x - 4.0, Anchor::End),
                Side::Right => (x + 4.0, Anchor::Start),
            };
            scene.text_of((x, y), text, 10.0, anchor, Paint::Ink);
        }
        Mark::Label { text, at, size, colour } => {
            scene.text_of(frame.place(*at), text, *size, Anchor::Middle, fixed(colour));
        }
        Mark::Picture { picture, from, to } => {
            let (at, end) = (frame.place(*from), frame.place(*to));
            let (size, picture) = ((end.0 - at.0, end.1 - at.1), picture.clone());
            scene.shapes.push(Shape::Picture { at, size, picture });
        }
        Mark::Identity => {
            let [(left, top), (right, bottom)] = frame.corners;
            scene.line([(left, bottom), (right, top)], Paint::Ink, 0.9);
        }
    }
}

/// Returns the outline of a band. A band at a single x gets a visible width.
fn outline(frame: &Frame, band: &[(f64, f64, f64)]) -> Vec<Point> {
    let lower = |&(x, lower, _): &_| frame.place((x, lower));
    let upper = |&(x, _, upper): &_| frame.place((x, upper));
    match band {
        [alone] => {
            let ((x, lower), (_, upper)) = (lower(alone), upper(alone));
            vec![(x - ALONE, lower), (x + ALONE, lower), (x + ALONE, upper), (x - ALONE, upper)]
        }
        _ => band.iter().map(lower).chain(band.iter().rev().map(upper)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Marker, palette};
    use super::*;

    const STYLE: Style = Style { colour: palette::BLUE, marker: Some(Marker::Circle) };

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

    /// Returns each text with its left, right, upper and lower edge.
    fn texts(scene: &Scene) -> Vec<(&str, [f64; 4])> {
        let mut texts = Vec::new();
        for shape in &scene.shapes {
            let Shape::Text { at: (x, y), text, size, anchor, is_upright, .. } = shape else { continue };
            let (wide, half) = (width_of(text, *size), 0.45 * size);
            let before = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5 * wide,
                Anchor::End => wide,
            };
            texts.push((
                text.as_str(),
                match is_upright {
                    true => [x - half, x + half, y - wide + before, y + before],
                    false => [x - before, x - before + wide, y - half, y + half],
                },
            ));
        }
        texts
    }

    #[test]
    fn labels_are_within_the_figure_and_do_not_overlap() {
        let panel = |x: Axis, y: Axis, values: [f64; 2]| Panel {
            title: "A dataset with quite a long name (n = 1000)".to_owned(),
            x,
            y,
            marks: vec![Mark::Line { style: STYLE, points: vec![(values[0], 0.0), (values[1], values[1])] }],
        };
        let long = (0..10).map(|row| (f64::from(row), format!("a long name of row {row}"))).collect();
        let budgets = (0..12).map(|k| (2_f64.powi(k), (1_u64 << (4 * k)).to_string())).collect();
        let names = ["one", "another estimator", "the third estimator of this figure", "4"];
        let figure = Figure {
            title: "Error against evaluations ".repeat(6),
            panels: vec![
                panel(
                    Axis::log("evaluations", 1e-300),
                    Axis::log("relative squared error", 1e-14),
                    [1.0, 2e9],
                ),
                panel(Axis::log("budget", 1e-300).with_ticks(budgets), Axis::linear("y"), [1.0, 5e-7]),
                panel(Axis::linear("x"), Axis::linear("").with_ticks(long), [-3.0, 9.0]),
            ],
            columns: 2,
            legend: names.map(|name| (name.to_owned(), STYLE)).into(),
            note: "What lines and bands show. ".repeat(12),
        };
        let scene = scene(&figure);
        let texts = texts(&scene);
        for (at, (text, [left, right, top, bottom])) in texts.iter().enumerate() {
            let is_within = *left >= 0.0 && *right <= scene.width && *top >= 0.0 && *bottom <= scene.height;
            assert!(is_within, "{text}");
            let below = |other: &[f64; 4]| other[2] >= *bottom || other[3] <= *top;
            let beside = |other: &[f64; 4]| other[0] >= *right || other[1] <= *left;
            let other = texts[..at].iter().find(|(_, other)| !below(other) && !beside(other));
            assert!(other.is_none(), "{text} and {other:?}");
        }
        for name in names {
            assert!(texts.iter().any(|(text, _)| *text == name), "{name}");
        }
        assert!(scene.shapes.iter().any(|shape| matches!(shape, Shape::Line { paint: Paint::Paper, .. })));
    }

    #[test]
    fn a_long_title_makes_the_figure_higher_and_nothing_wider() {
        let [short, long] =
            ["Error", &"error by evaluations ".repeat(5)].map(|title| scene(&figure(title, (1.0, 2.0))));
        assert_eq!(long.width, short.width);
        assert!(long.height > short.height);
    }

    #[test]
    fn columns_of_a_legend_fit_and_are_no_more_than_needed() {
        let names: Vec<String> = (0..7).map(|k| "name".repeat(1 + k % 3)).collect();
        for (room, count) in [(1e4, 7), (600.0, 4), (420.0, 3), (1.0, 1)] {
            let columns = legend_columns(&names, room);
            assert_eq!(columns.len(), count, "{room}: {columns:?}");
            assert!(count == 1 || columns.iter().sum::<f64>() - ENTRY_GAP <= room);
        }
        assert!(legend_columns(&[], 100.0).is_empty());
    }

    #[test]
    fn a_legend_has_what_the_figure_draws() {
        let mut figure = figure("", (1.0, 2.0));
        for (mark, expected) in [
            (Mark::Bar { colour: palette::BLACK, from: (0.0, 0.0), to: (1.0, 1.0) }, Key::Line),
            (Mark::Bar { colour: STYLE.colour, from: (0.0, 0.0), to: (1.0, 1.0) }, Key::Bar),
            (Mark::Points { style: STYLE, points: vec![(1.0, 1.0)] }, Key::Points),
            (Mark::Line { style: STYLE, points: vec![(1.0, 1.0)] }, Key::Line),
        ] {
            figure.panels[0].marks.push(mark);
            assert_eq!(key(&figure, STYLE), expected);
        }
    }

    #[test]
    fn a_band_of_a_single_place_is_seen() {
        let mut figure = figure("", (0.5, 2.0));
        let frame = |figure: &Figure| Frame::new(&figure.panels[0], (0.0, 0.0), 0.0);
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
        assert_eq!(scene(&figure("", (0.5, 2.0))).description, "Words.");
        for beyond in [(-1.0, 2.0), (0.0, 2.0), (1e-9, 2.0), (0.5, 1e9)] {
            assert_eq!(scene(&figure("", beyond)).description, format!("Words.{BEYOND}"), "{beyond:?}");
        }
    }

    #[test]
    fn a_picture_is_one_element_between_its_corners() {
        let picture = apportion_plots::Picture { width: 2, height: 1, pixels: vec![[9; 4]; 2] };
        let panel = Panel {
            title: String::new(),
            x: Axis::blank(100.0, 0.0, 100.0),
            y: Axis::blank(60.0, 60.0, 0.0),
            marks: vec![Mark::Picture { picture, from: (10.0, 5.0), to: (50.0, 25.0) }],
        };
        let scene = scene(&Figure { panels: vec![panel], note: String::new(), ..figure("", (1.0, 2.0)) });
        let places = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Picture { at, size, .. } => Some((*at, *size)),
            _ => None,
        });
        assert_eq!(places.collect::<Vec<_>>(), [((EDGE + RIGHT + 10.0, EDGE + TOP + 5.0), (40.0, 20.0))]);
    }
}
