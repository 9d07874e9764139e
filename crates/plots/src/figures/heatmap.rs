//! Heatmap: the values of all rows as colours, with rows on the x-axis and players on the y-axis.

use super::colour_bar::{ColourBar, End, Ramp, pixel};
use super::options::Options;
use super::words::{of_estimates, of_sample, rows_in_words, value_in_words};
use super::{extent, labels, numbers, order};
use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::{Anchor, Mark, Paint, Picture, SMALL, Scale, Scene, Shape, digits, signed, width_of};

const LINE: f64 = 22.0;
/// The top edge of the line of predictions.
const TOP: f64 = 34.0;
const PREDICTIONS: f64 = 52.0;
/// The top edge of the heatmap.
const COLOURS: f64 = TOP + PREDICTIONS + 12.0;
/// Space on the right for the colour bar.
const RIGHT: f64 = 76.0;
/// The part of the space for the colour bar that its numbers do not use.
const BESIDE_NUMBERS: f64 = 30.0;
/// Minimum width of figures with bars of importance.
const MIN_WIDTH_WITH_BARS: f64 = 480.0;
const BARS: f64 = 64.0;
/// Maximum number of ticks of the predictions.
const TICKS: usize = 4;
/// Maximum number of columns.
const MAX_COLUMNS: usize = 600;

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let output = options.output;
    let players = explained.by_importance(output);
    let (told, rest) = order::split(&players, options.max_players(20));
    let mut names: Vec<String> = told.iter().map(|&player| labels::of_player(explained, player)).collect();
    names.extend((!rest.is_empty()).then(|| format!("{} others", rest.len())));
    let mut rows: Vec<usize> = (0..explained.rows()).collect();
    let prediction = |row: usize| explained.prediction(row, output);
    rows.sort_by(|&a, &b| prediction(b).total_cmp(&prediction(a)));
    let columns = columns(&rows);
    let lines = lines(explained, output, (told, rest), &columns);
    // Exclude the sum over the other players from the scale: it could be so large that the players that are
    // shown separately would hardly be coloured.
    let of_told = lines.iter().take(told.len()).flatten();
    let most = high_percentile(of_told.map(|value| value.abs()).collect());
    let predictions: Vec<f64> =
        columns.iter().map(|rows| mean(rows.iter().map(|&row| prediction(row)))).collect();
    let scale = Scale::new(extent::min_and_max(predictions.iter().copied()), (TOP + PREDICTIONS, TOP));

    // Reserve space for numbers of any length.
    let widest = scale.ticks(TICKS).iter().map(|(_, text)| width_of(text, SMALL)).fold(0.0, f64::max);
    let names_end = labels::room(names.iter().map(String::as_str), options.width);
    let room = names_end.max(widest + 10.0).min(0.4 * options.width);
    let ends = [-most, most].map(|end| End::Signed(end, 2));
    let beside = RIGHT.max(width_of(&signed(most, 2), SMALL) + BESIDE_NUMBERS);
    let has_bars = options.width >= MIN_WIDTH_WITH_BARS;
    let right = options.width - beside - if has_bars { BARS } else { 0.0 };
    let mut scene = Scene::new(options.width, format!("Heatmap: {}", value_in_words(explained, output)));
    scene.heading((12.0, 14.0), "Attributions by row", Anchor::Start);
    draw_predictions(&mut scene, &predictions, &scale, (room, right));
    let height = names.len() as f64 * LINE;
    let pixels = lines.iter().flatten().map(|&value| pixel(value / most)).collect();
    let picture = Picture { width: columns.len(), height: names.len(), pixels };
    scene.shapes.push(Shape::Picture { at: (room, COLOURS), size: (right - room, height), picture });
    for (place, name) in names.iter().enumerate() {
        let top = COLOURS + place as f64 * LINE;
        if place > 0 {
            scene.line([(room, top), (right, top)], Paint::Paper, 1.0);
        }
        labels::name(&mut scene, room, top + 0.5 * LINE, name);
    }
    if has_bars {
        draw_bars(&mut scene, explained, output, (told, rest), &names, right);
    }
    let label = value_in_words(explained, output);
    let bar = ColourBar { ramp: Ramp::Signs, ends, label: &label };
    bar.draw(
        &mut scene,
        (options.width - beside + 10.0, COLOURS),
        (beside - 14.0, height.clamp(48.0, 220.0)),
    );

    let bottom = COLOURS + height.max(48.0);
    scene.small_within(
        0.5 * (room + right),
        bottom + 12.0,
        "rows, from the largest to the smallest prediction",
    );
    let caption = caption(explained, columns.len());
    scene.caption(bottom + 26.0, &caption);
    let most: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
    scene.description = format!(
        "Values of each feature in {} from the largest prediction, {}, to the smallest, {}; the most \
         important: {}. {caption}",
        rows_in_words(explained.rows() as u64),
        digits(prediction(rows[0]), 4),
        digits(prediction(rows[rows.len() - 1]), 4),
        most.join(", ")
    );
    scene.table = numbers::of_rows(explained, output, (told, rest), &rows);
    Ok(scene)
}

/// Returns the rows of each column: one, or several if there are more rows than columns.
fn columns(rows: &[usize]) -> Vec<&[usize]> {
    let count = rows.len().min(MAX_COLUMNS);
    let edge = |column: usize| column * rows.len() / count;
    (0..count).map(|column| &rows[edge(column)..edge(column + 1)]).collect()
}

/// Returns the values of each player in `told` and the sum over the players in `rest`, as means over the rows
/// of each column.
fn lines(
    explained: &Explained,
    output: usize,
    (told, rest): (&[usize], &[usize]),
    columns: &[&[usize]],
) -> Vec<Vec<f64>> {
    let line = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        columns.iter().map(|rows| mean(rows.iter().map(|&row| of(row)))).collect()
    };
    let mut lines: Vec<Vec<f64>> =
        told.iter().map(|&player| line(&|row| explained.value(row, player, output))).collect();
    if !rest.is_empty() {
        lines.push(line(&|row| numbers::sum_of(explained, row, rest, output)));
    }
    lines
}

fn mean(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = numbers.clone().count().max(1) as f64;
    numbers.map(|number| number / count).sum()
}

/// Returns the 98th percentile of `sizes`. If that is zero, returns the maximum, or 1 if all sizes are zero.
fn high_percentile(mut sizes: Vec<f64>) -> f64 {
    sizes.sort_by(f64::total_cmp);
    let at = |share: f64| sizes.get((share * sizes.len().saturating_sub(1) as f64).round() as usize).copied();
    [at(0.98), at(1.0)].into_iter().flatten().find(|&size| size > 0.0).unwrap_or(1.0)
}

fn draw_predictions(scene: &mut Scene, predictions: &[f64], scale: &Scale, (left, right): (f64, f64)) {
    for (at, text) in scale.ticks(TICKS) {
        let y = scale.place(at);
        scene.line([(left, y), (right, y)], Paint::Grid, 1.0);
        if width_of(&text, SMALL) <= left - 10.0 {
            scene.small((left - 6.0, y), text, Anchor::End);
        }
    }
    scene.small((right + 6.0, TOP + 0.5 * PREDICTIONS), "prediction", Anchor::Start);
    let wide = (right - left) / predictions.len() as f64;
    // Draw steps, so that the line of a row is as wide as its column.
    let steps = predictions.iter().enumerate().flat_map(|(column, &at)| {
        [column, column + 1].map(|edge| (left + edge as f64 * wide, scale.place(at)))
    });
    scene.line(steps.collect::<Vec<_>>(), Paint::Ink, 1.3);
}

/// Draws a bar with the importance of each player next to its line.
fn draw_bars(
    scene: &mut Scene,
    explained: &Explained,
    output: usize,
    (told, rest): (&[usize], &[usize]),
    names: &[String],
    left: f64,
) {
    let size = |player: usize| explained.summary.value(player, output, explained.outputs()).mean_size;
    let mut sizes: Vec<f64> = told.iter().map(|&player| size(player)).collect();
    if !rest.is_empty() {
        sizes.push(rest.iter().map(|&player| size(player)).sum());
    }
    let most = sizes.iter().take(told.len()).copied().fold(0.0, f64::max);
    for (place, (&size, name)) in sizes.iter().zip(names).enumerate() {
        let y = COLOURS + place as f64 * LINE + 3.0;
        let wide = if most > 0.0 { (size / most).min(1.1) * (BARS - 16.0) } else { 0.0 };
        let paint = if place < told.len() { Paint::Series(0) } else { Paint::Missing };
        let says = format!("{name}: mean |value| {}", digits(size, 4));
        let mark = Mark { player: told.get(place).copied(), row: None, says };
        scene.rectangle((left + 4.0, y), (wide.max(1.0), LINE - 6.0), paint, mark);
    }
}

fn caption(explained: &Explained, columns: usize) -> String {
    let kept = explained.rows();
    let mut caption = of_sample(explained, "Columns show");
    if columns < kept {
        caption
            .push_str(&format!("Each of {columns} columns is the mean of about {} rows. ", kept / columns));
    }
    caption.push_str("Colours saturate at the 98th percentile of |value|. ");
    caption.push_str(&of_estimates(explained));
    caption.trim_end().to_owned()
}
