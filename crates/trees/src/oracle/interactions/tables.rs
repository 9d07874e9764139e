//! A block of explicands against the histograms of the background, by looking up.
//!
//! As in [`tables`](crate::oracle::tables), with a column for each pair of path features: one table serves both leaves below a split,
//! and its index is the pattern at the split and the split's own decision.

use super::fill::Fill;
use super::pairs::{Pairs, places};
use crate::moments::Moments;
use crate::oracle::histograms::Histograms;
use crate::tables::paths::{BLOCK, Columns, Paths, Patterns};
use crate::tables::shape::MOST_BITS;
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// The tables of one tree.
pub(crate) struct PairTables {
    /// Per split: where its table lies in `values`; `None` where no leaf is below it.
    starts: Vec<Option<usize>>,
    /// Per table: a column of 2^bits numbers for each pair of path features.
    values: Vec<f64>,
}

/// Numbers that the tables of a tree hold; `None` where an index would have too many bits.
pub(crate) fn size(nodes: &[Node], paths: &Paths) -> Option<usize> {
    let mut size = 0;
    for (index, node) in nodes.iter().enumerate() {
        if !node.is_leaf() && (nodes[node.left()].is_leaf() || nodes[node.right()].is_leaf()) {
            let bits = paths.features(index).len() + 1;
            if bits > MOST_BITS {
                return None;
            }
            let features = paths.features(node.left()).len();
            size += (features * (features - 1) / 2) << bits;
        }
    }
    Some(size)
}

impl PairTables {
    pub(crate) fn new(nodes: &[Node], paths: &Paths, histograms: &Histograms, moments: &Moments) -> Self {
        let mut tables = Self { starts: vec![None; nodes.len()], values: Vec::new() };
        let mut fill = Fill::default();
        let mut pattern_at = Vec::new();
        for (index, &node) in nodes.iter().enumerate() {
            if node.is_leaf() || !(nodes[node.left()].is_leaf() || nodes[node.right()].is_leaf()) {
                continue;
            }
            let above = paths.features(index).len();
            let (length, half) = (2 << above, 1 << above);
            let features = paths.features(node.left()).len();
            if features < 2 {
                continue;
            }
            let start = tables.values.len();
            tables.values.resize(start + features * (features - 1) / 2 * length, 0.0);
            tables.starts[index] = Some(start);
            for (leaf, is_left) in [(node.left(), true), (node.right(), false)] {
                if !nodes[leaf].is_leaf() || nodes[leaf].value() == 0.0 {
                    continue;
                }
                let shares = fill.leaf(features, nodes[leaf].value(), histograms.at(leaf), moments);
                pattern_at.clear();
                pattern_at.extend((0..length).map(|place| {
                    let passed = (place >= half) == is_left;
                    paths.child_pattern(index, (place & (half - 1)) as u64, passed) as usize
                }));
                for (column, shares) in
                    tables.values[start..].chunks_exact_mut(length).zip(shares.chunks_exact(1 << features))
                {
                    for (value, &pattern) in column.iter_mut().zip(&pattern_at) {
                        *value += shares[pattern];
                    }
                }
            }
        }
        tables
    }
}

/// The memory of the kernel, made once per thread.
pub(crate) struct PairLookup {
    patterns: Patterns<u32>,
}

impl PairLookup {
    pub(crate) fn new() -> Self {
        Self { patterns: Patterns::new() }
    }

    /// Adds the interactions on one tree to `phi`, a number for each of the rows per pair.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        (paths, tables): (&Paths, &PairTables),
        pairs: &Pairs,
        columns: &Columns,
        phi: &mut [f64],
    ) {
        let rows = columns.rows();
        self.patterns.begin(nodes.len());
        let mut left = [0; BLOCK];
        for (index, &node) in nodes.iter().enumerate() {
            if node.is_leaf() {
                continue;
            }
            columns.decide(ensemble, node, &mut left);
            if let Some(start) = tables.starts[index] {
                let above = paths.features(index).len();
                let mut places_of = [0; BLOCK];
                for ((place, &pattern), &left) in places_of.iter_mut().zip(self.patterns.at(index)).zip(&left)
                {
                    *place = pattern | left << above;
                }
                let features = paths.features(node.left());
                let table = tables.values[start..].chunks_exact(2 << above);
                for ((low, high), column) in places(features.len()).zip(table) {
                    let number = pairs.number(features[low], features[high]);
                    add_column(column, &places_of, &mut phi[number * rows..][..rows]);
                }
            }
            self.patterns.descend(paths, index, node, &left, rows);
        }
    }
}

/// `phi[r] += column[places[r]]`. The length of a column is a power of two that the compiler must know to leave out bounds checks.
fn add_column(column: &[f64], places: &[u32; BLOCK], phi: &mut [f64]) {
    fn add<const LENGTH: usize>(column: &[f64], places: &[u32; BLOCK], phi: &mut [f64]) {
        let Some(column) = column.first_chunk::<LENGTH>() else { return };
        for (phi, &place) in phi.iter_mut().zip(places) {
            *phi += column[place as usize & (LENGTH - 1)];
        }
    }
    match column.len() {
        2 => add::<2>(column, places, phi),
        4 => add::<4>(column, places, phi),
        8 => add::<8>(column, places, phi),
        16 => add::<16>(column, places, phi),
        32 => add::<32>(column, places, phi),
        64 => add::<64>(column, places, phi),
        128 => add::<128>(column, places, phi),
        _ => {
            for (phi, &place) in phi.iter_mut().zip(places) {
                *phi += column[place as usize];
            }
        }
    }
}
