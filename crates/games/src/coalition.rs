//! A single coalition: a set of players, stored as bits.
//!
//! # Notation
//!
//! `n` is the number of players, numbered `0..n`. Player `i` is bit `i % 64` of word `i / 64`. Bits at and
//! above `n` are always zero, so that words can be compared, hashed and counted directly.

use std::fmt;

/// Returns the number of `u64` words that store one coalition of `players` players.
pub const fn words_for(players: usize) -> usize {
    players.div_ceil(64)
}

/// Returns a mask of the bits in the last word that represent players.
pub(crate) const fn last_word_mask(players: usize) -> u64 {
    match players % 64 {
        0 => u64::MAX,
        used => (1 << used) - 1,
    }
}

/// A borrowed coalition: a row of [`Coalitions`](crate::Coalitions), or a view of a [`Coalition`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CoalitionView<'a> {
    players: usize,
    words: &'a [u64],
}

impl<'a> CoalitionView<'a> {
    pub(crate) fn new(players: usize, words: &'a [u64]) -> Self {
        debug_assert_eq!(words.len(), words_for(players));
        Self { players, words }
    }

    /// Returns the number of players `n` in the game (not the number of members).
    pub fn players(self) -> usize {
        self.players
    }

    /// Returns the bits as `⌈n/64⌉` words.
    pub fn words(self) -> &'a [u64] {
        self.words
    }

    /// Returns the number of members `s = |S|`.
    pub fn size(self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether `player` is a member.
    ///
    /// # Panics
    ///
    /// If `player` is not below [`players`](Self::players).
    pub fn contains(self, player: usize) -> bool {
        assert!(
            player < self.players,
            "player {player} is out of range: the game has {} players",
            self.players
        );
        self.words[player / 64] >> (player % 64) & 1 == 1
    }

    /// Returns whether every member of `self` is a member of `other`.
    pub fn is_subset_of(self, other: CoalitionView<'_>) -> bool {
        self.words.iter().zip(other.words).all(|(a, b)| a & !b == 0)
    }

    /// Returns the members in ascending order.
    pub fn members(self) -> impl Iterator<Item = usize> + 'a {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |rest| {
                Some(rest & (rest - 1)).filter(|&rest| rest != 0)
            })
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }

    /// Returns the coalition of all players that are not members.
    pub fn complement(self) -> Coalition {
        let mut words: Vec<u64> = self.words.iter().map(|word| !word).collect();
        if let Some(last) = words.last_mut() {
            *last &= last_word_mask(self.players);
        }
        Coalition { players: self.players, words }
    }

    /// Returns an owned copy.
    pub fn to_coalition(self) -> Coalition {
        Coalition { players: self.players, words: self.words.to_vec() }
    }
}

impl fmt::Debug for CoalitionView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Formats the members in braces: `{0, 3, 4} of 6`.
impl fmt::Display for CoalitionView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, player) in self.members().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{player}")?;
        }
        write!(f, "}} of {}", self.players)
    }
}

/// An owned coalition.
///
/// ```
/// use apportion_games::Coalition;
///
/// let team = Coalition::from_members(5, [0, 3]);
/// assert_eq!(team.view().size(), 2);
/// assert!(team.view().contains(3));
/// assert_eq!(team.view().complement(), Coalition::from_members(5, [1, 2, 4]));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Coalition {
    players: usize,
    words: Vec<u64>,
}

impl Coalition {
    /// Creates the empty coalition.
    pub fn empty(players: usize) -> Self {
        Self { players, words: vec![0; words_for(players)] }
    }

    /// Creates the coalition of all players, the grand coalition.
    pub fn full(players: usize) -> Self {
        Self::empty(players).view().complement()
    }

    /// Creates the coalition of the given players; repetitions count once.
    ///
    /// # Panics
    ///
    /// If a member is not below `players`.
    pub fn from_members(players: usize, members: impl IntoIterator<Item = usize>) -> Self {
        let mut coalition = Self::empty(players);
        for player in members {
            coalition.insert(player);
        }
        coalition
    }

    /// Adds `player`.
    ///
    /// # Panics
    ///
    /// If `player` is not below the number of players.
    pub fn insert(&mut self, player: usize) {
        assert!(
            player < self.players,
            "player {player} is out of range: the game has {} players",
            self.players
        );
        self.words[player / 64] |= 1 << (player % 64);
    }

    /// Removes `player`.
    ///
    /// # Panics
    ///
    /// If `player` is not below the number of players.
    pub fn remove(&mut self, player: usize) {
        assert!(
            player < self.players,
            "player {player} is out of range: the game has {} players",
            self.players
        );
        self.words[player / 64] &= !(1 << (player % 64));
    }

    /// Returns a borrowed view, whose methods read the coalition.
    pub fn view(&self) -> CoalitionView<'_> {
        CoalitionView::new(self.players, &self.words)
    }
}

impl fmt::Debug for Coalition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.view())
    }
}

impl fmt::Display for Coalition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.view())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complement_leaves_the_bits_beyond_the_players_zero() {
        for players in [1, 2, 63, 64, 65, 127, 128, 129] {
            let full = Coalition::full(players);
            assert_eq!(full.view().size(), players);
            assert_eq!(full.view().complement(), Coalition::empty(players));
        }
    }

    #[test]
    fn members_come_in_ascending_order_across_words() {
        let members = [0, 5, 63, 64, 130];
        let coalition = Coalition::from_members(131, members);
        assert_eq!(coalition.view().members().collect::<Vec<_>>(), members);
        assert_eq!(coalition.to_string(), "{0, 5, 63, 64, 130} of 131");
    }

    #[test]
    fn removing_undoes_inserting() {
        let mut coalition = Coalition::empty(70);
        coalition.insert(69);
        coalition.remove(69);
        assert_eq!(coalition, Coalition::empty(70));
    }
}
