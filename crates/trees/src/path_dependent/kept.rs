//! What has been made for a partition, kept in case that the next call has the same.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use apportion_games::Partition;

/// What was made last, and for which partition.
#[derive(Debug)]
pub(super) struct Kept<T>(Mutex<Last<T>>);

type Last<T> = Option<(Partition, Arc<T>)>;

impl<T> Kept<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// What was made for `partition`, if that was the last; else what `make` makes. Two threads may make the same at a time: neither waits.
    pub(super) fn get(&self, partition: &Partition, make: impl FnOnce() -> T) -> Arc<T> {
        if let Some((_, made)) = self.last().as_ref().filter(|(last, _)| last == partition) {
            return made.clone();
        }
        let made = Arc::new(make());
        *self.last() = Some((partition.clone(), made.clone()));
        made
    }

    fn last(&self) -> MutexGuard<'_, Last<T>> {
        // Whoever panicked while it held the lock left a whole value behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_made_again_only_for_another_partition() {
        let kept = Kept::new();
        let (one, other) = (Partition::whole(3), Partition::singletons(3));
        let given = [(&one, 1), (&one, 2), (&other, 3), (&other, 4), (&one, 5)];
        assert_eq!(given.map(|(partition, made)| *kept.get(partition, || made)), [1, 1, 3, 3, 5]);
    }
}
