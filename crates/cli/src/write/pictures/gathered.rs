//! Collects the results of `explain` for figures and reports.

use anyhow::{Context, Result};
use apportion::plots::{Explained, Gathering};
use apportion_results::{Batch, Heading};

/// The rows collected so far.
#[derive(Default)]
pub(super) struct GatheredRows {
    gathering: Option<Gathering>,
}

impl GatheredRows {
    /// Adds rows. `heading` returns the part that all rows have in common; it is called once.
    pub(super) fn add(&mut self, batch: &Batch, heading: impl FnOnce() -> Result<Heading>) -> Result<()> {
        let gathering = match self.gathering.take() {
            Some(gathering) => gathering,
            None => {
                let heading = heading()?;
                let most = Gathering::usual_rows(&heading);
                Gathering::new(heading)?.max_rows(most)
            }
        };
        Ok(self.gathering.insert(gathering).add(batch.clone())?)
    }

    /// Returns the collected results after the last row.
    pub(super) fn end(self) -> Result<Explained> {
        Ok(self.gathering.context("the input contains no rows")?.end())
    }
}
