//! Runs of estimators: the estimator trait, evaluations of the game, and resumable runs.
//!
//! | file | contents |
//! |---|---|
//! | [`estimator`] | the trait that all estimators implement |
//! | [`settings`] | the options of estimators as data |
//! | [`evaluations`] | a game with a count of its evaluations |
//! | [`anytime`] | runs that can be inspected, continued, stopped and resumed |
//! | [`until`] | the tolerance of a run |
//! | [`bounds`], [`border`] | error bounds, and the border of the game, which is checked before they are accepted |
//! | [`scale`] | the scale of a relative tolerance |
//! | [`memory`], [`remembering`] | the evaluations of a run |
//! | [`checkpoint`] | stored runs |

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
