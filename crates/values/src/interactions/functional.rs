//! Functionals of polynomials in the probability of presence, which define the weights of interaction
//! indices.

use super::binomial::{binomial, sign};
use crate::semivalue::Semivalue;

/// A functional `L(f) = Σ c ∫ f^(j)/j! dμ` of polynomials f in t on \[0, 1\].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Functional {
    /// The sum of `terms`. The terms cancel up to the degree in `known`, so the closed form in `known`
    /// replaces them there.
    Sum { terms: Vec<IndexIntegral>, known: Option<(usize, Semivalue)> },
    /// Weights by size: `q[s]` is the weight of each coalition of s players among the q.len() − 1 others.
    OfSizes(Vec<f64>),
}

/// A term `coefficient ∫ f^(derivative)/derivative! dμ` of a functional L_k of polynomials f, which defines
/// the weights of an [interaction index](crate::interactions).
#[derive(Debug, Clone, PartialEq)]
pub struct IndexIntegral {
    /// The factor of the integral.
    pub coefficient: f64,
    /// The order of the derivative; 0 for f itself.
    pub derivative: usize,
    /// The semivalue whose mixing measure is μ.
    pub measure: Semivalue,
}

impl Functional {
    /// Creates the integral over a measure.
    pub(super) fn integral(measure: Semivalue) -> Self {
        Self::Sum { terms: vec![IndexIntegral { coefficient: 1.0, derivative: 0, measure }], known: None }
    }

    /// Returns the functional as a sum of integrals that is exact for polynomials of at most this degree;
    /// `None` for weights by size.
    pub(super) fn integrals(&self, max_degree: usize) -> Option<Vec<IndexIntegral>> {
        match self {
            Self::Sum { known: Some((degree, measure)), .. } if max_degree <= *degree => {
                Some(vec![IndexIntegral { coefficient: 1.0, derivative: 0, measure: measure.clone() }])
            }
            Self::Sum { terms, .. } => Some(terms.clone()),
            Self::OfSizes(_) => None,
        }
    }

    /// Returns `L(t^a (1 − t)^b)`.
    pub(super) fn moment(&self, a: usize, b: usize) -> f64 {
        match self {
            Self::Sum { known: Some((degree, measure)), .. } if a + b <= *degree => measure.moment(a, b),
            Self::Sum { terms, .. } => terms.iter().map(|term| term.moment(a, b)).sum(),
            Self::OfSizes(weights) => {
                let Some(rest) = (weights.len() - 1).checked_sub(a + b) else {
                    unreachable!("the weights cover fewer other players")
                };
                (0..=rest).map(|size| binomial(rest, size) * weights[a + size]).sum()
            }
        }
    }

    /// Returns `L((2t − 1)^q)`.
    pub(super) fn centred_moment(&self, q: usize) -> f64 {
        match self {
            Self::Sum { known: Some((degree, measure)), .. } if q <= *degree => centred_moment(measure, q),
            Self::Sum { terms, .. } => terms.iter().map(|term| term.centred_moment(q)).sum(),
            Self::OfSizes(_) => alternating(q, |a, b| self.moment(a, b)),
        }
    }
}

impl IndexIntegral {
    /// Returns the value of this term for f = t^a (1−t)^b. The j-th derivative of f, divided by j!, is
    /// `Σ_{x+y=j} C(a,x) C(b,y) (−1)^y t^{a−x} (1−t)^{b−y}`.
    fn moment(&self, a: usize, b: usize) -> f64 {
        let least = self.derivative.saturating_sub(a);
        let parts = (least..=b.min(self.derivative)).map(|of_absent| {
            let of_present = self.derivative - of_absent;
            let moment = self.measure.moment(a - of_present, b - of_absent);
            sign(of_absent) * binomial(a, of_present) * binomial(b, of_absent) * moment
        });
        self.coefficient * parts.sum::<f64>()
    }

    fn centred_moment(&self, q: usize) -> f64 {
        if q < self.derivative {
            return 0.0;
        }
        let chosen = binomial(q, self.derivative) * (self.derivative as f64).exp2();
        self.coefficient * chosen * centred_moment(&self.measure, q - self.derivative)
    }
}

/// Returns `∫ (2t − 1)^q dμ`.
fn centred_moment(measure: &Semivalue, q: usize) -> f64 {
    match measure {
        Semivalue::Shapley if q % 2 == 1 => 0.0,
        Semivalue::Shapley => 1.0 / (q + 1) as f64,
        Semivalue::Banzhaf => f64::from(q == 0),
        Semivalue::WeightedBanzhaf(presence) => power(2.0 * presence.p() - 1.0, q),
        Semivalue::Mixture(mixture) => {
            let atoms = mixture.points().iter().zip(mixture.weights());
            atoms.map(|(t, weight)| weight * power(2.0 * t - 1.0, q)).sum()
        }
        Semivalue::BetaShapley(_) | Semivalue::SizeWeights(_) => alternating(q, |a, b| measure.moment(a, b)),
    }
}

/// Returns `Σ_y (−1)^y C(q, y) M(q − y, y)`. For a probability measure, the absolute values of the terms sum
/// to 1, so the absolute error is about one rounding error of 1.
fn alternating(q: usize, moment: impl Fn(usize, usize) -> f64) -> f64 {
    let part = |absent: usize| {
        let moment = moment(q - absent, absent);
        // If the coefficient is infinite, the moment is zero.
        if moment == 0.0 { 0.0 } else { sign(absent) * binomial(q, absent) * moment }
    };
    (0..=q).map(part).sum()
}

fn power(base: f64, exponent: usize) -> f64 {
    base.powi(i32::try_from(exponent).unwrap_or(i32::MAX))
}
