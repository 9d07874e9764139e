//! Bar plot: feature importance over all rows.

use super::options::Options;
use super::size_bar::{self, SizeBar};
use super::words::value_in_words;
use super::{labels, order};
use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::{Anchor, Mark, Paint, Scene, Table, digits};

const LINE: f64 = 26.0;
const TOP: f64 = 34.0;
const HALF: f64 = 8.0;
/// The 97.5% quantile of the normal distribution, for 95% intervals.
const NORMAL: f64 = 1.959_963_984_540_054;

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let output = options.output;
    let players = explained.by_importance(output);
    let (told, rest) = order::split(&players, options.max_players(20));
    let names: Vec<String> = told.iter().map(|&player| labels::of_player(explained, player)).collect();
    let others = (!rest.is_empty()).then(|| format!("{} others", rest.len()));
    let sizes: Vec<f64> = told.iter().map(|&player| size(explained, player, output)).collect();
    let halves: Vec<f64> = told.iter().map(|&player| half_width(explained, player, output)).collect();

    let room = labels::room(names.iter().chain(&others).map(String::as_str), options.width);
    let rest_size: f64 = rest.iter().map(|&player| size(explained, player, output)).sum();
    let numbers = sizes.iter().copied().zip(halves.iter().copied()).chain([(rest_size, 0.0)]);
    let label = size_bar::room(numbers, 4);
    let others_sizes = others.iter().map(|_| rest_size);
    let (scale, is_cut) = size_bar::scale(
        sizes.iter().copied().zip(halves.iter().copied()),
        others_sizes,
        (room, options.width - label),
    );

    let mut scene =
        Scene::new(options.width, format!("Importance: mean |{}|", value_in_words(explained, output)));
    let lines = told.len() + others.iter().len();
    let bottom = TOP + lines as f64 * LINE;
    scene.heading((12.0, 14.0), "Feature importance", Anchor::Start);
    scene.axis_below(&scale, (TOP, bottom), &format!("mean |{}|", value_in_words(explained, output)));
    for (place, &player) in told.iter().enumerate() {
        let y = TOP + (place as f64 + 0.5) * LINE;
        let (size, half) = (sizes[place], halves[place]);
        let says = format!("{}: {}{}", names[place], digits(size, 5), labels::error_in_words(half));
        let bar = SizeBar { size, half_width: half, y, half: HALF, digits: 4 };
        bar.draw(&mut scene, &scale, Paint::Series(0), Mark::of_player(player, says));
        labels::name(&mut scene, room, y, &names[place]);
    }
    if let Some(others) = &others {
        let y = TOP + (told.len() as f64 + 0.5) * LINE;
        let says = Mark::saying(format!("{others}: {} in total", digits(rest_size, 5)));
        let bar = SizeBar { size: rest_size, half_width: 0.0, y, half: HALF, digits: 4 };
        bar.draw(&mut scene, &scale, Paint::Missing, says);
        labels::name(&mut scene, room, y, others);
    }
    let mut caption = caption(explained, halves.iter().any(|half| half.is_nan()));
    if is_cut {
        caption.push_str(" The bar for “others” is truncated.");
    }
    scene.caption(bottom + 42.0, &caption);
    let most: Vec<String> =
        names.iter().zip(&sizes).take(3).map(|(name, &size)| format!("{name} {}", digits(size, 3))).collect();
    scene.description =
        format!("The most important of {} features: {}. {caption}", players.len(), most.join(", "));
    scene.table = table(explained, &players, output);
    Ok(scene)
}

/// Returns the mean of |φ| over all rows.
fn size(explained: &Explained, player: usize, output: usize) -> f64 {
    explained.summary.value(player, output, explained.outputs()).mean_size
}

/// Returns the half-width of the 95% interval of the mean of |φ|. It is the sum of the half-width due to
/// sampling rows and the mean half-width of the values, because the errors of rows with the same seed are not
/// independent. For a single row, it is only the half-width of the row's value.
fn half_width(explained: &Explained, player: usize, output: usize) -> f64 {
    let of_rows = match explained.summary.rows {
        0 | 1 => 0.0,
        _ => NORMAL * explained.summary.value(player, output, explained.outputs()).error_of_mean_size(),
    };
    of_rows + explained.summary.half_widths[player * explained.outputs() + output]
}

/// Returns the caption, which explains the whiskers.
fn caption(explained: &Explained, are_some_unknown: bool) -> String {
    let rows = explained.summary.rows;
    let unknown = if are_some_unknown { " A ? marks an unknown error." } else { "" };
    let caption = match (rows, explained.are_estimates()) {
        (0 | 1, false) => "One row. Values are exact.".to_owned(),
        (0 | 1, true) => "One row. Whiskers: 95% confidence intervals of its values.".to_owned(),
        (rows, false) => format!(
            "Over {rows} rows. Values are exact. Whiskers: 95% confidence interval of the mean over similar \
             rows."
        ),
        (rows, true) => format!(
            "Over {rows} rows. Whiskers: 95% confidence interval of the mean over similar rows, plus the \
             mean estimation error."
        ),
    };
    caption + unknown
}

fn table(explained: &Explained, players: &[usize], output: usize) -> Table {
    let columns =
        ["feature", "mean |value|", "95% CI half-width", "mean", "standard deviation", "min", "max"];
    let mut table = Table::new(columns);
    for &player in players {
        let spread = explained.summary.value(player, output, explained.outputs());
        table.push([
            explained.heading.players[player].clone().into(),
            spread.mean_size.into(),
            half_width(explained, player, output).into(),
            spread.mean.into(),
            spread.deviation().into(),
            spread.min.into(),
            spread.max.into(),
        ]);
    }
    table
}
