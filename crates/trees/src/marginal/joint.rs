//! Trees with splits that look at several features at once: one explicand against one background row, on the nodes that some mixture of the
//! two can reach.
//!
//! A split on one feature parts the mixtures by the row that its player is taken from (see [`walk`](super::walk)). One on a statistic of
//! several features goes a way that depends on all their players. So where it does for those that are not yet taken, it is asked of them
//! one after the other: the walk parts at a player without leaving the split, until what is left no longer matters. A leaf is then
//! reached, as any other is, by all mixtures that take the players E from the explicand and R from the background row, on each of the ways to
//! it. So what a tree gives is a sum of products, whose values are those of [any leaf](super::shares): semivalues, of players in groups, of
//! pairs.
//!
//! A tree takes O(d) time per leaf reached of d players on its way, and O(2^m) per split with m players to be taken. Partings are kept on a stack
//! of our own: any depth and any number of features.

use apportion_games::Rows;
use apportion_models::tree::{JointTrees, Node, Statistic};

use super::oracle::InterventionalOracle;
use super::request::Request;
use super::shares::{Alone, InGroups, InPairs, Products, Share};
use super::walk::{Pair, Taken};
use crate::engine::driver::in_tasks;
use crate::engine::settings::{Kernel, Plan};
use crate::engine::weights::Weights;
use crate::error::TreeError;

/// Where more players than this are to be taken it is not tried whether they matter.
const MOST_TRIED: usize = 6;

/// Nanoseconds per leaf that is reached.
const LEAF: f64 = 250.0;

/// Pairs of rows that stand for all in the prediction of a walk's length.
const SAMPLE: usize = 4;

/// The most players on a path of any tree, or more.
pub(super) fn widest(joint: &JointTrees) -> usize {
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

impl InterventionalOracle<'_> {
    /// Adds what these trees give to some rows: of target t to the number `places[t]` of those of a row.
    pub(super) fn add_joint(
        &self,
        request: &Request<'_>,
        places: &[usize],
        rows: Rows<'_>,
        values: &mut [f64],
    ) {
        let Some(joint) = self.ensemble.joint() else { return };
        match &request.weights {
            Weights::Alike(weights) => {
                self.add_shares::<Alone>(joint, weights, request, places, rows, values)
            }
            Weights::Grouped(weights) => {
                self.add_shares::<InGroups>(joint, weights, request, places, rows, values);
            }
            Weights::Pairs(weights) => {
                self.add_shares::<InPairs>(joint, weights, request, places, rows, values);
            }
        }
    }

    fn add_shares<S: Share>(
        &self,
        joint: &JointTrees,
        weights: &S::Weights,
        request: &Request<'_>,
        places: &[usize],
        rows: Rows<'_>,
        values: &mut [f64],
    ) {
        let (outputs, width) = (self.ensemble.output_count(), self.ensemble.width());
        let background = joint.extended(&self.background);
        let columns = joint.ensemble().feature_count();
        let memory = || (S::new(weights), Walk::new(joint, &request.player_of, request.players), Vec::new());
        in_tasks(rows, 1, values, memory, |(share, walk, rounded), values, row| {
            rounded.clear();
            rounded.extend(row.iter().map(|&value| width.round(value)));
            let explicand = joint.extended(rounded);
            for (background, &weight) in background.chunks_exact(columns).zip(&self.weights) {
                let pair = Pair { explicand: &explicand, background, weight };
                for tree in joint.ensemble().trees() {
                    let nodes = joint.ensemble().nodes_of(tree);
                    let mut phi = |target: usize, value: f64| {
                        values[places[target] * outputs + tree.output] += value;
                    };
                    walk.through(nodes, pair, |products, value| {
                        share.of_products(weights, products, value, &mut phi);
                    });
                }
            }
        });
    }

    /// What these trees add to a plan for `count` rows like those of `sample`.
    pub(super) fn joint_plan(&self, request: &Request<'_>, sample: Rows<'_>, count: usize) -> Option<Plan> {
        let joint = self.ensemble.joint()?;
        let (features, columns) = (self.ensemble.feature_count(), joint.ensemble().feature_count());
        let mut walk = Walk::new(joint, &request.player_of, request.players);
        let (mut leaves, mut pairs) = (0.0, 0.0);
        for index in 0..SAMPLE.min(sample.len()) {
            let explicand = sample.row(index * sample.len() / SAMPLE.min(sample.len()));
            let rounded: Vec<f64> =
                explicand.iter().map(|&value| self.ensemble.width().round(value)).collect();
            let place = index * self.weights.len() / SAMPLE;
            let both = joint.extended(&[&rounded, &self.background[place * features..][..features]].concat());
            let (explicand, background) = both.split_at(columns);
            for tree in joint.ensemble().trees() {
                let pair = Pair { explicand, background, weight: 1.0 };
                walk.through(joint.ensemble().nodes_of(tree), pair, |_, _| leaves += 1.0);
            }
            pairs += 1.0;
        }
        let reached = leaves / f64::max(pairs, 1.0);
        let seconds = reached * LEAF * 1e-9 * (count * self.weights.len()) as f64;
        Some(Plan { kernels: vec![(Kernel::Walk, joint.ensemble().tree_count())], seconds })
    }

    /// Refuses any kernel but the walk where there are such trees.
    pub(super) fn check_joint(&self) -> Result<(), TreeError> {
        match self.settings.kernel {
            Some(kernel) if kernel != Kernel::Walk && self.ensemble.joint().is_some() => {
                Err(TreeError::Unsupported {
                    what: format!("the kernel {kernel} on trees that split on several features at once"),
                    wanted: "use walk, or leave the kernel to be chosen",
                })
            }
            _ => Ok(()),
        }
    }
}

/// A player at whom the mixtures part, and the split that asks for them.
struct Parting {
    player: u32,
    split: usize,
}

/// The memory of a walk, made once per thread.
struct Walk<'a> {
    joint: &'a JointTrees,
    player_of: &'a [u32],
    taken: Vec<Taken>,
    partings: Vec<Parting>,
    products: Products,
    /// The players of a split that are to be taken.
    free: Vec<u32>,
}

/// What a split does with the mixtures that come to it.
enum Way {
    Left(bool),
    Part(u32),
}

impl<'a> Walk<'a> {
    fn new(joint: &'a JointTrees, player_of: &'a [u32], players: usize) -> Self {
        Self {
            joint,
            player_of,
            taken: vec![Taken::Free; players],
            partings: Vec::new(),
            products: Products::default(),
            free: Vec::new(),
        }
    }

    /// Gives the games whose sum is the game `weight · f(x_S, b_rest)` on one tree, each with its v. Rows are extended.
    fn through(&mut self, nodes: &[Node], pair: Pair<'_>, mut give: impl FnMut(&mut Products, f64)) {
        let mut at = 0;
        loop {
            let node = nodes[at];
            if !node.is_leaf() {
                match self.way(node, pair) {
                    Way::Left(left) => at = node.left() + usize::from(!left),
                    Way::Part(player) => {
                        self.taken[player as usize] = Taken::Explicand;
                        self.partings.push(Parting { player, split: at });
                    }
                }
                continue;
            }
            self.products.clear();
            for &Parting { player, .. } in &self.partings {
                self.products.require(player, self.taken[player as usize] == Taken::Explicand);
            }
            give(&mut self.products, pair.weight * node.value());
            // Back to the last parting whose other side is still to go.
            loop {
                let Some(&Parting { player, split }) = self.partings.last() else { return };
                let taken = &mut self.taken[player as usize];
                if *taken == Taken::Explicand {
                    *taken = Taken::Background;
                    at = split;
                    break;
                }
                *taken = Taken::Free;
                self.partings.pop();
            }
        }
    }

    fn way(&mut self, node: Node, Pair { explicand, background, .. }: Pair<'_>) -> Way {
        let column = node.feature();
        let goes_left = |value| self.joint.ensemble().goes_left(node, value);
        let [own, other] = [explicand[column], background[column]].map(goes_left);
        let Some(statistic) = self.joint.statistic(column) else {
            let player = self.player_of[column];
            return match self.taken[player as usize] {
                _ if own == other => Way::Left(own),
                Taken::Explicand => Way::Left(own),
                Taken::Background => Way::Left(other),
                Taken::Free => Way::Part(player),
            };
        };
        self.free.clear();
        for &feature in statistic.features() {
            let (own, other) = (explicand[feature as usize], background[feature as usize]);
            let player = self.player_of[feature as usize];
            let is_free = self.taken[player as usize] == Taken::Free && own.to_bits() != other.to_bits();
            if is_free && !self.free.contains(&player) {
                self.free.push(player);
            }
        }
        // Players are taken as the bits of a number say.
        let left =
            |from_explicand: usize| goes_left(self.value(statistic, explicand, background, from_explicand));
        match self.free[..] {
            [] => Way::Left(left(0)),
            [first, ..] => {
                let first_way = left(0);
                let tried = self.free.len() <= MOST_TRIED;
                if tried && (1..1 << self.free.len()).all(|bits| left(bits) == first_way) {
                    Way::Left(first_way)
                } else {
                    Way::Part(first)
                }
            }
        }
    }

    /// The statistic of a mixture, of which bit k says whether free player k is taken from the explicand.
    fn value(&self, statistic: &Statistic, explicand: &[f64], background: &[f64], bits: usize) -> f64 {
        statistic.value(|feature| {
            let player = self.player_of[feature];
            let from_explicand = match self.taken[player as usize] {
                Taken::Explicand => true,
                Taken::Background => false,
                // One that is not listed has the same in both.
                Taken::Free => {
                    let place = self.free.iter().position(|&free| free == player);
                    place.is_some_and(|place| bits >> place & 1 == 1)
                }
            };
            if from_explicand { explicand[feature] } else { background[feature] }
        })
    }
}
