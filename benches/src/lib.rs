//! Benchmarks of the workspace: criterion benches in `benches/`, programs for side-by-side runs in
//! `src/bin/`, and in `rivals/` the scripts that time them against peers in one run.
//!
//! Data is built outside the timed part, seeds are fixed, sizes are in the benchmark's name.

use apportion::games::{Coalitions, GameError};
use apportion::{Estimator, Game, Method, Partition, Semivalue, Value};

/// A game that costs next to nothing: an additive part by size and a parity. What is timed on it is the
/// estimator.
pub struct FreeGame {
    /// Number of players.
    pub players: usize,
}

/// The estimator of a method, of the first value that it estimates: Shapley, Banzhaf, or Owen of players in
/// groups of ten.
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

/// Peak resident memory of this process in MiB, where the system tells it (Linux).
pub fn peak_memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

/// Takes an option and what follows it out of the arguments.
///
/// # Errors
///
/// If nothing follows it.
pub fn option(arguments: &mut Vec<String>, name: &str) -> Result<Option<String>, String> {
    let Some(place) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
    if place + 1 == arguments.len() {
        return Err(format!("{name} wants a value"));
    }
    arguments.remove(place);
    Ok(Some(arguments.remove(place)))
}
