//! Interaction indices of coalitions of any order, for all games.
//!
//! # Algorithm
//!
//! A leaf with d path players depends on an explicand only through its pattern: the players whose tests the
//! explicand passes. The game on the leaf has these d players, so its indices are zero except for coalitions
//! of path players, and equal for all explicands with the same pattern. The indices are computed from the
//! game that [`Leaves`](rows::Leaves) describes, once for each pattern that occurs among the rows of a task.
//! Then they are added to the rows with that pattern.
//!
//! Let `M_k(a, b)` be the [moments](apportion_values::IndexWeights::moment) of the index, and `[E, R]` the
//! game that is 1 iff all of E and none of R are present. The index of this game is `(−1)^{|K∩R|} M_k(|E∖K|,
//! |R∖K|)` for K within E ∪ R, and zero for other coalitions.
//!
//! | | |
//! |---|---|
//! | [`local`] | the coalitions of up to s players of a leaf, ranked |
//! | [`moments`] | the moments of an index, tabulated |
//! | [`numbered`] | the coalitions that occur in an ensemble |
//! | [`rows`] | passes all rows through all trees, and collects the results |

pub(crate) mod local;
pub(crate) mod moments;
pub(crate) mod numbered;
pub(crate) mod rows;
