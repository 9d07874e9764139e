//! Walks one tree with one explicand and one background row.

use apportion_models::tree::{JointTrees, Node, Statistic};

use crate::marginal::shares::Products;
use crate::marginal::walk::{FeatureSource, Pair};

/// The maximum number of undecided players of a split for which the walk tests whether they affect the
/// decision. The test takes up to 2^6 evaluations of the split.
const MAX_TESTED_PLAYERS: usize = 6;

/// Returns an upper bound on the number of players on a path of any tree.
pub(in crate::marginal) fn max_width(joint: &JointTrees) -> usize {
    let trees = joint.ensemble();
    let of_tree = |nodes: &[Node]| {
        let splits = nodes.iter().filter(|node| !node.is_leaf());
        let mut columns: Vec<usize> = splits.map(|node| node.feature()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
            .into_iter()
            .map(|column| joint.statistic(column).map_or(1, |statistic| statistic.features().len()))
            .sum()
    };
    trees.trees().iter().map(|tree| of_tree(trees.nodes_of(tree))).max().unwrap_or(0)
}

/// A player for which the mixtures diverge, and the split that depends on the player.
struct Parting {
    player: u32,
    split: usize,
}

/// The working memory of a walk, created once per thread.
pub(in crate::marginal) struct Walk<'a> {
    joint: &'a JointTrees,
    player_of: &'a [u32],
    source: Vec<FeatureSource>,
    partings: Vec<Parting>,
    products: Products,
    /// The undecided players of a split.
    free: Vec<u32>,
}

/// The next step at a split: go to a child, or branch on a player.
enum Descent {
    Shared(bool),
    Split(u32),
}

impl<'a> Walk<'a> {
    pub(in crate::marginal) fn new(joint: &'a JointTrees, player_of: &'a [u32], players: usize) -> Self {
        Self {
            joint,
            player_of,
            source: vec![FeatureSource::Free; players],
            partings: Vec::new(),
            products: Products::default(),
            free: Vec::new(),
        }
    }

    /// Calls `give` for each of the products whose sum is the game `weight · f(x_S, b_rest)` on one tree,
    /// with the product and its value v. Rows include the statistics.
    pub(in crate::marginal) fn through(
        &mut self,
        nodes: &[Node],
        pair: Pair<'_>,
        mut give: impl FnMut(&mut Products, f64),
    ) {
        let mut at = 0;
        loop {
            let node = nodes[at];
            if !node.is_leaf() {
                match self.descent(node, pair) {
                    Descent::Shared(left) => at = node.left() + usize::from(!left),
                    Descent::Split(player) => {
                        self.source[player as usize] = FeatureSource::Explicand;
                        self.partings.push(Parting { player, split: at });
                    }
                }
                continue;
            }
            self.products.clear();
            for &Parting { player, .. } in &self.partings {
                self.products.require(player, self.source[player as usize] == FeatureSource::Explicand);
            }
            give(&mut self.products, pair.weight * node.value());
            // Return to the last parting whose other side is still to be visited.
            loop {
                let Some(&Parting { player, split }) = self.partings.last() else { return };
                let source = &mut self.source[player as usize];
                if *source == FeatureSource::Explicand {
                    *source = FeatureSource::Background;
                    at = split;
                    break;
                }
                *source = FeatureSource::Free;
                self.partings.pop();
            }
        }
    }

    fn descent(&mut self, node: Node, Pair { explicand, background, .. }: Pair<'_>) -> Descent {
        let column = node.feature();
        let goes_left = |value| self.joint.ensemble().goes_left(node, value);
        let [own, other] = [explicand[column], background[column]].map(goes_left);
        let Some(statistic) = self.joint.statistic(column) else {
            let player = self.player_of[column];
            return match self.source[player as usize] {
                _ if own == other => Descent::Shared(own),
                FeatureSource::Explicand => Descent::Shared(own),
                FeatureSource::Background => Descent::Shared(other),
                FeatureSource::Free => Descent::Split(player),
            };
        };
        self.free.clear();
        for &feature in statistic.features() {
            let (own, other) = (explicand[feature as usize], background[feature as usize]);
            let player = self.player_of[feature as usize];
            let is_free =
                self.source[player as usize] == FeatureSource::Free && own.to_bits() != other.to_bits();
            if is_free && !self.free.contains(&player) {
                self.free.push(player);
            }
        }
        // The bits of the argument select the undecided players that are taken from the explicand.
        let left =
            |from_explicand: usize| goes_left(self.value(statistic, explicand, background, from_explicand));
        match self.free[..] {
            [] => Descent::Shared(left(0)),
            [first, ..] => {
                let first_way = left(0);
                let tried = self.free.len() <= MAX_TESTED_PLAYERS;
                if tried && (1..1 << self.free.len()).all(|bits| left(bits) == first_way) {
                    Descent::Shared(first_way)
                } else {
                    Descent::Split(first)
                }
            }
        }
    }

    /// Returns the statistic of a mixture. Bit k of `bits` is set if undecided player k is taken from the
    /// explicand.
    fn value(&self, statistic: &Statistic, explicand: &[f64], background: &[f64], bits: usize) -> f64 {
        statistic.value(|feature| {
            let player = self.player_of[feature];
            let from_explicand = match self.source[player as usize] {
                FeatureSource::Explicand => true,
                FeatureSource::Background => false,
                // A player that is not listed has the same values in both rows.
                FeatureSource::Free => {
                    let place = self.free.iter().position(|&free| free == player);
                    place.is_some_and(|place| bits >> place & 1 == 1)
                }
            };
            if from_explicand { explicand[feature] } else { background[feature] }
        })
    }
}
