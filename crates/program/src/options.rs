//! Options for running a program.

use std::time::Duration;

/// The format of a program's input and output.
///
/// Input and output are UTF-8 text or Arrow. They stay open between batches. The program must answer every
/// batch, and must exit at the end of its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Format {
    /// Lines of text, as input and as output.
    ///
    /// The program first reads one line with the names of the columns, separated by commas. As in any CSV,
    /// names and categories that contain commas or quotes are quoted. For every batch, the program then reads
    /// a line with the number of rows, and one line per row. Numbers have the fewest digits that read back to
    /// the same bits, categories are written as text, and missing values are empty cells.
    ///
    /// The program answers each batch with one line per row, in order: the outputs, separated by commas or
    /// spaces. An empty line ends the answer; then the output must be flushed. Before its first answer, the
    /// program may write one line `# name, name, …` that names the outputs.
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
    /// Arrow IPC streams, as input and as output. The program answers each record batch of rows with one
    /// record batch with the same number of rows, whose columns are the outputs. The names of the columns are
    /// the names of the outputs. Numbers are 64-bit, categories are strings, missing values are null.
    #[cfg(feature = "arrow")]
    Arrow,
}

/// Options for running a program.
///
/// | option | default | description |
/// |---|---|---|
/// | [`format`](Self::format) | [`Format::Csv`] | the format of the program's input and output |
/// | [`batch_rows`](Self::batch_rows) | 4096 | maximum number of rows of a batch |
/// | [`timeout`](Self::timeout) | 10 minutes | maximum time for a batch; for the first one, including the start |
/// | [`restarts`](Self::restarts) | 1 | maximum number of new processes to which a failed batch is sent again |
/// | [`workers`](Self::workers) | 1 | number of processes that run at the same time |
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
    /// Sets the format of the program's input and output.
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Sets the maximum number of rows of a batch, at least 1. Predictions do not depend on this number if
    /// the program predicts each row independently.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows;
        self
    }

    /// Sets the maximum time from the end of one answer to the end of the next, which must be positive. A
    /// program that takes longer is killed.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum number of times that a batch is sent again to a new process after a process died or
    /// took too long.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Sets the number of processes that run at the same time, at least 1. Each process serves one thread at
    /// a time. All processes except the first are started on demand.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }
}
