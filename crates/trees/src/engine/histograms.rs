//! A background dataset, reduced to the patterns that each leaf distinguishes.
//!
//! A leaf depends on a background row only through the set of its path features that the row satisfies: the
//! row's pattern. For a leaf with d path features, the background therefore reduces to at most 2^d weighted
//! patterns, for any number of rows.

use apportion_games::Cancellation;
use apportion_models::Ensemble;
use apportion_models::tree::Node;

use super::paths::{BLOCK, Columns, Paths, Patterns};

/// The path features of a tree and its background patterns; `None` if a path has too many features.
pub(crate) type SortedTree = Option<(Paths, Histograms)>;

/// The sorted background of each tree.
pub(crate) type Sorted = Vec<SortedTree>;

/// The background patterns of each leaf of one tree, with their weights.
#[derive(Debug, Clone)]
pub(crate) struct Histograms {
    /// For each node, the range of its patterns in `patterns`; empty unless the node is a leaf.
    ranges: Vec<(usize, usize)>,
    /// Distinct patterns in ascending order, with the total weight of their rows.
    patterns: Vec<(u64, f64)>,
}

impl Histograms {
    /// Counts the patterns of the rows in `background`, one [`Columns`] per block, weighted by `weights`.
    pub(crate) fn new(
        ensemble: &Ensemble,
        nodes: &[Node],
        paths: &Paths,
        background: &[Columns],
        weights: &[f64],
    ) -> Self {
        if nodes.len() == 1 {
            let mut histograms = Self::empty(1);
            histograms.set(0, std::iter::once((0, weights.iter().sum())));
            return histograms;
        }
        let mut gathered = GatheredPatterns::new(nodes, paths, weights.len());
        let mut patterns = Patterns::<u64>::new();
        let mut left = [0; BLOCK];
        for (columns, weights) in background.iter().zip(weights.chunks(BLOCK)) {
            patterns.begin(nodes.len());
            for (index, &node) in nodes.iter().enumerate() {
                if index % NODES_BETWEEN_CHECKS == 0 {
                    Cancellation::check();
                }
                if !node.is_leaf() {
                    columns.decide(ensemble, node, &mut left);
                    gathered.add_at_split(paths, index, patterns.at(index), &left, weights);
                    patterns.descend(paths, index, node, &left, columns.rows());
                } else {
                    gathered.add_at_leaf(index, patterns.at(index), weights);
                }
            }
        }
        gathered.finish(nodes, paths)
    }

    /// Returns the histograms of a tree with this many nodes, with no leaf [set](Self::set) yet.
    pub(crate) fn empty(nodes: usize) -> Self {
        Self { ranges: vec![(0, 0); nodes], patterns: Vec::new() }
    }

    /// Creates the histograms from the patterns of all leaves and the range of each node.
    pub(crate) fn from_parts(ranges: Vec<(usize, usize)>, patterns: Vec<(u64, f64)>) -> Self {
        Self { ranges, patterns }
    }

    /// Sets the patterns at a leaf, in ascending order.
    pub(crate) fn set(&mut self, leaf: usize, patterns: impl Iterator<Item = (u64, f64)>) {
        let start = self.patterns.len();
        self.patterns.extend(patterns);
        self.ranges[leaf] = (start, self.patterns.len());
    }

    /// Returns the distinct patterns at a leaf with their weights.
    pub(crate) fn at(&self, leaf: usize) -> &[(u64, f64)] {
        let (start, end) = self.ranges[leaf];
        &self.patterns[start..end]
    }

    /// Iterates over the patterns of every leaf, in the order of the nodes.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = &[(u64, f64)]> {
        self.ranges
            .iter()
            .map(|&(start, end)| &self.patterns[start..end])
            .filter(|patterns| !patterns.is_empty())
    }

    /// Divides every weight by `total`.
    pub(crate) fn divide_by(&mut self, total: f64) {
        for (_, weight) in &mut self.patterns {
            *weight /= total;
        }
    }

    /// Returns the number of pairs of a background pattern and an explicand pattern that together contain all
    /// path features: 2^|M| pairs for each background pattern M.
    pub(crate) fn extensions(&self) -> f64 {
        self.patterns.iter().map(|(pattern, _)| (pattern.count_ones() as f64).exp2()).sum()
    }

    /// Returns the number of distinct patterns, summed over all leaves.
    pub(crate) fn len(&self) -> usize {
        self.patterns.len()
    }
}

/// The number of copies of a bin, which successive rows use in turn. Consecutive rows mostly have the same
/// pattern, and each addition to the same bin would have to wait for the previous addition.
const COPIES: usize = 4;
/// The number of nodes of a tree between two checks for cancellation.
const NODES_BETWEEN_CHECKS: usize = 1 << 10;

/// The patterns found so far with their accumulated weights.
struct GatheredPatterns {
    places: Vec<PatternStorage>,
    bins: Vec<f64>,
    lists: Vec<Vec<(u64, f64)>>,
}

/// The storage for the patterns at a node.
#[derive(Clone, Copy)]
enum PatternStorage {
    Nowhere,
    /// At a split: the offset of its bins, one per pattern and decision, from which the patterns of both
    /// children follow.
    Bins(usize),
    /// At a leaf: the index of its list of patterns, used if there would be more bins than rows.
    List(usize),
}

impl GatheredPatterns {
    fn new(nodes: &[Node], paths: &Paths, rows: usize) -> Self {
        let mut gathered =
            Self { places: vec![PatternStorage::Nowhere; nodes.len()], bins: Vec::new(), lists: Vec::new() };
        let mut bins = 0;
        for (index, node) in nodes.iter().enumerate() {
            if node.is_leaf() || !(nodes[node.left()].is_leaf() || nodes[node.right()].is_leaf()) {
                continue;
            }
            let bits = paths.features(index).len() + 1;
            if bits <= 16 && 1 << bits <= 4 * rows {
                gathered.places[index] = PatternStorage::Bins(bins);
                bins += COPIES << bits;
                continue;
            }
            for leaf in [node.left(), node.right()].into_iter().filter(|&child| nodes[child].is_leaf()) {
                gathered.places[leaf] = PatternStorage::List(gathered.lists.len());
                gathered.lists.push(Vec::with_capacity(rows));
            }
        }
        gathered.bins.resize(bins, 0.0);
        gathered
    }

    fn add_at_split(&mut self, paths: &Paths, split: usize, patterns: &[u64], left: &[u64], weights: &[f64]) {
        let PatternStorage::Bins(start) = self.places[split] else { return };
        let above = paths.features(split).len();
        let bins = &mut self.bins[start..start + (COPIES << (above + 1))];
        for (row, ((&pattern, &left), weight)) in patterns.iter().zip(left).zip(weights).enumerate() {
            bins[(pattern | left << above) as usize * COPIES + row % COPIES] += weight;
        }
    }

    fn add_at_leaf(&mut self, leaf: usize, patterns: &[u64], weights: &[f64]) {
        let PatternStorage::List(list) = self.places[leaf] else { return };
        self.lists[list].extend(patterns.iter().copied().zip(weights.iter().copied()));
    }

    fn finish(mut self, nodes: &[Node], paths: &Paths) -> Histograms {
        let mut histograms = Histograms::empty(nodes.len());
        let mut sums = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            match self.places[index] {
                PatternStorage::Nowhere => {}
                PatternStorage::Bins(start) => {
                    let above = paths.features(index).len();
                    let bins = &self.bins[start..start + (COPIES << (above + 1))];
                    let children = [(node.left(), true), (node.right(), false)];
                    for (leaf, is_left) in children.into_iter().filter(|&(child, _)| nodes[child].is_leaf()) {
                        sums.clear();
                        sums.resize(1 << paths.features(leaf).len(), 0.0);
                        for (place, copies) in bins.chunks_exact(COPIES).enumerate() {
                            let pattern = place as u64 & ((1 << above) - 1);
                            let passed = (place >> above == 1) == is_left;
                            sums[paths.child_pattern(index, pattern, passed) as usize] +=
                                copies.iter().sum::<f64>();
                        }
                        let seen = sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0);
                        histograms.set(leaf, seen.map(|(pattern, &sum)| (pattern as u64, sum)));
                    }
                }
                PatternStorage::List(list) => {
                    Cancellation::check();
                    let list = &mut self.lists[list];
                    // A stable sort keeps the rows of a pattern in order, so its weights are always summed in
                    // the same order.
                    list.sort_by_key(|&(pattern, _)| pattern);
                    let equal = list.chunk_by(|(a, _), (b, _)| a == b);
                    histograms.set(
                        index,
                        equal.map(|equal| (equal[0].0, equal.iter().map(|(_, weight)| weight).sum())),
                    );
                }
            }
        }
        histograms
    }
}
