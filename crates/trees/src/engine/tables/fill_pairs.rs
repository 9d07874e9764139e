//! The interactions on one leaf for every pattern of the explicand.
//!
//! On a leaf of value v with d path features, let G_s\[S\] be the total weight of those background patterns M
//! of s features that contain S, P the pattern of the explicand and C = ¬P. A background pattern M completes
//! P iff M ⊇ C. The patterns of s features that complete P and do not contain i have the weight
//! G_s\[C\] − G_s\[C ∪ i\]. The patterns that contain neither i nor j have the weight G_s\[C\] − G_s\[C ∪
//! i\] − G_s\[C ∪ j\] + G_s\[C ∪ ij\]. Therefore, with sums over s,
//!
//! ```text
//! i, j ∈ P:         v Σ (G_s[C] − G_s[C ∪ i] − G_s[C ∪ j] + G_s[C ∪ ij]) · M(d − s − 2, |C|)
//! i ∈ P, j ∉ P:    −v Σ (G_s[C] − G_s[C ∪ i]) · M(d − s − 1, |C| − 1)
//! i, j ∉ P:         v Σ G_s[C] · M(d − s, |C| − 2)
//! ```
//!
//! Each weighted sum depends on a set only, and is computed once per set.

use crate::engine::bits::{all_of, count, ones, subsets};
use crate::engine::moments::Moments;
use crate::engine::pairs::{PairShares, place, places};

/// Working memory for the interactions on one leaf, reused between leaves.
#[derive(Default)]
pub(crate) struct FillPairs {
    shares: Vec<f64>,
    /// For each pattern, the contribution to a pair of features in C.
    both_rest: Vec<f64>,
    /// For each path feature and pattern, the amount subtracted from the pair of that feature and a feature
    /// in C.
    mixed: Vec<f64>,
    /// The sums G, by size and by pattern P = ¬S.
    sums: Vec<f64>,
    weighted: [Vec<f64>; 6],
}

impl FillPairs {
    /// Computes a column of 2^d numbers for each pair of the d path features: `shares[place · 2^d + P]`.
    pub(crate) fn leaf(&mut self, features: usize, value: f64, histogram: &[(u64, f64)], moments: &Moments) {
        if value == 0.0 {
            cleared(&mut self.shares, (features * features.saturating_sub(1) / 2) << features);
        } else if Self::steps_directly(features, histogram) <= Self::steps_by_supersets(features) {
            self.directly(features, value, histogram, moments);
        } else {
            self.by_supersets(features, value, histogram, moments);
        }
    }

    /// Returns the columns of the most recent leaf.
    pub(crate) fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Estimates the cost of summing pattern by pattern, which visits the 2^|M| explicand patterns that
    /// complete each M.
    fn steps_directly(features: usize, histogram: &[(u64, f64)]) -> usize {
        let steps = |&(pattern, _): &(u64, f64)| {
            let own = features - pattern.count_ones() as usize;
            (3 + own + own * own.saturating_sub(1) / 2) << pattern.count_ones()
        };
        histogram.iter().map(steps).fold(0, usize::saturating_add)
    }

    /// Estimates the cost of superset sums, which visit all patterns once per size.
    fn steps_by_supersets(features: usize) -> usize {
        (features * (features + 1) / 4 + 3 * features) << features
    }

    fn directly(&mut self, features: usize, value: f64, histogram: &[(u64, f64)], moments: &Moments) {
        let (all, patterns) = (all_of(features), 1usize << features);
        cleared(&mut self.shares, features * features.saturating_sub(1) / 2 * patterns);
        cleared(&mut self.both_rest, patterns);
        cleared(&mut self.mixed, features * patterns);
        for &(background, weight) in histogram {
            let own = all & !background;
            for missing in subsets(background) {
                let pattern = (all & !missing) as usize;
                let shares = PairShares::for_leaf(moments, count(own), count(missing)).times(weight * value);
                self.both_rest[pattern] += shares.both_rest;
                for high in ones(own) {
                    self.mixed[high << features | pattern] += shares.mixed;
                    for low in ones(own & ((1 << high) - 1)) {
                        self.shares[place(low, high) << features | pattern] += shares.both_own;
                    }
                }
            }
        }
        for ((low, high), column) in places(features).zip(self.shares.chunks_exact_mut(patterns)) {
            let [mixed_low, mixed_high] =
                [low, high].map(|feature| &self.mixed[feature << features..][..patterns]);
            quarters(features, low, high, |neither, with_low, with_high, _| {
                column[neither] = self.both_rest[neither];
                column[with_low] = -mixed_low[with_low];
                column[with_high] = -mixed_high[with_high];
            });
        }
    }

    fn by_supersets(&mut self, features: usize, value: f64, histogram: &[(u64, f64)], moments: &Moments) {
        let (all, patterns) = (all_of(features) as usize, 1usize << features);
        cleared(&mut self.shares, features * features.saturating_sub(1) / 2 * patterns);
        cleared(&mut self.sums, (features + 1) * patterns);
        for &(background, weight) in histogram {
            let size = background.count_ones() as usize;
            self.sums[size * patterns + (all & !(background as usize))] += weight * value;
        }
        // A superset of S is a subset of P = ¬S.
        for sums in self.sums.chunks_exact_mut(patterns) {
            for feature in 0..features {
                let step = 1 << feature;
                for pair in sums.chunks_exact_mut(2 * step) {
                    let (without, with) = pair.split_at_mut(step);
                    for (without, with) in without.iter().zip(with) {
                        *with += *without;
                    }
                }
            }
        }
        // Weighted sums Σ_s G_s[S] · M(d − s − own, |S| − rest), for the six pairs of own and rest in the
        // formulas.
        for (weighted, (own, rest)) in
            self.weighted.iter_mut().zip([(2, 0), (2, 1), (2, 2), (1, 1), (1, 2), (0, 2)])
        {
            cleared(weighted, patterns);
            for (pattern, weighted) in weighted.iter_mut().enumerate() {
                let set = features - pattern.count_ones() as usize;
                if set >= rest && features >= own {
                    *weighted = (set..=features - own)
                        .map(|size| {
                            self.sums[size * patterns + pattern]
                                * moments.get(features - size - own, set - rest)
                        })
                        .sum();
                }
            }
        }
        let [all_own, one_lost, two_lost, mixed, mixed_lost, rest] = &self.weighted;
        for ((low, high), column) in places(features).zip(self.shares.chunks_exact_mut(patterns)) {
            quarters(features, low, high, |neither, with_low, with_high, both| {
                column[neither] = rest[neither];
                column[with_low] = mixed_lost[neither] - mixed[with_low];
                column[with_high] = mixed_lost[neither] - mixed[with_high];
                column[both] = all_own[both] - one_lost[with_low] - one_lost[with_high] + two_lost[neither];
            });
        }
    }
}

fn cleared(numbers: &mut Vec<f64>, length: usize) {
    numbers.clear();
    numbers.resize(length, 0.0);
}

/// Visits all patterns in groups of four: without the bits `low < high`, with `low`, with `high`, and with
/// both.
fn quarters(bits: usize, low: usize, high: usize, mut each: impl FnMut(usize, usize, usize, usize)) {
    let (low, high) = (1usize << low, 1usize << high);
    for upper in (0..1usize << bits).step_by(2 * high) {
        for middle in (upper..upper + high).step_by(2 * low) {
            for neither in middle..middle + low {
                each(neither, neither | low, neither | high, neither | low | high);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_values::Semivalue;

    #[test]
    fn superset_sums_and_direct_sums_fill_the_same_columns() {
        let others = [Semivalue::weighted_banzhaf(0.2).unwrap(), Semivalue::beta_shapley(4.0, 0.5).unwrap()];
        for value in [Semivalue::Shapley, Semivalue::Banzhaf].into_iter().chain(others) {
            for features in 1..=7 {
                let moments = Moments::new(value.clone(), features);
                let histogram: Vec<(u64, f64)> = (0..1u64 << features)
                    .filter(|pattern| pattern % 3 != 1)
                    .map(|pattern| (pattern, 0.01 + (pattern * 7 % 5) as f64))
                    .collect();
                let mut fills = [FillPairs::default(), FillPairs::default()];
                fills[0].directly(features, -1.5, &histogram, &moments);
                fills[1].by_supersets(features, -1.5, &histogram, &moments);
                let scale: f64 = histogram.iter().map(|(_, weight)| weight).sum();
                assert_eq!(fills[0].shares.len(), fills[1].shares.len());
                for (a, b) in fills[0].shares.iter().zip(&fills[1].shares) {
                    assert!((a - b).abs() < 1e-14 * scale, "{value}, {features} features: {a} != {b}");
                }
            }
        }
    }
}
