//! Tables of values for every pattern of an explicand, for the marginal and the path-dependent game.
//!
//! On a leaf with d path features, the values of an explicand depend only on the features whose tests it
//! passes. There are 2^d such patterns, for any number of rows to explain and any distribution of the absent
//! players. Therefore the values are computed once per pattern and looked up for each row.
//!
//! | | |
//! |---|---|
//! | [`shape`] | which leaves share a table, and the layout of its numbers |
//! | [`channels`], [`fill`] | the semivalues on one leaf for all patterns |
//! | [`fill_groups`], [`fill_levels`], [`fill_pairs`] | the same for coalitional values, in groups and over hierarchies, and for interaction indices |
//! | [`table`] | the tables of a tree, assembled from its leaves |
//! | [`lookup`], [`sums`] | the lookup of rows in the tables, and the sums of the entries |
//! | [`number`] | the number types of tables: `f64` or `f32` |

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
