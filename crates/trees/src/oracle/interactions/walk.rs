//! One explicand against one background row: only nodes that some mixture of the two can reach.
//!
//! The way of [`walk`](crate::oracle::walk): where the two rows part at a split on a player, the branch of the explicand is
//! walked with the player taken from it, then that of the background row. The sums over all leaves below either branch of what a leaf
//! gives to a pair of two own players, of two of the rest, and of one of each, are handed up. At the parting of a player j, with sums
//! S on the side of the explicand and S' on that of the background row, the pair of j and a player i that parted above gets
//!
//! ```text
//! S.both_own − S'.mixed    for i taken from the explicand,        S'.both_rest − S.mixed    for i taken from the background row,
//! ```
//!
//! so that each parting takes a step for each one above it, however many leaves are below.

use super::pairs::Weighing;
use super::shares::PairShares;
use crate::oracle::walk::Pair;
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// Who a player's features are taken from on the current path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Free,
    Explicand,
    Background,
}

/// A split at which explicand and background row part.
struct Parting {
    player: u32,
    /// The child that the background row goes to; visited after the explicand's.
    background_child: usize,
    /// The sums of the explicand's side, once it is finished.
    explicand_sums: Option<PairShares>,
}

/// The memory of a walk, made once per thread.
pub(crate) struct PairWalk {
    taken: Vec<Taken>,
    partings: Vec<Parting>,
}

impl PairWalk {
    pub(crate) fn new(players: usize) -> Self {
        Self { taken: vec![Taken::Free; players], partings: Vec::new() }
    }

    /// Adds the interactions in the game `weight · f(x_S, b_rest)` on one tree to `phi`, pair by pair.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        Weighing { player_of, moments, pairs }: Weighing<'_>,
        Pair { explicand, background, weight }: Pair<'_>,
        mut phi: impl FnMut(usize, f64),
    ) {
        let (mut own, mut rest) = (0, 0);
        let mut at = 0;
        loop {
            let node = nodes[at];
            if !node.is_leaf() {
                let feature = node.feature();
                let left = ensemble.goes_left(node, explicand[feature]);
                let background_left = ensemble.goes_left(node, background[feature]);
                let child = |left: bool| node.left() + usize::from(!left);
                at = child(left);
                if left != background_left {
                    let player = player_of[feature];
                    match self.taken[player as usize] {
                        Taken::Explicand => {}
                        Taken::Background => at = child(background_left),
                        Taken::Free => {
                            self.taken[player as usize] = Taken::Explicand;
                            own += 1;
                            self.partings.push(Parting {
                                player,
                                background_child: child(background_left),
                                explicand_sums: None,
                            });
                        }
                    }
                }
                continue;
            }
            let mut sums = PairShares::of(moments, own, rest).times(weight * node.value());
            // Hand the sums up until a parting still has its other side to go.
            loop {
                let Some(parting) = self.partings.last_mut() else { return };
                let player = parting.player;
                let Some(explicand_sums) = parting.explicand_sums else {
                    parting.explicand_sums = Some(sums);
                    self.taken[player as usize] = Taken::Background;
                    (own, rest) = (own - 1, rest + 1);
                    at = parting.background_child;
                    break;
                };
                self.partings.pop();
                let with_own = explicand_sums.both_own - sums.mixed;
                let with_rest = sums.both_rest - explicand_sums.mixed;
                for above in &self.partings {
                    let is_own = above.explicand_sums.is_none();
                    phi(pairs.number(above.player, player), if is_own { with_own } else { with_rest });
                }
                sums = sums.plus(explicand_sums);
                self.taken[player as usize] = Taken::Free;
                rest -= 1;
            }
        }
    }
}
