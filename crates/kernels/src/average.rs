//! For each member of a group, the average product of the factors of all other members, from which every
//! value is computed.
//!
//! # Formula
//!
//! Each member l of a group G has two factors: p_l if it is present, and q_l if it is absent. For a semivalue
//! with mixing measure μ and moments `M(a, b) = ∫ t^a (1 − t)^b dμ(t)`, the average for member i is
//!
//! ```text
//! A_i = Σ_{S ⊆ G∖i} M(s, g − 1 − s) Π_{l∈S} p_l Π_{l∉S} q_l = ∫ Π_{l≠i} (t p_l + (1 − t) q_l) dμ(t)
//! ```
//!
//! where g is the number of members of G. The integrand is a polynomial of degree g − 1 in t, so a Gauss rule
//! of ⌈g/2⌉ nodes is exact.
//!
//! Some semivalues do not have a mixing measure, but only a weight for each size s. For these, the members
//! are split at i. The coefficients of the polynomial Π (p_l z + q_l) over the members l before i are
//! multiplied by weights, each of which is an average over the members after i. Coefficients are divided by
//! binomial coefficients, and weights are multiplied by them, so that neither overflows. This takes about as
//! long as the quadrature.
//!
//! All terms are non-negative for non-negative factors, so nothing cancels. There are no divisions by
//! factors, so factors may be zero.

use apportion_values::Semivalue;

/// Number of centres that are processed at the same time.
pub(crate) const LANES: usize = 8;

/// One number for each of [`LANES`] centres.
pub(crate) type Lane = [f64; LANES];

/// A node of a quadrature rule: its weight, and the probabilities of presence and of absence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) weight: f64,
    pub(crate) presence: f64,
    pub(crate) absence: f64,
}

/// The method that computes the averages for the members of a group.
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
    /// Creates the method for a semivalue and a group of `members` members. The semivalue must be
    /// [defined](Semivalue::check_players) for this number.
    pub(crate) fn new(semivalue: &Semivalue, members: usize) -> Self {
        if members <= 1 {
            return Self::Alone;
        }
        Self::quadrature(semivalue, members - 1)
            .unwrap_or_else(|| Self::BySize(semivalue.size_distribution(members)))
    }

    /// Creates a method that writes the product of the absent factors of all other members instead of an
    /// average.
    pub(crate) fn absent() -> Self {
        Self::Quadrature(vec![Node { weight: 1.0, presence: 0.0, absence: 1.0 }])
    }

    fn quadrature(semivalue: &Semivalue, degree: usize) -> Option<Self> {
        nodes(semivalue, degree).map(Self::Quadrature)
    }

    /// Returns the approximate number of arithmetic operations per centre for a group of `members` members.
    pub(crate) fn steps(&self, members: usize) -> usize {
        match self {
            Self::Alone => 1,
            Self::Quadrature(nodes) => 8 * nodes.len() * members,
            Self::BySize(_) => 5 * members * members,
        }
    }

    /// Returns the number of [`Lane`]s of working memory for a group of `members` members.
    pub(crate) fn memory(&self, members: usize) -> usize {
        match self {
            Self::Alone => 0,
            Self::Quadrature(_) => 2 * members,
            Self::BySize(_) => members * (members + 1) / 2 + members,
        }
    }

    /// Writes A_i for every member of a group with the factors `present` and `absent`. The length of `memory`
    /// must be at least the number that [`memory`](Self::memory) returns.
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

/// Returns the nodes of the quadrature rule of a semivalue that is exact for polynomials up to `degree`, or
/// `None` if the semivalue does not have a mixing measure.
pub(crate) fn nodes(semivalue: &Semivalue, degree: usize) -> Option<Vec<Node>> {
    let rule = semivalue.rule(degree)?;
    let ends = rule.presence().iter().zip(rule.absence()).zip(rule.weights());
    Some(ends.map(|((&presence, &absence), &weight)| Node { weight, presence, absence }).collect())
}

/// Adds the contribution of a node: for each member, the product of the factors of all other members,
/// computed from the products over the members before and after it.
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
/// Let e_s be the coefficient of z^s in the product of the first j members, and g_s the weight of this
/// coefficient in the average of member j. They are stored as `b_j[s] = e_s / C(j, s)` and `w_j[s] = C(j, s)
/// g_s`.
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

/// Writes the product of a polynomial and p z + q to `to`. The coefficients of both polynomials are divided
/// by binomial coefficients, as in `write_by_size`.
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
