//! Results that were just found, for calls that come again.
//!
//! Where a query asks for several fields of one call, DataFusion's optimizer may write the call down once for
//! each field: access to fields moves towards the table, through projections that would have computed the
//! call once. All of these calls come one after the other with the same numbers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::ArrayRef;

/// The last results of a function, one for each thread that may be in the middle of a batch.
#[derive(Debug)]
pub(crate) struct Recent {
    results: Mutex<VecDeque<Arc<Entry>>>,
    most: usize,
}

/// Numbers of rows, and what was found of them.
#[derive(Debug)]
struct Entry {
    numbers: Vec<f64>,
    result: ArrayRef,
}

impl Recent {
    pub(crate) fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        // Two, so that a query with two calls of other arguments finds both.
        Self { results: Mutex::default(), most: threads.max(2) }
    }

    /// What was found of exactly these numbers.
    pub(crate) fn get(&self, numbers: &[f64]) -> Option<ArrayRef> {
        let entries: Vec<Arc<Entry>> = self.locked(|results| results.iter().cloned().collect());
        // By their bits: missing values are equal, and the two zeros are not.
        let is_same = |entry: &&Arc<Entry>| {
            entry.numbers.len() == numbers.len()
                && entry.numbers.iter().zip(numbers).all(|(one, other)| one.to_bits() == other.to_bits())
        };
        entries.iter().find(is_same).map(|entry| Arc::clone(&entry.result))
    }

    /// Remembers what was found, in the place of the oldest.
    pub(crate) fn put(&self, numbers: Vec<f64>, result: &ArrayRef) {
        let entry = Arc::new(Entry { numbers, result: Arc::clone(result) });
        let dropped = self.locked(|results| {
            results.push_front(entry);
            if results.len() > self.most { results.pop_back() } else { None }
        });
        // Memory is given back when others may go on.
        drop(dropped);
    }

    fn locked<T>(&self, act: impl FnOnce(&mut VecDeque<Arc<Entry>>) -> T) -> T {
        // Whoever panicked meanwhile has left the list whole.
        act(&mut self.results.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
