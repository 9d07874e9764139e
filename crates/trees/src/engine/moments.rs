//! The moments of a semivalue, tabulated.

use std::sync::OnceLock;

use apportion_values::Semivalue;

use super::bits::MAX_BITS;
use super::tables::channels::Channels;

/// The maximum number of path features with tabulated moments (half a megabyte). Beyond it, each moment is
/// computed on demand, in O(a + b) time, or in O(n (a + b)) time for weights by coalition size in a game of n
/// players.
const MAX_FEATURES: usize = 256;

/// The moments `M(a, b)` of a semivalue, tabulated for `a + b` below a limit.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    value: Semivalue,
    side: usize,
    /// The tabulated moments: `M(a, b)` is at index `b · side + a`.
    table: Vec<f64>,
    /// The channels for each number of path features, computed on first use.
    channels: Vec<OnceLock<Channels>>,
}

impl Moments {
    /// Tabulates the moments for trees with up to `max_width` path features. A value uses `M(a, b)` with
    /// `a + b` below the number of path features.
    pub(crate) fn new(value: Semivalue, max_width: usize) -> Self {
        let side = max_width.clamp(1, MAX_FEATURES);
        let mut table = vec![0.0; side * side];
        for a in (0..side).rev() {
            for b in (0..side - a).rev() {
                table[b * side + a] = match value {
                    // These moments are slow to compute, so only the moments for all players,
                    // `a + b = side − 1`, are computed directly. The other moments follow by recursion over
                    // one more player, which is present or absent.
                    Semivalue::SizeWeights(_) if a + b + 1 < side => {
                        table[b * side + a + 1] + table[(b + 1) * side + a]
                    }
                    _ => value.moment(a, b),
                };
            }
        }
        let channels = vec![OnceLock::new(); side.min(MAX_BITS) + 1];
        Self { value, side, table, channels }
    }

    /// Returns the channels that fill the tables of leaves with this number of path features, which must be
    /// at least 1 and at most [`MAX_BITS`].
    pub(crate) fn channels(&self, features: usize) -> &Channels {
        self.channels[features]
            .get_or_init(|| Channels::new(self.value.rule(features - 1), features, |a, b| self.get(a, b)))
    }

    /// Returns `M(a, b)`.
    #[inline]
    pub(crate) fn get(&self, a: usize, b: usize) -> f64 {
        if a + b < self.side { self.table[b * self.side + a] } else { self.value.moment(a, b) }
    }

    /// Returns `M(0, b)`, `M(1, b)`, … as far as they are in the table; b must be below the limit.
    #[inline]
    pub(crate) fn against(&self, b: usize) -> &[f64] {
        &self.table[b * self.side..][..self.side - b]
    }

    /// Returns the shares of a leaf of value 1. `own` features are satisfied only by the explicand; to each
    /// of them, the leaf adds `M(own − 1, rest)`. `rest` features are satisfied only by the background row;
    /// from each of them, the leaf subtracts `M(own, rest − 1)`. A share is 0 if there are no such features.
    #[inline]
    pub(crate) fn shares(&self, own: usize, rest: usize) -> (f64, f64) {
        let gain = if own > 0 { self.get(own - 1, rest) } else { 0.0 };
        let loss = if rest > 0 { self.get(own, rest - 1) } else { 0.0 };
        (gain, loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_in_the_table_and_beyond_are_those_of_the_semivalue() {
        let distribution: Vec<f64> = (0..1000).map(|size| (size % 7) as f64 / 2997.0).collect();
        for value in [
            Semivalue::Shapley,
            Semivalue::beta_shapley(0.5, 4.0).unwrap(),
            Semivalue::from_size_distribution(&distribution).unwrap(),
        ] {
            for max_width in [0, 1, 2, 40, 1000] {
                let moments = Moments::new(value.clone(), max_width);
                for (a, b) in [(0, 0), (3, 5), (39, 0), (0, 40), (255, 0), (0, 255), (256, 1), (400, 2)] {
                    let (got, expected) = (moments.get(a, b), value.moment(a, b));
                    assert!(
                        (got - expected).abs() <= 1e-13 * expected,
                        "{value}, M({a}, {b}): {got} != {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn weights_by_size_are_asked_for_no_more_players_than_they_have() {
        let value = Semivalue::from_size_distribution(&[0.25, 0.75]).unwrap();
        assert_eq!(Moments::new(value.clone(), 2).shares(1, 1), (0.25, 0.75));
        assert_eq!(Moments::new(value, 1).shares(1, 0), (1.0, 0.0));
    }
}
