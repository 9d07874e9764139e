//! Histograms of a node: sums of residuals in each bin, and the best split that they imply.

use apportion_games::Cancellation;

use super::bins::{Bins, FeatureBins, MISSING};
use super::tree::BinSet;

/// Entries per bin: the number of rows, then the sum of the residuals of each output, then zeros. `L` is a
/// power of two, so that an entry is a vector.
pub(crate) type Entry<const L: usize> = [f32; L];

/// The bins of one feature.
type FeatureHistogram<const L: usize> = [Entry<L>; 256];

/// Limits on splits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SplitLimits {
    /// The penalty on squared leaf values, in rows.
    pub(crate) penalty: f32,
    /// The minimum number of rows on either side of a split.
    pub(crate) min_rows: f32,
    /// The minimum gain of a split, in units of the variance of the targets.
    pub(crate) min_gain: f32,
}

/// A split of a node, with the decrease of the loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BestSplit {
    pub(crate) feature: u32,
    /// Bins below this number go left; ignored for splits on a set.
    pub(crate) bin: u16,
    pub(crate) missing_goes_left: bool,
    /// The bins that go left, for a categorical feature.
    pub(crate) set: Option<BinSet>,
    pub(crate) gain: f32,
}

/// The histograms of a node, one for each feature in use.
pub(crate) struct Histogram<const L: usize> {
    features: Vec<FeatureHistogram<L>>,
}

fn add<const L: usize>(sum: &mut Entry<L>, other: &Entry<L>) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
}

fn difference<const L: usize>(one: &Entry<L>, other: &Entry<L>) -> Entry<L> {
    std::array::from_fn(|at| one[at] - other[at])
}

impl<const L: usize> Histogram<L> {
    /// Sums the entries of the rows `of_node`. `bins` has `columns` bins per row; `features` are the features
    /// in use.
    pub(crate) fn new(
        bins: &[u8],
        columns: usize,
        features: &[u32],
        of_node: &[u32],
        entries: &[Entry<L>],
    ) -> Self {
        let mut histogram = Self { features: vec![[[0.0; L]; 256]; features.len()] };
        Cancellation::check();
        let uses_all = features.len() == columns;
        for &index in of_node {
            let row = &bins[index as usize * columns..][..columns];
            let entry = &entries[index as usize];
            if uses_all {
                for (sums, &bin) in histogram.features.iter_mut().zip(row) {
                    add(&mut sums[usize::from(bin)], entry);
                }
            } else {
                for (sums, &feature) in histogram.features.iter_mut().zip(features) {
                    add(&mut sums[usize::from(row[feature as usize])], entry);
                }
            }
        }
        histogram
    }

    /// Returns the difference between this histogram and `other`.
    pub(crate) fn without(mut self, other: &Self) -> Self {
        for (own, other) in self.features.iter_mut().zip(&other.features) {
            for (own, other) in own.iter_mut().zip(other) {
                own.iter_mut().zip(other).for_each(|(own, other)| *own -= other);
            }
        }
        self
    }

    /// Returns the split with the largest gain; in case of ties, the first one.
    pub(crate) fn best_split(
        &self,
        bins: &Bins,
        features: &[u32],
        limits: &SplitLimits,
    ) -> Option<BestSplit> {
        let mut best: Option<BestSplit> = None;
        for (sums, &feature) in self.features.iter().zip(features) {
            let own = &bins.features[feature as usize];
            let found = match own {
                FeatureBins::Ordered(_) => ordered_split(sums, own.count(), feature, limits),
                FeatureBins::Categories(codes) => set_split(sums, codes.len(), feature, limits),
            };
            if let Some(found) = found.filter(|found| best.is_none_or(|best| found.gain > best.gain)) {
                best = Some(found);
            }
        }
        best
    }
}

/// Returns the decrease of the loss by a leaf with these sums.
fn score<const L: usize>(sums: &Entry<L>, penalty: f32) -> f32 {
    sums[1..].iter().map(|sum| sum * sum).sum::<f32>() / (sums[0] + penalty)
}

/// A search for the best of the splits that send the first bins left.
struct Search<'a, const L: usize> {
    total: Entry<L>,
    own: f32,
    limits: &'a SplitLimits,
    best: Option<(usize, bool)>,
    gain: f32,
}

impl<const L: usize> Search<'_, L> {
    fn consider(&mut self, left: &Entry<L>, bin: usize, missing_goes_left: bool) {
        let right = difference(&self.total, left);
        if left[0] < self.limits.min_rows || right[0] < self.limits.min_rows {
            return;
        }
        let gain = score(left, self.limits.penalty) + score(&right, self.limits.penalty) - self.own;
        if gain > self.gain {
            (self.gain, self.best) = (gain, Some((bin, missing_goes_left)));
        }
    }
}

fn search<'a, const L: usize>(
    sums: &FeatureHistogram<L>,
    count: usize,
    limits: &'a SplitLimits,
) -> Search<'a, L> {
    let mut total = [0.0; L];
    sums[..count].iter().for_each(|entry| add(&mut total, entry));
    add(&mut total, &sums[usize::from(MISSING)]);
    Search { own: score(&total, limits.penalty), total, limits, best: None, gain: limits.min_gain }
}

fn ordered_split<const L: usize>(
    sums: &FeatureHistogram<L>,
    count: usize,
    feature: u32,
    limits: &SplitLimits,
) -> Option<BestSplit> {
    let missing = &sums[usize::from(MISSING)];
    let has_missing = missing[0] > 0.5;
    let mut search = search(sums, count, limits);
    let mut left = [0.0; L];
    for (bin, entry) in sums[..count - 1].iter().enumerate() {
        add(&mut left, entry);
        search.consider(&left, bin + 1, false);
        if has_missing {
            let mut with_missing = left;
            add(&mut with_missing, missing);
            search.consider(&with_missing, bin + 1, true);
        }
    }
    if has_missing {
        // Also consider the split that separates missing values from all numbers.
        search.consider(missing, 0, true);
    }
    let (bin, missing_goes_left) = search.best?;
    // If no value was missing in training, missing values go to the side with more rows.
    let in_left: f32 = sums[..bin].iter().map(|entry| entry[0]).sum();
    let missing_goes_left = if has_missing { missing_goes_left } else { 2.0 * in_left >= search.total[0] };
    Some(BestSplit { feature, bin: bin as u16, missing_goes_left, set: None, gain: search.gain })
}

/// Finds the best set of categories to send left: categories are sorted by their mean residual, which is
/// optimal for one output (Fisher, *On Grouping for Maximum Homogeneity*, 1958). For several outputs, they
/// are sorted by the output whose means differ most.
fn set_split<const L: usize>(
    sums: &FeatureHistogram<L>,
    codes: usize,
    feature: u32,
    limits: &SplitLimits,
) -> Option<BestSplit> {
    let mut search = search(sums, codes + 1, limits);
    let mut order: Vec<usize> = (0..codes).filter(|&bin| sums[bin][0] > 0.5).collect();
    let spread = |output: usize| -> f32 {
        order.iter().map(|&bin| sums[bin][output] * sums[bin][output] / (sums[bin][0] + limits.penalty)).sum()
    };
    let output = (1..L).rev().max_by(|&one, &other| spread(one).total_cmp(&spread(other)))?;
    // The penalty keeps rare categories from the ends of the order.
    let mean = |bin: usize| sums[bin][output] / (sums[bin][0] + 10.0);
    order.sort_by(|&one, &other| mean(one).total_cmp(&mean(other)).then(one.cmp(&other)));
    // Consider sets from both ends of the order, which differ because rare categories, unknown categories and
    // missing values always go right.
    let count = order.len();
    for is_reversed in [false, true] {
        let mut left = [0.0; L];
        for at in 0..count {
            add(&mut left, &sums[if is_reversed { order[count - 1 - at] } else { order[at] }]);
            search.consider(&left, at + 1, is_reversed);
        }
    }
    let (members, is_reversed) = search.best?;
    let mut set = BinSet::default();
    for at in 0..members {
        let bin = if is_reversed { order[count - 1 - at] } else { order[at] };
        set[bin / 64] |= 1 << (bin % 64);
    }
    Some(BestSplit { feature, bin: 0, missing_goes_left: false, set: Some(set), gain: search.gain })
}
