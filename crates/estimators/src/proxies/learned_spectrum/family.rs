//! Priors on the spectrum, built from the results of the screens.

use super::screens::{MAX_TERMS, ScreenResults};
use crate::surrogate::prior::{Prior, Smooth};
use crate::surrogate::product::{Product, merged, strongest};

/// A family of priors on products of players. The variances below are those of odd products; even products
/// are treated similarly.
///
/// C is the variance that the screens found in products of several players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// The products of the screens, triples by heredity, and smooth parts. Triples whose pairs the screens
    /// found have `τ² ∝ Σ √(q_ij q_jl)`, summed over the three pairs of pairs, with total variance C. Here
    /// q_ij is the squared coefficient of the pair i, j. The smooth parts are all triples, with equal
    /// variances and total variance 0.1 C, and all quintuples, with 0.3 C.
    Heredity,
    /// All triples with equal variances and total variance C, and all quintuples with 0.3 C.
    Smooth,
    /// The products of the screens, and all triples with equal variances and total variance 0.1 C.
    Trees,
}

/// The maximum number of distinct players that occur in explicit triples.
const MAX_PLAYERS_OF_TRIPLES: usize = 32;

impl Family {
    /// All families, in the order in which they are preferred if the data are inconclusive.
    pub(super) const ALL: [Self; 3] = [Self::Heredity, Self::Smooth, Self::Trees];

    /// Returns the name with which the choice is reported.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Heredity => "products selected by trees, and triples of selected pairs",
            Self::Smooth => "all triples and quintuples equally",
            Self::Trees => "products selected by trees",
        }
    }

    /// Returns the prior on odd products of several players.
    pub(super) fn prior(self, players: usize, screened: &ScreenResults) -> Prior {
        let found: f64 = screened.odd.iter().map(|(_, square)| square).sum();
        let spread = if found > 0.0 { found } else { 1.0 };
        let alike = |order: usize, share: f64| {
            (players >= order).then(|| Smooth::of_variance(order, share * spread, vec![1.0; players]))
        };
        let smooth = |shares: [f64; 2]| {
            [alike(3, shares[0]), alike(5, shares[1])].into_iter().flatten().collect::<Vec<_>>()
        };
        match self {
            Self::Heredity => {
                Prior { terms: with_triples(players, screened, spread), smooth: smooth([0.1, 0.3]) }
            }
            Self::Smooth => Prior { terms: Vec::new(), smooth: smooth([1.0, 0.3]) },
            Self::Trees => Prior { terms: screened.odd.clone(), smooth: alike(3, 0.1).into_iter().collect() },
        }
    }

    /// Returns the prior on even products of two and more players.
    pub(super) fn even_prior(self, players: usize, screened: &ScreenResults) -> Prior {
        let found: f64 = screened.even.iter().map(|(_, square)| square).sum();
        let spread = if found > 0.0 { found } else { 1.0 };
        let alike = |order: usize, share: f64| {
            (players >= order).then(|| Smooth::of_variance(order, share * spread, vec![1.0; players]))
        };
        let smooth = |shares: [f64; 2]| {
            [alike(2, shares[0]), alike(4, shares[1])].into_iter().flatten().collect::<Vec<_>>()
        };
        match self {
            Self::Heredity => Prior { terms: screened.even.clone(), smooth: smooth([0.1, 0.1]) },
            Self::Smooth => Prior { terms: Vec::new(), smooth: smooth([1.0, 0.3]) },
            Self::Trees => {
                Prior { terms: screened.even.clone(), smooth: alike(2, 0.1).into_iter().collect() }
            }
        }
    }

    /// Returns the prior of [`Heredity`](Self::Heredity) on odd products without its smooth parts, limited to
    /// the `most` products with the largest variances.
    pub(super) fn terms(players: usize, screened: &ScreenResults, most: usize) -> Prior {
        let found: f64 = screened.odd.iter().map(|(_, square)| square).sum();
        let mut terms = with_triples(players, screened, if found > 0.0 { found } else { 1.0 });
        terms.truncate(most);
        Prior { terms, smooth: Vec::new() }
    }
}

/// Returns the odd products of the screens, and the triples by heredity with total variance `spread`, by
/// descending variance.
fn with_triples(players: usize, screened: &ScreenResults, spread: f64) -> Vec<(Product, f64)> {
    let mut triples = triples(players, screened);
    let sum: f64 = triples.iter().map(|(_, variance)| variance).sum();
    if sum > 0.0 {
        triples.iter_mut().for_each(|(_, variance)| *variance *= spread / sum);
    } else {
        triples.clear();
    }
    triples.extend(screened.odd.iter().copied());
    strongest(merged(triples), MAX_TERMS)
}

/// Returns triples with the strength of their pairs: `√(q_ij q_jl) + √(q_ij q_il) + √(q_jl q_il)`.
fn triples(players: usize, screened: &ScreenResults) -> Vec<(Product, f64)> {
    // Use only the players in the strongest pairs, so that triples can be listed.
    let mut strengths = vec![0.0; players];
    for (product, square) in &screened.even {
        product.players().for_each(|player| strengths[player] += square);
    }
    let mut kept: Vec<usize> = (0..players).filter(|&player| strengths[player] > 0.0).collect();
    kept.sort_by(|&left, &right| strengths[right].total_cmp(&strengths[left]));
    kept.truncate(MAX_PLAYERS_OF_TRIPLES);
    kept.sort_unstable();
    let size = kept.len();
    let mut place = vec![usize::MAX; players];
    kept.iter().enumerate().for_each(|(at, &player)| place[player] = at);
    let mut roots = vec![0.0; size * size];
    for (product, square) in &screened.even {
        let members: Vec<usize> = product.players().collect();
        let pairs = (members.len() * (members.len() - 1) / 2) as f64;
        for (at, &left) in members.iter().enumerate() {
            for &right in &members[at + 1..] {
                let (left, right) = (place[left], place[right]);
                if left != usize::MAX && right != usize::MAX {
                    roots[left * size + right] += square / pairs;
                    roots[right * size + left] += square / pairs;
                }
            }
        }
    }
    roots.iter_mut().for_each(|square| *square = square.sqrt());
    let mut triples = Vec::new();
    for i in 0..size {
        for j in i + 1..size {
            for l in j + 1..size {
                let (a, b, c) = (roots[i * size + j], roots[i * size + l], roots[j * size + l]);
                let strength = a * b + a * c + b * c;
                if strength > 0.0 {
                    triples.push((Product::from_players([kept[i], kept[j], kept[l]]), strength));
                }
            }
        }
    }
    triples
}
