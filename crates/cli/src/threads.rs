//! How many threads work.

use std::env;

use anyhow::{Context, Result};
use apportion::games::memory;
use rayon::ThreadPool;

use crate::args::Threads;
use crate::failure::Usage;

/// The most threads that can be asked for.
const MOST: u16 = 1024;
/// What rayon takes the number of threads from where no option says it.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Refuses a number of threads in the environment that rayon would fail on, or take for another, and a limit of memory
/// that is not a number.
pub(crate) fn check_environment() -> Result<()> {
    memory::check_setting().map_err(Usage)?;
    let Some(given) = env::var_os(VARIABLE) else { return Ok(()) };
    let is_number = |given: &str| given.parse::<u16>().is_ok_and(|count| count <= MOST);
    match given.to_str() {
        Some(given) if given.is_empty() || is_number(given) => Ok(()),
        _ => Err(Usage(format!(
            "invalid value {:?} for {VARIABLE}; expected a number of threads from 1 to {MOST}, or 0 for all \
             cores",
            given.to_string_lossy()
        ))
        .into()),
    }
}

/// The threads that were asked for; 0 stands for those of the environment, else one per core.
pub(crate) fn pool(threads: &Threads) -> Result<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads.threads)).build();
    pool.with_context(|| match threads.threads {
        0 => "cannot start a thread for every core; use fewer with --threads".to_owned(),
        count => format!("cannot start {count} threads; use fewer"),
    })
}

/// Runs `work` on the threads that were asked for.
pub(crate) fn run<T: Send>(threads: &Threads, work: impl FnOnce() -> T + Send) -> Result<T> {
    Ok(pool(threads)?.install(work))
}
