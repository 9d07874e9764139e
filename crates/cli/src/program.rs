//! A program instead of a model file: `--predict 'COMMAND'`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use apportion::Rows;
use apportion_program::{Column, Format, Program, ProgramOptions};
use apportion_rows::Texts;
use clap::{Args, ValueEnum};

use crate::failure::Usage;
use crate::interrupt;
use crate::messages;

/// The program, and how it is called.
#[derive(Debug, Args)]
pub(crate) struct ProgramArgs {
    /// Program to explain instead of a model: a shell command, e.g. 'python3 server.py'
    ///
    /// The program is started once, reads batches of rows from its standard input and writes their outputs to
    /// its standard output. The features are the columns of the rows file. docs/predict_program.md contains
    /// ten-line servers in Python, R and Julia.
    #[arg(id = "predict", long = "predict", value_name = "COMMAND")]
    pub(crate) command: Option<String>,

    /// Format of the rows and outputs that are exchanged with the program
    ///
    /// Arrow takes a tenth of the time of CSV or less.
    #[arg(
        id = "predict_format",
        long = "predict-format",
        value_enum,
        default_value = "csv",
        requires = "predict",
        value_name = "FORMAT"
    )]
    format: ProgramFormat,

    /// Maximum number of rows of a batch
    #[arg(
        id = "predict_batch",
        long = "predict-batch",
        default_value_t = 4096,
        requires = "predict",
        value_name = "ROWS",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    batch: u32,

    /// Seconds after which a batch times out and the program is killed
    ///
    /// For the first batch they include the start of the program.
    #[arg(
        id = "predict_timeout",
        long = "predict-timeout",
        default_value_t = 600.0,
        requires = "predict",
        value_name = "S",
        value_parser = seconds
    )]
    timeout: f64,

    /// Number of retries of a batch, each in a new process, if the program exits or times out
    #[arg(
        id = "predict_restarts",
        long = "predict-restarts",
        default_value_t = 1,
        requires = "predict",
        value_name = "COUNT"
    )]
    restarts: u16,

    /// Number of processes of the program that run in parallel; each serves one thread
    #[arg(
        id = "predict_workers",
        long = "predict-workers",
        default_value_t = 1,
        requires = "predict",
        value_name = "COUNT",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    workers: u16,
}

/// The format of the program's input and output.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum ProgramFormat {
    /// Lines of text.
    Csv,
    /// Arrow streams.
    #[cfg(feature = "columnar")]
    Arrow,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (1e-3..=1e9).contains(seconds));
    seconds.ok_or_else(|| "expected a number of seconds ≥ 0.001".to_owned())
}

/// The strings of one feature.
#[derive(Debug)]
struct TextsOf {
    texts: Arc<Texts>,
    feature: usize,
}

impl apportion_program::Texts for TextsOf {
    fn is_text(&self) -> bool {
        self.texts.is_text(self.feature)
    }

    fn with_text(&self, number: f64, with: &mut dyn FnMut(&str)) -> bool {
        self.texts.with_text(self.feature, number, with)
    }
}

/// A running program.
pub(crate) struct Running {
    pub(crate) program: Program,
    /// The names of the columns, if the rows have a header.
    pub(crate) names: Option<Vec<String>>,
    /// The strings in the rows, which the program reads.
    pub(crate) texts: Arc<Texts>,
    /// The names of its outputs, if there are several and it names them.
    pub(crate) classes: Option<Vec<String>>,
}

impl ProgramArgs {
    /// Starts the program for rows with these column names, whose numbers are codes of these strings. `rows`
    /// must contain at least one of them.
    pub(crate) fn start(
        &self,
        names: Option<Vec<String>>,
        rows: Rows<'_>,
        texts: Arc<Texts>,
    ) -> Result<Running> {
        interrupt::listen()?;
        let command = self.command.as_deref().unwrap_or_default();
        if rows.is_empty() {
            return Err(Usage("--predict requires at least one row in the rows file".to_owned()).into());
        }
        let name = |column: usize| match &names {
            Some(names) => names[column].clone(),
            None => format!("f{column}"),
        };
        let column = |feature: usize| {
            let texts = Arc::new(TextsOf { texts: Arc::clone(&texts), feature });
            Column::with_texts(name(feature), texts)
        };
        let columns: Vec<Column> = (0..rows.columns()).map(column).collect();
        let program = Program::start(command, &columns, rows, &self.options())
            .with_context(|| format!("--predict {command:?}"))?;
        if let Some(line) = program.decimal_comma() {
            messages::note(format_args!(
                "the program returns {} outputs per row, separated by commas, as in {line:?}; if these \
                 are decimal commas, write decimal points; otherwise, name the outputs in a first line such \
                 as \"# a, b\"",
                program.output_count()
            ));
        }
        let classes = program.output_names().map(<[String]>::to_vec).filter(|names| names.len() > 1);
        Ok(Running { program, names, texts, classes })
    }

    fn options(&self) -> ProgramOptions {
        let format = match self.format {
            ProgramFormat::Csv => Format::Csv,
            #[cfg(feature = "columnar")]
            ProgramFormat::Arrow => Format::Arrow,
        };
        ProgramOptions::default()
            .format(format)
            .batch_rows(self.batch as usize)
            .timeout(Duration::from_secs_f64(self.timeout))
            .restarts(self.restarts.into())
            .workers(self.workers.into())
    }
}
