//! How estimators run: their interface, the evaluations that they ask for, and runs that go on.
//!
//! | file | holds |
//! |---|---|
//! | [`estimator`] | the interface of all estimators |
//! | [`settings`] | their options as data |
//! | [`evaluations`] | the game with a count of what it was asked |
//! | [`anytime`] | runs that can be looked at, continued, stopped and resumed |
//! | [`until`] | the accuracy that is asked of them |
//! | [`bounds`], [`border`] | bounds of the error, and the look at the border before they are believed |
//! | [`scale`] | what a relative tolerance is a share of |
//! | [`memory`], [`remembering`] | what a run has evaluated |
//! | [`checkpoint`] | a run, stored |
//! | [`error`] | what can go wrong in runs |

mod anytime;
mod border;
mod bounds;
mod checkpoint;
mod estimator;
mod evaluations;
mod memory;
mod remembering;
mod scale;
pub(crate) mod settings;
mod until;

pub use anytime::{Anytime, Progress, Watcher};
pub use checkpoint::Checkpoint;
pub use estimator::Estimator;
pub(crate) use estimator::units;
pub(crate) use evaluations::{Evaluations, at_most_all, check_budget, check_draws};
pub use settings::Settings;
pub use until::{Measure, Scale, Until};
