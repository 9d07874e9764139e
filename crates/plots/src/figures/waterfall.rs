//! Waterfall plot of one row: steps from the base value to the prediction.

use super::labels::Label;
use super::options::Options;
use super::words::{output_in_words, value_in_words};
use super::{extent, labels, numbers, order};
use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::{Anchor, FONT, Mark, Paint, SMALL, Scale, Scene, digits, signed, width_of};

const LINE: f64 = 27.0;
const TOP: f64 = 50.0;
/// Half the height of a bar.
const HALF: f64 = 9.0;
/// Minimum width of the names and of the bars.
const MIN_ROOM: f64 = 60.0;

/// A step of the waterfall.
struct Step {
    name: Label,
    value: f64,
    /// The half-width of the value's interval; NaN if unknown, 0 if the value is exact.
    half_width: f64,
    paint: Paint,
    player: Option<usize>,
}

impl Step {
    /// Returns the label next to the bar of the step.
    fn label(&self) -> String {
        let value = signed(self.value, 4);
        if self.half_width.is_nan() { format!("{value} ?") } else { value }
    }
}

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let row = options.place_of_row(explained)?;
    let output = options.output;
    let steps = steps(explained, row, options);
    let (base, prediction) = (explained.base(row, output), explained.prediction(row, output));

    let room = labels::room(steps.iter().map(|step| step.name.text.as_str()), options.width);
    let mut scene = Scene::new(
        options.width,
        format!("{}: {}", explained.row_name(row), value_in_words(explained, output)),
    );
    let bottom = TOP + steps.len() as f64 * LINE;
    scene.height = bottom + 56.0;
    // The first step is at the bottom.
    let mut totals = vec![base];
    for step in steps.iter().rev() {
        totals.push(totals[totals.len() - 1] + step.value);
    }
    let with_totals = || steps.iter().rev().zip(totals[1..].iter().copied());
    let ends = with_totals().filter(|(step, _)| step.player.is_some() && step.half_width > 0.0);
    let ends = ends.flat_map(|(step, total)| [total - step.half_width, total + step.half_width]);
    let mut extent = extent::min_and_max(ends.chain(totals.iter().copied()).chain([prediction]));
    for (step, total) in with_totals().filter(|(step, _)| step.player.is_none()) {
        extent = extent::with_sum(extent, total, step.half_width);
    }
    let label = steps.iter().map(|step| width_of(&step.label(), SMALL)).fold(30.0, f64::max) + 10.0;
    // Labels are on both sides of the bars, and the bars keep some space for names of any length.
    let room = room.min(options.width - 2.0 * label - MIN_ROOM).max(MIN_ROOM);
    let scale = Scale::new(extent, (room + label, options.width - label));

    scene.axis_below(&scale, (TOP - 6.0, bottom), &output_in_words(explained, output));
    let head = format!("{}: prediction {}", explained.row_name(row), digits(prediction, 5));
    scene.heading(
        (12.0, 16.0),
        crate::scene::shortened(&head, options.width - 24.0, FONT + 1.5),
        Anchor::Start,
    );
    // Each connecting line ends at the steps, so that it does not cross a number.
    let ends = [
        ("prediction", prediction, TOP - 14.0, (TOP - 6.0, TOP + 0.5 * LINE)),
        ("base value", base, bottom + 44.0, (bottom - 0.5 * LINE, bottom)),
    ];
    for (name, number, y, (from, to)) in ends {
        scene.dashed([(scale.place(number), from), (scale.place(number), to)], Paint::Muted, 1.0);
        let text = format!("{name} {}", digits(number, 5));
        let half = 0.5 * width_of(&text, SMALL);
        let x = scale.place(number).clamp(half + 4.0, options.width - half - 4.0);
        scene.small((x, y), text, Anchor::Middle);
    }
    let count = steps.len();
    for (place, step) in steps.iter().enumerate() {
        let y = TOP + (place as f64 + 0.5) * LINE;
        let (from, to) = (totals[count - 1 - place], totals[count - place]);
        draw_step(&mut scene, step, (from, to), y, (&scale, (room + label, options.width - label)));
        if place > 0 {
            let x = scale.place(to);
            scene.line([(x, y - LINE + HALF), (x, y - HALF)], Paint::Muted, 0.8);
        }
        labels::label(&mut scene, room, y, &step.name);
    }
    let ends = |(place, step): (usize, &Step)| {
        let (to, half) = (totals[count - place], step.half_width);
        [to - half, to + half].map(|end| scale.place(end))
    };
    let is_beyond = |x: f64| x < room + label - 0.5 || x > options.width - label + 0.5;
    if steps.iter().enumerate().flat_map(ends).any(is_beyond) {
        scene.caption(
            scene.height,
            "Open-ended whiskers extend beyond the axis; the error of “others” is the sum over those \
             features.",
        );
    }
    scene.description = description(explained, row, options, &steps);
    scene.table = numbers::of_row(explained, row, output);
    Ok(scene)
}

/// Returns the steps from the top: the most important players, the sum of the others, and the part of the
/// prediction that the values do not account for.
fn steps(explained: &Explained, row: usize, options: &Options) -> Vec<Step> {
    let output = options.output;
    let players = explained.by_size(row, output);
    let (told, rest) = order::split(&players, options.max_players(20));
    let mut steps: Vec<Step> = told
        .iter()
        .map(|&player| Step {
            name: labels::with_input(explained, row, player),
            value: explained.value(row, player, output),
            half_width: explained.half_width(row, player, output),
            paint: Paint::of_sign(explained.value(row, player, output)),
            player: Some(player),
        })
        .collect();
    if !rest.is_empty() {
        let value: f64 = rest.iter().map(|&player| explained.value(row, player, output)).sum();
        // Errors of the values of a row are not independent, so their sum is used as a bound.
        let half_width = rest.iter().map(|&player| explained.half_width(row, player, output)).sum();
        let name = format!("{} others", rest.len()).into();
        steps.push(Step { name, value, half_width, paint: Paint::of_sign(value), player: None });
    }
    let left = explained.left_undivided(row, output);
    if !explained.heading.is_efficient && left != 0.0 {
        let name = "unattributed".to_owned().into();
        steps.push(Step { name, value: left, half_width: 0.0, paint: Paint::Missing, player: None });
    }
    steps
}

fn draw_step(
    scene: &mut Scene,
    step: &Step,
    (from, to): (f64, f64),
    y: f64,
    (scale, room): (&Scale, (f64, f64)),
) {
    let (x0, x1) = (scale.place(from), scale.place(to));
    let says = labels::saying(&step.name.text, step.value, step.half_width);
    let mark = Mark { player: step.player, row: None, says };
    let (left, width) = (x0.min(x1), (x1 - x0).abs().max(1.0));
    scene.rectangle((left, y - HALF), (width, 2.0 * HALF), step.paint, mark);
    let mut ends = (left, left + width);
    if step.half_width > 0.0 {
        let whisker = (scale.place(to - step.half_width), scale.place(to + step.half_width));
        let whisker = scene.whisker(whisker, y, room);
        ends = (ends.0.min(whisker.0), ends.1.max(whisker.1));
    }
    let text = step.label();
    match step.value < 0.0 {
        true => scene.text_of((ends.0 - 5.0, y), text, SMALL, Anchor::End, Paint::Ink),
        false => scene.text_of((ends.1 + 5.0, y), text, SMALL, Anchor::Start, Paint::Ink),
    }
}

fn description(explained: &Explained, row: usize, options: &Options, steps: &[Step]) -> String {
    let output = options.output;
    let most: Vec<String> =
        steps.iter().take(3).map(|step| format!("{} {}", step.name.text, signed(step.value, 3))).collect();
    let errors = match explained.are_estimates() {
        true => " Whiskers: 95% confidence intervals of the values.",
        false => " Values are exact.",
    };
    format!(
        "From the base value {} to the prediction {}: {}{}.{errors}",
        digits(explained.base(row, output), 5),
        digits(explained.prediction(row, output), 5),
        most.join(", "),
        if steps.len() > 3 { format!(" and {} more steps", steps.len() - 3) } else { String::new() },
    )
}
