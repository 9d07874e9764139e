//! Benchmarks of the workspace: criterion benches in `benches/`, programs for side-by-side runs in
//! `src/bin/`, and in `rivals/` the scripts that run them and other libraries side by side.
//!
//! Data is created outside the timed part, seeds are fixed, and the name of a benchmark contains its sizes.

use apportion::games::{Coalitions, GameError};
use apportion::{Estimator, Game, Method, Partition, Semivalue, Value};

/// A game of negligible cost, so that only the estimator is timed. A coalition's value is its size, plus the
/// lowest three bits of its mask.
pub struct FreeGame {
    /// Number of players.
    pub players: usize,
}

/// Returns the method's estimator for the first value that the method supports: the Shapley value, the
/// Banzhaf value, or the Owen value for groups of about ten players.
pub fn estimator(method: Method, players: usize) -> Option<Box<dyn Estimator>> {
    let groups = players.div_ceil(10);
    let members = (0..groups).map(|first| (first..players).step_by(groups).collect());
    let partition = Partition::new(players, members.collect()).ok()?;
    let values = [Semivalue::Shapley.into(), Semivalue::Banzhaf.into(), Value::owen(partition)];
    values.iter().find_map(|value| method.estimator(value))
}

impl Game for FreeGame {
    fn players(&self) -> usize {
        self.players
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, (row, &size)) in out.iter_mut().zip(batch.iter().zip(batch.sizes())) {
            *value = f64::from(size) + (row.words()[0] & 7) as f64;
        }
        Ok(())
    }
}

/// Returns the peak resident memory of this process in MiB, if the system provides it (Linux).
pub fn peak_memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

/// Removes an option and its value from the arguments, and returns the value if the option is present.
///
/// # Errors
///
/// If the value is missing.
pub fn option(arguments: &mut Vec<String>, name: &str) -> Result<Option<String>, String> {
    let Some(place) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
    if place + 1 == arguments.len() {
        return Err(format!("{name} requires a value"));
    }
    arguments.remove(place);
    Ok(Some(arguments.remove(place)))
}
