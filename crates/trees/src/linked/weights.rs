//! The weights of coalitions of diverging players.
//!
//! The diverging players are *members*, which have values, and *others*: the groups other than the group of
//! the members (only coalitional values have others). If member i joins a coalition of `a` others and t
//! members, out of o others and k members in total,
//!
//! ```text
//! φ_i = Σ_{S∌i} W(a, t) [v(S∪i) − v(S)],        W(a, t) = M1(a, o − a) · M2(t, k − 1 − t).
//! ```
//!
//! Collecting the terms of each v(S) yields one weight for coalitions that contain i and one for all
//! coalitions, as in enumeration:
//!
//! ```text
//! φ_i = Σ_{S∋i} with(S) v(S) − Σ_S without(S) v(S),
//! without(a, t) = W(a, t),   with(a, t) = W(a, t − 1) + W(a, t),
//! ```
//!
//! with W(a, k) = W(a, −1) = 0. Both depend only on the *class* of S, `t + (k + 1) a`, which is a sum of one
//! increment per player.

use crate::engine::moments::Moments;

/// The moments that define the weights of coalitions.
pub(super) struct Weights {
    /// The moments M2, which weight coalitions of members.
    pub(super) within: Moments,
    /// The moments M1, which weight coalitions of other groups, if there are any.
    pub(super) between: Option<Moments>,
}

/// The weights of coalitions of members and others, indexed by class.
pub(super) struct ByClass {
    pub(super) with: Vec<f64>,
    pub(super) without: Vec<f64>,
    members: usize,
}

impl ByClass {
    pub(super) fn new(weights: &Weights, members: usize, others: usize) -> Self {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for a in 0..=others {
            let outer = weights.between.as_ref().map_or(1.0, |between| between.get(a, others - a));
            let weight = |t: usize| {
                if t < members { outer * weights.within.get(t, members - 1 - t) } else { 0.0 }
            };
            for t in 0..=members {
                without.push(weight(t));
                with.push(weight(t) + if t > 0 { weight(t - 1) } else { 0.0 });
            }
        }
        Self { with, without, members }
    }

    /// Returns the increment that a player adds to the class of a coalition.
    pub(super) fn step(&self, is_member: bool) -> u32 {
        if is_member { 1 } else { self.members as u32 + 1 }
    }
}
