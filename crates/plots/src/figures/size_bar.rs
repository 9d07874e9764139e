//! Bars from zero to a mean absolute value, with interval and number.

use crate::scene::{Anchor, Mark, Paint, SMALL, Scale, Scene, digits, width_of};

/// The bar for "others" is truncated if it is more than this many times as long as the longest other bar.
const CUT: f64 = 1.5;
/// Distance of the truncation mark from the end of a bar.
const FROM_END: f64 = 14.0;

/// A mean absolute value to draw as a bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct SizeBar {
    pub(super) size: f64,
    /// The half-width of the interval; NaN if it is not known.
    pub(super) half_width: f64,
    /// The y coordinate of the middle of the bar.
    pub(super) y: f64,
    /// Half the height of the bar.
    pub(super) half: f64,
    /// Number of significant digits in the label.
    pub(super) digits: usize,
}

impl SizeBar {
    /// Draws the bar, which is truncated if it exceeds the scale.
    pub(super) fn draw(&self, scene: &mut Scene, scale: &Scale, paint: Paint, mark: Mark) {
        let Self { size, half_width, y, half, .. } = *self;
        let last = scale.range().1;
        let (left, right) = (scale.place(0.0), scale.place(size.min(last)));
        scene.rectangle((left, y - half), ((right - left).max(1.0), 2.0 * half), paint, mark);
        let mut end = right;
        if size > last {
            for x in [right - FROM_END, right - FROM_END + 5.0] {
                scene.line([(x - 3.0, y + half), (x + 3.0, y - half)], Paint::Paper, 2.0);
            }
        } else if half_width > 0.0 {
            let whisker = (scale.place((size - half_width).max(0.0)), scale.place(size + half_width));
            end = scene.whisker(whisker, y, (left, scale.place(last))).1;
        }
        let text = number((size, half_width), self.digits);
        scene.text_of((end + 6.0, y), text, SMALL, Anchor::Start, Paint::Ink);
    }
}

/// Formats the number next to a bar, with a question mark if its error is unknown.
fn number((size, half_width): (f64, f64), count: usize) -> String {
    let unknown = if half_width.is_nan() { " ?" } else { "" };
    format!("{}{unknown}", digits(size, count))
}

/// Returns the space that the widest of these numbers requires next to its bar.
pub(super) fn room(sizes: impl IntoIterator<Item = (f64, f64)>, count: usize) -> f64 {
    sizes.into_iter().map(|size| width_of(&number(size, count), SMALL)).fold(30.0, f64::max) + 14.0
}

/// Returns the scale for values with the half-widths of their intervals and for sums over other players, and
/// whether the bar of such a sum is truncated.
pub(super) fn scale(
    sizes: impl IntoIterator<Item = (f64, f64)>,
    others: impl IntoIterator<Item = f64>,
    ends: (f64, f64),
) -> (Scale, bool) {
    let known = |half: f64| if half.is_nan() { 0.0 } else { half };
    let largest = sizes.into_iter().map(|(size, half)| size + known(half)).fold(0.0, f64::max);
    let others = others.into_iter().fold(0.0, f64::max);
    let is_cut = largest > 0.0 && others > CUT * largest;
    let last = if is_cut { 1.2 * largest } else { largest.max(others) };
    (Scale::new((0.0, last), ends), is_cut)
}
