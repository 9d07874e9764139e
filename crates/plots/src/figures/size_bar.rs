//! Bars from zero to a mean size, with its interval and its number.

use crate::scene::{Anchor, Mark, Paint, SMALL, Scale, Scene, digits, width_of};

/// Others that are together so many times as large as the largest bar are cut, so that bars can be told from each other.
const CUT: f64 = 1.5;
/// How far the cut of a bar is from its end.
const FROM_END: f64 = 14.0;

/// A mean size.
#[derive(Debug, Clone, Copy)]
pub(super) struct SizeBar {
    pub(super) size: f64,
    /// Half the width of its interval; NaN where it is not known.
    pub(super) half_width: f64,
    /// The middle of the bar.
    pub(super) y: f64,
    /// Half its height.
    pub(super) half: f64,
    /// Digits of its number.
    pub(super) digits: usize,
}

impl SizeBar {
    /// Draws the bar; one beyond the end of the scale is cut.
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

/// The number beside a bar, with a mark where its error is not known.
fn number((size, half_width): (f64, f64), count: usize) -> String {
    let unknown = if half_width.is_nan() { " ?" } else { "" };
    format!("{}{unknown}", digits(size, count))
}

/// The room that the widest of these numbers takes beside its bar.
pub(super) fn room(sizes: impl IntoIterator<Item = (f64, f64)>, count: usize) -> f64 {
    sizes.into_iter().map(|size| width_of(&number(size, count), SMALL)).fold(30.0, f64::max) + 14.0
}

/// The scale of sizes with half the widths of their intervals, and of the sums of others; and whether one of these is cut.
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
