//! Legends of discrete colours.

use crate::scene::{Anchor, Mark, Paint, SMALL, Scene, shortened, width_of};

const LEFT: f64 = 12.0;
const LINE: f64 = 17.0;

/// Draws a square and a label for each entry, in as many lines as needed. Returns the y coordinate of the
/// bottom.
pub(super) fn draw(scene: &mut Scene, top: f64, entries: &[(Paint, String)]) -> f64 {
    let (mut x, mut y) = (LEFT, top + 0.5 * LINE);
    for (paint, text) in entries {
        let text = shortened(text, scene.width - 3.0 * LEFT - 16.0, SMALL);
        let wide = width_of(&text, SMALL);
        if x > LEFT && x + 16.0 + wide > scene.width - LEFT {
            (x, y) = (LEFT, y + LINE);
        }
        scene.rectangle((x, y - 5.0), (10.0, 10.0), *paint, Mark::default());
        scene.text_of((x + 16.0, y), text, SMALL, Anchor::Start, Paint::Ink);
        x += wide + 36.0;
    }
    y + 0.5 * LINE
}
