//! One explicand against one background row: only nodes that some mixture of the two can reach.
//!
//! A mixture takes each feature from the explicand x or from the background row b. Down from the root, a split at which both go the same
//! way is no choice; where they part, the branch of x is reached iff the feature is taken from x, that of b iff it is taken from b, and
//! further down the feature stays so. A leaf is thus reached by all mixtures that take the features E from x and R from b, and
//!
//! ```text
//! φ_i += v · M(|E| − 1, |R|)   for i ∈ E,        φ_i −= v · M(|E|, |R| − 1)   for i ∈ R.
//! ```
//!
//! As in Lundberg et al., *From local explanations to global understanding with explainable AI for trees* (2020), the sums over
//! all leaves below a parting are handed up, so that a leaf costs the same however many features it depends on. Partings are kept
//! on a stack of our own: any depth and any number of features.

use crate::moments::Moments;
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// An explicand and a background row, both rounded.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) explicand: &'a [f64],
    pub(crate) background: &'a [f64],
    /// Of the background row.
    pub(crate) weight: f64,
}

/// Who a player's features are taken from on the current path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Free,
    Explicand,
    Background,
}

/// A split at which explicand and background row part.
struct Parting {
    player: usize,
    /// The child that the background row goes to; visited after the explicand's.
    background_child: usize,
    /// Whether the explicand's side is finished, and its sums of gains and losses.
    explicand_sums: Option<(f64, f64)>,
}

/// The memory of a walk, made once per thread.
pub(crate) struct Walk {
    taken: Vec<Taken>,
    partings: Vec<Parting>,
}

impl Walk {
    pub(crate) fn new(players: usize) -> Self {
        Self { taken: vec![Taken::Free; players], partings: Vec::new() }
    }

    /// Adds the values of the game `weight · f(x_S, b_rest)` on one tree to `phi`, player by player. `player_of` has the player
    /// of each feature.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        player_of: &[u32],
        moments: &Moments,
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
                    let player = player_of[feature] as usize;
                    match self.taken[player] {
                        Taken::Explicand => {}
                        Taken::Background => at = child(background_left),
                        Taken::Free => {
                            self.taken[player] = Taken::Explicand;
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
            let (gain, loss) = moments.shares(own, rest);
            let value = weight * node.value();
            let mut sums = (value * gain, value * loss);
            // Hand the sums up until a parting still has its other side to go.
            loop {
                let Some(parting) = self.partings.last_mut() else { return };
                let player = parting.player;
                match parting.explicand_sums {
                    None => {
                        phi(player, sums.0);
                        parting.explicand_sums = Some(sums);
                        self.taken[player] = Taken::Background;
                        (own, rest) = (own - 1, rest + 1);
                        at = parting.background_child;
                        break;
                    }
                    Some((gains, losses)) => {
                        phi(player, -sums.1);
                        sums = (sums.0 + gains, sums.1 + losses);
                        self.taken[player] = Taken::Free;
                        rest -= 1;
                        self.partings.pop();
                    }
                }
            }
        }
    }
}
