//! Values written down for every pattern of an explicand, then looked up: what the tables of both games
//! share.
//!
//! On a leaf the values of an explicand depend only on which of the leaf's d path features pass their tests:
//! 2^d patterns, however many rows there are to be explained and whatever stands for the absent players. So
//! they are computed once per pattern and looked up for each row.
//!
//! | | |
//! |---|---|
//! | [`shape`] | which leaves share a table, and how its numbers lie |
//! | [`channels`], [`fill`] | the semivalues on one leaf for all patterns |
//! | [`fill_groups`], [`fill_levels`], [`fill_pairs`] | the same of coalitional values, in groups and over hierarchies, and of interaction indices |
//! | [`table`] | the tables of a tree, put together from its leaves |
//! | [`lookup`], [`sums`] | rows through the tables |
//! | [`number`] | `f64`, `f32` or fixed point |

pub(crate) mod channels;
pub(crate) mod fill;
pub(crate) mod fill_groups;
pub(crate) mod fill_levels;
pub(crate) mod fill_pairs;
pub(crate) mod lookup;
pub(crate) mod number;
pub(crate) mod shape;
pub(crate) mod sums;
pub(crate) mod table;
