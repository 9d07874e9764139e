//! How estimators look in the figures of the laboratory: by their place, as their names are not known beforehand.

use crate::reproduce::figure::{Colour, Shape, Style, palette};

const COLOURS: [Colour; 8] = [
    palette::GREEN,
    palette::ORANGE,
    palette::BLUE,
    palette::VERMILION,
    palette::PURPLE,
    palette::SKY,
    palette::BLACK,
    palette::GREY,
];

const SHAPES: [Shape; 6] =
    [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond, Shape::Cross, Shape::Wedge];

/// Estimators that can be told apart.
pub(crate) const MOST: usize = COLOURS.len() * SHAPES.len();

/// Estimators that differ in colour, as bands must.
pub(crate) const MOST_WITH_BANDS: usize = COLOURS.len();

/// The look of the estimator at this place; no two below [`MOST`] are alike.
pub(crate) fn look(place: usize) -> Style {
    let (round, colour) = (place / COLOURS.len(), place % COLOURS.len());
    Style { colour: COLOURS[colour], shape: SHAPES[(colour + round) % SHAPES.len()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_alike() {
        let looks: Vec<Style> = (0..MOST).map(look).collect();
        for (at, look) in looks.iter().enumerate() {
            assert!(!looks[..at].contains(look), "{at}");
        }
    }
}
