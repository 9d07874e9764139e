//! Semivalues as solutions of weighted least squares over all coalitions.

use crate::logarithms::ln_factorial;

/// The regression whose solution is a semivalue in every game. Only the Shapley value and (weighted) Banzhaf
/// values have a regression whose weights depend on the size alone, and whose coefficients are the values
/// themselves.
///
/// Let z ∈ {0,1}^n be the membership vector of a coalition of size s; the sums are over all 2^n coalitions:
///
/// ```text
/// Shapley:             min Σ w(s) (⟨z, x⟩ − (v(z) − v(∅)))²  subject to  Σx = v(N) − v(∅),
///                      w(s) = 1 / (C(n,s) s (n−s)), 0 < s < n
/// weighted Banzhaf(p): min Σ w(s) (c + ⟨z − p, x⟩ − v(z))²  over c and x,
///                      w(s) = p^s (1−p)^(n−s)
/// ```
///
/// (Leverage SHAP, equation 3; Kernel Banzhaf, Theorem 3.2, for p = ½.) The second form holds because, under
/// the weights, the columns z_i − p have mean 0 and variance p (1 − p) and are uncorrelated. Therefore x_i is
/// the covariance of v and z_i divided by this variance, i.e. E\[v | i ∈ S\] − E\[v | i ∉ S\]. The intercept
/// c is orthogonal to the columns, so omitting it does not change the solution for full enumeration.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum LeastSquaresForm {
    /// The rows are z, and the coefficients must sum to v(N) − v(∅). There are no rows for the empty and the
    /// grand coalition.
    SumConstrained,
    /// The rows are z − p, with or without an intercept.
    Centred {
        /// The probability of presence, which is subtracted from every column.
        p: f64,
    },
}

impl LeastSquaresForm {
    /// Returns `ln w(s)`, or −∞ if the regression has no rows for coalitions of `size` players.
    ///
    /// # Panics
    ///
    /// If `size` exceeds `players`.
    pub fn ln_weight(self, players: usize, size: usize) -> f64 {
        assert!(size <= players, "invalid coalition size {size}: the game has {players} players");
        let (present, absent) = (size as f64, (players - size) as f64);
        match self {
            Self::SumConstrained if size == 0 || size == players => f64::NEG_INFINITY,
            Self::SumConstrained => {
                let ln_choose = ln_factorial(players) - ln_factorial(size) - ln_factorial(players - size);
                -(ln_choose + present.ln() + absent.ln())
            }
            Self::Centred { p } => present * p.ln() + absent * (-p).ln_1p(),
        }
    }
}
