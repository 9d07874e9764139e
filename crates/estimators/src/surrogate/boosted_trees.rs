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

/// The number of columns of a histogram that are summed in one pass over the rows.
const COLUMNS: usize = 16;
/// The number of players that a mask can represent.
const MASK_BITS: usize = u64::BITS as usize;

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

/// Coalitions as rows of zeros and ones, in blocks of [`COLUMNS`] columns.
pub(crate) struct Rows {
    players: usize,
    len: usize,
    /// For each block of columns, the entries of all rows.
    entries: Vec<[f32; COLUMNS]>,
}

impl Rows {
    /// Creates the rows from consecutive signs of `players` players each.
    pub(crate) fn of_signs(players: usize, signs: impl Iterator<Item = f64>) -> Self {
        let present: Vec<bool> = signs.map(|sign| sign > 0.0).collect();
        let len = present.len() / players.max(1);
        let mut entries = vec![[0.0; COLUMNS]; players.div_ceil(COLUMNS) * len];
        for (at, _) in present.iter().enumerate().filter(|(_, is_present)| **is_present) {
            let (row, player) = (at / players, at % players);
            entries[player / COLUMNS * len + row][player % COLUMNS] = 1.0;
        }
        Self { players, len, entries }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the blocks of columns, each with all rows.
    fn blocks(&self) -> std::slice::ChunksExact<'_, [f32; COLUMNS]> {
        self.entries.chunks_exact(self.len.max(1))
    }

    fn has(&self, index: u32, player: u16) -> bool {
        let (block, column) = (player as usize / COLUMNS, player as usize % COLUMNS);
        self.entries[block * self.len + index as usize][column] != 0.0
    }
}

/// The sum of the residuals and the number of rows of a node: in total, and for the rows that contain each
/// player.
#[derive(Default)]
struct Histogram {
    sums: Vec<f32>,
    counts: Vec<f32>,
    sum: f32,
    count: f32,
}

impl Histogram {
    /// Returns the histogram of the rows `of_node`, and reuses the memory of this histogram for it.
    fn refilled(mut self, rows: &Rows, of_node: &[u32], residuals: &[f32]) -> Self {
        Cancellation::check();
        self.sums.clear();
        self.counts.clear();
        for block in rows.blocks() {
            // The sums of a block stay in registers.
            let (mut sums, mut counts) = ([0.0f32; COLUMNS], [0.0f32; COLUMNS]);
            for &index in of_node {
                let residual = residuals[index as usize];
                let entries = &block[index as usize];
                for ((sum, count), entry) in sums.iter_mut().zip(&mut counts).zip(entries) {
                    *sum += residual * entry;
                    *count += entry;
                }
            }
            self.sums.extend(sums);
            self.counts.extend(counts);
        }
        self.sum = of_node.iter().fold(0.0, |sum, &index| sum + residuals[index as usize]);
        self.count = of_node.len() as f32;
        self
    }

    /// Subtracts another histogram.
    fn subtract(&mut self, other: &Self) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum -= other);
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count -= other);
        self.sum -= other.sum;
        self.count -= other.count;
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
        let residuals = targets.iter().map(|target| ((target - base) / scale) as f32).collect();
        let mut grower = Grower { rows, boosting, growth, residuals, unused: Vec::new(), second: Vec::new() };
        let mut order: Vec<u32> = (0..rows.len as u32).collect();
        let mut trees = Vec::with_capacity(boosting.trees);
        for _ in 0..boosting.trees {
            let mut nodes = Vec::new();
            let histogram = grower.histogram(&order);
            match growth.max_leaves {
                None => {
                    grower.grow(&mut order, histogram, boosting.depth, &mut nodes);
                }
                Some(max_leaves) => grower.grow_by_gain(&mut order, histogram, max_leaves, &mut nodes),
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
        let players = players(self.trees.iter().flatten());
        // If all trees together split on few players, the products of all trees are merged as masks, which is
        // faster.
        if players.len() <= MASK_BITS {
            self.add_spectrum(&self.trees, &players, &mut found);
        } else {
            for tree in &self.trees {
                self.add_spectrum(std::slice::from_ref(tree), &self::players(tree), &mut found);
            }
        }
        let mut spectrum: Vec<(Product, f64)> = found.into_iter().collect();
        spectrum.sort_unstable_by_key(|(product, _)| *product);
        spectrum
    }

    /// Adds the Walsh coefficients of trees that only split on the given players.
    fn add_spectrum(&self, trees: &[Vec<Node>], players: &[u16], found: &mut HashMap<Product, f64>) {
        assert!(players.len() <= MASK_BITS, "at most 64 players have masks, got {}", players.len());
        let mut sums: HashMap<u64, f64> = HashMap::new();
        let mut expansion = Expansion::default();
        for nodes in trees {
            Cancellation::check();
            expansion.expand(nodes, 0, players);
            for (mask, coefficient) in expansion.terms.drain(..) {
                *sums.entry(mask).or_insert(0.0) += self.scale * coefficient;
            }
        }
        for (mask, coefficient) in sums {
            let members = (0..players.len()).filter(|at| mask >> at & 1 == 1);
            let product = Product::from_players(members.map(|at| usize::from(players[at])));
            *found.entry(product).or_insert(0.0) += coefficient;
        }
    }
}

/// The state of growing trees one after the other, with memory that is reused.
struct Grower<'a> {
    rows: &'a Rows,
    boosting: Boosting,
    growth: Growth,
    residuals: Vec<f32>,
    /// Histograms whose memory can be reused.
    unused: Vec<Histogram>,
    /// A buffer of [`partition`](Self::partition) for the rows with the player.
    second: Vec<u32>,
}

/// A leaf that may be split: its index among the nodes, the range of its rows in `order`, and its depth.
struct Open {
    at: usize,
    rows: std::ops::Range<usize>,
    depth: usize,
    histogram: Histogram,
    split: Option<(u16, f32)>,
}

impl Grower<'_> {
    fn histogram(&mut self, of_node: &[u32]) -> Histogram {
        self.unused.pop().unwrap_or_default().refilled(self.rows, of_node, &self.residuals)
    }

    /// Returns the histograms of two children, given their rows and the histogram of their parent.
    fn children(&mut self, mut parent: Histogram, without: &[u32], with: &[u32]) -> (Histogram, Histogram) {
        let is_first_smaller = without.len() <= with.len();
        let smaller = self.histogram(if is_first_smaller { without } else { with });
        parent.subtract(&smaller);
        if is_first_smaller { (smaller, parent) } else { (parent, smaller) }
    }

    /// Returns a leaf for a node, and subtracts its value from the residuals of the node's rows, `order`.
    fn finish(&mut self, order: &[u32], histogram: Histogram) -> Node {
        let value = histogram.leaf(self.boosting.rate as f32, &self.growth);
        order.iter().for_each(|&index| self.residuals[index as usize] -= value);
        self.unused.push(histogram);
        Node::Leaf(value)
    }

    /// Moves the rows without the player to the front, without changing their order, and returns their
    /// number.
    fn partition(&mut self, order: &mut [u32], player: u16) -> usize {
        self.second.clear();
        let mut first = 0;
        for at in 0..order.len() {
            let index = order[at];
            if self.rows.has(index, player) {
                self.second.push(index);
            } else {
                order[first] = index;
                first += 1;
            }
        }
        order[first..].copy_from_slice(&self.second);
        first
    }

    /// Grows the node that contains the rows `order`, subtracts its predictions from their residuals, and
    /// returns its index.
    fn grow(&mut self, order: &mut [u32], histogram: Histogram, depth: usize, nodes: &mut Vec<Node>) -> u32 {
        let at = nodes.len();
        let split = if depth == 0 { None } else { histogram.best(self.rows.players, &self.growth) };
        let Some((player, _)) = split else {
            nodes.push(self.finish(order, histogram));
            return at as u32;
        };
        nodes.push(Node::Leaf(0.0));
        let middle = self.partition(order, player);
        let (without, with) = order.split_at_mut(middle);
        let (histogram_without, histogram_with) = if depth == 1 {
            // Leaves only need the sums of their histogram.
            let (sum, count) = (histogram.sums[player as usize], histogram.counts[player as usize]);
            let (sum_without, count_without) = (histogram.sum - sum, histogram.count - count);
            let other = Histogram { sum, count, ..self.unused.pop().unwrap_or_default() };
            (Histogram { sum: sum_without, count: count_without, ..histogram }, other)
        } else {
            self.children(histogram, without, with)
        };
        let absent = self.grow(without, histogram_without, depth - 1, nodes);
        let present = self.grow(with, histogram_with, depth - 1, nodes);
        nodes[at] = Node::Split { player, absent, present };
        at as u32
    }

    /// Grows a tree leaf by leaf, with the largest gain first, and subtracts its predictions from the
    /// residuals.
    fn grow_by_gain(
        &mut self,
        order: &mut [u32],
        histogram: Histogram,
        max_leaves: usize,
        nodes: &mut Vec<Node>,
    ) {
        let (max_depth, growth, players) = (self.boosting.depth, self.growth, self.rows.players);
        let open = |at: usize, rows: std::ops::Range<usize>, depth: usize, histogram: Histogram| {
            let split = if depth == max_depth { None } else { histogram.best(players, &growth) };
            Open { at, rows, depth, histogram, split }
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
            let middle = first + self.partition(&mut order[leaf.rows.clone()], player);
            let (without, with) = (first..middle, middle..leaf.rows.end);
            let (histogram_without, histogram_with) =
                self.children(leaf.histogram, &order[without.clone()], &order[with.clone()]);
            let (absent, present) = (nodes.len(), nodes.len() + 1);
            nodes[leaf.at] = Node::Split { player, absent: absent as u32, present: present as u32 };
            nodes.extend([Node::Leaf(0.0); 2]);
            leaves.push(open(absent, without, leaf.depth + 1, histogram_without));
            leaves.push(open(present, with, leaf.depth + 1, histogram_with));
        }
        for leaf in leaves {
            nodes[leaf.at] = self.finish(&order[leaf.rows], leaf.histogram);
        }
    }
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

/// Returns the players on which these nodes split, in ascending order.
fn players<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<u16> {
    let split = |node: &Node| match node {
        Node::Split { player, .. } => Some(*player),
        Node::Leaf(_) => None,
    };
    let mut players: Vec<u16> = nodes.into_iter().filter_map(split).collect();
    players.sort_unstable();
    players.dedup();
    players
}

/// The computation of Walsh coefficients of trees, with memory that is reused.
#[derive(Default)]
struct Expansion {
    /// The coefficients of finished nodes whose parents are not finished: one list of masks of players and
    /// coefficients for each node, in ascending order of masks. The list of the last node comes last.
    terms: Vec<(u64, f64)>,
    alone: Vec<(u64, f64)>,
    signed: Vec<(u64, f64)>,
}

impl Expansion {
    /// Appends the coefficients of the game that a node defines. If y and n are the coefficients of the
    /// children with and without the player, those of the node are `(y + n)/2`, and `(y − n)/2` times the
    /// player's sign.
    fn expand(&mut self, nodes: &[Node], at: usize, players: &[u16]) {
        let (player, absent, present) = match nodes[at] {
            Node::Leaf(value) => return self.terms.push((0, f64::from(value))),
            Node::Split { player, absent, present } => (player, absent as usize, present as usize),
        };
        let start = self.terms.len();
        self.expand(nodes, absent, players);
        let middle = self.terms.len();
        self.expand(nodes, present, players);
        let own = 1 << players.partition_point(|&other| other < player);
        self.alone.clear();
        self.signed.clear();
        let (without, with) = self.terms[start..].split_at(middle - start);
        // No product below the node contains the player, so the masks stay in order.
        let (alone, signed) = (&mut self.alone, &mut self.signed);
        merge(without, with, |mask, without, with| {
            alone.push((mask, 0.5 * without + 0.5 * with));
            signed.push((mask + own, 0.5 * with - 0.5 * without));
        });
        self.terms.truncate(start);
        let terms = &mut self.terms;
        merge(&self.alone, &self.signed, |mask, alone, signed| terms.push((mask, alone + signed)));
    }
}

/// Calls `receive` with each mask in two sorted lists, in order, and with its coefficients in both lists. A
/// missing coefficient is 0.
fn merge(left: &[(u64, f64)], right: &[(u64, f64)], mut receive: impl FnMut(u64, f64, f64)) {
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        match left[i].0.cmp(&right[j].0) {
            Ordering::Less => {
                receive(left[i].0, left[i].1, 0.0);
                i += 1;
            }
            Ordering::Greater => {
                receive(right[j].0, 0.0, right[j].1);
                j += 1;
            }
            Ordering::Equal => {
                receive(left[i].0, left[i].1, right[j].1);
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    left[i..].iter().for_each(|&(mask, coefficient)| receive(mask, coefficient, 0.0));
    right[j..].iter().for_each(|&(mask, coefficient)| receive(mask, 0.0, coefficient));
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
