//! Walks a tree with one explicand and one background row, visiting only nodes that some mixture of the two
//! can reach.
//!
//! A mixture takes each feature from the explicand x or from the background row b. At a split where both rows
//! go to the same child, there is no choice. Where they diverge, the child of x is reached iff the feature is
//! taken from x, and the child of b iff it is taken from b. The choice also applies to later splits on the
//! same feature. A leaf is thus reached by all mixtures that take the features E from x and R from b.
//!
//! As in Lundberg et al., *From local explanations to global understanding with explainable AI for trees*
//! (2020), sums over all leaves below a divergence ("parting") are passed up the tree. Therefore the cost of
//! a leaf does not depend on its number of features. [`WalkVisitor`] defines these sums. Partings are kept on
//! an explicit stack, which allows any depth and any number of features.

use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// An explicand and a background row, both rounded.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) explicand: &'a [f64],
    pub(crate) background: &'a [f64],
    /// The weight of the background row.
    pub(crate) weight: f64,
}

/// The row that provides a player's features on the current path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FeatureSource {
    Free,
    Explicand,
    Background,
}

/// A split at which explicand and background row diverge.
pub(crate) struct Parting<S> {
    pub(crate) player: u32,
    /// The child to which the background row goes; visited after the explicand's child.
    background_child: usize,
    /// The sums of the explicand's side, once it is finished.
    explicand_sums: Option<S>,
}

impl<S> Parting<S> {
    /// Returns whether the player is taken from the explicand.
    #[inline(always)]
    pub(crate) fn is_own(&self) -> bool {
        self.explicand_sums.is_none()
    }
}

/// The operations that a walk calls at players, partings and leaves.
pub(crate) trait WalkVisitor {
    /// The sums over the leaves below a node that are passed up; the default is the sum over no leaves.
    type Sums: Copy + Default;

    /// Takes a free player from the explicand and returns `true`. If no coalition would reach a leaf that
    /// way, returns `false`; the player must then be taken from the background row only.
    #[inline(always)]
    fn begin(&mut self, _player: u32) -> bool {
        true
    }

    /// Processes a leaf with contribution `value`, reached with `own` players from the explicand and `rest`
    /// players from the background row.
    fn leaf(&mut self, leaf: Node, value: f64, own: usize, rest: usize) -> Self::Sums;

    /// Finishes the explicand's side of a player's parting. Returns whether to continue with the background
    /// row's side.
    fn turn(&mut self, player: u32, sums: Self::Sums) -> bool;

    /// Finishes both sides of a parting, with their sums. The partings in `above` are still open.
    fn join(&mut self, above: &[Parting<Self::Sums>], player: u32, sides: [Self::Sums; 2]) -> Self::Sums;
}

/// The working memory of a walk, created once per thread.
pub(crate) struct Walk<S> {
    source: Vec<FeatureSource>,
    partings: Vec<Parting<S>>,
}

impl<S: Copy + Default> Walk<S> {
    pub(crate) fn new(players: usize) -> Self {
        Self { source: vec![FeatureSource::Free; players], partings: Vec::new() }
    }

    /// Walks one tree for the game `weight · f(x_S, b_rest)`. `player_of` maps each feature to its player.
    #[inline]
    pub(crate) fn through(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        player_of: &[u32],
        Pair { explicand, background, weight }: Pair<'_>,
        mut walked: impl WalkVisitor<Sums = S>,
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
                    match self.source[player as usize] {
                        FeatureSource::Explicand => {}
                        FeatureSource::Background => at = child(background_left),
                        FeatureSource::Free => {
                            let background_child = child(background_left);
                            let explicand_sums = if walked.begin(player) {
                                self.source[player as usize] = FeatureSource::Explicand;
                                own += 1;
                                None
                            } else {
                                self.source[player as usize] = FeatureSource::Background;
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
            // Pass the sums up to the first parting whose other side is still to be visited.
            loop {
                let Some((parting, above)) = self.partings.split_last_mut() else { return };
                let player = parting.player;
                match parting.explicand_sums {
                    None => {
                        own -= 1;
                        if walked.turn(player, sums) {
                            parting.explicand_sums = Some(sums);
                            self.source[player as usize] = FeatureSource::Background;
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
                self.source[player as usize] = FeatureSource::Free;
                self.partings.pop();
            }
        }
    }
}
