//! The semivalues on one leaf for every pattern of an explicand.
//!
//! The values depend on the explicand only through its pattern P of the leaf's d path features, that is through the set C = ¬P of those
//! that it lacks. Let H\[M\] be the weight of the patterns M of the background and v the leaf's value. A pattern M ⊉ C gives nothing; else
//! the explicand alone has ¬M, the background alone C, and over all M
//!
//! ```text
//! A[C] = v Σ_{M ⊇ C, M ≠ all} H[M] · M(d − 1 − |M|, |C|)
//! B[C] = v Σ_{M ⊇ C, M ≠ all} H[M] · M(d − 1 − |M|, |C| − 1)
//! L[C] = v Σ_{M ⊇ C} H[M] · M(d − |M|, |C| − 1)
//!
//! φ_i = A[C] − B[C ∪ i]   for i ∉ C,        φ_i = −L[C]   for i ∈ C.
//! ```
//!
//! A player that decides nothing gets exactly 0: A\[C\] and B\[C ∪ i\] are then the same sums. Each of the three is a sum of superset sums,
//! one for each [channel](super::channels); where the background has few patterns, they are added up pattern by pattern.

use super::channels::{Channel, Channels};
use crate::moments::Moments;

/// A leaf, and where its values go.
pub(crate) struct Leaf<'a> {
    pub(crate) value: f64,
    /// Patterns of the background and their weights.
    pub(crate) law: &'a [(u64, f64)],
    /// Per path feature: its place in an entry.
    pub(crate) lanes: &'a [usize],
    /// Numbers of an entry.
    pub(crate) width: usize,
}

/// The memory of the fill, kept between leaves.
#[derive(Default)]
pub(crate) struct Fill {
    sums: Vec<f64>,
    gained: Vec<f64>,
    without: Vec<f64>,
    lost: Vec<f64>,
}

impl Fill {
    /// Writes the values of every pattern P of the explicand to `entries`, which holds zeros.
    pub(crate) fn write(&mut self, leaf: &Leaf<'_>, moments: &Moments, entries: &mut [f64]) {
        let features = leaf.lanes.len();
        let patterns = 1_usize << features;
        for sums in [&mut self.gained, &mut self.without, &mut self.lost] {
            sums.clear();
            sums.resize(patterns, 0.0);
        }
        let channels = moments.channels(features);
        // A step of either way, in its own unit: one subset, or one addition of a vector.
        let direct: usize = leaf.law.iter().map(|&(pattern, _)| 1_usize << pattern.count_ones()).sum();
        if 4 * direct <= channels.len() * (patterns * (features + 6) / 8 + 8) {
            self.directly(leaf, moments);
        } else {
            self.by_supersets(leaf, channels);
        }
        self.share_out(leaf, entries);
    }

    fn directly(&mut self, leaf: &Leaf<'_>, moments: &Moments) {
        let features = leaf.lanes.len();
        for &(pattern, weight) in leaf.law {
            let size = pattern.count_ones() as usize;
            let value = weight * leaf.value;
            for lacked in subsets(pattern) {
                let (index, count) = (lacked as usize, lacked.count_ones() as usize);
                if size < features {
                    self.gained[index] += value * moments.get(features - 1 - size, count);
                    if count > 0 {
                        self.without[index] += value * moments.get(features - 1 - size, count - 1);
                    }
                }
                if count > 0 {
                    self.lost[index] += value * moments.get(features - size, count - 1);
                }
            }
        }
    }

    fn by_supersets(&mut self, leaf: &Leaf<'_>, channels: &Channels) {
        let features = leaf.lanes.len();
        let patterns = 1_usize << features;
        let all = patterns as u64 - 1;
        self.sums.resize(self.sums.len().max(patterns), 0.0);
        let sums = &mut self.sums[..patterns];
        for channel in channels.iter() {
            sums.fill(0.0);
            for &(pattern, weight) in leaf.law.iter().filter(|(pattern, _)| *pattern != all) {
                sums[pattern as usize] = weight * leaf.value * channel.scales[pattern.count_ones() as usize];
            }
            add_channel(sums, &channel, [&mut self.gained, &mut self.without, &mut self.lost]);
        }
        if let Some((_, weight)) = leaf.law.iter().find(|(pattern, _)| *pattern == all) {
            for (lost, full) in self.lost.iter_mut().zip(channels.full()) {
                *lost += weight * leaf.value * full;
            }
        }
    }

    fn share_out(&self, leaf: &Leaf<'_>, entries: &mut [f64]) {
        let patterns = 1_usize << leaf.lanes.len();
        let (gained, without, lost) =
            (&self.gained[..patterns], &self.without[..patterns], &self.lost[..patterns]);
        // The explicand that has nothing comes first.
        for (entry, lacked) in entries.chunks_exact_mut(leaf.width).zip((0..patterns).rev()) {
            for (bit, &lane) in leaf.lanes.iter().enumerate() {
                let with = lacked | 1 << bit;
                entry[lane] = if with == lacked { -lost[lacked] } else { gained[lacked] - without[with] };
            }
        }
    }
}

/// Superset sums of what is in `sums`, added to A, B and L with the weights of a channel.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
fn add_channel(sums: &mut [f64], channel: &Channel<'_>, [gained, without, lost]: [&mut [f64]; 3]) {
    superset_sums(sums);
    add_products(gained, sums, channel.gains);
    add_products(without, sums, channel.without);
    add_products(lost, sums, channel.losses);
}

#[inline(always)]
fn add_products(sums: &mut [f64], a: &[f64], b: &[f64]) {
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        *sum += a * b;
    }
}

/// From numbers per set to the sums over all supersets of each. Sets are bits of the index.
#[inline(always)]
fn superset_sums(numbers: &mut [f64]) {
    let (blocks, rest) = numbers.as_chunks_mut::<8>();
    for block in blocks {
        // Steps inside of a vector: numbers move to the places of their subsets, zeros to the others.
        within::<1>(block);
        within::<2>(block);
        within::<4>(block);
    }
    let mut step = if rest.is_empty() { 8 } else { 1 };
    while step < numbers.len() {
        for pair in numbers.chunks_exact_mut(2 * step) {
            let (without, with) = pair.split_at_mut(step);
            for (without, with) in without.iter_mut().zip(with) {
                *without += *with;
            }
        }
        step *= 2;
    }
}

#[inline(always)]
fn within<const STEP: usize>(block: &mut [f64; 8]) {
    let moved: [f64; 8] =
        std::array::from_fn(|index| if index & STEP == 0 { block[index | STEP] } else { 0.0 });
    for (number, moved) in block.iter_mut().zip(moved) {
        *number += moved;
    }
}

/// All subsets of a set of bits, from the set itself to the empty one.
pub(crate) fn subsets(set: u64) -> impl Iterator<Item = u64> {
    let mut next = Some(set);
    std::iter::from_fn(move || {
        let subset = next?;
        next = (subset != 0).then(|| (subset - 1) & set);
        Some(subset)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_values::Semivalue;

    /// The definition: every explicand against every pattern of the background.
    fn by_patterns(features: usize, leaf: &Leaf<'_>, moments: &Moments) -> Vec<f64> {
        let mut values = vec![0.0; leaf.width << features];
        let all = (1_u64 << features) - 1;
        for pattern in 0..=all {
            for &(background, weight) in leaf.law.iter().filter(|(background, _)| background | pattern == all)
            {
                let (own, rest) = (all & !background, all & !pattern);
                let (gain, loss) = moments.shares(own.count_ones() as usize, rest.count_ones() as usize);
                for (bit, lane) in leaf.lanes.iter().enumerate() {
                    let value = &mut values[pattern as usize * leaf.width + lane];
                    *value += weight * leaf.value * gain * (own >> bit & 1) as f64;
                    *value -= weight * leaf.value * loss * (rest >> bit & 1) as f64;
                }
            }
        }
        values
    }

    #[test]
    fn superset_sums_direct_sums_and_the_definition_agree() {
        let law: Vec<f64> = (0..7).map(|size| f64::from(size % 3 + 1) / 13.0).collect();
        let others = [
            Semivalue::weighted_banzhaf(0.2).unwrap(),
            Semivalue::beta_shapley(4.0, 0.5).unwrap(),
            Semivalue::mixture(&[0.0, 0.3, 1.0], &[0.5, 0.25, 0.25]).unwrap(),
            Semivalue::by_size_law(&law).unwrap(),
        ];
        for value in [Semivalue::Shapley, Semivalue::Banzhaf].into_iter().chain(others) {
            for features in 1..=7 {
                let moments = Moments::new(value.clone(), 7);
                let all = (1_u64 << features) - 1;
                let dense: Vec<(u64, f64)> = (0..=all)
                    .filter(|pattern| pattern % 3 != 1)
                    .map(|pattern| (pattern, 0.01 + (pattern * 7 % 5) as f64))
                    .collect();
                for law in [&dense[..], &[(all, 2.0)], &[(all / 2, 2.0)], &[(0, 1.0)], &[]] {
                    let lanes: Vec<usize> = (0..features).map(|bit| (bit + 3) % features).collect();
                    let leaf = Leaf { value: -1.5, law, lanes: &lanes, width: 8 };
                    let wanted = by_patterns(features, &leaf, &moments);
                    for supersets in [false, true] {
                        let mut fill = Fill::default();
                        for sums in [&mut fill.gained, &mut fill.without, &mut fill.lost] {
                            sums.resize(1 << features, 0.0);
                        }
                        match supersets {
                            true => fill.by_supersets(&leaf, moments.channels(features)),
                            false => fill.directly(&leaf, &moments),
                        }
                        let mut got = vec![0.0; 8 << features];
                        fill.share_out(&leaf, &mut got);
                        let scale: f64 = 1e-300 + law.iter().map(|(_, weight)| weight).sum::<f64>();
                        for (got, wanted) in got.iter().zip(&wanted) {
                            let close = (got - wanted).abs() <= 4e-15 * scale;
                            assert!(close, "{value}, {features} features, {supersets}: {got} != {wanted}");
                        }
                    }
                }
            }
        }
    }
}
