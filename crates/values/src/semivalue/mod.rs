//! Semivalues: averages of a player's marginal contributions whose weights depend on the size of the coalition alone.
//!
//! # Notation
//!
//! `n` players; `s = |S|` for a coalition `S` without the player. A semivalue is given by a probability measure μ on \[0,1\], the
//! *mixing measure*: draw a level t from μ, let every other player be present with probability t, independently, and average what
//! the player adds (Dubey, Neyman and Weber, *Value theory without efficiency*, 1981). With the moments
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
//! Weights by size for one number of players need no mixing measure: their moments follow from
//! `M(a, b) = M(a + 1, b) + M(a, b + 1)`.
//!
//! Everything that the workspace computes (enumeration, regression, sampling, trees) takes its weights from these moments, or from a
//! quadrature of μ ([`Semivalue::rule`]), so that a solution concept is defined once.

mod beta;
mod by_size;
mod mixture;
mod name;
mod presence;
mod size_law;

use serde::{Deserialize, Serialize};

pub use beta::BetaLaw;
pub use by_size::SizeWeights;
pub use mixture::Mixture;
pub use presence::Presence;

use crate::error::ValueError;
use crate::least_squares::LeastSquaresForm;
use crate::logarithms::ln_factorial;
use crate::quadrature::Rule;

/// A semivalue: which average of a player's marginal contributions is meant.
///
/// As text (on the command line, in results, in serde) a value is its name: `shapley`, `banzhaf`, `weighted-banzhaf=0.3`, `beta=4,1`,
/// `by-size=0.25,0.25,0.25`, `mixture=0.2:0.5,0.8:0.5`.
///
/// ```
/// use apportion_values::Semivalue;
///
/// // Three players: the empty coalition and the one of both others weigh 1/3 each, the two of one other 1/6 each.
/// assert!((Semivalue::Shapley.coefficient(3, 0) - 1.0 / 3.0).abs() < 1e-15);
/// assert!((Semivalue::Shapley.coefficient(3, 1) - 1.0 / 6.0).abs() < 1e-15);
/// assert_eq!(Semivalue::Banzhaf.coefficient(3, 1), 0.25);
/// // Beta-Shapley(1, 1) is the Shapley value; (16, 1) looks at small coalitions.
/// let early = Semivalue::beta_shapley(16.0, 1.0)?;
/// assert!(early.coefficient(3, 0) > 10.0 * early.coefficient(3, 2));
/// assert_eq!("weighted-banzhaf=0.3".parse::<Semivalue>()?, Semivalue::weighted_banzhaf(0.3)?);
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Semivalue {
    /// Every size of coalition counts the same: `φ_i = (1/n) Σ_S [v(S∪i) − v(S)] / C(n−1, s)` (Leverage SHAP, equation 1).
    Shapley,
    /// Every coalition counts the same: `φ_i = 2^{−(n−1)} Σ_S [v(S∪i) − v(S)]` (Kernel Banzhaf, equation 2).
    Banzhaf,
    /// Every other player is present with probability p (Li and Yu, *Robust data valuation with weighted Banzhaf values*, 2023). Banzhaf
    /// is p = ½. Made by [`Semivalue::weighted_banzhaf`].
    WeightedBanzhaf(Presence),
    /// The probability of presence follows a Beta law (Kwon and Zou, *Beta Shapley*, 2022). Made by [`Semivalue::beta_shapley`].
    BetaShapley(BetaLaw),
    /// Weights for each size of coalition, for one number of players. Made by [`Semivalue::by_size`] and [`Semivalue::by_size_law`].
    SizeWeights(SizeWeights),
    /// The probability of presence is one of several. Made by [`Semivalue::mixture`] and [`Semivalue::mixing_density`].
    Mixture(Mixture),
}

impl Semivalue {
    /// The weighted Banzhaf value: every other player is present with probability `p`, independently.
    ///
    /// # Errors
    ///
    /// [`ValueError::Presence`] unless 0 < p < 1.
    pub fn weighted_banzhaf(p: f64) -> Result<Self, ValueError> {
        Presence::new(p).map(Self::WeightedBanzhaf)
    }

    /// Beta-Shapley(α, β) in the convention of Kwon and Zou: the weight of joining a coalition of `s` others is
    /// `B(s + β, n − 1 − s + α) / B(β, α)`, so that t ~ Beta(β, α). (1, 1) is the Shapley value; a large α favours small coalitions, a
    /// large β large ones.
    ///
    /// # Errors
    ///
    /// [`ValueError::Beta`] unless both are positive, from 1e-100 to 1e100.
    pub fn beta_shapley(alpha: f64, beta: f64) -> Result<Self, ValueError> {
        BetaLaw::new(alpha, beta).map(Self::BetaShapley)
    }

    /// The value that gives each single coalition of `s` others the weight `weights[s]`, for games of `weights.len()` players:
    /// `Σ_s C(n−1, s) weights[s] = 1`. Where such weights underflow (some hundred players), give [`by_size_law`](Self::by_size_law).
    ///
    /// # Errors
    ///
    /// [`ValueError::Weights`] for no weights, one that is negative or not finite, or a sum over coalitions that differs from 1 by more
    /// than 1e-9.
    pub fn by_size(weights: &[f64]) -> Result<Self, ValueError> {
        SizeWeights::of_coalitions(weights).map(Self::SizeWeights)
    }

    /// The value whose player joins a coalition of `s` others with probability `law[s]`, all coalitions of that size alike, for games of
    /// `law.len()` players: `Σ_s law[s] = 1`. Shapley is the uniform law.
    ///
    /// # Errors
    ///
    /// [`ValueError::Weights`] as [`by_size`](Self::by_size).
    pub fn by_size_law(law: &[f64]) -> Result<Self, ValueError> {
        SizeWeights::of_sizes(law).map(Self::SizeWeights)
    }

    /// The value whose mixing measure has mass `weights[k]` at `points[k]`.
    ///
    /// # Errors
    ///
    /// [`ValueError::Mixture`] unless there is a point, a weight for each, all points are in \[0, 1\], no weight is negative, and they
    /// sum to 1 within 1e-9.
    pub fn mixture(points: &[f64], weights: &[f64]) -> Result<Self, ValueError> {
        Mixture::new(points, weights).map(Self::Mixture)
    }

    /// The value whose mixing measure has a `density` on \[0, 1\], by the Gauss-Legendre rule with `nodes` points. For a polynomial density
    /// of degree g it is exact for games of up to `2 nodes − g` players.
    ///
    /// # Errors
    ///
    /// [`ValueError::Mixture`] for no nodes, a density that is negative or not finite at a node, or an integral that differs from 1 by more
    /// than 1e-9.
    pub fn mixing_density(density: impl Fn(f64) -> f64, nodes: usize) -> Result<Self, ValueError> {
        Mixture::of_density(density, nodes).map(Self::Mixture)
    }

    /// `ln M(a, b)`, the logarithm of the moment of the mixing measure, for moments that may underflow; −∞ where it is zero. Takes
    /// constant time but for mixtures (one step per atom) and weights by size (as [`moment`](Self::moment)).
    ///
    /// # Panics
    ///
    /// As [`moment`](Self::moment).
    pub fn ln_moment(&self, a: usize, b: usize) -> f64 {
        match self {
            Self::Shapley => ln_factorial(a) + ln_factorial(b) - ln_factorial(a + b + 1),
            Self::Banzhaf => -((a + b) as f64) * std::f64::consts::LN_2,
            Self::WeightedBanzhaf(presence) => presence.ln_moment(a, b),
            Self::BetaShapley(law) => law.ln_moment(a, b),
            Self::SizeWeights(weights) => weights.moment(a, b).ln(),
            Self::Mixture(mixture) => mixture.ln_moment(a, b),
        }
    }

    /// `M(a, b) = ∫ t^a (1 − t)^b dμ(t)`: the probability that `a` given players are present and `b` given others are not.
    ///
    /// Shapley is correctly rounded as long as the binomial coefficient C(a + b, a) is an exact f64, which it is for a + b ≤ 50;
    /// everything else has a relative error below 1e-15 per factor of the O(a + b) that it is built of. Moments below 1e-305 may be zero.
    /// For weights by size of n players it takes O(n (a + b)) steps.
    ///
    /// # Panics
    ///
    /// For weights by size, if `a + b` exceeds their players less one.
    pub fn moment(&self, a: usize, b: usize) -> f64 {
        match self {
            // a! b! / (a + b + 1)! = 1 / ((a + b + 1) · C(a + b, min(a, b)))
            Self::Shapley => {
                let (few, total) = (a.min(b), a + b);
                let choose = (1..=few).fold(1.0, |choose, k| choose * (total - few + k) as f64 / k as f64);
                1.0 / ((total + 1) as f64 * choose)
            }
            Self::Banzhaf => (-((a + b) as f64)).exp2(),
            Self::WeightedBanzhaf(presence) => presence.moment(a, b),
            Self::BetaShapley(law) => law.moment(a, b),
            Self::SizeWeights(weights) => weights.moment(a, b),
            Self::Mixture(mixture) => mixture.moment(a, b),
        }
    }

    /// The weight of one coalition of `size` others in a game of `players`: `M(s, n − 1 − s)`.
    ///
    /// # Panics
    ///
    /// If `size` is not below `players`; for weights by size, if they are for fewer players.
    pub fn coefficient(&self, players: usize, size: usize) -> f64 {
        assert!(size < players, "a coalition of {size} others in a game of {players}");
        self.moment(size, players - 1 - size)
    }

    /// The law of the size of the coalition that the player joins: `P(s) = C(n−1, s) · M(s, n−1−s)` for `s` in `0..n`; sums to 1.
    ///
    /// Computed directly rather than as coefficient times binomial, so that it is accurate for any number of players: 1/n each for Shapley,
    /// binomial laws for (weighted) Banzhaf and the atoms of mixtures, a beta-binomial law for Beta-Shapley. Takes O(n) time for each
    /// atom; weights by size O(n) for each player that the game has less than they are for.
    ///
    /// # Panics
    ///
    /// For weights by size, if they are for fewer players.
    pub fn size_law(&self, players: usize) -> Vec<f64> {
        match self {
            Self::Shapley => vec![1.0 / players as f64; players],
            Self::Banzhaf => size_law::binomial(players, 0.5, 0.5),
            Self::WeightedBanzhaf(presence) => size_law::binomial(players, presence.p(), 1.0 - presence.p()),
            Self::BetaShapley(law) => law.size_law(players),
            Self::SizeWeights(weights) => weights.for_players(players).law().to_vec(),
            Self::Mixture(mixture) => mixture.size_law(players),
        }
    }

    /// A quadrature rule of the mixing measure that is exact for polynomials in t up to `degree`, with nodes inside \[0, 1\] and positive
    /// weights that sum to 1.
    ///
    /// | value | rule | nodes |
    /// |---|---|---|
    /// | Shapley | Gauss-Legendre | ⌈(degree + 1) / 2⌉ |
    /// | (weighted) Banzhaf | point mass | 1 |
    /// | Beta-Shapley | Gauss-Jacobi | ⌈(degree + 1) / 2⌉ |
    /// | mixture | its atoms, or the Gauss rule of its measure where that has fewer nodes | at most ⌈(degree + 1) / 2⌉ |
    ///
    /// `None` for weights by size, which need not belong to a measure.
    pub fn rule(&self, degree: usize) -> Option<Rule> {
        let nodes = degree / 2 + 1;
        match self {
            Self::Shapley => Some(Rule::gauss_jacobi(nodes, 1.0, 1.0)),
            Self::Banzhaf => Some(Rule::point(0.5)),
            Self::WeightedBanzhaf(presence) => Some(Rule::point(presence.p())),
            Self::BetaShapley(law) => Some(Rule::gauss_jacobi(nodes, law.beta(), law.alpha())),
            Self::SizeWeights(_) => None,
            Self::Mixture(mixture) => Some(Rule::of_atoms(mixture.points(), mixture.weights(), nodes)),
        }
    }

    /// The weighted regression whose solution the value is in every game, where there is one: Shapley, Banzhaf, weighted Banzhaf.
    pub fn least_squares(&self) -> Option<LeastSquaresForm> {
        match self {
            Self::Shapley => Some(LeastSquaresForm::SumConstrained),
            Self::Banzhaf => Some(LeastSquaresForm::Centred { p: 0.5 }),
            Self::WeightedBanzhaf(presence) => Some(LeastSquaresForm::Centred { p: presence.p() }),
            _ => None,
        }
    }

    /// Whether the value is defined for a game of `players`: all are for any number, but for weights by size.
    ///
    /// # Errors
    ///
    /// [`ValueError::WeightsForOtherPlayers`].
    pub fn check_players(&self, players: usize) -> Result<(), ValueError> {
        match self {
            Self::SizeWeights(weights) if weights.players() != players => {
                Err(ValueError::WeightsForOtherPlayers { weights: weights.players(), players })
            }
            _ => Ok(()),
        }
    }

    /// What the value is for the `players` that are left when null players are left out of the game: itself, but for weights by size,
    /// which become weights for fewer players.
    ///
    /// # Panics
    ///
    /// For weights by size, if they are for fewer players, or `players` is zero.
    pub fn without_null_players(&self, players: usize) -> Self {
        match self {
            Self::SizeWeights(weights) => Self::SizeWeights(weights.for_players(players)),
            other => other.clone(),
        }
    }

    /// The same value under its plainest name: Beta-Shapley(1, 1) is Shapley, weighted Banzhaf(½) is Banzhaf.
    pub fn simplified(&self) -> Self {
        match self {
            Self::BetaShapley(law) if law.alpha() == 1.0 && law.beta() == 1.0 => Self::Shapley,
            Self::WeightedBanzhaf(presence) if presence.p() == 0.5 => Self::Banzhaf,
            other => other.clone(),
        }
    }

    /// Whether the values of all players sum to `v(N) − v(∅)` in every game. Of the semivalues only the Shapley value does,
    /// also by its name as Beta-Shapley(1, 1). Weights by size are not looked into: they are for one number of players.
    pub fn is_efficient(&self) -> bool {
        self.simplified() == Self::Shapley
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::Rule;

    fn all() -> Vec<Semivalue> {
        vec![
            Semivalue::Shapley,
            Semivalue::Banzhaf,
            Semivalue::weighted_banzhaf(0.01).unwrap(),
            Semivalue::weighted_banzhaf(0.3).unwrap(),
            Semivalue::weighted_banzhaf(0.999).unwrap(),
            Semivalue::beta_shapley(1.0, 1.0).unwrap(),
            Semivalue::beta_shapley(4.0, 1.0).unwrap(),
            Semivalue::beta_shapley(1.0, 16.0).unwrap(),
            Semivalue::beta_shapley(0.5, 0.5).unwrap(),
            Semivalue::beta_shapley(0.01, 300.0).unwrap(),
            Semivalue::mixture(&[0.0, 0.2, 0.7, 1.0], &[0.1, 0.4, 0.3, 0.2]).unwrap(),
        ]
    }

    #[test]
    fn size_laws_sum_to_one_for_any_number_of_players() {
        for value in all() {
            for players in [1, 2, 3, 10, 64, 101, 1000, 10_000] {
                let law = value.size_law(players);
                let total: f64 = law.iter().sum();
                assert!((total - 1.0).abs() < 1e-12, "{value}, {players} players: {total}");
                assert!(law.iter().all(|weight| (0.0..=1.0).contains(weight)) && law.len() == players);
            }
        }
    }

    #[test]
    fn coefficients_times_binomials_are_the_size_law() {
        for value in all() {
            for players in [1, 2, 7, 30] {
                let mut choose = 1.0;
                for (size, law) in value.size_law(players).into_iter().enumerate() {
                    let got = choose * value.coefficient(players, size);
                    assert!((got - law).abs() <= 1e-13 * law, "{value}, {size} of {players}: {got} != {law}");
                    choose = choose * (players - 1 - size) as f64 / (size + 1) as f64;
                }
            }
        }
    }

    #[test]
    fn moments_and_their_logarithms_agree_where_both_are_finite() {
        for value in all() {
            for (a, b) in [(0, 0), (1, 0), (3, 4), (50, 2), (300, 299)] {
                let (moment, ln) = (value.moment(a, b), value.ln_moment(a, b));
                let close = (moment.ln() - ln).abs() < 1e-10 * ln.abs().max(1.0);
                assert!(close || (moment < 1e-300 && ln < -690.0), "{value} M({a}, {b}): {moment} {ln}");
            }
        }
    }

    #[test]
    fn a_further_player_is_present_or_not() {
        for value in all() {
            for (a, b) in [(0, 0), (2, 5), (17, 3)] {
                let (whole, parts) = (value.moment(a, b), value.moment(a + 1, b) + value.moment(a, b + 1));
                assert!((whole - parts).abs() <= 1e-14 * whole, "{value} M({a}, {b})");
            }
        }
    }

    #[test]
    fn coefficients_are_finite_and_positive_logarithms_for_thousands_of_players() {
        for value in all() {
            for size in [0, 1, 999, 1000, 1999] {
                let ln = value.ln_moment(size, 1999 - size);
                assert!(ln < 1e-9 && !ln.is_nan(), "{value} {size}: {ln}");
            }
        }
    }

    #[test]
    fn rules_give_the_moments_up_to_their_degree() {
        for value in all() {
            for degree in [0, 1, 2, 3, 7, 8, 15, 40, 91, 199] {
                let rule = value.rule(degree).unwrap();
                assert!(rule.len() <= degree / 2 + 1);
                for a in (0..=degree).step_by(1 + degree / 7) {
                    for b in [0, (degree - a) / 2, degree - a] {
                        let (got, want) = (integrate(&rule, a, b), value.moment(a, b));
                        assert!(
                            (got - want).abs() < 1e-14 * want.max(0.1),
                            "{value} M({a}, {b}): {got} {want}"
                        );
                    }
                }
            }
        }
    }

    fn integrate(rule: &Rule, a: usize, b: usize) -> f64 {
        let powers =
            rule.presence().iter().zip(rule.absence()).map(|(t, u)| t.powi(a as i32) * u.powi(b as i32));
        powers.zip(rule.weights()).map(|(power, weight)| power * weight).sum()
    }

    #[test]
    fn beta_with_both_parameters_one_is_shapley_and_a_mixture_of_one_atom_weighted_banzhaf() {
        let beta = Semivalue::beta_shapley(1.0, 1.0).unwrap();
        let (atom, banzhaf) = (Semivalue::mixture(&[0.5], &[1.0]).unwrap(), Semivalue::Banzhaf);
        for (a, b) in [(0, 0), (3, 1), (10, 12)] {
            assert!((beta.moment(a, b) / Semivalue::Shapley.moment(a, b) - 1.0).abs() < 1e-13);
            assert_eq!(atom.moment(a, b), banzhaf.moment(a, b));
        }
        assert_eq!(beta.simplified(), Semivalue::Shapley);
        assert_eq!(Semivalue::weighted_banzhaf(0.5).unwrap().simplified(), Semivalue::Banzhaf);
        assert_eq!(atom.simplified(), atom);
        assert!(beta.is_efficient() && !Semivalue::beta_shapley(2.0, 1.0).unwrap().is_efficient());
    }

    #[test]
    fn weights_by_size_are_what_they_were_given_as() {
        for value in all() {
            for players in [1, 2, 5, 12] {
                let weights: Vec<f64> = (0..players).map(|size| value.coefficient(players, size)).collect();
                let by_size = Semivalue::by_size(&weights).unwrap();
                let by_law = Semivalue::by_size_law(&value.size_law(players)).unwrap();
                for a in 0..players {
                    for b in 0..players - a {
                        let want = value.moment(a, b);
                        for got in [by_size.moment(a, b), by_law.moment(a, b)] {
                            assert!(
                                (got - want).abs() <= 1e-12 * want + 1e-300,
                                "{value} M({a}, {b}) {got} {want}"
                            );
                        }
                    }
                }
                for fewer in 1..=players {
                    let laws = (by_law.size_law(fewer), value.size_law(fewer));
                    assert!(laws.0.iter().zip(&laws.1).all(|(got, want)| (got - want).abs() < 1e-13));
                }
            }
        }
    }

    #[test]
    fn weights_by_size_of_a_thousand_players_are_refused_for_other_games() {
        let value = Semivalue::by_size_law(&vec![1e-3; 1000]).unwrap();
        assert!((value.moment(3, 4) / Semivalue::Shapley.moment(3, 4) - 1.0).abs() < 1e-12);
        assert!(value.check_players(1000).is_ok());
        let message = value.check_players(999).unwrap_err().to_string();
        assert!(message.contains("1000") && message.contains("999"), "{message}");
        assert!(value.without_null_players(999).check_players(999).is_ok());
    }

    #[test]
    fn densities_are_mixing_measures() {
        // 6 t (1 − t) is the density of Beta(2, 2).
        let value = Semivalue::mixing_density(|t| 6.0 * t * (1.0 - t), 12).unwrap();
        let beta = Semivalue::beta_shapley(2.0, 2.0).unwrap();
        for size in 0..20 {
            let (got, want) = (value.coefficient(20, size), beta.coefficient(20, size));
            assert!((got / want - 1.0).abs() < 1e-12, "{size}: {got} {want}");
        }
    }

    #[test]
    fn what_is_no_semivalue_is_refused_with_what_is_wanted() {
        let refused = [
            (Semivalue::weighted_banzhaf(0.0), "between 0 and 1"),
            (Semivalue::weighted_banzhaf(1.0), "between 0 and 1"),
            (Semivalue::weighted_banzhaf(f64::NAN), "between 0 and 1"),
            (Semivalue::beta_shapley(0.0, 1.0), "positive"),
            (Semivalue::beta_shapley(1.0, -2.0), "positive"),
            (Semivalue::beta_shapley(1.0, f64::INFINITY), "positive"),
            (Semivalue::beta_shapley(1e308, 1e308), "1e-100 to 1e100"),
            (Semivalue::beta_shapley(1e-300, 1.0), "1e-300"),
            (Semivalue::by_size(&[]), "one weight"),
            (Semivalue::by_size(&[0.5, -0.5, 1.5]), "size 1"),
            (Semivalue::by_size(&[0.5, 0.5, 0.5]), "sum to 2"),
            (Semivalue::by_size_law(&[0.5, 0.4]), "0.9"),
            (Semivalue::by_size_law(&[0.5, f64::NAN]), "size 1"),
            (Semivalue::mixture(&[0.5], &[]), "1 points and 0 weights"),
            (Semivalue::mixture(&[], &[]), "0 points"),
            (Semivalue::mixture(&[1.5], &[1.0]), "1.5"),
            (Semivalue::mixture(&[0.5, 0.6], &[1.5, -0.5]), "-0.5"),
            (Semivalue::mixture(&[0.5, 0.6], &[0.5, 0.4]), "0.9"),
            (Semivalue::mixing_density(|_| 2.0, 5), "integral"),
            (Semivalue::mixing_density(|t| 2.0 * t - 0.5, 5), "negative"),
        ];
        for (position, (result, wanted)) in refused.into_iter().enumerate() {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(wanted), "{position}: {message}");
        }
    }
}
