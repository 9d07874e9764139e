//! Interaction indices of coalitions of players, of any order: what all games share.
//!
//! # How
//!
//! A leaf of d path players sees of an explicand its pattern: whose tests it passes. The game on the leaf is
//! one of these d players, so its indices are zero but for coalitions of path players, and the same for all
//! explicands of a pattern. They are written down once for each pattern that occurs among the rows of a task,
//! by what [`Leaves`] says of the game, and added to the rows that have it.
//!
//! With `M_k(a, b)` the [numbers](apportion_values::IndexWeights::moment) of the index, the game `[E, R]`
//! that is worth 1 iff E is present and R is not has `(−1)^{|K∩R|} M_k(|E∖K|, |R∖K|)` for K within E ∪ R, and
//! no index of other coalitions.
//!
//! | | |
//! |---|---|
//! | [`local`] | the coalitions of up to s of the players of a leaf, ranked |
//! | [`moments`] | the numbers of an index, tabulated |
//! | [`numbered`] | the coalitions that occur in an ensemble |
//! | [`rows`] | all rows through all trees, and the answers |

pub(crate) mod local;
pub(crate) mod moments;
pub(crate) mod numbered;
pub(crate) mod rows;
