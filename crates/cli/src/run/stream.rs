//! From rows to results, batch by batch: one batch is written while the next is computed.

use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use apportion_files::Destination;
use apportion_results::{self as results, Values};
use rayon::ThreadPool;

use crate::parse::format::Format;
use crate::read::input::{Batch, Batches};
use crate::write::{Summary, Text, write_all, writer};

/// Computes each batch of rows with `compute` and writes the results in this format. `results` creates the
/// part that all rows have in common, from the first batch, which is empty if there are no rows. Returns the
/// time at which the last batch was computed.
///
/// At most three batches are in memory: one being read, one being computed, one being written.
pub(crate) fn write<R: Text>(
    pool: &ThreadPool,
    (destination, format): (&Destination, Format),
    batches: &mut Batches,
    results: impl FnOnce(&results::Batch) -> Result<R>,
    mut compute: impl FnMut(Batch) -> Result<results::Batch>,
) -> Result<Instant> {
    let mut sink = destination.open()?;
    let first = match batches.next()? {
        Some(first) => first,
        None => batches.empty(),
    };
    let first = compute(first)?;
    let results = results(&first)?;
    let (results, out) = (&results, &mut sink);
    let computed = thread::scope(|scope| -> Result<Instant> {
        // Without a buffer, the writer is at most one batch behind.
        let (sender, blocks) = sync_channel::<results::Batch>(0);
        let written = scope.spawn(move || -> Result<()> {
            let mut writer = writer(format, results, out)?;
            for block in blocks {
                pool.install(|| writer.rows(&block))?;
            }
            Ok(writer.end()?)
        });
        let next = || -> Result<()> {
            // If the receiver is gone, writing has failed; the error is reported below.
            let mut is_taken = sender.send(first).is_ok();
            while is_taken && let Some(batch) = batches.next()? {
                is_taken = sender.send(compute(batch)?).is_ok();
            }
            Ok(())
        };
        let (all, computed) = (next(), Instant::now());
        drop(sender);
        let written = written.join().map_err(|_| anyhow!("the writer of results panicked"))?;
        all.and(written).map(|()| computed)
    })?;
    sink.finish()?;
    Ok(computed)
}

/// Computes the batches like [`write()`], but writes a summary of each player over all rows instead of the
/// rows.
pub(crate) fn summarize(
    pool: &ThreadPool,
    (destination, format): (&Destination, Format),
    batches: &mut Batches,
    results: impl FnOnce(&results::Batch) -> Result<Values>,
    mut compute: impl FnMut(Batch) -> Result<results::Batch>,
) -> Result<Instant> {
    let Some(first) = batches.next()? else { bail!("there are no rows to summarize; pass at least one row") };
    let first = compute(first)?;
    let results = results(&first)?;
    let mut summary = Summary::new(&results);
    pool.install(|| summary.add(&first))?;
    while let Some(batch) = batches.next()? {
        let found = compute(batch)?;
        pool.install(|| summary.add(&found))?;
    }
    let computed = Instant::now();
    let lines = pool.install(|| summary.end());
    write_all(destination, format, &summary, &lines, || Ok(()))?;
    Ok(computed)
}

/// Computes each batch of rows with `compute`, which stores what it needs. Returns the time at which the last
/// batch was computed.
pub(crate) fn each(
    batches: &mut Batches,
    mut compute: impl FnMut(Batch) -> Result<results::Batch>,
) -> Result<Instant> {
    while let Some(batch) = batches.next()? {
        compute(batch)?;
    }
    Ok(Instant::now())
}
