//! What the oracles of all games share: how rows and trees are taken, and what leaves give.
//!
//! Nothing here knows which game is played: [`marginal`](crate::marginal),
//! [`path_dependent`](crate::path_dependent) and [`linked`](crate::linked) import from here, never the other
//! way round.
//!
//! | | |
//! |---|---|
//! | [`driver`] | rows through all trees: blocks, tasks, turns, threads, the order of sums |
//! | [`pieces`] | how long those are |
//! | [`tables`] | values written down for every pattern, then looked up |
//! | [`paths`], [`bits`], [`histograms`] | path features, patterns of decisions, and a background as the leaves see it |
//! | [`weights`] | how coalitions are weighed, and so what a leaf gives: to players, to players in groups and over hierarchies of groups, to pairs |
//! | [`moments`], [`groups`], [`levels`], [`pairs`] | what these are made of |
//! | [`settings`] | the kernels, and which is to be taken |
//! | [`indices`] | interaction indices of coalitions of any order |
//! | [`finite`], [`interactions`] | what answers are checked for, and what values of pairs are |
//! | [`shared`] | the model, borrowed or shared |
//! | [`two_step`], [`value`] | values that are put together from others, that are others, and that are refused |
//! | [`kept`] | what is kept for the next call |

pub(crate) mod bits;
pub(crate) mod driver;
pub(crate) mod finite;
pub(crate) mod groups;
pub(crate) mod histograms;
pub(crate) mod indices;
pub(crate) mod interactions;
pub(crate) mod kept;
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
