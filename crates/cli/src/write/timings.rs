//! The duration of a run.

use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

/// The timings of a run, in wall-clock seconds of this process.
#[derive(Serialize)]
pub(crate) struct Timings {
    load_s: f64,
    explain_s: f64,
    write_s: f64,
}

impl Timings {
    /// Returns the timings of a run that ends now.
    pub(crate) fn since(started: Instant, loaded: Instant, explained: Instant) -> Self {
        let seconds = |from: Instant, to: Instant| (to - from).as_secs_f64();
        Self {
            load_s: seconds(started, loaded),
            explain_s: seconds(loaded, explained),
            write_s: seconds(explained, Instant::now()),
        }
    }

    /// Writes the timings to standard error, as one line of JSON.
    pub(crate) fn print(&self) -> Result<()> {
        eprintln!("{}", serde_json::to_string(self)?);
        Ok(())
    }
}
