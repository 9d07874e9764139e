//! Averages of the products of all members of a group but one, which are the core of every value.
//!
//! # Formula
//!
//! Each member l of a group has two factors: p_l if it is present, and q_l if it is absent. For a semivalue
//! with moments M(a, b), the average for member i is
//!
//! ```text
//! A_i = Σ_{S ⊆ G∖i} M(s, g − 1 − s) Π_{l∈S} p_l Π_{l∉S} q_l = ∫ Π_{l≠i} (t p_l + (1 − t) q_l) dμ(t)
//! ```
//!
//! where g is the number of members. The integrand is a polynomial of degree g − 1 in t, so a Gauss rule of
//! ⌈g/2⌉ nodes is exact.
//!
//! Without a mixing measure (weights by size), the sum is computed from the coefficients of the polynomials
//! Π (p_l z + q_l) of the members before i, and from the weights that the members after i leave to them.
//! Coefficients are divided by binomial coefficients, and weights multiplied with them, so that neither
//! overflows. This takes about as long as the quadrature.
//!
//! All terms are non-negative for non-negative factors, so nothing cancels. Nothing is divided by a factor,
//! so factors may be zero.

use apportion_values::Semivalue;

/// Number of centres that are processed at the same time.
pub(crate) const LANES: usize = 8;

/// A number for each of several centres.
pub(crate) type Lane = [f64; LANES];

/// A node of a quadrature: its weight, and the probabilities of presence and of absence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) weight: f64,
    pub(crate) presence: f64,
    pub(crate) absence: f64,
}

/// How the averages of a group are computed.
#[derive(Debug, Clone)]
pub(crate) enum Average {
    /// A group of one member: the average of the empty product is 1.
    Alone,
    /// A quadrature that is exact for the group.
    Quadrature(Vec<Node>),
    /// The distribution of the number of other members that are present.
    BySize(Vec<f64>),
}

impl Average {
    /// Creates the averages of a semivalue for a group of `members`. The semivalue must be
    /// [defined](Semivalue::check_players) for this number.
    pub(crate) fn new(semivalue: &Semivalue, members: usize) -> Self {
        if members <= 1 {
            return Self::Alone;
        }
        Self::quadrature(semivalue, members - 1)
            .unwrap_or_else(|| Self::BySize(semivalue.size_distribution(members)))
    }

    /// Creates the product of the absent factors of all other members.
    pub(crate) fn absent() -> Self {
        Self::Quadrature(vec![Node { weight: 1.0, presence: 0.0, absence: 1.0 }])
    }

    fn quadrature(semivalue: &Semivalue, degree: usize) -> Option<Self> {
        nodes(semivalue, degree).map(Self::Quadrature)
    }

    /// Returns the approximate number of arithmetic operations per centre for a group of `members`.
    pub(crate) fn steps(&self, members: usize) -> usize {
        match self {
            Self::Alone => 1,
            Self::Quadrature(nodes) => 8 * nodes.len() * members,
            Self::BySize(_) => 5 * members * members,
        }
    }

    /// Returns the number of [`Lane`]s of working memory for a group of `members`.
    pub(crate) fn memory(&self, members: usize) -> usize {
        match self {
            Self::Alone => 0,
            Self::Quadrature(_) => 2 * members,
            Self::BySize(_) => members * (members + 1) / 2 + members,
        }
    }

    /// Writes A_i for every member of a group with the factors `present` and `absent`. `memory` has at least
    /// the length that [`memory`](Self::memory) returns.
    #[inline(always)]
    pub(crate) fn write(&self, present: &[Lane], absent: &[Lane], memory: &mut [Lane], out: &mut [Lane]) {
        match self {
            Self::Alone => out.fill([1.0; LANES]),
            Self::Quadrature(nodes) => {
                out.fill([0.0; LANES]);
                let (factors, prefixes) = memory.split_at_mut(present.len());
                for node in nodes {
                    add_node(node, present, absent, factors, prefixes, out);
                }
            }
            Self::BySize(distribution) => write_by_size(distribution, present, absent, memory, out),
        }
    }
}

/// Returns the nodes of the rule of a semivalue that is exact for polynomials up to `degree`; `None` without
/// a mixing measure.
pub(crate) fn nodes(semivalue: &Semivalue, degree: usize) -> Option<Vec<Node>> {
    let rule = semivalue.rule(degree)?;
    let ends = rule.presence().iter().zip(rule.absence()).zip(rule.weights());
    Some(ends.map(|((&presence, &absence), &weight)| Node { weight, presence, absence }).collect())
}

/// Adds the products of all members but one at a node, from the products of those before and after it.
#[inline(always)]
fn add_node(
    node: &Node,
    present: &[Lane],
    absent: &[Lane],
    factors: &mut [Lane],
    prefixes: &mut [Lane],
    out: &mut [Lane],
) {
    let members = present.len();
    let (absent, factors) = (&absent[..members], &mut factors[..members]);
    let (prefixes, out) = (&mut prefixes[..members], &mut out[..members]);
    let mut product = [node.weight; LANES];
    for member in 0..members {
        prefixes[member] = product;
        for lane in 0..LANES {
            let factor = node.presence * present[member][lane] + node.absence * absent[member][lane];
            factors[member][lane] = factor;
            product[lane] *= factor;
        }
    }
    let mut product = [1.0; LANES];
    for member in (0..members).rev() {
        for lane in 0..LANES {
            out[member][lane] += prefixes[member][lane] * product[lane];
            product[lane] *= factors[member][lane];
        }
    }
}

/// Writes the averages for a distribution of sizes.
///
/// With e_s the coefficient of z^s in the product of the first j members, `b_j[s] = e_s / C(j, s)`. With
/// g_j\[s\] the weight with which that coefficient enters the average of member j, `w_j[s] = C(j, s) g_j[s]`.
#[inline(always)]
fn write_by_size(
    distribution: &[f64],
    present: &[Lane],
    absent: &[Lane],
    memory: &mut [Lane],
    out: &mut [Lane],
) {
    let members = present.len();
    let (polynomials, weights) = memory.split_at_mut(members * (members + 1) / 2);
    polynomials[0] = [1.0; LANES];
    let mut start = 0;
    for member in 0..members - 1 {
        let (before, after) = polynomials.split_at_mut(start + member + 1);
        extend_polynomial(&before[start..], &present[member], &absent[member], after);
        start += member + 1;
    }
    for (weight, probability) in weights.iter_mut().zip(distribution) {
        *weight = [*probability; LANES];
    }
    for member in (0..members).rev() {
        let mut sum = [0.0; LANES];
        for size in 0..=member {
            for lane in 0..LANES {
                sum[lane] += polynomials[start + size][lane] * weights[size][lane];
            }
        }
        out[member] = sum;
        let (own, count) = ((&present[member], &absent[member]), member as f64);
        for size in 0..member {
            let (more, same) = ((size + 1) as f64 / count, (member - size) as f64 / count);
            let (weight, next) = (weights[size], weights[size + 1]);
            weights[size] = std::array::from_fn(|lane| {
                own.0[lane] * next[lane] * more + own.1[lane] * weight[lane] * same
            });
        }
        start -= member;
    }
}

/// Multiplies a polynomial, in the scaled coefficients b, with p z + q.
#[inline(always)]
pub(crate) fn extend_polynomial(from: &[Lane], present: &Lane, absent: &Lane, to: &mut [Lane]) {
    let count = from.len() as f64;
    for size in 0..=from.len() {
        let (more, same) = (size as f64 / count, (from.len() - size) as f64 / count);
        for lane in 0..LANES {
            let joined = if size > 0 { present[lane] * from[size - 1][lane] * more } else { 0.0 };
            let apart = if size < from.len() { absent[lane] * from[size][lane] * same } else { 0.0 };
            to[size][lane] = joined + apart;
        }
    }
}
