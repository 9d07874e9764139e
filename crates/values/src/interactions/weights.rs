//! The weights of an interaction index for a given order and number of players.

use super::binomial::{bernoulli, binomial, sign};
use super::functional::{Functional, IndexIntegral};
use super::index::InteractionIndex;
use crate::enumeration::MAX_PLAYERS;
use crate::error::ValueError;
use crate::semivalue::Semivalue;

/// Maximum order of an interaction index.
pub const MAX_ORDER: usize = 64;

/// The weights of an [interaction index](InteractionIndex) for coalitions of up to s of n players. These are
/// the weights of the game's differences, of its Möbius coefficients, and of its Walsh coefficients.
///
/// The numbers [`M_k(a, b)`](Self::moment) of the [module](crate::interactions) determine all of these
/// weights. With k = |K|, r = |R|, t = |T|:
///
/// ```text
/// I(K) = Σ_{S⊆N∖K} moment(k, |S|, n−k−|S|) Δ_K v(S)
///      = Σ_R weight_of(k, r, |K∩R|) m(R)              v(S) = Σ_{R⊆S} m(R)
///      = Σ_T walsh_weight_of(k, t, |K∩T|) β_T         v(S) = Σ_T β_T Π_{i∈T} (+1 if i ∈ S else −1)
/// ```
///
/// where v(S ∪ K) − v(S) replaces Δ_K v(S) for generalized values. The empty coalition has an index as well.
/// For faithful Banzhaf indices, it is the constant term of the approximation; for Walsh coefficients, the
/// mean of v over all coalitions; for all others, v(∅).
///
/// ```
/// use apportion_values::InteractionIndex;
///
/// let weights = InteractionIndex::SHAPLEY.weights(2, 12)?;
/// assert_eq!(weights.weight(2, 5), 0.25);
/// // 2² ∫ (2x − 1)^(t−2) dx: only terms with an even number of players contribute.
/// assert_eq!((weights.walsh_weight(2, 4), weights.walsh_weight(2, 5)), (4.0 / 3.0, 0.0));
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IndexWeights {
    order: usize,
    players: usize,
    is_generalized: bool,
    has_own_constant: bool,
    /// The functionals L_k for coalitions of k = 0, 1, …, min(s, n) members.
    functionals: Vec<Functional>,
    /// A factor for each functional, by which it is multiplied.
    scales: Vec<f64>,
}

impl InteractionIndex {
    /// Returns the weights of this index for coalitions of up to `order` players in games of `players`
    /// players. Indices that do not depend on the order accept any order.
    ///
    /// # Errors
    ///
    /// [`ValueError::Order`] unless the order is 1 to 64; [`ValueError::WeightsForOtherPlayers`] if weights
    /// by size are for a different number of players; [`ValueError::Players`] for joint Shapley values of
    /// more than 25 players.
    pub fn weights(&self, order: usize, players: usize) -> Result<IndexWeights, ValueError> {
        IndexWeights::new(self, order, players)
    }
}

impl IndexWeights {
    fn new(index: &InteractionIndex, order: usize, players: usize) -> Result<Self, ValueError> {
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(ValueError::Order { actual: order, max: MAX_ORDER });
        }
        if let InteractionIndex::Semivalue(semivalue) | InteractionIndex::Generalized(semivalue) = index {
            semivalue.check_players(players)?;
        }
        let sizes = 1..=order.min(players);
        let functionals = match index {
            InteractionIndex::JointShapley => {
                if players > MAX_PLAYERS {
                    return Err(ValueError::Players { actual: players, max: MAX_PLAYERS });
                }
                let distribution = joint_shapley_distribution(order, players);
                sizes
                    .clone()
                    .map(|size| Functional::OfSizes(distribution[..=players - size].to_vec()))
                    .collect()
            }
            _ => sizes.clone().map(|size| functional(index, size, order)).collect::<Result<Vec<_>, _>>()?,
        };
        let has_own_constant = matches!(
            index,
            InteractionIndex::FaithfulBanzhaf
                | InteractionIndex::FaithfulWeightedBanzhaf(_)
                | InteractionIndex::Walsh
        );
        let of_empty = match has_own_constant {
            true => functional(index, 0, order)?,
            false => Functional::integral(at(0.0)?),
        };
        let scale = |size: usize| match index {
            InteractionIndex::Walsh => (-(size as f64)).exp2(),
            _ => 1.0,
        };
        Ok(Self {
            order,
            players,
            is_generalized: index.is_generalized(),
            has_own_constant,
            functionals: std::iter::once(of_empty).chain(functionals).collect(),
            scales: (0..=order.min(players)).map(scale).collect(),
        })
    }

    /// Returns the order s.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Returns the number of players n.
    pub fn players(&self) -> usize {
        self.players
    }

    /// Returns whether the weights apply to v(S ∪ K) − v(S) instead of Δ_K v(S).
    pub fn is_generalized(&self) -> bool {
        self.is_generalized
    }

    /// Returns whether the index of the empty coalition differs from v(∅).
    pub fn has_own_constant(&self) -> bool {
        self.has_own_constant
    }

    /// Returns `M_k(a, b)` for k = `size`: the total weight of the coalitions S that contain a given players
    /// outside K and exclude b given others.
    ///
    /// For moments of a measure, the relative error is the same as for [`Semivalue::moment`]. The other
    /// weights are sums of up to s² moments that partly cancel, the more so the larger s − k is. For s ≤ 8,
    /// they lose less than four digits.
    ///
    /// # Panics
    ///
    /// If `size` is above the order or the number of players, or `size + a + b` above the number of players.
    pub fn moment(&self, size: usize, a: usize, b: usize) -> f64 {
        assert!(
            size + a + b <= self.players,
            "sizes {size}, {a} and {b} exceed the {} players of the game",
            self.players
        );
        self.scales[size] * self.functional(size).moment(a, b)
    }

    /// Returns the weight of m(R) in the index of K ⊆ R: `M_k(r−k, 0)` with k = `size` and r = `of`. If R
    /// does not contain K, the weight is zero except in generalized values.
    ///
    /// # Panics
    ///
    /// Same as [`moment`](Self::moment); also if r is below k.
    pub fn weight(&self, size: usize, of: usize) -> f64 {
        assert!(size <= of, "a coalition of {size} players cannot be part of one of {of}");
        self.moment(size, of - size, 0)
    }

    /// Returns the weight of m(R) in the index of K, for k = `size` and r = `of`, if R and K have `common`
    /// players in common.
    ///
    /// # Panics
    ///
    /// Same as [`moment`](Self::moment); also if `common` is above either size.
    pub fn weight_of(&self, size: usize, of: usize, common: usize) -> f64 {
        assert!(
            common <= size.min(of),
            "coalitions of {size} and {of} players cannot have {common} players in common"
        );
        match self.is_generalized && size > 0 {
            true if common == 0 => 0.0,
            true => self.moment(size, of - common, 0),
            false if common < size => 0.0,
            false => self.weight(size, of),
        }
    }

    /// Returns the weight of the Walsh coefficient β_T in the index of K ⊆ T: `2^k L_k((2x − 1)^(t−k))`, or
    /// `(1 − (−1)^k) L_k((2x − 1)^(t−k))` for generalized values.
    ///
    /// The error is absolute: about 1e-16 times the largest weight.
    ///
    /// # Panics
    ///
    /// If `size` is above the order, or `of` below `size` or above the number of players.
    pub fn walsh_weight(&self, size: usize, of: usize) -> f64 {
        self.walsh_weight_of(size, of, size)
    }

    /// Returns the weight of the Walsh coefficient β_T in the index of K, for k = `size` and t = `of`, if T
    /// and K have `common` players in common.
    ///
    /// # Panics
    ///
    /// Same as [`walsh_weight`](Self::walsh_weight); also if `common` is above either size.
    pub fn walsh_weight_of(&self, size: usize, of: usize, common: usize) -> f64 {
        assert!(
            common <= size.min(of),
            "coalitions of {size} and {of} players cannot have {common} players in common"
        );
        assert!(
            of + size - common <= self.players,
            "coalitions of {of} and {size} players do not fit in a game of {} players",
            self.players
        );
        let factor = match self.is_generalized && size > 0 {
            true => f64::from(common % 2 == 1) * 2.0,
            false if common < size => 0.0,
            false => (size as f64).exp2() * self.scales[size],
        };
        match factor == 0.0 {
            true => 0.0,
            false => factor * self.functional(size).centred_moment(of - common),
        }
    }

    /// Returns the functional L_k, with k = `size`, as a sum of integrals that is exact for polynomials of
    /// degree n − k: `M_k(a, b) = L_k(t^a (1 − t)^b) = Σ c ∫ f^(j)/j! dμ` with f = t^a (1 − t)^b. For a game
    /// whose multilinear extension has a closed form, the index is therefore a sum of quadratures. For a
    /// semivalue with weights by size, the measure is this semivalue, which has no [quadrature
    /// rule](Semivalue::rule). Returns `None` for joint Shapley values.
    ///
    /// ```
    /// use apportion_values::{InteractionIndex, Semivalue};
    ///
    /// // The k-Shapley value of a single player for order 2 is ∫ f − ½ ∫ f'.
    /// let integrals = InteractionIndex::KShapley.weights(2, 10)?.integrals(1).unwrap_or_default();
    /// let terms: Vec<_> = integrals.iter().map(|term| (term.coefficient, term.derivative)).collect();
    /// assert_eq!(terms, [(1.0, 0), (-0.5, 1)]);
    /// assert_eq!(integrals[1].measure, Semivalue::Shapley);
    /// # Ok::<(), apportion_values::ValueError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `size` is above the order or the number of players.
    pub fn integrals(&self, size: usize) -> Option<Vec<IndexIntegral>> {
        let mut terms = self.functional(size).integrals(self.players - size)?;
        terms.iter_mut().for_each(|term| term.coefficient *= self.scales[size]);
        Some(terms)
    }

    fn functional(&self, size: usize) -> &Functional {
        assert!(
            size < self.functionals.len(),
            "coalitions of {size} players exceed the order {}",
            self.order
        );
        &self.functionals[size]
    }
}

/// Returns the mixing measure with all mass at one point.
fn at(point: f64) -> Result<Semivalue, ValueError> {
    Semivalue::mixture(&[point], &[1.0])
}

/// Returns the mixing measure Beta(x, y), whose density is proportional to t^(x−1) (1−t)^(y−1).
fn beta(x: usize, y: usize) -> Result<Semivalue, ValueError> {
    Semivalue::beta_shapley(y as f64, x as f64)
}

/// Returns the functional L_k, with k = `size`, of any index except the joint Shapley value. Size 0 selects
/// the index of the empty coalition, if it differs from v(∅).
fn functional(index: &InteractionIndex, size: usize, order: usize) -> Result<Functional, ValueError> {
    let rest = order - size;
    let taylor = |p: f64, measure: Semivalue| -> Result<Functional, ValueError> {
        let terms = (0..=rest).map(|derivative| IndexIntegral {
            coefficient: (-p).powi(derivative as i32),
            derivative,
            measure: measure.clone(),
        });
        Ok(Functional::Sum { terms: terms.collect(), known: Some((rest, at(0.0)?)) })
    };
    Ok(match index {
        InteractionIndex::Semivalue(semivalue) | InteractionIndex::Generalized(semivalue) => {
            Functional::integral(semivalue.clone())
        }
        InteractionIndex::Walsh => Functional::integral(Semivalue::Banzhaf),
        InteractionIndex::Moebius | InteractionIndex::GeneralizedInternal => Functional::integral(at(0.0)?),
        InteractionIndex::CoMoebius | InteractionIndex::GeneralizedExternal => Functional::integral(at(1.0)?),
        InteractionIndex::Chaining | InteractionIndex::GeneralizedChaining => {
            Functional::integral(beta(size, 1)?)
        }
        InteractionIndex::ShapleyTaylor if rest == 0 => Functional::integral(beta(1, order)?),
        InteractionIndex::ShapleyTaylor => Functional::integral(at(0.0)?),
        InteractionIndex::FaithfulBanzhaf => taylor(0.5, Semivalue::Banzhaf)?,
        InteractionIndex::FaithfulWeightedBanzhaf(presence) => {
            taylor(presence.p(), Semivalue::WeightedBanzhaf(*presence))?
        }
        InteractionIndex::KShapley => {
            let terms = (0..=rest).map(|derivative| IndexIntegral {
                coefficient: bernoulli(derivative),
                derivative,
                measure: Semivalue::Shapley,
            });
            Functional::Sum { terms: terms.collect(), known: Some((rest, at(0.0)?)) }
        }
        InteractionIndex::FaithfulShapley => {
            Functional::Sum { terms: faithful_shapley(size, order)?, known: Some((rest, at(0.0)?)) }
        }
        InteractionIndex::KAdditiveShapley => {
            // Use I(K) = Σ_{T ⊇ K, |T| ≤ s} FSI(T) / (|T| − k + 1), the Shapley interaction indices of the
            // approximation.
            let mut terms = Vec::new();
            for derivative in 0..=rest {
                for mut term in faithful_shapley(size + derivative, order)? {
                    term.coefficient /= (derivative + 1) as f64;
                    term.derivative = derivative;
                    terms.push(term);
                }
            }
            Functional::Sum { terms, known: Some((rest, Semivalue::Shapley)) }
        }
        InteractionIndex::JointShapley => unreachable!("the joint Shapley value has weights by size"),
    })
}

/// Returns the terms of `Σ_i (−1)^{s−k−i} k C(s, k) C(s−k, i)/(s−i) Beta(s−i, k+i)`.
///
/// The weights of Tsai et al. (Theorem 19), `w(r) ∝ Π_{i=1}^{s−k} (j − i) · B(k + j, s)` with j = r − k, are
/// the moments ∫ t^j g dt of `g ∝ t^{−1} D^{s−k}[t^s (1−t)^{s−1}]`, by partial integration. By the product
/// rule, the derivative is a sum of Beta densities.
fn faithful_shapley(size: usize, order: usize) -> Result<Vec<IndexIntegral>, ValueError> {
    let rest = order - size;
    let scale = size as f64 * binomial(order, size);
    let term = |i: usize| {
        let coefficient = sign(rest - i) * scale * binomial(rest, i) / (order - i) as f64;
        Ok(IndexIntegral { coefficient, derivative: 0, measure: beta(order - i, size + i)? })
    };
    (0..=rest).map(term).collect()
}

/// Returns the weights of coalitions of size 0 to n − 1 in the joint Shapley value (Harris et al. 2022,
/// Theorem 2). A step adds up to s players to a coalition at once; with these weights, the total weight of
/// the steps to a coalition is divided equally among the steps from it.
fn joint_shapley_distribution(order: usize, players: usize) -> Vec<f64> {
    let ways = |players: usize| -> f64 { (1..=order.min(players)).map(|size| binomial(players, size)).sum() };
    let mut distribution: Vec<f64> = Vec::with_capacity(players);
    for size in 0..players {
        let reached: f64 = match size {
            0 => 1.0,
            _ => {
                (size.saturating_sub(order)..size).map(|from| binomial(size, from) * distribution[from]).sum()
            }
        };
        distribution.push(reached / ways(players - size));
    }
    distribution
}
