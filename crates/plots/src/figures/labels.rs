//! Names of players on the left of figures.

use crate::explained::{Explained, shown};
use crate::scene::{Anchor, FONT, Paint, Scene, digits, shortened, signed, width_of};

/// The space between names and what is on their right.
const GAP: f64 = 10.0;

/// The width of the column of these names: as wide as the widest, and at most two fifths of the figure.
pub(super) fn room<'a>(names: impl IntoIterator<Item = &'a str>, width: f64) -> f64 {
    let widest = names.into_iter().map(|name| width_of(name, FONT)).fold(40.0, f64::max);
    (widest + 2.0 * GAP).min(0.4 * width)
}

/// Writes a name at the end of the column, at the height `y`.
pub(super) fn name(scene: &mut Scene, room: f64, y: f64, name: &str) {
    let name = shortened(name, room - 1.5 * GAP, FONT);
    scene.text((room - GAP, y), name, Anchor::End, Paint::Ink);
}

/// The name of a player as it is read.
pub(super) fn of_player(explained: &Explained, player: usize) -> String {
    match shown(&explained.heading.players[player]) {
        name if name.trim().is_empty() => "(no name)".to_owned(),
        name => name.into_owned(),
    }
}

/// The name of a player with its input in a row, such as `age = 39`.
pub(super) fn with_input(explained: &Explained, row: usize, player: usize) -> String {
    let name = of_player(explained, player);
    match explained.only_feature(player) {
        Some(feature) => format!("{name} = {}", explained.input_shown(row, feature)),
        None => name,
    }
}

/// What is said of a value with half the width of its interval, such as `age = 39: +1 ± 0.2`.
pub(super) fn saying(name: &str, value: f64, half_width: f64) -> String {
    format!("{name}: {}", with_error(value, half_width, 5))
}

/// A value to so many digits with half the width of its interval.
pub(super) fn with_error(value: f64, half_width: f64, count: usize) -> String {
    signed(value, count) + &error_in_words(half_width)
}

/// Half the width of an interval, which is NaN where nothing is known of it and 0 of exact values.
pub(super) fn error_in_words(half_width: f64) -> String {
    match half_width {
        0.0 => String::new(),
        half if half.is_nan() => ", error unknown".to_owned(),
        half => format!(" ± {}", digits(half, 2)),
    }
}
