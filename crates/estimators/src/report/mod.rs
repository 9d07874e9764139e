//! Results: explanations, the distribution of their errors, certificates, and the statistics for them.
//!
//! | file | contents |
//! |---|---|
//! | [`explanation`] | the result of an estimator, with its diagnostics |
//! | [`error_distribution`] | the distribution of the errors |
//! | [`certificate`] | the error compared with the tolerance, and the reason why a run stopped |
//! | [`running_moments`] | means and variances of a stream of draws |
//! | [`scaled`] | units in which squares of outputs are finite |
//! | [`unseen`] | the allowance in standard errors for events that the sample missed |
//! | [`student`] | quantiles for intervals and bounds |

mod certificate;
mod error_distribution;
mod explanation;
mod running_moments;
pub(crate) mod scaled;
mod student;
pub(crate) mod unseen;

pub use certificate::{Certificate, Guarantee, InterimCheck, StopRule};
pub(crate) use error_distribution::independent_directions;
pub use error_distribution::{BoundedDraws, ErrorDistribution};
pub use explanation::{Diagnostics, Explanation};
pub(crate) use running_moments::RunningMoments;
pub(crate) use scaled::{in_own_units, many_in_own_units, unit};
pub(crate) use student::{fisher, student};
pub(crate) use unseen::Influences;
