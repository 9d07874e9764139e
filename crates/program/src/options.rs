//! How a program is asked.

use std::time::Duration;

/// What a program reads and writes.
///
/// Everything is text in UTF-8, or Arrow; nothing is closed between batches. The program answers every batch
/// before it ends, and ends when its standard input does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Format {
    /// Lines of text.
    ///
    /// The program reads once a line with the names of the columns, separated by commas (names and words with
    /// commas or quotes are quoted, as in any CSV). Then for every batch it reads a line with the number of
    /// rows, and a line per row: numbers with the fewest digits that read back to the same bits, words,
    /// nothing where a value is missing.
    ///
    /// It answers each batch with a line per row, in order: its outputs, separated by commas or blanks. An
    /// empty line ends the answer; then the output must be flushed. Before its first answer it may write one
    /// line `# name, name, …` that names the outputs.
    ///
    /// ```python
    /// import io, itertools, sys
    /// import joblib, pandas
    ///
    /// model = joblib.load("model.joblib")
    /// header = sys.stdin.readline()
    /// for count in sys.stdin:
    ///     rows = "".join(itertools.islice(sys.stdin, int(count)))
    ///     table = pandas.read_csv(io.StringIO(header + rows))
    ///     for outputs in model.predict_proba(table).tolist():
    ///         print(*outputs, sep=",")
    ///     print(flush=True)
    /// ```
    #[default]
    Csv,
    /// An Arrow IPC stream in, and one out: each record batch of rows is answered by one record batch with as
    /// many rows, whose columns are the outputs, and their names those of the outputs. Numbers are of 64
    /// bits, words are texts, missing values are null.
    #[cfg(feature = "arrow")]
    Arrow,
}

/// How a program is asked.
///
/// | option | default | what it is |
/// |---|---|---|
/// | [`format`](Self::format) | [`Format::Csv`] | what it reads and writes |
/// | [`batch_rows`](Self::batch_rows) | 4096 | the most rows of a batch |
/// | [`timeout`](Self::timeout) | 10 minutes | the most time for a batch; of the first with the start |
/// | [`restarts`](Self::restarts) | 1 | how many times a batch is asked again of a new process |
/// | [`workers`](Self::workers) | 1 | processes that run at the same time |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOptions {
    pub(crate) format: Format,
    pub(crate) batch_rows: usize,
    pub(crate) timeout: Duration,
    pub(crate) restarts: usize,
    pub(crate) workers: usize,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        Self {
            format: Format::Csv,
            batch_rows: 4096,
            timeout: Duration::from_secs(600),
            restarts: 1,
            workers: 1,
        }
    }
}

impl ProgramOptions {
    /// What the program reads and writes.
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// The most rows of a batch, at least 1. Predictions do not depend on it where the program predicts each
    /// row by itself.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// The most time from the end of one answer to that of the next; a program that takes longer is killed.
    /// Above 0.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many times a batch is asked again, of a new process, after one that died or took too long.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Processes that run at the same time, at least 1: each serves one thread at a time. All but the first
    /// are started when they are needed.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }
}
