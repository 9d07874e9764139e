//! `apportion plot`: a figure from a results file.

use std::path::Path;

use anyhow::Result;
use apportion::plots::{Condition, Dress, Explained, Kind, Options, PlotError, Scene};
use apportion_files::Destination;

use super::args::Plot;
use super::results;
use crate::failure::Usage;
use crate::messages;

pub(crate) fn run(args: &Plot) -> Result<()> {
    let destination = Destination::new(args.out.as_deref(), &[&args.input])?;
    let picture = Picture::named(args.out.as_deref())?;
    let explained = results::read(&args.input, args.seed, args.row)?;
    let options = options(args, &explained).map_err(asked_wrongly)?;
    picture.write((args.kind, &options), &explained, f64::from(args.scale), &destination)
}

/// The format of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Picture {
    Svg,
    Png,
    /// The data of the figure.
    Csv,
}

impl Picture {
    /// Chooses the format by the extension of the file, and SVG for standard output.
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

/// Prints a note about characters that appear as boxes in a PNG.
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

/// Converts the options for these results.
fn options(args: &Plot, explained: &Explained) -> Result<Options, PlotError> {
    let player = |name: &String| {
        let by_number =
            || name.parse().ok().filter(|&player: &usize| player < explained.heading().players.len());
        explained.place_of_player(name).or_else(|error| by_number().ok_or(error))
    };
    let mut options = Options::default();
    options.width = f64::from(args.width);
    options.max_players = args.top.map(usize::from);
    options.row = args.row;
    options.output = explained.place_of_output(args.class.as_deref())?;
    options.player = args.feature.as_ref().map(player).transpose()?;
    options.cohorts =
        args.cohorts.iter().map(|condition| condition.parse::<Condition>()).collect::<Result<_, _>>()?;
    options.partner = args.with.as_ref().map(player).transpose()?;
    Ok(options)
}

/// Turns errors about missing rows, features or outputs into usage errors.
fn asked_wrongly(error: PlotError) -> anyhow::Error {
    match error {
        PlotError::UnknownRow { .. }
        | PlotError::UnknownPlayer { .. }
        | PlotError::UnknownOutput { .. }
        | PlotError::Condition { .. }
        | PlotError::Nothing { .. } => Usage(error.to_string()).into(),
        error => error.into(),
    }
}
