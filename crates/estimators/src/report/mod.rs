//! What is reported: explanations, the law of their errors, certificates; and what their numbers are made of.
//!
//! | file | holds |
//! |---|---|
//! | [`explanation`] | what an estimator answers, with what it found out on the way |
//! | [`error_law`] | what is known of the errors beside their sizes |
//! | [`certificate`] | the error against what was asked for, and why a run stopped |
//! | [`running_moments`] | means and variances of a stream of draws |
//! | [`scaled`] | units in which squares of outputs are numbers |
//! | [`unseen`] | what standard errors have in them that the sample has not seen |
//! | [`student`] | the quantile of intervals |

mod certificate;
mod error_law;
mod explanation;
mod running_moments;
pub(crate) mod scaled;
mod student;
pub(crate) mod unseen;

pub use certificate::{Certificate, Guarantee, Look, StopRule};
pub(crate) use error_law::independent_directions;
pub use error_law::{BoundedDraws, ErrorLaw};
pub use explanation::{Diagnostics, Explanation};
pub(crate) use running_moments::RunningMoments;
pub(crate) use scaled::{in_own_units, many_in_own_units, unit};
pub(crate) use student::{MOST_DEGREES, student};
pub(crate) use unseen::Influences;
