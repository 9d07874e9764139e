//! A batch of coalitions: an m × n bit matrix.
//!
//! Much of the performance-critical code of this workspace consists of popcounts and word operations on these
//! rows: complements, sub-games, Gram matrices and tree masks. A batch takes `m · ⌈n/64⌉` words, and stores
//! the size of each row.

use crate::coalition::{Coalition, CoalitionView, last_word_mask, words_for};

/// `m` coalitions of `n` players, packed row by row into `u64` words, with their sizes.
///
/// ```
/// use apportion_games::Coalitions;
///
/// let mut batch = Coalitions::new(3);
/// batch.push_members([0, 2]);
/// batch.push_complement(0);
/// assert_eq!(batch.len(), 2);
/// assert_eq!(batch.sizes(), [2, 1]);
/// assert!(batch.row(1).contains(1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coalitions {
    players: usize,
    words: Vec<u64>,
    sizes: Vec<u32>,
}

impl Coalitions {
    /// Creates an empty batch for `players` players.
    pub fn new(players: usize) -> Self {
        Self::with_capacity(players, 0)
    }

    /// Creates an empty batch with capacity for `rows` coalitions.
    pub fn with_capacity(players: usize, rows: usize) -> Self {
        Self {
            players,
            words: Vec::with_capacity(rows * words_for(players)),
            sizes: Vec::with_capacity(rows),
        }
    }

    /// Creates a batch of coalitions from bit masks, in the order of `masks`; bit `i` of a mask is player
    /// `i`.
    ///
    /// ```
    /// use apportion_games::Coalitions;
    ///
    /// let all = Coalitions::from_masks(3, 0..1 << 3);
    /// assert_eq!(all.row(5).members().collect::<Vec<_>>(), [0, 2]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there are more than 64 players, or a mask has a bit at or above `players`.
    pub fn from_masks(players: usize, masks: impl IntoIterator<Item = u64>) -> Self {
        assert!(players <= 64, "a mask of 64 bits cannot represent {players} players");
        let masks = masks.into_iter();
        let mut batch = Self::with_capacity(players, masks.size_hint().0);
        for mask in masks {
            assert!(
                players == 64 || mask >> players == 0,
                "mask {mask:#b} has bits beyond the {players} players"
            );
            batch.words.extend((players > 0).then_some(mask));
            batch.sizes.push(mask.count_ones());
        }
        batch
    }

    /// Returns the number of players `n`, i.e. the number of columns.
    pub fn players(&self) -> usize {
        self.players
    }

    /// Returns the number of coalitions `m`, i.e. the number of rows.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Returns the number of words per row: `⌈n/64⌉`.
    pub fn words_per_row(&self) -> usize {
        words_for(self.players)
    }

    /// Returns all words, row-major: row `k` is `words[k·w .. (k+1)·w]` with
    /// `w` = [`words_per_row`](Self::words_per_row).
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the sizes `|S_k|` of the rows.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Returns row `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`len`](Self::len).
    pub fn row(&self, index: usize) -> CoalitionView<'_> {
        assert!(index < self.len(), "row {index} is out of range: there are {} coalitions", self.len());
        let width = self.words_per_row();
        CoalitionView::new(self.players, &self.words[index * width..(index + 1) * width])
    }

    /// Returns an iterator over the rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = CoalitionView<'_>> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// Appends a coalition.
    ///
    /// # Panics
    ///
    /// If the coalition and the batch have different numbers of players.
    pub fn push(&mut self, coalition: CoalitionView<'_>) {
        assert_eq!(coalition.players(), self.players, "the coalition belongs to another game");
        self.words.extend_from_slice(coalition.words());
        self.sizes.push(coalition.size() as u32);
    }

    /// Appends the coalition of the given players.
    ///
    /// # Panics
    ///
    /// If a member is not below [`players`](Self::players).
    pub fn push_members(&mut self, members: impl IntoIterator<Item = usize>) {
        self.push(Coalition::from_members(self.players, members).view());
    }

    /// Appends the coalition whose bits are `words`: player `i` is bit `i % 64` of word `i / 64`.
    ///
    /// # Panics
    ///
    /// If the number of words is not [`words_per_row`](Self::words_per_row), or a bit at or above `players`
    /// is set.
    pub fn push_words(&mut self, words: &[u64]) {
        assert_eq!(words.len(), self.words_per_row(), "the words belong to a coalition of another game");
        let used = self.players % 64;
        assert!(
            used == 0 || words[words.len() - 1] >> used == 0,
            "a bit is set beyond the {} players",
            self.players
        );
        self.push(CoalitionView::new(self.players, words));
    }

    /// Appends the empty coalition.
    pub fn push_empty(&mut self) {
        self.words.resize(self.words.len() + self.words_per_row(), 0);
        self.sizes.push(0);
    }

    /// Appends the coalition of all players.
    pub fn push_full(&mut self) {
        self.push(Coalition::full(self.players).view());
    }

    /// Appends the complement of row `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`len`](Self::len).
    pub fn push_complement(&mut self, index: usize) {
        assert!(index < self.len(), "row {index} is out of range: there are {} coalitions", self.len());
        let (width, end) = (self.words_per_row(), self.words.len());
        self.words.extend_from_within(index * width..(index + 1) * width);
        for word in &mut self.words[end..] {
            *word = !*word;
        }
        if let Some(last) = self.words[end..].last_mut() {
            *last &= last_word_mask(self.players);
        }
        self.sizes.push((self.players - self.sizes[index] as usize) as u32);
    }

    /// Appends all rows of another batch.
    ///
    /// # Panics
    ///
    /// If the numbers of players differ.
    pub fn extend(&mut self, other: &Coalitions) {
        assert_eq!(other.players, self.players, "the coalitions belong to another game");
        self.words.extend_from_slice(&other.words);
        self.sizes.extend_from_slice(&other.sizes);
    }

    /// Returns a copy of the rows in `range`.
    ///
    /// # Panics
    ///
    /// If the range reaches beyond [`len`](Self::len).
    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        let width = self.words_per_row();
        Self {
            players: self.players,
            words: self.words[range.start * width..range.end * width].to_vec(),
            sizes: self.sizes[range].to_vec(),
        }
    }

    /// Removes all rows and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.sizes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_rows() {
        for players in [0, 1, 2, 64, 65, 130] {
            let mut batch = Coalitions::new(players);
            batch.push_empty();
            batch.push_full();
            batch.push_members((0..players).step_by(3));
            batch.push_complement(2);
            for (row, &size) in batch.iter().zip(batch.sizes()) {
                assert_eq!(row.size(), size as usize, "{players} players");
            }
            assert_eq!(batch.sizes()[..2], [0, players as u32]);
            assert_eq!(batch.sizes()[2] + batch.sizes()[3], players as u32);
        }
    }

    #[test]
    fn a_complement_pushed_is_the_complement() {
        for players in [0, 1, 64, 65, 130] {
            let odd = Coalition::from_members(players, (1..players).step_by(2));
            let mut batch = Coalitions::new(players);
            batch.push(odd.view());
            batch.push_complement(0);
            let mut twin = Coalitions::new(players);
            twin.push(odd.view());
            twin.push(odd.view().complement().view());
            assert_eq!(batch, twin, "{players} players");
        }
    }

    #[test]
    fn a_slice_holds_the_same_rows() {
        let all = Coalitions::from_masks(4, 0..16);
        let middle = all.slice(3..9);
        assert_eq!(middle.len(), 6);
        assert!(middle.iter().zip(3..9).all(|(row, index)| row == all.row(index)));
    }

    #[test]
    fn words_pushed_are_the_coalition_they_spell() {
        let mut batch = Coalitions::new(66);
        batch.push_words(&[1 << 63, 0b10]);
        assert_eq!(batch.row(0).members().collect::<Vec<_>>(), [63, 65]);
        assert_eq!(batch.sizes(), [2]);
    }

    #[test]
    #[should_panic(expected = "beyond the 66 players")]
    fn words_with_a_bit_beyond_the_players_are_refused() {
        Coalitions::new(66).push_words(&[0, 0b100]);
    }

    #[test]
    #[should_panic(expected = "beyond the 3 players")]
    fn a_mask_beyond_the_players_is_refused() {
        Coalitions::from_masks(3, [8]);
    }
}
