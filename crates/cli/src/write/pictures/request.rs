//! Figures and reports of `explain`, in addition to the results or instead of them.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use apportion::plots::{Kind, Options};
use apportion_files::Destination;
use apportion_results::{Batch, Heading};

use super::gathered::GatheredRows;
use super::page;
use super::picture::Picture;
use crate::failure::Usage;
use crate::parse::args::Explain;
use crate::parse::format::Format;

/// The number of PNG pixels per CSS pixel, in each direction.
const SCALE: f64 = 2.0;

/// The requested figure and report, if any.
pub(crate) struct PictureRequest<'a> {
    figure: Option<(Kind, Picture)>,
    page: Option<Destination>,
    gathered: GatheredRows,
    args: &'a Explain,
}

impl<'a> PictureRequest<'a> {
    /// Returns the figure and report that the options specify. Their files must differ from the files of the
    /// results and the checkpoint.
    pub(crate) fn new(
        args: &'a Explain,
        inputs: &[&Path],
        results: &Destination,
        checkpoint: Option<&Destination>,
    ) -> Result<Self> {
        let page = args.report.as_ref();
        let page = page.map(|path| Destination::from_option("--report", path, inputs)).transpose()?;
        let others = [("--out", Some(results)), ("--checkpoint", checkpoint)];
        let is_page = |other: Option<&Destination>| {
            page.as_ref().zip(other).is_some_and(|(page, other)| page.is_file_of(other))
        };
        if let Some((option, _)) = others.into_iter().find(|(_, other)| is_page(*other)) {
            return Err(
                Usage(format!("--report and {option} name the same file; use different files")).into()
            );
        }
        let picture = |kind| Ok::<_, anyhow::Error>((kind, Picture::named(args.output.out.as_deref())?));
        let figure = args.plot.map(picture).transpose()?;
        let wanted = Self { figure, page, gathered: GatheredRows::default(), args };
        let format = args.output.format;
        if format != Format::Json && !wanted.are_results_written() {
            let format = format.name();
            return Err(Usage(match wanted.figure {
                Some(_) => format!(
                    "--format {format} cannot be combined with --plot, which writes a figure instead of \
                     results; remove --format (the extension of --out sets the format of the figure), or \
                     write results in JSON and draw them with apportion plot"
                ),
                None => format!(
                    "--format {format} with --report requires --out, the path of the results file; add \
                     --out, or remove --format"
                ),
            })
            .into());
        }
        Ok(wanted)
    }

    /// Returns whether results are written. A figure replaces them, and so does a report if there is no file
    /// for them.
    pub(crate) fn are_results_written(&self) -> bool {
        self.figure.is_none() && (self.page.is_none() || self.args.output.out.is_some())
    }

    /// Adds rows. `heading` returns the part that all rows have in common; it is called once.
    pub(crate) fn add(&mut self, batch: &Batch, heading: impl FnOnce() -> Result<Heading>) -> Result<()> {
        match self.figure.is_some() || self.page.is_some() {
            true => self.gathered.add(batch, heading),
            false => Ok(()),
        }
    }

    /// Draws the figure and the report of all rows; `took` is the duration of their explanation.
    pub(crate) fn draw(self, results: &Destination, took: Duration) -> Result<()> {
        if self.figure.is_none() && self.page.is_none() {
            return Ok(());
        }
        let explained = self.gathered.end()?;
        if let Some((kind, picture)) = self.figure {
            picture.write((kind, &Options::default()), &explained, SCALE, results)?;
        }
        match &self.page {
            Some(page) => page::write(&explained, self.args, took, page),
            None => Ok(()),
        }
    }
}
