//! How many threads work.

use anyhow::{Context, Result};

use crate::args::Threads;

/// Runs `work` on the threads that were asked for; 0 stands for one per core.
pub(crate) fn run<T: Send>(threads: &Threads, work: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads.threads)).build();
    Ok(pool.with_context(|| format!("cannot start {} threads", threads.threads))?.install(work))
}
