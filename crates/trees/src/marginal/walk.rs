//! One explicand against one background row: only nodes that some mixture of the two can reach.
//!
//! A mixture takes each feature from the explicand x or from the background row b. Down from the root, a
//! split at which both go the same way is no choice; where they part, the branch of x is reached iff the
//! feature is taken from x, that of b iff it is taken from b, and further down the feature stays so. A leaf
//! is thus reached by all mixtures that take the features E from x and R from b.
//!
//! As in Lundberg et al., *From local explanations to global understanding with explainable AI for trees*
//! (2020), sums over all leaves below a parting are handed up, so that a leaf costs the same however many
//! features it depends on. What they are is said by [`Walked`]. Partings are kept on a stack of our own: any
//! depth and any number of features.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Free,
    Explicand,
    Background,
}

/// A split at which explicand and background row part.
pub(crate) struct Parting<S> {
    pub(crate) player: u32,
    /// The child that the background row goes to; visited after the explicand's.
    background_child: usize,
    /// The sums of the explicand's side, once it is finished.
    explicand_sums: Option<S>,
}

impl<S> Parting<S> {
    /// Whether the player is taken from the explicand.
    #[inline(always)]
    pub(crate) fn is_own(&self) -> bool {
        self.explicand_sums.is_none()
    }
}

/// What is done on the way.
pub(crate) trait Walked {
    /// What is handed up of the leaves below a node; the default is that of none.
    type Sums: Copy + Default;

    /// Takes a free player from the explicand, or, where that would come to nothing, from the background row
    /// alone (`false`).
    #[inline(always)]
    fn begin(&mut self, _player: u32) -> bool {
        true
    }

    /// A leaf that is worth `value`, reached with so many players taken from the explicand and from the
    /// background row.
    fn leaf(&mut self, leaf: Node, value: f64, own: usize, rest: usize) -> Self::Sums;

    /// The explicand's side of a player's parting is finished: whether to go on with the background row's.
    fn turn(&mut self, player: u32, sums: Self::Sums) -> bool;

    /// Both sides are finished, with these sums. Partings above are not.
    fn join(&mut self, above: &[Parting<Self::Sums>], player: u32, sides: [Self::Sums; 2]) -> Self::Sums;
}

/// The memory of a walk, made once per thread.
pub(crate) struct Walk<S> {
    taken: Vec<Taken>,
    partings: Vec<Parting<S>>,
}

impl<S: Copy + Default> Walk<S> {
    pub(crate) fn new(players: usize) -> Self {
        Self { taken: vec![Taken::Free; players], partings: Vec::new() }
    }

    /// Walks through one tree for the game `weight · f(x_S, b_rest)`. `player_of` has the player of each
    /// feature.
    #[inline]
    pub(crate) fn through(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        player_of: &[u32],
        Pair { explicand, background, weight }: Pair<'_>,
        mut walked: impl Walked<Sums = S>,
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
                            let background_child = child(background_left);
                            let explicand_sums = if walked.begin(player) {
                                self.taken[player as usize] = Taken::Explicand;
                                own += 1;
                                None
                            } else {
                                self.taken[player as usize] = Taken::Background;
                                rest += 1;
                                at = background_child;
                                Some(S::default())
                            };
                            self.partings.push(Parting { player, background_child, explicand_sums });
                        }
                    }
                }
                continue;
            }
            let mut sums = walked.leaf(node, weight * node.value(), own, rest);
            // Hand the sums up until a parting still has its other side to go.
            loop {
                let Some((parting, above)) = self.partings.split_last_mut() else { return };
                let player = parting.player;
                match parting.explicand_sums {
                    None => {
                        own -= 1;
                        if walked.turn(player, sums) {
                            parting.explicand_sums = Some(sums);
                            self.taken[player as usize] = Taken::Background;
                            rest += 1;
                            at = parting.background_child;
                            break;
                        }
                    }
                    Some(explicand_sums) => {
                        sums = walked.join(above, player, [explicand_sums, sums]);
                        rest -= 1;
                    }
                }
                self.taken[player as usize] = Taken::Free;
                self.partings.pop();
            }
        }
    }
}
