//! Code shared by the papers that compare estimators: runs, contenders, cells, and the resulting curves.
//!
//! | file | contents |
//! |---|---|
//! | [`contender`] | [`Compete`]: the description of a compared estimator |
//! | [`experiment`] | cells: one estimate of one contender in one run of one setting, computed once and stored |
//! | [`noise`] | noise on the value function, and its unit |
//! | [`noisy`] | a game with normal noise |
//! | [`mod@sweep`] | error against sample size, noise, or other steps |
//! | [`curves`] | summaries of the errors: figure, data, table |
//! | [`claims`] | claims about curves, comparing contenders run by run |
//! | [`guarantee`] | theorems on how many evaluations are sufficient |
//! | [`growing`] | games of one family in which one quantity grows |
//! | [`vectors`] | norms, and sums over all coalitions |

mod claims;
mod contender;
mod curves;
mod experiment;
mod growing;
mod guarantee;
mod noise;
mod noisy;
mod sweep;
mod vectors;

pub(crate) use claims::{paired, picked};
pub(crate) use contender::{Compete, contenders};
pub(crate) use curves::{Centre, Curves, FigureLayout, Level, Point};
pub(crate) use experiment::{Estimate, Experiment, Run, Series, digests, estimate_seed};
pub(crate) use growing::Growing;
pub(crate) use guarantee::{Excess, Guarantee};
pub(crate) use noise::Noise;
pub(crate) use noisy::Times;
pub(crate) use sweep::{Budget, MULTIPLES, Step, by_noise, by_sample_size, covers_all, sweep};
pub(crate) use vectors::{relative_error, squared_distance, squared_norm, subset_sums};
