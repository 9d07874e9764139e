//! The weights of coalitions, which determine what a leaf contributes to each player.

use super::groups::Coalitional;
use super::levels::Levels;
use super::moments::Moments;
use super::pairs::PairWeights;

/// The weights of coalitions.
pub(crate) enum Weights {
    /// Weights that depend on the size of a coalition: a semivalue of players.
    Alike(Moments),
    /// Weights that depend on the number of other groups in a coalition, and on the number of other members
    /// of the same group in it: a coalitional value.
    Grouped(Coalitional),
    /// Weights that depend on the number of siblings in a coalition at every level: a coalitional value over
    /// a hierarchy.
    OverHierarchy(Levels),
    /// Weights that depend on the size of a coalition: the interaction index of pairs of players.
    Pairs(PairWeights),
}

impl Weights {
    /// Returns the weights for pairs, or `None` for weights of another kind.
    pub(crate) fn pairs(&self) -> Option<&PairWeights> {
        match self {
            Self::Pairs(pairs) => Some(pairs),
            _ => None,
        }
    }
}
