//! Semivalues: averages of a player's marginal contributions, with weights that depend on the coalition size
//! only.
//!
//! # Notation
//!
//! `n` players; `s = |S|` for a coalition `S` without the player. A semivalue is defined by a probability
//! measure μ on \[0,1\], the *mixing measure*: draw a probability t from μ, let every other player be present
//! independently with probability t, and take the expectation of the marginal contribution (Dubey, Neyman and
//! Weber, *Value theory without efficiency*, 1981). In terms of the moments M(a, b), the value is
//!
//! ```text
//! M(a, b) = ∫ t^a (1 − t)^b dμ(t)
//! φ_i = Σ_{S ⊆ N∖i} M(s, n − 1 − s) · [v(S ∪ i) − v(S)]
//! ```
//!
//! | value | μ | M(a, b) |
//! |---|---|---|
//! | Shapley | uniform on \[0,1\] | a! b! / (a + b + 1)! |
//! | Banzhaf | all mass at ½ | 2^−(a+b) |
//! | weighted Banzhaf(p) | all mass at p | p^a (1 − p)^b |
//! | Beta-Shapley(α, β) | Beta(β, α) | B(a + β, b + α) / B(β, α) |
//! | mixture | atoms t_k of mass w_k | Σ_k w_k t_k^a (1 − t_k)^b |
//!
//! Weights by size, for a fixed number of players, do not require a mixing measure: their moments follow from
//! `M(a, b) = M(a + 1, b) + M(a, b + 1)`.
//!
//! All computations of the workspace (enumeration, regression, sampling, trees) take their weights from these
//! moments, or from a quadrature of μ ([`Semivalue::rule`]), so that a solution concept is defined only once.

mod beta;
mod by_size;
mod mixture;
mod name;
mod presence;
mod size_distribution;

use serde::{Deserialize, Serialize};

pub use beta::BetaDistribution;
pub use by_size::SizeWeights;
pub use mixture::Mixture;
pub use presence::Presence;

use crate::error::ValueError;
use crate::least_squares::LeastSquaresForm;
use crate::logarithms::ln_factorial;
use crate::quadrature::Rule;

/// A semivalue: an average of a player's marginal contributions, with weights that depend on the coalition
/// size only.
///
/// Its textual form (on the command line, in result files, in serde) is its name: `shapley`, `banzhaf`,
/// `weighted-banzhaf=0.3`, `beta=4,1`, `by-size=0.25,0.25,0.25`, `size-distribution=0.25,0.5,0.25`,
/// `mixture=0.2:0.5,0.8:0.5`.
///
/// ```
/// use apportion_values::Semivalue;
///
/// // Three players: coalitions of zero or two others have weight 1/3, those of one other have 1/6.
/// assert!((Semivalue::Shapley.coefficient(3, 0) - 1.0 / 3.0).abs() < 1e-15);
/// assert!((Semivalue::Shapley.coefficient(3, 1) - 1.0 / 6.0).abs() < 1e-15);
/// assert_eq!(Semivalue::Banzhaf.coefficient(3, 1), 0.25);
/// // Beta-Shapley(1, 1) is the Shapley value; (16, 1) favours small coalitions.
/// let early = Semivalue::beta_shapley(16.0, 1.0)?;
/// assert!(early.coefficient(3, 0) > 10.0 * early.coefficient(3, 2));
/// assert_eq!("weighted-banzhaf=0.3".parse::<Semivalue>()?, Semivalue::weighted_banzhaf(0.3)?);
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Semivalue {
    /// The Shapley value, in which all coalition sizes have equal weights:
    /// `φ_i = (1/n) Σ_S [v(S∪i) − v(S)] / C(n−1, s)` (Leverage SHAP, equation 1).
    Shapley,
    /// The Banzhaf value, in which all coalitions have equal weights: `φ_i = 2^{−(n−1)} Σ_S [v(S∪i) − v(S)]`
    /// (Kernel Banzhaf, equation 2).
    Banzhaf,
    /// Every other player is present with probability p (Li and Yu, *Robust data valuation with weighted
    /// Banzhaf values*, 2023). Banzhaf is the case p = ½. Created with [`Semivalue::weighted_banzhaf`].
    WeightedBanzhaf(Presence),
    /// The probability of presence has a Beta distribution (Kwon and Zou, *Beta Shapley*, 2022). Created with
    /// [`Semivalue::beta_shapley`].
    BetaShapley(BetaDistribution),
    /// Weights for each coalition size, for a fixed number of players. Created with
    /// [`Semivalue::from_size_weights`] and [`Semivalue::from_size_distribution`].
    SizeWeights(SizeWeights),
    /// The probability of presence takes one of finitely many values. Created with [`Semivalue::mixture`] and
    /// [`Semivalue::mixing_density`].
    Mixture(Mixture),
}

impl Semivalue {
    /// Creates the weighted Banzhaf value: every other player is present independently with probability `p`.
    ///
    /// # Errors
    ///
    /// [`ValueError::Presence`] unless 0 < p < 1.
    pub fn weighted_banzhaf(p: f64) -> Result<Self, ValueError> {
        Presence::new(p).map(Self::WeightedBanzhaf)
    }

    /// Creates Beta-Shapley(α, β) in the convention of Kwon and Zou: a coalition of `s` others has the weight
    /// `B(s + β, n − 1 − s + α) / B(β, α)`, so that t ~ Beta(β, α). The parameters (1, 1) yield the Shapley
    /// value; a large α favours small coalitions, a large β large ones.
    ///
    /// # Errors
    ///
    /// [`ValueError::Beta`] unless both parameters are from 1e-100 to 1e100.
    pub fn beta_shapley(alpha: f64, beta: f64) -> Result<Self, ValueError> {
        BetaDistribution::new(alpha, beta).map(Self::BetaShapley)
    }

    /// Creates the value in which each coalition of `s` others has the weight `weights[s]`, for games of
    /// `weights.len()` players. The weights must satisfy `Σ_s C(n−1, s) weights[s] = 1`. If such weights
    /// underflow (from several hundred players), use
    /// [`from_size_distribution`](Self::from_size_distribution).
    ///
    /// # Errors
    ///
    /// [`ValueError::Weights`] if there are no weights, if a weight is negative or not finite, or if their
    /// sum over all coalitions differs from 1 by more than 1e-9.
    pub fn from_size_weights(weights: &[f64]) -> Result<Self, ValueError> {
        SizeWeights::of_coalitions(weights).map(Self::SizeWeights)
    }

    /// Creates the value in which a player joins a coalition of `s` others with probability
    /// `distribution[s]`; all coalitions of this size are equally likely. The value applies to games of
    /// `distribution.len()` players, and the probabilities must sum to 1. The uniform distribution yields the
    /// Shapley value.
    ///
    /// # Errors
    ///
    /// [`ValueError::SizeDistribution`] if there are no probabilities, if a probability is negative or not
    /// finite, or if the sum is not 1.
    pub fn from_size_distribution(distribution: &[f64]) -> Result<Self, ValueError> {
        SizeWeights::of_sizes(distribution).map(Self::SizeWeights)
    }

    /// Creates the value whose mixing measure has mass `weights[k]` at `points[k]`.
    ///
    /// # Errors
    ///
    /// [`ValueError::Mixture`] unless there is at least one point, each point has a weight, all points are in
    /// \[0, 1\], and the weights are non-negative and sum to 1 within 1e-9.
    pub fn mixture(points: &[f64], weights: &[f64]) -> Result<Self, ValueError> {
        Mixture::new(points, weights).map(Self::Mixture)
    }

    /// Creates the value whose mixing measure has a `density` on \[0, 1\], computed with the Gauss-Legendre
    /// rule of `nodes` points. For a polynomial density of degree g, it is exact for games of up to
    /// `2 nodes − g` players.
    ///
    /// # Errors
    ///
    /// [`ValueError::Mixture`] for zero nodes, a density that is negative or not finite at a node, or an
    /// integral that differs from 1 by more than 1e-9.
    pub fn mixing_density(density: impl Fn(f64) -> f64, nodes: usize) -> Result<Self, ValueError> {
        Mixture::of_density(density, nodes).map(Self::Mixture)
    }

    /// Returns `ln M(a, b)`, the logarithm of the moment of the mixing measure; −∞ if the moment is zero. Use
    /// this function for moments that may underflow. Takes constant time except for mixtures (one step per
    /// atom) and weights by size (as for [`moment`](Self::moment)).
    ///
    /// # Panics
    ///
    /// Same as [`moment`](Self::moment).
    pub fn ln_moment(&self, a: usize, b: usize) -> f64 {
        match self {
            Self::Shapley => ln_factorial(a) + ln_factorial(b) - ln_factorial(a + b + 1),
            Self::Banzhaf => -((a + b) as f64) * std::f64::consts::LN_2,
            Self::WeightedBanzhaf(presence) => presence.ln_moment(a, b),
            Self::BetaShapley(distribution) => distribution.ln_moment(a, b),
            Self::SizeWeights(weights) => weights.moment(a, b).ln(),
            Self::Mixture(mixture) => mixture.ln_moment(a, b),
        }
    }

    /// Returns `M(a, b) = ∫ t^a (1 − t)^b dμ(t)`: the probability that `a` given players are present and `b`
    /// given others are absent.
    ///
    /// For the Shapley value, the moment is correctly rounded for a + b ≤ 50, because the binomial
    /// coefficient C(a + b, a) is exact. Otherwise, the relative error is below 1e-15 for each of the
    /// O(a + b) factors. Moments below 1e-305 may be zero. For weights by size for n players, computing a
    /// moment takes O(n (a + b)) steps.
    ///
    /// # Panics
    ///
    /// For weights by size, if `a + b` exceeds the number of players for which they are defined, minus one.
    pub fn moment(&self, a: usize, b: usize) -> f64 {
        match self {
            // The moment is a! b! / (a + b + 1)! = 1 / ((a + b + 1) · C(a + b, min(a, b))).
            Self::Shapley => {
                let (few, total) = (a.min(b), a + b);
                let choose = (1..=few).fold(1.0, |choose, k| choose * (total - few + k) as f64 / k as f64);
                1.0 / ((total + 1) as f64 * choose)
            }
            Self::Banzhaf => (-((a + b) as f64)).exp2(),
            Self::WeightedBanzhaf(presence) => presence.moment(a, b),
            Self::BetaShapley(distribution) => distribution.moment(a, b),
            Self::SizeWeights(weights) => weights.moment(a, b),
            Self::Mixture(mixture) => mixture.moment(a, b),
        }
    }

    /// Returns the weight of a coalition of `size` other players in a game of `players` players:
    /// `M(s, n − 1 − s)`.
    ///
    /// # Panics
    ///
    /// If `size` is not below `players`, or if weights by size are defined for fewer players.
    pub fn coefficient(&self, players: usize, size: usize) -> f64 {
        assert!(size < players, "invalid number of other players {size}: the game has {players} players");
        self.moment(size, players - 1 - size)
    }

    /// Returns the distribution of the size of the coalition that the player joins: `P(s) = C(n−1, s) · M(s,
    /// n−1−s)` for `s` in `0..n`. The probabilities sum to 1.
    ///
    /// The distribution is computed directly, not as the coefficient times a binomial coefficient, so that it
    /// is accurate for any number of players. It is 1/n for each size for Shapley, a binomial distribution
    /// for (weighted) Banzhaf and for each atom of a mixture, and a beta-binomial distribution for
    /// Beta-Shapley. Takes O(n) time per atom. For weights by size, takes O(n) time for each player by which
    /// `players` is smaller than the number of players for which they are defined.
    ///
    /// # Panics
    ///
    /// For weights by size, if they are defined for fewer players.
    pub fn size_distribution(&self, players: usize) -> Vec<f64> {
        match self {
            Self::Shapley => vec![1.0 / players as f64; players],
            Self::Banzhaf => size_distribution::binomial(players, 0.5, 0.5),
            Self::WeightedBanzhaf(presence) => {
                size_distribution::binomial(players, presence.p(), 1.0 - presence.p())
            }
            Self::BetaShapley(distribution) => distribution.size_distribution(players),
            Self::SizeWeights(weights) => weights.for_players(players).distribution().to_vec(),
            Self::Mixture(mixture) => mixture.size_distribution(players),
        }
    }

    /// Returns a quadrature rule for the mixing measure that is exact for polynomials in t up to `degree`.
    /// Its nodes are inside \[0, 1\]; its weights are positive and sum to 1.
    ///
    /// | value | rule | nodes |
    /// |---|---|---|
    /// | Shapley | Gauss-Legendre | ⌈(degree + 1) / 2⌉ |
    /// | (weighted) Banzhaf | point mass | 1 |
    /// | Beta-Shapley | Gauss-Jacobi | ⌈(degree + 1) / 2⌉ |
    /// | mixture | its atoms, or the Gauss rule of its measure if it has fewer nodes | at most ⌈(degree + 1) / 2⌉ |
    ///
    /// Returns `None` for weights by size, which need not have a mixing measure.
    pub fn rule(&self, degree: usize) -> Option<Rule> {
        let nodes = degree / 2 + 1;
        match self {
            Self::Shapley => Some(Rule::gauss_jacobi(nodes, 1.0, 1.0)),
            Self::Banzhaf => Some(Rule::point(0.5)),
            Self::WeightedBanzhaf(presence) => Some(Rule::point(presence.p())),
            Self::BetaShapley(distribution) => {
                Some(Rule::gauss_jacobi(nodes, distribution.beta(), distribution.alpha()))
            }
            Self::SizeWeights(_) => None,
            Self::Mixture(mixture) => Some(Rule::of_atoms(mixture.points(), mixture.weights(), nodes)),
        }
    }

    /// Returns the weighted regression whose solution is the value in every game, if there is one. It exists
    /// for Shapley, Banzhaf and weighted Banzhaf values.
    pub fn least_squares(&self) -> Option<LeastSquaresForm> {
        match self {
            Self::Shapley => Some(LeastSquaresForm::SumConstrained),
            Self::Banzhaf => Some(LeastSquaresForm::Centred { p: 0.5 }),
            Self::WeightedBanzhaf(presence) => Some(LeastSquaresForm::Centred { p: presence.p() }),
            _ => None,
        }
    }

    /// Checks that the value is defined for a game of `players` players. Only weights by size are limited to
    /// a fixed number of players.
    ///
    /// # Errors
    ///
    /// [`ValueError::WeightsForOtherPlayers`] if weights by size are defined for a different number.
    pub fn check_players(&self, players: usize) -> Result<(), ValueError> {
        match self {
            Self::SizeWeights(weights) if weights.players() != players => {
                Err(ValueError::WeightsForOtherPlayers { weights: weights.players(), players })
            }
            _ => Ok(()),
        }
    }

    /// Returns the value for the `players` that remain when null players are removed from the game. This is
    /// the same value, except that weights by size are converted to fewer players.
    ///
    /// # Panics
    ///
    /// For weights by size, if they are defined for fewer players, or if `players` is zero.
    pub fn without_null_players(&self, players: usize) -> Self {
        match self {
            Self::SizeWeights(weights) => Self::SizeWeights(weights.for_players(players)),
            other => other.clone(),
        }
    }

    /// Returns the same value in canonical form: Beta-Shapley(1, 1) is Shapley, weighted Banzhaf(½) is
    /// Banzhaf.
    pub fn simplified(&self) -> Self {
        match self {
            Self::BetaShapley(distribution) if distribution.alpha() == 1.0 && distribution.beta() == 1.0 => {
                Self::Shapley
            }
            Self::WeightedBanzhaf(presence) if presence.p() == 0.5 => Self::Banzhaf,
            other => other.clone(),
        }
    }

    /// Returns whether the values of all players sum to `v(N) − v(∅)` in every game. The Shapley value,
    /// including Beta-Shapley(1, 1), is the only such semivalue. Returns `false` for all weights by size,
    /// which are only defined for one number of players.
    pub fn is_efficient(&self) -> bool {
        self.simplified() == Self::Shapley
    }
}
