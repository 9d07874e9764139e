//! Colours distinguishable with colour blindness (Okabe and Ito, 2008), and grey.

use super::Colour;

pub(crate) const ORANGE: Colour = [230, 159, 0];
pub(crate) const SKY: Colour = [86, 180, 233];
pub(crate) const GREEN: Colour = [0, 158, 115];
pub(crate) const BLUE: Colour = [0, 114, 178];
pub(crate) const VERMILION: Colour = [213, 94, 0];
pub(crate) const PURPLE: Colour = [204, 121, 167];
pub(crate) const YELLOW: Colour = [240, 228, 66];
pub(crate) const BLACK: Colour = [60, 60, 60];
pub(crate) const GREY: Colour = [150, 150, 150];
