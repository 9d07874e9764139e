//! Gradient-boosted trees on coalition bits: a surrogate of a game with a known Walsh spectrum.
//!
//! Trees split on the presence of a player in the coalition. There is therefore only one way to split on a
//! player, histograms are sums over set bits, and no path tests a player twice.
//!
//! # Source
//!
//! Chen and Guestrin, *XGBoost: A Scalable Tree Boosting System*, KDD 2016. The loss is squared, and leaf
//! values and gains have a penalty λ.

use std::cmp::Ordering;

use apportion_games::Cancellation;
use hashbrown::HashMap;

use super::product::Product;

/// Boosting parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Boosting {
    /// The number of trees.
    pub(crate) trees: usize,
    /// The maximum number of splits on a path.
    pub(crate) depth: usize,
    /// The learning rate: a factor for the contribution of each tree.
    pub(crate) rate: f64,
}

/// Parameters of tree growth: constraints on splits, and the order of splitting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growth {
    /// The penalty on squared leaf values.
    pub(crate) penalty: f32,
    /// The minimum number of rows on either side of a split.
    pub(crate) min_rows: usize,
    /// The maximum number of leaves of a tree. Nodes with the largest gain are split first. If `None`, every
    /// node is split.
    pub(crate) max_leaves: Option<usize>,
}

impl Growth {
    /// Growth with a negligible penalty, in which every node is split.
    pub(crate) const FREE: Self = Self { penalty: 0.01, min_rows: 1, max_leaves: None };
    /// The defaults of XGBoost.
    pub(crate) const XGBOOST: Self = Self { penalty: 1.0, ..Self::FREE };
    /// The defaults of LightGBM.
    pub(crate) const LIGHTGBM: Self = Self { penalty: 0.0, min_rows: 20, max_leaves: Some(31) };
}

/// The minimum gain of a split, in units of the variance of the targets.
const MIN_GAIN: f32 = 1e-6;

/// A node: a split, or a leaf.
#[derive(Debug, Clone, Copy)]
enum Node {
    /// A split, with the child nodes for coalitions without and with the player.
    Split {
        player: u16,
        absent: u32,
        present: u32,
    },
    Leaf(f32),
}

/// A sum of trees that estimates the value of a coalition.
#[derive(Debug, Clone)]
pub(crate) struct BoostedTrees {
    base: f64,
    scale: f64,
    trees: Vec<Vec<Node>>,
}

/// Coalitions as rows of zeros and ones, padded to a multiple of eight columns.
pub(crate) struct Rows {
    players: usize,
    width: usize,
    len: usize,
    entries: Vec<f32>,
}

impl Rows {
    /// Creates the rows from consecutive signs of `players` players each.
    pub(crate) fn of_signs(players: usize, signs: impl Iterator<Item = f64>) -> Self {
        let width = players.next_multiple_of(8);
        let mut entries = Vec::new();
        let mut len = 0;
        for (at, sign) in signs.enumerate() {
            let player = at % players;
            if player == 0 {
                entries.resize(entries.len() + width, 0.0);
                len += 1;
            }
            if sign > 0.0 {
                let row = entries.len() - width;
                entries[row + player] = 1.0;
            }
        }
        Self { players, width, len, entries }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn row(&self, index: u32) -> &[f32] {
        &self.entries[index as usize * self.width..][..self.width]
    }

    fn has(&self, index: u32, player: u16) -> bool {
        self.entries[index as usize * self.width + player as usize] != 0.0
    }
}

/// The sum of the residuals and the number of rows of a node: in total, and for the rows that contain each
/// player.
#[derive(Clone)]
struct Histogram {
    sums: Vec<f32>,
    counts: Vec<f32>,
    sum: f32,
    count: f32,
}

impl Histogram {
    fn new(rows: &Rows, of_node: &[u32], residuals: &[f32]) -> Self {
        let mut histogram =
            Self { sums: vec![0.0; rows.width], counts: vec![0.0; rows.width], sum: 0.0, count: 0.0 };
        Cancellation::check();
        for &index in of_node {
            histogram.add(rows.row(index), residuals[index as usize]);
        }
        histogram
    }

    #[inline]
    fn add(&mut self, row: &[f32], residual: f32) {
        self.sum += residual;
        self.count += 1.0;
        for ((sum, count), entry) in self.sums.iter_mut().zip(&mut self.counts).zip(row) {
            *sum += residual * entry;
            *count += entry;
        }
    }

    /// Returns the difference between this histogram and `other`.
    fn without(mut self, other: &Self) -> Self {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum -= other);
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count -= other);
        self.sum -= other.sum;
        self.count -= other.count;
        self
    }

    /// Returns the best player to split on, and the gain of the split, or `None` if no split gains enough.
    fn best(&self, players: usize, growth: &Growth) -> Option<(u16, f32)> {
        let score = |sum: f32, count: f32| sum * sum / (count + growth.penalty);
        let own = score(self.sum, self.count);
        let min_rows = growth.min_rows as f32 - 0.5;
        let mut best = (MIN_GAIN, None);
        for (player, (&sum, &count)) in self.sums.iter().zip(&self.counts).enumerate().take(players) {
            let rest = self.count - count;
            if count < min_rows || rest < min_rows {
                continue;
            }
            let gain = score(sum, count) + score(self.sum - sum, rest) - own;
            if gain > best.0 {
                best = (gain, Some((player as u16, gain)));
            }
        }
        best.1
    }

    fn leaf(&self, rate: f32, growth: &Growth) -> f32 {
        rate * self.sum / (self.count + growth.penalty)
    }
}

impl BoostedTrees {
    /// Fits trees to one target per row.
    pub(crate) fn fit(rows: &Rows, targets: &[f64], boosting: Boosting) -> Self {
        Self::fit_grown(rows, targets, boosting, Growth::FREE)
    }

    /// Fits trees to one target per row, with the given growth parameters.
    pub(crate) fn fit_grown(rows: &Rows, targets: &[f64], boosting: Boosting, growth: Growth) -> Self {
        let len = targets.len().max(1) as f64;
        let base = targets.iter().sum::<f64>() / len;
        let variance = targets.iter().map(|target| (target - base).powi(2)).sum::<f64>() / len;
        let scale = variance.sqrt();
        if !(scale > 0.0 && rows.players > 0) {
            return Self { base, scale: 0.0, trees: Vec::new() };
        }
        let mut residuals: Vec<f32> = targets.iter().map(|target| ((target - base) / scale) as f32).collect();
        let mut order: Vec<u32> = (0..rows.len as u32).collect();
        let mut trees = Vec::with_capacity(boosting.trees);
        for _ in 0..boosting.trees {
            let mut nodes = Vec::new();
            let histogram = Histogram::new(rows, &order, &residuals);
            match growth.max_leaves {
                None => {
                    let depth = boosting.depth;
                    let how = (boosting.rate as f32, &growth);
                    grow(rows, &mut order, &mut residuals, histogram, depth, how, &mut nodes);
                }
                Some(most) => {
                    grow_by_gain(
                        rows,
                        &mut order,
                        &mut residuals,
                        histogram,
                        boosting,
                        (most, &growth),
                        &mut nodes,
                    );
                }
            }
            if let [Node::Leaf(_)] = nodes[..] {
                break;
            }
            trees.push(nodes);
        }
        Self { base, scale, trees }
    }

    /// Returns the prediction of the trees for a coalition.
    pub(crate) fn predict(&self, contains: impl Fn(usize) -> bool) -> f64 {
        let of_tree = |nodes: &[Node]| {
            let mut at = 0;
            loop {
                match nodes[at] {
                    Node::Leaf(value) => return f64::from(value),
                    Node::Split { player, absent, present } => {
                        at = if contains(player as usize) { present } else { absent } as usize;
                    }
                }
            }
        };
        self.base + self.scale * self.trees.iter().map(|nodes| of_tree(nodes)).sum::<f64>()
    }

    /// Returns the semivalue of the game that the trees predict, n numbers. `moment(a, b)` is a moment of the
    /// mixing measure of the semivalue.
    ///
    /// A leaf contributes its value v if the players A on its path are present and the players B are absent.
    /// With a = |A| and b = |B|, this adds `v · moment(a − 1, b)` to each player in A, and
    /// `−v · moment(a, b − 1)` to each player in B.
    pub(crate) fn semivalue(&self, players: usize, moment: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mut values = vec![0.0; players];
        for nodes in &self.trees {
            share_leaves(nodes, 0, &mut Vec::new(), &moment, &mut values);
        }
        values.iter_mut().for_each(|value| *value *= self.scale);
        values
    }

    /// Returns the Walsh coefficients of the trees: each product of players once, in order, with its
    /// coefficient. Each tree may split on at most 64 players.
    pub(crate) fn spectrum(&self) -> Vec<(Product, f64)> {
        let mut found: HashMap<Product, f64> = HashMap::new();
        found.insert(Product::EMPTY, self.base);
        for nodes in &self.trees {
            Cancellation::check();
            let players = players(nodes);
            debug_assert!(players.len() <= 64, "a tree supports at most 64 players, got {}", players.len());
            for (mask, coefficient) in expand(nodes, 0, &players) {
                let members = (0..players.len()).filter(|at| mask >> at & 1 == 1);
                let product = Product::from_players(members.map(|at| usize::from(players[at])));
                *found.entry(product).or_insert(0.0) += self.scale * coefficient;
            }
        }
        let mut spectrum: Vec<(Product, f64)> = found.into_iter().collect();
        spectrum.sort_unstable_by_key(|(product, _)| *product);
        spectrum
    }
}

/// Grows the node that contains the rows `order`, subtracts its predictions from their residuals, and returns
/// its index.
fn grow(
    rows: &Rows,
    order: &mut [u32],
    residuals: &mut [f32],
    histogram: Histogram,
    depth: usize,
    (rate, growth): (f32, &Growth),
    nodes: &mut Vec<Node>,
) -> u32 {
    let at = nodes.len();
    let split = if depth == 0 { None } else { histogram.best(rows.players, growth) };
    let Some((player, _)) = split else {
        let value = histogram.leaf(rate, growth);
        order.iter().for_each(|&index| residuals[index as usize] -= value);
        nodes.push(Node::Leaf(value));
        return at as u32;
    };
    nodes.push(Node::Leaf(0.0));
    let middle = partition(order, |index| !rows.has(index, player));
    let (without, with) = order.split_at_mut(middle);
    let (histogram_without, histogram_with) = if depth == 1 {
        // Leaves only need the sums of their histogram.
        let (sum, count) = (histogram.sums[player as usize], histogram.counts[player as usize]);
        let of = |sum, count| Histogram { sums: Vec::new(), counts: Vec::new(), sum, count };
        (of(histogram.sum - sum, histogram.count - count), of(sum, count))
    } else if without.len() <= with.len() {
        let less = Histogram::new(rows, without, residuals);
        let more = histogram.without(&less);
        (less, more)
    } else {
        let less = Histogram::new(rows, with, residuals);
        let more = histogram.without(&less);
        (more, less)
    };
    let how = (rate, growth);
    let absent = grow(rows, without, residuals, histogram_without, depth - 1, how, nodes);
    let present = grow(rows, with, residuals, histogram_with, depth - 1, how, nodes);
    nodes[at] = Node::Split { player, absent, present };
    at as u32
}

/// A leaf that may be split: its index among the nodes, the range of its rows in `order`, and its depth.
struct Open {
    at: usize,
    rows: std::ops::Range<usize>,
    depth: usize,
    histogram: Histogram,
    split: Option<(u16, f32)>,
}

/// Grows a tree leaf by leaf, with the largest gain first, and subtracts its predictions from the residuals.
fn grow_by_gain(
    rows: &Rows,
    order: &mut [u32],
    residuals: &mut [f32],
    histogram: Histogram,
    boosting: Boosting,
    (max_leaves, growth): (usize, &Growth),
    nodes: &mut Vec<Node>,
) {
    let open = |at: usize, of: std::ops::Range<usize>, depth: usize, histogram: Histogram| {
        let split = if depth == boosting.depth { None } else { histogram.best(rows.players, growth) };
        Open { at, rows: of, depth, histogram, split }
    };
    nodes.push(Node::Leaf(0.0));
    let mut leaves = vec![open(0, 0..order.len(), 0, histogram)];
    while leaves.len() < max_leaves {
        let gain = |leaf: &Open| leaf.split.map_or(0.0, |(_, gain)| gain);
        // Choose the first leaf among those with the largest gain.
        let best = (0..leaves.len()).rev().max_by(|&a, &b| gain(&leaves[a]).total_cmp(&gain(&leaves[b])));
        let Some((best, (player, _))) = best.and_then(|best| Some((best, leaves[best].split?))) else {
            break;
        };
        let leaf = leaves.swap_remove(best);
        let first = leaf.rows.start;
        let middle = first + partition(&mut order[leaf.rows.clone()], |index| !rows.has(index, player));
        let (without, with) = (first..middle, middle..leaf.rows.end);
        let (histogram_without, histogram_with) = if without.len() <= with.len() {
            let less = Histogram::new(rows, &order[without.clone()], residuals);
            let more = leaf.histogram.without(&less);
            (less, more)
        } else {
            let less = Histogram::new(rows, &order[with.clone()], residuals);
            let more = leaf.histogram.without(&less);
            (more, less)
        };
        let (absent, present) = (nodes.len(), nodes.len() + 1);
        nodes[leaf.at] = Node::Split { player, absent: absent as u32, present: present as u32 };
        nodes.extend([Node::Leaf(0.0); 2]);
        leaves.push(open(absent, without, leaf.depth + 1, histogram_without));
        leaves.push(open(present, with, leaf.depth + 1, histogram_with));
    }
    for leaf in leaves {
        let value = leaf.histogram.leaf(boosting.rate as f32, growth);
        order[leaf.rows].iter().for_each(|&index| residuals[index as usize] -= value);
        nodes[leaf.at] = Node::Leaf(value);
    }
}

/// Moves the indices that satisfy `is_first` to the front, without changing their order, and returns their
/// number.
fn partition(order: &mut [u32], is_first: impl Fn(u32) -> bool) -> usize {
    let rest: Vec<u32> = order.iter().copied().filter(|&index| !is_first(index)).collect();
    let mut first = 0;
    for at in 0..order.len() {
        if is_first(order[at]) {
            order[first] = order[at];
            first += 1;
        }
    }
    order[first..].copy_from_slice(&rest);
    first
}

/// Adds the contributions of the leaves below a node to the players' values. `path` contains the players on
/// the path, and whether each of them is present.
fn share_leaves(
    nodes: &[Node],
    at: usize,
    path: &mut Vec<(u16, bool)>,
    moment: &impl Fn(usize, usize) -> f64,
    values: &mut [f64],
) {
    match nodes[at] {
        Node::Leaf(value) => {
            let present = path.iter().filter(|(_, is_there)| *is_there).count();
            let absent = path.len() - present;
            let value = f64::from(value);
            for &(player, is_there) in path.iter() {
                values[player as usize] += match is_there {
                    true => value * moment(present - 1, absent),
                    false => -value * moment(present, absent - 1),
                };
            }
        }
        Node::Split { player, absent, present } => {
            for (to, is_there) in [(absent, false), (present, true)] {
                path.push((player, is_there));
                share_leaves(nodes, to as usize, path, moment, values);
                path.pop();
            }
        }
    }
}

/// Returns the players that a tree splits on, in order: at most `2^d − 1` for depth d.
fn players(nodes: &[Node]) -> Vec<u16> {
    let split = |node: &Node| match node {
        Node::Split { player, .. } => Some(*player),
        Node::Leaf(_) => None,
    };
    let mut players: Vec<u16> = nodes.iter().filter_map(split).collect();
    players.sort_unstable();
    players.dedup();
    players
}

/// Returns the Walsh coefficients of the game that a node defines, by masks of the tree's players, in
/// ascending order. If y and n are the coefficients of the children with and without the player, those of the
/// node are `(y + n)/2`, and `(y − n)/2` times the player's sign.
fn expand(nodes: &[Node], at: usize, players: &[u16]) -> Vec<(u64, f64)> {
    match nodes[at] {
        Node::Leaf(value) => vec![(0, f64::from(value))],
        Node::Split { player, absent, present } => {
            let (without, with) =
                (expand(nodes, absent as usize, players), expand(nodes, present as usize, players));
            let alone = joined(&without, &with, 0.5);
            let mut signed = joined(&without, &with, -0.5);
            // No product below the node contains the player, so the masks stay in order.
            let own = 1 << players.partition_point(|&other| other < player);
            signed.iter_mut().for_each(|(mask, _)| *mask += own);
            sum_of(&alone, &signed)
        }
    }
}

/// Returns `½ with + factor · without` for sorted lists.
fn joined(without: &[(u64, f64)], with: &[(u64, f64)], factor: f64) -> Vec<(u64, f64)> {
    let scaled = |terms: &[(u64, f64)], factor: f64| -> Vec<(u64, f64)> {
        terms.iter().map(|&(mask, coefficient)| (mask, factor * coefficient)).collect()
    };
    sum_of(&scaled(without, factor), &scaled(with, 0.5))
}

/// Returns the sum of two sorted lists.
fn sum_of(left: &[(u64, f64)], right: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let mut sum = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        match left[i].0.cmp(&right[j].0) {
            Ordering::Less => {
                sum.push(left[i]);
                i += 1;
            }
            Ordering::Greater => {
                sum.push(right[j]);
                j += 1;
            }
            Ordering::Equal => {
                sum.push((left[i].0, left[i].1 + right[j].1));
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    sum.extend(&left[i..]);
    sum.extend(&right[j..]);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all coalitions of `players` players as signs, and their values in a game with three Walsh
    /// terms.
    fn all(players: usize) -> (Rows, Vec<f64>) {
        let masks = 0u32..1 << players;
        let sign = move |mask: u32, player: usize| if mask >> player & 1 == 1 { 1.0 } else { -1.0 };
        let signs = masks.clone().flat_map(|mask| (0..players).map(move |player| sign(mask, player)));
        let value = |mask: u32| {
            let x = |player: usize| sign(mask, player % players);
            3.0 + x(0) + 0.5 * x(1) * x(2) - 2.0 * x(0) * x(1) * x(3)
        };
        (Rows::of_signs(players, signs), masks.map(value).collect())
    }

    const BOOSTING: Boosting = Boosting { trees: 60, depth: 4, rate: 0.3 };

    #[test]
    fn the_spectrum_is_that_of_what_the_trees_say() {
        for players in [1, 2, 5, 8, 9] {
            let (rows, targets) = all(players);
            let trees = BoostedTrees::fit(&rows, &targets, BOOSTING);
            let spectrum = trees.spectrum();
            assert!(spectrum.windows(2).all(|pair| pair[0].0 < pair[1].0), "each product once, in order");
            for mask in 0u32..1 << players {
                let contains = |player: usize| mask >> player & 1 == 1;
                let sum: f64 = spectrum.iter().map(|(product, c)| c * product.sign(contains)).sum();
                let said = trees.predict(contains);
                assert!((sum - said).abs() < 1e-5, "{players} players: {sum} {said}");
            }
        }
    }

    #[test]
    fn of_a_constant_there_are_no_trees() {
        let (rows, targets) = all(4);
        let trees = BoostedTrees::fit(&rows, &vec![7.0; targets.len()], BOOSTING);
        assert_eq!(trees.spectrum(), [(Product::EMPTY, 7.0)]);
    }

    #[test]
    fn histograms_by_subtraction_split_as_histograms_of_the_rows() {
        // The first split is on the player that explains most. This is player 0, because the targets hardly
        // depend on the other players.
        let (rows, _) = all(6);
        let targets: Vec<f64> =
            (0..64).map(|mask| f64::from(mask & 1) * 5.0 + f64::from(mask % 7) * 0.1).collect();
        let trees = BoostedTrees::fit(&rows, &targets, Boosting { trees: 1, depth: 1, rate: 1.0 });
        let difference = trees.predict(|player| player == 0) - trees.predict(|_| false);
        let mean = |bit: usize| targets.iter().skip(bit).step_by(2).sum::<f64>() / 32.0;
        assert!((difference - (mean(1) - mean(0))).abs() < 2e-3);
    }
}
