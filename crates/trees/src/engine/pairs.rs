//! The pairs of players that occur together on some path of the ensemble.
//!
//! No other pair interacts. With many features and short paths, this leaves few pairs for which sums are
//! stored.

use std::sync::Arc;

use apportion_models::Ensemble;
use apportion_models::tree::JointTrees;

use super::moments::Moments;

const NONE: u32 = u32::MAX;

/// The pairs of players that occur together on some path of an ensemble, with a number for each.
#[derive(Debug)]
pub(crate) struct Pairs {
    players: usize,
    /// The number of each pair, in either order of its players: players × players.
    numbers: Vec<u32>,
    /// The players of each pair, the lower index first.
    members: Vec<(u32, u32)>,
}

impl Pairs {
    /// Finds the pairs of players that occur together on some path of an ensemble. `player_of` maps each
    /// feature to its player.
    pub(crate) fn new(ensemble: &Ensemble, player_of: &[u32], players: usize) -> Self {
        let mut pairs = Self { players, numbers: vec![NONE; players * players], members: Vec::new() };
        let mut on_path = vec![false; players];
        // The players of the path in the order of their first splits, and a stack of open nodes with the path
        // length at which each starts.
        let mut path: Vec<u32> = Vec::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        let alone = ensemble.trees().iter().map(|tree| (ensemble, tree));
        let joint = ensemble.joint().map(JointTrees::ensemble);
        let joint = joint.into_iter().flat_map(|joint| joint.trees().iter().map(move |tree| (joint, tree)));
        for (trees, tree) in alone.chain(joint) {
            let nodes = trees.nodes_of(tree);
            open.push((0, 0));
            while let Some((at, above)) = open.pop() {
                for left in path.drain(above..) {
                    on_path[left as usize] = false;
                }
                let node = nodes[at];
                let mut meet = |feature: usize| {
                    let player = player_of[feature];
                    if !on_path[player as usize] {
                        for &other in &path {
                            pairs.add(other, player);
                        }
                        on_path[player as usize] = true;
                        path.push(player);
                    }
                };
                if node.is_leaf() {
                    // A linear leaf also depends on the features of its linear model.
                    let terms = trees.linear_leaf(node).map_or(&[][..], |model| &model.terms);
                    terms.iter().for_each(|&(feature, _)| meet(feature as usize));
                    continue;
                }
                let statistic = ensemble.joint().and_then(|joint| joint.statistic(node.feature()));
                match statistic {
                    None => meet(node.feature()),
                    Some(statistic) => {
                        statistic.features().iter().for_each(|&feature| meet(feature as usize))
                    }
                }
                open.push((node.right(), path.len()));
                open.push((node.left(), path.len()));
            }
            for left in path.drain(..) {
                on_path[left as usize] = false;
            }
        }
        pairs
    }

    fn add(&mut self, a: u32, b: u32) {
        let (one, other) = (a as usize * self.players + b as usize, b as usize * self.players + a as usize);
        if self.numbers[one] == NONE {
            let number = self.members.len() as u32;
            (self.numbers[one], self.numbers[other]) = (number, number);
            self.members.push((a.min(b), a.max(b)));
        }
    }

    /// Returns the players of each pair, in the order of their numbers.
    pub(crate) fn members(&self) -> &[(u32, u32)] {
        &self.members
    }

    /// Returns the number of the pair of `a` and `b`, which must occur together on some path.
    #[inline]
    pub(crate) fn number(&self, a: u32, b: u32) -> usize {
        self.numbers[a as usize * self.players + b as usize] as usize
    }
}

/// The weights of coalitions for the interaction index of pairs by a semivalue.
pub(crate) struct PairWeights {
    pub(crate) moments: Moments,
    pub(crate) pairs: Arc<Pairs>,
}

/// Returns the index of the pair of path features `low < high` among the pairs of a leaf: the pairs of the
/// first k path features have the first k(k − 1)/2 indices.
#[inline]
pub(crate) fn place(low: usize, high: usize) -> usize {
    high * (high - 1) / 2 + low
}

/// Iterates over the pairs `low < high` of the first `count` path features, in the order of their
/// [indices](place).
pub(crate) fn places(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..count).flat_map(|high| (0..high).map(move |low| (low, high)))
}

/// The contributions of a leaf to pairs of players, when the mixtures that reach it take `own` players from
/// the explicand and `rest` from the background row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct PairShares {
    /// The amount added to a pair of players that are both taken from the explicand.
    pub(crate) both_own: f64,
    /// The amount subtracted from a pair with one player from the explicand and one from the background row.
    pub(crate) mixed: f64,
    /// The amount added to a pair of players that are both taken from the background row.
    pub(crate) both_rest: f64,
}

impl PairShares {
    /// Returns the shares of a leaf of value 1: `M(own − 2, rest)`, `M(own − 1, rest − 1)`,
    /// `M(own, rest − 2)`, or 0 if there is no such pair.
    #[inline]
    pub(crate) fn for_leaf(moments: &Moments, own: usize, rest: usize) -> Self {
        Self {
            both_own: if own > 1 { moments.get(own - 2, rest) } else { 0.0 },
            mixed: if own > 0 && rest > 0 { moments.get(own - 1, rest - 1) } else { 0.0 },
            both_rest: if rest > 1 { moments.get(own, rest - 2) } else { 0.0 },
        }
    }

    #[inline]
    pub(crate) fn times(self, value: f64) -> Self {
        Self { both_own: value * self.both_own, mixed: value * self.mixed, both_rest: value * self.both_rest }
    }

    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            both_own: self.both_own + other.both_own,
            mixed: self.mixed + other.mixed,
            both_rest: self.both_rest + other.both_rest,
        }
    }
}
