//! A background set, grouped leaf by leaf.
//!
//! A leaf sees of a background row only which of its path features the row satisfies: the row's pattern. So the background of a leaf with d
//! path features is at most 2^d patterns with their weights, however many rows there are.

use super::paths::{BLOCK, Columns, Paths, Patterns};
use crate::ensemble::{Ensemble, Node};

/// The background as each leaf of one tree sees it.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    /// Per node: where its patterns lie in `patterns`; empty unless the node is a leaf.
    ranges: Vec<(usize, usize)>,
    /// Distinct patterns in ascending order, with the weight of the rows that have them.
    patterns: Vec<(u64, f64)>,
}

impl Groups {
    /// Groups the rows in `background`, one [`Columns`] per block, weighted by `weights`.
    pub(crate) fn new(
        ensemble: &Ensemble,
        nodes: &[Node],
        paths: &Paths,
        background: &[Columns],
        weights: &[f64],
    ) -> Self {
        // A leaf of few features adds into a bin per pattern; where bins would outnumber rows, patterns are listed and sorted.
        let mut bins: Vec<f64> = Vec::new();
        let mut lists: Vec<Vec<(u64, f64)>> = Vec::new();
        let mut places = vec![Place::Split; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            if node.is_leaf() {
                let features = paths.features(index).len();
                places[index] = if features < 16 && 1 << features <= 4 * weights.len() {
                    bins.resize(bins.len() + (1 << features), 0.0);
                    Place::Bins(bins.len() - (1 << features))
                } else {
                    lists.push(Vec::with_capacity(weights.len()));
                    Place::List(lists.len() - 1)
                };
            }
        }
        let mut patterns = Patterns::<u64>::new();
        let mut left = [0; BLOCK];
        for (columns, weights) in background.iter().zip(weights.chunks(BLOCK)) {
            patterns.begin(nodes.len());
            for (index, &node) in nodes.iter().enumerate() {
                let rows = patterns.at(index).iter().zip(weights);
                match places[index] {
                    Place::Split => {
                        columns.decide(ensemble, node, &mut left);
                        patterns.descend(paths, index, node, &left, columns.rows());
                    }
                    Place::Bins(start) => {
                        rows.for_each(|(&pattern, weight)| bins[start + pattern as usize] += weight)
                    }
                    Place::List(list) => {
                        lists[list].extend(rows.map(|(&pattern, &weight)| (pattern, weight)))
                    }
                }
            }
        }
        let mut groups = Self { ranges: vec![(0, 0); nodes.len()], patterns: Vec::new() };
        for (index, place) in places.iter().enumerate() {
            let start = groups.patterns.len();
            match *place {
                Place::Split => {}
                Place::Bins(first) => {
                    let bins = &bins[first..first + (1 << paths.features(index).len())];
                    let seen = bins.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
                    groups.patterns.extend(seen.map(|(pattern, &weight)| (pattern as u64, weight)));
                }
                Place::List(list) => {
                    // Stable, so that the weights of a pattern are added in the order of the rows.
                    lists[list].sort_by_key(|&(pattern, _)| pattern);
                    for &(pattern, weight) in &lists[list] {
                        match groups.patterns[start..].last_mut() {
                            Some((last, sum)) if *last == pattern => *sum += weight,
                            _ => groups.patterns.push((pattern, weight)),
                        }
                    }
                }
            }
            groups.ranges[index] = (start, groups.patterns.len());
        }
        groups
    }

    /// The distinct patterns at a leaf and their weights.
    pub(crate) fn at(&self, leaf: usize) -> &[(u64, f64)] {
        let (start, end) = self.ranges[leaf];
        &self.patterns[start..end]
    }

    /// Distinct patterns of all leaves together.
    pub(crate) fn len(&self) -> usize {
        self.patterns.len()
    }
}

/// Where the patterns at a node are gathered.
#[derive(Clone, Copy)]
enum Place {
    Split,
    Bins(usize),
    List(usize),
}
