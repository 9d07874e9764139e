//! Cooperative games: who plays, and what every coalition is worth.
//!
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`Coalition`], [`CoalitionView`], [`Coalitions`] | one coalition as bits, and a batch of `m` of them as an m × n bit matrix |
//! | [`Game`] | the value function `v : 2^N → R^k`, asked in batches |
//! | [`Model`], [`Rows`], [`batch_model`] | functions from rows of features to outputs; closures included |
//! | [`stream`], [`Purpose`] | random streams that make every result a function of its seed |

mod coalition;
mod coalitions;
mod error;
mod game;
mod model;
mod stream;

pub use coalition::{Coalition, CoalitionView, words_for};
pub use coalitions::Coalitions;
pub use error::{BoxError, GameError};
pub use game::Game;
pub use model::{BatchModel, Model, Rows, batch_model};
pub use stream::{Purpose, stream};
