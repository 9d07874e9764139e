//! Interactions plot: the mean |I_ij| of pairs of players over all rows, as a matrix.

use super::colour_bar::{ColourBar, End, Ramp};
use super::labels;
use super::options::Options;
use super::pairs::Pairs;
use super::words::{rows_in_words, value_in_words};
use crate::error::PlotError;
use apportion_results::Form;

use crate::explained::Explained;
use crate::scene::{Anchor, Mark, Paint, SMALL, Scene, Shape, digits, shortened, width_of};

/// Maximum number of players.
const MAX_PLAYERS: usize = 20;
/// Default number of players.
const USUAL: usize = 12;
const TOP: f64 = 30.0;
/// Space on the right for the colour bar.
const RIGHT: f64 = 76.0;
/// Maximum height of the names on top.
const ABOVE: f64 = 130.0;
/// Minimum width of a cell; its height is the same.
const MIN_CELL: f64 = 15.0;
/// Maximum width of a cell.
const CELL: f64 = 46.0;
/// Opacity of the strongest interaction. It must leave text legible.
const OPAQUE: f64 = 0.6;

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let output = options.output;
    let pairs = Pairs::new(explained, output, "interactions")?;
    let mut players = explained.by_importance(output);
    let count = players.len();
    let name = |&player: &usize| labels::of_player(explained, player);
    players.truncate(options.max_players(USUAL).clamp(1, MAX_PLAYERS));
    let names: Vec<String> = players.iter().map(name).collect();
    let room = labels::room(names.iter().map(String::as_str), 0.8 * options.width);
    // Limit the number of players, so that the name of each player fits into its line.
    players.truncate(((options.width - room - RIGHT) / MIN_CELL) as usize);
    let cell = ((options.width - room - RIGHT) / players.len() as f64).min(CELL);
    let above = names.iter().map(|name| width_of(name, SMALL) + 10.0).fold(30.0, f64::max).min(ABOVE);
    let top = TOP + above;
    let mut scene =
        Scene::new(options.width, format!("Interactions: mean |{}|", value_in_words(explained, output)));
    scene.heading((12.0, 14.0), "Interactions", Anchor::Start);
    let strongest = pairs.strongest(&players);
    let most = strongest.map_or(0.0, |(.., strength)| strength);
    let max_alone = players.iter().map(|&player| pairs.strength(player, player)).fold(0.0, f64::max);
    let height = cell * players.len() as f64;
    for edge in 0..=players.len() {
        let away = edge as f64 * cell;
        scene.line([(room, top + away), (room + height, top + away)], Paint::Grid, 1.0);
        scene.line([(room + away, top), (room + away, top + height)], Paint::Grid, 1.0);
    }
    for (line, &player) in players.iter().enumerate() {
        let y = top + line as f64 * cell;
        labels::name(&mut scene, room, y + 0.5 * cell, &names[line]);
        let x = room + (line as f64 + 0.5) * cell;
        scene.upright_of((x, top - 6.0), shortened(&names[line], above - 8.0, SMALL), SMALL, Anchor::Start);
        for (column, &other) in players.iter().enumerate() {
            let (paint, most) =
                if line == column { (Paint::Missing, max_alone) } else { (Paint::Series(0), most) };
            let strength = pairs.strength(player, other);
            let share = if most > 0.0 { strength / most } else { 0.0 };
            let of = if line == column {
                names[line].clone()
            } else {
                format!("{} and {}", names[line], names[column])
            };
            let says = format!("{of}: mean absolute value {}", digits(strength, 4));
            let at = (room + column as f64 * cell, y);
            scene.shapes.push(Shape::Rectangle {
                at: (at.0 + 0.5, at.1 + 0.5),
                size: (cell - 1.0, cell - 1.0),
                paint,
                opacity: OPAQUE * share,
                mark: Mark::of_player(player, says),
            });
            draw_number(&mut scene, (at.0 + 0.5 * cell, at.1 + 0.5 * cell), cell, strength);
        }
    }
    let ends = [0.0, most].map(|end| End::Number(end, 2));
    let bar = ColourBar { ramp: Ramp::Sizes(Paint::Series(0), OPAQUE), ends, label: "mean |interaction|" };
    let right = room + height;
    bar.draw(&mut scene, (right + 12.0, top), (options.width - right - 16.0, height.clamp(48.0, 220.0)));

    let caption = caption(explained, count - players.len());
    scene.caption(top + height.max(48.0) + 12.0, &caption);
    scene.description = match strongest.filter(|(.., strength)| *strength > 0.0) {
        None => format!("No two features interact. {caption}"),
        Some((one, other, strength)) => format!(
            "Strongest interaction: {} and {}, mean absolute value {}. {caption}",
            labels::of_player(explained, one),
            labels::of_player(explained, other),
            digits(strength, 3)
        ),
    };
    scene.table = pairs.table(explained, &explained.by_importance(output));
    Ok(scene)
}

/// Writes the number in a cell, with as many digits as fit.
fn draw_number(scene: &mut Scene, at: (f64, f64), cell: f64, number: f64) {
    let text = [3, 2, 1]
        .map(|count| digits(number, count))
        .into_iter()
        .find(|text| width_of(text, SMALL) <= cell - 3.0);
    if let Some(text) = text.filter(|_| number != 0.0) {
        scene.text_of(at, text, SMALL, Anchor::Middle, Paint::Ink);
    }
}

fn caption(explained: &Explained, left_out: usize) -> String {
    let diagonal = match explained.heading.interactions {
        Some(Form::Index) => "values of the features",
        _ => "main effects",
    };
    let mut caption = format!(
        "Mean absolute values over {}. Diagonal (grey): {diagonal}.",
        rows_in_words(explained.summary.rows)
    );
    if explained.heading.interactions == Some(Form::Remainder) {
        caption.push_str(" Each feature of a pair receives half of its interaction.");
    }
    if left_out > 0 {
        caption.push_str(&format!(" {left_out} less important features are not shown."));
    }
    caption
}
