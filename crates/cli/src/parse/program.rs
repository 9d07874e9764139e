//! The options for a program that replaces the model file: `--predict 'COMMAND'`.

use std::time::Duration;

use anyhow::Result;
use apportion_program::{Format, ProgramOptions};
use clap::{Args, ValueEnum};

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

impl ProgramArgs {
    pub(crate) fn options(&self) -> ProgramOptions {
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
