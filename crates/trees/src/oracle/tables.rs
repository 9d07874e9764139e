//! A block of explicands against the histograms of the background, by looking up.
//!
//! The values on a leaf depend on the explicand only through its pattern P of the leaf's d path features, so they can be written
//! down for all 2^d patterns once and looked up for every row. Let G_s\[C\] be the weight of background patterns M ⊇ C with |M| =
//! s (superset sums, d·2^d additions for each s), and C = ¬P the features that only the background can satisfy. With value v,
//!
//! ```text
//! i ∈ P:  φ_i = v Σ_s (G_s[C] − G_s[C ∪ i]) · M(d − s − 1, |C|)
//! i ∉ P:  φ_i = −v Σ_s G_s[C] · M(d − s, |C| − 1)
//! ```
//!
//! which is the sum of [`masks`](super::masks) over M, sorted by size. One table serves both leaves below a split: its index is
//! the pattern at the split and the split's own decision.

use super::coalitional;
use super::explain::Weights;
use super::histograms::Histograms;
use super::masks::ones;
use super::paths::{BLOCK, Columns, Paths, Patterns, all_of};
use crate::ensemble::{Ensemble, Node};
use crate::moments::Moments;

/// Most bits of an index, that is path features of a split with a leaf below it, and one.
pub(crate) const MOST_BITS: usize = 12;

/// The tables of one tree.
pub(crate) struct Tables {
    /// Per split: where its table lies in `values`; `None` where no leaf is below it.
    starts: Vec<Option<usize>>,
    /// Per table: a column of 2^bits values for each path feature.
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
            size += paths.features(node.left()).len() << bits;
        }
    }
    Some(size)
}

impl Tables {
    pub(crate) fn new(nodes: &[Node], paths: &Paths, histograms: &Histograms, weights: &Weights) -> Self {
        let mut tables = Self { starts: vec![None; nodes.len()], values: Vec::new() };
        let (mut fill, mut grouped_fill) = (Fill::default(), coalitional::Fill::default());
        for (index, &node) in nodes.iter().enumerate() {
            if node.is_leaf() || !(nodes[node.left()].is_leaf() || nodes[node.right()].is_leaf()) {
                continue;
            }
            let above = paths.features(index).len();
            let (length, half) = (2 << above, 1 << above);
            let names = paths.features(node.left());
            let features = names.len();
            let start = tables.values.len();
            tables.values.resize(start + features * length, 0.0);
            tables.starts[index] = Some(start);
            for (leaf, is_left) in [(node.left(), true), (node.right(), false)] {
                if !nodes[leaf].is_leaf() || nodes[leaf].value() == 0.0 {
                    continue;
                }
                let (value, histogram) = (nodes[leaf].value(), histograms.at(leaf));
                let shares = match weights {
                    Weights::Alike(moments) => fill.leaf(features, value, histogram, moments),
                    Weights::Grouped(grouped) => grouped_fill.leaf(names, value, histogram, grouped),
                };
                for (column, shares) in
                    tables.values[start..].chunks_exact_mut(length).zip(shares.chunks_exact(1 << features))
                {
                    for (place, value) in column.iter_mut().enumerate() {
                        let passed = (place >= half) == is_left;
                        let pattern =
                            paths.child_pattern(index, (place & (half - 1)) as u64, passed) as usize;
                        *value += shares[pattern];
                    }
                }
            }
        }
        tables
    }
}

/// The memory of the kernel, made once per thread.
pub(crate) struct Lookup {
    patterns: Patterns<u32>,
}

impl Lookup {
    pub(crate) fn new() -> Self {
        Self { patterns: Patterns::new() }
    }

    /// Adds the values on one tree to `phi`, [`BLOCK`] numbers per feature.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        paths: &Paths,
        tables: &Tables,
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
                let mut places = [0; BLOCK];
                for ((place, &pattern), &left) in places.iter_mut().zip(self.patterns.at(index)).zip(&left) {
                    *place = pattern | left << above;
                }
                let features = paths.features(node.left());
                let table = &tables.values[start..start + (features.len() << (above + 1))];
                for (column, &feature) in table.chunks_exact(2 << above).zip(features) {
                    let phi = &mut phi[feature as usize * BLOCK..][..rows];
                    add_column(column, &places, phi);
                }
            }
            self.patterns.descend(paths, index, node, &left, rows);
        }
    }
}

/// `phi[r] += column[places[r]]`. The length of a column is a power of two that the compiler must know to leave out bounds checks.
pub(crate) fn add_column(column: &[f64], places: &[u32; BLOCK], phi: &mut [f64]) {
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

/// Values of one leaf for every pattern of the explicand; the memory is kept between leaves.
#[derive(Default)]
struct Fill {
    shares: Vec<f64>,
    /// What each missing feature loses, by the set of those missing.
    lost: Vec<f64>,
    sums: Vec<f64>,
}

impl Fill {
    /// A column of 2^d values for each of the d path features: `shares[j · 2^d + P]`.
    fn leaf(&mut self, features: usize, value: f64, histogram: &[(u64, f64)], moments: &Moments) -> &[f64] {
        self.shares.clear();
        self.shares.resize(features << features, 0.0);
        // Adding pattern by pattern visits the 2^|M| explicands that complete each M; superset sums visit all, once per size.
        let steps = |pattern: u64| (features + 2 - pattern.count_ones() as usize) << pattern.count_ones();
        let direct: usize = histogram.iter().map(|&(pattern, _)| steps(pattern)).sum();
        let supersets = (features * (features + 1) / 2 + 5 * features) << features;
        if direct <= supersets {
            self.directly(features, value, histogram, moments);
        } else {
            self.by_supersets(features, value, histogram, moments);
        }
        &self.shares
    }

    fn directly(&mut self, features: usize, value: f64, histogram: &[(u64, f64)], moments: &Moments) {
        let all = all_of(features);
        self.lost.clear();
        self.lost.resize(1 << features, 0.0);
        for &(background, weight) in histogram {
            let own = all & !background;
            for missing in subsets(background) {
                let (gain, loss) = moments.shares(own.count_ones() as usize, missing.count_ones() as usize);
                self.lost[missing as usize] += weight * value * loss;
                add_share(&mut self.shares, features, own, all & !missing, weight * value * gain);
            }
        }
        for (missing, &lost) in self.lost.iter().enumerate() {
            add_share(&mut self.shares, features, missing as u64, all & !missing as u64, -lost);
        }
    }

    fn by_supersets(&mut self, features: usize, value: f64, histogram: &[(u64, f64)], moments: &Moments) {
        let patterns = 1usize << features;
        self.sums.clear();
        self.sums.resize((features + 1) * patterns, 0.0);
        for &(background, weight) in histogram {
            self.sums[background.count_ones() as usize * patterns + background as usize] += weight * value;
        }
        for sums in self.sums.chunks_exact_mut(patterns) {
            for feature in 0..features {
                let step = 1 << feature;
                for pair in sums.chunks_exact_mut(2 * step) {
                    let (without, with) = pair.split_at_mut(step);
                    for (without, with) in without.iter_mut().zip(with) {
                        *without += *with;
                    }
                }
            }
        }
        // For a set C of c features: Σ_s G_s[C] · M(d − s − 1, c − 1), to be taken off for the features in C one by one.
        let weighted = |set: usize, first: usize, rest: usize| -> f64 {
            (set.count_ones() as usize..=first)
                .map(|size| self.sums[size * patterns + set] * moments.get(first - size, rest))
                .sum()
        };
        let without: Vec<f64> = (0..patterns)
            .map(|set| match set.count_ones() as usize {
                0 => 0.0,
                count => weighted(set, features - 1, count - 1),
            })
            .collect();
        for pattern in 0..patterns {
            let missing = !pattern & (patterns - 1);
            let rest = missing.count_ones() as usize;
            let gained = weighted(missing, features - 1, rest);
            let lost = if rest > 0 { weighted(missing, features, rest - 1) } else { 0.0 };
            for feature in 0..features {
                self.shares[feature << features | pattern] = if pattern >> feature & 1 == 1 {
                    gained - without[missing | 1 << feature]
                } else {
                    -lost
                };
            }
        }
    }
}

/// Adds a share of each of `features` for explicands of one `pattern` of `bits` features.
pub(crate) fn add_share(shares: &mut [f64], bits: usize, features: u64, pattern: u64, share: f64) {
    for bit in ones(features) {
        shares[bit << bits | pattern as usize] += share;
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

    #[test]
    fn superset_sums_and_direct_sums_fill_the_same_table() {
        let others = [Semivalue::weighted_banzhaf(0.2).unwrap(), Semivalue::beta_shapley(4.0, 0.5).unwrap()];
        for value in [Semivalue::Shapley, Semivalue::Banzhaf].into_iter().chain(others) {
            for features in 1..=7 {
                let moments = Moments::new(value.clone(), features);
                let histogram: Vec<(u64, f64)> = (0..1u64 << features)
                    .filter(|pattern| pattern % 3 != 1)
                    .map(|pattern| (pattern, 0.01 + (pattern * 7 % 5) as f64))
                    .collect();
                let mut fills = [Fill::default(), Fill::default()];
                for fill in &mut fills {
                    fill.shares.resize(features << features, 0.0);
                }
                fills[0].directly(features, -1.5, &histogram, &moments);
                fills[1].by_supersets(features, -1.5, &histogram, &moments);
                let scale: f64 = histogram.iter().map(|(_, weight)| weight).sum();
                for (a, b) in fills[0].shares.iter().zip(&fills[1].shares) {
                    assert!((a - b).abs() < 1e-14 * scale, "{value}, {features} features: {a} != {b}");
                }
            }
        }
    }
}
