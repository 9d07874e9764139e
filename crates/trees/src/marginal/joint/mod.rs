//! Trees with splits that look at several features at once: one explicand against one background row, on the
//! nodes that some mixture of the two can reach.
//!
//! A split on one feature parts the mixtures by the row that its player is taken from (see
//! [`walk`](super::walk)). One on a statistic of several features goes a way that depends on all their
//! players. So where it does for those that are not yet taken, it is asked of them one after the other: the
//! walk parts at a player without leaving the split, until what is left no longer matters. A leaf is then
//! reached, as any other is, by all mixtures that take the players E from the explicand and R from the
//! background row, on each of the ways to it. So what a tree gives is a sum of products, whose values are
//! those of [any leaf](super::shares): semivalues, of players in groups, of pairs.
//!
//! A tree takes O(d) time per leaf reached of d players on its way, and O(2^m) per split with m players to be
//! taken. Partings are kept on a stack of our own: any depth and any number of features.
//!
//! | | |
//! |---|---|
//! | [`walk`] | one tree for one pair of rows |
//! | [`values`] | all trees and rows of an oracle |

mod values;
pub(super) mod walk;
