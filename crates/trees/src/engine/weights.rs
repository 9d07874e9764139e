//! The weights of coalitions, which determine what a leaf contributes to each player.

use super::groups::Coalitional;
use super::levels::Levels;
use super::moments::Moments;
use super::pairs::PairWeights;

/// The weights of coalitions.
pub(crate) enum Weights {
    /// By size: a semivalue of players.
    Alike(Moments),
    /// By the numbers of groups and of members of the same group: a coalitional value.
    Grouped(Coalitional),
    /// By the number of members of every group, level by level: a coalitional value over a hierarchy.
    OverHierarchy(Levels),
    /// By size: the interaction index of pairs of players.
    Pairs(PairWeights),
}

impl Weights {
    /// Returns the pair weights if the values are those of pairs.
    pub(crate) fn pairs(&self) -> Option<&PairWeights> {
        match self {
            Self::Pairs(pairs) => Some(pairs),
            _ => None,
        }
    }
}
