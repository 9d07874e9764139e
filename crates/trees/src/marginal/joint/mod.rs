//! Walks trees with splits on several features at once, for one explicand and one background row, visiting
//! the nodes that some mixture of the two can reach.
//!
//! At a split on one feature, mixtures diverge by the row that its player is taken from (see
//! [`walk`](super::walk)). At a split on a statistic of several features, the decision depends on all their
//! players. If it still depends on players that are not yet taken from a row, the walk branches on these one
//! after the other without leaving the split, until the remaining players no longer matter. Along each path
//! to a leaf, the leaf is reached by all mixtures that take the players E from the explicand and R from the
//! background row. Therefore the contribution of a tree is a sum of products. The values of a product are
//! computed as for [any leaf](super::shares): semivalues, values of players in groups, interactions of pairs.
//!
//! A tree takes O(d) time per leaf reached with d players on its path, and O(2^m) per split with m undecided
//! players. Partings are kept on an explicit stack, which allows any depth and any number of features.
//!
//! | | |
//! |---|---|
//! | [`walk`] | one tree for one pair of rows |
//! | [`values`] | all trees and rows of a tree explainer |

mod values;
pub(super) mod walk;
