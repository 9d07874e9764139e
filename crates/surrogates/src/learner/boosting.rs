//! Gradient boosting with squared loss.
//!
//! # Source
//!
//! Friedman, *Greedy Function Approximation: A Gradient Boosting Machine*, Annals of Statistics 2001; trees
//! on histograms of bins that grow leaf by leaf as in Ke et al., *LightGBM: A Highly Efficient Gradient
//! Boosting Decision Tree*, NIPS 2017.

use apportion_games::{Purpose, Rows, stream};
use rand::RngExt;

use super::bins::Bins;
use super::forest::Forest;
use super::grow::{Training, TreeLimits};
use super::histogram::Entry;
use super::masks::{LeafMasks, MAX_LEAVES};
use super::tree::BinnedTree;

/// The maximum number of outputs of a tree. Further outputs have separate trees.
const MAX_OUTPUTS: usize = 7;

/// Parameters of the learner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Boosting {
    /// The maximum number of trees; with a validation set, fewer may be kept.
    pub(crate) trees: usize,
    pub(crate) rate: f64,
    pub(crate) limits: TreeLimits,
    /// The number of features that each tree may use, drawn at random.
    pub(crate) features: usize,
    pub(crate) max_bins: usize,
    /// One row of this many is in the validation set; 0 for no validation set.
    pub(crate) validation: usize,
}

/// Learns a forest from rows and outputs (rows × outputs, finite).
pub(crate) fn learn(
    rows: Rows<'_>,
    targets: &[f64],
    outputs: usize,
    is_categorical: &[bool],
    boosting: &Boosting,
    seed: u64,
) -> Forest {
    debug_assert!(boosting.limits.max_leaves <= MAX_LEAVES);
    let bins = Bins::new(rows, boosting.max_bins, is_categorical);
    let binned = bins.bins(rows);
    let mut growing = Growing { bins, base: vec![0.0; outputs], trees: Vec::new() };
    for first in (0..outputs).step_by(MAX_OUTPUTS) {
        let part = first..outputs.min(first + MAX_OUTPUTS);
        match part.len() {
            1 => add_trees::<2>(&mut growing, &binned, targets, part, boosting, seed),
            2..=3 => add_trees::<4>(&mut growing, &binned, targets, part, boosting, seed),
            _ => add_trees::<8>(&mut growing, &binned, targets, part, boosting, seed),
        }
    }
    Forest::new(growing.bins, growing.base, growing.trees)
}

/// A forest that is being learned.
struct Growing {
    bins: Bins,
    base: Vec<f64>,
    trees: Vec<BinnedTree>,
}

/// The mean and the standard deviation of each output.
struct Scales {
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Scales {
    fn new(targets: &[f64], outputs: usize, part: std::ops::Range<usize>) -> Self {
        let rows = (targets.len() / outputs).max(1) as f64;
        let column = |output: usize| targets.iter().skip(output).step_by(outputs);
        // Deviations from the mean are divided by the largest of them, so that sums of squares do not
        // overflow.
        let means: Vec<f64> =
            part.clone().map(|output| column(output).map(|target| target / rows).sum::<f64>()).collect();
        let deviations = part.zip(&means).map(|(output, mean)| {
            let largest = column(output).map(|target| (target - mean).abs()).fold(0.0, f64::max);
            if largest == 0.0 {
                return 0.0;
            }
            let squares: f64 = column(output).map(|target| ((target - mean) / largest).powi(2)).sum();
            largest * (squares / rows).sqrt()
        });
        Self { deviations: deviations.collect(), means }
    }
}

/// Learns the trees of some outputs, at most `L − 1`.
fn add_trees<const L: usize>(
    growing: &mut Growing,
    rows: &[u8],
    targets: &[f64],
    part: std::ops::Range<usize>,
    boosting: &Boosting,
    seed: u64,
) {
    let (outputs, columns) = (growing.base.len(), growing.bins.features.len());
    let scales = Scales::new(targets, outputs, part.clone());
    growing.base[part.clone()].copy_from_slice(&scales.means);
    if scales.deviations.iter().all(|deviation| *deviation <= 0.0) {
        return;
    }
    let entry = |targets: &[f64]| -> Entry<L> {
        let mut entry = [0.0; L];
        entry[0] = 1.0;
        let scaled = targets[part.clone()].iter().zip(scales.means.iter().zip(&scales.deviations));
        for (entry, (target, (mean, deviation))) in entry[1..].iter_mut().zip(scaled) {
            *entry = if *deviation > 0.0 { ((target - mean) / deviation) as f32 } else { 0.0 };
        }
        entry
    };
    let mut entries: Vec<Entry<L>> = targets.chunks_exact(outputs).map(entry).collect();
    let is_held_out = held_out(entries.len(), boosting.validation, seed);
    let (held, mut order): (Vec<u32>, Vec<u32>) =
        (0..entries.len() as u32).partition(|&row| is_held_out[row as usize]);
    let held_rows: Vec<u8> =
        held.iter().flat_map(|&row| &rows[row as usize * columns..][..columns]).copied().collect();
    let held_targets: Vec<f64> =
        held.iter().flat_map(|&row| &entries[row as usize][1..]).map(|&target| f64::from(target)).collect();
    let mut held_predictions = vec![0.0; held_targets.len()];
    let (mut best_loss, mut best_count) = (f64::INFINITY, 0);
    let mut trees: Vec<BinnedTree> = Vec::new();
    let mut scratch = Vec::new();
    let unit = (part.start as u64) << 24;
    for tree in 0..boosting.trees {
        let features = drawn_features(columns, boosting.features, seed, unit + tree as u64 + 1);
        let mut training = Training {
            rows,
            bins: &growing.bins,
            features: &features,
            entries: &mut entries,
            order: &mut order,
            scratch: &mut scratch,
        };
        let Some(grown) = training.grow(&boosting.limits, boosting.rate) else {
            if features.len() == columns {
                break;
            }
            continue;
        };
        if !held.is_empty() {
            LeafMasks::new(&grown).add(&grown, &held_rows, columns, &mut held_predictions, L - 1);
            let squares =
                held_predictions.iter().zip(&held_targets).map(|(got, target)| (got - target).powi(2));
            let loss: f64 = squares.sum();
            if loss < best_loss {
                (best_loss, best_count) = (loss, trees.len() + 1);
            }
        }
        trees.push(grown);
        if !held.is_empty() && trees.len() > best_count + 20.max(best_count / 5) {
            break;
        }
    }
    if !held.is_empty() {
        trees.truncate(best_count);
    }
    // Convert the values of leaves to units of the outputs, and drop the padding of the entries.
    for mut tree in trees {
        let scaled = tree.values.chunks_exact(L - 1);
        let scaled = scaled.flat_map(|values| values.iter().zip(&scales.deviations).map(|(v, d)| v * d));
        tree.values = scaled.collect();
        (tree.first_output, tree.outputs) = (part.start, part.len());
        growing.trees.push(tree);
    }
}

/// Returns which rows are in the validation set: one of every `share` consecutive rows, drawn at random.
fn held_out(rows: usize, share: usize, seed: u64) -> Vec<bool> {
    let mut is_held_out = vec![false; rows];
    if share >= 2 {
        let mut random = stream(seed, Purpose::Boosting, 0);
        for block in is_held_out.chunks_mut(share) {
            let at = random.random_range(0..share as u64) as usize;
            if let Some(row) = block.get_mut(at) {
                *row = true;
            }
        }
    }
    is_held_out
}

/// Returns the features that a tree may use, in ascending order.
fn drawn_features(columns: usize, count: usize, seed: u64, unit: u64) -> Vec<u32> {
    let mut features: Vec<u32> = (0..columns as u32).collect();
    if count >= columns {
        return features;
    }
    let mut random = stream(seed, Purpose::Boosting, unit);
    for at in 0..count {
        let other = random.random_range(at as u64..columns as u64) as usize;
        features.swap(at, other);
    }
    features.truncate(count);
    features.sort_unstable();
    features
}
