//! Names of players on the left of figures.

use crate::explained::{Explained, shown};
use crate::scene::{Anchor, FONT, Paint, Scene, digits, shortened, signed, width_of};

/// The distance between names and the content on their right.
const GAP: f64 = 10.0;

/// Maximum number of significant digits of an input.
const DIGITS: usize = 5;

/// Returns the width of the column for these names: the width of the widest name, but at most two fifths of
/// the figure.
pub(super) fn room<'a>(names: impl IntoIterator<Item = &'a str>, width: f64) -> f64 {
    let widest = names.into_iter().map(|name| width_of(name, FONT)).fold(40.0, f64::max);
    (widest + 2.0 * GAP).min(0.4 * width)
}

/// Writes a name, right-aligned in the column, at height `y`.
pub(super) fn name(scene: &mut Scene, room: f64, y: f64, name: &str) {
    write(scene, room, y, shortened(name, room - 1.5 * GAP, FONT));
}

/// Writes a label, right-aligned in the column, at height `y`.
pub(super) fn label(scene: &mut Scene, room: f64, y: f64, label: &Label) {
    write(scene, room, y, label.shortened(room - 1.5 * GAP, FONT));
}

fn write(scene: &mut Scene, room: f64, y: f64, text: String) {
    scene.text((room - GAP, y), text, Anchor::End, Paint::Ink);
}

/// The name of a player, possibly with its input in a row, such as `age = 39`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    /// The whole text.
    pub(super) text: String,
    /// The name without the input, and the input, if that is a number.
    parts: Option<(String, f64)>,
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Self { text, parts: None }
    }
}

impl Label {
    /// Shortens the label to the available space. A number with an ellipsis could be misread, so the name is
    /// shortened first, and the number gets fewer digits or is omitted.
    pub(super) fn shortened(&self, room: f64, size: f64) -> String {
        let Some((name, number)) = self.parts.as_ref().filter(|_| width_of(&self.text, size) > room) else {
            return shortened(&self.text, room, size);
        };
        // Keep at least a few letters of the name.
        let room_of_name = width_of(name, size).min(3.0 * size);
        let mut inputs = (1..=DIGITS).rev().map(|count| format!(" = {}", digits(*number, count)));
        let input = inputs.find(|input| room_of_name + width_of(input, size) <= room).unwrap_or_default();
        shortened(name, room - width_of(&input, size), size) + &input
    }
}

/// Returns the name of a player for display.
pub(super) fn of_player(explained: &Explained, player: usize) -> String {
    match shown(&explained.heading.players[player]) {
        name if name.trim().is_empty() => "(no name)".to_owned(),
        name => name.into_owned(),
    }
}

/// Returns the name of a player with its input in a row, such as `age = 39`.
pub(super) fn with_input(explained: &Explained, row: usize, player: usize) -> Label {
    let name = of_player(explained, player);
    let Some(feature) = explained.only_feature(player) else { return name.into() };
    let text = format!("{name} = {}", explained.input_shown(row, feature));
    let input = explained.any_input(row, feature);
    let is_word = explained.heading.category(feature, input).is_some();
    Label { text, parts: (!is_word && !input.is_infinite()).then_some((name, input)) }
}

/// Describes a value with the half-width of its interval, such as `age = 39: +1 ± 0.2`.
pub(super) fn saying(name: &str, value: f64, half_width: f64) -> String {
    format!("{name}: {}", with_error(value, half_width, 5))
}

/// Formats a value with the half-width of its interval.
pub(super) fn with_error(value: f64, half_width: f64, count: usize) -> String {
    signed(value, count) + &error_in_words(half_width)
}

/// Formats the half-width of an interval, which is NaN if it is unknown, and 0 for exact values.
pub(super) fn error_in_words(half_width: f64) -> String {
    match half_width {
        0.0 => String::new(),
        half if half.is_nan() => ", error unknown".to_owned(),
        half => format!(" ± {}", digits(half, 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_cut_and_the_number_has_fewer_digits() {
        let name = "income of the last year".to_owned();
        let label = Label { text: format!("{name} = 6.2342e298"), parts: Some((name.clone(), 6.234_21e298)) };
        assert_eq!(label.shortened(1000.0, FONT), label.text);
        for (room, expected) in
            [(140.0, "in…ar = 6.2342e298"), (120.0, "inc…ar = 6.2e298"), (60.0, "inc…ear")]
        {
            assert_eq!(label.shortened(room, FONT), expected);
        }
        // The input is a category instead of a number, so the label is shortened like any text.
        let words = Label::from("city = Saint-Germain-en-Laye".to_owned());
        assert_eq!(words.shortened(100.0, FONT), shortened(&words.text, 100.0, FONT));
    }
}
