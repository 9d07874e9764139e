//! Run times of artefacts, summed over resumed runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use xtask::files::write_atomically;

/// Number of seconds spent on each artefact so far. The times are stored next to the results, in
/// `checkpoints/seconds.json`, because results that are reused take no time in later runs.
pub(crate) struct Times {
    file: PathBuf,
    seconds: BTreeMap<String, f64>,
}

impl Times {
    /// Reads the times of earlier runs that wrote to `out`, unless `fresh`.
    pub(crate) fn open(out: &Path, fresh: bool) -> Result<Self> {
        let file = out.join("checkpoints/seconds.json");
        let seconds = match std::fs::read(&file) {
            Ok(bytes) if !fresh => serde_json::from_slice(&bytes).with_context(|| {
                format!("{} is not a valid file of run times; remove it, or use --fresh", file.display())
            })?,
            _ => BTreeMap::new(),
        };
        Ok(Self { file, seconds })
    }

    /// Adds the time of this run to an artefact, and returns the sum.
    pub(crate) fn add(&mut self, artefact: &str, took: Duration) -> Result<Duration> {
        let sum = self.seconds.entry(artefact.to_owned()).or_default();
        *sum += took.as_secs_f64();
        let total = Duration::try_from_secs_f64(*sum)?;
        write_atomically(&self.file, &serde_json::to_vec_pretty(&self.seconds)?)?;
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_add_up_over_runs_until_they_are_forgotten() {
        let out = tempfile::tempdir().unwrap();
        let took = |fresh: bool| {
            let mut times = Times::open(out.path(), fresh).unwrap();
            times.add("paper/fig1", Duration::from_secs(2)).unwrap().as_secs()
        };
        assert_eq!((took(false), took(false), took(true)), (2, 4, 2));
        std::fs::write(out.path().join("checkpoints/seconds.json"), "[").unwrap();
        assert!(Times::open(out.path(), false).is_err() && Times::open(out.path(), true).is_ok());
    }
}
