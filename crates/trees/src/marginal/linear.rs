//! Walks trees with linear leaves for one explicand and one background row, visiting the nodes that some
//! mixture of the two can reach.
//!
//! # Derivation
//!
//! A leaf is reached by all mixtures that take the players E from the explicand x and R from the background
//! row b (see [`walk`](super::walk)); S are the players taken from x. The value of the leaf is
//! `c + Σ_j c_j z_j`, where z is the mixture, or the constant p if one of these z_j is missing. Let q(j) be
//! the player of feature j. For the linear model to apply, a feature with missing x_j must be taken from b,
//! and a feature with missing b_j from x:
//!
//! ```text
//! E' = E ∪ {q(j) : b_j missing}        R' = R ∪ {q(j) : x_j missing}.
//! ```
//!
//! If E' and R' intersect, the value of the leaf is always p. Otherwise, let `[E, R]` be the game that is 1
//! iff E ⊆ S and R ∩ S = ∅. The value is
//!
//! ```text
//! p · ([E, R] − [E', R'])  +  (c + Σ_{q(j) ∈ E'} c_j x_j + Σ_{q(j) ∉ E'} c_j b_j) · [E', R']
//!                          +  Σ_{j free} c_j (x_j − b_j) · [E' ∪ {q(j)}, R'],
//! ```
//!
//! where j is free if q(j) is in neither E' nor R'. Then z_j is x_j if q(j) ∈ S, and b_j otherwise. Therefore
//! the leaf is a sum of products. The values of a product are computed as for [any leaf](super::shares). A
//! leaf with d path features and t terms takes O(d + t) time for semivalues, and O(d t) for coalitional
//! values.

use apportion_models::Ensemble;
use apportion_models::tree::{LinearLeaf, Node};

use super::shares::Products;
use super::walk::{FeatureSource, Pair, Parting, Walk, WalkVisitor};

/// The working memory of a walk, created once per thread.
pub(crate) struct LinearWalk {
    walk: Walk<()>,
    gathering: Gathering,
}

/// The rows that players are taken from on the current path, and the products of its leaf.
struct Gathering {
    source: Vec<FeatureSource>,
    /// The players for which the two rows diverge on the path, from the root down.
    path: Vec<u32>,
    products: Products,
    /// Players that are taken from one row only because the other row lacks a value.
    bound: Vec<u32>,
}

impl LinearWalk {
    pub(crate) fn new(players: usize) -> Self {
        let (products, source) = (Products::default(), vec![FeatureSource::Free; players]);
        let gathering = Gathering { source, path: Vec::new(), products, bound: Vec::new() };
        Self { walk: Walk::new(players), gathering }
    }

    /// Calls `share` for each of the products whose sum is the game `f(x_S, b_rest)` on one tree, with the
    /// product and its value v. `player_of` maps each feature to its player.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        player_of: &[u32],
        rows: Pair<'_>,
        share: impl FnMut(&mut Products, f64),
    ) {
        let Self { walk, gathering } = self;
        walk.through(
            ensemble,
            nodes,
            player_of,
            rows,
            Walking { ensemble, player_of, rows, gathering, share },
        );
    }
}

struct Walking<'a, F> {
    ensemble: &'a Ensemble,
    player_of: &'a [u32],
    rows: Pair<'a>,
    gathering: &'a mut Gathering,
    share: F,
}

impl<F: FnMut(&mut Products, f64)> WalkVisitor for Walking<'_, F> {
    type Sums = ();

    fn begin(&mut self, player: u32) -> bool {
        self.gathering.source[player as usize] = FeatureSource::Explicand;
        self.gathering.path.push(player);
        true
    }

    fn leaf(&mut self, leaf: Node, _: f64, _: usize, _: usize) {
        let model = self.ensemble.linear_leaf(leaf);
        self.gathering.gather(model, leaf.value(), self.player_of, self.rows, &mut self.share);
    }

    fn turn(&mut self, player: u32, _: ()) -> bool {
        self.gathering.source[player as usize] = FeatureSource::Background;
        true
    }

    fn join(&mut self, _: &[Parting<()>], player: u32, _: [(); 2]) {
        self.gathering.source[player as usize] = FeatureSource::Free;
        self.gathering.path.pop();
    }
}

impl Gathering {
    /// Calls `share` with each of the games that sum to the game on a leaf. The value of the leaf is `plain`
    /// if it does not have a linear model, or if the model does not apply.
    fn gather(
        &mut self,
        model: Option<&LinearLeaf>,
        plain: f64,
        player_of: &[u32],
        Pair { explicand, background, weight }: Pair<'_>,
        share: &mut impl FnMut(&mut Products, f64),
    ) {
        self.products.clear();
        for &player in &self.path {
            self.products.require(player, self.source[player as usize] == FeatureSource::Explicand);
        }
        let Some(model) = model else { return share(&mut self.products, weight * plain) };
        let can_count = self.bind(model, player_of, explicand, background);
        if !can_count || !self.bound.is_empty() {
            share(&mut self.products, weight * plain);
        }
        if can_count {
            for &player in &self.bound {
                self.products.require(player, self.source[player as usize] == FeatureSource::Explicand);
            }
            let mut value = model.constant;
            for &(feature, coefficient) in &model.terms {
                let feature = feature as usize;
                let player = player_of[feature];
                let (own, other) = (explicand[feature], background[feature]);
                match self.source[player as usize] {
                    FeatureSource::Explicand => value += coefficient * own,
                    FeatureSource::Background => value += coefficient * other,
                    FeatureSource::Free => {
                        value += coefficient * other;
                        let difference = weight * coefficient * (own - other);
                        self.products.extensions.push((player, difference));
                    }
                }
            }
            if !self.bound.is_empty() {
                value -= plain;
            }
            share(&mut self.products, weight * value);
        }
        for player in self.bound.drain(..) {
            self.source[player as usize] = FeatureSource::Free;
        }
    }

    /// Takes each player with a missing value from the row in which the value is present. Returns `false` if
    /// a player would have to be taken from both.
    fn bind(&mut self, model: &LinearLeaf, player_of: &[u32], explicand: &[f64], background: &[f64]) -> bool {
        for &(feature, _) in &model.terms {
            let player = player_of[feature as usize];
            let source = &mut self.source[player as usize];
            let missing = [
                (explicand[feature as usize], FeatureSource::Background),
                (background[feature as usize], FeatureSource::Explicand),
            ];
            for (_, wanted) in missing.into_iter().filter(|(value, _)| value.is_nan()) {
                if *source == FeatureSource::Free {
                    *source = wanted;
                    self.bound.push(player);
                } else if *source != wanted {
                    return false;
                }
            }
        }
        true
    }
}
