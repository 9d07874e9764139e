//! The processes of a program. Each process is used by one thread at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::child::Child;

/// A pool of running processes, with slots for processes that are not started yet.
pub(crate) struct Pool {
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    idle: Vec<Child>,
    /// Number of free slots without a process.
    free: usize,
}

impl Pool {
    /// Creates a pool with one running process, and slots for `more` processes.
    pub(crate) fn new(child: Child, more: usize) -> Self {
        Self { state: Mutex::new(State { idle: vec![child], free: more }), returned: Condvar::new() }
    }

    /// Waits for a free slot, which may contain a running process.
    pub(crate) fn acquire(&self) -> Worker<'_> {
        let mut state = self.state();
        loop {
            if let Some(child) = state.idle.pop() {
                return Worker { pool: self, child: Some(child) };
            }
            if state.free > 0 {
                state.free -= 1;
                return Worker { pool: self, child: None };
            }
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot in use by one thread. Dropping it returns the slot, with the process in it, to the pool.
pub(crate) struct Worker<'p> {
    pool: &'p Pool,
    pub(crate) child: Option<Child>,
}

impl Drop for Worker<'_> {
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
