//! `apportion report`: a report, from results files or during `explain`.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use apportion::plots::{self, Explained};
use apportion_files::Destination;

use super::args::Report;
use super::command_line::CommandLine;
use super::results;
use crate::args::Explain;
use crate::failure::Usage;

pub(crate) fn run(args: &Report) -> Result<()> {
    let inputs: Vec<&Path> = args.input.iter().map(AsRef::as_ref).collect();
    let destination = Destination::from_option("--out", &args.out, &inputs)?;
    let read = |path: &Path| Ok((path.to_owned(), results::read(path, args.seed, None)?));
    let read = inputs.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    let (pairs, values): (Vec<_>, Vec<_>) =
        read.iter().partition(|(_, explained)| explained.heading().interactions.is_some());
    if values.len() > 1 || pairs.len() > 1 {
        let says = "at most one results file and one interactions file can be passed to --in";
        return Err(Usage(says.to_owned()).into());
    }
    let pairs = pairs.first();
    let Some((_, explained)) = values.first().or(pairs) else { return Ok(()) };
    if let Some((path, pairs)) = pairs
        && pairs.heading().players != explained.heading().players
    {
        bail!(
            "{}: the features of the interactions differ from those of the values; explain both with the \
             same model",
            path.display()
        );
    }
    let mut page = with_command(plots::Report::new(explained), &args.command);
    if let Some((_, pairs)) = pairs {
        page = page.interactions(pairs);
    }
    if let Some(title) = &args.title {
        page = page.title(title);
    }
    write_page(&page, &destination)
}

/// Writes the report of `explain`, whose computation took this long.
pub(super) fn write(explained: &Explained, args: &Explain, took: Duration, page: &Destination) -> Result<()> {
    let report = plots::Report::new(explained).seconds(took.as_secs_f64());
    let mut report = with_command(report, &args.command);
    if explained.heading().interactions.is_some() {
        report = report.interactions(explained);
    }
    write_page(&report, page)
}

fn with_command<'e>(report: plots::Report<'e>, command: &CommandLine) -> plots::Report<'e> {
    match command.is_abridged {
        true => report.abridged_command(&command.text),
        false => report.command(&command.text),
    }
}

fn write_page(page: &plots::Report<'_>, destination: &Destination) -> Result<()> {
    let html = page.html()?;
    destination.write(|out| Ok(out.write_all(html.as_bytes())?))
}
