//! The processes of a program, each lent to one thread at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::child::Child;

/// Processes that run, and places for more.
pub(crate) struct Pool {
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    idle: Vec<Child>,
    /// Places for processes that nobody has.
    free: usize,
}

impl Pool {
    /// A process that runs, and places for `more`.
    pub(crate) fn new(child: Child, more: usize) -> Self {
        Self { state: Mutex::new(State { idle: vec![child], free: more }), returned: Condvar::new() }
    }

    /// Waits for a place: with a process that runs, or for a new one.
    pub(crate) fn place(&self) -> Place<'_> {
        let mut state = self.state();
        loop {
            if let Some(child) = state.idle.pop() {
                return Place { pool: self, child: Some(child) };
            }
            if state.free > 0 {
                state.free -= 1;
                return Place { pool: self, child: None };
            }
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that one thread has; it goes back with the process that is left in it.
pub(crate) struct Place<'p> {
    pool: &'p Pool,
    pub(crate) child: Option<Child>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        match self.child.take() {
            Some(child) => state.idle.push(child),
            None => state.free += 1,
        }
        drop(state);
        self.pool.returned.notify_one();
    }
}
