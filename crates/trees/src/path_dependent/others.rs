//! Computes the average factor that the other players contribute to a leaf, for values with a quadrature rule
//! and for weights by coalition size, which do not have one.
//!
//! # Notation
//!
//! On one leaf with path players 1..d, player j is *hot* if the row passes all of the path's tests on j
//! (h_j = 1), and *cold* if it fails any of them (h_j = 0). c_j is the product of the cover fractions of
//! these tests. An absent player multiplies the leaf's weight by c_j, a present one by h_j. Therefore the
//! contribution of a leaf of value v to player i is
//!
//! ```text
//! φ_i = v (h_i − c_i) O_i,
//! O_i = mean of Π_{j ≠ i} (h_j if j is present, else c_j) over the coalitions that i joins.
//! ```
//!
//! If the value has a quadrature rule, O_i is the weighted sum over its nodes t of Π_{j≠i} (h_j t + c_j
//! (1 − t)). If it does not have a rule, the product in O_i is nonzero only if no other cold player is a
//! member of the coalition. If k of the m other hot players are absent, each set of k being equally likely,
//! the average factor is
//!
//! ```text
//! e_k = mean of Π_{j ∈ A} c_j over the A with |A| = k among the hot others
//! ```
//!
//! times Π c_j over the other cold players. With the probability `L_k` that the player joins m − k others,
//! all of them hot,
//!
//! ```text
//! O_i = Π_{other cold} c_j · Σ_k L_k e_k.
//! ```
//!
//! # Numerical stability
//!
//! The e_k are the Bernstein coefficients of the polynomial Π (t + c_j (1 − t)) over the other hot players.
//! Every number is a probability or a mean of numbers in \[0, 1\], and there are no subtractions. Therefore
//! there is no cancellation and no overflow at any depth, and numbers that underflow are too small to matter.
//! `L` follows from the distribution of the size of the coalition, p(s), which every semivalue has for any
//! number of players:
//!
//! ```text
//! L_k = p(m − k) · C(m, m − k) / C(d − 1, m − k).
//! ```
//!
//! # Cost
//!
//! O(d²) per leaf and row. To exclude each hot player in turn, the means over the players before it are
//! computed forwards, and the sum over the players after it is carried backwards (by the transposed step).
//! Therefore no division is needed.

use std::collections::HashMap;

use apportion_values::{Rule, Semivalue};

/// The combined tests on one player along a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factor {
    pub(super) hot: bool,
    /// The product c of the cover fractions of these tests.
    pub(super) share: f64,
}

impl Factor {
    /// The factor of a player that is not tested on the path.
    pub(super) const NONE: Self = Self { hot: true, share: 1.0 };

    /// Returns the factor of two players combined into one.
    pub(super) fn and(self, other: Self) -> Self {
        Self { hot: self.hot && other.hot, share: self.share * other.share }
    }

    /// Returns h − c, the difference between the factors of the present and the absent player.
    pub(super) fn gain(self) -> f64 {
        if self.hot { 1.0 - self.share } else { -self.share }
    }
}

/// The computation of O_i for the players of a path, with its working memory: created once per thread.
pub(super) enum Others<'a> {
    Quadrature(Quadrature<'a>),
    BySize(BySize<'a>),
}

impl<'a> Others<'a> {
    /// Creates the working memory. `value` must be [defined](Semivalue::check_players) for the players of the
    /// game.
    pub(super) fn new(value: &'a Semivalue) -> Self {
        match value.rule(0) {
            Some(_) => Self::Quadrature(Quadrature { value, rules: HashMap::new(), behind: Vec::new() }),
            None => Self::BySize(BySize {
                distributions: SizeDistributions {
                    value,
                    sizes: HashMap::new(),
                    distributions: HashMap::new(),
                },
                means: Vec::new(),
                sums: Vec::new(),
            }),
        }
    }

    /// Writes O_i of every player on the path to `others`.
    pub(super) fn write(&mut self, path: &[Factor], others: &mut Vec<f64>) {
        others.clear();
        others.resize(path.len(), 0.0);
        match self {
            _ if path.is_empty() => {}
            Self::Quadrature(quadrature) => quadrature.write(path, others),
            Self::BySize(by_size) => by_size.write(path, others),
        }
    }
}

/// The computation of O_i as a sum over the nodes of a quadrature rule.
pub(super) struct Quadrature<'a> {
    value: &'a Semivalue,
    /// The rule for each number of players on the path.
    rules: HashMap<usize, Option<Rule>>,
    /// For each player, the product over this and all later players, at one node.
    behind: Vec<f64>,
}

impl Quadrature<'_> {
    fn write(&mut self, path: &[Factor], others: &mut [f64]) {
        let rule = self.rules.entry(path.len()).or_insert_with(|| self.value.rule(path.len() - 1));
        let Some(rule) = rule else { unreachable!("a value with a rule has one for every degree") };
        let nodes = rule.presence().iter().zip(rule.absence()).zip(rule.weights());
        for ((&present, &absent), &weight) in nodes {
            let kept = |one: &Factor| one.share * absent + if one.hot { present } else { 0.0 };
            self.behind.clear();
            self.behind.resize(path.len() + 1, weight);
            for (place, one) in path.iter().enumerate().rev() {
                self.behind[place] = self.behind[place + 1] * kept(one);
            }
            let mut before = 1.0;
            for ((others, behind), one) in others.iter_mut().zip(&self.behind[1..]).zip(path) {
                *others += before * behind;
                before *= kept(one);
            }
        }
    }
}

/// The computation of O_i from the distribution of coalition sizes.
pub(super) struct BySize<'a> {
    distributions: SizeDistributions<'a>,
    /// For each number m of hot players on the path, in ascending order: e_0..e_m of the first m of them.
    means: Vec<f64>,
    /// Σ_k L_k e_k as a function of the means over the hot players that come first.
    sums: Vec<f64>,
}

impl BySize<'_> {
    fn write(&mut self, path: &[Factor], others: &mut [f64]) {
        let cold = path.iter().filter(|one| !one.hot).count();
        let hot = path.len() - cold;
        self.means.clear();
        self.means.push(1.0);
        for (before, one) in path.iter().filter(|one| one.hot).enumerate() {
            append_with_one_more(&mut self.means, before, one.share);
        }
        let mut kept = 1.0;
        if cold > 0 {
            let lost = dot(self.distributions.get(hot, cold - 1), &self.means[start(hot)..]);
            // Multiply by the shares of the cold players before each player, then by the shares of the cold
            // players after it.
            for (others, one) in others.iter_mut().zip(path).filter(|(_, one)| !one.hot) {
                *others = lost * kept;
                kept *= one.share;
            }
            let mut behind = 1.0;
            for (others, one) in others.iter_mut().zip(path).rev().filter(|(_, one)| !one.hot) {
                *others *= behind;
                behind *= one.share;
            }
        }
        if hot > 0 {
            self.sums.clear();
            self.sums.extend_from_slice(self.distributions.get(hot - 1, cold));
            let mut before = hot;
            for (others, one) in others.iter_mut().zip(path).rev().filter(|(_, one)| one.hot) {
                before -= 1;
                *others = kept * dot(&self.sums, &self.means[start(before)..]);
                carry_back(&mut self.sums, one.share);
            }
        }
    }
}

/// Returns the offset of the means over the first `count` hot players: the means over fewer players take 1 +
/// 2 + … + `count` numbers.
fn start(count: usize) -> usize {
    count * (count + 1) / 2
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Appends the means over `before` players and one more player with share `c`. This player is one of the k
/// absent players among `before + 1` with probability k / (before + 1).
fn append_with_one_more(means: &mut Vec<f64>, before: usize, c: f64) {
    let old = start(before);
    let count = (before + 1) as f64;
    for absent in 0..=before + 1 {
        let present = if absent <= before { (count - absent as f64) * means[old + absent] } else { 0.0 };
        let taken = if absent > 0 { absent as f64 * c * means[old + absent - 1] } else { 0.0 };
        means.push((present + taken) / count);
    }
}

/// Applies the transposed step: converts coefficients of the means over some players to coefficients of the
/// means without the last player, which has share `c`.
fn carry_back(sums: &mut Vec<f64>, c: f64) {
    let before = sums.len() - 1;
    for absent in 0..before {
        let (present, taken) = ((before - absent) as f64, (absent + 1) as f64);
        sums[absent] = (present * sums[absent] + taken * c * sums[absent + 1]) / before as f64;
    }
    sums.truncate(before);
}

/// The probabilities `L_k`, computed on first use.
struct SizeDistributions<'a> {
    value: &'a Semivalue,
    /// The distribution of coalition sizes for each number of players.
    sizes: HashMap<usize, Vec<f64>>,
    /// The probabilities for each number of other hot players and of other cold players.
    distributions: HashMap<(usize, usize), Vec<f64>>,
}

impl SizeDistributions<'_> {
    /// Returns, for `hot` and `cold` other players and each k, the probability that the player joins exactly
    /// `hot − k` others, all of them hot.
    fn get(&mut self, hot: usize, cold: usize) -> &[f64] {
        let Self { value, sizes, distributions } = self;
        distributions.entry((hot, cold)).or_insert_with(|| {
            let players = hot + cold + 1;
            let sizes = sizes
                .entry(players)
                .or_insert_with(|| value.without_null_players(players).size_distribution(players));
            // C(m, m − k) / C(m + cold, m − k): this is 1 for k = m, and the term for k − 1 is k / (cold + k)
            // times the term for k.
            let mut distribution = vec![0.0; hot + 1];
            let mut among_hot = 1.0;
            for absent in (0..=hot).rev() {
                distribution[absent] = sizes[hot - absent] * among_hot;
                among_hot *= absent as f64 / (cold + absent) as f64;
            }
            distribution
        })
    }
}
