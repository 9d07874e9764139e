//! How coalitions are weighed: what is asked for decides what a leaf gives, and to whom.

use super::groups::Coalitional;
use super::levels::Levels;
use super::moments::Moments;
use super::pairs::PairWeights;

/// How coalitions are weighed.
pub(crate) enum Weights {
    /// By their size: a semivalue of players.
    Alike(Moments),
    /// By the number of groups and of fellow members in them: a coalitional value of players.
    Grouped(Coalitional),
    /// By the number of members of every group in them, level by level: a coalitional value of players over a
    /// hierarchy.
    OverHierarchy(Levels),
    /// By their size: the interaction index of pairs of players.
    Pairs(PairWeights),
}

impl Weights {
    /// The pairs, where they are given something.
    pub(crate) fn pairs(&self) -> Option<&PairWeights> {
        match self {
            Self::Pairs(pairs) => Some(pairs),
            _ => None,
        }
    }
}
