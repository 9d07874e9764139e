//! The tables of one tree.
//!
//! Every leaf has values for each pattern of an explicand, as the game defines them. The table of a split is
//! assembled from the tables of its two children: its index encodes the pattern at either child and the
//! decisions of the splits below.

use std::sync::Arc;

use apportion_games::Cancellation;

use super::fill::{Fill, Leaf, Split};
use super::fill_groups::FillGroups;
use super::fill_levels::FillLevels;
use super::fill_pairs::FillPairs;
use super::number::Number;
use super::shape::{Layout, Region, Shape, for_each_target};
use crate::engine::moments::Moments;
use crate::engine::pairs::PairWeights;
use crate::engine::paths::Paths;
use crate::engine::weights::Weights;
use apportion_models::tree::Node;

/// The distribution of the absent players at a leaf.
pub(crate) trait AbsentDistribution {
    /// Returns the possible patterns of the absent players at a leaf, in ascending order, with their weights.
    fn at(&mut self, leaf: usize, paths: &Paths) -> &[(u64, f64)];
}

/// The tables of one tree.
#[derive(Debug)]
pub(crate) struct Tables<N> {
    pub(crate) shape: Arc<Shape>,
    /// The tables of all regions, each stored entry by entry or column by column.
    numbers: Vec<N>,
    /// The index of the first number. It is aligned to a cache line, so that no entry spans more lines than
    /// necessary.
    first: usize,
}

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// Returns an array of at least `size` numbers after an unused prefix, and the length of that prefix, which
/// aligns the first number to a cache line. Reuses `memory` if its size is sufficient and not excessive;
/// otherwise allocates zeros.
pub(super) fn aligned<N: Copy + Default>(memory: Vec<N>, size: usize) -> (Vec<N>, usize) {
    let spare = LINE / size_of::<N>();
    let fits = size + spare..=2 * (size + spare);
    let numbers = if fits.contains(&memory.len()) { memory } else { vec![N::default(); size + spare] };
    let first = numbers.as_ptr().align_offset(LINE).min(spare);
    (numbers, first)
}

impl<N: Number> Tables<N> {
    /// Computes the tables, reusing `memory` of other tables if it fits.
    pub(crate) fn new(
        nodes: &[Node],
        paths: &Paths,
        shape: Arc<Shape>,
        weights: &Weights,
        distribution: &mut dyn AbsentDistribution,
        memory: Vec<N>,
    ) -> Self {
        let (mut all, first) = aligned(memory, shape.size);
        let numbers = &mut all[first..];
        let mut builder = Builder {
            nodes,
            paths,
            shape: &shape,
            weights,
            distribution,
            fill: Fill::default(),
            fill_groups: FillGroups::default(),
            fill_levels: FillLevels::default(),
            fill_pairs: Default::default(),
            lanes: Vec::new(),
            spare: Vec::new(),
        };
        for region in &shape.regions {
            Cancellation::check();
            let size = region.width << region.bits;
            let numbers = &mut numbers[region.start..region.start + size];
            match (weights, shape.splits(region)) {
                (Weights::Alike(moments), &[split]) => {
                    builder.split(split as usize, region, moments, numbers);
                    continue;
                }
                (Weights::Pairs(pairs), &[split]) => {
                    builder.split_of_pairs(split as usize, pairs, numbers);
                    continue;
                }
                _ => {}
            }
            let entries = builder.region(region);
            match shape.layout {
                Layout::Lanes(_) => {
                    for (number, &value) in numbers.iter_mut().zip(&entries) {
                        *number = N::nearest(value);
                    }
                }
                Layout::Columns | Layout::Pairs => {
                    for (lane, column) in numbers.chunks_exact_mut(1 << region.bits).enumerate() {
                        for (number, &value) in
                            column.iter_mut().zip(entries[lane..].iter().step_by(region.width))
                        {
                            *number = N::nearest(value);
                        }
                    }
                }
            }
            builder.spare.push(entries);
        }
        Self { shape, numbers: all, first }
    }

    /// Returns the memory, for reuse by other tables.
    pub(crate) fn into_memory(self) -> Vec<N> {
        self.numbers
    }

    /// Returns the numbers of all tables.
    pub(crate) fn numbers(&self) -> &[N] {
        &self.numbers[self.first..]
    }
}

/// The inputs and working memory for assembling a table.
struct Builder<'a> {
    nodes: &'a [Node],
    paths: &'a Paths,
    shape: &'a Shape,
    weights: &'a Weights,
    distribution: &'a mut dyn AbsentDistribution,
    fill: Fill,
    fill_groups: FillGroups,
    fill_levels: FillLevels,
    /// The working memory for pairs, one for each child of a split.
    fill_pairs: [FillPairs; 2],
    lanes: Vec<usize>,
    /// Freed tables whose memory is reused.
    spare: Vec<Vec<f64>>,
}

impl Builder<'_> {
    /// Writes the table of a split and its leaf children.
    fn split<N: Number>(&mut self, split: usize, region: &Region, moments: &Moments, table: &mut [N]) {
        let node = self.nodes[split];
        self.set_lanes(node.left(), region);
        let split = Split {
            above: self.paths.features(split).len(),
            bit: self.paths.bit(split) as usize,
            lanes: &self.lanes,
            layout: self.shape.layout,
        };
        for (side, child) in [node.right(), node.left()].into_iter().enumerate() {
            let child_node = self.nodes[child];
            let leaf = match child_node.is_leaf() && child_node.value() != 0.0 {
                true => (child_node.value(), self.distribution.at(child, self.paths)),
                false => (0.0, &[][..]),
            };
            self.fill.take_child(&split, side, leaf, moments);
        }
        self.fill.write_split(&split, table);
    }

    /// Writes the table of a split and its leaf children for pairs, whose columns are ordered by
    /// [`place`](crate::engine::pairs::place).
    fn split_of_pairs<N: Number>(
        &mut self,
        split: usize,
        PairWeights { moments, .. }: &PairWeights,
        table: &mut [N],
    ) {
        let (paths, node) = (self.paths, self.nodes[split]);
        let above = paths.features(split).len();
        let (length, half) = (2 << above, 1 << above);
        let features = paths.features(node.left()).len();
        let [left, right] = &mut self.fill_pairs;
        let mut shares = |fill: &mut FillPairs, leaf: usize| {
            let value = if self.nodes[leaf].is_leaf() { self.nodes[leaf].value() } else { 0.0 };
            let distribution = if value == 0.0 { &[] } else { self.distribution.at(leaf, paths) };
            fill.leaf(features, value, distribution, moments);
        };
        shares(left, node.left());
        shares(right, node.right());
        let pattern = |place: usize, is_left: bool| {
            let passed = (place >= half) == is_left;
            paths.child_pattern(split, (place & (half - 1)) as u64, passed) as usize
        };
        self.lanes.clear();
        self.lanes.extend((0..length).flat_map(|place| [pattern(place, true), pattern(place, false)]));
        let patterns = self.lanes.as_chunks::<2>().0;
        let shares =
            left.shares().chunks_exact(1 << features).zip(right.shares().chunks_exact(1 << features));
        for (column, (left, right)) in table.chunks_exact_mut(length).zip(shares) {
            for (number, &[on_left, on_right]) in column.iter_mut().zip(patterns) {
                *number = N::nearest(left[on_left] + right[on_right]);
            }
        }
    }

    /// Sets the positions of the path features of a leaf.
    fn set_lanes(&mut self, leaf: usize, region: &Region) {
        let features = self.paths.features(leaf);
        self.lanes.clear();
        match self.shape.layout {
            Layout::Lanes(_) => self.lanes.extend(features.iter().map(|&player| player as usize)),
            Layout::Columns | Layout::Pairs => {
                let targets = self.shape.players(region);
                for_each_target(features, self.weights, |target| {
                    self.lanes.extend(targets.iter().position(|&known| known == target));
                });
            }
        }
    }

    /// Computes the table of a region, entry by entry.
    fn region(&mut self, region: &Region) -> Vec<f64> {
        let splits = self.shape.splits(region);
        let root = splits[0] as usize;
        if splits.len() == self.shape.splits_below(root) {
            self.whole(root, region)
        } else {
            // The region is the split with its leaf children.
            let node = self.nodes[root];
            let mut below = |child: usize| match self.nodes[child].is_leaf() {
                true => self.whole(child, region),
                false => Vec::new(),
            };
            let (left, right) = (below(node.left()), below(node.right()));
            self.put_together(root, region, [left, right], [0, 0])
        }
    }

    /// Computes the table of all leaves at and below a node. The recursion is at most as deep as an index has
    /// bits.
    fn whole(&mut self, node: usize, region: &Region) -> Vec<f64> {
        Cancellation::check();
        if self.nodes[node].is_leaf() {
            return self.leaf(node, region);
        }
        let [left, right] = [self.nodes[node].left(), self.nodes[node].right()];
        let inner = [left, right].map(|child| self.shape.splits_below(child));
        let tables = [self.whole(left, region), self.whole(right, region)];
        self.put_together(node, region, tables, inner)
    }

    fn leaf(&mut self, leaf: usize, region: &Region) -> Vec<f64> {
        let features = self.paths.features(leaf);
        let mut entries = self.zeros(region.width << features.len());
        let value = self.nodes[leaf].value();
        if value == 0.0 || features.is_empty() {
            return entries;
        }
        self.set_lanes(leaf, region);
        let distribution = self.distribution.at(leaf, self.paths);
        let leaf = Leaf { value, distribution, lanes: &self.lanes, width: region.width };
        match self.weights {
            Weights::Alike(moments) => self.fill.write(&leaf, moments, &mut entries),
            Weights::Grouped(grouped) => self.fill_groups.write(&leaf, features, grouped, &mut entries),
            Weights::OverHierarchy(levels) => self.fill_levels.write(&leaf, features, levels, &mut entries),
            Weights::Pairs(PairWeights { moments, .. }) => {
                let fill = &mut self.fill_pairs[0];
                fill.leaf(features.len(), value, leaf.distribution, moments);
                for (column, &lane) in fill.shares().chunks_exact(1 << features.len()).zip(leaf.lanes) {
                    for (entry, &share) in entries.chunks_exact_mut(leaf.width).zip(column) {
                        entry[lane] = share;
                    }
                }
            }
        }
        entries
    }

    /// Assembles the table of a split from the tables of its children, which are empty for a child outside
    /// the region, and have the given numbers of decisions in their indices.
    fn put_together(
        &mut self,
        split: usize,
        region: &Region,
        [left, right]: [Vec<f64>; 2],
        [left_decisions, right_decisions]: [usize; 2],
    ) -> Vec<f64> {
        let width = region.width;
        let node = self.nodes[split];
        let above = self.paths.features(split).len();
        let [left_above, right_above] =
            [node.left(), node.right()].map(|child| self.paths.features(child).len());
        let mut entries = self.zeros(width << (above + 1 + left_decisions + right_decisions));
        let paths = self.paths;
        let places = |place: usize| {
            let pattern = place as u64 & ((1 << above) - 1);
            let goes_left = place >> above & 1 == 1;
            let decisions = place >> (above + 1);
            let left_place = paths.child_pattern(split, pattern, goes_left) as usize
                | (decisions & ((1 << left_decisions) - 1)) << left_above;
            let right_place = paths.child_pattern(split, pattern, !goes_left) as usize
                | (decisions >> left_decisions) << right_above;
            [left_place, right_place]
        };
        match width {
            4 => add_children::<4>(&mut entries, [&left, &right], places),
            8 => add_children::<8>(&mut entries, [&left, &right], places),
            16 => add_children::<16>(&mut entries, [&left, &right], places),
            _ => {
                for (place, entry) in entries.chunks_exact_mut(width).enumerate() {
                    for (table, place) in [&left, &right].into_iter().zip(places(place)) {
                        if !table.is_empty() {
                            add(entry, &table[place * width..(place + 1) * width]);
                        }
                    }
                }
            }
        }
        self.spare.extend([left, right]);
        entries
    }

    fn zeros(&mut self, size: usize) -> Vec<f64> {
        let mut entries = self.spare.pop().unwrap_or_default();
        entries.clear();
        entries.resize(size, 0.0);
        entries
    }
}

/// Writes to each entry the sum of the matching entries of the children that are not empty.
fn add_children<const WIDTH: usize>(
    entries: &mut [f64],
    children: [&Vec<f64>; 2],
    places: impl Fn(usize) -> [usize; 2],
) {
    let entries = entries.as_chunks_mut::<WIDTH>().0;
    match children.map(|child| child.as_chunks::<WIDTH>().0) {
        [left, []] => {
            entries.iter_mut().enumerate().for_each(|(place, entry)| *entry = left[places(place)[0]])
        }
        [[], right] => {
            entries.iter_mut().enumerate().for_each(|(place, entry)| *entry = right[places(place)[1]]);
        }
        [left, right] => {
            for (place, entry) in entries.iter_mut().enumerate() {
                let [left_place, right_place] = places(place);
                *entry = left[left_place];
                add(entry, &right[right_place]);
            }
        }
    }
}

#[inline(always)]
fn add(sums: &mut [f64], numbers: &[f64]) {
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum += number;
    }
}
