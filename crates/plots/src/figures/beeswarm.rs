//! Beeswarm plot: the values of all rows by player, coloured by their inputs.

use super::colour_bar::{ColourBar, End, Ramp};
use super::options::Options;
use super::words::{of_estimates, of_sample, rows_in_words, value_in_words};
use super::{labels, order};
use crate::error::PlotError;
use crate::explained::{Explained, Spread};
use crate::scene::{Anchor, Mark, Marker, Paint, Point, Scale, Scene, Shape, Table, digits};

const LINE: f64 = 30.0;
const TOP: f64 = 34.0;
/// Half the height of a swarm.
const HALF: f64 = 12.0;
const RADIUS: f64 = 2.2;
/// Maximum number of rows in a swarm. For more rows, a density of all rows with a sample of dots is drawn.
const MAX_DOTS: u64 = 1500;
/// Number of dots on a density.
const DOTS_ON_DENSITY: usize = 300;
/// Number of bins of a density.
const BINS: usize = 96;
/// Space on the right for the colour bar.
const RIGHT: f64 = 78.0;

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let output = options.output;
    let players = explained.by_importance(output);
    let (told, rest) = order::split(&players, options.max_players(20));
    let names: Vec<String> = told.iter().map(|&player| labels::of_player(explained, player)).collect();
    let room = labels::room(names.iter().map(String::as_str), options.width);
    let spreads: Vec<&Spread> =
        told.iter().map(|&player| explained.summary.value(player, output, explained.outputs())).collect();
    let low = spreads.iter().map(|spread| spread.min).fold(0.0, f64::min);
    let high = spreads.iter().map(|spread| spread.max).fold(0.0, f64::max);
    let has_inputs = explained.has_inputs();
    let right = options.width - if has_inputs { RIGHT } else { 16.0 };
    let scale = Scale::new((low, high), (room + 8.0, right - 8.0));

    let mut scene = Scene::new(options.width, format!("Beeswarm: {}", value_in_words(explained, output)));
    let bottom = TOP + told.len() as f64 * LINE;
    scene.heading((12.0, 14.0), "Attributions by feature", Anchor::Start);
    scene.axis_below(&scale, (TOP, bottom), &value_in_words(explained, output));
    scene.line([(scale.place(0.0), TOP), (scale.place(0.0), bottom)], Paint::Muted, 1.0);
    let are_densities = explained.summary.rows > MAX_DOTS;
    let shown = rows_shown(explained, are_densities);
    for (place, &player) in told.iter().enumerate() {
        let y = TOP + (place as f64 + 0.5) * LINE;
        if are_densities {
            draw_density(&mut scene, spreads[place], y, &scale, player, &names[place]);
        }
        draw_swarm(&mut scene, explained, (player, output), (&shown, &scale, y), are_densities);
        labels::name(&mut scene, room, y, &names[place]);
    }
    if has_inputs {
        let ends = ["low", "high"].map(|end| End::Word(end.to_owned()));
        let bar = ColourBar { ramp: Ramp::Inputs, ends, label: "input" };
        bar.draw(
            &mut scene,
            (right + 14.0, TOP + 8.0),
            (RIGHT - 20.0, (bottom - TOP - 16.0).clamp(44.0, 220.0)),
        );
    }
    let caption = caption(explained, &shown, are_densities, rest.len());
    scene.caption(bottom + 42.0, &caption);
    let range = |place: usize| {
        format!(
            "{} from {} to {}",
            names[place],
            digits(spreads[place].min, 3),
            digits(spreads[place].max, 3)
        )
    };
    let most: Vec<String> = (0..names.len().min(3)).map(range).collect();
    scene.description = format!(
        "Values of each feature over {}: {}. {caption}",
        rows_in_words(explained.summary.rows),
        most.join("; ")
    );
    scene.table = table(explained, told, output);
    Ok(scene)
}

/// Returns the rows that are drawn as dots: all kept rows, or some of them on a density.
fn rows_shown(explained: &Explained, are_densities: bool) -> Vec<usize> {
    let rows = explained.rows();
    match are_densities && rows > DOTS_ON_DENSITY {
        // The order of the rows is unrelated to the sample, so take equidistant rows.
        true => (0..DOTS_ON_DENSITY).map(|dot| dot * rows / DOTS_ON_DENSITY).collect(),
        false => (0..rows).collect(),
    }
}

fn draw_density(scene: &mut Scene, spread: &Spread, y: f64, scale: &Scale, player: usize, name: &str) {
    let density = spread.density.in_bins(BINS);
    let most = density.bins().map(|(.., count)| count).max().unwrap_or(1).max(1) as f64;
    // The area is at least one pixel high, so that a single row is visible.
    let half = |count: u64| if count == 0 { 0.0 } else { (HALF * (count as f64 / most).sqrt()).max(0.5) };
    let above = density.bins().flat_map(|(from, to, count)| {
        [from, to].map(|at| (scale.place(at.clamp(spread.min, spread.max)), half(count)))
    });
    let above: Vec<Point> = above.collect();
    let outline = above.iter().map(|&(x, half)| (x, y - half));
    let below = above.iter().rev().map(|&(x, half)| (x, y + half));
    let says = format!(
        "{name}: mean {}, from {} to {}, {} rows",
        digits(spread.mean, 4),
        digits(spread.min, 4),
        digits(spread.max, 4),
        spread.count
    );
    scene.shapes.push(Shape::Area {
        points: outline.chain(below).collect(),
        paint: Paint::Missing,
        opacity: 0.35,
        mark: Mark::of_player(player, says),
    });
}

/// Draws dots that avoid each other, coloured by their inputs.
fn draw_swarm(
    scene: &mut Scene,
    explained: &Explained,
    (player, output): (usize, usize),
    (rows, scale, y): (&[usize], &Scale, f64),
    are_densities: bool,
) {
    let colours = Colours::new(explained, player);
    let places: Vec<f64> =
        rows.iter().map(|&row| scale.place(explained.value(row, player, output))).collect();
    let lanes = lanes(&places);
    let most = lanes.iter().map(|lane| lane.unsigned_abs()).max().unwrap_or(0).max(1) as f64;
    let step = (2.0 * RADIUS).min(HALF / most);
    let mut by_paint: Vec<(Paint, Vec<Point>, Vec<usize>)> = Vec::new();
    for ((&row, x), lane) in rows.iter().zip(places).zip(lanes) {
        let paint = colours.paint(explained, row);
        let at = (x, y + lane as f64 * step);
        match by_paint.iter_mut().find(|(known, ..)| *known == paint) {
            Some((_, points, rows)) => {
                points.push(at);
                rows.push(row);
            }
            None => by_paint.push((paint, vec![at], vec![row])),
        }
    }
    // Draw missing inputs in the background.
    by_paint.sort_by_key(|(paint, ..)| *paint != Paint::Missing);
    let radius = if are_densities { 0.8 * RADIUS } else { RADIUS };
    for (paint, points, rows) in by_paint {
        let (marker, mark) = (Marker::Circle, Mark::of_player(player, ""));
        scene.shapes.push(Shape::Dots { points, rows, radius, marker, paint, mark });
    }
}

/// Returns the offset of each dot from the middle line, as a number of lanes. Dots that would overlap are
/// placed alternately above and below the line.
fn lanes(places: &[f64]) -> Vec<i64> {
    let bin = |x: f64| (x / (1.8 * RADIUS)).round() as i64;
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| bin(places[a]).cmp(&bin(places[b])));
    let mut lanes = vec![0; places.len()];
    for dots in order.chunk_by(|&a, &b| bin(places[a]) == bin(places[b])) {
        for (place, &dot) in dots.iter().enumerate() {
            let away = place.div_ceil(2) as i64;
            lanes[dot] = if place % 2 == 0 { -away } else { away };
        }
    }
    lanes
}

/// A mapping from inputs to colours, from the 5th to the 95th percentile of the kept rows.
pub(super) struct Colours {
    feature: Option<usize>,
    range: (f64, f64),
}

impl Colours {
    pub(super) fn new(explained: &Explained, player: usize) -> Self {
        let feature = explained.only_feature(player);
        let mut inputs: Vec<f64> = feature
            .map(|feature| {
                (0..explained.rows())
                    .map(|row| explained.input(row, feature))
                    .filter(|input| !input.is_nan())
                    .collect()
            })
            .unwrap_or_default();
        inputs.sort_by(f64::total_cmp);
        let at = |share: f64| {
            inputs
                .get((share * inputs.len().saturating_sub(1) as f64).round() as usize)
                .copied()
                .unwrap_or(0.0)
        };
        let range = match (at(0.05), at(0.95)) {
            (low, high) if low < high => (low, high),
            _ => (at(0.0), at(1.0)),
        };
        Self { feature, range }
    }

    pub(super) fn paint(&self, explained: &Explained, row: usize) -> Paint {
        let Some(feature) = self.feature else { return Paint::Series(0) };
        let input = explained.input(row, feature);
        let (low, high) = self.range;
        if input.is_nan() {
            return Paint::Missing;
        }
        if low == high {
            return Paint::along(0.5);
        }
        Paint::along((input / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0))
    }

    pub(super) fn range(&self) -> (f64, f64) {
        self.range
    }
}

fn caption(explained: &Explained, shown: &[usize], are_densities: bool, left_out: usize) -> String {
    let rows = explained.summary.rows;
    let mut caption = match are_densities {
        false => of_sample(explained, "Dots show"),
        true => {
            format!(
                "Areas show all {rows} rows (height: square root of the density), dots show {} rows. ",
                shown.len()
            )
        }
    };
    caption.push_str(&of_estimates(explained));
    if left_out > 0 {
        caption.push_str(&format!("{left_out} less important features are not shown."));
    }
    caption.trim_end().to_owned()
}

fn table(explained: &Explained, players: &[usize], output: usize) -> Table {
    let mut table = Table::new(["row", "feature", "input", "value", "95% CI half-width"]);
    for &player in players {
        for row in 0..explained.rows() {
            table.push([
                (explained.kept.rows[row] as f64).into(),
                explained.heading.players[player].clone().into(),
                explained.cell_of_inputs(row, player),
                explained.value(row, player, output).into(),
                explained.half_width(row, player, output).into(),
            ]);
        }
    }
    table
}
