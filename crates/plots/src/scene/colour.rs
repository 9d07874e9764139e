//! Colours by their role, for light and dark themes.

use std::fmt::Write;

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// The paint of a shape, by its role. The theme determines the colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Paint {
    /// Text and marks to be read.
    Ink,
    /// Less prominent text.
    Muted,
    /// Grid lines.
    Grid,
    /// The background.
    Paper,
    /// Positive values.
    Positive,
    /// Negative values.
    Negative,
    /// Missing values.
    Missing,
    /// A step of the colour scale for the inputs of a feature, from low (0) to high (15).
    Along(u8),
    /// One of six categorical colours.
    Series(u8),
    /// A colour that is the same in both themes.
    Fixed(Rgb),
}

/// The last step of the colour scale.
pub(crate) const LAST_STEP: u8 = 15;

/// Ends and middle of the colour scale, for the light and the dark theme. The scale goes from blue to yellow
/// via a greyish red, so that its steps are distinguishable with red-green colour vision deficiency. The
/// maximum is the lightest, so that lightness also shows the order.
const STEPS: [[Rgb; 3]; 2] =
    [[[58, 76, 192], [150, 92, 134], [201, 128, 0]], [[116, 138, 255], [196, 138, 176], [255, 205, 90]]];

/// Six colours that are distinguishable with all types of colour vision and stand out from the background.
/// They were found by a search that started from the colours of Okabe and Ito.
const SERIES: [[Rgb; 6]; 2] = [
    [[37, 62, 184], [217, 112, 12], [0, 161, 111], [155, 114, 176], [108, 51, 0], [41, 33, 39]],
    [[67, 136, 254], [209, 102, 32], [55, 242, 142], [184, 109, 170], [255, 221, 42], [207, 238, 237]],
];

impl Paint {
    /// Returns the step for a share from 0 to 1, or [`Missing`](Self::Missing) for NaN.
    pub(crate) fn along(share: f64) -> Self {
        match share.is_nan() {
            true => Self::Missing,
            false => Self::Along((share.clamp(0.0, 1.0) * f64::from(LAST_STEP)).round() as u8),
        }
    }

    /// Returns the paint for the sign of a value.
    pub(crate) fn of_sign(value: f64) -> Self {
        if value < 0.0 { Self::Negative } else { Self::Positive }
    }

    /// Returns the colour on a light background.
    pub fn light(self) -> Rgb {
        self.colour(0)
    }

    /// Returns the colour on a dark background.
    pub fn dark(self) -> Rgb {
        self.colour(1)
    }

    /// Returns a colour between the colours of the paint on a light and on a dark background, for pixels,
    /// which are the same in both themes.
    pub(crate) fn on_any_ground(self) -> Rgb {
        let (light, dark) = (self.light(), self.dark());
        std::array::from_fn(|channel| light[channel].midpoint(dark[channel]))
    }

    fn colour(self, theme: usize) -> Rgb {
        let pair: [Rgb; 2] = match self {
            Self::Ink => [[27, 31, 36], [232, 235, 239]],
            Self::Muted => [[87, 96, 106], [163, 172, 184]],
            Self::Grid => [[225, 229, 234], [48, 55, 64]],
            Self::Paper => [[255, 255, 255], [21, 25, 31]],
            Self::Positive => [[194, 65, 12], [251, 146, 84]],
            Self::Negative => [[29, 95, 168], [111, 177, 245]],
            Self::Missing => [[128, 134, 142], [134, 142, 152]],
            Self::Along(step) => return between(STEPS[theme], f64::from(step) / f64::from(LAST_STEP)),
            Self::Series(number) => return SERIES[theme][usize::from(number) % SERIES[0].len()],
            Self::Fixed(colour) => return colour,
        };
        pair[theme]
    }

    /// Returns the name of the paint in style sheets, which do not contain fixed colours.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Ink => "ink".to_owned(),
            Self::Muted => "muted".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Paper => "paper".to_owned(),
            Self::Positive => "positive".to_owned(),
            Self::Negative => "negative".to_owned(),
            Self::Missing => "missing".to_owned(),
            Self::Along(step) => format!("a{step}"),
            Self::Series(number) => format!("s{}", usize::from(number) % SERIES[0].len()),
            Self::Fixed(colour) => hex(colour),
        }
    }

    /// Iterates over all paints except fixed colours.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        [Self::Ink, Self::Muted, Self::Grid, Self::Paper, Self::Positive, Self::Negative, Self::Missing]
            .into_iter()
            .chain((0..=LAST_STEP).map(Self::Along))
            .chain((0..6).map(Self::Series))
    }
}

/// Interpolates between three colours.
fn between([first, middle, last]: [Rgb; 3], share: f64) -> Rgb {
    let (from, to, share) =
        if share < 0.5 { (first, middle, share * 2.0) } else { (middle, last, share * 2.0 - 1.0) };
    std::array::from_fn(|channel| {
        (f64::from(from[channel]) * (1.0 - share) + f64::from(to[channel]) * share).round() as u8
    })
}

pub(super) fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Returns the style sheet with the colours of scenes that are [drawn with classes](super::Dress::Classes).
/// It uses the light or the dark theme depending on the reader's system, unless `data-theme` of the root
/// element specifies one. Printed pages are light.
pub fn style_sheet() -> String {
    let variables = |theme: usize| -> String {
        Paint::all().map(|paint| format!("--{}:{};", paint.name(), hex(paint.colour(theme)))).collect()
    };
    let (light, dark) = (variables(0), variables(1));
    let mut sheet = format!(
        ":root{{color-scheme:light;{light}}}@media \
         screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}@media screen and \
         (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}"
    );
    for paint in Paint::all() {
        let name = paint.name();
        // Writing to a string cannot fail.
        let _ = write!(sheet, ".f-{name}{{fill:var(--{name})}}.k-{name}{{stroke:var(--{name})}}");
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts a colour to linear light.
    fn linear(colour: Rgb) -> [f64; 3] {
        colour.map(|channel| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// Returns the contrast ratio of two colours. Source: WCAG 2.2, *relative luminance* and *contrast
    /// ratio*.
    fn contrast(one: Rgb, other: Rgb) -> f64 {
        let luminance = |colour| {
            let [red, green, blue] = linear(colour);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let (one, other): (f64, f64) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn text_and_marks_stand_out_from_the_ground() {
        for theme in 0..2 {
            let ground = Paint::Paper.colour(theme);
            for paint in Paint::all() {
                let min = match paint {
                    Paint::Ink | Paint::Muted | Paint::Positive | Paint::Negative => 4.5,
                    Paint::Grid | Paint::Paper => 1.0,
                    _ => 3.0,
                };
                let found = contrast(paint.colour(theme), ground);
                assert!(found >= min, "{paint:?} in theme {theme}: {found}");
            }
        }
    }

    /// Matrices that simulate normal colour vision and colour vision without one type of cones, in linear
    /// light. Source: Machado, Oliveira and Fernandes, *A Physiologically-based Model for Simulation of Color
    /// Vision Deficiency*, IEEE TVCG 15(6), 2009, severity 1.
    const SIGHTS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    /// Returns the distance between two colours in CIELAB, as seen with one type of colour vision.
    fn distance(one: Rgb, other: Rgb, sight: &[[f64; 3]; 3]) -> f64 {
        let lab = |colour: Rgb| {
            let light = linear(colour);
            let seen: [f64; 3] = std::array::from_fn(|k| {
                (0..3).map(|channel| sight[k][channel] * light[channel]).sum::<f64>().clamp(0.0, 1.0)
            });
            let [red, green, blue] = seen;
            let xyz = [
                (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
                0.2126 * red + 0.7152 * green + 0.0722 * blue,
                (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
            ];
            let f = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
            let [x, y, z] = xyz.map(f);
            [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
        };
        let (one, other) = (lab(one), lab(other));
        (0..3).map(|k| (one[k] - other[k]).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn colours_that_stand_side_by_side_are_told_apart_by_every_kind_of_sight() {
        for (kind, sight) in SIGHTS.iter().enumerate() {
            for theme in 0..2 {
                let pairs = [
                    (Paint::Positive, Paint::Negative, 40.0),
                    (Paint::Along(0), Paint::Along(LAST_STEP), 40.0),
                    (Paint::Along(0), Paint::Along(LAST_STEP / 2), 15.0),
                    (Paint::Along(LAST_STEP / 2), Paint::Along(LAST_STEP), 15.0),
                ];
                for (one, other, min) in pairs {
                    let found = distance(one.colour(theme), other.colour(theme), sight);
                    assert!(found >= min, "{one:?} and {other:?}, sight {kind}, theme {theme}: {found}");
                }
                for one in 0..6 {
                    for other in 0..one {
                        let found = distance(
                            Paint::Series(one).colour(theme),
                            Paint::Series(other).colour(theme),
                            sight,
                        );
                        assert!(
                            found >= 30.0,
                            "series {one} and {other}, sight {kind}, theme {theme}: {found}"
                        );
                    }
                }
            }
        }
    }
}
