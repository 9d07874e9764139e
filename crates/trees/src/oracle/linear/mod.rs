//! Trees with linear leaves: one explicand against one background row, on the nodes that some mixture of the two can reach.
//!
//! # The derivation
//!
//! A leaf is reached by all mixtures that take the players E from the explicand x and R from the background row b (see
//! [`walk`](super::walk)); S are the players taken from x. It is worth `c + Σ_j c_j z_j` where z is the mixture, or p where one of these
//! z_j is missing. Let q(j) be the player of feature j. A feature whose x_j is missing must be taken from b for the model to count, one
//! whose b_j is missing from x:
//!
//! ```text
//! E' = E ∪ {q(j) : b_j missing}        R' = R ∪ {q(j) : x_j missing}.
//! ```
//!
//! If E' and R' meet, the leaf is always worth p. Else, writing `[E, R]` for the game that is 1 iff E ⊆ S and R ∩ S = ∅,
//!
//! ```text
//! p · ([E, R] − [E', R'])  +  (c + Σ_{q(j) ∈ E'} c_j x_j + Σ_{q(j) ∉ E'} c_j b_j) · [E', R']
//!                          +  Σ_{j free} c_j (x_j − b_j) · [E' ∪ {q(j)}, R'],
//! ```
//!
//! where j is free if q(j) is in neither E' nor R': there z_j is x_j if q(j) ∈ S, else b_j. So the leaf is a sum of products, whose
//! values are those of [`walk`](super::walk) and of [`coalitional`](super::coalitional). Takes O(d + t) time per leaf reached of d path
//! features and t terms for semivalues, O(d t) for coalitional values.

mod products;

pub(crate) use self::products::Products;
use super::walk::Pair;
use apportion_models::Ensemble;
use apportion_models::tree::{LinearLeaf, Node};

/// Who a player's features are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Free,
    Explicand,
    Background,
}

/// A split at which explicand and background row part.
struct Parting {
    player: u32,
    /// The child that the background row goes to, until it is visited.
    background_child: Option<usize>,
}

/// The memory of a walk, made once per thread.
pub(crate) struct LinearWalk {
    taken: Vec<Taken>,
    partings: Vec<Parting>,
    products: Products,
    /// Players that are taken from one of the rows for the sake of a missing value alone.
    bound: Vec<u32>,
}

impl LinearWalk {
    /// For games of so many players, of which coalitional values have in so many groups (else 0).
    pub(crate) fn new(players: usize, groups: usize) -> Self {
        Self {
            taken: vec![Taken::Free; players],
            partings: Vec::new(),
            products: Products::new(groups),
            bound: Vec::new(),
        }
    }

    /// Gives the games whose sum is the game `f(x_S, b_rest)` on one tree to `share`, each with its v. `player_of` has the player of
    /// each feature.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        player_of: &[u32],
        rows: Pair<'_>,
        mut share: impl FnMut(&mut Products, f64),
    ) {
        let mut at = 0;
        loop {
            let node = nodes[at];
            if !node.is_leaf() {
                let feature = node.feature();
                let left = ensemble.goes_left(node, rows.explicand[feature]);
                let background_left = ensemble.goes_left(node, rows.background[feature]);
                let child = |left: bool| node.left() + usize::from(!left);
                at = child(left);
                if left != background_left {
                    let player = player_of[feature];
                    let taken = &mut self.taken[player as usize];
                    match *taken {
                        Taken::Explicand => {}
                        Taken::Background => at = child(background_left),
                        Taken::Free => {
                            *taken = Taken::Explicand;
                            let background_child = Some(child(background_left));
                            self.partings.push(Parting { player, background_child });
                        }
                    }
                }
                continue;
            }
            self.gather(ensemble.linear_leaf(node), node.value(), player_of, rows, &mut share);
            // Back to the last parting whose other side is still to go.
            loop {
                let Some(parting) = self.partings.last_mut() else { return };
                let taken = &mut self.taken[parting.player as usize];
                if let Some(child) = parting.background_child.take() {
                    *taken = Taken::Background;
                    at = child;
                    break;
                }
                *taken = Taken::Free;
                self.partings.pop();
            }
        }
    }

    /// Gives the games of a leaf, which is worth `plain` where it has no model or that counts for nothing.
    fn gather(
        &mut self,
        model: Option<&LinearLeaf>,
        plain: f64,
        player_of: &[u32],
        Pair { explicand, background, weight }: Pair<'_>,
        share: &mut impl FnMut(&mut Products, f64),
    ) {
        self.products.clear();
        for parting in &self.partings {
            self.products.require(parting.player, self.taken[parting.player as usize] == Taken::Explicand);
        }
        let Some(model) = model else { return share(&mut self.products, weight * plain) };
        let can_count = self.bind(model, player_of, explicand, background);
        if !can_count || !self.bound.is_empty() {
            share(&mut self.products, weight * plain);
        }
        if can_count {
            for &player in &self.bound {
                self.products.require(player, self.taken[player as usize] == Taken::Explicand);
            }
            let mut value = model.constant;
            for &(feature, coefficient) in &model.terms {
                let feature = feature as usize;
                let player = player_of[feature];
                let (own, other) = (explicand[feature], background[feature]);
                match self.taken[player as usize] {
                    Taken::Explicand => value += coefficient * own,
                    Taken::Background => value += coefficient * other,
                    Taken::Free => {
                        value += coefficient * other;
                        self.products.extend(player, weight * coefficient * (own - other));
                    }
                }
            }
            if !self.bound.is_empty() {
                value -= plain;
            }
            share(&mut self.products, weight * value);
        }
        for player in self.bound.drain(..) {
            self.taken[player as usize] = Taken::Free;
        }
    }

    /// Takes the players with a missing value from the row where it is there; `false` where one would have to be taken from both.
    fn bind(&mut self, model: &LinearLeaf, player_of: &[u32], explicand: &[f64], background: &[f64]) -> bool {
        for &(feature, _) in &model.terms {
            let player = player_of[feature as usize];
            let taken = &mut self.taken[player as usize];
            let missing = [
                (explicand[feature as usize], Taken::Background),
                (background[feature as usize], Taken::Explicand),
            ];
            for (_, wanted) in missing.into_iter().filter(|(value, _)| value.is_nan()) {
                if *taken == Taken::Free {
                    *taken = wanted;
                    self.bound.push(player);
                } else if *taken != wanted {
                    return false;
                }
            }
        }
        true
    }
}
