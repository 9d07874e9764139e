//! Finds the leaves that mixtures of one explicand and one background row reach, tree by tree.
//!
//! A mixture takes each player's features from the explicand x or from the background row b. As in the walk
//! for margins, there is no choice at a split where both rows go to the same child. Where they diverge, the
//! branch of x is taken iff the player is in the coalition. Therefore a tree becomes a list of *cubes*: a
//! leaf is reached by the coalitions that contain all players of E and none of R. Players for which the rows
//! never diverge on a path of a mixture are null players.
//!
//! # Signature
//!
//! The walk depends on b only through its decisions at the splits that it visits, in the order of the visits.
//! As a bit string, these decisions determine the whole walk, because each step follows from the bits before
//! it. Therefore two background rows with the same signature have the same cubes.

use super::fixed::FixedPointLeaves;
use apportion_models::Ensemble;

/// Marks features that are always taken from the background row.
pub(super) const ABSENT: u32 = u32::MAX;

/// The maximum number of diverging players; coalitions are bits of one word.
pub(super) const MAX_DIVERGING_PLAYERS: usize = 62;

/// Marks a player for which the rows have not diverged.
const NOWHERE: u8 = u8::MAX;

/// A leaf, with the players that must be in a coalition for it to be reached, and the players that must not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cube {
    /// The players E, as bits by index in [`Walk::parting`].
    pub(super) own: u64,
    /// The players R, as bits in the same order.
    pub(super) rest: u64,
    /// The leaf's value in fixed point.
    pub(super) value: i64,
    /// The index of the leaf's tree among the trees of the walk.
    pub(super) tree: u32,
}

/// The working memory of a walk, created once per thread, and the results of the most recent walk.
pub(super) struct Walk {
    /// The players for which the rows diverge, in the order in which they were visited.
    pub(super) parting: Vec<u32>,
    pub(super) cubes: Vec<Cube>,
    /// The decisions of the background row, 64 per word, the first in the lowest bit.
    pub(super) signature: Vec<u64>,
    decisions: usize,
    place_of: Vec<u8>,
    /// Branches of the background row that are still to be visited: the child node, with the players E and R.
    open: Vec<(u32, u64, u64)>,
}

impl Walk {
    pub(super) fn new(players: usize) -> Self {
        Self {
            parting: Vec::new(),
            cubes: Vec::new(),
            signature: Vec::new(),
            decisions: 0,
            place_of: vec![NOWHERE; players],
            open: Vec::new(),
        }
    }

    /// Walks through `trees` with two rounded rows. Returns `false` if the rows diverge for more than
    /// [`MAX_DIVERGING_PLAYERS`] players; the walk ends there.
    pub(super) fn run(
        &mut self,
        ensemble: &Ensemble,
        fixed: &FixedPointLeaves,
        trees: &[usize],
        player_of: &[u32],
        explicand: &[f64],
        background: &[f64],
    ) -> bool {
        for &player in &self.parting {
            self.place_of[player as usize] = NOWHERE;
        }
        self.parting.clear();
        self.cubes.clear();
        self.signature.clear();
        self.decisions = 0;
        trees.iter().enumerate().all(|(position, &tree)| {
            let nodes = ensemble.nodes_of(&ensemble.trees()[tree]);
            let leaves = fixed.leaves_of(tree);
            self.open.clear();
            let (mut at, mut own, mut rest) = (0, 0u64, 0u64);
            loop {
                let node = nodes[at];
                if node.is_leaf() {
                    self.cubes.push(Cube { own, rest, value: leaves[at], tree: position as u32 });
                    let Some((next, its_own, its_rest)) = self.open.pop() else { return true };
                    (at, own, rest) = (next as usize, its_own, its_rest);
                    continue;
                }
                let feature = node.feature();
                let player = player_of[feature];
                let child = |left: bool| node.left() + usize::from(!left);
                let bit = |place: u8| if place == NOWHERE { 0 } else { 1u64 << place };
                let taken = if player == ABSENT { 0 } else { bit(self.place_of[player as usize]) };
                if own & taken != 0 {
                    at = child(ensemble.goes_left(node, explicand[feature]));
                    continue;
                }
                let background_left = ensemble.goes_left(node, background[feature]);
                self.note(background_left);
                at = child(background_left);
                if player == ABSENT || rest & taken != 0 {
                    continue;
                }
                let left = ensemble.goes_left(node, explicand[feature]);
                if left == background_left {
                    continue;
                }
                let bit = match taken {
                    0 => {
                        if self.parting.len() == MAX_DIVERGING_PLAYERS {
                            return false;
                        }
                        self.place_of[player as usize] = self.parting.len() as u8;
                        self.parting.push(player);
                        1 << (self.parting.len() - 1)
                    }
                    taken => taken,
                };
                self.open.push((at as u32, own, rest | bit));
                at = child(left);
                own |= bit;
            }
        })
    }

    fn note(&mut self, decision: bool) {
        if self.decisions.is_multiple_of(64) {
            self.signature.push(0);
        }
        if let Some(word) = self.signature.last_mut() {
            *word |= u64::from(decision) << (self.decisions % 64);
        }
        self.decisions += 1;
    }
}
