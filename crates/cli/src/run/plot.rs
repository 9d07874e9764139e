//! `apportion plot`: a figure from a results file.

use anyhow::Result;
use apportion::plots::{Condition, Explained, Options, PlotError};
use apportion_files::Destination;

use crate::parse::pictures::Plot;
use crate::read::results;
use crate::write::pictures::{Picture, asked_wrongly};

pub(crate) fn run(args: &Plot) -> Result<()> {
    let destination = Destination::new(args.out.as_deref(), &[&args.input])?;
    let picture = Picture::named(args.out.as_deref())?;
    let explained = results::read(&args.input, args.seed, args.row)?;
    let options = options(args, &explained).map_err(asked_wrongly)?;
    picture.write((args.kind, &options), &explained, f64::from(args.scale), &destination)
}

/// Converts the arguments to options for figures of these results.
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
