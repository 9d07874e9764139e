//! Parallel loops on the thread pool, compiled once for all uses.
//!
//! A parallel iterator is compiled separately for every use; such copies made up nearly a quarter of the
//! object code of the tree engine. Here the loop is compiled once and calls a closure through a pointer. This
//! costs a lock and an indirect call per item, so an item should take at least microseconds.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::cancellation::{Cancellation, Current};

/// Calls `each` with all numbers below `count`, checking for [cancellation](Cancellation) before each.
pub fn for_each(count: usize, each: &(dyn Fn(usize) + Sync)) {
    Cancellation::check();
    // For a single item, waking another thread costs more than it saves.
    match count {
        0 => {}
        1 => each(0),
        _ => {
            let here = Current::take();
            (0..count).into_par_iter().with_max_len(1).for_each(|item| {
                // One thread unwinds in the middle of its item. The others only stop, because unwinding each
                // of them would be slow.
                if !here.is_cancelled() {
                    here.enter(|| each(item));
                }
            });
            drop(here);
            Cancellation::check();
        }
    }
}

/// Returns the results of both closures, which run on two threads if another thread is idle.
pub fn join<A: Send, B: Send>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
    Cancellation::check();
    let here = Current::take();
    let (of_first, of_second) = (&*here, &*here);
    rayon::join(
        || of_first.enter(first),
        || {
            of_second.enter(|| {
                Cancellation::check();
                second()
            })
        },
    )
}

/// Calls `each` for every item and returns the results in order.
pub fn map<T: Send, R: Send>(items: impl IntoIterator<Item = T>, each: impl Fn(T) -> R + Sync) -> Vec<R> {
    map_with(items, || (), |(), item| each(item))
}

/// Calls `each` for every item and returns the results in order. Each call borrows scratch memory created by
/// `make`, which earlier calls may have used.
pub fn map_with<M: Send, T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    make: impl Fn() -> M + Sync,
    each: impl Fn(&mut M, T) -> R + Sync,
) -> Vec<R> {
    let places: Vec<Mutex<Slot<T, R>>> =
        items.into_iter().map(|item| Mutex::new(Slot { item: Some(item), result: None })).collect();
    let idle = Mutex::new(Vec::new());
    for_each(places.len(), &|at| {
        // Do not hold the lock while the item is processed: the thread may start another item meanwhile.
        let Some(item) = open(&places[at]).item.take() else { return };
        let kept = open(&idle).pop();
        let mut memory = kept.unwrap_or_else(&make);
        let result = each(&mut memory, item);
        open(&idle).push(memory);
        open(&places[at]).result = Some(result);
    });
    let result = |place: Mutex<Slot<T, R>>| place.into_inner().unwrap_or_else(PoisonError::into_inner).result;
    places.into_iter().filter_map(result).collect()
}

/// Calls the fallible `each` for every item, as in [`map`]. Returns the results in order, or the error of the
/// first item that fails. Items after a failed one may be skipped.
pub fn try_map<T: Send, R: Send, E: Send>(
    items: impl IntoIterator<Item = T>,
    each: impl Fn(T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let failed = AtomicUsize::new(usize::MAX);
    let results = map(items.into_iter().enumerate(), |(at, item)| {
        // Items before the failed one are still processed: one of them may fail too and would then be the
        // first.
        let wanted = at < failed.load(Ordering::Relaxed);
        let result = wanted.then(|| each(item));
        if matches!(result, Some(Err(_))) {
            failed.fetch_min(at, Ordering::Relaxed);
        }
        result
    });
    results.into_iter().flatten().collect()
}

struct Slot<T, R> {
    item: Option<T>,
    result: Option<R>,
}

/// Locks a mutex, ignoring poisoning: the pool propagates panics of other threads, and the data are
/// consistent.
fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_for_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            for count in [0, 1, 2, 100] {
                let squares = pool.install(|| map(0..count, |number| number * number));
                assert_eq!(squares, (0..count).map(|number| number * number).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn items_may_be_pieces_of_a_slice_and_share_threads_with_loops_inside() {
        let mut numbers = vec![0; 100];
        map_with(numbers.chunks_mut(7).enumerate(), Vec::new, |memory, (piece, numbers)| {
            memory.clear();
            memory.extend(map(0..numbers.len(), |at| 7 * piece + at));
            numbers.copy_from_slice(memory);
        });
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn of_several_failures_it_is_the_first() {
        for failing in [vec![], vec![0], vec![17, 3, 99], vec![99]] {
            let each = |number: usize| if failing.contains(&number) { Err(number) } else { Ok(number) };
            let expected = failing.iter().min().map_or(Ok((0..100).collect::<Vec<_>>()), |&first| Err(first));
            assert_eq!(try_map(0..100, each), expected);
        }
    }

    #[test]
    fn a_panic_is_passed_on() {
        let caught = std::panic::catch_unwind(|| map(0..10, |number| assert_ne!(number, 5)));
        assert!(caught.is_err());
    }
}
