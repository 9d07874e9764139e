//! How many threads work.

use anyhow::{Context, Result};
use rayon::ThreadPool;

use crate::args::Threads;

/// The threads that were asked for; 0 stands for one per core.
pub(crate) fn pool(threads: &Threads) -> Result<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads.threads)).build();
    pool.with_context(|| format!("cannot start {} threads", threads.threads))
}

/// Runs `work` on the threads that were asked for.
pub(crate) fn run<T: Send>(threads: &Threads, work: impl FnOnce() -> T + Send) -> Result<T> {
    Ok(pool(threads)?.install(work))
}
