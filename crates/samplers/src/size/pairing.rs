//! Pairing of coalitions with their complements.

use apportion_games::Coalitions;

/// Whether coalitions are drawn together with their complements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pairing {
    /// Coalitions are drawn individually.
    Unpaired,
    /// Each coalition is drawn together with its complement; a pair is two consecutive rows.
    Paired,
}

impl Pairing {
    /// Returns the number of rows per draw.
    pub(crate) fn rows_per_unit(self) -> usize {
        match self {
            Self::Unpaired => 1,
            Self::Paired => 2,
        }
    }

    /// Appends the rows of a unit; `words` is its first row.
    pub(crate) fn push(self, words: &[u64], coalitions: &mut Coalitions) {
        coalitions.push_words(words);
        if self == Self::Paired {
            coalitions.push_complement(coalitions.len() - 1);
        }
    }
}
