//! Bars of colours: what colours stand for, from the least below to the greatest above.

use crate::scene::{
    Anchor, LAST_STEP, Mark, Paint, Picture, Point, SMALL, Scene, Shape, shortened, width_of,
};

const WIDE: f64 = 10.0;
/// From the left of the bar to what is written beside it.
const BESIDE: f64 = WIDE + 6.0;

/// How numbers become colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ramp {
    /// From the least to the greatest of a feature's inputs.
    Inputs,
    /// From the most below zero, over nothing at zero, to the most above.
    Signs,
    /// The same up to this opacity, with text on it.
    Grounds(f64),
    /// From nothing at zero to this opacity of a paint.
    Sizes(Paint, f64),
}

/// A bar of colours.
#[derive(Debug)]
pub(super) struct ColourBar<'a> {
    pub(super) ramp: Ramp,
    /// What the ends stand for, from below.
    pub(super) ends: [String; 2],
    /// What is measured.
    pub(super) label: &'a str,
}

impl ColourBar<'_> {
    /// Draws the bar with its texts into a column that is `room` wide.
    pub(super) fn draw(&self, scene: &mut Scene, (x, top): Point, (room, height): (f64, f64)) {
        let steps = f64::from(LAST_STEP + 1);
        let step = height / steps;
        let at = |place: u8| (x, top + height - f64::from(place + 1) * step);
        match self.ramp {
            Ramp::Inputs => {
                for place in 0..=LAST_STEP {
                    // A little more, so that no ground shines through between two steps.
                    scene.rectangle(at(place), (WIDE, step + 0.3), Paint::Along(place), Mark::default());
                }
            }
            Ramp::Sizes(paint, most) => {
                for place in 0..=LAST_STEP {
                    let opacity = most * (f64::from(place) + 0.5) / steps;
                    let (size, mark) = ((WIDE, step), Mark::default());
                    scene.shapes.push(Shape::Rectangle { at: at(place), size, paint, opacity, mark });
                }
            }
            Ramp::Grounds(most) => {
                for place in 0..=LAST_STEP {
                    let share = (2.0 * f64::from(place) + 1.0) / steps - 1.0;
                    let (paint, opacity) = (Paint::of_sign(share), most * share.abs());
                    let (size, mark) = ((WIDE, step), Mark::default());
                    scene.shapes.push(Shape::Rectangle { at: at(place), size, paint, opacity, mark });
                }
                scene.small((x + BESIDE, top + 0.5 * height), "0", Anchor::Start);
            }
            Ramp::Signs => {
                let count = 63;
                let middle = f64::from(count / 2);
                let pixels = (0..count).map(|place| pixel((middle - f64::from(place)) / middle)).collect();
                let picture = Picture { width: 1, height: count as usize, pixels };
                scene.shapes.push(Shape::Picture { at: (x, top), size: (WIDE, height), picture });
                scene.small((x + BESIDE, top + 0.5 * height), "0", Anchor::Start);
            }
        }
        for (text, y) in self.ends.iter().zip([top + height - 5.0, top + 5.0]) {
            scene.small((x + BESIDE, y), shortened(text, room - BESIDE, SMALL), Anchor::Start);
        }
        // Of a bar too low for its label, little but `…` would be left.
        if width_of(self.label, SMALL).min(90.0) <= height - 36.0 {
            let label = shortened(self.label, height - 36.0, SMALL);
            scene.upright_of((x + BESIDE + 16.0, top + 0.5 * height), label, SMALL, Anchor::Middle);
        }
    }
}

/// The pixel of a share from −1 to 1, that lies on any ground: the colour of its sign, as opaque as its size.
pub(super) fn pixel(share: f64) -> [u8; 4] {
    let [red, green, blue] = Paint::of_sign(share).on_any_ground();
    [red, green, blue, (255.0 * share.abs().min(1.0)).round() as u8]
}
