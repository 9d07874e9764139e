//! Enumerates the coalitions of up to s players of a leaf.
//!
//! Players are bits of a pattern. The coalition of the bits `c_1 < c_2 < … < c_k` has the rank
//! `Σ_{j<k} C(d, j) + Σ_m C(c_m, m)`. The empty coalition has rank 0.

/// The ranks of coalitions of up to s of d players.
#[derive(Debug, Clone)]
pub(crate) struct Local {
    players: usize,
    order: usize,
    /// The binomial coefficients for c up to d: `C(c, m)` is at index `c · (s + 1) + m`.
    choose: Vec<usize>,
    /// The first rank of each size, followed by the total number of coalitions.
    starts: Vec<usize>,
}

impl Local {
    /// Creates the ranking of the coalitions of up to `order` of `players` players. Returns `None` if the
    /// number of these coalitions exceeds `most`.
    pub(crate) fn new(players: usize, order: usize, most: usize) -> Option<Self> {
        let order = order.min(players);
        let width = order + 1;
        let mut choose = vec![0usize; (players + 1) * width];
        for c in 0..=players {
            choose[c * width] = 1;
            for m in 1..=order.min(c) {
                choose[c * width + m] = choose[(c - 1) * width + m - 1].saturating_add(if m < c {
                    choose[(c - 1) * width + m]
                } else {
                    0
                });
            }
        }
        let mut starts = vec![0usize];
        for size in 0..=order {
            starts.push(starts[size].saturating_add(choose[players * width + size]));
        }
        (starts[width] <= most).then_some(Self { players, order, choose, starts })
    }

    /// Returns the number of players d.
    pub(crate) fn players(&self) -> usize {
        self.players
    }

    /// Returns the maximum number of members of a coalition.
    pub(crate) fn order(&self) -> usize {
        self.order
    }

    /// Returns the number of coalitions.
    pub(crate) fn len(&self) -> usize {
        self.starts[self.order + 1]
    }

    /// Returns the rank of the first coalition of a size.
    #[inline]
    pub(crate) fn start(&self, size: usize) -> usize {
        self.starts[size]
    }

    /// Returns the amount that the bit `c` adds to the rank of a coalition as its `m`-th member, counted from
    /// 1.
    #[inline]
    pub(crate) fn step(&self, c: usize, m: usize) -> usize {
        self.choose[c * (self.order + 1) + m]
    }

    /// Calls `each` with the rank and the bits of every coalition of at most `order` of these bits, which
    /// must be ascending. Coalitions are visited in lexicographic order.
    pub(crate) fn each(&self, bits: &[usize], each: &mut impl FnMut(usize, &[usize])) {
        self.descend(bits, 0, &mut Vec::new(), each);
    }

    fn descend(
        &self,
        bits: &[usize],
        rank: usize,
        chosen: &mut Vec<usize>,
        each: &mut impl FnMut(usize, &[usize]),
    ) {
        each(self.start(chosen.len()) + rank, chosen);
        if chosen.len() == self.order {
            return;
        }
        for (at, &bit) in bits.iter().enumerate() {
            chosen.push(bit);
            let step = self.step(bit, chosen.len());
            self.descend(&bits[at + 1..], rank + step, chosen, each);
            chosen.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_coalition_has_a_rank_of_its_own() {
        for players in 0..8 {
            for order in 1..6 {
                let local = Local::new(players, order, 1000).unwrap();
                let mut found = vec![None; local.len()];
                let bits: Vec<usize> = (0..players).collect();
                local.each(&bits, &mut |rank, members| {
                    assert!(found[rank].replace(members.to_vec()).is_none());
                });
                assert!(found.iter().all(Option::is_some));
                assert!(found.iter().flatten().map(Vec::len).is_sorted());
            }
        }
        assert!(Local::new(64, 3, 1000).is_none());
        assert!(Local::new(64, 64, usize::MAX - 1).is_none());
    }
}
