//! Cache of the most recent result.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most recent result with its key.
#[derive(Debug)]
pub(crate) struct LastResult<K, T: ?Sized>(Mutex<KeyedResult<K, T>>);

type KeyedResult<K, T> = Option<(K, Arc<T>)>;

impl<K, T: ?Sized> Default for LastResult<K, T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<K: PartialEq + Clone, T: ?Sized> LastResult<K, T> {
    /// Returns the cached value for `key`, or computes it with `make` and caches it. Two threads may compute
    /// the same value concurrently, without waiting for each other.
    pub(crate) fn get(&self, key: &K, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        if let Some((_, made)) = self.last().as_ref().filter(|(last, _)| last == key) {
            return made.clone();
        }
        let made = make();
        *self.last() = Some((key.clone(), made.clone()));
        made
    }

    /// Returns the cached value for `key`, or computes it with `make`, which may fail, and caches it.
    /// Failures are not cached.
    pub(crate) fn try_get<E>(&self, key: &K, make: impl FnOnce() -> Result<Arc<T>, E>) -> Result<Arc<T>, E> {
        if let Some((_, made)) = self.last().as_ref().filter(|(last, _)| last == key) {
            return Ok(made.clone());
        }
        let made = make()?;
        *self.last() = Some((key.clone(), made.clone()));
        Ok(made)
    }

    fn last(&self) -> MutexGuard<'_, KeyedResult<K, T>> {
        // Ignore poisoning: a panic cannot leave the entry inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_made_again_only_for_another_key() {
        let kept = LastResult::default();
        let given = [('a', 1), ('a', 2), ('b', 3), ('b', 4), ('a', 5)];
        assert_eq!(given.map(|(key, made)| *kept.get(&key, || Arc::new(made))), [1, 1, 3, 3, 5]);
    }
}
