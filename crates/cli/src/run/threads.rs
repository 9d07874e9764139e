//! The number of threads.

use std::env;

use anyhow::{Result, anyhow};
use apportion::games::memory;
use rayon::ThreadPool;

use crate::failure::Usage;
use crate::messages;
use crate::parse::args::Threads;

/// The maximum number of threads.
const MAX_THREADS: u16 = 1024;
/// The environment variable from which rayon takes the default number of threads.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Returns an error for a number of threads in the environment that rayon would reject or misread, and for an
/// invalid memory limit.
pub(crate) fn check_environment() -> Result<()> {
    memory::check_setting().map_err(Usage)?;
    let Some(given) = env::var_os(VARIABLE) else { return Ok(()) };
    let is_number = |given: &str| given.parse::<u16>().is_ok_and(|count| count <= MAX_THREADS);
    match given.to_str() {
        Some(given) if given.is_empty() || is_number(given) => Ok(()),
        _ => Err(Usage(format!(
            "invalid value {:?} for {VARIABLE}; expected a number of threads from 1 to {MAX_THREADS}, or 0 \
             for all cores",
            given.to_string_lossy()
        ))
        .into()),
    }
}

/// Starts the requested number of threads; 0 means the number in the environment, or one per core.
pub(crate) fn pool(threads: &Threads) -> Result<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads.threads)).build();
    pool.map_err(|error| match threads.threads {
        0 => anyhow!("cannot start a thread for every core ({error}); set a smaller number with --threads"),
        count => {
            let started = messages::counted(count, "thread");
            anyhow!("cannot start {started} ({error}); use fewer threads")
        }
    })
}

/// Runs `work` on the requested number of threads.
pub(crate) fn run<T: Send>(threads: &Threads, work: impl FnOnce() -> T + Send) -> Result<T> {
    Ok(pool(threads)?.install(work))
}
