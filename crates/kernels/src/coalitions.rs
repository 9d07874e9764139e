//! The interaction indices of all coalitions of a few players as sums over centres and background rows.
//!
//! # Formula
//!
//! For a centre and a background row, let player l have the factor p_l if it is present, and q_l if it is
//! absent. With `g_l = p_l − q_l` and `f_l(t) = t p_l + (1 − t) q_l`, the interaction index of a coalition K
//! for a mixing measure μ is
//!
//! ```text
//! I_μ(K) = Π_{i∈K} g_i ∫ Π_{l∉K} f_l(t) dμ(t)
//! ```
//!
//! because the discrete derivative Δ_K of a product is the product of the differences in K and the factors
//! outside K. If the functional L_k of another index is a sum of [integrals](IndexIntegral) of derivatives,
//! this index is a sum of the numbers I_μ(K). Since the derivative of f_l is g_l,
//!
//! ```text
//! Π_{i∈K} g_i ∫ (Π_{l∉K} f_l)^(d) / d! dμ = Σ_{K' ⊇ K, |K'| = |K| + d} I_μ(K')
//! ```
//!
//! At a node t of the quadrature rule, one walk in lexicographic order computes the products for all K. It
//! multiplies the product by g_l for a member, and by f_l for a player that stays outside. The product of all
//! players after the last member is computed beforehand. A coalition therefore takes one step, and no
//! division by a factor, which may be zero, is required.

use apportion_games::Cancellation;
use apportion_values::interactions::{IndexIntegral, MAX_ORDER};
use apportion_values::{IndexWeights, Semivalue};

use crate::average::{Average, LANES, Lane, Node, nodes};
use crate::layout::Layout;
use crate::sums::Terms;

/// The numbers `I_μ(K)` that an index requires, as sums over centres and background rows.
pub(crate) struct CoalitionTerms {
    layout: Layout,
    players: usize,
    measures: Vec<Measure>,
    targets: usize,
}

/// A mixing measure μ, with the sizes of the coalitions K.
struct Measure {
    semivalue: Semivalue,
    sizes: Vec<SizeTargets>,
    /// The nodes of the quadrature rule; `None` for weights by size.
    nodes: Option<Vec<Node>>,
}

/// All coalitions of one size.
struct SizeTargets {
    size: usize,
    /// The index of the sum of the first coalition; the others follow in lexicographic order.
    first: usize,
    /// For weights by size, the averages over the players outside the first `size − 1` members.
    average: Option<Average>,
}

/// A part of an index of coalitions of one size: `coefficient` times the sums of all coalitions with `more`
/// additional members. The sums of coalitions of this larger size start at the index `first`.
pub(crate) struct Part {
    pub(crate) coefficient: f64,
    pub(crate) more: usize,
    pub(crate) first: usize,
}

impl CoalitionTerms {
    /// Creates the terms for the index with these weights, and the parts of the index for coalitions of each
    /// size from 0 on. Size 0 only has parts if the index of ∅ differs from v(∅). Returns `None` if the index
    /// is not a sum of integrals.
    ///
    /// The first factors of `layout` must be those of the players.
    pub(crate) fn new(layout: Layout, weights: &IndexWeights) -> Option<(Self, Vec<Vec<Part>>)> {
        let players = weights.players();
        let mut terms = Self { layout, players, measures: Vec::new(), targets: 0 };
        let mut parts = Vec::new();
        for size in 0..=weights.order().min(players) {
            let integrals = match size > 0 || weights.has_own_constant() {
                true => weights.integrals(size)?,
                false => Vec::new(),
            };
            let possible = integrals.iter().filter(|integral| size + integral.derivative <= players);
            parts.push(possible.map(|integral| terms.part(size, integral)).collect());
        }
        for measure in &mut terms.measures {
            let smallest = measure.sizes.iter().map(|targets| targets.size).min().unwrap_or(0);
            measure.nodes = nodes(&measure.semivalue, players - smallest);
            if measure.nodes.is_none() {
                for targets in &mut measure.sizes {
                    let others = players + 1 - targets.size;
                    targets.average = Some(Average::new(&measure.semivalue, others));
                }
            }
        }
        Some((terms, parts))
    }

    /// Returns the part for an integral in the index of coalitions of `size` members.
    fn part(&mut self, size: usize, integral: &IndexIntegral) -> Part {
        let (more, semivalue) = (integral.derivative, integral.measure.simplified());
        let place = self.measures.iter().position(|measure| measure.semivalue == semivalue);
        let place = place.unwrap_or_else(|| {
            self.measures.push(Measure { semivalue, sizes: Vec::new(), nodes: None });
            self.measures.len() - 1
        });
        let (size, sizes) = (size + more, &mut self.measures[place].sizes);
        let first = match sizes.iter().find(|targets| targets.size == size) {
            Some(targets) => targets.first,
            None => {
                let first = self.targets;
                sizes.push(SizeTargets { size, first, average: None });
                self.targets += binomial(self.players, size);
                first
            }
        };
        Part { coefficient: integral.coefficient, more, first }
    }
}

/// Replaces `members`, in ascending order, by the next choice among `players` players in lexicographic order.
/// Returns whether there is one.
#[inline]
pub(crate) fn advance(members: &mut [usize], players: usize) -> bool {
    let size = members.len();
    let Some(at) = (0..size).rev().find(|&at| members[at] + size < players + at) else { return false };
    members[at] += 1;
    for later in at + 1..size {
        members[later] = members[later - 1] + 1;
    }
    true
}

/// Returns C(n, k), or [`usize::MAX`] if it is larger.
pub(crate) fn binomial(n: usize, k: usize) -> usize {
    let mut product: u128 = 1;
    for chosen in 0..k.min(n - k) {
        product = product * (n - chosen) as u128 / (chosen + 1) as u128;
        if product > usize::MAX as u128 {
            return usize::MAX;
        }
    }
    product as usize
}

impl Terms for CoalitionTerms {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn targets(&self) -> usize {
        self.targets
    }

    fn memory(&self) -> usize {
        let sizes = || self.measures.iter().flat_map(|measure| &measure.sizes);
        let of_averages = sizes().filter_map(|targets| {
            let others = self.players + 1 - targets.size;
            Some(3 * others + targets.average.as_ref()?.memory(others))
        });
        let of_nodes = 2 * self.players + sizes().map(|targets| targets.size).max().unwrap_or(0);
        self.players + of_nodes.max(of_averages.max().unwrap_or(0))
    }

    fn add(&self, factors: (&[Lane], &[Lane]), weight: f64, memory: &mut [Lane], sums: &mut [Lane]) {
        let players = self.players;
        let (present, absent) = (&factors.0[..players], &factors.1[..players]);
        let (gains, memory) = memory.split_at_mut(players);
        for (gain, (p, q)) in gains.iter_mut().zip(present.iter().zip(absent)) {
            *gain = std::array::from_fn(|lane| p[lane] - q[lane]);
        }
        for measure in &self.measures {
            for node in measure.nodes.iter().flatten() {
                Cancellation::check();
                add_node(node, (present, absent), gains, &measure.sizes, weight, memory, sums);
            }
            for targets in &measure.sizes {
                if let Some(average) = &targets.average {
                    let sums = &mut sums[targets.first..];
                    add_by_size(average, (present, absent), gains, targets.size, weight, memory, sums);
                }
            }
        }
    }
}

/// Adds the products at a node for all coalitions of these sizes.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn add_node(
    node: &Node,
    pair: (&[Lane], &[Lane]),
    gains: &[Lane],
    sizes: &[SizeTargets],
    weight: f64,
    memory: &mut [Lane],
    sums: &mut [Lane],
) {
    let (present, absent) = pair;
    let (factors, memory) = memory.split_at_mut(gains.len());
    let (ends, products) = memory.split_at_mut(gains.len());
    // The end of a player is the product of its gain and all factors after it. It completes the products of
    // the coalitions with this last member.
    let mut product = [1.0; LANES];
    for player in (0..gains.len()).rev() {
        for lane in 0..LANES {
            ends[player][lane] = gains[player][lane] * product[lane];
            let factor = node.presence * present[player][lane] + node.absence * absent[player][lane];
            factors[player][lane] = factor;
            product[lane] *= factor;
        }
    }
    for targets in sizes {
        let (sums, start) = (&mut sums[targets.first..], weight * node.weight);
        match targets.size {
            0 => sums[0].iter_mut().zip(&product).for_each(|(sum, product)| *sum += start * product),
            size => add_coalitions(size, (factors, gains, ends), start, products, sums),
        }
    }
}

/// Adds the products of all coalitions of `size` ≥ 1 members to `sums`, in lexicographic order, times
/// `start`.
#[inline(always)]
fn add_coalitions(
    size: usize,
    (factors, gains, ends): (&[Lane], &[Lane], &[Lane]),
    start: f64,
    products: &mut [Lane],
    sums: &mut [Lane],
) {
    let (players, last) = (factors.len(), size - 1);
    // The candidate for each member, and the product over all players before it.
    let mut candidates = [0; MAX_ORDER];
    products[0] = [start; LANES];
    let (mut member, mut next) = (0, 0);
    loop {
        if member == last {
            let mut product = products[last];
            let first = candidates[last];
            let outside = factors[first..].iter().zip(&ends[first..]);
            for (sum, (factor, end)) in sums[next..].iter_mut().zip(outside) {
                for lane in 0..LANES {
                    sum[lane] += product[lane] * end[lane];
                    product[lane] *= factor[lane];
                }
            }
            next += players - first;
        } else if candidates[member] < players - (last - member) {
            let candidate = candidates[member];
            for lane in 0..LANES {
                products[member + 1][lane] = products[member][lane] * gains[candidate][lane];
            }
            member += 1;
            candidates[member] = candidate + 1;
            continue;
        }
        // Return to the member before, whose candidate stays outside from now on.
        let Some(before) = member.checked_sub(1) else { return };
        member = before;
        let factor = &factors[candidates[member]];
        products[member].iter_mut().zip(factor).for_each(|(product, factor)| *product *= factor);
        candidates[member] += 1;
    }
}

/// Adds the terms of all coalitions of `size` ≥ 1 members for weights by size. For each choice of the members
/// except the last one, `average` yields the averages for all last members at once.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn add_by_size(
    average: &Average,
    pair: (&[Lane], &[Lane]),
    gains: &[Lane],
    size: usize,
    weight: f64,
    memory: &mut [Lane],
    sums: &mut [Lane],
) {
    let (present, absent) = pair;
    let (players, chosen) = (gains.len(), size - 1);
    let others = players - chosen;
    let (rest, memory) = memory.split_at_mut(3 * others);
    let (own, rest) = rest.split_at_mut(others);
    let (other, averages) = rest.split_at_mut(others);
    let mut members: [usize; MAX_ORDER] = std::array::from_fn(|at| at);
    let mut next = 0;
    loop {
        Cancellation::check();
        let members = &mut members[..chosen];
        let outside = (0..players).filter(|player| !members.contains(player));
        for (place, player) in outside.enumerate() {
            (own[place], other[place]) = (present[player], absent[player]);
        }
        average.write(own, other, memory, averages);
        let mut product = [weight; LANES];
        for &member in &*members {
            product.iter_mut().zip(&gains[member]).for_each(|(product, gain)| *product *= gain);
        }
        let first = members.last().map_or(0, |member| member + 1);
        for player in first..players {
            let average = &averages[player - chosen];
            for lane in 0..LANES {
                sums[next][lane] += product[lane] * gains[player][lane] * average[lane];
            }
            next += 1;
        }
        if !advance(members, players) {
            return;
        }
    }
}
