//! Tables that are kept for the next call.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use apportion_games::Partition;
use apportion_values::{CoalitionalValue, Semivalue};

use crate::tables::table::Tables;

/// Whose values, of what.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    Values(Semivalue),
    Coalitional(CoalitionalValue, Partition),
    Quotient(Semivalue, Partition),
}

/// Per tree: its tables, where it has them.
pub(crate) type TablesOfTrees<N> = Vec<Option<Tables<N>>>;

/// The tables of the last question.
#[derive(Debug, Default)]
pub(crate) struct KeptTables(Mutex<Option<Last>>);

#[derive(Debug)]
struct Last {
    asked: Asked,
    /// Which trees have tables.
    trees: Vec<bool>,
    tables: Arc<dyn Any + Send + Sync>,
}

impl KeptTables {
    /// The tables for a question and some of the trees, made by `make` unless they were the last. Two threads may make the same at a time:
    /// neither waits.
    pub(crate) fn get<N: Send + Sync + 'static>(
        &self,
        asked: &Asked,
        trees: &[bool],
        make: impl FnOnce() -> TablesOfTrees<N>,
    ) -> Arc<TablesOfTrees<N>> {
        let last = self
            .last()
            .as_ref()
            .filter(|last| last.asked == *asked && last.trees == trees)
            .and_then(|last| last.tables.clone().downcast().ok());
        last.unwrap_or_else(|| {
            let tables = Arc::new(make());
            *self.last() = Some(Last { asked: asked.clone(), trees: trees.to_vec(), tables: tables.clone() });
            tables
        })
    }

    fn last(&self) -> MutexGuard<'_, Option<Last>> {
        // Whoever panicked while it held the lock left a whole value behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
