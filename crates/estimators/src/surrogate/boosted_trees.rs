//! Gradient-boosted trees on coalition bits: a surrogate of a game whose Walsh spectrum is known.
//!
//! A tree splits on whether a player is in the coalition. So there is one way to split on each player, histograms are sums over set bits, and no
//! path asks for a player twice.
//!
//! # Source
//!
//! Chen and Guestrin, *XGBoost: A Scalable Tree Boosting System*, KDD 2016: squared loss, leaf values and gains with a penalty λ.

use std::cmp::Ordering;

use apportion_games::Cancellation;
use hashbrown::HashMap;

use super::product::Product;

/// How trees are boosted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Boosting {
    /// Number of trees.
    pub(crate) trees: usize,
    /// Splits on a path at most.
    pub(crate) depth: usize,
    /// Factor of what each tree adds.
    pub(crate) rate: f64,
}

/// What is asked of a split, and which node is split next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growth {
    /// Penalty on the squares of leaf values.
    pub(crate) penalty: f32,
    /// Rows on either side of a split at least.
    pub(crate) least_rows: usize,
    /// Leaves of a tree at most, the split of the largest gain coming first. None where every node is split.
    pub(crate) most_leaves: Option<usize>,
}

impl Growth {
    /// Hardly a penalty, every node split.
    pub(crate) const FREE: Self = Self { penalty: 0.01, least_rows: 1, most_leaves: None };
    /// As XGBoost has it where nothing is said.
    pub(crate) const XGBOOST: Self = Self { penalty: 1.0, ..Self::FREE };
    /// As LightGBM has it where nothing is said.
    pub(crate) const LIGHTGBM: Self = Self { penalty: 0.0, least_rows: 20, most_leaves: Some(31) };
}

/// Gain of a split below which there is none, in units of the variance of the targets.
const LEAST_GAIN: f32 = 1e-6;

/// A node: a split, or a leaf.
#[derive(Debug, Clone, Copy)]
enum Node {
    /// Where to go without the player, and with it.
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

/// Coalitions as rows of zeros and ones, and each player's column.
pub(crate) struct Rows {
    players: usize,
    width: usize,
    len: usize,
    entries: Vec<f32>,
}

impl Rows {
    /// Those of rows of signs of so many players, one after the other.
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

    /// How many.
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

/// Sums of residuals and numbers of rows, of a node and of those of its rows that have each player.
#[derive(Clone)]
struct Histogram {
    sums: Vec<f32>,
    counts: Vec<f32>,
    sum: f32,
    count: f32,
}

impl Histogram {
    fn of(rows: &Rows, of_node: &[u32], residuals: &[f32]) -> Self {
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

    /// What is left of this without `other`.
    fn without(mut self, other: &Self) -> Self {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum -= other);
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count -= other);
        self.sum -= other.sum;
        self.count -= other.count;
        self
    }

    /// The player to split on, and the gain.
    fn best(&self, players: usize, growth: &Growth) -> Option<(u16, f32)> {
        let score = |sum: f32, count: f32| sum * sum / (count + growth.penalty);
        let own = score(self.sum, self.count);
        let least_rows = growth.least_rows as f32 - 0.5;
        let mut best = (LEAST_GAIN, None);
        for (player, (&sum, &count)) in self.sums.iter().zip(&self.counts).enumerate().take(players) {
            let rest = self.count - count;
            if count < least_rows || rest < least_rows {
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
    /// Trees fitted to one target for each row.
    pub(crate) fn fit(rows: &Rows, targets: &[f64], boosting: Boosting) -> Self {
        Self::fit_grown(rows, targets, boosting, Growth::FREE)
    }

    /// Trees fitted to one target for each row, grown as it is said.
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
            let histogram = Histogram::of(rows, &order, &residuals);
            match growth.most_leaves {
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

    /// What the trees say of a coalition.
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

    /// The semivalue of the game that the trees are, n numbers, `moment(a, b)` being that of its mixing measure.
    ///
    /// A leaf is worth its value where the players A on its path are there and the players B are not: `v M(a − 1, b)` to each of A, and
    /// `−v M(a, b − 1)` to each of B.
    pub(crate) fn semivalue(&self, players: usize, moment: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mut values = vec![0.0; players];
        for nodes in &self.trees {
            share_leaves(nodes, 0, &mut Vec::new(), &moment, &mut values);
        }
        values.iter_mut().for_each(|value| *value *= self.scale);
        values
    }

    /// The Walsh coefficients of the trees, none of which splits on more than 64 players: each product of players once, in order, with its
    /// coefficient.
    pub(crate) fn spectrum(&self) -> Vec<(Product, f64)> {
        let mut found: HashMap<Product, f64> = HashMap::new();
        found.insert(Product::EMPTY, self.base);
        for nodes in &self.trees {
            Cancellation::check();
            let players = players(nodes);
            debug_assert!(players.len() <= 64, "a tree of {} players", players.len());
            for (mask, coefficient) in expand(nodes, 0, &players) {
                let members = (0..players.len()).filter(|at| mask >> at & 1 == 1);
                let product = Product::of(members.map(|at| usize::from(players[at])));
                *found.entry(product).or_insert(0.0) += self.scale * coefficient;
            }
        }
        let mut spectrum: Vec<(Product, f64)> = found.into_iter().collect();
        spectrum.sort_unstable_by_key(|(product, _)| *product);
        spectrum
    }
}

/// Grows the node that `order` are the rows of; takes what it predicts off their residuals.
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
        // Leaves need no histogram but their sums.
        let (sum, count) = (histogram.sums[player as usize], histogram.counts[player as usize]);
        let of = |sum, count| Histogram { sums: Vec::new(), counts: Vec::new(), sum, count };
        (of(histogram.sum - sum, histogram.count - count), of(sum, count))
    } else if without.len() <= with.len() {
        let less = Histogram::of(rows, without, residuals);
        let more = histogram.without(&less);
        (less, more)
    } else {
        let less = Histogram::of(rows, with, residuals);
        let more = histogram.without(&less);
        (more, less)
    };
    let how = (rate, growth);
    let absent = grow(rows, without, residuals, histogram_without, depth - 1, how, nodes);
    let present = grow(rows, with, residuals, histogram_with, depth - 1, how, nodes);
    nodes[at] = Node::Split { player, absent, present };
    at as u32
}

/// A leaf that may be split: its place among the nodes, its rows in their order, and how deep it is.
struct Open {
    at: usize,
    rows: std::ops::Range<usize>,
    depth: usize,
    histogram: Histogram,
    split: Option<(u16, f32)>,
}

/// Grows a tree leaf by leaf, the split of the largest gain first; takes what it predicts off the residuals.
fn grow_by_gain(
    rows: &Rows,
    order: &mut [u32],
    residuals: &mut [f32],
    histogram: Histogram,
    boosting: Boosting,
    (most_leaves, growth): (usize, &Growth),
    nodes: &mut Vec<Node>,
) {
    let open = |at: usize, of: std::ops::Range<usize>, depth: usize, histogram: Histogram| {
        let split = if depth == boosting.depth { None } else { histogram.best(rows.players, growth) };
        Open { at, rows: of, depth, histogram, split }
    };
    nodes.push(Node::Leaf(0.0));
    let mut leaves = vec![open(0, 0..order.len(), 0, histogram)];
    while leaves.len() < most_leaves {
        let gain = |leaf: &Open| leaf.split.map_or(0.0, |(_, gain)| gain);
        // The first of those with the largest gain.
        let best = (0..leaves.len()).rev().max_by(|&a, &b| gain(&leaves[a]).total_cmp(&gain(&leaves[b])));
        let Some((best, (player, _))) = best.and_then(|best| Some((best, leaves[best].split?))) else {
            break;
        };
        let leaf = leaves.swap_remove(best);
        let first = leaf.rows.start;
        let middle = first + partition(&mut order[leaf.rows.clone()], |index| !rows.has(index, player));
        let (without, with) = (first..middle, middle..leaf.rows.end);
        let (histogram_without, histogram_with) = if without.len() <= with.len() {
            let less = Histogram::of(rows, &order[without.clone()], residuals);
            let more = leaf.histogram.without(&less);
            (less, more)
        } else {
            let less = Histogram::of(rows, &order[with.clone()], residuals);
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

/// Moves those that belong first to the front, in their order, and says how many they are.
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

/// Adds what the leaves below a node give to players. `path` has its players, and whether each is there.
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

/// The players that a tree splits on, in order: at most `2^d − 1` of depth d.
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

/// The Walsh coefficients of the game that a node is, by masks of the tree's players, ascending: `(y + n)/2` of what it is with and without its
/// player, and `(y − n)/2` times the player's sign.
fn expand(nodes: &[Node], at: usize, players: &[u16]) -> Vec<(u64, f64)> {
    match nodes[at] {
        Node::Leaf(value) => vec![(0, f64::from(value))],
        Node::Split { player, absent, present } => {
            let (without, with) =
                (expand(nodes, absent as usize, players), expand(nodes, present as usize, players));
            let alone = joined(&without, &with, 0.5);
            let mut signed = joined(&without, &with, -0.5);
            // No product below has the player, so that masks stay in order.
            let own = 1 << players.partition_point(|&other| other < player);
            signed.iter_mut().for_each(|(mask, _)| *mask += own);
            sum_of(&alone, &signed)
        }
    }
}

/// `½ with + factor · without`, of lists in order.
fn joined(without: &[(u64, f64)], with: &[(u64, f64)], factor: f64) -> Vec<(u64, f64)> {
    let scaled = |terms: &[(u64, f64)], factor: f64| -> Vec<(u64, f64)> {
        terms.iter().map(|&(mask, coefficient)| (mask, factor * coefficient)).collect()
    };
    sum_of(&scaled(without, factor), &scaled(with, 0.5))
}

/// The sum of two lists in order.
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

    /// All coalitions of so many players as signs, and what a game of three parts says of them.
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
        // The first split is on the player that explains most: here on 0, among rows without structure beside it.
        let (rows, _) = all(6);
        let targets: Vec<f64> =
            (0..64).map(|mask| f64::from(mask & 1) * 5.0 + f64::from(mask % 7) * 0.1).collect();
        let trees = BoostedTrees::fit(&rows, &targets, Boosting { trees: 1, depth: 1, rate: 1.0 });
        let difference = trees.predict(|player| player == 0) - trees.predict(|_| false);
        let mean = |bit: usize| targets.iter().skip(bit).step_by(2).sum::<f64>() / 32.0;
        assert!((difference - (mean(1) - mean(0))).abs() < 2e-3);
    }
}
