//! Network plot: players on a circle, with lines between those that interact.

use std::f64::consts::TAU;

use super::labels;
use super::options::Options;
use super::pairs::{Pairs, of_two};
use super::words::{rows_in_words, value_in_words};
use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::{Anchor, FONT, Mark, Marker, Paint, Point, Scene, Shape, digits, shortened};

/// Maximum number of players.
const MAX_PLAYERS: usize = 16;
const TOP: f64 = 34.0;
/// Distance between names.
const LINE: f64 = 17.0;
/// The radius of the circle of the most important player.
const MAX_RADIUS: f64 = 15.0;
/// Distance from the circle to the names.
const GAP: f64 = 26.0;

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let output = options.output;
    let pairs = Pairs::new(explained, output, "network")?;
    let mut players = explained.by_importance(output);
    let count = players.len();
    players.truncate(options.max_players(MAX_PLAYERS).clamp(1, MAX_PLAYERS));
    let names: Vec<String> = players.iter().map(|&player| labels::of_player(explained, player)).collect();

    let radius = (0.24 * options.width).clamp(60.0, 180.0);
    let middle = (0.5 * options.width, TOP + MAX_RADIUS + radius);
    let turn = |place: usize| TAU * (place as f64 + 0.5) / players.len() as f64;
    let at = |place: usize, radius: f64| -> Point {
        (middle.0 + radius * turn(place).sin(), middle.1 - radius * turn(place).cos())
    };
    let mut scene =
        Scene::new(options.width, format!("Network: mean |{}|", value_in_words(explained, output)));
    scene.heading((12.0, 14.0), "Interaction network", Anchor::Start);
    let strongest = pairs.strongest(&players);
    let lowest = draw_names(&mut scene, &names, &|place| at(place, radius), radius);
    draw_lines(&mut scene, &pairs, &players, &names, &|place| at(place, radius));

    let size = |player: usize| explained.summary.value(player, output, explained.outputs()).mean_size;
    let largest = players.iter().map(|&player| size(player)).fold(0.0, f64::max);
    let shares: Vec<f64> =
        players.iter().map(|&player| if largest > 0.0 { size(player) / largest } else { 0.0 }).collect();
    for (place, &player) in players.iter().enumerate() {
        let says = format!("{}: mean |value| {}", names[place], digits(size(player), 4));
        scene.shapes.push(Shape::Dots {
            points: vec![at(place, radius)],
            rows: Vec::new(),
            radius: (MAX_RADIUS * shares[place].sqrt()).max(2.5),
            marker: Marker::Circle,
            paint: Paint::Series(1),
            mark: Mark::of_player(player, says),
        });
    }

    let mut caption = format!(
        "Over {}. Circle area: mean |value|; line width: mean |interaction|.",
        rows_in_words(explained.summary.rows)
    );
    if count > players.len() {
        caption.push_str(&format!(" {} less important features are not shown.", count - players.len()));
    }
    scene.caption((middle.1 + radius + MAX_RADIUS).max(lowest) + 14.0, &caption);
    scene.description = match strongest.filter(|(.., strength)| *strength > 0.0) {
        None => format!("No two features interact. {caption}"),
        Some((one, other, strength)) => format!(
            "The thickest line connects {} and {}: mean |interaction| {}. {caption}",
            labels::of_player(explained, one),
            labels::of_player(explained, other),
            digits(strength, 3)
        ),
    };
    scene.table = pairs.table(explained, &explained.by_importance(output));
    Ok(scene)
}

/// Draws lines between all pairs that interact, the strongest in the foreground.
fn draw_lines(
    scene: &mut Scene,
    pairs: &Pairs<'_>,
    players: &[usize],
    names: &[String],
    at: &dyn Fn(usize) -> Point,
) {
    let places: Vec<usize> = (0..players.len()).collect();
    let strength = |&(one, other): &(usize, usize)| pairs.strength(players[one], players[other]);
    let mut lines: Vec<(usize, usize)> = of_two(&places).filter(|pair| strength(pair) > 0.0).collect();
    lines.sort_by(|a, b| strength(a).total_cmp(&strength(b)));
    let most = lines.last().map_or(1.0, strength);
    for (one, other) in lines {
        let found = strength(&(one, other));
        let says = format!("{} and {}: mean |interaction| {}", names[one], names[other], digits(found, 4));
        scene.shapes.push(Shape::Line {
            points: vec![at(one), at(other)],
            paint: Paint::Series(0),
            width: (9.0 * found / most).max(0.4),
            is_dashed: false,
            opacity: 0.12 + 0.68 * found / most,
            mark: Mark { player: Some(players[one]), row: None, says },
        });
    }
}

/// Writes the names on both sides, each as near to its circle as the other names allow. Returns the y
/// coordinate of the bottom.
fn draw_names(scene: &mut Scene, names: &[String], at: &dyn Fn(usize) -> Point, radius: f64) -> f64 {
    let middle = 0.5 * scene.width;
    let mut lowest: f64 = 0.0;
    for is_right in [true, false] {
        let mut side: Vec<usize> =
            (0..names.len()).filter(|&place| (at(place).0 >= middle) == is_right).collect();
        side.sort_by(|&a, &b| at(a).1.total_cmp(&at(b).1));
        let wanted: Vec<f64> = side.iter().map(|&place| at(place).1).collect();
        for (&place, y) in side.iter().zip(spread(&wanted)) {
            let (x, near) = at(place);
            let away = if is_right { GAP } else { -GAP };
            let (end, anchor) = match is_right {
                true => ((x + away).max(middle + 0.6 * radius), Anchor::Start),
                false => ((x - GAP).min(middle - 0.6 * radius), Anchor::End),
            };
            scene.line([(x, near), (end - 0.2 * away, y)], Paint::Grid, 1.0);
            let room = if is_right { scene.width - end - 6.0 } else { end - 6.0 };
            scene.text((end, y), shortened(&names[place], room, FONT), anchor, Paint::Ink);
            lowest = lowest.max(y + 0.5 * LINE);
        }
    }
    lowest
}

/// Returns positions in ascending order, with a distance of at least one line, near the `wanted` positions
/// and not above the figure.
fn spread(wanted: &[f64]) -> Vec<f64> {
    let mut places = wanted.to_vec();
    for place in 1..places.len() {
        places[place] = places[place].max(places[place - 1] + LINE);
    }
    // Move all positions up by half of the largest displacement, as far as there is space.
    let moved = places.iter().zip(wanted).map(|(place, wanted)| place - wanted).fold(0.0, f64::max);
    let back = (0.5 * moved).min(places.first().map_or(0.0, |first| (first - TOP).max(0.0)));
    places.iter_mut().for_each(|place| *place -= back);
    places
}
