//! Whether coalitions come with their complements.

use apportion_games::Coalitions;

/// Whether a coalition always comes with its complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pairing {
    /// Coalitions one by one.
    Unpaired,
    /// Each coalition together with its complement: two rows, one after the other.
    Paired,
}

impl Pairing {
    /// Rows that a draw takes.
    pub(crate) fn rows_per_unit(self) -> usize {
        match self {
            Self::Unpaired => 1,
            Self::Paired => 2,
        }
    }

    /// Appends the rows of the unit whose first row has these words.
    pub(crate) fn push(self, words: &[u64], coalitions: &mut Coalitions) {
        coalitions.push_words(words);
        if self == Self::Paired {
            coalitions.push_complement(coalitions.len() - 1);
        }
    }
}
