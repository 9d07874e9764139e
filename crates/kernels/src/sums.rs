//! Sums over all centres and background rows.

use apportion_games::{Background, Cancellation, Rows, memory, parallel};

use crate::average::{LANES, Lane};
use crate::components::{Block, Chunk, Component};
use crate::error::KernelError;
use crate::layout::Layout;

/// Number of rows that share the factors of the background.
pub(crate) const ROWS_PER_BLOCK: usize = 16;

/// Terms of several targets (such as players) that are summed over centres and background rows.
pub(crate) trait Terms: Sync {
    /// Returns the layout of the factors.
    fn layout(&self) -> &Layout;

    /// Returns the number of targets.
    fn targets(&self) -> usize;

    /// Returns the number of [`Lane`]s of working memory for [`add`](Self::add).
    fn memory(&self) -> usize;

    /// Adds `weight` times the terms of all targets to `sums`, for centres with the factors `present` of the
    /// explicand and `absent` of a background row, given as a pair.
    fn add(&self, factors: (&[Lane], &[Lane]), weight: f64, memory: &mut [Lane], sums: &mut [Lane]);
}

/// Checks that the working memory of a thread is available.
pub(crate) fn check_memory(terms: &dyn Terms) -> Result<(), KernelError> {
    let lanes = terms.memory() + (terms.layout().factors + terms.targets()) * (ROWS_PER_BLOCK + 1);
    let what = || "the factors of the features for a block of centres".to_owned();
    memory::check(memory::product([lanes, LANES, 8]), what, "put the features into groups")?;
    Ok(())
}

/// The centres and the background rows over which terms are summed.
pub(crate) struct Summands {
    pub(crate) components: Vec<Component>,
    pub(crate) background: Background,
    pub(crate) outputs: usize,
}

/// Returns the sums of the terms over all centres and background rows: rows × targets × outputs.
pub(crate) fn sums(summands: &Summands, rows: Rows<'_>, terms: &dyn Terms) -> Vec<f64> {
    let (outputs, chunks) = (summands.outputs, Component::chunks(&summands.components));
    let starts = (0..rows.len()).step_by(ROWS_PER_BLOCK);
    let of_rows = parallel::map(starts, |start| {
        let rows = rows.slice(start..rows.len().min(start + ROWS_PER_BLOCK));
        let mut total = vec![0.0; rows.len() * terms.targets() * outputs];
        // Add the sums of chunks in a fixed order, so that the result does not depend on the number of
        // threads.
        for sums in parallel::map(&chunks, |chunk| sum_chunk(summands, chunk, rows, terms)) {
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        total
    });
    of_rows.concat()
}

/// Returns the sums of a chunk of centres for a block of rows.
fn sum_chunk(summands: &Summands, chunk: &Chunk<'_>, rows: Rows<'_>, terms: &dyn Terms) -> Vec<f64> {
    let (outputs, background) = (summands.outputs, &summands.background);
    let mut task = ChunkTask::new(chunk, terms, rows.len());
    let mut out = vec![0.0; rows.len() * terms.targets() * outputs];
    for block in chunk.blocks {
        task.begin(block, rows);
        for (row, &weight) in background.as_rows().iter().zip(background.weights()) {
            Cancellation::check();
            if weight > 0.0 {
                task.add_background(block, row, weight);
            }
        }
        task.finish(block, outputs, &mut out);
    }
    out
}

/// The working memory for a chunk of centres and a block of rows.
struct ChunkTask<'a> {
    chunk: &'a Chunk<'a>,
    terms: &'a dyn Terms,
    /// The factors of the rows, rows × factors.
    present: Vec<Lane>,
    /// The factors of a background row.
    absent: Vec<Lane>,
    /// The sums, rows × targets.
    sums: Vec<Lane>,
    memory: Vec<Lane>,
}

impl<'a> ChunkTask<'a> {
    fn new(chunk: &'a Chunk<'a>, terms: &'a dyn Terms, rows: usize) -> Self {
        let zeros = |count: usize| vec![[0.0; LANES]; count];
        let factors = terms.layout().factors;
        Self {
            chunk,
            terms,
            present: zeros(rows * factors),
            absent: zeros(factors),
            sums: zeros(rows * terms.targets()),
            memory: zeros(terms.memory()),
        }
    }

    /// Computes the factors of the rows for a block of centres, and clears the sums.
    fn begin(&mut self, block: &Block, rows: Rows<'_>) {
        let layout = self.terms.layout();
        for (row, factors) in rows.iter().zip(self.present.chunks_exact_mut(layout.factors)) {
            self.chunk.write_factors(block, row, &layout.features, factors);
            layout.complete(factors);
        }
        self.sums.fill([0.0; LANES]);
    }

    /// Adds the terms of a background row for all rows.
    fn add_background(&mut self, block: &Block, row: &[f64], weight: f64) {
        let layout = self.terms.layout();
        self.chunk.write_factors(block, row, &layout.features, &mut self.absent);
        layout.complete(&mut self.absent);
        let rows = self.present.chunks_exact(layout.factors);
        for (present, sums) in rows.zip(self.sums.chunks_exact_mut(self.terms.targets())) {
            self.terms.add((present, &self.absent), weight, &mut self.memory, sums);
        }
    }

    /// Adds the sums of a block of centres, times their coefficients, to `out`: rows × targets × outputs.
    fn finish(&self, block: &Block, outputs: usize, out: &mut [f64]) {
        for (sums, out) in self.sums.iter().zip(out.chunks_exact_mut(outputs)) {
            for (coefficients, out) in block.coefficients.iter().zip(out) {
                let products = sums.iter().zip(coefficients).map(|(sum, alpha)| alpha * sum);
                *out += self.chunk.weight * products.sum::<f64>();
            }
        }
    }
}
