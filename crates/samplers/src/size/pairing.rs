//! Whether coalitions come with their complements.

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
}
