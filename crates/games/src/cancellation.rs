//! Cancellation of running work from any thread.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The interval at which a waiting thread checks for cancellation.
const PAUSE: Duration = Duration::from_millis(50);

/// A token that stops the work running under it, from any thread, within a fraction of a second.
///
/// Games, estimators, solvers and tree methods check the token at short intervals. After cancellation they
/// unwind up to [`run`](Self::run), which returns [`Cancelled`]. Unwinding works like a panic, but prints no
/// message. No partial result is kept, so repeating the call returns the same bytes. A check takes
/// nanoseconds and does not change any result.
///
/// Clones share one state. A cancelled token stays cancelled, so create a new one for the next call.
///
/// The parallel loops of this workspace pass the token on to their threads. Your own parallel loops do not:
/// call [`run`](Self::run) inside them. A slow model may call [`check`](Self::check) itself; it must not
/// catch the panic. With `panic = "abort"`, unwinding is impossible, so cancelled work runs to its end.
///
/// ```
/// use std::time::Duration;
///
/// use apportion_games::{Cancellation, Cancelled};
///
/// let cancellation = Cancellation::new();
/// let stop = cancellation.clone();
/// let user = std::thread::spawn(move || {
///     std::thread::sleep(Duration::from_millis(10));
///     stop.cancel();
/// });
/// let endless = || -> u64 {
///     for count in 0.. {
///         Cancellation::check();
///         std::hint::black_box(count);
///     }
///     0
/// };
/// assert_eq!(cancellation.run(endless), Err(Cancelled));
/// assert_eq!(Cancellation::new().run(|| 1 + 1), Ok(2));
/// # user.join().unwrap();
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

/// Error for work that was cancelled before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// The panic payload that [`Cancellation::run`] catches.
struct Unwinding;

/// The token of the current work, and the scope that encloses it.
struct Scope {
    token: Cancellation,
    outer: Option<Arc<Scope>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Scope>>> = const { RefCell::new(None) };
}

impl Cancellation {
    /// Creates a new token, not yet cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the work under this token and its clones.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the token was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Runs `work` under this token, nested inside the current token of this thread, if any.
    ///
    /// Panics of `work` other than a cancellation are propagated.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] if the token was cancelled before the work ended. If it was cancelled before the call,
    /// the work is not started.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> Result<R, Cancelled> {
        if self.is_cancelled() {
            return Err(Cancelled);
        }
        let here = Current::take();
        let inside = Current(Some(Arc::new(Scope { token: self.clone(), outer: here.0.0.clone() })));
        let result = catch_unwind(AssertUnwindSafe(|| inside.enter(work)));
        drop(here);
        match result {
            Ok(result) => Ok(result),
            Err(payload) if payload.is::<Unwinding>() && self.is_cancelled() => Err(Cancelled),
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Unwinds to [`run`](Self::run) if a token of this thread was cancelled.
    #[inline]
    pub fn check() {
        let is_cancelled =
            CURRENT.with_borrow(|current| current.as_ref().is_some_and(|scope| scope.is_cancelled()));
        if is_cancelled {
            unwind();
        }
    }
}

/// Unwinds the thread. Does nothing with `panic = "abort"`, or while values are dropped during another panic.
#[cold]
fn unwind() {
    if cfg!(panic = "unwind") && !std::thread::panicking() {
        resume_unwind(Box::new(Unwinding));
    }
}

impl Scope {
    fn is_cancelled(&self) -> bool {
        self.token.is_cancelled() || self.outer.as_ref().is_some_and(|outer| outer.is_cancelled())
    }
}

/// The tokens of a thread, to be passed to other threads.
pub(crate) struct Current(Option<Arc<Scope>>);

/// Guard that restores the tokens of a thread when dropped.
pub(crate) struct Restore(Current);

impl Current {
    /// Clears the tokens of this thread until the returned guard is dropped. Used while a thread waits for
    /// others, because it may run unrelated work in the meantime.
    pub(crate) fn take() -> Restore {
        Restore(Self(CURRENT.take()))
    }

    /// Runs `work` under these tokens.
    pub(crate) fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        let _restore = Restore(Self(CURRENT.replace(self.0.clone())));
        work()
    }

    /// Returns whether the work should stop: a token was cancelled, and the thread can unwind.
    pub(crate) fn is_cancelled(&self) -> bool {
        cfg!(panic = "unwind") && self.0.as_ref().is_some_and(|scope| scope.is_cancelled())
    }
}

impl std::ops::Deref for Restore {
    type Target = Current;

    fn deref(&self) -> &Current {
        &self.0
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.0.take());
    }
}

/// Maximum number of floating-point operations of a call that [`uninterrupted`] runs on the calling thread.
/// Dense linear algebra completes this many within 0.1 to 0.2 seconds.
#[doc(hidden)]
pub const FEW_OPERATIONS: f64 = 5e8;

/// Runs `work`, a call to a library that does not check for cancellation, and returns its result.
/// `operations` is the approximate number of floating-point operations of the call.
///
/// If `operations` exceeds [`FEW_OPERATIONS`] and there is a token, the work runs on a separate thread. After
/// a cancellation, that thread is detached and completes in the background.
///
/// # Panics
///
/// If `work` panics.
#[doc(hidden)]
pub fn uninterrupted<R: Send + 'static>(operations: f64, work: impl FnOnce() -> R + Send + 'static) -> R {
    Cancellation::check();
    if operations <= FEW_OPERATIONS || CURRENT.with_borrow(Option::is_none) {
        return work();
    }
    let (sender, receiver) = sync_channel(1);
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let taken = Arc::clone(&work);
    let thread = std::thread::Builder::new().name("apportion-linear".to_owned()).spawn(move || {
        if let Some(work) = take(&taken) {
            // There is no receiver if the work was cancelled.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        }
    });
    // If the system cannot start a thread, run the work on this thread.
    let left = if thread.is_err() { take(&work) } else { None };
    if let Some(work) = left {
        return work();
    }
    loop {
        match receiver.recv_timeout(PAUSE) {
            Ok(Ok(result)) => return result,
            Ok(Err(payload)) => resume_unwind(payload),
            Err(RecvTimeoutError::Timeout) => Cancellation::check(),
            Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends what its work returns"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel;
    use std::sync::atomic::AtomicUsize;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
    }

    /// Runs until it is cancelled.
    fn forever() {
        loop {
            Cancellation::check();
            std::thread::yield_now();
        }
    }

    fn cancel_soon(token: &Cancellation) -> std::thread::JoinHandle<()> {
        let token = token.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            token.cancel();
        })
    }

    #[test]
    fn work_that_is_not_cancelled_has_its_result() {
        assert_eq!(Cancellation::new().run(|| 7), Ok(7));
        Cancellation::check();
    }

    #[test]
    fn work_that_was_cancelled_before_is_not_begun() {
        let token = Cancellation::new();
        token.cancel();
        assert_eq!(token.run(|| unreachable!()), Err::<(), _>(Cancelled));
    }

    #[test]
    fn a_cancelled_token_stops_its_work_alone() {
        let token = Cancellation::new();
        let other = token.clone();
        assert_eq!(token.run(move || (other.cancel(), Cancellation::check())), Err(Cancelled));
        Cancellation::check();
        assert_eq!(Cancellation::new().run(Cancellation::check), Ok(()));
    }

    #[test]
    fn other_panics_are_passed_on_and_the_thread_is_left_without_a_token() {
        let token = Cancellation::new();
        let caught = catch_unwind(|| token.run(|| resume_unwind(Box::new(3))));
        assert_eq!(caught.unwrap_err().downcast_ref::<i32>(), Some(&3));
        token.cancel();
        Cancellation::check();
    }

    #[test]
    fn the_outer_of_two_tokens_stops_both_and_the_inner_only_itself() {
        for (outer_first, expected) in [(true, Err(Cancelled)), (false, Ok(Err(Cancelled)))] {
            let (outer, inner) = (Cancellation::new(), Cancellation::new());
            let cancelled = if outer_first { outer.clone() } else { inner.clone() };
            let result = outer.run(|| {
                inner.run(|| {
                    cancelled.cancel();
                    Cancellation::check();
                })
            });
            assert_eq!(result, expected);
        }
    }

    #[test]
    fn all_threads_of_a_parallel_loop_stop_and_serve_the_next() {
        for threads in [1, 2, 7] {
            let pool = pool(threads);
            let token = Cancellation::new();
            let user = cancel_soon(&token);
            let begun = AtomicUsize::new(0);
            let work = || {
                parallel::map(0..1_000_000, |_| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    forever();
                })
            };
            assert_eq!(pool.install(|| token.run(work)).map(|all| all.len()), Err(Cancelled));
            user.join().expect("the cancelling thread does not panic");
            // Items that had not been started are not started after the cancellation.
            assert!(begun.into_inner() <= threads);
            let squares = pool.install(|| Cancellation::new().run(|| parallel::map(0..100, |at| at * at)));
            assert_eq!(squares.map(|all| all.len()), Ok(100));
        }
    }

    #[test]
    fn both_sides_of_a_join_stop() {
        let pool = pool(2);
        let token = Cancellation::new();
        let user = cancel_soon(&token);
        assert_eq!(pool.install(|| token.run(|| parallel::join(forever, forever))), Err(Cancelled));
        user.join().expect("the cancelling thread does not panic");
    }

    #[test]
    fn work_on_shared_threads_does_not_stop_that_of_another_caller() {
        let pool = pool(2);
        let cancelled = Cancellation::new();
        let lives = Cancellation::new();
        let sum = Mutex::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..200 {
                    let loops =
                        || parallel::map(0..8, |at| parallel::map(0..8, |in_it| at * in_it).len()).len();
                    let found = pool.install(|| lives.run(loops));
                    assert_eq!(found, Ok(8));
                    *sum.lock().expect("no thread panics while it holds the lock") += 1;
                }
            });
            for _ in 0..50 {
                let token = Cancellation::new();
                let work =
                    || parallel::map(0..8, |at| parallel::map(0..8, |_| at == 3 && token.cancel_now()));
                assert_eq!(pool.install(|| token.run(work)).map(|all| all.len()), Err(Cancelled));
            }
            cancelled.cancel();
        });
        assert_eq!(sum.into_inner().expect("no thread panics while it holds the lock"), 200);
    }

    impl Cancellation {
        fn cancel_now(&self) -> bool {
            self.cancel();
            Self::check();
            true
        }
    }

    #[test]
    fn work_without_checks_is_left_behind() {
        let token = Cancellation::new();
        let user = cancel_soon(&token);
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let work = move || ended.recv().is_err();
        assert_eq!(token.run(|| uninterrupted(f64::INFINITY, work)), Err(Cancelled));
        drop(end);
        user.join().expect("the cancelling thread does not panic");
        assert_eq!(Cancellation::new().run(|| uninterrupted(f64::INFINITY, || 5)), Ok(5));
        assert_eq!(uninterrupted(f64::INFINITY, || 5), 5);
        let caught = catch_unwind(|| {
            Cancellation::new().run(|| uninterrupted(f64::INFINITY, || -> u8 { resume_unwind(Box::new(3)) }))
        });
        assert_eq!(caught.unwrap_err().downcast_ref::<i32>(), Some(&3));
    }
}
