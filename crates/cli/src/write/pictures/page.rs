//! A report, written as an HTML file.

use std::time::Duration;

use anyhow::Result;
use apportion::plots::{self, Explained};
use apportion_files::Destination;

use crate::parse::args::Explain;
use crate::parse::command_line::CommandLine;

/// Writes the report of `explain`; `took` is the duration of the computation.
pub(super) fn write(explained: &Explained, args: &Explain, took: Duration, page: &Destination) -> Result<()> {
    let report = plots::Report::new(explained).seconds(took.as_secs_f64());
    let mut report = with_command(report, &args.command);
    if explained.heading().interactions.is_some() {
        report = report.interactions(explained);
    }
    write_page(&report, page)
}

pub(crate) fn with_command<'e>(report: plots::Report<'e>, command: &CommandLine) -> plots::Report<'e> {
    match command.is_abridged {
        true => report.abridged_command(&command.text),
        false => report.command(&command.text),
    }
}

pub(crate) fn write_page(page: &plots::Report<'_>, destination: &Destination) -> Result<()> {
    let html = page.html()?;
    destination.write(|out| Ok(out.write_all(html.as_bytes())?))
}
