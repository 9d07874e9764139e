//! Reads the results of `explain` from a file for figures and reports.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use apportion::SolutionConcept;
use apportion::plots::{Explained, Gathering};
use apportion_results::ReadError;

use super::rows;

/// Reads results from a file: aggregates over all rows, and a sample of rows drawn with this seed, which
/// includes `row`.
pub(crate) fn read(path: &Path, seed: u64, row: Option<u64>) -> Result<Explained> {
    let file: Box<dyn Read> = match rows::is_standard_input(path) {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?),
    };
    let is_efficient = |value: &str| value.parse::<SolutionConcept>().is_ok_and(|value| value.is_efficient());
    let mut gathering = None;
    let heading = apportion_results::read(file, is_efficient, |heading, batch| {
        let begun = match gathering.take() {
            Some(gathering) => gathering,
            None => {
                let most = Gathering::usual_rows(heading);
                let begun = Gathering::new(heading.clone())?.seed(seed).max_rows(most);
                match row {
                    Some(row) => begun.keeping(row),
                    None => begun,
                }
            }
        };
        Ok(gathering.insert(begun).add(batch)?)
    });
    let heading = heading.map_err(|error| match error {
        ReadError::Io(error) => anyhow!(error).context(format!("cannot read {}", path.display())),
        error => anyhow!(error).context(path.display().to_string()),
    })?;
    let mut gathering = gathering
        .context("the results contain no rows; explain at least one")
        .with_context(|| path.display().to_string())?;
    for (feature, words) in heading.categories.into_iter().enumerate() {
        gathering.name_words(feature, words);
    }
    Ok(gathering.end())
}
