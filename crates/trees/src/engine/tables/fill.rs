//! The semivalues on one leaf, or on the two leaves of a split, for every pattern of an explicand.
//!
//! The values depend on the explicand only through its pattern P of the leaf's d path features; C = ¬P are
//! the features that it does not satisfy. Let H\[M\] be the weight of the background pattern M, and v the
//! value of the leaf. A pattern M ⊉ C contributes nothing. Otherwise only the explicand satisfies ¬M ⊆ P, and
//! only the background satisfies C, so over all M
//!
//! ```text
//! A[P] = v Σ_{¬M ⊆ P, M ≠ all} H[M] · M(d − 1 − |M|, |C|)
//! B[P] = v Σ_{¬M ⊆ P, M ≠ all} H[M] · M(d − 1 − |M|, |C| − 1)
//! L[P] = v Σ_{¬M ⊆ P} H[M] · M(d − |M|, |C| − 1)
//!
//! φ_i = A[P] − B[P ∖ i]   for i ∈ P,        φ_i = −L[P]   for i ∉ P.
//! ```
//!
//! The value of a player that does not affect the leaf is exactly 0, because A\[P\] and B\[P ∖ i\] are then
//! the same sums. Each of A, B and L is a sum of subset sums, one for each [channel](super::channels). If the
//! background has few patterns, they are summed directly, pattern by pattern.
//!
//! # Two leaves of one split
//!
//! The index of an explicand in the table of a split encodes its pattern at the split and its decision, and
//! hence its pattern at either leaf. Removing a feature i other than the split's removes i from both patterns
//! and does not change the decision. Therefore A, B and L of the two leaves are added by index, and φ_i
//! follows from the sums as above. Only the value of the split's own feature is computed separately for each
//! leaf.

use super::channels::{Channel, Channels};
use super::number::Number;
use super::shape::Layout;
use crate::engine::bits::subsets;
use crate::engine::moments::Moments;

/// A leaf, and the layout of its values.
pub(crate) struct Leaf<'a> {
    pub(crate) value: f64,
    /// The background patterns and their weights.
    pub(crate) distribution: &'a [(u64, f64)],
    /// The position of each path feature in an entry.
    pub(crate) lanes: &'a [usize],
    /// The number of values in an entry.
    pub(crate) width: usize,
}

/// The layout of the leaves below a split in its table.
pub(crate) struct Split<'a> {
    /// The number of path features above the split, which are the lower bits of an index; the next bit is the
    /// decision.
    pub(crate) above: usize,
    /// The bit of the split's feature; equal to `above` if the feature is new.
    pub(crate) bit: usize,
    /// For each path feature of the leaves, its position in an entry, or its column.
    pub(crate) lanes: &'a [usize],
    pub(crate) layout: Layout,
}

/// Working memory, reused between leaves.
#[derive(Default)]
pub(crate) struct Fill {
    weights: Vec<f64>,
    subsets: Vec<f64>,
    /// The sums of the right and the left leaf of a split; a single leaf uses the first.
    leaves: [Sums; 2],
    both: Sums,
    column: Vec<f64>,
}

/// The sums A, B and L, for each pattern at a leaf or each index of a split's table.
#[derive(Default)]
struct Sums {
    gained: Vec<f64>,
    without: Vec<f64>,
    lost: Vec<f64>,
    /// The values of the split's own feature.
    own: Vec<f64>,
}

impl Sums {
    fn clear(&mut self, patterns: usize) {
        for sums in [&mut self.gained, &mut self.without, &mut self.lost] {
            sums.clear();
            sums.resize(patterns, 0.0);
        }
    }

    /// Computes the values of the path feature with this bit, by pattern or index.
    fn values_of(&self, bit: usize, values: &mut Vec<f64>) {
        values.resize(self.gained.len(), 0.0);
        values_of(bit, [&self.gained, &self.without, &self.lost], values);
    }
}

impl Fill {
    /// Writes the values of every pattern P of the explicand to `entries`, which is zero on entry.
    pub(crate) fn write(&mut self, leaf: &Leaf<'_>, moments: &Moments, entries: &mut [f64]) {
        self.sum_up(0, (leaf.value, leaf.distribution), leaf.lanes.len(), moments);
        self.share_out(leaf, entries);
    }

    fn share_out(&mut self, leaf: &Leaf<'_>, entries: &mut [f64]) {
        let Self { leaves: [sums, _], column, .. } = self;
        for (bit, &lane) in leaf.lanes.iter().enumerate() {
            sums.values_of(bit, column);
            for (entry, &value) in entries.chunks_exact_mut(leaf.width).zip(&*column) {
                entry[lane] = value;
            }
        }
    }

    /// Processes a child of a split, given by its value and background: the right child (`side` 0) or the
    /// left child (1). The value is 0 for a child that is not a leaf.
    pub(crate) fn take_child(
        &mut self,
        split: &Split<'_>,
        side: usize,
        leaf: (f64, &[(u64, f64)]),
        moments: &Moments,
    ) {
        self.sum_up(side, leaf, split.lanes.len(), moments);
        let Sums { gained, without, lost, own } = &mut self.leaves[side];
        own.resize(gained.len(), 0.0);
        values_of(split.bit, [gained, without, lost], own);
    }

    /// Writes the table of a split. Both children must have been processed before.
    pub(crate) fn write_split<N: Number>(&mut self, split: &Split<'_>, table: &mut [N]) {
        if let Layout::Lanes(width) = split.layout
            && split.lanes.len() < width
        {
            table.fill(N::default());
        }
        let Self { leaves: [right, left], both, column, .. } = self;
        let of: [fn(&mut Sums) -> &mut Vec<f64>; 4] =
            [|sums| &mut sums.gained, |sums| &mut sums.without, |sums| &mut sums.lost, |sums| &mut sums.own];
        for of in of {
            let both = of(both);
            both.resize(2 << split.above, 0.0);
            add_by_place(both, [of(right), of(left)], split.bit, split.bit == split.above);
        }
        for (bit, &lane) in split.lanes.iter().enumerate() {
            let column = if bit == split.bit {
                &both.own
            } else {
                both.values_of(bit, column);
                &*column
            };
            match split.layout {
                Layout::Lanes(4) => write_lane::<N, 4>(table, lane, column),
                Layout::Lanes(8) => write_lane::<N, 8>(table, lane, column),
                Layout::Lanes(_) => write_lane::<N, 16>(table, lane, column),
                Layout::Columns | Layout::Pairs => {
                    let table = &mut table[lane * column.len()..][..column.len()];
                    for (number, &value) in table.iter_mut().zip(column) {
                        *number = N::nearest(value);
                    }
                }
            }
        }
    }

    /// Computes A, B and L of a leaf from its value and background.
    fn sum_up(
        &mut self,
        side: usize,
        (value, distribution): (f64, &[(u64, f64)]),
        features: usize,
        moments: &Moments,
    ) {
        let patterns = 1_usize << features;
        self.leaves[side].clear(patterns);
        if value == 0.0 {
            return;
        }
        let channels = moments.channels(features);
        // Compare the costs of both methods. The unit of cost is one subset for the direct method, and one
        // vector addition for the other method.
        if 4 * steps_directly(distribution) <= channels.len() * (patterns * (features + 6) / 8 + 8) {
            self.directly(side, (value, distribution), features, moments);
        } else {
            self.by_subsets(side, (value, distribution), features, channels);
        }
    }

    fn directly(&mut self, side: usize, leaf: (f64, &[(u64, f64)]), features: usize, moments: &Moments) {
        let Sums { gained, without, lost, .. } = &mut self.leaves[side];
        add_directly(leaf, features, moments, [gained, without, lost]);
    }

    fn by_subsets(
        &mut self,
        side: usize,
        (value, distribution): (f64, &[(u64, f64)]),
        features: usize,
        channels: &Channels,
    ) {
        let patterns = 1_usize << features;
        let Self { weights, subsets, leaves, .. } = self;
        let Sums { gained, without, lost, .. } = &mut leaves[side];
        weights.clear();
        weights.resize(patterns, 0.0);
        subsets.resize(patterns, 0.0);
        for &(pattern, weight) in distribution {
            weights[(patterns - 1) ^ pattern as usize] = weight * value;
        }
        for channel in channels.iter() {
            add_channel(weights, subsets, &channel, [&mut *gained, &mut *without, &mut *lost]);
        }
        let all = weights[0];
        if all != 0.0 {
            for (lost, full) in lost.iter_mut().zip(channels.full()) {
                *lost += all * full;
            }
        }
    }
}

/// Returns the number of pairs of a background pattern and an explicand pattern that together contain all
/// path features.
#[multiversion::multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
fn steps_directly(distribution: &[(u64, f64)]) -> usize {
    distribution.iter().map(|&(pattern, _)| 1_usize << pattern.count_ones()).sum()
}

/// Adds the contributions of a leaf to A, B and L, given its value and background, one background pattern at
/// a time.
#[multiversion::multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
fn add_directly(
    (value, distribution): (f64, &[(u64, f64)]),
    features: usize,
    moments: &Moments,
    [gained, without, lost]: [&mut [f64]; 3],
) {
    let all = (1_u64 << features) - 1;
    for &(pattern, weight) in distribution {
        let size = pattern.count_ones() as usize;
        let value = weight * value;
        for lacked in subsets(pattern) {
            let (index, count) = ((all ^ lacked) as usize, lacked.count_ones() as usize);
            if size < features {
                gained[index] += value * moments.get(features - 1 - size, count);
                if count > 0 {
                    without[index] += value * moments.get(features - 1 - size, count - 1);
                }
            }
            if count > 0 {
                lost[index] += value * moments.get(features - size, count - 1);
            }
        }
    }
}

/// Computes the subset sums of `weights` scaled by a channel, and adds them to A, B and L with the channel's
/// weights.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
fn add_channel(
    weights: &[f64],
    sums: &mut [f64],
    channel: &Channel<'_>,
    [gained, without, lost]: [&mut [f64]; 3],
) {
    for ((sum, weight), scale) in sums.iter_mut().zip(weights).zip(channel.scales) {
        *sum = weight * scale;
    }
    subset_sums(sums);
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

/// Replaces the number of each set with the sum over all subsets of the set. An index represents a set by its
/// bits.
#[inline(always)]
fn subset_sums(numbers: &mut [f64]) {
    let (blocks, rest) = numbers.as_chunks_mut::<8>();
    for block in blocks {
        // Steps within a vector move each number to the index of its superset, and zeros to all other
        // indices.
        within::<1>(block);
        within::<2>(block);
        within::<4>(block);
    }
    let mut step = if rest.is_empty() { 8 } else { 1 };
    while step < numbers.len() {
        for pair in numbers.chunks_exact_mut(2 * step) {
            let (without, with) = pair.split_at_mut(step);
            for (without, with) in without.iter().zip(with) {
                *with += *without;
            }
        }
        step *= 2;
    }
}

#[inline(always)]
fn within<const STEP: usize>(block: &mut [f64; 8]) {
    let moved: [f64; 8] =
        std::array::from_fn(|index| if index & STEP != 0 { block[index ^ STEP] } else { 0.0 });
    for (number, moved) in block.iter_mut().zip(moved) {
        *number += moved;
    }
}

/// Computes the values of the path feature with this bit from A, B and L, all of which are indexed by
/// pattern.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
fn values_of(bit: usize, sums: [&[f64]; 3], values: &mut [f64]) {
    let blocks = sums.map(|sums| sums.as_chunks::<8>().0);
    match bit {
        0 if values.len() >= 8 => values_within::<1>(blocks, values),
        1 if values.len() >= 8 => values_within::<2>(blocks, values),
        2 if values.len() >= 8 => values_within::<4>(blocks, values),
        _ => {
            let step = 1 << bit;
            let [gained, without, lost] = sums.map(|sums| sums.chunks_exact(2 * step));
            for (((values, gained), without), lost) in
                values.chunks_exact_mut(2 * step).zip(gained).zip(without).zip(lost)
            {
                let (lacking, having) = values.split_at_mut(step);
                for (value, lost) in lacking.iter_mut().zip(lost) {
                    *value = -lost;
                }
                for ((value, gained), without) in having.iter_mut().zip(&gained[step..]).zip(without) {
                    *value = gained - without;
                }
            }
        }
    }
}

#[inline(always)]
fn values_within<const STEP: usize>(sums: [&[[f64; 8]]; 3], values: &mut [f64]) {
    let [gained, without, lost] = sums;
    for (((values, gained), without), lost) in
        values.as_chunks_mut::<8>().0.iter_mut().zip(gained).zip(without).zip(lost)
    {
        let moved: [f64; 8] = std::array::from_fn(|index| without[index ^ (index & STEP)]);
        for (index, value) in values.iter_mut().enumerate() {
            *value = if index & STEP != 0 { gained[index] - moved[index] } else { -lost[index] };
        }
    }
}

/// Adds the numbers of the right and the left leaf of a split, which are indexed by pattern, to one array
/// that is indexed like the split's table. `bit` is the bit of the split's feature.
fn add_by_place(places: &mut [f64], [right, left]: [&[f64]; 2], bit: usize, is_first: bool) {
    let (goes_right, goes_left) = places.split_at_mut(places.len() / 2);
    if is_first {
        let (right_failed, right_passed) = right.split_at(right.len() / 2);
        let (left_failed, left_passed) = left.split_at(left.len() / 2);
        add(goes_right, right_passed, left_failed);
        add(goes_left, right_failed, left_passed);
    } else {
        let step = 1 << bit;
        let patterns = right.chunks_exact(2 * step).zip(left.chunks_exact(2 * step));
        let places = goes_right.chunks_exact_mut(2 * step).zip(goes_left.chunks_exact_mut(2 * step));
        for ((goes_right, goes_left), (right, left)) in places.zip(patterns) {
            let (right_failed, right_passed) = right.split_at(step);
            let (left_failed, left_passed) = left.split_at(step);
            // For the pattern at the leaf, rows that failed an earlier test of this feature also fail this
            // one.
            add(&mut goes_right[..step], right_failed, left_failed);
            add(&mut goes_right[step..], right_passed, left_failed);
            add(&mut goes_left[..step], right_failed, left_failed);
            add(&mut goes_left[step..], right_failed, left_passed);
        }
    }
}

#[inline(always)]
fn add(sums: &mut [f64], a: &[f64], b: &[f64]) {
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        *sum = a + b;
    }
}

/// Writes one value to each entry of a table: the value at position `lane`.
#[inline(always)]
fn write_lane<N: Number, const WIDTH: usize>(table: &mut [N], lane: usize, values: &[f64]) {
    let lane = lane % WIDTH;
    for (entry, &value) in table.as_chunks_mut::<WIDTH>().0.iter_mut().zip(values) {
        entry[lane] = N::nearest(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_values::Semivalue;

    /// Computes the values by definition, for every pair of an explicand pattern and a background pattern.
    fn by_patterns(features: usize, leaf: &Leaf<'_>, moments: &Moments) -> Vec<f64> {
        let mut values = vec![0.0; leaf.width << features];
        let all = (1_u64 << features) - 1;
        for pattern in 0..=all {
            for &(background, weight) in
                leaf.distribution.iter().filter(|(background, _)| background | pattern == all)
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
    fn subset_sums_direct_sums_and_the_definition_agree() {
        let distribution: Vec<f64> = (0..7).map(|size| f64::from(size % 3 + 1) / 13.0).collect();
        let others = [
            Semivalue::weighted_banzhaf(0.2).unwrap(),
            Semivalue::beta_shapley(4.0, 0.5).unwrap(),
            Semivalue::mixture(&[0.0, 0.3, 1.0], &[0.5, 0.25, 0.25]).unwrap(),
            Semivalue::from_size_distribution(&distribution).unwrap(),
        ];
        for value in [Semivalue::Shapley, Semivalue::Banzhaf].into_iter().chain(others) {
            for features in 1..=7 {
                let moments = Moments::new(value.clone(), 7);
                let all = (1_u64 << features) - 1;
                let dense: Vec<(u64, f64)> = (0..=all)
                    .filter(|pattern| pattern % 3 != 1)
                    .map(|pattern| (pattern, 0.01 + (pattern * 7 % 5) as f64))
                    .collect();
                for distribution in [&dense[..], &[(all, 2.0)], &[(all / 2, 2.0)], &[(0, 1.0)], &[]] {
                    let lanes: Vec<usize> = (0..features).map(|bit| (bit + 3) % features).collect();
                    let leaf = Leaf { value: -1.5, distribution, lanes: &lanes, width: 8 };
                    let expected = by_patterns(features, &leaf, &moments);
                    for by_subsets in [false, true] {
                        let mut fill = Fill::default();
                        fill.leaves[0].clear(1 << features);
                        let (of_leaf, channels) = ((leaf.value, distribution), moments.channels(features));
                        match by_subsets {
                            true => fill.by_subsets(0, of_leaf, features, channels),
                            false => fill.directly(0, of_leaf, features, &moments),
                        }
                        let mut got = vec![0.0; 8 << features];
                        fill.share_out(&leaf, &mut got);
                        let scale: f64 = 1e-300 + distribution.iter().map(|(_, weight)| weight).sum::<f64>();
                        for (got, expected) in got.iter().zip(&expected) {
                            let close = (got - expected).abs() <= 4e-15 * scale;
                            assert!(close, "{value}, {features} features, {by_subsets}: {got} != {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn both_leaves_of_a_split_are_what_each_is() {
        for value in [Semivalue::Shapley, Semivalue::weighted_banzhaf(0.2).unwrap()] {
            for features in 1..=6_usize {
                let moments = Moments::new(value.clone(), 6);
                // Test the last bit as a new feature, and each bit as a feature that also occurs above.
                let splits = (0..features).map(|bit| (features, bit)).chain([(features - 1, features - 1)]);
                for (above, bit) in splits {
                    let all = (1_u64 << features) - 1;
                    let distribution = |seed: u64| -> Vec<(u64, f64)> {
                        let seen = (0..=all).filter(|pattern| (pattern * 5 + seed) % 3 != 1);
                        seen.map(|pattern| (pattern, 0.01 + ((pattern + seed) * 7 % 5) as f64)).collect()
                    };
                    let distributions = [distribution(0), distribution(4)];
                    for values in [[2.0, -0.5], [0.0, 1.0], [1.0, 0.0]] {
                        let lanes: Vec<usize> = (0..features).map(|bit| (bit + 3) % features).collect();
                        let leaves = [0, 1].map(|side: usize| {
                            let leaf = Leaf {
                                value: values[side],
                                distribution: &distributions[side],
                                lanes: &lanes,
                                width: 8,
                            };
                            by_patterns(features, &leaf, &moments)
                        });
                        let expected = |place: usize, lane: usize| -> f64 {
                            let (pattern, goes_left) = (place & ((1 << above) - 1), place >> above == 1);
                            let at = |passed: bool| match (bit == above, passed) {
                                (true, true) => pattern | 1 << bit,
                                (false, false) => pattern & !(1 << bit),
                                _ => pattern,
                            };
                            let [right, left] = &leaves;
                            right[at(!goes_left) * 8 + lane] + left[at(goes_left) * 8 + lane]
                        };
                        let mut fill = Fill::default();
                        for layout in [Layout::Lanes(8), Layout::Columns] {
                            let split = Split { above, bit, lanes: &lanes, layout };
                            for side in [0, 1] {
                                let distribution =
                                    if values[side] == 0.0 { &[] } else { &distributions[side][..] };
                                fill.take_child(&split, side, (values[side], distribution), &moments);
                            }
                            let (places, width) =
                                (2 << above, if layout == Layout::Columns { features } else { 8 });
                            let mut table = vec![0.0; width * places];
                            fill.write_split::<f64>(&split, &mut table);
                            for (place, lane) in
                                (0..places).flat_map(|place| (0..width).map(move |lane| (place, lane)))
                            {
                                let got = match layout {
                                    Layout::Columns | Layout::Pairs => table[lane * places + place],
                                    Layout::Lanes(_) => table[place * 8 + lane],
                                };
                                let off = (got - expected(place, lane)).abs();
                                assert!(
                                    off <= 1e-12,
                                    "{value}, {features} features, bit {bit} of {above}: {off}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
