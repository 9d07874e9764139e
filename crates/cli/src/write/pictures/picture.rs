//! A figure, written as SVG or PNG, or its data as CSV.

use std::path::Path;

use anyhow::Result;
use apportion::plots::{Dress, Explained, Kind, Options, PlotError, Scene};
use apportion_files::Destination;

use crate::failure::Usage;
use crate::messages;

/// The format of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Picture {
    Svg,
    Png,
    /// The data of the figure.
    Csv,
}

impl Picture {
    /// Returns the format for the extension of the file; SVG for standard output.
    pub(crate) fn named(out: Option<&Path>) -> Result<Self> {
        let Some(out) = out else { return Ok(Self::Svg) };
        let ending = out.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        match ending.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("csv") => Ok(Self::Csv),
            _ if out == Path::new("-") || out.starts_with("/dev") => Ok(Self::Svg),
            _ => {
                let says = format!(
                    "unknown file extension in --out {}; expected .svg or .png (figure), or .csv (its data)",
                    out.display()
                );
                Err(Usage(says).into())
            }
        }
    }

    /// Lays out a figure and writes it.
    pub(crate) fn write(
        self,
        (kind, options): (Kind, &Options),
        explained: &Explained,
        scale: f64,
        destination: &Destination,
    ) -> Result<()> {
        let scene = kind.lay_out(explained, options).map_err(asked_wrongly)?;
        let bytes = match self {
            Self::Svg => (scene.svg(Dress::Colours) + "\n").into_bytes(),
            Self::Png => {
                let png = scene.png(scale)?;
                note_what_the_font_lacks(&scene);
                png
            }
            Self::Csv => scene.table.to_csv().into_bytes(),
        };
        destination.write(|out| Ok(out.write_all(&bytes)?))
    }
}

/// Prints a note about characters that are drawn as boxes in a PNG.
fn note_what_the_font_lacks(scene: &Scene) {
    const SHOWN: usize = 5;
    let letters = scene.letters_without_font();
    let first: Vec<String> =
        letters.iter().take(SHOWN).map(|letter| format!("{:?}", letter.to_string())).collect();
    let more = match letters.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if !letters.is_empty() {
        messages::note(format_args!(
            "the font of PNG figures lacks {}{more}; write .svg, which uses the fonts of the viewer",
            first.join(", ")
        ));
    }
}

/// Turns errors that options cause, such as an unknown row, feature or output, into usage errors.
pub(crate) fn asked_wrongly(error: PlotError) -> anyhow::Error {
    match error {
        PlotError::UnknownRow { .. }
        | PlotError::UnknownPlayer { .. }
        | PlotError::UnknownOutput { .. }
        | PlotError::Condition { .. }
        | PlotError::Nothing { .. } => Usage(error.to_string()).into(),
        error => error.into(),
    }
}
