//! Decision plot: the path of each row from the base value to its prediction, with the most important players
//! on top.

use super::labels::Label;
use super::options::Options;
use super::words::{of_estimates, of_sample, output_in_words, rows_in_words, value_in_words};
use super::{extent, labels, numbers, order};
use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::{
    Anchor, FONT, Mark, Paint, Point, SMALL, Scale, Scene, Shape, digits, shortened, width_of,
};

const LINE: f64 = 24.0;
const TOP: f64 = 48.0;
/// Maximum number of lines.
const MAX_ROWS: usize = 200;

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let output = options.output;
    let told_row = options.row.map(|row| explained.place_of_row(row)).transpose()?;
    let rows = rows_shown(explained, output, told_row);
    let players = explained.by_importance(output);
    let (told, rest) = order::split(&players, options.max_players(20));
    let steps = steps(explained, output, &rows, (told, rest));
    let name = |step: &Step| match (step, told_row) {
        (Step::Player(player), Some(row)) => labels::with_input(explained, row, *player),
        (Step::Player(player), None) => labels::of_player(explained, *player).into(),
        (Step::Others, _) => format!("{} others", rest.len()).into(),
        (Step::Undivided, _) => "unattributed".to_owned().into(),
    };
    let names: Vec<Label> = steps.iter().map(name).collect();
    let ways: Vec<Vec<f64>> = rows.iter().map(|&row| path(explained, output, row, &steps, rest)).collect();

    let room = labels::room(names.iter().map(|name| name.text.as_str()), options.width);
    let scale =
        Scale::new(extent::min_and_max(ways.iter().flatten().copied()), (room + 12.0, options.width - 20.0));
    let mut scene =
        Scene::new(options.width, format!("Decision plot: {}", value_in_words(explained, output)));
    let bottom = TOP + steps.len() as f64 * LINE;
    let head = match told_row {
        Some(row) => format!("{} among other rows", explained.row_name(row)),
        None => "From the base value to the predictions".to_owned(),
    };
    scene.heading((12.0, 14.0), shortened(&head, options.width - 24.0, FONT + 1.5), Anchor::Start);
    scene.axis_below(&scale, (TOP, bottom), &output_in_words(explained, output));
    for (place, name) in names.iter().enumerate() {
        let y = TOP + (place as f64 + 0.5) * LINE;
        scene.line([(room, y), (options.width - 8.0, y)], Paint::Grid, 0.6);
        labels::label(&mut scene, room, y, name);
    }
    draw_base(&mut scene, explained, output, &rows, &scale, bottom);
    let points = |way: &[f64]| -> Vec<Point> {
        let level = |(level, &at): (usize, &f64)| (scale.place(at), bottom - level as f64 * LINE);
        way.iter().enumerate().map(level).collect()
    };
    let paints = Paints::new(explained, output, &rows);
    let opacity = if told_row.is_some() { 0.4 } else { (12.0 / rows.len() as f64).clamp(0.35, 0.9) };
    for (&row, way) in rows.iter().zip(&ways).filter(|&(&row, _)| told_row != Some(row)) {
        let prediction = explained.prediction(row, output);
        let says = format!("{}: prediction {}", explained.row_name(row), digits(prediction, 5));
        scene.shapes.push(Shape::Line {
            points: points(way),
            paint: paints.paint(prediction),
            width: 1.3,
            is_dashed: false,
            opacity,
            mark: Mark { player: None, row: Some(row), says },
        });
    }
    if let Some(row) = told_row {
        let way = path(explained, output, row, &steps, rest);
        draw_told(&mut scene, explained, (row, output), points(&way), &ways_end(&way, &scale));
    }

    let caption = caption(explained, rows.len(), told_row.is_some());
    scene.caption(bottom + 42.0, &caption);
    let most: Vec<&str> = names.iter().take(3).map(|name| name.text.as_str()).collect();
    scene.description = format!(
        "Paths of {} from the base value to predictions between {} and {}; the last steps are {}. {caption}",
        rows_in_words(rows.len() as u64),
        digits(paints.min, 4),
        digits(paints.max, 4),
        most.join(", ")
    );
    scene.table = numbers::of_rows(explained, output, (told, rest), &rows);
    Ok(scene)
}

/// A step of the path. Steps are listed from the top.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Player(usize),
    Others,
    Undivided,
}

fn steps(
    explained: &Explained,
    output: usize,
    rows: &[usize],
    (told, rest): (&[usize], &[usize]),
) -> Vec<Step> {
    let mut steps: Vec<Step> = told.iter().map(|&player| Step::Player(player)).collect();
    if !rest.is_empty() {
        steps.push(Step::Others);
    }
    let is_left = |&row: &usize| explained.left_undivided(row, output) != 0.0;
    if !explained.heading.is_efficient && rows.iter().any(is_left) {
        steps.push(Step::Undivided);
    }
    steps
}

/// Returns the output after each step, starting from the base value.
fn path(explained: &Explained, output: usize, row: usize, steps: &[Step], rest: &[usize]) -> Vec<f64> {
    let mut at = explained.base(row, output);
    let mut way = vec![at];
    for step in steps.iter().rev() {
        at += match step {
            Step::Player(player) => explained.value(row, *player, output),
            Step::Others => rest.iter().map(|&player| explained.value(row, player, output)).sum(),
            Step::Undivided => explained.left_undivided(row, output),
        };
        way.push(at);
    }
    way
}

/// Returns the rows to draw, in order: all kept rows, or [`MAX_ROWS`] of them that are evenly spaced in the
/// order of their predictions, and the selected row.
fn rows_shown(explained: &Explained, output: usize, told: Option<usize>) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..explained.rows()).collect();
    if rows.len() > MAX_ROWS {
        rows.sort_by(|&a, &b| explained.prediction(a, output).total_cmp(&explained.prediction(b, output)));
        let last = rows.len() - 1;
        rows = (0..MAX_ROWS).map(|place| rows[place * last / (MAX_ROWS - 1)]).collect();
        rows.extend(told);
        rows.sort_unstable();
        rows.dedup();
    }
    rows
}

/// A mapping from predictions to colours.
struct Paints {
    min: f64,
    max: f64,
}

impl Paints {
    fn new(explained: &Explained, output: usize, rows: &[usize]) -> Self {
        let (min, max) = extent::min_and_max(rows.iter().map(|&row| explained.prediction(row, output)));
        Self { min, max }
    }

    fn paint(&self, prediction: f64) -> Paint {
        match self.max > self.min {
            true => Paint::along((prediction - self.min) / (self.max - self.min)),
            false => Paint::along(0.5),
        }
    }
}

/// Draws a line at the base value, if it is the same for all rows.
fn draw_base(
    scene: &mut Scene,
    explained: &Explained,
    output: usize,
    rows: &[usize],
    scale: &Scale,
    bottom: f64,
) {
    let base = explained.base(rows[0], output);
    if rows.iter().all(|&row| explained.base(row, output) == base) {
        let x = scale.place(base);
        scene.line([(x, TOP), (x, bottom)], Paint::Muted, 1.0);
    }
}

/// Returns the number at the end of a path, and its coordinate.
fn ways_end(way: &[f64], scale: &Scale) -> (f64, f64) {
    let last = way.last().copied().unwrap_or(0.0);
    (last, scale.place(last))
}

/// Draws the selected row in the foreground.
fn draw_told(
    scene: &mut Scene,
    explained: &Explained,
    (row, output): (usize, usize),
    points: Vec<Point>,
    &(_, x): &(f64, f64),
) {
    let prediction = explained.prediction(row, output);
    let text = format!("{}: prediction {}", explained.row_name(row), digits(prediction, 5));
    let shown = shortened(&text, scene.width - 8.0, SMALL);
    let x = scene.within(x, 0.5 * width_of(&shown, SMALL));
    scene.shapes.push(Shape::Line {
        points,
        paint: Paint::Ink,
        width: 2.4,
        is_dashed: false,
        opacity: 1.0,
        mark: Mark { player: None, row: Some(row), says: text },
    });
    scene.text_of((x, TOP - 10.0), shown, SMALL, Anchor::Middle, Paint::Ink);
}

fn caption(explained: &Explained, shown: usize, is_one_told: bool) -> String {
    let mut caption = of_sample(explained, "Based on");
    match explained.rows() {
        1 => caption.push_str("One row. "),
        kept if shown == kept => caption.push_str(&format!("All {kept} are shown. ")),
        kept => caption
            .push_str(&format!("{shown} of {kept} are shown, from the smallest to the largest prediction. ")),
    }
    if shown > 1 {
        caption.push_str("Colour: from the smallest to the largest prediction. ");
    }
    if is_one_told {
        caption.push_str("Inputs next to names belong to the thick line. ");
    }
    caption.push_str(&of_estimates(explained));
    caption.trim_end().to_owned()
}
