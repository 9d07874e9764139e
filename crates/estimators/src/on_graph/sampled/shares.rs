//! Division of a budget among players with separate neighbourhoods.

use apportion_values::MAX_PLAYERS;

/// The evaluations for one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// The number of evaluations for the player.
    pub(super) evaluations: usize,
    /// The minimum number of evaluations for the player.
    least: usize,
    /// The number of coalitions of the neighbourhood, if they can be enumerated.
    all: usize,
}

impl Share {
    /// Creates the share of a player whose neighbourhood has `nodes` players. It has at least `least`
    /// evaluations, or all coalitions if there are fewer.
    pub(super) fn new(least: usize, nodes: usize) -> Self {
        let all = if nodes <= MAX_PLAYERS { 1 << nodes } else { usize::MAX };
        let least = least.min(all);
        Self { evaluations: least, least, all }
    }

    /// Returns whether all coalitions of the neighbourhood are evaluated.
    pub(super) fn is_whole(self) -> bool {
        self.evaluations >= self.all
    }

    fn at(self, level: usize) -> usize {
        level.clamp(self.least, self.all)
    }
}

/// Assigns the same multiple of `unit` to every player, within the limits of the player's share, so that all
/// shares sum to at most `total`. Units that remain go to the first players, one each. No share is below its
/// minimum.
///
/// No share decreases as `total` grows.
pub(super) fn fill(shares: &mut [Share], unit: usize, total: usize) {
    let sum = |units: usize| {
        let level = units.saturating_mul(unit);
        shares.iter().fold(0usize, |sum, share| sum.saturating_add(share.at(level)))
    };
    // At a level above the total, a share exceeds the total unless it covers its whole neighbourhood.
    let (mut below, mut above) = (0, total / unit + 1);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if sum(middle) <= total { below = middle } else { above = middle }
    }
    let mut left = total.saturating_sub(sum(below));
    let mut is_left = true;
    for share in shares {
        let (now, next) = (share.at(below * unit), share.at((below + 1).saturating_mul(unit)));
        is_left &= next - now <= left;
        share.evaluations = if is_left { next } else { now };
        left -= share.evaluations.saturating_sub(now).min(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_within_their_limits_and_grow_with_the_total() {
        let start: Vec<Share> = [(4, 3), (4, 1), (4, 30), (6, 12), (2, 2)]
            .map(|(least, nodes)| Share::new(least, nodes))
            .to_vec();
        let least: usize = start.iter().map(|share| share.evaluations).sum();
        assert_eq!(start[1].evaluations, 2);
        let mut before = start.clone();
        for total in 0..20_000 {
            let mut shares = start.clone();
            fill(&mut shares, 4, total);
            let given: usize = shares.iter().map(|share| share.evaluations).sum();
            assert!(given <= total.max(least));
            assert!(total < least || total - given < 4, "{total}: {given}");
            for (share, before) in shares.iter().zip(&before) {
                assert!(share.evaluations >= before.evaluations, "{total}");
            }
            assert!(shares[2].evaluations + 4 > shares[3].evaluations || shares[3].evaluations == 6);
            before = shares;
        }
        assert!(before[0].is_whole() && before[1].is_whole() && before[3].is_whole() && before[4].is_whole());
        assert!(!before[2].is_whole() && before[2].evaluations > 15_000);
    }
}
