//! Dependence plot of one player: its value against its input, coloured by the player that it interacts with
//! most.

use super::beeswarm::Colours;
use super::colour_bar::{ColourBar, End, Ramp};
use super::options::Options;
use super::partner::{Partner, strongest_partner};
use super::words::{of_sample, rows_in_words, value_in_words};
use super::{extent, labels};
use crate::error::PlotError;
use crate::explained::{Explained, is_drawn};
use crate::scene::{
    Anchor, FONT, Mark, Marker, Paint, Point, SMALL, Scale, Scene, Shape, Table, digits, shortened,
};

const TOP: f64 = 34.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 84.0;
/// Space on the right for the colour bar.
const RIGHT: f64 = 108.0;
/// Space on the left for dots whose input is missing.
const MISSING: f64 = 86.0;
const RADIUS: f64 = 2.6;
/// The height of the histogram of inputs at the bottom.
const COUNTS: f64 = 26.0;
/// Maximum number of dots that are drawn with their intervals.
const MAX_INTERVALS: usize = 400;

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let output = options.output;
    let player = match options.player {
        Some(player) => player,
        None => explained
            .by_importance(output)
            .into_iter()
            .find(|&player| explained.only_feature(player).is_some())
            .unwrap_or_default(),
    };
    let Some(feature) = explained.only_feature(player) else {
        let why = "the results contain no inputs of single features; explain features rather than groups, \
                   and keep the inputs in the results";
        return Err(PlotError::Nothing { kind: "scatter", why });
    };
    let partner = match options.partner {
        Some(other) => Some(Partner { player: other, strength: f64::NAN, is_known: false }),
        None => strongest_partner(explained, player, output),
    };
    let rows: Vec<usize> = (0..explained.rows()).collect();
    let has_missing = rows.iter().any(|&row| explained.input(row, feature).is_nan());
    let right = options.width - if partner.is_some() { RIGHT } else { 16.0 };
    let left = LEFT + if has_missing { MISSING } else { 0.0 };
    let (x, y) = scales(explained, (player, feature), output, (left, right));
    let name = labels::of_player(explained, player);

    let mut scene =
        Scene::new(options.width, format!("{name}: {} against its input", value_in_words(explained, output)));
    let bottom = TOP + HEIGHT;
    scene.heading((12.0, 14.0), shortened(&name, options.width - 24.0, FONT + 1.5), Anchor::Start);
    scene.axis_left(&y, (LEFT, right), &value_in_words(explained, output));
    draw_axis_of_inputs(&mut scene, explained, feature, (&x, bottom + COUNTS), right);
    scene.line([(LEFT, y.place(0.0)), (right, y.place(0.0))], Paint::Muted, 1.0);
    draw_counts(&mut scene, explained, feature, (&x, bottom + COUNTS));
    if has_missing {
        let (infinite, missing): (Vec<f64>, Vec<f64>) = rows
            .iter()
            .map(|&row| explained.any_input(row, feature))
            .filter(|&input| !is_drawn(input))
            .partition(|input| !input.is_nan());
        let says = match (infinite.is_empty(), missing.is_empty()) {
            (true, _) => "missing",
            (false, true) => "infinite",
            (false, false) => "missing, ∞",
        };
        scene.small((LEFT + 29.0, bottom + COUNTS + 11.0), says, Anchor::Middle);
        scene.dashed([(LEFT + 58.0, TOP), (LEFT + 58.0, bottom)], Paint::Grid, 1.0);
    }
    let place = |row: usize| -> Point {
        let input = explained.input(row, feature);
        let jitter = if explained.heading.is_of_words(feature) || input.is_nan() {
            jitter(explained.kept.rows[row])
        } else {
            0.0
        };
        let across = match input.is_nan() {
            true => LEFT + 29.0 + 50.0 * jitter,
            false => x.place(input + jitter),
        };
        (across, y.place(explained.value(row, player, output)))
    };
    if explained.are_estimates() && rows.len() <= MAX_INTERVALS {
        for &row in &rows {
            let half = explained.half_width(row, player, output);
            if half > 0.0 {
                let (x, value) = (place(row).0, explained.value(row, player, output));
                scene.line([(x, y.place(value - half)), (x, y.place(value + half))], Paint::Missing, 1.0);
            }
        }
    }
    let colours = partner.map(|partner| Colours::new(explained, partner.player));
    let mut by_paint: Vec<(Paint, Vec<Point>, Vec<usize>)> = Vec::new();
    for row in rows {
        let paint = colours.as_ref().map_or(Paint::Series(0), |colours| colours.paint(explained, row));
        match by_paint.iter_mut().find(|(known, ..)| *known == paint) {
            Some((_, points, rows)) => {
                points.push(place(row));
                rows.push(row);
            }
            None => by_paint.push((paint, vec![place(row)], vec![row])),
        }
    }
    for (paint, points, rows) in by_paint {
        scene.shapes.push(Shape::Dots {
            points,
            rows,
            radius: RADIUS,
            marker: Marker::Circle,
            paint,
            mark: Mark::of_player(player, ""),
        });
    }
    if let (Some(partner), Some(colours)) = (partner, colours) {
        draw_bar_of_colours(&mut scene, explained, partner, &colours, (right + 12.0, TOP + 20.0));
    }
    let caption = caption(explained, player, partner);
    scene.caption(bottom + COUNTS + 42.0, &caption);
    scene.description = description(explained, (player, feature), output, &caption);
    scene.table = table(explained, player, output, partner);
    Ok(scene)
}

fn scales(
    explained: &Explained,
    (player, feature): (usize, usize),
    output: usize,
    (left, right): (f64, f64),
) -> (Scale, Scale) {
    let rows = 0..explained.rows();
    let of = |numbers: &dyn Fn(usize) -> [f64; 2]| {
        extent::min_and_max(rows.clone().flat_map(numbers).filter(|number| !number.is_nan()))
    };
    let (low, high) = match explained.heading.is_of_words(feature) {
        true => (-0.5, explained.heading.categories[feature].len() as f64 - 0.5),
        false => of(&|row| [explained.input(row, feature); 2]),
    };
    let x = Scale::new((low, high), (left + 8.0, right - 8.0));
    let with_error = |row: usize| {
        let (value, half) = (explained.value(row, player, output), explained.half_width(row, player, output));
        let half = if half.is_nan() { 0.0 } else { half };
        [value - half, value + half]
    };
    let (low, high) = of(&with_error);
    let y = Scale::new((low.min(0.0), high.max(0.0)), (TOP + HEIGHT, TOP)).with_room(0.03, 0.03);
    (x, y)
}

/// Draws the ticks of the inputs, or the categories of a categorical feature.
fn draw_axis_of_inputs(
    scene: &mut Scene,
    explained: &Explained,
    feature: usize,
    (x, bottom): (&Scale, f64),
    right: f64,
) {
    let name = crate::explained::shown(&explained.heading.features[feature]).into_owned();
    let label = shortened(&name, x.length(), SMALL);
    if !explained.heading.is_of_words(feature) {
        return scene.axis_below(x, (TOP, bottom), &label);
    }
    let words = &explained.heading.categories[feature];
    let room = x.length() / words.len() as f64;
    // Draw only the categories that fit.
    let every = (28.0 / room).ceil().max(1.0) as usize;
    for (code, word) in words.iter().enumerate().step_by(every) {
        let word = shortened(&crate::explained::shown(word), room * every as f64 - 4.0, SMALL);
        scene.small((x.place(code as f64), bottom + 11.0), word, Anchor::Middle);
    }
    scene.line([(LEFT, bottom), (right, bottom)], Paint::Grid, 1.0);
    scene.small((x.middle(), bottom + 29.0), label, Anchor::Middle);
}

/// Draws the histogram of the inputs of all rows.
fn draw_counts(scene: &mut Scene, explained: &Explained, feature: usize, (x, bottom): (&Scale, f64)) {
    let Some(inputs) = explained.summary.inputs.get(feature) else { return };
    let bars: Vec<(f64, f64, u64)> = match &inputs.counts {
        Some(counts) => {
            let half = if explained.heading.is_of_words(feature) {
                0.35
            } else {
                0.008 * (x.range().1 - x.range().0)
            };
            counts.iter().map(|&(input, count)| (input - half, input + half, count)).collect()
        }
        None => inputs.spread.density.in_bins(64).bins().collect(),
    };
    let most = bars.iter().map(|&(.., count)| count).max().unwrap_or(1).max(1) as f64;
    let (first, last) = (x.place(x.range().0), x.place(x.range().1));
    for (from, to, count) in bars.into_iter().filter(|&(.., count)| count > 0) {
        let (left, right) = (x.place(from).max(first), x.place(to).min(last));
        let height = ((COUNTS - 4.0) * count as f64 / most).max(0.7);
        scene.shapes.push(Shape::Rectangle {
            at: (left, bottom - height),
            size: ((right - left).max(0.7), height),
            paint: Paint::Missing,
            opacity: 0.45,
            mark: Mark::saying(rows_in_words(count)),
        });
    }
}

/// Returns the offset of a row's dot within ±0.3, so that rows with the same category do not hide each other.
fn jitter(row: u64) -> f64 {
    // Multiples of the golden ratio spread consecutive rows evenly.
    0.6 * ((row as f64 * 0.618_033_988_749_895).fract() - 0.5)
}

fn draw_bar_of_colours(
    scene: &mut Scene,
    explained: &Explained,
    partner: Partner,
    colours: &Colours,
    at: Point,
) {
    let feature = explained.only_feature(partner.player).unwrap_or_default();
    let (low, high) = colours.range();
    let ends = [low, high].map(|number| {
        let word = explained.heading.category(feature, number);
        word.map_or(End::Number(number, 4), |word| End::Word(crate::explained::shown(word).into_owned()))
    });
    let name = labels::of_player(explained, partner.player);
    let bar = ColourBar { ramp: Ramp::Inputs, ends, label: &name };
    bar.draw(scene, at, (RIGHT - 18.0, 200.0));
}

fn caption(explained: &Explained, player: usize, partner: Option<Partner>) -> String {
    let mut caption = of_sample(explained, "Dots show");
    if let Some(partner) = partner {
        let name = labels::of_player(explained, partner.player);
        caption.push_str(&match (partner.is_known, partner.strength) {
            (_, strength) if strength.is_nan() => format!("Colour: {name}. "),
            (true, strength) => {
                format!(
                    "Colour: {name}, the strongest interaction (mean absolute value {}). ",
                    digits(strength, 3)
                )
            }
            (false, strength) => format!(
                "Colour: {name} (explains {}% of the variance left within {} deciles). ",
                digits(100.0 * strength, 2),
                labels::of_player(explained, player)
            ),
        });
    }
    if explained.are_estimates() {
        caption.push_str(match explained.rows() <= MAX_INTERVALS {
            true => "Lines: 95% confidence intervals of the values.",
            false => "Values are estimates; their intervals are in the table.",
        });
    }
    caption.trim_end().to_owned()
}

fn description(
    explained: &Explained,
    (player, feature): (usize, usize),
    output: usize,
    caption: &str,
) -> String {
    let spread = explained.summary.value(player, output, explained.outputs());
    let inputs = explained.summary.inputs.get(feature).map(|inputs| &inputs.spread);
    let of_inputs = match inputs.filter(|spread| spread.count > 0 && !explained.heading.is_of_words(feature))
    {
        Some(spread) => {
            format!(" for inputs from {} to {}", digits(spread.min, 4), digits(spread.max, 4))
        }
        None => String::new(),
    };
    format!(
        "Values of {} from {} to {}{of_inputs}. {caption}",
        labels::of_player(explained, player),
        digits(spread.min, 4),
        digits(spread.max, 4)
    )
}

fn table(explained: &Explained, player: usize, output: usize, partner: Option<Partner>) -> Table {
    let mut table = Table::new(["row", "input", "value", "95% CI half-width"]);
    table
        .columns
        .extend(partner.map(|partner| format!("input of {}", explained.heading.players[partner.player])));
    for row in 0..explained.rows() {
        table.push([
            (explained.kept.rows[row] as f64).into(),
            explained.cell_of_inputs(row, player),
            explained.value(row, player, output).into(),
            explained.half_width(row, player, output).into(),
        ]);
        if let (Some(partner), Some(line)) = (partner, table.lines.last_mut()) {
            line.push(explained.cell_of_inputs(row, partner.player));
        }
    }
    table
}
