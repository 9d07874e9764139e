//! Colour bars: vertical legends from the low end of a scale at the bottom to the high end at the top.

use crate::scene::{
    Anchor, LAST_STEP, Mark, Paint, Picture, Point, SMALL, Scene, Shape, digits, shortened, signed, width_of,
};

const WIDE: f64 = 10.0;
/// Distance from the left edge of the bar to its labels.
const BESIDE: f64 = WIDE + 6.0;

/// A colour scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ramp {
    /// The inputs of a feature, from low to high.
    Inputs,
    /// From the most negative value, transparent at zero, to the most positive.
    Signs,
    /// Like [`Signs`](Self::Signs), but up to this opacity, for colours behind text.
    Grounds(f64),
    /// A paint, from transparent at zero to this opacity.
    Sizes(Paint, f64),
}

/// A colour bar.
#[derive(Debug)]
pub(super) struct ColourBar<'a> {
    pub(super) ramp: Ramp,
    /// The labels of the lower and the upper end.
    pub(super) ends: [End; 2],
    /// The label of the axis.
    pub(super) label: &'a str,
}

/// The label at one end of a colour bar.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    /// Text, which may be shortened.
    Word(String),
    /// A number, and the maximum number of significant digits to show.
    Number(f64, usize),
    /// Like [`Number`](Self::Number), with a plus sign if it is positive.
    Signed(f64, usize),
}

impl End {
    /// Shortens the label to the available space. A number gets fewer digits, or is omitted, because a number
    /// with an ellipsis could be misread.
    fn shortened(&self, room: f64) -> String {
        let (text, number, count): (fn(f64, usize) -> String, _, _) = match self {
            Self::Word(word) => return shortened(word, room, SMALL),
            Self::Number(number, count) => (digits, *number, *count),
            Self::Signed(number, count) => (signed, *number, *count),
        };
        let mut texts = (1..=count).rev().map(|count| text(number, count));
        texts.find(|text| width_of(text, SMALL) <= room).unwrap_or_default()
    }
}

impl ColourBar<'_> {
    /// Draws the bar and its labels into a column with width `room`.
    pub(super) fn draw(&self, scene: &mut Scene, (x, top): Point, (room, height): (f64, f64)) {
        let steps = f64::from(LAST_STEP + 1);
        let step = height / steps;
        let at = |place: u8| (x, top + height - f64::from(place + 1) * step);
        match self.ramp {
            Ramp::Inputs => {
                for place in 0..=LAST_STEP {
                    // Draw each step slightly higher than its share, so that there is no gap between two
                    // steps.
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
        for (end, y) in self.ends.iter().zip([top + height - 5.0, top + 5.0]) {
            let text = end.shortened(room - BESIDE);
            if !text.is_empty() {
                scene.small((x + BESIDE, y), text, Anchor::Start);
            }
        }
        // Omit the label if the bar is too short for it: little would be left except `…`.
        if width_of(self.label, SMALL).min(90.0) <= height - 36.0 {
            let label = shortened(self.label, height - 36.0, SMALL);
            scene.upright_of((x + BESIDE + 16.0, top + 0.5 * height), label, SMALL, Anchor::Middle);
        }
    }
}

/// Returns the pixel for a share from −1 to 1, for any background: the colour of its sign, with its absolute
/// value as opacity.
pub(super) fn pixel(share: f64) -> [u8; 4] {
    let [red, green, blue] = Paint::of_sign(share).on_any_ground();
    [red, green, blue, (255.0 * share.abs().min(1.0)).round() as u8]
}
