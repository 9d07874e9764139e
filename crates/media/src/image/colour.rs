//! Colours of pictures that show scores.

/// Red, green and blue, from 0 to 1.
pub(super) type Colour = [f64; 3];

/// Colour of positive scores. Colour-blind readers can also distinguish [`BLUE`] and [`RED`].
const BLUE: Colour = [0.02, 0.28, 0.78];

/// Colour of negative scores.
const RED: Colour = [0.82, 0.05, 0.08];

/// Colour of a masked pixel that was white.
pub(super) const ACTIVATED: Colour = [0.89, 0.10, 0.11];

/// Colour of a masked pixel that was black.
pub(super) const INACTIVE: Colour = [0.12, 0.36, 0.85];

/// Colour of the area around the colour bar.
pub(super) const PAPER: Colour = [1.0; 3];

/// Opacity of the colour for the largest score. Below 1, so that the image remains visible.
const OPACITY: f64 = 0.9;

/// Maps a grey level to a light grey, so that blue and red stand out. Black is mapped to the darkest of
/// these, 0.62.
pub(super) fn muted(grey: f64) -> f64 {
    0.62 + 0.38 * grey
}

/// Returns the colour of a score on a grey ground: blue for positive scores, red for negative ones.
/// `strength` is the score divided by the largest |score|, from −1 to 1.
pub(super) fn heat(ground: f64, strength: f64) -> Colour {
    let colour = if strength < 0.0 { RED } else { BLUE };
    let weight = OPACITY * strength.abs();
    colour.map(|channel| (1.0 - weight) * ground + weight * channel)
}
