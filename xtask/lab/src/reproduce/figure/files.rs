//! Output of a figure as SVG and PNG.

use std::path::Path;

use anyhow::Result;
use apportion_plots::Dress;

use super::{Figure, draw};
use xtask::files::write_atomically;

/// Pixels of the PNG per CSS pixel.
const PNG_SCALE: f64 = 2.0;

/// Writes `figure.svg` and `figure.png` into `folder`.
pub(crate) fn write(figure: &Figure, folder: &Path) -> Result<()> {
    figure.check()?;
    let scene = draw::scene(figure);
    write_atomically(&folder.join("figure.svg"), (scene.svg(Dress::Colours) + "\n").as_bytes())?;
    write_atomically(&folder.join("figure.png"), &scene.png(PNG_SCALE)?)
}
