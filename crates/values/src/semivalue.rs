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
//!
//! Everything that the workspace computes (enumeration, regression, sampling, trees) takes its weights from these moments, so that a
//! solution concept is defined once.

use serde::{Deserialize, Serialize};
use statrs::function::factorial::ln_factorial;

use crate::error::ValueError;

/// A semivalue: which average of a player's marginal contributions is meant.
///
/// ```
/// use apportion_values::Semivalue;
///
/// // Three players: the empty coalition and the one of both others weigh 1/3 each, the two of one other 1/6 each.
/// assert!((Semivalue::Shapley.coefficient(3, 0) - 1.0 / 3.0).abs() < 1e-15);
/// assert!((Semivalue::Shapley.coefficient(3, 1) - 1.0 / 6.0).abs() < 1e-15);
/// assert_eq!(Semivalue::Banzhaf.coefficient(3, 1), 0.25);
/// assert_eq!("banzhaf".parse::<Semivalue>()?, Semivalue::Banzhaf);
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Semivalue {
    /// Every size of coalition counts the same: `φ_i = (1/n) Σ_S [v(S∪i) − v(S)] / C(n−1, s)` (Leverage SHAP, equation 1).
    Shapley,
    /// Every coalition counts the same: `φ_i = 2^{−(n−1)} Σ_S [v(S∪i) − v(S)]` (Kernel Banzhaf, equation 1).
    Banzhaf,
}

impl Semivalue {
    /// `ln M(a, b)`, the logarithm of the moment of the mixing measure. Takes constant time; for moments that may underflow.
    pub fn ln_moment(self, a: usize, b: usize) -> f64 {
        match self {
            Self::Shapley => {
                ln_factorial(a as u64) + ln_factorial(b as u64) - ln_factorial((a + b + 1) as u64)
            }
            Self::Banzhaf => -((a + b) as f64) * std::f64::consts::LN_2,
        }
    }

    /// `M(a, b) = ∫ t^a (1 − t)^b dμ(t)`: the probability that `a` given players are present and `b` given others are not.
    ///
    /// Correctly rounded as long as the binomial coefficient C(a + b, a) is an exact f64, which it is for a + b ≤ 50; beyond, the
    /// relative error is below 1e-15 per factor of the O(min(a, b)) that it is built of. Moments below 1e-305 may be zero.
    pub fn moment(self, a: usize, b: usize) -> f64 {
        match self {
            // a! b! / (a + b + 1)! = 1 / ((a + b + 1) · C(a + b, min(a, b)))
            Self::Shapley => {
                let (few, total) = (a.min(b), a + b);
                let choose = (1..=few).fold(1.0, |choose, k| choose * (total - few + k) as f64 / k as f64);
                1.0 / ((total + 1) as f64 * choose)
            }
            Self::Banzhaf => (-((a + b) as f64)).exp2(),
        }
    }

    /// The weight of one coalition of `size` others in a game of `players`: `M(s, n − 1 − s)`.
    ///
    /// # Panics
    ///
    /// If `size` is not below `players`.
    pub fn coefficient(self, players: usize, size: usize) -> f64 {
        assert!(size < players, "a coalition of {size} others in a game of {players}");
        self.moment(size, players - 1 - size)
    }

    /// The law of the size of the coalition that the player joins: `P(s) = C(n−1, s) · M(s, n−1−s)` for `s` in `0..n`; sums to 1.
    ///
    /// Computed directly rather than as coefficient times binomial, so that it is exact for any number of players: 1/n each for
    /// Shapley, Binomial(n − 1, ½) for Banzhaf.
    pub fn size_law(self, players: usize) -> Vec<f64> {
        match self {
            Self::Shapley => vec![1.0 / players as f64; players],
            Self::Banzhaf => (0..players)
                .map(|size| {
                    let others = players.saturating_sub(1);
                    let ln_choose = ln_factorial(others as u64)
                        - ln_factorial(size as u64)
                        - ln_factorial((others - size) as u64);
                    (ln_choose - others as f64 * std::f64::consts::LN_2).exp()
                })
                .collect(),
        }
    }

    /// Whether the values of all players sum to `v(N) − v(∅)` in every game.
    pub fn is_efficient(self) -> bool {
        match self {
            Self::Shapley => true,
            Self::Banzhaf => false,
        }
    }

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shapley => "shapley",
            Self::Banzhaf => "banzhaf",
        }
    }
}

impl std::fmt::Display for Semivalue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Semivalue {
    type Err = ValueError;

    fn from_str(name: &str) -> Result<Self, ValueError> {
        [Self::Shapley, Self::Banzhaf]
            .into_iter()
            .find(|value| value.name() == name)
            .ok_or_else(|| ValueError::UnknownValue { given: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_laws_sum_to_one_for_any_number_of_players() {
        for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
            for players in [1, 2, 3, 10, 64, 101, 1000, 10_000] {
                let total: f64 = value.size_law(players).iter().sum();
                assert!((total - 1.0).abs() < 1e-9, "{value}, {players} players: {total}");
            }
        }
    }

    #[test]
    fn coefficients_times_binomials_are_the_size_law() {
        for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
            for players in [1, 2, 7, 30] {
                let mut choose = 1.0;
                for (size, law) in value.size_law(players).into_iter().enumerate() {
                    let got = choose * value.coefficient(players, size);
                    assert!((got - law).abs() < 1e-13 * law, "{value}, {size} of {players}: {got} != {law}");
                    choose = choose * (players - 1 - size) as f64 / (size + 1) as f64;
                }
            }
        }
    }

    #[test]
    fn moments_and_their_logarithms_agree_where_both_are_finite() {
        for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
            for (a, b) in [(0, 0), (1, 0), (3, 4), (50, 2), (300, 299)] {
                let (moment, ln) = (value.moment(a, b), value.ln_moment(a, b));
                assert!((moment.ln() - ln).abs() < 1e-10 * ln.abs().max(1.0), "{value} M({a}, {b})");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let message = "shap".parse::<Semivalue>().unwrap_err().to_string();
        assert!(message.contains("shapley") && message.contains("banzhaf"), "{message}");
    }
}
