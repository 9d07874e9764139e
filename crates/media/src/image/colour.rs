//! The colours of pictures that show scores.

/// Red, green and blue, from 0 to 1.
pub(super) type Colour = [f64; 3];

/// Above zero. The pair can be told apart by people who do not see all colours.
const BLUE: Colour = [0.02, 0.28, 0.78];

/// Below zero.
const RED: Colour = [0.82, 0.05, 0.08];

/// A masked pixel that was white.
pub(super) const ACTIVATED: Colour = [0.89, 0.10, 0.11];

/// A masked pixel that was black.
pub(super) const INACTIVE: Colour = [0.12, 0.36, 0.85];

/// Where there is nothing: beside a bar of colours.
pub(super) const PAPER: Colour = [1.0; 3];

/// How much of a pixel is the colour of its score where that is the largest; the rest leaves the image visible.
const OPACITY: f64 = 0.9;

/// Grey, kept light so that both colours stand out of it: black is the lowest.
pub(super) fn muted(grey: f64) -> f64 {
    0.62 + 0.38 * grey
}

/// A score on a grey ground: blue above zero, red below; `strength` is the score over the largest, from −1 to 1.
pub(super) fn heat(ground: f64, strength: f64) -> Colour {
    let colour = if strength < 0.0 { RED } else { BLUE };
    let weight = OPACITY * strength.abs();
    colour.map(|channel| (1.0 - weight) * ground + weight * channel)
}
