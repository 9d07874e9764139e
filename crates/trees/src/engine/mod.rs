//! The shared engine of all tree explainers: how rows and trees are processed, and how leaves contribute.
//!
//! This module does not depend on the game: [`marginal`](crate::marginal),
//! [`path_dependent`](crate::path_dependent) and [`linked`](crate::linked) import from here, never the other
//! way round.
//!
//! | | |
//! |---|---|
//! | [`driver`] | passes rows through all trees: blocks, tasks, turns, threads, the order of summation |
//! | [`pieces`] | the sizes of blocks, tasks and turns |
//! | [`tables`] | values tabulated for every pattern, then looked up |
//! | [`paths`], [`bits`], [`histograms`] | path features, patterns of decisions, and the background patterns of each leaf |
//! | [`weights`] | the weights of coalitions, which determine what a leaf contributes: to players, to players in groups and in hierarchies of groups, to pairs |
//! | [`moments`], [`groups`], [`levels`], [`pairs`] | the components of the weights |
//! | [`settings`] | the kernels and the choice among them |
//! | [`indices`] | interaction indices of coalitions of any order |
//! | [`finite`], [`interactions`] | the check of results, and the matrices of pairwise interactions |
//! | [`two_step`], [`value`] | two-step Shapley values, and values that reduce to others or are not supported |
//! | [`last_result`] | the cache for the next call |

pub(crate) mod bits;
pub(crate) mod driver;
pub(crate) mod finite;
pub(crate) mod groups;
pub(crate) mod histograms;
pub(crate) mod indices;
pub(crate) mod interactions;
pub(crate) mod last_result;
pub(crate) mod levels;
pub(crate) mod moments;
pub(crate) mod pairs;
pub(crate) mod paths;
pub(crate) mod pieces;
pub(crate) mod settings;
pub(crate) mod tables;
pub(crate) mod two_step;
pub(crate) mod value;
pub(crate) mod weights;
