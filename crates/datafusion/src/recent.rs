//! Cache of the most recent results.
//!
//! If a query selects several fields of one call, DataFusion's optimizer may repeat the call for each field:
//! it pushes the field access towards the table, past projections that would have computed the call once.
//! These calls follow each other, and all have the same numbers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion_common::arrow::array::ArrayRef;

/// The last results of a function, one for each thread that may currently process a batch.
#[derive(Debug)]
pub(crate) struct Recent {
    results: Mutex<VecDeque<Arc<Entry>>>,
    most: usize,
}

/// The numbers of some rows, and the result for these rows.
#[derive(Debug)]
struct Entry {
    numbers: Vec<f64>,
    result: ArrayRef,
}

impl Recent {
    pub(crate) fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        // Keep at least two results, for queries with two calls that have different arguments.
        Self { results: Mutex::default(), most: threads.max(2) }
    }

    /// Returns the result for exactly these numbers, if it is cached.
    pub(crate) fn get(&self, numbers: &[f64]) -> Option<ArrayRef> {
        let entries: Vec<Arc<Entry>> = self.locked(|results| results.iter().cloned().collect());
        // Compare bits: missing values are equal, and the two zeros are not.
        let is_same = |entry: &&Arc<Entry>| {
            entry.numbers.len() == numbers.len()
                && entry.numbers.iter().zip(numbers).all(|(one, other)| one.to_bits() == other.to_bits())
        };
        entries.iter().find(is_same).map(|entry| Arc::clone(&entry.result))
    }

    /// Caches a result. If the cache is full, the oldest result is dropped.
    pub(crate) fn put(&self, numbers: Vec<f64>, result: &ArrayRef) {
        let entry = Arc::new(Entry { numbers, result: Arc::clone(result) });
        let dropped = self.locked(|results| {
            results.push_front(entry);
            if results.len() > self.most { results.pop_back() } else { None }
        });
        // Free the memory after releasing the lock.
        drop(dropped);
    }

    fn locked<T>(&self, act: impl FnOnce(&mut VecDeque<Arc<Entry>>) -> T) -> T {
        // Ignore poisoning: a panic cannot leave the list inconsistent.
        act(&mut self.results.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
