//! How coalitions of those who part are weighed.
//!
//! Of the players who part, *members* get values; *others* are groups that stand beside the group whose
//! members are asked about (none, unless values are coalitional). With a others and t members in a coalition
//! that member i joins, out of o others and k members,
//!
//! ```text
//! φ_i = Σ_{S∌i} W(a, t) [v(S∪i) − v(S)],        W(a, t) = M1(a, o − a) · M2(t, k − 1 − t).
//! ```
//!
//! Sorted by v(S) that is one weight for coalitions with i and one for all, as in enumeration:
//!
//! ```text
//! φ_i = Σ_{S∋i} with(S) v(S) − Σ_S without(S) v(S),     without(a, t) = W(a, t),   with(a, t) = W(a, t − 1) + W(a, t),
//! ```
//!
//! with W(a, k) = W(a, −1) = 0. Both depend on the *class* of S alone, `t + (k + 1) a`, to which every player
//! adds a number of its own.

use crate::engine::moments::Moments;

/// The moments of a value.
pub(super) struct Weights {
    /// M2.
    pub(super) within: Moments,
    /// M1, where there are other groups.
    pub(super) between: Option<Moments>,
}

/// The weights of coalitions of some members and others.
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

    /// What a player adds to the class of a coalition.
    pub(super) fn step(&self, is_member: bool) -> u32 {
        if is_member { 1 } else { self.members as u32 + 1 }
    }
}
