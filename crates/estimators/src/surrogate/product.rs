//! Products of players: the sets T of the Walsh functions `χ_T(S) = Π_{i ∈ T} x_i`, `x_i = +1` if i ∈ S, else −1.

/// No player.
const NONE: u16 = u16::MAX;

/// A small set of players, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Product {
    len: u8,
    players: [u16; Product::MOST],
}

impl Product {
    /// Players of a product at most.
    pub(crate) const MOST: usize = 12;

    /// Players among which products are.
    pub(crate) const MOST_PLAYERS: usize = NONE as usize;

    /// That of no players, which is one everywhere.
    pub(crate) const EMPTY: Self = Self { len: 0, players: [NONE; Self::MOST] };

    /// That of these players, which are different.
    pub(crate) fn of(players: impl IntoIterator<Item = usize>) -> Self {
        players.into_iter().fold(Self::EMPTY, |product, player| product.with(player as u16))
    }

    /// This with one more player, which it does not have.
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

    /// How many players.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// `χ_T` of the coalition that `contains` says the members of.
    pub(crate) fn sign(&self, contains: impl Fn(usize) -> bool) -> f64 {
        let absent = self.players().filter(|&player| !contains(player)).count();
        if absent.is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    /// The players.
    pub(crate) fn players(&self) -> impl Iterator<Item = usize> + '_ {
        self.players[..self.len as usize].iter().map(|&player| player as usize)
    }
}

/// Each product once, in order, with the sum of its coefficients.
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

/// Products by falling variance, so many at most.
pub(crate) fn strongest(mut terms: Vec<(Product, f64)>, most: usize) -> Vec<(Product, f64)> {
    // A stable sort: products of one variance stay in order.
    terms.sort_by(|left, right| right.1.total_cmp(&left.1));
    terms.truncate(most);
    terms
}
