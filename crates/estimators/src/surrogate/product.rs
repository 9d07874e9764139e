//! Products of players: the sets T of the Walsh functions `χ_T(S) = Π_{i ∈ T} x_i`, with `x_i = +1` if i ∈ S,
//! otherwise −1.

/// Marks an unused slot.
const NONE: u16 = u16::MAX;

/// A small set of players, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Product {
    len: u8,
    players: [u16; Product::MAX_MEMBERS],
}

impl Product {
    /// The maximum number of players in a product.
    pub(crate) const MAX_MEMBERS: usize = 12;

    /// The maximum number of players in a game.
    pub(crate) const MAX_PLAYERS: usize = NONE as usize;

    /// The product of no players, which is 1 everywhere.
    pub(crate) const EMPTY: Self = Self { len: 0, players: [NONE; Self::MAX_MEMBERS] };

    /// Creates the product of the given distinct players.
    pub(crate) fn from_players(players: impl IntoIterator<Item = usize>) -> Self {
        players.into_iter().fold(Self::EMPTY, |product, player| product.with(player as u16))
    }

    /// Returns the product with one more player. The product must not contain this player yet.
    pub(crate) fn with(mut self, player: u16) -> Self {
        let mut at = self.len as usize;
        while at > 0 && self.players[at - 1] > player {
            self.players[at] = self.players[at - 1];
            at -= 1;
        }
        self.players[at] = player;
        self.len += 1;
        self
    }

    /// Returns the number of players in the product.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns `χ_T` of the coalition whose members satisfy `contains`.
    pub(crate) fn sign(&self, contains: impl Fn(usize) -> bool) -> f64 {
        let absent = self.players().filter(|&player| !contains(player)).count();
        if absent.is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    /// Returns the players in the product.
    pub(crate) fn players(&self) -> impl Iterator<Item = usize> + '_ {
        self.players[..self.len as usize].iter().map(|&player| player as usize)
    }
}

/// Merges equal products by adding their coefficients, and sorts the products.
pub(crate) fn merged(mut terms: Vec<(Product, f64)>) -> Vec<(Product, f64)> {
    terms.sort_by_key(|(product, _)| *product);
    terms.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    terms
}

/// Returns the `most` products with the largest variances, in descending order.
pub(crate) fn strongest(mut terms: Vec<(Product, f64)>, most: usize) -> Vec<(Product, f64)> {
    // The sort is stable: products with equal variances keep their order.
    terms.sort_by(|left, right| right.1.total_cmp(&left.1));
    terms.truncate(most);
    terms
}
